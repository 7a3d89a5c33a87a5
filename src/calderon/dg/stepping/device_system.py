"""Fields that stay on a device while time advances."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Device, Source, real_name, require_device_memory
from calderon.dg.domain import Domain
from calderon.dg.operator.halo import DeviceHalo
from calderon.dg.sources.currents import Load
from calderon.dg.stepping.system import Steps, System

GROUP = 128
"""Threads of a group where each works alone."""
HIGHEST_ORDER = 5
"""Largest order for which the shared data of a group for a block of elements fit into GROUP_MEMORY."""
GROUP_MEMORY = 48 * 1024
"""Bytes that a group may share on every device."""
LARGEST_GROUP = 640
"""Threads of a group for a block of elements, at most."""
GROUPS = 256
"""Largest number of groups that check for values that are not finite."""


class OnDevice(System):
    """The place of E and H and of their tables, for both fluxes; the stability limit is computed on the processor.

    source: the file with the steps. copies: arrays on the device that are as large as a field.

    Raises ValueError for a degree or a number of elements that devices do not support, MemoryError for fields that do
    not fit.
    """

    source: str
    copies: int

    def __init__(self, domain: Domain, device: Device) -> None:
        super().__init__(domain)
        reference, lanes = self.element_blocks.reference, self.element_blocks.lanes
        if reference.order > HIGHEST_ORDER:
            highest = f"choose 1 to {HIGHEST_ORDER}, or backend='numba'"
            raise ValueError(f"order={reference.order!r} on {device.name}: {highest}")
        most = np.iinfo(np.int32).max
        if self.electric.size > most:
            raise ValueError(f"{self.electric.size} values of a field on {device.name}: at most {most} are possible")
        needed = self.copies * self.electric.nbytes + self.metric.nbytes
        advice = "use a lower order, a coarser mesh, precision='single' or backend='numba'"
        count = self.element_blocks.mesh.number_of_tetrahedra
        require_device_memory(device, needed, f"P{reference.order} on {count} tetrahedra", advice)
        self._device, self._rows = device, max(1, min(reference.size, LARGEST_GROUP // lanes))
        self._program = self._build(self.source, self._defines)
        self._between = self._build("dg/stepping/fields.c", self._layout)
        self._found = device.empty((GROUPS,), np.int32)
        self._codes, self._nodes = device.array(self.element_blocks.codes), device.array(self.nodes.astype(np.int32))
        self._metric, self._mirrors = device.array(self.metric), [device.array(each) for each in self.factors]
        self._ghost_rows, self._ghosts = device.array(self.rows), [device.array(each) for each in self.ghosts]
        self._fields: list[Any] = []
        self._places: dict[int, tuple[NDArray[np.int64], Any, Any]] = {}
        halo = domain.halo
        self._halo = None if halo is None else DeviceHalo(halo, device, self._traces)

    @property
    def _layout(self) -> tuple[tuple[str, int], ...]:
        """Arguments of block.h."""
        reference = self.element_blocks.reference
        return ("SIZE", reference.size), ("FACE_SIZE", reference.face_size), ("LANES", self.element_blocks.lanes)

    @property
    def _defines(self) -> tuple[tuple[str, int], ...]:
        """Arguments of curl.h."""
        size = self.element_blocks.reference.size
        return (*self._layout, ("ROWS", self._rows), ("LIFT_ROWS", size + size % 2))

    def _build(self, path: str, defines: tuple[tuple[str, int], ...]) -> Any:
        return self._device.build(Source(path, real_name(self.element_blocks.real), defines))

    def _advance(self, steps: Steps) -> None:
        self._fields = [self._device.array(field) for field in (self.electric, self.magnetic)]
        try:
            self._advance_on_device(steps)
            self.fetch()
        finally:
            self._fields = []

    def _advance_on_device(self, steps: Steps) -> None:
        """Do the steps of the fields on the device."""
        raise NotImplementedError

    def fetch(self) -> None:
        if self._fields:
            self.electric[:], self.magnetic[:] = (self._device.to_host(field).ravel() for field in self._fields)

    def finite(self) -> bool:
        """One number of each group is copied to the host."""
        if not self._fields:
            return super().finite()
        threads = GROUP * GROUPS
        arguments = self._fields[0], self.electric.size, threads, self._found
        self._device.launch(self._between, "not_finite", (threads,), (GROUP,), *arguments)
        return not self._device.to_host(self._found).any()

    def voltage(self, load: Load) -> float:
        return load.voltage(self.values_at(load.places)) if self._fields else super().voltage(load)

    def views(self) -> tuple[Any, Any]:
        return (View(self, 0), View(self, 1)) if self._fields else super().views()

    def values_at(self, places: NDArray[np.int64], which: int = 0) -> NDArray[np.floating]:
        """E (0) or H (1) on the device at flat numbers in a field, of any shape, which are kept there."""
        if id(places) not in self._places:
            numbers = self._device.array(places.ravel().astype(np.int32))
            room = self._device.empty((places.size,), self.element_blocks.real)
            self._places[id(places)] = places, numbers, room  # keep the array itself, so that its id is not reused
        _, numbers, room = self._places[id(places)]
        arguments = self._fields[which], numbers, room, places.size
        self._device.launch(self._between, "values_at", (places.size,), (GROUP,), *arguments)
        return self._device.to_host(room).reshape(places.shape)

    def _driven(self, load: Load, drive: NDArray[np.floating]) -> tuple[Any, Any]:
        """The places of a load, and its contribution there for a unit of its signal, on the device."""
        return self._device.array(load.places.ravel().astype(np.int32)), self._device.array(drive.ravel())

    def _add(self, field: Any, driven: tuple[Any, Any], factor: float, count: int) -> None:
        """field += factor times `count` values that a load adds."""
        arguments = field, *driven, self.real(factor), count
        self._device.launch(self._between, "add_load", (count,), (GROUP,), *arguments)

    def _by_block(self, kernel: str, drivers: dict[int, Any], *arguments: Any) -> None:
        """A kernel with a group of threads for each block of elements; the others' traces of the drivers, E (0), H
        (1) or both, are exchanged while inner blocks are computed."""
        if self._halo is None:
            self._on_blocks(kernel, (0, self.element_blocks.blocks), *arguments)
            return
        self._halo.begin(drivers)
        self._on_blocks(kernel, self.inner_blocks, *arguments)
        first = self.open.number * 2 * self.element_blocks.reference.face_size
        self._halo.finish(drivers, self._ghosts, first)
        self._on_blocks(kernel, self.outer_blocks, *arguments)

    def _on_blocks(self, kernel: str, blocks: tuple[int, int], *arguments: Any) -> None:
        group = self.element_blocks.lanes * self._rows
        threads = (blocks[1] - blocks[0]) * group
        self._device.launch(self._program, kernel, (threads,), (group,), blocks[0], *arguments)

    def _traces(self, field: Any, starts: Any, sides: Any, count: int, out: Any) -> None:
        """out (count, 2, m): traces of a field on `count` faces of elements that begin at `starts`."""
        threads = count * self.element_blocks.reference.face_size
        arguments = field, starts, sides, self._nodes, count, out
        self._device.launch(self._between, "face_traces", (threads,), (GROUP,), *arguments)

    def _in_parts(self, values: NDArray[np.complex128]) -> Any:
        """(waves, 2, ...) real and imaginary parts of amplitudes (waves, ...), on the device; memory for one if there
        is none."""
        parts = np.stack([values.real, values.imag], axis=1) if len(values) else np.zeros(1)
        return self._device.array(parts.astype(self.element_blocks.real))

    def _phases(self, time: float) -> Any:
        """(waves, 2) incident amplitudes, as `_in_parts`."""
        return self._in_parts(np.zeros(0, complex) if self.incident is None else self.incident.phases(time))


class View:
    """A field on a device, of which `[places]` copies only the values at flat numbers to the host."""

    def __init__(self, system: OnDevice, which: int) -> None:
        self._system, self._which = system, which

    def __getitem__(self, places: NDArray[np.int64]) -> NDArray[np.floating]:
        return self._system.values_at(places, self._which)
