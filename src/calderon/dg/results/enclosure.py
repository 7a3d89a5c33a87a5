"""Tetrahedra inside a closed surface in free space, around all scatterers and sources."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.dg.domain import Domain
from calderon.mesh import TetrahedralMesh
from calderon.validation import one_point, positive_length

LAYERS = 1
"""Of tetrahedra between what scatters and the surface: the field at edges is not smooth, and that of an incident wave,
which a closed surface should not see, is wrong by the mesh's dispersion, the more the larger the surface."""


def enclosed(
    domain: Domain, mesh: TetrahedralMesh, radius: float | None, center: ArrayLike | None
) -> NDArray[np.bool_]:
    """(tetrahedra,) of the whole mesh: those whose centroids lie within a radius in m of a center, by default the
    middle of all that scatters; without a radius all that scatters and LAYERS of tetrahedra around.

    Raises ValueError where no face absorbs, or such a face has a tetrahedron inside; where a material, a conductor or a
    current lies outside.
    """
    body, opened = _scattering(domain), _open(domain)
    if not opened.any():
        raise ValueError("no faces absorb: a far field needs absorbing faces all around; set them in boundaries")
    if radius is None:
        inside = body
        for _ in range(LAYERS):
            inside = _grown(inside, mesh)
        advice = "leave more room between it and the absorbing faces, or give a radius and a center"
    else:
        ends = mesh.vertices[mesh.tetrahedra[body if body.any() else slice(None)]].reshape(-1, 3)
        middle = (ends.min(axis=0) + ends.max(axis=0)) / 2 if center is None else one_point(center, "center")
        inside = _near(middle, positive_length(radius, "radius"), mesh)
        advice = f"choose another radius than {radius:.4g} m or another center than {middle.round(4).tolist()}"
    if (inside & opened).any():
        raise ValueError(f"the surface around the body meets absorbing faces: {advice}")
    if (body & ~inside).any():
        raise ValueError(
            f"{(body & ~inside).sum()} tetrahedra at a body or a current lie outside the surface: {advice}"
        )
    if not inside.any():
        raise ValueError(f"the surface encloses no tetrahedron: {advice}")
    return inside


def _grown(inside: NDArray[np.bool_], mesh: TetrahedralMesh) -> NDArray[np.bool_]:
    """With all tetrahedra that share a vertex."""
    touched = np.zeros(mesh.number_of_vertices, bool)
    touched[mesh.tetrahedra[inside]] = True
    return np.asarray(touched[mesh.tetrahedra].any(axis=1))


def _near(center: NDArray[np.float64], radius: float, mesh: TetrahedralMesh) -> NDArray[np.bool_]:
    return np.asarray(np.linalg.norm(mesh.centroids - center, axis=1) <= radius)


def _scattering(domain: Domain) -> NDArray[np.bool_]:
    """Tetrahedra of all ranks that are not free space, carry a current or lie at a conductor."""
    medium, mesh = domain.medium, domain.part.mesh
    own = (medium.permittivity != 1) | (medium.permeability != 1) | (medium.loss != 0)
    for load in domain.loads:
        own[load.elements] = True
    closed = np.isin(domain.conditions, ("pec", "pmc"))
    own |= ((mesh.neighbours < 0) & closed[np.maximum(-1 - mesh.neighbours, 0)]).any(axis=1)
    return _of_all_ranks(domain, own)


def _open(domain: Domain) -> NDArray[np.bool_]:
    """Tetrahedra of all ranks with absorbing faces."""
    own = np.zeros(domain.part.mesh.number_of_tetrahedra, bool)
    own[domain.open.elements] = True
    return _of_all_ranks(domain, own)


def _of_all_ranks(domain: Domain, own: NDArray[np.bool_]) -> NDArray[np.bool_]:
    result = np.empty(domain.whole, bool)
    for elements, values in domain.communicator.gather((domain.part.elements, own)):
        result[elements] = values
    return result
