"""Unknowns of the volume eliminated by sparse factors: a matrix over that of the boundary operators.

The whole system consists of A u = F + T' M p, finite elements in the volume with a load F, and of rows B s = b,
boundary operators on fields s of the surface, linear in p and in the values v = T u. With u = A^-1 (F + T' M p) its
unknowns are those of the surface. Where A alone is resonant it has no inverse, though the whole system has. Then the
unknowns are x = p + R v, what comes in through an absorbing surface, with

    (A + T' M R T) u = F + T' M x,     p = x - R v,

which is the same system for the same u and p: nothing is added to the equations.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.formulations.linear_system import LinearSystem
from calderon.formulations.options import SolveOptions
from calderon.operators.methods import Plan
from calderon.solvers import SparseLU, factor_bytes
from calderon.solvers.sparse_lu import SINGULAR
from calderon.spaces import Space
from calderon.spaces.mirror_images import MirroredFunctions

COLUMNS = 128
"""Columns that are solved for together: those of A^-1 T' are dense, and never all in memory."""


@dataclass(frozen=True, eq=False)
class Elimination:
    """The map from unknowns x (n, m) to the fields of the surface, (v, p) unless a subclass has others.

    matrix: A (N, N), symmetric, its factors are made when they are first needed. trace: T (n_v, N). pairing: M
    (n_v, n_p). absorbing: makes R (n_p, n_v), with M R symmetric, where A is resonant. robin: R where A never has an
    inverse, as in statics, where constants are in its null space. others: number of further unknowns q, which follow
    x; then M is the identity, p is added to the first rows, and the fields are (v, q), as in symmetric couplings.
    """

    matrix: sp.csr_array
    trace: Any
    pairing: sp.csr_array
    absorbing: Callable[[], sp.csr_array]
    robin: sp.csr_array | None = None
    others: int = 0

    limit: ClassVar[float] = 1e8
    """The condition from which A counts as resonant: products lose so many digits, and away from resonances finite
    elements of waves have 1e3 to 1e6."""

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return int(self.pairing.shape[1]) + self.others

    @property
    def estimated_bytes(self) -> int:
        """Memory of the factors before they are made."""
        return factor_bytes(self.matrix)

    @cached_property
    def _inverse(self) -> tuple[SparseLU, Any]:
        """The factors, and R, None without."""
        if self.robin is not None:
            return SparseLU(self.with_surface(self.robin)), self.robin
        if (factors := regular_factors(self.matrix, self.limit)) is not None:
            return factors, None
        robin = self.absorbing()
        factors = regular_factors(self.with_surface(robin), SINGULAR)
        return (self._undamped() if factors is None else factors), robin

    def _undamped(self) -> SparseLU:
        """Factors where A has no inverse with an absorbing surface either."""
        raise np.linalg.LinAlgError(
            "the matrix of the volume has nearly no inverse: check its materials, parts may be unconnected"
        )

    def with_surface(self, robin: Any) -> sp.csr_array:
        """A + T' M R T."""
        return sp.csr_array(self.matrix + sp.csr_array(self.trace.T @ (self.pairing @ robin @ self.trace)))

    @property
    def dtype(self) -> np.dtype[Any]:
        """The kind of numbers of the factors."""
        return np.dtype(self._inverse[0].dtype)

    @property
    def is_resonant(self) -> bool:
        """Whether A has no inverse."""
        return self.robin is None and self._inverse[1] is not None

    def solve(self, load: NDArray[Any]) -> NDArray[Any]:
        """(A + T' M R T)^-1 F for columns F (N, m); real factors serve complex columns."""
        return self._inverse[0].solve(load)

    def volume(self, x: NDArray[Any], load: NDArray[Any] | None = None) -> NDArray[Any]:
        """u (N, m) of unknowns x (n, m) and loads F (N, m)."""
        caused = self.trace.T @ (self.pairing @ x[: self.pairing.shape[1]])
        return self.solve(caused if load is None else caused + load)

    def primary(self, x: NDArray[Any], value: NDArray[Any]) -> NDArray[Any]:
        """p (n_p, ...) of unknowns x (n, ...) and v."""
        robin, own = self._inverse[1], x[: self.pairing.shape[1]]
        return own if robin is None else own - robin @ value

    def fields(self, primary: NDArray[Any], others: NDArray[Any], value: NDArray[Any]) -> NDArray[Any]:
        """The fields of the surface of p, q and v."""
        return np.concatenate([value, others if self.others else primary])

    def weights(self, fields: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """The transpose of `fields`: weights of p, q and v from those of the fields."""
        value, other = np.split(fields, [self.trace.shape[0]])
        none = np.zeros((self.pairing.shape[1], *fields.shape[1:]), fields.dtype)
        return (none, other, value) if self.others else (other, other[:0], value)

    def surface(self, x: NDArray[Any], load: NDArray[Any] | None = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """The fields of unknowns x (n, m) and loads F (N, m), and p."""
        value = self.trace @ self.volume(x, load)
        primary = self.primary(x, value)
        return self.fields(primary, x[self.pairing.shape[1] :], value), primary

    def of_load(self, load: NDArray[Any]) -> NDArray[Any]:
        """The fields of a load F (N,) where x = 0."""
        return self.surface(np.zeros((self.size, 1)), load[:, None])[0][:, 0]

    def transposed(self, fields: NDArray[Any]) -> NDArray[Any]:
        """(n, m) what weights of the fields are of the unknowns."""
        primary, others, value = self.weights(fields)
        robin = self._inverse[1]
        if robin is not None:
            value = value - robin.T @ primary
        own = self.pairing.T @ (self.trace @ self.solve(self.trace.T @ value))
        return np.concatenate([own + primary, others])


def regular_factors(matrix: Any, limit: float) -> SparseLU | None:
    """The factors of a sparse matrix, None of one whose condition is at least `limit`."""
    try:
        factors = SparseLU(matrix)
    except np.linalg.LinAlgError:  # a pivot is zero
        return None
    return factors if factors.condition < limit else None


class EliminatedMatrix(LinearOperator):
    """The matrix of the unknowns of the surface: boundary operators B on the fields of an `Elimination`."""

    def __init__(self, matrix: Any, elimination: Elimination) -> None:
        kind = np.result_type(matrix.dtype, elimination.dtype)
        single = np.dtype(matrix.dtype).itemsize <= (8 if matrix.dtype.kind == "c" else 4)
        if single:
            kind = np.dtype(np.complex64 if kind.kind == "c" else np.float32)
        super().__init__(dtype=kind, shape=(elimination.size, elimination.size))
        self.matrix, self.elimination = matrix, elimination

    def _matmat(self, x: NDArray[Any]) -> NDArray[Any]:
        fields, primary = self.elimination.surface(x)
        found = np.asarray(self.matrix @ fields.astype(np.result_type(self.dtype, x.dtype)))
        if self.elimination.others:
            found[: len(primary)] += primary
        return found

    def _matvec(self, x: NDArray[Any]) -> NDArray[Any]:
        return self._matmat(np.reshape(x, (-1, 1)))[:, 0]

    def to_array(self) -> NDArray[Any]:
        """The entries, a new array."""
        size = self.shape[1]
        found = np.empty(self.shape, self.dtype)
        for start in range(0, size, COLUMNS):
            part = slice(start, min(start + COLUMNS, size))
            found[:, part] = self._matmat(np.eye(size, part.stop - start, -start))
        return found

    toarray = to_array

    def __str__(self) -> str:
        text = f"{self.matrix}, {self.elimination.matrix.shape[0]} unknowns in the volume eliminated by sparse LU"
        return f"{text}, behind an absorbing surface at their resonance" if self.elimination.is_resonant else text


@dataclass(frozen=True)
class DualUnknowns:
    """Integrals against the functions of a space as unknowns: their mass matrix is the unit matrix."""

    space: Space | MirroredFunctions

    @property
    def dimension(self) -> int:
        """Number of unknowns."""
        return self.space.dimension

    def solve_mass(self, right_hand_side: NDArray[Any]) -> NDArray[Any]:
        """The right-hand side itself."""
        return right_hand_side


@dataclass(eq=False)
class EliminatedSystem(LinearSystem):
    """The equation of the boundary with the volume eliminated. operator: boundary operators on fields of the
    surface."""

    elimination: Elimination = None  # type: ignore[assignment]

    def planned_matrix(self, options: SolveOptions) -> Plan:
        """The plan of the boundary operators, with the factors of the volume."""
        plan = super().planned_matrix(options)
        nbytes = self.elimination.estimated_bytes
        inside = f"{self.elimination.matrix.shape[0]} unknowns, factors of {nbytes / 1e9:.2g} GB"
        return plan._replace(nbytes=plan.nbytes + nbytes, lines=(*plan.lines, ("volume", inside)))

    def solve(self, rhs: NDArray[Any], options: SolveOptions) -> Any:
        if options.preconditioned_by("hlu"):
            raise ValueError("hierarchical factors do not hold the volume: choose preconditioner='mass'")
        if options.keep_on_device or options.precision == "mixed":
            raise ValueError("the volume is eliminated on the host: leave keep_on_device, and precision='mixed', out")
        return super().solve(rhs, options)

    def _assembled(self, options: SolveOptions) -> Any:
        return EliminatedMatrix(super()._assembled(options), self.elimination)

    def with_volume(self, elimination: Elimination) -> "EliminatedSystem":
        """The system of another volume on the same surface, with the available matrix of the boundary operators."""
        found = replace(self, elimination=elimination)
        if self.matrix is not None:
            found.key, found.matrix = self.key, EliminatedMatrix(self.assembled, elimination)
        return found

    @property
    def assembled(self) -> Any:
        """The matrix of the boundary operators."""
        return self.matrix.matrix

    @property
    def _refines(self) -> bool:
        return False
