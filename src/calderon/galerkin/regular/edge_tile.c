/* Regular part for edge functions; as tile.c, with the sums of edge.h in place of moments. POINTS: of either
   rule. */
#include GREEN
#include "galerkin/forms/edge.h"

/* test_points (n, POINTS, 3), test_data (n, 16), trial_points (POINTS, 3, count), trial_data (16, count), weights
   (POINTS,), barycentric (POINTS, 3) coordinates of the points; parameters p0, p1, tiny; coefficients Re and Im of alpha and of 4 / k^2. upper: only pairs with trial number
   > test number. Writes the local matrices (n_tile, 3, 3, count) of test triangles lo, lo + 1, ... */
KERNEL edge_regular(GLOBAL const real_type *test_points, GLOBAL const real_type *test_data,
                    GLOBAL const real_type *trial_points, GLOBAL const real_type *trial_data,
                    GLOBAL const real_type *weights, GLOBAL const real_type *barycentric,
                    GLOBAL const real_type *parameters,
                    GLOBAL const real_type *coefficients, int lo, int count, int upper, GLOBAL out_type *out,
                    GLOBAL out_type *out_i)
{
    LOCAL real_type x[POINTS * 3], arms[POINTS * 3];
    int i = lo + GROUP(1), j = THREAD(0);
    GLOBAL const real_type *test = test_data + (size_t)i * DATA;
    for (int n = LOCAL_ID(0); n < POINTS; n += LOCAL_SIZE(0)) {
        real_type v[3];
        point(test, 1, barycentric + 3 * n, v);
        for (int c = 0; c < 3; c++) {
            x[3 * n + c] = test_points[((size_t)i * POINTS + n) * 3 + c];
            arms[3 * n + c] = v[c];
        }
    }
    BARRIER;
    /* no early return: some OpenCL compilers for processors go wrong where threads leave after a barrier */
    int points = upper && (GROUP(0) + 1) * LOCAL_SIZE(0) <= i + 1 ? 0 : POINTS;
    int inside = j < count;
    int at = inside ? j : count - 1;
    real_type sums[SUMS], sums_i[SUMS], normal[3];
    real_type p0 = parameters[0], p1 = parameters[1], tiny = parameters[2];
    for (int n = 0; n < SUMS; n++)
        sums[n] = sums_i[n] = R(0.0);
    for (int c = 0; c < 3; c++)
        normal[c] = test[c];
    NO_UNROLL
    for (int q = 0; q < points; q++) {
        real_type y[3], arm[3];
        for (int c = 0; c < 3; c++)
            y[c] = trial_points[((size_t)q * 3 + c) * count + at];
        point(trial_data + at, count, barycentric + 3 * q, arm);
        real_type s[6], si[6]; /* electric: G, G x'; magnetic: D, p x D */
        for (int n = 0; n < 6; n++)
            s[n] = si[n] = R(0.0);
        NO_UNROLL
        for (int p = 0; p < POINTS; p++) {
            real_type d[3], v[3], g, gi, h, hi;
            for (int c = 0; c < 3; c++) {
                d[c] = x[3 * p + c] - y[c];
                v[c] = arms[3 * p + c];
            }
            green(d[0] * d[0] + tiny + d[1] * d[1] + d[2] * d[2], p0, p1, &g, &gi, &h, &hi);
            real_type w = weights[p];
#if MAGNETIC
            real_type t[3];
            turned(v, normal, t);
            real_type e[3] = {t[1] * d[2] - t[2] * d[1], t[2] * d[0] - t[0] * d[2], t[0] * d[1] - t[1] * d[0]};
            h *= w;
            hi *= w;
            for (int c = 0; c < 3; c++) {
                s[c] += h * d[c];
                si[c] += hi * d[c];
                s[3 + c] += h * e[c];
                si[3 + c] += hi * e[c];
            }
#else
            g *= w;
            gi *= w;
            s[0] += g;
            si[0] += gi;
            for (int c = 0; c < 3; c++) {
                s[1 + c] += g * v[c];
                si[1 + c] += gi * v[c];
            }
#endif
        }
        real_type w = weights[q];
#if MAGNETIC
        real_type u[3] = {s[1] * arm[2] - s[2] * arm[1], s[2] * arm[0] - s[0] * arm[2], s[0] * arm[1] - s[1] * arm[0]};
        real_type ui[3] = {si[1] * arm[2] - si[2] * arm[1], si[2] * arm[0] - si[0] * arm[2],
                           si[0] * arm[1] - si[1] * arm[0]};
        sums[0] += w * dot(s + 3, arm);
        sums_i[0] += w * dot(si + 3, arm);
        for (int c = 0; c < 3; c++) {
            sums[1 + c] += w * s[c];
            sums_i[1 + c] += w * si[c];
            sums[4 + c] += w * s[3 + c];
            sums_i[4 + c] += w * si[3 + c];
            sums[7 + c] += w * u[c];
            sums_i[7 + c] += w * ui[c];
        }
#else
        sums[0] += w * s[0];
        sums_i[0] += w * si[0];
        sums[1] += w * dot(s + 1, arm);
        sums_i[1] += w * dot(si + 1, arm);
        for (int c = 0; c < 3; c++) {
            sums[2 + c] += w * s[1 + c];
            sums_i[2 + c] += w * si[1 + c];
            sums[5 + c] += w * s[0] * arm[c];
            sums_i[5 + c] += w * si[0] * arm[c];
        }
#endif
    }
    if (inside) {
        real_type factor = upper && j <= i ? R(0.0) : test[3] * trial_data[(size_t)3 * count + j];
        write_edge_matrix(sums, sums_i, test, trial_data, coefficients, factor, i - lo, j, count, out, out_i);
    }
}
