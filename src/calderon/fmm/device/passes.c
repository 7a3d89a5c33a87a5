/* The passes between boxes; the twin of fmm/passes.py. Each group owns boxes, for which it gathers what children,
   parents or separated boxes give, so that sums have a fixed order and need no atomics; a thread takes a coefficient.

   TOGETHER vectors of r numbers, those of COLUMNS harmonic sums of PAIRS boxes, are in local memory and meet each number of
   a matrix while it is in a register: 2 TOGETHER operations for each number of a matrix, read by consecutive threads
   from the second-level cache, where all matrices fit.

   RANK: r. REAL: of matrices and expansions (parts, boxes, COLUMNS, RANK); the second number of a group is the part. */
#include "backends/prelude.h"

#define TOGETHER (PAIRS * COLUMNS)
#define SIZE (COLUMNS * RANK)

/* Between the boxes from number `first` on, `count` of them, of one level, and their children (boxes, 8), -1 for none, by
   matrices (8, RANK, RANK), one for each octant: moments of boxes from those of their children, or with `down` local
   expansions of children, to which those of boxes are added. A group takes PAIRS boxes, and `down` one octant. */
KERNEL shift_boxes(GLOBAL const real_type *matrices, GLOBAL const int *children, int first, int count, int boxes, int down,
                   GLOBAL real_type *values)
{
    LOCAL ALIGNED real_type given[RANK * TOGETHER];
    int t = LOCAL_ID(0), task = down ? GROUP(0) / 8 : GROUP(0), low = down ? GROUP(0) % 8 : 0, high = down ? low + 1 : 8;
    int begin = first + task * PAIRS, last = first + count;
    GLOBAL real_type *own = values + (size_t)GROUP(1) * boxes * SIZE;
    real_type sums[ROWS][TOGETHER] = {{0}};
    for (int octant = low; octant < high; octant++) {
        for (int q = t; q < RANK * TOGETHER; q += GROUP_SIZE) {
            int w = q / RANK, k = q % RANK, box = begin + w / COLUMNS, child = box < last ? children[8 * box + octant] : -1;
            size_t place = ((size_t)(child < 0 || down ? (box < last ? box : first) : child) * COLUMNS + w % COLUMNS) * RANK + k;
            given[k * TOGETHER + w] = child < 0 ? R(0.0) : own[place];
        }
        BARRIER;
        GLOBAL const real_type *matrix = matrices + (size_t)octant * RANK * RANK;
        UNROLL
        for (int m = 0; m < ROWS; m++) {
            int i = t + m * GROUP_SIZE < RANK ? t + m * GROUP_SIZE : RANK - 1;
            for (int k = 0; k < RANK; k++) {
                real_type a = matrix[k * RANK + i];
                UNROLL
                for (int w = 0; w < TOGETHER; w++)
                    sums[m][w] += a * given[k * TOGETHER + w];
            }
        }
        BARRIER;
    }
    UNROLL
    for (int w = 0; w < TOGETHER; w++) {
        int box = begin + w / COLUMNS, target = -1;
        for (int octant = low; octant < (box < last ? high : low); octant++)
            if (children[8 * box + octant] >= 0)
                target = down ? children[8 * box + octant] : box;
        UNROLL
        for (int m = 0; m < ROWS; m++) {
            int i = t + m * GROUP_SIZE;
            size_t place = ((size_t)(target < 0 ? 0 : target) * COLUMNS + w % COLUMNS) * RANK + i;
            if (i < RANK && target >= 0)
                own[place] = down ? own[place] + sums[m][w] : sums[m][w];
        }
    }
}

/* Local expansions of all boxes, `block` of them a group, from moments: the pairs (source, target) of the runs (matrix,
   first pair, one beyond the last) from blocks[group] on, times scale of the target. places (matrices, 2): where the
   numbers of a matrix begin, and its rank n: V (n, RANK), then U (RANK, n), column by column; n = 0: one (RANK, RANK).
   All pairs of a run have different targets. Threads share the sums of V x out by rows and by parts of them. */
KERNEL translate_boxes(GLOBAL const real_type *numbers, GLOBAL const int *places, GLOBAL const int *sources,
                       GLOBAL const int *targets, GLOBAL const int *runs, GLOBAL const int *blocks, int block, int boxes,
                       GLOBAL const real_type *scale, GLOBAL const real_type *moments, GLOBAL real_type *expansions)
{
    LOCAL ALIGNED real_type given[RANK * TOGETHER], shares[GROUP_SIZE * TOGETHER];
    int t = LOCAL_ID(0), first = GROUP(0) * block, last = first + block < boxes ? first + block : boxes;
    GLOBAL const real_type *from = moments + (size_t)GROUP(1) * boxes * SIZE;
    GLOBAL real_type *own = expansions + (size_t)GROUP(1) * boxes * SIZE;
    for (int box = first; box < last; box++) /* a thread writes to places of its own, here and below */
        for (int c = 0; c < COLUMNS; c++)
            for (int i = t; i < RANK; i += GROUP_SIZE)
                own[((size_t)box * COLUMNS + c) * RANK + i] = R(0.0);
    for (int run = blocks[GROUP(0)]; run < blocks[GROUP(0) + 1]; run++) {
        GLOBAL const int *matrix = places + 2 * runs[3 * run];
        GLOBAL const real_type *one = numbers + matrix[0];
        int n = matrix[1], rank = n ? n : 1, cuts = GROUP_SIZE / rank, cut = t / rank, end = runs[3 * run + 2];
        int low = n && cut < cuts ? RANK * cut / cuts : 0, high = n && cut < cuts ? RANK * (cut + 1) / cuts : 0;
        GLOBAL const real_type *two = one + (size_t)n * RANK;
        int count = n ? n : RANK;
        for (int p = runs[3 * run + 1]; p < end; p += PAIRS) {
            for (int q = t; q < RANK * TOGETHER; q += GROUP_SIZE) {
                int w = q / RANK, k = q % RANK, pair = p + w / COLUMNS < end ? p + w / COLUMNS : end - 1;
                given[k * TOGETHER + w] = from[((size_t)sources[pair] * COLUMNS + w % COLUMNS) * RANK + k];
            }
            BARRIER;
            real_type sums[TOGETHER] = {0};
            for (int k = low; k < high; k++) {
                real_type a = one[k * rank + t % rank];
                UNROLL
                for (int w = 0; w < TOGETHER; w++)
                    sums[w] += a * given[k * TOGETHER + w];
            }
            UNROLL
            for (int w = 0; w < TOGETHER; w++)
                shares[t * TOGETHER + w] = sums[w];
            BARRIER;
            for (int q = t; q < n * TOGETHER; q += GROUP_SIZE) {
                real_type total = R(0.0);
                for (int m = 0; m < cuts; m++)
                    total += shares[m * n * TOGETHER + q];
                given[q] = total;
            }
            BARRIER;
            for (int i = t; i < RANK; i += GROUP_SIZE) {
                real_type known[TOGETHER]; /* loaded before the products, which take as long */
                UNROLL
                for (int w = 0; w < TOGETHER; w++) {
                    int pair = p + w / COLUMNS < end ? p + w / COLUMNS : end - 1;
                    known[w] = own[((size_t)targets[pair] * COLUMNS + w % COLUMNS) * RANK + i];
                    sums[w] = R(0.0);
                }
                for (int k = 0; k < count; k++) {
                    real_type a = two[k * RANK + i];
                    UNROLL
                    for (int w = 0; w < TOGETHER; w++)
                        sums[w] += a * given[k * TOGETHER + w];
                }
                UNROLL
                for (int w = 0; w < TOGETHER; w++)
                    if (p + w / COLUMNS < end) {
                        int target = targets[p + w / COLUMNS];
                        own[((size_t)target * COLUMNS + w % COLUMNS) * RANK + i] = known[w] + scale[target] * sums[w];
                    }
            }
            BARRIER;
        }
    }
}
