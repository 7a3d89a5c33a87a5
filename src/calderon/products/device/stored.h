/* Numbers of near blocks in memory: STORED_REAL, unless PACKED: then 16-bit integers, GROUPED of which in a row have one
   exponent; the twin of products/packed.py. Places beyond 32 bits are WORD a + b. */
#include "backends/prelude.h"

#if PACKED
typedef short stored_type;
#else
typedef STORED_REAL stored_type;
#endif

#define GROUPED 16
#define WORD 65536
