/* What driven currents add to a field, and what a field is where they flow: the twin of currents.py. */
#include "backends/prelude.h"

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
