/* Products with the dense blocks of a near store; the twin of products/near_kernels.py.

   Blocks are cut into strips of TILE rows. A group reads the numbers of a strip once, tile by tile, for its rows, its columns
   or both, and leaves what they receive in an array, TILE sums of rows and those of all columns; a second kernel gathers.
   The floor of a product is the time to read the blocks, of half a matrix one of two: 2 or 4 operations a number.

   Vectors are planes of numbers of the places of clusters, of complex blocks a real and an imaginary plane each. PLANES of
   them meet each number while it is in local memory; of `gather_strips` the second number of a group is a plane.

   REAL: of all sums. PARTS: real numbers of an entry, 1 or 2. Arrays of a store: numbers, exponents, powers (256,) of two. */
#include "products/device/stored.h"

#define TILE 32
#define PITCH (TILE + 1)

/* Places in the record of a strip: its first row and column, rows and columns, where numbers and exponents begin, WORD a + b,
   and its sums. */
enum { FIRST_ROW, FIRST_COLUMN, ROWS, WIDTH, NUMBERS, NUMBERS_LOW, EXPONENTS, EXPONENTS_LOW, SUMS };
#define STRIP_FIELDS (SUMS + 1)

/* The real numbers own[0 .. PARTS] of the entry in row r and column c of a strip, times `unit`. */
DEVICE GLOBAL const stored_type *entry_of(GLOBAL const stored_type *numbers, GLOBAL const signed char *exponents,
                                          GLOBAL const real_type *powers, GLOBAL const int *strip, int r, int c,
                                          real_type *unit)
{
#if PACKED
    int groups = (PARTS * strip[WIDTH] + GROUPED - 1) / GROUPED;
    size_t group = (size_t)strip[EXPONENTS] * WORD + strip[EXPONENTS_LOW] + (size_t)r * groups + PARTS * c / GROUPED;
    *unit = powers[exponents[group] + 128];
#else
    *unit = R(1.0);
#endif
    return numbers + PARTS * ((size_t)strip[NUMBERS] * WORD + strip[NUMBERS_LOW] + (size_t)r * strip[WIDTH] + c);
}

/* sums (planes, all) of strips (n, STRIP_FIELDS). down: B x of the columns; across: B^T x of the rows. x_columns (planes,
   columns), x_rows (planes, rows). */
KERNEL multiply_strips(GLOBAL const stored_type *numbers, GLOBAL const signed char *exponents,
                       GLOBAL const real_type *powers, GLOBAL const int *strips, int down, int across,
                       GLOBAL const real_type *x_columns, int columns, GLOBAL const real_type *x_rows, int rows, int planes,
                       GLOBAL real_type *sums, int all)
{
    LOCAL real_type tile[PARTS * TILE * PITCH], factors[PLANES * 2 * TILE], shares[PLANES * GROUP_SIZE];
    int t = LOCAL_ID(0), lane = t % TILE, plane = GROUP(1) * PLANES, count = planes - plane < PLANES ? planes - plane : PLANES;
    GLOBAL const int *strip = strips + (size_t)STRIP_FIELDS * GROUP(0);
    int top = strip[FIRST_ROW], height = strip[ROWS], left = strip[FIRST_COLUMN], width = strip[WIDTH];
    GLOBAL real_type *out = sums + (size_t)plane * all + strip[SUMS];
    /* threads of rows and of columns; each sums one of `cuts` parts of its line of the tile */
    int cuts = down && across ? 2 : GROUP_SIZE / TILE, of_rows = down && (!across || t < 2 * TILE);
    int length = TILE / cuts, low = t / TILE % cuts * length, offset = of_rows ? 0 : TILE;
    int begin = of_rows ? lane * PITCH : lane, step = of_rows ? 1 : PITCH, columns_at = down ? 2 * TILE : 0;
    real_type totals[PLANES] = {0};
    for (int c = 0; c < width; c += TILE) {
        /* the numbers of a tile, and those of the vectors that they meet */
        for (int n = t; n < TILE * TILE; n += GROUP_SIZE) {
            int r = n / TILE, inside = r < height && c + lane < width;
            real_type unit;
            GLOBAL const stored_type *own =
                entry_of(numbers, exponents, powers, strip, inside ? r : 0, inside ? c + lane : 0, &unit);
            UNROLL
            for (int p = 0; p < PARTS; p++)
                tile[(p * TILE + r) * PITCH + lane] = inside ? unit * own[p] : R(0.0);
        }
        for (int n = t; n < 2 * TILE * count; n += GROUP_SIZE) {
            int k = n % (2 * TILE), of_column = k < TILE, place = of_column ? c + k : k - TILE;
            int wanted = of_column ? down && place < width : across && place < height;
            size_t row = plane + n / (2 * TILE);
            factors[n] = !wanted ? R(0.0) : of_column ? x_columns[row * columns + left + place] : x_rows[row * rows + top + place];
        }
        BARRIER;
        UNROLL
        for (int q = 0; q < PLANES; q++)
            totals[q] = of_rows ? totals[q] : R(0.0);
        for (int k = low; k < low + length; k++) {
            real_type a = tile[begin + k * step];
#if PARTS == 2
            real_type b = tile[TILE * PITCH + begin + k * step];
#endif
            UNROLL
            for (int q = 0; q < PLANES; q += PARTS) {
                SHARED const real_type *x = factors + q * 2 * TILE + offset + k;
                totals[q] += a * x[0];
#if PARTS == 2
                totals[q] -= b * x[2 * TILE];
                totals[q + 1] += a * x[2 * TILE] + b * x[0];
#endif
            }
        }
        UNROLL
        for (int q = 0; q < PLANES; q++)
            shares[q * GROUP_SIZE + t] = totals[q];
        BARRIER;
        /* what columns receive of this tile */
        for (int n = across ? t : count * TILE; n < count * TILE; n += GROUP_SIZE) {
            real_type share = R(0.0);
            for (int k = 0; k < cuts; k++)
                share += shares[n / TILE * GROUP_SIZE + columns_at + k * TILE + n % TILE];
            if (c + n % TILE < width)
                out[(size_t)(n / TILE) * all + TILE + c + n % TILE] = share;
        }
    }
    for (int n = down ? t : count * TILE; n < count * TILE; n += GROUP_SIZE) {
        real_type share = R(0.0);
        for (int k = 0; k < cuts; k++)
            share += shares[n / TILE * GROUP_SIZE + k * TILE + n % TILE];
        if (n % TILE < height)
            out[(size_t)(n / TILE) * all + n % TILE] = share;
    }
}

/* y (planes, places) at runs (first place, how many) of at most TILE places: the sums that begin at the entries of the run,
   from starts (runs + 1,) on. */
KERNEL gather_strips(GLOBAL const int *runs, GLOBAL const int *starts, GLOBAL const int *entries,
                     GLOBAL const real_type *sums, int all, GLOBAL real_type *y, int places)
{
    LOCAL real_type shares[GROUP_SIZE];
    int t = LOCAL_ID(0), run = GROUP(0), plane = GROUP(1), lane = t % TILE, count = runs[2 * run + 1];
    int at = lane < count ? lane : 0;
    real_type total = 0;
    for (int e = starts[run] + t / TILE; e < starts[run + 1]; e += GROUP_SIZE / TILE)
        total += sums[(size_t)plane * all + entries[e] + at];
    shares[t] = total;
    BARRIER;
    if (t < count) {
        for (int k = 1; k < GROUP_SIZE / TILE; k++)
            total += shares[k * TILE + t];
        y[(size_t)plane * places + runs[2 * run] + t] = total;
    }
}
