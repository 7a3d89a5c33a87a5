"""The head of fast operators, products with real matrices by columns of real numbers, and columns of any size."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends import computable, format_bytes

USUAL = 1e15
"""The largest number of a column, and the inverse of the smallest one, that is multiplied in its own unit."""


def units_of(columns: NDArray[Any]) -> NDArray[Any]:
    """(k,) a unit of each of columns (n, k): 1, or the power of 2 next to a largest number that is far from 1."""
    kind: np.dtype[Any] = columns.real.dtype if columns.dtype.kind in "fc" else np.dtype(float)
    largest = np.abs(columns).max(axis=0, initial=0).astype(float)
    unusual = np.isfinite(largest) & (largest != 0) & ((largest > USUAL) | (largest < 1 / USUAL))
    # 1 / unit is finite, too, as division of complex numbers needs
    exponents = np.clip(np.frexp(largest)[1] - 1, np.finfo(kind).minexp + 1, np.finfo(kind).maxexp - 2)
    return np.ldexp(np.ones(len(largest), kind), np.where(unusual, exponents, 0))


def in_units(multiply: Callable[[NDArray[Any]], NDArray[Any]], x: NDArray[Any]) -> NDArray[Any]:
    """multiply(x) of a linear function for columns x (n, k) of any size: those with a largest number far from 1 in
    units of a power of 2, since single precision, of which expansions are, ends at 1e-38 and 3e38."""
    x = computable(x)
    units = units_of(x)
    return multiply(x) if (units == 1).all() else multiply(x / units) * units


class FastOperator(LinearOperator):
    """An operator whose products are fast and checked.

    label: its expression. rtol: the tolerance of products, None where errors are measured only. backend: where products
    are computed. error: estimated relative error of products in the 2-norm, at `checked` rows that were computed
    directly. seconds: wall-clock time of its preparation.
    """

    kind = "fast operator"

    def __init__(
        self, shape: tuple[int, int], dtype: Any, label: str = "", rtol: float | None = None, backend: str = "numba"
    ) -> None:
        super().__init__(dtype=dtype, shape=shape)
        self.label, self.rtol, self.backend = label, rtol, backend
        self.error, self.checked, self.seconds = 0.0, 0, 0.0

    @property
    def nbytes(self) -> int:
        """Memory of all parts in bytes."""
        raise NotImplementedError

    @property
    def details(self) -> str:
        """Further facts as text, such as the number of levels."""
        return ""

    def near_entries(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[Any]:
        """(n,) the exact entries in these rows and columns, of unknowns whose supports touch; ValueError where they are
        not kept."""
        raise ValueError(f"preconditioner='near' needs entries, which the {self.kind} does not keep: leave it out")

    def __str__(self) -> str:
        facts = [
            f"{self.kind} {self.shape[0]} x {self.shape[1]} {self.dtype}",
            format_bytes(self.nbytes),
            self.details,
            "" if self.rtol is None else f"rtol {self.rtol:g}",
            f"error {self.error:.1e} on {self.checked} rows",
            f"backend {self.backend}",
            f"{self.seconds:.2f} s",
            self.label,
        ]
        return ", ".join(filter(None, facts))

    __repr__ = __str__


class RealProducts(LinearOperator):
    """A real matrix by `_products`(x, transposed) of real columns x (n, k), `together` at a time; the real and the
    imaginary parts of complex ones are columns of their own."""

    @property
    def together(self) -> int:
        """Columns that are multiplied at a time; here one."""
        return 1

    def _matmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return self._both(x, False)

    def _rmatmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return self._both(x, True)

    def _both(self, x: NDArray[Any], transposed: bool) -> NDArray[Any]:
        """A x, or A^T x if transposed, for real or complex x (n, k), `together` real columns at a time."""
        if x.dtype.kind == "c":
            both = self._both(np.concatenate([x.real, x.imag], axis=1), transposed)
            return both[:, : x.shape[1]] + 1j * both[:, x.shape[1] :]
        if x.shape[1] <= (together := self.together):
            return self._products(x, transposed)
        parts = [self._products(x[:, n : n + together], transposed) for n in range(0, x.shape[1], together)]
        return np.concatenate(parts, axis=1)

    def _products(self, x: NDArray[Any], transposed: bool) -> NDArray[Any]:
        """A x, or A^T x if transposed, for real x (n, k) of at most `together` columns."""
        raise NotImplementedError
