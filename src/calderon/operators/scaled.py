"""An operator after a multiplication by a function."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Computing
from calderon.operators.boundary import BoundaryOperator, Index
from calderon.spaces import Space


@dataclass(frozen=True, eq=False)
class Scaled(BoundaryOperator):
    """A diag(s) + B: the operator A applied to s u, and B to u, for u = sum_j x_j psi_j and a function s with values
    s_j at the nodes, up to the interpolation of s u by the functions psi_j.

    factors: (trial.dimension,) the values s_j. rest: B, with the spaces of A. The sum is a class of its own because A
    is scaled where it stands, without a second matrix, before B is added.
    """

    operator: BoundaryOperator
    factors: NDArray[Any]
    rest: BoundaryOperator

    def __post_init__(self) -> None:
        if self.factors.shape != (self.operator.shape[1],):
            raise ValueError(f"{self.operator!r} needs {self.operator.shape[1]} factors, got {self.factors.shape}")
        if self.rest.trial is not self.trial or self.rest.test is not self.test:
            raise ValueError(
                f"cannot add {self.rest!r} to {self.operator!r}: both need the same spaces, on one mesh object"
            )

    @property
    def trial(self) -> Space:  # type: ignore[override]
        return self.operator.trial

    @property
    def test(self) -> Space:  # type: ignore[override]
        return self.operator.test

    def __repr__(self) -> str:
        return f"({self.operator!r}) after a multiplication + {self.rest!r}"

    @property
    def is_complex(self) -> bool:
        return self.operator.is_complex or np.iscomplexobj(self.factors) or self.rest.is_complex

    def fill(self, out: NDArray[Any], how: Computing, advance: Any = None) -> None:
        """out = matrix, where out is zero."""
        self.operator.fill(out, how, advance)
        out *= self.factors
        self.rest.add_to(out, 1.0, None, None, how, advance)

    def add_to(
        self, out: NDArray[Any], factor: complex, rows: Index | None, columns: Index | None, how: Computing,
        advance: Any = None,
    ) -> None:  # fmt: skip
        """out += factor * matrix[rows][:, columns]."""
        block = np.zeros(out.shape, out.dtype)
        self.operator.add_to(block, factor, rows, columns, how, advance)
        out += block * (self.factors if columns is None else self.factors[columns])
        self.rest.add_to(out, factor, rows, columns, how, advance)
