"""Sums, blocks and transposes of operators on a device, for vectors that stay there (sums.c)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends import Device, require_device_memory
from calderon.backends.devices.device_matrix import on_device, on_host, vector_type
from calderon.operators.products import SandwichProduct, SumOfProducts
from calderon.operators.tree import Term
from calderon.products.device.tables import indices
from calderon.products.device.vectors import Vectors, add_sums, vector_kernels, zero_vector


class DeviceOperator(LinearOperator):
    """A matrix A on a device, as a class has it that defines `add`: also for vectors of SciPy, which come from the
    host, `together` of them at a time. host: the products of the processor, where they are still needed."""

    device: Device
    together = 1
    host: Any = None

    def add(self, x: Vectors, y: Vectors, factor: complex, transposed: bool, conjugated: bool = False) -> None:
        """y += factor A x or A^T x, or with the conjugate of A."""
        raise NotImplementedError

    def times(self, x: Any, first: int = 0, is_complex: bool = True) -> Any:
        """A x on the device: of a vector there, pairs (n, 2), from its element `first` on; a new vector."""
        y = zero_vector(self.device, self.shape[0])
        self.add(Vectors(x, first, is_real=not is_complex), Vectors(y), 1.0, False)
        return y

    def adjoint_times(self, x: Any) -> Any:
        """A^* x on the device, a new vector."""
        y = zero_vector(self.device, self.shape[1])
        self.add(Vectors(x), Vectors(y), 1.0, True, True)
        return y

    def _matmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return self._products(x, False)

    def _rmatmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return self._products(x, True)

    def _products(self, x: NDArray[Any], adjoint: bool) -> NDArray[Any]:
        """A x, or A^* x if adjoint, for x (n, k)."""
        out = np.empty((self.shape[1 if adjoint else 0], x.shape[1]), np.result_type(self.dtype, x.dtype))
        for low in range(0, x.shape[1], self.together):
            own, into = (each[:, low : low + self.together] for each in (x, out))
            given, y = on_device(self.device, own.T.ravel()), zero_vector(self.device, into.size)
            sent = Vectors(given, 0, len(own), own.shape[1], own.dtype.kind != "c")
            self.add(sent, Vectors(y, 0, len(into), own.shape[1]), 1.0, adjoint, adjoint)
            into[:] = on_host(self.device, y, out.dtype).reshape(into.shape[::-1]).T
        return out


class DeviceSparse(DeviceOperator):
    """A real or complex sparse matrix on a device, and its transpose."""

    def __init__(self, device: Device, matrix: sp.csr_array) -> None:
        super().__init__(dtype=matrix.dtype, shape=matrix.shape)
        self.device, self.kind = device, vector_type(device)
        self.is_complex = matrix.dtype.kind == "c" and bool(matrix.imag.count_nonzero())
        numbers = [(1.0, matrix.real), (1j, matrix.imag)][: 1 + self.is_complex]
        ends = sum(matrix.shape) + 2
        needed = sum(2 * part.nnz * (self.kind.itemsize + 4) + 4 * ends for _, part in numbers if part.nnz)
        require_device_memory(device, needed, "a sparse matrix and its transpose", 'use backend="numba"')
        self._matrices = [(unit, [self._sent(sp.csr_array(each)) for each in (part, part.T)])
                          for unit, part in numbers if part.nnz]  # fmt: skip

    def _sent(self, matrix: sp.csr_array) -> tuple[Any, ...]:
        values = self.device.array(matrix.data.astype(self.kind))
        return values, *(indices(self.device, each) for each in (matrix.indptr, matrix.indices)), matrix.shape[0]

    def add(self, x: Vectors, y: Vectors, factor: complex, transposed: bool, conjugated: bool = False) -> None:
        """See `DeviceOperator`."""
        for unit, pair in self._matrices:  # real and imaginary parts of the entries
            own, (values, *lists, rows) = factor * (np.conj(unit) if conjugated else unit), pair[int(transposed)]
            given = (*lists, 1, 1), rows, (x.array, 2 * x.first, 2, 2 * x.pitch, 1), own, y
            add_sums(vector_kernels(self.device), *given, values=(values, 1))


class DeviceSandwich(DeviceOperator):
    """A product with sparse factors around A on a device; inner: products with A there."""

    def __init__(self, inner: DeviceOperator, host: SandwichProduct) -> None:
        super().__init__(dtype=complex, shape=host.shape)
        self.device, self.inner, self.factors = inner.device, inner, host.factors
        self.left, self.right = (side and [DeviceSparse(inner.device, each) for each in side]
                                 for side in (host.left, host.right))  # fmt: skip

    def add(self, x: Vectors, y: Vectors, factor: complex, transposed: bool, conjugated: bool = False) -> None:
        """See `DeviceOperator`."""
        before, after = (self.left, self.right) if transposed else (self.right, self.left)
        rows, columns = self.inner.shape[::-1] if transposed else self.inner.shape
        for number, own in enumerate(self.factors):
            scale, given = (np.conj(own) if conjugated else own) * factor, x
            if before is not None:
                is_real = x.is_real and not before[number].is_complex
                given = Vectors(zero_vector(self.device, columns), is_real=is_real)
                before[number].add(x, given, 1.0, False, conjugated)
            if after is None:
                self.inner.add(given, y, scale, transposed, conjugated)
                continue
            found = Vectors(zero_vector(self.device, rows))
            self.inner.add(given, found, 1.0, transposed, conjugated)
            after[number].add(found, y, scale, True, conjugated)


class DeviceSum(DeviceOperator):
    """A sum of terms on a device; parts: these with their products there."""

    def __init__(
        self, device: Device, parts: Sequence[tuple[Term, DeviceOperator]], shape: tuple[int, int], dtype: Any
    ) -> None:
        super().__init__(dtype=np.dtype(dtype), shape=shape)
        self.device, self.parts = device, parts

    @staticmethod
    def of(device: Device, terms: Sequence[tuple[Term, Any]], shape: tuple[int, int], dtype: Any) -> "DeviceSum | None":
        """Terms with the values of their atoms; None where some are not made of products on the device and sparse
        matrices."""
        parts = list[tuple[Term, DeviceOperator]]()
        for term, value in terms:
            product = _sent(device, value)
            if product is None:
                return None
            parts.append((term, product))
        return DeviceSum(device, parts, shape, dtype)

    def add(self, x: Vectors, y: Vectors, factor: complex, transposed: bool, conjugated: bool = False) -> None:
        """See `DeviceOperator`."""
        for term, product in self.parts:
            from_, to = (term.top, term.left) if transposed else (term.left, term.top)
            own = np.conj(term.factor) if conjugated else term.factor
            turned = term.transposed != transposed, term.conjugated != conjugated
            product.add(x.after(from_), y.after(to), own * factor, *turned)

    @property
    def host(self) -> Any:
        """The products on the processor of the one product that is all, None where there are several."""
        return self.parts[0][1].host if len(self.parts) == 1 else None


def _sent(device: Device, value: Any) -> DeviceOperator | None:
    """The value of an atom as products on the device: sparse matrices are sent there; None for products that are
    elsewhere."""
    value = getattr(value, "there", None) or value
    if sp.issparse(value):
        return DeviceSparse(device, sp.csr_array(value))
    if isinstance(value, SumOfProducts):
        return DeviceSum.of(device, value.terms, value.shape, value.dtype)
    if isinstance(value, SandwichProduct):
        # the operator in between may itself be a sum, and transposed products are parts of one
        inner = _sent(device, value.inner) or _sent(
            device, SumOfProducts([(Term(1.0, None), value.inner)], value.inner.shape, value.inner.dtype)
        )
        return None if inner is None else DeviceSandwich(inner, value)
    return value if isinstance(value, DeviceOperator) else None


class OnOneDevice:
    """The interface that `gmres` uses of a matrix whose parts are all on one device, where its vectors stay."""

    product: DeviceOperator

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
