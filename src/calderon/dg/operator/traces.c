/* What a field is on chosen faces: the twin of FacesOf.traces in boundary.py. */
#include "dg/operator/block.h"

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
