/* The operator of elastostatics on constant vectors (kelvin.py): alpha (h d d^T + (3 - 4 nu) h d . d I), h = G'/r.

   coefficients: Re and Im of alpha, 3 - 4 nu. */
#include "backends/prelude.h"

#define PARTS (1 + COMPLEX)
#define TESTS 1
#define TRIALS 1
#define WIDTH 3
#define MOMENTS 1

#ifdef ROWS /* entries.h */

#define MOST_FUNCTIONS(functions) WIDTH
#define NODE 4
#define SENT 6
#define RECEIVED 6

/* What h at point p is multiplied by: the column d d_f of d d^T, and d . d. table: weights. */
DEVICE void node_of(GLOBAL const real_type *table, GLOBAL const real_type *fixed, int function, int functions, int p,
                    const real_type *d, const real_type *m, const real_type *n, int tests_fixed, real_type *node)
{
    real_type along = function == 0 ? d[0] : function == 1 ? d[1] : d[2];
    for (int c = 0; c < 3; c++)
        node[c] = table[p] * along * d[c];
    node[3] = table[p] * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

/* The column of d d^T, and of d . d I. */
DEVICE void send(GLOBAL const real_type *fixed, int function, GLOBAL const real_type *varying, real_type kept,
                 const real_type *sums, real_type *sent)
{
    real_type jacobian = kept * fixed[ROW_JACOBIAN];
    for (int part = 0; part < PARTS; part++)
        for (int c = 0; c < 3; c++) {
            sent[part * SENT + c] += jacobian * sums[part * NODE + c];
            sent[part * SENT + 3 + c] += c == function ? jacobian * sums[part * NODE + 3] : R(0.0);
        }
}

DEVICE void receive(GLOBAL const real_type *table, GLOBAL const real_type *varying, int functions, int q,
                    const real_type *sent, real_type *received)
{
    for (int n = 0; n < PARTS * RECEIVED; n++)
        received[n] += table[q] * sent[n];
}

/* The entry of component f of a triangle. */
DEVICE void entry_of(GLOBAL const real_type *varying, int f, int functions, const real_type *received,
                     GLOBAL const real_type *coefficients, real_type *re, real_type *im)
{
    real_type value = R(0.0);
    for (int c = 0; c < 3; c++)
        if (c == f)
            value = received[c] + coefficients[2] * received[3 + c];
    value *= varying[ROW_JACOBIAN];
    *re = coefficients[0] * value;
    *im = coefficients[1] * value;
}

#else

#define TEST_LENGTH(functions) DATA_LENGTH

/* As in scalar.h; sums: the components of h d d^T. */
DEVICE void local_matrix(const real_type *sums, GLOBAL const real_type *test, GLOBAL const real_type *trial,
                         GLOBAL const real_type *coefficients, int functions, real_type factor, size_t first, int count,
                         GLOBAL out_type *out, GLOBAL out_type *out_i)
{
    real_type trace = coefficients[2] * (sums[0] + sums[1] + sums[2]);
    for (int a = 0; a < WIDTH; a++)
        for (int b = 0; b < WIDTH; b++) {
            real_type value = factor * (a == b ? sums[a] + trace : sums[6 - a - b]);
            size_t place = first + (size_t)(a * WIDTH + b) * count;
            out[place] = coefficients[0] * value;
#if OUT_COMPLEX
            out_i[place] = coefficients[1] * value;
#endif
        }
}

#endif
