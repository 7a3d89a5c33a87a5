/* Vectors of an operator on a device, pairs (n, 2) of real and imaginary parts, and numbers that come from them or are summed
   to them by sparse maps: at the places of clusters, each of which has an unknown, charges and fields at points, the twin of
   mlfmm/channels.py, and products with sparse matrices.

   REAL: of numbers, and of the entries of maps. Those at places (planes, places) are a plane of real parts and one of
   imaginary parts for each vector, or one plane alone of a real vector. VECTOR_REAL: of vectors, `pitch` elements apart. */
#include "backends/devices/complex.h"

typedef VECTOR_REAL vector_type;

/* Zeros y (rows, width). */
KERNEL clear(GLOBAL real_type *y, int rows, int width)
{
    for (int n = 0; n < (THREAD(0) < rows ? width : 0); n++)
        y[(size_t)THREAD(0) * width + n] = R(0.0);
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

/* Charges (point, column, rank, components) of the unknowns unknown[n], n in first[t] .. first[t + 1] for the triangle t of a
   point, which has `inside` points, times values (n, inside, width), from component `component` on, and times complex weights
   (rank,); added if `adds`, else others become zero. A thread takes a point, the second number of a group is a column. */
KERNEL spread(GLOBAL const int *first, GLOBAL const int *unknown, GLOBAL const real_type *values, int inside, int width,
              int component, GLOBAL const number *weights, int rank, int components, GLOBAL const vector_type *x, int begin,
              int pitch, real_type sign, int points, int columns, int adds, GLOBAL number *charges)
{
    int p = THREAD(0), t = p / inside;
    if (p >= points)
        return;
    GLOBAL number *own = charges + ((size_t)p * columns + GROUP(1)) * rank * components;
    for (int n = 0; n < (adds ? 0 : rank * components); n++)
        own[n] = number_of(0, 0);
    for (int c = 0; c < width; c++) {
        number total = number_of(0, 0);
        for (int n = first[t]; n < first[t + 1]; n++) {
            GLOBAL const vector_type *value = x + 2 * ((size_t)GROUP(1) * pitch + begin + unknown[n]);
            number given = number_of((real_type)value[0], sign * (real_type)value[1]);
            total = plus(total, scaled(given, values[((size_t)n * inside + p % inside) * width + c]));
        }
        for (int q = 0; q < rank; q++) {
            GLOBAL number *to = own + q * components + component + c;
            *to = plus_product(*to, weights[q], total);
        }
    }
}

/* y += (factor + i factor_i) sums, for y from its element `first` on: the sum over the entries starts[u] .. starts[u + 1] of
   each unknown, place and, unless `each` is 1, number of its values (n, inside, width), of `inside` numbers each, from `begin`
   on, that are `step` apart, for vectors `apart`, imaginary parts `imag` further, 0 for none. These are multiplied by the
   values, or if there are none (width 0) one number by 1; and by complex weights (rank,) those of each rank, `turn` apart, if
   any, else rank is 0. sign: of imaginary parts. A thread takes an unknown, the second number of a group a vector. */
KERNEL add_sums(GLOBAL const int *starts, GLOBAL const int *entries, int each, int inside, GLOBAL const real_type *values,
                int width, GLOBAL const number *weights, int rank, int turn, int unknowns, GLOBAL const real_type *numbers,
                int begin, int step, int apart, int imag, vector_type factor, vector_type factor_i, real_type sign,
                GLOBAL vector_type *y, int first, int pitch)
{
    int u = THREAD(0);
    if (u >= unknowns)
        return;
    number total = number_of(0, 0);
    for (int m = starts[u]; m < starts[u + 1]; m++)
        for (int j = 0; j < inside; j++) {
            size_t from = (size_t)entries[each * m] * inside + j;
            size_t n = (size_t)(each > 1 ? entries[each * m + 1] : m) * inside + j;
            GLOBAL const real_type *own = numbers + begin + from * step + (size_t)GROUP(1) * apart, *value = values + n * width;
            for (int q = 0; q < (rank ? rank : 1); q++) {
                number sum = number_of(0, 0);
                for (int c = q * turn; c < q * turn + (width ? width : 1); c++) {
                    number given = number_of(own[2 * c], imag ? own[2 * c + imag] : R(0.0));
                    sum = plus(sum, width ? scaled(given, value[c - q * turn]) : given);
                }
                total = rank ? plus_product(total, weights[q], sum) : plus(total, sum);
            }
        }
    real_type re = total.re, im = sign * total.im;
    GLOBAL vector_type *to = y + 2 * ((size_t)GROUP(1) * pitch + first + u);
    to[0] += factor * re - factor_i * im;
    to[1] += factor * im + factor_i * re;
}
