"""Pairs of a point and a triangle, those of one triangle in the lanes of a vector."""

import math

from calderon.backends.vectors import jitable, lanes, number, put


@jitable
def end_of_run(numbers, start, limit):
    """The end of the run of pairs from `start` on with one triangle, at most `limit`; numbers (n,): the triangle of
    each."""
    stop = start + 1
    while stop < limit and numbers[stop] == numbers[start]:
        stop += 1
    return stop


@jitable
def put_points(s, place, points, origin, start, stop):
    """Store the points (n, 3) of the pairs start to stop, relative to the origin (3,), in three vectors of s from
    `place` on, and the last point in lanes left over; return the largest distance from there."""
    step, farthest = lanes(s), 0.0
    for lane in range(step):
        n = min(start + lane, stop - 1)
        x, y, z = points[n, 0] - origin[0], points[n, 1] - origin[1], points[n, 2] - origin[2]
        put(s, place + lane, x)
        put(s, place + step + lane, y)
        put(s, place + 2 * step + lane, z)
        farthest = max(farthest, x * x + y * y + z * z)
    return math.sqrt(farthest)


@jitable
def give_values(s, place, values, out, start, stop):
    """Write `values` vectors of s from `place` on to the rows of out (values, n), flat, for the pairs start to stop."""
    step, count = lanes(s), out.size // values
    for n in range(values):
        for lane in range(stop - start):
            put(out, n * count + start + lane, number(s, place + n * step + lane))
