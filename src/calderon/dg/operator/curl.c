/* Half a leap-frog step of a discontinuous Galerkin method: the twin of curl.py and silver_mueller.py. */
#define OWN SHARED
#include "dg/operator/curl.h"

/* target = keep target + gain metric . c, at one node; metric strides by LANES. */
DEVICE void advance(GLOBAL real_type *target, size_t at, real_type keep, real_type gain, GLOBAL const real_type *g,
                    const real_type *c)
{
    real_type c1 = gain * c[0], c2 = gain * c[1], c3 = gain * c[2];
    size_t next = (size_t)SIZE * LANES;
    target[at] = keep * target[at] + g[0] * c1 + g[LANES] * c2 + g[2 * LANES] * c3;
    target[at + next] = keep * target[at + next] + g[LANES] * c1 + g[3 * LANES] * c2 + g[4 * LANES] * c3;
    target[at + 2 * next] = keep * target[at + 2 * next] + g[2 * LANES] * c1 + g[4 * LANES] * c2 + g[5 * LANES] * c3;
}

/* target = keep target + gain metric . curl(source): one group of threads a block, from block `first` on. codes: 4
   (number of the element across) + its face, or -1 - number of a face with a condition: where rows[number] is -1 the
   trace is the own one times f = factors[number]; else f of the own one and 1 - f of row rows[number] of ghosts (rows,
   2, FACE_SIZE), or of the face with the code -2 - rows[number]. metric (blocks, 6, LANES), medium (blocks, 2, LANES)
   keep and gain; volume, lift: see curl.h. */
KERNEL half_step(int first, GLOBAL real_type *target, GLOBAL const real_type *source, GLOBAL const int *rows,
                 GLOBAL const real_type *factors, GLOBAL const real_type *ghosts, GLOBAL const int *codes,
                 GLOBAL const int *nodes, GLOBAL const real_type *metric, GLOBAL const real_type *medium,
                 GLOBAL const quad_type *volume, GLOBAL const quad_type *lift)
{
    LOCAL real_type own[FIELD];
    LOCAL real_type traces[TRACES];
    int block = first + GROUP(0), t = LOCAL_ID(0), lane = t % LANES, row = t / LANES;
    size_t base = (size_t)block * FIELD;
    for (int n = t; n < FIELD; n += GROUP_SIZE)
        own[n] = source[base + n];
    for (int n = row; n < 4 * FACE_SIZE; n += ROWS) {
        int face = n / FACE_SIZE, m = n % FACE_SIZE;
        int code = codes[(block * 4 + face) * LANES + lane];
        int ghost = code < 0 ? rows[-1 - code] : -1;
        real_type factor = R(1.0);
        if (code < 0) {
            factor = factors[-1 - code];
            code = 4 * (block * LANES + lane) + face;
        }
        size_t start = start_of(code >> 2);
        real_type one = trace_of(source, start, nodes, code & 3, m, 0);
        real_type two = trace_of(source, start, nodes, code & 3, m, 1);
        if (ghost == -1) {
            one *= factor;
            two *= factor;
        } else {
            int other = -2 - ghost;
            real_type c, d;
            if (ghost >= 0) {
                c = ghosts[2 * ghost * FACE_SIZE + m];
                d = ghosts[(2 * ghost + 1) * FACE_SIZE + m];
            } else {
                c = trace_of(source, start_of(other >> 2), nodes, other & 3, m, 0);
                d = trace_of(source, start_of(other >> 2), nodes, other & 3, m, 1);
            }
            one = c + factor * (one - c);
            two = d + factor * (two - d);
        }
        traces[2 * n * LANES + lane] = one;
        traces[(2 * n + 1) * LANES + lane] = two;
    }
    BARRIER;
    GLOBAL const real_type *g = metric + (size_t)block * 6 * LANES + lane;
    real_type keep = medium[(size_t)block * 2 * LANES + lane], gain = medium[((size_t)block * 2 + 1) * LANES + lane];
    for (int i = row; i < SIZE; i += 2 * ROWS) {
        int j = i + ROWS < SIZE ? i + ROWS : i;
        real_type c[3], d[3];
        curl_at(i, j, lane, own, traces, volume, lift, c, d);
        advance(target, base + i * LANES + lane, keep, gain, g, c);
        if (j > i)
            advance(target, base + j * LANES + lane, keep, gain, g, d);
    }
}

/* ghosts (faces, 2, FACE_SIZE) = sum over waves Re(amplitude phase) + turn (before + trace of the field) / 2.
   amplitudes (waves, 2, faces, 2, FACE_SIZE) real and imaginary parts; phases (waves, 2); turn (faces, 2, 2). */
KERNEL open_ghosts(GLOBAL const real_type *field, GLOBAL const real_type *before, GLOBAL const real_type *amplitudes,
                   GLOBAL const real_type *phases, int waves, GLOBAL const real_type *turn, GLOBAL const int *starts,
                   GLOBAL const int *sides, GLOBAL const int *nodes, int faces, GLOBAL real_type *ghosts)
{
    int n = THREAD(0);
    if (n >= faces * FACE_SIZE)
        return;
    int f = n / FACE_SIZE, m = n % FACE_SIZE, whole = 2 * faces * FACE_SIZE;
    int first = 2 * f * FACE_SIZE + m, second = first + FACE_SIZE;
    real_type s = R(0.5) * (before[first] + trace_of(field, (size_t)starts[f], nodes, sides[f], m, 0));
    real_type r = R(0.5) * (before[second] + trace_of(field, (size_t)starts[f], nodes, sides[f], m, 1));
    real_type a = turn[4 * f] * s + turn[4 * f + 1] * r, b = turn[4 * f + 2] * s + turn[4 * f + 3] * r;
    ghosts[first] = a + incident_at(amplitudes, phases, waves, whole, first);
    ghosts[second] = b + incident_at(amplitudes, phases, waves, whole, second);
}

/* solved = inverse (elements, D, D) times the ghost traces of the `count` open faces (elements, count) of each element,
   D = count 2 FACE_SIZE. */
KERNEL solve_open(GLOBAL const real_type *ghosts, GLOBAL const real_type *inverse, GLOBAL const int *numbers, int count,
                  int elements, GLOBAL real_type *solved)
{
    int n = THREAD(0), one = 2 * FACE_SIZE, all = count * one;
    if (n >= elements * all)
        return;
    int element = n / all, row = n % all;
    GLOBAL const int *faces = numbers + element * count;
    GLOBAL const real_type *matrix = inverse + (size_t)n * all;
    real_type total = R(0.0);
    for (int k = 0; k < count; k++)
        for (int m = 0; m < one; m++)
            total += matrix[k * one + m] * ghosts[faces[k] * one + m];
    solved[faces[row / one] * one + row % one] = total;
}

/* field += raised (faces, 3, 2) times the lifted ghost traces of the open faces of each element. */
KERNEL add_open(GLOBAL real_type *field, GLOBAL const real_type *solved, GLOBAL const real_type *raised,
                GLOBAL const quad_type *lift, GLOBAL const int *numbers, GLOBAL const int *starts,
                GLOBAL const int *sides, int count, int elements)
{
    int n = THREAD(0);
    if (n >= elements * SIZE)
        return;
    int element = n / SIZE, i = n % SIZE;
    real_type a = R(0.0), b = R(0.0), c = R(0.0);
    size_t start = (size_t)starts[numbers[element * count]];
    for (int k = 0; k < count; k++) {
        int f = numbers[element * count + k];
        GLOBAL const real_type *p = (GLOBAL const real_type *)(lift + i * FACE_SIZE) + sides[f], *g = raised + 6 * f;
        GLOBAL const real_type *s = solved + 2 * f * FACE_SIZE, *r = s + FACE_SIZE;
        real_type u = R(0.0), v = R(0.0);
        for (int m = 0; m < FACE_SIZE; m++) {
            u += p[4 * m] * s[m];
            v += p[4 * m] * r[m];
        }
        a += g[0] * u + g[1] * v;
        b += g[2] * u + g[3] * v;
        c += g[4] * u + g[5] * v;
    }
    field[start + i * LANES] += a;
    field[start + (SIZE + i) * LANES] += b;
    field[start + (2 * SIZE + i) * LANES] += c;
}
