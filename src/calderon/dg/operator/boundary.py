"""Boundary conditions by the name of the faces, as numbers for the kernels."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.dg.operator.element_blocks import FACE_PAIRS, ElementBlocks
from calderon.mesh import MeshError, MeshWarning, TetrahedralMesh
from calderon.mesh.tetrahedra import FACES
from calderon.mesh.tetrahedral.conformity import covered_faces, pieces, require_unfolded
from calderon.mesh.tetrahedral.partition import CUT
from calderon.validation import callers_level

GHOSTS = {"pec": (-1.0, 1.0), "pmc": (1.0, -1.0), "absorbing": (0.0, 0.0), CUT: (0.0, 0.0)}
"""Ratio of the ghost traces of E and H, outside of the face, to the own ones; at an absorbing face ghosts are those of
the incident field."""
CONDITIONS = "pec", "pmc", "absorbing"
"""Conditions that a user may choose."""


def completed(mesh: TetrahedralMesh, boundaries: Mapping[str, str] | None) -> dict[str, str]:
    """The conditions that a user chose, and "pec" for all other names of the mesh.

    Raises ValueError for another type than a mapping, and MeshError where a mesh is folded or tetrahedra touch that
    share no vertices: these faces would reflect unnoticed. A MeshWarning reports where a condition is chosen there,
    and a mesh in pieces that share no faces.
    """
    if boundaries is not None and not isinstance(boundaries, Mapping):
        raise ValueError(f"boundaries={boundaries!r}: conditions by name are needed, such as {{'wall': 'pec'}}")
    chosen = dict(boundaries or {})
    require_unfolded(mesh)
    tags = mesh.face_tags[covered_faces(mesh)]
    # faces inside the mesh, at which tetrahedra touch that share no vertices
    for name, tag in mesh.face_names.items():
        count = int((tags == tag).sum())
        if count and name not in chosen:
            raise MeshError(
                f"{count} faces of {name!r} lie inside the mesh: duplicated vertices or parts that do not match make "
                "it non-conforming; merge the vertices or mesh the parts together (if it is a thin sheet, name its "
                "faces and give them a condition)"
            )
        if count:
            warnings.warn(
                f"{count} faces of {name!r} lie inside the mesh and share no vertices with the tetrahedra behind them: "
                f"they are treated as a thin {chosen[name]!r} sheet; if they are not a sheet, merge the vertices",
                MeshWarning,
                stacklevel=callers_level(),
            )
    # pieces that share no faces
    if len(sizes := pieces(mesh)) > 1:
        several = ", ".join(map(str, sizes[:4])) + (", ..." if len(sizes) > 4 else "")
        warnings.warn(
            f"the mesh is in {len(sizes)} pieces, of {several} tetrahedra, that share no faces: no field passes "
            "between them; if it should, merge the vertices or mesh the parts together",
            MeshWarning,
            stacklevel=callers_level(),
        )
    return {name: "pec" for name in mesh.face_names} | chosen


def conditions_by_face(mesh: TetrahedralMesh, boundaries: Mapping[str, str]) -> NDArray[np.str_]:
    """The condition of every face of the mesh. ValueError for an unknown name or condition, and for a name
    without one."""
    # names and conditions that are known
    for name, condition in boundaries.items():
        if name not in mesh.face_names:
            raise ValueError(f"boundaries: no faces are called {name!r}: choose {_listed(mesh.face_names)}")
        if condition not in CONDITIONS and name != CUT:
            raise ValueError(f"boundaries[{name!r}]={condition!r}: choose {_listed(CONDITIONS)}")
    # the condition of each face by its name
    result = np.full(len(mesh.faces), "", dtype="<U9")
    for name, tag in mesh.face_names.items():
        on = mesh.face_tags == tag
        if name not in boundaries and on.any():
            raise ValueError(f"boundaries: {name!r} ({on.sum()} faces) has no condition: choose {_listed(CONDITIONS)}")
        result[on] = boundaries.get(name, "")
    if (result == "").any():
        tag = mesh.face_tags[result == ""][0]
        raise ValueError(f"faces with tag {tag} have no name: give it a name in face_names, and a condition")
    return result


def _listed(names: Any) -> str:
    return ", ".join(map(repr, names))


@dataclass(frozen=True, eq=False)
class FacesOf:
    """Faces, each seen from a tetrahedron that it belongs to.

    elements, sides (f,): tetrahedron and its face. corners (f, 3, 3); tangents (f, 2, 3): the two edges along which
    traces are kept; double_areas (f, 3): outward normals, twice as long as the area; points (f, m, 3).
    """

    element_blocks: ElementBlocks
    elements: NDArray[np.int64]
    sides: NDArray[np.int64]

    @classmethod
    def of(cls, element_blocks: ElementBlocks, conditions: NDArray[np.str_], condition: str) -> "FacesOf":
        """The faces with one condition. ValueError if one of them has tetrahedra on both sides."""
        across = element_blocks.mesh.neighbours
        elements, sides = np.nonzero(across < 0)
        kept = conditions[-1 - across[elements, sides]] == condition
        result = cls(element_blocks, elements[kept], sides[kept])
        if len(np.unique(result.numbers)) < result.number:
            raise ValueError(f"{condition} faces inside the mesh: only outer faces support this condition")
        return result

    @property
    def numbers(self) -> NDArray[np.int64]:
        """(f,) of boundary faces: their numbers in the mesh."""
        return -1 - self.element_blocks.mesh.neighbours[self.elements, self.sides]

    @property
    def number(self) -> int:
        return len(self.elements)

    @cached_property
    def corners(self) -> NDArray[np.float64]:
        mesh = self.element_blocks.mesh
        return np.asarray(mesh.vertices[mesh.tetrahedra[self.elements[:, None], FACES[self.sides]]])

    @cached_property
    def tangents(self) -> NDArray[np.float64]:
        return self.corners[:, 1:] - self.corners[:, :1]

    @cached_property
    def double_areas(self) -> NDArray[np.float64]:
        across = np.cross(self.tangents[:, 0], self.tangents[:, 1])
        outward = self.corners.mean(axis=1) - self.element_blocks.mesh.centroids[self.elements]
        return np.asarray(across * np.sign(np.einsum("fi,fi->f", across, outward))[:, None])

    @cached_property
    def points(self) -> NDArray[np.float64]:
        nodes = self.element_blocks.reference.nodes[self.element_blocks.reference.face_nodes[self.sides]]
        origin = self.element_blocks.mesh.vertices[self.element_blocks.mesh.tetrahedra[self.elements, 0]]
        return np.asarray(origin[:, None] + nodes @ self.element_blocks.frames[self.elements])

    @cached_property
    def turn(self) -> NDArray[np.float64]:
        """(f, 2, 2): n x on vectors that are given by their products with the tangents."""
        return rotations(self.tangents, self.double_areas)

    @cached_property
    def own_components(self) -> NDArray[np.float64]:
        """(f, 2, 3): covariant components of the element to the tangential ones of the face."""
        table = np.zeros((4, 2, 3))
        table[0] = [[-1, 1, 0], [-1, 0, 1]]
        for face in range(1, 4):
            table[face, [0, 1], FACE_PAIRS[face]] = 1
        return table[self.sides]

    @cached_property
    def element_places(self) -> NDArray[np.int64]:
        """(f, 3, n) flat numbers of the whole element's values in a field."""
        return self.element_blocks.places_of(self.elements)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """(f,) flat number in a field of the first value of each element."""
        return self.element_places[:, 0, 0]

    @cached_property
    def _places(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Flat numbers (f, 2, m) in a field of the two components, of the one to be subtracted, and whether it is."""
        _, _, node, lane = self.element_blocks.shape
        nodes = self.element_blocks.reference.face_nodes[self.sides][:, None]
        at = self.starts[:, None, None] + nodes * lane
        pairs = np.where((self.sides == 0)[:, None], [1, 2], FACE_PAIRS[self.sides])
        return at + pairs[:, :, None] * node * lane, at, (self.sides == 0)[:, None, None] * 1.0

    def traces(self, field: NDArray[np.floating]) -> NDArray[np.floating]:
        """(f, 2, m) tangential components of a flat field at the faces."""
        both, first, minus = self._places
        return np.asarray(field[both] - minus * field[first])

    def tangential(self, vectors: NDArray[Any]) -> NDArray[Any]:
        """(f, 2, m) tangential components of vectors (f, m, 3)."""
        return np.asarray(np.einsum("fai,fmi->fam", self.tangents, vectors))


def rotations(tangents: NDArray[np.float64], normals: NDArray[np.float64]) -> NDArray[np.float64]:
    """(..., 2, 2) matrices R with (n x v) . t_a = sum R_ab (v . t_b) for tangents t (..., 2, 3) and tangential v."""
    gram = tangents @ np.swapaxes(tangents, -1, -2)
    cross = np.cross(tangents[..., 0, :], tangents[..., 1, :])
    area = np.linalg.norm(cross, axis=-1)
    sign = np.sign((cross * normals).sum(axis=-1)) / area
    g11, g12, g22 = gram[..., 0, 0], gram[..., 0, 1], gram[..., 1, 1]
    return np.asarray(np.stack([np.stack([g12, -g11], -1), np.stack([g22, -g12], -1)], -2) * sign[..., None, None])
