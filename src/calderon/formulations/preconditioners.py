"""Preconditioners of integral equations that come from spaces or from the entries of a matrix."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.formulations.linear_system import LinearSystem
from calderon.operators import BoundaryOperator
from calderon.operators.sparse_factors import matrices_of
from calderon.operators.tree import terms_of
from calderon.solvers import sparse_inverse


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
        near = sum(sharing(space).nnz for space in system.spaces) if _have_triangles(system) else _pattern(system).nnz
        # of sparse LU factors of complex numbers by the logarithm of the unknowns, measured for P1, P2 and RWG from
        # 1,000 to 90,000 unknowns (within a third), and of copies of the entries on their way there
        return int(near * (0.8 * 20 * np.log2(max(system.unknowns, 2)) + 80))

    def inverse() -> LinearOperator:
        return sparse_inverse(entries_of(system.assembled, _pattern(system).tocoo()))

    return Preconditioner("near", system.unknowns, inverse, nbytes)


def entries_of(matrix: Any, pattern: sp.coo_array) -> sp.csc_array:
    """The entries of a pattern (rows, columns), complex, of a matrix that stores them."""
    stores_near = hasattr(matrix, "near_entries")
    entries = matrix.near_entries(*pattern.coords) if stores_near else matrix.to_array()[pattern.coords]
    entries = np.asarray(entries, np.complex128)
    return sp.coo_array((entries, pattern.coords), pattern.shape).tocsc()


def _pattern(system: LinearSystem) -> sp.csr_array:
    """(n, n) not zero where two unknowns share a triangle: those of one space in all of its blocks; where unknowns are
    combinations of functions, those of functions that an operator of the system pairs."""
    if not _have_triangles(system):
        return sharing_in(system.operator)
    near = {id(space): sharing(space) for space in system.spaces}
    table = [[near[id(row)] if row is column else None for column in system.spaces] for row in system.spaces]
    return sp.csr_array(sp.block_array(table))


def _have_triangles(system: LinearSystem) -> bool:
    return all(hasattr(space, "dofs") for space in system.spaces)


def sharing_in(operator: BoundaryOperator) -> sp.csr_array:
    """(rows, columns) not zero where functions that an expression pairs have a common triangle, and where sparse
    operators have entries; between sparse factors sum_d |L_d|^T P |R_d| with the pattern P of the operator there."""
    total = sp.csr_array(operator.shape)
    for term in terms_of(operator):
        pattern = _sharing_of(term.atom)
        pattern = (pattern.T if term.transposed else pattern).tocoo()
        places = pattern.coords[0] + term.top, pattern.coords[1] + term.left
        total = total + sp.coo_array((np.ones(pattern.nnz), places), operator.shape).tocsr()
    return total


def _sharing_of(atom: Any) -> sp.csr_array:
    """The pattern of one atom; empty for compositions, whose entries are not stored, and for two meshes."""
    if atom.is_local:
        return abs(atom.matrix)
    if not atom.is_leaf:
        pattern = sp.csr_array(atom.shape)
        for inner in atom.expressions if atom.is_transformed else ():
            near = sharing_in(inner)
            pairs = (matrices_of(side, size) for side, size in zip((atom.left, atom.right), near.shape, strict=True))
            for left, right in zip(*pairs, strict=True):
                pattern = pattern + abs(left).T @ near @ abs(right)
        return pattern
    test, trial = atom.test, atom.trial
    if test.mesh is not trial.mesh:
        return sp.csr_array(atom.shape)
    return (_carried(test) @ _carried(trial).T).tocsr()


def sharing(space: Any) -> sp.csr_array:
    """(n, n) not zero where two functions have a common triangle. Masses of some neighbours are zero, or rounding, so
    that the mass matrix has another pattern."""
    carried = _carried(space)
    return (carried @ carried.T).tocsr()


def _carried(space: Any) -> sp.csr_array:
    """(functions, triangles of the mesh) not zero where a triangle carries a function."""
    held = space.dofs >= 0
    triangles = space.triangles[np.nonzero(held)[0]]
    shape = space.dimension, space.mesh.number_of_triangles
    return sp.csr_array((np.ones(len(triangles)), (space.dofs[held], triangles)), shape)
