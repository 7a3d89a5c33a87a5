/* The moments of one pair of triangles by a product of Gauss rules, by one thread; the twin of pair_sums.py. Included
   after GREEN and FORM. POINTS: of either rule. */
#include "galerkin/forms/component.h"

/* sums (PARTS, COMPONENTS, TESTS, TRIALS) of the components times local functions over all pairs of points of a test
   triangle, with points x (POINTS, 3) and data `test`, and of the trial triangle number `at` of `count`, with data
   `trial`; tables, points of the trial triangles and scalars as in tile.c. points: POINTS, or 0 for zeros. */
DEVICE void pair_moments(SHARED const real_type *x, GLOBAL const real_type *test_table, GLOBAL const real_type *test,
                         GLOBAL const real_type *trial_points, GLOBAL const real_type *trial_table,
                         GLOBAL const real_type *trial, GLOBAL const real_type *scalars, int at, int count, int points,
                         real_type *sums)
{
    real_type m[3], n[3], tiny = scalars[0], parameters[PARAMETERS + 1];
    read_parameters(scalars + 1, parameters);
    for (int k = 0; k < PARTS * COMPONENTS * MOMENTS; k++)
        sums[k] = R(0.0);
    for (int c = 0; c < 3; c++) {
        m[c] = n[c] = R(0.0);
#if READS_TEST
        m[c] = test[DATA_NORMAL + c];
#endif
#if READS_TRIAL
        n[c] = trial[(size_t)(DATA_NORMAL + c) * count];
#endif
    }
    NO_UNROLL
    for (int q = 0; q < points; q++) {
        size_t first = (size_t)q * 3 * count + at;
        real_type y[3] = {trial_points[first], trial_points[first + count], trial_points[first + 2 * (size_t)count]};
        real_type s[PARTS * COMPONENTS * TESTS];
        for (int k = 0; k < PARTS * COMPONENTS * TESTS; k++)
            s[k] = R(0.0);
        NO_UNROLL
        for (int p = 0; p < POINTS; p++) {
            real_type d[3] = {x[3 * p] - y[0], x[3 * p + 1] - y[1], x[3 * p + 2] - y[2]};
            real_type value[PARTS * COMPONENTS];
            component_values(d, m, n, parameters, tiny, value);
            for (int a = 0; a < TESTS; a++)
                for (int k = 0; k < PARTS * COMPONENTS; k++)
                    s[k * TESTS + a] += test_table[a * POINTS + p] * value[k];
        }
        for (int k = 0; k < PARTS * COMPONENTS * TESTS; k++)
            for (int b = 0; b < TRIALS; b++)
                sums[k * TRIALS + b] += trial_table[b * POINTS + q] * s[k];
    }
}
