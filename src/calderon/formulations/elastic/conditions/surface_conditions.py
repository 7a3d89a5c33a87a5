"""Supports and loads as known and unknown parts of displacement and traction on the nodes of a surface.

    u = u_0 + N q,    t = t_0 + D s - S u,

q: displacements of nodes along their free directions; s: tractions along the directions of supports; S: elastic
supports, by the mean displacement (or its projection) on a triangle.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.formulations.elastic.conditions.face_conditions import Face, Load, Support
from calderon.formulations.elastic.conditions.rigid_motions import resultant
from calderon.formulations.elastic.tolerances import TOLERANCES
from calderon.mesh import TriangleMesh
from calderon.quadrature import triangle_rule
from calderon.spaces import NodalVectorSpace, Space
from calderon.validation import describe

Array = NDArray[np.float64]
Index = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SurfaceConditions:
    """The known and unknown parts at the n nodes of displacements and the m of tractions on the whole surface.

    u0 (n, 3), free (3 n, q): u_0 and N. t0 (m, 3), bound (3 m, s), springs (3 m, 3 n): t_0, D and S. loads (m, 3): the
    tractions of loads alone. supported, loaded (triangles,): masks of those that have unknown tractions, and any
    tractions at all. projection (m, n): from values at nodes of displacements to those at nodes of tractions.
    """

    u0: Array
    free: sp.csr_array
    t0: Array
    bound: sp.csr_array
    springs: sp.csr_array
    loads: Array
    supported: NDArray[np.bool_]
    loaded: NDArray[np.bool_]
    projection: sp.csr_array


def faces_of(mesh: TriangleMesh, tags: Mapping[Any, Any]) -> dict[Any, tuple[Index, Face]]:
    """The triangles and the face of each tag (number or name)."""
    found = {}
    for tag in tags:
        triangles = np.flatnonzero(np.isin(mesh.tags, mesh.tag_numbers(tag)))
        found[tag] = (
            triangles,
            Face(
                str(tag),
                mesh.normals[triangles],
                mesh.centroids[triangles],
                mesh.areas[triangles],
                mesh.vertices[mesh.triangles[triangles]],
            ),
        )
    return found


def surface_conditions(
    displacements: NodalVectorSpace,
    tractions: NodalVectorSpace,
    supports: Mapping[Any, Sequence[Support]],
    loads: Mapping[Any, Sequence[Load]],
    particular: tuple[Array, Array],
) -> SurfaceConditions:
    """The conditions for what remains without a particular solution, whose displacements (n, 3) at nodes and tractions
    (m, 3) are given. ValueError where a load acts along a support, and where supports of a node disagree."""
    mesh, u_space, t_space = displacements.mesh, displacements.scalar, tractions.scalar
    projection = _projection(u_space, t_space)
    held, acting = faces_of(mesh, supports), faces_of(mesh, loads)
    loaded = np.zeros((t_space.dimension, 3))
    for tag, (triangles, face) in acting.items():
        for load in loads[tag]:
            loaded[t_space.dofs[triangles].ravel()] += _load(t_space, triangles, load, face)
    directions = {tag: _directions(supports[tag], face) for tag, (_, face) in held.items()}
    blocks, springs = np.zeros((t_space.dimension, 3, 3)), np.zeros((t_space.dimension, 3, 3))
    for tag, (triangles, _) in held.items():
        rows = t_space.dofs[triangles].ravel()
        basis = directions[tag]
        blocks[rows] = basis.T @ basis
        springs[rows] = sum(support.stiffness for support in supports[tag])
        along = np.abs(loaded[rows] @ basis.T).max(initial=0.0)
        if along > TOLERANCES.independent * np.abs(loaded[rows]).max(initial=0.0):
            raise ValueError(
                f"tag {tag!r} has a traction of {along:.3g} along a direction in which its displacement is prescribed: "
                "give either of them"
            )
    u0, free = _nodes(u_space, held, directions, supports, particular[0])
    t0 = loaded - particular[1] - np.einsum("nij,nj->ni", springs, projection @ particular[0])
    t0 -= np.einsum("nij,nj->ni", blocks, t0)
    supported = np.zeros(mesh.number_of_triangles, bool)
    for tag, (triangles, _) in held.items():
        supported[triangles] = len(directions[tag]) > 0
    stiff = _block_diagonal(springs) @ sp.kron(projection, np.eye(3), format="csr")
    stiff.eliminate_zeros()
    own = np.abs(t0).max(axis=1) + np.abs(springs).max(axis=(1, 2)) > 0
    return SurfaceConditions(
        u0, free, t0, _bound(t_space, held, directions), stiff.tocsr(), loaded, supported,
        supported | own[t_space.dofs].any(axis=1), projection,
    )  # fmt: skip


def _load(space: Space, triangles: Index, load: Load, face: Face) -> Array:
    """(k, 3) coefficients of the tractions of a load on its face; those with a given resultant have it exactly, by the
    tractions of six rigid motions in addition."""
    values = projected(space, triangles, load.traction(face))
    if (wanted := load.wrench(face)) is None:
        return values
    length = float(np.sqrt(face.area))
    turns = [lambda x, n, axis=axis: np.cross(axis, (x - face.centre) / length) for axis in np.eye(3)]
    steps = [lambda x, n, axis=axis: np.broadcast_to(axis, x.shape) for axis in np.eye(3)]
    motions = [projected(space, triangles, each) for each in (*steps, *turns)]

    def sums(coefficients: Array) -> Array:
        """Force, and moment about the centroid over the length, (6,)."""
        whole = np.zeros((space.dimension, 3))
        whole[space.dofs[triangles].ravel()] = coefficients
        force, moment = resultant(space, whole, np.isin(space.triangles, triangles))
        return np.concatenate([force, (moment - np.cross(face.centre, force)) / length])

    target = np.concatenate([wanted[0], wanted[1] / length])
    shares = np.linalg.lstsq(np.column_stack([sums(each) for each in motions]), target - sums(values), rcond=1e-10)[0]
    return np.asarray(values + np.tensordot(shares, motions, axes=1))


def projected(space: Space, triangles: Index, function: Any) -> Array:
    """(k, 3) coefficients on some triangles of f(x, n) in a space of functions that jump."""
    rule = triangle_rule(4 + 2 * space.element.degree)
    geometry = space.mesh.geometry(triangles)
    x, n = geometry.points(rule.points), geometry.normals_at(rule.points)
    values = function(x.reshape(-1, 3), n.reshape(-1, 3)).reshape(len(triangles), -1, 3)
    local = space.element.values(rule.points)
    mass = (local * rule.weights) @ local.T
    return np.asarray(np.linalg.solve(mass, (local * rule.weights) @ values).reshape(-1, 3))


def _projection(u_space: Space, t_space: Space) -> sp.csr_array:
    """(m, n) the projection of functions of the one space to the other, in which they jump."""
    rule = triangle_rule(4)
    local, other = t_space.element.values(rule.points), u_space.element.values(rule.points)
    weights = local * rule.weights
    part = np.linalg.solve(weights @ local.T, weights @ other.T)
    count = len(t_space.triangles)
    rows = np.repeat(t_space.dofs[:, :, None], part.shape[1], axis=2)
    columns = np.repeat(u_space.dofs[:, None], part.shape[0], axis=1)
    data = np.broadcast_to(part, (count, *part.shape))
    return sparse(data.ravel(), rows.ravel(), columns.ravel(), (t_space.dimension, u_space.dimension))


def _directions(supports: Sequence[Support], face: Face) -> Array:
    """(k, 3) orthonormal directions of all supports of a face."""
    return _orthonormal(np.concatenate([support.directions(face) for support in supports]))


def _orthonormal(directions: Array) -> Array:
    """(k, 3) an orthonormal basis of directions (m, 3)."""
    _, sizes, basis = np.linalg.svd(directions, full_matrices=False)
    return np.asarray(basis[sizes > TOLERANCES.independent])


def _nodes(
    space: Space,
    held: Mapping[Any, tuple[Index, Face]],
    directions: Mapping[Any, Array],
    supports: Mapping[Any, Sequence[Support]],
    particular: Array,
) -> tuple[Array, sp.csr_array]:
    """u_0 (n, 3) and N (3 n, q): nodes with the same supports are treated together. space: of displacements. held,
    directions: as in `_bound`. supports: by tag. particular (n, 3): the displacement at nodes that is known."""
    tags = [tag for tag in held if len(directions[tag])]
    member = np.zeros((space.dimension, len(tags)), bool)
    for k, tag in enumerate(tags):
        member[space.dofs[held[tag][0]], k] = True
    u0, free = np.zeros((space.dimension, 3)), np.broadcast_to(np.eye(3), (space.dimension, 3, 3)).copy()
    kept = np.ones((space.dimension, 3), bool)
    for pattern in np.unique(member[member.any(axis=1)], axis=0):
        nodes, own = np.flatnonzero((member == pattern).all(axis=1)), [tags[k] for k in np.flatnonzero(pattern)]
        rows, given = [], []
        for tag in own:
            for support in supports[tag]:
                basis = support.directions(held[tag][1])
                rows.append(basis)
                given.append((support.values(space.nodes[nodes]) - particular[nodes]) @ basis.T)
        matrix, values = np.concatenate(rows), np.concatenate(given, axis=1)
        u0[nodes] = values @ np.linalg.pinv(matrix, rcond=TOLERANCES.independent).T
        _refuse_conflicts(u0[nodes] @ matrix.T - values, u0[nodes], own)
        held_basis = _orthonormal(matrix)
        rest = np.linalg.svd(held_basis, full_matrices=True)[2][len(held_basis) :]
        free[nodes], kept[nodes] = 0.0, False
        free[nodes, : len(rest)], kept[nodes, : len(rest)] = rest, True
    return u0, free_columns(free, kept)


def free_columns(directions: Array, kept: NDArray[np.bool_]) -> sp.csr_array:
    """(3 n, q) one column for each direction (n, k, 3) of a node that is kept (n, k)."""
    number = np.full(kept.shape, -1)
    number[kept] = np.arange(np.count_nonzero(kept))
    rows = np.broadcast_to(3 * np.arange(len(kept))[:, None, None] + np.arange(3), directions.shape)
    columns = np.broadcast_to(number[:, :, None], directions.shape)
    entries = columns >= 0
    shape = 3 * len(kept), int(kept.sum())
    return sparse(directions[entries], rows[entries], columns[entries], shape)


def sparse(values: Array, rows: Index, columns: Index, shape: tuple[int, int]) -> sp.csr_array:
    """The sums of values, without zeros, with indices in 32 bits where these are enough: half as much memory."""
    kind = np.int32 if max(*shape, len(values)) < np.iinfo(np.int32).max else np.int64
    found = sp.coo_array((values, (rows.astype(kind), columns.astype(kind))), shape).tocsr()
    found.eliminate_zeros()
    return found


def _refuse_conflicts(difference: Array, values: Array, tags: list[Any]) -> None:
    """ValueError where prescribed displacements of the supports of some tags differ, difference (n, k), from those that
    nodes have, values (n, 3)."""
    if np.abs(difference).max(initial=0.0) > TOLERANCES.conflict * max(np.abs(values).max(initial=0.0), 1e-300):
        raise ValueError(
            f"the supports {' and '.join(map(repr, tags))} prescribe different displacements at a common node: a solid "
            "has one displacement there; let them agree along their common edges"
        )


def _bound(space: Space, held: Mapping[Any, tuple[Index, Face]], directions: Mapping[Any, Array]) -> sp.csr_array:
    """D (3 m, s): one column for each direction of a support and node of tractions. space: of tractions. held:
    triangles and face of each tag. directions: of its supports (k, 3)."""
    rows, columns, data, count = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0)], 0
    for tag, (triangles, _) in held.items():
        nodes, basis = space.dofs[triangles].ravel(), directions[tag]
        for direction in basis:
            rows.append((3 * nodes[:, None] + np.arange(3)).ravel())
            columns.append(np.repeat(count + np.arange(len(nodes)), 3))
            data.append(np.tile(direction, len(nodes)))
            count += len(nodes)
    return sparse(np.concatenate(data), np.concatenate(rows), np.concatenate(columns), (3 * space.dimension, count))


def _block_diagonal(blocks: Array) -> sp.csr_array:
    """The block diagonal matrix (3 m, 3 m) of blocks (m, 3, 3)."""
    count = len(blocks)
    starts = np.arange(count + 1)
    return sp.bsr_array((blocks, np.arange(count), starts), shape=(3 * count, 3 * count)).tocsr()


def by_tag(mesh: TriangleMesh, given: Any, kind: type, name: str, example: str) -> dict[Any, tuple[Any, ...]]:
    """Conditions by tag, in tuples; TypeError for others, MeshError for unknown tags."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise TypeError(f"{name} are given by tag, {name}={{tag: {example}}}, got {describe(given)}")
    found: dict[Any, tuple[Any, ...]] = {}
    for tag, value in given.items():
        parts = tuple(value) if isinstance(value, list | tuple) else (value,)
        if not parts:
            raise ValueError(f"{name}[{tag!r}] is empty: leave the tag out, then it is free, or give {example}")
        for each in parts:
            if not isinstance(each, kind):
                raise TypeError(f"{name}[{tag!r}] is no {kind.__name__.lower()}: got {describe(each)}, try {example}")
        mesh.tag_numbers(tag)
        found[tag] = parts
    numbers = [int(number) for tag in found for number in mesh.tag_numbers(tag)]
    if len(set(numbers)) < len(numbers):
        raise ValueError(f"{name} name one tag twice, by number and by name: give a list for it")
    return found
