"""Traces that ranks send each other, for fields on the processor or on a device."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Device
from calderon.dg.operator.boundary import FacesOf
from calderon.dg.operator.element_blocks import ElementBlocks
from calderon.mesh.tetrahedral.partition import CUT, Part
from calderon.parallel import Communicator

Traces = Callable[[Any, Any, Any, int, Any], None]
"""Writes the traces of a field on faces into the last argument: starts of elements, sides, number of faces."""


class Halo:
    """The faces where a part of a mesh meets those of other ranks.

    faces: where, those of one rank after the other; numbers (f,): these in the part's mesh. shape (f, 2, m): of traces.
    """

    def __init__(
        self, part: Part, element_blocks: ElementBlocks, conditions: NDArray[np.str_], communicator: Communicator
    ):
        # faces at other ranks, in the order of their numbers: that of the rank across is the same
        faces = FacesOf.of(element_blocks, conditions, CUT)
        order = np.argsort(faces.numbers)
        self.faces = FacesOf(element_blocks, faces.elements[order], faces.sides[order])
        self.numbers = self.faces.numbers
        begin = part.first - part.first[0]
        self._runs = {rank: slice(*begin[n : n + 2]) for n, rank in enumerate(part.others)}
        self._communicator = communicator
        self.shape = len(self.numbers), 2, element_blocks.reference.face_size
        self._sent, self._received = (np.zeros((2, *self.shape), element_blocks.real) for _ in range(2))
        self._pending: list[Any] = [None, None]

    def begin(self, which: int, field: NDArray[np.floating]) -> None:
        """Send the own traces of a flat field, E (0) or H (1), and begin to receive the others'."""
        self.send(which, self.faces.traces(field))

    def send(self, which: int, traces: NDArray[np.floating]) -> None:
        """Send given traces (f, 2, m)."""
        self._sent[which] = traces
        sent = {rank: self._sent[which, run] for rank, run in self._runs.items()}
        received = {rank: self._received[which, run] for rank, run in self._runs.items()}
        self._pending[which] = self._communicator.exchange(sent, received)

    def finish(self, which: int) -> NDArray[np.floating]:
        """(f, 2, m) traces of other ranks."""
        self._communicator.finish(self._pending[which])
        return np.asarray(self._received[which])

    def across(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """(f,) of the elements on the other side, from values (elements,) of the own ones."""
        own = np.ascontiguousarray(values[self.faces.elements])
        result = np.empty_like(own)
        sent = {rank: own[run] for rank, run in self._runs.items()}
        received = {rank: result[run] for rank, run in self._runs.items()}
        self._communicator.finish(self._communicator.exchange(sent, received))
        return result

    @property
    def sides(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Elements and their faces."""
        return self.faces.elements, self.faces.sides


class DeviceHalo:
    """A halo whose own traces are gathered on the device, and the others' copied back there: nothing else of a field
    leaves it. The device advances inner elements between `begin` and `finish`."""

    def __init__(self, halo: Halo, device: Device, traces: Traces) -> None:
        self._halo, self._device, self._traces = halo, device, traces
        faces = halo.faces
        self._starts, self._sides = (device.array(each.astype(np.int32)) for each in (faces.starts, faces.sides))
        self._own = [device.empty(halo.shape, faces.element_blocks.real) for _ in range(2)]
        self._fetched: list[Callable[[], NDArray[Any]]] = []

    def begin(self, fields: dict[int, Any]) -> None:
        """Gather the traces of E (0), H (1) or both, and begin to copy them to the host."""
        for which, field in fields.items():
            self._traces(field, self._starts, self._sides, self._halo.faces.number, self._own[which])
        self._fetched = [self._device.fetch(self._own[which]) for which in fields]

    def finish(self, fields: dict[int, Any], ghosts: list[Any], first: int) -> None:
        """Send them, and copy the traces of the others into ghosts of each field, from element `first` on."""
        for which, fetched in zip(fields, self._fetched, strict=True):
            self._halo.send(which, fetched())
        for which in fields:
            self._device.put(self._halo.finish(which), ghosts[which], first)
