"""The basis of a Krylov space on a device: a few numbers a step go to the host, and the vectors stay."""

import math
from typing import Any, NamedTuple

import numpy as np

from calderon.backends import Device
from calderon.backends.devices.device_matrix import GROUP, matrix_program, on_device, on_host, pairs, vector_type
from calderon.solvers.arnoldi import Basis


class BasisVector(NamedTuple):
    """A vector of the basis: pairs of numbers of an array of the device, from element `first` on."""

    array: Any
    first: int


class DeviceBasis(Basis):
    """A `Basis` on a device: vectors are pairs (n, 2) of real and imaginary parts there, in double precision where the
    device supports that."""

    def __init__(self, device: Device, length: int, dtype: np.dtype, limit: int | None):
        super().__init__(length, dtype, limit)
        self.device = device
        self._real = vector_type(device)
        self._program = matrix_program(device, self._real, is_complex=True)

    @property
    def newest(self) -> BasisVector:
        return BasisVector(self.blocks[-1], (self.size - 1) % self.rows * self.length)

    def from_host(self, vector: np.ndarray) -> Any:
        return on_device(self.device, vector)

    def append(self, vector: Any, divisor: float) -> None:
        if self.size % self.rows == 0:
            self.blocks.append(self.device.empty((self.rows * self.length, 2), self._real))
        place = self.size % self.rows * self.length
        self._columns_times(vector, np.array([1 / divisor]), self.blocks[-1], first=place)
        self.size += 1

    def to_host(self, vector: Any) -> np.ndarray:
        if isinstance(vector, BasisVector):  # copied within the device first: only whole arrays go to the host
            one, row = self.device.empty((self.length, 2), self._real), vector.first // self.length
            self._columns_times(vector.array, np.append(np.zeros(row), 1.0), one)
            vector = one
        return on_host(self.device, vector, self.dtype)

    def norm(self, vector: Any) -> float:
        return math.sqrt(self._rows_times(vector, 1, vector)[0].real)

    def _rows_times(self, block: Any, count: int, vector: Any) -> np.ndarray:
        """conj(V) w of the first rows V of a block."""
        out = self.device.empty((count, 2), self._real)
        given = (block, vector, 0, self.length, 1, out)
        self.device.launch(self._program, "rows_times", (count * GROUP,), (GROUP,), *given)
        return on_host(self.device, out, np.dtype(np.complex128))

    def _columns_times(self, block: Any, numbers: np.ndarray, out: Any, adds: int = 0, first: int = 0) -> None:
        """Sums of the first rows of a block times numbers, to `out` from its element `first` on."""
        x = self.device.array(pairs(numbers, self._real))
        given = (block, x, len(numbers), self.length, 0, adds, first, out)
        self.device.launch(self._program, "columns_times", (self.length,), (GROUP,), *given)

    def _coefficients(self, block: Any, count: int, vector: Any) -> np.ndarray:
        found = self._rows_times(block, count, vector)
        return found if self.dtype.kind == "c" else found.real

    def _add(self, vector: Any, block: Any, coefficients: np.ndarray) -> None:
        self._columns_times(block, coefficients, vector, adds=1)
