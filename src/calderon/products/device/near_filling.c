/* Blocks of a near store from the local matrices of pairs of triangles (tile.c), and their numbers in the form
   in which they are stored; the twin of products/packed.py. REAL: of local matrices and entries. PARTS: real numbers of an
   entry, 1 or 2. STORED_REAL: of blocks, unless PACKED: then 16-bit integers, GROUPED of which in a row have one exponent.
   WIDE_REAL: in which rounding errors are summed, double wherever there is double. */
#include "galerkin/device/strips.h"
#include "products/device/stored.h"

typedef WIDE_REAL wide_type;

#define LARGEST_INTEGER 32767
#define LEAST_EXPONENT -127

/* Places in the record of a block: its strip, position of its first column, how many columns, where its entries begin in
   those that are gathered, the first thread and the first row of all these blocks, and in two parts, WORD a + b, where its
   numbers and its exponents are stored. */
enum { STRIP, FIRST_COLUMN, SPAN, ENTRIES, FIRST_THREAD, FIRST_OF_ROWS, NUMBERS, NUMBERS_LOW, EXPONENTS, EXPONENTS_LOW };
#define BLOCK_FIELDS (EXPONENTS_LOW + 1)

/* Add to `entries` what the columns of blocks receive; one thread has one column of a block, in all its rows.

   matrices, matrices_i (layers, size, count): real and imaginary local matrices, rows of `width` numbers, of the pairs of
   strips (FIRST_PAIR). rows, columns: where the triangles of each function begin; of these, row_triangles: the place in the
   list of its cluster, column_triangles: the number, row_locals, column_locals: which local function it is. lists: triangles
   of the columns of strips, which increase. */
KERNEL gather_blocks(GLOBAL const real_type *matrices, GLOBAL const real_type *matrices_i, GLOBAL const int *strips,
                     GLOBAL const int *blocks, int number, GLOBAL const int *rows, GLOBAL const int *row_triangles,
                     GLOBAL const int *row_locals, GLOBAL const int *columns, GLOBAL const int *column_triangles,
                     GLOBAL const int *column_locals, GLOBAL const int *lists, int size, int width, int count, int threads,
                     GLOBAL real_type *entries)
{
    int t = THREAD(0);
    if (t >= threads)
        return;
    GLOBAL const int *block = blocks + (size_t)BLOCK_FIELDS * last_at_most(blocks + FIRST_THREAD, BLOCK_FIELDS, number, t);
    GLOBAL const int *strip = strips + (size_t)STRIP_FIELDS * block[STRIP];
    GLOBAL const int *list = lists + strip[COLUMN_LIST];
    int j = t - block[FIRST_THREAD], column = block[FIRST_COLUMN] + j;
    GLOBAL real_type *out = entries + (size_t)PARTS * (block[ENTRIES] + j);
    for (int e = columns[column]; e < columns[column + 1]; e++) {
        /* the place of a triangle of the column in the strip */
        int s = last_at_most(list, 1, strip[COLUMN_TRIANGLES], column_triangles[e]);
        /* its local matrices with the triangles of each row */
        for (int i = 0; i < strip[ROWS_OF_STRIP]; i++) {
            real_type re = R(0.0), im = R(0.0);
            int row = strip[FIRST_ROW] + i;
            for (int f = rows[row]; f < rows[row + 1]; f++) {
                int pair = strip[FIRST_PAIR] + row_triangles[f] * strip[COLUMN_TRIANGLES] + s;
                size_t from = ((size_t)(pair / count) * size + row_locals[f] * width + column_locals[e]) * count + pair % count;
                re += matrices[from];
                im += PARTS == 2 ? matrices_i[from] : R(0.0);
            }
            out[(size_t)PARTS * i * block[SPAN]] += re;
            if (PARTS == 2)
                out[(size_t)PARTS * i * block[SPAN] + 1] += im;
        }
    }
}

#if PACKED
#define KINDS (STEP > 0 ? STEP : 1)

/* Store a row of `width` numbers as integers, and the exponents of its groups: differences of rounded sums, so that what
   rounding leaves of a number goes to the next one of its kind, STEP further; 0 for numbers that leave nothing. */
DEVICE void pack_row(GLOBAL const real_type *values, int width, GLOBAL short *integers, GLOBAL signed char *exponents)
{
    wide_type left[KINDS];
    UNROLL
    for (int s = 0; s < KINDS; s++)
        left[s] = 0;
    for (int first = 0; first < width; first += GROUPED) {
        int many = width - first < GROUPED ? width - first : GROUPED, exponent = LEAST_EXPONENT;
        /* the least power of two that holds all numbers of the group, with what is left of the last one */
        wide_type largest = 0, more = 0;
        for (int c = 0; c < many; c++)
            largest = fmax(largest, fabs((wide_type)values[first + c]));
        UNROLL
        for (int s = 0; s < KINDS; s++)
            more = fmax(more, fabs(left[s]));
        if (largest + more > 0) {
            frexp((largest + more) / (wide_type)(LARGEST_INTEGER - 1), &exponent);
            exponent = exponent < LEAST_EXPONENT ? LEAST_EXPONENT : exponent;
        }
        exponents[first / GROUPED] = (signed char)exponent;
        wide_type unit = ldexp((wide_type)1, exponent), inverse = ldexp((wide_type)1, -exponent);
        UNROLL
        for (int s = 0; s < KINDS; s++) {
            wide_type total = left[s] * inverse, whole = 0;
            for (int c = (s - first % KINDS + KINDS) % KINDS; c < many; c += KINDS) {
                total = (STEP ? total : 0) + (wide_type)values[first + c] * inverse;
                wide_type rounded = rint(total);
                integers[first + c] = (short)(rounded - (STEP ? whole : 0));
                whole = rounded;
            }
            left[s] = STEP ? (total - whole) * unit : 0;
        }
    }
}
#endif

/* Store the gathered entries of blocks; one thread has one row of a block. */
KERNEL store_blocks(GLOBAL const real_type *entries, GLOBAL const int *blocks, int number, int threads,
                    GLOBAL stored_type *numbers, GLOBAL signed char *exponents)
{
    int t = THREAD(0);
    if (t >= threads)
        return;
    GLOBAL const int *block = blocks + (size_t)BLOCK_FIELDS * last_at_most(blocks + FIRST_OF_ROWS, BLOCK_FIELDS, number, t);
    int row = t - block[FIRST_OF_ROWS], width = PARTS * block[SPAN];
    GLOBAL const real_type *from = entries + (size_t)PARTS * block[ENTRIES] + (size_t)row * width;
    GLOBAL stored_type *to = numbers + PARTS * ((size_t)block[NUMBERS] * WORD + block[NUMBERS_LOW]) + (size_t)row * width;
#if PACKED
    size_t group = (size_t)block[EXPONENTS] * WORD + block[EXPONENTS_LOW] + (size_t)row * ((width + GROUPED - 1) / GROUPED);
    pack_row(from, width, to, exponents + group);
#else
    for (int c = 0; c < width; c++)
        to[c] = (stored_type)from[c];
#endif
}
