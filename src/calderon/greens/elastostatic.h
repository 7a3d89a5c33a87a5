/* The radial functions 1 / r, -1 / r^3 and 3 / r^5 of elastostatics; the twin of elastostatic.py. */
#include "backends/prelude.h"
#define PARAMETERS 0
#define FUNCTIONS 3

/* values (FUNCTIONS, 2): real and imaginary parts at the squared distance r2. p: no parameters. */
DEVICE void radial_functions(real_type r2, const real_type *p, real_type *values)
{
    real_type w = inverse_square_root(r2), slope = -w * (w * w);
    values[0] = w;
    values[2] = slope;
    values[4] = R(-3.0) * slope * (w * w);
    values[1] = values[3] = values[5] = R(0.0);
}
