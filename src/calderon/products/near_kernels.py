"""Compiled products with the dense blocks of a near store (near_store.py).

A row of a block B with complex entries is a row of real numbers, twice as long: with a complex vector x, Re(B x) and
Im(B x) are its products with the real vectors (Re x, -Im x) and (Im x, Re x), whose numbers alternate. So one kernel
multiplies real and complex blocks. Real vectors of a product stand one after the other, of complex ones the real and
the imaginary parts; `parts` is 1 or 2.
"""

import functools
from collections.abc import Callable

from calderon.backends.numba import jitable_part, kernel
from calderon.backends.vector_loads import load_as, total
from calderon.backends.vectors import add, jitable, lanes, load, number, store, zero
from calderon.products.packed import PER_EXPONENT, ZERO_POWER, load_numbers, unit_of


@jitable_part
def read_block(stored, n, height, width, block):
    """Write block number n, with real entries, to block[:height, :width].

    stored: (numbers, exponents, powers, starts, tops) of `NearStore.stored`; block (>= height, >= width): is written.
    """
    numbers, exponents, powers, starts, tops = stored
    packed, groups = len(exponents) > 0, -(-width // PER_EXPONENT)
    for r in range(height):
        for c in range(width):
            group = tops[n] + r * groups + c // PER_EXPONENT
            unit = powers[exponents[group] + ZERO_POWER] if packed else powers.dtype.type(1)
            block[r, c] = numbers[starts[n] + r * width + c] * unit


@jitable_part
def gather_columns(x, parts, left, width, end, pitch, room):
    """Write the part of the vectors x (v, n) that belongs to the columns left .. left + width to room[k pitch :], of
    vector number k, with zeros from parts * width up to `end`; parts: 1 or 2 as in the head of this file."""
    for k in range(0, len(x), parts):
        at = k * pitch
        for c in range(width):
            if parts == 2:
                re, im = x[k, left + c], x[k + 1, left + c]
                room[at + 2 * c], room[at + 2 * c + 1] = re, -im
                room[at + pitch + 2 * c], room[at + pitch + 2 * c + 1] = im, re
            else:
                room[at + c] = x[k, left + c]
        for c in range(parts * width, end):
            for q in range(parts):
                room[at + q * pitch + c] = 0


@jitable_part
def add_columns(room, parts, left, width, pitch, sums, y):
    """Add the sums over the rows of a block, those of vector number k at room[sums + k pitch :], to the columns left ..
    left + width of y (v, n); parts: 1 or 2 as in the head of this file."""
    for k in range(0, len(y), parts):
        at = sums + k * pitch
        for c in range(width):
            if parts == 2:
                y[k, left + c] += room[at + 2 * c] - room[at + pitch + 2 * c + 1]
                y[k + 1, left + c] += room[at + 2 * c + 1] + room[at + pitch + 2 * c]
            else:
                y[k, left + c] += room[at + c]


@jitable
def load_two(stored, packed, row, group, c, room):
    """Return the two vectors of a row of a block from its number c on, a multiple of two vectors; stored, packed, row,
    group, room: as in `with_one`."""
    numbers, exponents, powers = stored
    size = lanes(room)
    one = unit_of(exponents, powers, packed, group + c // PER_EXPONENT)
    other = one if 2 * size <= PER_EXPONENT else unit_of(exponents, powers, packed, group + (c + size) // PER_EXPONENT)
    return load_as(numbers, row + c, room) * one, load_as(numbers, row + c + size, room) * other


@jitable
def load_one(stored, packed, row, group, c, room):
    """Return the vector of a row of a block from its number c on, a multiple of a vector; stored, packed, row, group,
    room: as in `with_one`."""
    numbers, exponents, powers = stored
    return load_numbers(numbers, exponents, powers, packed, row + c, group + c // PER_EXPONENT, room)


@jitable
def with_one(stored, packed, down, across, row, group, span, room, x, sums, f):
    """Return the product of a row of a block with one vector (down), and add f times the row to sums (across).

    stored: (numbers, exponents, powers) see `load_numbers`; packed, down, across: constants; row, group: where the
    numbers and the exponents of the row begin; span: its numbers. room: the vector is room[x : x + span], ended by
    zeros up to a whole vector, as the row is read to there; the sums are room[sums : sums + span].
    """
    size = lanes(room)
    s, t = zero(room), zero(room)  # two sums, as each addition waits for the last one
    pairs = (span + size - 1) // (2 * size) * 2 * size
    for c in range(0, pairs, 2 * size):
        a, b = load_two(stored, packed, row, group, c, room)
        if down:
            s, t = s + a * load(room, x + c), t + b * load(room, x + c + size)
        if across:
            at, next = sums + c, sums + c + size
            store(room, at, load(room, at) + a * f)
            store(room, next, load(room, next) + b * f)
    # the last vector of an odd number
    for c in range(pairs, span, size):
        a, at = load_one(stored, packed, row, group, c, room), sums + c
        if down:
            s = s + a * load(room, x + c)
        if across:
            store(room, at, load(room, at) + a * f)
    return total(s + t)


@jitable
def with_two(stored, packed, down, across, row, group, span, room, x, sums, pitch, f, g):
    """Return the products with two vectors, `pitch` numbers apart in room, and add f and g times the row to the sums
    of both; stored, packed, down, across, row, group, span, room, x, sums: as in `with_one`."""
    size = lanes(room)
    s, t, u, v = zero(room), zero(room), zero(room), zero(room)
    pairs = (span + size - 1) // (2 * size) * 2 * size
    for c in range(0, pairs, 2 * size):
        a, b = load_two(stored, packed, row, group, c, room)
        if down:
            at, next = x + c, x + c + size
            s, t = s + a * load(room, at), t + a * load(room, at + pitch)
            u, v = u + b * load(room, next), v + b * load(room, next + pitch)
        if across:
            at, next = sums + c, sums + c + size
            store(room, at, load(room, at) + a * f)
            store(room, at + pitch, load(room, at + pitch) + a * g)
            store(room, next, load(room, next) + b * f)
            store(room, next + pitch, load(room, next + pitch) + b * g)
    # the last vector of an odd number
    for c in range(pairs, span, size):
        a, at = load_one(stored, packed, row, group, c, room), sums + c
        if down:
            s, t = s + a * load(room, x + c), t + a * load(room, x + c + pitch)
        if across:
            store(room, at, load(room, at) + a * f)
            store(room, at + pitch, load(room, at + pitch) + a * g)
    return total(s + u), total(t + v)


@jitable
def add_with_eight(stored, packed, row, group, span, room, x, pitch, y, k, place):
    """Add the products with eight vectors, for which the numbers of a row are loaded once, to y[k : k + 8, place].

    y (v, n); stored, packed, row, group, span, room, x: as in `with_one`; pitch: from one vector to the next in room.
    """
    numbers, exponents, powers = stored
    s0, s1, s2, s3 = zero(room), zero(room), zero(room), zero(room)
    s4, s5, s6, s7 = zero(room), zero(room), zero(room), zero(room)
    for c in range(0, span, lanes(room)):
        b = load_numbers(numbers, exponents, powers, packed, row + c, group + c // PER_EXPONENT, room)
        at = x + c
        s0, s1 = s0 + b * load(room, at), s1 + b * load(room, at + pitch)
        s2, s3 = s2 + b * load(room, at + 2 * pitch), s3 + b * load(room, at + 3 * pitch)
        s4, s5 = s4 + b * load(room, at + 4 * pitch), s5 + b * load(room, at + 5 * pitch)
        s6, s7 = s6 + b * load(room, at + 6 * pitch), s7 + b * load(room, at + 7 * pitch)
    y[k, place], y[k + 1, place] = y[k, place] + total(s0), y[k + 1, place] + total(s1)
    y[k + 2, place], y[k + 3, place] = y[k + 2, place] + total(s2), y[k + 3, place] + total(s3)
    y[k + 4, place], y[k + 5, place] = y[k + 4, place] + total(s4), y[k + 5, place] + total(s5)
    y[k + 6, place], y[k + 7, place] = y[k + 6, place] + total(s6), y[k + 7, place] + total(s7)


@functools.cache
def product_kernel(down: bool, across: bool, parts: int, packed: bool) -> Callable[..., None]:
    """The kernel for y_rows += B x_columns (down) and y_columns += B^T x_rows (across) of all blocks B.

    parts: 1 for real entries, 2 for complex ones; packed: whether numbers are integers with exponents.
    """

    @kernel
    def multiply(
        stored, clusters, order, x_rows, x_columns, y_rows, y_columns, half, pitch, room, low, high
    ):  # fmt: skip
        """Multiply with the blocks numbered order[low], ..., order[high - 1].

        stored: (numbers, exponents, powers, starts, tops) of `NearStore.stored`; clusters: (pairs (b, 2), row_start,
        row_stop, column_start, column_stop) of all blocks; order (b,). x_rows, y_rows (v, rows), x_columns, y_columns
        (v, columns): vectors, in the order of places; those that are not needed have no rows. half: whether one block
        of each pair is stored, so that those on the diagonal are multiplied down alone. pitch: numbers of a row of
        the widest block, up to whole vectors; room (v pitch (down + across),).
        """
        numbers, exponents, powers, starts, tops = stored
        pairs, row_start, row_stop, column_start, column_stop = clusters
        own, size = (numbers, exponents, powers), lanes(room)
        count = max(len(y_rows), len(y_columns))
        sums, nothing = count * pitch if down else 0, room.dtype.type(0)
        for e in range(low, high):
            n = order[e]
            top, left = row_start[pairs[n, 0]], column_start[pairs[n, 1]]
            height, width = row_stop[pairs[n, 0]] - top, column_stop[pairs[n, 1]] - left
            span = parts * width
            groups, end = -(-span // PER_EXPONENT), -(-span // size) * size
            # the vectors at the columns of the block, and no sums over its rows
            if down:
                gather_columns(x_columns, parts, left, width, end, pitch, room)
            if across:
                for k in range(count):
                    for c in range(end):
                        room[sums + k * pitch + c] = 0
            # products with each row, and multiples of it
            for r in range(height):  # no function of its own, whose constants would be none: three times as slow
                row, group, place, k = parts * starts[n] + r * span, tops[n] + r * groups, top + r, 0
                if not across:
                    while k + 8 <= count:
                        add_with_eight(own, packed, row, group, span, room, k * pitch, pitch, y_rows, k, place)
                        k += 8
                while k + 2 <= count:
                    f, g = (x_rows[k, place], x_rows[k + 1, place]) if across else (nothing, nothing)
                    s, t = with_two(own, packed, down, across, row, group, span, room, k * pitch, sums + k * pitch,
                                    pitch, f, g)  # fmt: skip
                    if down:
                        y_rows[k, place], y_rows[k + 1, place] = y_rows[k, place] + s, y_rows[k + 1, place] + t
                    k += 2
                if k < count:
                    f = x_rows[k, place] if across else nothing
                    s = with_one(own, packed, down, across, row, group, span, room, k * pitch, sums + k * pitch, f)
                    if down:
                        y_rows[k, place] += s
            # the sums over its rows
            if across and not (half and pairs[n, 0] == pairs[n, 1]):
                add_columns(room, parts, left, width, pitch, sums, y_columns)

    return multiply


@kernel
def multiply_many(
    stored, clusters, order, transposed, packed, x, y, pitch, room, low, high
):  # fmt: skip
    """Multiply complex blocks, or transposed ones, with as many columns as a vector has complex numbers: its lanes.

    x (places w,): the columns of the side that is given, complex, one place after the other; w: lanes of a vector. y
    (places 2 w,): sums are added, of each place the products of Re B, then those of Im B. transposed, packed: whether
    blocks are transposed, and whether numbers are integers; room (height pitch,): for those of the highest block.
    stored, clusters, order, pitch, low, high: as in `multiply`.
    """
    numbers, exponents, powers, starts, tops = stored
    pairs, row_start, row_stop, column_start, column_stop = clusters
    w = lanes(room)
    for e in range(low, high):
        n = order[e]
        top, left = row_start[pairs[n, 0]], column_start[pairs[n, 1]]
        height, width = row_stop[pairs[n, 0]] - top, column_stop[pairs[n, 1]] - left
        groups = -(-2 * width // PER_EXPONENT)
        # the numbers of the block as they are
        for r in range(height):
            row, group = 2 * (starts[n] + r * width), tops[n] + r * groups
            for c in range(0, 2 * width, w):
                b = load_numbers(numbers, exponents, powers, packed, row + c, group + c // PER_EXPONENT, room)
                store(room, r * pitch + c, b)
        # sums over the places that are given, for four places at a time that are wanted
        to, many, apart, given, inner, step = top, height, pitch, left, width, 2
        if transposed:
            to, many, apart, given, inner, step = left, width, 2, top, height, pitch
        for a in range(0, many, 4):
            p0, p1 = a * apart, min(a + 1, many - 1) * apart  # the last ones again where there are no four
            p2, p3 = min(a + 2, many - 1) * apart, min(a + 3, many - 1) * apart
            s0, s1, s2, s3 = zero(room), zero(room), zero(room), zero(room)
            t0, t1, t2, t3 = zero(room), zero(room), zero(room), zero(room)
            # each given place meets the numbers of all four rows
            for b in range(inner):
                v, q = load(x, (given + b) * w), b * step
                s0, t0 = s0 + v * number(room, p0 + q), t0 + v * number(room, p0 + q + 1)
                s1, t1 = s1 + v * number(room, p1 + q), t1 + v * number(room, p1 + q + 1)
                s2, t2 = s2 + v * number(room, p2 + q), t2 + v * number(room, p2 + q + 1)
                s3, t3 = s3 + v * number(room, p3 + q), t3 + v * number(room, p3 + q + 1)
            # sums of the places that exist
            at = 2 * (to + a) * w
            add(y, at, s0)
            add(y, at + w, t0)
            if a + 1 < many:
                add(y, at + 2 * w, s1)
                add(y, at + 3 * w, t1)
            if a + 2 < many:
                add(y, at + 4 * w, s2)
                add(y, at + 5 * w, t2)
            if a + 3 < many:
                add(y, at + 6 * w, s3)
                add(y, at + 7 * w, t3)


@kernel
def copy_images(values, starts, heights, widths, numbers, images):
    """Let each of some blocks be the transposed one of another block.

    values (n,): entries of blocks, which begin at starts (b,) and have heights, widths (b,) rows and columns; numbers
    (k,): of the blocks that are written; images (k,): of those that they are images of, -1 for none.
    """
    for k in range(numbers.size):
        if images[k] >= 0:
            to, source, height, width = starts[numbers[k]], starts[images[k]], heights[numbers[k]], widths[numbers[k]]
            for r in range(height):
                for c in range(width):
                    values[to + r * width + c] = values[source + c * height + r]
