/* Dense blocks of an H-matrix, one group of GROUP_SIZE threads a block. ROWS: the file that computes rows of the matrix,
   with COMPLEX numbers or real ones; numbers of the matrix are PARTS reals. */
#include ROWS
#include "backends/devices/complex.h"
#include "backends/devices/group_sum.h"
#include "galerkin/rows/special.h"

/* blocks (b, 4): row cluster, column cluster, where in `out` its numbers go, row by row, and where in `scratch` its memory
   is: 2 WIDTH reals for each row and each triangle of the columns. */
KERNEL dense(GLOBAL const real_type *row_numbers, GLOBAL const int *row_integers, GLOBAL const real_type *column_numbers,
             GLOBAL const int *column_integers, GLOBAL const real_type *scalars, SPECIAL_PAIRS, GLOBAL const int *blocks,
             GLOBAL real_type *scratch, GLOBAL real_type *out)
{
    int t = LOCAL_ID(0);
    GLOBAL const int *block = blocks + 4 * GROUP(0);
    int r = block[0], c = block[1], m = cluster_size(row_integers, r), n = cluster_size(column_integers, c);
    int first = cluster_first(row_integers, r), triangles = cluster_triangles(column_integers, c);
    size_t pitch = (size_t)2 * WIDTH * triangles; /* from one row to the next */
    GLOBAL real_type *own = scratch + block[3], *entries = out + (size_t)PARTS * block[2];
    for (int k = t; k < m * triangles; k += GROUP_SIZE) {
        int i = k / triangles, s = k % triangles;
        add_triangle(row_numbers, row_integers, column_numbers, column_integers, first + i, c, s, triangles, 1, scalars,
                     skips, 1, own + i * pitch);
        add_special(THESE_PAIRS, row_integers, column_integers, first + i, c, s, triangles, own + i * pitch);
    }
    WIDE_BARRIER;
    for (int k = t; k < m * n; k += GROUP_SIZE) {
        real_type re, im;
        gather_entry(column_integers, c, k % n, triangles, own + k / n * pitch, &re, &im);
        write_number(number_of(re, im), entries + (size_t)PARTS * k);
    }
}

/* The column of the largest entry of the local matrices of the pairs of a place of the rows; -1 for none. */
DEVICE int largest_column(SPECIAL_PAIRS, GLOBAL const int *near, GLOBAL const int *index, int e)
{
    int t = item(near, SIDE_TRIANGLES, e), found = -1;
    real_type most = R(-1.0);
    for (int at = skips[t]; at < skips[t + 1]; at++)
        for (int b = 0; b < WIDTH; b++) {
            real_type re = R(0.0), im = R(0.0);
            int column = item(index, SIDE_PLACES, skips[at] * WIDTH + b);
            add_local(THESE_PAIRS, at, item(near, SIDE_LOCALS, e), b, &re, &im);
            if (column >= 0 && re * re + im * im > most) {
                most = re * re + im * im;
                found = column;
            }
        }
    return found;
}

/* largest (rows,): about the largest absolute value of an entry of touching and near pairs in each row: of those where local
   matrices are largest. */
KERNEL largest_special(GLOBAL const int *row_integers, GLOBAL const int *column_integers, SPECIAL_PAIRS, int rows,
                       GLOBAL real_type *largest)
{
    int row = THREAD(0);
    if (row >= rows)
        return;
    int begin = item(row_integers, SIDE_STARTS, row), end = item(row_integers, SIDE_STARTS, row + 1);
    real_type most = R(0.0);
    for (int e = begin; e < end; e++) {
        int column = largest_column(THESE_PAIRS, row_integers, column_integers, e);
        real_type re = R(0.0), im = R(0.0);
        for (int f = begin; f < (column < 0 ? begin : end); f++) {
            int t = item(row_integers, SIDE_TRIANGLES, f);
            for (int at = skips[t]; at < skips[t + 1]; at++)
                for (int b = 0; b < WIDTH; b++)
                    if (item(column_integers, SIDE_PLACES, skips[at] * WIDTH + b) == column)
                        add_local(THESE_PAIRS, at, item(row_integers, SIDE_LOCALS, f), b, &re, &im);
        }
        most = fmax(most, re * re + im * im);
    }
    largest[row] = sqrt(most);
}

/* found (b,): set to 1 where blocks (b, 2), row and column clusters, have touching or near pairs of triangles; one group of
   GROUP_SIZE threads for each block. */
KERNEL special_inside(GLOBAL const int *row_integers, GLOBAL const int *column_integers, GLOBAL const int *skips,
                      GLOBAL const int *blocks, GLOBAL int *found)
{
    int r = blocks[2 * GROUP(0)], c = blocks[2 * GROUP(0) + 1];
    int rows = cluster_triangles(row_integers, r), columns = cluster_triangles(column_integers, c);
    for (int k = LOCAL_ID(0); k < rows; k += GROUP_SIZE) {
        int t = triangle_of(row_integers, r, k), low = triangle_of(column_integers, c, 0), begin = skips[t];
        int high = triangle_of(column_integers, c, columns - 1);
        /* from the last one that is below those of the columns, or the first one of all */
        for (int at = begin + last_at_most(skips + begin, 1, skips[t + 1] - begin, low - 1); at < skips[t + 1]; at++) {
            int s = skips[at], inside = s >= low && s <= high;
            if (inside && !column_integers[SIDE_OWN]) {
                GLOBAL const int *list = &column_integers[column_integers[SIDE_LISTS] + item(column_integers, SIDE_LIST_STARTS, c)];
                inside = list[last_at_most(list, 1, columns, s)] == s;
            }
            if (inside)
                found[GROUP(0)] = 1;
            if (s > high)
                break;
        }
    }
}

/* Sums over the entries of whole rows of the matrix, one group of GROUP_SIZE threads for each row and sum: of their squares,
   then of their products with `count` vectors (count, columns). rows (r, 3): row within its blocks, and the first and the
   end of these in `blocks`, which are those of `dense`, with their entries in `out`. sums (r, 1 + count, 2): real and
   imaginary parts, of type WIDE_REAL like the vectors. */
KERNEL row_sums(GLOBAL const int *row_integers, GLOBAL const int *column_integers, GLOBAL const int *blocks,
                GLOBAL const real_type *out, GLOBAL const int *rows, GLOBAL const wide_real *vectors, int count,
                int columns, GLOBAL wide_real *sums)
{
    LOCAL wide_real parts[2 * GROUP_SIZE];
    int t = LOCAL_ID(0), which = GROUP(1);
    GLOBAL const int *row = rows + 3 * GROUP(0);
    GLOBAL const wide_real *vector = vectors + (size_t)columns * (which > 0 ? which - 1 : 0);
    number total = number_of(0, 0);
    for (int b = row[1] + t; b < row[2]; b += GROUP_SIZE) {
        GLOBAL const int *block = blocks + 4 * b;
        int n = cluster_size(column_integers, block[1]), low = cluster_first(column_integers, block[1]);
        GLOBAL const real_type *entry = out + PARTS * ((size_t)block[2] + (size_t)row[0] * n);
        for (int j = 0; j < n; j++) {
            number a = read_number(entry + PARTS * j);
            total = plus(total, which ? scaled(a, vector[low + j]) : number_of(square(a), 0));
        }
    }
    keep_part(total, parts);
    SUM_OVER_THREADS(parts, GROUP_SIZE, 2, GROUP_SIZE);
    if (t < 2)
        sums[2 * ((size_t)GROUP(0) * (1 + count) + which) + t] = parts[t * GROUP_SIZE];
}
