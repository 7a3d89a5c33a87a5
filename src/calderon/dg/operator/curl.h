/* The curl in a block of elements, by a group of threads of which each takes two nodes, ROWS apart: each value of the block
   and each number of the matrices is loaded once for both. OWN: where the values of the block are, SHARED or GLOBAL. */
#include "dg/operator/block.h"

#define TRACES (8 * FACE_SIZE * LANES)
#define GROUP_SIZE (LANES * ROWS)

/* c = contravariant components J curl^k at the nodes i and j of the element in a lane, three of each: from its own values,
   [component][node][LANES], and traces [face][node][2][LANES]. volume [i][node]: derivatives along three axes, and 0; lift
   [i][m]: of four faces. */
DEVICE void curl_at(int i, int j, int lane, OWN const real_type *own, SHARED const real_type *traces,
                    GLOBAL const quad_type *volume, GLOBAL const quad_type *lift, real_type *c)
{
    UNROLL
    for (int n = 0; n < 6; n++)
        c[n] = R(0.0);
    NO_UNROLL
    for (int k = 0; k < SIZE; k++) {
        real_type e1 = own[k * LANES + lane], e2 = own[(SIZE + k) * LANES + lane];
        real_type e3 = own[(2 * SIZE + k) * LANES + lane];
        UNROLL
        for (int n = 0; n < 2; n++) {
            quad_type d = volume[SIZE * (n ? j : i) + k];
            c[3 * n] += d.y * e3 - d.z * e2;
            c[3 * n + 1] += d.z * e1 - d.x * e3;
            c[3 * n + 2] += d.x * e2 - d.y * e1;
        }
    }
    NO_UNROLL
    for (int m = 0; m < FACE_SIZE; m++) {
        int at = 2 * m * LANES + lane, face = 2 * FACE_SIZE * LANES;
        real_type s[4], r[4];
        UNROLL
        for (int f = 0; f < 4; f++) {
            s[f] = traces[at + f * face];
            r[f] = traces[at + f * face + LANES];
        }
        UNROLL
        for (int n = 0; n < 2; n++) {
            quad_type p = lift[FACE_SIZE * (n ? j : i) + m];
            c[3 * n] += p.x * r[0] - p.x * s[0] - p.z * r[2] + p.w * r[3];
            c[3 * n + 1] += p.y * r[1] - p.x * r[0] - p.w * s[3];
            c[3 * n + 2] += p.x * s[0] - p.y * s[1] + p.z * s[2];
        }
    }
}
