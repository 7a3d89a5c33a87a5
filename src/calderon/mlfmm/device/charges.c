/* Between vectors and charges or fields at points, by sparse maps; the twin of mlfmm/channels.py. Vectors are pairs (n, 2)
   of real and imaginary parts, columns one after the other, `pitch` elements apart; the second number of a group is a
   column. sign: -1 for the conjugate of a vector, else 1.

   REAL: of charges and fields (point, column, rank, components, 2). VECTOR_REAL: of vectors. */
#include "backends/prelude.h"

typedef VECTOR_REAL vector_type;

/* Charges of the unknowns number[n], n in first[p] .. first[p + 1], times parts (n, width), from component `component` on,
   and times complex weights (rank,); added if `adds`, else others become zero. A thread takes a point. */
KERNEL spread(GLOBAL const int *first, GLOBAL const int *number, GLOBAL const real_type *parts, int width, int component,
              GLOBAL const real_type *weights, int rank, int components, GLOBAL const vector_type *x, int begin, int pitch,
              real_type sign, int points, int columns, int adds, GLOBAL real_type *charges)
{
    int p = THREAD(0);
    if (p >= points)
        return;
    GLOBAL real_type *own = charges + ((size_t)p * columns + GROUP(1)) * rank * components * 2;
    if (!adds)
        for (int n = 0; n < rank * components * 2; n++)
            own[n] = R(0.0);
    for (int c = 0; c < width; c++) {
        real_type re = R(0.0), im = R(0.0);
        for (int n = first[p]; n < first[p + 1]; n++) {
            GLOBAL const vector_type *value = x + 2 * ((size_t)GROUP(1) * pitch + begin + number[n]);
            real_type part = parts[(size_t)n * width + c];
            re += part * (real_type)value[0];
            im += part * (real_type)value[1];
        }
        im *= sign;
        for (int q = 0; q < rank; q++) {
            GLOBAL real_type *to = own + 2 * (q * components + component + c);
            to[0] += weights[2 * q] * re - weights[2 * q + 1] * im;
            to[1] += weights[2 * q] * im + weights[2 * q + 1] * re;
        }
    }
}

/* y += (factor + i factor_i) times the transposed of `spread` of fields: of each unknown the entries (point, number) from
   starts[unknown] on. A thread takes an unknown. */
KERNEL gather(GLOBAL const int *starts, GLOBAL const int *entries, GLOBAL const real_type *parts, int width, int component,
              GLOBAL const real_type *weights, int rank, int components, GLOBAL const real_type *fields, int unknowns,
              int columns, vector_type factor, vector_type factor_i, real_type sign, GLOBAL vector_type *y, int begin,
              int pitch)
{
    int u = THREAD(0);
    if (u >= unknowns)
        return;
    real_type re = R(0.0), im = R(0.0);
    for (int n = starts[u]; n < starts[u + 1]; n++) {
        GLOBAL const real_type *part = parts + (size_t)entries[2 * n + 1] * width;
        GLOBAL const real_type *own = fields + ((size_t)entries[2 * n] * columns + GROUP(1)) * rank * components * 2;
        for (int q = 0; q < rank; q++) {
            real_type a = R(0.0), b = R(0.0);
            for (int c = 0; c < width; c++) {
                a += part[c] * own[2 * (q * components + component + c)];
                b += part[c] * own[2 * (q * components + component + c) + 1];
            }
            re += weights[2 * q] * a - weights[2 * q + 1] * b;
            im += weights[2 * q] * b + weights[2 * q + 1] * a;
        }
    }
    im *= sign;
    GLOBAL vector_type *to = y + 2 * ((size_t)GROUP(1) * pitch + begin + u);
    to[0] += factor * re - factor_i * im;
    to[1] += factor * im + factor_i * re;
}

/* Fields of zeros, `width` numbers of each point. */
KERNEL clear_points(GLOBAL real_type *fields, int width, int points)
{
    int p = THREAD(0);
    if (p < points)
        for (int n = 0; n < width; n++)
            fields[(size_t)p * width + n] = R(0.0);
}
