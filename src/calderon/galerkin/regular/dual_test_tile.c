/* Regular part of the magnetic field tested with fields that are affine on triangles; as edge_tile.c, with the sums of
   dual_test.h. */
#include GREEN
#include "galerkin/forms/dual_test.h"

/* Arguments as in edge_tile.c; values (n, functions, 3, 3): of t x n at the vertices of the test triangles. */
KERNEL affine_regular(GLOBAL const real_type *test_points, GLOBAL const real_type *test_data,
                      GLOBAL const real_type *values, GLOBAL const real_type *trial_points,
                      GLOBAL const real_type *trial_data, GLOBAL const real_type *weights,
                      GLOBAL const real_type *barycentric, GLOBAL const real_type *parameters,
                      GLOBAL const real_type *coefficients, int lo, int count, int functions, GLOBAL out_type *out,
                      GLOBAL out_type *out_i)
{
    LOCAL real_type x[POINTS * 3], l[POINTS * 3];
    int i = lo + GROUP(1), j = THREAD(0);
    for (int n = LOCAL_ID(0); n < POINTS; n += LOCAL_SIZE(0)) {
        for (int c = 0; c < 3; c++) {
            x[3 * n + c] = test_points[((size_t)i * POINTS + n) * 3 + c];
            l[3 * n + c] = weights[n] * barycentric[3 * n + c];
        }
    }
    BARRIER;
    /* no early return: some OpenCL compilers for processors go wrong where threads leave after a barrier */
    int inside = j < count;
    int at = inside ? j : count - 1;
    real_type sums[AFFINE_SUMS], sums_i[AFFINE_SUMS], p0 = parameters[0], p1 = parameters[1], tiny = parameters[2];
    for (int n = 0; n < AFFINE_SUMS; n++)
        sums[n] = sums_i[n] = R(0.0);
    NO_UNROLL
    for (int q = 0; q < POINTS; q++) {
        real_type y[3], arm[3], s[9], si[9], w = weights[q];
        for (int c = 0; c < 3; c++)
            y[c] = trial_points[((size_t)q * 3 + c) * count + at];
        point(trial_data + at, count, barycentric + 3 * q, arm);
        for (int n = 0; n < 9; n++)
            s[n] = si[n] = R(0.0);
        NO_UNROLL
        for (int p = 0; p < POINTS; p++) {
            real_type d[3], g, gi, h, hi;
            for (int c = 0; c < 3; c++)
                d[c] = x[3 * p + c] - y[c];
            green(d[0] * d[0] + tiny + d[1] * d[1] + d[2] * d[2], p0, p1, &g, &gi, &h, &hi);
#pragma unroll
            for (int m = 0; m < 3; m++) {
                real_type a = l[3 * p + m] * h, b = l[3 * p + m] * hi;
                for (int c = 0; c < 3; c++) {
                    s[3 * m + c] += a * d[c];
                    si[3 * m + c] += b * d[c];
                }
            }
        }
#pragma unroll
        for (int m = 0; m < 3; m++) {
            for (int c = 0; c < 3; c++) {
                sums[6 * m + c] += w * s[3 * m + c];
                sums_i[6 * m + c] += w * si[3 * m + c];
            }
            add_cross(s + 3 * m, arm, w, sums + 6 * m + 3);
            add_cross(si + 3 * m, arm, w, sums_i + 6 * m + 3);
        }
    }
    if (inside) {
        real_type factor = test_data[(size_t)i * DATA + 3] * trial_data[(size_t)3 * count + j];
        write_affine_matrix(sums, sums_i, values + (size_t)i * functions * 9, functions, trial_data, coefficients, factor,
                            i - lo, j, count, out, out_i);
    }
}
