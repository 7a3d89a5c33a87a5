/* Moments of functions on flat triangles about the centres of their leaves; the twin of fmm/point_expansions.py, which has
   the formulas. One thread takes one piece.

   REAL: of moments. WIDE_REAL: of coordinates. KIND: 0 for values, 1 for dipoles along normals, 2 for surface curls.
   DEGREE: of the harmonics. POINTS: of a triangle. RANK: r. */
#include "fmm/device/harmonics.h"

typedef WIDE_REAL wide_type;

#define FIELDS (KIND ? 3 : 1)
#define FUNCTIONS ((DEGREE + 1) * (DEGREE + 1))
/* Moments of a piece: those of the components of a curl are apart. */
#define SUMS (KIND == 2 ? 3 : 1)
#define ADD(k, value)                                                               \
    for (int c = 0; c < FIELDS; c++)                                                \
        sums[((size_t)c * FUNCTIONS + (k)) * count + own] += charge[c] * (value)

/* Sums (FIELDS, FUNCTIONS, count) of the charges of `count` pieces from number `first` on times all basis functions. corners
   (n, 9) of triangles, in edges of the root; piece n is local function locals[e] of triangle triangles[e] for e from
   starts[n] up to, without, starts[n + 1], in leaf leaves[n] with boxes (leaves, 4), centre and edge. points (POINTS, 2): of
   the rule; table: weights times values (local functions, POINTS), or times derivatives (local functions, POINTS, 2) for
   curls. */
KERNEL basis_moments(GLOBAL const wide_type *corners, GLOBAL const int *starts, GLOBAL const int *triangles,
                     GLOBAL const int *locals, GLOBAL const int *leaves, GLOBAL const wide_type *boxes,
                     GLOBAL const wide_type *points, GLOBAL const wide_type *table, int first, int count,
                     GLOBAL real_type *sums)
{
    int own = THREAD(0), piece = first + own;
    if (own >= count)
        return;
    GLOBAL const wide_type *box = boxes + 4 * (size_t)leaves[piece];
    for (int k = 0; k < FIELDS * FUNCTIONS; k++)
        sums[(size_t)k * count + own] = R(0.0);
    NO_UNROLL
    for (int e = starts[piece]; e < starts[piece + 1]; e++) {
        GLOBAL const wide_type *corner = corners + 9 * (size_t)triangles[e];
        wide_type u[3], v[3], normal[3];
        for (int c = 0; c < 3; c++) {
            u[c] = corner[3 + c] - corner[c];
            v[c] = corner[6 + c] - corner[c];
        }
        normal[0] = u[1] * v[2] - u[2] * v[1];
        normal[1] = u[2] * v[0] - u[0] * v[2];
        normal[2] = u[0] * v[1] - u[1] * v[0];
        NO_UNROLL
        for (int q = 0; q < POINTS; q++) {
            real_type charge[3], x[3];
            GLOBAL const wide_type *own_table = table + ((size_t)locals[e] * POINTS + q) * (KIND == 2 ? 2 : 1);
            for (int c = 0; c < 3; c++)
                x[c] = (real_type)((corner[c] + points[2 * q] * u[c] + points[2 * q + 1] * v[c] - box[c]) / box[3]);
            /* twice the area times the value, the normal, or n x grad = (d/du) v - (d/dv) u over twice the area */
            for (int c = 0; c < FIELDS; c++) {
#if KIND == 0
                wide_type area = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
                charge[c] = (real_type)(area * own_table[0]);
#elif KIND == 1
                charge[c] = (real_type)(normal[c] * own_table[0] / box[3]);
#else
                charge[c] = (real_type)(own_table[0] * v[c] - own_table[1] * u[c]);
#endif
            }
            real_type square = x[0] * x[0] + x[1] * x[1] + x[2] * x[2], sector[2], state[4];
            int k = 0;
            NO_UNROLL
            for (int m = 0; m <= DEGREE; m++) {
                int rows = DEGREE + 1 - m;
                begin_order(x, m, sector, state);
                NO_UNROLL
                for (int n = m; n <= DEGREE; n++) {
                    next_degree(x[2], square, n, m, state);
                    ADD(k + n - m, state[1]);
                    if (m > 0) {
                        ADD(k + rows + n - m, state[3]);
                    }
                }
                k += m ? 2 * rows : rows;
            }
        }
    }
}

/* The combinations of such sums, for `count` pieces from number `first` on: moments (pieces, SUMS, RANK). expand (4, pitch,
   RANK): basis functions and their derivatives by x, y and z to combinations. One thread takes one number. */
KERNEL combine(GLOBAL const real_type *sums, GLOBAL const real_type *expand, int pitch, int first, int count,
               GLOBAL real_type *moments)
{
    int number = THREAD(0), r = number % RANK, component = number / RANK % SUMS, own = number / (RANK * SUMS);
    if (own >= count)
        return;
    real_type total = R(0.0);
    for (int c = 0; c < (KIND == 1 ? 3 : 1); c++) {
        GLOBAL const real_type *matrix = expand + (size_t)(KIND == 1 ? c + 1 : 0) * pitch * RANK + r;
        GLOBAL const real_type *given = sums + (size_t)(KIND == 1 ? c : component) * FUNCTIONS * count + own;
        for (int k = 0; k < FUNCTIONS; k++)
            total += matrix[(size_t)k * RANK] * given[(size_t)k * count];
    }
    moments[(((size_t)first + own) * SUMS + component) * RANK + r] = total;
}
