"""Moments of charges and dipoles at points, and values of local expansions at points, in vectors of points.

The functions are Re and Im of R_n^m without the factors f of harmonics.py (`Tables.expand` holds them), in the order of
that file: for each m, d = 1 / ((n + m) (n - m)) and

    R_n^m = (2 n - 1) d z R_(n-1)^m - d r^2 R_(n-2)^m,    R_m^m = -(x + i y) / (2 m) R_(m-1)^(m-1).
"""

import functools
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import kernel
from calderon.backends.vectors import jitable, lanes, load, number, store, zero


def inverse_products(p: int, real: np.dtype) -> NDArray[np.floating]:  # type: ignore[type-arg]
    """1 / ((n + m) (n - m)) for m = 0 .. p and n = m + 1 .. p, in this order."""
    return np.array([1 / ((n + m) * (n - m)) for m in range(p + 1) for n in range(m + 1, p + 1)], real)


def adding_moments(fields: int) -> Callable[..., None]:
    """What adds the functions of a vector of points, times so many numbers of each."""

    @jitable
    def add(room, k, pitch, function, q0, q1, q2, q3):  # type: ignore[no-untyped-def]
        width = lanes(room)
        store(room, k * width, load(room, k * width) + function * q0)
        if fields > 1:
            store(room, (pitch + k) * width, load(room, (pitch + k) * width) + function * q1)
            store(room, (2 * pitch + k) * width, load(room, (2 * pitch + k) * width) + function * q2)
        if fields > 3:
            store(room, (3 * pitch + k) * width, load(room, (3 * pitch + k) * width) + function * q3)

    @jitable
    def add_all(x, y, z, q0, q1, q2, q3, p, inverse, pitch, room):  # type: ignore[no-untyped-def]
        r2 = x * x + y * y + z * z
        cosine, sine = zero(room) + 1.0, zero(room)
        k, h = 0, 0
        for m in range(p + 1):
            if m > 0:
                f = -0.5 / m
                cosine, sine = (x * cosine - y * sine) * f, (x * sine + y * cosine) * f
            a, b, c, d = zero(room), cosine, zero(room), sine
            other = k + p + 1 - m
            add(room, k, pitch, b, q0, q1, q2, q3)
            if m > 0:
                add(room, other, pitch, d, q0, q1, q2, q3)
            for n in range(m + 1, p + 1):
                f = number(inverse, h)
                h += 1
                along, square = z * (f * (2 * n - 1)), r2 * f
                a, b = b, along * b - square * a
                k += 1
                add(room, k, pitch, b, q0, q1, q2, q3)
                if m > 0:
                    c, d = d, along * d - square * c
                    other += 1
                    add(room, other, pitch, d, q0, q1, q2, q3)
            k = other + 1 if m > 0 else k + 1

    return add_all


@functools.lru_cache(maxsize=8)
def moment_kernel(fields: int) -> Callable[..., None]:
    """Moments of 1 (charge), 3 (dipole) or 4 numbers a point, each with all basis functions."""

    add_all = adding_moments(fields)

    @kernel
    def moments(x, y, z, charges, apart, starts, p, inverse, pitch, room, out, low, high):  # type: ignore[no-untyped-def]
        """out[i fields pitch ...] of the points starts[i] .. starts[i + 1], low <= i < high. x, y, z and the rows of
        charges, `apart` numbers each, have a vector more than there are points."""
        width = lanes(room)
        last = 4 * pitch * width
        for i in range(low, high):
            for k in range(fields * pitch * width):
                room[k] = 0
            for s in range(starts[i], starts[i + 1], width):
                rest = starts[i + 1] - s
                at, row = s, apart
                weights = charges
                if rest < width:
                    for f in range(fields):
                        for w in range(width):
                            room[last + f * width + w] = charges[f * apart + s + w] if w < rest else 0
                    at, row, weights = last, width, room
                q0 = load(weights, at)
                q1, q2, q3 = q0, q0, q0
                if fields > 1:
                    q1, q2 = load(weights, at + row), load(weights, at + 2 * row)
                if fields > 3:
                    q3 = load(weights, at + 3 * row)
                add_all(load(x, s), load(y, s), load(z, s), q0, q1, q2, q3, p, inverse, pitch, room)
            for k in range(fields * pitch):
                total = room[k * width]
                for w in range(1, width):
                    total += room[k * width + w]
                out[i * fields * pitch + k] = total

    return moments


@functools.lru_cache(maxsize=8)
def value_kernel(fields: int) -> Callable[..., None]:
    """Values of expansions in the basis at points: 1 field, or 4 (potential and three derivatives)."""

    @jitable
    def add(t0, t1, t2, t3, function, local, k, pitch):  # type: ignore[no-untyped-def]
        t0 = t0 + function * number(local, k)
        if fields > 1:
            t1 = t1 + function * number(local, k + pitch)
            t2 = t2 + function * number(local, k + 2 * pitch)
            t3 = t3 + function * number(local, k + 3 * pitch)
        return t0, t1, t2, t3

    @jitable
    def sums(x, y, z, p, inverse, pitch, local, first):  # type: ignore[no-untyped-def]
        r2 = x * x + y * y + z * z
        cosine, sine = zero(local) + 1.0, zero(local)
        t0, t1, t2, t3 = zero(local), zero(local), zero(local), zero(local)
        k, h = first, 0
        for m in range(p + 1):
            if m > 0:
                f = -0.5 / m
                cosine, sine = (x * cosine - y * sine) * f, (x * sine + y * cosine) * f
            a, b, c, d = zero(local), cosine, zero(local), sine
            other = k + p + 1 - m
            t0, t1, t2, t3 = add(t0, t1, t2, t3, b, local, k, pitch)
            if m > 0:
                t0, t1, t2, t3 = add(t0, t1, t2, t3, d, local, other, pitch)
            for n in range(m + 1, p + 1):
                f = number(inverse, h)
                h += 1
                along, square = z * (f * (2 * n - 1)), r2 * f
                a, b = b, along * b - square * a
                k += 1
                t0, t1, t2, t3 = add(t0, t1, t2, t3, b, local, k, pitch)
                if m > 0:
                    c, d = d, along * d - square * c
                    other += 1
                    t0, t1, t2, t3 = add(t0, t1, t2, t3, d, local, other, pitch)
            k = other + 1 if m > 0 else k + 1
        return t0, t1, t2, t3

    @kernel
    def values(x, y, z, starts, p, inverse, pitch, local, room, out, apart, low, high):  # type: ignore[no-untyped-def]
        """out[f apart + j] = field f at the points j in starts[i] .. starts[i + 1], from local[i fields pitch ...]."""
        width = lanes(room)
        for i in range(low, high):
            for s in range(starts[i], starts[i + 1], width):
                t0, t1, t2, t3 = sums(load(x, s), load(y, s), load(z, s), p, inverse, pitch, local, i * fields * pitch)
                store(room, 0, t0)
                store(room, width, t1)
                store(room, 2 * width, t2)
                store(room, 3 * width, t3)
                for w in range(min(width, starts[i + 1] - s)):
                    for f in range(fields):
                        out[f * apart + s + w] = room[f * width + w]

    return values
