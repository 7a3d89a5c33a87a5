/* Pairs of triangles by their first triangle, the second ones increasing; the twin of `_sort_neighbours` in pair_matrix.py. */
#include "backends/prelude.h"

/* Sort the pairs of each of `count` triangles. skips: where the list of each begins, count + 1 numbers, then room for the
   second triangles. keys (pairs, 2): twice the number of a pair, one more if its triangles are exchanged, and its second
   triangle; numbers (pairs,): becomes the number, -1 - number if exchanged. */
KERNEL sort_neighbours(GLOBAL const int *keys, int count, GLOBAL int *skips, GLOBAL int *numbers)
{
    int t = THREAD(0), before = count + 1;
    if (t >= count)
        return;
    for (int at = skips[t]; at < skips[t + 1]; at++) {
        unsigned int pair = (unsigned int)keys[2 * (size_t)(at - before)];
        int second = keys[2 * (size_t)(at - before) + 1], to = at;
        for (; to > skips[t] && skips[to - 1] > second; to--) {
            skips[to] = skips[to - 1];
            numbers[to - before] = numbers[to - 1 - before];
        }
        skips[to] = second;
        numbers[to - before] = pair & 1u ? -1 - (int)(pair >> 1) : (int)(pair >> 1);
    }
}
