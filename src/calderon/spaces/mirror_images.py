"""Functions on a part of a surface, each with its images in mirrors.

By a reflection R with the diagonal s, the image of a scalar function is u(R x), that of a tangential one R f(R x). A
field that is even or odd in each mirror is a combination of sums of images with signs,

    u = sum_j x_j sum_k p_k (image k of function j) = sum_i (E x)_i psi_i,

p_k the parity of image k, psi_i functions of the whole surface. A function of the part that is its own image with both
signs, as at a node in an odd mirror, is zero in such fields and has no unknown.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.mesh.triangles import MirroredMesh
from calderon.spaces.edge.edge_space import EdgeSpace
from calderon.spaces.element import Element
from calderon.spaces.space import Space


@dataclass(frozen=True, eq=False)
class MirroredFunctions:
    """Functions of a space, and its fields of one parity in each mirror.

    space: on the whole surface. functions (n,): numbers of those of the part that have unknowns, ascending. images
    (dimension, n): E, with entries 1 and -1, at most one in a row; None without mirrors, where E is the identity.
    copies (n,): of how many images, its own first, each function of the part is the same one: 1 away from mirrors.
    """

    space: Any
    functions: NDArray[np.int64]
    images: sp.csr_array | None
    copies: NDArray[np.float64]

    @staticmethod
    def of(space: Space | EdgeSpace, mirrored: MirroredMesh | None, parities: NDArray[np.int64]) -> "MirroredFunctions":
        """parities (m,): 1 or -1 for each image. space: on the whole, on triangles with all their images. mirrored:
        None without mirrors. ValueError for functions of edges where three or more triangles meet."""
        if mirrored is None:
            return MirroredFunctions(space, np.arange(space.dimension), None, np.ones(space.dimension))
        if (np.diff(space.triangles) <= 0).any():
            raise ValueError("mirrors need surfaces of which at most two triangles meet at an edge, with their images")
        found = [_image(space, mirrored, k, parity) for k, parity in enumerate(parities)]
        image, function, value = (np.concatenate([each[i].ravel() for each in found]) for i in range(3))
        kept, shape = function >= 0, (space.dimension, space.dimension)
        sums, counts = (
            sp.coo_array((data[kept], (image[kept], function[kept])), shape=shape).tocsr()
            for data in (value, np.ones(len(value)))
        )
        once = np.bincount(function[kept][: np.count_nonzero(found[0][1] >= 0)], minlength=space.dimension)
        copies = counts.diagonal() / np.maximum(once, 1)
        sums.data = np.rint(sums.data / counts.data)  # functions have several triangles; of both signs the sum is 0
        functions = np.flatnonzero(sums.diagonal() > 0)
        images = sums[:, functions]
        images.eliminate_zeros()
        return MirroredFunctions(space, functions, images.tocsr(), copies[functions])

    @property
    def dimension(self) -> int:
        """The number of unknowns."""
        return len(self.functions)

    def among(self, chosen: NDArray[np.bool_]) -> "MirroredFunctions":
        """Some functions, a mask (dimension of the space,) that holds all images of each, as functions of the space
        that has these alone."""
        space, kept, numbers = selected(self.space, chosen), chosen[self.functions], np.cumsum(chosen) - 1
        images = None if self.images is None else self.images[chosen][:, kept]
        return MirroredFunctions(space, numbers[self.functions[kept]], images, self.copies[kept])

    @cached_property
    def part(self) -> Any:
        """The space of the functions with unknowns, on all their triangles."""
        chosen = np.zeros(self.space.dimension, bool)
        chosen[self.functions] = True
        return selected(self.space, chosen)

    def extended(self, unknowns: NDArray[Any]) -> NDArray[Any]:
        """E x, the coefficients of the whole, from unknowns x (n, ...), and integrals of the whole from those with the
        functions of the part."""
        return unknowns if self.images is None else np.asarray(self.images @ unknowns)

    def summed(self, weights: NDArray[Any]) -> NDArray[Any]:
        """E^T w, what weights (dimension of the space, ...) of the coefficients of the whole are of the unknowns."""
        return weights if self.images is None else np.asarray(self.images.T @ weights)

    def load_vector(self, data: Any, triangles: NDArray[np.bool_]) -> NDArray[Any]:
        """(n,) integrals over the whole of the functions of the part with data that are as even or odd as the fields,
        given on the part as in `Space.load_vector`. triangles (nt,): those of the part where they are not zero."""
        own = np.flatnonzero(triangles[self.space.triangles[self.space.triangles < len(triangles)]])
        part = replace(self.space, triangles=self.space.triangles[own], dofs=self.space.dofs[own])
        return np.asarray((part.load_vector(data)[self.functions].T * self.copies).T)

    def solve_mass(self, tested: NDArray[Any]) -> NDArray[Any]:
        """The unknowns (n, ...) of the field with these integrals (n, ...) against the functions of the part."""
        return np.asarray(self.space.solve_mass(self.extended(tested))[self.functions])

    def inverse(self, whole: LinearOperator) -> LinearOperator:
        """The operator from integrals with functions of the part to unknowns, by one on the whole surface that keeps
        fields even or odd."""
        if self.images is None:
            return whole

        def product(x: NDArray[Any]) -> NDArray[Any]:
            return np.asarray((whole @ self.extended(x))[self.functions])

        return LinearOperator((self.dimension, self.dimension), matvec=product, matmat=product, dtype=whole.dtype)

    def asymmetry(self, tested: NDArray[Any]) -> float:
        """The largest difference of integrals (dimension of the space, ...) from those of their images, relative to the
        largest one."""
        difference = tested - self.extended(tested[self.functions])
        return float(np.abs(difference).max() / max(np.abs(tested).max(), np.finfo(float).tiny))


def stacked(parts: Sequence[MirroredFunctions]) -> MirroredFunctions:
    """The functions of several spaces, one after the other; of these spaces themselves there is no one."""
    if len(parts) == 1:
        return parts[0]
    starts = np.cumsum([0, *(each.space.dimension for each in parts)])
    functions = [each.functions + start for each, start in zip(parts, starts[:-1], strict=True)]
    images = None if parts[0].images is None else sp.block_diag([each.images for each in parts], format="csr")
    copies = np.concatenate([each.copies for each in parts])
    return MirroredFunctions(None, np.concatenate(functions), images, copies)


def _image(
    space: Space | EdgeSpace, mirrored: MirroredMesh, number: int, parity: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Functions of one image, those of the part, and the signs of the one in the image of the other, each (triangles of
    the part, local functions). number: of the image; parity: its sign."""
    own = space.triangles[: len(space.triangles) // len(mirrored.signs)]
    rows = np.searchsorted(space.triangles, number * mirrored.part.number_of_triangles + own)
    element = Element(1) if isinstance(space, EdgeSpace) else space.element  # edges are named by opposite vertices
    order = exchanged(element) if mirrored.odd[number] else np.arange(element.size)
    value = np.full((len(own), element.size), float(parity))
    if isinstance(space, EdgeSpace):
        value *= space.signs[: len(own)] * space.signs[rows][:, order]
    return space.dofs[rows][:, order], space.dofs[: len(own)], value


def exchanged(element: Element) -> NDArray[np.int64]:
    """(size,) the local function that each one becomes where the last two vertices of a triangle are exchanged."""
    found = (element.indices[:, None] == element.indices[None, :, [0, 2, 1]]).all(axis=2)
    return np.asarray(found.argmax(axis=1))


def selected(space: Any, chosen: NDArray[np.bool_]) -> Any:
    """The space of some functions (dimension,), in the same order."""
    return space.of_functions(np.flatnonzero(chosen)) if isinstance(space, EdgeSpace) else space.selected(chosen)
