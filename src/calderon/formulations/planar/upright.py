"""Fields of vertical metal in one layer, and of what joins it: transforms of currents and charges, interpolated in
their height."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.layers import Sections
from calderon.layers.radiation import SurfaceWave, residue_ratios, source_responses
from calderon.layers.rest_tables import Heights
from calderon.quadrature import triangle_rule
from calderon.spaces import EdgeSpace

RULE = 8
Complex = NDArray[np.complex128]
Floats = NDArray[np.float64]


class Upright(NamedTuple):
    """Points (P, 2) of metal, their shares (P, nodes) of the nodes in z, and sparse (P, dimension) weights
    times the components x, y, z of functions there, and their divergence."""

    sections: Sections
    heights: Heights
    points: Floats
    shares: Floats
    parts: list[sp.csr_array]

    @staticmethod
    def of(sections: Sections, part: EdgeSpace, heights: Heights) -> "Upright":
        """The points of some rows of a table of functions, all within these heights."""
        rule = triangle_rule(RULE)
        corners = part.mesh.vertices[part.mesh.triangles[part.triangles]]
        places = (rule.barycentric @ corners).reshape(-1, 3)
        weights = (2 * rule.weights * part.mesh.areas[part.triangles, None]).ravel()
        values = part.values(rule.points)
        charges = np.broadcast_to(2 * part.scale[:, :, None], values.shape[:3])
        columns = np.broadcast_to(part.dofs[:, :, None], charges.shape)
        numbers = np.arange(len(places)).reshape(len(corners), 1, -1)
        kept, shape = columns >= 0, (len(places), part.dimension)
        coords = np.broadcast_to(numbers, charges.shape)[kept], columns[kept]
        parts = [
            sp.coo_array((each[kept] * weights[coords[0]], coords), shape).tocsr()
            for each in (values[..., 0], values[..., 1], values[..., 2], charges)
        ]
        return Upright(sections, heights, places[:, :2], heights.weights(places[:, 2]), parts)

    def responses(self, k: Complex, z: float) -> list[Any]:
        """Fields at the height z of currents at the nodes, for wavenumbers k (n,)."""
        return [source_responses(self.sections, k, z, node) for node in self.heights.nodes.tolist()]

    def ratios(self, wave: SurfaceWave, z: float) -> list[Any]:
        """How strongly currents at the nodes excite a wave, relative to horizontal ones at the height z."""
        return [residue_ratios(self.sections, wave, z, node) for node in self.heights.nodes.tolist()]

    def add(self, along: Complex, across: Complex, waves: Floats, unit: Floats, found: list[Any]) -> None:
        """Add E along the unit vectors (n, 2) of waves K (n, 2) and across them, of each function, (n, dimension):
        found: by nodes, what the current, the vertical current and the divergence make."""
        phases = np.exp(-1j * waves @ self.points.T)
        u, v = unit.T[:, :, None]
        for share, each in zip(self.shares.T, found, strict=True):
            x, y, z, charge = ((phases * share) @ part for part in self.parts)
            level, upright, divergence = (np.asarray(one).reshape(-1, 1) for one in each)
            along += level * (u * x + v * y) + upright * z + divergence * charge
            across += level * (u * y - v * x)
