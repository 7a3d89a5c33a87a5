/* Vectors of three components: forces and displacements (elastic.py). With h = G'/r, g = 4 pi G and d = x - y

   without a normal   alpha (S + c2 tr S I),                             S = h d d^T,
   with a normal      alpha (3 S + c2 (tr S I + c3 (e n^T - n e^T))),    S = h g^2 (d.n) d d^T,   e = h d.

   TESTS, TRIALS: local functions of the scalar spaces; ELASTIC_NORMAL: 0 none, 1 of the test, 2 of the trial triangle.
   coefficients: alpha, 0, c2, c3. */
#include "backends/prelude.h"

#define PARTS 1
#define WIDTH (3 * TRIALS)
#define MOMENTS (TESTS * TRIALS)

#ifdef ROWS /* entries.h */

#if ELASTIC_NORMAL
#define COMPONENT (ELASTIC_NORMAL == 1 ? TEST_FIFTH : TRIAL_FIFTH)
#else
#define COMPONENT SLOPE
#endif
#define COMPONENTS 1
#define LOCALS (TESTS > TRIALS ? TESTS : TRIALS)
#define MOST_FUNCTIONS(functions) (3 * LOCALS)
#define NODE 6
#define SENT 6
#define RECEIVED (6 * LOCALS)

/* What the kernel at point p of the fixed triangle is multiplied by, for component `function` % 3 of its function: the
   row without c2, and the row with it. normal: so that d . normal is (x - y) . n_x, or -(x - y) . n_y. */
DEVICE void node_of(GLOBAL const real_type *table, GLOBAL const real_type *fixed, int function, int functions, int p,
                    const real_type *d, const real_type *normal, int tests_fixed, real_type *node)
{
    int f = function % 3;
    real_type weight = table[function / 3 * POINTS + p], square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    real_type own = f == 0 ? d[0] : f == 1 ? d[1] : d[2], first = weight, second = weight * square;
#if ELASTIC_NORMAL
    real_type along = d[0] * normal[0] + d[1] * normal[1] + d[2] * normal[2];
    real_type turn = (ELASTIC_NORMAL == 1) == (tests_fixed != 0) ? second : -second;
    real_type part = f == 0 ? normal[0] : f == 1 ? normal[1] : normal[2];
    first *= R(3.0) * along;
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

DEVICE void receive(GLOBAL const real_type *table, int functions, int q, const real_type *sent, real_type *received)
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
#if ELASTIC_NORMAL
    value *= coefficients[3];
#endif
    *re = coefficients[0] * varying[ROW_JACOBIAN] * value;
    *im = R(0.0);
}

#else

#if ELASTIC_NORMAL
#define COMPONENT (ELASTIC_NORMAL == 1 ? TEST_TRACTION : TRIAL_TRACTION)
#define COMPONENTS 9
#else
#define COMPONENT OUTER
#define COMPONENTS 6
#endif
#define TEST_LENGTH(functions) DATA_LENGTH

/* As in scalar.h; sums (COMPONENTS, TESTS, TRIALS). */
DEVICE void local_matrix(const real_type *sums, GLOBAL const real_type *test, GLOBAL const real_type *trial,
                         GLOBAL const real_type *coefficients, int functions, real_type factor, size_t first, int count,
                         GLOBAL out_type *out, GLOBAL out_type *out_i)
{
    real_type alpha = factor * coefficients[0], three = ELASTIC_NORMAL ? R(3.0) : R(1.0), n[3] = {R(0.0), R(0.0), R(0.0)};
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
            real_type trace = coefficients[2] * (s[0] + s[MOMENTS] + s[2 * MOMENTS]);
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) {
                    real_type value = three * (i == j ? s[i * MOMENTS] : s[(6 - i - j) * MOMENTS]);
                    value += i == j ? trace : R(0.0);
#if ELASTIC_NORMAL
                    value += coefficients[2] * coefficients[3] * (s[(6 + i) * MOMENTS] * n[j] - s[(6 + j) * MOMENTS] * n[i]);
#endif
                    out[first + (size_t)((3 * a + i) * WIDTH + 3 * b + j) * count] = alpha * value;
                }
        }
}

#endif
