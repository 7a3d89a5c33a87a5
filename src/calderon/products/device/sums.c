/* Vectors of an operator on a device, pairs (n, 2) of real and imaginary parts: zeros, products with sparse matrices, and
   numbers at the places of clusters, each of which has an unknown.

   REAL: of the entries of sparse matrices, and of numbers at places (planes, places): a plane of real parts and one of
   imaginary parts for each vector, or one plane alone of a real vector. VECTOR_REAL: of vectors, `pitch` elements apart. */
#include "backends/prelude.h"

typedef VECTOR_REAL vector_type;

/* Zeros y (rows, width). */
KERNEL clear(GLOBAL real_type *y, int rows, int width)
{
    for (int n = 0; n < (THREAD(0) < rows ? width : 0); n++)
        y[(size_t)THREAD(0) * width + n] = R(0.0);
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

/* out (planes, places): the number of the unknown of each place, of vectors from their element `first` on. sign: of
   imaginary parts. The second number of a group is a plane. */
KERNEL take_places(GLOBAL const vector_type *x, int first, int pitch, vector_type sign, GLOBAL const int *unknowns,
                   int places, GLOBAL real_type *out)
{
    int j = THREAD(0), plane = GROUP(1), part = plane % 2;
    if (j >= places)
        return;
    vector_type value = x[2 * ((size_t)(plane / 2) * pitch + first + unknowns[j]) + part];
    out[(size_t)plane * places + j] = (real_type)(part ? sign * value : value);
}

/* y += (factor + i factor_i) sums, for y from its element `first` on: the sum over the places (starts (unknowns + 1,), order)
   of each unknown; sign: of imaginary parts. A thread takes an unknown, the second number of a group a vector. */
KERNEL add_places(GLOBAL const int *starts, GLOBAL const int *order, int unknowns, GLOBAL const real_type *sums,
                  real_type factor, real_type factor_i, real_type sign, int planes, int places, GLOBAL vector_type *y,
                  int first, int pitch)
{
    int u = THREAD(0), vector = GROUP(1), parts = planes > 1 ? 2 : 1;
    if (u >= unknowns)
        return;
    real_type re = R(0.0), im = R(0.0);
    for (int n = starts[u]; n < starts[u + 1]; n++) {
        size_t j = (size_t)parts * vector * places + order[n], k = j + (parts - 1) * (size_t)places;
        re += sums[j];
        im += sums[k];
    }
    im = parts == 2 ? sign * im : R(0.0);
    GLOBAL vector_type *own = y + 2 * ((size_t)vector * pitch + first + u);
    own[0] += factor * re - factor_i * im;
    own[1] += factor * im + factor_i * re;
}
