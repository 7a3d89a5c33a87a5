/* Products with the blocks of an H-matrix; the twin of products.py. What has to be summed for a place of the result is
   gathered, so nothing is added by two threads to one place.

   Tables of blocks as in products.py: first row, rows, first column, columns, rank (-1 for a dense block), then where its
   numbers begin in a page, and where its coefficients begin. A page is an array of numbers (store.py). COMPLEX: whether numbers and vectors are.
   VECTOR_REAL: type of vectors and sums, (k, n) numbers, one after the other. */
#include "backends/devices/group_sum.h"

typedef VECTOR_REAL vector_type;

#define PARTS (COMPLEX ? 2 : 1)
#define COLUMNS 7
#define RUN 32

/* total += a x of two numbers. */
DEVICE void add_times(GLOBAL const real_type *a, GLOBAL const vector_type *x, vector_type *total, vector_type *total_i)
{
    *total += a[0] * x[0];
#if COMPLEX
    *total -= a[1] * x[1];
    *total_i += a[0] * x[1] + a[1] * x[0];
#endif
}

/* coefficients (vectors, 2, count): v^T x for each cross of each block, and with `transposed` u^T x behind all these; one
   group of RUN threads for each cross. crosses (c, 2): block and number of the cross; `side` 0: v with x at the columns, 1:
   u with x at the rows. */
KERNEL coefficients(GLOBAL const real_type *numbers, GLOBAL const int *table, GLOBAL const int *crosses, int count, int side,
                    GLOBAL const vector_type *x, int length, GLOBAL vector_type *out)
{
    LOCAL vector_type sums[PARTS * RUN];
    int t = LOCAL_ID(0), c = GROUP(0), vector = GROUP(1);
    GLOBAL const int *block = table + (size_t)COLUMNS * crosses[2 * c];
    int m = block[1], n = block[3], from = side ? block[0] : block[2], many = side ? m : n;
    size_t begin = (size_t)block[5] + (size_t)crosses[2 * c + 1] * (m + n) + (side ? 0 : m);
    GLOBAL const vector_type *given = x + PARTS * ((size_t)vector * length + from);
    vector_type total = 0, total_i = 0;
    for (int k = t; k < many; k += RUN)
        add_times(numbers + PARTS * (begin + k), given + PARTS * (size_t)k, &total, &total_i);
    sums[t] = total;
    sums[PARTS * RUN - RUN + t] = COMPLEX ? total_i : total;
    SUM_OVER_THREADS(sums, RUN, PARTS, RUN);
    if (t < PARTS)
        out[PARTS * ((size_t)vector * count + c) + t] = sums[t * RUN];
}

/* The result at runs of at most RUN places, one group of SLICES * RUN threads for each: what all blocks there add. runs (r,
   2): first place and how many; starts (r + 1,): the entries of a run, each 2 * block + side; side 0: the block's rows are
   here, 1: its columns. here, there: coefficients for side 0 and 1. more: whether y has the sums of other pages. */
KERNEL gather_product(GLOBAL const real_type *numbers, GLOBAL const int *table, GLOBAL const int *runs,
                      GLOBAL const int *starts, GLOBAL const int *entries, GLOBAL const vector_type *here,
                      GLOBAL const vector_type *there, int count, GLOBAL const vector_type *x, int length,
                      int more, GLOBAL vector_type *y, int places)
{
    LOCAL vector_type sums[SLICES * RUN], sums_i[SLICES * RUN];
    int t = LOCAL_ID(0), run = GROUP(0), vector = GROUP(1), lane = t % RUN, size = runs[2 * run + 1];
    int place = runs[2 * run] + (lane < size ? lane : 0);
    vector_type total = 0, total_i = 0;
    for (int e = starts[run] + t / RUN; e < starts[run + 1]; e += SLICES) {
        int side = entries[e] & 1;
        GLOBAL const int *block = table + (size_t)COLUMNS * (entries[e] >> 1);
        int m = block[1], n = block[3], rank = block[4], i = place - (side ? block[2] : block[0]);
        GLOBAL const real_type *part = numbers + PARTS * (size_t)block[5];
        int dense = rank < 0, many = dense ? (side ? m : n) : rank;
        size_t begin = dense ? (side ? i : (size_t)i * n) : (side ? m : 0) + (size_t)i;
        size_t step = dense ? (side ? n : 1) : (size_t)(m + n);
        GLOBAL const vector_type *factors = dense ? x + PARTS * ((size_t)vector * length + (side ? block[0] : block[2]))
                                                  : (side ? there : here) + PARTS * ((size_t)vector * count + block[6]);
        for (int k = 0; k < many; k++)
            add_times(part + PARTS * (begin + k * step), factors + PARTS * (size_t)k, &total, &total_i);
    }
    sums[t] = total;
    sums_i[t] = total_i;
    BARRIER;
    if (t < size) {
        for (int k = 1; k < SLICES; k++) {
            total += sums[k * RUN + t];
            total_i += sums_i[k * RUN + t];
        }
        size_t at = (size_t)vector * places + place;
        y[PARTS * at] = more ? y[PARTS * at] + total : total;
#if COMPLEX
        y[2 * at + 1] = more ? y[2 * at + 1] + total_i : total_i;
#endif
    }
}
