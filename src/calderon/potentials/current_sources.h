/* What a current with a charge sends to a point; the twin of current_sources.py. KIND: ELECTRIC, G j + c grad G, or
   MAGNETIC, grad G x j. A source is y, Re j, Im j, Re c, Im c and the squared distance below which distances count as
   that; p: SCALARS of point_sources.py. */
#include GREEN
#define ELECTRIC 0
#define MAGNETIC 1
#define COLUMNS 12
#define NUMBERS (SCALARS_PARAMETERS + PARAMETERS)
#define VALUES 3

DEVICE void emit(const real_type *x, const real_type *s, const real_type *p, real_type *sum)
{
    real_type d0 = x[0] - s[0], d1 = x[1] - s[1], d2 = x[2] - s[2];
    real_type square = d0 * d0 + d1 * d1 + d2 * d2, r2 = square > s[11] ? square : s[11];
    real_type g, gi, h, hi;
    green(r2, p + SCALARS_PARAMETERS, &g, &gi, &h, &hi);
#if KIND == ELECTRIC
    real_type w = h * s[9] - hi * s[10], wi = h * s[10] + hi * s[9];
    sum[0] += g * s[3] - gi * s[6] + w * d0;
    sum[1] += g * s[6] + gi * s[3] + wi * d0;
    sum[2] += g * s[4] - gi * s[7] + w * d1;
    sum[3] += g * s[7] + gi * s[4] + wi * d1;
    sum[4] += g * s[5] - gi * s[8] + w * d2;
    sum[5] += g * s[8] + gi * s[5] + wi * d2;
#else
    real_type a0 = d1 * s[5] - d2 * s[4], b0 = d1 * s[8] - d2 * s[7];
    real_type a1 = d2 * s[3] - d0 * s[5], b1 = d2 * s[6] - d0 * s[8];
    real_type a2 = d0 * s[4] - d1 * s[3], b2 = d0 * s[7] - d1 * s[6];
    sum[0] += h * a0 - hi * b0;
    sum[1] += h * b0 + hi * a0;
    sum[2] += h * a1 - hi * b1;
    sum[3] += h * b1 + hi * a1;
    sum[4] += h * a2 - hi * b2;
    sum[5] += h * b2 + hi * a2;
#endif
}
