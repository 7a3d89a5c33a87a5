/* What kernels of time stepping know of an element in a block.

   A field is [block][component][node][lane]; SIZE nodes, FACE_SIZE of them on a face, LANES elements in a block. */
#include "backends/prelude.h"

#define FIELD (3 * SIZE * LANES)

/* Number in a field of component k at face node m of an element whose values begin at `start`. */
DEVICE size_t place_of(size_t start, int k, GLOBAL const int *nodes, int face, int m)
{
    return start + (size_t)(k * SIZE + nodes[face * FACE_SIZE + m]) * LANES;
}

/* One of the two tangential components that are kept of a face: 0 between the first and the second vertex, 1 between
   the first and the third. */
DEVICE real_type trace_of(GLOBAL const real_type *field, size_t start, GLOBAL const int *nodes, int face, int m, int which)
{
    int k = which ? (face == 3 ? 1 : 2) : (face == 1 ? 1 : 0);
    if (face == 0)
        return field[place_of(start, which + 1, nodes, 0, m)] - field[place_of(start, 0, nodes, 0, m)];
    return field[place_of(start, k, nodes, face, m)];
}

/* The first value in a field of the element with that number. */
DEVICE size_t start_of(int element)
{
    return (size_t)(element / LANES) * FIELD + element % LANES;
}

/* The sum over waves of Re(amplitude phase) at place n of `count`: amplitudes (waves, 2, count) real and imaginary parts,
   phases (waves, 2). */
DEVICE real_type incident_at(GLOBAL const real_type *amplitudes, GLOBAL const real_type *phases, int waves, int count, int n)
{
    real_type total = R(0.0);
    for (int w = 0; w < waves; w++) {
        GLOBAL const real_type *re = amplitudes + (size_t)2 * w * count;
        total += re[n] * phases[2 * w] - re[count + n] * phases[2 * w + 1];
    }
    return total;
}
