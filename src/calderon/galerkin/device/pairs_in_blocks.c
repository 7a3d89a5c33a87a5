/* The local matrices of the pairs of triangles of blocks between clusters of functions. FORM says what is summed with
   which TESTS and TRIALS functions; one thread takes one pair. The blocks of a row cluster stand side by side, as one
   strip, in which each pair is integrated once. Memory has layers: pair n of all strips is place n % count of layer
   n / count, so that what belongs to neighbouring threads is contiguous. */
#include GREEN
#include FORM
#include "galerkin/regular/pair_moments.h"
#include "galerkin/device/strips.h"

/* Local matrix number `from`, transposed if so, of touching and near pairs, to number `to` of all; both in layers of `count`
   matrices of rows * width numbers. */
DEVICE void copy_matrix(GLOBAL const out_type *special, size_t from, int transposed, int rows, int width, int count,
                        size_t to, GLOBAL out_type *out)
{
    for (int a = 0; a < rows; a++)
        for (int b = 0; b < width; b++) {
            int entry = transposed ? b * rows + a : a * width + b;
            out[to + (size_t)(a * width + b) * count] = special[from + (size_t)entry * count];
        }
}

/* Fill out (layers, functions * WIDTH, count) and out_i with the local matrices of all pairs of some strips.

   test_nodes .. functions: as in tile.c. strips (number, STRIP_FIELDS): see strips.h; row_lists, column_lists: triangles.
   skips: touching and near pairs of each test triangle as in listed.h, pair_numbers: the number of each of these pairs, -1 -
   number where its triangles are exchanged, from the place of the pair in `skips` less that of the first on. special,
   special_i: local matrices of the first `specials` of them; those of the others are zero. */
KERNEL pairs_in_blocks(GLOBAL const real_type *test_nodes, GLOBAL const real_type *test_table,
                       GLOBAL const real_type *test_data, GLOBAL const real_type *trial_nodes,
                       GLOBAL const real_type *trial_table, GLOBAL const real_type *trial_data,
                       GLOBAL const real_type *scalars, GLOBAL const real_type *coefficients, int count, int functions,
                       GLOBAL const int *strips, int number, GLOBAL const int *row_lists,
                       GLOBAL const int *column_lists, GLOBAL const int *skips, GLOBAL const int *pair_numbers,
                       GLOBAL const out_type *special, GLOBAL const out_type *special_i, int specials,
                       GLOBAL out_type *out, GLOBAL out_type *out_i)
{
    LOCAL real_type x[NODES_LENGTH];
    /* the pair of this thread: a group takes one test triangle and some trial triangles of a strip */
    GLOBAL const int *strip = strips + (size_t)STRIP_FIELDS * last_at_most(strips + FIRST_GROUP, STRIP_FIELDS, number, GROUP(0));
    int width = strip[COLUMN_TRIANGLES], segments = (width + LOCAL_SIZE(0) - 1) / LOCAL_SIZE(0);
    int group = GROUP(0) - strip[FIRST_GROUP], k = group / segments;
    int j = group % segments * LOCAL_SIZE(0) + LOCAL_ID(0), inside = j < width;
    int i = row_lists[strip[ROW_LIST] + k], at = column_lists[strip[COLUMN_LIST] + (inside ? j : width - 1)];
    for (int n = LOCAL_ID(0); n < NODES_LENGTH; n += LOCAL_SIZE(0))
        x[n] = test_nodes[(size_t)i * NODES_LENGTH + n];
    BARRIER;
    /* all pairs by regular rules */
    GLOBAL const real_type *test = test_data + (size_t)i * TEST_LENGTH(functions), *trial = trial_data + at;
    real_type sums[PARTS * COMPONENTS * MOMENTS];
    pair_moments(x, test_table, test, trial_nodes, trial_table, trial, scalars, at, count, 1, sums);
    /* touching and near ones have been integrated before */
    if (inside) {
        size_t size = (size_t)functions * WIDTH * count;
        int pair = strip[FIRST_PAIR] + k * width + j, place = listed_at(skips, i, at);
        size_t to = pair / count * size + pair % count;
        if (place < 0) {
            real_type factor = test[DATA_JACOBIAN] * trial[(size_t)DATA_JACOBIAN * count];
            local_matrix(sums, test, trial, coefficients, functions, factor, to, count, out, out_i);
        } else {
            int signed_number = pair_numbers[place - skips[0]], transposed = signed_number < 0;
            int own = transposed ? -1 - signed_number : signed_number, there = own < specials;
            size_t from = there ? own / count * size + own % count : 0;
            if (there) {
                copy_matrix(special, from, transposed, functions, WIDTH, count, to, out);
#if OUT_COMPLEX
                copy_matrix(special_i, from, transposed, functions, WIDTH, count, to, out_i);
#endif
            } else
                for (int n = 0; n < functions * WIDTH; n++) {
                    out[to + (size_t)n * count] = R(0.0);
#if OUT_COMPLEX
                    out_i[to + (size_t)n * count] = R(0.0);
#endif
                }
        }
    }
}
