/* Between points of leaves and equivalent sources on their cubes (box, point, column, 2); the twin of
   mlfmm/equivalent/cube_kernels.py. A group takes a leaf, or points of a leaf, a thread a point of the cube, or of the leaf; the second
   number of a group is a column.

   SIZE: points of a cube. VALUE, SLOPE: which components of charges and fields are values and derivatives, -1 for none.
   MIXED: whether values are a times as large and have derivatives b along normals. LOSSY: see wave.h. REAL: of all
   numbers. */
#include "mlfmm/device/wave.h"

/* exp(i k r) / r (mixed with its derivative along a normal if MIXED) between a point and a point of a cube, and the factor f
   of the vector e between them in its gradient at the first one. */
DEVICE number potential(GLOBAL const real_type *places, GLOBAL const real_type *normals, GLOBAL const number *mix, int p,
                        GLOBAL const real_type *cube, int pitch, int i, real_type k, real_type loss, real_type *e, number *f)
{
    UNROLL
    for (int c = 0; c < 3; c++)
        e[c] = places[3 * (size_t)p + c] - cube[c * pitch + i];
    real_type r2 = e[0] * e[0] + e[1] * e[1] + e[2] * e[2], u = inverse_square_root(r2);
    number g = spherical_wave(r2 * u, u, k, loss, f);
#if MIXED
    GLOBAL const real_type *normal = normals + 4 * (size_t)p;
    GLOBAL const number *row = mix + 2 * (int)normal[3];
    real_type slope = e[0] * normal[0] + e[1] * normal[1] + e[2] * normal[2];
    g = times(g, plus_product(row[0], scaled(*f, slope), row[1]));
#endif
    *f = times(*f, g);
    return g;
}

/* Potentials x on the cubes (3, pitch) of leaves with the numbers `boxes`, of charges and dipoles at their points (point,
   column, components). */
KERNEL send(GLOBAL const real_type *places, GLOBAL const real_type *normals, GLOBAL const number *mix,
            GLOBAL const int *starts, GLOBAL const number *charges, int components, GLOBAL const real_type *cube, int pitch,
            real_type k, real_type loss, GLOBAL const int *leaves, GLOBAL const int *boxes, int columns, GLOBAL number *x)
{
    int chunks = (SIZE + GROUP_SIZE - 1) / GROUP_SIZE, own = GROUP(0) / chunks;
    int i = GROUP(0) % chunks * GROUP_SIZE + LOCAL_ID(0);
    if (i >= SIZE)
        return;
    number total = number_of(0, 0);
    for (int p = starts[leaves[own]]; p < starts[leaves[own] + 1]; p++) {
        real_type e[3];
        GLOBAL const number *given = charges + ((size_t)p * columns + GROUP(1)) * components;
        number f, g = potential(places, normals, mix, p, cube, pitch, i, k, loss, e, &f);
#if VALUE >= 0
        total = plus_product(total, g, given[VALUE]);
#endif
#if SLOPE >= 0
        number along = number_of(0, 0);
        UNROLL
        for (int n = 0; n < 3; n++)
            along = plus(along, scaled(given[SLOPE + n], e[n]));
        total = plus_product(total, f, along);
#endif
    }
    x[((size_t)boxes[own] * SIZE + i) * columns + GROUP(1)] = total;
}

/* Values and gradients, times scale, at runs (first point, how many, which of `boxes`) of at most GROUP_SIZE points, of
   sources x on cubes. */
KERNEL receive(GLOBAL const real_type *places, GLOBAL const real_type *normals, GLOBAL const number *mix,
               GLOBAL const int *runs, GLOBAL const number *x, GLOBAL const real_type *cube, int pitch, real_type k,
               real_type loss, GLOBAL const int *boxes, int columns, real_type scale, GLOBAL number *fields, int components)
{
    GLOBAL const int *run = runs + 3 * (size_t)GROUP(0);
    int p = run[0] + LOCAL_ID(0);
    if (LOCAL_ID(0) >= run[1])
        return;
    GLOBAL const number *given = x + (size_t)boxes[run[2]] * SIZE * columns + GROUP(1);
    number value = {0}, slope[3] = {{0}};
    for (int i = 0; i < SIZE; i++) {
        real_type e[3];
        number f, g = potential(places, normals, mix, p, cube, pitch, i, k, loss, e, &f);
        value = plus_product(value, g, given[(size_t)i * columns]);
#if SLOPE >= 0
        number along = times(f, given[(size_t)i * columns]);
        UNROLL
        for (int n = 0; n < 3; n++)
            slope[n] = plus(slope[n], scaled(along, e[n]));
#endif
    }
    GLOBAL number *out = fields + ((size_t)p * columns + GROUP(1)) * components;
#if VALUE >= 0
    out[VALUE] = scaled(value, scale);
#endif
#if SLOPE >= 0
    UNROLL
    for (int n = 0; n < 3; n++)
        out[SLOPE + n] = scaled(slope[n], scale);
#endif
}

/* y (point, column, rows) = table (rows, inner) times x (point, column, inner) at listed points. */
KERNEL combine(GLOBAL const int *points, int count, GLOBAL const number *table, int rows, int inner, int columns,
               GLOBAL const number *x, GLOBAL number *y)
{
    int n = THREAD(0);
    if (n >= count * rows)
        return;
    size_t place = (size_t)points[n / rows] * columns + GROUP(1);
    number total = number_of(0, 0);
    for (int c = 0; c < inner; c++)
        total = plus_product(total, table[n % rows * inner + c], x[place * inner + c]);
    y[place * rows + n % rows] = total;
}
