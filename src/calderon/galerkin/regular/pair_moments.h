/* The moments of one pair of triangles by the rule for its distance, by one thread; the twin of pair_sums.py. Included
   after GREEN and FORM. POINTS, NODES_...: see distant.h. */
#include "galerkin/forms/component.h"
#include "galerkin/device/distant.h"

#define ALL (PARTS * COMPONENTS)
/* How many components are summed at a time: two thirds where the sums of all, each with a function of the test triangle, would
   not fit into 255 registers next to all moments. Solids with a normal have six with one radial function, three with another. */
#define HELD (REAL_IS_DOUBLE && ALL * MOMENTS > 72 ? (ALL * 2 + 2) / 3 : ALL)

/* sums (PARTS, COMPONENTS, TESTS, TRIALS) of the components times local functions over all pairs of points of a test
   triangle, with nodes x (NODES_LENGTH,) and data `test`, and of the trial triangle number `at` of `count`, with data
   `trial`; tables, nodes of the trial triangles and scalars as in tile.c. some: 0 for zeros, else 1. */
DEVICE void pair_moments(SHARED const real_type *x, GLOBAL const real_type *test_table, GLOBAL const real_type *test,
                         GLOBAL const real_type *trial_nodes, GLOBAL const real_type *trial_table,
                         GLOBAL const real_type *trial, GLOBAL const real_type *scalars, int at, int count, int some,
                         real_type *sums)
{
    int apart = 0;
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
#if ZONES
    real_type far[FAR_NUMBERS], other[FAR_NUMBERS];
    for (int k = 0; k < FAR_NUMBERS; k++) {
        far[k] = x[FAR_FIRST + k];
        other[k] = trial_nodes[(size_t)(FAR_FIRST + k) * count + at];
    }
    apart = are_distant(far, other, tiny);
#if SERIES
    if (some && apart)
        UNROLL
        for (int a = 0; a < TESTS && a < SERIES_FUNCTIONS; a++)
            series(far, other, a, m, n, parameters, tiny, sums + a * TRIALS);
#endif
#endif
    int last = some * (SERIES ? USUAL_POINTS : POINTS);
    UNROLL
    for (int from = 0; from < ALL; from += HELD) {
        NO_UNROLL
        for (int q = 0; q < last; q++) { /* as often in all threads: some OpenCL compilers for processors go wrong otherwise */
            int zone = q >= USUAL_POINTS, first = zone ? USUAL_POINTS : 0, end = zone ? POINTS : USUAL_POINTS;
            if (zone != apart)
                continue;
            size_t place = (size_t)q * 3 * count + at;
            real_type y[3] = {trial_nodes[place], trial_nodes[place + count], trial_nodes[place + 2 * (size_t)count]};
            real_type s[HELD * TESTS];
            for (int k = 0; k < HELD * TESTS; k++)
                s[k] = R(0.0);
            NO_UNROLL
            for (int p = first; p < end; p++) {
                real_type d[3] = {x[3 * p] - y[0], x[3 * p + 1] - y[1], x[3 * p + 2] - y[2]};
                real_type value[ALL];
                component_values(d, m, n, parameters, tiny, value);
                for (int a = 0; a < TESTS; a++)
                    for (int k = from; k < from + HELD && k < ALL; k++)
                        s[(k - from) * TESTS + a] += WEIGHT_AT(test_table, a, p, x, 1) * value[k];
            }
            for (int k = from; k < from + HELD && k < ALL; k++)
                for (int n = k * MOMENTS; n < (k + 1) * MOMENTS; n++)
                    sums[n] += WEIGHT_AT(trial_table, n % TRIALS, q, trial_nodes + at, count) * s[n / TRIALS - from * TESTS];
        }
    }
}
