"""Tables of Green's functions without `quasi_static.singular_parts`, between heights inside of layers or at interfaces.

Interpolated between Chebyshev nodes in z and z', at each pair of nodes by Chebyshev series of the distance on intervals
that are halved until their last terms are small.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.layers.limits.quasi_static import singular_parts
from calderon.layers.sections import Sections
from calderon.layers.sommerfeld import spatial_greens
from calderon.layers.tables import DEGREE, NODES, SERIES, bisected


class Limits(NamedTuple):
    """Nodes and accuracy of tables."""

    heights: int = 6
    """Nodes over the heights of metal in a layer, at least."""
    more: float = 2.0
    """Additional nodes for a phase of 1 over these heights."""
    finer: float = 1.5
    """Additional nodes for each halving of a neighbouring layer, whose faces make images at twice its thickness."""
    accuracy: float = 1e-5
    """Last terms of a series over the largest value, or that of 1 / (4 pi r) at the end of its interval."""
    halvings: int = 8
    refused: float = 1e-3
    """Halvings of an interval at most, and the error from which on a table is refused."""


LIMITS = Limits()
Real = NDArray[np.float64]


class Heights(NamedTuple):
    """A range of heights z in m in a layer, with the nodes of interpolation; of an interface its one height."""

    layer: int
    low: float
    high: float
    nodes: Real

    def weights(self, z: Real) -> Real:
        """(..., nodes) Lagrange polynomials at heights z."""
        n = len(self.nodes)
        if n == 1:
            return np.ones((*z.shape, 1))
        order, steps = np.arange(n), np.pi * (np.arange(n) + 0.5) / n
        t = np.clip((2 * z - self.low - self.high) / (self.high - self.low), -1, 1)
        factors = np.where(order == 0, 1, 2) / n * np.cos(order * steps[:, None])  # sum_j factors_aj T_j(t)
        return np.asarray(np.cos(order * np.arccos(t)[..., None]) @ factors.T)


def heights_in(sections: Sections, layer: int, low: float, high: float) -> Heights:
    """Between two heights in a layer."""
    phase = abs(sections.wavenumbers[layer]) * (high - low)
    thickness = (sections.high - sections.low)[[max(layer - 1, 0), min(layer + 1, len(sections.eps) - 1)]]
    thin = float(thickness[thickness > 0].min(initial=np.inf))
    n = LIMITS.heights + int(LIMITS.more * phase) + int(LIMITS.finer * np.log2(max(1.0, (high - low) / (2 * thin))))
    t = np.cos(np.pi * (np.arange(n) + 0.5) / n)
    return Heights(layer, low, high, (low + high + (high - low) * t) / 2)


def height_at(sections: Sections, z: float, near: int) -> Heights:
    """An interface, seen from the layer next to it that is closer to layer `near`."""
    n = min(sections.layer_of(z, "below"), sections.layer_of(z), key=lambda each: abs(each - near))
    return Heights(n, z, z, np.array([z]))


@dataclass(frozen=True, eq=False)
class RestTable:
    """G_xx, K, G_zx, G_xz, G_zz without their singular parts for observers and sources in two ranges of heights.

    parts: intervals for a unit of distance; interval (m,) the number of each; ends (n, 2): middle and 2 / length;
    series (n, a, b, 10, DEGREE + 1): Re and Im of the components at pairs of nodes.
    """

    observers: Heights
    sources: Heights
    reach: float
    interval: NDArray[np.int64]
    ends: Real
    series: Real

    @property
    def data(self) -> tuple[float, NDArray[np.int64], Real, Real]:
        """Arrays that loops read, the series (n, a, DEGREE + 1, b, 10) flat."""
        series = np.ascontiguousarray(self.series.transpose(0, 1, 4, 2, 3))
        return len(self.interval) / self.reach, self.interval, self.ends.ravel(), series.ravel()


def rest_table(sections: Sections, observers: Heights, sources: Heights, reach: float) -> RestTable:
    """The table up to the horizontal distance `reach` in m. ValueError where values change too fast for it."""

    def series(low: Real, size: float) -> Real:
        return _series(sections, observers, sources, low, size)

    def errors(found: Real, high: Real) -> Real:
        """Last terms of series over the largest value, (n,)."""
        largest = np.abs(found).sum(axis=-1).max(axis=(1, 2, 3))
        return np.asarray(np.abs(found[..., -2:]).max(axis=(1, 2, 3, 4)) / np.maximum(largest, 1 / (4 * np.pi * high)))

    def misses(found: Real, low: Real, high: Real) -> Real:
        return np.asarray(errors(found, high) > LIMITS.accuracy)

    ends, interval, found = bisected(sections.densest, reach, LIMITS.halvings, series, misses)
    if (error := float(errors(found, ends[:, 0] + 1 / ends[:, 1]).max())) > LIMITS.refused:
        raise ValueError(
            f"Green's functions of vertical metal change so fast that their table has an error of {error:.1g}, and "
            f"{LIMITS.refused:g} is allowed: make the layers next to the metal thicker, or leave out those that are "
            "too thin to matter"
        )
    return RestTable(observers, sources, float(reach), interval, ends, found)


def _series(sections: Sections, observers: Heights, sources: Heights, low: Real, size: float) -> Real:
    """Series (n, a, b, 10, DEGREE + 1) on the intervals from low (n,) of that size."""
    rho = (low[:, None] + size * (1 + NODES) / 2).ravel()
    own = observers is sources
    parts = singular_parts(sections, observers.layer, sources.layer)
    values = np.empty((len(observers.nodes), len(sources.nodes), 5, len(rho)), complex)
    for a, z in enumerate(observers.nodes):
        for b, source in enumerate(sources.nodes[: a + 1] if own else sources.nodes):
            found = np.array(spatial_greens(sections, rho, z, source, observers.layer, sources.layer))
            for part in parts:
                found -= np.array(part(rho, part.distance(z, source)))
            values[a, b] = found
            if own:  # reciprocity
                values[b, a] = found[[0, 1, 3, 2, 4]] * np.array([1, 1, -1, -1, 1])[:, None]
    table = values.reshape(*values.shape[:3], len(low), DEGREE + 1)
    series = np.einsum("mk,abcnk->nabcm", SERIES, table)
    return np.stack([series.real, series.imag], axis=4).reshape(len(low), *values.shape[:2], 10, DEGREE + 1)
