/* The local matrix of a pair of triangles for the edge functions f_a = s_a (x - v_a) from ten sums of the kernel; the twin
   of the scatter kernels in edge_block.py.

   MAGNETIC: 0 electric field, 1 magnetic field, 2 magnetic field tested with rotated functions. With x' and y'
   the distances from the centroids (nothing cancels: they are as small as the triangles), the sums over the quadrature points are

   electric: S = sum G, R = sum G x', L = sum G y', P = sum G x' . y';
   magnetic: with D = (G'/r)(x - y), p = x' x n (or x' itself): K = sum D, V = sum p x D, U = sum D x y', P = sum V . y'. */
#include "backends/prelude.h"

#define SUMS 10
#define DATA 16 /* of a triangle: normal, Jacobian, corners from the centroid (3, 3), scales s_a */

/* Vertex `a` of a triangle with data (16, stride) as distance from its centroid. */
DEVICE void vertex(GLOBAL const real_type *data, size_t stride, int a, real_type *v)
{
    for (int c = 0; c < 3; c++)
        v[c] = data[(4 + 3 * a + c) * stride];
}

/* A point of the triangle with barycentric coordinates l (3,), as distance from the centroid. */
DEVICE void point(GLOBAL const real_type *data, size_t stride, GLOBAL const real_type *l, real_type *v)
{
    for (int c = 0; c < 3; c++)
        v[c] = l[0] * data[(4 + c) * stride] + l[1] * data[(7 + c) * stride] + l[2] * data[(10 + c) * stride];
}

/* The point or direction v on the test side: rotated where the function is. */
DEVICE void turned(const real_type *v, const real_type *n, real_type *p)
{
#if MAGNETIC == 1
    p[0] = v[1] * n[2] - v[2] * n[1];
    p[1] = v[2] * n[0] - v[0] * n[2];
    p[2] = v[0] * n[1] - v[1] * n[0];
#else
    p[0] = v[0], p[1] = v[1], p[2] = v[2];
#endif
}

DEVICE real_type dot(const real_type *a, const real_type *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* Entry (a, b) without the scales from the real or imaginary sums: electric S, P, R, L; magnetic P, K, V, U. p, q: v_a
   (rotated) and w_b from the centroids. Electric: the part with the charges is returned by itself, times -1. */
DEVICE real_type edge_entry(const real_type *sums, const real_type *p, const real_type *q)
{
#if MAGNETIC
    const real_type *k = sums + 1, *v = sums + 4, *u = sums + 7;
    real_type c[3] = {p[1] * k[2] - p[2] * k[1] - v[0], p[2] * k[0] - p[0] * k[2] - v[1],
                      p[0] * k[1] - p[1] * k[0] - v[2]};
    return sums[0] - dot(p, u) + dot(q, c);
#else
    return sums[1] - dot(p, sums + 5) - dot(q, sums + 2) + dot(p, q) * sums[0];
#endif
}

/* Write all nine entries of the pair (test triangle number i of the tile, j) times `factor`. */
DEVICE void write_edge_matrix(const real_type *sums, const real_type *sums_i, GLOBAL const real_type *test,
                              GLOBAL const real_type *trial_data, GLOBAL const real_type *coefficients,
                              real_type factor, int i, int j, int count, GLOBAL out_type *out,
                              GLOBAL out_type *out_i)
{
    real_type n[3] = {test[0], test[1], test[2]};
    for (int a = 0; a < 3; a++) {
        real_type v[3], p[3];
        vertex(test, 1, a, v);
        turned(v, n, p);
        for (int b = 0; b < 3; b++) {
            real_type q[3];
            vertex(trial_data + j, count, b, q);
            real_type re = edge_entry(sums, p, q), im = edge_entry(sums_i, p, q);
#if !MAGNETIC
            re -= coefficients[2] * sums[0] - coefficients[3] * sums_i[0];
            im -= coefficients[2] * sums_i[0] + coefficients[3] * sums[0];
#endif
            real_type scale = factor * test[13 + a] * trial_data[(size_t)(13 + b) * count + j];
            size_t place = ((size_t)(i * 3 + a) * 3 + b) * count + j;
            out[place] = scale * (coefficients[0] * re - coefficients[1] * im);
            out_i[place] = scale * (coefficients[0] * im + coefficients[1] * re);
        }
    }
}
