/* Local matrices of a tile, and rows of a matrix from them: every entry gathers what its row and column share. No two threads
   write to one place. */
#include "galerkin/device/listed.h"

/* Replace the local matrices of touching and near pairs of the test triangles lo up to, without, hi in out (tile, size, count)
   and out_i; one thread has one pair.

   skips: the pairs of each test triangle as in listed.h; numbers: the number of each of them, below 0 where its triangles are
   exchanged. special, special_i (layers, size, count): local matrices of the first `specials` pairs; those of the others are
   zero. upper: only pairs whose triangles are not exchanged count, those of a triangle with itself half. */
KERNEL replace(GLOBAL const int *skips, GLOBAL const int *numbers, GLOBAL const real_type *special,
               GLOBAL const real_type *special_i, int specials, int size, int upper, int lo, int hi, int count,
               GLOBAL real_type *out, GLOBAL real_type *out_i)
{
    int at = skips[lo] + THREAD(0);
    if (at >= skips[hi] || numbers[at - skips[0]] < 0)
        return;
    int tile = last_at_most(skips + lo, 1, hi - lo, at), j = skips[at], pair = numbers[at - skips[0]], there = pair < specials;
    size_t from = there ? (size_t)(pair / count) * size * count + pair % count : 0, to = (size_t)tile * size * count + j;
    real_type factor = upper && lo + tile == j ? R(0.5) : R(1.0);
    for (int n = 0; n < size; n++) {
        out[to + (size_t)n * count] = there ? factor * special[from + (size_t)n * count] : R(0.0);
#if OUT_COMPLEX
        out_i[to + (size_t)n * count] = there ? factor * special_i[from + (size_t)n * count] : R(0.0);
#endif
    }
}

/* row_entries, from row_start[r] to row_start[r + 1]: the (test triangle of the tile) * TESTS + function that belong to
   row r; column_entries: function * count + trial triangle, those of column c. Entry (r, c) goes to row targets[r] and
   column left + c of `out`, whose rows are `pitch` long, and is added to what is there if `adds`. */
KERNEL gather(GLOBAL const real_type *matrices, GLOBAL const real_type *matrices_i, GLOBAL const int *row_start,
              GLOBAL const int *row_entries, GLOBAL const int *column_start, GLOBAL const int *column_entries,
              int columns, int stride, GLOBAL const int *targets, int left, int pitch, int adds, GLOBAL real_type *out)
{
    int c = THREAD(0), r = GROUP(1);
    if (c >= columns)
        return;
    real_type total = R(0.0), total_i = R(0.0);
    for (int m = row_start[r]; m < row_start[r + 1]; m++) {
        size_t first = (size_t)row_entries[m] * stride;
        for (int n = column_start[c]; n < column_start[c + 1]; n++) {
            total += matrices[first + column_entries[n]];
#if OUT_COMPLEX
            total_i += matrices_i[first + column_entries[n]];
#endif
        }
    }
    size_t place = (size_t)targets[r] * pitch + left + c;
#if OUT_COMPLEX
    out[2 * place] = adds ? out[2 * place] + total : total;
    out[2 * place + 1] = adds ? out[2 * place + 1] + total_i : total_i;
#else
    out[place] = adds ? out[place] + total : total;
#endif
}
