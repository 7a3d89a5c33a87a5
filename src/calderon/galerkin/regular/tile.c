/* The local matrices of pairs of triangles, between some test triangles and trial triangles each, by the rule for their
   distance; the twin of tile.py. One thread takes one pair; the nodes of the test triangle are staged for its group. FORM
   says what is summed with which TESTS and TRIALS functions, and what the local matrix of the moments is. Pairs stand in
   strips: a tile of a dense matrix, or the blocks of one row cluster side by side, in which each pair is integrated once.
   Memory has layers: pair n of all strips is place n % count of layer n / count, so that what belongs to neighbouring threads
   is contiguous. */
#include GREEN
#include FORM
#include "galerkin/regular/pair_moments.h"
#include "galerkin/device/strips.h"

/* Put the local matrix of a touching or near pair, one of `special` in layers of `count` matrices (rows, width) or zeros if
   not `there`, to place `to` of the others, times factor; transposed if so. */
DEVICE void put_special(GLOBAL const out_type *special, size_t from, int there, int transposed, real_type factor, int rows,
                        int width, int count, size_t to, GLOBAL out_type *out)
{
    for (int a = 0; a < rows; a++)
        for (int b = 0; b < width; b++) {
            int entry = transposed ? b * rows + a : a * width + b;
            out[to + (size_t)(a * width + b) * count] =
                there ? (out_type)factor * special[from + (size_t)entry * count] : (out_type)0;
        }
}

/* test_nodes (n, NODES_LENGTH), test_table (TESTS, POINTS), test_data (n, TEST_LENGTH); trial_nodes (NODES_LENGTH, count),
   trial_table (TRIALS, POINTS), trial_data (numbers, count): nodes as in distant.h, data as the form reads them; scalars:
   tiny, then parameters of the Green's function. functions: local test functions. Fills out (layers, functions * WIDTH,
   count) and out_i with the local matrices of all pairs of the strips (number, STRIP_FIELDS), see strips.h; row_lists,
   column_lists: their triangles.

   skips: touching and near pairs of each test triangle as in listed.h, pair_numbers: the number of each of these pairs, -1 -
   number where its triangles are exchanged, from the place of the pair in `skips` less that of the first on. special,
   special_i: local matrices of the first `specials` of them; those of the others are zero. upper: only pairs count whose
   trial triangle comes later, or special ones that are not exchanged, those of a triangle with itself half. */
KERNEL regular(GLOBAL const real_type *test_nodes, GLOBAL const real_type *test_table, GLOBAL const real_type *test_data,
               GLOBAL const real_type *trial_nodes, GLOBAL const real_type *trial_table,
               GLOBAL const real_type *trial_data, GLOBAL const real_type *scalars,
               GLOBAL const real_type *coefficients, int count, int functions, int upper, GLOBAL const int *strips,
               int number, GLOBAL const int *row_lists, GLOBAL const int *column_lists, GLOBAL const int *skips,
               GLOBAL const int *pair_numbers, GLOBAL const out_type *special, GLOBAL const out_type *special_i,
               int specials, GLOBAL out_type *out, GLOBAL out_type *out_i)
{
    LOCAL real_type x[NODES_LENGTH];
    /* the pair of this thread: a group takes one test triangle and some trial triangles of a strip */
    GLOBAL const int *strip = strips + (size_t)STRIP_FIELDS * last_at_most(strips + FIRST_GROUP, STRIP_FIELDS, number, GROUP(0));
    GLOBAL const int *columns = column_lists + strip[COLUMN_LIST];
    int width = strip[COLUMN_TRIANGLES], segments = (width + LOCAL_SIZE(0) - 1) / LOCAL_SIZE(0);
    int group = GROUP(0) - strip[FIRST_GROUP], k = group / segments, end = (group % segments + 1) * LOCAL_SIZE(0);
    int j = end - LOCAL_SIZE(0) + LOCAL_ID(0), inside = j < width;
    /* every thread computes: uniform loops, one guarded store */
    int i = row_lists[strip[ROW_LIST] + k], at = columns[inside ? j : width - 1];
    for (int n = LOCAL_ID(0); n < NODES_LENGTH; n += LOCAL_SIZE(0))
        x[n] = test_nodes[(size_t)i * NODES_LENGTH + n];
    BARRIER;
    /* all pairs by regular rules, but for groups that are left out as a whole; no early return: some OpenCL compilers for
       processors go wrong where threads leave after a barrier */
    int some = !upper || columns[(end < width ? end : width) - 1] > i;
    GLOBAL const real_type *test = test_data + (size_t)i * TEST_LENGTH(functions), *trial = trial_data + at;
    real_type sums[PARTS * COMPONENTS * MOMENTS];
    pair_moments(x, test_table, test, trial_nodes, trial_table, trial, scalars, at, count, some, sums);
    /* touching and near ones have been integrated before */
    if (inside) {
        size_t size = (size_t)functions * WIDTH * count;
        int pair = strip[FIRST_PAIR] + k * width + j, place = listed_at(skips, i, at);
        size_t to = pair / count * size + pair % count;
        if (place < 0) {
            real_type factor = upper && at <= i ? R(0.0) : test[DATA_JACOBIAN] * trial[(size_t)DATA_JACOBIAN * count];
            local_matrix(sums, test, trial, coefficients, functions, factor, to, count, out, out_i);
        } else {
            int signed_number = pair_numbers[place - skips[0]], transposed = signed_number < 0;
            int own = transposed ? -1 - signed_number : signed_number, there = own < specials && !(upper && transposed);
            size_t from = there ? own / count * size + own % count : 0;
            real_type factor = upper && i == at ? R(0.5) : R(1.0);
            put_special(special, from, there, transposed, factor, functions, WIDTH, count, to, out);
#if OUT_COMPLEX
            put_special(special_i, from, there, transposed, factor, functions, WIDTH, count, to, out_i);
#endif
        }
    }
}
