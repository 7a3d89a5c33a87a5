/* Strips of blocks between clusters of functions, and lists in which a thread finds what it works on. */
#include "backends/prelude.h"

/* Places in the record of a strip, the blocks of one row cluster: where the triangles of its rows begin, and how many, the
   same of its columns; the first of its pairs and the first group of threads that integrates them; position of the first
   row, and how many. */
enum { ROW_LIST, ROW_TRIANGLES, COLUMN_LIST, COLUMN_TRIANGLES, FIRST_PAIR, FIRST_GROUP, FIRST_ROW, ROWS_OF_STRIP };
#define STRIP_FIELDS (ROWS_OF_STRIP + 1)

/* The last of `number` records of `fields` integers whose integer `field`, which increases, is at most `value`. */
DEVICE int record_of(GLOBAL const int *records, int number, int fields, int field, int value)
{
    int low = 0, high = number;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (records[(size_t)middle * fields + field] <= value)
            low = middle;
        else
            high = middle;
    }
    return low;
}
