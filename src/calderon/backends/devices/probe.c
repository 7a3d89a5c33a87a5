/* Does the device build and run a kernel, and give the right number? */
#include "backends/prelude.h"

KERNEL probe(GLOBAL const real_type *x, GLOBAL real_type *y, int n)
{
    int i = THREAD(0);
    if (i < n) {
        y[i] = inverse_square_root(x[i]) + R(2.0) * exponential(-x[i]);
    }
}
