/* Moments of functions on flat triangles about the centres of their leaves; the twin of fmm/point_expansions.py, which has
   the formulas. One thread takes one piece.

   REAL: of sums. STORED_REAL: of moments. WIDE_REAL: of coordinates. KIND: of charges, 0 for values, 1 for values times
   normals, 2 for surface curls, 3 for values times 1 and y, the place from the centre of the leaf in edges of the root, 4 for
   values times normals, then times 1 and y with derivatives of basis functions along normals. FIELDS: charges of a point.
   DEGREE: of the harmonics. POINTS: of a triangle. RANK: r. RUNS: of r moments of a piece. TOGETHER: pieces whose sums meet
   a matrix at a time, of which `width` is a multiple. */
#include "fmm/device/harmonics.h"

typedef WIDE_REAL wide_type;
typedef STORED_REAL stored_type;

#define FUNCTIONS ((DEGREE + 1) * (DEGREE + 1))
/* Charges of the functions themselves; those behind them are of derivatives. */
#define PLAIN (KIND == 4 ? 3 : FIELDS)
#define ADD(k, value, slope)                                                        \
    for (int c = 0; c < FIELDS; c++)                                                \
        sums[((size_t)c * FUNCTIONS + (k)) * width + own] += charge[c] * (c < PLAIN ? (value) : (slope))

/* Sums (FIELDS, FUNCTIONS, width) of the charges of `count` pieces from number `first` on times all basis functions. vertices
   (V, 3) in edges of the root, corners (n, 3): those of triangles; piece n is local function locals[e] of triangle triangles[e] for e from
   starts[n] up to, without, starts[n + 1], in leaf leaves[n] with boxes (leaves, 4), centre and edge. points (POINTS, 2): of
   the rule; table: weights times values (local functions, POINTS), or times derivatives (local functions, POINTS, 2) for
   curls. */
KERNEL basis_moments(GLOBAL const wide_type *vertices, GLOBAL const int *corners, GLOBAL const int *starts,
                     GLOBAL const int *triangles, GLOBAL const int *locals, GLOBAL const int *leaves,
                     GLOBAL const wide_type *boxes, GLOBAL const wide_type *points, GLOBAL const wide_type *table,
                     int first, int count, int width, GLOBAL real_type *sums)
{
    int own = THREAD(0), piece = first + own;
    if (own >= count)
        return;
    GLOBAL const wide_type *box = boxes + 4 * (size_t)leaves[piece];
    for (int k = 0; k < FIELDS * FUNCTIONS; k++)
        sums[(size_t)k * width + own] = R(0.0);
    NO_UNROLL
    for (int e = starts[piece]; e < starts[piece + 1]; e++) {
        GLOBAL const int *own_corners = corners + 3 * (size_t)triangles[e];
        GLOBAL const wide_type *corner = vertices + 3 * (size_t)own_corners[0];
        wide_type u[3], v[3], normal[3];
        for (int c = 0; c < 3; c++) {
            u[c] = vertices[3 * (size_t)own_corners[1] + c] - corner[c];
            v[c] = vertices[3 * (size_t)own_corners[2] + c] - corner[c];
        }
        normal[0] = u[1] * v[2] - u[2] * v[1];
        normal[1] = u[2] * v[0] - u[0] * v[2];
        normal[2] = u[0] * v[1] - u[1] * v[0];
        wide_type area = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
#if KIND == 4
        real_type unit[3];
        for (int c = 0; c < 3; c++)
            unit[c] = (real_type)(normal[c] / area);
#endif
        NO_UNROLL
        for (int q = 0; q < POINTS; q++) {
            real_type charge[FIELDS], x[3];
            GLOBAL const wide_type *own_table = table + ((size_t)locals[e] * POINTS + q) * (KIND == 2 ? 2 : 1);
            wide_type y[3];
            for (int c = 0; c < 3; c++) {
                y[c] = corner[c] + points[2 * q] * u[c] + points[2 * q + 1] * v[c] - box[c];
                x[c] = (real_type)(y[c] / box[3]);
            }
            /* twice the area times the value, the normal, or n x grad = (d/du) v - (d/dv) u over twice the area */
#if KIND != 1 && KIND != 2
            charge[KIND == 4 ? 3 : 0] = (real_type)(area * own_table[0]);
#endif
            for (int c = 0; c < 3; c++) {
#if KIND == 1 || KIND == 4
                charge[c] = (real_type)(normal[c] * own_table[0]);
#elif KIND == 2
                charge[c] = (real_type)(own_table[0] * v[c] - own_table[1] * u[c]);
#endif
#if KIND >= 3
                charge[FIELDS - 3 + c] = (real_type)(area * own_table[0] * y[c]);
#endif
            }
            real_type square = x[0] * x[0] + x[1] * x[1] + x[2] * x[2], sector[2], state[4];
#if KIND == 4
            real_type along = 2 * (x[0] * unit[0] + x[1] * unit[1] + x[2] * unit[2]), slopes[2], slope[4];
#else
            real_type slope[4] = {0};
#endif
            int k = 0;
            NO_UNROLL
            for (int m = 0; m <= DEGREE; m++) {
                int rows = DEGREE + 1 - m;
#if KIND == 4
                begin_slopes(x, unit, m, sector, slopes, slope);
#endif
                begin_order(x, m, sector, state);
                NO_UNROLL
                for (int n = m; n <= DEGREE; n++) {
#if KIND == 4
                    next_slopes(x[2], square, unit[2], along, n, m, state, slope);
#endif
                    next_degree(x[2], square, n, m, state);
                    ADD(k + n - m, state[1], slope[1]);
                    if (m > 0) {
                        ADD(k + rows + n - m, state[3], slope[3]);
                    }
                }
                k += m ? 2 * rows : rows;
            }
        }
    }
}

/* Moments (pieces, RUNS, RANK) of `count` pieces from number `first` on, from such sums. Run n of a piece is the sum of the
   parts from starts[n] up to, without, starts[n + 1]; each is a field of the sums times a matrix of expand (4, pitch, RANK),
   from basis functions and their derivatives by x, y and z to combinations, times a factor over a power of the edge of the
   leaf: parts (n, 3) are field, matrix and power, factors (n,) their factors. leaves, boxes: as above. One thread takes one
   number of TOGETHER pieces. */
KERNEL combine(GLOBAL const real_type *sums, GLOBAL const real_type *expand, int pitch, GLOBAL const int *starts,
               GLOBAL const int *parts, GLOBAL const wide_type *factors, GLOBAL const int *leaves,
               GLOBAL const wide_type *boxes, int first, int count, int width, GLOBAL stored_type *moments)
{
    int number = THREAD(0), r = number % RANK, run = number / RANK % RUNS, own = number / (RANK * RUNS) * TOGETHER;
    if (own >= count)
        return;
    real_type total[TOGETHER] = {0};
    for (int n = starts[run]; n < starts[run + 1]; n++) {
        GLOBAL const int *part = parts + 3 * n;
        GLOBAL const real_type *matrix = expand + (size_t)part[1] * pitch * RANK + r;
        GLOBAL const real_type *given = sums + (size_t)part[0] * FUNCTIONS * width + own;
        real_type sum[TOGETHER] = {0};
        NO_UNROLL
        for (int k = 0; k < FUNCTIONS; k++)
            for (int j = 0; j < TOGETHER; j++)
                sum[j] += matrix[(size_t)k * RANK] * given[(size_t)k * width + j];
        for (int j = 0; j < TOGETHER && own + j < count; j++) {
            wide_type edge = boxes[4 * (size_t)leaves[first + own + j] + 3], factor = factors[n];
            for (int power = 0; power < part[2]; power++)
                factor /= edge;
            total[j] += (real_type)factor * sum[j];
        }
    }
    for (int j = 0; j < TOGETHER && own + j < count; j++)
        moments[(((size_t)first + own + j) * RUNS + run) * RANK + r] = (stored_type)total[j];
}
