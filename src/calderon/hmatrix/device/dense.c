/* Dense blocks of an H-matrix, one group of GROUP_SIZE threads a block. ROWS: the file that computes rows of the matrix,
   with COMPLEX numbers or real ones; numbers of the matrix are PARTS reals. */
#include ROWS

/* The first of indices[low] .. indices[high - 1], which increase, that is not below `bound`, or `high`. */
DEVICE int first_at_least(GLOBAL const int *indices, int low, int high, int bound)
{
    while (low < high) {
        int middle = (low + high) / 2;
        if (indices[middle] < bound)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* blocks (b, 4): row cluster, column cluster, where in `out` its numbers go, row by row, and where in `scratch` its memory
   is: 2 WIDTH reals for each row and each triangle of the columns. skips: pairs of triangles that are left out (see
   add_triangle); starts, indices, values: the sparse matrix that is added for them, by positions in cluster order. */
KERNEL dense(GLOBAL const real_type *row_numbers, GLOBAL const int *row_integers, GLOBAL const real_type *column_numbers,
             GLOBAL const int *column_integers, GLOBAL const real_type *scalars, GLOBAL const int *skips,
             GLOBAL const int *starts, GLOBAL const int *indices, GLOBAL const real_type *values,
             GLOBAL const int *blocks, GLOBAL real_type *scratch, GLOBAL real_type *out)
{
    int t = LOCAL_ID(0);
    GLOBAL const int *block = blocks + 4 * GROUP(0);
    int r = block[0], c = block[1], m = cluster_size(row_integers, r), n = cluster_size(column_integers, c);
    int first = cluster_first(row_integers, r), low = cluster_first(column_integers, c);
    int triangles = cluster_triangles(column_integers, c);
    size_t pitch = (size_t)2 * WIDTH * triangles; /* from one row to the next */
    GLOBAL real_type *own = scratch + block[3], *entries = out + (size_t)PARTS * block[2];
    for (int k = t; k < m * triangles; k += GROUP_SIZE) {
        int i = k / triangles;
        add_triangle(row_numbers, row_integers, column_numbers, column_integers, first + i, c, k % triangles, triangles,
                     1, scalars, skips, 1, own + i * pitch);
    }
    WIDE_BARRIER;
    for (int k = t; k < m * n; k += GROUP_SIZE) {
        int i = k / n, j = k % n, end = starts[first + i + 1];
        real_type re, im;
        gather_entry(column_integers, c, j, triangles, own + i * pitch, &re, &im);
        int at = first_at_least(indices, starts[first + i], end, low + j);
        if (at < end && indices[at] == low + j) {
            re += values[(size_t)PARTS * at];
#if COMPLEX
            im += values[(size_t)PARTS * at + 1];
#endif
        }
        entries[(size_t)PARTS * k] = re;
#if COMPLEX
        entries[(size_t)PARTS * k + 1] = im;
#endif
    }
}
