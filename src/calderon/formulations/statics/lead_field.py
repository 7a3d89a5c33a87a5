"""Potentials at points of walls by reciprocity: what dipoles anywhere would give there.

The matrix A is symmetric when the sign of the rows of fluxes is changed, J A = A' J. So w' A^-1 b = (J A^-1 w)' b for
the values w' x of potentials at an electrode and the loads b of a dipole, which are derivatives of potentials of all
functions at its place.
"""

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.linear_system import LinearSystem
from calderon.formulations.options import SolveOptions
from calderon.formulations.statics.equation import green_of
from calderon.formulations.statics.loads import region_at
from calderon.formulations.statics.unknowns import Unknowns
from calderon.potentials.near_evaluation import point_distances
from calderon.potentials.of_functions import potentials_of_functions


def lead_field(
    unknowns: Unknowns,
    system: LinearSystem,
    electrodes: NDArray[np.float64],
    places: NDArray[np.float64],
    options: SolveOptions,
) -> NDArray[np.float64]:
    """(m, n, 3) potentials at points (m, 3) of walls of unit dipoles at places (n, 3), times the factor of the kind of
    materials."""
    where = np.array([region_at(each, unknowns.skeleton) for each in places])
    found, _ = system.solve(np.stack([values_at(each, unknowns) for each in electrodes], axis=1), options)
    total = np.zeros((len(electrodes), len(places), 3))
    for number, traces in enumerate(unknowns.traces):
        own = np.flatnonzero(where == number)
        if not len(own):
            continue
        green, a = green_of(traces.surface.region), traces.surface.region.constant
        parts = np.split(traces.from_unknowns @ np.real(found), [len(traces.nodes)])
        layer = potentials_of_functions(green, traces.fluxes, places[own], double=False, gradient=True)
        total[:, own] = np.einsum("njk,jm->mnk", layer, parts[1], optimize=True) / a
        if traces.potentials is not None:
            double = potentials_of_functions(green, traces.potentials, places[own], double=True, gradient=True)
            total[:, own] -= np.einsum("njk,jm->mnk", double, parts[0], optimize=True)
    return total


def values_at(point: NDArray[np.float64], unknowns: Unknowns) -> NDArray[np.float64]:
    """(n,) which combination of the unknowns is the potential at the point of the walls nearest to a point (3,)."""
    space, mesh = unknowns.potentials, unknowns.skeleton.mesh
    corners = mesh.vertices[mesh.triangles]
    nearest = int(point_distances(np.broadcast_to(point, (len(corners), 3)), corners).argmin())
    a, b, c = corners[nearest]
    # barycentric coordinates of its projection, within the triangle
    u, v = np.linalg.lstsq(np.stack([b - a, c - a], axis=1), point - a, rcond=None)[0]
    weights = np.maximum([1 - u - v, u, v], 0.0)
    local = space.element.values((weights[1:] / weights.sum())[None])[:, 0]
    return np.asarray(np.bincount(unknowns.node_numbers[space.dofs[nearest]], local, unknowns.dimension), np.float64)
