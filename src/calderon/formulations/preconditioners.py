"""Preconditioners of integral equations that come from spaces or from the entries of a matrix."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.formulations.linear_system import LinearSystem
from calderon.solvers import sparse_inverse
from calderon.spaces import Space, VectorSpace

FACTORS, COPIES = 0.8 * 20, 80
"""Bytes of sparse LU factors of complex numbers by those of the entries and the base-2 logarithm of the unknowns,
measured for P1, P2 and RWG from 1,000 to 90,000 unknowns (within a third), and of the entries on their way there."""


class Preconditioner(LinearOperator):
    """An approximate inverse (size, size) that is computed at its first product. name: for the record of an
    iteration; nbytes: estimates what it will take."""

    def __init__(
        self, name: str, size: int, inverse: Callable[[], LinearOperator], nbytes: Callable[[], int] = lambda: 0
    ) -> None:
        super().__init__(np.dtype(np.complex128), (size, size))
        self.name, self._make, self._bytes = name, inverse, nbytes

    @property
    def nbytes(self) -> int:
        """Bytes that it will take, 0 where little is known of it."""
        return self._bytes()

    @cached_property
    def _inverse(self) -> LinearOperator:
        return self._make()

    def _matmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return self._inverse.matmat(x)


def near_preconditioner(system: LinearSystem) -> Preconditioner:
    """The inverse of the entries between functions that share a triangle, all blocks of a surface: sparse LU factors of
    the entries of a dense matrix, or of the blocks of neighbours."""

    def nbytes() -> int:
        near = sum(sharing(space).nnz for space in system.spaces)
        return int(near * (FACTORS * np.log2(max(system.unknowns, 2)) + COPIES))

    return Preconditioner("near", system.unknowns, lambda: sparse_inverse(_near_entries(system)), nbytes)


def _near_entries(system: LinearSystem) -> sp.csc_array:
    near = {id(space): sharing(space) for space in system.spaces}
    table = [[near[id(row)] if row is column else None for column in system.spaces] for row in system.spaces]
    pattern = sp.block_array(table).tocoo()
    matrix = system.assembled
    stored = hasattr(matrix, "near_entries")
    entries = matrix.near_entries(*pattern.coords) if stored else matrix.to_array()[pattern.coords]
    entries = np.asarray(entries, np.complex128)
    return sp.coo_array((entries, pattern.coords), pattern.shape).tocsc()


def sharing(space: Space | VectorSpace) -> sp.csr_array:
    """(n, n) not zero where two functions have a common triangle. Masses of some neighbours are zero, or rounding, so
    that the mass matrix has another pattern."""
    dofs = getattr(space, "dofs", None)
    if dofs is None:
        return space.mass_matrix()
    held = dofs >= 0
    triangles = np.nonzero(held)[0]
    carried = sp.csr_array((np.ones(len(triangles)), (dofs[held], triangles)), (space.dimension, len(dofs)))
    return (carried @ carried.T).tocsr()
