/* Products with the blocks of an H-matrix; the twin of products.py. What has to be summed for a place of the result is
   gathered, so nothing is added by two threads to one place.

   Tables of blocks as in products.py: first row, rows, first column, columns, rank (-1 for a dense block), then where its
   numbers begin in a page, and where its coefficients begin. A page is an array of numbers (store.py). COMPLEX: whether numbers and vectors are.
   WIDE_REAL: type of the reals of vectors and sums, (k, n) numbers, one after the other. */
#include "backends/devices/complex.h"
#include "backends/devices/group_sum.h"

#define PARTS (1 + COMPLEX)
#define COLUMNS 7
#define RUN 32
#define SLICES (GROUP_SIZE / RUN)

/* coefficients (vectors, 2, count): v^T x for each cross of each block, and with `transposed` u^T x behind all these; one
   group of RUN threads for each cross. crosses (c, 2): block and number of the cross; `side` 0: v with x at the columns, 1:
   u with x at the rows. */
KERNEL coefficients(GLOBAL const real_type *numbers, GLOBAL const int *table, GLOBAL const int *crosses, int count, int side,
                    GLOBAL const number *x, int length, GLOBAL number *out)
{
    LOCAL wide_real sums[PARTS * RUN];
    int t = LOCAL_ID(0), c = GROUP(0), vector = GROUP(1);
    GLOBAL const int *block = table + (size_t)COLUMNS * crosses[2 * c];
    int m = block[1], n = block[3], from = side ? block[0] : block[2], many = side ? m : n;
    size_t begin = (size_t)block[5] + (size_t)crosses[2 * c + 1] * (m + n) + (side ? 0 : m);
    GLOBAL const number *given = x + (size_t)vector * length + from;
    number total = number_of(0, 0);
    for (int k = t; k < many; k += RUN)
        total = plus_product(total, read_number(numbers + PARTS * (begin + k)), given[k]);
    sums[t] = total.re;
    sums[PARTS * RUN - RUN + t] = COMPLEX ? IM(total) : total.re;
    SUM_OVER_THREADS(sums, RUN, PARTS, RUN);
    if (t == 0)
        out[(size_t)vector * count + c] = number_of(sums[0], sums[PARTS * RUN - RUN]);
}

/* The result at runs of at most RUN places, one group of SLICES * RUN threads for each: what all blocks there add. runs (r,
   2): first place and how many; starts (r + 1,): the entries of a run, each 2 * block + side; side 0: the block's rows are
   here, 1: its columns. here, there: coefficients for side 0 and 1. more: whether y has the sums of other pages. */
KERNEL gather_product(GLOBAL const real_type *numbers, GLOBAL const int *table, GLOBAL const int *runs,
                      GLOBAL const int *starts, GLOBAL const int *entries, GLOBAL const number *here,
                      GLOBAL const number *there, int count, GLOBAL const number *x, int length, int more, GLOBAL number *y,
                      int places)
{
    LOCAL number sums[SLICES * RUN];
    int t = LOCAL_ID(0), run = GROUP(0), vector = GROUP(1), lane = t % RUN, size = runs[2 * run + 1];
    int place = runs[2 * run] + (lane < size ? lane : 0);
    number total = number_of(0, 0);
    for (int e = starts[run] + t / RUN; e < starts[run + 1]; e += SLICES) {
        int side = entries[e] & 1;
        GLOBAL const int *block = table + (size_t)COLUMNS * (entries[e] >> 1);
        int m = block[1], n = block[3], rank = block[4], i = place - (side ? block[2] : block[0]);
        GLOBAL const real_type *part = numbers + PARTS * (size_t)block[5];
        int dense = rank < 0, many = dense ? (side ? m : n) : rank;
        size_t begin = dense ? (side ? i : (size_t)i * n) : (side ? m : 0) + (size_t)i;
        size_t step = dense ? (side ? n : 1) : (size_t)(m + n);
        GLOBAL const number *factors = dense ? x + (size_t)vector * length + (side ? block[0] : block[2])
                                             : (side ? there : here) + (size_t)vector * count + block[6];
        for (int k = 0; k < many; k++)
            total = plus_product(total, read_number(part + PARTS * (begin + k * step)), factors[k]);
    }
    sums[t] = total;
    BARRIER;
    if (t < size) {
        for (int k = 1; k < SLICES; k++)
            total = plus(total, sums[k * RUN + t]);
        size_t at = (size_t)vector * places + place;
        y[at] = more ? plus(y[at], total) : total;
    }
}
