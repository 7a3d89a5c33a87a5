/* Regular part: the local matrices of some test triangles with all trial triangles by a product of Gauss rules; the twin
   of tile.py. One thread takes one pair; the points of the test triangle are staged for its group.

   POINTS: of either rule. NORMAL: 0 none, 1 that of the test triangle, 2 that of the trial triangle. */
#include GREEN
#include "galerkin/forms/scalar.h"

#define MOMENTS (TESTS * TRIALS)

/* test_points (n, POINTS, 3), test_table (TESTS, POINTS), test_data (n, 13): normal, Jacobian, curls (3, 3);
   trial_points (POINTS, 3, count), trial_table (TRIALS, POINTS), trial_data (13, count): the same; parameters p0, p1,
   tiny. upper: only pairs with trial number > test number. Writes the local matrices (n_tile, TESTS, TRIALS, count) of
   test triangles lo, lo + 1, ... */
KERNEL regular(GLOBAL const real_type *test_points, GLOBAL const real_type *test_table,
               GLOBAL const real_type *test_data, GLOBAL const real_type *trial_points,
               GLOBAL const real_type *trial_table, GLOBAL const real_type *trial_data,
               GLOBAL const real_type *parameters, GLOBAL const real_type *coefficients, int lo, int count,
               int upper, GLOBAL out_type *out, GLOBAL out_type *out_i)
{
    LOCAL real_type x[POINTS * 3];
    int i = lo + GROUP(1), j = THREAD(0);
    for (int n = LOCAL_ID(0); n < POINTS * 3; n += LOCAL_SIZE(0))
        x[n] = test_points[(size_t)i * POINTS * 3 + n];
    BARRIER;
    /* no early return: some OpenCL compilers for processors go wrong where threads leave after a barrier */
    int points = upper && (GROUP(0) + 1) * LOCAL_SIZE(0) <= i + 1 ? 0 : POINTS; /* none where a whole group is left out */
    int inside = j < count;
    int at = inside ? j : count - 1; /* every thread computes: uniform loops, one guarded store */
    GLOBAL const real_type *test = test_data + (size_t)i * 13;
    real_type sums[MOMENTS], p0 = parameters[0], p1 = parameters[1], tiny = parameters[2];
#if COMPLEX
    real_type sums_i[MOMENTS];
#endif
    for (int n = 0; n < MOMENTS; n++) {
        sums[n] = R(0.0);
#if COMPLEX
        sums_i[n] = R(0.0);
#endif
    }
    real_type n0 = R(0.0), n1 = R(0.0), n2 = R(0.0);
#if NORMAL == 1
    n0 = test[0], n1 = test[1], n2 = test[2];
#elif NORMAL == 2
    n0 = -trial_data[at], n1 = -trial_data[count + at], n2 = -trial_data[2 * count + at];
#endif
    NO_UNROLL
    for (int q = 0; q < points; q++) {
        size_t first = (size_t)q * 3 * count + at;
        real_type y0 = trial_points[first], y1 = trial_points[first + count], y2 = trial_points[first + 2 * count];
        real_type s[TESTS];
#if COMPLEX
        real_type si[TESTS];
#endif
        for (int a = 0; a < TESTS; a++) {
            s[a] = R(0.0);
#if COMPLEX
            si[a] = R(0.0);
#endif
        }
        NO_UNROLL
        for (int p = 0; p < POINTS; p++) {
            real_type d0 = x[3 * p] - y0, d1 = x[3 * p + 1] - y1, d2 = x[3 * p + 2] - y2;
            real_type g, gi, h, hi;
            green(d0 * d0 + tiny + d1 * d1 + d2 * d2, p0, p1, &g, &gi, &h, &hi);
#if NORMAL
            real_type offset = d0 * n0 + d1 * n1 + d2 * n2;
            g = h * offset;
            gi = hi * offset;
#endif
            for (int a = 0; a < TESTS; a++) {
                s[a] += test_table[a * POINTS + p] * g;
#if COMPLEX
                si[a] += test_table[a * POINTS + p] * gi;
#endif
            }
        }
        for (int a = 0; a < TESTS; a++)
            for (int b = 0; b < TRIALS; b++) {
                sums[a * TRIALS + b] += trial_table[b * POINTS + q] * s[a];
#if COMPLEX
                sums_i[a * TRIALS + b] += trial_table[b * POINTS + q] * si[a];
#endif
            }
    }
    if (inside) {
        real_type kept = upper && j <= i ? R(0.0) : R(1.0);
        real_type jacobian = kept * test[3] * trial_data[3 * count + j], cosine = R(1.0), total = R(0.0), total_i = R(0.0);
#if CURLS
        cosine = test[0] * trial_data[j] + test[1] * trial_data[count + j] + test[2] * trial_data[2 * count + j];
        for (int n = 0; n < MOMENTS; n++) {
            total += jacobian * sums[n];
#if COMPLEX
            total_i += jacobian * sums_i[n];
#endif
        }
#endif
        for (int a = 0; a < TESTS; a++)
            for (int b = 0; b < TRIALS; b++) {
                real_type product = R(0.0), re, im, moment_i = R(0.0);
#if CURLS
                for (int c = 0; c < 3; c++)
                    product += test[4 + 3 * a + c] * trial_data[(4 + 3 * b + c) * (size_t)count + j];
#endif
#if COMPLEX
                moment_i = jacobian * sums_i[a * TRIALS + b];
#endif
                entry(jacobian * sums[a * TRIALS + b], moment_i, cosine, product, total, total_i, coefficients, &re, &im);
                size_t place = place_of(i - lo, j, a, b, count);
                out[place] = re;
#if OUT_COMPLEX
                out_i[place] = im;
#endif
            }
    }
}
