"""Elements in blocks: the order of the arrays that kernels run over."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends.vectors import width
from calderon.dg.operator.reference import ReferenceTetrahedron
from calderon.mesh import TetrahedralMesh
from calderon.mesh.locality import block_order
from calderon.mesh.tetrahedral.partition import CUT

FACE_PAIRS = np.array([[0, 0], [1, 2], [0, 2], [0, 1]])
"""Covariant components that are the tangential ones of faces 1, 2, 3; face 0 has the differences e_1 - e_0 and
e_2 - e_0."""


@dataclass(frozen=True, eq=False)
class ElementBlocks:
    """Tetrahedra in blocks of `lanes`; a field is an array [block][component][node][lane] of covariant components
    e_i = E . (v_i - v_0).

    place (tetrahedra,): where each is, numbered through all blocks; remaining places are filled with elements that stay
    zero. codes (blocks, 4, lanes) int32: 4 * place + face of the element across each face, or -1 - face number of the
    mesh. inner_blocks: the number of blocks, the first ones, that hold no element next to another part of the mesh.
    ends: see `first_blocks`.
    """

    mesh: TetrahedralMesh
    reference: ReferenceTetrahedron
    real: np.dtype[np.floating]
    lanes: int
    place: NDArray[np.int64]
    codes: NDArray[np.int32]
    inner_blocks: int
    ends: tuple[int, ...]

    @property
    def blocks(self) -> int:
        return len(self.codes)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Shape of a field."""
        return self.blocks, 3, self.reference.size, self.lanes

    def first_blocks(self, key: int) -> int:
        """Number of blocks, the first ones, that hold exactly the elements of that key and all higher ones."""
        return self.ends[key] if key < len(self.ends) else 0

    @cached_property
    def frames(self) -> NDArray[np.float64]:
        """(elements, 3, 3) edges v_i - v_0 of each tetrahedron of the mesh, one a row."""
        corners = self.mesh.vertices[self.mesh.tetrahedra]
        return np.asarray(corners[:, 1:] - corners[:, :1])

    @cached_property
    def determinants(self) -> NDArray[np.float64]:
        """(elements,) determinants of the frames, with their sign."""
        return np.linalg.det(self.frames)

    def in_lanes(self, values: NDArray[Any]) -> NDArray[Any]:
        """(elements, ...) to (blocks, ..., lanes), in the order of the blocks and precision, real or complex."""
        kind = np.result_type(self.real, np.complex64) if np.iscomplexobj(values) else self.real
        padded = np.zeros((self.blocks * self.lanes, *values.shape[1:]), kind)
        padded[self.place] = values
        return np.ascontiguousarray(np.moveaxis(padded.reshape(self.blocks, self.lanes, *values.shape[1:]), 1, -1))

    def by_element(self, values: NDArray[Any]) -> NDArray[Any]:
        """(blocks, ..., lanes) back to (elements, ...), in the mesh's order."""
        rows = np.moveaxis(values, -1, 1).reshape(self.blocks * self.lanes, *values.shape[1:-1])
        return np.ascontiguousarray(rows[self.place])

    def places_of(self, elements: NDArray[np.int64]) -> NDArray[np.int64]:
        """(n, 3, nodes) flat numbers in a field of all values of the given tetrahedra."""
        _, components, nodes, lane = self.shape
        place = self.place[elements]
        starts = (place // lane) * components * nodes * lane + place % lane
        return starts[:, None, None] + np.arange(components)[:, None] * nodes * lane + np.arange(nodes) * lane

    def metric(self) -> NDArray[np.floating]:
        """(blocks, 6, lanes): (v_i - v_0) . (v_k - v_0) / J for ik = 11, 12, 13, 22, 23, 33."""
        first, second = np.triu_indices(3)
        products = np.einsum("nik,njk->nij", self.frames, self.frames) / self.determinants[:, None, None]
        return self.in_lanes(products[:, first, second])

    def points(self) -> NDArray[np.float64]:
        """(elements, n, 3) positions of the nodes, in the mesh's order."""
        return self.at(self.reference.nodes)

    def at(self, local: NDArray[np.float64]) -> NDArray[np.float64]:
        """(elements, q, 3) positions of reference points (q, 3)."""
        origin = self.mesh.vertices[self.mesh.tetrahedra[:, 0]]
        return np.asarray(origin[:, None] + local @ self.frames)

    def covariant(self, vectors: NDArray[np.float64]) -> NDArray[np.floating]:
        """Vectors (elements, n, 3) at the nodes as a field."""
        return self.in_lanes(np.einsum("nqk,nik->niq", vectors, self.frames))

    def vectors(self, field: NDArray[Any]) -> NDArray[Any]:
        """A field as vectors (elements, n, 3) at the nodes, real or complex, in double precision."""
        covariant = self.by_element(field).astype(np.result_type(field, np.float64))
        return np.asarray(np.einsum("niq,nki->nqk", covariant, np.linalg.inv(self.frames)))

    def zeros(self) -> NDArray[np.floating]:
        return np.zeros(self.shape, self.real)


def build_blocks(
    mesh: TetrahedralMesh, reference: ReferenceTetrahedron, real: np.dtype[np.floating], keys: NDArray[np.int64]
) -> ElementBlocks:
    """Neighbours into the same block, two vectors of elements a block; elements next to another part last.

    keys (tetrahedra,): elements of one key have blocks of their own, those with the highest key come first.
    """
    # the order of elements: by key, those at other parts last, neighbours next to each other
    lanes = 2 * width(real)
    count = mesh.number_of_tetrahedra
    cut = (mesh.face_tags == mesh.face_names.get(CUT, -1))[np.maximum(-1 - mesh.neighbours, 0)] & (mesh.neighbours < 0)
    group = 2 * (keys.max() - keys) + cut.any(axis=1)
    groups = [np.flatnonzero(group == each) for each in np.unique(group)]
    order = np.concatenate([each[block_order(mesh.centroids[each], lanes)] for each in groups])
    # blocks of each key, from the highest on
    sizes = np.bincount(keys)
    ends = np.cumsum(-(-sizes[::-1] // lanes))[::-1]
    blocks = int(ends[0])
    if 4 * blocks * lanes > np.iinfo(np.int32).max:
        raise ValueError(f"{count} tetrahedra are too many for one process: use more ranks")
    # the place of each element in these blocks
    filled = np.cumsum(sizes[::-1])[::-1] - sizes  # elements before those of each key
    begins = (ends - -(-sizes // lanes)) * lanes
    place = np.empty(count, np.int64)
    place[order] = (begins - filled)[keys[order]] + np.arange(count)
    inner = blocks if not cut.any() else (begins[0] + int(sizes[0]) - int(cut.any(axis=1).sum())) // lanes
    codes = _codes(mesh, place, blocks, lanes)
    return ElementBlocks(mesh, reference, real, lanes, place, codes, int(inner), tuple(int(end) for end in ends))


def _codes(mesh: TetrahedralMesh, place: NDArray[np.int64], blocks: int, lanes: int) -> NDArray[np.int32]:
    """(blocks, 4, lanes), see ElementBlocks."""
    inside = mesh.neighbours >= 0
    opposite = np.where(inside, mesh.neighbours, 0)
    back = np.argmax(mesh.neighbours[opposite] == np.arange(len(place))[:, None, None], axis=2)
    padded = (4 * np.arange(blocks * lanes)[:, None] + np.arange(4)).astype(np.int32)  # fillers meet themselves
    padded[place] = np.where(inside, 4 * place[opposite] + back, mesh.neighbours)
    return np.ascontiguousarray(np.moveaxis(padded.reshape(blocks, lanes, 4), 1, 2))
