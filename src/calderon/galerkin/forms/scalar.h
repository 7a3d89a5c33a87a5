/* The local matrix of a pair of triangles from its moments; the twin of `scatter_kernel` in touching_pairs.py.

   TESTS, TRIALS: local functions. CURLS: integrated by parts. COMPLEX: moments have imaginary parts. OUT_COMPLEX: so
   have entries. coefficients: Re and Im of alpha, Re and Im of the mass coefficient. */
#include "backends/prelude.h"

/* Entry (a, b): mass cosine m_ab, and with CURLS alpha curl_a . curl_b total, total the sum of all moments. */
DEVICE void entry(real_type m, real_type mi, real_type cosine, real_type product, real_type total, real_type total_i,
                  GLOBAL const real_type *coefficients, real_type *re, real_type *im)
{
    real_type x = cosine * m, y = cosine * mi;
    *re = coefficients[2] * x - coefficients[3] * y;
    *im = coefficients[2] * y + coefficients[3] * x;
#if CURLS
    x = product * total;
    y = product * total_i;
    *re += coefficients[0] * x - coefficients[1] * y;
    *im += coefficients[0] * y + coefficients[1] * x;
#endif
}

/* Where entry (a, b) of the pair (i, j) stands among the local matrices of a tile with `count` trial triangles. */
DEVICE size_t place_of(int i, int j, int a, int b, int count)
{
    return ((size_t)(i * TESTS + a) * TRIALS + b) * count + j;
}
