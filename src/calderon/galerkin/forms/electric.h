/* The electric field of edge functions, f . g - div f div g / k^2, from the moments M_mn of G with l_m, l_n: with
   V_m = sum_n M_mn b_n and S_m = sum_n M_mn

   F_m = s_b (V_m - S_m b_b),   C = s_b (2 / k^2) sum_m S_m.

   PARALLEL: entries of triangles in parallel planes alone, the twin of `put_products` in electric.py. */
#if PARALLEL

/* int int [G (xi - alpha) . (eta - beta) - charge K] from g, the moments of G with 1, xi (gx, gy), eta (hx, hy) and
   xi . eta (both), and k, that of K; alpha = (u, v), beta = (x, y). */
DEVICE real_type parallel_product(real_type g, real_type gx, real_type gy, real_type hx, real_type hy, real_type both,
                                  real_type k, real_type charge, real_type u, real_type v, real_type x, real_type y)
{
    return both - u * hx - v * hy - charge * k + x * (u * g - gx) + y * (v * g - gy);
}

#else
#define TESTS 3
#define CHARGES 1
#define FIELDS 12
#define NODE 4
#include "galerkin/forms/edge_fields.h"

#ifdef ROWS

/* What G at point p of the fixed triangle is multiplied by: the function f, and its divergence. */
DEVICE void node_of(GLOBAL const real_type *table, GLOBAL const real_type *fixed, int function, int functions, int p,
                    const real_type *d, const real_type *m, const real_type *n, int tests_fixed, real_type *node)
{
    GLOBAL const real_type *own = function_of(fixed, function);
    for (int c = 0; c < 3; c++)
        node[c] = own[FUNCTION_NODES + 3 * p + c];
    node[3] = table[p] * own[FUNCTION_FIELD + FIELD_DIVERGENCE];
}

#else

/* V (3, 3) and S (3,). */
DEVICE void fields_of(const real_type *moments, GLOBAL const real_type *test, GLOBAL const real_type *trial, int count,
                      const real_type *b, real_type *fields)
{
    for (int m = 0; m < 3; m++)
        along_vertices(moments + TRIALS * m, b, fields + 9 + m, fields + 3 * m);
}

/* F (3, 3) of the trial function opposite to vertex b. */
DEVICE void field_of(const real_type *fields, const real_type *b, real_type *f)
{
    for (int m = 0; m < 3; m++)
        for (int c = 0; c < 3; c++)
            f[3 * m + c] = fields[3 * m + c] - fields[9 + m] * b[c];
}

#endif
#include "galerkin/forms/edge_matrix.h"

#endif
