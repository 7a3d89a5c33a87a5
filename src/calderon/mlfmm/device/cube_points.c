/* Between points of leaves and equivalent sources on their cubes (box, point, column, 2); the twin of
   mlfmm/equivalent/cube_kernels.py. A group takes a leaf, or points of a leaf, a thread a point of the cube, or of the leaf; the second
   number of a group is a column.

   SIZE: points of a cube. VALUE, SLOPE: which components of charges and fields are values and derivatives, -1 for none.
   MIXED: whether values are a times as large and have derivatives b along normals. LOSSY: whether Im k > 0. REAL: of all
   numbers. */
#include "backends/prelude.h"
#include "greens/elementary.h"

#define GROUP_SIZE 128

/* exp(i k r) / r (mixed with its derivative along a normal if MIXED) between a point and a point of a cube, and factors
   (f, f_i) of the vector e between them in its gradient at the first one. */
DEVICE void potential(GLOBAL const real_type *places, GLOBAL const real_type *normals, GLOBAL const real_type *mix, int p,
                      GLOBAL const real_type *cube, int pitch, int i, real_type k, real_type loss, real_type *e,
                      real_type *value, real_type *value_i, real_type *f, real_type *f_i)
{
    UNROLL
    for (int c = 0; c < 3; c++)
        e[c] = places[3 * (size_t)p + c] - cube[c * pitch + i];
    real_type r2 = e[0] * e[0] + e[1] * e[1] + e[2] * e[2], u = inverse_square_root(r2), kr = r2 * u * k, s, c;
    sine_cosine(kr, &s, &c);
#if LOSSY
    real_type decay = exponential(-kr * loss);
    s *= decay;
    c *= decay;
#endif
    real_type re = c * u, im = s * u, v = u * u, fr = -v - v * kr * loss, fi = v * kr; /* g' / r = (i k - 1 / r) g / r */
#if MIXED
    GLOBAL const real_type *normal = normals + 4 * (size_t)p, *row = mix + 4 * (int)normal[3];
    real_type slope = e[0] * normal[0] + e[1] * normal[1] + e[2] * normal[2];
    real_type a = slope * (fr * row[2] - fi * row[3]) + row[0], b = slope * (fr * row[3] + fi * row[2]) + row[1];
    real_type turned = re * a - im * b;
    im = re * b + im * a;
    re = turned;
#endif
    *value = re;
    *value_i = im;
    *f = fr * re - fi * im;
    *f_i = fr * im + fi * re;
}

/* Potentials x on the cubes (3, pitch) of leaves with the numbers `boxes`, of charges and dipoles at their points (point,
   column, components, 2). */
KERNEL send(GLOBAL const real_type *places, GLOBAL const real_type *normals, GLOBAL const real_type *mix,
            GLOBAL const int *starts, GLOBAL const real_type *charges, int components, GLOBAL const real_type *cube,
            int pitch, real_type k, real_type loss, GLOBAL const int *leaves, GLOBAL const int *boxes, int columns,
            GLOBAL real_type *x)
{
    int chunks = (SIZE + GROUP_SIZE - 1) / GROUP_SIZE, own = GROUP(0) / chunks;
    int i = GROUP(0) % chunks * GROUP_SIZE + LOCAL_ID(0);
    if (i >= SIZE)
        return;
    real_type total = R(0.0), total_i = R(0.0);
    for (int p = starts[leaves[own]]; p < starts[leaves[own] + 1]; p++) {
        real_type e[3], re, im, f, fi, a = R(0.0), b = R(0.0), c = R(0.0), d = R(0.0);
        GLOBAL const real_type *given = charges + ((size_t)p * columns + GROUP(1)) * 2 * components;
        potential(places, normals, mix, p, cube, pitch, i, k, loss, e, &re, &im, &f, &fi);
#if VALUE >= 0
        a = given[2 * VALUE];
        b = given[2 * VALUE + 1];
#endif
#if SLOPE >= 0
        UNROLL
        for (int n = 0; n < 3; n++) {
            c += e[n] * given[2 * (SLOPE + n)];
            d += e[n] * given[2 * (SLOPE + n) + 1];
        }
#endif
        total += re * a - im * b + f * c - fi * d;
        total_i += re * b + im * a + f * d + fi * c;
    }
    GLOBAL real_type *to = x + (((size_t)boxes[own] * SIZE + i) * columns + GROUP(1)) * 2;
    to[0] = total;
    to[1] = total_i;
}

/* Values and gradients, times scale, at runs (first point, how many, which of `boxes`) of at most GROUP_SIZE points, of
   sources x on cubes. */
KERNEL receive(GLOBAL const real_type *places, GLOBAL const real_type *normals, GLOBAL const real_type *mix,
               GLOBAL const int *runs, GLOBAL const real_type *x, GLOBAL const real_type *cube, int pitch, real_type k,
               real_type loss, GLOBAL const int *boxes, int columns, real_type scale, GLOBAL real_type *fields,
               int components)
{
    GLOBAL const int *run = runs + 3 * (size_t)GROUP(0);
    int p = run[0] + LOCAL_ID(0);
    if (LOCAL_ID(0) >= run[1])
        return;
    GLOBAL const real_type *given = x + ((size_t)boxes[run[2]] * SIZE * columns + GROUP(1)) * 2;
    real_type value = R(0.0), value_i = R(0.0), slope[3], slope_i[3];
    UNROLL
    for (int n = 0; n < 3; n++)
        slope[n] = slope_i[n] = R(0.0);
    for (int i = 0; i < SIZE; i++) {
        real_type e[3], re, im, f, fi, a = given[2 * (size_t)i * columns], b = given[2 * (size_t)i * columns + 1];
        potential(places, normals, mix, p, cube, pitch, i, k, loss, e, &re, &im, &f, &fi);
        value += re * a - im * b;
        value_i += re * b + im * a;
#if SLOPE >= 0
        real_type c = f * a - fi * b, d = f * b + fi * a;
        UNROLL
        for (int n = 0; n < 3; n++) {
            slope[n] += e[n] * c;
            slope_i[n] += e[n] * d;
        }
#endif
    }
    GLOBAL real_type *out = fields + ((size_t)p * columns + GROUP(1)) * 2 * components;
#if VALUE >= 0
    out[2 * VALUE] = scale * value;
    out[2 * VALUE + 1] = scale * value_i;
#endif
#if SLOPE >= 0
    UNROLL
    for (int n = 0; n < 3; n++) {
        out[2 * (SLOPE + n)] = scale * slope[n];
        out[2 * (SLOPE + n) + 1] = scale * slope_i[n];
    }
#endif
}

/* y (point, column, rows, 2) = table (rows, inner, 2) times x (point, column, inner, 2) at listed points. */
KERNEL combine(GLOBAL const int *points, int count, GLOBAL const real_type *table, int rows, int inner, int columns,
               GLOBAL const real_type *x, GLOBAL real_type *y)
{
    int n = THREAD(0);
    if (n >= count * rows)
        return;
    size_t place = (size_t)points[n / rows] * columns + GROUP(1);
    GLOBAL const real_type *own = table + 2 * (n % rows) * inner, *given = x + 2 * place * inner;
    real_type re = R(0.0), im = R(0.0);
    for (int c = 0; c < inner; c++) {
        re += own[2 * c] * given[2 * c] - own[2 * c + 1] * given[2 * c + 1];
        im += own[2 * c] * given[2 * c + 1] + own[2 * c + 1] * given[2 * c];
    }
    y[2 * (place * rows + n % rows)] = re;
    y[2 * (place * rows + n % rows) + 1] = im;
}
