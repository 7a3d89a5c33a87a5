/* 4 pi G = exp(i (p[0] + i p[1]) r) / r and 4 pi G'/r; the twin of helmholtz.py. LOSSY: whether p[1] > 0. */
#include "greens/elementary.h"
#define PARAMETERS 2

DEVICE void green(real_type r2, const real_type *p, real_type *g, real_type *gi, real_type *h, real_type *hi)
{
    real_type w = inverse_square_root(r2), r = r2 * w, w2 = w * w, kr = p[0] * r, sine, cosine, a = w;
    sine_cosine(kr, &sine, &cosine);
#if LOSSY
    real_type lr = p[1] * r;
    a *= exponential(-lr);
#else
    real_type lr = R(0.0);
#endif
    real_type re = cosine * a, im = sine * a;
    *g = re;
    *gi = im;
    *h = -(re + lr * re + kr * im) * w2;
    *hi = (kr * re - im - lr * im) * w2;
}
