/* Plane waves between boxes; the twin of mlfmm/passes.py. Patterns (box, COUNT patterns, part, pitch) are functions on
   grids of `width` angles on a half circle; a thread takes a direction, or ROWS angles theta of one phi, and sums what
   children, the parent or separated boxes give, so that sums have a fixed order and need no atomics. The second number of
   a group is a pattern, in `translate_boxes` a column, whose SPECTRA patterns meet each factor while it is in a register.

   REAL: of all numbers. */
#include "backends/devices/complex.h"

#define ROWS 4

/* mid (boxes from `low` on, patterns, parity, part, rows, width): matrices theta (parity, rows, inner) times the sums and
   the differences of half circles. vector: whether patterns are components along unit vectors of theta or phi, which
   exchange the parities. down: of the pattern of the parent of each box, times the shift (8, part, pitch) of the opposite
   child. */
KERNEL theta_pass(GLOBAL const real_type *theta, int rows, int inner, int width, int vector,
                  GLOBAL const real_type *x, int pitch, int patterns, int down, GLOBAL const int *parents,
                  GLOBAL const int *octants, GLOBAL const real_type *shifts, int low, GLOBAL real_type *mid)
{
    int items = (rows + ROWS - 1) / ROWS * width, chunks = (items + GROUP_SIZE - 1) / GROUP_SIZE;
    int own = GROUP(0) / chunks, box = low + own, i = GROUP(0) % chunks * GROUP_SIZE + LOCAL_ID(0);
    if (i >= items)
        return;
    int row = i / width * ROWS, f = i % width, from = down ? parents[box] : box;
    GLOBAL const real_type *given = x + ((size_t)from * patterns + GROUP(1)) * 2 * pitch + f;
    GLOBAL const real_type *shift = down ? shifts + (size_t)(7 - octants[box]) * 2 * pitch + f : shifts;
    GLOBAL const real_type *even = theta + (vector ? rows * inner : 0), *odd = theta + (vector ? 0 : rows * inner);
    number sums[ROWS][2] = {{{0}}};
    for (int t = 0; t < inner; t++) {
        int one = 2 * width * t, two = one + width;
        number a = number_at(given, one, pitch), b = number_at(given, two, pitch);
        if (down) {
            a = times(number_at(shift, one, pitch), a);
            b = times(number_at(shift, two, pitch), b);
        }
        UNROLL
        for (int m = 0; m < ROWS; m++) {
            int at = (row + m < rows ? row + m : rows - 1) * inner + t;
            sums[m][0] = plus(sums[m][0], scaled(plus(a, b), even[at]));
            sums[m][1] = plus(sums[m][1], scaled(minus(a, b), odd[at]));
        }
    }
    GLOBAL real_type *out = mid + ((size_t)own * patterns + GROUP(1)) * 4 * rows * width + f;
    UNROLL
    for (int m = 0; m < ROWS; m++)
        if (row + m < rows)
            UNROLL
            for (int q = 0; q < 2; q++)
                put_number(sums[m][q], out + (size_t)(2 * q * rows + row + m) * width, rows * width);
}

/* Patterns y (rows, 2 width) of the boxes from `low` on, from mid (boxes from `begin` on, patterns, parity, part, rows,
   inner) and matrices phi (parity, inner, wide); added to y if `adds`. up: the sum over the children first[box] ..
   first[box + 1], times the shift of each; where there are none nothing is written. to: the number of box 0 in y. */
KERNEL phi_pass(GLOBAL const real_type *phi, int rows, int inner, int width, int wide, GLOBAL const real_type *mid,
                int begin, int patterns, int up, GLOBAL const int *first, GLOBAL const int *octants,
                GLOBAL const real_type *shifts, int low, int adds, GLOBAL real_type *y, int pitch, int to)
{
    int items = (rows + ROWS - 1) / ROWS * width, chunks = (items + GROUP_SIZE - 1) / GROUP_SIZE;
    int box = low + GROUP(0) / chunks, i = GROUP(0) % chunks * GROUP_SIZE + LOCAL_ID(0);
    int child = up ? first[box] : box, last = up ? first[box + 1] : box + 1;
    if (i >= items || child == last)
        return;
    int row = i / width * ROWS, f = i % width;
    number total[ROWS][2] = {{{0}}};
    for (; child < last; child++) {
        GLOBAL const real_type *given = mid + ((size_t)(child - begin) * patterns + GROUP(1)) * 4 * rows * inner;
        number sums[ROWS][2] = {{{0}}};
        for (int k = 0; k < inner; k++) {
            real_type e = phi[k * wide + f], o = phi[(inner + k) * wide + f];
            UNROLL
            for (int m = 0; m < ROWS; m++) {
                int at = (row + m < rows ? row + m : rows - 1) * inner + k;
                sums[m][0] = plus(sums[m][0], scaled(number_at(given, at, rows * inner), e));
                sums[m][1] = plus(sums[m][1], scaled(number_at(given, 2 * rows * inner + at, rows * inner), o));
            }
        }
        GLOBAL const real_type *shift = up ? shifts + (size_t)octants[child] * 2 * pitch + f : shifts;
        UNROLL
        for (int m = 0; m < ROWS; m++) {
            int one = 2 * width * (row + m < rows ? row + m : rows - 1), two = one + width;
            number a = plus(sums[m][0], sums[m][1]), b = minus(sums[m][0], sums[m][1]);
            if (up) {
                a = times(number_at(shift, one, pitch), a);
                b = times(number_at(shift, two, pitch), b);
            }
            total[m][0] = plus(total[m][0], a);
            total[m][1] = plus(total[m][1], b);
        }
    }
    GLOBAL real_type *out = y + ((size_t)(to + box) * patterns + GROUP(1)) * 2 * pitch + f;
    UNROLL
    for (int m = 0; m < ROWS; m++)
        if (row + m < rows)
            UNROLL
            for (int q = 0; q < 2; q++) {
                GLOBAL real_type *at = out + (2 * (row + m) + q) * width;
                put_number(adds ? plus(number_at(at, 0, pitch), total[m][q]) : total[m][q], at, pitch);
            }
}

/* sums of the boxes from `low` on: the patterns y of separated boxes on the full grid of `directions`, times factors
   (block, offsets, part, pair) of their offsets; source and offset of the pairs first[box] .. first[box + 1]. */
KERNEL translate_boxes(GLOBAL const real_type *y, int pitch, int directions, GLOBAL const real_type *factors, int offsets,
                       int pair, GLOBAL const int *first, GLOBAL const int *source, GLOBAL const int *offset, int columns,
                       int low, GLOBAL real_type *sums)
{
    int chunks = (directions + GROUP_SIZE - 1) / GROUP_SIZE, own = GROUP(0) / chunks, box = low + own;
    int d = GROUP(0) % chunks * GROUP_SIZE + LOCAL_ID(0);
    if (d >= directions)
        return;
    GLOBAL const real_type *factor = factors + (size_t)(d / pair) * offsets * 2 * pair + d % pair;
    number totals[SPECTRA] = {{0}};
    for (int e = first[box]; e < first[box + 1]; e++) {
        number own_factor = number_at(factor, 2 * pair * offset[e], pair);
        GLOBAL const real_type *given = y + ((size_t)source[e] * columns + GROUP(1)) * SPECTRA * 2 * pitch + d;
        UNROLL
        for (int s = 0; s < SPECTRA; s++)
            totals[s] = plus_product(totals[s], own_factor, number_at(given, 2 * s * pitch, pitch));
    }
    GLOBAL real_type *out = sums + ((size_t)own * columns + GROUP(1)) * SPECTRA * 2 * pitch + d;
    UNROLL
    for (int s = 0; s < SPECTRA; s++)
        put_number(totals[s], out + 2 * s * pitch, pitch);
}
