/* Are all values of a field numbers? */
#include "backends/prelude.h"

/* found (groups,) = 1 where one of the values that a group looks at is infinite or no number, else 0; threads: of all
   groups. */
KERNEL not_finite(GLOBAL const real_type *field, int count, int threads, GLOBAL int *found)
{
    LOCAL int any[1];
    if (LOCAL_ID(0) == 0)
        any[0] = 0;
    BARRIER;
    int bad = 0;
    for (size_t n = THREAD(0); n < (size_t)count; n += threads)
        bad |= !(field[n] - field[n] == R(0.0));
    if (bad)
        any[0] = 1;
    BARRIER;
    if (LOCAL_ID(0) == 0)
        found[GROUP(0)] = any[0];
}
