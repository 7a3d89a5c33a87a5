/* Products by grids: functions and the nodes of a grid, spectra, and sparse near entries.

   Function n has m x m nodes from node (first[n, 0], first[n, 1]) of the grid on plane[n] on; weights[n, c, m a + b] of
   J_x, J_y and div J (c). REAL: of the grid. VECTOR_REAL: of vectors, weights and near entries. Complex numbers are
   pairs. */
#include "backends/devices/group_sum.h"

typedef VECTOR_REAL vector_type;

/* out (planes, 3, area) = currents and charges at the nodes of each plane, of the vector x from its element `left` on.
   starts (nodes + 1,), entries: for each node the places n m^2 + m a + b of the functions n that have it as their node
   (a, b); points: m^2; sign: -1 for the conjugate of x. A thread takes a node. */
KERNEL to_nodes(GLOBAL const int *starts, GLOBAL const int *entries, GLOBAL const vector_type *weights, int points,
                GLOBAL const vector_type *x, int left, vector_type sign, int area, int nodes, GLOBAL real_type *out)
{
    int node = THREAD(0);
    if (node >= nodes)
        return;
    vector_type re[3] = {0, 0, 0}, im[3] = {0, 0, 0};
    for (int e = starts[node]; e < starts[node + 1]; e++) {
        int n = entries[e] / points, place = entries[e] % points;
        GLOBAL const vector_type *value = x + 2 * ((size_t)left + n);
        UNROLL
        for (int c = 0; c < 3; c++) {
            vector_type weight = weights[((size_t)3 * n + c) * points + place];
            re[c] += weight * value[0];
            im[c] += weight * value[1];
        }
    }
    int plane = node / area;
    UNROLL
    for (int c = 0; c < 3; c++) {
        GLOBAL real_type *own = out + 2 * ((size_t)(3 * plane + c) * area + node % area);
        own[0] = (real_type)re[c];
        own[1] = (real_type)(sign * im[c]);
    }
}

/* out (planes, 3, size) = sum_b spectra[a, b, kind of c] waves[b, c] for planes a: currents (c = 0, 1) by G_xx, charges
   (c = 2) by K. spectra (planes, planes, 2, size), waves (planes, 3, size). A thread takes one frequency of one
   component. */
KERNEL times_spectra(GLOBAL const real_type *spectra, GLOBAL const real_type *waves, int planes, int size, int count,
                     GLOBAL real_type *out)
{
    int thread = THREAD(0);
    if (thread >= count)
        return;
    int place = thread % size, c = thread / size % 3, a = thread / size / 3;
    real_type re = R(0.0), im = R(0.0);
    for (int b = 0; b < planes; b++) {
        GLOBAL const real_type *s = spectra + 2 * ((size_t)(2 * (a * planes + b) + c / 2) * size + place);
        GLOBAL const real_type *w = waves + 2 * ((size_t)(3 * b + c) * size + place);
        re += s[0] * w[0] - s[1] * w[1];
        im += s[0] * w[1] + s[1] * w[0];
    }
    out[2 * (size_t)thread] = re;
    out[2 * (size_t)thread + 1] = im;
}

/* y += factor times the products with x, for y from its element `top` on: fields (planes, 3, nx, ny) at the nodes of
   each function by its weights and the factors (3, 2) of components, and near entries (values, starts, columns) by x
   from its element `left` on. starts, columns, values: of a sparse matrix with pairs as values; first (functions, 2),
   plane, weights, m: see the head of this file; sign: -1 to conjugate x and the products. A group takes a function. */
KERNEL from_nodes(GLOBAL const real_type *fields, int nx, int ny, GLOBAL const int *first, GLOBAL const int *plane,
                  GLOBAL const vector_type *weights, int m, GLOBAL const vector_type *factors,
                  GLOBAL const int *starts, GLOBAL const int *columns, GLOBAL const vector_type *values,
                  GLOBAL const vector_type *x, int left, vector_type sign, vector_type factor, vector_type factor_i,
                  GLOBAL vector_type *y, int top)
{
    LOCAL vector_type sums[2 * GROUP_SIZE];
    int n = GROUP(0), t = LOCAL_ID(0), points = m * m;
    vector_type re = 0, im = 0;
    /* fields at the nodes, component after component */
    for (int e = t; e < 3 * points; e += GROUP_SIZE) {
        int c = e / points, place = e % points;
        int i = first[2 * n] + place / m, j = first[2 * n + 1] + place % m;
        GLOBAL const real_type *field = fields + 2 * (((size_t)(3 * plane[n] + c) * nx + i) * ny + j);
        vector_type weight = weights[(size_t)3 * points * n + e];
        re += weight * (factors[2 * c] * field[0] - factors[2 * c + 1] * field[1]);
        im += weight * (factors[2 * c] * field[1] + factors[2 * c + 1] * field[0]);
    }
    /* near entries */
    for (int e = starts[n] + t; e < starts[n + 1]; e += GROUP_SIZE) {
        GLOBAL const vector_type *value = values + 2 * (size_t)e, *given = x + 2 * ((size_t)left + columns[e]);
        vector_type given_i = sign * given[1];
        re += value[0] * given[0] - value[1] * given_i;
        im += value[0] * given_i + value[1] * given[0];
    }
    sums[t] = re;
    sums[GROUP_SIZE + t] = sign * im;
    SUM_OVER_THREADS(sums, GROUP_SIZE, 2, GROUP_SIZE);
    if (t == 0) {
        re = sums[0];
        im = sums[GROUP_SIZE];
        GLOBAL vector_type *own = y + 2 * ((size_t)top + n);
        own[0] += factor * re - factor_i * im;
        own[1] += factor * im + factor_i * re;
    }
}
