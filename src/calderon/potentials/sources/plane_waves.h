/* What a source sends into a far direction d, c exp(-i k d.y) (f = -i k d.n in front for a DIPOLE); the twin of
   point_sources.far_field_kernel. x is -k d. A source is laid out as in point_sources.h, for a CURRENT, three charges
   Re j, Im j, as there. */
#include "greens/elementary.h"
#define MONOPOLE 0
#define DIPOLE 1
#define CURRENT 2
#define COLUMNS 12
#define NUMBERS 1
#if KIND == CURRENT
#define VALUES 3
#else
#define VALUES 1
#endif

DEVICE void emit(const real_type *x, const real_type *s, const real_type *p, real_type *sum)
{
    real_type sine, cosine;
    sine_cosine(x[0] * s[0] + x[1] * s[1] + x[2] * s[2], &sine, &cosine);
#if KIND == CURRENT
    for (int c = 0; c < 3; c++) {
        sum[2 * c] += cosine * s[3 + c] - sine * s[6 + c];
        sum[2 * c + 1] += cosine * s[6 + c] + sine * s[3 + c];
    }
#else
    real_type re = cosine * s[6] - sine * s[7], im = cosine * s[7] + sine * s[6];
#if KIND == DIPOLE
    real_type f = x[0] * s[3] + x[1] * s[4] + x[2] * s[5];
    sum[0] -= f * im;
    sum[1] += f * re;
#else
    sum[0] += re;
    sum[1] += im;
#endif
#endif
}
