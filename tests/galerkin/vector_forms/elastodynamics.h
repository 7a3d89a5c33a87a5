/* U and T of time-harmonic elasticity between vectors of three components (elastodynamics.py), with d = x - y,

   U = A I + B d d^T,   T = R s d d^T + Q (s I - n d^T) - P d n^T,   s = -d . n_y.

   TESTS, TRIALS: local functions of the scalar spaces; TRACTION: 1 for T. coefficients: Re and Im of alpha. */
#include "backends/prelude.h"

#define PARTS 2
#define WIDTH (3 * TRIALS)
#define MOMENTS (TESTS * TRIALS)

#ifdef ROWS /* entries.h */

#define LOCALS (TESTS > TRIALS ? TESTS : TRIALS)
#define MOST_FUNCTIONS(functions) (3 * LOCALS)
#define SENT 3
#define RECEIVED (SENT * LOCALS)
#if TRACTION
#define NODE 9 /* three numbers each of R, Q and P */
#define NODE_COMPONENT(k) ((k) / 3)
#else
#define NODE 4 /* one of A, three of B */
#define NODE_COMPONENT(k) ((k) > 0)
#endif

/* Row `function` % 3 of the matrix in rows, its column in columns; d has the sign of n. */
DEVICE void node_of(GLOBAL const real_type *table, GLOBAL const real_type *fixed, int function, int functions, int p,
                    const real_type *d, const real_type *m, const real_type *n, int tests_fixed, real_type *node)
{
    int f = function % 3;
    real_type weight = table[function / 3 * POINTS + p], own = f == 0 ? d[0] : f == 1 ? d[1] : d[2];
#if TRACTION
    real_type along = -(d[0] * n[0] + d[1] * n[1] + d[2] * n[2]), part = f == 0 ? n[0] : f == 1 ? n[1] : n[2];
    for (int c = 0; c < 3; c++) {
        node[c] = weight * along * own * d[c];
        node[3 + c] = weight * ((c == f ? along : R(0.0)) - (tests_fixed ? d[c] * part : own * n[c]));
        node[6 + c] = -weight * (tests_fixed ? own * n[c] : d[c] * part);
    }
#else
    node[0] = weight;
    for (int c = 0; c < 3; c++)
        node[1 + c] = weight * own * d[c];
#endif
}

DEVICE void send(GLOBAL const real_type *fixed, int function, GLOBAL const real_type *varying, real_type kept,
                 const real_type *sums, real_type *sent)
{
    real_type jacobian = kept * fixed[ROW_JACOBIAN];
    for (int part = 0; part < PARTS; part++)
        for (int c = 0; c < 3; c++) {
            const real_type *own = sums + part * NODE;
#if TRACTION
            sent[part * SENT + c] += jacobian * (own[c] + own[3 + c] + own[6 + c]);
#else
            sent[part * SENT + c] += jacobian * (own[1 + c] + (c == function % 3 ? own[0] : R(0.0)));
#endif
        }
}

DEVICE void receive(GLOBAL const real_type *table, GLOBAL const real_type *varying, int functions, int q,
                    const real_type *sent, real_type *received)
{
    for (int b = 0; b < LOCALS; b++) {
        int some = 3 * b < functions;
        real_type weight = some ? table[(some ? b : 0) * POINTS + q] : R(0.0);
        for (int part = 0; part < PARTS; part++)
            for (int c = 0; c < SENT; c++)
                received[part * RECEIVED + SENT * b + c] += weight * sent[part * SENT + c];
    }
}

DEVICE void entry_of(GLOBAL const real_type *varying, int f, int functions, const real_type *received,
                     GLOBAL const real_type *coefficients, real_type *re, real_type *im)
{
    real_type x = R(0.0), y = R(0.0);
    for (int n = 0; n < RECEIVED; n++)
        if (n == f) {
            x = varying[ROW_JACOBIAN] * received[n];
            y = varying[ROW_JACOBIAN] * received[RECEIVED + n];
        }
    *re = coefficients[0] * x - coefficients[1] * y;
    *im = coefficients[0] * y + coefficients[1] * x;
}

#else

#define TEST_LENGTH(functions) DATA_LENGTH

/* As in scalar.h; sums (2, COMPONENTS, TESTS, TRIALS). */
DEVICE void local_matrix(const real_type *sums, GLOBAL const real_type *test, GLOBAL const real_type *trial,
                         GLOBAL const real_type *coefficients, int functions, real_type factor, size_t first, int count,
                         GLOBAL out_type *out, GLOBAL out_type *out_i)
{
    real_type n[3] = {R(0.0), R(0.0), R(0.0)};
#if TRACTION
    for (int c = 0; c < 3; c++)
        n[c] = trial[(size_t)(DATA_NORMAL + c) * count];
#endif
    for (int k = 0; k < MOMENTS; k++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                real_type value[2];
                for (int part = 0; part < 2; part++) {
                    const real_type *s = sums + part * COMPONENTS * MOMENTS + k;
#if TRACTION
                    value[part] = s[(i == j ? i : 6 - i - j) * MOMENTS] + (i == j ? s[6 * MOMENTS] : R(0.0));
                    value[part] -= s[(7 + j) * MOMENTS] * n[i] + s[(10 + i) * MOMENTS] * n[j];
#else
                    value[part] = s[(i == j ? 1 + i : 7 - i - j) * MOMENTS] + (i == j ? s[0] : R(0.0));
#endif
                }
                size_t place = first + (size_t)((3 * (k / TRIALS) + i) * WIDTH + 3 * (k % TRIALS) + j) * count;
                out[place] = factor * (coefficients[0] * value[0] - coefficients[1] * value[1]);
                out_i[place] = factor * (coefficients[0] * value[1] + coefficients[1] * value[0]);
            }
}

#endif
