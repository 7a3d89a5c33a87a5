/* One side of a matrix as rows and columns on a device read it: the places of cluster_tables.py, and what an unknown gathers
   from the triangles of a cluster. SIDE_...: places in the header of the integers of a side. COMPLEX: entries have imaginary parts. */
#include "backends/prelude.h"
#include "galerkin/device/listed.h"

/* Entry k of a part of the integers of a side. */
DEVICE int item(GLOBAL const int *side, int part, int k) { return side[side[part] + k]; }

/* Unknowns of a cluster, position of the first, and triangles on which they live. */
DEVICE int cluster_size(GLOBAL const int *side, int cluster) { return item(side, SIDE_SIZES, cluster); }
DEVICE int cluster_first(GLOBAL const int *side, int cluster) { return item(side, SIDE_FIRST, cluster); }
DEVICE int cluster_triangles(GLOBAL const int *side, int cluster)
{
    if (side[SIDE_OWN])
        return cluster_size(side, cluster);
    return item(side, SIDE_LIST_STARTS, cluster + 1) - item(side, SIDE_LIST_STARTS, cluster);
}

/* Triangle number k of a cluster; they increase. */
DEVICE int triangle_of(GLOBAL const int *side, int cluster, int k)
{
    if (side[SIDE_OWN])
        return cluster_first(side, cluster) + k;
    return item(side, SIDE_LISTS, item(side, SIDE_LIST_STARTS, cluster) + k);
}

/* Which of the first 32 triangles with places from `begin` to `end` on have triangle s among their skips, as bits. */
DEVICE unsigned int listed_first(GLOBAL const int *near, GLOBAL const int *skips, int begin, int end, int s)
{
    unsigned int bits = 0u;
    for (int e = begin; e < end && e < begin + 32; e++)
        bits |= (unsigned int)listed(skips, item(near, SIDE_TRIANGLES, e), s) << (e - begin);
    return bits;
}

/* Whether the triangle at place e has triangle s among its skips; bits: of `listed_first`. */
DEVICE int left_out(GLOBAL const int *near, GLOBAL const int *skips, int begin, int e, int s, unsigned int bits)
{
    return e < begin + 32 ? (int)(bits >> (e - begin) & 1u) : listed(skips, item(near, SIDE_TRIANGLES, e), s);
}

/* Entry j of a cluster, of what `add_triangle` left of its `count` triangles. */
DEVICE void gather_entry(GLOBAL const int *side, int cluster, int j, int count, GLOBAL const real_type *from,
                         real_type *re, real_type *im)
{
    *re = *im = R(0.0);
    int position = cluster_first(side, cluster) + j, own = side[SIDE_OWN];
    int begin = own ? 0 : item(side, SIDE_STARTS, position), end = own ? 1 : item(side, SIDE_STARTS, position + 1);
    for (int e = begin; e < end; e++) {
        int function = 0, k = j;
        if (!own) {
            GLOBAL const int *list = side + side[SIDE_LISTS] + item(side, SIDE_LIST_STARTS, cluster);
            function = item(side, SIDE_LOCALS, e);
            k = last_at_most(list, 1, count, item(side, SIDE_TRIANGLES, e)); /* the list holds the triangle */
        }
        *re += from[(size_t)2 * function * count + k];
#if COMPLEX
        *im += from[((size_t)2 * function + 1) * count + k];
#endif
    }
}
