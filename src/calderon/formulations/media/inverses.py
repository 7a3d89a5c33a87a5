"""Approximate inverses of the blocks of bodies, from their equations on a plane: a preconditioner."""

from scipy.sparse.linalg import LinearOperator

from calderon.formulations.acoustic.combined import ROOT_ERROR, hard_on_a_plane
from calderon.formulations.linear_system import mass_preconditioner
from calderon.formulations.media.equations import SURROUNDINGS, Body, Rigid, Vessel
from calderon.onsurface import SurfaceOperator, osrc_dtn
from calderon.spaces import Space


def inverses(body: Body, wavenumber: complex, precision: str) -> list[LinearOperator]:
    """The inverses of the blocks of a body, one for each unknown or one for all of them.

    On a plane V = -1/2 of the Neumann-to-Dirichlet map and D = -1/2 of its inverse.
    """

    def dtn(space: Space, k: complex) -> SurfaceOperator:
        return osrc_dtn(space, k, error=ROOT_ERROR, precision=precision)

    if isinstance(body, Rigid):
        around = 1j / body.eta if body.parent != SURROUNDINGS else wavenumber
        return [hard_on_a_plane(dtn(body.surface, around), body.eta).inverse().tested]
    if isinstance(body, Vessel):
        k, r = abs(wavenumber), body.density_ratio
        return [
            (dtn(body.surface, wavenumber) * (-(1 + 1 / r) / (2 * k))).inverse().tested,
            (dtn(body.wall, body.wavenumber) * (-1 / (2 * k * r))).inverse().tested,
            (dtn(body.opening, wavenumber) * (-2 / (k * (1 + r)))).tested,
        ]
    return [mass_preconditioner(tuple(column.space for column in body.columns))]
