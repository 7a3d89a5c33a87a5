"""Compiled searches for pairs of triangles that touch or are near, and their distances."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import first_at_least, kernel
from calderon.backends.vectors import (
    BYTES,
    aligned,
    jitable,
    lanes,
    load,
    number,
    put,
    square_root,
    store,
    where_less,
    zero,
)

WIDTH = BYTES // 8
CORNERS = (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
"""First and second reference coordinate of the corners of a triangle."""


class Cells(NamedTuple):
    """Triangles sorted by the cells of a grid that their centroids are in: keys (n,) the cells, increasing; members
    (n,) the triangles; low (3,) corner of the grid; counts (3,) of cells; limits (3,) 1 / edge of a cell, largest
    radius and largest size of the triangles."""

    keys: NDArray[np.int64]
    members: NDArray[np.int64]
    low: NDArray[np.float64]
    counts: NDArray[np.int64]
    limits: NDArray[np.float64]


@jitable
def put_triangle(s, place, lane, corners, triangle):
    """Store the corners of a triangle, number `triangle` of corners (n, 3, 3), flat, into a lane of the nine vectors
    from s[place] on, corner after corner."""
    step = lanes(s)
    for c in range(9):
        put(s, place + c * step + lane, number(corners, 9 * triangle + c))


@jitable
def clamped(x):
    """The nearest number to x in 0 .. 1, for vectors."""
    x = where_less(x, 0.0, 0.0, x)
    return where_less(1.0, x, 1.0, x)


@jitable
def nearest_corner(s, t, o):
    """Least squared distance of the triangles at s[t:] from the corners at s[o:] that are above them, else 1e300, and
    the reference coordinates of the closest points, of the triangle and of the corner."""
    step, none = lanes(s), zero(s)
    t0, t1, t2 = load(s, t), load(s, t + step), load(s, t + 2 * step)
    u0, u1, u2 = load(s, t + 3 * step) - t0, load(s, t + 4 * step) - t1, load(s, t + 5 * step) - t2
    v0, v1, v2 = load(s, t + 6 * step) - t0, load(s, t + 7 * step) - t1, load(s, t + 8 * step) - t2
    # the triangle t + a u + b v
    uu, vv, uv = u0 * u0 + u1 * u1 + u2 * u2, v0 * v0 + v1 * v1 + v2 * v2, u0 * v0 + u1 * v1 + u2 * v2
    inverse = 1.0 / (uu * vv - uv * uv)
    best, x, y, p, q = none + 1e300, none, none, none, none
    for c in range(3):
        here = o + 3 * c * step
        w0, w1, w2 = load(s, here) - t0, load(s, here + step) - t1, load(s, here + 2 * step) - t2
        wu, wv = w0 * u0 + w1 * u1 + w2 * u2, w0 * v0 + w1 * v1 + w2 * v2
        a, b = (vv * wu - uv * wv) * inverse, (uu * wv - uv * wu) * inverse
        # the distance of the corner from the plane, if its foot (a, b) lies in the triangle
        r0, r1, r2 = w0 - a * u0 - b * v0, w1 - a * u1 - b * v1, w2 - a * u2 - b * v2
        least = where_less(a, b, a, b)
        least = where_less(1.0 - a - b, least, 1.0 - a - b, least)
        square = where_less(least, 0.0, 1e300, r0 * r0 + r1 * r1 + r2 * r2)
        x, y = where_less(square, best, a, x), where_less(square, best, b, y)
        p = where_less(square, best, CORNERS[0][c], p)
        q = where_less(square, best, CORNERS[1][c], q)
        best = where_less(square, best, square, best)
    return best, x, y, p, q


@jitable
def squared_distances(s):
    """Least squared distances of the triangles at s[0:] and s[9 * lanes:], over nine pairs of edges and six of corner
    and interior, and the reference coordinates of the closest points, of the first and of the second. s: 27 vectors."""
    step = lanes(s)
    other, inverses = 9 * step, 18 * step
    # each corner of one triangle with the interior of the other one
    best, p0, p1, p2, p3 = nearest_corner(s, 0, other)
    square, q2, q3, q0, q1 = nearest_corner(s, other, 0)
    p0, p1 = where_less(square, best, q0, p0), where_less(square, best, q1, p1)
    p2, p3 = where_less(square, best, q2, p2), where_less(square, best, q3, p3)
    best = where_less(square, best, square, best)
    # 1 / |v|^2 of the edges v of the second triangle
    for j in range(3):
        here, there = other + 3 * j * step, other + 3 * (j + 1 if j < 2 else 0) * step
        v0, v1 = load(s, there) - load(s, here), load(s, there + step) - load(s, here + step)
        v2 = load(s, there + 2 * step) - load(s, here + 2 * step)
        store(s, inverses + j * step, 1.0 / (v0 * v0 + v1 * v1 + v2 * v2))
    # each pair of edges o + x u and c + y v: the closest points of their lines, moved into both edges
    for i in range(3):
        here, after = 3 * i * step, i + 1 if i < 2 else 0
        there = 3 * after * step
        o0, o1, o2 = load(s, here), load(s, here + step), load(s, here + 2 * step)
        u0, u1, u2 = load(s, there) - o0, load(s, there + step) - o1, load(s, there + 2 * step) - o2
        a = u0 * u0 + u1 * u1 + u2 * u2
        over_a = 1.0 / a
        for j in range(3):
            here, next_ = other + 3 * j * step, j + 1 if j < 2 else 0
            there = other + 3 * next_ * step
            c0, c1, c2 = load(s, here), load(s, here + step), load(s, here + 2 * step)
            v0, v1, v2 = load(s, there) - c0, load(s, there + step) - c1, load(s, there + 2 * step) - c2
            w0, w1, w2 = o0 - c0, o1 - c1, o2 - c2
            b, c = u0 * v0 + u1 * v1 + u2 * v2, v0 * v0 + v1 * v1 + v2 * v2
            d, e = u0 * w0 + u1 * w1 + u2 * w2, v0 * w0 + v1 * w1 + v2 * w2
            determinant, limit = a * c - b * b, 1e-14 * (a * c)
            x = clamped((b * e - c * d) / where_less(limit, determinant, determinant, 1.0))
            x = where_less(limit, determinant, x, 0.5)  # parallel edges: from any point on
            y = clamped((b * x + e) * load(s, inverses + j * step))
            x = clamped((b * y - d) * over_a)
            r0, r1, r2 = w0 + x * u0 - y * v0, w1 + x * u1 - y * v1, w2 + x * u2 - y * v2
            square = r0 * r0 + r1 * r1 + r2 * r2
            first, second = CORNERS
            p0 = where_less(square, best, first[i] + (first[after] - first[i]) * x, p0)
            p1 = where_less(square, best, second[i] + (second[after] - second[i]) * x, p1)
            p2 = where_less(square, best, first[j] + (first[next_] - first[j]) * y, p2)
            p3 = where_less(square, best, second[j] + (second[next_] - second[j]) * y, p3)
            best = where_less(square, best, square, best)
    return best, p0, p1, p2, p3


def distance_scratch() -> NDArray[np.float64]:
    """Working memory of one thread of `put_distances` and `search_near`."""
    return aligned(32 * WIDTH, np.float64)


@jitable
def put_measured(s):
    """Store the results of `squared_distances` at 21 .. 25 * lanes of s, distances instead of their squares. A kernel
    that called that function itself would compile it again: Numba keeps parts by the options of who calls them."""
    step = lanes(s)
    best, p0, p1, p2, p3 = squared_distances(s)
    store(s, 21 * step, square_root(best))
    store(s, 22 * step, p0)
    store(s, 23 * step, p1)
    store(s, 24 * step, p2)
    store(s, 25 * step, p3)


@kernel
def put_distances(first, second, pairs, scratch, out, places):
    """Fill out (n,) with the least distances of the pairs (n, 2) of triangles with corners first and second (m, 3, 3),
    and places (n, 4) with the reference coordinates of the closest points; scratch: `distance_scratch`."""
    s, step = scratch, lanes(scratch)
    ones, others, numbers = first.reshape(-1), second.reshape(-1), pairs.reshape(-1)
    distances, flat = out.reshape(-1), places.reshape(-1)
    for begin in range(0, out.size, step):
        count = min(step, out.size - begin)
        for lane in range(step):
            pair = begin + min(lane, count - 1)
            put_triangle(s, 0, lane, ones, number(numbers, 2 * pair))
            put_triangle(s, 9 * step, lane, others, number(numbers, 2 * pair + 1))
        # a vector of pairs, one a lane; results from lanes to rows
        put_measured(s)
        for lane in range(count):
            put(distances, begin + lane, number(s, 21 * step + lane))
            for c in range(4):
                put(flat, 4 * (begin + lane) + c, number(s, (22 + c) * step + lane))


@jitable
def measured(s, waiting, numbers, reach, pairs, ratio, found):
    """Append the near ones of the pairs in the first `waiting` lanes of s to pairs (m, 2) and ratio (m,) from `found`
    on; return the new number, which may be beyond their room.

    s: as in `squared_distances`, with the longer size of each pair at 22 * lanes; numbers (2 * lanes,): test and trial
    triangles of the lanes; reach: ratio of distance to size below which a pair is near.
    """
    step = lanes(s)
    best, _p0, _p1, _p2, _p3 = squared_distances(s)
    store(s, 21 * step, square_root(best))
    for lane in range(waiting):
        distance = number(s, 21 * step + lane) / number(s, 22 * step + lane)
        distance = np.rint(1e9 * distance) * 1e-9  # the same for (j, i), also at a bound
        if distance < reach:
            if found < ratio.size:
                pairs[found, 0], pairs[found, 1] = number(numbers, lane), number(numbers, step + lane)
                ratio[found] = distance
            found += 1
    return found


@kernel
def search_near(corners, extents, vertices, cells, reach, upper, start, stop, scratch, pairs, ratio):
    """List the near pairs of the test triangles start .. stop with the trial triangles in the cells; return how many
    there are, also beyond the room of pairs (m, 2) and ratio (m,), their distance over their size.

    corners, extents, vertices: of both sides; cells: `Cells`; reach: ratio below which a pair is near; upper: only
    pairs with trial number > test number; scratch: `distance_scratch`.
    """
    (one, two), (left, right) = extents, vertices
    test, trial = corners[0].reshape(-1), corners[1].reshape(-1)
    s, step = scratch, lanes(scratch)
    low, counts = cells.low, cells.counts
    inverse, widest, largest = cells.limits[0], cells.limits[1], cells.limits[2]
    first, last, numbers = np.empty(3, np.int64), np.empty(3, np.int64), np.empty(2 * step, np.int64)
    found, waiting = 0, 0
    for i in range(start, stop):
        # cells within reach of the test triangle
        x0, x1, x2 = one.centre[i, 0], one.centre[i, 1], one.centre[i, 2]
        radius, size = one.radius[i], one.size[i]
        around = radius + widest + reach * max(size, largest)
        for c in range(3):
            least, most = one.centre[i, c] - around - low[c], one.centre[i, c] + around - low[c]
            first[c] = int(min(max(least * inverse, 0.0), counts[c] + 0.0))
            last[c] = int(min(most * inverse, counts[c] - 1.0)) if most >= 0 else -1
        for x in range(first[0], last[0] + 1):
            for y in range(first[1], last[1] + 1):
                column = (x * counts[1] + y) * counts[2]
                at, end = first_at_least(cells.keys, 0, cells.keys.size, column + first[2]), column + last[2]
                while at < cells.keys.size and cells.keys[at] <= end:
                    j = cells.members[at]
                    at += 1
                    # leave out pairs that are counted as (j, i), distant or touching ones
                    if upper and j <= i:
                        continue
                    # bounds by centroids and radii, then common vertices
                    d0, d1, d2 = two.centre[j, 0] - x0, two.centre[j, 1] - x1, two.centre[j, 2] - x2
                    longest = max(size, two.size[j])
                    bound = radius + two.radius[j] + reach * longest
                    if d0 * d0 + d1 * d1 + d2 * d2 >= bound * bound:
                        continue
                    shared = False
                    for a in range(3):
                        vertex = left[i, a]
                        if vertex == right[j, 0] or vertex == right[j, 1] or vertex == right[j, 2]:
                            shared = True
                    if shared:
                        continue
                    # measure the distance of the others, a vector of pairs at a time
                    put_triangle(s, 0, waiting, test, i)
                    put_triangle(s, 9 * step, waiting, trial, j)
                    put(s, 22 * step + waiting, longest)
                    numbers[waiting], numbers[step + waiting] = i, j
                    waiting += 1
                    if waiting == step:
                        found = measured(s, waiting, numbers, reach, pairs, ratio, found)
                        waiting = 0
    return measured(s, waiting, numbers, reach, pairs, ratio, found)


@kernel
def search_touching(test, trial, starts, corners, upper, start, stop, pairs, shared, test_order, trial_order):
    """List the touching pairs (m, 2) of the test triangles start .. stop, how many vertices they share, shared (m,),
    and test_order, trial_order (m, 3) with these vertices first; return how many there are.

    test, trial (n, 3): vertex numbers; vertex v is at the places corners[starts[v] : starts[v + 1]] of `trial` taken as
    one row; upper: only pairs with trial number >= test number.
    """
    found = 0
    for i in range(start, stop):
        for a in range(3):
            vertex = test[i, a]
            for at in range(starts[vertex], starts[vertex + 1]):
                j = corners[at] // 3
                if upper and j < i:
                    continue
                # leave out pairs that were found at a vertex before
                earlier = False
                for b in range(a):
                    for c in range(3):
                        earlier |= test[i, b] == trial[j, c]
                if earlier:
                    continue
                # common vertices come first in the orders of both triangles
                left, right, count = test_order[found], trial_order[found], 0
                pairs[found, 0], pairs[found, 1] = i, j
                for b in range(3):
                    for c in range(3):
                        if test[i, b] == trial[j, c]:
                            left[count], right[count] = b, c
                            count += 1
                            break
                shared[found] = count
                # then the others
                here, there = count, count
                for b in range(3):
                    mine, its = True, True
                    for c in range(count):
                        mine &= left[c] != b
                        its &= right[c] != b
                    if mine:
                        left[here] = b
                        here += 1
                    if its:
                        right[there] = b
                        there += 1
                found += 1
    return found
