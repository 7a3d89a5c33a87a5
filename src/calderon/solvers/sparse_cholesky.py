"""Sparse factors of inverses of matrices of Green's functions, from small matrices of neighbours.

Unknowns are numbered from coarse to fine. Column i of U has entries at i and at its nearest neighbours before it, s(i):
column i = A_ss^-1 e_i / sqrt(e_i^T A_ss^-1 e_i) is the best one with these entries in the Kullback-Leibler sense:
neighbours screen those farther away, as charges do. F. Schaefer, M. Katzfuss, H. Owhadi, SIAM J. Sci. Comput. 43 (2021)
A2019, theorem 2.1.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.sparse import csc_array, csc_matrix
from scipy.sparse.linalg import LinearOperator, aslinearoperator, splu

from calderon.backends.numba import kernel, read_only
from calderon.backends.threads import in_parts, one_thread
from calderon.mesh.locality import DEEPEST, order_of, point_keys

FEWEST, GROWTH = 12, 0.2
"""Entries of a column of sparse factors: GROWTH log(n)^2, which keeps an accuracy on surfaces, and at least FEWEST
(17 at 10,000 unknowns, 26 at 80,000, 37 at 800,000)."""
STEPS = 4
"""Parts of a level, each of which is searched among the points before its end: the number of points around a place
grows by 4^(1/4) from part to part, so that 1.41 times as many neighbours as are wanted have enough before the point."""
_LIFT = 1e-9
"""Part of the diagonal that is added to it, so that equal unknowns leave no matrix singular."""
_PART = 128
"""Columns that are computed together: their matrices of 40 x 40 numbers take 1.6 MB."""

Submatrices = Callable[[NDArray[np.int64]], NDArray[np.float64]]
"""Gives, for numbers (m, k) of unknowns, the m matrices (m, k, k) of the entries between them, of which lower triangles
suffice. The first number of a row has a column; it is there again at the end where less than k are before it."""


def neighbours_for(unknowns: int) -> int:
    """Entries of a column of sparse factors of so many unknowns."""
    return max(FEWEST, math.ceil(GROWTH * math.log(max(unknowns, 1)) ** 2))


def factorised_inverse(points: NDArray[np.float64], submatrices: Submatrices) -> LinearOperator:
    """U U^T near the inverse of a symmetric positive definite matrix A of a Green's function, with sparse U.

    points (n, 3) m: where the unknowns lie. submatrices: small matrices of entries of A; no others are computed.
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


def _levels(points: NDArray[np.float64]) -> NDArray[np.int64]:
    """(n,) the level of each point: on every level, each cell of a grid without a point of a coarser level gets the one
    nearest to its middle; cells of the next level are half as long."""
    n, low = len(points), points.min(axis=0, initial=np.inf)
    extent = np.ptp(points, axis=0).max() if n else 0.0
    unit = (points - low) / (extent * (1 + 1e-9) or 1.0)
    keys = np.empty(n, np.int64)
    point_keys(read_only(unit), np.zeros(3), float(1 << DEEPEST), 0, keys)
    order = order_of(keys)
    levels = np.full(n, DEEPEST)
    of_sorted = np.full(n, DEEPEST)
    _choose(unit[order], keys[order], of_sorted)
    levels[order] = of_sorted
    return levels


@kernel
def _choose(unit, keys, levels):
    """Fill levels (n,), DEEPEST at first, of points unit (n, 3) in a unit cube, sorted by their Morton keys (n,)."""
    n = left = len(keys)
    for level in range(DEEPEST):
        shift, scale, begin = 3 * (DEEPEST - level), 2.0**level, 0
        while begin < n and left:
            # the point of a cell that is nearest to its middle
            end, nearest, best, taken = begin, np.inf, begin, False
            while end < n and keys[end] >> shift == keys[begin] >> shift:
                taken |= levels[end] < level
                away = 0.0
                for c in range(3):
                    x = scale * unit[end, c]
                    away += (x - math.floor(x) - 0.5) ** 2
                if away < nearest:
                    nearest, best = away, end
                end += 1
            if not taken:
                levels[best] = level
                left -= 1
            begin = end


def _factor_of_inverse(
    points: NDArray[np.float64], numbered: tuple[NDArray[np.int64], NDArray[np.int64]], submatrices: Submatrices
) -> csc_array:
    """U (n, n) of U U^T, upper triangular in the order of numbered, that of `_coarse_to_fine`."""
    n = len(points)
    numbers = _earlier_neighbours(points, *numbered, min(neighbours_for(n), n))
    values = np.zeros(numbers.shape)

    def columns_between(low: int, high: int) -> None:
        own = numbers[low:high]
        _columns(submatrices(np.where(own < 0, own[:, :1], own)), own, values[low:high])

    in_parts(columns_between, n, _PART)
    kept = numbers >= 0
    starts = np.append(0, np.cumsum(kept.sum(axis=1)))
    return csc_array((values[kept], numbers[kept], starts), (n, n))


@kernel
def _columns(matrices, numbers, values):
    """values (m, k): columns of U at numbers (m, k), first the column's own, -1 at the end for none; matrices (m, k, k)
    are A_ss. With the own number last, A_ss = R^T R has the column R^-1 e of the last unit vector e."""
    r = np.empty(matrices.shape[1:])
    for m in range(len(numbers)):
        last = np.count_nonzero(numbers[m] >= 0) - 1
        # R row by row
        regular = True
        for j in range(last + 1):
            for i in range(j, last + 1):
                r[j, i] = matrices[m, last - j, last - i]
            r[j, j] *= 1 + _LIFT
            for p in range(j):
                f = r[p, j]
                for i in range(j, last + 1):
                    r[j, i] -= f * r[p, i]
            regular &= r[j, j] > 0
            if not regular:
                break
            f = 1 / math.sqrt(r[j, j])
            for i in range(j, last + 1):
                r[j, i] *= f
        values[m] = 0.0
        if not regular:  # rounding or rough entries: the diagonal alone
            values[m, 0] = 1 / math.sqrt(matrices[m, 0, 0])
            continue
        # substitution from the last unknown on
        values[m, 0] = 1 / r[last, last]
        for j in range(last - 1, -1, -1):
            total = 0.0
            for i in range(j + 1, last + 1):
                total += r[j, i] * values[m, last - i]
            values[m, last - j] = -total / r[j, j]


def _earlier_neighbours(
    points: NDArray[np.float64], levels: NDArray[np.int64], order: NDArray[np.int64], count: int
) -> NDArray[np.int32]:
    """(n, count) each number itself and then those of the nearest points before it in an order from coarse to fine, -1
    for none."""
    found = np.full((len(points), count), -1, np.int32)
    rank = np.argsort(order)
    wanted = math.ceil(4 ** (1 / STEPS) * count + 2 * math.sqrt(count))

    def search(begin: int, end: int) -> None:
        # in the order of the mesh, so that queries that follow each other find the same points
        until, own = np.sort(order[:end]), np.sort(order[begin:end])
        tree = scipy.spatial.cKDTree(points[until], balanced_tree=False, compact_nodes=False)
        nearest = np.arange(1, min(wanted, end) + 1)

        def part(low: int, high: int) -> None:
            some = own[low:high]
            _choose_earlier(until[tree.query(points[some], nearest)[1]], some, rank, found)

        in_parts(part, end - begin, _PART)

    for begin, end in _parts_of(levels):
        search(begin, end)
    return found


@kernel
def _choose_earlier(near, own, rank, found):
    """Fill rows of found for unknowns own (m,): each itself and then, of the unknowns near it (m, k), nearest first,
    those of a lower rank (n,), a place in the order of all."""
    for m in range(len(own)):
        row, number = found[own[m]], 1
        row[0] = own[m]
        for k in range(near.shape[1]):
            if number < len(row) and rank[near[m, k]] < rank[own[m]]:
                row[number] = near[m, k]
                number += 1


def _parts_of(levels: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Parts (begin, end) of the order of points: STEPS of each level, 1/4 of whose points, those of coarser levels, are
    there before it."""
    ends = np.cumsum(np.bincount(levels))
    begin = 0
    for before, of_level in zip(np.append(0, ends), np.diff(ends, prepend=0), strict=False):
        for step in range(1, STEPS + 1):
            end = int(before + of_level * (4 ** (step / STEPS) - 1) // 3)
            if end > begin:
                yield begin, end
            begin = end
