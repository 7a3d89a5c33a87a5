/* Plane waves between boxes; the twin of mlfmm/passes.py. Patterns (box, COUNT patterns, part, pitch) are functions on
   grids of `width` angles on a half circle; a thread takes a direction, or ROWS angles theta of one phi, and sums what
   children, the parent or separated boxes give, so that sums have a fixed order and need no atomics. The second number of
   a group is a pattern, in `translate_boxes` a column, whose SPECTRA patterns meet each factor while it is in a register.

   REAL: of all numbers. */
#include "backends/prelude.h"

#define ROWS 4

/* a + i b times the complex number at `place` of a shift, whose imaginary parts are `pitch` numbers further. */
DEVICE void turn(GLOBAL const real_type *shift, int place, int pitch, real_type *a, real_type *b)
{
    real_type re = *a, im = *b, p = shift[place], q = shift[pitch + place];
    *a = re * p - im * q;
    *b = re * q + im * p;
}

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
    real_type sums[ROWS][4] = {{0}};
    for (int t = 0; t < inner; t++) {
        int one = 2 * width * t, two = one + width;
        real_type a = given[one], b = given[pitch + one], c = given[two], d = given[pitch + two];
        if (down) {
            turn(shift, one, pitch, &a, &b);
            turn(shift, two, pitch, &c, &d);
        }
        UNROLL
        for (int m = 0; m < ROWS; m++) {
            int at = (row + m < rows ? row + m : rows - 1) * inner + t;
            real_type e = even[at], o = odd[at];
            sums[m][0] += e * (a + c);
            sums[m][1] += e * (b + d);
            sums[m][2] += o * (a - c);
            sums[m][3] += o * (b - d);
        }
    }
    GLOBAL real_type *out = mid + ((size_t)own * patterns + GROUP(1)) * 4 * rows * width + f;
    UNROLL
    for (int m = 0; m < ROWS; m++)
        if (row + m < rows)
            UNROLL
            for (int q = 0; q < 4; q++)
                out[(size_t)(q * rows + row + m) * width] = sums[m][q];
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
    real_type total[ROWS][4] = {{0}};
    for (; child < last; child++) {
        GLOBAL const real_type *given = mid + ((size_t)(child - begin) * patterns + GROUP(1)) * 4 * rows * inner;
        real_type sums[ROWS][4] = {{0}};
        for (int k = 0; k < inner; k++) {
            real_type e = phi[k * wide + f], o = phi[(inner + k) * wide + f];
            UNROLL
            for (int m = 0; m < ROWS; m++) {
                int at = (row + m < rows ? row + m : rows - 1) * inner + k;
                sums[m][0] += e * given[at];
                sums[m][1] += e * given[rows * inner + at];
                sums[m][2] += o * given[2 * rows * inner + at];
                sums[m][3] += o * given[3 * rows * inner + at];
            }
        }
        GLOBAL const real_type *shift = up ? shifts + (size_t)octants[child] * 2 * pitch + f : shifts;
        UNROLL
        for (int m = 0; m < ROWS; m++) {
            int one = 2 * width * (row + m < rows ? row + m : rows - 1), two = one + width;
            real_type a = sums[m][0] + sums[m][2], b = sums[m][1] + sums[m][3];
            real_type c = sums[m][0] - sums[m][2], d = sums[m][1] - sums[m][3];
            if (up) {
                turn(shift, one, pitch, &a, &b);
                turn(shift, two, pitch, &c, &d);
            }
            total[m][0] += a;
            total[m][1] += b;
            total[m][2] += c;
            total[m][3] += d;
        }
    }
    GLOBAL real_type *out = y + ((size_t)(to + box) * patterns + GROUP(1)) * 2 * pitch + f;
    UNROLL
    for (int m = 0; m < ROWS; m++)
        if (row + m < rows)
            UNROLL
            for (int q = 0; q < 4; q++) {
                size_t at = (size_t)(q % 2) * pitch + 2 * width * (row + m) + q / 2 * width;
                out[at] = adds ? out[at] + total[m][q] : total[m][q];
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
    real_type re[SPECTRA] = {0}, im[SPECTRA] = {0};
    for (int e = first[box]; e < first[box + 1]; e++) {
        real_type a = factor[2 * pair * offset[e]], b = factor[2 * pair * offset[e] + pair];
        GLOBAL const real_type *given = y + ((size_t)source[e] * columns + GROUP(1)) * SPECTRA * 2 * pitch + d;
        UNROLL
        for (int s = 0; s < SPECTRA; s++) {
            real_type p = given[2 * s * pitch], q = given[(2 * s + 1) * pitch];
            re[s] += a * p - b * q;
            im[s] += a * q + b * p;
        }
    }
    GLOBAL real_type *out = sums + ((size_t)own * columns + GROUP(1)) * SPECTRA * 2 * pitch + d;
    UNROLL
    for (int s = 0; s < SPECTRA; s++) {
        out[2 * s * pitch] = re[s];
        out[(2 * s + 1) * pitch] = im[s];
    }
}
