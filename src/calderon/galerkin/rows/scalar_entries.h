/* Entries of one function with a cluster of others; the twin of scalar_entries.py, whose two tables of a side (cluster_tables.py) it
   reads. TESTS, TRIALS: local functions. POINTS: of a triangle. NORMAL: 0 none, 1 that of the test side, 2 that of the
   trial side. CURLS: integrated by parts. */
#include GREEN
#include "galerkin/forms/scalar.h"
#include "galerkin/rows/cluster_tables.h"

#define LOCALS_AT_MOST (TESTS > TRIALS ? TESTS : TRIALS)

/* What triangle number k of a cluster of the varying side (y) adds to the entries of its local functions with the
   function at `position` of the fixed side (x): real and imaginary part of local function f go to out[2 f count + k] and
   out[(2 f + 1) count + k], the latter where there are any. tests_fixed: whether the fixed side is that of the test
   functions. masked: leave out triangle pairs (t, s) with s among skips[skips[t]] .. skips[skips[t + 1] - 1], t of the fixed
   side. scalars: p0, p1, tiny, coefficients as in scalar.h. */
DEVICE void add_triangle(GLOBAL const real_type *x, GLOBAL const int *near, GLOBAL const real_type *y,
                         GLOBAL const int *index, int position, int cluster, int k, int count, int tests_fixed,
                         GLOBAL const real_type *scalars, GLOBAL const int *skips, int masked,
                         GLOBAL real_type *out)
{
    int functions = tests_fixed ? TRIALS : TESTS, fixed_functions = tests_fixed ? TESTS : TRIALS;
    int triangle = index[SIDE_OWN] ? cluster_first(index, cluster) + k
                                   : item(index, SIDE_LISTS, item(index, SIDE_LIST_STARTS, cluster) + k);
    GLOBAL const real_type *varying = y + index[SIDE_RECORDS] + (size_t)index[SIDE_LENGTH] * triangle;
    int begin = item(near, SIDE_STARTS, position), end = item(near, SIDE_STARTS, position + 1);
    unsigned int bits = masked ? listed_first(near, skips, begin, end, triangle) : 0u;
    real_type p0 = scalars[0], p1 = scalars[1], tiny = scalars[2], sums[LOCALS_AT_MOST];
#if COMPLEX
    real_type sums_i[LOCALS_AT_MOST];
#endif
    for (int f = 0; f < LOCALS_AT_MOST; f++) {
        sums[f] = R(0.0);
#if COMPLEX
        sums_i[f] = R(0.0);
#endif
    }
    real_type m0 = varying[3 * POINTS + 3], m1 = varying[3 * POINTS + 4], m2 = varying[3 * POINTS + 5];
#if CURLS
    real_type c0 = R(0.0), c1 = R(0.0), c2 = R(0.0), h0 = R(0.0), h1 = R(0.0), h2 = R(0.0);
#endif
    NO_UNROLL
    for (int q = 0; q < POINTS; q++) {
        real_type y0 = varying[3 * q], y1 = varying[3 * q + 1], y2 = varying[3 * q + 2], s = R(0.0), si = R(0.0);
#if CURLS
        real_type measure = y[functions * POINTS + q];
#endif
        NO_UNROLL
        for (int e = begin; e < end; e++) {
            GLOBAL const real_type *fixed =
                x + near[SIDE_RECORDS] + (size_t)near[SIDE_LENGTH] * item(near, SIDE_TRIANGLES, e);
            int function = item(near, SIDE_LOCALS, e);
            GLOBAL const real_type *weights = x + function * POINTS;
            real_type n0 = fixed[3 * POINTS + 3], n1 = fixed[3 * POINTS + 4], n2 = fixed[3 * POINTS + 5];
            int skip = masked && left_out(near, skips, begin, e, triangle, bits);
            real_type jacobian = skip ? R(0.0) : fixed[3 * POINTS + 6], sum = R(0.0), sum_i = R(0.0);
#if CURLS
            real_type every = R(0.0), every_i = R(0.0);
#elif NORMAL
            int of_fixed = tests_fixed == (NORMAL == 1);
            n0 = of_fixed ? n0 : -m0;
            n1 = of_fixed ? n1 : -m1;
            n2 = of_fixed ? n2 : -m2;
#endif
            NO_UNROLL
            for (int p = 0; p < POINTS; p++) {
                real_type d0 = fixed[3 * p] - y0, d1 = fixed[3 * p + 1] - y1, d2 = fixed[3 * p + 2] - y2;
                real_type g, gi, h, hi;
                green(d0 * d0 + tiny + d1 * d1 + d2 * d2, p0, p1, &g, &gi, &h, &hi);
#if NORMAL
                real_type offset = d0 * n0 + d1 * n1 + d2 * n2;
                g = h * offset;
                gi = hi * offset;
#endif
                sum += weights[p] * g;
#if COMPLEX
                sum_i += weights[p] * gi;
#endif
#if CURLS
                every += x[fixed_functions * POINTS + p] * g;
#if COMPLEX
                every_i += x[fixed_functions * POINTS + p] * gi;
#endif
#endif
            }
#if CURLS
            real_type cosine = jacobian * (n0 * m0 + n1 * m1 + n2 * m2), weight = jacobian * measure;
            GLOBAL const real_type *curl = fixed + 3 * POINTS + 7 + 3 * function;
            s += cosine * sum;
            c0 += weight * curl[0] * every;
            c1 += weight * curl[1] * every;
            c2 += weight * curl[2] * every;
#if COMPLEX
            si += cosine * sum_i;
            h0 += weight * curl[0] * every_i;
            h1 += weight * curl[1] * every_i;
            h2 += weight * curl[2] * every_i;
#endif
#else
            s += jacobian * sum;
#if COMPLEX
            si += jacobian * sum_i;
#endif
#endif
        }
        for (int f = 0; f < LOCALS_AT_MOST; f++) {
            int some = f < functions;
            real_type weight = some ? y[(some ? f : 0) * POINTS + q] : R(0.0);
            sums[f] += weight * s;
#if COMPLEX
            sums_i[f] += weight * si;
#endif
        }
    }
    real_type jacobian = varying[3 * POINTS + 6];
    for (int f = 0; f < LOCALS_AT_MOST; f++) {
        real_type total = R(0.0), total_i = R(0.0), sum_i = R(0.0), re, im;
#if COMPLEX
        sum_i = jacobian * sums_i[f];
#endif
#if CURLS
        GLOBAL const real_type *curl = varying + 3 * POINTS + 7 + 3 * f;
        if (f < functions) {
            total = jacobian * (curl[0] * c0 + curl[1] * c1 + curl[2] * c2);
            total_i = jacobian * (curl[0] * h0 + curl[1] * h1 + curl[2] * h2);
        }
#endif
        entry(jacobian * sums[f], sum_i, R(1.0), R(1.0), total, total_i, scalars + 3, &re, &im);
        if (f < functions) {
            out[(size_t)2 * f * count + k] = re;
#if COMPLEX
            out[((size_t)2 * f + 1) * count + k] = im;
#endif
        }
    }
}
