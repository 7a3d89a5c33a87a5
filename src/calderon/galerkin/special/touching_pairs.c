/* Touching and near pairs: one group of threads integrates one pair with a rule over the pair of reference triangles;
   the twin of touching_pairs.py. FORM says what is summed with which TESTS and TRIALS functions. */
#define SPECIAL 1
#include GREEN
#include FORM
#include "galerkin/forms/component.h"

/* A record of a triangle: three corners, the normal, twice the area. */
#define NORMAL 9
#define JACOBIAN 12
#define RECORD 13

/* The corners of a triangle, in the order (3,) of the rule. */
DEVICE void read_corners(GLOBAL const real_type *record, GLOBAL const signed char *order, real_type *corners)
{
    for (int k = 0; k < 9; k++)
        corners[k] = record[3 * order[k / 3] + k % 3];
}

/* Moments (number, MOMENTS), real and imaginary, of the pairs from number `begin` on. test_triangles, trial_triangles (n,
   RECORD); pairs (n, 2): of these; test_orders, trial_orders (n, 3): their vertices in the order of the rule; rules (n,):
   the rule of each pair, whose points stand from starts[rule] to starts[rule + 1] in points (4, size) as u1, u2, v1, v2 and in products
   (MOMENTS, size) of local functions, weights included; parameters of the Green's function. A group
   integrates one component: out (COMPONENTS, number, MOMENTS). */
KERNEL moments(GLOBAL const real_type *test_triangles, GLOBAL const real_type *trial_triangles, GLOBAL const int *pairs,
               GLOBAL const signed char *test_orders, GLOBAL const signed char *trial_orders,
               GLOBAL const real_type *points, GLOBAL const real_type *products, GLOBAL const real_type *given,
               GLOBAL const int *rules, GLOBAL const int *starts, int size, int begin, int number, GLOBAL real_type *out, GLOBAL real_type *out_i)
{
    LOCAL real_type values[PARTS * GROUP_SIZE], sums[PARTS * GROUP_SIZE];
    int c = GROUP(0) % COMPONENTS, own = GROUP(0) / COMPONENTS, pair = begin + own, t = LOCAL_ID(0);
    GLOBAL const real_type *test = test_triangles + (size_t)pairs[2 * pair] * RECORD;
    GLOBAL const real_type *trial = trial_triangles + (size_t)pairs[2 * pair + 1] * RECORD;
    real_type x[9], y[9], m[3], n[3], parameters[PARAMETERS + 1];
    read_parameters(given, parameters);
    read_corners(test, test_orders + 3 * (size_t)pair, x);
    read_corners(trial, trial_orders + 3 * (size_t)pair, y);
    for (int k = 0; k < 3; k++) {
        m[k] = test[NORMAL + k];
        n[k] = trial[NORMAL + k];
    }
    int slices = MOMENTS < GROUP_SIZE ? GROUP_SIZE / MOMENTS : 1;
    int moment = t % MOMENTS, slice = t / MOMENTS;
    real_type total[PARTS];
    for (int part = 0; part < PARTS; part++)
        total[part] = R(0.0);
    int first = starts[rules[pair]], last = starts[rules[pair] + 1];
    for (int start = first; start < last; start += GROUP_SIZE) {
        int q = start + t < last ? start + t : last - 1;
        real_type u1 = points[q], u2 = points[size + q], v1 = points[2 * size + q], v2 = points[3 * size + q];
        real_type d[3], value[PARTS], found[PARTS * COMPONENTS];
        for (int k = 0; k < 3; k++) /* differences of corners: nothing cancels where the triangles touch */
            d[k] = x[k] - y[k] + u1 * (x[3 + k] - x[k]) + u2 * (x[6 + k] - x[k]) - v1 * (y[3 + k] - y[k])
                   - v2 * (y[6 + k] - y[k]);
        component_values(d, m, n, parameters, R(1e-37), found);
        for (int k = 0; k < PARTS * COMPONENTS; k++) /* not found[c]: it would leave the registers */
            if (k % COMPONENTS == c)
                value[k / COMPONENTS] = found[k];
        BARRIER;
        for (int part = 0; part < PARTS; part++)
            values[part * GROUP_SIZE + t] = value[part];
        BARRIER;
        int stop = last - start < GROUP_SIZE ? last - start : GROUP_SIZE;
        if (slice < slices)
            for (int k = slice; k < stop; k += slices) {
                real_type w = products[(size_t)moment * size + start + k];
                for (int part = 0; part < PARTS; part++)
                    total[part] += w * values[part * GROUP_SIZE + k];
            }
    }
    for (int part = 0; part < PARTS; part++)
        sums[part * GROUP_SIZE + t] = total[part];
    BARRIER;
    if (t < MOMENTS) {
        size_t place = ((size_t)c * number + own) * MOMENTS + t;
        for (int part = 0; part < PARTS; part++)
            for (int k = 1; k < slices; k++)
                total[part] += sums[part * GROUP_SIZE + k * MOMENTS + t];
        out[place] = test[JACOBIAN] * trial[JACOBIAN] * total[0];
#if COMPLEX
        out_i[place] = test[JACOBIAN] * trial[JACOBIAN] * total[1];
#endif
    }
}
