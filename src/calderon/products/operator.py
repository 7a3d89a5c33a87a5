"""Products with real matrices by columns of real numbers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator


class RealProducts(LinearOperator):  # type: ignore[misc]
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
        if x.dtype.kind == "c":
            both = self._both(np.concatenate([x.real, x.imag], axis=1), transposed)
            return both[:, : x.shape[1]] + 1j * both[:, x.shape[1] :]
        if x.shape[1] <= (together := self.together):
            return self._products(x, transposed)
        parts = [self._products(x[:, n : n + together], transposed) for n in range(0, x.shape[1], together)]
        return np.concatenate(parts, axis=1)

    def _products(self, x: NDArray[Any], transposed: bool) -> NDArray[Any]:
        raise NotImplementedError
