/* Entries of the magnetic field tested with fields that are affine on triangles, one function with a cluster of others; the
   twin of dual_test_entries.py, as edge_field_entries.h. POINTS: of a triangle. MAGNETIC is 2: nothing is crossed on the way. */
#include GREEN
#include "galerkin/rows/emitted_field.h"

#define TRIALS 3 /* local functions */

/* Places in the record of a test triangle after its nodes (POINTS, 9); arms (functions, 6) and values (functions, 9) at the
   end. */
#define TEST_CENTRE (9 * POINTS)
#define TEST_FRAME (9 * POINTS + 3)
#define TEST_ARMS (9 * POINTS + 21)

/* Add to v what u = u_0 + xi_1 u_1 + xi_2 u_2 with this record and this arm sends to the point y, for the real or the
   imaginary sums of the kernel times 1, xi_1, xi_2, xi_1^2, xi_1 xi_2, xi_2^2. */
DEVICE void emitted_affine(GLOBAL const real_type *fixed, GLOBAL const real_type *arm, const real_type *sums,
                           const real_type *y, real_type *v)
{
    real_type m1 = arm[0] * sums[0] + arm[2] * sums[1] + arm[4] * sums[2];
    real_type m2 = arm[1] * sums[0] + arm[3] * sums[1] + arm[5] * sums[2];
    real_type n = arm[0] * sums[2] + arm[2] * sums[4] + arm[4] * sums[5] - arm[1] * sums[1] - arm[3] * sums[3] -
                  arm[5] * sums[4];
    real_type f[3], d[3], turned[3];
    for (int c = 0; c < 3; c++) {
        f[c] = fixed[TEST_FRAME + c] * m1 + fixed[TEST_FRAME + 3 + c] * m2;
        d[c] = fixed[TEST_CENTRE + c] - y[c];
    }
    cross(f, d, turned);
    for (int c = 0; c < 3; c++)
        v[c] += turned[c] + fixed[TEST_FRAME + 6 + c] * n;
}

/* As in scalar_entries.h. */
DEVICE void add_triangle(GLOBAL const real_type *x, GLOBAL const int *near, GLOBAL const real_type *y,
                         GLOBAL const int *index, int position, int cluster, int k, int count, int tests_fixed,
                         GLOBAL const real_type *scalars, GLOBAL const int *skips, int masked,
                         GLOBAL real_type *out)
{
    int triangle = item(index, SIDE_LISTS, item(index, SIDE_LIST_STARTS, cluster) + k);
    int begin = item(near, SIDE_STARTS, position), end = item(near, SIDE_STARTS, position + 1);
    int functions = index[SIDE_FUNCTIONS], columns = tests_fixed ? 7 : 9, fixed_columns = tests_fixed ? 9 : 7;
    GLOBAL const real_type *varying = y + index[SIDE_RECORDS] + (size_t)index[SIDE_LENGTH] * triangle;
    unsigned int bits = masked ? listed_first(near, skips, begin, end, triangle) : 0u;
    real_type p0 = scalars[0], p1 = scalars[1], tiny = scalars[2];
    real_type t[9], ti[9]; /* V times the barycentric coordinates */
    for (int m = 0; m < 9; m++)
        t[m] = ti[m] = R(0.0);
    NO_UNROLL
    for (int q = 0; q < POINTS; q++) {
        GLOBAL const real_type *there = varying + columns * q;
        real_type at[3] = {there[0], there[1], there[2]};
        real_type v[3] = {R(0.0), R(0.0), R(0.0)}, vi[3] = {R(0.0), R(0.0), R(0.0)};
        NO_UNROLL
        for (int e = begin; e < end; e++) {
            GLOBAL const real_type *fixed =
                x + near[SIDE_RECORDS] + (size_t)near[SIDE_LENGTH] * item(near, SIDE_TRIANGLES, e);
            int function = item(near, SIDE_LOCALS, e);
            real_type kept = masked && left_out(near, skips, begin, e, triangle, bits) ? R(0.0) : R(1.0);
            real_type sums[6], sums_i[6];
            for (int m = 0; m < 6; m++)
                sums[m] = sums_i[m] = R(0.0);
            NO_UNROLL
            for (int p = 0; p < POINTS; p++) {
                GLOBAL const real_type *node = fixed + fixed_columns * p;
                real_type d0 = node[0] - at[0], d1 = node[1] - at[1], d2 = node[2] - at[2], g, gi, h, hi;
                green(d0 * d0 + tiny + d1 * d1 + d2 * d2, p0, p1, &g, &gi, &h, &hi);
#pragma unroll
                for (int m = 0; m < 3; m++) {
                    sums[m] += node[3 + m] * h;
                    sums_i[m] += node[3 + m] * hi;
                }
                if (tests_fixed) {
#pragma unroll
                    for (int m = 3; m < 6; m++) {
                        sums[m] += node[3 + m] * h;
                        sums_i[m] += node[3 + m] * hi;
                    }
                }
            }
            for (int m = 0; m < (masked ? 6 : 0); m++) {
                sums[m] *= kept;
                sums_i[m] *= kept;
            }
            if (tests_fixed) {
                emitted_affine(fixed, fixed + TEST_ARMS + 6 * function, sums, at, v);
                emitted_affine(fixed, fixed + TEST_ARMS + 6 * function, sums_i, at, vi);
            } else {
                emitted(fixed, fixed + ARMS + 3 * function, sums, at, 0, v);
                emitted(fixed, fixed + ARMS + 3 * function, sums_i, at, 0, vi);
            }
        }
        for (int m = 0; m < 3; m++) {
            real_type weight = y[q] * y[(m + 1) * POINTS + q];
            for (int c = 0; c < 3; c++) {
                t[3 * m + c] += weight * v[c];
                ti[3 * m + c] += weight * vi[c];
            }
        }
    }
    for (int f = 0; f < functions; f++) {
        real_type u = R(0.0), ui = R(0.0), strength = tests_fixed ? varying[STRENGTHS + f] : R(1.0);
        GLOBAL const real_type *value = varying + TEST_ARMS + 6 * functions + 9 * f; /* of test functions */
        for (int m = 0; m < 3; m++) {
            for (int c = 0; c < 3; c++) {
                real_type g = tests_fixed ? varying[BETA + 3 * m + c] - varying[BETA + 3 * f + c] : value[3 * m + c];
                u += g * t[3 * m + c];
                ui += g * ti[3 * m + c];
            }
        }
        out[(size_t)2 * f * count + k] = strength * (u * scalars[3] - ui * scalars[4]);
        out[((size_t)2 * f + 1) * count + k] = strength * (u * scalars[4] + ui * scalars[3]);
    }
}
