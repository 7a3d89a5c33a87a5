/* Sums over charges and dipoles at points by expansions: moments of the points of leaves (P2M) and values of local
   expansions at points (L2P); the twin of fmm/sums.py and fmm/point_expansions.py. Near points: products/device/near_points.c.

   Places (points, 3) are in units of the root, in double precision, in the order of the tree; numbers (KINDS, points) are
   the charge, if CHARGES, and three numbers of the dipole, if DIPOLES; fields (FIELDS, points) the potential and, of 4,
   its gradient. DEGREE: of the harmonics, in the basis of fmm/point_expansions.py. boxes: see octree.h. A group takes a
   leaf, unless it is said otherwise. */
#include "fmm/device/harmonics.h"
#include "products/device/octree.h"

#define KINDS (CHARGES + 3 * DIPOLES)
#define FUNCTIONS ((DEGREE + 1) * (DEGREE + 1))
#define PITCH (GROUP_SIZE + 1)

/* Between `outside` (points, width), in the order in which points were given, and `inside` (width, count) in that of the tree,
   inward or outward: times a factor, and a further one for all but the first `plain` of each. */
KERNEL reorder(GLOBAL double *outside, GLOBAL real_type *inside, GLOBAL const int *order, int count, int width, int plain,
               double factor, double further, int inward)
{
    int i = THREAD(0);
    for (int k = 0; k < (i < count ? width : 0); k++) {
        GLOBAL double *one = outside + width * (size_t)order[i] + k;
        GLOBAL real_type *other = inside + k * (size_t)count + i;
        double scale = k < plain ? factor : factor * further;
        if (inward)
            *other = (real_type)(*one * scale);
        else
            *one = *other * scale;
    }
}

/* A place relative to the centre of a box, in edges of the box. */
DEVICE void place_in_box(GLOBAL const double *places, int i, GLOBAL const int *box, real_type *place)
{
    double edges = (double)((wide_int)1 << box[LEVEL]);
    for (int c = 0; c < 3; c++)
        place[c] = (real_type)((places[3 * (size_t)i + c] - (box[PLACE + c] + 0.5) / edges) * edges);
}

/* moments (leaves, KINDS, FUNCTIONS): of sources with all functions. Threads take a source each, those of one order m at a
   time, then a function each, which they add up over the sources. */
KERNEL basis_moments(GLOBAL const int *boxes, GLOBAL const int *leaves, GLOBAL const double *places,
                     GLOBAL const real_type *numbers, int count, GLOBAL real_type *moments)
{
    LOCAL real_type values[2 * (DEGREE + 1) * PITCH], weights[KINDS * GROUP_SIZE];
    int t = LOCAL_ID(0);
    GLOBAL const int *box = boxes + NUMBERS * (size_t)leaves[GROUP(0)];
    GLOBAL real_type *own = moments + (size_t)GROUP(0) * KINDS * FUNCTIONS;
    real_type edges = (real_type)((wide_int)1 << box[LEVEL]);
    int begin = box[SOURCES], end = box[SOURCES + 1];
    for (int first = begin; first == begin || first < end; first += GROUP_SIZE) {
        /* a source, derivatives of which are by places in edges of the leaf */
        int at = first + t < end ? first + t : end - 1, k = 0;
        real_type x[3] = {0}, sector[2], state[4];
        if (at >= begin)
            place_in_box(places, at, box, x);
        for (int n = 0; n < KINDS; n++) {
            real_type scale = n < CHARGES ? R(1.0) : edges;
            weights[n * GROUP_SIZE + t] = first + t < end ? numbers[n * (size_t)count + at] * scale : R(0.0);
        }
        real_type square = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
        for (int m = 0; m <= DEGREE; m++) {
            begin_order(x, m, sector, state);
            int rows = DEGREE + 1 - m, functions = m ? 2 * rows : rows;
            for (int n = m; n <= DEGREE; n++) {
                next_degree(x[2], square, n, m, state);
                values[(n - m) * PITCH + t] = state[1];
                if (m > 0)
                    values[(rows + n - m) * PITCH + t] = state[3];
            }
            BARRIER;
            for (int q = t; q < functions * KINDS; q += GROUP_SIZE) {
                int n = q / functions, row = q % functions;
                real_type total = R(0.0);
                for (int j = 0; j < GROUP_SIZE; j++)
                    total += values[row * PITCH + j] * weights[n * GROUP_SIZE + j];
                GLOBAL real_type *place = own + n * FUNCTIONS + k + row;
                *place = first == begin ? total : *place + total;
            }
            k += functions;
            BARRIER;
        }
    }
}

/* Products of a matrix (columns, rows) with one vector of each of `count` leaves, TOGETHER of them and one row a thread.
   to_boxes: whether results stand at the numbers of boxes and given vectors in the order of leaves, or the other way. */
KERNEL multiply_leaves(GLOBAL const real_type *matrix, int rows, int columns, GLOBAL const int *leaves, int count,
                       int to_boxes, GLOBAL const real_type *given, GLOBAL real_type *out)
{
    int n = THREAD(0), row = n % rows, first = n / rows * TOGETHER;
    if (first >= count)
        return;
    GLOBAL const real_type *from[TOGETHER];
    real_type sums[TOGETHER] = {0};
    UNROLL
    for (int w = 0; w < TOGETHER; w++) {
        int leaf = first + w < count ? first + w : count - 1;
        from[w] = given + (size_t)columns * (to_boxes ? leaf : leaves[leaf]);
    }
    for (int c = 0; c < columns; c++) {
        real_type a = matrix[(size_t)c * rows + row];
        UNROLL
        for (int w = 0; w < TOGETHER; w++)
            sums[w] += a * from[w][c];
    }
    UNROLL
    for (int w = 0; w < TOGETHER; w++)
        if (first + w < count)
            out[(size_t)rows * (to_boxes ? leaves[first + w] : first + w) + row] = sums[w];
}

/* Add to fields (FIELDS, count) those of local expansions (leaves, FIELDS, FUNCTIONS) at the targets of the leaves. */
KERNEL add_expansions(GLOBAL const int *boxes, GLOBAL const int *leaves, GLOBAL const double *places, int count,
                      GLOBAL const real_type *expansions, GLOBAL real_type *fields)
{
    GLOBAL const int *box = boxes + NUMBERS * (size_t)leaves[GROUP(0)];
    GLOBAL const real_type *own = expansions + (size_t)GROUP(0) * FIELDS * FUNCTIONS;
    real_type edges = (real_type)((wide_int)1 << box[LEVEL]);
    for (int at = box[TARGETS] + LOCAL_ID(0); at < box[TARGETS + 1]; at += GROUP_SIZE) {
        real_type x[3], total[FIELDS] = {0}, sector[2], state[4];
        place_in_box(places, at, box, x);
        real_type square = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
        int k = 0;
        for (int m = 0; m <= DEGREE; m++) {
            begin_order(x, m, sector, state);
            int rows = DEGREE + 1 - m;
            for (int n = m; n <= DEGREE; n++) {
                next_degree(x[2], square, n, m, state);
                for (int f = 0; f < FIELDS; f++) {
                    total[f] += own[f * FUNCTIONS + k + n - m] * state[1];
                    if (m > 0)
                        total[f] += own[f * FUNCTIONS + k + rows + n - m] * state[3];
                }
            }
            k += m ? 2 * rows : rows;
        }
        for (int f = 0; f < FIELDS; f++)
            fields[f * (size_t)count + at] += f ? total[f] * edges : total[f];
    }
}
