"""Compiled rows, columns and blocks of Galerkin matrices of scalar functions."""

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from calderon.backends import Computing
from calderon.operators.boundary import IntegralOperator
from calderon.operators.compiled_rows import Clusters, CompiledRows
from calderon.operators.row_sides import RowSide, positions, row_side, triangle_order
from calderon.operators.row_sums import Sums, row_sums, sums_records, sums_scratch, sums_table
from calderon.operators.sides import Surface
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
    rows = _side(pairs, True, row_clusters)
    columns = rows if same else _side(pairs, False, column_clusters)
    places = rows.places, columns.places
    functions = _functions(pairs)
    points = triangle_rule(operator.quadrature.regular).number_of_points
    sizes = places[0].shape[1], places[1].shape[1]
    skips = _skips(pairs, rows.order, columns.order)
    return CompiledRows(
        shape=operator.shape,
        dtype=pairs.out.dtype,
        real=how.real,
        row=functions.row,
        column=functions.column,
        block=functions.block,
        data=(rows.side, columns.side, skips, pairs.scalars),
        scratch=max(sums_scratch(points, *sizes, how.real), sums_scratch(points, *sizes[::-1], how.real)),
        special=pairs.matrix(pairs.batches, places),
        overlap=pairs.matrix(pairs.regular(), places),
        symmetric=operator.is_symmetric,
    )


class OrderedSide(NamedTuple):
    """A side, of which triangle of the selection each of its triangles is, and the positions (triangles, L) of the
    local functions of the selection."""

    side: RowSide
    order: NDArray[np.int64]
    places: NDArray[np.int64]


def _side(pairs: SpecialPairs, test: bool, clusters: Clusters) -> OrderedSide:
    space, selection = (pairs.test_space, pairs.test) if test else (pairs.trial_space, pairs.trial)
    surface = pairs.test_surface if test else pairs.trial_surface
    places = positions(selection.places, clusters)
    order = triangle_order(places)
    rule = triangle_rule(pairs.quadrature.regular)
    records = sums_records(Surface(*(each[order] for each in surface)), rule)
    side = row_side(places[order], clusters, sums_table(rule, space.element), *records, pairs.real)
    return OrderedSide(side, order, places)


def _skips(pairs: SpecialPairs, row_order: NDArray[np.int64], column_order: NDArray[np.int64]) -> NDArray[np.int32]:
    """The special pairs by the triangles of the row side: where those of each begin, then the other triangles."""
    rows, columns = np.empty_like(row_order), np.empty_like(column_order)
    rows[row_order], columns[column_order] = np.arange(len(row_order)), np.arange(len(column_order))
    i, j = pairs.all.T
    i, j = rows[i], columns[j]
    if pairs.half:
        again = i != j
        i, j = np.concatenate([i, j[again]]), np.concatenate([j, i[again]])
    key = np.sort(i * len(column_order) + j)
    i, j = np.divmod(key, len(column_order))
    starts = np.searchsorted(i, np.arange(len(row_order) + 1)) + len(row_order) + 1
    return np.concatenate([starts, j]).astype(np.int32)


def _functions(pairs: SpecialPairs) -> Functions:
    integrand, green = pairs.integrand, pairs.green
    mass = not (integrand.curls and green.wavenumber == 0)
    points = triangle_rule(pairs.quadrature.regular).number_of_points
    kinds = integrand.curls, mass, green.is_complex, points
    column = OTHER[integrand.normal]
    row = {"none": "none", "fixed": "varying", "varying": "fixed"}[column]
    return functions_of(row_sums(pairs.radial, row, *kinds), row_sums(pairs.radial, column, *kinds))
