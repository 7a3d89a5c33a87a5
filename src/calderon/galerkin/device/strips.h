/* Strips of blocks between clusters of functions. */
#include "galerkin/device/listed.h"

/* Places in the record of a strip, the blocks of one row cluster: where the triangles of its rows begin, and how many, the
   same of its columns; the first of its pairs and the first group of threads that integrates them; position of the first
   row, and how many. */
enum { ROW_LIST, ROW_TRIANGLES, COLUMN_LIST, COLUMN_TRIANGLES, FIRST_PAIR, FIRST_GROUP, FIRST_ROW, ROWS_OF_STRIP };
#define STRIP_FIELDS (ROWS_OF_STRIP + 1)
