"""An approximate inverse for elastic solids: blocks of neighbouring unknowns, and rigid motions of clusters of them.

With orthonormal columns Z, the rigid motions of clusters of unknowns, and the inverses S of diagonal blocks,

    M r = Z (Z^T A Z)^-1 Z^T r + S (r - Z Z^T r)

(M. Bebendorf 2008, section 3; two levels). M needs no product with A; Z^T A Z is made from the moments of clusters
where products are fast, and by products else.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends import return_memory, run_tasks, thread_count
from calderon.fmm.elastic import ElasticProduct
from calderon.formulations.elastic.coarse.columns import Columns, groups_of_leaves
from calderon.formulations.elastic.coarse.far import far_sums
from calderon.formulations.elastic.coarse.near import BlockSums, near_sums
from calderon.formulations.elastic.coarse.squares import Squares
from calderon.formulations.elastic.conditions.rigid_motions import rigid_motions
from calderon.formulations.elastic.conditions.surface_conditions import sparse
from calderon.formulations.elastic.system.body import BodyRows
from calderon.formulations.elastic.system.equation import Equation
from calderon.formulations.elastic.system.unknown_columns import UnknownColumns
from calderon.mesh.locality import block_order

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Blocks = Callable[[int, int], list[NDArray[Any]]]
"""The entries between the unknowns of each of the groups low .. high."""
LEAF, CLUSTER = 60, 400
"""Unknowns of a block, and of a cluster that moves as a rigid body."""
FEWEST = 30
"""Unknowns of a kind, displacements or tractions, that a cluster has rigid motions for."""
CLUSTERS = 400
"""Clusters at most: a coarse problem of some 3,000 unknowns."""
SHARES = 4
"""Of the blocks, for each thread."""
STORED = np.float32
"""Of sums."""
SINGULAR = 1e-5
"""Inverse condition below which a block is singular; blocks are in single precision."""


def clusters(points: Array, size: int) -> list[Index]:
    """The numbers of points (n, 3) in groups of `size` neighbours."""
    return np.split(block_order(points, size), np.arange(size, len(points), size))


def rigid_columns(equation: Equation, parts: Sequence[Index]) -> sp.csr_array:
    """(n, k) orthonormal columns: rigid motions of the displacements and of the tractions of each cluster."""
    rows, columns, values, count = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0)], 0
    for cluster in parts:
        displacements = cluster < equation.displacements
        for part in (cluster[displacements], cluster[~displacements]):
            if len(part) < FEWEST:
                continue
            centre = equation.points[part].mean(axis=0)
            arms = equation.points[part] - centre
            motions = rigid_motions(arms / max(float(np.abs(arms).max()), 1e-300), np.zeros(3))
            left, sizes, _ = np.linalg.svd(np.einsum("ni,nik->nk", equation.axes[part], motions), full_matrices=False)
            left = left[:, sizes > 1e-8 * sizes[0]]
            rows.append(np.repeat(part, left.shape[1]))
            columns.append(np.tile(count + np.arange(left.shape[1]), len(part)))
            values.append(left.ravel())
            count += left.shape[1]
    entries = np.concatenate(values), np.concatenate(rows), np.concatenate(columns)
    return sparse(*entries, (equation.unknowns, count))


def two_levels(equation: Any) -> LinearOperator:
    """The preconditioner of an `Equation` or one of bonded solids."""
    size, bodies = max(CLUSTER, -(-equation.unknowns // CLUSTERS)), bodies_of(equation)
    return_memory()
    parts = _by_boxes(equation, bodies, size) if bodies else clusters(equation.points, size)
    coarse = rigid_columns(equation, parts)
    return_memory()
    if bodies:
        matrix = _coarse_matrix(equation, bodies, coarse)
        return_memory()
        inverse = _whole_inverse(matrix)
        del matrix
        return_memory()
        leaves = _by_boxes(equation, bodies, LEAF)
        blocks = _leaf_blocks(equation, bodies, leaves)
    else:
        matrix = coarse.T @ (equation @ coarse.toarray()) if coarse.shape[1] else np.zeros((0, 0))
        inverse = _whole_inverse(matrix)
        leaves = [np.sort(leaf) for leaf in clusters(equation.points, LEAF)]
        blocks = _stored([equation.block(leaf) for leaf in leaves])
    if len(leaves) == 1:  # singular without the lift and elastic supports, where the body is held by these alone
        leaves, blocks = [np.arange(equation.unknowns)], _stored([equation @ np.eye(equation.unknowns)])
    inverses = _inverses(leaves, blocks)
    del blocks  # with what it was made from
    return_memory()

    def apply(residual: Array) -> Array:
        r = residual.ravel()
        shares = coarse.T @ r
        x, rest = coarse @ inverse.product(shares), r - coarse @ shares
        return np.asarray(x + inverses.product(rest))

    return LinearOperator((equation.unknowns,) * 2, matvec=apply, dtype=np.float64)


def _stored(blocks: list[Array]) -> Blocks:
    return lambda low, high: blocks[low:high]


def _inverses(leaves: list[Index], blocks: Blocks) -> Squares:
    """Of the blocks of all leaves, some at a time."""
    inverses = Squares.empty(leaves)
    bounds = np.linspace(0, len(leaves), SHARES * thread_count() + 1).astype(np.int64).tolist()

    def invert(part: int) -> None:
        low, high = bounds[part : part + 2]
        for n, block in enumerate(blocks(low, high), low):
            inverses.enter(n, _inverse(block))

    run_tasks(invert, len(bounds) - 1)
    return inverses


def _inverse(block: Array) -> Array:
    """The inverse; of a block that is all of a body without supports the pseudo-inverse: Z has its rigid motions."""
    block = np.asarray(block, np.float64)
    found = np.linalg.inv(block)
    if np.linalg.norm(block) * np.linalg.norm(found) >= 1 / SINGULAR:
        found = np.linalg.pinv(block, rcond=SINGULAR)
    return np.asarray(found)


def _whole_inverse(matrix: Array) -> Squares:
    """The inverse of a large matrix, which is overwritten."""
    found = Squares.empty([np.arange(len(matrix))])
    if len(matrix):
        found.enter(0, scipy.linalg.inv(matrix.T, overwrite_a=True).T)  # LAPACK has columns where these are rows
    return found


def bodies_of(equation: Equation) -> "list[_Body]":
    """The bodies of an equation whose products are fast, else none."""
    found = []
    for rows in equation.bodies:
        if not isinstance(rows.layers, UnknownColumns):
            return []
        product = rows.layers.product.product
        product = getattr(product, "host", product)  # of products on a device
        if not isinstance(product, ElasticProduct):
            return []
        found.append(_Body.of(equation, rows, rows.layers, product))
    return found


class _Body(NamedTuple):
    """The matrix of one body between all unknowns, A = left^T P right + local, by its fast product P.

    rows: the `BodyRows`. columns: its layers. length: L. product: P. left (p, unknowns): from its rows to the rows of
    A. right (k, unknowns): from unknowns to displacements and tractions, without elastic supports. local (unknowns,
    unknowns): the rest of A.
    """

    rows: BodyRows
    columns: UnknownColumns
    length: float
    product: ElasticProduct
    left: sp.csr_array
    right: sp.csr_array
    local: sp.csr_array

    @staticmethod
    def of(equation: Equation, rows: BodyRows, layers: UnknownColumns, product: ElasticProduct) -> "_Body":
        """The matrix of a body of an assembled equation."""
        left = sp.csr_array(rows.tests @ sp.diags_array(equation.scale))
        u = equation.length * rows.free
        has_tractions = layers.table.shape[1] > u.shape[0]
        right = sp.block_diag([u, rows.bound]) if has_tractions else u
        local = sp.vstack([each.local @ u for each in rows.rows], format="csr")
        for each in (right, local):
            each.resize((each.shape[0], equation.unknowns))
        local = left.T @ local
        right, local = sp.csr_array(right), sp.csr_array(local)
        return _Body(rows, layers, equation.length, product, left[layers.tested], right, local)

    @property
    def kept(self) -> sp.csr_array:
        """The right side for all unknowns, without elastic supports."""
        return sp.csr_array(self.right[self.columns.columns])

    def moved(self, columns: sp.csr_array) -> sp.csr_array:
        """The right side of the product, its kept columns."""
        found, springs = self.right @ columns, self.rows.springs
        if springs.nnz:
            u = self.length * self.rows.free
            supported = springs @ (u @ columns[: u.shape[1]])
            found = found - sp.vstack([sp.csr_array((u.shape[0], columns.shape[1])), supported])
        return sp.csr_array(found.tocsr()[self.columns.columns])

    @property
    def owners(self) -> Index:
        """(unknowns,) the leaf of each unknown that the body has a row for, else -1."""
        found = np.full(self.left.shape[1], -1)
        for line in self.product.far.rows:
            leaf = np.repeat(np.arange(self.leaves), np.diff(line.pieces.starts))
            one = sp.csr_array(self.left[line.first + line.pieces.whole])
            found[one.indices] = np.repeat(leaf, np.diff(one.indptr))
        return found

    @property
    def leaves(self) -> int:
        return len(self.product.far.layout.lists.leaves)

    def add_sums(self, coarse: sp.csr_array, sums: Array) -> None:
        """Add Z^T A Z without the lift to a matrix."""
        far = self.product.far
        rows, columns = (
            Columns.of(lines, sp.csr_array(matrix), self.leaves)
            for lines, matrix in ((far.rows, self.left @ coarse), (far.columns, self.moved(coarse)))
        )
        near_sums(self.product, rows, columns, sums)
        return_memory()
        far_sums(self.product, rows, columns, sums)
        local = (coarse.T @ (self.local @ coarse)).tocoo()
        sums[local.coords] += local.data


def _by_boxes(equation: Any, bodies: Sequence[_Body], most: int) -> list[Index]:
    """The unknowns in groups of boxes with about `most` of them."""
    groups, first = np.zeros(equation.unknowns, np.int64), 0
    for body in bodies:
        owner = body.owners
        own = owner >= 0
        weights = np.bincount(owner[own], minlength=body.leaves)
        groups[own] = first + groups_of_leaves(body.product.far.layout, weights, most)[owner[own]]
        first = int(groups.max()) + 1
    order = np.argsort(groups, kind="stable")
    return [np.sort(each) for each in np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)]


def _coarse_matrix(equation: Equation, bodies: Sequence[_Body], coarse: sp.csr_array) -> Array:
    """Z^T A Z from the near blocks and moments of fast products, which are in single precision."""
    count, lift = equation.displacements, equation.lift
    scaled = equation.length * equation.scale[:count, None] * lift
    dense = np.zeros((coarse.shape[1],) * 2, STORED)
    if lift.shape[1]:
        dense[...] = (coarse[:count].T @ scaled) @ (coarse[:count].T @ lift).T
    for body in bodies:
        body.add_sums(coarse, dense)
    for balance in equation.balances:
        if balance is not None:
            rows, columns = balance.change
            dense += (coarse.T @ rows).toarray() @ (coarse.T @ columns).T
    return_memory()
    return dense.astype(np.float64)  # which LAPACK overwrites


def _leaf_blocks(equation: Equation, bodies: Sequence[_Body], chosen: list[Index]) -> Blocks:
    """Blocks from near blocks."""
    sums = [BlockSums(body.product, body.left, body.kept, body.local, chosen) for body in bodies]
    balances = [each for each in equation.balances if each is not None]

    def blocks(low: int, high: int) -> list[NDArray[Any]]:
        found = [np.sum(each, axis=0) for each in zip(*(one.of(low, high) for one in sums), strict=True)]
        return [
            sum((one.change_of(leaf) for one in balances), each)
            for each, leaf in zip(found, chosen[low:high], strict=True)
        ]

    return blocks
