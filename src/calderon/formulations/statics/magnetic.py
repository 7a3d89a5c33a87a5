"""The magnetic field of current dipoles in conductors, by the potential on their walls.

With the conductivities sigma_1 - sigma_2 on both sides of a wall, n out of the first, and R from the wall to the point,

    B = mu_0 / (4 pi) (m x R / R^3 + sum over walls (sigma_1 - sigma_2) int u R x n / R^3).

Over closed walls the integral is that of (n x grad_s u) / R: a single layer of currents on walls, which are finite at
corners and exact as close to walls as points are. D. B. Geselowitz, IEEE Trans. Magn. 6 (1970), 346, equation 13.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from calderon.exact.vacuum import VACUUM_PERMEABILITY
from calderon.formulations.statics.posed import Posed
from calderon.formulations.statics.surface_values import at_sides
from calderon.greens import Laplace
from calderon.potentials import single_layer_potential
from calderon.spaces import Function
from calderon.waves import StaticDipole


def magnetic_field(
    posed: Posed, surface: Function, dipoles: Sequence[StaticDipole], points: NDArray[np.float64]
) -> NDArray[np.float64]:
    """B (n, 3) in T at points (n, 3). surface: the potential on the skeleton."""
    constants, normals = at_sides(posed)
    jumps = np.nan_to_num(constants[:, 0]) - np.nan_to_num(constants[:, 1])
    space = posed.functions.fluxes
    slopes = surface.surface_gradient(space.element.nodes)
    currents = jumps[:, None, None] * np.cross(normals[:, None], slopes)
    found = np.stack(
        [
            single_layer_potential(Laplace(), Function(space, np.ascontiguousarray(part).ravel())).evaluate(points)
            for part in np.moveaxis(currents, 2, 0)
        ],
        axis=1,
    )
    for each in dipoles:
        away = points - each.position
        found += np.cross(each.moment, away) / (4 * np.pi * np.linalg.norm(away, axis=1, keepdims=True) ** 3)
    return np.asarray(VACUUM_PERMEABILITY * found)
