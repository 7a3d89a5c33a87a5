"""Unknowns of the volume eliminated by sparse factors: a matrix over that of the boundary operators."""

import time
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends import require_memory
from calderon.formulations.linear_system import LinearSystem
from calderon.formulations.options import SolveOptions
from calderon.operators.methods import Plan
from calderon.spaces import Space

COLUMNS = 128
"""Columns that are solved for together: those of A^-1 T' are dense, and never all in memory."""


@dataclass(frozen=True, eq=False)
class VolumeFactors:
    """Sparse LU factors of a symmetric matrix A of finite elements, in the order of METIS where pymetis is there."""

    matrix: sp.csr_array

    @property
    def estimated_bytes(self) -> int:
        """Memory of the factors before they are made: those of quadratic Helmholtz matrices of N rows have 220 N
        (N / 15,625)^0.44 entries a factor, measured up to N = 50,653."""
        rows = self.matrix.shape[0]
        return int(2 * 220 * rows * (rows / 15_625) ** 0.44 * (self.matrix.dtype.itemsize + 4))

    @cached_property
    def _factors(self) -> tuple[Any, NDArray[np.int64], float]:
        began = time.perf_counter()
        require_memory(self.estimated_bytes, "the sparse factors of the volume", "take a coarser volume")
        order = _nested_dissection(self.matrix)
        ordered = sp.csc_array(self.matrix[order][:, order])
        try:
            factors = scipy.sparse.linalg.splu(
                ordered,
                permc_spec="NATURAL",
                diag_pivot_thresh=0.01,
                options={"SymmetricMode": True},
            )
        except RuntimeError as error:
            raise ValueError(
                f"the matrix of the volume has no inverse ({error}): at a resonance of the body with a rigid surface "
                "take a wavenumber nearby, or some loss"
            ) from None
        return factors, order, time.perf_counter() - began

    @property
    def seconds(self) -> float:
        """The time that the factors took."""
        return self._factors[2]

    def solve(self, rhs: NDArray[Any]) -> NDArray[Any]:
        """A^-1 b for columns b (N, m); real factors serve complex columns."""
        factors, order, _ = self._factors
        columns = np.ascontiguousarray(rhs[order])
        if self.matrix.dtype.kind == "c":
            found = factors.solve(columns.astype(np.complex128))
        elif np.iscomplexobj(columns):
            both = factors.solve(np.concatenate([columns.real, columns.imag], axis=1).astype(np.float64))
            found = both[:, : columns.shape[1]] + 1j * both[:, columns.shape[1] :]
        else:
            found = factors.solve(columns.astype(np.float64))
        solution = np.empty_like(found)
        solution[order] = found
        return solution


def _nested_dissection(matrix: sp.csr_array) -> NDArray[np.int64]:
    """An order (n,) of rows and columns with few entries in the factors."""
    try:
        import pymetis
    except ImportError:  # no wheel for Windows
        return np.asarray(scipy.sparse.csgraph.reverse_cuthill_mckee(sp.csr_matrix(matrix), True), np.int64)
    coordinates = matrix.tocoo()
    off = coordinates.row != coordinates.col
    graph = sp.csr_array((np.ones(off.sum()), (coordinates.row[off], coordinates.col[off])), matrix.shape)
    adjacency = pymetis.CSRAdjacency(graph.indptr.tolist(), graph.indices.tolist())
    return np.asarray(pymetis.nested_dissection(adjacency)[0], np.int64)


@dataclass(frozen=True, eq=False)
class Elimination:
    """What replaces the unknowns of the volume, A u = T' y, in boundary operators that act on (T u, lambda).

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
