/* Sums over point sources at target points: one thread takes one target and a share of the sources, which its group
   stages in tiles of GROUP_SIZE. EMISSION names the header with COLUMNS (of a source, a multiple of 4), VALUES (complex
   ones at a target), NUMBERS (of scalars) and emit(target, source, scalars, sum), which adds the field of one source. */
#include EMISSION

/* targets (3, count); sources (segments * share, COLUMNS), share a multiple of GROUP_SIZE; scalars
   (NUMBERS). Writes out (segments, VALUES, 2, count): the sums over each segment of the sources. */
KERNEL field(GLOBAL const real_type *targets, GLOBAL const real_type *sources, GLOBAL const real_type *scalars,
             GLOBAL real_type *out, int count, int share)
{
    LOCAL ALIGNED real_type tile[GROUP_SIZE * COLUMNS];
    int i = THREAD(0), segment = GROUP(1);
    int at = i < count ? i : count - 1; /* every thread computes: uniform loops, guarded stores */
    real_type x[3], p[NUMBERS], total[2 * VALUES];
    for (int c = 0; c < 3; c++)
        x[c] = targets[(size_t)c * count + at];
    for (int c = 0; c < NUMBERS; c++)
        p[c] = scalars[c];
    for (int c = 0; c < 2 * VALUES; c++)
        total[c] = R(0.0);
    NO_UNROLL
    for (int start = 0; start < share; start += GROUP_SIZE) {
        GLOBAL const real_type *from = sources + ((size_t)segment * share + start) * COLUMNS;
        BARRIER;
        for (int e = LOCAL_ID(0); e < GROUP_SIZE * COLUMNS; e += GROUP_SIZE)
            tile[e] = from[e];
        BARRIER;
        real_type sum[2 * VALUES]; /* of the tile: sums of sums keep their digits in single precision */
        for (int c = 0; c < 2 * VALUES; c++)
            sum[c] = R(0.0);
        NO_UNROLL
        for (int q = 0; q < GROUP_SIZE; q++) {
            real_type s[COLUMNS];
            for (int c = 0; c < COLUMNS; c++)
                s[c] = tile[q * COLUMNS + c];
            emit(x, s, p, sum);
        }
        for (int c = 0; c < 2 * VALUES; c++)
            total[c] += sum[c];
    }
    if (i < count)
        for (int c = 0; c < 2 * VALUES; c++)
            out[((size_t)segment * 2 * VALUES + c) * count + i] = total[c];
}
