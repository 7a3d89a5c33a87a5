/* Records of triangles, in the type REAL, from numbers in the type FROM_REAL. A record has `length` numbers; those of
   triangle n are, from number `begin` of `out` on, row n of (count, length), or with `by_columns` column n of (length,
   count). */
#include "backends/prelude.h"

typedef FROM_REAL from_type;

/* Put values (count, width), divided by `jacobian` (count,) if `divided`, into the records from number `first` on; if
   `combined` the values are linear combinations of corners (count, 3, 3) by a table (width / 3, 3), three numbers each. One
   thread has one value. */
KERNEL put_numbers(GLOBAL const from_type *values, GLOBAL const from_type *table, GLOBAL const from_type *jacobian,
                   int combined, int divided, int width, int first, int count, int length, int by_columns, int begin,
                   GLOBAL real_type *out)
{
    int n = THREAD(0) / width, c = THREAD(0) % width, place = first + c;
    if (n >= count)
        return;
    from_type value = combined ? (from_type)0 : values[THREAD(0)];
    for (int a = 0; a < (combined ? 3 : 0); a++)
        value += table[c / 3 * 3 + a] * values[9 * (size_t)n + 3 * a + c % 3];
    if (divided)
        value *= (from_type)1 / jacobian[n];
    out[begin + (by_columns ? (size_t)place * count + n : (size_t)n * length + place)] = (real_type)value;
}
