/* Records of triangles, in the type REAL, from numbers in the type FROM_REAL. A record has `length` numbers; those of
   triangle n are, from number `begin` of `out` on, row n of (count, length), or with `by_columns` column n of (length,
   count). */
#include "backends/prelude.h"

typedef FROM_REAL from_type;

/* Where number c of the record of triangle n stands. */
DEVICE size_t place_of(int n, int c, int count, int length, int by_columns)
{
    return by_columns ? (size_t)c * count + n : (size_t)n * length + c;
}

/* Put values (count, width) into the records, from number `first` on; one thread has one value. */
KERNEL put_values(GLOBAL const from_type *values, int width, int first, int count, int length, int by_columns, int begin,
                  GLOBAL real_type *out)
{
    int n = THREAD(0) / width, c = THREAD(0) % width;
    if (n < count)
        out[begin + place_of(n, first + c, count, length, by_columns)] = (real_type)values[THREAD(0)];
}

/* Put linear combinations of corners (count, 3, 3) by a table (width, 3) into the records, three numbers each, from number
   `first` on; divided by `jacobian` (count,) if `divided`. One thread has one combination. */
KERNEL put_combinations(GLOBAL const from_type *corners, GLOBAL const from_type *jacobian, int divided,
                        GLOBAL const from_type *table, int width, int first, int count, int length, int by_columns,
                        int begin, GLOBAL real_type *out)
{
    int n = THREAD(0) / width, p = THREAD(0) % width;
    if (n >= count)
        return;
    from_type scale = divided ? (from_type)1 / jacobian[n] : (from_type)1;
    for (int c = 0; c < 3; c++) {
        from_type sum = 0;
        for (int a = 0; a < 3; a++)
            sum += table[3 * p + a] * corners[9 * (size_t)n + 3 * a + c];
        out[begin + place_of(n, first + 3 * p + c, count, length, by_columns)] = (real_type)(scale * sum);
    }
}
