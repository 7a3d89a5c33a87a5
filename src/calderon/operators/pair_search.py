"""Compiled searches for pairs of triangles that touch or are near, and their distances."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import STAMP, jitable_part, kernel


class Extents(NamedTuple):
    """Of triangles: centroids (n, 3), largest distances of a corner from it (n,), longest edges (n,), and these
    over the height on them (n,)."""

    centre: NDArray[np.float64]
    radius: NDArray[np.float64]
    size: NDArray[np.float64]
    stretch: NDArray[np.float64]


class Cells(NamedTuple):
    """Triangles sorted by the cells of a grid that their centroids are in: keys (n,) the cells, increasing; members
    (n,) the triangles; low (3,) corner of the grid; counts (3,) of cells; limits (3,) 1 / edge of a cell, largest
    radius and largest size of the triangles."""

    keys: NDArray[np.int64]
    members: NDArray[np.int64]
    low: NDArray[np.float64]
    counts: NDArray[np.int64]
    limits: NDArray[np.float64]


def extents(corners: NDArray[np.float64]) -> Extents:
    """Extents of triangles with corners (n, 3, 3)."""
    found = Extents(np.empty((len(corners), 3)), *np.empty((3, len(corners))))
    _extents_kernel()(np.ascontiguousarray(corners), found)
    return found


@functools.lru_cache(maxsize=1)
def _extents_kernel() -> Callable[..., Any]:
    stamp = STAMP

    @kernel
    def run(corners, out):  # type: ignore[no-untyped-def]
        _ = stamp
        for n in range(corners.shape[0]):
            for c in range(3):
                out.centre[n, c] = (corners[n, 0, c] + corners[n, 1, c] + corners[n, 2, c]) / 3
            radius, size = 0.0, 0.0
            for a in range(3):
                b = a + 1 if a < 2 else 0
                far, edge = 0.0, 0.0
                for c in range(3):
                    far += (corners[n, a, c] - out.centre[n, c]) ** 2
                    edge += (corners[n, a, c] - corners[n, b, c]) ** 2
                radius, size = max(radius, far), max(size, edge)
            u0, v0 = corners[n, 1, 0] - corners[n, 0, 0], corners[n, 2, 0] - corners[n, 0, 0]
            u1, v1 = corners[n, 1, 1] - corners[n, 0, 1], corners[n, 2, 1] - corners[n, 0, 1]
            u2, v2 = corners[n, 1, 2] - corners[n, 0, 2], corners[n, 2, 2] - corners[n, 0, 2]
            area = (u1 * v2 - u2 * v1) ** 2 + (u2 * v0 - u0 * v2) ** 2 + (u0 * v1 - u1 * v0) ** 2
            out.radius[n], out.size[n], out.stretch[n] = np.sqrt(radius), np.sqrt(size), size / np.sqrt(area)

    return run


@jitable_part
def squared_distance(first, m, second, n, place):  # type: ignore[no-untyped-def]
    """Least squared distance of triangles m and n, over nine pairs of edges and six of corner and interior; place (4,)
    gets the reference coordinates of the closest points."""
    best = 1e300
    for side in range(2):
        t, k, o, l = (first, m, second, n) if side == 0 else (second, n, first, m)
        t0, t1, t2 = t[k, 0, 0], t[k, 0, 1], t[k, 0, 2]
        u0, u1, u2 = t[k, 1, 0] - t0, t[k, 1, 1] - t1, t[k, 1, 2] - t2
        v0, v1, v2 = t[k, 2, 0] - t0, t[k, 2, 1] - t1, t[k, 2, 2] - t2
        uu, vv, uv = u0 * u0 + u1 * u1 + u2 * u2, v0 * v0 + v1 * v1 + v2 * v2, u0 * v0 + u1 * v1 + u2 * v2
        determinant = uu * vv - uv * uv
        for c in range(3):
            w0, w1, w2 = o[l, c, 0] - t0, o[l, c, 1] - t1, o[l, c, 2] - t2
            wu, wv = w0 * u0 + w1 * u1 + w2 * u2, w0 * v0 + w1 * v1 + w2 * v2
            a, b = vv * wu - uv * wv, uu * wv - uv * wu
            if a >= 0 and b >= 0 and a + b <= determinant:
                a, b = a / determinant, b / determinant
                r0, r1, r2 = w0 - a * u0 - b * v0, w1 - a * u1 - b * v1, w2 - a * u2 - b * v2
                square = r0 * r0 + r1 * r1 + r2 * r2
                if square < best:
                    best = square
                    place[2 * side], place[2 * side + 1] = a, b
                    place[2 - 2 * side] = 1.0 if c == 1 else 0.0
                    place[3 - 2 * side] = 1.0 if c == 2 else 0.0
    for i in range(3):
        after = i + 1 if i < 2 else 0
        p0, p1, p2 = first[m, i, 0], first[m, i, 1], first[m, i, 2]
        u0, u1, u2 = first[m, after, 0] - p0, first[m, after, 1] - p1, first[m, after, 2] - p2
        a = u0 * u0 + u1 * u1 + u2 * u2
        over_a = 1 / a
        for j in range(3):
            next_ = j + 1 if j < 2 else 0
            q0, q1, q2 = second[n, j, 0], second[n, j, 1], second[n, j, 2]
            v0, v1, v2 = second[n, next_, 0] - q0, second[n, next_, 1] - q1, second[n, next_, 2] - q2
            w0, w1, w2 = p0 - q0, p1 - q1, p2 - q2
            b, c = u0 * v0 + u1 * v1 + u2 * v2, v0 * v0 + v1 * v1 + v2 * v2
            d, e = u0 * w0 + u1 * w1 + u2 * w2, v0 * w0 + v1 * w1 + v2 * w2
            determinant = a * c - b * b
            x = min(max((b * e - c * d) / determinant, 0.0), 1.0) if determinant > 1e-14 * a * c else 0.5
            y = min(max((b * x + e) / c, 0.0), 1.0)
            x = min(max((b * y - d) * over_a, 0.0), 1.0)
            r0, r1, r2 = w0 + x * u0 - y * v0, w1 + x * u1 - y * v1, w2 + x * u2 - y * v2
            square = r0 * r0 + r1 * r1 + r2 * r2
            if square < best:
                best = square
                place[0] = x if i == 0 else 1 - x if i == 1 else 0.0
                place[1] = x if i == 1 else 1 - x if i == 2 else 0.0
                place[2] = y if j == 0 else 1 - y if j == 1 else 0.0
                place[3] = y if j == 1 else 1 - y if j == 2 else 0.0
    return best


@functools.lru_cache(maxsize=1)
def distance_kernel() -> Callable[..., Any]:
    """Compiled distances(first, second, pairs, out, places)."""
    stamp = STAMP

    @kernel
    def run(first, second, pairs, out, places):  # type: ignore[no-untyped-def]
        _ = stamp
        for n in range(pairs.shape[0]):
            i, j = np.int64(pairs[n, 0]), np.int64(pairs[n, 1])  # as in the search: compiled once for both
            out[n] = np.sqrt(squared_distance(first, i, second, j, places[n]))

    return run


@jitable_part
def first_at_least(keys, key):  # type: ignore[no-untyped-def]
    """The first place of the increasing keys with one that is not below `key`."""
    low, high = 0, keys.size
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


@functools.lru_cache(maxsize=1)
def near_search_kernel() -> Callable[..., int]:
    """Compiled search(corners, extents, vertices, cells, reach, upper, start, stop, pairs, ratio) of the test triangles
    start .. stop with the trial triangles in the cells; corners, extents and vertices of both sides.

    Returns how many near pairs there are, also beyond the room of pairs and ratio.
    """
    stamp = STAMP

    @kernel
    def search(corners, extents, vertices, cells, reach, upper, start, stop, pairs, ratio):  # type: ignore[no-untyped-def]
        _ = stamp
        (test, trial), (one, two), (left, right) = corners, extents, vertices
        low, counts = cells.low, cells.counts
        inverse, widest, largest = cells.limits[0], cells.limits[1], cells.limits[2]
        first, last, place = np.empty(3, np.int64), np.empty(3, np.int64), np.empty(4)
        found = 0
        for i in range(start, stop):
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
                    at, end = first_at_least(cells.keys, column + first[2]), column + last[2]
                    while at < cells.keys.size and cells.keys[at] <= end:
                        j = cells.members[at]
                        at += 1
                        if upper and j <= i:
                            continue
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
                        distance = np.sqrt(squared_distance(test, i, trial, j, place)) / longest
                        distance = np.rint(1e9 * distance) * 1e-9  # the same for (j, i), also at a bound
                        if distance < reach:
                            if found < ratio.size:
                                pairs[found, 0], pairs[found, 1] = i, j
                                ratio[found] = distance
                            found += 1
        return found

    return search


@functools.lru_cache(maxsize=1)
def touching_search_kernel() -> Callable[..., int]:
    """Compiled search(test, trial, starts, corners, upper, start, stop, pairs, shared, test_order, trial_order) of the
    test triangles start .. stop; vertex v is at the places corners[starts[v] : starts[v + 1]] of `trial` (n, 3) taken
    as one row. Returns how many pairs touch."""
    stamp = STAMP

    @kernel
    def search(test, trial, starts, corners, upper, start, stop, pairs, shared, test_order, trial_order):  # type: ignore[no-untyped-def]
        _ = stamp
        found = 0
        for i in range(start, stop):
            for a in range(3):
                vertex = test[i, a]
                for at in range(starts[vertex], starts[vertex + 1]):
                    j = corners[at] // 3
                    if upper and j < i:
                        continue
                    earlier = False  # the pair was found at a vertex before
                    for b in range(a):
                        for c in range(3):
                            earlier |= test[i, b] == trial[j, c]
                    if earlier:
                        continue
                    left, right, count = test_order[found], trial_order[found], 0
                    pairs[found, 0], pairs[found, 1] = i, j
                    for b in range(3):
                        for c in range(3):
                            if test[i, b] == trial[j, c]:
                                left[count], right[count] = b, c
                                count += 1
                                break
                    shared[found] = count
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

    return search
