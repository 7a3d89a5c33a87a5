/* The radial functions A, B, P, Q, R of time-harmonic elasticity; the twin of `value` in elastodynamics.py. */
#include "greens/elementary.h"
#define PARAMETERS 2
#define FUNCTIONS 5

/* [f(x) - f(0)] / x^2 for x < 1, f = exp(ix) (c[0] + i c[1] x - c[2] x^2 - i c[3] x^3), by powers of i x. */
DEVICE void near_zero(real_type x, const real_type *c, real_type *re, real_type *im)
{
    real_type e[19], power = R(1.0); /* 1 / n! */
    e[0] = R(1.0);
    for (int n = 1; n < 19; n++)
        e[n] = e[n - 1] / (real_type)n;
    *re = *im = R(0.0);
    for (int n = 2; n < 19; n++) { /* i^n x^n, the sign of which is that of i^(n - n % 2) */
        real_type a = c[0] * e[n] + c[1] * e[n - 1] + c[2] * e[n - 2] + (n > 2 ? c[3] * e[n - 3] : R(0.0));
        real_type term = (n / 2 % 2 ? -a : a) * power;
        *re += n % 2 ? R(0.0) : term;
        *im += n % 2 ? term : R(0.0);
        power *= x;
    }
}

/* [f(x) - f(0)] / x^2 with the sine and the cosine of x, as `near_zero`. */
DEVICE void reduced(real_type x, real_type s, real_type c, const real_type *p, real_type *re, real_type *im)
{
    real_type a = p[0] - p[2] * x * x, b = (p[1] - p[3] * x * x) * x, z = x * x + R(1e-30);
    near_zero(x < R(1.0) ? x : R(0.0), p, re, im);
    *re = x < R(1.0) ? *re : (a * c - b * s - p[0]) / z;
    *im = x < R(1.0) ? *im : (a * s + b * c) / z;
}

DEVICE void radial_functions(real_type r2, const real_type *p, real_type *values)
{
    const real_type f[3][4] = {{R(-1.0), R(1.0), R(0.0), R(0.0)}, {R(3.0), R(-3.0), R(1.0), R(0.0)},
                               {R(-15.0), R(15.0), R(-6.0), R(1.0)}};
    real_type w = inverse_square_root(r2), r = r2 * w, x = p[0] * r, y = p[1] * r, w3 = w * w * w, w5 = w3 * w * w;
    real_type ratio = p[1] / p[0] * (p[1] / p[0]), lame = R(1.0) / ratio - R(2.0), s, c, sy, cy, g[6];
    sine_cosine(x, &s, &c);
    sine_cosine(y, &sy, &cy);
    for (int n = 0; n < 3; n++) {
        real_type re, im;
        reduced(x, s, c, f[n], g + 2 * n, g + 2 * n + 1);
        reduced(y, sy, cy, f[n], &re, &im);
        g[2 * n] -= ratio * re;
        g[2 * n + 1] -= ratio * im;
    }
    real_type wave[2] = {c, s}, slope[2] = {-c - x * s, x * c - s};
    for (int n = 0; n < 2; n++) {
        real_type d = slope[n] + g[2 + n];
        values[n] = (wave[n] + g[n]) * w;
        values[2 + n] = g[2 + n] * w3;
        values[4 + n] = (lame * (d + g[4 + n] + R(4.0) * g[2 + n]) + R(2.0) * g[2 + n]) * w3;
        values[6 + n] = (d + g[2 + n]) * w3;
        values[8 + n] = R(2.0) * g[4 + n] * w5;
    }
}
