/* Products of the local matrices of a tile with vectors, without assembling rows. */
#include "backends/devices/group_sum.h"

/* total += the entry at `place` times the complex number x (2,). */
DEVICE void add_product(GLOBAL const real_type *matrices, GLOBAL const real_type *matrices_i, size_t place,
                        GLOBAL const real_type *x, real_type *total, real_type *total_i)
{
    real_type a = matrices[place];
    *total += a * x[0];
    *total_i += a * x[1];
#if OUT_COMPLEX
    real_type b = matrices_i[place];
    *total -= b * x[1];
    *total_i += b * x[0];
#endif
}

/* y (rows, 2) of the rows of local matrices (rows, stride) times x (stride, 2): one group of threads a row, real and
   imaginary parts side by side. */
KERNEL multiply(GLOBAL const real_type *matrices, GLOBAL const real_type *matrices_i, GLOBAL const real_type *x,
                int stride, GLOBAL real_type *y)
{
    LOCAL real_type sums[2 * GROUP_SIZE];
    int row = GROUP(0), t = LOCAL_ID(0);
    real_type total = R(0.0), total_i = R(0.0);
    for (int n = t; n < stride; n += GROUP_SIZE) {
        size_t place = (size_t)row * stride + n;
        add_product(matrices, matrices_i, place, x + 2 * n, &total, &total_i);
    }
    sums[t] = total;
    sums[GROUP_SIZE + t] = total_i;
    SUM_OVER_THREADS(sums, GROUP_SIZE, 2, GROUP_SIZE);
    if (t < 2)
        y[2 * row + t] = sums[t * GROUP_SIZE];
}

/* y (stride, 2) += the transposed of the local matrices times x (rows, 2). */
KERNEL multiply_transposed(GLOBAL const real_type *matrices, GLOBAL const real_type *matrices_i,
                           GLOBAL const real_type *x, int rows, int stride, GLOBAL real_type *y)
{
    int n = THREAD(0);
    if (n >= stride)
        return;
    real_type total = y[2 * n], total_i = y[2 * n + 1];
    for (int row = 0; row < rows; row++) {
        size_t place = (size_t)row * stride + n;
        add_product(matrices, matrices_i, place, x + 2 * row, &total, &total_i);
    }
    y[2 * n] = total;
    y[2 * n + 1] = total_i;
}
