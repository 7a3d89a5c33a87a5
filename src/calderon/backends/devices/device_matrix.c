/* A dense matrix on a device, or the basis of a Krylov space: products with it, and what is added to it. Entries stand row
   by row and may be more than 2^31. One group of GROUP_SIZE threads takes a row, unless said otherwise.

   MATRIX_COMPLEX: whether entries are complex. VECTOR_REAL: type of vectors, which are complex always, (n, 2). */
#include "backends/devices/group_sum.h"

typedef VECTOR_REAL vector_type;

#define PARTS (MATRIX_COMPLEX ? 2 : 1)

/* total += the entry at `place`, or its conjugate, times the complex number x (2,). */
DEVICE void add_entry_times(GLOBAL const real_type *matrix, size_t place, int conjugate, GLOBAL const vector_type *x,
                            vector_type *total, vector_type *total_i)
{
    vector_type a = matrix[PARTS * place];
    *total += a * x[0];
    *total_i += a * x[1];
#if MATRIX_COMPLEX
    vector_type b = matrix[2 * place + 1];
    b = conjugate ? -b : b;
    *total -= b * x[1];
    *total_i += b * x[0];
#endif
}

/* y (rows, 2) = A x or, with `conjugate`, conj(A) x; x (columns, 2) begins at number `first` of its array. */
KERNEL rows_times(GLOBAL const real_type *matrix, GLOBAL const vector_type *x, int first, int columns, int conjugate,
                  GLOBAL vector_type *y)
{
    LOCAL vector_type sums[2 * GROUP_SIZE];
    int t = LOCAL_ID(0);
    size_t row = GROUP(0);
    vector_type total = 0, total_i = 0;
    for (int c = t; c < columns; c += GROUP_SIZE)
        add_entry_times(matrix, row * columns + c, conjugate, x + 2 * ((size_t)first + c), &total, &total_i);
    sums[t] = total;
    sums[GROUP_SIZE + t] = total_i;
    SUM_OVER_THREADS(sums, GROUP_SIZE, 2, GROUP_SIZE);
    if (t < 2)
        y[2 * row + t] = sums[t * GROUP_SIZE];
}

/* y (columns, 2) = A^T x or, with `conjugate`, A^* x, added to y if `adds`; y begins at number `first` of its array. One
   thread takes a column. */
KERNEL columns_times(GLOBAL const real_type *matrix, GLOBAL const vector_type *x, int rows, int columns, int conjugate,
                     int adds, int first, GLOBAL vector_type *y)
{
    int c = THREAD(0);
    if (c >= columns)
        return;
    size_t place = (size_t)first + c;
    vector_type total = adds ? y[2 * place] : (vector_type)0, total_i = adds ? y[2 * place + 1] : (vector_type)0;
    for (int r = 0; r < rows; r++)
        add_entry_times(matrix, (size_t)r * columns + c, conjugate, x + 2 * r, &total, &total_i);
    y[2 * place] = total;
    y[2 * place + 1] = total_i;
}

/* sums (rows,) of the absolute values of each row, or of their squares. */
KERNEL absolute_sums(GLOBAL const real_type *matrix, int columns, int squares, GLOBAL vector_type *sums)
{
    LOCAL vector_type parts[GROUP_SIZE];
    int t = LOCAL_ID(0);
    size_t row = GROUP(0);
    vector_type total = 0;
    for (int c = t; c < columns; c += GROUP_SIZE) {
        size_t place = PARTS * (row * columns + c);
        vector_type a = matrix[place], b = 0;
#if MATRIX_COMPLEX
        b = matrix[place + 1];
#endif
        total += squares ? a * a + b * b : sqrt(a * a + b * b);
    }
    parts[t] = total;
    SUM_OVER_THREADS(parts, GROUP_SIZE, 1, GROUP_SIZE);
    if (t == 0)
        sums[row] = parts[0];
}

KERNEL clear(GLOBAL real_type *matrix, int columns)
{
    size_t row = GROUP(0);
    for (int c = LOCAL_ID(0); c < PARTS * columns; c += GROUP_SIZE)
        matrix[PARTS * row * columns + c] = R(0.0);
}

/* Entries (rows, width) times the complex number factor (2,), added from row `top` and column `left` on: those of a block
   (form 0), of its transposed (1) or adjoint (2), the block then being (width, rows). */
KERNEL add_block(GLOBAL const real_type *block, GLOBAL const real_type *factor, int rows, int width, int form, int top,
                 int left, int columns, GLOBAL real_type *matrix)
{
    size_t row = GROUP(0);
    for (int c = LOCAL_ID(0); c < width; c += GROUP_SIZE) {
        size_t from = PARTS * (form ? (size_t)c * rows + row : row * width + c);
        size_t to = PARTS * ((top + row) * columns + left + c);
        real_type a = block[from];
#if MATRIX_COMPLEX
        real_type b = form == 2 ? -block[from + 1] : block[from + 1];
        matrix[to] += factor[0] * a - factor[1] * b;
        matrix[to + 1] += factor[0] * b + factor[1] * a;
#else
        matrix[to] += factor[0] * a;
#endif
    }
}

/* values (number, 2) = the entries `rows`, `places`. One thread takes a value. */
KERNEL take_entries(GLOBAL const real_type *matrix, GLOBAL const int *rows, GLOBAL const int *places, int number,
                    int columns, GLOBAL real_type *values)
{
    int n = THREAD(0);
    if (n >= number)
        return;
    size_t from = PARTS * ((size_t)rows[n] * columns + places[n]);
    values[2 * n] = matrix[from];
    values[2 * n + 1] = MATRIX_COMPLEX ? matrix[from + PARTS - 1] : R(0.0);
}

/* values (number, 2) added to the entries `rows`, `places`, no two of which are one. One thread takes a value. */
KERNEL add_entries(GLOBAL const real_type *values, GLOBAL const int *rows, GLOBAL const int *places, int number,
                   int columns, GLOBAL real_type *matrix)
{
    int n = THREAD(0);
    if (n >= number)
        return;
    size_t to = PARTS * ((size_t)rows[n] * columns + places[n]);
    matrix[to] += values[2 * n];
#if MATRIX_COMPLEX
    matrix[to + 1] += values[2 * n + 1];
#endif
}

/* The columns left .. left + width of the rows from `top` on, times the complex numbers factors (width, 2). */
KERNEL scale_columns(GLOBAL const real_type *factors, int width, int top, int left, int columns, GLOBAL real_type *matrix)
{
    size_t row = GROUP(0);
    for (int c = LOCAL_ID(0); c < width; c += GROUP_SIZE) {
        size_t to = PARTS * ((top + row) * columns + left + c);
        real_type a = matrix[to];
#if MATRIX_COMPLEX
        real_type b = matrix[to + 1];
        matrix[to] = factors[2 * c] * a - factors[2 * c + 1] * b;
        matrix[to + 1] = factors[2 * c] * b + factors[2 * c + 1] * a;
#else
        matrix[to] = factors[2 * c] * a;
#endif
    }
}

/* S + S^T replaces the square S of `size` rows at row `top` and column `left`; a thread takes an entry below the
   diagonal and its mirror image, in groups of (SQUARE, SQUARE), which turn theirs round in local memory. */
KERNEL symmetrise(int size, int top, int left, int columns, GLOBAL real_type *matrix)
{
    LOCAL real_type below[SQUARE * (SQUARE + 1) * PARTS], above[SQUARE * (SQUARE + 1) * PARTS];
    int u = LOCAL_ID(0), v = LOCAL_ID(1), r0 = GROUP(1) * SQUARE, c0 = GROUP(0) * SQUARE;
    int is_below = c0 <= r0;
    /* rows r0 + v, columns c0 + u of the square below the diagonal; rows c0 + v, columns r0 + u of the one above */
    int in_below = is_below && r0 + v < size && c0 + u < size, in_above = is_below && c0 + v < size && r0 + u < size;
    size_t one = PARTS * ((size_t)(top + r0 + v) * columns + left + c0 + u);
    size_t two = PARTS * ((size_t)(top + c0 + v) * columns + left + r0 + u);
    int here = PARTS * (v * (SQUARE + 1) + u), there = PARTS * (u * (SQUARE + 1) + v);
    for (int p = 0; p < PARTS; p++) {
        below[here + p] = in_below ? matrix[one + p] : R(0.0);
        above[here + p] = in_above ? matrix[two + p] : R(0.0);
    }
    BARRIER;
    for (int p = 0; p < PARTS; p++) {
        if (in_below)
            matrix[one + p] = below[here + p] + above[there + p];
        if (in_above && r0 != c0)
            matrix[two + p] = above[here + p] + below[there + p];
    }
}
