"""Blocks of a near store that a device computes, where their numbers stay (near_filling.c).

Blocks are computed some at a time: the local matrices of all their pairs of triangles (tile.c), in which
touching and near ones are those of a list; then entries, each of which gathers what its row and column share; then
the numbers in the form in which they are stored. While a device works on some blocks the processor lists the next ones.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Device, Execution, Kernels, require_device_memory
from calderon.backends.devices.device_matrix import vector_type
from calderon.backends.numba import kernel
from calderon.galerkin.bilinear_form import BilinearForm
from calderon.galerkin.device.local_matrices import SMALL_GROUP, bytes_together
from calderon.galerkin.device.special_pairs import DeviceSpecialPairs
from calderon.galerkin.regular.distant import Zones
from calderon.galerkin.rows.cluster_tables import positions, triangle_lists
from calderon.galerkin.rows.entry_kernels import Clusters
from calderon.galerkin.rows.special_pairs import FoundPairs
from calderon.pairs.grouping import grouped
from calderon.products.device.tables import WORD, indices, runs_that_fit
from calderon.products.device.vectors import zeros
from calderon.products.near_entries import in_twos
from calderon.products.near_store import NearStore, Numbers
from calderon.spaces.supports import carriers_of

Index = NDArray[np.int64]
ADVICE = 'increase rtol, try a coarser mesh, or backend="numba"'
SPECIAL = 42
"""Touching and near pairs of a triangle, about, on surfaces with triangles of like size."""
MOST = 2**31 - SMALL_GROUP
"""Pairs, groups and entries of blocks that are computed together, at most: 32 bits count them."""


class DeviceNumbers(Numbers):
    """The numbers of a store in the memory of a device; they are fetched where the processor wants them."""

    def __init__(self, device: Device, what: str, more: int, count: int, exponents: int, kind: np.dtype[Any]) -> None:
        """Room for so many numbers and exponents of `what`. MemoryError where there is none for these and for `more`
        bytes of special pairs, which filling takes for a while."""
        require_device_memory(device, kind.itemsize * count + exponents + more, what, ADVICE)
        self.device, self.kind = device, kind
        self.there = device.empty((count,), kind), device.empty((max(1, exponents),), np.int8)
        self.count = count, exponents
        self._here: tuple[NDArray[Any], NDArray[np.int8]] | None = None

    @property
    def here(self) -> tuple[NDArray[Any], NDArray[np.int8]]:
        """Numbers and exponents in the memory of the processor."""
        if self._here is None:
            numbers, exponents = (self.device.to_host(each) for each in self.there)
            self._here = numbers, exponents[: self.count[1]]
        return self._here

    @property
    def nbytes(self) -> int:
        """Bytes of numbers and exponents on the device."""
        return self.kind.itemsize * self.count[0] + self.count[1]


def memory_for(
    devices: Sequence[Device], forms: Sequence[BilinearForm], real: "np.dtype[Any]", what: str, more: int = 0
) -> Callable[[int, int, "np.dtype[Any]"], DeviceNumbers] | None:
    """The memory of the first of some devices for `NearStore.empty`, as in `DeviceNumbers`; None if there is no device,
    or none that computes all forms in that precision."""
    return next((partial(DeviceNumbers, each, what, more) for each in able(devices, forms, real)), None)


def able(devices: Sequence[Device], forms: Sequence[BilinearForm], real: "np.dtype[Any]") -> list[Device]:
    """The devices, of some, that compute entries of all forms in that precision."""
    return [each for each in devices if (each.has_double or real == np.float32) and all(map(_has_header, forms))]


def special_bytes(form: BilinearForm, kind: "np.dtype[Any]") -> int:
    """Bytes of local matrices of touching and near pairs, about 42 of a triangle."""
    return SPECIAL * len(form.test.triangles) * form.test.dofs.shape[1] * form.trial.dofs.shape[1] * kind.itemsize


def _has_header(form: BilinearForm) -> bool:
    """Whether a form has a header in C for the kernels of devices."""
    try:
        form.block.device_form_of(form.integrand, form.test, form.trial)
    except NotImplementedError:
        return False
    return True


class _Side(NamedTuple):
    """The functions of one side by their positions, and the triangles of each cluster: those of position p are
    triangles[starts[p] : starts[p + 1]], whose local function `locals` it is; those of cluster c are
    lists[list_starts[c] : list_starts[c + 1]], which increase."""

    starts: Index
    triangles: NDArray[np.int32]
    locals: NDArray[np.int32]
    list_starts: Index
    lists: NDArray[np.int32]

    @staticmethod
    def of(places: Index, clusters: Clusters, unknowns: int) -> "_Side":
        """The side of triangles whose local functions (T, L) are these of so many unknowns."""
        own = carriers_of(positions(places, clusters, unknowns), unknowns)
        return _Side(*own, *triangle_lists(*own[:2], clusters))

    def in_lists(self, clusters: Clusters) -> NDArray[np.int32]:
        """The place of each of `triangles` in the list of its cluster, 0 for those of functions in none."""
        seats = np.empty(int(self.triangles.max(initial=-1)) + 1, np.int32)
        out = np.zeros(len(self.triangles), np.int32)
        put_places(*self[:2], *self[3:], clusters.start, clusters.stop, seats, out)
        return out


@kernel
def put_places(starts, triangles, list_starts, lists, first, stop, seats, out):
    """Fill out (n,) with the places of triangles in the lists of their clusters.

    starts, triangles, list_starts, lists: as in `_Side`; first, stop (clusters,): positions of the functions of each
    cluster; seats (triangles,): overwritten.
    """
    for c in range(first.size):
        for e in range(list_starts[c], list_starts[c + 1]):
            seats[lists[e]] = e - list_starts[c]
        for n in range(starts[first[c]], starts[stop[c]]):
            out[n] = seats[triangles[n]]


class _Group:
    """Terms on one test and one trial space: their special pairs, and the tables of both sides on the device."""

    def __init__(self, parts: list[DeviceSpecialPairs], rows: Clusters, columns: Clusters) -> None:
        first = parts[0]
        self.parts, self.device, self.columns = parts, first.device, columns
        self.row = _Side.of(first.test.places, rows, first.out.shape[0])
        self.column = self.row
        if first.test is not first.trial or rows is not columns:
            self.column = _Side.of(first.trial.places, columns, first.out.shape[1])
        sent: list[Any] = [self.row.starts, self.row.in_lists(rows), self.row.locals, *self.column[:3], self.row.lists]
        *self.tables, self.row_lists = (indices(self.device, each) for each in sent)
        self.numbers = int(np.prod(first.local_shape))

    def pairs_of(self, pairs: Index) -> Index:
        """(n,) pairs of triangles of blocks between clusters (n, 2)."""
        sides = zip((self.row, self.column), pairs.T, strict=True)
        first, second = (np.diff(each.list_starts)[own] for each, own in sides)
        return first * second


class _Strips(NamedTuple):
    """The strips of some blocks: records (see strips.h), triangles of their columns, and in all how many pairs and
    groups of threads."""

    records: Index
    lists: NDArray[np.int32]
    pairs: int
    groups: int

    @staticmethod
    def of(group: _Group, rows: Clusters, first: Index, pairs: Index) -> "_Strips":
        """The strips of blocks between clusters (n, 2); first (strips + 1,): the first block of each."""
        own, row, columns = pairs[first[:-1], 0], group.row, group.columns
        joined = Clusters(columns.order, pairs[:, 1], pairs[:, 1] + 1, first)  # clusters, whose triangles are listed
        starts, lists = triangle_lists(group.column.list_starts, group.column.lists, joined)
        heights, widths = np.diff(row.list_starts)[own], np.diff(starts)
        many = np.stack([heights * widths, heights * -(-widths // SMALL_GROUP)], axis=1)
        ends = np.cumsum(many, axis=0)
        records = [row.list_starts[own], heights, starts[:-1], widths, *(ends - many).T, rows.start[own],
                   rows.stop[own] - rows.start[own]]  # fmt: skip
        return _Strips(np.stack(records, axis=1), lists, *ends[-1].tolist())


class NearFilling:
    """Fills blocks of a store on a device; execution: in whose precision entries are computed."""

    def __init__(self, store: NearStore, execution: Execution) -> None:
        assert isinstance(store.memory, DeviceNumbers)
        self.store, self.execution, self.memory, self.device = store, execution, store.memory, store.memory.device
        self.dtype = execution.dtype(store.parts == 2)
        self._kernels = Kernels.of(
            self.device, "products/device/near_filling.c", execution.real, SMALL_GROUP, PACKED=store.is_packed,
            PARTS=store.parts, STEP=store.step, WIDE_REAL=vector_type(self.device),
            STORED_REAL=execution.real if store.is_packed else self.memory.kind,
        )  # fmt: skip

    def fill(
        self,
        numbers: Index,
        groups: Sequence[Sequence[tuple[complex, BilinearForm]]],
        sides: tuple[Clusters, Clusters],
        found: Sequence[FoundPairs | None],
    ) -> FoundPairs | None:
        """Compute the blocks with these numbers: the sum of all terms, those of one group on the same spaces.

        sides: the clusters of rows and columns, with unknowns of the forms. found: for each group a search for special
        pairs, taken where it fits; that of the last group is returned.
        """
        made = []
        for terms, search in zip(groups, found, strict=True):
            parts: list[DeviceSpecialPairs] = []
            for factor, form in sorted(terms, key=lambda term: term[1].is_symmetric):  # which need half of the pairs
                given = self.device, form, self.execution, parts[0].found if parts else search, factor, self.dtype
                parts.append(DeviceSpecialPairs.on(*given))
            for own in in_twos(terms):
                together = [part for part in parts if any(part.bilinear is form for _, form in own)]
                zones = Zones.common(together)
                for part in together:
                    part.ready_for_regular(zones)
            made.append(_Group(parts, *sides))
        for chosen in self._chunks(numbers, made):
            with self.device.large:
                self._fill(chosen, made, sides[0])
        return made[-1].parts[0].found

    def _chunks(self, numbers: Index, groups: Sequence[_Group]) -> list[Index]:
        """The numbers of blocks that are computed together, in the order of row clusters. TooLarge where one alone does
        not fit."""
        pairs = self.store.layout.pairs[numbers]
        columns = self.store.layout.columns
        order = grouped(columns.start[pairs[:, 1]], len(columns.order))[1]
        order = order[grouped(pairs[order, 0], len(self.store.layout.rows.start))[1]]
        numbers, pairs = numbers.take(order), pairs.take(order, axis=0)
        sizes = np.max([each.pairs_of(pairs) * each.numbers for each in groups], axis=0)
        bytes_of = sizes * self.dtype.itemsize
        most = bytes_together(self.device, int(bytes_of.max(initial=0)), "two leaves")
        return [numbers[run] for run in runs_that_fit(bytes_of, most)]

    def _fill(self, numbers: Index, groups: Sequence[_Group], rows: Clusters) -> None:
        """Compute blocks together: local matrices and sums of each term, then the numbers that are stored."""
        store, device, real = self.store, self.device, self.execution.real
        pairs = store.layout.pairs[numbers]
        new = np.flatnonzero(np.diff(pairs[:, 0], prepend=-1))
        first = np.append(new, len(pairs))
        table, count, heights = self._records(numbers, np.repeat(np.arange(len(new)), np.diff(first)))
        blocks, threads = indices(device, table), int(store.sizes[1][numbers].sum())
        strips_of = [_Strips.of(group, rows, first, pairs) for group in groups]
        room = max(strips.pairs * group.numbers for strips, group in zip(strips_of, groups, strict=True)) + count
        needed = room * store.parts * real.itemsize
        require_device_memory(device, needed, "the local matrices of near blocks", ADVICE)
        entries = zeros(device, (count, store.parts), real)
        for group, strips in zip(groups, strips_of, strict=True):
            records, lists = indices(device, strips.records), device.array(strips.lists)
            width = max(1, len(group.parts[0].trial.triangles))
            shape = -(-strips.pairs // width), group.numbers, width
            matrices = device.empty(shape, real), device.empty(shape if store.parts == 2 else (1,), real)
            for part in group.parts:
                given, work = (records, len(new), group.row_lists, lists), strips.pairs * part.nodes.usual**2
                part.integrate_strips(strips.groups, given, *matrices, partial(float, work))
                self._kernels.launch(
                    "gather_blocks", threads, *matrices, records, blocks, len(numbers), *group.tables, lists,
                    group.numbers, part.local_shape[1], width, threads, entries,
                )  # fmt: skip
            del matrices  # before those of another group are made
        self._kernels.launch("store_blocks", heights, entries, blocks, len(numbers), heights, *self.memory.there)

    def _records(self, numbers: Index, strip: Index) -> tuple[Index, int, int]:
        """Records of blocks (see near_filling.c), and how many entries and rows they have; strip: that of each."""
        layout = self.store.layout
        height, span = (each[numbers] for each in self.store.sizes)
        many = np.stack([height * span, span, height], axis=1)
        ends = np.cumsum(many, axis=0)
        if len(ends) and int(ends[-1].max()) > MOST:
            raise MemoryError(f"blocks with {int(ends[-1, 0])} entries are too many to be computed together")
        begins = [part for each in (layout.starts, self.store.tops) for part in np.divmod(each[numbers], WORD)]
        columns = layout.columns.start[layout.pairs[numbers, 1]]
        table = np.stack([strip, columns, span, *(ends - many).T, *begins], axis=1)
        return table, int(ends[-1, 0]), int(ends[-1, 2])
