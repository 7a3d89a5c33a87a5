/* What a point source sends to a point; the twin of point_sources.py and current_sources.py. KIND says what. A source is
   y, n, Re c, Im c, or for ELECTRIC, G j + c grad G, and MAGNETIC, grad G x j, it is y, Re j, Im j, Re c, Im c; then comes
   the squared distance below which distances count as that. p: SCALARS of point_sources.py. */
#include GREEN
#define MONOPOLE 0
#define DIPOLE 1
#define MONOPOLE_GRADIENT 2
#define DIPOLE_GRADIENT 3
#define ELECTRIC 4
#define MAGNETIC 5
#define COLUMNS 12
#define NUMBERS (SCALARS_PARAMETERS + PARAMETERS)
#if KIND == MONOPOLE || KIND == DIPOLE
#define VALUES 1
#else
#define VALUES 3
#endif
#define FLOOR (KIND >= ELECTRIC ? 11 : 8)

/* sum (Re, Im) += (a + i b)(c + i e) */
DEVICE void add_product(real_type a, real_type b, real_type c, real_type e, real_type *sum)
{
#if COMPLEX
    sum[0] += a * c - b * e;
    sum[1] += a * e + b * c;
#else
    sum[0] += a * c;
    sum[1] += a * e;
#endif
}

DEVICE void emit(const real_type *x, const real_type *s, const real_type *p, real_type *sum)
{
    real_type d0 = x[0] - s[0], d1 = x[1] - s[1], d2 = x[2] - s[2];
    real_type square = d0 * d0 + d1 * d1 + d2 * d2, r2 = square > s[FLOOR] ? square : s[FLOOR];
    real_type u, ui, h, hi, c = s[6], e = s[7];
    green(r2, p + SCALARS_PARAMETERS, &u, &ui, &h, &hi);
#if KIND == MONOPOLE
    add_product(u, ui, c, e, sum);
#elif KIND == DIPOLE
    real_type t = -(d0 * s[3] + d1 * s[4] + d2 * s[5]);
    add_product(h * t, hi * t, c, e, sum);
#elif KIND == MONOPOLE_GRADIENT
    add_product(h * d0, hi * d0, c, e, sum);
    add_product(h * d1, hi * d1, c, e, sum + 2);
    add_product(h * d2, hi * d2, c, e, sum + 4);
#elif KIND == DIPOLE_GRADIENT
    real_type w = inverse_square_root(r2), f = (d0 * s[3] + d1 * s[4] + d2 * s[5]) * (w * w);
    real_type v = f * (p[0] * u - p[1] * ui + R(3.0) * h), vi = f * (p[0] * ui + p[1] * u + R(3.0) * hi);
    add_product(v * d0 - h * s[3], vi * d0 - hi * s[3], c, e, sum);
    add_product(v * d1 - h * s[4], vi * d1 - hi * s[4], c, e, sum + 2);
    add_product(v * d2 - h * s[5], vi * d2 - hi * s[5], c, e, sum + 4);
#elif KIND == ELECTRIC
    for (int i = 0; i < 3; i++)
        add_product(u, ui, s[3 + i], s[6 + i], sum + 2 * i);
    real_type w = h * s[9] - hi * s[10], wi = h * s[10] + hi * s[9];
    sum[0] += w * d0;
    sum[1] += wi * d0;
    sum[2] += w * d1;
    sum[3] += wi * d1;
    sum[4] += w * d2;
    sum[5] += wi * d2;
#else
    add_product(h, hi, d1 * s[5] - d2 * s[4], d1 * s[8] - d2 * s[7], sum);
    add_product(h, hi, d2 * s[3] - d0 * s[5], d2 * s[6] - d0 * s[8], sum + 2);
    add_product(h, hi, d0 * s[4] - d1 * s[3], d0 * s[7] - d1 * s[6], sum + 4);
#endif
}
