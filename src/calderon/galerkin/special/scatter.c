/* The local matrices of touching and near pairs from their moments, one after the other, in layers of `count` pairs; the twin
   of `scatter_kernel` in scatter.py. MOMENT_REAL: the type of moments, double wherever there is double. */
#define SPECIAL 1
#include FORM

typedef MOMENT_REAL moment_type;

/* begin, number, pairs, test_orders, trial_orders and moments as in touching_pairs.c; test_places (9, TESTS), trial_places (9,
   TRIALS): the places of functions in the order of the rule, by three times the first vertex and the second one; data and
   functions as in tile.c; out, out_i (layers, functions * WIDTH, count). */
KERNEL place(GLOBAL const int *pairs, GLOBAL const signed char *test_orders, GLOBAL const signed char *trial_orders,
             GLOBAL const int *test_places, GLOBAL const int *trial_places, GLOBAL const moment_type *moments,
             GLOBAL const moment_type *moments_i, GLOBAL const real_type *test_data, GLOBAL const real_type *trial_data,
             GLOBAL const real_type *coefficients, int begin, int number, int count, int functions,
             GLOBAL out_type *out, GLOBAL out_type *out_i)
{
    int pair = THREAD(0);
    if (pair >= number)
        return;
    size_t own = (size_t)begin + pair;
    int i = pairs[2 * own], j = pairs[2 * own + 1];
    GLOBAL const int *left = test_places + (3 * test_orders[3 * own] + test_orders[3 * own + 1]) * TESTS;
    GLOBAL const int *right = trial_places + (3 * trial_orders[3 * own] + trial_orders[3 * own + 1]) * TRIALS;
    real_type sums[PARTS * COMPONENTS * MOMENTS];
    for (int c = 0; c < COMPONENTS; c++)
        for (int a = 0; a < TESTS; a++)
            for (int b = 0; b < TRIALS; b++) {
                size_t from = ((size_t)c * number + pair) * MOMENTS + left[a] * TRIALS + right[b];
                int to = (c * TESTS + a) * TRIALS + b;
                sums[to] = (real_type)moments[from];
#if COMPLEX
                sums[COMPONENTS * MOMENTS + to] = (real_type)moments_i[from];
#endif
            }
    size_t first = own / count * functions * WIDTH * count + own % count;
    local_matrix(sums, test_data + (size_t)i * TEST_LENGTH(functions), trial_data + j, coefficients, functions, R(1.0), first,
                 count, out, out_i);
}
