/* Products with complex dense blocks between neighbouring leaves; the twin of products/near_store.py. A group takes some rows, or
   columns, of a leaf and reads their numbers once, by consecutive threads: 4 operations for 4, 8 or 16 bytes.

   REAL: of all sums, and of blocks unless PACKED: then 16-bit integers, GROUPED of which have one exponent. VECTOR_REAL: of
   vectors (n, 2), whose columns are `pitch` elements apart. COLUMNS of them meet each number while it is in a register; the
   second number of a group says which, of `take_unknowns` it is a column. */
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

/* y (columns, n, 2) at one unknown += (factor + i factor_i) times COLUMNS sums, conjugated if sign is -1. */
DEVICE void add_sums(const real_type *re, const real_type *im, vector_type factor, vector_type factor_i, real_type sign,
                     int columns, int pitch, GLOBAL vector_type *y)
{
    UNROLL
    for (int q = 0; q < COLUMNS; q++)
        if (GROUP(1) * COLUMNS + q < columns) {
            GLOBAL vector_type *to = y + 2 * (size_t)(GROUP(1) * COLUMNS + q) * pitch;
            real_type other = sign * im[q];
            to[0] += factor * re[q] - factor_i * other;
            to[1] += factor * other + factor_i * re[q];
        }
}

/* Sums += a number of a block times the numbers of x (columns, n, 2) at a place. */
DEVICE void add_products(real_type a, real_type b, GLOBAL const real_type *x, int columns, int n, int place, real_type *re,
                         real_type *im)
{
    UNROLL
    for (int q = 0; q < COLUMNS; q++) {
        int column = GROUP(1) * COLUMNS + q < columns ? GROUP(1) * COLUMNS + q : columns - 1;
        GLOBAL const real_type *given = x + 2 * ((size_t)column * n + place);
        real_type c = given[0], d = given[1];
        re[q] += a * c - b * d;
        im[q] += a * d + b * c;
    }
}

/* y += B x of all blocks of a leaf. runs (first row, how many, first and last of `order`): at most SLICES rows, LANES
   threads each; order: which of the blocks (n, FIELDS); unknowns: of rows. */
KERNEL multiply_rows(GLOBAL const stored_type *numbers, GLOBAL const signed char *exponents,
                     GLOBAL const real_type *powers, GLOBAL const int *blocks, GLOBAL const int *runs,
                     GLOBAL const int *order, GLOBAL const int *unknowns, GLOBAL const real_type *x, int n, int columns,
                     vector_type factor, vector_type factor_i, real_type sign, GLOBAL vector_type *y, int begin, int pitch)
{
    LOCAL real_type sums[2 * COLUMNS * GROUP_SIZE];
    int t = LOCAL_ID(0), lane = t % LANES, slice = t / LANES;
    GLOBAL const int *run = runs + 4 * (size_t)GROUP(0);
    int row = run[0] + (slice < run[1] ? slice : 0);
    real_type re[COLUMNS], im[COLUMNS];
    UNROLL
    for (int q = 0; q < COLUMNS; q++)
        re[q] = im[q] = R(0.0);
    for (int e = run[2]; e < run[3]; e++) {
        GLOBAL const int *block = blocks + (size_t)FIELDS * order[e];
        for (int c = lane; c < block[3]; c += LANES) {
            real_type a, b;
            number_of(numbers, exponents, powers, block, row - block[0], c, &a, &b);
            add_products(a, b, x, columns, n, block[1] + c, re, im);
        }
    }
    UNROLL
    for (int q = 0; q < COLUMNS; q++) {
        sums[2 * q * GROUP_SIZE + t] = re[q];
        sums[(2 * q + 1) * GROUP_SIZE + t] = im[q];
    }
    for (int step = LANES / 2; step > 0; step /= 2) {
        BARRIER;
        if (lane < step)
            for (int q = 0; q < 2 * COLUMNS; q++)
                sums[q * GROUP_SIZE + t] += sums[q * GROUP_SIZE + t + step];
    }
    if (lane == 0 && slice < run[1]) {
        UNROLL
        for (int q = 0; q < COLUMNS; q++) {
            re[q] = sums[2 * q * GROUP_SIZE + t];
            im[q] = sums[(2 * q + 1) * GROUP_SIZE + t];
        }
        add_sums(re, im, factor, factor_i, sign, columns, pitch, y + 2 * ((size_t)begin + unknowns[row]));
    }
}

/* y += B^T x, runs of at most LANES columns of blocks, whose rows are shared by SLICES threads; unknowns: of columns. */
KERNEL multiply_columns(GLOBAL const stored_type *numbers, GLOBAL const signed char *exponents,
                        GLOBAL const real_type *powers, GLOBAL const int *blocks, GLOBAL const int *runs,
                        GLOBAL const int *order, GLOBAL const int *unknowns, GLOBAL const real_type *x, int n, int columns,
                        vector_type factor, vector_type factor_i, real_type sign, GLOBAL vector_type *y, int begin,
                        int pitch)
{
    LOCAL real_type sums[2 * COLUMNS * GROUP_SIZE];
    int t = LOCAL_ID(0), lane = t % LANES, slice = t / LANES;
    GLOBAL const int *run = runs + 4 * (size_t)GROUP(0);
    int own = run[0] + (lane < run[1] ? lane : 0);
    real_type re[COLUMNS], im[COLUMNS];
    UNROLL
    for (int q = 0; q < COLUMNS; q++)
        re[q] = im[q] = R(0.0);
    for (int e = run[2]; e < run[3]; e++) {
        GLOBAL const int *block = blocks + (size_t)FIELDS * order[e];
        for (int r = slice; r < block[2]; r += SLICES) {
            real_type a, b;
            number_of(numbers, exponents, powers, block, r, own - block[1], &a, &b);
            add_products(a, b, x, columns, n, block[0] + r, re, im);
        }
    }
    UNROLL
    for (int q = 0; q < COLUMNS; q++) {
        sums[2 * q * GROUP_SIZE + t] = re[q];
        sums[(2 * q + 1) * GROUP_SIZE + t] = im[q];
    }
    BARRIER;
    if (t < run[1]) {
        UNROLL
        for (int q = 0; q < COLUMNS; q++)
            for (int k = 1; k < SLICES; k++) {
                re[q] += sums[2 * q * GROUP_SIZE + k * LANES + t];
                im[q] += sums[(2 * q + 1) * GROUP_SIZE + k * LANES + t];
            }
        add_sums(re, im, factor, factor_i, sign, columns, pitch, y + 2 * ((size_t)begin + unknowns[own]));
    }
}
