"""Unknowns of the volume eliminated by sparse factors: a matrix over that of the boundary operators."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.formulations.linear_system import LinearSystem
from calderon.formulations.options import SolveOptions
from calderon.operators.methods import Plan
from calderon.solvers import SparseLU, factor_bytes
from calderon.spaces import Space

COLUMNS = 128
"""Columns that are solved for together: those of A^-1 T' are dense, and never all in memory."""


@dataclass(frozen=True, eq=False)
class VolumeFactors:
    """Sparse LU factors of a matrix A of finite elements, made when they are first needed."""

    matrix: sp.csr_array

    @property
    def estimated_bytes(self) -> int:
        """Memory of the factors before they are made."""
        return factor_bytes(self.matrix)

    @cached_property
    def _factors(self) -> SparseLU:
        factors = SparseLU(self.matrix)
        if factors.is_singular:
            raise ValueError(
                f"the matrix of the volume has nearly no inverse (condition {factors.condition:.1g}): this is a "
                "resonance of the body with a rigid surface, take a wavenumber nearby or some loss"
            )
        return factors

    def solve(self, rhs: NDArray[Any]) -> NDArray[Any]:
        """A^-1 b for columns b (N, m); real factors serve complex columns."""
        return self._factors.solve(rhs)


@dataclass(frozen=True, eq=False)
class Elimination:
    """The map that replaces the unknowns of the volume, A u = T' y, in boundary operators that act on (T u, lambda).

    symmetric: the unknowns are (y, lambda), and the first rows have y added; else they are x (n_lambda,),
    y = M x with the mass matrix `pairing` (n_u, n_lambda), and x = lambda + R T u. robin: R (n_lambda, n_u), where A
    has T' M R T added since it would have no inverse without: constants are in its null space in statics; else None.
    """

    factors: VolumeFactors
    trace: sp.csr_array
    pairing: sp.csr_array
    symmetric: bool = False
    robin: sp.csr_array | None = None

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return self.pairing.shape[1] + (self.pairing.shape[0] if self.symmetric else 0)

    def load(self, x: NDArray[Any]) -> NDArray[Any]:
        """y (n_u, m) of unknowns x (n, m)."""
        return np.asarray(x[: self.pairing.shape[0]] if self.symmetric else self.pairing @ x)

    def slope(self, x: NDArray[Any], value: NDArray[Any]) -> NDArray[Any]:
        """lambda (n_lambda, ...) of unknowns x (n, ...) and T u."""
        if self.symmetric:
            return x[self.pairing.shape[0] :]
        return x if self.robin is None else x - self.robin @ value

    def volume(self, x: NDArray[Any]) -> NDArray[Any]:
        """u (N, m) in the volume of unknowns x (n, m)."""
        return self.factors.solve(self.trace.T @ self.load(x))

    def surface(self, x: NDArray[Any]) -> NDArray[Any]:
        """(T u, lambda) of unknowns x (n, m)."""
        value = self.trace @ self.volume(x)
        return np.concatenate([value, self.slope(x, value)])

    def transposed(self, weights: NDArray[Any], slopes: NDArray[Any]) -> NDArray[Any]:
        """(n, m) what weights (n_u, m) of T u and (n_lambda, m) of lambda are of the unknowns."""
        if self.robin is not None:
            weights = weights - self.robin.T @ slopes
        own = self.trace @ self.factors.solve(self.trace.T @ weights)
        return np.concatenate([own, slopes]) if self.symmetric else self.pairing.T @ own + slopes


class EliminatedMatrix(LinearOperator):
    """B E (+ y in the first rows), with boundary operators B on (T u, lambda) and (T u, lambda) = E x."""

    def __init__(self, matrix: Any, elimination: Elimination) -> None:
        kind = np.result_type(matrix.dtype, elimination.factors.matrix.dtype)
        single = np.dtype(matrix.dtype).itemsize <= (8 if matrix.dtype.kind == "c" else 4)
        if single:
            kind = np.dtype(np.complex64 if kind.kind == "c" else np.float32)
        super().__init__(dtype=kind, shape=(elimination.size, elimination.size))
        self.matrix, self.elimination = matrix, elimination

    def _matmat(self, x: NDArray[Any]) -> NDArray[Any]:
        found = np.asarray(self.matrix @ self.elimination.surface(x).astype(np.result_type(self.dtype, x.dtype)))
        if self.elimination.symmetric:
            load = self.elimination.load(x)
            found[: len(load)] += load
        return found

    def _matvec(self, x: NDArray[Any]) -> NDArray[Any]:
        return self._matmat(np.reshape(x, (-1, 1)))[:, 0]

    def to_array(self) -> NDArray[Any]:
        """The entries, a new array."""
        size = self.shape[1]
        found = np.empty(self.shape, self.dtype)
        for start in range(0, size, COLUMNS):
            part = slice(start, min(start + COLUMNS, size))
            units = np.zeros((size, part.stop - start))
            units[np.arange(start, part.stop), np.arange(part.stop - start)] = 1.0
            found[:, part] = self._matmat(units)
        return found

    toarray = to_array

    def __str__(self) -> str:
        inside = self.elimination.factors.matrix.shape[0]
        return f"{self.matrix}, {inside} unknowns in the volume eliminated by sparse LU"


@dataclass(frozen=True)
class DualUnknowns:
    """Integrals against the functions of a space as unknowns: their mass matrix is the unit matrix."""

    space: Space

    @property
    def dimension(self) -> int:
        """Number of unknowns."""
        return self.space.dimension

    def solve_mass(self, right_hand_side: NDArray[Any]) -> NDArray[Any]:
        """The right-hand side itself."""
        return right_hand_side


@dataclass(eq=False)
class EliminatedSystem(LinearSystem):
    """The equation of the boundary with the volume eliminated. operator: boundary operators on (T u, lambda)."""

    elimination: Elimination = None  # type: ignore[assignment]

    def planned_matrix(self, options: SolveOptions) -> Plan:
        """The plan of the boundary operators, with the factors of the volume."""
        plan = super().planned_matrix(options)
        factors = self.elimination.factors
        inside = f"{factors.matrix.shape[0]} unknowns, factors of {factors.estimated_bytes / 1e9:.2g} GB"
        lines = (*plan.lines, ("volume", inside))
        return plan._replace(nbytes=plan.nbytes + factors.estimated_bytes, lines=lines)

    def solve(self, rhs: NDArray[Any], options: SolveOptions) -> Any:
        if options.preconditioned_by("hlu"):
            raise ValueError("hierarchical factors do not hold the volume: choose preconditioner='mass'")
        if options.keep_on_device or options.precision == "mixed":
            raise ValueError("the volume is eliminated on the host: leave keep_on_device, and precision='mixed', out")
        return super().solve(rhs, options)

    def _assembled(self, options: SolveOptions) -> Any:
        return EliminatedMatrix(super()._assembled(options), self.elimination)

    @property
    def assembled(self) -> Any:
        """The matrix of the boundary operators."""
        return self.matrix.matrix

    @property
    def _refines(self) -> bool:
        return False
