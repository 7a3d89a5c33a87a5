/* The fields of charges and dipoles of Helmholtz's equation, times 4 pi, as in mlfmm/points.py; numbers and fields are pairs of
   real and imaginary parts. CHARGES, DIPOLES: which numbers a source has; GRADIENT: whether there are three derivatives
   after the potential. LOSSY: whether Im k > 0. */
#include "greens/elementary.h"

#define KINDS (2 * CHARGES + 6 * DIPOLES)
#define FIELDS (GRADIENT ? 8 : 2)
#define SCALARS 3

/* Add (a + i b) (c + i d) to a pair of numbers. */
DEVICE void add_product(real_type a, real_type b, real_type c, real_type d, real_type *to)
{
    to[0] += a * c - b * d;
    to[1] += a * d + b * c;
}

/* Add the fields of a source with `numbers` at the distance e; p: Re k, Im k / Re k, and the square of distances below which
   it adds nothing. */
DEVICE void add_pair(const real_type *e, SHARED const real_type *numbers, const real_type *p, real_type *sum)
{
    real_type square = e[0] * e[0] + e[1] * e[1] + e[2] * e[2];
    real_type u = square < p[2] ? R(0.0) : inverse_square_root(square), kr = square * u * p[0], sine, cosine;
    sine_cosine(kr, &sine, &cosine);
#if LOSSY
    real_type decay = exponential(-kr * p[1]);
    sine *= decay;
    cosine *= decay;
#endif
    /* g = exp(i k r) / r and f = g' / (r g) = (i k - 1 / r) / r; of dipoles - f g d . e */
    real_type re = cosine * u, im = sine * u, w = u * u, fr = -w - w * kr * p[1], fi = w * kr;
    if (CHARGES) {
        real_type q[2] = {R(0.0), R(0.0)}, slope[2] = {R(0.0), R(0.0)};
        add_product(re, im, numbers[0], numbers[1], q);
        sum[0] += q[0];
        sum[1] += q[1];
        add_product(fr, fi, q[0], q[1], slope);
        for (int c = 2; c < FIELDS; c++)
            sum[c] += slope[c & 1] * e[c / 2 - 1];
    }
    if (DIPOLES) {
        SHARED const real_type *d = numbers + 2 * CHARGES;
        real_type b[2] = {R(0.0), R(0.0)}, v[2] = {R(0.0), R(0.0)};
        add_product(re, im, -d[0] * e[0] - d[2] * e[1] - d[4] * e[2], -d[1] * e[0] - d[3] * e[1] - d[5] * e[2], b);
        add_product(fr, fi, b[0], b[1], v);
        sum[0] += v[0];
        sum[1] += v[1];
        /* f' / r + f^2 = (3 - 3 i k r + (i k r)^2) / r^4 */
        real_type lr = kr * p[1], slope[2] = {R(0.0), R(0.0)}, along[2] = {R(0.0), R(0.0)};
        real_type hr = w * w * (R(3.0) + R(3.0) * lr + lr * lr - kr * kr), hi = -w * w * kr * (R(3.0) + R(2.0) * lr);
        add_product(hr, hi, b[0], b[1], slope);
        add_product(fr, fi, re, im, along);
        for (int c = 0; c < FIELDS / 2 - 1; c++) {
            sum[2 + 2 * c] += slope[0] * e[c] - (along[0] * d[2 * c] - along[1] * d[2 * c + 1]);
            sum[3 + 2 * c] += slope[1] * e[c] - (along[0] * d[2 * c + 1] + along[1] * d[2 * c]);
        }
    }
}
