/* Records of edge functions and the field that one sends to a point, as edge_field_entries.py describes them. */
#include "galerkin/rows/cluster_tables.h"

/* Places in the record of a triangle after its nodes (POINTS, 7). */
#define CENTRE (7 * POINTS)
#define FRAME (7 * POINTS + 3)
#define ARMS (7 * POINTS + 12)
#define BETA (7 * POINTS + 30)
#define STRENGTHS (7 * POINTS + 39)

/* c = a x b */
DEVICE void cross(const real_type *a, const real_type *b, real_type *c)
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

/* Add to v what the function with this record and this arm sends to the point y, and return C, for the real or the
   imaginary sums of the kernel times 1, xi_1, xi_2, |xi|^2. crossed: f x n in the place of f. */
DEVICE real_type emitted(GLOBAL const real_type *fixed, GLOBAL const real_type *arm, const real_type *sums,
                         const real_type *y, int crossed, real_type *v)
{
    real_type s = arm[0], a1 = arm[1], a2 = arm[2], along = s * sums[1] - a1 * sums[0], across = s * sums[2] - a2 * sums[0];
    real_type m1 = crossed ? across : along, m2 = crossed ? -along : across, f[3];
    for (int c = 0; c < 3; c++)
        f[c] = fixed[FRAME + c] * m1 + fixed[FRAME + 3 + c] * m2;
#if MAGNETIC
    real_type n = crossed ? s * sums[3] - a1 * sums[1] - a2 * sums[2] : a2 * sums[1] - a1 * sums[2], d[3], turned[3];
    for (int c = 0; c < 3; c++)
        d[c] = fixed[CENTRE + c] - y[c];
    cross(f, d, turned);
    for (int c = 0; c < 3; c++)
        v[c] += turned[c] + fixed[FRAME + 6 + c] * n;
#else
    for (int c = 0; c < 3; c++)
        v[c] += f[c];
#endif
    return s * sums[0];
}
