/* Entries of one edge function with a cluster of others; the twin of edge_field_entries.py, where V, C and the records of a side
   are described. MAGNETIC: 0 electric field, 1 magnetic field, 2 magnetic field tested with rotated functions. POINTS: of
   a triangle. */
#include GREEN
#include "galerkin/rows/emitted_field.h"

#define TRIALS 3 /* local functions */

/* What triangle number k of a cluster of the varying side (y) adds to the entries of its local functions with the
   function at `position` of the fixed side (x); as in scalar_entries.h. scalars: p0, p1, tiny, factor, that of charges. */
DEVICE void add_triangle(GLOBAL const real_type *x, GLOBAL const int *near, GLOBAL const real_type *y,
                         GLOBAL const int *index, int position, int cluster, int k, int count, int tests_fixed,
                         GLOBAL const real_type *scalars, GLOBAL const int *skips, int masked,
                         GLOBAL real_type *out)
{
    int triangle = item(index, SIDE_LISTS, item(index, SIDE_LIST_STARTS, cluster) + k);
    int begin = item(near, SIDE_STARTS, position), end = item(near, SIDE_STARTS, position + 1);
    int crossed = MAGNETIC == 1 && tests_fixed;
    GLOBAL const real_type *varying = y + index[SIDE_RECORDS] + (size_t)index[SIDE_LENGTH] * triangle;
    unsigned int bits = masked ? listed_first(near, skips, begin, end, triangle) : 0u;
    real_type p0 = scalars[0], p1 = scalars[1], tiny = scalars[2];
    real_type t[3] = {R(0.0), R(0.0), R(0.0)}, ti[3] = {R(0.0), R(0.0), R(0.0)}, u = R(0.0), ui = R(0.0);
    NO_UNROLL
    for (int q = 0; q < POINTS; q++) {
        real_type at[3] = {varying[7 * q], varying[7 * q + 1], varying[7 * q + 2]}, weight = y[q], c = R(0.0), ci = R(0.0);
        real_type v[3] = {R(0.0), R(0.0), R(0.0)}, vi[3] = {R(0.0), R(0.0), R(0.0)};
        NO_UNROLL
        for (int e = begin; e < end; e++) {
            GLOBAL const real_type *fixed =
                x + near[SIDE_RECORDS] + (size_t)near[SIDE_LENGTH] * item(near, SIDE_TRIANGLES, e);
            GLOBAL const real_type *arm = fixed + ARMS + 3 * item(near, SIDE_LOCALS, e);
            real_type kept = masked && left_out(near, skips, begin, e, triangle, bits) ? R(0.0) : R(1.0);
            real_type sums[4] = {R(0.0), R(0.0), R(0.0), R(0.0)}, sums_i[4] = {R(0.0), R(0.0), R(0.0), R(0.0)};
            NO_UNROLL
            for (int p = 0; p < POINTS; p++) {
                GLOBAL const real_type *node = fixed + 7 * p;
                real_type d0 = node[0] - at[0], d1 = node[1] - at[1], d2 = node[2] - at[2], g, gi, h, hi;
                green(d0 * d0 + tiny + d1 * d1 + d2 * d2, p0, p1, &g, &gi, &h, &hi);
#if MAGNETIC
                g = h;
                gi = hi;
#endif
#pragma unroll
                for (int j = 0; j < (MAGNETIC == 1 ? 4 : 3); j++) {
                    sums[j] += node[3 + j] * g;
                    sums_i[j] += node[3 + j] * gi;
                }
            }
            for (int j = 0; j < (masked ? 4 : 0); j++) {
                sums[j] *= kept;
                sums_i[j] *= kept;
            }
            c += emitted(fixed, arm, sums, at, crossed, v);
            ci += emitted(fixed, arm, sums_i, at, crossed, vi);
        }
        real_type b0 = weight * y[POINTS + q], b1 = weight * y[2 * POINTS + q], b2 = weight * y[3 * POINTS + q];
        for (int j = 0; j < 3; j++) {
            real_type g = b0 * varying[BETA + j] + b1 * varying[BETA + 3 + j] + b2 * varying[BETA + 6 + j];
            u += g * v[j];
            ui += g * vi[j];
            t[j] += weight * v[j];
            ti[j] += weight * vi[j];
        }
#if !MAGNETIC
        u -= weight * (c * scalars[5] - ci * scalars[6]);
        ui -= weight * (c * scalars[6] + ci * scalars[5]);
#endif
    }
    for (int f = 0; f < 3; f++) {
        GLOBAL const real_type *beta = varying + BETA + 3 * f;
        real_type re = u - (beta[0] * t[0] + beta[1] * t[1] + beta[2] * t[2]), strength = varying[STRENGTHS + f];
        real_type im = ui - (beta[0] * ti[0] + beta[1] * ti[1] + beta[2] * ti[2]);
        out[(size_t)2 * f * count + k] = strength * (re * scalars[3] - im * scalars[4]);
        out[((size_t)2 * f + 1) * count + k] = strength * (re * scalars[4] + im * scalars[3]);
    }
}
