/* The local matrices of touching and near pairs take their places among those of a tile; the twin of `scatter_kernel` in
   touching_pairs.py. MOMENT_REAL: the type of their moments, double wherever there is double. */
#include "galerkin/forms/scalar.h"

#define MOMENTS (TESTS * TRIALS)
typedef MOMENT_REAL moment_type;

/* pairs (number, 8): test triangle,
   trial triangle, order of the test vertices, of the trial vertices; moments as in touching_pairs.c. upper: pairs of a triangle
   with itself count half. */
KERNEL place(GLOBAL const int *pairs, GLOBAL const moment_type *moments, GLOBAL const moment_type *moments_i,
             GLOBAL const real_type *test_data, GLOBAL const real_type *trial_data,
             GLOBAL const real_type *coefficients, int number, int lo, int count, int upper, GLOBAL out_type *out,
             GLOBAL out_type *out_i)
{
    int pair = THREAD(0);
    if (pair >= number)
        return;
    GLOBAL const int *order = pairs + (size_t)pair * 8;
    GLOBAL const moment_type *value = moments + (size_t)pair * MOMENTS;
    int i = order[0], j = order[1];
    GLOBAL const real_type *test = test_data + (size_t)i * 13;
    real_type part = upper && i == j ? R(0.5) : R(1.0), cosine = part, total = R(0.0), total_i = R(0.0);
#if CURLS
    cosine *= test[0] * trial_data[j] + test[1] * trial_data[count + j] + test[2] * trial_data[2 * count + j];
    for (int n = 0; n < MOMENTS; n++) {
        total += (real_type)value[n];
#if COMPLEX
        total_i += (real_type)moments_i[(size_t)pair * MOMENTS + n];
#endif
    }
#endif
    for (int m = 0; m < TESTS; m++)
        for (int n = 0; n < TRIALS; n++) {
            int a = TESTS == 1 ? m : order[2 + m % 3] + m - m % 3;
            int b = TRIALS == 1 ? n : order[5 + n % 3] + n - n % 3;
            real_type product = R(0.0), re, im, moment_i = R(0.0);
#if CURLS
            for (int c = 0; c < 3; c++)
                product += test[4 + 3 * a + c] * trial_data[(4 + 3 * b + c) * (size_t)count + j];
#endif
#if COMPLEX
            moment_i = (real_type)moments_i[(size_t)pair * MOMENTS + m * TRIALS + n];
#endif
            entry((real_type)value[m * TRIALS + n], moment_i, cosine, part * product, total, total_i, coefficients, &re, &im);
            size_t where = place_of(i - lo, j, a, b, count);
            out[where] = re;
#if OUT_COMPLEX
            out_i[where] = im;
#endif
        }
}
