"""Functions applied to values at the points of a triangle, or at all pairs of points of two, in vectors.

Values and sums lie in an array, `stride` numbers apart from point to point; tables of functions are those of sides.py.
"""

from calderon.backends.vectors import jitable, lanes, load, number, store, zero


@jitable
def folded(sums, place, stride, triples, table, weight):  # type: ignore[no-untyped-def]
    """The sums at points in threes, the first at `place`, times three functions, whose alpha and beta begin at
    table[weight]."""
    s0, s1, s2 = load(sums, place), load(sums, place + stride), load(sums, place + 2 * stride)
    every = number(table, weight + triples) * (s0 + s1 + s2)
    for p in range(1, triples):
        place += 3 * stride
        k0, k1, k2 = load(sums, place), load(sums, place + stride), load(sums, place + 2 * stride)
        alpha = number(table, weight + p)
        s0, s1, s2 = s0 + alpha * k0, s1 + alpha * k1, s2 + alpha * k2
        every = every + number(table, weight + triples + p) * (k0 + k1 + k2)
    return s0 + every, s1 + every, s2 + every


@jitable
def combined(sums, place, stride, points, table, weight):  # type: ignore[no-untyped-def]
    """The sums at points, the first at `place`, times one function, whose values begin at table[weight]."""
    total = zero(sums)
    for p in range(points):
        total = total + number(table, weight + p) * load(sums, place + p * stride)
    return total


@jitable
def three_applied(values, stride, across, offsets, points, table, weight, sums):  # type: ignore[no-untyped-def]
    """Values at all pairs of points, in threes, to sums (P, 3): three functions of the points that are `stride` apart,
    at each of those that are `across` apart, times the offset there."""
    step = lanes(sums)
    for p in range(points):
        offset = load(offsets, p * step)
        s0, s1, s2 = folded(values, p * across, stride, points // 3, table, weight)
        store(sums, 3 * p * step, offset * s0)
        store(sums, (3 * p + 1) * step, offset * s1)
        store(sums, (3 * p + 2) * step, offset * s2)


@jitable
def one_applied(values, stride, across, offsets, points, table, weight, sums):  # type: ignore[no-untyped-def]
    """The same for one function and any points, to sums (P,)."""
    step = lanes(sums)
    for p in range(points):
        total = combined(values, p * across, stride, points, table, weight)
        store(sums, p * step, load(offsets, p * step) * total)
