/* Between equivalent sources on cubes of boxes; the twin of mlfmm/equivalent/cube_kernels.py. Numbers of boxes are (box, point,
   column, 2). A group takes a box, a thread points of its cube; the second number of a group is TOGETHER columns, which meet
   each number of a matrix while it is in a register.

   SIZE: points of a cube. REAL: of all numbers. */
#include "backends/devices/complex.h"

/* y of targets: the sum over steps (source, turn, matrix) first[target] .. first[target + 1] of P A P^T x, where P takes
   point i to turned[turn, i], for complex A, of which matrices (n, 3 SIZE, pitch) has the real parts of columns, then the
   imaginary ones, then the sums of both, which are not read. Added to y if `adds`. */
KERNEL multiply_cubes(GLOBAL const real_type *matrices, int pitch, GLOBAL const int *turned, GLOBAL const int *first,
                      GLOBAL const int *steps, int columns, int adds, GLOBAL const number *x, GLOBAL number *y)
{
    LOCAL ALIGNED number given[SIZE * TOGETHER], out[SIZE * TOGETHER];
    int t = LOCAL_ID(0), target = GROUP(0), begin = GROUP(1) * TOGETHER;
    int count = columns - begin < TOGETHER ? columns - begin : TOGETHER;
    for (int n = t; n < SIZE * TOGETHER; n += GROUP_SIZE)
        out[n] = number_of(0, 0);
    for (int e = first[target]; e < first[target + 1]; e++) {
        GLOBAL const int *step = steps + 3 * (size_t)e, *turn = turned + SIZE * step[1];
        GLOBAL const number *from = x + (size_t)step[0] * SIZE * columns + begin;
        GLOBAL const real_type *matrix = matrices + (size_t)step[2] * 3 * SIZE * pitch;
        for (int n = t; n < SIZE * TOGETHER; n += GROUP_SIZE)
            given[n] = n % TOGETHER < count ? from[(size_t)turn[n / TOGETHER] * columns + n % TOGETHER] : number_of(0, 0);
        BARRIER;
        for (int i = t; i < SIZE; i += GROUP_SIZE) {
            number sums[TOGETHER] = {{0}};
            for (int j = 0; j < SIZE; j++) {
                number entry = number_at(matrix, j * pitch + i, SIZE * pitch);
                UNROLL
                for (int w = 0; w < TOGETHER; w++)
                    sums[w] = plus_product(sums[w], entry, given[j * TOGETHER + w]);
            }
            int place = turn[i] * TOGETHER; /* another one for each thread */
            UNROLL
            for (int w = 0; w < TOGETHER; w++)
                out[place + w] = plus(out[place + w], sums[w]);
        }
        BARRIER;
    }
    BARRIER;
    GLOBAL number *to = y + (size_t)target * SIZE * columns + begin;
    for (int n = t; n < SIZE * TOGETHER; n += GROUP_SIZE)
        if (n % TOGETHER < count) {
            GLOBAL number *at = to + (size_t)(n / TOGETHER) * columns + n % TOGETHER;
            *at = adds ? plus(*at, out[n]) : out[n];
        }
}
