/* Products with the dense blocks of a near store; the twin of products/near_kernels.py.

   REAL: of all sums. PARTS: real numbers of an entry, 1 or 2. STORED_REAL: of blocks, unless PACKED: then 16-bit integers,
   GROUPED of which in a row have one exponent. VECTOR_REAL: of vectors of unknowns (n, 2), whose columns are `pitch`
   elements apart. COLUMNS of them meet each number while it is in a register; the second number of a group says which, of
   `take_unknowns` it is a column. Arrays of a store: numbers, exponents, powers (256,) of two. */
#include "backends/prelude.h"

typedef VECTOR_REAL vector_type;
#if PACKED
typedef short stored_type;
#else
typedef STORED_REAL stored_type;
#endif

#define GROUP_SIZE 128
#define LANES 32
#define SLICES (GROUP_SIZE / LANES)
#define GROUPED 16
#define WORD 65536

/* Places in the record of a block, or of a strip of its rows; where numbers and exponents begin: WORD a + b. */
enum { FIRST_ROW, FIRST_COLUMN, ROWS, WIDTH, NUMBERS, NUMBERS_LOW, EXPONENTS, EXPONENTS_LOW, SUMS };
#define BLOCK_FIELDS SUMS
#define STRIP_FIELDS (SUMS + 1)

/* The real numbers own[0 .. PARTS] of the entry in row r and column c of a block, times `unit`. */
DEVICE GLOBAL const stored_type *entry_of(GLOBAL const stored_type *numbers, GLOBAL const signed char *exponents,
                                          GLOBAL const real_type *powers, GLOBAL const int *block, int r, int c,
                                          real_type *unit)
{
#if PACKED
    int groups = (PARTS * block[WIDTH] + GROUPED - 1) / GROUPED;
    size_t group = (size_t)block[EXPONENTS] * WORD + block[EXPONENTS_LOW] + (size_t)r * groups + PARTS * c / GROUPED;
    *unit = powers[exponents[group] + 128];
#else
    *unit = R(1.0);
#endif
    return numbers + PARTS * ((size_t)block[NUMBERS] * WORD + block[NUMBERS_LOW] + (size_t)r * block[WIDTH] + c);
}

#if PARTS == 2
/* Complex blocks. A group takes some rows, or columns, of a leaf and reads their numbers once, by consecutive threads: 4
   operations for 4, 8 or 16 bytes. */

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
   threads each; order: which of the blocks (n, BLOCK_FIELDS); unknowns: of rows. */
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
        GLOBAL const int *block = blocks + (size_t)BLOCK_FIELDS * order[e];
        for (int c = lane; c < block[WIDTH]; c += LANES) {
            real_type unit;
            GLOBAL const stored_type *own = entry_of(numbers, exponents, powers, block, row - block[FIRST_ROW], c, &unit);
            add_products(unit * own[0], unit * own[1], x, columns, n, block[FIRST_COLUMN] + c, re, im);
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
        GLOBAL const int *block = blocks + (size_t)BLOCK_FIELDS * order[e];
        for (int r = slice; r < block[ROWS]; r += SLICES) {
            real_type unit;
            GLOBAL const stored_type *entry =
                entry_of(numbers, exponents, powers, block, r, own - block[FIRST_COLUMN], &unit);
            add_products(unit * entry[0], unit * entry[1], x, columns, n, block[FIRST_ROW] + r, re, im);
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

#else
/* Real blocks, cut into strips of TILE rows. A group reads the numbers of a strip once, tile by tile, for both its rows and
   its columns, and leaves what they receive in an array, TILE sums of rows and those of all columns; a second kernel
   gathers. The floor of a product is the time to read the blocks, of half a matrix one of two: 2 or 4 operations a number. */
#define TILE 32
#define PITCH (TILE + 1)

/* sums (parts, all) of strips (n, STRIP_FIELDS). down: B x of the columns; across: B^T x of the rows. */
KERNEL multiply_strips(GLOBAL const stored_type *numbers, GLOBAL const signed char *exponents,
                       GLOBAL const real_type *powers, GLOBAL const int *strips, int down, int across,
                       GLOBAL const real_type *x_columns, int columns, GLOBAL const real_type *x_rows, int rows,
                       GLOBAL real_type *sums, int all)
{
    LOCAL real_type tile[TILE * PITCH], factors[2 * TILE], shares[GROUP_SIZE];
    int t = LOCAL_ID(0), part = GROUP(1), lane = t % TILE;
    GLOBAL const int *strip = strips + (size_t)STRIP_FIELDS * GROUP(0);
    int top = strip[FIRST_ROW], height = strip[ROWS], left = strip[FIRST_COLUMN], width = strip[WIDTH];
    GLOBAL real_type *out = sums + (size_t)part * all + strip[SUMS];
    /* threads of rows and of columns; each sums one of `cuts` parts of its line of the tile */
    int cuts = down && across ? 2 : GROUP_SIZE / TILE, of_rows = down && (!across || t < 2 * TILE);
    int length = TILE / cuts, low = t / TILE % cuts * length, offset = of_rows ? 0 : TILE;
    int begin = of_rows ? lane * PITCH : lane, step = of_rows ? 1 : PITCH, columns_at = down ? 2 * TILE : 0;
    real_type total = 0;
    for (int c = 0; c < width; c += TILE) {
        for (int n = t; n < TILE * TILE; n += GROUP_SIZE) {
            int r = n / TILE, inside = r < height && c + lane < width;
            real_type unit;
            GLOBAL const stored_type *own =
                entry_of(numbers, exponents, powers, strip, inside ? r : 0, inside ? c + lane : 0, &unit);
            tile[r * PITCH + lane] = inside ? unit * own[0] : (real_type)0;
        }
        if (t < TILE)
            factors[t] = down && c + t < width ? x_columns[(size_t)part * columns + left + c + t] : (real_type)0;
        else if (t < 2 * TILE)
            factors[t] = across && t - TILE < height ? x_rows[(size_t)part * rows + top + t - TILE] : (real_type)0;
        BARRIER;
        total = of_rows ? total : (real_type)0;
        for (int k = low; k < low + length; k++)
            total += tile[begin + k * step] * factors[offset + k];
        shares[t] = total;
        BARRIER;
        if (across && t < TILE && c + t < width) {
            real_type share = 0;
            for (int k = 0; k < cuts; k++)
                share += shares[columns_at + k * TILE + t];
            out[TILE + c + t] = share;
        }
    }
    if (down && t < height) {
        real_type share = 0;
        for (int k = 0; k < cuts; k++)
            share += shares[k * TILE + t];
        out[t] = share;
    }
}

/* y (parts, pieces) at runs (first piece, how many) of at most TILE pieces: the sums that begin at the entries of the run,
   from starts (runs + 1,) on, times a factor; added to y if `adds`. */
KERNEL gather_strips(GLOBAL const int *runs, GLOBAL const int *starts, GLOBAL const int *entries,
                     GLOBAL const real_type *sums, int all, int adds, GLOBAL real_type *y, int pieces)
{
    LOCAL real_type shares[GROUP_SIZE];
    int t = LOCAL_ID(0), run = GROUP(0), part = GROUP(1), lane = t % TILE, count = runs[2 * run + 1];
    int at = lane < count ? lane : 0;
    real_type total = 0;
    for (int e = starts[run] + t / TILE; e < starts[run + 1]; e += GROUP_SIZE / TILE)
        total += sums[(size_t)part * all + entries[e] + at];
    shares[t] = total;
    BARRIER;
    if (t < count) {
        for (int k = 1; k < GROUP_SIZE / TILE; k++)
            total += shares[k * TILE + t];
        size_t place = (size_t)part * pieces + runs[2 * run] + t;
        y[place] = adds ? y[place] + total : total;
    }
}
#endif
