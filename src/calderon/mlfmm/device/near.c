/* Products with complex dense blocks between neighbouring leaves; the twin of mlfmm/near.py. A group takes some rows, or
   columns, of a leaf and reads their numbers once, by consecutive threads: 4 operations for 4, 8 or 16 bytes.

   REAL: of all sums, and of blocks unless PACKED: then 16-bit integers, GROUPED of which have one exponent. VECTOR_REAL: of
   vectors (n, 2), whose columns are `pitch` elements apart; the second number of a group is a column. */
#include "backends/prelude.h"

typedef VECTOR_REAL vector_type;
#if PACKED
typedef short stored_type;
#else
typedef real_type stored_type;
#endif

#define GROUP_SIZE 128
#define LANES 32
#define SLICES (GROUP_SIZE / LANES)
#define GROUPED 16
#define FIELDS 8
#define WORD 65536

/* out (columns, n, 2) = x in the order of leaves, conjugated if sign is -1. */
KERNEL take_unknowns(GLOBAL const vector_type *x, int begin, int pitch, real_type sign, GLOBAL const int *order, int n,
                     GLOBAL real_type *out)
{
    int i = THREAD(0);
    if (i >= n)
        return;
    GLOBAL const vector_type *from = x + 2 * ((size_t)GROUP(1) * pitch + begin + order[i]);
    GLOBAL real_type *to = out + 2 * ((size_t)GROUP(1) * n + i);
    to[0] = (real_type)from[0];
    to[1] = sign * (real_type)from[1];
}

/* The number in row r and column c of a block (first row, first column, rows, columns, and in two parts, WORD a + b, where
   its numbers and its exponents begin). */
DEVICE void number_of(GLOBAL const stored_type *numbers, GLOBAL const signed char *exponents, GLOBAL const real_type *powers,
                      GLOBAL const int *block, int r, int c, real_type *re, real_type *im)
{
    GLOBAL const stored_type *own = numbers + 2 * ((size_t)block[4] * WORD + block[5] + (size_t)r * block[3] + c);
#if PACKED
    int groups = (2 * block[3] + GROUPED - 1) / GROUPED;
    size_t group = (size_t)block[6] * WORD + block[7] + (size_t)r * groups + 2 * c / GROUPED;
    real_type unit = powers[exponents[group] + 128];
    *re = unit * own[0];
    *im = unit * own[1];
#else
    *re = own[0];
    *im = own[1];
#endif
}

/* y (n, 2) at one unknown += (factor + i factor_i) times a sum, conjugated if sign is -1. */
DEVICE void add_sum(real_type re, real_type im, vector_type factor, vector_type factor_i, real_type sign,
                    GLOBAL vector_type *y)
{
    im *= sign;
    y[0] += factor * re - factor_i * im;
    y[1] += factor * im + factor_i * re;
}

/* y += B x of all blocks of a leaf. runs (first row, how many, first and last of `order`): at most SLICES rows, LANES
   threads each; order: which of the blocks (n, FIELDS); unknowns: of rows. */
KERNEL multiply_rows(GLOBAL const stored_type *numbers, GLOBAL const signed char *exponents,
                     GLOBAL const real_type *powers, GLOBAL const int *blocks, GLOBAL const int *runs,
                     GLOBAL const int *order, GLOBAL const int *unknowns, GLOBAL const real_type *x, int n,
                     vector_type factor, vector_type factor_i, real_type sign, GLOBAL vector_type *y, int begin, int pitch)
{
    LOCAL real_type sums[2 * GROUP_SIZE];
    int t = LOCAL_ID(0), lane = t % LANES, slice = t / LANES;
    GLOBAL const int *run = runs + 4 * (size_t)GROUP(0);
    int row = run[0] + (slice < run[1] ? slice : 0);
    GLOBAL const real_type *given = x + 2 * (size_t)GROUP(1) * n;
    real_type re = R(0.0), im = R(0.0);
    for (int e = run[2]; e < run[3]; e++) {
        GLOBAL const int *block = blocks + (size_t)FIELDS * order[e];
        for (int c = lane; c < block[3]; c += LANES) {
            real_type a, b, p = given[2 * (block[1] + c)], q = given[2 * (block[1] + c) + 1];
            number_of(numbers, exponents, powers, block, row - block[0], c, &a, &b);
            re += a * p - b * q;
            im += a * q + b * p;
        }
    }
    sums[t] = re;
    sums[GROUP_SIZE + t] = im;
    for (int step = LANES / 2; step > 0; step /= 2) {
        BARRIER;
        if (lane < step) {
            sums[t] += sums[t + step];
            sums[GROUP_SIZE + t] += sums[GROUP_SIZE + t + step];
        }
    }
    if (lane == 0 && slice < run[1]) {
        size_t at = (size_t)GROUP(1) * pitch + begin + unknowns[row];
        add_sum(sums[t], sums[GROUP_SIZE + t], factor, factor_i, sign, y + 2 * at);
    }
}

/* y += B^T x, runs of at most LANES columns, whose rows are shared by SLICES threads; unknowns: of columns. */
KERNEL multiply_columns(GLOBAL const stored_type *numbers, GLOBAL const signed char *exponents,
                        GLOBAL const real_type *powers, GLOBAL const int *blocks, GLOBAL const int *runs,
                        GLOBAL const int *order, GLOBAL const int *unknowns, GLOBAL const real_type *x, int n,
                        vector_type factor, vector_type factor_i, real_type sign, GLOBAL vector_type *y, int begin,
                        int pitch)
{
    LOCAL real_type sums[2 * GROUP_SIZE];
    int t = LOCAL_ID(0), lane = t % LANES, slice = t / LANES;
    GLOBAL const int *run = runs + 4 * (size_t)GROUP(0);
    int column = run[0] + (lane < run[1] ? lane : 0);
    GLOBAL const real_type *given = x + 2 * (size_t)GROUP(1) * n;
    real_type re = R(0.0), im = R(0.0);
    for (int e = run[2]; e < run[3]; e++) {
        GLOBAL const int *block = blocks + (size_t)FIELDS * order[e];
        for (int r = slice; r < block[2]; r += SLICES) {
            real_type a, b, p = given[2 * (block[0] + r)], q = given[2 * (block[0] + r) + 1];
            number_of(numbers, exponents, powers, block, r, column - block[1], &a, &b);
            re += a * p - b * q;
            im += a * q + b * p;
        }
    }
    sums[t] = re;
    sums[GROUP_SIZE + t] = im;
    BARRIER;
    if (t < run[1]) {
        for (int k = 1; k < SLICES; k++) {
            re += sums[k * LANES + t];
            im += sums[GROUP_SIZE + k * LANES + t];
        }
        size_t at = (size_t)GROUP(1) * pitch + begin + unknowns[column];
        add_sum(re, im, factor, factor_i, sign, y + 2 * at);
    }
}
