"""Functions on a part of a surface, each with its images in mirrors.

By a reflection R with the diagonal s, the image of a scalar function is u(R x), that of a tangential one R f(R x). A
field that is even or odd in each mirror is a combination of sums of images with signs,

    u = sum_j x_j sum_k p_k (image k of function j) = sum_i (E x)_i psi_i,

p_k the parity of image k, psi_i functions of the whole surface. A function of the part that is its own image with both
signs, as at a node in an odd mirror, is zero in such fields and has no unknown.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.mesh.triangles import MirroredMesh
from calderon.spaces.edge.edge_space import EdgeSpace
from calderon.spaces.element import Element
from calderon.spaces.space import Space


@dataclass(frozen=True, eq=False)
class MirroredFunctions:
    """Functions of a space, and its fields of one parity in each mirror.

    space: on the whole surface. functions (n,): numbers of those of the part that have unknowns, ascending. images
    (dimension, n): E, with entries 1 and -1, at most one in a row.
    """

    space: Any
    functions: NDArray[np.int64]
    images: sp.csr_array

    @staticmethod
    def of(space: Space | EdgeSpace, mirrored: MirroredMesh, parities: NDArray[np.int64]) -> "MirroredFunctions":
        """parities (m,): 1 or -1 for each image. space: on the whole, on triangles with all their images. ValueError
        for functions of edges where three or more triangles meet."""
        count, total = mirrored.part.number_of_triangles, len(space.triangles)
        if (np.diff(space.triangles) <= 0).any():
            raise ValueError("mirrors need surfaces of which at most two triangles meet at an edge, with their images")
        own = space.triangles[: total // len(parities)]
        signs = getattr(space, "signs", None)
        size = space.dofs.shape[1]
        swapped = exchanged(Element(1) if signs is not None else space.element)
        found = []
        for k, parity in enumerate(parities):
            rows = np.searchsorted(space.triangles, k * count + own)
            order = swapped if mirrored.odd[k] else np.arange(size)
            value = np.full((len(own), size), float(parity))
            if signs is not None:
                value *= signs[: len(own)] * signs[rows][:, order]
            found.append((space.dofs[rows][:, order].ravel(), space.dofs[: len(own)].ravel(), value.ravel()))
        image, function, value = (np.concatenate(each) for each in zip(*found, strict=True))
        kept = function >= 0
        shape = (space.dimension, space.dimension)
        sums, counts = (
            sp.coo_array((data[kept], (image[kept], function[kept])), shape=shape).tocsr()
            for data in (value, np.ones(len(value)))
        )
        sums.data = np.rint(sums.data / counts.data)  # functions have several triangles; of both signs the sum is 0
        functions = np.flatnonzero(sums.diagonal() > 0)
        images = sums[:, functions]
        images.eliminate_zeros()
        return MirroredFunctions(space, functions, images.tocsr())

    def among(self, chosen: NDArray[np.bool_]) -> "MirroredFunctions":
        """Some functions, a mask (dimension,) that holds all images of each, as functions of the space that has these
        alone."""
        kept = chosen[self.functions]
        numbers = np.cumsum(chosen) - 1
        return MirroredFunctions(
            selected(self.space, chosen), numbers[self.functions[kept]], self.images[chosen][:, kept]
        )

    @cached_property
    def part(self) -> Any:
        """The space of the functions with unknowns, on all their triangles."""
        chosen = np.zeros(self.space.dimension, bool)
        chosen[self.functions] = True
        return selected(self.space, chosen)

    def asymmetry(self, tested: NDArray[Any]) -> float:
        """The largest difference of integrals (dimension, ...) from those of their images, relative to the largest
        one."""
        return float(np.abs(tested - self.images @ tested[self.functions]).max() / max(np.abs(tested).max(), 1e-300))


def exchanged(element: Element) -> NDArray[np.int64]:
    """(size,) the local function that each one becomes where the last two vertices of a triangle are exchanged."""
    found = (element.indices[:, None] == element.indices[None, :, [0, 2, 1]]).all(axis=2)
    return np.asarray(found.argmax(axis=1))


def selected(space: Any, chosen: NDArray[np.bool_]) -> Any:
    """The space of some functions (dimension,), in the same order."""
    return space.of_functions(np.flatnonzero(chosen)) if isinstance(space, EdgeSpace) else space.selected(chosen)
