"""Moments of charges and dipoles at points, and values of local expansions at points, in vectors of points.

The functions are Re and Im of R_n^m without the factors f of harmonics.py (`Tables.expand` holds them), in the order of
that file: for each m, d = 1 / ((n + m) (n - m)) and

    R_n^m = (2 n - 1) d z R_(n-1)^m - d r^2 R_(n-2)^m,    R_m^m = -(x + i y) / (2 m) R_(m-1)^(m-1).
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import kernel
from calderon.backends.vector_loads import total
from calderon.backends.vectors import aligned, jitable, lanes, load, number, store, width, zero
from calderon.fmm.harmonics import Basis
from calderon.products.direct_sums import padded


@functools.lru_cache(maxsize=16)
def inverse_products(p: int, real: Any) -> NDArray[np.floating]:
    """1 / ((n + m) (n - m)) for m = 0 .. p and n = m + 1 .. p, in this order."""
    return np.array([1 / ((n + m) * (n - m)) for m in range(p + 1) for n in range(m + 1, p + 1)], real)


def through_functions(visit: Callable[..., Any]) -> Callable[..., Any]:
    """The compiled loop through(s, t, x, y, z, p, inverse, data) over all basis functions (head of this file) up to
    degree p at a vector of points: t = visit(s, t, values of function k, k, data) for each number k; it returns the
    last t."""

    @jitable
    def through(s, t, x, y, z, p, inverse, data):
        """The last t, for the functions up to degree p at points x, y, z; inverse: of `inverse_products`; s, data: as
        visit takes them.
        """
        r2 = x * x + y * y + z * z
        cosine, sine = zero(s) + 1.0, zero(s)
        k, h = 0, 0
        for m in range(p + 1):
            if m > 0:
                # R_m^m from R_(m-1)^(m-1)
                f = -0.5 / m
                cosine, sine = (x * cosine - y * sine) * f, (x * sine + y * cosine) * f
            # Re and Im of R_m^m, then of R_n^m by the recurrence
            a, b, c, d = zero(s), cosine, zero(s), sine
            other = k + p + 1 - m
            t = visit(s, t, b, k, data)
            if m > 0:
                t = visit(s, t, d, other, data)
            for n in range(m + 1, p + 1):
                f = number(inverse, h)
                h += 1
                along, square = z * (f * (2 * n - 1)), r2 * f
                a, b = b, along * b - square * a
                k += 1
                t = visit(s, t, b, k, data)
                if m > 0:
                    c, d = d, along * d - square * c
                    other += 1
                    t = visit(s, t, d, other, data)
            k = other + 1 if m > 0 else k + 1
        return t

    return through


def adding_moments(fields: int) -> Callable[..., None]:
    """The loop of `through_functions` that adds to `room` all functions at a vector of points, times `fields` numbers
    of each point; data: pitch."""

    @jitable
    def add(room, q, function, k, pitch):
        """Add a function times the charges q (4,) to the vectors k of the sums in room, `pitch` vectors apart;
        return q."""
        width = lanes(room)
        store(room, k * width, load(room, k * width) + function * q[0])
        if fields > 1:
            store(room, (pitch + k) * width, load(room, (pitch + k) * width) + function * q[1])
            store(room, (2 * pitch + k) * width, load(room, (2 * pitch + k) * width) + function * q[2])
        if fields > 3:
            store(room, (3 * pitch + k) * width, load(room, (3 * pitch + k) * width) + function * q[3])
        return q

    return through_functions(add)


@functools.lru_cache(maxsize=8)
def moment_kernel(fields: int) -> Callable[..., None]:
    """Compiled moments sum_j q_fj R_k(x_j) of `fields` = 1 (charge), 3 (dipole) or 4 numbers q_fj a point with all
    basis functions R_k (head of this file)."""

    add_all = adding_moments(fields)

    @kernel
    def moments(x, y, z, charges, apart, starts, p, inverse, pitch, room, out, low, high):
        """Store at out[(i fields + f) pitch + k] the moments of the points starts[i] up to, without, starts[i + 1] of
        the boxes low <= i < high. x, y, z: points; charges: rows of `apart` numbers, both with a vector more than there
        are points; p: degree; inverse: of `inverse_products`; room: sums, and a vector of each field."""
        width = lanes(room)
        last = 4 * pitch * width
        for i in range(low, high):
            for k in range(fields * pitch * width):
                room[k] = 0
            # a vector of points; beyond the last one weights are zero
            for s in range(starts[i], starts[i + 1], width):
                rest = starts[i + 1] - s
                at, row = s, apart
                weights = charges
                if rest < width:
                    for f in range(fields):
                        for w in range(width):
                            room[last + f * width + w] = charges[f * apart + s + w] if w < rest else 0
                    at, row, weights = last, width, room
                # weights of all fields
                q0 = load(weights, at)
                q1, q2, q3 = q0, q0, q0
                if fields > 1:
                    q1, q2 = load(weights, at + row), load(weights, at + 2 * row)
                if fields > 3:
                    q3 = load(weights, at + 3 * row)
                add_all(room, (q0, q1, q2, q3), load(x, s), load(y, s), load(z, s), p, inverse, pitch)
            # sums over the lanes
            for k in range(fields * pitch):
                out[i * fields * pitch + k] = total(load(room, k * width))

    return moments


@functools.lru_cache(maxsize=8)
def value_kernel(fields: int) -> Callable[..., None]:
    """Compiled values sum_k c_fk R_k(x) of local expansions at points: of 1 field f, the potential, or of 4, the
    potential and its three derivatives, each with coefficients of its own in the basis R_k (head of this file)."""

    @jitable
    def add(local, t, function, k, places):
        """The four sums t plus a function times coefficient k of each field; places = (first, pitch): those of field f
        begin at local[first + f pitch]."""
        first, pitch = places
        t0, t1, t2, t3 = t
        t0 = t0 + function * number(local, first + k)
        if fields > 1:
            t1 = t1 + function * number(local, first + k + pitch)
            t2 = t2 + function * number(local, first + k + 2 * pitch)
            t3 = t3 + function * number(local, first + k + 3 * pitch)
        return t0, t1, t2, t3

    sums = through_functions(add)

    @kernel
    def values(x, y, z, starts, p, inverse, pitch, local, room, out, apart, low, high):
        """Store at out[f apart + j] field f at the points j of the boxes low <= i < high: from starts[i] up to,
        without, starts[i + 1], with c_fk = local[(i fields + f) pitch + k].

        x, y, z: places relative to the centre of the box over its edge, with a vector more than there are points; p:
        degree; inverse: of `inverse_products`; room: four vectors.
        """
        width = lanes(room)
        for i in range(low, high):
            for s in range(starts[i], starts[i + 1], width):
                # a vector of points: all fields, of which those of this box are stored
                t = zero(room), zero(room), zero(room), zero(room)
                places = i * fields * pitch, pitch
                t0, t1, t2, t3 = sums(local, t, load(x, s), load(y, s), load(z, s), p, inverse, places)
                store(room, 0, t0)
                store(room, width, t1)
                store(room, 2 * width, t2)
                store(room, 3 * width, t3)
                for w in range(min(width, starts[i + 1] - s)):
                    for f in range(fields):
                        out[f * apart + s + w] = room[f * width + w]

    return values


def basis_moments(places: NDArray[Any], weights: NDArray[Any], starts: NDArray[np.int64], p: int) -> NDArray[Any]:
    """(n, f, pitch) moments of n groups of points with all basis functions, whose number (p + 1)^2 is filled up to
    whole vectors.

    places (3, points): relative to the centre of each group; weights (f, points): 1, 3 or 4 numbers of each point; both
    with a vector more than there are points (`padded`), in the precision of the result; starts (n + 1,): the first
    point of each group.
    """
    (fields, apart), real, count = weights.shape, weights.dtype, len(starts) - 1
    lanes = width(real)
    pitch = -(-((p + 1) ** 2) // lanes) * lanes
    out, room = aligned(count * fields * pitch, real), aligned((4 * pitch + 4) * lanes, real)
    moment_kernel(fields)(
        *places, weights.ravel(), apart, starts, p, inverse_products(p, real), pitch, room, out, 0, count
    )
    return out.reshape(count, fields, pitch)


def regular(points: NDArray[np.float64], p: int) -> NDArray[np.float64]:
    """(n, K) regular basis functions of harmonics.py, with their factors, at points (n, 3)."""
    ones, places = padded(np.ones((1, len(points))), np.float64), padded(points.T, np.float64)
    found = basis_moments(places, ones, np.arange(len(points) + 1), p)
    return np.asarray(found[:, 0, : (p + 1) ** 2] * Basis.of(p).factor)
