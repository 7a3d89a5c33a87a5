"""Blocks of a Galerkin matrix computed on a device.

For a tile of test triangles the device computes the local matrices with all trial triangles (tile.c), replaces
those of touching and near pairs (touching_pairs.c, scatter.c) and gathers them into rows (gather.c), which the host
adds to the matrix. Gathering needs neither atomics nor colours. What is integrated how is decided as on the CPU
(galerkin/block.py); what sources read of a form is in forms.py.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Deliver, Device, DeviceMatrix, Source, format_bytes, real_name, require_device_memory
from calderon.galerkin.block import Block
from calderon.greens import Radial
from calderon.greens.green import green_defines
from calderon.mesh.geometry import FlatTriangles
from calderon.pairs.classes import Pairs, TouchingPairs
from calderon.pairs.near import restriction
from calderon.pairs.rules import Batch
from calderon.pairs.tables import ProductTable, RuleTable
from calderon.quadrature import triangle_rule

GROUP = 64
"""Threads of a group."""
LOCAL_MATRICES = 1 << 30
"""Bytes that the local matrices of a tile take at most."""
SHARE, FEW = 8, 32
"""They take at most this part of the memory of the device: those of one triangle, those of several."""
ROWS = 65_535
"""Groups along the second axis of a launch, at most (CUDA): triangles of a tile, and rows that it adds to."""

Pieces = tuple[NDArray[np.int32], list[NDArray[Any]]]
"""Pairs (n, 2 + A + B) by numbers and orders of functions, and real and imaginary moments (components, n, A * B)."""


class DevicePart(NamedTuple):
    """Where a block stands in a matrix that stays on the device: from row `top` and column `left` on."""

    matrix: DeviceMatrix
    top: int
    left: int
    shape: tuple[int, int]

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self.matrix.dtype)


class DeviceBlock(Block):
    """One call of add_block on a device: tiles run one after the other."""

    def __init__(self, device: Device, *arguments: Any) -> None:
        self.device = device
        super().__init__(*arguments)

    @property
    def moment_sizes(self) -> tuple[int, int]:
        """Test and trial functions of the moments of touching and near pairs."""
        return self.test_space.element.size, self.trial_space.element.size

    @property
    def local_shape(self) -> tuple[int, int]:
        """The shape of a local matrix."""
        return self.device_form.sizes

    def _compile(self, radial: Radial, factor: complex) -> None:
        self.coefficients = self._coefficients(factor)
        self.device_form = self.device_form_of(self.integrand, self.test_space, self.trial_space)
        self.stored = np.empty(0, self.out.dtype).real.dtype
        sources = self._sources(real_name(self.real), real_name(self._moment_type), real_name(self.stored))
        self.regular, self.singular, self.placing, self.gathering = map(self.device.build, sources)

    def _sources(self, real: str, moment: str, stored: str) -> tuple[Source, Source, Source, Source]:
        """The regular part, the moments of other pairs, where they go, and the rows. stored: type of local matrices."""
        green, out = green_defines(self.green), ("OUT_COMPLEX", int(self.is_complex))
        form = self.device_form.defines
        points = ("POINTS", triangle_rule(self.quadrature.regular).number_of_points)
        return (
            Source("galerkin/regular/tile.c", real, (*form, *green, out, points, *out_real(real, stored))),
            Source("galerkin/special/touching_pairs.c", moment, (*form, *green, ("GROUP_SIZE", self._group_size))),
            Source("galerkin/special/scatter.c", stored, (*form, green[1], out, ("MOMENT_REAL", moment))),
            Source("galerkin/device/gather.c", stored, (out,)),
        )

    @property
    def _group_size(self) -> int:
        """Threads that integrate one touching or near pair: a thread for each moment at least."""
        return GROUP * math.ceil(math.prod(self.moment_sizes) / GROUP)

    @property
    def _moment_type(self) -> np.dtype[Any]:
        """Touching and near pairs are integrated in double precision, where the device has it."""
        return np.dtype(np.float64) if self.device.has_double else self.real

    def _sides(self) -> None:
        """Both sides on the device, in the order that tile.c describes."""
        rule, array = triangle_rule(self.quadrature.regular), self._array
        self.tables = [array(table * rule.weights) for table in self.device_form.functions(rule)]
        self.test_points = array(self.test_surface.points(rule.points))
        self.trial_points = array(np.moveaxis(self.trial_surface.points(rule.points), 0, 2))
        self.scalars = array(np.array([self.form.tiny(self.real), *self.parameters]))
        test, trial = self.device_form.data(self)
        data = test, trial.T, self.coefficients
        self.test_data, self.trial_data, self.device_coefficients = map(array, data)
        self.near_data = self.test_data, self.trial_data, self.device_coefficients
        if self.stored != self.real:  # for touching and near pairs
            self.near_data = tuple(self.device.array(np.ascontiguousarray(each, self.stored)) for each in data)

    def _array(self, values: NDArray[Any]) -> Any:
        """On the device in the working precision."""
        return self.device.array(np.ascontiguousarray(values, self.real))

    def _require_memory(self, number: int, what: str) -> None:
        advice = "try precision='single', a coarser mesh, or backend='numba'"
        require_device_memory(self.device, number, what, advice)

    def _prepare(self) -> None:
        triangles = len(self.test.triangles) + len(self.trial.triangles)
        numbers = 3 * triangle_rule(self.quadrature.regular).number_of_points + self.device_form.numbers
        self._require_memory(triangles * numbers * self.real.itemsize, f"the data of {triangles} triangles")
        self._sides()
        self._tables: list[tuple[RuleTable | ProductTable, tuple[Any, ...]]] = []
        self.batches, _ = self._special_pairs()
        close = [batch for batch in self.batches if batch.close is not None]
        self.pieces = self._with_close(self._united([each for each in self.batches if each.parts is not None]), close)
        self.batches = [batch for batch in self.batches if batch.parts is None and batch.close is None]
        self._tables.clear()  # those of pieces are not needed again
        count, width = len(self.test.triangles), len(self.trial.triangles)
        places = self.trial.places.T.ravel()  # function * width + triangle
        self.column_start, self.column_entries = _lists(places, self.out.shape[1], self.device)
        each = math.prod(self.local_shape) * width * self.stored.itemsize * (2 if self.is_complex else 1)
        free = self.device.memory()
        if SHARE * each > free:
            raise MemoryError(
                f"{self.device.name} ({self.device.label}) has {format_bytes(free)} free, of which 1/{SHARE} are for "
                f"local matrices, and those of one triangle need {format_bytes(each)}: try precision='single', a "
                "coarser mesh, or backend='numba'"
            )
        size = max(1, min(LOCAL_MATRICES, free // FEW) // max(1, each))
        size = self.tile_size = min(size, ROWS // self.local_shape[0])
        self.tiles = np.append(np.arange(0, count, size), count)
        self.neighbours = None
        room = (min(size, count), *self.local_shape, max(1, width))
        self.local = self.device.empty(room, self.stored)
        self.local_i = self.device.empty(room if self.is_complex else (1,), self.stored)

    def run(self, number: int) -> None:
        """All pairs of one tile, added to the matrix."""
        for _ in self.add_between(int(self.tiles[number]), int(self.tiles[number + 1])):
            pass

    def add_between(self, first: int, last: int, deliver: Deliver = nullcontext) -> Iterator[None]:
        """All pairs of the test triangles first .. last - 1, added to the matrix tile by tile, to that of the host in
        the context of `deliver`. While the host adds the rows of a tile the device computes the next one."""
        waiting = None
        for lo in range(first, last, self.tile_size):
            hi = min(lo + self.tile_size, last)
            self._integrate(lo, hi)
            rows = self._gathered(lo, hi)
            self._add(waiting, deliver)
            waiting = rows
            yield
        self._add(waiting, deliver)

    def integrate(self, number: int) -> tuple[int, int]:
        """The local matrices of a tile, which remain on the device; its first triangle and the one after its last."""
        lo, hi = int(self.tiles[number]), int(self.tiles[number + 1])
        self._integrate(lo, hi)
        return lo, hi

    def _integrate(self, lo: int, hi: int) -> None:
        others = []  # sent and integrated first: sending may wait for what is queued, the long regular part
        for batch in self.batches:
            part = batch.between(lo, hi)
            if len(part.rules):
                others.append(
                    (self._orders(part.pairs), *self._device_moments(part, self.test_surface, self.trial_surface))
                )
        orders, moments = self.pieces
        a, b = np.searchsorted(orders[:, 0], [lo, hi])
        if a < b:
            others.append((orders[a:b], *(self.device.array(part[..., a:b, :]) for part in moments)))
        self._regular(lo, hi)
        for each in others:
            self._place(*each, lo)

    def _regular(self, lo: int, hi: int) -> None:
        width = len(self.trial.triangles)
        self.device.launch(
            self.regular, "regular", (width, hi - lo), (GROUP, 1), self.test_points, self.tables[0], self.test_data,
            self.trial_points, self.tables[1], self.trial_data, self.scalars, self.device_coefficients, lo, width,
            self.local_shape[0], int(self.half), self.local, self.local_i,
        )  # fmt: skip
        a, b = np.searchsorted(self.idle[:, 0], [lo, hi])
        if a < b:
            shape = self.device_form.components, b - a, math.prod(self.moment_sizes)
            nothing = self.device.array(np.zeros(shape, self._moment_type))
            self._place(self._orders(in_order(self.idle[a:b])), nothing, nothing, lo)

    def _acting(self, touching: TouchingPairs) -> TouchingPairs:
        """Also keep those whose integrals vanish: the regular part has numbers in their place."""
        acting = super()._acting(touching)
        self.idle = (
            touching.pairs[touching.shared == 3] if len(acting.pairs) < len(touching.pairs) else touching.pairs[:0]
        )
        self.idle = self.idle[np.argsort(self.idle[:, 0], kind="stable")].astype(np.int32)
        return acting

    def _device_moments(self, batch: Batch, test: FlatTriangles, trial: FlatTriangles) -> tuple[Any, Any]:
        """(components, n, A * B) real and imaginary moments of the pairs of a batch, numbered in the order of its
        rule."""
        kind, (i, j) = self._moment_type, batch.pairs.triangles.T
        sides = []
        for side, chosen, order in ((test, i, batch.pairs.test_order), (trial, j, batch.pairs.trial_order)):
            corners = np.take_along_axis(side.corners[chosen], order[:, :, None].astype(np.int64), axis=1)
            sides.append(np.concatenate([corners.reshape(-1, 9), side.normals[chosen]], axis=1))
        jacobians = test.jacobian[i] * trial.jacobian[j]
        points, products, parameters, starts, all_points = self._on_device(batch.tables)
        shape = (self.device_form.components, len(i), math.prod(self.moment_sizes))
        out = self.device.empty(shape, kind)
        out_i = self.device.empty(shape if self.green.is_complex else (1,), kind)
        self.device.launch(
            self.singular, "moments", (shape[0] * len(i) * self._group_size,), (self._group_size,),
            *(self.device.array(np.ascontiguousarray(each, kind)) for each in (*sides, jacobians)), points, products,
            parameters, self.device.array(batch.rules.astype(np.int32)), starts,
            all_points, len(i), out, out_i,
        )  # fmt: skip
        return out, out_i

    def _on_device(self, given: RuleTable | ProductTable) -> tuple[Any, ...]:
        """Points and products of rules, parameters, where each rule begins, and all points: sent once, for all
        tiles."""
        for known, sent in self._tables:
            if known is given:
                return sent
        tables = given.in_pairs() if isinstance(given, ProductTable) else given
        kind = self._moment_type
        self._require_memory((tables.points.size + tables.products.size) * kind.itemsize, "the rules of touching pairs")
        numbers = (tables.points, tables.products, self.parameters)
        arrays = [self.device.array(np.ascontiguousarray(each, kind)) for each in numbers]
        starts = self.device.array(tables.starts.astype(np.int32))
        self._tables.append((given, (*arrays, starts, tables.points.shape[1])))
        return self._tables[-1][1]

    def _united(self, batches: list[Batch]) -> Pieces:
        """The pairs (n, 2 + A + B) that are integrated in parts, sorted by test triangle, and their moments
        (components, n, A * B)."""
        sizes, components, kind = self.moment_sizes, self.device_form.components, self._moment_type
        number = math.prod(sizes)
        if not batches:
            return np.zeros((0, 2 + sum(sizes)), np.int32), [np.zeros((components, 0, number), kind)] * 2
        triangles = np.concatenate([batch.pairs.triangles for batch in batches])
        pairs, which = np.unique(triangles, axis=0, return_inverse=True)
        totals = [np.zeros((components, len(pairs), *sizes), kind) for _ in range(2 if self.green.is_complex else 1)]
        start = 0
        for batch in batches:
            assert batch.parts is not None
            count = len(batch.pairs.triangles)
            surfaces = (self.test_surface, self.trial_surface)
            cuts = zip(surfaces, batch.pairs.triangles.T, batch.parts, strict=True)
            parts = [side.parts(*cut) for side, *cut in cuts]
            itself = np.repeat(np.arange(count, dtype=np.int32)[:, None], 2, axis=1)
            moments = self._device_moments(batch._replace(pairs=batch.pairs._replace(triangles=itself)), *parts)
            elements = self.test_space.element, self.trial_space.element
            left, right = (restriction(*each) for each in zip(elements, batch.parts, strict=True))
            for total, values in zip(totals, moments, strict=False):
                matrices = self.device.to_host(values).reshape(components, -1, *sizes)
                for component, each in zip(total, matrices, strict=True):
                    np.add.at(component, which[start : start + count].ravel(), left @ each @ np.swapaxes(right, 1, 2))
            start += count
        flat = [total.reshape(components, -1, number) for total in totals]
        return self._orders(in_order(pairs)), flat if len(flat) == 2 else flat * 2

    def _with_close(self, pieces: Pieces, close: list[Batch]) -> Pieces:
        """Also the close pairs, which the processor integrates."""
        if not close:
            return pieces
        own = [self._host_moments(batch) for batch in close]
        moments = [
            np.concatenate([part, *(each[:, n].reshape(len(part), -1, part.shape[2]) for each in own)], axis=1)
            for n, part in enumerate(pieces[1])
        ]
        orders = np.concatenate([pieces[0], *(self._orders(batch.pairs) for batch in close)])
        order = np.argsort(orders[:, 0], kind="stable")
        return orders[order], [
            np.ascontiguousarray(each[:, order], part.dtype) for each, part in zip(moments, pieces[1], strict=True)
        ]

    def _host_moments(self, batch: Batch) -> NDArray[np.float64]:
        """(components, 2, n, A, B) moments of the pairs of a batch, integrated by the processor."""
        return self._all_moments(batch, self.device_form.components)

    def _orders(self, pairs: Pairs) -> NDArray[np.int32]:
        """(n, 2 + A + B) numbers of both triangles, and where their functions are in the order of the rule."""
        elements = self.test_space.element, self.trial_space.element
        places = [
            element.permuted(np.argsort(order, axis=1)) for element, order in zip(elements, pairs[1:], strict=True)
        ]
        return np.concatenate([pairs.triangles, *places], axis=1).astype(np.int32)

    def _place(self, orders: NDArray[np.int32], moments: Any, moments_i: Any, lo: int) -> None:
        count = len(orders)
        self.device.launch(
            self.placing, "place", (count,), (GROUP,), self.device.array(orders), moments, moments_i,
            *self.near_data, count, lo, len(self.trial.triangles), self.local_shape[0], int(self.half), self.local,
            self.local_i,
        )  # fmt: skip

    def _gathered(self, lo: int, hi: int) -> tuple[NDArray[np.int64], Callable[[], NDArray[Any]]] | None:
        """The rows of the tile, their numbers and what waits for them; None if they are nobody's or stay on the device,
        where they are added."""
        tile_rows, row_ids = self._rows(lo, hi)
        if len(row_ids) == 0:
            return None
        if isinstance(self.out, DevicePart):
            matrix, top, left, _ = self.out
            self._gather(tile_rows, len(row_ids), row_ids + top, left, matrix.shape[1], 1, matrix.entries)
            return None
        columns = self.columns
        rows = self.device.empty((len(row_ids), columns), self.out.dtype)
        self._gather(tile_rows, len(row_ids), np.arange(len(row_ids)), 0, columns, 0, rows)
        return row_ids, self.device.fetch(rows)

    def _add(self, rows: tuple[NDArray[np.int64], Callable[[], NDArray[Any]]] | None, deliver: Deliver) -> None:
        if rows is not None:
            row_ids, fetched = rows
            values = fetched()
            with deliver():
                self.out[row_ids, : self.columns] += values

    def _gather(
        self, tile_rows: NDArray[np.int64], count: int, targets: NDArray[np.int64], left: int, pitch: int, adds: int,
        out: Any,
    ) -> None:  # fmt: skip
        """The rows of a tile to rows `targets` of `out`, from column `left` on."""
        places = np.where(tile_rows == count, -1, tile_rows).ravel()
        row_start, row_entries = _lists(places, count, self.device)
        stride = self.local_shape[1] * len(self.trial.triangles)
        self.device.launch(
            self.gathering, "gather", (self.columns, count), (GROUP, 1), self.local, self.local_i, row_start,
            row_entries, self.column_start, self.column_entries, self.columns, stride,
            self.device.array(targets.astype(np.int32)), left, pitch, adds, out,
        )  # fmt: skip

    @property
    def columns(self) -> int:
        """Columns beyond the last one of the block that is computed belong to others (blocks.py)."""
        return int(self.trial.places.max(initial=-1)) + 1


def out_real(real: str, stored: str) -> tuple[tuple[str, str], ...]:
    """The definition of the type of results, where it differs."""
    return () if stored == real else (("OUT_REAL", stored),)


def in_order(triangles: NDArray[np.int32]) -> Pairs:
    """Pairs (n, 2) with vertices in the order of the mesh."""
    order = np.broadcast_to(np.arange(3, dtype=np.int8), (len(triangles), 3))
    return Pairs(triangles, order, order)


def _lists(places: NDArray[np.int64], size: int, device: Device) -> tuple[Any, Any]:
    """For each of 0 .. size - 1 where it stands among the places (-1: nobody's), as starts (size + 1,) and entries."""
    order = np.argsort(places, kind="stable")
    order = order[np.searchsorted(places[order], 0) :]
    start = np.searchsorted(places[order], np.arange(size + 1))
    entries = order if len(order) else np.zeros(1)
    return device.array(start.astype(np.int32)), device.array(entries.astype(np.int32))


def device_class(kind: type[Block]) -> type[DeviceBlock]:
    """The class that computes on a device what blocks of that kind compute on the processor."""
    return DeviceBlock if kind is Block else type(f"Device{kind.__name__}", (DeviceBlock, kind), {})
