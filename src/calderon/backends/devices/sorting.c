/* Sums of the numbers before each, and one pass of the stable sort of keys by their digits (radix sort).

   A group of GROUP_SIZE threads does a tile of ITEMS numbers for each of them, a thread those that stand together.
   D. E. Knuth, The Art of Computer Programming 3, section 5.2.5; G. E. Blelloch, Prefix sums (CMU, 1990). */
#include "backends/prelude.h"

#define TILE (GROUP_SIZE * ITEMS)
#define DIGITS (1 << BITS)

/* Replace each of `count` numbers by the sum of those before it in its tile; totals (tiles,): sums of whole tiles. */
KERNEL sum_in_tiles(GLOBAL int *numbers, int count, GLOBAL int *totals)
{
    LOCAL int sums[GROUP_SIZE];
    int t = LOCAL_ID(0), first = GROUP(0) * TILE + t * ITEMS, own = 0;
    for (int i = first; i < first + ITEMS && i < count; i++)
        own += numbers[i];
    sums[t] = own;
    BARRIER;
    for (int step = 1; step < GROUP_SIZE; step *= 2) {
        int before = t >= step ? sums[t - step] : 0;
        BARRIER;
        sums[t] += before;
        BARRIER;
    }
    int before = sums[t] - own;
    for (int i = first; i < first + ITEMS && i < count; i++) {
        int value = numbers[i];
        numbers[i] = before;
        before += value;
    }
    if (t == GROUP_SIZE - 1)
        totals[GROUP(0)] = sums[t];
}

/* Add to each number the sum of the tiles before its own. */
KERNEL add_tiles(GLOBAL int *numbers, int count, GLOBAL const int *totals)
{
    int i = THREAD(0);
    if (i < count)
        numbers[i] += totals[i / TILE];
}

/* Each thread counts the digits, at bit `shift`, of its keys: own[digit * GROUP_SIZE + thread]. */
DEVICE void count_own(GLOBAL const wide_int *keys, int count, int shift, SHARED int *own)
{
    int t = LOCAL_ID(0), first = GROUP(0) * TILE + t * ITEMS;
    for (int d = 0; d < DIGITS; d++)
        own[d * GROUP_SIZE + t] = 0;
    for (int i = first; i < first + ITEMS && i < count; i++)
        own[((int)(keys[i] >> shift) & (DIGITS - 1)) * GROUP_SIZE + t]++;
}

/* counts (DIGITS, tiles): how often each digit occurs in each tile of `count` keys. */
KERNEL count_digits(GLOBAL const wide_int *keys, int count, int shift, int tiles, GLOBAL int *counts)
{
    LOCAL int own[DIGITS * GROUP_SIZE];
    int t = LOCAL_ID(0);
    count_own(keys, count, shift, own);
    BARRIER;
    if (t < DIGITS) {
        int total = 0;
        for (int k = 0; k < GROUP_SIZE; k++)
            total += own[t * GROUP_SIZE + k];
        counts[t * tiles + GROUP(0)] = total;
    }
}

/* Write keys and values in the order of the digit; starts (DIGITS, tiles): where each digit of each tile begins. */
KERNEL place_by_digit(GLOBAL const wide_int *keys, GLOBAL const int *values, int count, int shift, int tiles,
                      GLOBAL const int *starts, GLOBAL wide_int *sorted, GLOBAL int *sorted_values)
{
    LOCAL int own[DIGITS * GROUP_SIZE];
    int t = LOCAL_ID(0), first = GROUP(0) * TILE + t * ITEMS;
    count_own(keys, count, shift, own);
    BARRIER;
    if (t < DIGITS) {
        int before = starts[t * tiles + GROUP(0)];
        for (int k = 0; k < GROUP_SIZE; k++) {
            int value = own[t * GROUP_SIZE + k];
            own[t * GROUP_SIZE + k] = before;
            before += value;
        }
    }
    BARRIER;
    for (int i = first; i < first + ITEMS && i < count; i++) {
        wide_int key = keys[i];
        int to = own[((int)(key >> shift) & (DIGITS - 1)) * GROUP_SIZE + t]++;
        sorted[to] = key;
        sorted_values[to] = values[i];
    }
}
