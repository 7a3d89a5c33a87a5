/* The magnetic field of edge functions, c . h ((x - y) x g) with h = G'/r; the cross product with the normal goes with the
   field c of the test function. With the centroid c_j, as (x - y) x (y - w_b) = (x - w_b) x (y - w_b),

   F_m = s_b (E_m + b_b x g_m),   g_m = int int h l_m (x - y),   E_m = int int h l_m (x - c_j) x (y - c_j).

   Regular pairs: from the moments H_(mk)n of h with l_m l_k (m = k, then 12, 20, 01) and l_n, with the vertices
   x_k = c_i + a_k - c_j and S_mk = sum_n H_(mk)n, q_mk = sum_n H_(mk)n b_n

   g_m = sum_k (S_mk x_k - q_mk),   E_m = sum_k x_k x q_mk.

   Touching and near pairs (SPECIAL): from the moments M_mn of the three components of h (x - y) with l_m and l_n

   g_m = sum_n M_mn,   E_m = sum_n M_mn x b_n. */
#define CHARGES 0
#define FIELDS 18
#define NODE 3
#if SPECIAL
#define TESTS 3
#else
#define TESTS 6
#endif
#include "galerkin/forms/edge_fields.h"

#ifdef ROWS

/* What h at point p of the fixed triangle is multiplied by: f x d, where d is taken from the other point to this one. In
   a row f . (d x g) = (f x d) . g, in a column, where d has the other sign, g x d. */
DEVICE void node_of(GLOBAL const real_type *table, GLOBAL const real_type *fixed, int function, int functions, int p,
                    const real_type *d, const real_type *m, const real_type *n, int tests_fixed, real_type *node)
{
    GLOBAL const real_type *own = function_of(fixed, function) + FUNCTION_NODES + 3 * p;
    real_type f[3] = {own[0], own[1], own[2]};
    node[0] = node[1] = node[2] = R(0.0);
    add_cross(f, d, node);
}

#else

/* e += x x q,  g += s x - q */
DEVICE void add_product(real_type s, const real_type *q, const real_type *x, real_type *e, real_type *g)
{
    add_cross(x, q, e);
    for (int c = 0; c < 3; c++)
        g[c] += s * x[c] - q[c];
}

/* E and g (3, 3). */
DEVICE void fields_of(const real_type *moments, GLOBAL const real_type *test, GLOBAL const real_type *trial, int count,
                      const real_type *b, real_type *fields)
{
    real_type *e = fields, *g = fields + 9;
#if SPECIAL
    for (int m = 0; m < 3; m++)
        for (int n = 0; n < 3; n++) {
            real_type d[3];
            for (int c = 0; c < 3; c++) {
                d[c] = moments[c * MOMENTS + TRIALS * m + n];
                g[3 * m + c] += d[c];
            }
            add_cross(d, b + 3 * n, e + 3 * m);
        }
#else
    real_type x[9];
    for (int n = 0; n < 9; n++)
        x[n] = test[DATA_VERTICES + n] + test[DATA_CENTROID + n % 3] - trial[(size_t)(DATA_CENTROID + n % 3) * count];
    for (int n = 0; n < 6; n++) {
        real_type s, q[3] = {R(0.0), R(0.0), R(0.0)};
        int first = n < 3 ? n : (n - 2) % 3, second = n < 3 ? n : (n - 1) % 3;
        along_vertices(moments + TRIALS * n, b, &s, q);
        add_product(s, q, x + 3 * second, e + 3 * first, g + 3 * first);
        if (n >= 3)
            add_product(s, q, x + 3 * first, e + 3 * second, g + 3 * second);
    }
#endif
}

/* F (3, 3) of the trial function opposite to vertex b. */
DEVICE void field_of(const real_type *fields, const real_type *b, real_type *f)
{
    for (int m = 0; m < 3; m++) {
        for (int c = 0; c < 3; c++)
            f[3 * m + c] = fields[3 * m + c];
        add_cross(b, fields + 9 + 3 * m, f + 3 * m);
    }
}

#endif
#include "galerkin/forms/edge_matrix.h"
