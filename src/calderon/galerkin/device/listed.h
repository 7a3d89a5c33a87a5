/* Lists of triangles, one for each triangle. */
#include "backends/prelude.h"

/* The place of triangle s among those of t, skips[skips[t]] .. skips[skips[t + 1] - 1], which increase; -1 for none. */
DEVICE int listed_at(GLOBAL const int *skips, int t, int s)
{
    int low = skips[t], high = skips[t + 1], end = high;
    while (low < high) {
        int middle = (low + high) / 2;
        if (skips[middle] < s)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && skips[low] == s ? low : -1;
}

/* Whether triangle s is among those of t. */
DEVICE int listed(GLOBAL const int *skips, int t, int s) { return listed_at(skips, t, s) >= 0; }
