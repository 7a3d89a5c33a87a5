/* What a device does with a field between the steps: driven currents, values at places, traces, a check. */
#include "dg/operator/block.h"

/* field += factor values at the given places, each of them once. */
KERNEL add_load(GLOBAL real_type *field, GLOBAL const int *places, GLOBAL const real_type *values, real_type factor,
                int count)
{
    int n = THREAD(0);
    if (n < count)
        field[places[n]] += factor * values[n];
}

/* out = values of a field at the given places. */
KERNEL values_at(GLOBAL const real_type *field, GLOBAL const int *places, GLOBAL real_type *out, int count)
{
    int n = THREAD(0);
    if (n < count)
        out[n] = field[places[n]];
}

/* found (groups,) = 1 where one of the values that a group looks at is infinite or no number, else 0; threads: of all
   groups. */
KERNEL not_finite(GLOBAL const real_type *field, int count, int threads, GLOBAL int *found)
{
    LOCAL int any[1];
    if (LOCAL_ID(0) == 0)
        any[0] = 0;
    BARRIER;
    int bad = 0;
    for (size_t n = THREAD(0); n < (size_t)count; n += threads)
        bad |= !(field[n] - field[n] == R(0.0));
    if (bad)
        any[0] = 1;
    BARRIER;
    if (LOCAL_ID(0) == 0)
        found[GROUP(0)] = any[0];
}

/* out (faces, 2, FACE_SIZE): tangential components of a field on faces; starts, sides: of the elements they belong
   to. */
KERNEL face_traces(GLOBAL const real_type *field, GLOBAL const int *starts, GLOBAL const int *sides,
                   GLOBAL const int *nodes, int faces, GLOBAL real_type *out)
{
    int n = THREAD(0);
    if (n >= faces * FACE_SIZE)
        return;
    int f = n / FACE_SIZE, m = n % FACE_SIZE;
    for (int which = 0; which < 2; which++)
        out[(2 * f + which) * FACE_SIZE + m] = trace_of(field, (size_t)starts[f], nodes, sides[f], m, which);
}
