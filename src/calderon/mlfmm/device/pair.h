/* The fields of charges and dipoles of Helmholtz's equation, times 4 pi, as in mlfmm/points.py; numbers and fields are pairs of
   real and imaginary parts. CHARGES, DIPOLES: which numbers a source has; GRADIENT: whether there are three derivatives
   after the potential. */
#include "mlfmm/device/wave.h"

#define KINDS (2 * CHARGES + 6 * DIPOLES)
#define FIELDS (GRADIENT ? 8 : 2)
#define SCALARS 3

/* Add the fields of a source with `numbers` at the distance e; p: Re k, Im k / Re k, and the square of distances below which
   it adds nothing. */
DEVICE void add_pair(const real_type *e, SHARED const real_type *numbers, const real_type *p, real_type *sum)
{
    real_type r2 = e[0] * e[0] + e[1] * e[1] + e[2] * e[2], u = r2 < p[2] ? R(0.0) : inverse_square_root(r2);
    number f, g = spherical_wave(r2 * u, u, p[0], p[1], &f);
    if (CHARGES) {
        number value = times(g, number_of(numbers[0], numbers[1])), slope = times(f, value);
        sum[0] += value.re;
        sum[1] += value.im;
        for (int c = 2; c < FIELDS; c++)
            sum[c] += (c & 1 ? slope.im : slope.re) * e[c / 2 - 1];
    }
    if (DIPOLES) { /* - f g d . e */
        SHARED const real_type *d = numbers + 2 * CHARGES;
        real_type re = d[0] * e[0] + d[2] * e[1] + d[4] * e[2], im = d[1] * e[0] + d[3] * e[1] + d[5] * e[2];
        number b = times(g, number_of(-re, -im)), value = times(f, b), along = times(f, g);
        sum[0] += value.re;
        sum[1] += value.im;
        /* f' / r + f^2 = (3 - 3 i k r + (i k r)^2) / r^4 */
        real_type w = u * u, kr = r2 * u * p[0], lr = kr * p[1];
        real_type hr = w * w * (R(3.0) + R(3.0) * lr + lr * lr - kr * kr), hi = -w * w * kr * (R(3.0) + R(2.0) * lr);
        number slope = times(number_of(hr, hi), b);
        for (int c = 0; c < FIELDS / 2 - 1; c++) {
            number own = times(along, number_of(d[2 * c], d[2 * c + 1]));
            sum[2 + 2 * c] += slope.re * e[c] - own.re;
            sum[3 + 2 * c] += slope.im * e[c] - own.im;
        }
    }
}
