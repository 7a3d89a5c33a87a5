"""Functions applied to values at the points of a triangle, or at all pairs of points of two, in vectors.

Values and sums lie in an array, `stride` numbers apart from point to point; tables of functions are those of
element_tables.py.
"""

from calderon.backends.vectors import complex_product, jitable, lanes, load, number, store, zero


@jitable
def squared(x, p, y0, y1, y2, tiny):
    """The squared distance of the point x[p : p + 3] from (y0, y1, y2), plus tiny."""
    d0, d1, d2 = number(x, p) - y0, number(x, p + 1) - y1, number(x, p + 2) - y2
    return d0 * d0 + tiny + d1 * d1 + d2 * d2


@jitable
def zeros(like):
    """Sums to begin with, of three functions and of all of them together, as vectors like those of an array."""
    return zero(like), zero(like), zero(like), zero(like)


@jitable
def applied(sums, k0, k1, k2, alpha, beta):
    """The sums and three functions, of alpha and beta, times the values k0, k1, k2 at three more points."""
    s0, s1, s2, every = sums
    return s0 + alpha * k0, s1 + alpha * k1, s2 + alpha * k2, every + beta * (k0 + k1 + k2)


@jitable
def totals(sums):
    """The sums of three functions, each with the part that all of them get."""
    s0, s1, s2, every = sums
    return s0 + every, s1 + every, s2 + every


@jitable
def three(values, place, stride):
    """Three vectors of values, the first at `place`, `stride` numbers apart."""
    return load(values, place), load(values, place + stride), load(values, place + 2 * stride)


@jitable
def put_three(out, place, sums):
    """Store the totals of sums of three functions one after the other at out[place:]."""
    step, (s0, s1, s2) = lanes(out), totals(sums)
    store(out, place, s0)
    store(out, place + step, s1)
    store(out, place + 2 * step, s2)


@jitable
def folded(sums, place, stride, triples, table, weight):
    """The sums at 3 * triples points in threes, the first at `place`, `stride` numbers apart, times three functions,
    whose alpha and beta begin at table[weight], the first alpha being 1."""
    total = zeros(sums)
    for p in range(triples):
        k0, k1, k2 = three(sums, place + 3 * p * stride, stride)
        alpha = 1.0 if p == 0 else number(table, weight + p)
        total = applied(total, k0, k1, k2, alpha, number(table, weight + triples + p))
    return totals(total)


@jitable
def folded_times(sums, place, stride, triples, offsets, table, weight):
    """The sums at points in threes times an offset at each point, which begin at sums[offsets], and three functions;
    the other arguments as in `folded`."""
    total, step = zeros(sums), lanes(sums)
    for p in range(triples):
        k0, k1, k2 = three(sums, place + 3 * p * stride, stride)
        h0, h1, h2 = three(sums, offsets + 3 * p * step, step)
        alpha = 1.0 if p == 0 else number(table, weight + p)
        total = applied(total, h0 * k0, h1 * k1, h2 * k2, alpha, number(table, weight + triples + p))
    return totals(total)


@jitable
def combined(sums, place, stride, points, table, weight):
    """The sums at points, the first at `place`, `stride` numbers apart, times one function, whose values begin at
    table[weight]."""
    total = zero(sums)
    for p in range(points):
        total = total + number(table, weight + p) * load(sums, place + p * stride)
    return total


@jitable
def one_applied(s, place, stride, across, offsets, points, table, weight, out):
    """Sums (P,) at s[out:] of values at all pairs of points, from s[place] on: with one function, values
    table[weight:], of the points that are `stride` apart, at each of those that are `across` apart, times the offset
    there, from s[offsets] on."""
    step = lanes(s)
    for p in range(points):
        total = combined(s, place + p * across, stride, points, table, weight)
        store(s, out + p * step, load(s, offsets + p * step) * total)


@jitable
def combined_three(sums, place, stride, points, table, weight):
    """The sums at points times three functions, whose values follow each other; arguments as in `combined`."""
    return (
        combined(sums, place, stride, points, table, weight),
        combined(sums, place, stride, points, table, weight + points),
        combined(sums, place, stride, points, table, weight + 2 * points),
    )


@jitable
def put_product(s, place, imaginary, re, im, c, d):
    """Store (re + i im) (c + i d) at s[place:], the imaginary part `imaginary` numbers further."""
    re, im = complex_product(re, im, c, d)
    store(s, place, re)
    store(s, place + imaginary, im)
