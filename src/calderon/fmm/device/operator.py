"""Sums, blocks and transposes of operators on a device, for vectors that stay there (operator.c)."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends import Device, Source, real_name
from calderon.backends.device_matrix import on_device, on_host, vector_type
from calderon.fmm.device.functions import GROUP, indices
from calderon.fmm.device.products import DeviceProduct, DeviceTransposed
from calderon.operators.tree import Congruence, Term


class Part(NamedTuple):
    """factor * A or A^T from row `top` and column `left` on; A adds its products (see `DeviceProduct.add`)."""

    factor: complex
    product: Any
    transposed: bool
    top: int
    left: int


class DeviceSparse:
    """A real sparse matrix on a device, and its transpose."""

    def __init__(self, device: Device, matrix: sp.csr_array, program: Any) -> None:
        self.device, self.kind, self._program = device, vector_type(device), program
        self._matrices = [self._sent(sp.csr_array(each)) for each in (matrix, matrix.T)]

    def _sent(self, matrix: sp.csr_array) -> tuple[Any, ...]:
        values = self.device.array(matrix.data.astype(self.kind))
        return values, *(indices(self.device, each) for each in (matrix.indptr, matrix.indices)), matrix.shape[0]

    def add(self, x: Any, left: int, y: Any, top: int, factor: complex, transposed: bool, parts: int) -> None:
        """y += factor A x or A^T x, for vectors that begin at elements of x and y."""
        matrix = self._matrices[int(transposed)]
        factors = (self.kind.type(each) for each in (np.real(factor), np.imag(factor)))
        given = (*matrix, *factors, x, left, y, top)
        self.device.launch(self._program, "add_sparse", (matrix[-1],), (GROUP,), *given)


class DeviceCongruence:
    """sum_d factor_d L_d^T A R_d on a device with real factors and sparse matrices; A: products there."""

    def __init__(self, inner: DeviceProduct, factors: Sequence[float], left: Any, right: Any, program: Any) -> None:
        self.inner, self.factors, self._program = inner, factors, program
        self._left, self._right = (
            [DeviceSparse(inner.device, each, program) for each in side] for side in (left, right)
        )

    def add(self, x: Any, left: int, y: Any, top: int, factor: complex, transposed: bool, parts: int) -> None:
        """y += factor times the product with x or the transposed one, vectors that begin at elements of x and y."""
        device, program = self.inner.device, self._program
        before, after = (self._left, self._right) if transposed else (self._right, self._left)
        rows, columns = self.inner.shape[::-1] if transposed else self.inner.shape
        for own, one, other in zip(self.factors, before, after, strict=True):
            given, found = (zero_vector(device, program, length) for length in (columns, rows))
            one.add(x, left, given, 0, 1.0, False, parts)
            self.inner.add(given, 0, found, 0, 1.0, transposed, parts)
            other.add(found, 0, y, top, own * factor, True, parts)


class DeviceSum(LinearOperator):
    """A sum of parts on a device; the vectors of `times` and `adjoint_times` are there, as pairs (n, 2)."""

    def __init__(self, device: Device, parts: Sequence[Part], shape: tuple[int, int], dtype: Any) -> None:
        super().__init__(dtype=np.dtype(dtype), shape=shape)
        self.device, self.parts, self._program = device, parts, operator_program(device)

    @staticmethod
    def of(device: Device, terms: Sequence[tuple[Term, Any]], shape: tuple[int, int], dtype: Any) -> "DeviceSum | None":
        """Terms with the values of their atoms; None where some are not made of products on the device and real
        matrices."""
        parts, program = [], operator_program(device)
        for term, value in terms:
            product, turned = (value.product, True) if isinstance(value, DeviceTransposed) else (value, False)
            if sp.issparse(value) and value.dtype.kind != "c":
                product = DeviceSparse(device, sp.csr_array(value), program)
            elif isinstance(value, Congruence) and isinstance(value.inner, DeviceProduct):
                if np.iscomplex(value.factors).any():
                    return None
                product = DeviceCongruence(
                    value.inner, np.real(value.factors).tolist(), value.left, value.right, program
                )
            elif not isinstance(product, DeviceProduct):
                return None
            parts.append(Part(term.factor, product, term.transposed != turned, term.top, term.left))
        return DeviceSum(device, parts, shape, dtype)

    @property
    def host(self) -> Any:
        """The products of the processor, where one product is all and they are still needed."""
        return getattr(self.parts[0].product, "host", None) if len(self.parts) == 1 else None

    def times(self, x: Any, first: int = 0, is_complex: bool = True) -> Any:
        """A x on the device: of a vector there, from its element `first` on; a new vector."""
        y = zero_vector(self.device, self._program, self.shape[0])
        for part in self.parts:
            part.product.add(x, first + part.left, y, part.top, part.factor, part.transposed, 1 + int(is_complex))
        return y

    def adjoint_times(self, x: Any) -> Any:
        """A^* x on the device, a new vector."""
        y = zero_vector(self.device, self._program, self.shape[1])
        for part in self.parts:
            part.product.add(x, part.top, y, part.left, np.conj(part.factor), not part.transposed, 2)
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
    return device.build(Source("fmm/device/operator.c", real, (("VECTOR_REAL", real),)))
