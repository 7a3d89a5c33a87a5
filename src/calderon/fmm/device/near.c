/* Products with the dense blocks between neighbouring leaves; the twin of fmm/near.py.

   Blocks are cut into strips of TILE rows. A group reads the numbers of a strip once, tile by tile, for both its rows and
   its columns, and leaves what they receive in an array, TILE sums of rows and those of all columns; a second kernel
   gathers. The floor of a product is the time to read the blocks, of symmetric matrices one of two: 2 or 4 operations a
   number.

   REAL: of the blocks. WORK_REAL: of all sums. */
#include "backends/prelude.h"

typedef WORK_REAL work_type;

#define TILE 32
#define GROUP_SIZE 128
#define PITCH (TILE + 1)
#define FIELDS 7

/* sums (parts, all) of strips (n, FIELDS): first row, rows, first column, columns, where its numbers begin (in two parts:
   65536 a + b), where its sums begin. down: B x of the columns; across: B^T x of the rows. */
KERNEL multiply_strips(GLOBAL const real_type *numbers, GLOBAL const int *strips, int down, int across,
                       GLOBAL const work_type *x_columns, int columns, GLOBAL const work_type *x_rows, int rows,
                       GLOBAL work_type *sums, int all)
{
    LOCAL work_type tile[TILE * PITCH], factors[2 * TILE], shares[GROUP_SIZE];
    int t = LOCAL_ID(0), part = GROUP(1), lane = t % TILE;
    GLOBAL const int *strip = strips + (size_t)FIELDS * GROUP(0);
    int top = strip[0], height = strip[1], left = strip[2], width = strip[3];
    GLOBAL const real_type *block = numbers + (size_t)strip[4] * 65536 + strip[5];
    GLOBAL work_type *out = sums + (size_t)part * all + strip[6];
    /* threads of rows and of columns; each sums one of `cuts` parts of its line of the tile */
    int cuts = down && across ? 2 : GROUP_SIZE / TILE, of_rows = down && (!across || t < 2 * TILE);
    int length = TILE / cuts, low = t / TILE % cuts * length, offset = of_rows ? 0 : TILE;
    int begin = of_rows ? lane * PITCH : lane, step = of_rows ? 1 : PITCH, columns_at = down ? 2 * TILE : 0;
    work_type total = 0;
    for (int c = 0; c < width; c += TILE) {
        for (int n = t; n < TILE * TILE; n += GROUP_SIZE) {
            int r = n / TILE, inside = r < height && c + lane < width;
            tile[r * PITCH + lane] = inside ? block[(size_t)r * width + c + lane] : (work_type)0;
        }
        if (t < TILE)
            factors[t] = down && c + t < width ? x_columns[(size_t)part * columns + left + c + t] : (work_type)0;
        else if (t < 2 * TILE)
            factors[t] = across && t - TILE < height ? x_rows[(size_t)part * rows + top + t - TILE] : (work_type)0;
        BARRIER;
        total = of_rows ? total : (work_type)0;
        for (int k = low; k < low + length; k++)
            total += tile[begin + k * step] * factors[offset + k];
        shares[t] = total;
        BARRIER;
        if (across && t < TILE && c + t < width) {
            work_type share = 0;
            for (int k = 0; k < cuts; k++)
                share += shares[columns_at + k * TILE + t];
            out[TILE + c + t] = share;
        }
    }
    if (down && t < height) {
        work_type share = 0;
        for (int k = 0; k < cuts; k++)
            share += shares[k * TILE + t];
        out[t] = share;
    }
}

/* y (parts, pieces) at runs (first piece, how many) of at most TILE pieces: the sums that begin at the entries of the run,
   from starts (runs + 1,) on, times a factor; added to y if `adds`. */
KERNEL gather_strips(GLOBAL const int *runs, GLOBAL const int *starts, GLOBAL const int *entries,
                     GLOBAL const work_type *sums, int all, int adds, GLOBAL work_type *y, int pieces)
{
    LOCAL work_type shares[GROUP_SIZE];
    int t = LOCAL_ID(0), run = GROUP(0), part = GROUP(1), lane = t % TILE, count = runs[2 * run + 1];
    int at = lane < count ? lane : 0;
    work_type total = 0;
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
