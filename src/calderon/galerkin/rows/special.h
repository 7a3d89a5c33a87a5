/* Touching and near pairs of triangles in the entries of a matrix, which `add_triangle` leaves out: local matrices in
   layers (layers, size, count), real parts, and imaginary parts in an array of their own, of the first `specials` pairs.
   skips: the pairs by triangle of the rows (see listed.h); numbers: which pair each of them is, -1 - number if its triangles
   are exchanged. */
#include "galerkin/rows/cluster_tables.h"

/* The parameters of kernels and functions that read them, and the arguments. */
#define SPECIAL_PAIRS                                                                               \
    GLOBAL const int *skips, GLOBAL const int *numbers, GLOBAL const real_type *local_re,           \
        GLOBAL const real_type *local_im, int size, int count, int specials
#define THESE_PAIRS skips, numbers, local_re, local_im, size, count, specials

/* re + i im += entry (a, b) of the local matrix of the pair in place `at` of the skips. */
DEVICE void add_local(SPECIAL_PAIRS, int at, int a, int b, real_type *re, real_type *im)
{
    int number = numbers[at - skips[0]], pair = number < 0 ? -1 - number : number;
    int entry = number < 0 ? b * WIDTH + a : a * WIDTH + b;
    if (pair >= specials)
        return;
    size_t from = ((size_t)(pair / count) * size + entry) * count + pair % count;
    *re += local_re[from];
#if COMPLEX
    *im += local_im[from];
#endif
}

/* Add to what triangle number k of a cluster of the columns (`add_triangle`) adds to the entries at a position of the rows
   its pairs with the triangles there; near, index: integers of the rows and of the columns. */
DEVICE void add_special(SPECIAL_PAIRS, GLOBAL const int *near, GLOBAL const int *index, int position, int cluster, int k,
                        int triangles, GLOBAL real_type *out)
{
    int triangle = triangle_of(index, cluster, k);
    for (int e = item(near, SIDE_STARTS, position); e < item(near, SIDE_STARTS, position + 1); e++) {
        int at = listed_at(skips, item(near, SIDE_TRIANGLES, e), triangle);
        if (at < 0)
            continue;
        for (int b = 0; b < WIDTH; b++) {
            real_type re = R(0.0), im = R(0.0);
            add_local(THESE_PAIRS, at, item(near, SIDE_LOCALS, e), b, &re, &im);
            out[(size_t)2 * b * triangles + k] += re;
#if COMPLEX
            out[((size_t)2 * b + 1) * triangles + k] += im;
#endif
        }
    }
}
