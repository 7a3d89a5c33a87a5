/* Spherical waves. LOSSY: whether Im k > 0. */
#include "backends/devices/complex.h"
#include "greens/elementary.h"

/* g = exp(i k r) / r, and f = g' / (r g) = (i k - 1 / r) / r; u: 1 / r; loss: Im k / Re k. */
DEVICE number spherical_wave(real_type r, real_type u, real_type k, real_type loss, number *f)
{
    real_type kr = r * k, s, c, w = u * u;
    sine_cosine(kr, &s, &c);
#if LOSSY
    real_type decay = exponential(-kr * loss);
    s *= decay;
    c *= decay;
#endif
    *f = number_of(-w - w * kr * loss, w * kr);
    return number_of(c * u, s * u);
}
