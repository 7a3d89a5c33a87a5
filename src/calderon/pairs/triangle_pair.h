/* Two triangles: how far apart they are, which vertices they share, and how many Gauss points they need if they share some;
   the twin of search.py and gauss_counts.py. */
#include "backends/prelude.h"

/* Places in the record of a triangle: corners, centroid, largest distance of a corner from it, longest edge, this over the
   height on it. */
enum { CORNERS, CENTRE = 9, RADIUS = 12, SIZE, STRETCH };
#define RECORD (STRETCH + 1)
/* Places in the integers of a triangle: vertices, and its number in the mesh. */
enum { VERTICES, MESH_NUMBER = 3 };
#define INTEGERS (MESH_NUMBER + 1)
#define FAR R(1e30)
/* What a line along an angular coordinate joins: two points, each as u1, u2, v1, v2. */
#define LINE 8
/* Numbers of Gauss points in usual steps, and those in either kind of steps, each with one for too many. */
#define COUNTS 10
#define NUMBERS 12
#define SHAPES (NUMBERS + NUMBERS * NUMBERS + NUMBERS * NUMBERS * NUMBERS)

DEVICE real_type clamped(real_type x) { return x < R(0.0) ? R(0.0) : x > R(1.0) ? R(1.0) : x; }

/* The least squared distance of the corners o (9,) from the triangle t (9,) that they are above, FAR if they are not. */
DEVICE real_type nearest_corner(GLOBAL const real_type *t, GLOBAL const real_type *o)
{
    real_type u[3], v[3], uu = R(0.0), vv = R(0.0), uv = R(0.0), best = FAR;
    for (int c = 0; c < 3; c++) {
        u[c] = t[3 + c] - t[c];
        v[c] = t[6 + c] - t[c];
        uu += u[c] * u[c];
        vv += v[c] * v[c];
        uv += u[c] * v[c];
    }
    real_type inverse = R(1.0) / (uu * vv - uv * uv);
    for (int corner = 0; corner < 3; corner++) {
        real_type wu = R(0.0), wv = R(0.0), square = R(0.0);
        for (int c = 0; c < 3; c++) {
            real_type w = o[3 * corner + c] - t[c];
            wu += w * u[c];
            wv += w * v[c];
        }
        /* the distance from the plane, if the foot (a, b) of the corner lies in the triangle */
        real_type a = (vv * wu - uv * wv) * inverse, b = (uu * wv - uv * wu) * inverse;
        for (int c = 0; c < 3; c++) {
            real_type r = o[3 * corner + c] - t[c] - a * u[c] - b * v[c];
            square += r * r;
        }
        if (a >= R(0.0) && b >= R(0.0) && R(1.0) - a - b >= R(0.0) && square < best)
            best = square;
    }
    return best;
}

/* The least squared distance of two triangles x, y (9,): over nine pairs of edges and six of corner and interior. */
DEVICE real_type squared_distance(GLOBAL const real_type *x, GLOBAL const real_type *y)
{
    real_type best = nearest_corner(x, y), other = nearest_corner(y, x);
    best = other < best ? other : best;
    NO_UNROLL
    for (int edges = 0; edges < 9; edges++) {
        int i = edges / 3, j = edges % 3;
        GLOBAL const real_type *o = x + 3 * i, *o_end = x + 3 * ((i + 1) % 3), *p = y + 3 * j, *p_end = y + 3 * ((j + 1) % 3);
        real_type a = R(0.0), b = R(0.0), c = R(0.0), d = R(0.0), e = R(0.0), square = R(0.0);
        for (int k = 0; k < 3; k++) {
            real_type u = o_end[k] - o[k], v = p_end[k] - p[k], w = o[k] - p[k];
            a += u * u;
            b += u * v;
            c += v * v;
            d += u * w;
            e += v * w;
        }
        /* the closest points of their lines, moved into both edges; of parallel ones from any point on */
        real_type determinant = a * c - b * b;
        real_type s = determinant > R(1e-14) * (a * c) ? clamped((b * e - c * d) / determinant) : R(0.5);
        real_type t = clamped((b * s + e) / c);
        s = clamped((b * t - d) / a);
        for (int k = 0; k < 3; k++) {
            real_type r = o[k] - p[k] + s * (o_end[k] - o[k]) - t * (p_end[k] - p[k]);
            square += r * r;
        }
        best = square < best ? square : best;
    }
    return best;
}

/* The distance of two triangles over the longer one of their edges, rounded so that it is that of (y, x), also at a bound. */
DEVICE real_type ratio_of(GLOBAL const real_type *x, GLOBAL const real_type *y)
{
    real_type ratio = sqrt(squared_distance(x, y)) / (x[SIZE] > y[SIZE] ? x[SIZE] : y[SIZE]);
    return rounded_down(R(1e9) * ratio + R(0.5)) * R(1e-9);
}

/* The vertices that two triangles share, first in the orders of both; an order has two bits for each place. Returns how
   many they share. */
DEVICE int common_first(GLOBAL const int *x, GLOBAL const int *y, int *left, int *right)
{
    int count = 0, mine = 0, its = 0;
    *left = *right = 0;
    for (int a = 0; a < 3; a++) {
        int b = x[a] == y[0] ? 0 : x[a] == y[1] ? 1 : x[a] == y[2] ? 2 : -1;
        if (b >= 0) {
            *left |= a << 2 * count;
            *right |= b << 2 * count++;
            mine |= 1 << a;
            its |= 1 << b;
        }
    }
    int here = count, there = count;
    for (int a = 0; a < 3; a++) {
        if (!(mine >> a & 1))
            *left |= a << 2 * here++;
        if (!(its >> a & 1))
            *right |= a << 2 * there++;
    }
    return count;
}

/* Entry `place` of an order. */
DEVICE int at_place(int order, int place) { return order >> 2 * place & 3; }

/* The rules of touching pairs, see `Tables` in device.py. */
#define RULES GLOBAL const real_type *lines, GLOBAL const real_type *numbers, GLOBAL const int *counts
#define THESE_RULES lines, numbers, counts
/* Places in the numbers: bounds of E in usual and in coarse steps, phases and numbers of points on fibres, wavenumber,
   stretch of triangles above which steps are coarse. */
enum { USUAL, COARSE = COUNTS - 1, PHASES = COARSE + 6, FIBRES = PHASES + 5, WAVENUMBER = FIBRES + 5, STRETCHED };
/* Places in the integers: where the lines begin by shared vertices, from 3 on, and end; points of usual and of coarse
   steps, and which of the NUMBERS each is; how many phases there are; points of a region above which steps are coarse; points
   at most by shared vertices, from 3 on; whether pairs of a triangle with itself never have too many; whether their integrals
   vanish; coordinate of each line. */
enum {
    LINES, USUAL_POINTS = 4, COARSE_POINTS = USUAL_POINTS + COUNTS, USUAL_NUMBERS = COARSE_POINTS + 7,
    COARSE_NUMBERS = USUAL_NUMBERS + COUNTS, PHASE_COUNT = COARSE_NUMBERS + 7, LARGE, MOST, CAPPED = MOST + 3, VANISHING, AXES
};

/* How many of `size` increasing bounds are at most e. */
DEVICE int steps_below(GLOBAL const real_type *bounds, int size, real_type e)
{
    int step = 0;
    while (step < size && bounds[step] <= e)
        step++;
    return step;
}

/* The number of points on a fibre of triangles with that longest edge. */
DEVICE int fibre_points(GLOBAL const real_type *numbers, GLOBAL const int *counts, real_type size)
{
    int step = 0, last = counts[PHASE_COUNT] - 1;
    real_type phase = numbers[WAVENUMBER] * size, beyond = phase - numbers[PHASES + last];
    while (step < last && numbers[PHASES + step] < phase)
        step++;
    int more = beyond > R(0.0) ? -(int)rounded_down(-(beyond + R(1.0)) / R(1.8)) : 0;
    more = more > 4 ? 4 * ((more + 3) / 4) : more;
    return (int)numbers[FIBRES + step] + more;
}

/* |D|^2 at a point (u1, u2, v1, v2) of two triangles with their vertices in these orders, and D. */
DEVICE real_type difference(GLOBAL const real_type *x, GLOBAL const real_type *y, int left, int right,
                            GLOBAL const real_type *point, real_type *d)
{
    real_type square = R(0.0);
    for (int c = 0; c < 3; c++) {
        real_type first = x[3 * at_place(left, 0) + c], second = y[3 * at_place(right, 0) + c];
        d[c] = first - second + point[0] * (x[3 * at_place(left, 1) + c] - first)
               + point[1] * (x[3 * at_place(left, 2) + c] - first) - point[2] * (y[3 * at_place(right, 1) + c] - second)
               - point[3] * (y[3 * at_place(right, 2) + c] - second);
        square += d[c] * d[c];
    }
    return square;
}

/* The rule of two triangles that share so many vertices, first in the orders left and right: points on a fibre times SHAPES,
   and which numbers of points angular coordinates have; -1 where they need too many. */
DEVICE int touching_shape(GLOBAL const real_type *x, GLOBAL const real_type *y, int shared, int left, int right, RULES)
{
    real_type least0 = R(1e6), least1 = R(1e6), least2 = R(1e6);
    /* the least square of E = (|D_p| + |D_q|) / |D_q - D_p| along each coordinate, over its lines from p to q */
    NO_UNROLL
    for (int line = counts[LINES + 3 - shared]; line < counts[LINES + 4 - shared]; line++) {
        real_type p[3], q[3], square = R(0.0);
        GLOBAL const real_type *ends = lines + LINE * line;
        real_type length = sqrt(difference(x, y, left, right, ends, p)) + sqrt(difference(x, y, left, right, ends + 4, q));
        for (int c = 0; c < 3; c++)
            square += (q[c] - p[c]) * (q[c] - p[c]);
        int axis = counts[AXES + line];
        length *= length;
        least0 = axis == 0 && length < least0 * square ? length / square : least0;
        least1 = axis == 1 && length < least1 * square ? length / square : least1;
        least2 = axis == 2 && length < least2 * square ? length / square : least2;
    }
    /* numbers of points, in coarse steps where they are many for stretched triangles */
    int axes = 4 - shared, product = 1, shape = 0, coarse = 0;
    real_type stretch = x[STRETCH] > y[STRETCH] ? x[STRETCH] : y[STRETCH];
    for (int pass = 0; pass < 2; pass++) {
        coarse = pass && product > counts[LARGE] && stretch > numbers[STRETCHED];
        product = 1;
        shape = 0;
        for (int axis = 0; axis < axes; axis++) {
            real_type e = sqrt(axis == 0 ? least0 : axis == 1 ? least1 : least2);
            int step = steps_below(numbers + (coarse ? COARSE : USUAL), coarse ? 6 : COUNTS - 1, e);
            int number = counts[(coarse ? COARSE_NUMBERS : USUAL_NUMBERS) + step];
            int points = counts[(coarse ? COARSE_POINTS : USUAL_POINTS) + step];
            if (pass && shared == 3 && counts[CAPPED] && points > counts[MOST]) {
                points = counts[MOST];
                number = NUMBERS - 2;
            }
            product *= points;
            shape = NUMBERS * shape + number;
        }
    }
    if (product > counts[MOST + 3 - shared])
        return -1;
    shape += (axes > 1) * NUMBERS + (axes > 2) * NUMBERS * NUMBERS;
    return fibre_points(numbers, counts, x[SIZE] > y[SIZE] ? x[SIZE] : y[SIZE]) * SHAPES + shape;
}
