"""The triangles of a surface on a device, which puts their records together (triangles.c)."""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Device, Kernels, Source, real_name
from calderon.backends.devices.device_matrix import vector_type
from calderon.backends.records import Record
from calderon.mesh.geometry import FlatTriangles

GROUP = 64
"""Threads of a group."""


class Combinations(NamedTuple):
    """Vectors of a triangle that are linear combinations of its corners: table (P, 3); over twice the area if so."""

    table: NDArray[np.float64]
    over_jacobian: bool = False


CENTROID = Combinations(np.full((1, 3), 1 / 3))
OFFSETS = Combinations(np.eye(3) - 1 / 3)
"""Corners from the centroid."""
CURLS = Combinations(np.roll(np.eye(3), 1, axis=1) - np.roll(np.eye(3), 2, axis=1), over_jacobian=True)
"""`FlatTriangles.curls`."""
NO_CURLS = Combinations(np.zeros((3, 3)))
Part = Combinations | NDArray[np.float64] | Any
"""A part of a record: combinations, numbers (n, k), or an array of these on the device in the type of `corners`."""


class DeviceTriangles:
    """The corners, normals and Jacobians of a surface, sent to a device once, when they are first read."""

    def __init__(self, device: Device, surface: FlatTriangles) -> None:
        self.device, self.surface, self.wide = device, surface, vector_type(device)

    def _sent(self, values: NDArray[np.float64]) -> Any:
        return self.device.array(np.ascontiguousarray(values, self.wide))

    @cached_property
    def corners(self) -> Any:
        """(n, 9) corners."""
        return self._sent(self.surface.corners.reshape(-1, 9))

    @cached_property
    def normals(self) -> Any:
        """(n, 3) unit normals."""
        return self._sent(self.surface.normals)

    @cached_property
    def jacobian(self) -> Any:
        """(n, 1) twice the areas."""
        return self._sent(self.surface.jacobian[:, None])

    def packed(self, record: Record, real: Any, by_columns: bool = False, **parts: Part) -> Any:
        """Records (n, numbers) of all triangles on the device in a real type, as `Record.packed` makes them here;
        by_columns: (numbers, n)."""
        count, given = len(self.surface.corners), {name: self._numbers(part) for name, part in parts.items()}
        widths = {
            name: 3 * len(part[0]) if isinstance(part, Combinations) else part.shape[1] for name, part in given.items()
        }
        length = record.checked(widths)
        out = self.device.empty((length, count) if by_columns else (count, length), real)
        source = Source("galerkin/device/triangles.c", real_name(real), (("FROM_REAL", real_name(self.wide)),))
        kernels, last = Kernels(self.device, source, GROUP), (count, length, int(by_columns), out)
        for name, part in given.items():
            if isinstance(part, Combinations):
                rows = len(part.table)
                corners = self.corners, self.jacobian, int(part.over_jacobian), self._sent(part.table)
                kernels.launch("put_combinations", count * rows, *corners, rows, record[name], *last)
            elif widths[name]:
                kernels.launch("put_values", count * widths[name], part, widths[name], record[name], *last)
        return out

    def _numbers(self, part: Part) -> Any:
        """A part as it is put into records: combinations where the device computes in double precision, else numbers,
        since differences of corners would be rounded."""
        if isinstance(part, Combinations) and not self.device.has_double:
            vectors = part.table @ self.surface.corners
            part = (vectors / self.surface.jacobian[:, None, None] if part.over_jacobian else vectors).reshape(
                -1, 3 * len(part.table)
            )
        return self._sent(part) if isinstance(part, np.ndarray) else part
