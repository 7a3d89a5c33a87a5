/* Fewer crosses for many blocks at a time, one group of GROUP_SIZE threads a block; the twin of recompression.py, where the
   method is described. COMPLEX: whether numbers of the matrix are, which are PARTS reals; small matrices have numbers of
   type wide, with reals of type WIDE_REAL. */
#include "backends/devices/complex.h"
#include "backends/devices/group_sum.h"

#define PARTS (1 + COMPLEX)
#define DEPENDENT (sizeof(wide_real) == 4 ? R(1e-6) : R(1e-12))
#define ORTHOGONAL2 R(1e-4)
#define SWEEPS 6
#define TEAM 8 /* threads that rotate a pair of columns */
#define TEAMS (GROUP_SIZE / TEAM)
#define LANES 32 /* threads that sum a product of two crosses */

/* blocks (b, 5): where the crosses of a block begin in `crosses`, rows, columns, crosses (two at least), and where its small
   matrices begin in `tables`: 4 rank^2 numbers and then room for 2 rank more. relative: error in the
   Frobenius norm that is allowed, or errors (b,) if that is larger. kept (b,): crosses that are needed; where these are fewer than there are, the first
   small matrix is left with the weights (kept, rank) of the columns of U, the third with those of V. */
KERNEL recompress(GLOBAL const real_type *crosses, GLOBAL const int *blocks, GLOBAL const wide_real *relative,
               GLOBAL const wide_real *errors, GLOBAL number *tables, GLOBAL int *kept)
{
    LOCAL wide_real sums[4 * GROUP_SIZE];
    LOCAL int good, turning, needed;
    int t = LOCAL_ID(0);
    GLOBAL const int *block = blocks + 5 * GROUP(0);
    int m = block[1], size = m + block[2], rank = block[3], whole = rank;
    GLOBAL const real_type *part = crosses + (size_t)PARTS * block[0];
    GLOBAL number *left = tables + block[4], *right = left + rank * rank, *columns = right + rank * rank;
    GLOBAL number *rotation = columns + rank * rank, *scales = rotation + rank * rank;
    if (t == 0)
        good = 1;
    BARRIER;
    /* Gram matrices of U and V, upper triangles; LANES threads for each product */
    for (int side = 0; side < 2; side++) {
        GLOBAL number *gram = side ? right : left;
        int begin = side ? m : 0, end = side ? size : m;
        for (int l = 0; l < rank; l++)
            for (int low = 0; low <= l; low += GROUP_SIZE / LANES) {
                int k = low + t / LANES, lane = t % LANES, some = k <= l;
                GLOBAL const real_type *a = part + (size_t)PARTS * (some ? k : 0) * size;
                GLOBAL const real_type *b = part + (size_t)PARTS * l * size;
                number total = number_of(0, 0);
                for (int i = begin + lane; i < (some ? end : 0); i += LANES)
                    total = plus_product(total, conjugated(read_number(a + (size_t)PARTS * i)), read_number(b + (size_t)PARTS * i));
                keep_part(total, sums);
                SUM_OVER_THREADS(sums, LANES, PARTS, GROUP_SIZE);
                if (lane == 0 && some) {
                    total = number_of(sums[t], sums[GROUP_SIZE + t]);
                    gram[k * rank + l] = total;
                    if (k == l) {
                        scales[side * rank + l] = number_of(total.re > 0 ? 1 / sqrt(total.re) : 0, 0);
                        if (!(total.re > 0))
                            good = 0;
                    }
                }
                WIDE_BARRIER;
            }
        /* columns of unit length, then the factor R with R^H R = Gram matrix, a row at a time */
        GLOBAL const number *scale = scales + side * rank;
        for (int e = t; e < rank * rank; e += GROUP_SIZE)
            if (e / rank <= e % rank)
                gram[e] = e / rank == e % rank ? number_of(1, 0) : scaled(gram[e], scale[e / rank].re * scale[e % rank].re);
        WIDE_BARRIER;
        for (int p = 0; p < rank; p++) {
            wide_real rest = gram[p * rank + p].re;
            int fine = rest > DEPENDENT;
            wide_real inverse = fine ? 1 / sqrt(rest) : 0;
            WIDE_BARRIER; /* all have read the diagonal */
            if (t == 0 && !fine)
                good = 0;
            for (int l = p + t; l < rank; l += GROUP_SIZE)
                gram[p * rank + l] = scaled(gram[p * rank + l], inverse);
            WIDE_BARRIER;
            int left_over = rank - p - 1;
            for (int e = t; e < left_over * left_over; e += GROUP_SIZE) {
                int i = p + 1 + e / left_over, l = p + 1 + e % left_over;
                number factor = scaled(conjugated(gram[p * rank + i]), -1);
                if (i <= l)
                    gram[i * rank + l] = plus_product(gram[i * rank + l], factor, gram[p * rank + l]);
            }
            WIDE_BARRIER;
        }
    }
    rank = good ? rank : 0;
    /* column p of M = R D^-1 E^-1 S^T, with the scales D and E taken back, and of the rotation */
    for (int e = t; e < rank * rank; e += GROUP_SIZE) {
        int p = e / rank, i = e % rank;
        number total = number_of(0, 0);
        for (int k = p > i ? p : i; k < rank; k++) {
            wide_real lengths_of_both = 1 / (scales[k].re * scales[rank + k].re);
            total = plus_product(total, scaled(right[p * rank + k], lengths_of_both), left[i * rank + k]);
        }
        columns[e] = total;
        rotation[e] = number_of(i == p, 0);
    }
    WIDE_BARRIER;
    /* Jacobi: in every round all columns meet in pairs, each pair once a sweep; a team of threads takes a pair */
    int even = rank + rank % 2, going = rank > 1;
    for (int sweep = 0; sweep < SWEEPS && going; sweep++) {
        if (t == 0)
            turning = 0;
        BARRIER;
        for (int round = 0; round < even - 1; round++)
            for (int low = 0; low < even / 2; low += TEAMS) {
                int pair = low + t / TEAM, lane = t % TEAM, team = t - lane;
                int p = pair == 0 ? even - 1 : (round + pair) % (even - 1);
                int q = pair == 0 ? round : (round + even - 1 - pair) % (even - 1);
                int some = pair < even / 2 && p < rank && q < rank;
                int here = (some ? (p < q ? p : q) : 0) * rank, there = (some ? (p < q ? q : p) : 0) * rank;
                wide_real a = 0, b = 0;
                number g = number_of(0, 0);
                for (int i = lane; i < (some ? rank : 0); i += TEAM) {
                    a += square(columns[here + i]);
                    b += square(columns[there + i]);
                    g = plus_product(g, conjugated(columns[here + i]), columns[there + i]);
                }
                sums[2 * GROUP_SIZE + t] = a;
                sums[3 * GROUP_SIZE + t] = b;
                sums[GROUP_SIZE + t] = 0;
                keep_part(g, sums);
                SUM_OVER_THREADS(sums, TEAM, 4, GROUP_SIZE);
                g = number_of(sums[team], sums[GROUP_SIZE + team]);
                a = sums[2 * GROUP_SIZE + team];
                b = sums[3 * GROUP_SIZE + team];
                wide_real g2 = square(g);
                int turns = some && g2 > ORTHOGONAL2 * a * b;
                wide_real length = turns ? sqrt(g2) : 1, zeta = (b - a) / (2 * length);
                wide_real tangent = 1 / ((zeta < 0 ? -zeta : zeta) + sqrt(1 + zeta * zeta));
                tangent = zeta < 0 ? -tangent : tangent;
                wide_real cosine = 1 / sqrt(1 + tangent * tangent), sine = cosine * tangent;
                number phase = scaled(conjugated(g), 1 / length);
                if (turns && lane == 0)
                    turning = 1;
                for (int e = lane; e < (turns ? 2 * rank : 0); e += TEAM) {
                    GLOBAL number *x = e < rank ? columns : rotation;
                    int i = e < rank ? e : e - rank;
                    number first = x[here + i], second = plus_product(number_of(0, 0), phase, x[there + i]);
                    x[here + i] = plus_product(scaled(first, cosine), second, number_of(-sine, 0));
                    x[there + i] = plus_product(scaled(first, sine), second, number_of(cosine, 0));
                }
                WIDE_BARRIER;
            }
        going = turning;
        BARRIER;
    }
    /* the longest columns first, in the order that takes the place of the scales of U */
    GLOBAL number *order = scales, *squares = left;
    for (int p = t; p < rank; p += GROUP_SIZE) {
        wide_real total = 0;
        for (int i = 0; i < rank; i++)
            total += square(columns[p * rank + i]);
        squares[p] = number_of(total, 0);
    }
    WIDE_BARRIER;
    for (int p = t; p < rank; p += GROUP_SIZE) {
        int before = 0;
        wide_real own = squares[p].re;
        for (int q = 0; q < rank; q++)
            before += squares[q].re > own || (squares[q].re == own && q < p);
        order[before] = number_of(p, 0);
    }
    WIDE_BARRIER;
    if (t == 0) {
        wide_real total = 0, rest = 0;
        for (int p = 0; p < rank; p++)
            total += squares[p].re;
        wide_real allowed = relative[0] * relative[0] * total, error2 = errors[GROUP(0)] * errors[GROUP(0)];
        allowed = error2 > allowed ? error2 : allowed;
        needed = rank;
        for (int l = rank - 1; l >= 0; l--) {
            rest += squares[(int)order[l].re].re;
            needed = needed == l + 1 && rest <= allowed ? l : needed;
        }
        kept[GROUP(0)] = good && needed < whole ? needed : whole;
    }
    WIDE_BARRIER;
    rank = good && needed < whole ? whole : 0;
    int number_kept = rank ? needed : 0;
    GLOBAL const number *scale = scales + whole;
    for (int e = t; e < number_kept * rank; e += GROUP_SIZE) { /* S^T Z */
        int l = e / rank, k = e % rank;
        GLOBAL const number *z = rotation + (int)order[l].re * rank;
        number total = number_of(0, 0);
        for (int p = 0; p <= k; p++)
            total = plus_product(total, right[p * rank + k], z[p]);
        left[e] = scaled(total, 1 / scale[k].re);
    }
    for (int l = t; l < number_kept; l += GROUP_SIZE) { /* S^-1 conj(Z) */
        GLOBAL const number *z = rotation + (int)order[l].re * rank;
        GLOBAL number *weights = columns + l * rank;
        for (int k = rank - 1; k >= 0; k--) {
            number total = conjugated(z[k]);
            for (int p = k + 1; p < rank; p++)
                total = plus_product(total, scaled(right[k * rank + p], -1), weights[p]);
            weights[k] = scaled(total, 1 / right[k * rank + k].re);
        }
        for (int k = 0; k < rank; k++)
            weights[k] = scaled(weights[k], scale[k].re);
    }
}

/* The crosses that are kept, one block after the other. blocks (b, 7): as for `recompress`, then how many are kept, and where
   they begin in `out`; as many as there are, they are copied. */
KERNEL combine(GLOBAL const real_type *crosses, GLOBAL const int *blocks, GLOBAL const number *tables,
               GLOBAL real_type *out)
{
    GLOBAL const int *block = blocks + 7 * GROUP(0);
    int m = block[1], size = m + block[2], rank = block[3], kept = block[5];
    GLOBAL const real_type *part = crosses + (size_t)PARTS * block[0];
    GLOBAL real_type *to = out + (size_t)PARTS * block[6];
    GLOBAL const number *left = tables + block[4], *right = left + 2 * rank * rank;
    for (int e = LOCAL_ID(0); e < kept * size; e += GROUP_SIZE) {
        int l = e / size, i = e % size, first = kept < rank ? 0 : l, last = kept < rank ? rank : l + 1;
        GLOBAL const number *weights = (i < m ? left : right) + l * rank;
        number total = number_of(0, 0);
        for (int k = first; k < last; k++) {
            number weight = kept < rank ? weights[k] : number_of(1, 0);
            total = plus_product(total, weight, read_number(part + (size_t)PARTS * ((size_t)k * size + i)));
        }
        write_number(total, to + (size_t)PARTS * e);
    }
}
