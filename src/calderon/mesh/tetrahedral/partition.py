"""Parts of a tetrahedral mesh for ranks."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix

from calderon.mesh.errors import MeshError
from calderon.mesh.tetrahedra import TetrahedralMesh, extracted, opened_faces
from calderon.mesh.topology import connected

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


def partition(
    mesh: TetrahedralMesh,
    count: int,
    together: NDArray[np.bool_] | None = None,
    work: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """(tetrahedra,) the part 0 .. count - 1 of each: about equal parts with few faces between them, by METIS.

    together (tetrahedra,): neighbours that both are marked stay in one part. work (tetrahedra,): the weight to be
    balanced, by default the number of tetrahedra.

    Raises MeshError for more parts than tetrahedra, or than separable pieces, or where pymetis is
    not installed.
    """
    total = mesh.number_of_tetrahedra
    if not 1 <= count <= total:
        raise MeshError(f"{count} parts of {total} tetrahedra: choose at most one part per tetrahedron")
    if count == 1:
        return np.zeros(total, np.int64)
    try:
        import pymetis
    except ImportError:
        raise MeshError("parts are made by pymetis, which is not installed: pip install 'calderon[mpi]'") from None
    # pieces that must stay whole
    rows, sides = np.nonzero(mesh.neighbours >= 0)
    pairs = rows, mesh.neighbours[rows, sides]
    piece = np.arange(total)
    if together is not None:
        joined = together[pairs[0]] & together[pairs[1]]
        piece = connected(pairs[0][joined], pairs[1][joined], total)
    # the graph of pieces: edges are numbers of common faces
    pieces = int(piece.max()) + 1
    graph = coo_matrix((np.ones(len(rows), np.int64), (piece[pairs[0]], piece[pairs[1]])), (pieces, pieces)).tocsr()
    graph.setdiag(0)
    graph.eliminate_zeros()
    weights = np.bincount(piece, np.ones(total) if work is None else work).astype(np.int64)
    links = pymetis.CSRAdjacency(graph.indptr, graph.indices)
    parts = np.asarray(pymetis.part_graph(count, links, vweights=weights, eweights=graph.data)[1], np.int64)
    if len(np.unique(parts)) < count:  # tiny meshes: METIS may leave a part empty
        if pieces < count:
            raise MeshError(f"{count} parts of a mesh in {pieces} pieces that must stay whole: choose fewer")
        parts = np.arange(pieces) * count // pieces
    return parts[piece]


def part_of(mesh: TetrahedralMesh, parts: NDArray[np.int64], number: int) -> Part:
    """The part with that number."""
    elements = np.flatnonzero(parts == number)
    cut, across = opened_faces(mesh, elements)
    other = parts[across]
    order = np.lexsort((*cut.T[::-1], other))
    cut, other = cut[order], other[order]
    local = extracted(mesh, elements, mesh.names, cut, CUT)
    others = np.unique(other)
    first = len(local.faces) - len(cut) + np.append(np.searchsorted(other, others), len(other))
    return Part(local, elements, tuple(int(each) for each in others), first)
