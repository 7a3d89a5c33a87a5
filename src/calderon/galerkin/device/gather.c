/* Rows of a matrix from the local matrices of a tile: every entry gathers what its row and column share. No two threads
   write to one place. */
#include "backends/prelude.h"

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
            total_i += OUT_COMPLEX ? matrices_i[first + column_entries[n]] : R(0.0);
        }
    }
    GLOBAL real_type *place = out + (1 + OUT_COMPLEX) * ((size_t)targets[r] * pitch + left + c);
    place[0] = adds ? place[0] + total : total;
    if (OUT_COMPLEX)
        place[1] = adds ? place[1] + total_i : total_i;
}
