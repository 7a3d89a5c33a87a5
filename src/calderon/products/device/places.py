"""Parts of matrices on a device, to which the entries of operators are added."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import DeviceMatrix, Execution, require_memory

SLICE = 256_000_000
"""Bytes of rows that are sent at a time."""


class DevicePlace:
    """A part of a matrix on a device, from row `top` and column `left` on; see `operators.tree.ArrayPlace`."""

    advance, hosts = None, False

    def __init__(self, matrix: DeviceMatrix, execution: Execution, top: int, left: int, shape: tuple[int, int]) -> None:
        self.matrix, self.execution, self.top, self.left, self.shape = matrix, execution, top, left, shape
        self.dtype: np.dtype[Any] = np.dtype(matrix.dtype)

    @property
    def target(self) -> "DevicePlace":
        return self

    def part(self, top: int, left: int, shape: tuple[int, int]) -> "DevicePlace":
        return DevicePlace(self.matrix, self.execution, self.top + top, self.left + left, shape)

    def temporary(self, shapes: list[tuple[tuple[int, int], bool]]) -> Callable[[tuple[int, int], bool], "DevicePlace"]:
        """One matrix after the other, each of the type of this one."""

        def place(shape: tuple[int, int], is_complex: bool) -> DevicePlace:
            other = DeviceMatrix(self.matrix.device, shape, self.dtype)
            return DevicePlace(other, self.execution, 0, 0, shape)

        return place

    def add_entries(self, values: NDArray[Any], rows: NDArray[Any], columns: NDArray[Any]) -> None:
        self.matrix.add_entries(values, rows.astype(np.int64) + self.top, columns.astype(np.int64) + self.left)

    def add(self, other: "DevicePlace", factor: complex, transposed: bool, conjugated: bool) -> None:
        if conjugated and not transposed:  # in two steps of `DeviceMatrix.add_block`
            mirrored = self.temporary([])(other.shape[::-1], True)
            mirrored.add(other, 1.0, True, False)
            other, transposed = mirrored, True
        form = int(transposed) + int(conjugated)
        self.matrix.add_block(other.matrix.entries, self.shape, factor, self.top, self.left, form)

    def symmetrise(self) -> None:
        self.matrix.symmetrise(self.shape[0], self.top, self.left)

    def scale_columns(self, factors: NDArray[Any]) -> None:
        self.matrix.scale_columns(factors, self.top, self.left, self.shape[0])

    @contextmanager
    def on_host(self, what: str) -> Iterator[NDArray[Any]]:
        """An array of zeros that is sent and added, rows after rows."""
        matrix, (rows, width) = self.matrix, self.shape
        advice = 'try precision="single", a coarser mesh, or method="matrix-free"'
        require_memory(math.prod(self.shape) * matrix.dtype.itemsize, f"{what}, put together on the host,", advice)
        whole = np.zeros(self.shape, matrix.dtype)
        yield whole
        step = max(1, SLICE // (width * matrix.dtype.itemsize))
        for lo in range(0, rows, step):
            piece = whole[lo : lo + step]
            matrix.add_block(matrix.device.array(piece), piece.shape, 1.0, self.top + lo, self.left)
