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

The same rows, with the products of these vectors and of a random one, are compared with those of the finished matrix.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import run_tasks
from calderon.galerkin.rows.entry_kernels import CompiledRows
from calderon.hmatrix.hmatrix import HMatrix
from calderon.hmatrix.products import COLUMN, HEIGHT, OFFSET, ROW, WIDTH, fill, sorted_parts
from calderon.hmatrix.tree.block_tree import BlockTree
from calderon.hmatrix.tree.cluster_tree import ClusterTree
from calderon.mesh.errors import warn_of_accuracy
from calderon.products.attempts import first_that_holds
from calderon.products.check import ACCEPT_BLOCKS, Check
from calderon.solvers.iteration import ToleranceError

FINER = 0.1, 0.01
"""Parts of the tolerance that blocks have where rows of the finished matrix are above it."""


class Scales(NamedTuple):
    """rows (m,), columns (n,): weights of the unknowns, in cluster order, such as the area of their support. smooth (n,
    s): coefficients of smooth functions, in cluster order."""

    rows: NDArray[np.float64]
    columns: NDArray[np.float64]
    smooth: NDArray[np.float64]


class RowSums(NamedTuple):
    """Sums over whole rows of a matrix: squares (r,) of absolute values, products (r, s) with vectors."""

    squares: NDArray[np.float64]
    products: NDArray[np.complex128]


SumRows = Callable[[NDArray[np.int64], NDArray[np.float64]], RowSums]
"""The sums of the rows of some clusters, with vectors (n, s) in cluster order."""


class Sample(NamedTuple):
    """Rows of the matrix that are computed whole. rows (r,): their positions in cluster order. vectors (n, s + 1): the
    smooth functions, and a random vector. squares (r,): sums of squared entries. products (r, s + 1): with the vectors.
    """

    rows: NDArray[np.int64]
    vectors: NDArray[np.float64]
    squares: NDArray[np.float64]
    products: NDArray[np.complex128]

    @property
    def check(self) -> Check:
        """The check of products of these rows, with an error for each vector."""
        return Check(self.rows, self.vectors, self.products, np.arange(self.vectors.shape[1]))

    def rounding(self, unit: float) -> NDArray[np.float64]:
        """(s + 1,) relative errors of the products where entries are rounded to a unit: large where products cancel."""
        sizes = self.check.norms(self.products)
        lengths = np.sqrt(np.mean(self.vectors**2, axis=0) * self.squares.sum())
        return np.asarray(unit * lengths / np.where(sizes > 0, sizes, 1.0))


def block_errors(sample: Sample, tree: BlockTree, rtol: float, scales: Scales) -> NDArray[np.float64]:
    """(blocks,) errors that blocks may have in the Frobenius norm: those of all leaves together change products with
    smooth and with rough vectors by rtol / 2; 0 for blocks on the diagonal."""
    m, n = tree.sizes(np.arange(len(tree.row)))
    leaves = tree.leaves
    twice = 1 + (tree.symmetric & (tree.row != tree.column)[leaves])
    per_row = float((twice * (m + n)[leaves]).sum()) / len(tree.rows.order)
    along, across = _squares(tree.rows, scales.rows)[tree.row], _squares(tree.columns, scales.columns)[tree.column]
    share = np.minimum(along * (1 + n / m), across * (1 + m / n)) / per_row
    errors = 0.5 * rtol * least_product(sample, scales) * np.sqrt(share)
    if tree.rows is tree.columns:
        errors[tree.row == tree.column] = 0
    return np.asarray(errors)


def _squares(clusters: ClusterTree, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """(clusters,) sums of the squared weights of the unknowns in each cluster."""
    squares = np.append(0, np.cumsum(weights**2))
    return np.asarray(squares[clusters.stop] - squares[clusters.start])


def sums_of(rows: CompiledRows, tree: BlockTree) -> SumRows:
    """The function that computes and sums rows on the processor; rows: of the matrix."""
    functions, sparse = rows.functions(), sorted_parts(rows.special)
    leaves = np.flatnonzero(tree.columns.is_leaf)
    leaves = leaves[np.argsort(tree.columns.start[leaves])]
    # strips of leaves of about 16,000 columns
    strips = np.split(leaves, np.flatnonzero(np.diff(np.cumsum(tree.columns.size[leaves]) // 16_384)) + 1)

    def sums(clusters: NDArray[np.int64], vectors: NDArray[np.float64]) -> RowSums:
        tasks = [(cluster, strip) for cluster in clusters for strip in strips]
        found: list[Any] = [None] * len(tasks)

        def work(task: int) -> None:
            cluster, strip = tasks[task]
            pairs = np.stack([np.full(len(strip), cluster), strip], axis=1)
            m, n = int(tree.rows.size[cluster]), tree.columns.size[strip]
            table = np.zeros((len(pairs), 7), np.int64)
            table[:, ROW], table[:, HEIGHT] = tree.rows.start[cluster], m
            table[:, COLUMN], table[:, WIDTH] = tree.columns.start[strip], n
            table[:, OFFSET] = m * (np.cumsum(n) - n)
            numbers = np.empty(m * int(n.sum()), rows.dtype)
            fill(functions.board, pairs, table, *sparse, np.zeros(rows.scratch, rows.real), numbers)
            # one row of the whole strip for each row of the cluster
            columns = slice(int(tree.columns.start[strip[0]]), int(tree.columns.stop[strip[-1]]))
            cut = np.split(numbers, table[1:, OFFSET])
            part = np.concatenate([each.reshape(m, -1) for each in cut], axis=1)
            found[task] = np.square(np.abs(part), dtype=float).sum(axis=1), part @ vectors[columns]

        run_tasks(work, len(tasks))
        # sums over the strips of each cluster
        each = [found[first : first + len(strips)] for first in range(0, len(tasks), len(strips))]
        squares, products = (np.concatenate([sum(one[k] for one in strip) for strip in each]) for k in (0, 1))
        return RowSums(squares, products.astype(np.complex128))

    return sums


def sampled(sums: SumRows, tree: BlockTree, scales: Scales, real: np.dtype[Any]) -> Sample:
    """The rows of four leaves of the tree of rows, computed whole by `sums`; real: type of the vectors."""
    # leaves of rows, evenly spaced
    leaves = np.flatnonzero(tree.rows.is_leaf)
    leaves = leaves[np.argsort(tree.rows.start[leaves])]
    count = min(4, len(leaves))
    chosen = leaves[(np.arange(count) * len(leaves) + len(leaves) // 2) // count]
    # products with smooth vectors and a random one
    random = np.random.default_rng(0).standard_normal((len(scales.smooth), 1))
    vectors = np.concatenate([scales.smooth, random], axis=1).astype(real).astype(float)
    rows = np.concatenate([np.arange(tree.rows.start[row], tree.rows.stop[row]) for row in chosen])
    return Sample(rows, vectors, *sums(chosen, vectors))


def least_product(sample: Sample, scales: Scales) -> float:
    """nu sqrt(q), from a few rows."""
    weights, smooth = scales.rows[sample.rows] ** 2, slice(scales.smooth.shape[1])
    lengths = np.mean(sample.vectors[:, smooth] ** 2, axis=0)
    products = np.abs(sample.products[:, smooth]) ** 2 / weights[:, None] / lengths
    squares = np.concatenate([(sample.squares / weights)[:, None], products], axis=1).mean(axis=0)
    return float(np.sqrt(squares.min()) * (squares.min() / max(squares[0], np.finfo(float).tiny)) ** 0.25)


def checked(made: Callable[[float], HMatrix], sample: Sample, rtol: float, label: str) -> HMatrix:
    """The first of the matrices made(rtol), made(FINER[0] rtol), made(FINER[1] rtol) whose sampled rows have at most
    the error rtol, or four times that of rounding where this is larger; otherwise the last one, with an
    AccuracyWarning.

    made(tolerance): the matrix whose blocks are approximated for that tolerance; one is held at a time. label: the name
    of the matrix in the warning. Sets `rtol` and `error`, the measured one, of the result.
    """
    last = list[HMatrix]()

    def prepare(tolerance: float) -> HMatrix:
        last.clear()  # what it took is free for the next one
        last.append(made(tolerance))
        return last[0]

    def error_of(matrix: HMatrix) -> float:
        errors = sample.check.errors(matrix.products_of(sample.rows, sample.vectors))
        matrix.rtol, matrix.error = rtol, float(errors.max())
        # rounding errors of products are up to four times those of their entries alone
        allowed = np.maximum(rtol, 4.0 * sample.rounding(float(np.finfo(matrix.dtype).eps)))
        return float((errors * rtol / allowed).max())

    tolerances = (part * rtol for part in (1.0, *FINER))
    try:
        return first_that_holds(tolerances, prepare, error_of, rtol, ACCEPT_BLOCKS, lambda error: label).product
    except ToleranceError:
        warn_of_accuracy(
            f"the H-matrix of {label} has an error of {last[0].error:.1e} on {len(sample.rows)} rows, and rtol={rtol:g}"
            " was requested: use method='dense', or a finer mesh"
        )
        return last[0]
