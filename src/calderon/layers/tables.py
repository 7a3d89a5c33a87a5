"""G_xx and K between two heights of a stack as piecewise polynomials of the distance.

Chebyshev series of degree 11 of r G on intervals that are halved until their last terms are small against the largest
value; and of G - c exp(i k r) / (4 pi r) with the direct part of an interface, which near pairs of triangles integrate
apart. Between different heights there is no direct part.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calderon.backends.numba import jitable_part, kernel
from calderon.layers.interface import direct_part
from calderon.layers.sections import Sections
from calderon.layers.sommerfeld import NOTHING, Direct, horizontal_greens

DEGREE = 11
ACCURACY = 3e-8
"""Last terms of a series over the largest value of r G in its interval."""
FLOOR = 1e-4 / (4 * np.pi)
"""Fields between conductors decay below all rounding errors."""
HALVINGS = 10
NODES = np.cos(np.pi * (np.arange(DEGREE + 1) + 0.5) / (DEGREE + 1))
SERIES = np.cos(np.arange(DEGREE + 1)[:, None] * np.arccos(NODES)) * (2 - (np.arange(DEGREE + 1) == 0)[:, None])
SERIES = SERIES / (DEGREE + 1)
"""Coefficients (DEGREE + 1, nodes) of the values at the nodes."""


@dataclass(frozen=True, eq=False)
class Table:
    """G_xx and K up to the distance `reach` in m between two heights.

    direct: what is left out of the second half of the series. ends (n, 2): middle and 2 / length of each interval;
    interval (m,): its number for each of m parts of the reach. series (n, DEGREE + 1, 8): Re and Im of r G_xx and r K,
    then of both G without the direct part.
    """

    direct: Direct
    reach: float
    ends: np.ndarray
    interval: np.ndarray
    series: np.ndarray

    @property
    def data(self) -> tuple[Any, ...]:
        """The numbers, as compiled functions take them."""
        return len(self.interval) / self.reach, self.ends, self.interval, self.series

    def __call__(self, rho: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """G_xx and K in 1/m at distances rho in m, positive and up to the reach."""
        r = self._checked(rho)
        if not np.all(r > 0):
            raise ValueError("distances rho must be positive: at rho = 0 the Green's functions are infinite")
        if self.direct is NOTHING:
            return self.rest(r)
        xx, K = self._values(r, 0)
        return xx / r, K / r

    def rest(self, rho: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Both in 1/m without the direct part, at distances rho in m from 0 to the reach."""
        xx, K = self._values(self._checked(rho), 4)
        return xx, K

    def _checked(self, rho: ArrayLike) -> np.ndarray:
        r = np.asarray(rho, dtype=float)
        if not np.all((r >= 0) & (r <= self.reach)):
            raise ValueError(f"distances from 0 to {self.reach:g} m are in this table")
        return r

    def _values(self, rho: np.ndarray, first: int) -> np.ndarray:
        out = np.empty((rho.size, 4))
        _values(rho.ravel(), self.data, first, out)
        return (out[:, ::2] + 1j * out[:, 1::2]).T.reshape(2, *rho.shape)


@jitable_part
def look_up(r, table, first):  # type: ignore[no-untyped-def]
    """Re and Im of r G_xx, of r K (first = 0), or of what is left of G_xx and K (first = 4) at a distance."""
    parts, ends, interval, series = table
    n = interval[min(int(r * parts), len(interval) - 1)]
    x = (r - ends[n, 0]) * ends[n, 1]
    y = 2.0 * x
    a, b, c, d = series[n, 11, first], series[n, 11, first + 1], series[n, 11, first + 2], series[n, 11, first + 3]
    a1, b1, c1, d1 = 0.0, 0.0, 0.0, 0.0
    for m in range(10, 0, -1):
        a, a1 = series[n, m, first] + y * a - a1, a
        b, b1 = series[n, m, first + 1] + y * b - b1, b
        c, c1 = series[n, m, first + 2] + y * c - c1, c
        d, d1 = series[n, m, first + 3] + y * d - d1, d
    return (
        series[n, 0, first] + x * a - a1,
        series[n, 0, first + 1] + x * b - b1,
        series[n, 0, first + 2] + x * c - c1,
        series[n, 0, first + 3] + x * d - d1,
    )


@kernel
def _values(rho, table, first, out):  # type: ignore[no-untyped-def]
    """`look_up` at distances (n,), in out (n, 4)."""
    for i in range(len(rho)):
        values = look_up(rho[i], table, first)
        for c in range(4):
            out[i, c] = values[c]


def table_of(sections: Sections, z: float, source_z: float, reach: float) -> Table:
    """The table between two heights in m, up to a horizontal distance in m."""
    direct = direct_part(sections, z) if z == source_z else NOTHING
    longest = np.pi / np.abs(sections.wavenumbers).max()
    count = max(1, int(np.ceil(reach / longest)))
    width = reach / count
    todo, level, done = np.arange(count), 0, []
    while len(todo):
        size = width / 2**level
        series = _series(sections, (z, source_z), direct, todo * size, size)
        bad = (_error(series, (todo + 1) * size) > ACCURACY) & (level < HALVINGS)
        done += [(int(n) << (HALVINGS - level), level, each) for n, each in zip(todo[~bad], series[~bad], strict=True)]
        todo, level = np.stack([2 * todo[bad], 2 * todo[bad] + 1], axis=1).ravel(), level + 1
    done.sort(key=lambda each: each[0])
    finest = max(each[1] for each in done)
    lengths = np.array([width / 2 ** each[1] for each in done])
    lows = np.array([each[0] * width / 2**HALVINGS for each in done])
    interval = np.repeat(np.arange(len(done)), [1 << (finest - each[1]) for each in done])
    ends = np.stack([lows + lengths / 2, 2 / lengths], axis=1)
    return Table(direct, float(reach), ends, interval, np.array([each[2] for each in done]))


def _series(
    sections: Sections, heights: tuple[float, float], direct: Direct, low: np.ndarray, size: float
) -> np.ndarray:
    """Series (n, DEGREE + 1, 8) on the intervals from low (n,) of that size."""
    r = low[:, None] + size * (1 + NODES) / 2
    values = []
    for rest, c, k in zip(horizontal_greens(sections, r, *heights, direct), direct[:2], direct[2:], strict=True):
        # special pairs have one wavenumber, that of G_xx, for both
        wave, first = np.exp(1j * k * r), np.exp(1j * direct.k_xx * r)
        values.append((r * rest + c / (4 * np.pi) * wave, rest + c / (4 * np.pi * r) * (wave - first)))
    whole, left = ([each[n] for each in values] for n in (0, 1))
    table = np.stack([*whole, *left], axis=2)  # (n, nodes, 4)
    series = np.einsum("mk,nkc->nmc", SERIES, table)
    return np.stack([series.real, series.imag], axis=3).reshape(len(low), DEGREE + 1, 8)


def _error(series: np.ndarray, high: np.ndarray) -> np.ndarray:
    """(n,) The last two terms of all series over the largest value of r G, or FLOOR."""
    last = np.abs(series[:, -2:]).max(axis=1)
    last[:, 4:] *= high[:, None]
    largest = np.abs(series[:, :, :4]).sum(axis=1)
    sizes = np.maximum(largest[:, ::2], largest[:, 1::2])  # of G_xx, and of K
    return (np.maximum(last[:, 0:4], last[:, 4:8]).reshape(-1, 2, 2).max(axis=2) / np.maximum(sizes, FLOOR)).max(axis=1)
