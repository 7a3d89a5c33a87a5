"""Blocks of a Galerkin matrix computed on a device.

For a tile of test triangles the device computes the local matrices with all trial triangles (tile.c), replaces
those of touching and near pairs (touching_pairs.c, scatter.c) and gathers them into rows, which the host
adds to the matrix (local_matrices.py). What is integrated how is decided as on the CPU
(galerkin/block.py); what sources read of a form is in forms.py.
"""

import itertools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Defines, Device, Source, count_work, real_name, require_device_memory
from calderon.galerkin.block import Block
from calderon.galerkin.device.forms import component_defines
from calderon.galerkin.device.local_matrices import SMALL_GROUP, LocalMatrices, out_real
from calderon.galerkin.device.nodes import Nodes
from calderon.galerkin.regular.distant import Zones
from calderon.greens import Radial
from calderon.greens.green import green_defines
from calderon.mesh.geometry import FlatTriangles
from calderon.pairs.classes import Pairs, TouchingPairs
from calderon.pairs.device import SentPairs
from calderon.pairs.near import restriction
from calderon.pairs.rules import Batch
from calderon.pairs.tables import ProductTable, RuleTable

INVERSES = np.zeros((3, 3, 3), np.int8)
"""The inverse of each permutation of three, by its first two numbers."""
for _each in itertools.permutations(range(3)):
    INVERSES[_each[:2]] = np.argsort(_each)
Pieces = tuple[Pairs, list[NDArray[Any]]]
"""Pairs, sorted by test triangle, and their real and imaginary moments (components, n, A * B)."""


class DeviceBlock(LocalMatrices, Block):
    """One call of add_block on a device. kept: the results of `_special` by the first triangle of their tile, None
    where they are computed anew each time."""

    kept: dict[int, list[tuple[SentPairs, Any, Any]]] | None = None
    regular_file = "galerkin/regular/tile.c"
    listed = False
    """Whether local matrices of touching and near pairs are listed, and not put to their places in a tile."""

    def __init__(self, device: Device, *arguments: Any) -> None:
        """Prepare a block on a device; arguments: those of `Block`."""
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
        """Set the coefficients, and build the programs for touching and near pairs: moments, and local matrices of
        these."""
        self.coefficients = self._coefficients(factor)
        self.device_form = self.device_form_of(self.integrand, self.test_space, self.trial_space)
        self.distant_rule = self._distant_rule()
        self.stored = np.empty(0, self.out.dtype).real.dtype
        moment, stored = real_name(self._moment_type), real_name(self.stored)
        form = *self.device_form.defines, *component_defines(self.device_form.special)
        green, group = green_defines(self.green), ("GROUP_SIZE", self._group_size)
        places: Defines = (
            green[1],
            ("OUT_COMPLEX", int(self.is_complex)),
            ("MOMENT_REAL", moment),
            ("LISTED", int(self.listed)),
        )
        sources = (
            Source("galerkin/special/touching_pairs.c", moment, (*form, *green, group)),
            Source("galerkin/special/scatter.c", stored, (*form, *places)),
        )
        self.singular, self.placing = map(self.device.build, sources)

    @property
    def _group_size(self) -> int:
        """Threads that integrate one touching or near pair: a thread for each moment at least."""
        return SMALL_GROUP * math.ceil(math.prod(self.moment_sizes) / SMALL_GROUP)

    @property
    def _moment_type(self) -> np.dtype[Any]:
        """Touching and near pairs are integrated in double precision, where the device has it."""
        return np.dtype(np.float64) if self.device.has_double else self.real

    def _send_data(self) -> None:
        """Send what touching and near pairs read of both sides: data of triangles, coefficients, and where functions
        are when vertices are taken in another order."""
        test, trial = self.device_form.data(self)
        data = test, trial.T, self.coefficients
        self.near_data = tuple(self.device.array(np.ascontiguousarray(each, self.stored)) for each in data)
        self._sent_records: list[tuple[FlatTriangles, Any]] = []
        self._tables: list[tuple[RuleTable | ProductTable, tuple[Any, ...]]] = []
        elements = self.test_space.element, self.trial_space.element
        places = (element.permuted(INVERSES).astype(np.int32).reshape(9, -1) for element in elements)
        self.function_places = tuple(map(self.device.array, places))

    def _send_regular(self, zones: Zones) -> None:
        """Build the program for regular pairs, and send nodes, functions and data of both sides, which are the first
        arguments of its kernels, in the order that tile.c describes."""
        self.zones, nodes, form, array = zones, Nodes.of(self, zones), self.device_form, self._array
        out: Defines = ("OUT_COMPLEX", int(self.is_complex)), *out_real(real_name(self.real), real_name(self.stored))
        defines: Defines = (
            *form.defines,
            *component_defines(form.regular),
            *green_defines(self.green),
            *nodes.defines,
            *out,
        )
        self.regular = self.device.build(Source(self.regular_file, real_name(self.real), defines))
        tables = [array(table * nodes.rule.weights) for table in form.functions(nodes.rule)]
        surfaces = self.test_surface, self.trial_surface
        own, other = (nodes.of_triangles(*each) for each in zip(surfaces, zones.reached, strict=True))
        scalars, data = np.array([self.form.tiny(self.radial, self.real), *self.parameters]), self.near_data
        if self.stored != self.real:
            test, trial = form.data(self)
            data = tuple(map(array, (test, trial.T, self.coefficients)))
        given = array(own), tables[0], data[0], array(other.T), tables[1], data[1], array(scalars), data[2]
        self.nodes, self.sides = nodes, given

    def _array(self, values: NDArray[Any]) -> Any:
        """Values sent to the device in the working precision."""
        return self.device.array(np.ascontiguousarray(values, self.real))

    def _require_memory(self, number: int, what: str) -> None:
        """Raise MemoryError, which names `what`, if the device has no room for so many bytes."""
        advice = "try precision='single', a coarser mesh, or backend='numba'"
        require_device_memory(self.device, number, what, advice)

    def _prepare(self) -> None:
        """Send both sides, find special pairs, integrate those in pieces, and make room for local matrices."""
        zones, triangles = Zones.common([self]), len(self.test.triangles) + len(self.trial.triangles)
        numbers = Nodes.of(self, zones).record.length + self.device_form.numbers
        self._require_memory(triangles * numbers * self.real.itemsize, f"the data of {triangles} triangles")
        self._send_data()
        self._send_regular(zones)
        self.batches, _ = self._special_pairs()
        close = [batch for batch in self.batches if batch.close is not None]
        self.pieces = self._with_close(self._united([each for each in self.batches if each.parts is not None]), close)
        self.batches = [batch for batch in self.batches if batch.parts is None and batch.close is None]
        self._tables.clear()  # those of pieces are not needed again
        self._make_room()

    def keep_special(self) -> None:
        """Let the moments of touching and near pairs stay on the device once they are integrated, if they fit well."""
        count = sum(len(batch.rules) for batch in self.batches) + len(self.pieces[0].triangles)
        numbers = 2 * len(self.device_form.special) * math.prod(self.moment_sizes)
        if 4 * count * numbers * self._moment_type.itemsize < self.device.memory():
            self.kept = {}

    def _integrate(self, lo: int, hi: int) -> None:
        """Compute the local matrices of the test triangles lo up to, without, hi with all trial triangles: regular ones
        first, of which those of touching and near pairs are then replaced. Moments of these stay if `kept` is there."""
        # touching and near pairs first: sending them may wait for queued kernels, and the regular part takes long
        special = self._special(lo, hi) if self.kept is None or lo not in self.kept else self.kept[lo]
        if self.kept is not None:
            self.kept[lo] = special
        self._regular(lo, hi)
        for pairs, real, imaginary in special:
            self._place(pairs, 0, real, imaginary, lo)

    def _special(self, lo: int, hi: int) -> list[tuple[SentPairs, Any, Any]]:
        """The touching and near pairs with test triangles lo up to, without, hi: a list of (pairs, real moments,
        imaginary moments), all on the device."""
        found = []
        for batch in self.batches:
            part = batch.between(lo, hi)
            if len(part.rules):
                found.append(self._device_moments(part, self.test_surface, self.trial_surface))
        pairs, pieces = self.pieces
        a, b = np.searchsorted(pairs.triangles[:, 0], [lo, hi])
        if a < b:
            real, imaginary = (self.device.array(part[..., a:b, :]) for part in pieces)
            found.append((self._sent(pairs.part(slice(a, b))), real, imaginary))
        return found

    def _regular(self, lo: int, hi: int) -> None:
        """Compute the regular pairs of the test triangles lo up to, without, hi, and clear the local matrices of idle
        touching pairs, whose integrals vanish."""
        width = len(self.trial.triangles)
        self.device.launch(
            self.regular, "regular", (width, hi - lo), (SMALL_GROUP, 1), *self.sides, lo, width, self.local_shape[0],
            int(self.half), self.local, self.local_i,
        )  # fmt: skip
        pairs = (hi - lo) * (width - self.half * 0.5 * (lo + hi))
        count_work(
            self.device,
            "regular",
            lambda: pairs * self.nodes.evaluations(self.zones, self.test_surface, self.trial_surface),
        )
        a, b = np.searchsorted(self.idle[:, 0], [lo, hi])
        if a < b:
            shape = len(self.device_form.special), b - a, math.prod(self.moment_sizes)
            nothing = self.device.array(np.zeros(shape, self._moment_type))
            self._place(self._sent(in_order(self.idle[a:b])), 0, nothing, nothing, lo)

    def _acting(self, touching: TouchingPairs) -> TouchingPairs:
        """The touching pairs whose integrals do not all vanish; the others are kept as `idle`, since the regular part
        has numbers in their place."""
        acting = super()._acting(touching)
        self.idle = (
            touching.pairs[touching.shared == 3] if len(acting.pairs) < len(touching.pairs) else touching.pairs[:0]
        )
        self.idle = self.idle[np.argsort(self.idle[:, 0], kind="stable")].astype(np.int32)
        return acting

    def _sent(self, pairs: Pairs, rules: NDArray[np.int32] | None = None) -> SentPairs:
        """Pairs sent to the device, with rules (n,) where moments are to be integrated."""
        given = *pairs, np.zeros(0) if rules is None else rules
        kinds = zip(given, (np.int32, np.int8, np.int8, np.int32), strict=True)
        return SentPairs(*(self.device.array(np.ascontiguousarray(each, kind)) for each, kind in kinds))

    def _device_moments(self, batch: Batch, test: FlatTriangles, trial: FlatTriangles) -> tuple[SentPairs, Any, Any]:
        """The pairs of a batch on the device, and their real and imaginary moments as in `_moments_of`."""
        pairs, count = self._sent(batch.pairs, batch.rules), len(batch.rules)
        moments = self._moments_of(pairs, 0, count, self._on_device(batch.tables), test, trial)
        count_work(self.device, "moments", lambda: len(self.device_form.special) * _points_of(batch))
        return pairs, *moments

    def _moments_of(
        self, pairs: SentPairs, first: int, count: int, tables: tuple[Any, ...], test: FlatTriangles,
        trial: FlatTriangles,
    ) -> tuple[Any, Any]:  # fmt: skip
        """(components, count, A * B) real and imaginary moments of the pairs from number `first` on, functions numbered
        in the order of their rules; tables: of `_on_device`."""
        kind, (points, products, parameters, starts, all_points) = self._moment_type, tables
        shape = (len(self.device_form.special), count, math.prod(self.moment_sizes))
        out = self.device.empty(shape, kind)
        out_i = self.device.empty(shape if self.green.is_complex else (1,), kind)
        self.device.launch(
            self.singular, "moments", (shape[0] * count * self._group_size,), (self._group_size,),
            self._records(test), self._records(trial), *pairs[:3], points, products, parameters, pairs.rules, starts,
            all_points, first, count, out, out_i,
        )  # fmt: skip
        return out, out_i

    def _records(self, surface: FlatTriangles) -> Any:
        """The records of triangles that moments read; those of both sides are sent once."""
        for known, sent in self._sent_records:
            if known is surface:
                return sent
        columns = surface.corners.reshape(-1, 9), surface.normals, surface.jacobian[:, None]
        sent = self.device.array(np.concatenate(columns, axis=1, dtype=self._moment_type))
        if surface is self.test_surface or surface is self.trial_surface:
            self._sent_records.append((surface, sent))
        return sent

    def _on_device(self, given: RuleTable | ProductTable) -> tuple[Any, ...]:
        """Points and products of rules, parameters, and starts of the rules on the device, sent once for all tiles, and
        the number of points of all rules."""
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
        """The pairs that are integrated in parts, sorted by both triangles, and their moments (components, n, A *
        B)."""
        sizes, components, kind = self.moment_sizes, len(self.device_form.special), self._moment_type
        number = math.prod(sizes)
        if not batches:
            return in_order(np.zeros((0, 2), np.int32)), [np.zeros((components, 0, number), kind)] * 2
        triangles = np.concatenate([batch.pairs.triangles for batch in batches])
        # pairs once, although several of their parts are integrated
        pairs, which = np.unique(triangles, axis=0, return_inverse=True)
        totals = [np.zeros((components, len(pairs), *sizes), kind) for _ in range(2 if self.green.is_complex else 1)]
        start = 0
        for batch in batches:
            assert batch.parts is not None
            count = len(batch.pairs.triangles)
            surfaces = (self.test_surface, self.trial_surface)
            cuts = zip(surfaces, batch.pairs.triangles.T, batch.parts, strict=True)
            # moments of the parts, as pairs of triangles of their own
            parts = [side.parts(*cut) for side, *cut in cuts]
            itself = np.repeat(np.arange(count, dtype=np.int32)[:, None], 2, axis=1)
            _, *moments = self._device_moments(batch._replace(pairs=batch.pairs._replace(triangles=itself)), *parts)
            elements = self.test_space.element, self.trial_space.element
            # from functions on parts to those on the whole triangles, added up
            left, right = (restriction(*each) for each in zip(elements, batch.parts, strict=True))
            for total, values in zip(totals, moments, strict=False):
                matrices = self.device.to_host(values).reshape(components, -1, *sizes)
                for component, each in zip(total, matrices, strict=True):
                    np.add.at(component, which[start : start + count].ravel(), left @ each @ np.swapaxes(right, 1, 2))
            start += count
        flat = [total.reshape(components, -1, number) for total in totals]
        return in_order(pairs), flat if len(flat) == 2 else flat * 2

    def _with_close(self, pieces: Pieces, close: list[Batch]) -> Pieces:
        """The pieces with the close pairs, which the processor integrates, sorted by both triangles."""
        if not close:
            return pieces
        own = [self._all_moments(batch, self.device_form.special) for batch in close]
        moments = [
            np.concatenate([part, *(each[:, n].reshape(len(part), -1, part.shape[2]) for each in own)], axis=1)
            for n, part in enumerate(pieces[1])
        ]
        triangles = np.concatenate([pieces[0].triangles, *(batch.pairs.triangles for batch in close)])
        order = np.lexsort(triangles.T[::-1])
        return in_order(triangles[order]), [
            np.ascontiguousarray(each[:, order], part.dtype) for each, part in zip(moments, pieces[1], strict=True)
        ]

    def _place(self, pairs: SentPairs, first: int, moments: Any, moments_i: Any, lo: int) -> None:
        """Put local matrices of the pairs from number `first` on, with these moments, to their places in a tile from
        test triangle `lo` on."""
        count = moments.shape[1]
        self.device.launch(
            self.placing, "place", (count,), (SMALL_GROUP,), *pairs[:3], *self.function_places, moments, moments_i,
            *self.near_data, first, count, lo, len(self.trial.triangles), self.local_shape[0], int(self.half),
            self.local, self.local_i,
        )  # fmt: skip


def _points_of(batch: Batch) -> float:
    """Points of the rules of all pairs of a batch."""
    tables = batch.tables.in_pairs() if isinstance(batch.tables, ProductTable) else batch.tables
    return float(np.diff(tables.starts)[batch.rules].sum())


def in_order(triangles: NDArray[np.int32]) -> Pairs:
    """Pairs (n, 2) with vertices in the order of the mesh."""
    order = np.broadcast_to(np.arange(3, dtype=np.int8), (len(triangles), 3))
    return Pairs(triangles, order, order)


def device_class(kind: type[Block]) -> type[DeviceBlock]:
    """The class that computes on a device what blocks of that kind compute on the processor."""
    return DeviceBlock if kind is Block else type(f"Device{kind.__name__}", (DeviceBlock, kind), {})
