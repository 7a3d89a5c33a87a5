"""The triangles of a surface on a device, which puts their records together (triangles.c)."""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Device, Kernels
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
NONE = Combinations(np.zeros((0, 3)))
NO_CURLS = Combinations(np.zeros((3, 3)))


class Nested(NamedTuple):
    """A part of a record that is a record itself, with these parts."""

    record: Record
    parts: dict[str, Any]


Part = Combinations | Nested | NDArray[np.float64] | Any
"""A part of a record: combinations, a record, numbers (n, k), or an array of these on the device in the type of
`corners`."""


class DeviceTriangles:
    """The corners, normals and Jacobians of a surface, sent to a device when first read; weights: known ones."""

    def __init__(self, device: Device, surface: FlatTriangles) -> None:
        self.device, self.surface, self.wide = device, surface, vector_type(device)
        self.weights = dict[tuple[float, float], NDArray[np.float64]]()

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

    def packed(
        self,
        record: Record,
        parts: dict[str, Part],
        real: Any,
        by_columns: bool = False,
        before: NDArray[Any] | None = None,
    ) -> Any:
        """Records (n, numbers) of all triangles on the device in a real type, as `Record.packed` makes them here.

        by_columns: (numbers, n). before: numbers that stand before them in one flat array.
        """
        count, given = len(self.surface.corners), {name: self._numbers(part) for name, part in parts.items()}
        length = record.checked({name: _width(part) for name, part in given.items()})
        first = 0 if before is None else before.size
        shape = (length, count) if by_columns else (count, length)
        out = self.device.empty(shape if before is None else (first + count * length,), real)
        if before is not None:
            self.device.put(np.ascontiguousarray(before.ravel(), real), out)
        self._put(record, given, 0, (count, length, int(by_columns), first, out))
        return out

    def _put(self, record: Record, parts: dict[str, Part], place: int, last: tuple[Any, ...]) -> None:
        """Put the parts of a record that begins at a place of a longer one; last: the last arguments of kernels."""
        real, count = last[-1].dtype, last[0]
        kernels = Kernels.of(self.device, "galerkin/device/triangles.c", real, GROUP, FROM_REAL=self.wide)
        for name, part in parts.items():
            first, width = place + record[name], _width(part)
            if isinstance(part, Nested):
                self._put(part.record, {key: self._numbers(each) for key, each in part.parts.items()}, first, last)
            elif width:
                given: tuple[Any, ...] = part, part, part, 0, 0  # neither combined nor divided
                if isinstance(part, Combinations):
                    given = self.corners, self._sent(part.table), self.jacobian, 1, int(part.over_jacobian)
                kernels.launch("put_numbers", count * width, *given, width, first, *last)

    def _numbers(self, part: Part) -> Part:
        """A part as it is put into records: combinations where the device computes in double precision, else numbers,
        since differences of corners would be rounded."""
        if isinstance(part, Combinations) and not self.device.has_double:
            vectors = part.table @ self.surface.corners
            scaled = vectors / self.surface.jacobian[:, None, None] if part.over_jacobian else vectors
            part = scaled.reshape(len(scaled), 3 * len(part.table))
        return self._sent(part) if isinstance(part, np.ndarray) else part


def _width(part: Part) -> int:
    """How many numbers of a triangle a part has."""
    if isinstance(part, Nested):
        return part.record.length
    return 3 * len(part.table) if isinstance(part, Combinations) else int(part.shape[1])
