"""Parts of a tetrahedral mesh for ranks."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calderon.mesh.errors import MeshError
from calderon.mesh.tetrahedra import FACES, TetrahedralMesh

CUT = "cut"
"""Name of the faces where a part meets others."""


@dataclass(frozen=True, eq=False)
class Part:
    """One part of a mesh as a mesh of its own.

    elements (n,): numbers of its tetrahedra in the whole mesh, ascending. Its last faces are those where it meets other
    parts, called CUT: first (r + 1,) begins those of each of the parts `others` (r,), and both sides list them alike.
    """

    mesh: TetrahedralMesh
    elements: NDArray[np.int64]
    others: tuple[int, ...]
    first: NDArray[np.int64]


def partition(mesh: TetrahedralMesh, count: int) -> NDArray[np.int64]:
    """(tetrahedra,) the part 0 .. count - 1 of each: about equal parts with few faces between them, by METIS.

    Raises MeshError for more parts than tetrahedra, or where pymetis is not installed.
    """
    if not 1 <= count <= mesh.number_of_tetrahedra:
        raise MeshError(
            f"{count} parts of {mesh.number_of_tetrahedra} tetrahedra: take at most one for each tetrahedron"
        )
    if count == 1:
        return np.zeros(mesh.number_of_tetrahedra, np.int64)
    try:
        import pymetis
    except ImportError:
        raise MeshError("parts are made by pymetis, which is not installed: pip install 'calderon[mpi]'") from None
    inside = mesh.neighbours >= 0
    start = np.concatenate([[0], np.cumsum(inside.sum(axis=1))])
    parts = np.asarray(pymetis.part_graph(count, xadj=start, adjncy=mesh.neighbours[inside])[1], np.int64)
    if len(np.unique(parts)) < count:  # tiny meshes: METIS may leave a part empty
        parts = np.arange(mesh.number_of_tetrahedra) * count // mesh.number_of_tetrahedra
    return parts


def part_of(mesh: TetrahedralMesh, parts: NDArray[np.int64], number: int) -> Part:
    """The part with that number."""
    elements = np.flatnonzero(parts == number)
    across = mesh.neighbours[elements]
    own_faces = np.unique(-1 - across[across < 0])
    rows, sides = np.nonzero((across >= 0) & (parts[np.maximum(across, 0)] != number))
    other = parts[across[rows, sides]]
    cut = mesh.tetrahedra[elements[rows]][np.arange(len(rows))[:, None], FACES[sides]]
    order = np.lexsort((*cut.T[::-1], other))
    cut, other = cut[order], other[order]
    vertices, place = np.unique(mesh.tetrahedra[elements], return_inverse=True)  # ascending, as the whole mesh's
    to_local = np.full(mesh.number_of_vertices, -1)
    to_local[vertices] = np.arange(len(vertices))
    tag = max([0, *mesh.face_names.values(), *mesh.face_tags.tolist()]) + 1
    local = TetrahedralMesh(
        mesh.vertices[vertices],
        place.reshape(-1, 4),
        mesh.tags[elements],
        mesh.names,
        to_local[np.concatenate([mesh.faces[own_faces], cut])],
        np.concatenate([mesh.face_tags[own_faces], np.full(len(cut), tag)]),
        {**mesh.face_names, CUT: tag},
    )
    others = np.unique(other)
    first = len(own_faces) + np.append(np.searchsorted(other, others), len(other))
    return Part(local, elements, tuple(int(each) for each in others), first)
