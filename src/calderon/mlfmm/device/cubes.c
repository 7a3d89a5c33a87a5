/* Between equivalent sources on cubes of boxes; the twin of mlfmm/equivalent/cube_kernels.py. Numbers of boxes are (box, point,
   column, 2). A group takes a box, a thread points of its cube; the second number of a group is TOGETHER columns, which meet
   each number of a matrix while it is in a register.

   SIZE: points of a cube. REAL: of all numbers. */
#include "backends/prelude.h"

#define HALF (2 * TOGETHER)

/* y of targets: the sum over steps (source, turn, matrix) first[target] .. first[target + 1] of P A P^T x, where P takes
   point i to turned[turn, i], for complex A, of which matrices (n, 3 SIZE, pitch) has the real parts of columns, then the
   imaginary ones, then the sums of both, which are not read. Added to y if `adds`. */
KERNEL multiply_cubes(GLOBAL const real_type *matrices, int pitch, GLOBAL const int *turned, GLOBAL const int *first,
                      GLOBAL const int *steps, int columns, int adds, GLOBAL const real_type *x, GLOBAL real_type *y)
{
    LOCAL ALIGNED real_type given[SIZE * HALF], out[SIZE * HALF];
    int t = LOCAL_ID(0), target = GROUP(0), begin = GROUP(1) * TOGETHER;
    int count = 2 * (columns - begin < TOGETHER ? columns - begin : TOGETHER);
    for (int n = t; n < SIZE * HALF; n += GROUP_SIZE)
        out[n] = R(0.0);
    for (int e = first[target]; e < first[target + 1]; e++) {
        GLOBAL const int *step = steps + 3 * (size_t)e, *turn = turned + SIZE * step[1];
        GLOBAL const real_type *from = x + ((size_t)step[0] * SIZE * columns + begin) * 2;
        GLOBAL const real_type *matrix = matrices + (size_t)step[2] * 3 * SIZE * pitch;
        for (int n = t; n < SIZE * HALF; n += GROUP_SIZE)
            given[n] = n % HALF < count ? from[(size_t)turn[n / HALF] * 2 * columns + n % HALF] : R(0.0);
        BARRIER;
        for (int i = t; i < SIZE; i += GROUP_SIZE) {
            real_type sums[HALF] = {0};
            for (int j = 0; j < SIZE; j++) {
                real_type a = matrix[j * pitch + i], b = matrix[(SIZE + j) * pitch + i];
                UNROLL
                for (int w = 0; w < TOGETHER; w++) {
                    real_type re = given[j * HALF + 2 * w], im = given[j * HALF + 2 * w + 1];
                    sums[2 * w] += a * re - b * im;
                    sums[2 * w + 1] += a * im + b * re;
                }
            }
            int place = turn[i] * HALF; /* another one for each thread */
            UNROLL
            for (int w = 0; w < HALF; w++)
                out[place + w] += sums[w];
        }
        BARRIER;
    }
    BARRIER;
    GLOBAL real_type *to = y + ((size_t)target * SIZE * columns + begin) * 2;
    for (int n = t; n < SIZE * HALF; n += GROUP_SIZE)
        if (n % HALF < count) {
            size_t at = (size_t)(n / HALF) * 2 * columns + n % HALF;
            to[at] = adds ? to[at] + out[n] : out[n];
        }
}
