"""Compiled rows, columns and blocks of Galerkin matrices of scalar functions."""

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from calderon.backends import Computing
from calderon.backends.vectors import width
from calderon.operators.boundary import IntegralOperator
from calderon.operators.compiled_rows import Clusters, CompiledRows
from calderon.operators.row_sides import RowSide, row_side
from calderon.operators.row_sums import Skips, Sums, row_sums, sums_scratch
from calderon.operators.special_pairs import SpecialPairs
from calderon.quadrature import triangle_rule

OTHER = {"none": "none", "trial": "fixed", "test": "varying"}
"""The side of the normal derivative in a column; in a row the other one."""


class Functions(NamedTuple):
    """row, column and block of CompiledRows."""

    row: Callable[..., None]
    column: Callable[..., None]
    block: Callable[..., None]


@functools.lru_cache(maxsize=64)
def functions_of(by_row: Sums, by_column: Sums) -> Functions:
    """Rows and columns from the loops with the test and with the trial function fixed."""
    fill_row, fill_column, fill_block = by_row.fill, by_column.fill, by_row.block

    @register_jitable
    def row(data, i, cluster, scratch, out):  # type: ignore[no-untyped-def]
        fill_row(data[0], data[1], data[3], i, cluster, scratch, out)

    @register_jitable
    def column(data, cluster, j, scratch, out):  # type: ignore[no-untyped-def]
        fill_column(data[1], data[0], data[3], j, cluster, scratch, out)

    @register_jitable
    def block(data, row_cluster, column_cluster, scratch, out):  # type: ignore[no-untyped-def]
        fill_block(data[0], data[1], data[3], data[2], row_cluster, column_cluster, scratch, out)

    return Functions(row, column, block)


def compiled_rows(
    operator: IntegralOperator, row_clusters: Clusters, column_clusters: Clusters, how: Computing
) -> CompiledRows:
    """The matrix of an integral operator by rows, columns and blocks, on the processor.

    row_clusters, column_clusters: of the test and the trial functions. The numbers are those of the dense matrix, but
    for rounding.
    """
    pairs = SpecialPairs.of(operator, how)
    same = operator.test is operator.trial and row_clusters is column_clusters
    rows, row_order = _side(pairs, True, row_clusters)
    columns, column_order = (rows, row_order) if same else _side(pairs, False, column_clusters)
    places = _positions(pairs.test.places, row_clusters), _positions(pairs.trial.places, column_clusters)
    functions = _functions(pairs)
    points = triangle_rule(operator.quadrature.regular).number_of_points
    sizes = rows.places.shape[1], columns.places.shape[1]
    vector = width(how.real)
    scratch = max(sums_scratch(points, sizes[1], sizes[0], vector), sums_scratch(points, sizes[0], sizes[1], vector))
    return CompiledRows(
        shape=operator.shape,
        dtype=pairs.out.dtype,
        real=how.real,
        row=functions.row,
        column=functions.column,
        block=functions.block,
        data=(rows, columns, _skips(pairs, row_order, column_order), pairs.scalars),
        scratch=scratch,
        special=pairs.matrix(pairs.batches, places),
        overlap=pairs.matrix(pairs.regular(), places),
        symmetric=operator.is_symmetric,
    )


def _side(pairs: SpecialPairs, test: bool, clusters: Clusters) -> tuple[RowSide, NDArray[np.int64]]:
    space, selection = (pairs.test_space, pairs.test) if test else (pairs.trial_space, pairs.trial)
    surface = pairs.test_surface if test else pairs.trial_surface
    return row_side(surface, selection.places, space.element, clusters, pairs.quadrature.regular, pairs.real)


def _positions(places: NDArray[np.int64], clusters: Clusters) -> NDArray[np.int64]:
    """Positions in cluster order of unknowns, -1 for none."""
    position = np.empty(len(clusters.order) + 1, np.int64)
    position[clusters.order] = np.arange(len(clusters.order))
    position[-1] = -1
    return position[places]


def _skips(pairs: SpecialPairs, row_order: NDArray[np.int64], column_order: NDArray[np.int64]) -> Skips:
    """The special pairs by the triangles of the row side."""
    rows, columns = np.empty_like(row_order), np.empty_like(column_order)
    rows[row_order], columns[column_order] = np.arange(len(row_order)), np.arange(len(column_order))
    i, j = pairs.all.T
    i, j = rows[i], columns[j]
    if pairs.half:
        again = i != j
        i, j = np.concatenate([i, j[again]]), np.concatenate([j, i[again]])
    key = np.sort(i * len(column_order) + j)
    i, j = np.divmod(key, len(column_order))
    return Skips(np.searchsorted(i, np.arange(len(row_order) + 1)), j.astype(np.int32))


def _functions(pairs: SpecialPairs) -> Functions:
    integrand, green = pairs.integrand, pairs.green
    mass = not (integrand.curls and green.wavenumber == 0)
    points = triangle_rule(pairs.quadrature.regular).number_of_points
    kinds = integrand.curls, mass, green.is_complex, points
    column = OTHER[integrand.normal]
    row = {"none": "none", "fixed": "varying", "varying": "fixed"}[column]
    return functions_of(row_sums(pairs.radial, row, *kinds), row_sums(pairs.radial, column, *kinds))
