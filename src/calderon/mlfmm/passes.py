"""Kernels between boxes: patterns to the grid of a parent (M2M) and back (L2L), translations on the full grid (M2L).

A pattern is a function on a grid, real parts first, imaginary ones `pitch` numbers later. Boxes have several of them,
their columns. On the full grid of a level numbers are in blocks of two vectors of directions, the same block of all
boxes together: what one block of a translation needs is contiguous.
"""

from calderon.backends.numba import jitable_part, kernel
from calderon.backends.vectors import lanes, load, number, store, zero


@jitable_part
def products(a, a0, pitch_a, b, b0, pitch_b, c, c0, pitch_c, rows, inner, width):
    """Write C = A B to c.

    a, b, c: arrays of numbers, in which A (rows, inner), B (inner, width), C (rows, width) begin at a0, b0, c0, with
    pitch_a, pitch_b, pitch_c numbers from row to row; width: a multiple of a vector.
    """
    w = lanes(c)
    # four rows of A at a time
    for i in range(0, rows, 4):
        r0 = a0 + i * pitch_a  # the last rows again where there are no four
        i1, i2, i3 = min(i + 1, rows - 1), min(i + 2, rows - 1), min(i + 3, rows - 1)
        r1, r2, r3 = a0 + i1 * pitch_a, a0 + i2 * pitch_a, a0 + i3 * pitch_a
        q0, q1, q2, q3 = c0 + i * pitch_c, c0 + i1 * pitch_c, c0 + i2 * pitch_c, c0 + i3 * pitch_c
        # two vectors of four rows at a time
        for j in range(0, width - w, 2 * w):
            s0, s1, s2, s3 = zero(c), zero(c), zero(c), zero(c)
            t0, t1, t2, t3 = zero(c), zero(c), zero(c), zero(c)
            p = b0 + j
            for k in range(inner):
                u, v = load(b, p), load(b, p + w)
                f0, f1, f2, f3 = number(a, r0 + k), number(a, r1 + k), number(a, r2 + k), number(a, r3 + k)
                s0, s1, s2, s3 = s0 + u * f0, s1 + u * f1, s2 + u * f2, s3 + u * f3
                t0, t1, t2, t3 = t0 + v * f0, t1 + v * f1, t2 + v * f2, t3 + v * f3
                p += pitch_b
            store(c, q0 + j, s0)
            store(c, q1 + j, s1)
            store(c, q2 + j, s2)
            store(c, q3 + j, s3)
            store(c, q0 + j + w, t0)
            store(c, q1 + j + w, t1)
            store(c, q2 + j + w, t2)
            store(c, q3 + j + w, t3)
        # the last vector, where their number is odd
        if width // w % 2 == 1:
            s0, s1, s2, s3 = zero(c), zero(c), zero(c), zero(c)
            p = b0 + width - w
            for k in range(inner):
                u = load(b, p)
                f0, f1, f2, f3 = number(a, r0 + k), number(a, r1 + k), number(a, r2 + k), number(a, r3 + k)
                s0, s1, s2, s3 = s0 + u * f0, s1 + u * f1, s2 + u * f2, s3 + u * f3
                p += pitch_b
            j = width - w
            store(c, q0 + j, s0)
            store(c, q1 + j, s1)
            store(c, q2 + j, s2)
            store(c, q3 + j, s3)


@jitable_part
def split(x, x0, pitch, n, pad, room, first):
    """Write the even and odd parts of a pattern, u + v and u - v of opposite azimuths, to room[first :].

    x: numbers; the pattern has 2 n^2 directions, its real parts from x0 on, its imaginary ones `pitch` later. room
    (parity, theta, part, pad): rows of n numbers up to whole vectors, pad; those beyond n are of no use.
    """
    w = lanes(room)
    for part in range(2):
        for t in range(n):
            a, p = x0 + part * pitch + t * 2 * n, first + (t * 2 + part) * pad
            q = p + n * 2 * pad
            for f in range(0, n, w):
                u, v = load(x, a + f), load(x, a + n + f)
                store(room, p + f, u + v)
                store(room, q + f, u - v)


@jitable_part
def join(room, first, n, pad, y, pitch):
    """Write the pattern with even and odd parts e, o to y: e + o and e - o, with zeros behind, two vectors beyond it,
    too.

    room, first, n, pad: as in `split`; y: numbers, real parts first, imaginary ones `pitch` later.
    """
    w = lanes(room)
    for part in range(2):
        for t in range(n):  # vectors reach into the next numbers, which come later
            a, p = part * pitch + t * 2 * n, first + (t * 2 + part) * pad
            q = p + n * 2 * pad
            for f in range(0, n, w):
                store(y, a + f, load(room, p + f) + load(room, q + f))
            for f in range(0, n, w):
                store(y, a + n + f, load(room, p + f) - load(room, q + f))
        store(y, part * pitch + 2 * n * n, zero(y))
        store(y, part * pitch + 2 * n * n + w, zero(y))


@jitable_part
def interpolate(x, x0, pitch, sizes, theta, phi, vector, room):
    """Interpolate a pattern to a finer grid; return where its even and odd parts begin in room.

    x, x0, pitch: the pattern, as in `split`; sizes: angles and pitch of rows of both grids, as in `Sizes`; theta (2 m
    n,), phi (2 n wide,): matrices of `Interpolation`, for even and odd parts; vector: whether the pattern is a
    component along a unit vector of theta or phi, whose parities are exchanged. room: even and odd parts on the coarse
    grid, after theta, and on the fine one (parity, theta, part, wide).
    """
    n, pad, m, wide = sizes
    middle = 4 * n * pad
    out = middle + 2 * m * pad
    split(x, x0, pitch, n, pad, room, 0)
    for parity in range(2):
        matrix = (1 - parity if vector else parity) * m * n
        products(theta, matrix, n, room, parity * n * 2 * pad, 2 * pad, room, middle, 2 * pad, m, n, 2 * pad)
        products(room, middle, pad, phi, parity * n * wide, wide, room, out + parity * m * 2 * wide, wide, 2 * m, n,
                 wide)  # fmt: skip
    return out


@jitable_part
def anterpolate(room, sizes, theta_back, phi_back, vector, spare, y, y0, pitch):
    """Add the transposed of `interpolate`, of what stands where that leaves its result, to y.

    room, sizes, vector: as in `interpolate`; theta_back, phi_back: transposed matrices with weights; spare: room for a
    pattern and two vectors; y: numbers, the pattern has real parts from y0 on, imaginary ones `pitch` later.
    """
    n, pad, m, wide = sizes
    middle = 4 * n * pad
    out = middle + 2 * m * pad
    for parity in range(2):
        matrix = (1 - parity if vector else parity) * m * n
        products(room, out + parity * m * 2 * wide, wide, phi_back, parity * m * pad, pad, room, middle, pad, 2 * m, m,
                 pad)  # fmt: skip
        products(theta_back, matrix, m, room, middle, 2 * pad, room, parity * n * 2 * pad, 2 * pad, n, m, 2 * pad)
    join(room, 0, n, pad, spare, pitch)
    for i in range(0, 2 * pitch, lanes(y)):
        store(y, y0 + i, load(y, y0 + i) + load(spare, i))


@kernel
def m2m(
    x, pitch, y, pitch_up, first, octant, columns, vector, sizes, theta, phi, shifts, room, spare, low, high,
):  # fmt: skip
    """Make outgoing patterns of the parents low up to, without, high: sums over their children on the grid of the
    parent.

    x (boxes, columns, 2, pitch), y (parents, columns, 2, pitch_up): patterns of children, which are first[parent] ..
    first[parent + 1], and of parents; octant (boxes,): of each child; shifts (8, 2, pitch_up): exp(-i k d.(c - C)) for
    the centres c and C of child and parent. sizes, theta, phi, vector, room: as in `interpolate`; spare: room for a
    pattern and two vectors.
    """
    lanes(room)
    n, half = 2 * pitch_up, pitch_up
    for box in range(low, high):
        if first[box] == first[box + 1]:
            continue
        for i in range(box * columns * n, (box + 1) * columns * n):
            y[i] = 0
        for child in range(first[box], first[box + 1]):
            s = octant[child] * n
            for column in range(columns):
                # to the grid of the parent, about its centre
                at = (child * columns + column) * 2 * pitch
                out = interpolate(x, at, pitch, sizes, theta, phi, vector, room)
                join(room, out, sizes[2], sizes[3], spare, half)
                at = (box * columns + column) * n
                add_shifted(spare, 0, shifts, s, y, at, half)


@jitable_part
def add_shifted(x, x0, factors, s, y, y0, pitch):
    """Add products of complex functions to y: y += factors x, with `pitch` numbers each from x0, s, y0 on, real parts
    first, imaginary ones `pitch` later."""
    for i in range(0, pitch, lanes(y)):
        a, b = load(x, x0 + i), load(x, x0 + pitch + i)
        c, d = load(factors, s + i), load(factors, s + pitch + i)
        store(y, y0 + i, load(y, y0 + i) + (a * c - b * d))
        store(y, y0 + pitch + i, load(y, y0 + pitch + i) + (a * d + b * c))


@kernel
def l2l(
    y, pitch_up, x, pitch, first, octant, columns, vector, sizes, theta_back, phi_back, shifts, room, spare, low, high,
):  # fmt: skip
    """Add the incoming patterns y of the parents low up to, without, high to those x of their children: the transposed
    of `m2m`.

    y, x, pitch_up, pitch, first, octant, columns, shifts: as in `m2m`, where the shift of a child is that of the
    opposite octant; sizes, theta_back, phi_back, vector, room, spare: as in `anterpolate`.
    """
    lanes(room)
    n, half = 2 * pitch_up, pitch_up
    m, wide = sizes[2], sizes[3]
    out = 4 * sizes[0] * sizes[1] + 2 * m * sizes[1]
    for box in range(low, high):
        for child in range(first[box], first[box + 1]):
            s = (7 - octant[child]) * n
            for column in range(columns):
                # about the centre of the child, then to its grid
                for i in range(n):
                    spare[i] = 0
                add_shifted(y, (box * columns + column) * n, shifts, s, spare, 0, half)
                split(spare, 0, half, m, wide, room, out)
                at = (child * columns + column) * 2 * pitch
                anterpolate(room, sizes, theta_back, phi_back, vector, spare, x, at, pitch)


@kernel
def expand(
    x, pitch, y, pitch_full, boxes, begin, end, across, vector, sizes, theta, phi, room, spare, low, high,
):  # fmt: skip
    """Write outgoing patterns of the boxes low up to, without, high of a level to its full grid, in blocks of
    directions.

    x (boxes, across, 2, pitch): patterns, of which the columns begin .. end are taken; y (block, boxes, columns, part,
    two vectors), with pitch_full directions in all blocks. sizes, theta, phi, vector, room: as in `interpolate`; spare:
    room for a pattern and two vectors.
    """
    pair, columns = 2 * lanes(room), end - begin
    for box in range(low, high):
        for column in range(columns):
            at = (box * across + begin + column) * 2 * pitch
            out = interpolate(x, at, pitch, sizes, theta, phi, vector, room)
            join(room, out, sizes[2], sizes[3], spare, pitch_full)
            # block by block, where translations read them
            for block in range(pitch_full // pair):
                to = ((block * boxes + box) * columns + column) * 2 * pair
                for part in range(2):
                    start = part * pitch_full + block * pair
                    store(y, to + part * pair, load(spare, start))
                    store(y, to + part * pair + pair // 2, load(spare, start + pair // 2))


@kernel
def m2l(
    y, boxes, factors, offsets, first, source, offset, begin, end, across, vector, x, pitch, pitch_full, sizes,
    theta_back, phi_back, room, spare, sums, low, high,
):  # fmt: skip
    """Add the outgoing patterns of separated boxes, times the translators of their offsets, to the incoming patterns of
    the boxes low up to, without, high.

    y: patterns on the full grid, as in `expand`; factors (block, offsets, part, two vectors): translators; first (boxes
    + 1,), source, offset (pairs,): the pairs of each box, which are first[box] .. first[box + 1], with their source and
    the number of their offset. x (boxes, across, 2, pitch): patterns, to the columns begin .. end of which sums are
    added. pitch_full: directions of all blocks; sums (block, boxes, columns, part, two vectors): room for high - low
    boxes; sizes, theta_back, phi_back, vector, room, spare: as in `anterpolate`.
    """
    w = lanes(room)
    pair, columns = 2 * w, end - begin
    # sums over pairs, one block of directions of all boxes after the other
    count = (high - low) * columns
    # sums over pairs, block by block, so that its translators stay in the cache
    for block in range(pitch_full // pair):
        matrices, patterns = block * offsets * 2 * pair, block * boxes * columns * 2 * pair
        for box in range(low, high):
            column = 0
            while column < columns:
                if column + 2 <= columns:
                    two_columns(y, patterns, factors, matrices, source, offset, first[box], first[box + 1], columns,
                                column, sums, (block * count + (box - low) * columns + column) * 2 * pair)  # fmt: skip
                    column += 2
                else:
                    one_column(y, patterns, factors, matrices, source, offset, first[box], first[box + 1], columns,
                               column, sums, (block * count + (box - low) * columns + column) * 2 * pair)  # fmt: skip
                    column += 1
    # from the full grid to that of the level
    m, wide = sizes[2], sizes[3]
    out = 4 * sizes[0] * sizes[1] + 2 * m * sizes[1]
    for box in range(low, high):
        if first[box] == first[box + 1]:
            continue
        for column in range(columns):
            for block in range(pitch_full // pair):
                at = (block * count + (box - low) * columns + column) * 2 * pair
                for part in range(2):
                    to = part * pitch_full + block * pair
                    store(spare, to, load(sums, at + part * pair))
                    store(spare, to + w, load(sums, at + part * pair + w))
            split(spare, 0, pitch_full, m, wide, room, out)
            at = (box * across + begin + column) * 2 * pitch
            anterpolate(room, sizes, theta_back, phi_back, vector, spare, x, at, pitch)


@jitable_part
def one_column(y, patterns, factors, matrices, source, offset, begin, end, columns, column, sums, at):
    """Write the sums of one column over the pairs begin .. end, in one block of directions, to sums[at :].

    y: patterns, those of the block from `patterns` on; factors: translators, those of the block from `matrices` on;
    source, offset: as in `m2l`; columns, column: of all patterns, and which one.
    """
    w = lanes(sums)
    r0, r1, i0, i1 = zero(sums), zero(sums), zero(sums), zero(sums)
    for e in range(begin, end):
        t, s = matrices + offset[e] * 4 * w, patterns + (source[e] * columns + column) * 4 * w
        c0, c1, d0, d1 = load(factors, t), load(factors, t + w), load(factors, t + 2 * w), load(factors, t + 3 * w)
        a0, a1, b0, b1 = load(y, s), load(y, s + w), load(y, s + 2 * w), load(y, s + 3 * w)
        r0, r1 = r0 + c0 * a0 - d0 * b0, r1 + c1 * a1 - d1 * b1
        i0, i1 = i0 + c0 * b0 + d0 * a0, i1 + c1 * b1 + d1 * a1
    store(sums, at, r0)
    store(sums, at + w, r1)
    store(sums, at + 2 * w, i0)
    store(sums, at + 3 * w, i1)


@jitable_part
def two_columns(y, patterns, factors, matrices, source, offset, begin, end, columns, column, sums, at):
    """Write the sums of two columns, for which each translator is loaded once, one after the other to sums[at :];
    y, patterns, factors, matrices, source, offset, begin, end, columns, column: as in `one_column`."""
    w = lanes(sums)
    r0, r1, i0, i1 = zero(sums), zero(sums), zero(sums), zero(sums)
    p0, p1, q0, q1 = zero(sums), zero(sums), zero(sums), zero(sums)
    for e in range(begin, end):
        t, s = matrices + offset[e] * 4 * w, patterns + (source[e] * columns + column) * 4 * w
        c0, c1, d0, d1 = load(factors, t), load(factors, t + w), load(factors, t + 2 * w), load(factors, t + 3 * w)
        a0, a1, b0, b1 = load(y, s), load(y, s + w), load(y, s + 2 * w), load(y, s + 3 * w)
        r0, r1 = r0 + c0 * a0 - d0 * b0, r1 + c1 * a1 - d1 * b1
        i0, i1 = i0 + c0 * b0 + d0 * a0, i1 + c1 * b1 + d1 * a1
        s += 4 * w
        a0, a1, b0, b1 = load(y, s), load(y, s + w), load(y, s + 2 * w), load(y, s + 3 * w)
        p0, p1 = p0 + c0 * a0 - d0 * b0, p1 + c1 * a1 - d1 * b1
        q0, q1 = q0 + c0 * b0 + d0 * a0, q1 + c1 * b1 + d1 * a1
    store(sums, at, r0)
    store(sums, at + w, r1)
    store(sums, at + 2 * w, i0)
    store(sums, at + 3 * w, i1)
    store(sums, at + 4 * w, p0)
    store(sums, at + 5 * w, p1)
    store(sums, at + 6 * w, q0)
    store(sums, at + 7 * w, q1)
