"""A dense matrix that stays on a device: products and factors there, without a copy on the host."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends.devices.counters import count_requested
from calderon.backends.devices.device import Device, Source, real_name
from calderon.backends.execution import computable
from calderon.backends.memory import format_bytes

GROUP = 128
"""Threads of a group of every kernel here."""
SQUARE = 16
"""Rows and columns that a group exchanges with their mirror image."""


class DeviceMatrix(LinearOperator):
    """A matrix (rows, columns) on a device, row by row. SciPy sees a LinearOperator whose vectors come from the host;
    `gmres` and `lu` work on the device. `to_array()` copies it to the host.

    device: where. entries: the array of the device, zero at first. backend: its name. label, seconds: what was
    assembled and how long it took.
    """

    def __init__(self, device: Device, shape: tuple[int, int], dtype: Any, label: str = "") -> None:
        super().__init__(dtype=np.dtype(dtype), shape=shape)
        self.device, self.label, self.seconds = device, label, 0.0
        require_device_memory(device, self.nbytes, f"a matrix of {shape[0]} x {shape[1]} {self.dtype}")
        self.program = matrix_program(device, self.real, self.is_complex)
        self.entries = device.empty(shape, self.dtype)
        self._rows("clear", self.entries, shape[1])

    @property
    def real(self) -> np.dtype[Any]:
        """The type of real and imaginary parts."""
        return np.empty(0, self.dtype).real.dtype

    @property
    def is_complex(self) -> bool:
        return bool(self.dtype.kind == "c")

    @property
    def nbytes(self) -> int:
        """Memory of the entries in bytes, on the device."""
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def backend(self) -> str:
        return self.device.name

    def to_array(self) -> NDArray[Any]:
        """A copy of the entries on the host."""
        return self.device.to_host(self.entries).reshape(self.shape)

    toarray = to_array

    def times(self, x: Any, first: int = 0, is_complex: bool = True) -> Any:
        """A x on the device: of a vector there, from its element `first` on; a new vector. is_complex: see `OnDevice`;
        imaginary parts are multiplied always."""
        y = self.device.empty((self.shape[0], 2), vector_type(self.device))
        self._rows("rows_times", self.entries, x, first, self.shape[1], 0, y)
        return y

    def adjoint_times(self, x: Any) -> Any:
        """A^* x on the device, a new vector."""
        rows, columns = self.shape
        y = self.device.empty((columns, 2), vector_type(self.device))
        given = (self.entries, x, rows, columns, 1, 0, 0, y)
        self.device.launch(self.program, "columns_times", (columns,), (GROUP,), *given)
        return y

    def largest_row_sum(self) -> float:
        """max_i sum_j |a_ij|, not finite where an entry is not."""
        return float(self._sums(False).max(initial=0.0))

    def square_sums(self) -> NDArray[Any]:
        """(rows,) sum_j |a_ij|^2, on the host."""
        return self._sums(True)

    def _sums(self, squares: bool) -> NDArray[Any]:
        sums = self.device.empty((self.shape[0],), vector_type(self.device))
        self._rows("absolute_sums", self.entries, self.shape[1], int(squares), sums)
        return np.asarray(self.device.to_host(sums))

    def taken(self, rows: NDArray[Any], columns: NDArray[Any]) -> NDArray[Any]:
        """(n,) the entries at these places, on the host."""
        places = (self.device.array(np.ascontiguousarray(each, np.int32)) for each in (rows, columns))
        values = self.device.empty((max(1, len(rows)), 2), self.real)
        given = self.entries, *places, len(rows), self.shape[1], values
        self.device.launch(self.program, "take_entries", (max(1, len(rows)),), (GROUP,), *given)
        return on_host(self.device, values, self.dtype)[: len(rows)]

    def add_entries(self, values: NDArray[Any], rows: NDArray[Any], columns: NDArray[Any]) -> None:
        """Add values (n,) to entries, each at most once."""
        array = self.device.array
        places = (array(np.ascontiguousarray(each, np.int32)) for each in (rows, columns))
        given = (array(pairs(values, self.real)), *places, len(values), self.shape[1], self.entries)
        self.device.launch(self.program, "add_entries", (len(values),), (GROUP,), *given)

    def add_block(
        self, block: Any, shape: tuple[int, int], factor: complex, top: int, left: int, form: int = 0
    ) -> None:
        """Add factor * B (form 0), B^T (1) or B^* (2), of this shape, from row `top` and column `left` on; the entries
        of B on the device are of the type of this matrix."""
        factors = self.device.array(pairs(np.array([factor]), self.real))
        given = (block, factors, *shape, form, top, left, self.shape[1], self.entries)
        self._rows("add_block", *given, rows=shape[0])

    def scale_columns(self, factors: NDArray[Any], top: int, left: int, rows: int) -> None:
        """Multiply `rows` rows from `top` on by factors (n,) of the columns from `left` on."""
        given = (self.device.array(pairs(factors, self.real)), len(factors), top, left, self.shape[1], self.entries)
        self._rows("scale_columns", *given, rows=rows)

    def symmetrise(self, size: int, top: int, left: int) -> None:
        """Replace the square S of `size` rows at row `top` and column `left` by S + S^T."""
        threads, group = (size, size), (SQUARE, SQUARE)
        self.device.launch(self.program, "symmetrise", threads, group, size, top, left, self.shape[1], self.entries)

    def _rows(self, kernel: str, *arguments: Any, rows: int | None = None) -> None:
        threads = (self.shape[0] if rows is None else rows) * GROUP
        self.device.launch(self.program, kernel, (threads,), (GROUP,), *arguments)

    def _matmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return by_columns(self.device, x, self.shape[0], self.dtype, self.times)

    def _rmatmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return by_columns(self.device, x, self.shape[1], self.dtype, self.adjoint_times)

    def __str__(self) -> str:
        size = f"{self.shape[0]} x {self.shape[1]} {self.dtype}, {format_bytes(self.nbytes)}"
        what = f", {self.label}" if self.label else ""
        return f"dense matrix {size}, on {self.backend}, {self.seconds:.2f} s{what}"

    __repr__ = __str__


def matrix_program(device: Device, real: np.dtype[Any], is_complex: bool) -> Any:
    """The kernels for matrices of that type."""
    defines = (
        ("MATRIX_COMPLEX", int(is_complex)),
        ("VECTOR_REAL", real_name(vector_type(device))),
        ("GROUP_SIZE", GROUP),
        ("SQUARE", SQUARE),
    )
    return device.build(Source("backends/devices/device_matrix.c", real_name(real), defines))


def vector_type(device: Device) -> np.dtype[Any]:
    """The type of vectors: double precision where the device has it, whatever the type of the matrix."""
    return np.dtype(np.float64 if device.has_double else np.float32)


def pairs(values: NDArray[Any], real: np.dtype[Any]) -> NDArray[Any]:
    """Real and imaginary parts (n, 2)."""
    found = np.zeros((len(values), 2), real)
    found[:, 0] = values.real
    if values.dtype.kind == "c":
        found[:, 1] = values.imag
    return found


def on_device(device: Device, vector: NDArray[Any]) -> Any:
    """A vector (n,) as pairs on the device."""
    return device.array(pairs(vector, vector_type(device)))


def on_host(device: Device, vector: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """A vector of the device (n,) in that type."""
    re, im = device.to_host(vector).T
    return (re + 1j * im if dtype.kind == "c" else re).astype(dtype)


def by_columns(
    device: Device, x: NDArray[Any], rows: int, dtype: np.dtype[Any], apply: Callable[[Any], Any]
) -> NDArray[Any]:
    """(rows, m) what `apply` makes of each column of x (n, m), of a vector of the device another one; dtype: of the
    matrix that it multiplies by."""
    x = computable(x)
    out = np.empty((rows, x.shape[1]), np.result_type(dtype, x.dtype))
    for number, column in enumerate(x.T):
        out[:, number] = on_host(device, apply(on_device(device, column)), out.dtype)
    return out


def require_device_memory(device: Device, needed: int, what: str, advice: str = "") -> None:
    """MemoryError, before any allocation, where a device has fewer free bytes."""
    free = device.memory()
    count_requested(device, needed)
    if needed > free:
        advice = advice or (
            'try precision="single", a coarser mesh, or keep_on_device=False: the matrix is then on the host'
        )
        raise MemoryError(
            f"{what} needs {format_bytes(needed)} and {device.name} ({device.label}) has {format_bytes(free)} free: "
            f"{advice}"
        )
