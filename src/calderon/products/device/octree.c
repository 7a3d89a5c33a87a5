/* An adaptive octree of points and its lists; the twin of products/octree.py and products/lists.py.

   boxes (boxes, NUMBERS): see octree.h; points are in the order of their keys. children (boxes, 8): -1 for none. neighbours (boxes, NEIGHBOURS):
   boxes of the same level, itself in the middle, the last coordinate first; -1 for none. Lists are counted first, then,
   with the sums of counts as places, written. REAL is double: places have to tell all keys apart. */
#include "backends/prelude.h"
#include "products/device/octree.h"

#define NEIGHBOURS 27

/* The bits of a number with two zeros between them. */
DEVICE wide_int spread(wide_int v)
{
    v = (v | (v << 32)) & 0x1F00000000FFFF;
    v = (v | (v << 16)) & 0x1F0000FF0000FF;
    v = (v | (v << 8)) & 0x100F00F00F00F00F;
    v = (v | (v << 4)) & 0x10C30C30C30C30C3;
    return (v | (v << 2)) & 0x1249249249249249;
}

/* keys, order (count,): Morton keys of points (count, 3) in a cube at (x, y, z), and 0, 1, ...; scale: by its edge. */
KERNEL point_keys(GLOBAL const real_type *points, int count, real_type x, real_type y, real_type z, real_type scale,
                  GLOBAL wide_int *keys, GLOBAL int *order)
{
    int i = THREAD(0);
    if (i >= count)
        return;
    real_type low[3] = {x, y, z};
    wide_int key = 0, last = ((wide_int)1 << DEEPEST) - 1;
    for (int c = 0; c < 3; c++) {
        wide_int place = (wide_int)((points[3 * (size_t)i + c] - low[c]) * scale);
        place = place < 0 ? 0 : place > last ? last : place;
        key = (key << 1) | spread(place);
    }
    keys[i] = key;
    order[i] = i;
}

/* places (count, 3): the points in this order in units of the cube at (x, y, z). */
KERNEL place_points(GLOBAL const real_type *points, GLOBAL const int *order, int count, real_type x, real_type y,
                    real_type z, real_type edge, GLOBAL real_type *places)
{
    int i = THREAD(0);
    if (i >= count)
        return;
    GLOBAL const real_type *point = points + 3 * (size_t)order[i];
    places[3 * (size_t)i] = (point[0] - x) / edge;
    places[3 * (size_t)i + 1] = (point[1] - y) / edge;
    places[3 * (size_t)i + 2] = (point[2] - z) / edge;
}

/* Whether a box has children: it holds more than `most` sources or targets. */
DEVICE int divides(GLOBAL const int *box, int most)
{
    return (box[SOURCES + 1] - box[SOURCES] > most || box[TARGETS + 1] - box[TARGETS] > most) && box[LEVEL] < DEEPEST;
}

/* The first of the increasing keys from low up to, without, high that is `least` or more. */
DEVICE int first_at_least(GLOBAL const wide_int *keys, int low, int high, wide_int least)
{
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (keys[middle] < least)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* One beyond the largest key of points in a child of a box. */
DEVICE wide_int end_of_child(GLOBAL const int *box, int octant)
{
    wide_int key = 0;
    for (int c = 0; c < 3; c++)
        key = (key << 1) | spread(box[PLACE + c]);
    return ((key << 3) + octant + 1) << (3 * (DEEPEST - 1 - box[LEVEL]));
}

/* Children of the `count` boxes of one level from `first` on, those alone that hold points: counted in places (count,)
   if `counts`, else written from box first + count + places on. sources, targets: keys in increasing order. */
KERNEL divide_boxes(GLOBAL int *boxes, GLOBAL int *children, int first, int count, GLOBAL const wide_int *sources,
                    GLOBAL const wide_int *targets, int most, int counts, GLOBAL int *places)
{
    int n = THREAD(0);
    if (n >= count)
        return;
    GLOBAL const int *box = boxes + NUMBERS * (size_t)(first + n);
    GLOBAL int *own = children + 8 * (size_t)(first + n);
    int whole = divides(box, most), s = box[SOURCES], t = box[TARGETS], found = 0;
    for (int octant = 0; octant < 8; octant++) {
        wide_int end = end_of_child(box, octant);
        int s_end = whole ? first_at_least(sources, s, box[SOURCES + 1], end) : s;
        int t_end = whole ? first_at_least(targets, t, box[TARGETS + 1], end) : t;
        int holds = s_end > s || t_end > t, number = counts ? 0 : first + count + places[n] + found;
        if (!counts) {
            own[octant] = holds ? number : -1;
            if (holds) {
                GLOBAL int *child = boxes + NUMBERS * (size_t)number;
                child[LEVEL] = box[LEVEL] + 1;
                child[PARENT] = first + n;
                for (int c = 0; c < 3; c++)
                    child[PLACE + c] = 2 * box[PLACE + c] + ((octant >> (2 - c)) & 1);
                child[SOURCES] = s;
                child[SOURCES + 1] = s_end;
                child[TARGETS] = t;
                child[TARGETS + 1] = t_end;
            }
        }
        found += holds;
        s = s_end;
        t = t_end;
    }
    if (counts)
        places[n] = found;
}

/* The box whose place is that of a box of the same level plus an offset (3), from the neighbours of its parent. */
DEVICE int box_beside(GLOBAL const int *box, GLOBAL const int *children, GLOBAL const int *neighbours, int x, int y, int z)
{
    int to[3] = {box[PLACE] + x, box[PLACE + 1] + y, box[PLACE + 2] + z}, direction = 0, octant = 0;
    for (int c = 0; c < 3; c++) {
        int up = (to[c] + 2) / 2 - 1 - box[PLACE + c] / 2; /* two more: the quotient of -1 is to be rounded down */
        if (to[c] < -2 || up < -1 || up > 1)
            return -1;
        direction = 3 * direction + up + 1;
        octant = 2 * octant + (to[c] & 1);
    }
    int parent = neighbours[NEIGHBOURS * (size_t)box[PARENT] + direction];
    return parent < 0 ? -1 : children[8 * (size_t)parent + octant];
}

/* The neighbours of `count` boxes of one level from `first` on, after those of their parents; a thread takes one. */
KERNEL find_neighbours(GLOBAL const int *boxes, GLOBAL const int *children, int first, int count, GLOBAL int *neighbours)
{
    int thread = THREAD(0), b = first + thread / NEIGHBOURS, d = thread % NEIGHBOURS;
    if (thread >= count * NEIGHBOURS)
        return;
    int found = d == NEIGHBOURS / 2 ? 0 : -1; /* of the root */
    if (b > 0)
        found = box_beside(boxes + NUMBERS * (size_t)b, children, neighbours, d / 9 - 1, d / 3 % 3 - 1, d % 3 - 1);
    neighbours[NEIGHBOURS * (size_t)b + d] = found;
}

/* Boxes without children: counted in places (count,), 0 or 1, or written to leaves. */
KERNEL list_leaves(GLOBAL const int *boxes, int count, int most, int counts, GLOBAL int *places, GLOBAL int *leaves)
{
    int b = THREAD(0);
    if (b >= count)
        return;
    int is_leaf = !divides(boxes + NUMBERS * (size_t)b, most);
    if (counts)
        places[b] = is_leaf;
    else if (is_leaf)
        leaves[places[b]] = b;
}

/* Sources near the targets of each leaf: those of neighbours, and of leaves that are neighbours of a larger box around it.
   Counted in places (count,), or written to runs (n, 2), first source and one beyond the last, and to tasks (count, 4):
   first target, one beyond the last, first run, one beyond the last. */
KERNEL near_runs(GLOBAL const int *boxes, GLOBAL const int *neighbours, GLOBAL const int *leaves, int count, int most,
                 int counts, GLOBAL int *places, GLOBAL int *runs, GLOBAL int *tasks)
{
    int n = THREAD(0);
    if (n >= count)
        return;
    GLOBAL const int *leaf = boxes + NUMBERS * (size_t)leaves[n];
    int begin = counts ? 0 : places[n], at = begin;
    int around = leaf[TARGETS + 1] > leaf[TARGETS] ? leaves[n] : -1;
    while (around >= 0) {
        for (int d = 0; d < NEIGHBOURS; d++) {
            int other = neighbours[NEIGHBOURS * (size_t)around + d];
            if (other < 0)
                continue;
            GLOBAL const int *box = boxes + NUMBERS * (size_t)other;
            if (box[SOURCES + 1] == box[SOURCES] || (around != leaves[n] && divides(box, most)))
                continue;
            if (!counts) {
                runs[2 * (size_t)at] = box[SOURCES];
                runs[2 * (size_t)at + 1] = box[SOURCES + 1];
            }
            at++;
        }
        around = boxes[NUMBERS * (size_t)around + PARENT];
    }
    if (counts)
        places[n] = at;
    else {
        tasks[4 * (size_t)n] = leaf[TARGETS];
        tasks[4 * (size_t)n + 1] = leaf[TARGETS + 1];
        tasks[4 * (size_t)n + 2] = begin;
        tasks[4 * (size_t)n + 3] = at;
    }
}

/* Pairs of separated boxes, children of neighbours, of each cell: `block` target boxes from (cell / directions) block on
   and the direction cell % directions, offsets (directions, 3) from source to target. Counted in places (cells,), or
   written to sources, targets (pairs,) and runs (cells, 3): direction, first pair, one beyond the last. */
KERNEL far_pairs(GLOBAL const int *boxes, GLOBAL const int *children, GLOBAL const int *neighbours, int count,
                 GLOBAL const int *offsets, int directions, int block, int cells, int counts, GLOBAL int *places,
                 GLOBAL int *sources, GLOBAL int *targets, GLOBAL int *runs)
{
    int cell = THREAD(0), direction = cell % directions, first = cell / directions * block;
    if (cell >= cells)
        return;
    GLOBAL const int *offset = offsets + 3 * direction;
    int begin = counts ? 0 : places[cell], at = begin;
    for (int b = first > 0 ? first : 1; b < first + block && b < count; b++) {
        GLOBAL const int *box = boxes + NUMBERS * (size_t)b;
        if (box[TARGETS + 1] == box[TARGETS])
            continue;
        int source = box_beside(box, children, neighbours, -offset[0], -offset[1], -offset[2]);
        if (source < 0 || boxes[NUMBERS * (size_t)source + SOURCES + 1] == boxes[NUMBERS * (size_t)source + SOURCES])
            continue;
        if (!counts) {
            sources[at] = source;
            targets[at] = b;
        }
        at++;
    }
    if (counts)
        places[cell] = at;
    else {
        runs[3 * (size_t)cell] = direction;
        runs[3 * (size_t)cell + 1] = begin;
        runs[3 * (size_t)cell + 2] = at;
    }
}
