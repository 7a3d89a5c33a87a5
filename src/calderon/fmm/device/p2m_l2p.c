/* Between coefficients of pieces of functions and moments or local expansions of leaves; the twin of fmm/p2m_l2p.py.

   What is done to real and imaginary parts is the second number of a group.
   Every number of the moments of functions is read once a product, by consecutive threads: 2 operations for 4 or 8 bytes,
   so that the memory's bandwidth bounds these kernels.

   REAL: of the moments of functions. WORK_REAL: of all sums. RANK: r. COLUMNS: harmonic sums. VALUES: whether values of
   functions test in three directions, with four sums of r numbers and three coefficients each. */
#include "backends/prelude.h"

typedef WORK_REAL work_type;

#define LANES 32
#define SLICES (GROUP_SIZE / LANES)
#define PITCH (LANES + 1)
#define SIZE (COLUMNS * RANK)
#define NUMBERS (VALUES ? RANK : SIZE) /* of a piece or a leaf that threads share */
#define GIVEN (VALUES ? 3 : 1)         /* coefficients of a piece */

/* Moments (parts, boxes, COLUMNS, RANK) of the leaves, from coefficients x (parts, pieces). A group takes GROUP_SIZE
   numbers of one leaf, or of VALUES of each of its four sums. functions (pieces, COLUMNS, RANK): moments of pieces, or of
   VALUES of 1 and y (functions, 4, RANK). */
KERNEL moments_of_pieces(GLOBAL const real_type *functions, GLOBAL const int *starts, GLOBAL const int *leaves, int boxes,
                         GLOBAL const work_type *x, int pieces, int adds, GLOBAL work_type *moments)
{
    int groups = (NUMBERS + GROUP_SIZE - 1) / GROUP_SIZE, leaf = GROUP(0) / groups, part = GROUP(1);
    int q = GROUP(0) % groups * GROUP_SIZE + LOCAL_ID(0), at = q < NUMBERS ? q : NUMBERS - 1;
    GLOBAL work_type *place = moments + ((size_t)part * boxes + leaves[leaf]) * SIZE + at;
    work_type total[SIZE / NUMBERS];
    UNROLL
    for (int c = 0; c < SIZE / NUMBERS; c++)
        total[c] = adds ? place[c * NUMBERS] : (work_type)0;
    for (int j = starts[leaf]; j < starts[leaf + 1]; j++) {
        GLOBAL const real_type *own = functions + (size_t)j * SIZE + at;
        GLOBAL const work_type *given = x + (size_t)part * pieces + (size_t)GIVEN * j;
        UNROLL
        for (int c = 0; c < GIVEN; c++) {
            total[c] += own[0] * given[c];
#if VALUES
            total[3] += own[(c + 1) * RANK] * given[c];
#endif
        }
    }
    if (q < NUMBERS)
        UNROLL
        for (int c = 0; c < SIZE / NUMBERS; c++)
            place[c * NUMBERS] = total[c];
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
   (first piece, how many, box) of at most LANES pieces of a leaf, or of VALUES LANES / 3 functions; a slice of LANES threads
   sums the numbers of a piece. */
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
        work_type total[GIVEN] = {0};
        for (int k = lane; k < NUMBERS; k += LANES) {
            UNROLL
            for (int c = 0; c < GIVEN; c++) {
                total[c] += row[k] * own[c * RANK + k];
#if VALUES
                total[c] += row[(c + 1) * RANK + k] * own[3 * RANK + k];
#endif
            }
        }
        UNROLL
        for (int c = 0; c < GIVEN; c++)
            sums[(GIVEN * n + c) * PITCH + lane] = total[c];
    }
    BARRIER;
    work_type total = sum_of_row(sums, pieces_of_sums);
    if (t < GIVEN * count)
        y[(size_t)part * pieces + GIVEN * first + t] = total;
}
