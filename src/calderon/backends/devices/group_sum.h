/* Sums over the threads of a group. */
#include "backends/prelude.h"

/* The sum of each of `planes` arrays, `apart` numbers apart, over every `count` threads, a power of two: numbers[plane * apart +
   t], written by thread t, becomes that of the threads t .. t + count - 1 where t is a multiple of count. All threads of a
   group come here, and may read the sums afterwards. */
#define SUM_OVER_THREADS(numbers, count, planes, apart)                                   \
    for (int half_way = (count) / 2; half_way > 0; half_way /= 2) {                       \
        BARRIER;                                                                          \
        for (int q = 0; q < (LOCAL_ID(0) % (count) < half_way ? (planes) : 0); q++)       \
            (numbers)[q * (apart) + LOCAL_ID(0)] += (numbers)[q * (apart) + LOCAL_ID(0) + half_way]; \
    }                                                                                     \
    BARRIER
