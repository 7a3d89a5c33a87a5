/* Spherical waves. LOSSY: whether Im k > 0. */
#include "backends/devices/complex.h"
#include "greens/elementary.h"

/* exp(i t), times exp(decay) if LOSSY. */
DEVICE number damped_wave(real_type t, real_type decay)
{
    real_type s, c;
    sine_cosine(t, &s, &c);
#if LOSSY
    return scaled(number_of(c, s), exponential(decay));
#else
    return number_of(c, s);
#endif
}

/* g = exp(i k r) / r, and f = g' / (r g) = (i k - 1 / r) / r; u: 1 / r; loss: Im k / Re k. */
DEVICE number spherical_wave(real_type r, real_type u, real_type k, real_type loss, number *f)
{
    real_type kr = r * k, w = u * u;
    number wave = damped_wave(kr, -kr * loss);
    *f = number_of(-w - w * kr * loss, w * kr);
    return scaled(wave, u);
}
