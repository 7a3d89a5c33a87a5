/* Touching and near pairs: one group of threads integrates one pair with a rule over the pair of reference triangles;
   the twin of touching_pairs.py. */
#include GREEN
#include "galerkin/forms/scalar.h"

#define MOMENTS (TESTS * TRIALS)

/* Moments (number, MOMENTS), real and imaginary. test_corners, trial_corners (n, 12): corners in the order of the rule,
   then the normal, of the triangles of each pair; jacobians (number,) products of both; rules (number,): the rule of each
   pair, whose points stand from starts[rule] to starts[rule + 1] in points (4, size) as u1, u2, v1, v2 and in products
   (MOMENTS, size) of local functions, weights included; parameters p0, p1. components: 1, or with NORMAL 1 the 3 kernels with the axes in place of
   the normal, one after the other (components, number, MOMENTS). */
KERNEL moments(GLOBAL const real_type *test_corners, GLOBAL const real_type *trial_corners,
               GLOBAL const real_type *jacobians, GLOBAL const real_type *points, GLOBAL const real_type *products,
               GLOBAL const real_type *parameters, GLOBAL const int *rules, GLOBAL const int *starts, int size, int components, int number, GLOBAL real_type *out, GLOBAL real_type *out_i)
{
    LOCAL real_type values[GROUP_SIZE], sums[GROUP_SIZE];
#if COMPLEX
    LOCAL real_type values_i[GROUP_SIZE], sums_i[GROUP_SIZE];
#endif
    int component = GROUP(0) % components, pair = GROUP(0) / components, t = LOCAL_ID(0);
    GLOBAL const real_type *x = test_corners + (size_t)pair * 12, *y = trial_corners + (size_t)pair * 12;
    int slices = MOMENTS < GROUP_SIZE ? GROUP_SIZE / MOMENTS : 1;
    int m = t % MOMENTS, slice = t / MOMENTS;
    real_type total = R(0.0), total_i = R(0.0);
    int first = starts[rules[pair]], last = starts[rules[pair] + 1];
    for (int start = first; start < last; start += GROUP_SIZE) {
        int q = start + t < last ? start + t : last - 1;
        real_type u1 = points[q], u2 = points[size + q], v1 = points[2 * size + q], v2 = points[3 * size + q];
        real_type d[3], g, gi, h, hi;
        for (int c = 0; c < 3; c++) /* differences of corners: nothing cancels where the triangles touch */
            d[c] = x[c] - y[c] + u1 * (x[3 + c] - x[c]) + u2 * (x[6 + c] - x[c]) - v1 * (y[3 + c] - y[c])
                   - v2 * (y[6 + c] - y[c]);
        green(d[0] * d[0] + R(1e-37) + d[1] * d[1] + d[2] * d[2], parameters[0], parameters[1], &g, &gi, &h, &hi);
#if NORMAL == 1
        real_type along = component == 0 ? d[0] : component == 1 ? d[1] : d[2]; /* an index would cost local memory */
        real_type offset = components == 3 ? along : d[0] * x[9] + d[1] * x[10] + d[2] * x[11];
        g = h * offset, gi = hi * offset;
#elif NORMAL == 2
        real_type offset = -(d[0] * y[9] + d[1] * y[10] + d[2] * y[11]);
        g = h * offset, gi = hi * offset;
#endif
        BARRIER;
        values[t] = g;
#if COMPLEX
        values_i[t] = gi;
#endif
        BARRIER;
        int stop = last - start < GROUP_SIZE ? last - start : GROUP_SIZE;
        if (slice < slices)
            for (int k = slice; k < stop; k += slices) {
                real_type w = products[(size_t)m * size + start + k];
                total += w * values[k];
#if COMPLEX
                total_i += w * values_i[k];
#endif
            }
    }
    sums[t] = total;
#if COMPLEX
    sums_i[t] = total_i;
#endif
    BARRIER;
    if (t < MOMENTS) {
        for (int k = 1; k < slices; k++) {
            total += sums[k * MOMENTS + t];
#if COMPLEX
            total_i += sums_i[k * MOMENTS + t];
#endif
        }
        size_t place = ((size_t)component * number + pair) * MOMENTS + t;
        out[place] = jacobians[pair] * total;
#if COMPLEX
        out_i[place] = jacobians[pair] * total_i;
#endif
    }
}
