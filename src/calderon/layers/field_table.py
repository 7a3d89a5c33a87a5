"""The components of fields at one height of sources at another as piecewise polynomials of the distance."""

from dataclasses import dataclass

import numpy as np

from calderon.layers.sections import Sections
from calderon.layers.sommerfeld import field_integrals
from calderon.layers.tables import DEGREE, NODES, SERIES


@dataclass(frozen=True, eq=False)
class FieldTable:
    """Chebyshev series (n, DEGREE + 1, FIELDS) of `field_components` on intervals between edges (n + 1,) in m."""

    edges: np.ndarray
    series: np.ndarray

    def __call__(self, rho: np.ndarray) -> np.ndarray:
        """(FIELDS, n) at distances (n,)."""
        number = np.clip(np.searchsorted(self.edges, rho, side="right") - 1, 0, len(self.series) - 1)
        low, high = self.edges[number], self.edges[number + 1]
        terms = np.cos(
            np.arange(DEGREE + 1) * np.arccos(np.clip((2 * rho - low - high) / (high - low), -1, 1))[:, None]
        )
        return np.asarray(np.einsum("nm,nmc->cn", terms, self.series[number]))


def field_table(
    sections: Sections, z: float, source_z: float, low: float, reach: float, source_layer: int | None = None
) -> FieldTable:
    """The table of distances from low to reach in m; low may be 0 where the heights differ.

    Intervals are half as long as the points are far from the source, at most half of the shortest wavelength.
    """
    away, longest = abs(z - source_z), np.pi / sections.densest
    edges = [low]
    while edges[-1] < reach:
        edges.append(edges[-1] + min(longest, 0.5 * float(np.hypot(edges[-1], away))))
    steps = np.array(edges)
    rho = steps[:-1, None] + np.diff(steps)[:, None] * (1 + NODES) / 2
    values = field_integrals(sections, rho, z, source_z, source_layer)
    return FieldTable(steps, np.ascontiguousarray(np.einsum("mk,cnk->nmc", SERIES, values)))
