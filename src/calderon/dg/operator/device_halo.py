"""Traces that ranks send each other, of fields on a device."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Device
from calderon.dg.operator.halo import Halo

Traces = Callable[[Any, Any, Any, int, Any], None]
"""Puts into the last argument what a field is on faces: their elements' starts, their sides, their number."""


class DeviceHalo:
    """A halo whose own traces are gathered on the device, and the others' put back there: nothing else of a field
    leaves it. The device advances inner elements between `begin` and `finish`."""

    def __init__(self, halo: Halo, device: Device, traces: Traces) -> None:
        self._halo, self._device, self._traces = halo, device, traces
        faces = halo.faces
        self._starts, self._sides = (device.array(each.astype(np.int32)) for each in (faces.starts, faces.sides))
        self._own = [device.empty(halo.shape, faces.arrangement.real) for _ in range(2)]
        self._fetched: list[Callable[[], NDArray[Any]]] = []

    def begin(self, fields: dict[int, Any]) -> None:
        """Gather the traces of E (0), H (1) or both, and begin to fetch them."""
        for which, field in fields.items():
            self._traces(field, self._starts, self._sides, self._halo.faces.number, self._own[which])
        self._fetched = [self._device.fetch(self._own[which]) for which in fields]

    def finish(self, fields: dict[int, Any], ghosts: list[Any], first: int) -> None:
        """Send them, and put what comes from the others into ghosts of each field, from the number `first` on."""
        for which, fetched in zip(fields, self._fetched, strict=True):
            self._halo.send(which, fetched())
        for which in fields:
            self._device.put(self._halo.finish(which), ghosts[which], first)
