/* Adaptive cross approximation of many blocks at a time, one group of GROUP_SIZE threads a block; the twin of aca.py,
   where the method and its rule to stop are described. ROWS: the file that computes rows and columns of the matrix, with
   COMPLEX numbers or real ones; numbers of the matrix are PARTS reals. */
#include ROWS
#include "backends/devices/complex.h"
#include "backends/devices/group_sum.h"

#define FULL (-1)
#define NO_ROOM (-2)
#define ROWS_JUDGED 2
#define COLUMNS_JUDGED 1
#define EMPTY_ROWS_JUDGED 6
#define EMPTY_COLUMNS_JUDGED 2
#define DECEPTIONS 2
#define STAGNANT 8
#define SMALLER R(0.5)
#define FLOOR R(1e-3)
#define TINY R(1e-30)
#define FARTHEST R(4.0)
#define NOWHERE R(-1e37)

/* What is computed: a row, the column through its pivot, a column that is judged, none but a search for such a one. */
enum { NOTHING, A_ROW, A_COLUMN, JUDGED_COLUMN, SEARCH, DONE };

/* The largest of the `value`s of all threads, the first of these if there are several, and the sum of the `total`s. */
#define REDUCE(total, value, place)                                                          \
    sums[t] = total;                                                                         \
    values[t] = value;                                                                       \
    places[t] = place;                                                                       \
    WIDE_BARRIER;                                                                            \
    for (int half_way = GROUP_SIZE / 2; half_way > 0; half_way /= 2) {                       \
        if (t < half_way) {                                                                  \
            int u = t + half_way;                                                            \
            sums[t] += sums[u];                                                              \
            if (values[u] > values[t] || (values[u] == values[t] && places[u] < places[t])) { \
                values[t] = values[u];                                                       \
                places[t] = places[u];                                                       \
            }                                                                                \
        }                                                                                    \
        BARRIER;                                                                             \
    }                                                                                        \
    total = sums[0];                                                                         \
    value = values[0];                                                                       \
    place = places[0];                                                                       \
    BARRIER;

/* blocks (b, 5): row cluster, column cluster, where in `work` its crosses go, where in `scratch` its memory is (numbers
   of the matrix, real numbers), and for how many crosses there is room. limits: relative tolerance, and the magnitude
   below which an entry may be noise. points (3, n), scales (clusters, 3): see places.py. errors (b,): that a block may
   have if that is larger, 0 for noise. ranks (b,): crosses found, FULL or NO_ROOM. */
KERNEL approximate(GLOBAL const real_type *row_numbers, GLOBAL const int *row_integers,
                   GLOBAL const real_type *column_numbers, GLOBAL const int *column_integers,
                   GLOBAL const real_type *scalars, GLOBAL const real_type *limits,
                   GLOBAL const real_type *row_points, GLOBAL const real_type *row_scales,
                   GLOBAL const real_type *column_points, GLOBAL const real_type *column_scales,
                   GLOBAL const int *counts, GLOBAL const int *blocks,
                   GLOBAL const real_type *errors, GLOBAL number *work, GLOBAL real_type *scratch, GLOBAL int *ranks)
{
    LOCAL real_type sums[GROUP_SIZE], values[GROUP_SIZE], dots[4 * GROUP_SIZE];
    LOCAL int places[GROUP_SIZE];
    int t = LOCAL_ID(0);
    GLOBAL const int *block = blocks + 5 * GROUP(0);
    int r = block[0], c = block[1], room = block[4], m = cluster_size(row_integers, r), n = cluster_size(column_integers, c);
    int size = m + n, most = (int)((size_t)m * n / size);
    GLOBAL number *crosses = work + block[2];
    GLOBAL real_type *reached = scratch + block[3], *apart = reached + size, *single = apart + size;
    real_type tolerance2 = limits[0] * limits[0], noise2 = limits[1] * limits[1] * m * n, norm2 = R(0.0), v2 = R(0.0);
    real_type error2 = errors[GROUP(0)] * errors[GROUP(0)], zero2 = error2 > R(0.0) ? error2 : noise2, least2 = R(0.0);
    int waiting = -1;
    int rank = 0, judged = 0, needed = EMPTY_ROWS_JUDGED, columns_judged = 0, deceived = 0;
    int what = A_ROW, at = m / 2;
    for (int k = t; k < size; k += GROUP_SIZE) {
        reached[k] = R(0.0); /* -1 for rows and columns that were used */
        apart[k] = FARTHEST;
    }
    while (what != DONE) { /* barriers stand in no branch: some OpenCL compilers for processors go wrong there */
        int is_row = what == A_ROW, count = is_row ? n : m, cluster = is_row ? c : r;
        GLOBAL const int *side = is_row ? column_integers : row_integers, *other = is_row ? row_integers : column_integers;
        GLOBAL const real_type *x = is_row ? row_numbers : column_numbers, *y = is_row ? column_numbers : row_numbers;
        int triangles = cluster_triangles(side, cluster), position = cluster_first(other, is_row ? r : c) + at;
        if (what == SEARCH)
            triangles = count = 0;
        for (int k = t; k < triangles; k += GROUP_SIZE)
            add_triangle(x, other, y, side, position, cluster, k, triangles, is_row, scalars, side, 0, single);
        GLOBAL number *last = crosses + (size_t)rank * size, *line = last + (is_row ? m : 0);
        number pivot = number_of(1, 0);
        if (what == A_COLUMN)
            pivot = last[m + at];
        WIDE_BARRIER;
        if (t == 0 && what != SEARCH)
            reached[is_row ? at : m + at] = -R(1.0);
        /* all others of that side are no farther from what was seen than from this one */
        GLOBAL const real_type *points = is_row ? row_points : column_points;
        GLOBAL const real_type *scale = is_row ? row_scales + 3 * r : column_scales + 3 * c;
        int seen = is_row ? m : n, begin = is_row ? 0 : m, pitch = is_row ? counts[0] : counts[1];
        for (int k = what == SEARCH ? seen : t; k < seen; k += GROUP_SIZE) {
            GLOBAL const real_type *there = points + position - at + k;
            real_type distance2 = R(0.0);
            for (int axis = 0; axis < 3; axis++) {
                real_type step = (there[(size_t)axis * pitch] - there[(size_t)axis * pitch + at - k]) * scale[axis];
                distance2 += step * step;
            }
            apart[begin + k] = distance2 < apart[begin + k] ? distance2 : apart[begin + k];
        }
        if (what == A_COLUMN) {
            real_type inverse = R(1.0) / square(pivot);
            for (int j = m + t; j < size; j += GROUP_SIZE)
                last[j] = scaled(times(last[j], conjugated(pivot)), inverse);
            v2 *= inverse;
        }
        GLOBAL const number *own = crosses + (is_row ? m : 0), *factors = crosses + (is_row ? at : m + at);
        real_type total = R(0.0), largest = -R(1.0), added = R(0.0), best = NOWHERE;
        int place = -1, found = -1;
        for (int j = t; j < count; j += GROUP_SIZE) {
            real_type re, im;
            gather_entry(side, cluster, j, triangles, single, &re, &im);
            number residual = number_of(re, im);
            for (int l = 0; l < rank; l++)
                residual = plus_product(residual, scaled(factors[(size_t)l * size], -1), own[(size_t)l * size + j]);
            line[j] = residual;
            total += square(residual);
            if (square(residual) > largest && (is_row || reached[j] >= R(0.0))) {
                largest = square(residual);
                place = j;
            }
        }
        REDUCE(total, largest, place)
        real_type bound = tolerance2 * norm2 > zero2 ? tolerance2 * norm2 : zero2;
        int small = total * (is_row ? m : n) <= bound, search = NOTHING;
        if (what == SEARCH)
            search = A_COLUMN;
        if (what == A_ROW && small) {
            judged++;
            search = judged < needed ? A_ROW : A_COLUMN;
        }
        if (what == JUDGED_COLUMN && small)
            search = A_COLUMN;
        /* the row or column far from those seen that was reached least */
        int amount = search == A_ROW ? m : n, start = search == A_ROW ? 0 : m;
        for (int k = search == NOTHING ? amount : t; k < amount; k += GROUP_SIZE) {
            real_type value = (apart[start + k] + FLOOR) / (reached[start + k] + TINY);
            if (reached[start + k] >= R(0.0) && value > best) {
                best = value;
                found = k;
            }
        }
        /* what a cross adds to the squared norm of those before it: 32 threads for each of these */
        int before = what == A_COLUMN ? rank : 0;
        for (int low = 0; low < before; low += GROUP_SIZE / 32) {
            int l = low + t / 32, lane = t % 32, end = l < before ? size : 0, middle = l < before ? m : 0;
            GLOBAL const number *cross = crosses + (size_t)(l < before ? l : 0) * size;
            number a = number_of(0, 0), b = a;
            for (int k = lane; k < middle; k += 32)
                a = plus_product(a, conjugated(cross[k]), last[k]);
            for (int k = middle + lane; k < end; k += 32)
                b = plus_product(b, conjugated(cross[k]), last[k]);
            dots[t] = a.re;
            dots[GROUP_SIZE + t] = IM(a);
            dots[2 * GROUP_SIZE + t] = b.re;
            dots[3 * GROUP_SIZE + t] = IM(b);
            SUM_OVER_THREADS(dots, 32, 4, GROUP_SIZE);
            if (lane == 0)
                added += R(2.0) * (dots[t] * dots[2 * GROUP_SIZE + t] - dots[GROUP_SIZE + t] * dots[3 * GROUP_SIZE + t]);
            BARRIER;
        }
        REDUCE(added, best, found)
        if (search != NOTHING) {
            int none = found < 0;
            at = none ? 0 : found;
            if (search == A_ROW) {
                what = none ? SEARCH : A_ROW;
            } else {
                int enough = rank > 0 ? COLUMNS_JUDGED + deceived : EMPTY_COLUMNS_JUDGED;
                what = none || columns_judged == enough ? DONE : JUDGED_COLUMN;
                columns_judged++;
            }
        } else if (what == A_ROW) {
            deceived += judged > 0 && rank > 0 && deceived < DECEPTIONS;
            judged = 0;
            needed = ROWS_JUDGED + deceived;
            v2 = total; /* of the row before it is divided by the pivot */
            what = rank == most ? DONE : A_COLUMN;
            rank = rank == most ? FULL : rank;
            waiting++;
            if (waiting == 0 || total * m < SMALLER * least2) {
                least2 = total * m;
                waiting = 0;
            }
            if (waiting == STAGNANT && least2 <= noise2)
                what = DONE;
            at = place < 0 ? 0 : place; /* none if entries are not finite */
        } else {
            if (what == A_COLUMN) {
                norm2 += total * v2 + added;
                real_type scale = square(pivot); /* the residual is largest there or in an unused row */
                scale = R(1.0) / (largest > scale ? largest : scale);
                for (int k = t; k < size; k += GROUP_SIZE)
                    if (reached[k] >= R(0.0))
                        reached[k] += square(last[k]) * (k < m ? scale : R(1.0));
                rank++;
            } else {
                deceived += rank > 0 && deceived < DECEPTIONS;
                judged = columns_judged = 0;
            }
            what = place < 0 ? DONE : A_ROW;
            at = place;
            if (place >= 0 && rank == room) {
                rank = NO_ROOM;
                what = DONE;
            }
        }
    }
    if (t == 0)
        ranks[GROUP(0)] = rank;
}
