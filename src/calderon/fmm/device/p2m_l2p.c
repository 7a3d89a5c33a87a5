/* Between coefficients of pieces of functions and moments or local expansions of leaves; the twin of fmm/p2m_l2p.py.

   What is done to real and imaginary parts is the second number of a group.
   Every number of the moments of functions is read once a product, by consecutive threads: 2 operations for 4 or 8 bytes,
   so that the memory's bandwidth bounds these kernels.

   REAL: of the moments of functions. WORK_REAL: of all sums. RANK: r. COLUMNS: harmonic sums. */
#include "backends/prelude.h"

typedef WORK_REAL work_type;

#define LANES 32
#define SLICES (GROUP_SIZE / LANES)
#define PITCH (LANES + 1)
#define SIZE (COLUMNS * RANK)

/* Moments (parts, boxes, COLUMNS, RANK) of the leaves, from coefficients x (parts, pieces). A group takes GROUP_SIZE
   numbers of one leaf. functions (pieces, COLUMNS, RANK): moments of pieces. */
KERNEL moments_of_pieces(GLOBAL const real_type *functions, GLOBAL const int *starts, GLOBAL const int *leaves, int boxes,
                         GLOBAL const work_type *x, int pieces, int adds, GLOBAL work_type *moments)
{
    int groups = (SIZE + GROUP_SIZE - 1) / GROUP_SIZE, leaf = GROUP(0) / groups, part = GROUP(1);
    int q = GROUP(0) % groups * GROUP_SIZE + LOCAL_ID(0), at = q < SIZE ? q : SIZE - 1;
    GLOBAL const real_type *own = functions + at;
    size_t place = ((size_t)part * boxes + leaves[leaf]) * SIZE + at;
    work_type total = adds ? moments[place] : (work_type)0;
    for (int j = starts[leaf]; j < starts[leaf + 1]; j++)
        total += own[(size_t)j * SIZE] * x[(size_t)part * pieces + j];
    if (q < SIZE)
        moments[place] = total;
}

/* The same of functions of which values test in three directions: moments of 1 and y (functions, 4, RANK), three
   coefficients of each; a thread takes one number of each of four sums. */
KERNEL moments_of_values(GLOBAL const real_type *functions, GLOBAL const int *starts, GLOBAL const int *leaves, int boxes,
                         GLOBAL const work_type *x, int pieces, int adds, GLOBAL work_type *moments)
{
    int groups = (RANK + GROUP_SIZE - 1) / GROUP_SIZE, leaf = GROUP(0) / groups, part = GROUP(1);
    int q = GROUP(0) % groups * GROUP_SIZE + LOCAL_ID(0), at = q < RANK ? q : RANK - 1;
    size_t place = ((size_t)part * boxes + leaves[leaf]) * 4 * RANK + at;
    work_type a = 0, b = 0, c = 0, d = 0;
    for (int j = starts[leaf]; j < starts[leaf + 1]; j++) {
        GLOBAL const real_type *own = functions + (size_t)j * 4 * RANK + at;
        GLOBAL const work_type *given = x + (size_t)part * pieces + 3 * (size_t)j;
        work_type one = own[0];
        a += one * given[0];
        b += one * given[1];
        c += one * given[2];
        d += own[RANK] * given[0] + own[2 * RANK] * given[1] + own[3 * RANK] * given[2];
    }
    if (q < RANK) {
        moments[place] = adds ? moments[place] + a : a;
        moments[place + RANK] = adds ? moments[place + RANK] + b : b;
        moments[place + 2 * RANK] = adds ? moments[place + 2 * RANK] + c : c;
        moments[place + 3 * RANK] = adds ? moments[place + 3 * RANK] + d : d;
    }
}

/* Of each leaf the first three of four sums plus their arm times the last one, or the last one plus arms (leaves, 3) times
   the first ones, as in fmm/p2m_l2p.py; a thread takes one number of each sum. */
KERNEL move_origin(GLOBAL const work_type *arms, GLOBAL const int *leaves, int boxes, int last, GLOBAL work_type *sums)
{
    int groups = (RANK + GROUP_SIZE - 1) / GROUP_SIZE, leaf = GROUP(0) / groups, part = GROUP(1);
    int q = GROUP(0) % groups * GROUP_SIZE + LOCAL_ID(0), at = q < RANK ? q : RANK - 1;
    size_t place = ((size_t)part * boxes + leaves[leaf]) * 4 * RANK + at;
    work_type total = sums[place + 3 * RANK];
    for (int c = 0; c < 3 && q < RANK; c++)
        if (last)
            total += arms[3 * leaf + c] * sums[place + c * RANK];
        else
            sums[place + c * RANK] += arms[3 * leaf + c] * total;
    if (q < RANK && last)
        sums[place + 3 * RANK] = total;
}

/* The sum of each of LANES rows of LANES numbers, by all threads; thread n < LANES gets that of row n. */
DEVICE work_type sum_of_row(SHARED const work_type *sums, SHARED work_type *pieces_of_sums)
{
    int t = LOCAL_ID(0);
    work_type total = 0;
    for (int k = 0; k < LANES / SLICES; k++)
        total += sums[t / SLICES * PITCH + t % SLICES * (LANES / SLICES) + k];
    pieces_of_sums[t] = total;
    BARRIER;
    total = 0;
    for (int k = 0; k < SLICES; k++)
        total += pieces_of_sums[t % LANES * SLICES + k];
    return total;
}

/* y (parts, pieces): local expansions (parts, boxes, COLUMNS, RANK) tested with pieces of functions. A group takes a run
   (first piece, how many, box) of at most LANES pieces of a leaf; a slice of LANES threads sums the numbers of a piece. */
KERNEL test_pieces(GLOBAL const real_type *functions, GLOBAL const int *runs, int boxes,
                   GLOBAL const work_type *expansions, GLOBAL work_type *y, int pieces)
{
    LOCAL work_type sums[LANES * PITCH], pieces_of_sums[GROUP_SIZE];
    int t = LOCAL_ID(0), part = GROUP(1), lane = t % LANES;
    GLOBAL const int *run = runs + 3 * GROUP(0);
    int first = run[0], count = run[1];
    GLOBAL const work_type *own = expansions + ((size_t)part * boxes + run[2]) * SIZE;
    for (int n = t / LANES; n < count; n += SLICES) {
        GLOBAL const real_type *row = functions + (size_t)(first + n) * SIZE;
        work_type total = 0;
        for (int k = lane; k < SIZE; k += LANES)
            total += row[k] * own[k];
        sums[n * PITCH + lane] = total;
    }
    BARRIER;
    work_type total = sum_of_row(sums, pieces_of_sums);
    if (t < count)
        y[(size_t)part * pieces + first + t] = total;
}

/* The same of values that test in three directions; runs of at most LANES / 3 functions. */
KERNEL test_values(GLOBAL const real_type *functions, GLOBAL const int *runs, int boxes,
                   GLOBAL const work_type *expansions, GLOBAL work_type *y, int pieces)
{
    LOCAL work_type sums[LANES * PITCH], pieces_of_sums[GROUP_SIZE];
    int t = LOCAL_ID(0), part = GROUP(1), lane = t % LANES;
    GLOBAL const int *run = runs + 3 * GROUP(0);
    int first = run[0], count = run[1];
    GLOBAL const work_type *own = expansions + ((size_t)part * boxes + run[2]) * 4 * RANK;
    for (int n = t / LANES; n < count; n += SLICES) {
        GLOBAL const real_type *row = functions + (size_t)(first + n) * 4 * RANK;
        work_type a = 0, b = 0, c = 0;
        for (int k = lane; k < RANK; k += LANES) {
            work_type one = row[k], chi = own[3 * RANK + k];
            a += one * own[k] + row[RANK + k] * chi;
            b += one * own[RANK + k] + row[2 * RANK + k] * chi;
            c += one * own[2 * RANK + k] + row[3 * RANK + k] * chi;
        }
        sums[3 * n * PITCH + lane] = a;
        sums[(3 * n + 1) * PITCH + lane] = b;
        sums[(3 * n + 2) * PITCH + lane] = c;
    }
    BARRIER;
    work_type total = sum_of_row(sums, pieces_of_sums);
    if (t < 3 * count)
        y[(size_t)part * pieces + 3 * first + t] = total;
}
