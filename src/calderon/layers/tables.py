"""G_xx and K between two heights of a stack as piecewise polynomials of the distance.

Chebyshev series of degree 11 of r G on intervals that are halved until their last terms are small against the largest
value; and of G - c exp(i k r) / (4 pi r) with the direct part of an interface, which near pairs of triangles integrate
apart. Between different heights there is no direct part. Values are Sommerfeld integrals, from some wavelengths on the
sums of `distant_greens`, which take a thirtieth of the time.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.backends.numba import jitable_part, kernel
from calderon.layers.limits.distant import distant_greens
from calderon.layers.limits.images import NO_IMAGES, Images
from calderon.layers.limits.interface import direct_part
from calderon.layers.sections import Sections
from calderon.layers.sommerfeld import NOTHING, Direct, horizontal_greens

DEGREE = 11


class Limits(NamedTuple):
    """Accuracy and size of tables."""

    accuracy: float = 3e-8
    """Last terms of a series over the largest value of r G in its interval."""
    floor: float = 1e-4 / (4 * np.pi)
    """Fields between conductors decay below all rounding errors."""
    halvings: int = 18
    wide: tuple[Any, ...] = (600, 8)
    """Halvings of an interval at most, and the number of intervals of one length above which none is halved: the larger
    one of 600 and 8 times those at the beginning. Where values change fast few intervals are short; where rounding
    covers the last terms, all would be."""
    refused: float = 1e-5
    """Error from which on a table is refused."""
    close: float = 1.0
    """Over k0: distances up to which integrals leave the direct part out. Farther away it cancels with the rest: on a
    thin layer over a conductor the sum may be 1e-5 of it."""


LIMITS = Limits()
OWN, AWAY, WHOLE = 0, -1, 4
"""Tables with r G at first, with G at first, and with the same in both halves: where loops begin, if not negative."""
ALL = 0.0, np.inf
NODES = np.cos(np.pi * (np.arange(DEGREE + 1) + 0.5) / (DEGREE + 1))
SERIES = np.cos(np.arange(DEGREE + 1)[:, None] * np.arccos(NODES)) * (2 - (np.arange(DEGREE + 1) == 0)[:, None])
SERIES = SERIES / (DEGREE + 1)
"""Coefficients (DEGREE + 1, nodes) of the values at the nodes."""


@dataclass(frozen=True, eq=False)
class Table:
    """G_xx and K up to the distance `reach` in m between two heights.

    direct, images: what is left out of the second half of the series. ends (n, 2): middle and 2 / length of each
    interval; interval (m,): its number for each of m parts of the reach. series (n, 8, DEGREE + 1): Re and Im of r G_xx
    and r K, between different heights of G_xx and K, then of both without the direct part and images.
    """

    direct: Direct
    images: Images
    reach: float
    ends: np.ndarray
    interval: np.ndarray
    series: np.ndarray

    @property
    def kind(self) -> int:
        """WHOLE where nothing is left out, else AWAY between different heights, and OWN at one height."""
        if self.direct == NOTHING and not len(self.images.distances):
            return WHOLE
        return OWN if self.direct != NOTHING or self.images.distances[0] == 0 else AWAY

    @property
    def data(self) -> tuple[Any, ...]:
        """Arguments of `look_up` between the distances and `first`."""
        return (
            len(self.interval) / self.reach,
            0,
            len(self.interval),
            self.interval,
            self.ends.ravel(),
            self.series.ravel(),
        )

    def __call__(self, rho: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """G_xx and K in 1/m at distances rho in m, positive and up to the reach."""
        r = self._checked(rho)
        if not np.all(r > 0):
            raise ValueError("distances rho must be positive: at rho = 0 the Green's functions are infinite")
        if self.kind == WHOLE:
            return self.rest(r)
        xx, K = self._values(r, 0)
        return (xx / r, K / r) if self.kind == OWN else (xx, K)

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
def look_up(r, count, low, high, table, first, out):
    """Re and Im of r G_xx, of r K (first = 0), or of what is left of G_xx and K (first = 4) at the distances r[:count],
    all between low and high, one after the other in out (4 count,); first = AWAY counts as 0.

    table: so many parts for a unit of distance, its first and last place in `interval`, and the arrays, flat. Of each
    interval that is met the series are summed at all distances, for vectors of them, and taken where these lie in it.
    """
    parts, start, stop, interval, ends, series = table
    n = interval[min(start + max(int(low * parts), 0), stop - 1)]
    last = interval[min(start + int(high * parts), stop - 1)]
    for m in range(n, last + 1):
        middle, scale = ends[2 * m], ends[2 * m + 1]
        bottom = middle - 1.0 / scale if m > n else -1.0
        for c in range(4):
            _sum_series(r, count, bottom, middle, scale, series, 12 * (8 * m + max(first, 0) + c), out, c * count)


@jitable_part
def _sum_series(r, count, bottom, middle, scale, series, at, out, place):
    """out[place + i] for i < count: the Chebyshev series of 12 terms at series[at], in (r[i] - middle) * scale,
    where r[i] >= bottom; by Clenshaw's recurrence, without a loop over terms."""
    s0, s1, s2, s3, s4, s5 = series[at], series[at + 1], series[at + 2], series[at + 3], series[at + 4], series[at + 5]
    s6, s7, s8, s9 = series[at + 6], series[at + 7], series[at + 8], series[at + 9]
    s10, s11 = series[at + 10], series[at + 11]
    target = out[place : place + count]  # indices that might be negative keep loops from vectors
    for i in range(count):
        x = (r[i] - middle) * scale
        y = 2.0 * x
        b10 = s10 + y * s11
        b9 = (s9 - s11) + y * b10
        b8 = (s8 - b10) + y * b9
        b7 = (s7 - b9) + y * b8
        b6 = (s6 - b8) + y * b7
        b5 = (s5 - b7) + y * b6
        b4 = (s4 - b6) + y * b5
        b3 = (s3 - b5) + y * b4
        b2 = (s2 - b4) + y * b3
        b1 = (s1 - b3) + y * b2
        value = (s0 - b2) + x * b1
        target[i] = value if r[i] >= bottom else target[i]


@kernel
def _values(rho, table, first, out):
    """Fill out (n, 4) with `look_up` at distances rho (n,); table and first as in `look_up`."""
    r, values = np.empty(1), np.empty(4)
    for i in range(len(rho)):
        r[0] = rho[i]
        look_up(r, 1, r[0], r[0], table, first, values)
        for c in range(4):
            out[i, c] = values[c]


def table_of(
    sections: Sections,
    z: float,
    source_z: float,
    reach: float,
    images: Images = NO_IMAGES,
    requested: tuple[float, float] = ALL,
) -> Table:
    """The table between two heights in m, up to a horizontal distance in m. images: static ones, which are taken out in
    place of the direct part; requested: distances in m from which on values with them, and up to which those without
    them are.

    Raises ValueError where values change too fast for the intervals.
    """
    direct = direct_part(sections, z) if z == source_z and not len(images.distances) else NOTHING
    distant = distant_greens(sections, z, source_z, reach)

    def greens(r: np.ndarray) -> np.ndarray:
        """(2, ...) both at distances (n, nodes) without the direct part."""
        # distances: close ones by integrals without the direct part, distant ones by their sums
        close, beyond = r.max(axis=1) * sections.k0 < LIMITS.close, np.full(len(r), False)
        far = is_far(r, images, requested)
        if distant is not None:
            beyond = r.min(axis=1) >= distant.start
        out, whole, near = np.empty((2, *r.shape), complex), ~close & ~beyond, close & ~far
        out[:, near] = horizontal_greens(sections, r[near], z, source_z, direct, images[:3]) - images.growing(r[near])
        out[:, close & far] = horizontal_greens(sections, r[close & far], z, source_z, direct)
        out[:, whole] = horizontal_greens(sections, r[whole], z, source_z)
        if distant is not None and beyond.any():
            out[:, beyond] = distant(r[beyond])
        # the direct part and the images where they were not left out
        for n, (c, k) in enumerate(zip(direct[:2], direct[2:], strict=True)):
            out[n, ~close] -= c * np.exp(1j * k * r[~close]) / (4 * np.pi * r[~close])
        out[:, ~close & ~far] -= images(r[~close & ~far])
        return out

    named = f"heights of {1e3 * z:g} and {1e3 * source_z:g} mm"
    return tabulated(greens, sections.densest, reach, named, direct, images, z != source_z, requested)


def tabulated(
    greens: Callable[[np.ndarray], np.ndarray],
    densest: float,
    reach: float,
    named: str,
    direct: Direct,
    images: Images,
    apart: bool,
    requested: tuple[float, float] = ALL,
) -> Table:
    """The table of any two functions of the distance. greens: (2, n, nodes) both at distances (n, nodes) without the
    direct part and, unless `is_far`, images; densest: wavenumber in 1/m; named: the heights, for errors; apart: whether
    these differ."""
    away, asked = apart and len(images.distances) > 0, requested if len(images.distances) else ALL

    def series(low: np.ndarray, size: float) -> np.ndarray:
        return _series(greens, direct, images, away, asked, low, size)

    def misses(found: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        return np.asarray(_error(found, low, high, away, asked) > LIMITS.accuracy)

    ends, interval, found = bisected(densest, reach, LIMITS.halvings, series, misses)
    table = Table(direct, images, float(reach), ends, interval, found)
    error = _error(found, ends[:, 0] - 1 / ends[:, 1], ends[:, 0] + 1 / ends[:, 1], away, asked)
    if error.max() > LIMITS.refused:
        low, high = (1e3 * (ends[error.argmax(), 0] + side / ends[error.argmax(), 1]) for side in (-1, 1))
        raise ValueError(
            f"Green's functions between {named} change so fast at distances "
            f"of {low:.3g} to {high:.3g} mm that their table has an error of {error.max():.1g}, and {LIMITS.refused:g} "
            "is allowed: make the layers next to the metal thicker, or leave out those that are too thin to matter"
        )
    return table


def bisected(
    densest: float,
    reach: float,
    halvings: int,
    series: Callable[[np.ndarray, float], np.ndarray],
    misses: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray],
) -> tuple[np.ndarray, NDArray[np.int64], np.ndarray]:
    """Series on intervals of distances up to `reach`, at most half a wavelength long, that of the wavenumber `densest`,
    and halved so often at most where they miss the accuracy: middle and 2 / length of each (n, 2), which interval each
    of the equal pieces is in, and the series. series(low, size): of intervals; misses(series, low, high): which of
    them are halved.
    """
    count = max(1, int(np.ceil(reach * densest / np.pi)))
    width = reach / count
    todo, level, done = np.arange(count), 0, []
    while len(todo):
        size = width / 2**level
        found = series(todo * size, size)
        is_last = level == halvings or len(todo) > max(LIMITS.wide[0], LIMITS.wide[1] * count)
        bad = misses(found, todo * size, (todo + 1) * size) & (not is_last)
        done += [(int(n) << (halvings - level), level, each) for n, each in zip(todo[~bad], found[~bad], strict=True)]
        todo, level = np.stack([2 * todo[bad], 2 * todo[bad] + 1], axis=1).ravel(), level + 1
    done.sort(key=lambda each: each[0])
    finest = max(each[1] for each in done)
    lengths = np.array([width / 2 ** each[1] for each in done])
    lows = np.array([each[0] * width / 2**halvings for each in done])
    interval = np.repeat(np.arange(len(done)), [1 << (finest - each[1]) for each in done])
    ends = np.stack([lows + lengths / 2, 2 / lengths], axis=1)
    return ends, interval, np.array([each[2] for each in done])


def is_far(r: np.ndarray, images: Images, requested: tuple[float, float]) -> NDArray[np.bool_]:
    """(n,) whether intervals with nodes (n, nodes) lie where no integral uses values without images: next to
    good conductors these are large there, and lose digits."""
    return np.asarray((r.min(axis=1) > requested[1]) & (len(images.distances) > 0))


def _series(
    greens: Callable[[np.ndarray], np.ndarray],
    direct: Direct,
    images: Images,
    away: bool,
    requested: tuple[float, float],
    low: np.ndarray,
    size: float,
) -> np.ndarray:
    """Series (n, 8, DEGREE + 1) on the intervals from low (n,) of that size."""
    r = low[:, None] + size * (1 + NODES) / 2
    values, taken = [], images(r)
    taken[:, is_far(r, images, requested)] = 0
    for rest, c, k, static in zip(greens(r), direct[:2], direct[2:], taken, strict=True):
        # special pairs have one wavenumber, that of G_xx, for both
        wave, first = np.exp(1j * k * r), np.exp(1j * direct.k_xx * r)
        whole = (1.0 if away else r) * (rest + static) + c / (4 * np.pi) * wave
        values.append((whole, rest + c / (4 * np.pi * r) * (wave - first)))
    whole, left = ([each[n] for each in values] for n in (0, 1))
    table = np.stack([*whole, *left], axis=2)  # (n, nodes, 4)
    series = np.einsum("mk,nkc->ncm", SERIES, table)
    return np.stack([series.real, series.imag], axis=2).reshape(len(low), 8, DEGREE + 1)


def _error(
    series: np.ndarray, low: np.ndarray, high: np.ndarray, away: bool, requested: tuple[float, float]
) -> np.ndarray:
    """(n,) The last two terms of all series over the largest value of r G, or a floor, of those that are requested."""
    closest, farthest = requested
    scale = np.where(np.arange(8) < (0 if away else 4), 1.0, high[:, None])
    scale[:, :4] *= (high > closest)[:, None]
    scale[:, 4:] *= (low < farthest)[:, None]
    last = np.abs(series[:, :, -2:]).max(axis=2) * scale
    sizes = np.abs(series[:, :4]).sum(axis=2) * (high[:, None] if away else 1.0)
    sizes = sizes.reshape(-1, 2, 2).max(axis=2)  # of G_xx, and of K
    errors = last.reshape(-1, 2, 2, 2).max(axis=(1, 3))
    return np.asarray((errors / np.maximum(sizes, LIMITS.floor)).max(axis=1))
