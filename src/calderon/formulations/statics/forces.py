"""Forces of a static field on walls between materials and on metal, by its traces."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.statics.posed import Posed
from calderon.formulations.statics.recovery import neighbour_means, squares
from calderon.formulations.statics.surface_values import at_sides, squared_decays
from calderon.quadrature import triangle_rule
from calderon.spaces import Function

Vectors = NDArray[np.float64]


def force_densities(posed: Posed, surface: Function, fluxes: Sequence[Function]) -> tuple[Vectors, Vectors, Vectors]:
    """Forces per area (triangles, points, 3) in N/m^2 at quadrature points of the skeleton, these points, and weights
    (triangles, points) in m^2.

    With n from the first region to the second, the tangential gradient of u and the flux q = a du/dn through the wall,

        f = (a_1 - a_2)/2 (|grad_s u|^2 + q^2 / (a_1 a_2)) n        between materials,
        f = q^2 / (2 a) n        on each side of metal, n out of it,

    and among ions, whose pressure is p = a kappa^2 u^2 / 2 more than without field, p_1 - p_2 along n (p = 0 in metal).
    Squares of linear u and constant q: recovery.py.

    D. J. Korteweg, Ann. Phys. 9 (1880), 48; J. A. Stratton, Electromagnetic Theory (1941), section 2.24;
    M. K. Gilson et al., J. Phys. Chem. 97 (1993), 3591, equation 42, of ions.
    """
    skeleton, mesh = posed.skeleton, posed.mesh
    rule = triangle_rule(2 * surface.space.scalar.element.degree)
    every = mesh.geometry(np.arange(mesh.number_of_triangles))
    constants, normals = at_sides(posed)
    a, b = constants.T[..., None]
    q, r = (each.values(rule.points) ** 2 for each in fluxes)
    slopes = (surface.surface_gradient(rule.points) ** 2).sum(axis=2)
    if surface.space.scalar.element.degree == 1:
        means = neighbour_means(skeleton)
        q, r = (squares(means, each.coefficients)[:, None] for each in fluxes)
        slopes = squares(means, surface.surface_gradient(rule.points)[:, 0])[:, None]
    metal = (skeleton.electrode_of >= 0)[:, None]
    single, sheet = np.isnan(b), (skeleton.sides[:, 0] == skeleton.sides[:, 1])[:, None]
    # n out of the first region: out of metal it is the other way; a sheet has the sum of both sides alone
    between = (a - b) / 2 * (slopes + q / (a * b))
    sizes = np.where(metal, -q / (2 * a) + np.where(single, 0.0, r / (2 * b)), np.where(single, 0.0, between))
    pressures = squared_decays(posed) * np.nan_to_num(constants) / 2
    sizes = sizes + np.where(
        single & ~metal, 0.0, np.subtract(*pressures.T)[:, None] * surface.values(rule.points) ** 2
    )
    sizes = np.where(sheet, 0.0, np.nan_to_num(sizes))
    return sizes[..., None] * normals[:, None], every.points(rule.points), every.weights(rule)


def by_tag(posed: Posed, sums: Vectors) -> dict[str, Vectors]:
    """Sums over triangles (nt, 3) by the name of their tag, or its number as text."""
    called = {number: name for name, number in posed.mesh.names.items()}
    found = np.unique(posed.mesh.tags).tolist()
    return {called.get(tag, str(tag)): sums[posed.mesh.tags == tag].sum(axis=0) for tag in found}
