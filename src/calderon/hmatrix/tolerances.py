"""The error that a block may have compared with a whole matrix: below its share of what the matrix does to smooth and
to rough vectors.

A block that is small compared with others need not have all the digits that its own norm would require: in a
hypersingular operator or an electric field the far blocks are smaller than the near ones by orders of magnitude. But
the product with a smooth vector is small there, too, as the large entries cancel, and the solution of an integral
equation is smooth. So a few rows are computed, as dense blocks, and say how large entries and products with some smooth
vectors are. With weights a_i for the sizes of elements nu is the least, over these vectors x, of |A x|_i / a_i in the
mean square over rows, divided by the mean square of x, and for random vectors that of (sum_j |A_ij|^2)^1/2 / a_i. The
error E of all blocks may then have sum_j |E_ij|^2 = (rtol nu a_i)^2 in each row, and likewise in each column: so large
is the error of A x for vectors that are not aligned to it. Where nu is less than random vectors see, by a factor q, the
small singular values of near blocks belong to smooth vectors, as the large ones to neighbours on both sides: nu is
taken sqrt(q) times smaller. A block of m x n gets its part in proportion to the numbers of a cross, m + n, so that the
memory is least.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import run_tasks
from calderon.galerkin.rows.entry_kernels import CompiledRows
from calderon.hmatrix.block_tree import BlockTree
from calderon.hmatrix.cluster_tree import ClusterTree
from calderon.hmatrix.products import COLUMN, HEIGHT, OFFSET, ROW, WIDTH, fill, sorted_parts

SAMPLES = 4
"""Leaves of the tree of rows whose rows are computed."""
COLUMNS_AT_ONCE = 16_384
SHARE = 0.5
"""Part of rtol that all blocks together may spend so."""


class Scales(NamedTuple):
    """rows (m,), columns (n,): weights of the unknowns, in cluster order, such as the area of their support. smooth (n,
    s): coefficients of smooth functions, in cluster order."""

    rows: NDArray[np.float64]
    columns: NDArray[np.float64]
    smooth: NDArray[np.float64]


Filling = Callable[[NDArray[np.int64]], NDArray[Any]]
"""The entries of pairs (b, 2) of clusters, those of one pair after the other."""


def block_errors(filling: Filling, tree: BlockTree, rtol: float, scales: Scales) -> NDArray[np.float64]:
    """(blocks,) errors in the Frobenius norm, those of all leaves together SHARE rtol of what the matrix does to smooth
    and to rough vectors; 0 for blocks on the diagonal."""
    m, n = tree.sizes(np.arange(len(tree.row)))
    leaves = tree.leaves
    twice = 1 + (tree.symmetric & (tree.row != tree.column)[leaves])
    per_row = float((twice * (m + n)[leaves]).sum()) / len(tree.rows.order)
    along, across = _squares(tree.rows, scales.rows)[tree.row], _squares(tree.columns, scales.columns)[tree.column]
    share = np.minimum(along * (1 + n / m), across * (1 + m / n)) / per_row
    errors = SHARE * rtol * least_product(filling, tree, scales) * np.sqrt(share)
    if tree.rows is tree.columns:
        errors[tree.row == tree.column] = 0
    return np.asarray(errors)


def _squares(clusters: ClusterTree, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """(clusters,) sums of the squared weights of the unknowns in each cluster."""
    squares = np.append(0, np.cumsum(weights**2))
    return np.asarray(squares[clusters.stop] - squares[clusters.start])


def filling_of(rows: CompiledRows, tree: BlockTree) -> Filling:
    """On the processor."""
    functions, sparse = rows.functions(), sorted_parts(rows.special)

    def numbers_of(pairs: NDArray[np.int64]) -> NDArray[Any]:
        m, n = tree.rows.size[pairs[:, 0]], tree.columns.size[pairs[:, 1]]
        table = np.zeros((len(pairs), 7), np.int64)
        table[:, ROW], table[:, HEIGHT] = tree.rows.start[pairs[:, 0]], m
        table[:, COLUMN], table[:, WIDTH] = tree.columns.start[pairs[:, 1]], n
        table[:, OFFSET] = np.cumsum(m * n) - m * n
        numbers = np.empty(int((m * n).sum()), rows.dtype)
        fill(functions.board, pairs, table, *sparse, np.zeros(rows.scratch, rows.real), numbers)
        return numbers

    return numbers_of


def least_product(filling: Filling, tree: BlockTree, scales: Scales) -> float:
    """nu sqrt(q), from a few rows."""
    leaves = [np.flatnonzero(side.is_leaf) for side in (tree.rows, tree.columns)]
    leaves = [each[np.argsort(side.start[each])] for each, side in zip(leaves, (tree.rows, tree.columns), strict=True)]
    count = min(SAMPLES, len(leaves[0]))
    chosen = leaves[0][(np.arange(count) * len(leaves[0]) + len(leaves[0]) // 2) // count]
    widths = tree.columns.size[leaves[1]]
    strips = np.split(leaves[1], np.flatnonzero(np.diff(np.cumsum(widths) // COLUMNS_AT_ONCE)) + 1)
    tasks = [(row, strip) for row in chosen for strip in strips]
    found: dict[int, tuple[int, NDArray[np.float64], NDArray[np.complex128]]] = {}

    def work(number: int) -> None:
        row, strip = tasks[number]
        m, widths = int(tree.rows.size[row]), tree.columns.size[strip]
        numbers = filling(np.stack([np.full(len(strip), row), strip], axis=1))
        squares, products = np.zeros(m), np.zeros((m, scales.smooth.shape[1]), np.complex128)
        begins = m * (np.cumsum(widths) - widths)
        for start, width, at in zip(tree.columns.start[strip], widths, begins, strict=True):
            block = numbers[at : at + m * width].reshape(m, width)
            squares += (np.abs(block) ** 2).sum(axis=1)
            products += block @ scales.smooth[start : start + width]
        found[number] = int(row), squares, products

    run_tasks(work, len(tasks))
    sums = [found[number] for number in range(len(tasks))]
    seen: list[NDArray[np.float64]] = []
    lengths = np.mean(np.abs(scales.smooth) ** 2, axis=0)
    for row in chosen:
        weights = scales.rows[tree.rows.start[row] : tree.rows.stop[row]] ** 2
        squares = sum(each[1] for each in sums if each[0] == row) / weights
        products = np.abs(sum(each[2] for each in sums if each[0] == row)) ** 2 / weights[:, None] / lengths
        seen.append(np.concatenate([squares[:, None], products], axis=1))
    squares = np.concatenate(seen).mean(axis=0)
    return float(np.sqrt(squares.min()) * (squares.min() / max(squares[0], np.finfo(float).tiny)) ** 0.25)
