"""Sums, blocks and transposes of operators on a device, for vectors that stay there (sums.c)."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends import Device, Source, real_name
from calderon.backends.devices.device_matrix import GROUP, on_device, on_host, vector_type
from calderon.operators.products import SandwichProduct, Sparse, SumOfProducts
from calderon.operators.tree import Term
from calderon.products.device.tables import indices
from calderon.products.operator import RealProducts


class Vectors(NamedTuple):
    """`columns` vectors of pairs (n, 2) in an array of the device: the first from element `first` on, others `pitch`
    elements apart; conjugated: whether their conjugates are meant."""

    array: Any
    first: int
    pitch: int
    columns: int
    conjugated: bool = False

    @property
    def sign(self) -> float:
        """Sign of imaginary parts: -1 where they are conjugated."""
        return -1.0 if self.conjugated else 1.0


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
    """A real or complex sparse matrix on a device, and its transpose."""

    def __init__(self, device: Device, matrix: sp.csr_array, program: Any) -> None:
        self.device, self.shape, self.kind, self._program = device, matrix.shape, vector_type(device), program
        self.is_complex = matrix.dtype.kind == "c" and bool(matrix.imag.count_nonzero())
        numbers = [(1.0, matrix.real), (1j, matrix.imag)][: 1 + self.is_complex]
        self._matrices = [(unit, [self._sent(sp.csr_array(each)) for each in (part, part.T)])
                          for unit, part in numbers if part.nnz]  # fmt: skip

    def _sent(self, matrix: sp.csr_array) -> tuple[Any, ...]:
        values = self.device.array(matrix.data.astype(self.kind))
        return values, *(indices(self.device, each) for each in (matrix.indptr, matrix.indices)), matrix.shape[0]

    def add(
        self, x: Any, left: int, y: Any, top: int, factor: complex, transposed: bool, parts: int,
        conjugated: bool = False,
    ) -> None:  # fmt: skip
        """See `Adds`."""
        for unit, pair in self._matrices:  # real and imaginary parts of the entries
            own, matrix = factor * (np.conj(unit) if conjugated else unit), pair[int(transposed)]
            factors = (self.kind.type(each) for each in (np.real(own), np.imag(own)))
            self.device.launch(
                self._program, "add_sparse", (matrix[-1],), (GROUP,), *matrix, *factors, x, left, y, top
            )  # fmt: skip


class DeviceSandwich:
    """sum_d factors[d] L_d^T A R_d on a device with sparse matrices, None for the identity; inner: products with A
    there."""

    def __init__(self, inner: Adds, factors: Sequence[complex], left: Sparse, right: Sparse, program: Any) -> None:
        self.device, self.inner, self.factors, self._program = inner.device, inner, factors, program
        self.left, self.right = (
            None if side is None else [DeviceSparse(inner.device, each, program) for each in side]
            for side in (left, right)
        )
        rows, columns = inner.shape
        self.shape = (
            rows if self.left is None else self.left[0].shape[1],
            columns if self.right is None else self.right[0].shape[1],
        )

    def add(
        self, x: Any, left: int, y: Any, top: int, factor: complex, transposed: bool, parts: int,
        conjugated: bool = False,
    ) -> None:  # fmt: skip
        """See `Adds`."""
        device, program = self.device, self._program
        before, after = (self.left, self.right) if transposed else (self.right, self.left)
        rows, columns = self.inner.shape[::-1] if transposed else self.inner.shape
        for number, own in enumerate(self.factors):
            scale = (np.conj(own) if conjugated else own) * factor
            given, first, count = x, left, parts
            if before is not None:
                given, first = zero_vector(device, program, columns), 0
                count = 2 if before[number].is_complex else parts
                before[number].add(x, left, given, 0, 1.0, False, parts, conjugated)
            if after is None:
                self.inner.add(given, first, y, top, scale, transposed, count, conjugated)
                continue
            found = zero_vector(device, program, rows)
            self.inner.add(given, first, found, 0, 1.0, transposed, count, conjugated)
            after[number].add(found, 0, y, top, scale, True, 2, conjugated)


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
            product = _sent(device, value.product if turned else value, program)
            if product is None:
                return None
            parts.append(Part(term.factor, product, term.transposed != turned, term.conjugated, term.top, term.left))
        return DeviceSum(device, parts, shape, dtype)

    def add(
        self, x: Any, left: int, y: Any, top: int, factor: complex, transposed: bool, parts: int,
        conjugated: bool = False,
    ) -> None:  # fmt: skip
        """See `Adds`."""
        for part in self.parts:
            from_, to = (part.top, part.left) if transposed else (part.left, part.top)
            own = np.conj(part.factor) if conjugated else part.factor
            turned = part.transposed != transposed, parts, part.conjugated != conjugated
            part.product.add(x, left + from_, y, top + to, own * factor, *turned)

    @property
    def host(self) -> Any:
        """The products of the processor, where one product is all and they are still needed."""
        return getattr(self.parts[0].product, "host", None) if len(self.parts) == 1 else None

    def times(self, x: Any, first: int = 0, is_complex: bool = True) -> Any:
        """A x on the device: of a vector there, from its element `first` on; a new vector."""
        y = zero_vector(self.device, self._program, self.shape[0])
        self.add(x, first, y, 0, 1.0, False, 1 + int(is_complex))
        return y

    def adjoint_times(self, x: Any) -> Any:
        """A^* x on the device, a new vector."""
        y = zero_vector(self.device, self._program, self.shape[1])
        self.add(x, 0, y, 0, 1.0, True, 2, True)
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


def _sent(device: Device, value: Any, program: Any) -> Adds | None:
    """The value of an atom as products on the device: sparse matrices are sent there; None for products that are
    elsewhere."""
    value = getattr(value, "there", None) or value
    if sp.issparse(value):
        return DeviceSparse(device, sp.csr_array(value), program)
    if isinstance(value, SumOfProducts):
        return DeviceSum.of(device, value.terms, value.shape, value.dtype)
    if isinstance(value, SandwichProduct):
        # the operator in between may itself be a sum, and transposed products are parts of one
        inner = _sent(device, value.inner, program) or _sent(
            device, SumOfProducts([(Term(1.0, None), value.inner)], value.inner.shape, value.inner.dtype), program
        )
        return None if inner is None else DeviceSandwich(inner, value.factors, value.left, value.right, program)
    return value if isinstance(value, Adds) else None


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
    """The interface that `gmres` uses of a matrix whose parts are all on one device, where its vectors stay."""

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
