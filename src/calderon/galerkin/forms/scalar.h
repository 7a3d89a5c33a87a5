/* Scalar functions: alpha M_ab, or integrated by parts (CURLS) alpha curl_a . curl_b sum(M) + mass n_x . n_y M_ab, from the
   moments M_ab of a component with the local functions themselves.

   TESTS, TRIALS: local functions; CURLS: whether integrated by parts. coefficients: Re and Im of alpha, Re and Im of mass, which is alpha
   without CURLS. PARTS: real, and with COMPLEX imaginary moments, one after the other. OUT_COMPLEX: entries have
   imaginary parts. DATA_...: places in the data of a triangle. */
#include "backends/prelude.h"
#include "galerkin/device/weights.h"

#define PARTS (1 + COMPLEX)
#define WIDTH TRIALS
#define MOMENTS (TESTS * TRIALS)

/* Entry (a, b): mass cosine m_ab, and with CURLS alpha curl_a . curl_b total, total the sum of all moments. */
DEVICE void entry(real_type m, real_type mi, real_type cosine, real_type product, real_type total, real_type total_i,
                  GLOBAL const real_type *coefficients, real_type *re, real_type *im)
{
    real_type x = cosine * m, y = cosine * mi;
    *re = coefficients[2] * x - coefficients[3] * y;
    *im = coefficients[2] * y + coefficients[3] * x;
#if CURLS
    x = product * total;
    y = product * total_i;
    *re += coefficients[0] * x - coefficients[1] * y;
    *im += coefficients[0] * y + coefficients[1] * x;
#endif
}

#ifdef ROWS /* entries.h */

#define LOCALS (TESTS > TRIALS ? TESTS : TRIALS)
#define MOST_FUNCTIONS(functions) LOCALS /* unrolled: what is received stays in registers */
#define NODE (1 + CURLS)
#define SENT (1 + 3 * CURLS)
#define RECEIVED (LOCALS + 3 * CURLS)

/* What the kernel at point p of the fixed triangle is multiplied by: the function, and with CURLS 1. table: weights times
   local functions, weights. */
DEVICE void node_of(GLOBAL const real_type *table, GLOBAL const real_type *fixed, int function, int functions, int p,
                    const real_type *d, const real_type *m, const real_type *n, int tests_fixed, real_type *node)
{
    node[0] = WEIGHT_AT(table, function, p, fixed, 1);
#if CURLS
    node[1] = table[functions * POINTS + p];
#endif
}

/* Add what the function sends to a point of a triangle: its values, and with CURLS the curl. */
DEVICE void send(GLOBAL const real_type *fixed, int function, GLOBAL const real_type *varying, real_type kept,
                 const real_type *sums, real_type *sent)
{
    real_type jacobian = kept * fixed[ROW_JACOBIAN], cosine = jacobian;
#if CURLS
    cosine *= fixed[ROW_NORMAL] * varying[ROW_NORMAL] + fixed[ROW_NORMAL + 1] * varying[ROW_NORMAL + 1] +
              fixed[ROW_NORMAL + 2] * varying[ROW_NORMAL + 2];
#endif
    for (int part = 0; part < PARTS; part++) {
        sent[part * SENT] += cosine * sums[part * NODE];
#if CURLS
        for (int c = 0; c < 3; c++)
            sent[part * SENT + 1 + c] += jacobian * fixed[ROW_CURLS + 3 * function + c] * sums[part * NODE + 1];
#endif
    }
}

/* Add what comes to point q of the triangle with record `varying` to the integrals with its functions, and with CURLS
   with 1. */
DEVICE void receive(GLOBAL const real_type *table, GLOBAL const real_type *varying, int functions, int q,
                    const real_type *sent, real_type *received)
{
    for (int f = 0; f < LOCALS; f++) {
        int some = f < functions;
        real_type weight = some ? WEIGHT_AT(table, some ? f : 0, q, varying, 1) : R(0.0);
        for (int part = 0; part < PARTS; part++)
            received[part * RECEIVED + f] += weight * sent[part * SENT];
    }
#if CURLS
    real_type weight = table[functions * POINTS + q];
    for (int part = 0; part < PARTS; part++)
        for (int c = 0; c < 3; c++)
            received[part * RECEIVED + LOCALS + c] += weight * sent[part * SENT + 1 + c];
#endif
}

/* The entry of local function f of a triangle. */
DEVICE void entry_of(GLOBAL const real_type *varying, int f, int functions, const real_type *received,
                     GLOBAL const real_type *coefficients, real_type *re, real_type *im)
{
    real_type jacobian = varying[ROW_JACOBIAN], m[2] = {R(0.0), R(0.0)}, total[2] = {R(0.0), R(0.0)};
    for (int part = 0; part < PARTS; part++) {
        m[part] = jacobian * received[part * RECEIVED + f];
#if CURLS
        int some = f < functions ? f : 0;
        for (int c = 0; c < 3; c++)
            total[part] += jacobian * varying[ROW_CURLS + 3 * some + c] * received[part * RECEIVED + LOCALS + c];
#endif
    }
    entry(m[0], m[1], R(1.0), R(1.0), total[0], total[1], coefficients, re, im);
}

#else

#define TEST_LENGTH(functions) DATA_LENGTH

/* The entries of a pair of triangles with data test and trial (count), times `factor`, at out[first + (a TRIALS + b) count]
   and out_i; sums (PARTS, TESTS, TRIALS). */
DEVICE void local_matrix(const real_type *sums, GLOBAL const real_type *test, GLOBAL const real_type *trial,
                         GLOBAL const real_type *coefficients, int functions, real_type factor, size_t first, int count,
                         GLOBAL out_type *out, GLOBAL out_type *out_i)
{
    real_type cosine = factor, total[2] = {R(0.0), R(0.0)};
#if CURLS
    cosine *= test[DATA_NORMAL] * trial[(size_t)DATA_NORMAL * count] +
              test[DATA_NORMAL + 1] * trial[(size_t)(DATA_NORMAL + 1) * count] +
              test[DATA_NORMAL + 2] * trial[(size_t)(DATA_NORMAL + 2) * count];
    for (int part = 0; part < PARTS; part++)
        for (int n = 0; n < MOMENTS; n++)
            total[part] += factor * sums[part * MOMENTS + n];
#endif
    for (int a = 0; a < TESTS; a++)
        for (int b = 0; b < TRIALS; b++) {
            real_type product = R(0.0), re, im, moment_i = R(0.0);
            size_t place = first + (size_t)(a * TRIALS + b) * count;
#if CURLS
            for (int c = 0; c < 3; c++)
                product += test[DATA_CURLS + 3 * a + c] * trial[(size_t)(DATA_CURLS + 3 * b + c) * count];
#endif
#if COMPLEX
            moment_i = sums[MOMENTS + a * TRIALS + b];
#endif
            entry(sums[a * TRIALS + b], moment_i, cosine, product, total[0], total[1], coefficients, &re, &im);
            out[place] = re;
#if OUT_COMPLEX
            out_i[place] = im;
#endif
        }
}

#endif
