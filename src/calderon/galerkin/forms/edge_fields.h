/* What the electric and the magnetic form share. Trial functions are g_b = s_b (y - w_b); a test function is any field c
   that is affine on the triangle, with values c_m at its vertices. Every entry is

   alpha (sum_m c_m . F_m - div c C),

   with the moments F_m of what g_b sends to the test triangle and l_m, and C of its charges (CHARGES). Vertices a_m, b_n are
   distances from the centroids: nothing cancels, they are as small as the triangles.

   Data of a triangle: Jacobian, centroid, vertices (3, 3), then of a test triangle the FIELD_LENGTH numbers of each
   function (values (3, 3) and divergence), of a trial triangle s_b (3,). coefficients: Re and Im of alpha and of 4 / k^2. */
#include "backends/prelude.h"
#include "galerkin/device/weights.h"

#define PARTS 2
#define TRIALS 3
#define WIDTH TRIALS
#define MOMENTS (TESTS * TRIALS)

/* c += a x b */
DEVICE void add_cross(const real_type *a, const real_type *b, real_type *c)
{
    c[0] += a[1] * b[2] - a[2] * b[1];
    c[1] += a[2] * b[0] - a[0] * b[2];
    c[2] += a[0] * b[1] - a[1] * b[0];
}

/* sum_m c_m . F_m - div c C of the field with these numbers, for the real or the imaginary part of F (3, 3) and C. */
DEVICE real_type tested(GLOBAL const real_type *field, const real_type *f, real_type charge)
{
    real_type sum = R(0.0);
    UNROLL
    for (int m = 0; m < 9; m++)
        sum += field[FIELD_VALUES + m] * f[m];
#if CHARGES
    sum -= field[FIELD_DIVERGENCE] * charge;
#endif
    return sum;
}

#ifdef ROWS /* entries.h */

#define MOST_FUNCTIONS(functions) (functions)
#define SENT NODE
#define RECEIVED (9 + CHARGES)

/* In rows and columns both functions are fields with values at the vertices: the numbers of one follow its values times
   weight and Jacobian at the points. */
DEVICE GLOBAL const real_type *function_of(GLOBAL const real_type *record, int function)
{
    return record + ROW_FUNCTIONS + FUNCTION_LENGTH * function;
}

/* Add what a function sends to a point of a triangle: the vector F, and its charges. */
DEVICE void send(GLOBAL const real_type *fixed, int function, GLOBAL const real_type *varying, real_type kept,
                 const real_type *sums, real_type *sent)
{
    UNROLL
    for (int n = 0; n < PARTS * SENT; n++)
        sent[n] += kept * sums[n];
}

/* Add what comes to point q of the triangle with record `varying` to F_m and C. table: weights, and these times the
   barycentric coordinates (3, POINTS). */
DEVICE void receive(GLOBAL const real_type *table, GLOBAL const real_type *varying, int functions, int q,
                    const real_type *sent, real_type *received)
{
    UNROLL
    for (int part = 0; part < PARTS; part++) {
        UNROLL
        for (int m = 0; m < 3; m++) {
            real_type weight = WEIGHT_AT(table + POINTS, m, q, varying, 1);
            for (int c = 0; c < 3; c++)
                received[part * RECEIVED + 3 * m + c] += weight * sent[part * SENT + c];
        }
#if CHARGES
        received[part * RECEIVED + 9] += table[q] * sent[part * SENT + 3];
#endif
    }
}

/* The entry of local function f of a triangle. */
DEVICE void entry_of(GLOBAL const real_type *varying, int f, int functions, const real_type *received,
                     GLOBAL const real_type *coefficients, real_type *re, real_type *im)
{
    GLOBAL const real_type *field = function_of(varying, f) + FUNCTION_FIELD;
    real_type charge = R(0.0), charge_i = R(0.0);
#if CHARGES /* 1 / k^2 times the integral */
    real_type c = R(0.25) * received[9], ci = R(0.25) * received[RECEIVED + 9];
    charge = coefficients[2] * c - coefficients[3] * ci;
    charge_i = coefficients[2] * ci + coefficients[3] * c;
#endif
    real_type x = tested(field, received, charge), y = tested(field, received + RECEIVED, charge_i);
    *re = coefficients[0] * x - coefficients[1] * y;
    *im = coefficients[0] * y + coefficients[1] * x;
}

#else

#define TEST_LENGTH(functions) (DATA_LENGTH + FIELD_LENGTH * (functions))

/* total = sum_n m_n, and add sum_n m_n b_n to v. */
DEVICE void along_vertices(const real_type *m, const real_type *b, real_type *total, real_type *v)
{
    *total = m[0] + m[1] + m[2];
    for (int c = 0; c < 3; c++)
        v[c] += m[0] * b[c] + m[1] * b[3 + c] + m[2] * b[6 + c];
}

#endif
