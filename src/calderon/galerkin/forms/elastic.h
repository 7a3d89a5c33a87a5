/* Vectors of three components: forces and displacements (elastic.py). With the radial functions f_0, f_1, f_2 of
   greens/elastostatic.h and d = x - y

   without a normal   alpha (S + c2 tr S I),                                          S = f_1 d d^T,
   with a normal      alpha (-S - (c2 / 3) tr S I + c2 (e n^T - n e^T)),              S = f_2 s d d^T,   e = f_1 d,

   s = d . n_x or -d . n_y. TESTS, TRIALS: local functions of the scalar spaces; ELASTIC_NORMAL: 0 none, 1 of the test, 2 of
   the trial triangle. coefficients: Re and Im of alpha, c2. */
#include "backends/prelude.h"

#define PARTS 1
#define WIDTH (3 * TRIALS)
#define MOMENTS (TESTS * TRIALS)

#ifdef ROWS /* entries.h */

#define LOCALS (TESTS > TRIALS ? TESTS : TRIALS)
#define MOST_FUNCTIONS(functions) (3 * LOCALS)
#define NODE 6
#define SENT 6
#define RECEIVED (6 * LOCALS)

/* Factors of the component at point p of the fixed triangle, f_1 or with a normal f_2 = -3 f_1 / r^2, in row (or column)
   `function` % 3 of its function: three without c2, and three with it. m, n: normals of the test and of the trial triangle,
   which have the sign of d, d m^T and d n^T being those of d = x - y. */
DEVICE void node_of(GLOBAL const real_type *table, GLOBAL const real_type *fixed, int function, int functions, int p,
                    const real_type *d, const real_type *m, const real_type *n, int tests_fixed, real_type *node)
{
    int f = function % 3;
    real_type weight = table[function / 3 * POINTS + p], square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    real_type own = f == 0 ? d[0] : f == 1 ? d[1] : d[2], first = weight, second = weight * square;
#if ELASTIC_NORMAL
    const real_type *normal = ELASTIC_NORMAL == 1 ? m : n;
    real_type along = d[0] * normal[0] + d[1] * normal[1] + d[2] * normal[2];
    along = ELASTIC_NORMAL == 1 ? along : -along;
    second *= R(-1.0) / R(3.0);
    real_type turn = tests_fixed ? second : -second, part = f == 0 ? normal[0] : f == 1 ? normal[1] : normal[2];
    first *= -along;
    second *= along;
#endif
    for (int c = 0; c < 3; c++) {
        node[c] = first * own * d[c];
        node[3 + c] = c == f ? second : R(0.0);
#if ELASTIC_NORMAL
        node[3 + c] += turn * (own * normal[c] - d[c] * part);
#endif
    }
}

DEVICE void send(GLOBAL const real_type *fixed, int function, GLOBAL const real_type *varying, real_type kept,
                 const real_type *sums, real_type *sent)
{
    real_type jacobian = kept * fixed[ROW_JACOBIAN];
    for (int n = 0; n < NODE; n++)
        sent[n] += jacobian * sums[n];
}

DEVICE void receive(GLOBAL const real_type *table, GLOBAL const real_type *varying, int functions, int q,
                    const real_type *sent, real_type *received)
{
    for (int b = 0; b < LOCALS; b++) {
        int some = 3 * b < functions;
        real_type weight = some ? table[(some ? b : 0) * POINTS + q] : R(0.0);
        for (int n = 0; n < SENT; n++)
            received[SENT * b + n] += weight * sent[n];
    }
}

/* The entry of component f % 3 of a local function of a triangle. */
DEVICE void entry_of(GLOBAL const real_type *varying, int f, int functions, const real_type *received,
                     GLOBAL const real_type *coefficients, real_type *re, real_type *im)
{
    real_type value = R(0.0);
    for (int n = 0; n < 3 * LOCALS; n++)
        if (n == f)
            value = received[SENT * (n / 3) + n % 3] + coefficients[2] * received[SENT * (n / 3) + 3 + n % 3];
    *re = coefficients[0] * varying[ROW_JACOBIAN] * value;
    *im = R(0.0);
}

#else

#define TEST_LENGTH(functions) DATA_LENGTH

/* As in scalar.h; sums (COMPONENTS, TESTS, TRIALS). */
DEVICE void local_matrix(const real_type *sums, GLOBAL const real_type *test, GLOBAL const real_type *trial,
                         GLOBAL const real_type *coefficients, int functions, real_type factor, size_t first, int count,
                         GLOBAL out_type *out, GLOBAL out_type *out_i)
{
    real_type alpha = factor * coefficients[0], own = ELASTIC_NORMAL ? R(-1.0) : R(1.0), n[3] = {R(0.0), R(0.0), R(0.0)};
    real_type of_trace = ELASTIC_NORMAL ? coefficients[2] * (R(-1.0) / R(3.0)) : coefficients[2];
#if ELASTIC_NORMAL == 1
    for (int c = 0; c < 3; c++)
        n[c] = test[DATA_NORMAL + c];
#elif ELASTIC_NORMAL == 2
    for (int c = 0; c < 3; c++)
        n[c] = trial[(size_t)(DATA_NORMAL + c) * count];
#endif
    for (int a = 0; a < TESTS; a++)
        for (int b = 0; b < TRIALS; b++) {
            const real_type *s = sums + a * TRIALS + b;
            real_type trace = of_trace * (s[0] + s[MOMENTS] + s[2 * MOMENTS]);
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) {
                    real_type value = own * (i == j ? s[i * MOMENTS] : s[(6 - i - j) * MOMENTS]);
                    value += i == j ? trace : R(0.0);
#if ELASTIC_NORMAL
                    value += coefficients[2] * (s[(6 + i) * MOMENTS] * n[j] - s[(6 + j) * MOMENTS] * n[i]);
#endif
                    size_t place = first + (size_t)((3 * a + i) * WIDTH + 3 * b + j) * count;
                    out[place] = alpha * value;
#if OUT_COMPLEX
                    out_i[place] = factor * coefficients[1] * value;
#endif
                }
        }
}

#endif
