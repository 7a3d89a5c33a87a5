"""Functions in a volume: continuous, linear or quadratic on each tetrahedron."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.data.paraview import Fields, named_fields
from calderon.mesh import TetrahedralMesh
from calderon.mesh.shapes.mirror_images import MirrorImages
from calderon.mesh.tetrahedral.location import Search
from calderon.mesh.topology import row_numbers
from calderon.spaces.field_file import write_volume_fields

EDGES = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])
"""Local vertices of the edges of a tetrahedron."""
VTK_EDGES = [0, 3, 1, 2, 4, 5]
"""These edges in the order of quadratic tetrahedra in VTK."""


@dataclass(frozen=True, eq=False)
class VolumeFunction:
    """u = sum_j coefficients[j] phi_j on straight tetrahedra, with numbers as values.

    vertices (nv, 3); tetrahedra (nt, 4), the vertices of each in ascending order; degree 1 or 2. coefficients: the
    values at the vertices, then, for degree 2, at the middles of the edges, in lexicographic order of their vertices.
    label and unit go into files and pictures. ValueError for arrays that do not belong together, MeshError for
    invalid tetrahedra.
    """

    vertices: NDArray[np.float64]
    tetrahedra: NDArray[np.int64]
    degree: int
    coefficients: NDArray[np.complex128]
    label: str = "u"
    unit: str = ""

    def __post_init__(self) -> None:
        if type(self.degree) is not int or self.degree not in (1, 2):
            raise ValueError(f"degree={self.degree!r}: functions on tetrahedra are linear (1) or quadratic (2)")
        for name, kind in (("vertices", "f"), ("tetrahedra", "i"), ("coefficients", "fc")):
            if np.asarray(getattr(self, name)).dtype.kind not in kind:
                raise ValueError(f"{name} of a function in a volume are {np.asarray(getattr(self, name)).dtype}")
        if np.shape(self.coefficients) != (self.dimension,):
            raise ValueError(f"{np.shape(self.coefficients)} coefficients for {self.dimension} nodes")

    @cached_property
    def mesh(self) -> TetrahedralMesh:
        """The tetrahedra."""
        return TetrahedralMesh(self.vertices, self.tetrahedra)

    @property
    def dimension(self) -> int:
        """Number of nodes."""
        return len(self.vertices) + (len(self._edge_table[0]) if self.degree == 2 else 0)

    @cached_property
    def _edge_table(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Edges (ne, 2), and those of each tetrahedron (nt, 6)."""
        edges, number = row_numbers(self.mesh.tetrahedra[:, EDGES].reshape(-1, 2))
        return edges, number.reshape(-1, 6)

    @property
    def edges(self) -> NDArray[np.int64]:
        """(ne, 2) vertices of the edges, in lexicographic order."""
        return self._edge_table[0]

    @property
    def nodes(self) -> NDArray[np.float64]:
        """(dimension, 3) the places of the coefficients."""
        corners = self.mesh.vertices
        return corners if self.degree == 1 else np.concatenate([corners, corners[self.edges].mean(axis=1)])

    def with_images(self, mirrored: MirrorImages, factors: NDArray[Any]) -> "VolumeFunction":
        """The function on the tetrahedra with their images: in image k it is factors[k] times that of the part, factors
        (m,). Nodes in a mirror are shared."""
        cells, places = self._image_edges(mirrored)
        values = np.zeros(len(mirrored.vertices), self.coefficients.dtype)
        for numbers, factor in zip(mirrored.numbers[::-1], factors[::-1], strict=True):
            values[numbers] = factor * self.coefficients[: len(self.vertices)]
        if self.degree == 2:
            middles = np.zeros(places.max() + 1, values.dtype)
            for place, factor in zip(places[::-1], factors[::-1], strict=True):
                middles[place] = factor * self.coefficients[len(self.vertices) :]
            values = np.concatenate([values, middles])
        return VolumeFunction(mirrored.vertices, cells, self.degree, values, self.label, self.unit)

    def _image_edges(self, mirrored: MirrorImages) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The tetrahedra with their images, (m nt, 4) ascending numbers, and the places (m, ne) of the images of the
        edges among all of these, in lexicographic order."""
        cells = np.sort(mirrored.numbers[:, self.tetrahedra].reshape(-1, 4), axis=1)
        edges, weights = row_numbers(cells[:, EDGES].reshape(-1, 2))[0], np.array([len(mirrored.vertices), 1])
        ends = np.sort(mirrored.numbers[:, self.edges], axis=2)
        return cells, np.searchsorted(edges @ weights, ends @ weights)

    def find(self, points: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """(n,) tetrahedra, -1 for points outside, and (n, 3) reference coordinates of points (n, 3)."""
        return self._search.find(points)

    @cached_property
    def _search(self) -> Search:
        return Search(self.mesh)

    def or_else(
        self,
        points: NDArray[np.float64],
        shape: tuple[int, ...],
        inside: Callable[[NDArray[np.int64], NDArray[np.float64]], NDArray[Any]],
        outside: Callable[[NDArray[np.float64]], NDArray[Any]],
    ) -> NDArray[Any]:
        """(n, *shape) what `inside`, such as `values`, gives at the points (n, 3) in tetrahedra, and `outside` at the
        others."""
        found, local = self.find(points)
        within = found >= 0
        one = inside(found[within], local[within])
        other = outside(points[~within]) if not within.all() else np.zeros((0, *shape), one.dtype)
        result = np.empty((len(points), *shape), np.result_type(one, other))
        result[within], result[~within] = one, other
        return result

    def values(self, found: NDArray[np.int64], local: NDArray[np.float64]) -> NDArray[Any]:
        """(n,) values at reference coordinates (n, 3) of tetrahedra (n,), as from `find`."""
        bary = barycentric(local)
        at = self._at(found)
        if self.degree == 1:
            return np.asarray(np.einsum("ni,ni->n", bary, at))
        shapes = np.concatenate([bary * (2 * bary - 1), 4 * bary[:, EDGES[:, 0]] * bary[:, EDGES[:, 1]]], axis=1)
        return np.asarray(np.einsum("ni,ni->n", shapes, at))

    def gradients(self, found: NDArray[np.int64], local: NDArray[np.float64]) -> NDArray[Any]:
        """(n, 3) gradients, arguments as for `values`."""
        bary, slopes, at = barycentric(local), self._slopes(found), self._at(found)
        factors = at[:, :4]
        if self.degree == 2:
            factors = factors * (4 * bary - 1)
            for n, (i, j) in enumerate(EDGES):
                factors[:, i] += 4 * at[:, 4 + n] * bary[:, j]
                factors[:, j] += 4 * at[:, 4 + n] * bary[:, i]
        return np.asarray(np.einsum("nci,ni->nc", slopes, factors))

    def _slopes(self, found: NDArray[np.int64]) -> NDArray[np.float64]:
        """(n, 3, 4) gradients of the barycentric coordinates of tetrahedra (n,)."""
        corners = self.mesh.vertices[self.mesh.tetrahedra[found]]
        inverse = np.linalg.inv(corners[:, 1:] - corners[:, :1])  # columns are those of the last three coordinates
        return np.concatenate([-inverse.sum(axis=2, keepdims=True), inverse], axis=2)

    def _at(self, found: NDArray[np.int64]) -> NDArray[Any]:
        """Coefficients at the nodes of tetrahedra (n,)."""
        nodes = self.mesh.tetrahedra[found]
        if self.degree == 2:
            nodes = np.concatenate([nodes, len(self.vertices) + self._edge_table[1][found]], axis=1)
        return np.asarray(self.coefficients[nodes])

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write tetrahedra and values for ParaView (.vtu), as `Function.write` on surfaces; quadratic functions with
        the middles of the edges. Atomic: the file appears whole or not at all."""
        write_together(path, [self], self.label)


def write_together(
    path: str | os.PathLike[str], parts: Sequence[VolumeFunction], label: str, on_cells: Fields | None = None
) -> None:
    """Write functions on the same tetrahedra, one number or the components of a vector, as `VolumeFunction.write`.
    on_cells: arrays by name with a number for each tetrahedron (nt,)."""
    first = parts[0]
    cells = first.mesh.tetrahedra
    if first.degree == 2:
        cells = np.concatenate([cells, len(first.vertices) + first._edge_table[1][:, VTK_EDGES]], axis=1)
    values = first.coefficients if len(parts) == 1 else np.stack([each.coefficients for each in parts], axis=1)
    write_volume_fields(path, first.nodes, cells, named_fields(label, first.unit, values), on_cells or {})


def barycentric(local: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, 4) barycentric coordinates of reference coordinates (n, 3)."""
    return np.concatenate([1 - local.sum(axis=1, keepdims=True), local], axis=1)
