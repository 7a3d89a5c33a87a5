"""Spaces of tangential fields that are affine on triangles, as a table of local functions."""

from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends import one_thread
from calderon.spaces.element import Element, barycentric
from calderon.spaces.supports import Carriers, carriers_of
from calderon.spaces.vector_space import VectorSpace


def affine_values(corner_values: NDArray[np.float64], points: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, L, q, 3) values at reference points (q, 2) of fields with values (n, L, 3, 3) at vertices."""
    shape = *corner_values.shape[:2], len(points), 3
    matrix = np.kron(barycentric(points), np.eye(3))  # one product of matrices: ten times as fast as an einsum
    with one_thread:  # others would only wait for each other
        return (corner_values.reshape(-1, 9) @ matrix).reshape(shape)


class FieldTable(VectorSpace):
    """A space that is its own base, with the table of its local functions.

    Row r is the triangle triangles[r] of the mesh, dofs (n, L) the function that each local one belongs to, -1 for
    none. corner_values (n, L, 3, 3): [r, a, m] is the value (n x included if rotated) of local function a at vertex m
    of row r; in between it is linear. row_arrays: the names of the fields with a row for each row of the table.
    """

    triangles: NDArray[np.int64]
    dofs: NDArray[np.int64]
    corner_values: NDArray[np.float64]
    row_arrays: ClassVar[tuple[str, ...]]

    @property
    def element(self) -> Element:
        """The scalar element whose functions times constant vectors span the local functions: degree 1."""
        return Element(1)

    @property
    def is_continuous(self) -> bool:
        """Whether functions extend over several triangles: they do."""
        return True

    @property
    def base(self) -> Self:  # type: ignore[override]
        return self

    @cached_property
    def carriers(self) -> Carriers:
        """The triangles of each function."""
        return carriers_of(self.dofs, self.dimension)

    @cached_property
    def matrix(self) -> sp.csr_array:
        return sp.eye_array(self.dimension, format="csr")

    @cached_property
    def support(self) -> NDArray[np.int64]:  # type: ignore[override]
        return np.unique(self.triangles)

    def taken(self, rows: NDArray[np.int64]) -> Self:
        """The space with some rows of its table alone."""
        arrays: dict[str, Any] = {name: getattr(self, name)[rows] for name in self.row_arrays}
        return replace(self, **arrays)  # type: ignore[type-var]

    def values(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n, L, q, 3) vectors of the local functions of each row at reference points (q, 2)."""
        return affine_values(self.corner_values, points)

    def expansion(self, points: NDArray[np.float64]) -> list[sp.csr_array]:
        values, count = self.values(points), len(points)
        rows = np.searchsorted(self.support, self.triangles)[:, None] * count + np.arange(count)
        kept = self.dofs >= 0
        coords = np.broadcast_to(rows[:, None], values.shape[:3])[kept].ravel(), np.repeat(self.dofs[kept], count)
        shape = (len(self.support) * count, self.dimension)
        return [sp.coo_array((values[kept][..., c].ravel(), coords), shape).tocsr() for c in range(3)]
