"""Reflected parts of Green's functions between points of the half-space above a stack.

They depend on the horizontal distance rho and on the sum s of both heights above the face alone. With R^2 = rho^2 +
s^2, the products of R exp(-i k0 R) with G_xx, K and G_zz, and that of R^2 exp(-i k0 R) with G_zx / rho = -G_xz / rho,
are smooth functions of R and the angle atan(s / rho), whatever the image of the source is: they are tabulated as
Chebyshev series of both.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from calderon.layers.lines import spectral_greens
from calderon.layers.sections import OPEN, Sections
from calderon.layers.sommerfeld import greens_above

Complex = NDArray[np.complex128]
Real = NDArray[np.float64]


class Limits(NamedTuple):
    """Accuracy of tables."""

    accuracy: float = 3e-5
    refused: float = 1e-4
    """Last terms of a series over those of 1 / (4 pi R) from which on cells are halved, and the table is refused."""
    halvings: int = 8
    margin: float = 1e-9
    """Part by which a table reaches beyond its limits."""


LIMITS = Limits()
TOGETHER = 4096
"""Points at which a series is summed together: they take about a kilobyte each."""
DEGREE = 7
NODES = np.cos(np.pi * (np.arange(DEGREE + 1) + 0.5) / (DEGREE + 1))
SERIES = np.linalg.inv(chebyshev.chebvander(NODES, DEGREE))
"""Coefficients (DEGREE + 1, nodes) of the values at the nodes."""


class Reflected(NamedTuple):
    """Values (n,) or derivatives: G_xx, K, G_zz and G_zx / rho = -G_xz / rho."""

    xx: Complex
    K: Complex
    zz: Complex
    tilt: Complex


@dataclass(frozen=True, eq=False)
class ReflectedTable:
    """Series (a, b, 4, DEGREE + 1, DEGREE + 1) in cells between the distances radii (a + 1,) in m and the angles
    (b + 1,); cells that hold none of the points are not a number."""

    k0: float
    radii: Real
    angles: Real
    series: Complex

    def __call__(self, rho: Real, s: Real) -> Reflected:
        """Values at distances and sums of heights (n,) in m."""
        return Reflected(*self._evaluated(rho, s, False)[0])

    def with_derivatives(self, rho: Real, s: Real) -> tuple[Reflected, Reflected, Reflected]:
        """Values, and their derivatives by rho and by s, at distances and sums of heights (n,) in m."""
        value, by_r, by_angle = self._evaluated(rho, s, True)
        r = np.hypot(rho, s)
        cosine, sine = rho / r, s / r
        return (
            Reflected(*value),
            Reflected(*(by_r * cosine - by_angle * sine)),
            Reflected(*(by_r * sine + by_angle * cosine)),
        )

    def _evaluated(self, rho: Real, s: Real, derivatives: bool) -> Complex:
        """(1 or 3, 4, n) values, derivatives by R, and by the angle over R."""
        r, angle = np.hypot(rho, s), np.arctan2(s, rho)
        places = [
            np.clip(np.searchsorted(edges, x, side="right") - 1, 0, len(edges) - 2)
            for edges, x in ((self.radii, r), (self.angles, angle))
        ]
        found = np.empty((3 if derivatives else 1, 4, len(r)), complex)
        cells, order = np.unique(places[0] * (len(self.angles) - 1) + places[1], return_inverse=True)
        for number, cell in enumerate(cells):
            a, b = divmod(int(cell), len(self.angles) - 1)
            series, inside = self.series[a, b], np.flatnonzero(order == number)
            for here in np.split(inside, range(TOGETHER, len(inside), TOGETHER)):
                t, by_r = _scaled(r[here], self.radii[a : a + 2])
                u, by_angle = _scaled(angle[here], self.angles[b : b + 2])
                found[0][:, here] = _summed(series, t, u)
                if derivatives:
                    found[1][:, here] = by_r * _summed(chebyshev.chebder(series, axis=1), t, u)
                    found[2][:, here] = by_angle * _summed(chebyshev.chebder(series, axis=2), t, u)
        powers = np.array([1, 1, 1, 2])[:, None]
        if derivatives:
            found[1] += (1j * self.k0 - powers / r) * found[0]
            found[2] /= r
        return np.asarray(found * (np.exp(1j * self.k0 * r) / r**powers))


def _scaled(x: Real, ends: Real) -> tuple[Real, float]:
    """x on [-1, 1], and the derivative."""
    scale = 2 / float(ends[1] - ends[0])
    return np.clip((x - ends[0]) * scale - 1, -1, 1), scale


def _summed(series: Complex, t: Real, u: Real) -> Complex:
    """(4, n) double Chebyshev series (4, a, b) at points t, u (n,)."""
    inner = np.tensordot(chebyshev.chebvander(t, series.shape[1] - 1), series, (1, 1))  # (n, 4, b)
    return np.asarray(np.einsum("ncb,nb->cn", inner, chebyshev.chebvander(u, series.shape[2] - 1)))


def reflected_table(sections: Sections, low: float, high: float, reach: float) -> ReflectedTable:
    """The table for sums of heights from low to high, low positive, and horizontal distances up to reach, in m, of a
    stack below a half-space of vacuum. ValueError where values change too fast for it."""
    if sections.ends[1] != OPEN or sections.eps[-1] != 1 or sections.mu[-1] != 1:
        raise ValueError("above the stack is a half-space of vacuum")
    low, high, reach = low * (1 - LIMITS.margin), high * (1 + LIMITS.margin), max(reach, 0.1 * low)
    doubled = 1 + int(np.ceil(np.log2(np.hypot(reach, high) / low)))
    radii: Real = low * np.exp2(np.arange(doubled + 1, dtype=np.float64))
    begin = float(np.arctan2(low, reach * (1 + LIMITS.margin)))
    angles = np.linspace(begin, np.pi / 2, 1 + int(np.ceil((np.pi / 2 - begin) / 0.8)))
    known: dict[tuple[float, ...], Complex] = {}
    for turn in range(LIMITS.halvings + 1):
        cells = [
            (a, b)
            for a, (r1, r2) in enumerate(zip(radii[:-1], radii[1:], strict=True))
            for b, (t1, t2) in enumerate(zip(angles[:-1], angles[1:], strict=True))
            if r1 * np.sin(t1) <= high and r2 * np.sin(t2) >= low and r1 * np.cos(t2) <= reach
        ]
        ends = {cell: (*radii[cell[0] :][:2].tolist(), *angles[cell[1] :][:2].tolist()) for cell in cells}
        new = [each for each in ends.values() if each not in known]
        known.update(zip(new, _series(sections, np.array(new).reshape(-1, 4)), strict=True))
        # cells are halved in rows and columns whose last terms are large
        errors = np.zeros((2, len(radii) - 1, len(angles) - 1))
        for cell, key in ends.items():
            size = 4 * np.pi * np.abs(known[key])
            errors[0][cell], errors[1][cell] = size[:, -2:].sum(axis=1).max(), size[:, :, -2:].sum(axis=2).max()
        rows, columns = errors[0].max(axis=1), errors[1].max(axis=0)
        if turn == LIMITS.halvings or max(rows.max(), columns.max()) < LIMITS.accuracy:
            break
        radii, angles = _halved(radii, rows > LIMITS.accuracy), _halved(angles, columns > LIMITS.accuracy)
    if (error := float(errors.max())) > LIMITS.refused:
        raise ValueError(
            f"what the stack reflects changes so fast that its table has an error of {error:.1g}, and "
            f"{LIMITS.refused:g} is allowed: are wires next to the ground, or its layers far thinner than heights?"
        )
    series = np.full((len(radii) - 1, len(angles) - 1, 4, DEGREE + 1, DEGREE + 1), np.nan + 0j)
    for cell, key in ends.items():
        series[cell] = known[key]
    return ReflectedTable(sections.k0, radii, angles, series)


def _halved(edges: Real, which: NDArray[np.bool_]) -> Real:
    return np.sort(np.concatenate([edges, ((edges[:-1] + edges[1:]) / 2)[which]]))


def _series(sections: Sections, ends: Real) -> Complex:
    """(n, 4, DEGREE + 1, DEGREE + 1) of cells with the ends (n, 4) of distances and of angles."""
    half = (1 + NODES) / 2
    r = (ends[:, :1] + (ends[:, 1:2] - ends[:, :1]) * half)[:, :, None]
    angle = (ends[:, 2:3] + (ends[:, 3:] - ends[:, 2:3]) * half)[:, None]
    rho, s = r * np.cos(angle), r * np.sin(angle)
    found = greens_above(sections, rho, s)
    phase, direct = np.exp(-1j * sections.k0 * r) * r, 1 / (4 * np.pi)
    level = [phase * each - direct for each in (found.xx, found.K, found.zz)]
    values = np.stack([*level, phase * r / rho * found.zx], axis=1)
    return np.asarray(np.einsum("ai,bj,ncij->ncab", SERIES, SERIES, values))


def reflections(sections: Sections, sine: Real) -> Reflected:
    """Reflected over arriving waves, for directions at angles of these sines (n,) from the vertical: the factors
    of G_xx, K, G_zz, and of G_zx for sources along the horizontal direction, -1 times that of G_xz."""
    face = float(sections.low[-1])
    top = len(sections.eps) - 1
    found = spectral_greens(sections, sections.k0 * sine, face, face, top, top)
    over = -2j * sections.k0 * np.sqrt(np.maximum(1 - sine**2, 0))
    return Reflected(over * found.xx - 1, over * found.K - 1, over * found.zz - 1, 0j - 1j * over * found.zx)
