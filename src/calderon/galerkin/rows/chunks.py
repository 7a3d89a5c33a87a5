"""Triangles of a cluster as the loops of rows and blocks read them: a chunk at a time, one in each lane."""

from calderon.backends.numba import jitable_part
from calderon.backends.vectors import jitable, lanes, load, number, store
from calderon.galerkin.rows.cluster_tables import (
    FIRST,
    FUNCTIONS,
    LENGTH,
    LIST_STARTS,
    LISTS,
    OWN,
    PITCH,
    RECORDS,
    SIZES,
    item,
)


@jitable
def distance(x, p, y0, y1, y2, tiny):  # type: ignore[no-untyped-def]
    """The squared distance of the point x[p : p + 3] from y."""
    d0, d1, d2 = number(x, p) - y0, number(x, p + 1) - y1, number(x, p + 2) - y2
    return d0 * d0 + tiny + d1 * d1 + d2 * d2


@jitable_part
def gathered(side, points, low, high, curls, scratch):  # type: ignore[no-untyped-def]
    """Gather triangles low..high of the lists of a side into scratch, rows of a chunk, then those of the curls."""
    width, step = 3 * points, lanes(scratch)
    base = (width + 7) * PITCH  # where corners wait, and curls in the end
    numbers, index = side.numbers, side.integers
    for k in range(high - low):
        place = number(index, RECORDS) + number(index, LENGTH) * item(index, LISTS, low + k) + width
        for c in range(4):
            scratch[(width + 3 + c) * PITCH + k] = number(numbers, place + 3 + c)
        for c in range(9):
            scratch[base + c * PITCH + k] = number(numbers, place + 16 + c)
    shape = (number(index, FUNCTIONS) + 1) * points
    for v in range(0, high - low, step):
        for c in range(3):
            here = base + c * PITCH + v
            x0, x1, x2 = load(scratch, here), load(scratch, here + 3 * PITCH), load(scratch, here + 6 * PITCH)
            for q in range(points):
                b0, b1 = number(numbers, shape + q), number(numbers, shape + points + q)
                b2 = number(numbers, shape + 2 * points + q)
                store(scratch, (3 * q + c) * PITCH + v, b0 * x0 + b1 * x1 + b2 * x2)
            store(scratch, (width + c) * PITCH + v, (x0 + x1 + x2) * (1.0 / 3.0))
            if curls:
                inverse = 1.0 / load(scratch, (width + 6) * PITCH + v)
                store(scratch, here, (x1 - x2) * inverse)
                store(scratch, here + 3 * PITCH, (x2 - x0) * inverse)
                store(scratch, here + 6 * PITCH, (x0 - x1) * inverse)


@jitable
def run_of(index, cluster):  # type: ignore[no-untyped-def]
    """First and last triangle of a cluster in the lists, or in the order of all."""
    if number(index, OWN):
        first = item(index, FIRST, cluster)
        return first, first + item(index, SIZES, cluster)
    return item(index, LIST_STARTS, cluster), item(index, LIST_STARTS, cluster + 1)


@jitable_part
def marking(skips, t, index, chunk, count, scratch, mask, value):  # type: ignore[no-untyped-def]
    """Put a value at the triangles of the chunk that t skips; whether there are any."""
    found, k = False, 0
    own = number(index, OWN)
    low = chunk if own else item(index, LISTS, chunk)
    high = chunk + count - 1 if own else item(index, LISTS, chunk + count - 1)
    for m in range(skips[t], skips[t + 1]):
        skipped = skips[m]
        if skipped > high:
            break
        if skipped < low:
            continue
        if own:
            scratch[mask + skipped - chunk] = value
            found = True
        else:
            while item(index, LISTS, chunk + k) < skipped:
                k += 1
            if item(index, LISTS, chunk + k) == skipped:
                scratch[mask + k] = value
                found = True
    return found
