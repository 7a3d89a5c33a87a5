/* The curl in a block of elements, by a group of threads that takes ROWS nodes at a time. LIFT_ROWS: rows of a lift
   matrix. OWN: where the values of the block are, SHARED or GLOBAL. */
#include "dg/operator/block.h"

#define TRACES (8 * FACE_SIZE * LANES)
#define GROUP_SIZE (LANES * ROWS)

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
