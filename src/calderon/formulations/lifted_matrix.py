"""Matrices with a thin term that lifts their null space."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator


@dataclass(frozen=True, eq=False)
class ThinTerm:
    """B C^T with thin B, C (n, m), which is added to a matrix that has a null space, or nearly one. name: what it is
    m of."""

    name: str
    left: NDArray[Any]
    right: NDArray[Any]

    def __matmul__(self, x: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self.left @ (self.right.T @ x))


class LiftedMatrix(LinearOperator):
    """A + B C^T: lifts the null space of A without storing anything new."""

    def __init__(self, matrix: Any, thin: ThinTerm) -> None:
        super().__init__(dtype=matrix.dtype, shape=matrix.shape)
        kinds = [np.empty(0, matrix.dtype) if np.iscomplexobj(each) else np.empty(0, matrix.dtype).real
                 for each in (thin.left, thin.right)]  # fmt: skip
        self.matrix = matrix
        self.thin = ThinTerm(thin.name, thin.left.astype(kinds[0].dtype), thin.right.astype(kinds[1].dtype))

    def _matvec(self, x: NDArray[Any]) -> NDArray[Any]:
        return self.matrix @ x + self.thin @ x

    _matmat = _matvec

    def to_array(self) -> NDArray[Any]:
        """The entries, a new array."""
        return self.matrix.to_array() + self.thin.left @ self.thin.right.T

    toarray = to_array

    def __str__(self) -> str:
        return f"{self.matrix}, with {self.thin.name} added"
