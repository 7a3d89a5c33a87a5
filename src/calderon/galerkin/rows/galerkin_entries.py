"""Compiled rows, columns and blocks of Galerkin matrices."""

import functools
import operator as operators
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends import Execution, at_once
from calderon.backends.numba import jitable_part
from calderon.galerkin.bilinear_form import BilinearForm
from calderon.galerkin.block import Block
from calderon.galerkin.regular.distant import Zones
from calderon.galerkin.regular.element_tables import FUNCTIONS_AT_ONCE, in_threes
from calderon.galerkin.rows.cluster_tables import SIDE, RowSide, positions, regrouped, row_side, triangle_order
from calderon.galerkin.rows.entries import Entries, entries_scratch, entry_loops
from calderon.galerkin.rows.entry_kernels import Clusters, CompiledRows
from calderon.galerkin.rows.entry_tables import DATA, Layout, side_records, side_table
from calderon.galerkin.rows.pair_matrix import Neighbours, neighbours, summed
from calderon.galerkin.rows.special_pairs import FoundPairs, SpecialPairs
from calderon.pairs.rules import Batch
from calderon.pairs.zones import DEGREE, DistantRule
from calderon.quadrature import triangle_rule


@functools.lru_cache(maxsize=64)
def functions_of(by_row: Entries, by_column: Entries | None) -> dict[str, Callable[..., None]]:
    """row, column and block of `CompiledRows` from the loops with the test and with the trial function fixed; without
    the latter columns are those of a symmetric matrix.

    The arguments are those of `CompiledRows`: row(data, i, cluster, scratch, out), column(data, cluster, j, scratch,
    out), block(data, row_cluster, column_cluster, scratch, out), where data has the test side and the trial side
    (`RowSide`), the special pairs (`_skips`) and the scalars of all forms.
    """
    symmetric, fill_row, fill_block = by_column is None, by_row.fill, by_row.block
    fill_column = fill_row if by_column is None else by_column.fill

    @jitable_part
    def row(data, i, cluster, scratch, out):
        """Fill a row; arguments as `CompiledRows` says."""
        fill_row(data[0], data[1], data[3], i, cluster, scratch, out)

    @jitable_part
    def column(data, cluster, j, scratch, out):
        """Fill a column; arguments as `CompiledRows` says."""
        if symmetric:
            fill_column(data[0], data[1], data[3], j, cluster, scratch, out)
        else:
            fill_column(data[1], data[0], data[3], j, cluster, scratch, out)

    @jitable_part
    def block(data, row_cluster, column_cluster, scratch, out):
        """Fill a block; arguments as `CompiledRows` says."""
        fill_block(data[0], data[1], data[3], data[2], row_cluster, column_cluster, scratch, out)

    return {"row": row, "column": column, "block": block}


def compiled_rows(
    operator: BilinearForm,
    row_clusters: Clusters,
    column_clusters: Clusters,
    execution: Execution,
    found: FoundPairs | None = None,
    with_columns: bool = True,
) -> CompiledRows:
    """The matrix of an integral operator by rows, columns and blocks, on the processor.

    row_clusters, column_clusters: of the test and the trial functions. Entries are those of the dense matrix, but for
    rounding. found: the search for touching and near pairs of triangles that another operator on the same spaces made.
    with_columns: False where only rows and blocks are called, as columns of unsymmetric matrices have code of their
    own. Raises TypeError for operators that are sums, products or tables of others.
    """
    if not isinstance(operator, BilinearForm):
        raise TypeError(f"{operator!r} has no compiled rows, integral operators have: assemble its parts")
    return compiled_sum([(1.0, operator)], row_clusters, column_clusters, execution, found, with_columns)


def compiled_sum(
    terms: Sequence[tuple[complex, BilinearForm]],
    row_clusters: Clusters,
    column_clusters: Clusters,
    execution: Execution,
    found: FoundPairs | None = None,
    with_columns: bool = True,
) -> CompiledRows:
    """The rows, columns and blocks of factor * form, or of the sum of two of these that `go_together`; arguments as of
    `compiled_rows`."""
    parts: list[SpecialPairs] = []
    for factor, form in sorted(terms, key=lambda term: term[1].is_symmetric):  # which need half of the pairs
        parts.append(SpecialPairs.of(form, execution, parts[0].found if parts else found, factor))
    pairs = max(parts, key=lambda each: each.form.curls)  # whose records have what the other one reads, too
    forms, rule = [each.form for each in parts], triangle_rule(pairs.quadrature.regular)
    distant, reached = Zones.common(parts)
    tables = _side_tables(pairs, distant)
    one_space, symmetric = pairs.test_space is pairs.trial_space, all(each.is_symmetric for _, each in terms)
    same = pairs.form.direct and one_space and row_clusters is column_clusters
    # both sides; what they share is made once
    if same:
        rows = columns = _side(pairs, True, row_clusters, tables[0][1], reached[0])
    elif pairs.form.direct and one_space and np.array_equal(row_clusters.order, column_clusters.order):
        rows = _side(pairs, True, row_clusters, tables[0][1], reached[0])
        columns = rows._replace(side=regrouped(rows.side, column_clusters), clusters=column_clusters)
    else:
        rows, columns = at_once(
            functools.partial(_side, pairs, True, row_clusters, tables[0][1], reached[0]),
            functools.partial(_side, pairs, False, column_clusters, tables[1][1], reached[1]),
        )
    test, trial = (layouts for layouts, _ in tables)
    many_tests = pairs.numbers_of_tests > 0

    def loops(by_columns: bool, fixed: list[Layout], varying: list[Layout]) -> Entries:
        """The compiled loops with the test side fixed, or by_columns the trial side."""
        kind = pairs.radial, forms[0], by_columns, by_columns and many_tests, pairs.green.is_complex
        (*own, centroids), second = (fixed[0], varying[0], pairs._through_centroids()), (*forms[1:], None)[0]
        return entry_loops(*kind, *own, centroids, second, distant, (fixed[1], varying[1]) if distant else None)

    # the sparse part of touching and near pairs
    around = [_neighbours(each, np.concatenate([each.triangles(each.batches), each.idle]), rows, columns)
              for each in parts]  # fmt: skip
    special = [_summed(each, lists, each.batches, rows, columns) for lists, each in zip(around, parts, strict=True)]
    sizes = pairs.test.places.shape[1], pairs.trial.places.shape[1]
    longest = max(int(each.side.integers[SIDE.length]) for each in (rows, columns))
    by_columns = with_columns and not (symmetric and row_clusters is column_clusters)
    return CompiledRows(
        shape=pairs.out.shape,
        dtype=pairs.out.dtype,
        real=execution.real,
        **functions_of(loops(False, test, trial), loops(True, trial, test) if by_columns else None),
        data=(rows.side, columns.side, _skips(around[0]), np.concatenate([each.tile_scalars for each in parts])),
        scratch=max(entries_scratch(each, rule.number_of_points, *sizes, longest, execution.real) for each in forms),
        special=functools.reduce(operators.add, special),
        overlap=lambda: sum(_matrix(each, each.regular(), rows, columns) for each in parts),
        symmetric=symmetric,
        found=parts[0].found,
    )


def _side_tables(pairs: SpecialPairs, distant: DistantRule | None) -> list[tuple[list[Layout], NDArray[np.float64]]]:
    """Layouts and tables of both sides, of the rule of regular pairs and, if there is one, of that of distant pairs."""
    rules = [triangle_rule(each) for each in (pairs.quadrature.regular, DEGREE)][: 2 if distant else 1]
    found: list[tuple[list[Layout], list[NDArray[np.float64]]]] = [([], []), ([], [])]
    for number, rule in enumerate(rules):
        for (layouts, tables), functions in zip(found, pairs.moment_functions(rule), strict=True):
            before, means = sum(each.size for each in tables), number == 1 and distant != "points"
            layout, table = side_table(rule, functions, pairs.threes, before, means)
            layouts.append(layout)
            tables.append(table)
    return [(layouts, np.concatenate(tables)) for layouts, tables in found]


def go_together(one: BilinearForm, other: BilinearForm) -> bool:
    """Whether one pass integrates both: products of the same functions, at most three, and one Green's function, with
    one rule for distant pairs, at whose points in threes functions have the values of element_tables.in_threes."""
    if (one.test, one.trial) != (other.test, other.trial) or one.green != other.green:
        return False
    rules = [replace(each.quadrature, singular=2) for each in (one, other)]
    if rules[0] != rules[1] or any(each.block is not Block for each in (one, other)):
        return False
    rule = triangle_rule(one.quadrature.regular)
    tables = [space.element.values(rule.points) for space in (one.test, one.trial)]
    by_parts = (one.integrand.curls or other.integrand.curls) and one.green.wavenumber == 0
    return not by_parts and all(len(each) <= FUNCTIONS_AT_ONCE for each in tables) and in_threes(rule, *tables)


class OrderedSide(NamedTuple):
    """A side, of which triangle of the selection each of its triangles is, and the positions (triangles, L) of the
    local functions of the selection."""

    side: RowSide
    order: NDArray[np.int64]
    places: NDArray[np.int64]
    clusters: Clusters


def _side(
    pairs: SpecialPairs, test: bool, clusters: Clusters, table: NDArray[np.float64], reach: NDArray[np.float64]
) -> OrderedSide:
    """One side in cluster order, with this table and the records of its triangles, which have the squares of the
    distances of distant triangles (n,)."""
    selection, surface = (pairs.test, pairs.test_surface) if test else (pairs.trial, pairs.trial_surface)
    places = positions(selection.places, clusters, pairs.out.shape[0 if test else 1])
    order = triangle_order(places)
    rule = triangle_rule(pairs.quadrature.regular)
    records = side_records(surface.take(order), pairs.form_data(test, order), reach[order], pairs.square, rule)
    side = row_side(places[order], clusters, table, records, records, pairs.real)
    return OrderedSide(side, order, places, clusters)


def _neighbours(
    pairs: SpecialPairs, triangles: NDArray[np.int32], rows: OrderedSide, columns: OrderedSide
) -> Neighbours:
    """Pairs (n, 2) in the orders of triangles of both sides."""
    sides = rows.order, columns.order
    places = [np.empty(len(order), np.int32) for order in sides]
    for place, order in zip(places, sides, strict=True):
        place[order] = np.arange(len(order))
    first, second = (place[each] for place, each in zip(places, triangles.T, strict=True))
    return neighbours(first, second, (len(sides[0]), len(sides[1])), pairs.in_one_order)


def _skips(around: Neighbours) -> NDArray[np.int32]:
    """The special pairs by the triangles of the row side: where those of each begin, then the other triangles."""
    return np.concatenate([around.starts + np.int32(len(around.starts)), around.triangles])


def _matrix(pairs: SpecialPairs, batches: list[Batch], rows: OrderedSide, columns: OrderedSide) -> sp.csr_array:
    """The sparse matrix of the pairs of some batches."""
    around = _neighbours(pairs, pairs.triangles(batches), rows, columns)
    return _summed(pairs, around, batches, rows, columns)


def _summed(
    pairs: SpecialPairs, around: Neighbours, batches: list[Batch], rows: OrderedSide, columns: OrderedSide
) -> sp.csr_array:
    """The sparse matrix of the pairs of some batches, which are listed by triangles (`Neighbours`)."""
    weights = pairs.numbers_of_tests, DATA + pairs.form.head
    return summed(around, pairs.values(batches), rows.side, columns.side, pairs.out.shape, weights)
