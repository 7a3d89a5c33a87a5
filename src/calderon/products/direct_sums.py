"""Points of sources and targets, and their direct sums (P2P): potentials of charges and dipoles, and gradients.

A point is stored relative to the centre of its leaf; in single precision as the sum of two numbers, since points may
be closer together than the rounding error of one.
"""

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import kernel
from calderon.backends.threads import in_parts
from calderon.backends.vectors import aligned, jitable, lanes, load, number, store, where_less, width, zero
from calderon.greens.elementary import inverse_square_root, inverse_square_root_multiple, root_factor

Array = NDArray[np.float64]
TARGETS_PER_BLOCK = 256
"""Targets of a task of direct sums."""
TINY = 1e-30
"""Squared distance, in edges of the root, below which points are taken for one: they add nothing."""


class Kinds(NamedTuple):
    """Whether sources have charges and dipoles, and whether gradients are wanted."""

    charges: bool
    dipoles: bool
    gradient: bool

    @property
    def rows(self) -> slice:
        """Rows of `Tables.expand` that belong to the numbers of a source."""
        return slice(0 if self.charges else 1, 4 if self.dipoles else 1)

    @property
    def numbers(self) -> int:
        """Numbers of a source."""
        return self.charges + 3 * self.dipoles

    @property
    def fields(self) -> int:
        """Numbers of a target."""
        return 4 if self.gradient else 1


def padded(rows: NDArray[Any], real: Any) -> NDArray[Any]:
    """Rows (m, n) with a vector of zeros and more at their ends, aligned."""
    out = padded_zeros(rows.shape[0], rows.shape[1], real)
    out[:, : rows.shape[1]] = rows
    return out


def padded_zeros(rows: int, count: int, real: Any) -> NDArray[Any]:
    """Zeros for so many rows of `count` numbers, with a vector and more at their ends, aligned."""
    lanes = width(real)
    return aligned((rows, (count // lanes + 2) * lanes), real)


def scaled_near(out: NDArray[Any], kinds: Kinds) -> Array:
    """The sums of `direct_kernel` in double precision, with the factor that it leaves out."""
    result = out.astype(float)
    plain = kinds == Kinds(True, False, False)
    return result * root_factor(8 * out.dtype.itemsize) if plain else result


def direct_sums(sources: Array) -> Callable[[Array, Array, Kinds], Array]:
    """Sums (fields, m) of numbers at sources, at targets (m, 3), as `PointTree.sums` in units of 1, without a tree."""
    real, origin = np.dtype(np.float64), sources.mean(axis=0)
    places = padded((sources - origin).T, real)

    def sums(targets: Array, numbers: Array, kinds: Kinds) -> Array:
        given, wanted = np.concatenate([places, padded(numbers, real)]), padded((targets - origin).T, real)
        count, across = math.ceil(len(targets) / TARGETS_PER_BLOCK), wanted.shape[1]
        starts = np.minimum(np.arange(count + 1) * TARGETS_PER_BLOCK, len(targets))
        out = np.zeros((kinds.fields, across))
        arguments = (wanted.ravel(), across, given.ravel(), given.shape[1], starts, np.array([0, len(sources)]),
                     np.arange(count + 1), np.zeros(count, np.int64), np.zeros((count, 3)), True)  # fmt: skip
        run = direct_kernel(*kinds)
        in_parts(lambda low, high: run(*arguments, aligned(4 * width(real), real), out.ravel(), low, high), count)
        return scaled_near(out[:, : len(targets)], kinds)

    return sums


def in_two(places: Array, near: Any) -> Array:
    """Rows (3, n), in single precision with what that leaves out: points may be closer together than its rounding."""
    return np.concatenate([places, places - places.astype(near)]) if near == np.float32 else places


@functools.lru_cache(maxsize=2)
def places_of(split: bool) -> tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
    """Three compiled functions: `taken`, a vector of places from rows (3, `across`), (6, `across`) if split;
    `moved`, these places moved by the difference of two centres; `distances`, their offsets from a source."""

    @jitable
    def taken(rows, s, across):
        """x, y, z of the points from column s on, and what these leave out, if split."""
        x, y, z = load(rows, s), load(rows, s + across), load(rows, s + 2 * across)
        if split:
            return x, y, z, load(rows, s + 3 * across), load(rows, s + 4 * across), load(rows, s + 5 * across)
        return x, y, z, x, y, z

    @jitable
    def shifted(x, x1, shift, like):
        """x + x1 + shift as a sum of two numbers, by the error of the first sum (D. Knuth); like: an array of their
        type."""
        d = like.dtype.type(shift)
        whole = x + d
        if not split:
            return whole, x1
        part = whole - x
        return whole, x1 + ((x - (whole - part)) + (d - part)) + like.dtype.type(shift - d)

    @jitable
    def moved(place, to, centre, like):
        """The place, relative to the centre `to` (3,), relative to another centre (3,); like: as in `shifted`."""
        x, x1 = shifted(place[0], place[3], to[0] - centre[0], like)
        y, y1 = shifted(place[1], place[4], to[1] - centre[1], like)
        z, z1 = shifted(place[2], place[5], to[2] - centre[2], like)
        return x, y, z, x1, y1, z1

    @jitable
    def distances(place, sources, s, apart, rest):
        """Offsets of a place from the source in column s of sources, rows `apart` numbers apart; rest: the row of
        sources from which on what its place leaves out stands."""
        x, y, z, x1, y1, z1 = place
        ex, ey, ez = x - number(sources, s), y - number(sources, s + apart), z - number(sources, s + 2 * apart)
        if split:
            at = s + rest * apart
            ex = ex + (x1 - number(sources, at))
            ey = ey + (y1 - number(sources, at + apart))
            ez = ez + (z1 - number(sources, at + 2 * apart))
        return ex, ey, ez

    return taken, moved, distances


def interaction(charges: bool, dipoles: bool, gradient: bool, split: bool) -> Callable[..., Any]:
    """The function that adds the fields of one source at a vector of targets to t; once: they may coincide. split:
    places are sums of two numbers, see `in_two`."""
    plain = charges and not dipoles and not gradient
    rest, distances = 3 + charges + 3 * dipoles, places_of(split)[2]

    @jitable
    def interact(t, place, sources, s, apart, once):
        """The four sums t, value and gradient, with the fields of the source in column s of sources, rows `apart`
        numbers apart; place: of the targets, by `moved`; once: whether source and target may coincide, which adds
        nothing.
        """
        ex, ey, ez = distances(place, sources, s, apart, rest)
        r2 = ex * ex + ey * ey + ez * ez
        square = where_less(r2, TINY, 1.0, r2) if once else r2
        u = inverse_square_root_multiple(square) if plain else inverse_square_root(square)
        if once:
            u = where_less(r2, TINY, 0.0, u)
        # q / r, then (d . e) / r^3, and their gradients
        t0, t1, t2, t3 = t
        if charges:
            v = u * number(sources, s + 3 * apart)
            t0 = t0 + v
            if gradient:
                v = v * (u * u)
                t1, t2, t3 = t1 - v * ex, t2 - v * ey, t3 - v * ez
        if dipoles:
            at = s + (4 if charges else 3) * apart
            dx, dy, dz = number(sources, at), number(sources, at + apart), number(sources, at + 2 * apart)
            cube = u * (u * u)
            v = (ex * dx + ey * dy + ez * dz) * cube
            t0 = t0 + v
            if gradient:
                v = v * (u * u) * 3.0
                t1, t2, t3 = t1 + (cube * dx - v * ex), t2 + (cube * dy - v * ey), t3 + (cube * dz - v * ez)
        return t0, t1, t2, t3

    return interact


@functools.lru_cache(maxsize=16)
def direct_kernel(charges: bool, dipoles: bool, gradient: bool, split: bool = False) -> Callable[..., None]:
    """Potentials, and gradients if so, of charges q and dipoles d at distances e = x - y, times 4 pi:
    q / r + d.e / r^3, and -q e / r^3 + d / r^3 - 3 (d.e) e / r^5. Of charges alone the potential is divided by
    `root_factor`. split: three more rows of targets and of sources hold the rest of places."""
    interact = interaction(charges, dipoles, gradient, split)
    taken, moved, _ = places_of(split)

    @kernel
    def sums(
        targets, across, sources, apart, target_starts, source_starts, near_start, near, centres, same, room, out, low,
        high,
    ):  # fmt: skip
        """out[f across + j] += field f at the points j of the target leaves low up to, without, high. targets: rows x,
        y, z, of `across` numbers each, sources: the same of `apart`, with those of charges and dipoles. Places are
        relative to the centres (leaves, 3) of their leaves. same: whether points of different leaves may coincide.
        target_starts, source_starts (leaves + 1,): where the points of each leaf begin; near_start, near: neighbouring
        leaves; room: four vectors."""
        width = lanes(room)
        for i in range(low, high):
            for s in range(target_starts[i], target_starts[i + 1], width):
                # a vector of targets, and all sources of the neighbours of their leaf
                own = taken(targets, s, across)
                t = zero(room), zero(room), zero(room), zero(room)
                for e in range(near_start[i], near_start[i + 1]):
                    c = near[e]
                    place = moved(own, centres[i], centres[c], room)
                    if c == i or same:
                        for j in range(source_starts[c], source_starts[c + 1]):
                            t = interact(t, place, sources, j, apart, True)
                    else:
                        for j in range(source_starts[c], source_starts[c + 1]):
                            t = interact(t, place, sources, j, apart, False)
                for f in range(4 if gradient else 1):
                    store(room, f * width, t[f])
                # added to those targets that exist
                for w in range(min(width, target_starts[i + 1] - s)):
                    for f in range(4 if gradient else 1):
                        out[f * across + s + w] += room[f * width + w]

    return sums
