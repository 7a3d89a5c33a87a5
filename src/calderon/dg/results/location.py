"""Fields at points, whichever rank has the tetrahedron that holds a point."""

import numpy as np
from numpy.typing import NDArray

from calderon.dg.domain import Domain
from calderon.mesh import TetrahedralMesh
from calderon.mesh.location import locate


def values_at(
    domain: Domain, mesh: TetrahedralMesh, vectors: NDArray[np.inexact], points: NDArray[np.float64]
) -> NDArray[np.inexact]:
    """(q, 3) a field at points (q, 3) of the whole mesh, from the vectors (elements, n, 3) of this rank's part."""
    elements, local = locate(mesh, points)
    values = domain.arrangement.reference.interpolation(local)
    own, here = own_elements(domain, elements)
    found = np.einsum("qn,qni->qi", values, vectors[own]) * here[:, None]
    return np.asarray(domain.communicator.total(found))


def own_elements(domain: Domain, elements: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Numbers in this rank's part of tetrahedra of the whole mesh (0 for others'), and whether they are in it."""
    place = np.minimum(np.searchsorted(domain.part.elements, elements), len(domain.part.elements) - 1)
    here = domain.part.elements[place] == elements
    return np.where(here, place, 0), here
