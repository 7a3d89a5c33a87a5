/* 4 pi G = 1 / r and 4 pi G'/r = -1 / r^3; the twin of laplace.py. */
#include "backends/prelude.h"
#define PARAMETERS 0

DEVICE void green(real_type r2, const real_type *p, real_type *g, real_type *gi, real_type *h, real_type *hi)
{
    real_type w = inverse_square_root(r2);
    *g = w;
    *h = -w * (w * w);
    *gi = *hi = R(0.0);
}
