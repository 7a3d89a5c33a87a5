"""Orders in which neighbours come together, so that data used together are close in memory."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import jitable_part, kernel
from calderon.mesh.geometry import enlarge

DEEPEST = 20
"""Levels of a Morton key of 60 bits."""
LEVELS = 13
"""Levels by which neighbours come together: a cell is 1/8192 of the longest extent."""
DIGIT = 10
"""Bits by which keys are sorted at a time."""


def locality_order(points: NDArray[np.float64]) -> NDArray[np.int64]:
    """Permutation that puts neighbours together: Morton order in a cube around points (n, 3)."""
    bounds = np.array([[np.inf] * 3, [-np.inf] * 3])
    enlarge(points, bounds)
    extent, keys = float(np.ptp(bounds, axis=0).max()) if len(points) else 0.0, np.empty(len(points), np.int64)
    scale = (1 << DEEPEST) / extent if extent > 0 else 1.0
    point_keys(np.ascontiguousarray(points, float), bounds[0], scale, 3 * (DEEPEST - LEVELS), keys)
    return order_of(keys)


def order_of(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """The stable order of Morton keys, by their digits from the last one on."""
    found, spare = np.empty((2, len(keys), 2), np.int64)
    found[:, 0], found[:, 1] = keys, np.arange(len(keys))
    passes = sort_by_digits(found, spare)
    return (spare if passes % 2 else found)[:, 1].copy()


@kernel
def sort_by_digits(found, spare):
    """Sort rows (n, 2) by their first numbers, from one array, `found` at first, to the other, `spare`, in each
    pass; return the number of passes."""
    # how often each digit occurs
    digits = 3 * DEEPEST // DIGIT
    counts = np.zeros((digits, 1 << DIGIT), np.int64)
    for i in range(len(found)):
        for d in range(digits):
            counts[d, (found[i, 0] >> (DIGIT * d)) & ((1 << DIGIT) - 1)] += 1
    passes = 0
    for d in range(digits):
        before = np.int64(0)
        if len(found) == 0 or counts[d, (found[0, 0] >> (DIGIT * d)) & ((1 << DIGIT) - 1)] == len(found):
            continue  # one digit for all
        # where each digit begins, and rows in the order of digits
        for k in range(1 << DIGIT):
            counts[d, k], before = before, before + counts[d, k]
        for i in range(len(found)):
            k = (found[i, 0] >> (DIGIT * d)) & ((1 << DIGIT) - 1)
            spare[counts[d, k], 0], spare[counts[d, k], 1] = found[i, 0], found[i, 1]
            counts[d, k] += 1
        found, spare = spare, found
        passes += 1
    return passes


@jitable_part
def spread(v):
    """The bits of a number v with two zeros between them."""
    v = (v | (v << 32)) & 0x1F00000000FFFF
    v = (v | (v << 16)) & 0x1F0000FF0000FF
    v = (v | (v << 8)) & 0x100F00F00F00F00F
    v = (v | (v << 4)) & 0x10C30C30C30C30C3
    return (v | (v << 2)) & 0x1249249249249249


@kernel
def point_keys(points, low, scale, without, keys):
    """Fill keys (n,) with Morton keys of points (n, 3): the bits of the three coordinates (x - low) * scale in turn,
    x first; the last `without` bits, which no box tells apart, are 0, so that they need no sorting."""
    last = np.int64((1 << DEEPEST) - 1)
    for i in range(len(points)):
        key = np.int64(0)
        for c in range(3):
            place = min(max(np.int64((points[i, c] - low[c]) * scale), np.int64(0)), last)
            key = (key << 1) | spread(place)
        keys[i] = (key >> without) << without


def are_in_order(triangles: NDArray[np.integer], mesh: Any) -> bool:
    """Whether these are all triangles of a mesh in the order of its `locality`, which somebody wanted before."""
    return "locality" in vars(mesh) and np.array_equal(triangles, mesh.locality)


def block_order(points: NDArray[np.float64], size: int) -> NDArray[np.int64]:
    """Permutation that puts neighbours into one block of `size`: points are bisected along their longest extent, at
    whole blocks, again and again."""
    order = np.arange(len(points))
    waiting = [(0, len(points))]
    while waiting:
        first, end = waiting.pop()
        blocks = -(-(end - first) // size)
        if blocks < 2:
            continue
        inside = order[first:end]
        some = points[inside]
        along = some[:, np.argmax(np.ptp(some, axis=0))]
        half = blocks // 2 * size
        order[first:end] = inside[np.argpartition(along, half)]
        waiting += [(first, first + half), (first + half, end)]
    return order
