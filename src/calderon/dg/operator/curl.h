/* The curl in a block of elements, by a group of threads that takes ROWS nodes at a time.

   A field is [block][component][node][lane]; SIZE nodes, FACE_SIZE of them on a face, LANES elements in a block.
   LIFT_ROWS: rows of a lift matrix. OWN: where the values of the block are, SHARED or GLOBAL. */
#include "backends/prelude.h"

#define FIELD (3 * SIZE * LANES)
#define TRACES (8 * FACE_SIZE * LANES)
#define GROUP_SIZE (LANES * ROWS)

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

/* c = contravariant components J curl^k at node i of the element in a lane: from its own values, [component][node][LANES],
   and traces [face][node][2][LANES]. volume [i][j][axis], lift [face][i][m]. */
DEVICE void curl_at(int i, int lane, OWN const real_type *own, SHARED const real_type *traces,
                    GLOBAL const real_type *volume, GLOBAL const real_type *lift, real_type *c)
{
    real_type c1 = R(0.0), c2 = R(0.0), c3 = R(0.0);
    GLOBAL const real_type *d = volume + 3 * SIZE * i;
    NO_UNROLL
    for (int j = 0; j < SIZE; j++) {
        real_type e1 = own[j * LANES + lane], e2 = own[(SIZE + j) * LANES + lane];
        real_type e3 = own[(2 * SIZE + j) * LANES + lane];
        c1 += d[3 * j + 1] * e3 - d[3 * j + 2] * e2;
        c2 += d[3 * j + 2] * e1 - d[3 * j] * e3;
        c3 += d[3 * j] * e2 - d[3 * j + 1] * e1;
    }
    NO_UNROLL
    for (int m = 0; m < FACE_SIZE; m++) {
        GLOBAL const real_type *p = lift + i * FACE_SIZE + m;
        int at = 2 * m * LANES + lane, face = 2 * FACE_SIZE * LANES, matrix = LIFT_ROWS * FACE_SIZE;
        real_type s = p[0] * traces[at], r = p[0] * traces[at + LANES];
        c1 += r - s;
        c2 -= r;
        c3 += s;
        c2 += p[matrix] * traces[at + face + LANES];
        c3 -= p[matrix] * traces[at + face];
        c1 -= p[2 * matrix] * traces[at + 2 * face + LANES];
        c3 += p[2 * matrix] * traces[at + 2 * face];
        c1 += p[3 * matrix] * traces[at + 3 * face + LANES];
        c2 -= p[3 * matrix] * traces[at + 3 * face];
    }
    c[0] = c1;
    c[1] = c2;
    c[2] = c3;
}
