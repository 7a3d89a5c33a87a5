"""Orders in which neighbours come together, so that data used together are close in memory."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import jitable_part, kernel, read_only
from calderon.mesh.geometry import centroids_of, enlarge

DEEPEST = 20
"""Levels of a Morton key of 60 bits."""
LEVELS = 13
"""Levels by which neighbours come together: a cell is 1/8192 of the longest extent."""
DIGIT = 11
"""Bits by which keys are sorted at a time."""
TOGETHER = 1 << 14
"""Triangles whose centroids are there at a time."""


def locality_order(points: NDArray[np.float64]) -> NDArray[np.int64]:
    """Permutation that puts neighbours together: Morton order in a cube around points (n, 3)."""
    bounds = np.array([[np.inf] * 3, [-np.inf] * 3])
    enlarge(read_only(points), bounds)
    keys = np.empty(len(points), np.int64)
    given = read_only(np.ascontiguousarray(points, float)), bounds[0], _scale_of(bounds)
    point_keys(*given, 3 * (DEEPEST - LEVELS), keys)
    return order_of(keys)


def triangle_order(vertices: NDArray[np.float64], triangles: NDArray[np.int64]) -> NDArray[np.int64]:
    """The `locality_order` of the centroids of triangles (n, 3) between vertices (V, 3), some of which are there at a
    time."""
    bounds, keys = np.array([[np.inf] * 3, [-np.inf] * 3]), np.empty(len(triangles), np.int64)
    runs = [slice(first, first + TOGETHER) for first in range(0, len(triangles), TOGETHER)]
    for run in runs:
        enlarge(read_only(centroids_of(vertices, triangles[run])), bounds)
    for run in runs:
        given = read_only(centroids_of(vertices, triangles[run])), bounds[0], _scale_of(bounds)
        point_keys(*given, 3 * (DEEPEST - LEVELS), keys[run])
    return order_of(keys)


def _scale_of(bounds: NDArray[np.float64]) -> float:
    """Cells of the deepest level over a length, in a cube around a box, bounds (2, 3)."""
    extent = float(np.ptp(bounds, axis=0).max())
    return (1 << DEEPEST) / extent if 0 < extent < np.inf else 1.0


def order_of(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """The stable order of keys that are not negative, such as Morton keys."""
    return sorted_keys(keys)[1]


def sorted_keys(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Keys (n,) that are not negative, increasing, and their stable order (n,).

    They are sorted by the digits in which they differ, from the last one on; by comparisons where these digits and the
    numbers of keys do not fit into one number.
    """
    count = len(keys)
    differing = int(differing_bits(keys))
    shift, number = max(0, (differing & -differing).bit_length() - 1), max(0, count - 1).bit_length()
    bits = differing.bit_length() - shift
    if bits + number > 63:
        order = np.argsort(keys, kind="stable")
        return keys.take(order), order
    packed, spare = np.empty((2, count), np.int64)
    sort_by_digits(keys, shift, bits, number, packed, spare)
    return packed, spare


@kernel
def differing_bits(keys):
    """The bits in which some of the keys (n,) differ."""
    found = np.int64(0)
    for i in range(len(keys)):
        found |= keys[i] ^ keys[0]
    return found


@kernel
def sort_by_digits(keys, shift, bits, number, packed, spare):
    """Fill packed (n,) with the keys (n,), increasing, and spare (n,) with their order.

    Keys differ in so many bits behind the last `shift` ones; number: bits of their numbers, which are sorted with them.
    """
    # keys with their numbers, and how often each digit occurs
    digits, last = (bits + DIGIT - 1) // DIGIT, (np.int64(1) << DIGIT) - 1
    counts = np.zeros((digits, 1 << DIGIT), np.int32)
    kept = ((np.int64(1) << bits) - 1) << shift
    for i in range(len(keys)):
        key = (keys[i] & kept) >> shift
        packed[i] = (key << number) | i
        for d in range(digits):
            counts[d, (key >> (DIGIT * d)) & last] += 1
    one, other = packed, spare
    for d in range(digits):
        # where each digit begins, and keys in the order of digits
        before, place = np.int32(0), number + DIGIT * d
        for k in range(1 << DIGIT):
            counts[d, k], before = before, before + counts[d, k]
        for i in range(len(one)):
            k = (one[i] >> place) & last
            other[counts[d, k]] = one[i]
            counts[d, k] += 1
        one, other = other, one
    # keys and numbers apart, with the bits that all have
    common, numbers = (keys[0] & ~kept) if len(keys) else np.int64(0), (np.int64(1) << number) - 1
    for i in range(len(keys)):
        both = one[i]
        packed[i], spare[i] = ((both >> number) << shift) | common, both & numbers


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
