"""Whether tetrahedra meet face to face everywhere, as a finite element method assumes."""

import numpy as np
from numpy.typing import NDArray

from calderon.mesh.errors import MeshError
from calderon.mesh.tetrahedra import FACES, TetrahedralMesh
from calderon.mesh.tetrahedral.location import Search
from calderon.mesh.topology import connected


def require_unfolded(mesh: TetrahedralMesh) -> None:
    """MeshError where two tetrahedra lie on the same side of the face between them."""
    inside = mesh.neighbours >= 0
    first, sides = np.nonzero(inside & (mesh.neighbours > np.arange(len(mesh.tetrahedra))[:, None]))
    second = mesh.neighbours[first, sides]
    corners = mesh.tetrahedra[first[:, None], FACES[sides]]
    normals, origins = _normals(mesh, corners)
    heights = [_heights(mesh, each, corners, normals, origins) for each in (first, second)]
    folded = np.flatnonzero(heights[0] * heights[1] > 0)
    if len(folded):
        pair = first[folded[0]], second[folded[0]]
        raise MeshError(
            f"{len(folded)} pairs of tetrahedra overlap, the first are numbers {pair[0]} and {pair[1]}, which lie on "
            "the same side of their common face; inverted tetrahedra: check the vertex order or how vertices were moved"
        )


def covered_faces(mesh: TetrahedralMesh) -> NDArray[np.int64]:
    """Outer faces (n,) of the mesh behind which there is another of its tetrahedra: seams where vertices
    are duplicated, or where joined parts of the mesh do not match or overlap."""
    elements, sides = np.nonzero(mesh.neighbours < 0)
    numbers = -1 - mesh.neighbours[elements, sides]
    outer = np.bincount(numbers, minlength=len(mesh.faces))[numbers] == 1
    elements, sides, numbers = elements[outer], sides[outer], numbers[outer]
    if not len(numbers):
        return numbers
    corners = mesh.tetrahedra[elements[:, None], FACES[sides]]
    normals, origins = _normals(mesh, corners)
    size = np.sqrt(np.linalg.norm(normals, axis=1, keepdims=True))
    outward = -normals * np.sign(_heights(mesh, elements, corners, normals, origins))[:, None] / size
    # a point a little behind the face, searched among the nearest tetrahedra
    points = mesh.vertices[corners].mean(axis=1) + 1e-4 * outward
    return np.asarray(numbers[Search(mesh).among_nearest(points, 16)[0] >= 0])


def pieces(mesh: TetrahedralMesh) -> NDArray[np.int64]:
    """(n,) how many tetrahedra each piece of the mesh has that shares no face with the others, the largest first."""
    rows, sides = np.nonzero(mesh.neighbours >= 0)
    labels = connected(rows, mesh.neighbours[rows, sides], mesh.number_of_tetrahedra)
    return np.sort(np.bincount(labels))[::-1]


def _normals(mesh: TetrahedralMesh, corners: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(f, 3) normals of faces with corners (f, 3), as long as twice the areas, and one point of each."""
    a, b, c = np.moveaxis(mesh.vertices[corners], 1, 0)
    return np.cross(b - a, c - a), a


def _heights(
    mesh: TetrahedralMesh,
    elements: NDArray[np.int64],
    corners: NDArray[np.int64],
    normals: NDArray[np.float64],
    origins: NDArray[np.float64],
) -> NDArray[np.float64]:
    """(f,) of the tetrahedra over these faces of theirs, in units of the normals."""
    opposite = mesh.tetrahedra[elements].sum(axis=1) - corners.sum(axis=1)
    return np.asarray(np.einsum("fi,fi->f", normals, mesh.vertices[opposite] - origins))
