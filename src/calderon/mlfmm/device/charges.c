/* Between vectors and charges or fields at points, by sparse maps; the twin of mlfmm/channels.py. Vectors are pairs (n, 2)
   of real and imaginary parts, columns one after the other, `pitch` elements apart; the second number of a group is a
   column. sign: -1 for the conjugate of a vector, else 1.

   REAL: of charges and fields (point, column, rank, components), complex numbers. VECTOR_REAL: of vectors. */
#include "backends/devices/complex.h"

typedef VECTOR_REAL vector_type;

/* Charges of the unknowns unknown[n], n in first[p] .. first[p + 1], times parts (n, width), from component `component` on,
   and times complex weights (rank,); added if `adds`, else others become zero. A thread takes a point. */
KERNEL spread(GLOBAL const int *first, GLOBAL const int *unknown, GLOBAL const real_type *parts, int width, int component,
              GLOBAL const number *weights, int rank, int components, GLOBAL const vector_type *x, int begin, int pitch,
              real_type sign, int points, int columns, int adds, GLOBAL number *charges)
{
    int p = THREAD(0);
    if (p >= points)
        return;
    GLOBAL number *own = charges + ((size_t)p * columns + GROUP(1)) * rank * components;
    for (int n = 0; n < (adds ? 0 : rank * components); n++)
        own[n] = number_of(0, 0);
    for (int c = 0; c < width; c++) {
        number total = number_of(0, 0);
        for (int n = first[p]; n < first[p + 1]; n++) {
            GLOBAL const vector_type *value = x + 2 * ((size_t)GROUP(1) * pitch + begin + unknown[n]);
            number given = number_of((real_type)value[0], sign * (real_type)value[1]);
            total = plus(total, scaled(given, parts[(size_t)n * width + c]));
        }
        for (int q = 0; q < rank; q++) {
            GLOBAL number *to = own + q * components + component + c;
            *to = plus_product(*to, weights[q], total);
        }
    }
}

/* y += (factor + i factor_i) times the transposed of `spread` of fields: of each unknown the entries (point, number) from
   starts[unknown] on. A thread takes an unknown. */
KERNEL gather(GLOBAL const int *starts, GLOBAL const int *entries, GLOBAL const real_type *parts, int width, int component,
              GLOBAL const number *weights, int rank, int components, GLOBAL const number *fields, int unknowns, int columns,
              vector_type factor, vector_type factor_i, real_type sign, GLOBAL vector_type *y, int begin, int pitch)
{
    int u = THREAD(0);
    if (u >= unknowns)
        return;
    number total = number_of(0, 0);
    for (int n = starts[u]; n < starts[u + 1]; n++) {
        GLOBAL const real_type *part = parts + (size_t)entries[2 * n + 1] * width;
        GLOBAL const number *own = fields + ((size_t)entries[2 * n] * columns + GROUP(1)) * rank * components + component;
        for (int q = 0; q < rank; q++) {
            number sum = number_of(0, 0);
            for (int c = 0; c < width; c++)
                sum = plus(sum, scaled(own[q * components + c], part[c]));
            total = plus_product(total, weights[q], sum);
        }
    }
    real_type re = total.re, im = sign * total.im;
    GLOBAL vector_type *to = y + 2 * ((size_t)GROUP(1) * pitch + begin + u);
    to[0] += factor * re - factor_i * im;
    to[1] += factor * im + factor_i * re;
}
