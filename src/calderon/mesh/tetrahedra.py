"""Tetrahedral meshes of volumes: materials by tag, neighbours across faces, tagged boundary faces."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.mesh.errors import MeshError
from calderon.mesh.files.formats.format import BOUNDARIES, PARTS, Tagged
from calderon.mesh.files.writing import write_volume
from calderon.mesh.orientation import signed_volumes
from calderon.mesh.tetrahedral.boundary import VolumeBoundary, boundary_of
from calderon.mesh.tolerances import TOLERANCES
from calderon.mesh.topology import row_numbers
from calderon.mesh.triangles import TriangleMesh
from calderon.mesh.validation import checked_elements, checked_names, checked_tags, checked_vertices, set_frozen
from calderon.validation import index_array, instance, text
from calderon.view import PART_COLOURS, Scene, Surface, Viewable

FACES = np.array([[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]])
"""Local vertices of the face opposite each local vertex, in ascending order."""


@dataclass(frozen=True, eq=False, repr=False, init=False)
class TetrahedralMesh(Viewable):
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
        points = checked_vertices(vertices)
        advice = "mesh the volume, not only its surface", "split other volume elements first"
        cells = np.sort(checked_elements(tetrahedra, "tetrahedra", 4, len(points), *advice), axis=1)
        _refuse_flat_or_repeated(points, cells)
        marked = np.zeros((0, 3), np.int64) if faces is None else np.sort(np.asarray(faces, np.int64), axis=1)
        marks = checked_tags(face_tags, len(marked), "face_tags")
        neighbours, marked, marks, known = _joined(cells, marked, marks, checked_names(face_names))
        materials = checked_tags(tags, len(cells))
        set_frozen(self, vertices=points, tetrahedra=cells, tags=materials, faces=marked, face_tags=marks,
                   neighbours=neighbours)  # fmt: skip
        self.__dict__["names"], self.__dict__["face_names"] = checked_names(names), known

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

    def skin(self, own: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Faces (n, 3) between the chosen tetrahedra (nt,) and others or nothing, their normals outward."""
        chosen, across = index_array(own, len(self.tetrahedra), "tetrahedron")[0], self.neighbours
        own = np.isin(np.arange(len(self.tetrahedra)), chosen)
        return self._outward(*np.nonzero(own[:, None] & ((across < 0) | ~own[np.maximum(across, 0)])))

    def surface(self) -> TriangleMesh:
        """The boundary of all tetrahedra as a closed mesh, with the tags and names of their faces and normals out of
        them: into the holes of a hollow body. Made once, so that all spaces share it."""
        return self.boundary.mesh

    @cached_property
    def boundary(self) -> VolumeBoundary:
        """`surface()` and its maps: the vertex of the volume at each vertex, the tetrahedron behind each triangle."""
        # sides with a tagged face, but for sheets, which two tetrahedra have
        mark = -1 - self.neighbours
        outer = (mark >= 0) & (np.bincount(mark[mark >= 0], minlength=len(self.faces))[np.maximum(mark, 0)] == 1)
        behind, local = np.nonzero(outer)
        tags = self.face_tags[mark[behind, local]]
        return boundary_of(self.vertices, self._outward(behind, local), behind, tags, self.face_names)

    def _outward(self, tetrahedron: NDArray[np.int64], local: NDArray[np.int64]) -> NDArray[np.int64]:
        """Faces (n, 3) opposite to local vertices (n,) of tetrahedra (n,), their normals outward."""
        faces = self.tetrahedra[tetrahedron[:, None], FACES[local]]
        a, b, c = (self.vertices[faces[:, k]] for k in range(3))
        inward = self.vertices[self.tetrahedra[tetrahedron, local]] - a
        turned = np.einsum("ij,ij->i", np.cross(b - a, c - a), inward) > 0
        faces[turned] = faces[turned][:, [0, 2, 1]]
        return faces

    def scene(self) -> Scene:
        """The skin of each material, but for air where there are others, and boundaries to be chosen; a cut opens
        them."""
        kinds = np.array(self.material_names())
        present = sorted(set(kinds.tolist()), key=lambda name: name in ("air", "vacuum"))
        parts = [
            (name, self.skin(kinds == name), 0 < k and name in ("air", "vacuum")) for k, name in enumerate(present)
        ]
        parts += [(name, self.faces[self.face_tags == tag], True) for name, tag in self.face_names.items()]
        layers = tuple(
            Surface.of_faces(name, self.vertices, faces, PART_COLOURS[k % len(PART_COLOURS)], hidden=hidden)
            for k, (name, faces, hidden) in enumerate(parts)
            if len(faces)
        )
        title = f"Mesh of {self.number_of_tetrahedra} tetrahedra"
        return Scene(layers, title=title, subtitle=repr(self), edges=True)

    def write(self, path: str | Path) -> None:
        """Write to .msh (2.2) or .vtu with parts, boundaries and their names; see calderon.mesh.files.writing."""
        cells = Tagged("tetra", self.tetrahedra, self.tags, self.names, PARTS)
        faces = Tagged("triangle", self.faces, self.face_tags, self.face_names, BOUNDARIES)
        write_volume(path, self.vertices, cells, faces)

    def __repr__(self) -> str:
        parts = ", ".join(self.names) or "one material"
        return (
            f"TetrahedralMesh({self.number_of_tetrahedra} tetrahedra, {self.number_of_vertices} vertices, {parts}; "
            f"boundaries {', '.join(self.face_names)}; quality from {self.quality.min():.2f})"
        )


def _refuse_flat_or_repeated(points: NDArray[np.float64], cells: NDArray[np.int64]) -> None:
    """MeshError for tetrahedra (n, 4) of vertices in ascending order that have no volume, or occur twice."""
    edges = points[cells][:, [1, 2, 3, 2, 3, 3]] - points[cells][:, [0, 0, 0, 1, 1, 2]]
    size = np.linalg.norm(edges, axis=2).max(axis=1)
    flat = np.flatnonzero(np.abs(signed_volumes(points, cells)) <= TOLERANCES.flat_tetrahedron * size**3)
    if len(flat):
        raise MeshError(f"{len(flat)} tetrahedra have no volume, the first is number {flat[0]}: remove or remesh them")
    number = row_numbers(cells)[1]
    again = np.setdiff1d(np.arange(len(cells)), np.unique(number, return_index=True)[1])
    if len(again):
        raise MeshError(f"{len(again)} tetrahedra are repeated, the first is number {again[0]}")


def _joined(cells: Any, marked: Any, marks: Any, known: Any) -> Any:
    """Neighbours (nt, 4), and the tagged faces completed by the open ones."""
    sides = cells[:, FACES].reshape(-1, 3)
    everything = np.concatenate([sides, marked])
    if marked.size and (marked.min() < 0 or marked.max() > cells.max()):
        raise MeshError("tagged faces refer to vertices that belong to no tetrahedron")
    # faces of tetrahedra and tagged faces with one numbering: two tetrahedra at most at each
    faces, number = row_numbers(everything)
    face_of_side, face_of_mark = number[: len(sides)], number[len(sides) :]
    count = np.bincount(face_of_side, minlength=len(faces))
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
        tag = known.setdefault("wall", max([0, *known.values(), *marks.tolist()]) + 1)
        marked = np.concatenate([marked, faces[bare]])
        marks = np.concatenate([marks, np.full(len(bare), tag)])
        face_of_mark = np.concatenate([face_of_mark, bare])
    # the neighbour across each side, or -1 - the place of its tagged face
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


def opened_faces(mesh: TetrahedralMesh, elements: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Faces (n, 3) between tetrahedra with these numbers and others, and the numbers (n,) of the others."""
    others = np.ones(mesh.number_of_tetrahedra, bool)
    others[elements] = False
    across = mesh.neighbours[elements]
    rows, sides = np.nonzero((across >= 0) & others[np.maximum(across, 0)])
    return mesh.tetrahedra[elements[rows][:, None], FACES[sides]], across[rows, sides]


def extracted(
    mesh: TetrahedralMesh,
    elements: NDArray[np.int64],
    names: Mapping[str, int],
    opened: NDArray[np.int64],
    face_name: str,
    face_tag: int | None = None,
) -> TetrahedralMesh:
    """The tetrahedra with these numbers, ascending, as a mesh of their own with these names of materials.

    Its faces are those that the mesh has there, and last the opened ones (n, 3), with their name and its tag (None: a
    new one).
    """
    across = mesh.neighbours[elements]
    own_faces = np.unique(-1 - across[across < 0])
    vertices, place = np.unique(mesh.tetrahedra[elements], return_inverse=True)  # ascending, as in the whole mesh
    to_own = np.full(mesh.number_of_vertices, -1)
    to_own[vertices] = np.arange(len(vertices))
    if face_tag is None:
        face_tag = max([-1, *mesh.face_names.values(), *mesh.face_tags.tolist()]) + 1
    return TetrahedralMesh(
        mesh.vertices[vertices],
        place.reshape(-1, 4),
        mesh.tags[elements],
        names,
        to_own[np.concatenate([mesh.faces[own_faces], opened])],
        np.concatenate([mesh.face_tags[own_faces], np.full(len(opened), face_tag)]),
        {**mesh.face_names, face_name: face_tag},
    )


def without_part(mesh: TetrahedralMesh, part: str, faces: str = "metal") -> TetrahedralMesh:
    """The mesh without the tetrahedra of a part: metal, which fields do not enter.

    faces: name of the faces where the part met others; it may be one of the mesh already. Those at which the mesh ended
    are removed with the part. Raises ValueError for a part that the mesh does not have or that is all of it.
    """
    instance(mesh, TetrahedralMesh, "a mesh of tetrahedra is needed")
    text(faces, "faces")
    if text(part, "part") not in mesh.names:
        raise ValueError(f"the mesh has no part {part!r}: choose {', '.join(map(repr, mesh.names))}")
    kept = mesh.tags != mesh.names[part]
    if not kept.any():
        raise ValueError(f"the part {part!r} is the whole mesh: nothing would remain")
    elements = np.flatnonzero(kept)
    names = {name: number for name, number in mesh.names.items() if name != part}
    return extracted(mesh, elements, names, opened_faces(mesh, elements)[0], faces, mesh.face_names.get(faces))
