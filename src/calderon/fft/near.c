/* Entries of functions on horizontal metal between layers, one after the other: touching and near pairs of triangles from a
   sparse matrix, the others by pair.h, less what the grid gives. */
#define TEST GLOBAL
#include "galerkin/layered/pair.h"

/* Re and Im of the triangle pairs of functions i and j that `skips` does not list, times the factor. */
DEVICE void distant_entry(GLOBAL const real_type *triangles, GLOBAL const int *heights_of, GLOBAL const int *number,
                          GLOBAL const real_type *parts, GLOBAL const int *starts, GLOBAL const int *apart,
                          GLOBAL const int *interval, GLOBAL const real_type *ends, GLOBAL const real_type *series,
                          GLOBAL const real_type *weights, GLOBAL const int *skips,
                          GLOBAL const real_type *coefficients, int heights, GLOBAL const int *first,
                          GLOBAL const int *carriers, int i, int j, real_type *value)
{
    NO_UNROLL
    for (int s = first[i]; s < first[i + 1]; s++) {
        int t = carriers[s] / 3;
        GLOBAL const real_type *test = triangles + (size_t)t * LENGTH;
        NO_UNROLL
        for (int k = first[j]; k < first[j + 1]; k++) {
            int u = carriers[k] / 3;
            GLOBAL const real_type *trial = triangles + (size_t)u * LENGTH;
            real_type m[14], e[2], area = test[PAIR_AREA] * trial[PAIR_AREA];
            UNROLL
            for (int c = 0; c < 14; c++)
                m[c] = R(0.0);
            add_pair(test, trial, 1, number[heights_of[t] * heights + heights_of[u]], parts, starts, apart, interval,
                     ends, series, weights, listed(skips, t, u) ? 0 : POINTS, m);
            product_of(m, test, carriers[s] % 3, trial, 1, carriers[k] % 3, coefficients[2], e);
            value[0] += area * (coefficients[0] * e[0] - coefficients[1] * e[1]);
            value[1] += area * (coefficients[0] * e[1] + coefficients[1] * e[0]);
        }
    }
}

/* Subtract from an entry what the grid gives: G_xx and K between the nodes of functions i and j times their weights. nodes
   (functions, 3): first node along x and y, plane; node_weights (functions, 3, m^2); greens (planes, planes, 2, nx, ny);
   factors (2,): of currents and of charges. */
DEVICE void subtract_nodes(GLOBAL const int *nodes, GLOBAL const real_type *node_weights,
                           GLOBAL const real_type *greens, GLOBAL const real_type *factors, int planes, int nx, int ny,
                           int m, int i, int j, real_type *value)
{
    GLOBAL const real_type *one = node_weights + (size_t)3 * m * m * i, *two = node_weights + (size_t)3 * m * m * j;
    GLOBAL const real_type *green = greens + (size_t)4 * nx * ny * (nodes[3 * i + 2] * planes + nodes[3 * j + 2]);
    int dx = nodes[3 * i] - nodes[3 * j], dy = nodes[3 * i + 1] - nodes[3 * j + 1];
    real_type g[2] = {R(0.0), R(0.0)}, k[2] = {R(0.0), R(0.0)};
    NO_UNROLL
    for (int a = 0; a < m * m; a++) {
        NO_UNROLL
        for (int b = 0; b < m * m; b++) {
            int x = dx + a / m - b / m, y = dy + a % m - b % m;
            size_t at = (size_t)(x < 0 ? -x : x) * ny + (y < 0 ? -y : y), other = at + (size_t)nx * ny;
            real_type current = one[a] * two[b] + one[m * m + a] * two[m * m + b];
            real_type charge = one[2 * m * m + a] * two[2 * m * m + b];
            UNROLL
            for (int c = 0; c < 2; c++) {
                g[c] += current * green[2 * at + c];
                k[c] += charge * green[2 * other + c];
            }
        }
    }
    value[0] -= (factors[0] * g[0] - factors[1] * g[1]) + (factors[2] * k[0] - factors[3] * k[1]);
    value[1] -= (factors[0] * g[1] + factors[1] * g[0]) + (factors[2] * k[1] + factors[3] * k[0]);
}

/* out (count, 2) = entries of a sparse matrix with the functions tests (rows,) as rows, which begin at row_starts (rows +
   1,), and columns (count,). triangles (n, LENGTH), heights_of (n,) and what follows up to `heights`: as in pairs.c. first
   (functions + 1,), carriers: the triangles and local functions 3 t + a of each function. special, special_values (n, 2): rows
   of a sparse matrix of all functions, as `listed_at` says, whose entries are added. Grid as in `subtract_nodes`; m = 0: no
   grid. Both orders of a pair have one value. One thread takes one entry. */
KERNEL entries(GLOBAL const real_type *triangles, GLOBAL const int *heights_of, GLOBAL const int *number,
               GLOBAL const real_type *parts, GLOBAL const int *starts, GLOBAL const int *apart,
               GLOBAL const int *interval, GLOBAL const real_type *ends, GLOBAL const real_type *series,
               GLOBAL const real_type *weights, GLOBAL const int *skips, GLOBAL const real_type *coefficients,
               int heights, GLOBAL const int *first, GLOBAL const int *carriers, GLOBAL const int *special,
               GLOBAL const real_type *special_values, int functions, GLOBAL const int *nodes,
               GLOBAL const real_type *node_weights, GLOBAL const real_type *greens, GLOBAL const real_type *factors,
               int planes, int nx, int ny, int m, GLOBAL const int *tests, GLOBAL const int *row_starts, int rows,
               GLOBAL const int *columns, int count, GLOBAL real_type *out)
{
    int n = THREAD(0);
    if (n >= count)
        return;
    int row = tests[last_at_most(row_starts, 1, rows, n)], column = columns[n];
    int i = row < column ? row : column, j = row < column ? column : row;
    real_type value[2] = {R(0.0), R(0.0)};
    distant_entry(triangles, heights_of, number, parts, starts, apart, interval, ends, series, weights, skips,
                  coefficients, heights, first, carriers, i, j, value);
    int at = listed_at(special, i, j) - (functions + 1);
    if (at >= 0)
        for (int c = 0; c < 2; c++)
            value[c] += special_values[(size_t)2 * at + c];
    if (m)
        subtract_nodes(nodes, node_weights, greens, factors, planes, nx, ny, m, i, j, value);
    out[(size_t)2 * n] = value[0];
    out[(size_t)2 * n + 1] = value[1];
}
