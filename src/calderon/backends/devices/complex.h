/* Numbers with an imaginary part, or without where COMPLEX is 0, of reals WIDE_REAL, those of the file unless defined. */
#include "backends/prelude.h"

#ifndef COMPLEX
#define COMPLEX 1
#endif
#ifndef WIDE_REAL
#define WIDE_REAL REAL
#endif
#if COMPLEX
#define IM(a) (a).im
#else
#define IM(a) 0
#endif

typedef WIDE_REAL wide_real;
typedef struct {
    wide_real re;
#if COMPLEX
    wide_real im;
#endif
} number;

DEVICE number number_of(wide_real re, wide_real im)
{
    number a;
    a.re = re;
#if COMPLEX
    a.im = im;
#endif
    return a;
}

DEVICE number scaled(number a, wide_real s) { return number_of(a.re * s, IM(a) * s); }

DEVICE number conjugated(number a) { return number_of(a.re, -IM(a)); }

DEVICE number plus(number a, number b) { return number_of(a.re + b.re, IM(a) + IM(b)); }

DEVICE number minus(number a, number b) { return number_of(a.re - b.re, IM(a) - IM(b)); }

/* total + a b. */
DEVICE number plus_product(number total, number a, number b)
{
    total.re += a.re * b.re;
#if COMPLEX
    total.re -= a.im * b.im;
    total.im += a.re * b.im + a.im * b.re;
#endif
    return total;
}

DEVICE number times(number a, number b) { return plus_product(number_of(0, 0), a, b); }

DEVICE wide_real square(number a) { return a.re * a.re + IM(a) * IM(a); }

/* A thread's part of a sum in memory that the group shares: two reals, GROUP_SIZE apart. */
DEVICE void keep_part(number a, SHARED wide_real *sums)
{
    sums[LOCAL_ID(0)] = a.re;
    sums[GROUP_SIZE + LOCAL_ID(0)] = IM(a);
}

/* The number at `place` of an array with imaginary parts `pitch` reals further. */
DEVICE number number_at(GLOBAL const real_type *a, int place, int pitch)
{
    return number_of(a[place], COMPLEX ? a[COMPLEX * pitch + place] : 0);
}

DEVICE void put_number(number a, GLOBAL real_type *to, int pitch)
{
    to[0] = (real_type)a.re;
#if COMPLEX
    to[pitch] = (real_type)a.im;
#endif
}

/* A number that is one or two reals in memory, side by side. */
DEVICE number read_number(GLOBAL const real_type *a) { return number_at(a, 0, 1); }
DEVICE void write_number(number a, GLOBAL real_type *to) { put_number(a, to, 1); }
