/* Regular part: the local matrices of some test triangles with all trial triangles by the rule for their distance; the twin
   of tile.py. One thread takes one pair; the nodes of the test triangle are staged for its group. FORM says what is
   summed with which TESTS and TRIALS functions, and what the local matrix of the moments is. */
#include GREEN
#include FORM
#include "galerkin/regular/pair_moments.h"

/* test_nodes (n, NODES_LENGTH), test_table (TESTS, POINTS), test_data (n, TEST_LENGTH); trial_nodes (NODES_LENGTH, count),
   trial_table (TRIALS, POINTS), trial_data (numbers, count): nodes as in distant.h, data as the form reads them; scalars: tiny, then parameters of the Green's function. functions:
   local test functions. upper: only pairs with trial number > test number. Writes the local matrices (n_tile, functions,
   WIDTH, count) of test triangles lo, lo + 1, ... */
KERNEL regular(GLOBAL const real_type *test_nodes, GLOBAL const real_type *test_table,
               GLOBAL const real_type *test_data, GLOBAL const real_type *trial_nodes,
               GLOBAL const real_type *trial_table, GLOBAL const real_type *trial_data,
               GLOBAL const real_type *scalars, GLOBAL const real_type *coefficients, int lo, int count,
               int functions, int upper, GLOBAL out_type *out, GLOBAL out_type *out_i)
{
    LOCAL real_type x[NODES_LENGTH];
    int i = lo + GROUP(1), j = THREAD(0);
    for (int n = LOCAL_ID(0); n < NODES_LENGTH; n += LOCAL_SIZE(0))
        x[n] = test_nodes[(size_t)i * NODES_LENGTH + n];
    BARRIER;
    /* no early return: some OpenCL compilers for processors go wrong where threads leave after a barrier */
    int some = !upper || (GROUP(0) + 1) * LOCAL_SIZE(0) > i + 1; /* not where a whole group is left out */
    int inside = j < count;
    int at = inside ? j : count - 1; /* every thread computes: uniform loops, one guarded store */
    GLOBAL const real_type *test = test_data + (size_t)i * TEST_LENGTH(functions), *trial = trial_data + at;
    real_type sums[PARTS * COMPONENTS * MOMENTS];
    pair_moments(x, test_table, test, trial_nodes, trial_table, trial, scalars, at, count, some, sums);
    if (inside) {
        real_type factor = upper && j <= i ? R(0.0) : test[DATA_JACOBIAN] * trial[(size_t)DATA_JACOBIAN * count];
        local_matrix(sums, test, trial, coefficients, functions, factor, (size_t)(i - lo) * functions * WIDTH * count + j,
                     count, out, out_i);
    }
}
