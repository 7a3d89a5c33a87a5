"""Fields that stay on a device while time advances."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Device, Source, real_name, require_device_memory
from calderon.dg.currents import Load
from calderon.dg.domain import Domain
from calderon.dg.system import System

GROUP = 128
"""Threads of a group where each works alone."""
HIGHEST_ORDER = 5
"""Of which what a group shares of a block of elements fits into GROUP_MEMORY."""
GROUP_MEMORY = 48 * 1024
"""Bytes that a group may share on every device."""
LARGEST_GROUP = 640
"""Threads of a group for a block of elements, at most."""


class OnDevice(System):
    """The place of E and H and of their tables, for both fluxes; the stability limit is computed on the processor.

    source: the file with the steps. copies: arrays on the device that are as large as a field.

    Raises ValueError for a degree or a number of elements that devices do not take, MemoryError for fields that do not
    fit.
    """

    source: str
    copies: int

    def __init__(self, domain: Domain, device: Device) -> None:
        super().__init__(domain)
        reference, lanes = self.arrangement.reference, self.arrangement.lanes
        if reference.order > HIGHEST_ORDER:
            highest = f"choose 1 to {HIGHEST_ORDER}, or backend='numba'"
            raise ValueError(f"order={reference.order!r} on {device.name}: {highest}")
        most = np.iinfo(np.int32).max
        if self.electric.size > most:
            raise ValueError(f"{self.electric.size} values of a field on {device.name}: at most {most} are possible")
        needed = self.copies * self.electric.nbytes + self.metric.nbytes
        advice = "take a lower order, a coarser mesh, precision='single' or backend='numba'"
        count = self.arrangement.mesh.number_of_tetrahedra
        require_device_memory(device, needed, f"P{reference.order} on {count} tetrahedra", advice)
        self._device, self._rows = device, max(1, min(reference.size, LARGEST_GROUP // lanes))
        self._program, self._currents = self._build(self.source, self._defines), self._build("dg/currents.c", ())
        self._codes, self._nodes = device.array(self.arrangement.codes), device.array(self.nodes.astype(np.int32))
        self._metric, self._mirrors = device.array(self.metric), [device.array(each) for each in self.factors]
        self._fields: list[Any] = []
        self._ports: dict[Load, tuple[Any, Any]] = {}

    @property
    def _defines(self) -> tuple[tuple[str, int], ...]:
        reference = self.arrangement.reference
        return (
            ("SIZE", reference.size),
            ("FACE_SIZE", reference.face_size),
            ("LANES", self.arrangement.lanes),
            ("ROWS", self._rows),
            ("LIFT_ROWS", reference.size + reference.size % 2),
        )

    def _build(self, path: str, defines: tuple[tuple[str, int], ...]) -> Any:
        return self._device.build(Source(path, real_name(self.arrangement.real), defines))

    def advance(self, time: float, step: float, count: int, after: Callable[[int], None], first: int = 0) -> None:
        self._fields = [self._device.array(field) for field in (self.electric, self.magnetic)]
        self._advance(time, step, count, after, first)
        self.fetch()
        self._fields = []

    def _advance(self, time: float, step: float, count: int, after: Callable[[int], None], first: int) -> None:
        """The steps of `advance`, of the fields on the device."""
        raise NotImplementedError

    def fetch(self) -> None:
        if self._fields:
            self.electric[:], self.magnetic[:] = (self._device.to_host(field).ravel() for field in self._fields)

    def voltage(self, load: Load) -> float:
        if not self._fields:
            return super().voltage(load)
        if load not in self._ports:
            places = load.places.ravel().astype(np.int32)
            self._ports[load] = self._device.array(places), self._device.empty(places.shape, self.arrangement.real)
        places, values = self._ports[load]
        count = load.places.size
        self._device.launch(self._currents, "values_at", (count,), (GROUP,), self._fields[0], places, values, count)
        return load.voltage(self._device.to_host(values))

    def _driven(self, load: Load, drive: NDArray[np.floating]) -> tuple[Any, Any]:
        """Where a load acts, and what it adds there for a unit of its signal, on the device."""
        return self._device.array(load.places.ravel().astype(np.int32)), self._device.array(drive.ravel())

    def _add(self, field: Any, driven: tuple[Any, Any], factor: float, count: int) -> None:
        """field += factor times `count` values that a load adds."""
        arguments = field, *driven, self.real(factor), count
        self._device.launch(self._currents, "add_load", (count,), (GROUP,), *arguments)

    def _by_block(self, kernel: str, *arguments: Any) -> None:
        """A kernel with a group of threads for each block of elements."""
        group = self.arrangement.lanes * self._rows
        self._device.launch(self._program, kernel, (self.arrangement.blocks * group,), (group,), *arguments)

    def _in_parts(self, values: NDArray[np.complex128]) -> Any:
        """(waves, 2, ...) real and imaginary parts of amplitudes (waves, ...), on the device; room for one if there is
        none."""
        parts = np.stack([values.real, values.imag], axis=1) if len(values) else np.zeros(1)
        return self._device.array(parts.astype(self.arrangement.real))

    def _phases(self, time: float) -> Any:
        """(waves, 2) of what is incident, as `_in_parts`."""
        return self._in_parts(np.zeros(0, complex) if self.incident is None else self.incident.phases(time))
