/* Sine and cosine without branches; the twin of elementary.py, where the method is described. The library's own have a
   slow path for large arguments that takes memory from every thread. */
#include "backends/prelude.h"

DEVICE void sine_cosine(real_type x, real_type *sine, real_type *cosine)
{
    real_type n = rounded_down(x * R(0.15915494309189535) + R(0.5));
#if REAL_IS_DOUBLE
    real_type r = ((0.25 * x - n * 1.5707963267341256) - n * 6.077100506303966e-11) - n * 2.0222662487959506e-21;
    real_type z = r * r;
    real_type s = z * 1.58962301576546568060e-10 - 2.50507477628578072866e-8;
    s = s * z + 2.75573136213857245213e-6;
    s = s * z - 1.98412698295895385996e-4;
    s = s * z + 8.33333333332211858878e-3;
    s = s * z - 1.66666666666666307295e-1;
    s = r + r * z * s;
    real_type h = z * -1.13585365213876817300e-11 + 2.08757008419747316778e-9;
    h = h * z - 2.75573141792967388112e-7;
    h = h * z + 2.48015872888517045348e-5;
    h = h * z - 1.38888888888730564116e-3;
    h = h * z + 4.16666666666665929218e-2;
#else
    real_type r = ((0.25f * x - n * 1.5703125f) - n * 4.837512969970703125e-4f) - n * 7.549789948768648e-8f;
    real_type z = r * r;
    real_type s = r + r * z * ((z * -1.9515295891e-4f + 8.3321608736e-3f) * z - 1.6666654611e-1f);
    real_type h = (z * 2.443315711809948e-5f - 1.388731625493765e-3f) * z + 4.166664568298827e-2f;
#endif
    real_type v = R(0.5) * z - z * z * h; /* 1 - cos r: keeps the doubling accurate */
    real_type s2 = R(2.0) * s * (R(1.0) - v);
    real_type v2 = R(2.0) * s * s;
    *sine = R(2.0) * s2 * (R(1.0) - v2);
    *cosine = R(1.0) - R(2.0) * s2 * s2;
}
