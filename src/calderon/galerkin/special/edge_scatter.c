/* The local matrices of touching and near pairs for edge functions from the moments of touching_pairs.c with barycentric
   coordinates, as scatter.c. */
#include "galerkin/forms/edge.h"

typedef MOMENT_REAL moment_type;

/* pairs (number, 8) as in scatter.c; moments (COMPONENTS, number, 9), real and imaginary: of G, or of (G'/r)(x - y) along
   x, y, z. upper: pairs of a triangle with itself count half. */
KERNEL edge_place(GLOBAL const int *pairs, GLOBAL const moment_type *moments, GLOBAL const moment_type *moments_i,
                  GLOBAL const real_type *test_data, GLOBAL const real_type *trial_data,
                  GLOBAL const real_type *coefficients, int number, int lo, int count, int upper,
                  GLOBAL out_type *out, GLOBAL out_type *out_i)
{
    int pair = THREAD(0);
    if (pair >= number)
        return;
    GLOBAL const int *order = pairs + (size_t)pair * 8;
    int i = order[0], j = order[1];
    GLOBAL const real_type *test = test_data + (size_t)i * DATA;
    real_type sums[2][SUMS], normal[3] = {test[0], test[1], test[2]};
    for (int part = 0; part < 2; part++) {
        GLOBAL const moment_type *values = (part ? moments_i : moments) + (size_t)pair * 9;
        for (int n = 0; n < SUMS; n++)
            sums[part][n] = R(0.0);
        for (int m = 0; m < 9; m++) {
            int a = order[2 + m / 3], b = order[5 + m % 3];
            real_type v[3], p[3], q[3];
            vertex(test, 1, a, v);
            vertex(trial_data + j, count, b, q);
            turned(v, normal, p);
#if MAGNETIC
            real_type d[3];
            for (int c = 0; c < 3; c++)
                d[c] = (real_type)values[(size_t)c * number * 9 + m];
            real_type e[3] = {p[1] * d[2] - p[2] * d[1], p[2] * d[0] - p[0] * d[2], p[0] * d[1] - p[1] * d[0]};
            real_type u[3] = {d[1] * q[2] - d[2] * q[1], d[2] * q[0] - d[0] * q[2], d[0] * q[1] - d[1] * q[0]};
            sums[part][0] += dot(e, q);
            for (int c = 0; c < 3; c++) {
                sums[part][1 + c] += d[c];
                sums[part][4 + c] += e[c];
                sums[part][7 + c] += u[c];
            }
#else
            real_type g = (real_type)values[m];
            sums[part][0] += g;
            sums[part][1] += g * dot(p, q);
            for (int c = 0; c < 3; c++) {
                sums[part][2 + c] += g * p[c];
                sums[part][5 + c] += g * q[c];
            }
#endif
        }
    }
    real_type factor = upper && i == j ? R(0.5) : R(1.0);
    write_edge_matrix(sums[0], sums[1], test, trial_data, coefficients, factor, i - lo, j, count, out, out_i);
}
