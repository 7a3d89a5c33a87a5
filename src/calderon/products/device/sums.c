/* Vectors of an operator on a device, pairs (n, 2) of real and imaginary parts: zeros, and products with sparse matrices.

   REAL: of the entries. VECTOR_REAL: of vectors. */
#include "backends/prelude.h"

typedef VECTOR_REAL vector_type;

KERNEL clear_vector(GLOBAL vector_type *y, int length)
{
    int n = THREAD(0);
    if (n < 2 * length)
        y[n] = 0;
}

/* y += (factor + i factor_i) A x, for y from its element `top` on and x from `left`; a thread takes a row. */
KERNEL add_sparse(GLOBAL const real_type *values, GLOBAL const int *starts, GLOBAL const int *columns, int rows,
                  vector_type factor, vector_type factor_i, GLOBAL const vector_type *x, int left,
                  GLOBAL vector_type *y, int top)
{
    int row = THREAD(0), at = row < rows ? row : rows - 1;
    vector_type re = 0, im = 0;
    for (int n = starts[at]; n < starts[at + 1]; n++) {
        GLOBAL const vector_type *given = x + 2 * ((size_t)left + columns[n]);
        re += values[n] * given[0];
        im += values[n] * given[1];
    }
    if (row < rows) {
        GLOBAL vector_type *own = y + 2 * ((size_t)top + row);
        own[0] += factor * re - factor_i * im;
        own[1] += factor * im + factor_i * re;
    }
}
