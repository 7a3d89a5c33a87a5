"""Constants, normals and field strengths at both sides of the surfaces of a static field."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.statics.posed import Posed
from calderon.spaces import Function

Values = NDArray[np.float64]


def at_sides(posed: Posed) -> tuple[Values, Values]:
    """(triangles, 2) the number a of D = -a grad u at both sides, NaN for none, and (triangles, 3) the normals out of
    the region of the first one."""
    skeleton, count = posed.skeleton, posed.mesh.number_of_triangles
    constants, normals = np.full((count, 2), np.nan), np.zeros((count, 3))
    for number, part in enumerate(skeleton.surfaces):
        for side in (0, 1):
            constants[skeleton.sides[:, side] == number, side] = posed.kind.factor * part.region.constant
        first = skeleton.sides[part.triangles, 0] == number
        normals[part.triangles[first]] = part.mesh.normals[first]
    return constants, normals


def squared_decays(posed: Posed) -> Values:
    """(triangles, 2) kappa^2 in 1/m^2 at both sides, 0 without ions or region."""
    decays = np.array([*(each.decay for each in posed.skeleton.regions.values()), 0.0])
    return np.asarray(decays[posed.skeleton.sides] ** 2)


def strengths(posed: Posed, surface: Function, fluxes: Sequence[Function]) -> Values:
    """(triangles,) |grad u| in the middle of triangles, of the side where it is larger; of sheets, of which the sum of
    both sides is known, with half of it on each."""
    middle = np.full((1, 2), 1 / 3)
    constants, _ = at_sides(posed)
    sheet = posed.skeleton.sides[:, 0] == posed.skeleton.sides[:, 1]
    across = np.stack([each.values(middle)[:, 0] for each in fluxes], axis=1) / constants
    across[sheet] = across[sheet, :1] / 2
    slope = surface.surface_gradient(middle)[:, 0]
    return np.asarray(np.sqrt((slope**2).sum(axis=1) + np.nanmax(across**2, axis=1)), np.float64)
