/* The curl in a block of elements, by a group of threads of which each takes two nodes, ROWS apart: each value of the block
   and each number of the matrices is loaded once for both. OWN: where the values of the block are, SHARED or GLOBAL. */
#include "dg/operator/block.h"

#define TRACES (8 * FACE_SIZE * LANES)
#define GROUP_SIZE (LANES * ROWS)

/* c += the derivatives d, along three axes, of a vector (e1, e2, e3) in its curl. */
DEVICE void add_derivatives(quad_type d, real_type e1, real_type e2, real_type e3, real_type *c)
{
    c[0] += d.y * e3 - d.z * e2;
    c[1] += d.z * e1 - d.x * e3;
    c[2] += d.x * e2 - d.y * e1;
}

/* c += the lift p of the traces (s, r) of four faces. */
DEVICE void add_faces(quad_type p, real_type s0, real_type r0, real_type s1, real_type r1, real_type s2, real_type r2,
                      real_type s3, real_type r3, real_type *c)
{
    c[0] += p.x * (r0 - s0) - p.z * r2 + p.w * r3;
    c[1] += p.y * r1 - p.x * r0 - p.w * s3;
    c[2] += p.x * s0 - p.y * s1 + p.z * s2;
}

/* c = contravariant components J curl^k at node i of the element in a lane, and d at node j: from its own values,
   [component][node][LANES], and traces [face][node][2][LANES]. volume [i][node]: derivatives along three axes, and 0; lift
   [i][m]: of four faces. */
DEVICE void curl_at(int i, int j, int lane, OWN const real_type *own, SHARED const real_type *traces,
                    GLOBAL const quad_type *volume, GLOBAL const quad_type *lift, real_type *c, real_type *d)
{
    c[0] = c[1] = c[2] = d[0] = d[1] = d[2] = R(0.0);
    NO_UNROLL
    for (int k = 0; k < SIZE; k++) {
        real_type e1 = own[k * LANES + lane], e2 = own[(SIZE + k) * LANES + lane];
        real_type e3 = own[(2 * SIZE + k) * LANES + lane];
        add_derivatives(volume[SIZE * i + k], e1, e2, e3, c);
        add_derivatives(volume[SIZE * j + k], e1, e2, e3, d);
    }
    NO_UNROLL
    for (int m = 0; m < FACE_SIZE; m++) {
        int at = 2 * m * LANES + lane, face = 2 * FACE_SIZE * LANES;
        real_type s0 = traces[at], s1 = traces[at + face], s2 = traces[at + 2 * face], s3 = traces[at + 3 * face];
        at += LANES;
        real_type r0 = traces[at], r1 = traces[at + face], r2 = traces[at + 2 * face], r3 = traces[at + 3 * face];
        add_faces(lift[FACE_SIZE * i + m], s0, r0, s1, r1, s2, r2, s3, r3, c);
        add_faces(lift[FACE_SIZE * j + m], s0, r0, s1, r1, s2, r2, s3, r3, d);
    }
}
