"""Tetrahedral meshes of volumes: materials by tag, neighbours across faces, tagged boundary faces."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.mesh.errors import MeshError
from calderon.mesh.files.tetrahedral_writing import write_volume

FACES = np.array([[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]])
"""Local vertices of the face opposite each local vertex, in ascending order."""
DEGENERATE = 1e-12
"""Volume over the cube of the longest edge, below which a tetrahedron counts as flat."""


@dataclass(frozen=True, eq=False, repr=False, init=False)
class TetrahedralMesh:
    """Tetrahedra that meet face to face.

    vertices (nv, 3) float64; tetrahedra (nt, 4) int64, the vertices of each in ascending order, so that a shared face
    has its vertices in the same order seen from both sides; tags (nt,) int64 of the materials and names {name: tag} of
    these; faces (nf, 3) vertex triples that carry a boundary condition with face_tags (nf,) and face_names {name: tag}.
    All faces of a single tetrahedron are among them (untagged ones get the name "wall"); a tagged face between two
    tetrahedra is a sheet with two sides.

    neighbours (nt, 4): across the face opposite local vertex i the tetrahedron, or -1 - (index into faces).

    Raises MeshError for an empty mesh, NaN or infinity, vertex numbers out of range, flat or repeated tetrahedra (with
    their number and the first of them), more than two at a face, and tagged faces that belong to no tetrahedron.
    """

    vertices: NDArray[np.float64]
    tetrahedra: NDArray[np.int64]
    tags: NDArray[np.int64]
    names: Mapping[str, int]
    faces: NDArray[np.int64]
    face_tags: NDArray[np.int64]
    face_names: Mapping[str, int]
    neighbours: NDArray[np.int64] = field(init=False)

    def __init__(
        self,
        vertices: ArrayLike,
        tetrahedra: ArrayLike,
        tags: ArrayLike | None = None,
        names: Mapping[str, int] | None = None,
        faces: ArrayLike | None = None,
        face_tags: ArrayLike | None = None,
        face_names: Mapping[str, int] | None = None,
    ) -> None:
        points, cells = _checked(vertices, tetrahedra)
        marked = np.zeros((0, 3), np.int64) if faces is None else np.sort(np.asarray(faces, np.int64), axis=1)
        marks = np.zeros(len(marked), np.int64) if face_tags is None else np.asarray(face_tags, np.int64)
        materials = np.zeros(len(cells), np.int64) if tags is None else np.asarray(tags, np.int64)
        for name, given, wanted in (("tags", materials, len(cells)), ("face_tags", marks, len(marked))):
            if given.shape != (wanted,):
                raise MeshError(f"{name} of shape {given.shape}: ({wanted},) is needed")
        known = {str(name): int(tag) for name, tag in dict(face_names or {}).items()}
        neighbours, marked, marks, known = _joined(cells, marked, marks, known)
        for name, value in [
            ("vertices", points),
            ("tetrahedra", cells),
            ("tags", materials),
            ("faces", marked),
            ("face_tags", marks),
            ("neighbours", neighbours),
        ]:
            value.setflags(write=False)
            self.__dict__[name] = value
        self.__dict__["names"] = {str(name): int(tag) for name, tag in dict(names or {}).items()}
        self.__dict__["face_names"] = known

    @property
    def number_of_tetrahedra(self) -> int:
        return len(self.tetrahedra)

    @property
    def number_of_vertices(self) -> int:
        return len(self.vertices)

    @cached_property
    def volumes(self) -> NDArray[np.float64]:
        """Volume of each tetrahedron, (nt,)."""
        return np.abs(signed_volumes(self.vertices, self.tetrahedra))

    @cached_property
    def centroids(self) -> NDArray[np.float64]:
        """Centroid of each tetrahedron, (nt, 3)."""
        return np.asarray(self.vertices[self.tetrahedra].mean(axis=1))

    @cached_property
    def inradii(self) -> NDArray[np.float64]:
        """Radius of the inscribed sphere of each tetrahedron, (nt,): three times the volume over the surface."""
        corners = self.vertices[self.tetrahedra][:, FACES]
        sides = np.cross(corners[:, :, 1] - corners[:, :, 0], corners[:, :, 2] - corners[:, :, 0])
        return np.asarray(3 * self.volumes / (np.linalg.norm(sides, axis=2).sum(axis=1) / 2))

    @cached_property
    def longest_edges(self) -> NDArray[np.float64]:
        """Longest edge of each tetrahedron, (nt,)."""
        corners = self.vertices[self.tetrahedra]
        first, second = np.triu_indices(4, 1)
        return np.asarray(np.linalg.norm(corners[:, first] - corners[:, second], axis=2).max(axis=1))

    @cached_property
    def quality(self) -> NDArray[np.float64]:
        """Inscribed radius times 2 sqrt(6) over the longest edge, (nt,): 1 for a regular tetrahedron."""
        return np.asarray(2 * np.sqrt(6) * self.inradii / self.longest_edges)

    def material_names(self) -> list[str]:
        """The name of the material of each tetrahedron; a tag without a name gives its number as text."""
        given = {tag: name for name, tag in self.names.items()}
        return [given.get(int(tag), str(tag)) for tag in self.tags]

    def write(self, path: str | Path) -> None:
        """Write to .msh (2.2) or .vtu with parts, boundaries and their names; see `files.tetrahedral_writing`."""
        write_volume(self, path)

    def __repr__(self) -> str:
        parts = ", ".join(self.names) or "one material"
        return (
            f"TetrahedralMesh({self.number_of_tetrahedra} tetrahedra, {self.number_of_vertices} vertices, {parts}; "
            f"boundaries {', '.join(self.face_names)}; quality from {self.quality.min():.2f})"
        )


def signed_volumes(vertices: NDArray[np.float64], tetrahedra: NDArray[np.int64]) -> NDArray[np.float64]:
    """(nt,) volumes, positive where the fourth vertex lies on the right-handed side of the first three."""
    corners = vertices[tetrahedra]
    a, b, c = (corners[:, n] - corners[:, 0] for n in (1, 2, 3))
    return np.asarray(np.einsum("ni,ni->n", a, np.cross(b, c)) / 6)


def _checked(vertices: ArrayLike, tetrahedra: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Copies of both arrays, each tetrahedron with its vertices in ascending order."""
    points = np.array(vertices, np.float64)
    cells = np.sort(np.array(tetrahedra, np.int64).reshape(-1, 4), axis=1)
    if points.ndim != 2 or points.shape[1] != 3:
        raise MeshError(f"vertices of shape {points.shape}: (n, 3) is needed")
    if not len(cells):
        raise MeshError("the mesh has no tetrahedra: mesh the volume, not only its surface")
    if not np.isfinite(points).all():
        bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
        raise MeshError(f"{len(bad)} vertices are NaN or infinite, the first is number {bad[0]}")
    if cells.min() < 0 or cells.max() >= len(points):
        raise MeshError(f"vertex numbers from {cells.min()} to {cells.max()}: there are {len(points)} vertices")
    edges = points[cells][:, [1, 2, 3, 2, 3, 3]] - points[cells][:, [0, 0, 0, 1, 1, 2]]
    size = np.linalg.norm(edges, axis=2).max(axis=1)
    flat = np.flatnonzero(np.abs(signed_volumes(points, cells)) <= DEGENERATE * size**3)
    if len(flat):
        raise MeshError(f"{len(flat)} tetrahedra have no volume, the first is number {flat[0]}: remove or remesh them")
    order = np.lexsort(cells.T[::-1])
    again = np.flatnonzero((cells[order[1:]] == cells[order[:-1]]).all(axis=1))
    if len(again):
        raise MeshError(f"{len(again)} tetrahedra are repeated, the first is number {order[again[0] + 1]}")
    return points, cells


def _joined(cells, marked, marks, known):  # type: ignore[no-untyped-def]
    """Neighbours (nt, 4), and the tagged faces completed by the open ones."""
    sides = cells[:, FACES].reshape(-1, 3)
    everything = np.concatenate([sides, marked])
    if marked.size and (marked.min() < 0 or marked.max() > cells.max()):
        raise MeshError("tagged faces refer to vertices that belong to no tetrahedron")
    # one number per face: its place among all different ones
    order = np.lexsort(everything.T[::-1])
    ordered = everything[order]
    new = np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))
    number = np.empty(len(everything), np.int64)
    number[order] = np.cumsum(new) - 1
    face_of_side, face_of_mark = number[: len(sides)], number[len(sides) :]
    count = np.bincount(face_of_side, minlength=int(new.sum()))
    if (count > 2).any():
        raise MeshError(f"{(count > 2).sum()} faces belong to more than two tetrahedra: the mesh overlaps itself")
    if (count[face_of_mark] == 0).any():
        raise MeshError(f"{(count[face_of_mark] == 0).sum()} tagged faces belong to no tetrahedron")
    if len(np.unique(face_of_mark)) < len(face_of_mark):
        raise MeshError("some faces are tagged twice: give each face one boundary condition")
    is_marked = np.zeros(len(count), bool)
    is_marked[face_of_mark] = True
    # open faces without a tag
    bare = np.flatnonzero((count == 1) & ~is_marked)
    if len(bare):
        known = dict(known)
        tag = known.setdefault("wall", max([0, *known.values(), *marks.tolist()]) + 1)
        first = ordered[new]
        marked = np.concatenate([marked, first[bare]])
        marks = np.concatenate([marks, np.full(len(bare), tag)])
        face_of_mark = np.concatenate([face_of_mark, bare])
    place = np.full(len(count), -1)
    place[face_of_mark] = np.arange(len(face_of_mark))
    neighbours = np.full(len(sides), -1)
    by_face = np.argsort(face_of_side, kind="stable")
    same = np.flatnonzero(face_of_side[by_face[1:]] == face_of_side[by_face[:-1]])
    first, second = by_face[same], by_face[same + 1]
    neighbours[first], neighbours[second] = second // 4, first // 4
    tagged = place[face_of_side] >= 0
    neighbours[tagged] = -1 - place[face_of_side[tagged]]
    return neighbours.reshape(-1, 4), marked, marks, known


def without_part(mesh: TetrahedralMesh, part: str, faces: str = "metal") -> TetrahedralMesh:
    """The mesh without the tetrahedra of a part: metal, which fields do not enter.

    faces: name of the faces where the part met others; it may be one of the mesh already. Those at which the mesh ended
    are removed with the part. Raises ValueError for a part that the mesh does not have or that is all of it.
    """
    if part not in mesh.names:
        raise ValueError(f"the mesh has no part {part!r}: choose {', '.join(map(repr, mesh.names))}")
    kept = mesh.tags != mesh.names[part]
    if not kept.any():
        raise ValueError(f"the part {part!r} is the whole mesh: nothing would remain")
    across = mesh.neighbours[kept]
    rows, sides = np.nonzero((across >= 0) & ~kept[np.maximum(across, 0)])
    opened = mesh.tetrahedra[kept][rows][np.arange(len(rows))[:, None], FACES[sides]]
    there = np.unique(-1 - across[across < 0])
    tag = mesh.face_names.get(faces, max([-1, *mesh.face_names.values(), *mesh.face_tags.tolist()]) + 1)
    vertices, place = np.unique(mesh.tetrahedra[kept], return_inverse=True)
    to_kept = np.full(mesh.number_of_vertices, -1)
    to_kept[vertices] = np.arange(len(vertices))
    return TetrahedralMesh(
        mesh.vertices[vertices],
        place.reshape(-1, 4),
        mesh.tags[kept],
        {name: number for name, number in mesh.names.items() if name != part},
        to_kept[np.concatenate([mesh.faces[there], opened])],
        np.concatenate([mesh.face_tags[there], np.full(len(opened), tag)]),
        {**mesh.face_names, faces: tag},
    )
