"""Direct sums of charges and dipoles between leaves."""

import functools
from collections.abc import Callable
from typing import Any

from calderon.backends.numba import kernel
from calderon.backends.vectors import jitable, lanes, load, number, store, where_less, zero
from calderon.greens.elementary import inverse_square_root, inverse_square_root_multiple

TINY = 1e-30
"""Squared distance, in edges of the root, below which points are taken for one: they add nothing."""


def interaction(charges: bool, dipoles: bool, gradient: bool) -> Callable[..., Any]:
    """What adds the fields of one source at a vector of targets to t; once: they may coincide."""
    plain = charges and not dipoles and not gradient

    @jitable
    def interact(t, x, y, z, sources, s, apart, once):  # type: ignore[no-untyped-def]
        ex, ey, ez = x - number(sources, s), y - number(sources, s + apart), z - number(sources, s + 2 * apart)
        r2 = ex * ex + ey * ey + ez * ez
        square = where_less(r2, TINY, 1.0, r2) if once else r2
        u = inverse_square_root_multiple(square) if plain else inverse_square_root(square)
        if once:
            u = where_less(r2, TINY, 0.0, u)
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
def direct_kernel(charges: bool, dipoles: bool, gradient: bool) -> Callable[..., None]:
    """Potentials, and gradients if so, of charges q and dipoles d at distances e = x - y, times 4 pi:
    q / r + d.e / r^3, and -q e / r^3 + d / r^3 - 3 (d.e) e / r^5. Of charges alone the potential is divided by
    `root_factor`."""
    interact = interaction(charges, dipoles, gradient)

    @kernel
    def sums(  # type: ignore[no-untyped-def]
        targets, across, sources, apart, target_starts, source_starts, near_start, near, centres, same, room, out, low,
        high,
    ):  # fmt: skip
        """out[f across + j] += field f at the points j of the target leaves low .. high. targets: rows x, y, z, of
        `across` numbers each, sources: the same of `apart`, with those of charges and dipoles. Places are relative to
        the centres (leaves, 3) of their leaves. same: whether points of different leaves may coincide."""
        width = lanes(room)
        for i in range(low, high):
            for s in range(target_starts[i], target_starts[i + 1], width):
                x0, y0, z0 = load(targets, s), load(targets, across + s), load(targets, 2 * across + s)
                t = zero(room), zero(room), zero(room), zero(room)
                for e in range(near_start[i], near_start[i + 1]):
                    c = near[e]
                    x = x0 + room.dtype.type(centres[i, 0] - centres[c, 0])
                    y = y0 + room.dtype.type(centres[i, 1] - centres[c, 1])
                    z = z0 + room.dtype.type(centres[i, 2] - centres[c, 2])
                    if c == i or same:
                        for j in range(source_starts[c], source_starts[c + 1]):
                            t = interact(t, x, y, z, sources, j, apart, True)
                    else:
                        for j in range(source_starts[c], source_starts[c + 1]):
                            t = interact(t, x, y, z, sources, j, apart, False)
                for f in range(4 if gradient else 1):
                    store(room, f * width, t[f])
                for w in range(min(width, target_starts[i + 1] - s)):
                    for f in range(4 if gradient else 1):
                        out[f * across + s + w] += room[f * width + w]

    return sums
