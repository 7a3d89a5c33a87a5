/* Pairs of triangles of horizontal metal between layers that are neither touching nor near, from tables of Green's
   functions; the twin of pair_sums.py and of `look_up` in layers/tables.py. One thread takes one pair; the numbers of the
   test triangle are staged for its group. PAIR_...: places in the numbers of a triangle, its points (2, POINTS) from
   the centroid last. TERMS: of a series. */
#include "backends/prelude.h"
#include "galerkin/device/listed.h"
#define PARALLEL 1
#include "galerkin/forms/electric.h"

#define LENGTH (PAIR_LENGTH + 2 * POINTS)

/* Re and Im of both functions at x in -1..1 from Chebyshev series (TERMS, 4), by Clenshaw's recurrence. */
DEVICE void sum_series(GLOBAL const real_type *series, real_type x, real_type *values)
{
    real_type one[4], two[4], y = x + x;
    UNROLL
    for (int c = 0; c < 4; c++) {
        one[c] = series[4 * (TERMS - 1) + c];
        two[c] = R(0.0);
    }
    UNROLL
    for (int k = TERMS - 2; k > 0; k--)
        UNROLL
        for (int c = 0; c < 4; c++) {
            real_type next = (series[4 * k + c] - two[c]) + y * one[c];
            two[c] = one[c];
            one[c] = next;
        }
    UNROLL
    for (int c = 0; c < 4; c++)
        values[c] = (series[c] - two[c]) + x * one[c];
}

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
    int table = number[test_heights[i] * heights + trial_heights[at]], first = starts[table], last = starts[table + 1] - 1;
    int is_apart = apart[table];
    real_type scale = parts[table], dx = test[PAIR_CENTRE] - trial[PAIR_CENTRE * step],
              dy = test[PAIR_CENTRE + 1] - trial[(PAIR_CENTRE + 1) * step];
    /* Re and Im of int int G, G xi, G eta, G xi . eta, K, with xi and eta from the centroids */
    real_type g[2] = {R(0.0), R(0.0)}, gx[2] = {R(0.0), R(0.0)}, gy[2] = {R(0.0), R(0.0)}, hx[2] = {R(0.0), R(0.0)},
              hy[2] = {R(0.0), R(0.0)}, both[2] = {R(0.0), R(0.0)}, charge[2] = {R(0.0), R(0.0)};
    NO_UNROLL
    for (int q = 0; q < points; q++) {
        real_type qx = trial[(PAIR_POINTS + q) * step], qy = trial[(PAIR_POINTS + POINTS + q) * step];
        real_type s[2] = {R(0.0), R(0.0)}, sx[2] = {R(0.0), R(0.0)}, sy[2] = {R(0.0), R(0.0)}, k[2] = {R(0.0), R(0.0)};
        NO_UNROLL
        for (int p = 0; p < POINTS; p++) {
            real_type px = test[PAIR_POINTS + p], py = test[PAIR_POINTS + POINTS + p], values[4];
            real_type x = (dx + px) - qx, y = (dy + py) - qy, square = x * x + y * y;
            real_type inverse = inverse_square_root(square > R(0.0) ? square : R(1.0)), r = square * inverse;
            int place = first + (int)(r * scale);
            int m = interval[place < last ? place : last];
            sum_series(series + (size_t)4 * TERMS * m, (r - ends[2 * m]) * ends[2 * m + 1], values);
            real_type w = is_apart ? weights[p] : weights[p] * inverse;
            UNROLL
            for (int c = 0; c < 2; c++) {
                real_type a = w * values[c];
                s[c] += a;
                sx[c] += a * px;
                sy[c] += a * py;
                k[c] += w * values[2 + c];
            }
        }
        UNROLL
        for (int c = 0; c < 2; c++) {
            real_type w = weights[q];
            g[c] += w * s[c];
            gx[c] += w * sx[c];
            gy[c] += w * sy[c];
            hx[c] += w * qx * s[c];
            hy[c] += w * qy * s[c];
            both[c] += w * (qx * sx[c] + qy * sy[c]);
            charge[c] += w * k[c];
        }
    }
    int left_out = upper && j <= i ? 1 : listed(skips, i, at);
    real_type area = test[PAIR_AREA] * trial[PAIR_AREA * step];
    real_type f = coefficients[0] * area, f_i = coefficients[1] * area;
    if (inside)
        for (int a = 0; a < 3; a++) {
            real_type u = test[PAIR_VERTICES + 2 * a], v = test[PAIR_VERTICES + 2 * a + 1], e[2];
            for (int b = 0; b < 3; b++) {
                real_type x = trial[(PAIR_VERTICES + 2 * b) * step], y = trial[(PAIR_VERTICES + 2 * b + 1) * step];
                real_type st = test[PAIR_FACTORS + a] * trial[(PAIR_FACTORS + b) * step];
                UNROLL
                for (int c = 0; c < 2; c++)
                    e[c] = st * parallel_product(g[c], gx[c], gy[c], hx[c], hy[c], both[c], charge[c], coefficients[2], u,
                                                 v, x, y);
                size_t to = (((size_t)(i - lo) * 3 + a) * 3 + b) * count + j;
                out[to] = left_out ? R(0.0) : f * e[0] - f_i * e[1];
                out_i[to] = left_out ? R(0.0) : f * e[1] + f_i * e[0];
            }
        }
}
