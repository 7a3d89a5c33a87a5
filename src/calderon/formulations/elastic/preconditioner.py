"""An approximate inverse for elastic solids: blocks of neighbouring unknowns, and rigid motions of clusters of them.

With orthonormal columns Z, the rigid motions of clusters of unknowns, and the inverses S of diagonal blocks,

    M r = Z (Z^T A Z)^-1 Z^T r + S (r - Z Z^T r)

(M. Bebendorf 2008, section 3; two levels). M needs no product with A; Z^T A Z is made from the moments of clusters
where products are fast, and by products else.
"""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.fmm.elastic import ElasticProduct
from calderon.fmm.elastic_blocks import Columns, block_sums, far_sums, groups_of_leaves, near_sums
from calderon.formulations.elastic.balance import rigid_motions
from calderon.formulations.elastic.equations import Equation
from calderon.mesh.locality import block_order

Array = NDArray[np.float64]
Index = NDArray[np.int64]
LEAF, CLUSTER = 60, 400
"""Unknowns of a block, and of a cluster that moves as a rigid body."""
FEWEST = 30
"""Unknowns of a kind, displacements or tractions, that a cluster has rigid motions for."""
CLUSTERS = 400
"""Clusters at most: a coarse problem of some 3,000 unknowns."""


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
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return sp.coo_array(entries, (equation.unknowns, count)).tocsr()


def two_levels(equation: Equation) -> LinearOperator:
    """The preconditioner."""
    size = max(CLUSTER, -(-equation.unknowns // CLUSTERS))
    product = getattr(equation.layers.joint, "product", None) if isinstance(equation, Equation) else None
    product = getattr(product, "host", product)  # of products on a device
    if isinstance(product, ElasticProduct):
        coarse, matrix, blocks = _by_boxes(equation, product, size)
    else:
        coarse = rigid_columns(equation, clusters(equation.points, size))
        matrix = coarse.T @ (equation.operator @ coarse.toarray()) if coarse.shape[1] else np.zeros((0, 0))
        leaves = [np.sort(leaf) for leaf in clusters(equation.points, LEAF)]
        blocks = [(leaf, equation.block(leaf)) for leaf in leaves]
    if len(blocks) == 1:  # singular without the lift and elastic supports, where the body is held by these alone
        blocks = [(np.arange(equation.unknowns), equation.operator @ np.eye(equation.unknowns))]
    inverse, transposed = np.linalg.inv(matrix), coarse.T.tocsr()
    inverses = [(leaf, np.linalg.inv(block)) for leaf, block in blocks]

    def apply(residual: Array) -> Array:
        r = residual.ravel()
        shares = transposed @ r
        x, rest = coarse @ (inverse @ shares), r - coarse @ shares
        for leaf, block in inverses:
            x[leaf] += block @ rest[leaf]
        return np.asarray(x)

    return LinearOperator((equation.unknowns,) * 2, matvec=apply, dtype=np.float64)


def _by_boxes(
    equation: Equation, product: ElasticProduct, size: int
) -> tuple[sp.csr_array, Array, list[tuple[Index, Array]]]:
    """Z, Z^T A Z, and unknowns and entries of blocks, from the near blocks and moments of a fast product."""
    far, count = product.far, equation.displacements
    leaves, real = len(far.layout.lists.leaves), far.table.numbers.dtype
    tests = sp.block_diag([part.tests for part in equation.parts], format="csr")
    left = sp.csr_array(tests @ sp.diags_array(equation.scale))
    u, t = equation.length * equation.free, equation.bound
    right = sp.csr_array(sp.block_diag([u, t]) if len(far.columns) > 1 else u)
    local = sp.vstack([part.local @ u for part in equation.parts])
    local = sp.csr_array(left.T @ sp.hstack([local, sp.csr_array((local.shape[0], t.shape[1]))]))
    owners = np.zeros(equation.unknowns, np.int64)
    for line in far.columns:
        leaf = np.repeat(np.arange(leaves), np.diff(line.pieces.starts))
        one = sp.csr_array(right[line.first + line.pieces.whole])
        owners[one.indices] = np.repeat(leaf, np.diff(one.indptr))
    weights = np.bincount(owners, minlength=leaves)

    def parts(most: int) -> list[Index]:
        group = groups_of_leaves(far.layout, weights, most)[owners]
        order = np.argsort(group, kind="stable")
        return [np.sort(each) for each in np.split(order, np.flatnonzero(np.diff(group[order])) + 1)]

    chosen = parts(LEAF)
    found = block_sums(product, left, right, chosen)
    blocks = [(each, block + local[each][:, each].toarray()) for each, block in zip(chosen, found, strict=True)]

    coarse = rigid_columns(equation, parts(size))
    moved = right @ coarse
    if equation.springs.nnz:
        moved = sp.csr_array(moved)
        supported = sp.csr_array(equation.springs @ (u @ coarse[:count]))
        moved = moved - sp.vstack([sp.csr_array((u.shape[0], coarse.shape[1])), supported])
    rows, columns = (
        Columns.of(lines, sp.csr_array(matrix), leaves, real)
        for lines, matrix in ((far.rows, left @ coarse), (far.columns, moved))
    )
    dense = np.zeros((coarse.shape[1] + 1,) * 2)
    near_sums(product, rows, columns, dense)
    far_sums(product, rows, columns, dense)
    lifted = coarse[:count].T @ equation.lift, coarse[:count].T @ (equation.scale[:count, None] * equation.lift)
    matrix = dense[:-1, :-1] + (coarse.T @ (local @ coarse)).toarray()
    return coarse, matrix + equation.length * (lifted[1] @ lifted[0].T), blocks
