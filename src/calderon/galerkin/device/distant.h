/* Distant pairs of triangles (pairs/zones.py), by one thread; the twin of distant.py and series.py. Included after GREEN, FORM
   and component.h.

   NODES_...: places in the numbers of a triangle: POINTS points (x, y, z), USUAL_POINTS of them those of the usual rule, then
   those of the rule of distant pairs, if there is one; the centroid; the square of the distance from which on others are
   distant. SERIES: 1 for series between constants, 2 between three linear functions, 3 between these for the normal derivative:
   points of that rule are corners then. 0: products of points. */

#include "galerkin/device/weights.h"

#define ZONES (POINTS > USUAL_POINTS)
/* The last numbers of a triangle: what is read of it to decide, and to expand. */
#define FAR_FIRST (SERIES ? 3 * USUAL_POINTS : NODES_CENTRE)
#define FAR_NUMBERS (NODES_LENGTH - FAR_FIRST)
#define FAR_CENTRE (NODES_CENTRE - FAR_FIRST)
/* The functions of a triangle in series. */
#define SERIES_FUNCTIONS (SERIES > 1 ? 3 : 1)

/* Whether two triangles are distant, from their last FAR_NUMBERS numbers; tiny is added to squares of distances. */
DEVICE int are_distant(const real_type *x, const real_type *y, real_type tiny)
{
    real_type d0 = x[FAR_CENTRE] - y[FAR_CENTRE], d1 = x[FAR_CENTRE + 1] - y[FAR_CENTRE + 1];
    real_type d2 = x[FAR_CENTRE + 2] - y[FAR_CENTRE + 2], own = x[FAR_NUMBERS - 1], other = y[FAR_NUMBERS - 1];
    return !(d0 * d0 + tiny + d1 * d1 + d2 * d2 < (own < other ? other : own));
}

#if SERIES

DEVICE real_type inner_product(const real_type *a, const real_type *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* Corner a of a triangle less its centroid, w. */
DEVICE void corner_of(const real_type *x, int a, real_type *w)
{
    for (int c = 0; c < 3; c++)
        w[c] = x[3 * a + c] - x[FAR_CENTRE + c];
}

/* `corner_of` where a differs from thread to thread: registers have no computed numbers. */
DEVICE void chosen_corner(const real_type *x, int a, real_type *w)
{
    for (int c = 0; c < 3; c++)
        w[c] = (a == 0 ? x[c] : a == 1 ? x[3 + c] : x[6 + c]) - x[FAR_CENTRE + c];
}

/* The squares |w|^2 of these, and their products u = d . w. */
DEVICE void centred(const real_type *x, const real_type *d, real_type *squares, real_type *u)
{
    for (int a = 0; a < 3; a++) {
        real_type w[3];
        corner_of(x, a, w);
        squares[a] = inner_product(w, w);
        u[a] = inner_product(d, w);
    }
}

/* P_a of series.py: inverse, 1 / r^2; u, square: of corner a; every: what P_0, P_1, P_2 share; sign: -1, 1 for Q_b. */
DEVICE real_type term(real_type inverse, real_type u, real_type square, real_type every, real_type sign)
{
    return inverse * (sign * R(0.027777777777777778) * u +
                      R(0.002777777777777778) * (every + R(2.0) * (R(3.0) * inverse * (u * u) - square)));
}

#if SERIES == 3

/* The part of one corner of a triangle in series.py, over h: f S_a, but for f t / (120 r^2) and the sum of products of corners,
   and d_a times what does not depend on b; u, square, own: u_a, |w_a|^2, d_a; of_other, squares: t and sum u^2 / r^2 of the other
   triangle; f, inverse: 1 / r^2; sign: 1, or -1 for T_b. */
DEVICE real_type slope_term(real_type inverse, real_type u, real_type square, real_type own, real_type of_other,
                            real_type squares, real_type f, real_type sign)
{
    real_type x = sign * inverse * u, p = inverse * u * u, t = inverse * (R(5.0) * p - square);
    real_type of_x = inverse * (R(0.22222222222222222) * p - R(0.017361111111111111) * (of_other + R(2.0) * squares));
    return f * (R(0.016666666666666667) * t + x * (of_x - R(0.083333333333333333) * (R(1.0) + t))) +
           own * (R(0.027777777777777778) + R(0.0034722222222222222) * inverse * of_other + R(0.016666666666666667) * t -
                  R(0.033333333333333333) * x);
}

/* Integrals of the normal derivative with normals m and n over two distant triangles by their last numbers, with Jacobians
   1: means[b] of that of corner a of the first triangle with the three of the other. */
DEVICE void series(const real_type *x, const real_type *y, int a, const real_type *m, const real_type *n,
                   const real_type *parameters, real_type tiny, real_type *means)
{
    real_type d[3], normal[3], unit[3], opposite[3], value[PARTS * COMPONENTS], p[3], q[3], u[3], z[3], w[3], v[3];
    for (int c = 0; c < 3; c++) {
        d[c] = x[FAR_CENTRE + c] - y[FAR_CENTRE + c];
        normal[c] = READS_TEST ? m[c] : -n[c];
    }
    real_type root = inverse_square_root(d[0] * d[0] + tiny + d[1] * d[1] + d[2] * d[2]), inverse = root * root;
    for (int c = 0; c < 3; c++) { /* a normal along d, with which the component is the slope */
        unit[c] = d[c] * inverse;
        opposite[c] = -unit[c];
    }
    component_values(d, unit, opposite, parameters, tiny, value);
    centred(x, d, p, u);
    centred(y, d, q, z);
    /* sums over corners: of squares, of distances from the plane, of which those of the triangle in it are zero, and vectors,
       of which the products with corners are added */
    real_type f = inner_product(d, normal), of_x = R(0.0), of_y = R(0.0), plane_x = R(0.0), plane_y = R(0.0);
    real_type by_x[3] = {R(0.0), R(0.0), R(0.0)}, by_y[3] = {R(0.0), R(0.0), R(0.0)};
    for (int b = 0; b < 3; b++) {
        corner_of(x, b, w);
        corner_of(y, b, v);
        real_type along = inner_product(normal, w), across = -inner_product(normal, v), five = R(5.0) * inverse * f;
        of_x += inverse * u[b] * u[b];
        of_y += inverse * z[b] * z[b];
        plane_x += inverse * along * u[b];
        plane_y += inverse * across * z[b];
        for (int c = 0; c < 3; c++) {
            by_x[c] += (across + five * z[b]) * v[c];
            by_y[c] += (along - five * u[b]) * w[c];
        }
    }
    real_type t_x = R(5.0) * of_x - (p[0] + p[1] + p[2]), t_y = R(5.0) * of_y - (q[0] + q[1] + q[2]);
    chosen_corner(x, a, w);
    real_type u_a = inner_product(d, w), along_a = inner_product(normal, w), fine = inverse * R(0.0069444444444444444);
    real_type own = f * (R(0.1111111111111111) + inverse * R(0.0083333333333333333) * (t_x + t_y)) +
                    R(0.016666666666666667) * (plane_y - plane_x) + fine * (inner_product(w, by_x) - R(5.0) * plane_y * u_a) +
                    slope_term(inverse, u_a, inner_product(w, w), along_a, t_y, of_y, f, R(1.0));
    for (int b = 0; b < 3; b++) {
        corner_of(y, b, v);
        real_type across = -inner_product(normal, v), along = along_a - R(5.0) * inverse * f * u_a;
        real_type mixed = f * inner_product(w, v) + along * z[b] - across * u_a;
        means[b] = R(0.25) * value[0] * (own + slope_term(inverse, z[b], q[b], across, t_x, of_x, f, R(-1.0)) +
                                         fine * (R(3.0) * mixed + inner_product(v, by_y) - R(5.0) * plane_x * z[b]));
    }
}

#else

/* Integrals of G over two distant triangles by their last numbers, with Jacobians 1: means[0] between constants; between linear
   functions means[b] of that of corner a of the first triangle with the three of the other; m, n: not read. */
DEVICE void series(const real_type *x, const real_type *y, int a, const real_type *m, const real_type *n,
                   const real_type *parameters, real_type tiny, real_type *means)
{
    real_type d[3], none[3], value[PARTS * COMPONENTS], u[3], z[3], p[3], q[3];
    for (int c = 0; c < 3; c++) {
        d[c] = x[FAR_CENTRE + c] - y[FAR_CENTRE + c];
        none[c] = R(0.0);
    }
    component_values(d, none, none, parameters, tiny, value);
    real_type root = inverse_square_root(d[0] * d[0] + tiny + d[1] * d[1] + d[2] * d[2]), inverse = root * root;
    centred(x, d, p, u);
    centred(y, d, q, z);
    real_type first = R(3.0) * inverse * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]) - (p[0] + p[1] + p[2]);
    real_type second = R(3.0) * inverse * (z[0] * z[0] + z[1] * z[1] + z[2] * z[2]) - (q[0] + q[1] + q[2]);
#if SERIES == 1
    real_type odd = R(0.05) * (u[0] * p[0] + u[1] * p[1] + u[2] * p[2] - (z[0] * q[0] + z[1] * q[1] + z[2] * q[2]));
    odd -= R(0.25) * (inverse * (u[0] * u[1] * u[2] - z[0] * z[1] * z[2]));
    means[0] = R(0.25) * (value[0] + value[0] * (inverse * (R(0.041666666666666667) * (first + second) + inverse * odd)));
#else
    real_type scaled = inverse * R(0.006944444444444444), w[3], v[3];
    chosen_corner(x, a, w);
    real_type along = inner_product(d, w);
    real_type sum = R(0.1111111111111111) + term(inverse, along, inner_product(w, w), first, R(-1.0));
    for (int b = 0; b < 3; b++) {
        corner_of(y, b, v);
        means[b] = R(0.25) * value[0] * (sum + term(inverse, z[b], q[b], second, R(1.0)) +
                                         scaled * (inner_product(w, v) - R(3.0) * inverse * along * z[b]));
    }
#endif
}

#endif
#endif
