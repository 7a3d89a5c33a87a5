/* 4 pi G = 1 / r and 4 pi G'/r = -1 / r^3; the twin of laplace.py. */
#include "backends/prelude.h"

DEVICE void green(real_type r2, real_type p0, real_type p1, real_type *g, real_type *gi, real_type *h, real_type *hi)
{
    real_type w = inverse_square_root(r2);
    *g = w;
    *h = -w * (w * w);
    *gi = *hi = R(0.0);
}
