/* One pass of Stockham's transform of complex numbers along one axis, for the prime factor (or 4) RADIX of its length N.

   Arrays are (batch, along the axis, inner), pairs of real and imaginary parts. Before the pass there are transforms of
   `span` numbers each, after it of RADIX span. With j = 0 ... N / RADIX - 1, k = j mod span and w = exp(-2 pi i / N):

       v_q = w^(q k N / (RADIX span)) in[j + q N / RADIX],                          q = 0 ... RADIX - 1
       out[(j - k) RADIX + k + p span] = sum_q w^((p q mod RADIX) N / RADIX) v_q,   p = 0 ... RADIX - 1.

   C. Van Loan, Computational Frameworks for the Fast Fourier Transform (SIAM, 1992), section 1.7. */
#include "backends/prelude.h"

/* given, kept: numbers along the axis that `in` has (further ones are zero) and that `out` takes (further ones are not
   wanted). roots (N, 2): w^n. sign: 1, or -1 for the inverse, which is not divided by N. A thread does one j for one
   place of the batch and within, `count` in all. */
KERNEL fourier_pass(GLOBAL const real_type *in, GLOBAL real_type *out, GLOBAL const real_type *roots, int length,
                    int span, int inner, int given, int kept, real_type sign, int count)
{
    int thread = THREAD(0);
    if (thread >= count)
        return;
    int part = length / RADIX;
    int within = thread % inner, j = thread / inner % part, batch = thread / inner / part;
    int k = j % span;
    real_type re[RADIX], im[RADIX];
    /* numbers a part of the axis apart, times their twiddle factors */
    UNROLL
    for (int q = 0; q < RADIX; q++) {
        int n = j + q * part;
        re[q] = R(0.0);
        im[q] = R(0.0);
        if (n < given) {
            GLOBAL const real_type *own = in + 2 * (((size_t)batch * given + n) * inner + within);
            GLOBAL const real_type *root = roots + 2 * (q * k * (part / span));
            real_type c = root[0], s = sign * root[1];
            re[q] = c * own[0] - s * own[1];
            im[q] = c * own[1] + s * own[0];
        }
    }
    /* their transform of RADIX numbers */
    UNROLL
    for (int p = 0; p < RADIX; p++) {
        int n = (j - k) * RADIX + k + p * span;
        if (n < kept) {
            real_type total = re[0], total_i = im[0];
            UNROLL
            for (int q = 1; q < RADIX; q++) {
                GLOBAL const real_type *root = roots + 2 * (p * q % RADIX * part);
                real_type c = root[0], s = sign * root[1];
                total += c * re[q] - s * im[q];
                total_i += c * im[q] + s * re[q];
            }
            GLOBAL real_type *own = out + 2 * (((size_t)batch * kept + n) * inner + within);
            own[0] = total;
            own[1] = total_i;
        }
    }
}
