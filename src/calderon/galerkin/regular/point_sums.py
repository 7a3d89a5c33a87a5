"""Functions applied to values at the points of a triangle, or at all pairs of points of two, in vectors.

Values and sums lie in an array, `stride` numbers apart from point to point; tables of functions are those of
element_tables.py.

Points in threes: the points 3 p, 3 p + 1 and 3 p + 2 are images of each other under rotations of the triangle, p <
triples. There the functions a = 0, 1, 2 have the values alpha_p delta_ac + beta_p at the point 3 p + c, so that sums
of values k_pc with three functions are

    sum_p alpha_p k_pa + sum_p beta_p (k_p0 + k_p1 + k_p2),    a = 0, 1, 2.

The second sum is the same for all a. Running sums are tuples (s_0, s_1, s_2, every) of the first three and the second.
A table holds all alpha_p, then all beta_p, divided by alpha_0, so that alpha_0 = 1 is not read.
"""

from calderon.backends.vectors import complex_product, jitable, lanes, load, number, store, zero

EVEN = (1.0, 1.0, 1.0)
"""Shares of functions of which each has the same beta."""


@jitable
def squared(x, p, y0, y1, y2, tiny):
    """The squared distance of the point x[p : p + 3] from (y0, y1, y2), plus tiny."""
    d0, d1, d2 = number(x, p) - y0, number(x, p + 1) - y1, number(x, p + 2) - y2
    return d0 * d0 + tiny + d1 * d1 + d2 * d2


@jitable
def zeros(like):
    """The running sums (s_0, s_1, s_2, every) = 0, vectors like those of an array."""
    return zero(like), zero(like), zero(like), zero(like)


@jitable
def applied(sums, k0, k1, k2, alpha, beta):
    """The running sums with the values k0, k1, k2 at three more points, where the functions have alpha and beta."""
    s0, s1, s2, every = sums
    return s0 + alpha * k0, s1 + alpha * k1, s2 + alpha * k2, every + beta * (k0 + k1 + k2)


@jitable
def put_shares(out, place, shares):
    """Store three shares, vectors, at out[place:], where `shared` reads them."""
    for a in range(3):
        store(out, place + a * lanes(out), shares[a])


@jitable
def totals(sums, shares):
    """The sums s_a + shares[a] every with the three functions a = 0, 1, 2, from running sums; other shares than 1 are
    those of `centroid_distances.wave_weights`."""
    s0, s1, s2, every = sums
    return s0 + shares[0] * every, s1 + shares[1] * every, s2 + shares[2] * every


@jitable
def three(values, place, stride):
    """Three vectors of values, the first at `place`, `stride` numbers apart."""
    return load(values, place), load(values, place + stride), load(values, place + 2 * stride)


@jitable
def put_three(out, place, sums, shares):
    """Store the `totals` of running sums with these shares one after the other, three vectors at out[place:]."""
    step, (s0, s1, s2) = lanes(out), totals(sums, shares)
    store(out, place, s0)
    store(out, place + step, s1)
    store(out, place + 2 * step, s2)


@jitable
def folded(sums, place, stride, triples, table, weight):
    """The sums with three functions of the values k_pc = sums[place + (3 p + c) stride], at points in threes; alpha_p =
    table[weight + p] and beta_p = table[weight + triples + p] (see the head of this file)."""
    total = zeros(sums)
    for p in range(triples):
        k0, k1, k2 = three(sums, place + 3 * p * stride, stride)
        alpha = 1.0 if p == 0 else number(table, weight + p)
        total = applied(total, k0, k1, k2, alpha, number(table, weight + triples + p))
    return totals(total, EVEN)


@jitable
def folded_times(sums, place, stride, triples, offsets, table, weight):
    """The sums of `folded` with h_pc k_pc instead of k_pc, where the factors h_pc follow each other from sums[offsets]
    on, one vector a point; other arguments as in `folded`."""
    total, step = zeros(sums), lanes(sums)
    for p in range(triples):
        k0, k1, k2 = three(sums, place + 3 * p * stride, stride)
        h0, h1, h2 = three(sums, offsets + 3 * p * step, step)
        alpha = 1.0 if p == 0 else number(table, weight + p)
        total = applied(total, h0 * k0, h1 * k1, h2 * k2, alpha, number(table, weight + triples + p))
    return totals(total, EVEN)


@jitable
def shared(sums, place, stride, shares):
    """The sums with three functions of the values k_p = sums[place + p stride] at three points, as `totals` says, with
    shares at sums[shares:]."""
    k0, k1, k2 = three(sums, place, stride)
    return totals((k0, k1, k2, k0 + k1 + k2), three(sums, shares, lanes(sums)))


@jitable
def shared_times(sums, place, stride, offsets, shares):
    """The sums of `shared` with h_p k_p instead of k_p, where the factors h_p follow each other from sums[offsets] on;
    place, stride, shares as in `shared`."""
    step, (k0, k1, k2) = lanes(sums), three(sums, place, stride)
    h0, h1, h2 = three(sums, offsets, step)
    k0, k1, k2 = h0 * k0, h1 * k1, h2 * k2
    return totals((k0, k1, k2, k0 + k1 + k2), three(sums, shares, step))


@jitable
def combined(sums, place, stride, points, table, weight):
    """sum_p table[weight + p] k_p, p < points, with k_p = sums[place + p stride]: the sum with one function."""
    total = zero(sums)
    for p in range(points):
        total = total + number(table, weight + p) * load(sums, place + p * stride)
    return total


@jitable
def one_applied(s, place, stride, across, offsets, points, table, weight, out):
    """Store at s[out:] (P,) the sums f_p sum_q table[weight + q] k_pq, p and q < points, of the values k_pq = s[place +
    p across + q stride] at pairs of points with one function on the side of q; f_p, vectors from s[offsets] on: factors
    of the points p."""
    step = lanes(s)
    for p in range(points):
        total = combined(s, place + p * across, stride, points, table, weight)
        store(s, out + p * step, load(s, offsets + p * step) * total)


@jitable
def combined_three(sums, place, stride, points, table, weight):
    """The three sums with functions whose values (3, points) follow each other from table[weight] on; sums, place,
    stride, points as in `combined`."""
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
