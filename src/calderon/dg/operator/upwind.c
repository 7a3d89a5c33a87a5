/* A stage of a Runge-Kutta method with the upwind flux: the twin of upwind.py.

   OWN_IS_SHARED: 1 if the values of a block fit into the memory of a group in addition to the jumps of both fields. */
#if OWN_IS_SHARED
#define OWN SHARED
#else
#define OWN GLOBAL
#endif
#include "dg/operator/curl.h"

/* residual = a residual + gain metric . c; target = field + b residual, at one node; metric strides by LANES. The residual
   is not read where a = 0, in the first stage of a step, and not written unless `keeps`, in the last one. */
DEVICE void staged(GLOBAL real_type *target, GLOBAL const real_type *field, GLOBAL real_type *residual, real_type a,
                   real_type b, int keeps, real_type gain, GLOBAL const real_type *g, size_t at, const real_type *c)
{
    real_type c1 = gain * c[0], c2 = gain * c[1], c3 = gain * c[2];
    size_t next = (size_t)SIZE * LANES;
    real_type r1 = g[0] * c1 + g[LANES] * c2 + g[2 * LANES] * c3;
    real_type r2 = g[LANES] * c1 + g[3 * LANES] * c2 + g[4 * LANES] * c3;
    real_type r3 = g[2 * LANES] * c1 + g[4 * LANES] * c2 + g[5 * LANES] * c3;
    if (a != R(0.0)) {
        r1 += a * residual[at];
        r2 += a * residual[at + next];
        r3 += a * residual[at + 2 * next];
    }
    if (keeps) {
        residual[at] = r1;
        residual[at + next] = r2;
        residual[at + 2 * next] = r3;
    }
    target[at] = field[at] + b * r1;
    target[at + next] = field[at + next] + b * r2;
    target[at + 2 * next] = field[at + 2 * next] + b * r3;
}

/* One stage of both fields: one group of threads a block, from block `first` on. codes: 4 (number of the element
   across) + its face, or -1 - number of a face with a condition; the ghost trace is row rows[number] of ghosts (rows, 2,
   FACE_SIZE), or the own trace times factors[number] where it is negative. riemann (blocks, 4, 5, LANES), metric
   (blocks, 6, LANES), gains (blocks, 2, LANES) of E and of H; volume, lift: see curl.h; keeps: see `staged`. */
KERNEL stage(int first, GLOBAL real_type *new_e, GLOBAL real_type *new_h, GLOBAL const real_type *e,
             GLOBAL const real_type *h, GLOBAL real_type *residual_e, GLOBAL real_type *residual_h, real_type a,
             real_type b, int keeps, GLOBAL const int *rows, GLOBAL const real_type *factors_e, GLOBAL const real_type *factors_h,
             GLOBAL const real_type *ghosts_e, GLOBAL const real_type *ghosts_h, GLOBAL const int *codes,
             GLOBAL const int *nodes, GLOBAL const real_type *metric, GLOBAL const real_type *gains,
             GLOBAL const real_type *riemann, GLOBAL const quad_type *volume, GLOBAL const quad_type *lift)
{
    LOCAL real_type jumps_e[TRACES], jumps_h[TRACES];
#if OWN_IS_SHARED
    LOCAL real_type own[FIELD];
#endif
    int block = first + GROUP(0), t = LOCAL_ID(0), lane = t % LANES, row = t / LANES;
    size_t base = (size_t)block * FIELD;
    for (int n = row; n < 4 * FACE_SIZE; n += ROWS) {
        int face = n / FACE_SIZE, m = n % FACE_SIZE, code = codes[(block * 4 + face) * LANES + lane];
        real_type e1 = trace_of(e, base + lane, nodes, face, m, 0), e2 = trace_of(e, base + lane, nodes, face, m, 1);
        real_type h1 = trace_of(h, base + lane, nodes, face, m, 0), h2 = trace_of(h, base + lane, nodes, face, m, 1);
        int ghost = code < 0 ? rows[-1 - code] : -1;
        if (ghost >= 0) {
            int at = 2 * ghost * FACE_SIZE + m;
            e1 = ghosts_e[at] - e1;
            e2 = ghosts_e[at + FACE_SIZE] - e2;
            h1 = ghosts_h[at] - h1;
            h2 = ghosts_h[at + FACE_SIZE] - h2;
        } else if (code < 0) {
            real_type more_e = factors_e[-1 - code] - R(1.0), more_h = factors_h[-1 - code] - R(1.0);
            e1 *= more_e;
            e2 *= more_e;
            h1 *= more_h;
            h2 *= more_h;
        } else {
            size_t start = start_of(code >> 2);
            e1 = trace_of(e, start, nodes, code & 3, m, 0) - e1;
            e2 = trace_of(e, start, nodes, code & 3, m, 1) - e2;
            h1 = trace_of(h, start, nodes, code & 3, m, 0) - h1;
            h2 = trace_of(h, start, nodes, code & 3, m, 1) - h2;
        }
        GLOBAL const real_type *r = riemann + ((size_t)block * 4 + face) * 5 * LANES + lane;
        real_type share = r[0], weight = r[LANES], r11 = r[2 * LANES], r12 = r[3 * LANES], r21 = r[4 * LANES];
        int to = 2 * n * LANES + lane;
        jumps_e[to] = share * e1 + (r11 * h1 + r12 * h2);
        jumps_e[to + LANES] = share * e2 + (r21 * h1 - r11 * h2);
        jumps_h[to] = h1 - share * h1 - weight * (r11 * e1 + r12 * e2);
        jumps_h[to + LANES] = h2 - share * h2 - weight * (r21 * e1 - r11 * e2);
    }
    GLOBAL const real_type *g = metric + (size_t)block * 6 * LANES + lane;
    GLOBAL const real_type *gain = gains + (size_t)block * 2 * LANES + lane;
#if OWN_IS_SHARED
    for (int n = t; n < FIELD; n += GROUP_SIZE)
        own[n] = e[base + n];
#else
    OWN const real_type *own = e + base;
#endif
    BARRIER;
    for (int i = row; i < SIZE; i += 2 * ROWS) {
        int j = i + ROWS < SIZE ? i + ROWS : i;
        real_type c[3], d[3];
        curl_at(i, j, lane, own, jumps_e, volume, lift, c, d);
        staged(new_h, h, residual_h, a, b, keeps, gain[LANES], g, base + i * LANES + lane, c);
        if (j > i)
            staged(new_h, h, residual_h, a, b, keeps, gain[LANES], g, base + j * LANES + lane, d);
    }
#if OWN_IS_SHARED
    BARRIER;
    for (int n = t; n < FIELD; n += GROUP_SIZE)
        own[n] = h[base + n];
#else
    own = h + base;
#endif
    BARRIER;
    for (int i = row; i < SIZE; i += 2 * ROWS) {
        int j = i + ROWS < SIZE ? i + ROWS : i;
        real_type c[3], d[3];
        curl_at(i, j, lane, own, jumps_h, volume, lift, c, d);
        staged(new_e, e, residual_e, a, b, keeps, gain[0], g, base + i * LANES + lane, c);
        if (j > i)
            staged(new_e, e, residual_e, a, b, keeps, gain[0], g, base + j * LANES + lane, d);
    }
}

/* ghosts (count,) = what enters, see `incident_at`. */
KERNEL enter(GLOBAL const real_type *amplitudes, GLOBAL const real_type *phases, int waves, int count,
             GLOBAL real_type *ghosts)
{
    int n = THREAD(0);
    if (n < count)
        ghosts[n] = incident_at(amplitudes, phases, waves, count, n);
}

/* field *= factors (blocks, LANES), for `count` values. */
KERNEL decay(GLOBAL real_type *field, GLOBAL const real_type *factors, int count)
{
    int n = THREAD(0);
    if (n < count)
        field[n] *= factors[n / FIELD * LANES + n % LANES];
}
