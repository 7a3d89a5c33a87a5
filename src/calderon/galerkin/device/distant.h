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

/* The number that all of a side share and that of corner a of a triangle in S_a of series.py, from u and the
   squares of all its corners, and `own` of corner a; first: -10, or 10 for T_b. */
DEVICE real_type slope_term(real_type inverse, const real_type *u, const real_type *squares, int a, real_type own,
                            real_type first)
{
    real_type sum = R(0.0);
    for (int b = 0; b < 3; b++)
        sum += (a == b ? R(3.0) : R(1.0)) * (R(5.0) * inverse * (u[b] * u[b]) - squares[b]);
    return inverse * R(0.0083333333333333333) * (sum + first * own);
}

/* d_a / 36 - (sum d u + 2 d_a u_a) / (60 r^2) of series.py; own: d_a. */
DEVICE real_type plane_term(real_type inverse, const real_type *along, const real_type *u, int a, real_type own)
{
    real_type sum = R(0.0);
    for (int b = 0; b < 3; b++)
        sum += (a == b ? R(3.0) : R(1.0)) * (along[b] * u[b]);
    return R(0.027777777777777778) * own - inverse * R(0.016666666666666667) * sum;
}

/* Integrals of the normal derivative with normals m and n over two distant triangles by their last numbers, with Jacobians
   1: means[b] of that of corner a of the first triangle with the three of the other. */
DEVICE void series(const real_type *x, const real_type *y, int a, const real_type *m, const real_type *n,
                   const real_type *parameters, real_type tiny, real_type *means)
{
    real_type d[3], normal[3], unit[3], opposite[3], value[PARTS * COMPONENTS], p[3], q[3], u[3], z[3], w[3];
    real_type along[3], across[3];
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
    /* distances of corners from the plane, of which those of the triangle in it are zero */
    for (int b = 0; b < 3; b++) {
        corner_of(x, b, w);
        along[b] = inner_product(normal, w);
        corner_of(y, b, w);
        across[b] = -inner_product(normal, w);
    }
    chosen_corner(x, a, w);
    real_type back[3] = {-z[0], -z[1], -z[2]}, small = inverse * R(0.020833333333333333);
    real_type middle = inner_product(d, normal), u_a = inner_product(d, w), along_a = inner_product(normal, w);
    real_type own = middle * (R(0.1111111111111111) + slope_term(inverse, u, p, a, u_a, R(-10.0)));
    own += plane_term(inverse, along, u, a, along_a);
    for (int b = 0; b < 3; b++) {
        real_type v[3], other = middle * slope_term(inverse, z, q, b, z[b], R(10.0));
        other += plane_term(inverse, across, back, b, across[b]);
        corner_of(y, b, v);
        real_type mixed = middle * inner_product(w, v) + along_a * z[b] - across[b] * u_a;
        mixed -= R(5.0) * inverse * middle * (u_a * z[b]);
        means[b] = R(0.25) * value[0] * (own + other + small * mixed);
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
