/* Pairs of triangles of horizontal metal between layers, from tables of Green's functions; the twin of pair_sums.py and of
   `look_up` in layers/tables.py. PAIR_...: places in the numbers of a triangle, its points (2, POINTS) from the centroid
   last. TERMS: of a series. TEST: memory of the numbers of the test triangle, SHARED or
   GLOBAL. */
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

/* Add to m (7, 2) Re and Im of int int G, G xi, G eta, G xi . eta, K, with xi and eta from the centroids, by the first
   `points` points of the trial triangle, whose numbers are `step` places apart: trial[n * step]. number: of the table between
   both; parts, starts, apart, interval, ends, series, weights: as in pairs.c. */
DEVICE void add_pair(TEST const real_type *test, GLOBAL const real_type *trial, size_t step, int table,
                     GLOBAL const real_type *parts, GLOBAL const int *starts, GLOBAL const int *apart,
                     GLOBAL const int *interval, GLOBAL const real_type *ends, GLOBAL const real_type *series,
                     GLOBAL const real_type *weights, int points, real_type *m)
{
    int first = starts[table], last = starts[table + 1] - 1, is_apart = apart[table];
    real_type scale = parts[table], dx = test[PAIR_CENTRE] - trial[PAIR_CENTRE * step],
              dy = test[PAIR_CENTRE + 1] - trial[(PAIR_CENTRE + 1) * step];
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
            int piece = interval[place < last ? place : last];
            sum_series(series + (size_t)4 * TERMS * piece, (r - ends[2 * piece]) * ends[2 * piece + 1], values);
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
            m[c] += w * s[c];
            m[2 + c] += w * sx[c];
            m[4 + c] += w * sy[c];
            m[6 + c] += w * qx * s[c];
            m[8 + c] += w * qy * s[c];
            m[10 + c] += w * (qx * sx[c] + qy * sy[c]);
            m[12 + c] += w * k[c];
        }
    }
}

/* Re and Im of G xi . eta - K div f div g of the local functions a and b of two triangles from the moments m of `add_pair`;
   charge: 4 / k0^2. */
DEVICE void product_of(const real_type *m, TEST const real_type *test, int a, GLOBAL const real_type *trial, size_t step,
                       int b, real_type charge, real_type *e)
{
    real_type u = test[PAIR_VERTICES + 2 * a], v = test[PAIR_VERTICES + 2 * a + 1];
    real_type x = trial[(PAIR_VERTICES + 2 * b) * step], y = trial[(PAIR_VERTICES + 2 * b + 1) * step];
    real_type st = test[PAIR_FACTORS + a] * trial[(PAIR_FACTORS + b) * step];
    UNROLL
    for (int c = 0; c < 2; c++)
        e[c] = st * parallel_product(m[c], m[2 + c], m[4 + c], m[6 + c], m[8 + c], m[10 + c], m[12 + c], charge, u, v, x, y);
}
