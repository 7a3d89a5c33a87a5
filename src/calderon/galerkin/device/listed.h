/* Integers that increase, among them lists of triangles, one for each triangle. */
#include "backends/prelude.h"

/* The last of `count` increasing integers, `step` places apart, that is at most `value`; 0 if none is. */
DEVICE int last_at_most(GLOBAL const int *numbers, int step, int count, int value)
{
    int low = 0, high = count;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (numbers[(size_t)step * middle] <= value)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The place of triangle s among those of t, skips[skips[t]] .. skips[skips[t + 1] - 1], which increase; -1 for none. */
DEVICE int listed_at(GLOBAL const int *skips, int t, int s)
{
    int begin = skips[t], count = skips[t + 1] - begin, at = begin + last_at_most(skips + begin, 1, count, s);
    return count > 0 && skips[at] == s ? at : -1;
}

/* Whether triangle s is among those of t. */
DEVICE int listed(GLOBAL const int *skips, int t, int s) { return listed_at(skips, t, s) >= 0; }
