/* Regular part: the local matrices of some test triangles with all trial triangles by a product of Gauss rules; the twin
   of tile.py. One thread takes one pair; the points of the test triangle are staged for its group. FORM says what is
   summed with which TESTS and TRIALS functions, and what the local matrix of the moments is. POINTS: of either rule. */
#include GREEN
#include FORM
#include "galerkin/forms/component.h"

/* test_points (n, POINTS, 3), test_table (TESTS, POINTS), test_data (n, TEST_LENGTH); trial_points (POINTS, 3, count),
   trial_table (TRIALS, POINTS), trial_data (numbers, count): as the form reads them; scalars: tiny, then parameters of the Green's function. functions:
   local test functions. upper: only pairs with trial number > test number. Writes the local matrices (n_tile, functions,
   WIDTH, count) of test triangles lo, lo + 1, ... */
KERNEL regular(GLOBAL const real_type *test_points, GLOBAL const real_type *test_table,
               GLOBAL const real_type *test_data, GLOBAL const real_type *trial_points,
               GLOBAL const real_type *trial_table, GLOBAL const real_type *trial_data,
               GLOBAL const real_type *scalars, GLOBAL const real_type *coefficients, int lo, int count,
               int functions, int upper, GLOBAL out_type *out, GLOBAL out_type *out_i)
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
    GLOBAL const real_type *test = test_data + (size_t)i * TEST_LENGTH(functions), *trial = trial_data + at;
    real_type sums[PARTS * COMPONENTS * MOMENTS], m[3], n[3], tiny = scalars[0], parameters[PARAMETERS + 1];
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
    if (inside) {
        real_type factor = upper && j <= i ? R(0.0) : test[DATA_JACOBIAN] * trial[(size_t)DATA_JACOBIAN * count];
        local_matrix(sums, test, trial, coefficients, functions, factor, (size_t)(i - lo) * functions * WIDTH * count + j,
                     count, out, out_i);
    }
}
