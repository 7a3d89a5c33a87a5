"""An operator after a multiplication by a function."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from calderon.operators.boundary import BoundaryOperator, Index
from calderon.spaces import Space


@dataclass(frozen=True, eq=False)
class Scaled(BoundaryOperator):
    """A diag(s), the operator A applied to sum_j s_j x_j psi_j: to s u, for u = sum_j x_j psi_j and a function s with
    values s_j at the nodes, up to the interpolation of s u by the functions psi_j.

    factors: (trial.dimension,) the values s_j.
    """

    operator: BoundaryOperator
    factors: NDArray[Any]

    def __post_init__(self) -> None:
        if self.factors.shape != (self.operator.shape[1],):
            raise ValueError(f"{self.operator!r} needs {self.operator.shape[1]} factors, got {self.factors.shape}")

    @property
    def trial(self) -> Space:  # type: ignore[override]
        return self.operator.trial

    @property
    def test(self) -> Space:  # type: ignore[override]
        return self.operator.test

    def __repr__(self) -> str:
        return f"({self.operator!r}) after a multiplication"

    @property
    def is_complex(self) -> bool:
        return self.operator.is_complex or np.iscomplexobj(self.factors)

    def add_to(
        self, out: NDArray[Any], factor: complex, rows: Index | None, columns: Index | None, real: DTypeLike,
        advance: Any = None,
    ) -> None:  # fmt: skip
        """out += factor * matrix[rows][:, columns]; without a second array where `out` is zero, as it is for the first
        term of a sum.
        """
        factors = self.factors if columns is None else self.factors[columns]
        block = np.zeros(out.shape, out.dtype) if out.any() else out
        self.operator.add_to(block, factor, rows, columns, real, advance)
        block *= factors
        if block is not out:
            out += block
