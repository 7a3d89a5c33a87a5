/* Entries of one function with a cluster of others, in rows and in columns of a matrix. FORM says what a function sends to a
   point (SENT numbers), what is kept of it by a triangle that receives it (RECEIVED) and what the entries are. The
   components of rows have no monomials: these are among the NODE numbers of the form (`node_of`). POINTS, NODES_...: see
   distant.h. The tables of both sides are described in cluster_tables.py. */
#include GREEN
#include FORM
#include "galerkin/forms/component.h"
#include "galerkin/device/distant.h"
#include "galerkin/rows/cluster_tables.h"

#ifndef NODE_COMPONENT /* which component the number k of `node_of` is a factor of */
#define NODE_COMPONENT(k) 0
#endif

/* The record of the triangle at place e of the fixed side of `add_triangle`, and whether its rule is that of `zone`: 1 if it
   is distant. */
#define FIXED(e) (x + near[SIDE_RECORDS] + (size_t)near[SIDE_LENGTH] * item(near, SIDE_TRIANGLES, e))
#if ZONES
#define AT_ZONE(e, zone) \
    ((e < begin + 32 ? (int)(apart >> (e - begin) & 1u) : is_distant(FIXED(e), other, tiny)) == (zone))
#else
#define AT_ZONE(e, zone) 1
#endif

/* Whether the triangle with record `fixed` and the one whose last nodes are `other` are distant. */
DEVICE int is_distant(GLOBAL const real_type *fixed, const real_type *other, real_type tiny)
{
    real_type own[FAR_NUMBERS];
    for (int n = 0; n < FAR_NUMBERS; n++)
        own[n] = fixed[FAR_FIRST + n];
    return are_distant(own, other, tiny);
}

/* The normals m and n of the test and of the trial triangle, zeros where none is read. */
DEVICE void pair_normals(GLOBAL const real_type *fixed, GLOBAL const real_type *varying, int tests_fixed, real_type *m,
                         real_type *n)
{
    for (int c = 0; c < 3; c++) {
        m[c] = n[c] = R(0.0);
#if READS_TEST || READS_TRIAL /* d is taken from the varying to the fixed point: in columns it has the other sign */
        m[c] = tests_fixed ? fixed[ROW_NORMAL + c] : -varying[ROW_NORMAL + c];
        n[c] = tests_fixed ? varying[ROW_NORMAL + c] : -fixed[ROW_NORMAL + c];
#endif
    }
}

/* What triangle number k of a cluster of the varying side (y) adds to the entries of its local functions with the
   function at `position` of the fixed side (x): real and imaginary part of local function f go to out[2 f count + k] and
   out[(2 f + 1) count + k], the latter where there are any. tests_fixed: whether the fixed side is that of the test
   functions. masked: leave out triangle pairs (t, s) with s among skips[skips[t]] .. skips[skips[t + 1] - 1], t of the fixed
   side. scalars: as SCALARS says. */
DEVICE void add_triangle(GLOBAL const real_type *x, GLOBAL const int *near, GLOBAL const real_type *y,
                         GLOBAL const int *index, int position, int cluster, int k, int count, int tests_fixed,
                         GLOBAL const real_type *scalars, GLOBAL const int *skips, int masked,
                         GLOBAL real_type *out)
{
    int triangle = triangle_of(index, cluster, k);
    GLOBAL const real_type *varying = y + index[SIDE_RECORDS] + (size_t)index[SIDE_LENGTH] * triangle;
    int begin = item(near, SIDE_STARTS, position), end = item(near, SIDE_STARTS, position + 1);
    int functions = index[SIDE_FUNCTIONS], fixed_functions = near[SIDE_FUNCTIONS];
    unsigned int bits = masked ? listed_first(near, skips, begin, end, triangle) : 0u;
    real_type tiny = scalars[SCALARS_TINY], parameters[PARAMETERS + 1], received[PARTS * RECEIVED];
    read_parameters(scalars + SCALARS_PARAMETERS, parameters);
    UNROLL
    for (int n = 0; n < PARTS * RECEIVED; n++)
        received[n] = R(0.0);
#if ZONES
    unsigned int apart = 0u; /* which of the first 32 fixed triangles are distant, as bits */
    real_type other[FAR_NUMBERS];
    for (int n = 0; n < FAR_NUMBERS; n++)
        other[n] = varying[FAR_FIRST + n];
    NO_UNROLL
    for (int e = begin; e < end && e < begin + 32; e++)
        apart |= (unsigned int)is_distant(FIXED(e), other, tiny) << (e - begin);
#endif
#if SERIES
    NO_UNROLL
    for (int e = begin; e < end; e++) {
        GLOBAL const real_type *fixed = FIXED(e);
        int function = item(near, SIDE_LOCALS, e);
        real_type own[FAR_NUMBERS], m[3], n[3], means[3];
        if (!AT_ZONE(e, 1))
            continue;
        for (int n = 0; n < FAR_NUMBERS; n++)
            own[n] = fixed[FAR_FIRST + n];
        pair_normals(fixed, varying, tests_fixed, m, n);
        series(own, other, SERIES > 1 ? function : 0, m, n, parameters, tiny, means);
        UNROLL
        for (int b = 0; b < SERIES_FUNCTIONS; b++) { /* as if there were one point for each function */
            real_type sums[PARTS * NODE], sent[PARTS * SENT];
            for (int n = 0; n < PARTS * NODE; n++)
                sums[n] = means[b];
            for (int n = 0; n < PARTS * SENT; n++)
                sent[n] = R(0.0);
            send(fixed, function, varying, R(1.0), sums, sent);
            receive(y, varying, functions, USUAL_POINTS + b, sent, received);
        }
    }
#endif
    NO_UNROLL
    for (int q = 0; q < (SERIES ? USUAL_POINTS : POINTS); q++) {
        real_type at[3] = {varying[3 * q], varying[3 * q + 1], varying[3 * q + 2]}, sent[PARTS * SENT];
        int zone = q >= USUAL_POINTS, first = zone ? USUAL_POINTS : 0, last = zone ? POINTS : USUAL_POINTS;
        for (int n = 0; n < PARTS * SENT; n++)
            sent[n] = R(0.0);
        NO_UNROLL
        for (int e = begin; e < end; e++) {
            GLOBAL const real_type *fixed = FIXED(e);
            int function = item(near, SIDE_LOCALS, e);
            real_type kept = masked && left_out(near, skips, begin, e, triangle, bits) ? R(0.0) : R(1.0);
            if (!AT_ZONE(e, zone))
                continue;
            real_type sums[PARTS * NODE], m[3], n[3];
            pair_normals(fixed, varying, tests_fixed, m, n);
            UNROLL
            for (int k = 0; k < PARTS * NODE; k++)
                sums[k] = R(0.0);
            NO_UNROLL
            for (int p = first; p < last; p++) {
                real_type d[3] = {fixed[3 * p] - at[0], fixed[3 * p + 1] - at[1], fixed[3 * p + 2] - at[2]};
                real_type value[PARTS * COMPONENTS], node[NODE];
                component_values(d, m, n, parameters, tiny, value);
                node_of(x, fixed, function, fixed_functions, p, d, m, n, tests_fixed, node);
                UNROLL
                for (int k = 0; k < NODE; k++)
                    UNROLL
                    for (int part = 0; part < PARTS; part++)
                        sums[part * NODE + k] += node[k] * value[part * COMPONENTS + NODE_COMPONENT(k)];
            }
            send(fixed, function, varying, kept, sums, sent);
        }
        receive(y, varying, functions, q, sent, received);
    }
    for (int f = 0; f < MOST_FUNCTIONS(functions); f++) {
        real_type re, im;
        entry_of(varying, f, functions, received, scalars + SCALARS_ALPHA, &re, &im);
        if (f < functions) {
            out[(size_t)2 * f * count + k] = re;
#if COMPLEX
            out[((size_t)2 * f + 1) * count + k] = im;
#endif
        }
    }
}
