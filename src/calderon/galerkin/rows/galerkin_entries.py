"""Compiled rows, columns and blocks of Galerkin matrices."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

from calderon.backends import Computing
from calderon.backends.numba import jitable_part
from calderon.galerkin.bilinear_form import BilinearForm
from calderon.galerkin.dual_test_block import DualBlock, affine_test
from calderon.galerkin.regular.element_tables import Surface
from calderon.galerkin.rows.cluster_tables import RowSide, positions, row_side, triangle_order
from calderon.galerkin.rows.edge_field_entries import field_records, field_scratch, field_sums, field_table
from calderon.galerkin.rows.entry_kernels import Clusters, CompiledRows
from calderon.galerkin.rows.pair_matrix import Neighbours, neighbours, summed
from calderon.galerkin.rows.scalar_entries import Sums, row_sums, sums_records, sums_scratch, sums_table
from calderon.galerkin.rows.special_pairs import EdgeSpecialPairs, SpecialPairs
from calderon.quadrature import triangle_rule

Tables = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
NORMAL = {"none": ("none", "none"), "trial": ("varying", "fixed"), "test": ("fixed", "varying")}
"""The side of the normal derivative in a row and in a column."""


class Functions(NamedTuple):
    """row, column and block of CompiledRows."""

    row: Callable[..., None]
    column: Callable[..., None]
    block: Callable[..., None]


@functools.lru_cache(maxsize=64)
def functions_of(by_row: Sums, by_column: Sums) -> Functions:
    """Rows and columns from the loops with the test and with the trial function fixed."""
    fill_row, fill_column, fill_block = by_row.fill, by_column.fill, by_row.block

    @jitable_part
    def row(data, i, cluster, scratch, out):  # type: ignore[no-untyped-def]
        fill_row(data[0], data[1], data[3], i, cluster, scratch, out)

    @jitable_part
    def column(data, cluster, j, scratch, out):  # type: ignore[no-untyped-def]
        fill_column(data[1], data[0], data[3], j, cluster, scratch, out)

    @jitable_part
    def block(data, row_cluster, column_cluster, scratch, out):  # type: ignore[no-untyped-def]
        fill_block(data[0], data[1], data[3], data[2], row_cluster, column_cluster, scratch, out)

    return Functions(row, column, block)


def compiled_rows(
    operator: BilinearForm, row_clusters: Clusters, column_clusters: Clusters, how: Computing
) -> CompiledRows:
    """The matrix of an integral operator by rows, columns and blocks, on the processor.

    row_clusters, column_clusters: of the test and the trial functions. The numbers are those of the dense matrix, but
    for rounding. Raises TypeError for operators that are sums, products or tables of others.
    """
    if not isinstance(operator, BilinearForm):
        raise TypeError(f"{operator!r} has no compiled rows, integral operators have: assemble its parts")
    pairs = SpecialPairs.of(operator, how)
    form = form_of(pairs)
    same = operator.test is operator.trial and row_clusters is column_clusters and form.alike(pairs)
    rows = _side(pairs, form, True, row_clusters)
    columns = rows if same else _side(pairs, form, False, column_clusters)
    functions = form.functions(pairs)
    around = _neighbours(pairs, np.concatenate([pairs.triangles(pairs.batches), pairs.idle]), rows, columns)
    return CompiledRows(
        shape=operator.shape,
        dtype=pairs.out.dtype,
        real=how.real,
        row=functions.row,
        column=functions.column,
        block=functions.block,
        data=(rows.side, columns.side, _skips(around), pairs.scalars),
        scratch=form.scratch(pairs, how.real),
        special=summed(around, pairs.values(pairs.batches), rows.side, columns.side, operator.shape),
        overlap=functools.partial(_overlap, pairs, rows, columns),
        symmetric=operator.is_symmetric,
    )


class OrderedSide(NamedTuple):
    """A side, of which triangle of the selection each of its triangles is, and the positions (triangles, L) of the
    local functions of the selection."""

    side: RowSide
    order: NDArray[np.int64]
    places: NDArray[np.int64]


def _side(
    pairs: SpecialPairs, form: "type[ScalarForm] | type[FieldForm]", test: bool, clusters: Clusters
) -> OrderedSide:
    selection = pairs.test if test else pairs.trial
    places = positions(selection.places, clusters)
    order = triangle_order(places)
    side = row_side(places[order], clusters, *form.tables(pairs, test, order), pairs.real)
    return OrderedSide(side, order, places)


class ScalarForm:
    """What compiled rows of scalar functions are made of."""

    @staticmethod
    def alike(pairs: SpecialPairs) -> bool:
        """Whether the sides of one space are the same."""
        return True

    @staticmethod
    def tables(pairs: SpecialPairs, test: bool, order: NDArray[np.int64]) -> Tables:
        """The table of a side, records of its triangles and their part in a chunk."""
        surface = pairs.test_surface if test else pairs.trial_surface
        space = pairs.test_space if test else pairs.trial_space
        rule = triangle_rule(pairs.quadrature.regular)
        records, chunk = sums_records(Surface(*(each[order] for each in surface)), rule)
        return sums_table(rule, space.element), chunk if space.element.degree == 0 else records, chunk

    @staticmethod
    def functions(pairs: SpecialPairs) -> Functions:
        """Rows, columns and blocks."""
        integrand, green = pairs.integrand, pairs.green
        mass = not (integrand.curls and green.wavenumber == 0)
        points = triangle_rule(pairs.quadrature.regular).number_of_points
        kinds = integrand.curls, mass, green.is_complex, points
        row, column = NORMAL[integrand.normal]
        return functions_of(row_sums(pairs.radial, row, *kinds), row_sums(pairs.radial, column, *kinds))

    @staticmethod
    def scratch(pairs: SpecialPairs, real: DTypeLike) -> int:
        """Working memory of a thread."""
        points = triangle_rule(pairs.quadrature.regular).number_of_points
        sizes = pairs.test.places.shape[1], pairs.trial.places.shape[1]
        return sums_scratch(points, max(sizes), real)


class FieldForm:
    """The same of edge functions; the cross product of the magnetic field with the normal goes with the test side."""

    @staticmethod
    def alike(pairs: Any) -> bool:
        return not pairs.square

    @staticmethod
    def tables(pairs: Any, test: bool, order: NDArray[np.int64]) -> Tables:
        surface = pairs.test_surface if test else pairs.trial_surface
        scales = pairs.test_scales if test else pairs.trial_scales
        degree = pairs.quadrature.regular
        ordered = Surface(*(each[order] for each in surface))
        records = field_records(pairs.test_space, ordered, scales[order], degree, test and pairs.square)
        return field_table(triangle_rule(degree)), records, records[:, :0]

    @staticmethod
    def functions(pairs: Any) -> Functions:
        points = triangle_rule(pairs.quadrature.regular).number_of_points
        row = field_sums(pairs.radial, pairs.electric, pairs.square, points)
        return functions_of(row, field_sums(pairs.radial, pairs.electric, False, points))

    @staticmethod
    def scratch(pairs: Any, real: DTypeLike) -> int:
        return field_scratch(triangle_rule(pairs.quadrature.regular).number_of_points, 2, real)


class DualForm(FieldForm):
    """The same of the magnetic field tested with fields that are affine on triangles."""

    @staticmethod
    def alike(pairs: Any) -> bool:
        return False

    @staticmethod
    def tables(pairs: Any, test: bool, order: NDArray[np.int64]) -> Tables:
        if not test:
            return FieldForm.tables(pairs, test, order)
        rule, count = triangle_rule(pairs.quadrature.regular), len(order)
        ordered, crossed = Surface(*(each[order] for each in pairs.test_surface)), pairs.test_corners[order]
        side = affine_test(ordered, crossed, pairs.quadrature.regular, np.float64)
        values = crossed * ordered.jacobian[:, None, None, None]
        parts = side.nodes, side.centres, side.frames, ordered.corners, side.arms, values
        records = np.concatenate([each.reshape(count, -1) for each in parts], axis=1)
        return field_table(rule), records, records[:, :0]

    @staticmethod
    def functions(pairs: Any) -> Functions:
        points = triangle_rule(pairs.quadrature.regular).number_of_points
        rows, columns = (field_sums(pairs.radial, False, False, points, affine) for affine in ("fixed", "varying"))
        return functions_of(rows, columns)

    @staticmethod
    def scratch(pairs: Any, real: DTypeLike) -> int:
        most = int(np.diff(pairs.test_space.carriers.start).max())
        return field_scratch(triangle_rule(pairs.quadrature.regular).number_of_points, most, real)


def form_of(pairs: SpecialPairs) -> type[ScalarForm] | type[FieldForm]:
    """What the rows of such pairs are made of."""
    if isinstance(pairs, DualBlock):
        return DualForm
    return FieldForm if isinstance(pairs, EdgeSpecialPairs) else ScalarForm


def _neighbours(
    pairs: SpecialPairs, triangles: NDArray[np.int32], rows: OrderedSide, columns: OrderedSide
) -> Neighbours:
    """Pairs (n, 2) in the orders of triangles of both sides."""
    sides = rows.order, columns.order
    places = [np.empty(len(order), np.int32) for order in sides]
    for place, order in zip(places, sides, strict=True):
        place[order] = np.arange(len(order))
    first, second = (place[each] for place, each in zip(places, triangles.T, strict=True))
    return neighbours(first, second, (len(sides[0]), len(sides[1])), pairs.half)


def _skips(around: Neighbours) -> NDArray[np.int32]:
    """The special pairs by the triangles of the row side: where those of each begin, then the other triangles."""
    return np.concatenate([around.starts + np.int32(len(around.starts)), around.triangles])


def _overlap(pairs: SpecialPairs, rows: OrderedSide, columns: OrderedSide) -> sp.csr_array:
    """The near pairs with the rule of distant ones."""
    batches = pairs.regular()
    around = _neighbours(pairs, pairs.triangles(batches), rows, columns)
    return summed(around, pairs.values(batches), rows.side, columns.side, pairs.out.shape)
