"""Common nodes and faces of bonded solids: nodes with one displacement, faces with opposite tractions.

The displacements of all parts are U = U_0 + N q at joined nodes, and u = U at the nodes of each part. On a common face
the traction of one part is s, of the other -s. One equation is needed for each of these unknowns: that of the stiffer
part is tested with the displacements of a joined node, that of the softer one with the tractions of a common face.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.formulations.elastic.conditions.surface_conditions import SurfaceConditions, free_columns
from calderon.formulations.elastic.tolerances import TOLERANCES
from calderon.mesh import TriangleMesh
from calderon.mesh.checks.crossings import crossing_pairs
from calderon.mesh.coincident import coincident_points
from calderon.mesh.containment import winding_numbers
from calderon.mesh.tolerances import TOLERANCES as OF_MESHES
from calderon.spaces import NodalVectorSpace

Array = NDArray[np.float64]
Index = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Faces:
    """Common faces, with one row for each coefficient of a traction there.

    parts (k, 2): the numbers of the two parts, the stiffer first. numbers (k, 2): the scalar coefficient in each of
    them. triangles: by part, the mask of common triangles. softer: by part, those whose softer part it is.
    """

    parts: Index
    numbers: Index
    triangles: list[NDArray[np.bool_]]
    softer: list[NDArray[np.bool_]]


def joined(points: Sequence[Array], size: float) -> list[Index]:
    """Numbers 0, 1, ... of points (n, 3) of several parts, equal where they coincide. size: of all parts together."""
    first = coincident_points(np.concatenate(points), OF_MESHES.joined * size)
    numbers = np.unique(first, return_inverse=True)[1]
    return np.split(numbers, np.cumsum([len(each) for each in points])[:-1])


def common_faces(
    names: Sequence[Any],
    meshes: Sequence[TriangleMesh],
    spaces: Sequence[NodalVectorSpace],
    rank: Sequence[int],
    outside: Sequence[bool],
) -> Faces:
    """The faces of triangles that two parts have, with normals out of the material. names, meshes: of the parts.
    spaces: of tractions. rank: by part, the stiffest is 0. outside: by part, whether its material is that around its
    surface, without end. ValueError for
    parts that share none, for faces of more than two parts or of parts on one side of them, and for parts that overlap
    elsewhere or of which one contains another."""
    size = float(np.ptp(np.concatenate([mesh.vertices for mesh in meshes]), axis=0).max())
    vertices = joined([mesh.vertices for mesh in meshes], size)
    triangles = [number[mesh.triangles] for number, mesh in zip(vertices, meshes, strict=True)]
    part = np.repeat(np.arange(len(meshes)), [len(each) for each in triangles])
    own = np.concatenate([np.arange(len(each)) for each in triangles])
    _, label = np.unique(np.sort(np.concatenate(triangles), axis=1), axis=0, return_inverse=True)
    order = np.lexsort((np.asarray(rank)[part], label.ravel()))
    label = label.ravel()[order]
    pair = np.flatnonzero(label[1:] == label[:-1])
    stiff, soft = order[pair], order[pair + 1]
    _refuse_one_side(names, np.concatenate(triangles), part, stiff, soft)
    _refuse_overlaps(names, meshes, part, np.setdiff1d(order, soft), np.concatenate(triangles))
    _refuse_one_inside_another(names, meshes, outside, part, np.stack([stiff, soft], axis=1))
    masks = [[np.isin(np.arange(len(t)), own[which[part[which] == k]]) for k, t in enumerate(triangles)]
             for which in (np.concatenate([stiff, soft]), soft)]  # fmt: skip
    for name, mask in zip(names, masks[0], strict=True):
        if not mask.any():
            raise ValueError(
                f"{name!r} shares no triangle with the other parts: bonded solids have the same triangles on a common "
                "face; mesh the parts together, or solve the part by itself"
            )
    numbers = np.concatenate([np.zeros((0, 2), np.int64)] + [
        _matched(spaces[part[i]], own[i], spaces[part[j]], own[j]) for i, j in zip(stiff, soft, strict=True)
    ])  # fmt: skip
    each = spaces[0].scalar.element.size
    return Faces(np.repeat(np.stack([part[stiff], part[soft]], axis=1), each, axis=0), numbers, masks[0], masks[1])


def _refuse_overlaps(
    names: Sequence[Any], meshes: Sequence[TriangleMesh], part: Index, once: Index, triangles: Index
) -> None:
    """ValueError for triangles of different parts, counted once where they are common, that overlap."""
    corners = np.concatenate([mesh.vertices[mesh.triangles] for mesh in meshes])
    pairs = once[crossing_pairs(corners[once], triangles[once])]
    pairs = pairs[part[pairs[:, 0]] != part[pairs[:, 1]]]
    if len(pairs):
        one, two = (names[k] for k in part[pairs[0]])
        raise ValueError(
            f"{len(pairs)} triangles of {one!r} and {two!r} overlap without being the same: bonded solids have the "
            "same triangles on a common face; mesh the parts together"
        )


def _refuse_one_side(names: Sequence[Any], triangles: Index, part: Index, stiff: Index, soft: Index) -> None:
    """ValueError for equal triangles, with vertices (n, 3) and of parts (n,), that are no face between two parts: those
    of three parts, and of two whose normals point the same way, as both lie behind it."""
    seen, times = np.unique(np.concatenate([stiff, soft]), return_counts=True)
    if len(thrice := seen[times > 1]):
        pairs = np.stack([stiff, soft], axis=1)
        group = pairs[(pairs == thrice[0]).any(axis=1)]
        several = ", ".join(repr(names[k]) for k in np.unique(part[group]))
        raise ValueError(
            f"{len(thrice)} triangles belong to more than two parts ({several}): a face has one part on each side, so "
            "that parts there lie in one space; give each part the space that no other has, and leave out what is "
            "given twice"
        )
    same = _even(triangles[stiff]) == _even(triangles[soft])
    if same.any():
        one, two = (names[part[which[same][0]]] for which in (stiff, soft))
        raise ValueError(
            f"{np.count_nonzero(same)} triangles of {one!r} and {two!r} have both parts on the same side: the parts "
            "occupy one space, as one lies within the other or is given twice; cut the inner one out of the outer one "
            "(a difference in the CAD model, the normals of a common face are opposite then), or leave one out"
        )


def _even(triangles: Index) -> NDArray[np.bool_]:
    """(n,) whether the vertices (n, 3) are an even permutation of their order."""
    inversions = [triangles[:, i] > triangles[:, j] for i, j in ((0, 1), (0, 2), (1, 2))]
    return np.asarray(np.sum(inversions, axis=0) % 2 == 0)


def _refuse_one_inside_another(
    names: Sequence[Any], meshes: Sequence[TriangleMesh], outside: Sequence[bool], part: Index, common: Index
) -> None:
    """ValueError where a triangle that is no common face (n, 2) of two parts lies within the material of the other: as
    surfaces do not cross, its middle tells."""
    first = np.cumsum([0, *(mesh.number_of_triangles for mesh in meshes)])
    for inner, outer in permutations(range(len(meshes)), 2):
        own = np.ones(meshes[inner].number_of_triangles, bool)
        faces = common[np.isin(part[common], (inner, outer)).all(axis=1)]
        own[faces[part[faces] == inner] - first[inner]] = False
        points, low, high = meshes[inner].centroids[own], *meshes[outer].bounds
        if not outside[outer]:
            points = points[((low <= points) & (points <= high)).all(axis=1)]
        around = int(outside[outer])
        if len(points) and (winding_numbers(meshes[outer].vertices, meshes[outer].triangles, points) + around).any():
            raise ValueError(
                f"{names[inner]!r} lies within {names[outer]!r} or overlaps it: bonded solids share faces, not space; "
                f"cut {names[inner]!r} out of {names[outer]!r} (a difference in the CAD model), so that its surface "
                "becomes a common face of both"
            )


def _matched(one: NodalVectorSpace, i: int, two: NodalVectorSpace, j: int) -> Index:
    """(size, 2) scalar coefficients of one triangle in two spaces, by their nodes."""
    first, second = one.scalar.dofs[i], two.scalar.dofs[j]
    away = np.linalg.norm(one.scalar.nodes[first][:, None] - two.scalar.nodes[second], axis=2)
    return np.stack([first, second[away.argmin(axis=1)]], axis=1)


def joined_supports(
    names: Sequence[Any], nodes: Sequence[Index], conditions: Sequence[SurfaceConditions], particular: Sequence[Array]
) -> tuple[Array, sp.csr_array]:
    """U_0 (n, 3) and N (3 n, q) from the supports of all parts. names: of the parts. nodes: by part, the numbers of
    its nodes among the joined ones. conditions, particular: by part, and the displacements (n, 3) of its loads there.
    ValueError where supports of different parts disagree."""
    count = 1 + max(int(each.max()) for each in nodes)
    held, sums = np.zeros((count, 3, 3)), np.zeros((count, 3))
    own = []
    for number, each, shift in zip(nodes, conditions, particular, strict=True):
        projector = np.eye(3) - _diagonal_blocks(each.free)
        values = each.u0 + np.einsum("nij,nj->ni", projector, shift)
        np.add.at(held, number, projector)
        np.add.at(sums, number, values)
        own.append((projector, values))
    sizes, axes = np.linalg.eigh(held)
    inverse = np.where(sizes > TOLERANCES.held, 1 / np.maximum(sizes, TOLERANCES.held), 0.0)
    u0 = np.einsum("nik,nk,njk,nj->ni", axes, inverse, axes, sums)
    scale = np.abs(u0).max(initial=0.0)
    for name, number, (projector, values) in zip(names, nodes, own, strict=True):
        difference = np.abs(np.einsum("nij,nj->ni", projector, u0[number]) - values).max()
        if difference > TOLERANCES.conflict * max(scale, 1e-300):
            raise ValueError(
                f"the supports of {name!r} and of another part prescribe different displacements at a common node: let "
                "them agree along common edges"
            )
    return u0, free_columns(np.swapaxes(axes, 1, 2), sizes <= TOLERANCES.held)


def _diagonal_blocks(free: sp.csr_array) -> Array:
    """(n, 3, 3) the blocks of free free^T."""
    product = (free @ free.T).tocoo()
    rows, columns = product.coords
    blocks = np.zeros((free.shape[0] // 3, 3, 3))
    np.add.at(blocks, (rows // 3, rows % 3, columns % 3), product.data)
    return blocks


def selection(numbers: Index, count: int) -> sp.csr_array:
    """The sparse matrix (3 n, 3 count) from vectors at joined nodes to those of a part with these numbers (n,)."""
    rows = np.arange(len(numbers))
    picked = sp.coo_array((np.ones(len(numbers)), (rows, numbers)), (len(numbers), count))
    return sp.kron(picked, np.eye(3), format="csr")


def refuse_conditions_on_faces(name: Any, mesh: TriangleMesh, common: NDArray[np.bool_], *given: Mapping) -> None:
    """ValueError for supports or loads of tags with common triangles."""
    for tag in (tag for each in given for tag in each):
        if (np.isin(mesh.tags, mesh.tag_numbers(tag)) & common).any():
            raise ValueError(
                f"tag {tag!r} of {name!r} has a condition, and triangles that are bonded to another part: give the "
                "common face a tag of its own"
            )
