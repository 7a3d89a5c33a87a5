"""Rows and blocks of the matrix of currents on metal between layers, for compression."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from calderon.backends.numba import jitable_part
from calderon.galerkin.layered.matrix import LayeredMatrix
from calderon.galerkin.layered.near_pairs import products_of_pairs, scattered
from calderon.galerkin.layered.pair_sums import add_pairs
from calderon.galerkin.rows.cluster_tables import SIDE, columns_of, item, list_of, positions, row_side, triangle_order
from calderon.galerkin.rows.entry_kernels import Clusters, CompiledRows
from calderon.quadrature import triangle_rule


def layered_rows(matrix: LayeredMatrix, clusters: Clusters) -> CompiledRows:
    """The symmetric matrix of horizontal metal by its rows and blocks, in the order of the clusters."""
    metal, order = matrix.metal, clusters.order
    space: Any = metal.space
    places = positions(space.dofs, clusters, space.dimension)
    triangles = triangle_order(places)
    nothing = np.zeros((len(triangles), 0))
    side = row_side(places[triangles], clusters, nothing, nothing, nothing, float)
    special = matrix.special[triangles][:, triangles].tocsr()
    special.sort_indices()
    size = (space.dimension,) * 2
    return CompiledRows(
        shape=size, dtype=np.dtype(complex), real=np.dtype(float), row=_row, column=_column, block=_block,
        data=(
            side.integers, triangles, (special.indptr.astype(np.int64), special.indices.astype(np.int64)), metal.flat,
            matrix.rule, metal.joined, (1j * metal.sections.k0, metal.charge),
        ),
        scratch=1, special=matrix.near[0][order][:, order].tocsr(),
        overlap=lambda: _overlap(matrix)[order][:, order].tocsr(), symmetric=True,
    )  # fmt: skip


def _overlap(matrix: LayeredMatrix) -> sp.csr_array:
    """The part of near pairs that do not touch which rows have."""
    metal: Any = matrix.metal
    space, pairs = metal.space, matrix.near[1]
    corners = space.mesh.vertex_places[space.mesh.triangles[space.triangles]]
    touch = (corners[pairs[:, 0], :, None] == corners[pairs[:, 1], None, :]).any(axis=(1, 2))
    pairs = np.ascontiguousarray(pairs[~touch])
    half = scattered(space, pairs, products_of_pairs(metal, pairs, triangle_rule(matrix.quadrature.regular), True))
    return sp.csr_array(half + half.T)


@jitable_part
def _row(data, i, cluster, scratch, out):
    """Store row i in the columns of a cluster in `out`, as in `CompiledRows`; data: that of `layered_rows`."""
    # the triangles of function i as tests, those of the cluster as trials
    integers, order, _, flat, (points, weights), tables, (factor, charge) = data
    trials, columns = _cluster(integers, order, cluster)
    first, last = item(integers, SIDE.starts, i), item(integers, SIDE.starts, i + 1)
    tests, rows = np.empty(last - first, np.int64), np.full((last - first, 3), -1, np.int32)
    for k in range(last - first):
        tests[k] = order[item(integers, SIDE.triangles, first + k)]
        rows[k, item(integers, SIDE.locals, first + k)] = 0
    out[:] = 0
    skips = np.zeros(last - first + 1, np.int64), np.zeros(0, np.int64)
    whole = out.reshape((1, out.size))
    add_pairs(
        tests, trials, 0, False, flat, points, weights, tables, skips, factor, charge, (rows, columns), whole, np.inf
    )


@jitable_part
def _column(data, cluster, j, scratch, out):
    """Store column j in the rows of a cluster, as in `CompiledRows`: row j, as the matrix is symmetric."""
    _row(data, j, cluster, scratch, out)


@jitable_part
def _block(data, row_cluster, column_cluster, scratch, out):
    """Store the block of two clusters without its special pairs, as in `CompiledRows`; data: that of `layered_rows`."""
    integers, order, special, flat, (points, weights), tables, (factor, charge) = data
    tests, rows = _cluster(integers, order, row_cluster)
    trials, columns = _cluster(integers, order, column_cluster)
    skips = _skips(integers, special, row_cluster, column_cluster)
    out[:, :] = 0
    add_pairs(
        tests, trials, 0, False, flat, points, weights, tables, skips, factor, charge, (rows, columns), out, np.inf
    )


@jitable_part
def _cluster(integers, order, cluster):
    """The n triangles of a cluster, as rows of the table of functions, and the columns (n, 3) of their functions in it.

    integers: `RowSide.integers`; order: the row of the table of each of its triangles; cluster: number.
    """
    first, last = list_of(integers, cluster)
    triangles = np.empty(last - first, np.int64)
    for k in range(last - first):
        triangles[k] = order[item(integers, SIDE.lists, first + k)]
    return triangles, columns_of(integers, cluster, first, last - first).reshape((last - first, 3))


@jitable_part
def _skips(integers, special, row_cluster, column_cluster):
    """Where the special pairs of each test triangle of a block start, and the places of their trial triangles among
    those of the column cluster, increasing.

    integers: `RowSide.integers`; special: starts and numbers of the special trials of all triangles; row_cluster,
    column_cluster: numbers of the clusters.
    """
    starts, others = special
    first, last = list_of(integers, row_cluster)
    begin, end = list_of(integers, column_cluster)
    most = 0
    for k in range(first, last):
        t = item(integers, SIDE.lists, k)
        most += starts[t + 1] - starts[t]
    ends, places, count = np.zeros(last - first + 1, np.int64), np.empty(most, np.int64), 0
    # both lists increase: walk through them together
    for k in range(first, last):
        t, at = item(integers, SIDE.lists, k), begin
        for n in range(starts[t], starts[t + 1]):
            while at < end and item(integers, SIDE.lists, at) < others[n]:
                at += 1
            if at < end and item(integers, SIDE.lists, at) == others[n]:
                places[count] = at - begin
                count += 1
        ends[k - first + 1] = count
    return ends, places
