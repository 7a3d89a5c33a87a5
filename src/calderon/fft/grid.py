"""Regular grids on planes of metal, and weights of edge functions at their nodes.

A function f near the node x_0 is replaced by weights of its two components and its divergence at (M + 1)^2 nodes around
it, int f L_a(x) L_b(y), L the polynomials of Lagrange of degree M: what smooth functions of the place see of it is the
same up to the power M + 1 of the spacing.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from calderon.backends.threads import in_parts
from calderon.fft.kernels import put_weights
from calderon.galerkin.layered.metal import LayeredMetal
from calderon.quadrature import triangle_rule

SPACINGS = 6
"""Near radius, in spacings, unless it is given."""


@dataclass(frozen=True, eq=False)
class Grid:
    """Nodes corner + spacing (i, j), i < shape[0], j < shape[1], on all planes with metal.

    middles (n, 2), radii (n,): of the functions, in m. first (n, 2): their lowest nodes, plane (n,): their planes;
    weights (n, 3, (order + 1)^2) in m^2 and m (of the divergence).
    """

    spacing: float
    order: int
    shape: tuple[int, int]
    middles: NDArray[np.float64]
    radii: NDArray[np.float64]
    first: NDArray[np.int64]
    plane: NDArray[np.int64]
    weights: NDArray[np.float64]

    @staticmethod
    def of(metal: LayeredMetal, spacing: float | None, order: int) -> "Grid":
        """ValueError for a spacing that is too coarse for the waves, or too fine for the functions."""
        space, mesh = metal.space, metal.space.mesh
        centres = mesh.centroids[:, :2]
        plus, minus = space.pairs.T
        middles = 0.5 * (centres[plus] + centres[minus])
        corners = mesh.vertices[mesh.triangles[space.pairs]][..., :2].reshape(len(middles), 6, 2)
        radii = np.linalg.norm(corners - middles[:, None], axis=2).max(axis=1)
        step = _spacing(metal, spacing, order, float(radii.max()))
        corner = middles.min(axis=0)
        first = np.round((middles - corner) / step - order / 2).astype(np.int64)
        corner = corner + step * first.min(axis=0)
        first -= first.min(axis=0)
        heights = metal.flat.heights[np.searchsorted(space.triangles[: len(space.support)], plus)]
        shape = first.max(axis=0) + order + 1
        grid = Grid(step, order, (int(shape[0]), int(shape[1])), middles, radii, first, heights, np.empty(0))
        return replace(grid, weights=grid._weights(metal, corner))

    def _weights(self, metal: LayeredMetal, corner: NDArray[np.float64]) -> NDArray[np.float64]:
        space, mesh, m = metal.space, metal.space.mesh, self.order + 1
        rule = triangle_rule(2 * self.order + 1)
        weights = np.zeros((len(self.middles), 3, m * m))
        sides = np.ascontiguousarray(space.sides)
        lengths = mesh.edge_lengths[mesh.triangle_edges[sides[:, 0] // 3, sides[:, 0] % 3]]
        given = sides, lengths, mesh.vertices, mesh.triangles, rule.barycentric, rule.weights
        place = corner, self.spacing, self.first
        in_parts(lambda low, high: put_weights(*given, *place, m, low, high, weights), len(weights))
        return weights


def _spacing(metal: LayeredMetal, given: float | None, order: int, radius: float) -> float:
    sections, heights = metal.sections, metal.flat.heights
    touched = np.abs(sections.wavenumbers[sections.touching(heights, heights)])
    wavelength = 2 * np.pi / max(sections.densest, float(touched.max()))
    if given is None:
        corners = metal.space.mesh.vertices[metal.space.mesh.triangles[metal.space.support], :2]
        extent = float(np.ptp(corners.reshape(-1, 2), axis=0).max())  # a coarser grid would lose it to rounding
        given = min(wavelength / 16, max(radius, min(wavelength / 40, extent)))  # the usual spacing, and the finest one
        given = max(given, 2 * radius / (order + 1))
    if given > wavelength / 6:
        raise ValueError(
            f"spacing = {given:.3g} m is too coarse for the shortest wavelength in the stack, {wavelength:.3g} m: use "
            f"at most {wavelength / 6:.3g} m, of a mesh with edges that suit it"
        )
    if 2 * radius > (order + 1) * given * (1 + 1e-9):
        raise ValueError(
            f"spacing = {given:.3g} m is too fine for edge functions of {2 * radius:.3g} m, which reach over more than "
            f"{order + 1} cells: use at least {2 * radius / (order + 1):.3g} m, or a finer mesh"
        )
    return given
