/* Regular part: the local matrices of some test triangles with all trial triangles by a product of Gauss rules; the twin
   of tile.py. One thread takes one pair; the points of the test triangle are staged for its group. FORM says what is
   summed with which TESTS and TRIALS functions, and what the local matrix of the moments is. POINTS: of either rule. */
#include GREEN
#include FORM
#include "galerkin/regular/pair_moments.h"

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
    real_type sums[PARTS * COMPONENTS * MOMENTS];
    pair_moments(x, test_table, test, trial_points, trial_table, trial, scalars, at, count, points, sums);
    if (inside) {
        real_type factor = upper && j <= i ? R(0.0) : test[DATA_JACOBIAN] * trial[(size_t)DATA_JACOBIAN * count];
        local_matrix(sums, test, trial, coefficients, functions, factor, (size_t)(i - lo) * functions * WIDTH * count + j,
                     count, out, out_i);
    }
}
