"""Sums, blocks and transposes of operators on a device, for vectors that stay there (sums.c)."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends import Device, Source, real_name
from calderon.backends.devices.device_matrix import on_device, on_host, vector_type
from calderon.operators.tree import Congruence, Term
from calderon.products.device.tables import GROUP, indices
from calderon.products.operator import RealProducts


@runtime_checkable
class Adds(Protocol):
    """Products with a matrix A on a device."""

    @property
    def device(self) -> Device:
        """Where."""
        ...

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        ...

    def add(
        self, x: Any, left: int, y: Any, top: int, factor: complex, transposed: bool, parts: int,
        conjugated: bool = False,
    ) -> None:  # fmt: skip
        """y += factor A x or A^T x, or with the conjugate of A, for vectors that begin at elements of x and y; parts: 1
        where x is real, else 2."""
        ...


class Part(NamedTuple):
    """factor * A, transposed and conjugated if so, from row `top` and column `left` on."""

    factor: complex
    product: Adds
    transposed: bool
    conjugated: bool
    top: int
    left: int


class DeviceSparse:
    """A real sparse matrix on a device, and its transpose."""

    def __init__(self, device: Device, matrix: sp.csr_array, program: Any) -> None:
        self.device, self.shape, self.kind, self._program = device, matrix.shape, vector_type(device), program
        self._matrices = [self._sent(sp.csr_array(each)) for each in (matrix, matrix.T)]

    def _sent(self, matrix: sp.csr_array) -> tuple[Any, ...]:
        values = self.device.array(matrix.data.astype(self.kind))
        return values, *(indices(self.device, each) for each in (matrix.indptr, matrix.indices)), matrix.shape[0]

    def add(
        self, x: Any, left: int, y: Any, top: int, factor: complex, transposed: bool, parts: int,
        conjugated: bool = False,
    ) -> None:  # fmt: skip
        """See `Adds`."""
        matrix = self._matrices[int(transposed)]
        factors = (self.kind.type(each) for each in (np.real(factor), np.imag(factor)))
        given = (*matrix, *factors, x, left, y, top)
        self.device.launch(self._program, "add_sparse", (matrix[-1],), (GROUP,), *given)


class DeviceCongruence:
    """sum_d factor_d L_d^T A R_d on a device with real sparse matrices; A: products there."""

    def __init__(self, inner: Adds, factors: Sequence[complex], left: Any, right: Any, program: Any) -> None:
        self.device, self.inner, self.factors, self._program = inner.device, inner, factors, program
        self.shape = left[0].shape[1], right[0].shape[1]
        self._left, self._right = (
            [DeviceSparse(inner.device, each, program) for each in side] for side in (left, right)
        )

    def add(
        self, x: Any, left: int, y: Any, top: int, factor: complex, transposed: bool, parts: int,
        conjugated: bool = False,
    ) -> None:  # fmt: skip
        """See `Adds`."""
        device, program = self.device, self._program
        before, after = (self._left, self._right) if transposed else (self._right, self._left)
        rows, columns = self.inner.shape[::-1] if transposed else self.inner.shape
        for own, one, other in zip(self.factors, before, after, strict=True):
            given, found = (zero_vector(device, program, length) for length in (columns, rows))
            one.add(x, left, given, 0, 1.0, False, parts)
            self.inner.add(given, 0, found, 0, 1.0, transposed, parts, conjugated)
            other.add(found, 0, y, top, (np.conj(own) if conjugated else own) * factor, True, parts)


class DeviceSum(LinearOperator):
    """A sum of parts on a device; the vectors of `times` and `adjoint_times` are there, as pairs (n, 2)."""

    def __init__(self, device: Device, parts: Sequence[Part], shape: tuple[int, int], dtype: Any) -> None:
        super().__init__(dtype=np.dtype(dtype), shape=shape)
        self.device, self.parts, self._program = device, parts, operator_program(device)

    @staticmethod
    def of(device: Device, terms: Sequence[tuple[Term, Any]], shape: tuple[int, int], dtype: Any) -> "DeviceSum | None":
        """Terms with the values of their atoms; None where some are not made of products on the device and sparse
        matrices."""
        parts, program = list[Part](), operator_program(device)
        for term, value in terms:
            turned = isinstance(value, DeviceTransposed)
            product: Any = value.product if turned else value
            factor = term.factor
            if sp.issparse(value):
                matrix = sp.csr_array(value.conj() if term.conjugated else value)
                product = DeviceSparse(device, matrix.real, program)
                if matrix.dtype.kind == "c" and matrix.imag.count_nonzero():
                    rest = DeviceSparse(device, matrix.imag, program)
                    parts.append(Part(1j * factor, rest, term.transposed, False, term.top, term.left))
            elif isinstance(value, Congruence) and isinstance(value.inner, Adds):
                product = DeviceCongruence(value.inner, value.factors, value.left, value.right, program)
            elif not isinstance(product, Adds):
                return None
            parts.append(Part(factor, product, term.transposed != turned, term.conjugated, term.top, term.left))
        return DeviceSum(device, parts, shape, dtype)

    @property
    def host(self) -> Any:
        """The products of the processor, where one product is all and they are still needed."""
        return getattr(self.parts[0].product, "host", None) if len(self.parts) == 1 else None

    def times(self, x: Any, first: int = 0, is_complex: bool = True) -> Any:
        """A x on the device: of a vector there, from its element `first` on; a new vector."""
        y = zero_vector(self.device, self._program, self.shape[0])
        for part in self.parts:
            places, given = (x, first + part.left, y, part.top), (part.transposed, 1 + int(is_complex), part.conjugated)
            part.product.add(*places, part.factor, *given)
        return y

    def adjoint_times(self, x: Any) -> Any:
        """A^* x on the device, a new vector."""
        y = zero_vector(self.device, self._program, self.shape[1])
        for part in self.parts:
            given = np.conj(part.factor), not part.transposed, 2, not part.conjugated
            part.product.add(x, part.top, y, part.left, *given)
        return y

    def _matmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return self._columns(x, self.shape[0], lambda each: self.times(each, 0, x.dtype.kind == "c"))

    def _rmatmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return self._columns(x, self.shape[1], self.adjoint_times)

    def _columns(self, x: NDArray[Any], size: int, apply: Any) -> NDArray[Any]:
        kind = np.result_type(self.dtype, x.dtype)
        out = np.empty((size, x.shape[1]), kind)
        for number, column in enumerate(x.T):
            out[:, number] = on_host(self.device, apply(on_device(self.device, column)), kind)
        return out


def zero_vector(device: Device, program: Any, length: int) -> Any:
    """A vector of zeros on the device."""
    y = device.empty((length, 2), vector_type(device))
    device.launch(program, "clear_vector", (2 * length,), (GROUP,), y, length)
    return y


def operator_program(device: Device) -> Any:
    """The kernels of vectors."""
    real = real_name(vector_type(device))
    return device.build(Source("products/device/sums.c", real, (("VECTOR_REAL", real),)))


class OnOneDevice:
    """What `gmres` asks of a matrix whose parts are all on one device, where its vectors stay."""

    product: DeviceSum

    @property
    def device(self) -> Device:
        """Where."""
        return self.product.device

    def times(self, x: Any, first: int = 0, is_complex: bool = True) -> Any:
        """A x on the device: of a vector there, from its element `first` on; a new vector."""
        return self.product.times(x, first, is_complex)

    def adjoint_times(self, x: Any) -> Any:
        """A^* x on the device, a new vector."""
        return self.product.adjoint_times(x)


class DeviceTransposed(RealProducts):
    """The transposed matrix."""

    def __init__(self, product: Any) -> None:
        super().__init__(dtype=product.dtype, shape=product.shape[::-1])
        self.product = product

    def _products(self, x: NDArray[Any], transposed: bool) -> NDArray[Any]:
        return self.product._products(x, not transposed)
