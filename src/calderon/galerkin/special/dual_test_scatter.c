/* The local matrices of touching and near pairs for test fields that are affine on triangles, from the moments of
   touching_pairs.c, as edge_scatter.c. */
#include "galerkin/forms/dual_test.h"

typedef MOMENT_REAL moment_type;

/* Arguments as in edge_scatter.c, values and functions as in dual_test_tile.c. */
KERNEL affine_place(GLOBAL const int *pairs, GLOBAL const moment_type *moments, GLOBAL const moment_type *moments_i,
                    GLOBAL const real_type *values, GLOBAL const real_type *trial_data,
                    GLOBAL const real_type *coefficients, int number, int lo, int count, int functions,
                    GLOBAL out_type *out, GLOBAL out_type *out_i)
{
    int pair = THREAD(0);
    if (pair >= number)
        return;
    GLOBAL const int *order = pairs + (size_t)pair * 8;
    int i = order[0], j = order[1];
    real_type sums[2][AFFINE_SUMS];
    for (int part = 0; part < 2; part++) {
        GLOBAL const moment_type *from = (part ? moments_i : moments) + (size_t)pair * 9;
        for (int n = 0; n < AFFINE_SUMS; n++)
            sums[part][n] = R(0.0);
        for (int m = 0; m < 9; m++) {
            real_type d[3], q[3];
            vertex(trial_data + j, count, order[5 + m % 3], q);
            for (int c = 0; c < 3; c++)
                d[c] = (real_type)from[(size_t)c * number * 9 + m];
            for (int a = 0; a < 3; a++) { /* the vertex in no order that a compiler knows: sums stay in registers */
                real_type chosen = a == order[2 + m / 3] ? R(1.0) : R(0.0);
                for (int c = 0; c < 3; c++)
                    sums[part][6 * a + c] += chosen * d[c];
                add_cross(d, q, chosen, sums[part] + 6 * a + 3);
            }
        }
    }
    write_affine_matrix(sums[0], sums[1], values + (size_t)i * functions * 9, functions, trial_data, coefficients, R(1.0),
                        i - lo, j, count, out, out_i);
}
