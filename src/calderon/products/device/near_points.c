/* Direct sums of the fields of points at points (P2P); the twin of products/direct_sums.py and mlfmm/points.py.

   PAIR names the header with KINDS (real numbers of a source), FIELDS (real numbers at a target), SCALARS (of the sum) and
   add_pair, which adds the fields of one source. Places (points, 3) are in double precision, and relative to the first
   target of a task in REAL: in single precision with what that leaves out, since points may be closer together than its
   rounding. */
#include "backends/prelude.h"
#include PAIR

#define PLACES (REAL_IS_DOUBLE ? 3 : 6)
#define COLUMNS ((PLACES + KINDS + 3) / 4 * 4)

/* A place relative to an origin, and what is left out. */
DEVICE void relative_place(GLOBAL const double *places, int i, const double *origin, real_type *place)
{
    for (int c = 0; c < 3; c++) {
        double x = places[3 * (size_t)i + c] - origin[c];
        place[c] = (real_type)x;
        if (!REAL_IS_DOUBLE)
            place[3 + c] = (real_type)(x - (double)place[c]);
    }
}

/* fields (FIELDS, others): at targets, of the sources in runs (n, 2) with numbers (KINDS, count); a group takes a task (first
   target, one beyond the last, first run, one beyond the last), a thread one of its targets after the other. */
KERNEL near_fields(GLOBAL const double *sources, GLOBAL const real_type *numbers, int count, GLOBAL const double *targets,
                   int others, GLOBAL const int *tasks, GLOBAL const int *runs, GLOBAL const real_type *scalars,
                   GLOBAL real_type *fields)
{
    LOCAL ALIGNED real_type tile[GROUP_SIZE * COLUMNS];
    int t = LOCAL_ID(0);
    GLOBAL const int *task = tasks + 4 * (size_t)GROUP(0);
    real_type p[SCALARS];
    for (int n = 0; n < SCALARS; n++)
        p[n] = scalars[n];
    for (int first = task[0]; first < task[1]; first += GROUP_SIZE) {
        /* places relative to the first target, which is close to all */
        double origin[3];
        real_type x[6], total[FIELDS] = {0};
        int at = first + t < task[1] ? first + t : task[1] - 1;
        for (int c = 0; c < 3; c++)
            origin[c] = targets[3 * (size_t)task[0] + c];
        relative_place(targets, at, origin, x);
        for (int run = task[2]; run < task[3]; run++) {
            int end = runs[2 * (size_t)run + 1];
            for (int low = runs[2 * (size_t)run]; low < end; low += GROUP_SIZE) {
                /* sources that the group shares */
                int j = low + t, filled = end - low < GROUP_SIZE ? end - low : GROUP_SIZE;
                BARRIER;
                if (j < end) {
                    real_type place[6];
                    relative_place(sources, j, origin, place);
                    for (int c = 0; c < PLACES; c++)
                        tile[t * COLUMNS + c] = place[c];
                    for (int k = 0; k < KINDS; k++)
                        tile[t * COLUMNS + PLACES + k] = numbers[k * (size_t)count + j];
                }
                BARRIER;
                real_type sum[FIELDS] = {0}; /* sums of sums keep their digits in single precision */
                NO_UNROLL
                for (int q = 0; q < filled; q++) {
                    SHARED const real_type *source = tile + q * COLUMNS;
                    real_type e[3];
                    for (int c = 0; c < 3; c++) {
                        e[c] = x[c] - source[c];
                        if (!REAL_IS_DOUBLE)
                            e[c] += x[3 + c] - source[3 + c];
                    }
                    add_pair(e, source + PLACES, p, sum);
                }
                for (int f = 0; f < FIELDS; f++)
                    total[f] += sum[f];
            }
        }
        if (first + t < task[1])
            for (int f = 0; f < FIELDS; f++)
                fields[f * (size_t)others + at] = total[f];
    }
}
