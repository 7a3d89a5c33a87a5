/* Pairs of triangles of horizontal metal between layers that are neither touching nor near (pair.h). One thread takes one
   pair; the numbers of the test triangle are staged for its group. */
#define TEST SHARED
#include "galerkin/layered/pair.h"

/* tests (n, LENGTH), trials (LENGTH, count): numbers of triangles, test_heights and trial_heights of which interface they lie
   on. number (heights, heights): the table between two interfaces, of which each has: parts (t,) for a unit of distance,
   starts (t + 1,) in `interval`, apart (t,), 1 where values are not divided by the distance; interval: where series are,
   ends (m, 2) middles and 2 / length, series (m, TERMS, 4). weights (POINTS,). skips: pairs that are left out, as `listed`
   says. coefficients: real and imaginary factor, 4 / k0^2. upper: only pairs with trial number > test number. Writes the
   local matrices (n_tile, 3, 3, count) of test triangles lo, lo + 1, ... */
KERNEL distant(GLOBAL const real_type *tests, GLOBAL const real_type *trials, GLOBAL const int *test_heights,
               GLOBAL const int *trial_heights, GLOBAL const int *number, GLOBAL const real_type *parts,
               GLOBAL const int *starts, GLOBAL const int *apart, GLOBAL const int *interval,
               GLOBAL const real_type *ends, GLOBAL const real_type *series, GLOBAL const real_type *weights,
               GLOBAL const int *skips, GLOBAL const real_type *coefficients, int heights, int lo, int count,
               int upper, GLOBAL out_type *out, GLOBAL out_type *out_i)
{
    LOCAL real_type test[LENGTH];
    int i = lo + GROUP(1), j = THREAD(0);
    for (int n = LOCAL_ID(0); n < LENGTH; n += LOCAL_SIZE(0))
        test[n] = tests[(size_t)i * LENGTH + n];
    BARRIER;
    int points = upper && (GROUP(0) + 1) * LOCAL_SIZE(0) <= i + 1 ? 0 : POINTS; /* none where a whole group is left out */
    int inside = j < count, at = inside ? j : count - 1; /* no early return, as in tile.c */
    GLOBAL const real_type *trial = trials + at;
    size_t step = count;
    real_type m[14];
    UNROLL
    for (int c = 0; c < 14; c++)
        m[c] = R(0.0);
    add_pair(test, trial, step, number[test_heights[i] * heights + trial_heights[at]], parts, starts, apart, interval,
             ends, series, weights, points, m);
    int left_out = upper && j <= i ? 1 : listed(skips, i, at);
    real_type area = test[PAIR_AREA] * trial[PAIR_AREA * step];
    real_type f = coefficients[0] * area, f_i = coefficients[1] * area;
    if (inside)
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) {
                real_type e[2];
                product_of(m, test, a, trial, step, b, coefficients[2], e);
                size_t to = (((size_t)(i - lo) * 3 + a) * 3 + b) * count + j;
                out[to] = left_out ? R(0.0) : f * e[0] - f_i * e[1];
                out_i[to] = left_out ? R(0.0) : f * e[1] + f_i * e[0];
            }
}
