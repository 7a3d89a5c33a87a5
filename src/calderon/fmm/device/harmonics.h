/* The basis functions of expansions, R_n^m at a point, order by order; the twin of fmm/point_expansions.py. */
#include "backends/prelude.h"

/* Re and Im of R_m^m at x (sector), from those of R_(m-1)^(m-1), and with them the numbers that `next_degree` goes on
   from: Re of the last two functions, then Im. */
DEVICE void begin_order(const real_type *x, int m, real_type *sector, real_type *state)
{
    real_type f = m ? R(-0.5) / m : R(1.0), re = m ? sector[0] : R(1.0), im = m ? sector[1] : R(0.0);
    sector[0] = m ? (x[0] * re - x[1] * im) * f : re;
    sector[1] = m ? (x[0] * im + x[1] * re) * f : im;
    state[0] = state[2] = R(0.0);
    state[1] = sector[0];
    state[3] = sector[1];
}

/* From R_(n-1)^m to R_n^m, unless n = m: R_n^m = ((2 n - 1) z R_(n-1)^m - r^2 R_(n-2)^m) / ((n + m) (n - m)). */
DEVICE void next_degree(real_type z, real_type square, int n, int m, real_type *state)
{
    if (n == m)
        return;
    real_type f = R(1.0) / ((n + m) * (n - m)), along = z * f * (2 * n - 1), less = square * f;
    real_type re = along * state[1] - less * state[0], im = along * state[3] - less * state[2];
    state[0] = state[1];
    state[1] = re;
    state[2] = state[3];
    state[3] = im;
}

/* The derivatives along a unit vector of what `begin_order` is about to make from x and sector, by the product rule: slopes
   is to `state` here as sector is there. */
DEVICE void begin_slopes(const real_type *x, const real_type *unit, int m, const real_type *sector, real_type *slopes,
                         real_type *state)
{
    real_type f = R(-0.5) / (m ? m : 1), re = m ? slopes[0] : R(0.0), im = m ? slopes[1] : R(0.0);
    slopes[0] = m ? (x[0] * re - x[1] * im + unit[0] * sector[0] - unit[1] * sector[1]) * f : R(0.0);
    slopes[1] = m ? (x[0] * im + x[1] * re + unit[0] * sector[1] + unit[1] * sector[0]) * f : R(0.0);
    state[0] = state[2] = R(0.0);
    state[1] = slopes[0];
    state[3] = slopes[1];
}

/* The derivatives of what `next_degree` is about to make from `values`; rise, widening: those of z and of r^2. */
DEVICE void next_slopes(real_type z, real_type square, real_type rise, real_type widening, int n, int m,
                        const real_type *values, real_type *state)
{
    if (n == m)
        return;
    real_type f = R(1.0) / ((n + m) * (n - m)), along = z * f * (2 * n - 1), less = square * f;
    real_type more = rise * f * (2 * n - 1), fewer = widening * f;
    real_type re = along * state[1] - less * state[0] + more * values[1] - fewer * values[0];
    real_type im = along * state[3] - less * state[2] + more * values[3] - fewer * values[2];
    state[0] = state[1];
    state[1] = re;
    state[2] = state[3];
    state[3] = im;
}
