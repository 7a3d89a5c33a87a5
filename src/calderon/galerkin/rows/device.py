"""Rows and columns of matrices on a device (entries.h): what sources are given, and the touching and near pairs."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Defines, Device, Execution, Source, real_name
from calderon.galerkin.bilinear_form import BilinearForm
from calderon.galerkin.device.block import DeviceBlock
from calderon.galerkin.device.forms import component_defines
from calderon.galerkin.device.local_matrices import SMALL_GROUP
from calderon.galerkin.forms.form import SCALARS
from calderon.galerkin.limits import resolved_triangles
from calderon.galerkin.rows.cluster_tables import SIDE, RowSide, positions, row_side, triangle_order
from calderon.galerkin.rows.entry_kernels import Clusters
from calderon.galerkin.rows.pair_matrix import listed_pairs
from calderon.galerkin.rows.special_pairs import FoundPairs, SpecialPairs
from calderon.greens import Radial
from calderon.greens.green import green_defines
from calderon.quadrature import triangle_rule

TOGETHER = 1 << 18
"""Pairs whose moments are on the device at a time."""


class DeviceRows(NamedTuple):
    """The rows and columns of a matrix for sources that include ROWS: definitions for these, and arguments of their
    kernels on the device: numbers and integers of the row side, of the column side, scalars.

    special: the touching and near pairs, as special.h reads them. room (clusters,) of either side: numbers of working
    memory that the entries of a cluster take. found: the search for special pairs. work (clusters,) of either side:
    values of the Green's function that the entries of a cluster with one function take, on average.
    """

    device: Device
    defines: Defines
    arguments: tuple[Any, ...]
    special: tuple[Any, ...]
    row_room: NDArray[np.int64]
    column_room: NDArray[np.int64]
    found: FoundPairs | None
    row_work: NDArray[np.float64]
    column_work: NDArray[np.float64]


def device_rows(
    operator: BilinearForm,
    rows: Clusters,
    columns: Clusters,
    execution: Execution,
    device: Device,
    found: FoundPairs | None = None,
) -> DeviceRows:
    """The rows of an operator on a device, and its touching and near pairs; rows, columns: clusters of test and trial
    functions; found: an earlier search for those pairs, taken where it fits."""
    resolved_triangles(operator.green, operator.test, operator.trial)
    block: Any = operator.block
    kind = type(f"{block.__name__}OnDevice", (PairsOnDevice, block), {"found": found})
    out = np.broadcast_to(np.zeros((), execution.dtype(operator.is_complex)), operator.shape)
    given = operator.green, operator.integrand, operator.test, operator.trial, 1.0, None, None, operator.quadrature
    pairs: PairsOnDevice = kind(device, out, *given, execution.real, operator.is_symmetric)
    # both sides in cluster order, once where they are the same
    same = pairs.form.direct and pairs.test_space is pairs.trial_space and rows is columns
    clusters = [rows] if same else [rows, columns]
    places = [positions(each.places, own) for each, own in zip((pairs.test, pairs.trial), clusters, strict=False)]
    orders = [triangle_order(each) for each in places]
    sides = []
    for test, own, place, order in zip((True, False), clusters, places, orders, strict=False):
        tables = pairs.device_form.row_side(pairs, test, order)
        sides.append(row_side(place[order], own, *tables, pairs.real))
    sent = [(device.array(each.numbers), device.array(each.integers)) for each in sides]
    arguments = (*sent[0], *sent[-1], device.array(pairs._scalars()))
    sizes = operator.test.dofs.shape[1], operator.trial.dofs.shape[1]
    triangles = [_triangles(side) for side in (sides[0], sides[-1])]
    room = [2 * size * each for each, size in zip(triangles, sizes, strict=True)]
    special = pairs.listed(orders[0], orders[-1])
    # triangles of a function of the other side, on average, and pairs of points of two triangles
    supports = (space.dofs.size / max(1, space.dimension) for space in (operator.trial, operator.test))
    values = triangle_rule(operator.quadrature.regular).number_of_points ** 2
    work = [values * support * each for each, support in zip(triangles, supports, strict=True)]
    return DeviceRows(device, row_defines(operator), arguments, special, *room, pairs.found, *work)


def row_defines(operator: BilinearForm) -> Defines:
    """Definitions of an operator for a source that includes ROWS."""
    points = triangle_rule(operator.quadrature.regular).number_of_points
    form = operator.block.device_form_of(operator.integrand, operator.test, operator.trial)
    places: Defines = tuple(each for record in form.row_records(points) for each in record.defines)
    header = ((f"SIDE_{name.upper()}", place) for name, place in SIDE._asdict().items())
    rows: Defines = ("ROWS", '"galerkin/rows/entries.h"'), ("POINTS", points), *places, *header
    components = component_defines(form.rows, form.regular)
    return (*form.defines, *components, *green_defines(operator.green), *SCALARS.defines, *rows)


def _triangles(side: RowSide) -> NDArray[np.int64]:
    """Triangles of each cluster of a side."""
    index = side.integers
    begin = int(index[SIDE.list_starts])
    lists = index[begin : int(index[SIDE.list_starts + 1])]
    if len(lists) > 1:
        return np.asarray(lists[1:] - lists[:-1], np.int64)
    clusters = int(index[SIDE.sizes + 1]) - int(index[SIDE.sizes])
    return index[int(index[SIDE.sizes]) :][:clusters].astype(np.int64)


class PairsOnDevice(DeviceBlock, SpecialPairs):
    """The touching and near pairs of a form between all its functions, by half where it is symmetric, integrated on a
    device, where their local matrices stay: local, local_i (layers, size, trial triangles), one layer after the
    other, of the first `specials` of the pairs `together` (n, 2)."""

    def _compile(self, radial: Radial, factor: complex) -> None:
        """Set the coefficients, and build the moments of pairs and the kernel that makes local matrices of them."""
        self.coefficients = self._coefficients(factor)
        self.device_form = self.device_form_of(self.integrand, self.test_space, self.trial_space)
        self.stored = np.empty(0, self.out.dtype).real.dtype
        _, moments, placing = self._sources(*map(real_name, (self.real, self._moment_type, self.stored)))
        listed = replace(placing, defines=(*placing.defines, ("LISTED", 1)))
        self.singular, self.placing = map(self.device.build, (moments, listed))

    def _form_data(self) -> Any:
        """Nothing: local matrices are made on the device."""
        return ()

    def _prepare(self) -> None:
        """Find the pairs and integrate them on the device; those in parts are put together here, and close ones
        integrated."""
        test, trial = self.device_form.data(self)
        data = test, trial.T, self.coefficients
        self.near_data = tuple(self.device.array(np.ascontiguousarray(each, self.stored)) for each in data)
        self._tables, self._sent_records = [], []
        batches, _ = self._special_pairs()
        close = [batch for batch in batches if batch.close is not None]
        orders, pieces = self._with_close(self._united([each for each in batches if each.parts is not None]), close)
        whole = [batch for batch in batches if batch.parts is None and batch.close is None]
        self.together = np.concatenate([self.triangles(whole), orders[:, :2], self.idle])
        self.specials = len(self.together) - len(self.idle)
        # room for local matrices
        layers = max(1, -(-self.specials // max(1, len(self.trial.triangles))))
        room = (layers, *self.local_shape, max(1, len(self.trial.triangles)))
        size = int(np.prod(room)) * self.stored.itemsize * (1 + self.is_complex)
        self._require_memory(size, "touching and near pairs of triangles")
        self.local = self.device.empty(room, self.stored)
        self.local_i = self.device.empty(room if self.is_complex else (1,), self.stored)
        # local matrices, some pairs at a time
        first = 0
        for batch in whole:
            for low in range(0, len(batch.rules), TOGETHER):
                part = batch.part(slice(low, low + TOGETHER))
                moments = self._device_moments(part, self.test_surface, self.trial_surface)
                self._place(self._orders(part.pairs), *moments, first)
                first += len(part.rules)
        if len(orders):
            real, imaginary = (self.device.array(part) for part in pieces)
            self._place(orders, real, imaginary, first)
        self._tables.clear()
        self._sent_records.clear()

    def _place(self, orders: NDArray[np.int32], moments: Any, moments_i: Any, lo: int) -> None:
        """Make local matrices of pairs with these orders (n, 2 + A + B) and moments, the first of which is number `lo`
        of all."""
        self.device.launch(
            self.placing, "place", (len(orders),), (SMALL_GROUP,), self.device.array(orders), moments, moments_i,
            *self.near_data, len(orders), lo, len(self.trial.triangles), self.local_shape[0], 0, self.local,
            self.local_i,
        )  # fmt: skip

    def listed(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> tuple[Any, ...]:
        """The pairs by test triangle, and their local matrices, as special.h reads them; rows, columns: which triangle
        of the selection each of a side is."""
        device = self.device
        first, second = (_inverse(order)[each] for order, each in zip((rows, columns), self.together.T, strict=True))
        starts, keys = listed_pairs(first, second, (len(rows), len(columns)), self.in_one_order)
        skips = device.empty((len(starts) + len(keys),), np.int32)
        numbers = device.empty((len(keys),), np.int32)
        device.put((starts + len(starts)).astype(np.int32), skips)
        program = device.build(Source("galerkin/rows/neighbours.c", "float"))
        device.launch(
            program, "sort_neighbours", (len(rows),), (SMALL_GROUP,), device.array(keys.view(np.int32)), len(rows),
            skips, numbers,
        )  # fmt: skip
        counts = int(np.prod(self.local_shape)), max(1, len(columns)), self.specials
        self.together = self.together[:0]
        return skips, numbers, self.local, self.local_i, *counts


def _inverse(order: NDArray[np.int64]) -> NDArray[np.int32]:
    """The place of each number in a permutation."""
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return place
