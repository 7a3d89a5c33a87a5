/* 4 pi G = exp(-p[0] r) / r and 4 pi G'/r; the twin of modified_helmholtz.py. */
#include "backends/prelude.h"
#define PARAMETERS 1

DEVICE void green(real_type r2, const real_type *p, real_type *g, real_type *gi, real_type *h, real_type *hi)
{
    real_type w = inverse_square_root(r2), decay = p[0] * (r2 * w);
    *g = w * exponential(-decay);
    *h = -(*g + decay * *g) * (w * w);
    *gi = *hi = R(0.0);
}
