"""Vector functions in a volume whose tangential components are continuous: edge functions on tetrahedra."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.mesh.shapes.mirror_images import MirrorImages
from calderon.spaces.volume_function import EDGES, VolumeFunction, barycentric


@dataclass(frozen=True, eq=False)
class VolumeEdgeFunction(VolumeFunction):
    """u = sum_ij e_ij (l_i grad l_j - l_j grad l_i) on straight tetrahedra with barycentric coordinates l, degree 1.

    coefficients: e_ij for each edge from vertex i to vertex j > i, in lexicographic order, the integral of u along it.
    J.-C. Nedelec, Numer. Math. 35 (1980) 315.
    """

    def __post_init__(self) -> None:
        if self.degree != 1:
            raise ValueError(f"degree={self.degree!r}: edge functions in a volume have degree 1")
        super().__post_init__()

    @property
    def dimension(self) -> int:
        """Number of edges."""
        return len(self.edges)

    @property
    def nodes(self) -> NDArray[np.float64]:
        """(dimension, 3) the middles of the edges."""
        return np.asarray(self.mesh.vertices[self.edges].mean(axis=1))

    def with_images(self, mirrored: MirrorImages, factors: NDArray[Any]) -> "VolumeEdgeFunction":
        """The function on the tetrahedra with their images: in image k, by the reflection R, it is factors[k] R u(R x),
        factors (m,). Edges in a mirror are shared."""
        cells, places = self._image_edges(mirrored)
        coefficients = np.zeros(places.max() + 1, self.coefficients.dtype)
        for numbers, place, factor in zip(mirrored.numbers[::-1], places[::-1], factors[::-1], strict=True):
            start, end = numbers[self.edges].T
            coefficients[place] = np.where(start < end, factor, -factor) * self.coefficients
        return VolumeEdgeFunction(mirrored.vertices, cells, 1, coefficients, self.label, self.unit)

    def values(self, found: NDArray[np.int64], local: NDArray[np.float64]) -> NDArray[Any]:
        """(n, 3) values at reference coordinates (n, 3) of tetrahedra (n,), as from `find`."""
        bary, slopes, at = barycentric(local), self._slopes(found), self._at(found)
        i, j = EDGES.T
        functions = bary[:, None, i] * slopes[:, :, j] - bary[:, None, j] * slopes[:, :, i]
        return np.asarray(np.einsum("nce,ne->nc", functions, at))

    def gradients(self, found: NDArray[np.int64], local: NDArray[np.float64]) -> NDArray[Any]:
        raise TypeError("edge functions jump across faces: they have curls, and no gradients")

    def curls(self, found: NDArray[np.int64], local: NDArray[np.float64]) -> NDArray[Any]:
        """(n, 3) curls, constant on each tetrahedron; arguments as for `values`."""
        slopes = self._slopes(found)
        i, j = EDGES.T
        functions = 2 * np.cross(slopes[:, :, i], slopes[:, :, j], axis=1)
        return np.asarray(np.einsum("nce,ne->nc", functions, self._at(found)))

    def write(self, path: str | os.PathLike[str]) -> None:
        raise TypeError("edge functions have no values at nodes: write those at points, solution.on_plane(...).write")

    def _at(self, found: NDArray[np.int64]) -> NDArray[Any]:
        return np.asarray(self.coefficients[self._edge_table[1][found]])
