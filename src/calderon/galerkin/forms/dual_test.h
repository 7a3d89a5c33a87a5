/* The local matrix of a pair of triangles for test fields that are affine on triangles, from sums of the kernel: with
   D = (G'/r)(x - y), the barycentric coordinates l_m on the test side and the distance y' from the centroid on the trial
   side D_m = sum l_m D and U_m = sum l_m D x y', the twin of the scatter kernel in dual_test_block.py. */
#include "galerkin/forms/edge.h"

#define AFFINE_SUMS 18 /* D_0, U_0, D_1, ... */

/* c += weight * a x b */
DEVICE void add_cross(const real_type *a, const real_type *b, real_type weight, real_type *c)
{
    c[0] += weight * (a[1] * b[2] - a[2] * b[1]);
    c[1] += weight * (a[2] * b[0] - a[0] * b[2]);
    c[2] += weight * (a[0] * b[1] - a[1] * b[0]);
}

/* Write the entries s_b alpha sum_m c_am . (U_m - D_m x w_b) of all `functions` with values (functions, 3, 3) at vertices,
   c_a = t_a x n, of the pair (test triangle number i of the tile, j), times `factor`. */
DEVICE void write_affine_matrix(const real_type *sums, const real_type *sums_i, GLOBAL const real_type *values,
                                int functions, GLOBAL const real_type *trial_data,
                                GLOBAL const real_type *coefficients, real_type factor, int i, int j, int count,
                                GLOBAL out_type *out, GLOBAL out_type *out_i)
{
    for (int b = 0; b < 3; b++) {
        real_type q[3], e[9], e_i[9], scale = factor * trial_data[(size_t)(13 + b) * count + j];
        vertex(trial_data + j, count, b, q);
        for (int m = 0; m < 3; m++) {
            for (int c = 0; c < 3; c++) {
                e[3 * m + c] = sums[6 * m + 3 + c];
                e_i[3 * m + c] = sums_i[6 * m + 3 + c];
            }
            add_cross(sums + 6 * m, q, R(-1.0), e + 3 * m);
            add_cross(sums_i + 6 * m, q, R(-1.0), e_i + 3 * m);
        }
        for (int a = 0; a < functions; a++) {
            real_type re = R(0.0), im = R(0.0);
            for (int m = 0; m < 9; m++) {
                re += values[9 * a + m] * e[m];
                im += values[9 * a + m] * e_i[m];
            }
            size_t place = ((size_t)(i * functions + a) * 3 + b) * count + j;
            out[place] = scale * (coefficients[0] * re - coefficients[1] * im);
            out_i[place] = scale * (coefficients[0] * im + coefficients[1] * re);
        }
    }
}
