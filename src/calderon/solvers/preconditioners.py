"""Approximate inverses from the entries of a matrix; those that depend on the physics lie with their equations."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.sparse import csc_array, csc_matrix, diags_array, issparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator, splu

from calderon.backends.threads import in_parts, one_thread

FEWEST, GROWTH = 12, 0.2
"""Entries of a column of sparse factors: GROWTH log(n)^2, which keeps an accuracy on surfaces, and at least FEWEST
(17 at 10,000 unknowns, 26 at 80,000, 37 at 800,000)."""
_DEPTH = 20
"""Levels of cells in which points are numbered from coarse to fine; 21 bits of a coordinate are in a key."""
_LIFT = 1e-9
"""Part of the diagonal that is added to it, so that equal unknowns leave no matrix singular."""
_PART = 512
"""Columns that are computed together."""


def jacobi(matrix: Any) -> LinearOperator:
    """The inverse of the diagonal of `matrix` (anything with ``diagonal()``, or ``to_array()``)."""
    if not hasattr(matrix, "diagonal") and hasattr(matrix, "to_array"):
        matrix = matrix.to_array()
    if not hasattr(matrix, "diagonal"):
        raise TypeError(f"jacobi needs the diagonal of a matrix, which {type(matrix).__name__} does not give")
    diagonal = np.asarray(matrix.diagonal())
    zeros = np.flatnonzero((diagonal == 0) | ~np.isfinite(diagonal))
    if len(zeros):
        raise ValueError(f"{len(zeros)} diagonal entries are zero or not finite, the first in row {zeros[0]}")
    return aslinearoperator(diags_array(1 / diagonal))


def sparse_inverse(matrix: Any) -> LinearOperator:
    """The inverse of a sparse matrix, such as a mass matrix, by a sparse LU factorisation (SuperLU) that is kept.

    Unknowns are ordered by minimum degree: of A + A^T where entries lie symmetrically, as those of Galerkin matrices
    do, which halves the factors of a surface, else of A^T A.
    """
    if not issparse(matrix):
        raise TypeError(
            f"sparse_inverse needs a SciPy sparse matrix, got {type(matrix).__name__}: use lu for a dense one"
        )
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"sparse_inverse needs a square matrix, got shape {matrix.shape}")
    dtype = np.dtype(np.complex128 if matrix.dtype.kind == "c" else np.float64)
    columns = csc_matrix(matrix, dtype=dtype)
    ordering = "MMD_AT_PLUS_A" if is_structurally_symmetric(columns) else "COLAMD"
    try:
        with one_thread:
            factors = splu(columns, permc_spec=ordering)
    except RuntimeError as error:
        raise np.linalg.LinAlgError(f"the sparse matrix of shape {matrix.shape} is singular") from error

    # real factors solve for the parts of complex columns
    def solve(x: np.ndarray, trans: str) -> np.ndarray:
        if dtype.kind != "c" and np.iscomplexobj(x):  # real and imaginary parts as columns
            parts = np.ascontiguousarray(x, np.complex128).reshape(len(x), -1).view(np.float64)
            return np.ascontiguousarray(factors.solve(parts, trans)).view(np.complex128).reshape(x.shape)
        return np.asarray(factors.solve(np.ascontiguousarray(x, dtype), trans))

    forward, adjoint = partial(solve, trans="N"), partial(solve, trans="H")
    return LinearOperator(matrix.shape, matvec=forward, rmatvec=adjoint, matmat=forward, rmatmat=adjoint, dtype=dtype)


def is_structurally_symmetric(matrix: csc_matrix) -> bool:
    """Whether an entry is stored at (j, i) for each that is stored at (i, j)."""
    sides = matrix.copy(), csc_matrix(matrix.T)
    for each in sides:
        each.sum_duplicates()
    same = (np.array_equal(*(getattr(each, name) for each in sides)) for name in ("indptr", "indices"))
    return all(same)


def neighbours_for(unknowns: int) -> int:
    """Entries of a column of sparse factors of so many unknowns."""
    return max(FEWEST, math.ceil(GROWTH * math.log(max(unknowns, 1)) ** 2))


Submatrices = Callable[[NDArray[np.int64]], NDArray[np.float64]]
"""Gives, for numbers (m, k) of unknowns, the m matrices (m, k, k) of the entries between them."""


def factorised_inverse(points: NDArray[np.float64], submatrices: Submatrices) -> LinearOperator:
    """U U^T near the inverse of a symmetric positive definite matrix A of a Green's function, with sparse U.

    points (n, 3) m: where the unknowns lie. submatrices: small matrices of entries of A; no others are computed.

    Unknowns are numbered from coarse to fine, each with its nearest neighbours among those before it, s(i). Column i is
    A_ss^-1 e_i / sqrt(e_i^T A_ss^-1 e_i), the best one with these entries in the Kullback-Leibler sense: neighbours
    screen those farther away, as charges do. F. Schaefer, M. Katzfuss, H. Owhadi, SIAM J. Sci. Comput. 43 (2021)
    A2019, theorem 2.1.
    """
    n = len(points)
    factor = _factor_of_inverse(points, _coarse_to_fine(points), submatrices)
    transposed = factor.T

    def product(x: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(factor @ (transposed @ x))

    return LinearOperator((n, n), matvec=product, rmatvec=product, matmat=product, rmatmat=product, dtype=np.float64)


def factorised_matrix(points: NDArray[np.float64], submatrices: Submatrices) -> LinearOperator:
    """(U U^T)^-1 near a symmetric positive definite matrix A of a Green's function, by substitution with the sparse U
    of `factorised_inverse`, which has the same arguments; of real columns."""
    n, numbered = len(points), _coarse_to_fine(points)
    if not n:
        return aslinearoperator(csc_array((0, 0)))
    order = numbered[1]
    factor = csc_matrix(_factor_of_inverse(points, numbered, submatrices)[order][:, order])
    with one_thread:  # U is its own factor in this order: nothing is filled in
        triangular = splu(factor, permc_spec="NATURAL", diag_pivot_thresh=0.0, options={"Equil": False})

    def product(x: NDArray[Any]) -> NDArray[Any]:
        found = np.empty(x.shape)
        found[order] = triangular.solve(triangular.solve(np.ascontiguousarray(x[order], np.float64)), "T")
        return found

    return LinearOperator((n, n), matvec=product, rmatvec=product, matmat=product, rmatmat=product, dtype=np.float64)


def _coarse_to_fine(points: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(n,) the level of each point, and the order of all points by levels: at random within a level, always the same,
    so that those before a point lie around it, not on one side as in the order of a mesh."""
    levels = _levels(points)
    return levels, np.lexsort((np.random.default_rng(0).permutation(len(points)), levels))


def _factor_of_inverse(
    points: NDArray[np.float64], numbered: tuple[NDArray[np.int64], NDArray[np.int64]], submatrices: Submatrices
) -> csc_array:
    """U (n, n) of U U^T, upper triangular in the order of numbered, that of `_coarse_to_fine`."""
    n = len(points)
    numbers = _earlier_neighbours(points, *numbered, min(neighbours_for(n), n))
    values = np.zeros(numbers.shape)

    def columns_between(low: int, high: int) -> None:
        own = numbers[low:high]
        missing = own < 0
        matrices = submatrices(np.where(missing, own[:, :1], own))
        matrices[missing[:, :, None] | missing[:, None]] = 0.0
        diagonal = np.einsum("kii->ki", matrices)
        diagonal *= 1 + _LIFT
        diagonal[missing] = 1.0
        unit = np.zeros((*own.shape, 1))
        unit[:, 0] = 1.0
        columns = np.linalg.solve(matrices, unit)[:, :, 0]
        # where rounding or rough entries leave no positive pivot, the diagonal alone
        columns[columns[:, 0] <= 0] = 0.0
        first = np.where(columns[:, :1] > 0, columns[:, :1], 1 / diagonal[:, :1])
        columns[:, :1] = first
        values[low:high] = np.where(missing, 0.0, columns / np.sqrt(first))

    in_parts(columns_between, n, _PART)
    kept = numbers >= 0
    starts = np.append(0, np.cumsum(kept.sum(axis=1)))
    return csc_array((values[kept], numbers[kept], starts), (n, n))


def _earlier_neighbours(
    points: NDArray[np.float64], levels: NDArray[np.int64], order: NDArray[np.int64], count: int
) -> NDArray[np.int32]:
    """(n, count) each number itself and then those of the nearest points before it in an order from coarse to fine, -1
    for none."""
    n, place = len(points), np.argsort(order)
    found = np.full((n, count), -1, np.int32)

    def search(level: int) -> None:
        until, of_level = np.flatnonzero(levels <= level), np.flatnonzero(levels == level)
        tree = scipy.spatial.cKDTree(points[until])
        # about half of the points of a level come before another one, so that twice as many are looked at
        wanted = np.arange(1, min(2 * count, len(until)) + 1)

        def part(low: int, high: int) -> None:
            own = of_level[low:high]
            near = until[tree.query(points[own], wanted)[1]]
            itself = near == own[:, None]
            itself[~itself.any(axis=1), -1] = True  # many points at one place
            near = np.where(itself, own[:, None], near)
            earlier = place[near] <= place[own, None]
            best = np.argsort(~earlier - 2 * itself.astype(int), axis=1, kind="stable")[:, :count]
            chosen = np.take_along_axis(np.where(earlier, near, -1), best, axis=1)
            found[own, : chosen.shape[1]] = chosen

        in_parts(part, len(of_level), _PART)

    for level in range(int(levels.max(initial=-1)) + 1):
        search(level)
    return found


def _levels(points: NDArray[np.float64]) -> NDArray[np.int64]:
    """(n,) the level of each point: on every level, each cell of a grid without a point of a coarser level gets the one
    nearest to its middle; cells of the next level are half as long."""
    n, low = len(points), points.min(axis=0, initial=np.inf)
    unit = (points - low) / (np.ptp(points, axis=0).max() * (1 + 1e-9) or 1.0) if n else points
    levels = np.full(n, _DEPTH)
    left = np.arange(n)
    for level in range(_DEPTH):
        scaled = unit * 2.0**level
        cells = np.floor(scaled).astype(np.int64)
        keys = (cells[:, 0] << 42) | (cells[:, 1] << 21) | cells[:, 2]
        away = np.linalg.norm(scaled[left] - cells[left] - 0.5, axis=1)
        sorted_left = left[np.lexsort((away, keys[left]))]
        first = np.diff(keys[sorted_left], prepend=-1) != 0
        new = sorted_left[first]
        new = new[~np.isin(keys[new], keys[levels < level])]
        levels[new] = level
        left = np.flatnonzero(levels == _DEPTH)
        if not len(left):
            break
    return levels
