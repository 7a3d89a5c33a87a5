/* Dense blocks of an H-matrix, one group of GROUP_SIZE threads a block. ROWS: the file that computes rows of the matrix,
   with COMPLEX numbers or real ones; numbers of the matrix are PARTS reals. */
#include ROWS

typedef SUM_REAL sum_type;

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

/* Sums over the entries of whole rows of the matrix, one group of GROUP_SIZE threads for each row and sum: of their squares,
   then of their products with `count` vectors (count, columns). rows (r, 3): row within its blocks, and the first and the
   end of these in `blocks`, which are those of `dense`, with their entries in `out`. sums (r, 1 + count, 2): real and
   imaginary parts, of type SUM_REAL like the vectors. */
KERNEL row_sums(GLOBAL const int *row_integers, GLOBAL const int *column_integers, GLOBAL const int *blocks,
                GLOBAL const real_type *out, GLOBAL const int *rows, GLOBAL const sum_type *vectors, int count,
                int columns, GLOBAL sum_type *sums)
{
    LOCAL sum_type parts[2 * GROUP_SIZE];
    int t = LOCAL_ID(0), which = GROUP(1);
    GLOBAL const int *row = rows + 3 * GROUP(0);
    GLOBAL const sum_type *vector = vectors + (size_t)columns * (which > 0 ? which - 1 : 0);
    sum_type re = 0, im = 0;
    for (int b = row[1] + t; b < row[2]; b += GROUP_SIZE) {
        GLOBAL const int *block = blocks + 4 * b;
        int n = cluster_size(column_integers, block[1]), low = cluster_first(column_integers, block[1]);
        GLOBAL const real_type *entry = out + PARTS * ((size_t)block[2] + (size_t)row[0] * n);
        for (int j = 0; j < n; j++) {
            sum_type a = entry[PARTS * j];
            re += a * (which ? vector[low + j] : a);
#if COMPLEX
            sum_type b = entry[PARTS * j + 1];
            re += which ? 0 : b * b;
            im += which ? b * vector[low + j] : 0;
#endif
        }
    }
    parts[t] = re;
    parts[GROUP_SIZE + t] = im;
    WIDE_BARRIER;
    for (int half_way = GROUP_SIZE / 2; half_way > 0; half_way /= 2) {
        if (t < half_way) {
            parts[t] += parts[t + half_way];
            parts[GROUP_SIZE + t] += parts[GROUP_SIZE + t + half_way];
        }
        BARRIER;
    }
    if (t == 0) {
        size_t at = (size_t)GROUP(0) * (1 + count) + which;
        sums[2 * at] = parts[0];
        sums[2 * at + 1] = parts[GROUP_SIZE];
    }
}
