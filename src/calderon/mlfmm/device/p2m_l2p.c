/* Between charges at points and plane waves of leaves; the twin of mlfmm/p2m_l2p.py. A group takes a leaf: on the way out
   a thread a direction, for which it sums the points, which are in local memory; on the way in a thread a point, for
   which it sums the directions. Sines and cosines are computed. The second number of a group is a column.

   Numbers of points are (point, column, `apart` complex numbers), of which the first COMPONENTS are used. MIXED: whether
   charges are a times as large and have dipoles b along normals. LOSSY: whether Im k > 0. REAL: of all numbers. */
#include "mlfmm/device/wave.h"

#define BATCH 32
#define RECORD (3 + 7 * MIXED)

/* What the wave of a point needs: its place, and if MIXED the normal, and the amplitude a - sign i b k d.n, by parts, from
   the row of mix that normals (n, 4) end with. sign: 1 for emission, -1 for reception. */
DEVICE real_type of_point(GLOBAL const real_type *places, GLOBAL const real_type *normals, GLOBAL const real_type *mix,
                          int p, int n, real_type loss, real_type sign)
{
#if MIXED
    if (n >= 6) {
        GLOBAL const real_type *row = mix + 4 * (int)normals[4 * (size_t)p + 3];
        return n == 6 ? row[0] : n == 7 ? sign * (row[2] * loss + row[3]) : n == 8 ? sign * row[1]
                                                                                  : row[3] * loss - row[2];
    }
    if (n >= 3)
        return normals[4 * (size_t)p + n - 3];
#endif
    return places[3 * (size_t)p + n];
}

/* exp(i k d.x) for a vector k d and the record of a point. */
DEVICE number wave(SHARED const real_type *point, int step, real_type kx, real_type ky, real_type kz, real_type loss,
                   real_type sign, real_type growth)
{
    real_type t = kx * point[0] + ky * point[step] + kz * point[2 * step];
    number along = damped_wave(t, t * (sign * loss) - growth);
#if MIXED
    real_type slope = kx * point[3 * step] + ky * point[4 * step] + kz * point[5 * step];
    real_type re = slope * point[7 * step] + point[6 * step], im = slope * point[9 * step] + point[8 * step];
    along = times(number_of(re, -im), along);
#endif
    return along;
}

/* Patterns x (box, column, SPECTRA, part, pitch) of leaves with the numbers `boxes`, from charges at their points
   starts[leaf] .. starts[leaf + 1]; along (3, pitch): k d; factors (SPECTRA, COMPONENTS, part, pitch). */
KERNEL emit(GLOBAL const real_type *places, GLOBAL const real_type *normals, GLOBAL const real_type *mix,
            GLOBAL const int *starts, GLOBAL const number *charges, int apart, GLOBAL const real_type *along, int pitch,
            int directions, real_type loss, real_type growth, GLOBAL const real_type *factors, GLOBAL const int *leaves,
            GLOBAL const int *boxes, int columns, GLOBAL real_type *x)
{
    LOCAL real_type points[RECORD * BATCH];
    LOCAL number given[COMPONENTS * BATCH];
    int chunks = (directions + GROUP_SIZE - 1) / GROUP_SIZE, own = GROUP(0) / chunks, t = LOCAL_ID(0);
    int d = GROUP(0) % chunks * GROUP_SIZE + t, at = d < directions ? d : directions - 1;
    int last = starts[leaves[own] + 1];
    real_type kx = along[at], ky = along[pitch + at], kz = along[2 * pitch + at];
    number sums[COMPONENTS] = {{0}};
    for (int begin = starts[leaves[own]]; begin < last; begin += BATCH) {
        int count = last - begin < BATCH ? last - begin : BATCH;
        BARRIER;
        for (int n = t; n < RECORD * count; n += GROUP_SIZE)
            points[n / count * BATCH + n % count] = of_point(places, normals, mix, begin + n % count, n / count, loss, R(1.0));
        for (int n = t; n < COMPONENTS * count; n += GROUP_SIZE)
            given[n] = charges[apart * ((size_t)(begin + n / COMPONENTS) * columns + GROUP(1)) + n % COMPONENTS];
        BARRIER;
        for (int p = 0; p < count; p++) {
            number back = conjugated(wave(points + p, BATCH, kx, ky, kz, loss, R(1.0), growth));
            UNROLL
            for (int q = 0; q < COMPONENTS; q++)
                sums[q] = plus_product(sums[q], back, given[COMPONENTS * p + q]);
        }
    }
    if (d < directions)
        UNROLL
        for (int s = 0; s < SPECTRA; s++) {
            number total = number_of(0, 0);
            UNROLL
            for (int q = 0; q < COMPONENTS; q++) {
                GLOBAL const real_type *factor = factors + (size_t)(s * COMPONENTS + q) * 2 * pitch + d;
                total = plus_product(total, number_at(factor, 0, pitch), sums[q]);
            }
            put_number(total, x + (((size_t)boxes[own] * columns + GROUP(1)) * SPECTRA + s) * 2 * pitch + d, pitch);
        }
}

/* Fields, times scale, of incoming patterns at runs (first point, how many, which of `boxes`) of at most GROUP_SIZE points
   of a leaf; factors (COMPONENTS, SPECTRA, part, pitch). Added to the fields if `adds`. */
KERNEL receive(GLOBAL const real_type *places, GLOBAL const real_type *normals, GLOBAL const real_type *mix,
               GLOBAL const int *runs, GLOBAL const real_type *x, GLOBAL const real_type *along, int pitch, int directions,
               real_type loss, real_type growth, GLOBAL const real_type *factors, GLOBAL const int *boxes, int columns,
               real_type scale, int adds, GLOBAL number *fields, int apart)
{
    LOCAL real_type given[3 * GROUP_SIZE], points[RECORD * GROUP_SIZE];
    LOCAL number patterns[COMPONENTS * GROUP_SIZE];
    int t = LOCAL_ID(0);
    GLOBAL const int *run = runs + 3 * (size_t)GROUP(0);
    int p = run[0] + (t < run[1] ? t : 0);
    GLOBAL const real_type *own = x + ((size_t)boxes[run[2]] * columns + GROUP(1)) * SPECTRA * 2 * pitch;
    for (int n = 0; n < RECORD; n++)
        points[n * GROUP_SIZE + t] = of_point(places, normals, mix, p, n, loss, R(-1.0));
    number sums[COMPONENTS] = {{0}};
    for (int begin = 0; begin < directions; begin += GROUP_SIZE) {
        int count = directions - begin < GROUP_SIZE ? directions - begin : GROUP_SIZE;
        int d = begin + (t < count ? t : 0);
        BARRIER;
        UNROLL
        for (int n = 0; n < 3; n++)
            given[n * GROUP_SIZE + t] = along[n * pitch + d];
        UNROLL
        for (int q = 0; q < COMPONENTS; q++) {
            number total = number_of(0, 0);
            UNROLL
            for (int s = 0; s < SPECTRA; s++) {
                GLOBAL const real_type *factor = factors + (size_t)(q * SPECTRA + s) * 2 * pitch + d;
                total = plus_product(total, number_at(factor, 0, pitch), number_at(own, 2 * s * pitch + d, pitch));
            }
            patterns[q * GROUP_SIZE + t] = total;
        }
        BARRIER;
        for (int n = 0; n < count; n++) {
            real_type x_part = given[n], y_part = given[GROUP_SIZE + n], z_part = given[2 * GROUP_SIZE + n];
            number there = wave(points + t, GROUP_SIZE, x_part, y_part, z_part, loss, R(-1.0), growth);
            UNROLL
            for (int q = 0; q < COMPONENTS; q++)
                sums[q] = plus_product(sums[q], there, patterns[q * GROUP_SIZE + n]);
        }
    }
    if (t < run[1])
        UNROLL
        for (int c = 0; c < COMPONENTS; c++) {
            GLOBAL number *to = fields + apart * ((size_t)p * columns + GROUP(1)) + c;
            *to = plus(adds ? *to : number_of(0, 0), scaled(sums[c], scale));
        }
}
