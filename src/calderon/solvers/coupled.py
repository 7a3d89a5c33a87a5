"""Systems of finite elements inside and boundary elements outside: elimination of the inside, or GMRES on the whole.

    A x + B y = f                 A (N, N) sparse, B (N, n) sparse: finite elements, and what the surface does to them
    P [T x, y] = g                P (n, k + n): products of the boundary operators, T (k, N) sparse: the trace

`CoupledMatrix(A, B, T, P)` is the whole. P stays one operator, `cal.blocks([[of the trace, of y]]).assemble(method)`,
so that all layers of one wavenumber share an octree. With the factors `SparseLU(A)` of the inside

    S y = P [-T A^-1 B y, y] = g - P [T A^-1 f, 0],    x = A^-1 (f - B y),

is `matrix.schur_complement(factors)`: a product with it solves inside once. A^-1 B is dense and never stored: entries
of S are computed in batches of columns. `solve_coupled(matrix, rhs)` takes the way that suits the size and says in
`info.method` which: up to DENSE unknowns y the entries of S and LAPACK, above them GMRES with S, and where A
is singular (a resonance of what is inside) GMRES on the whole, preconditioned by a block triangle with factors of a
matrix nearby. `coupled_bytes(A, n, k)` is the memory before any is taken. A problem whose `LinearSystem` assembles P
returns `matrix.schur_complement(factors)` as its matrix, as `LiftedMatrix` is one over the assembled matrix.
"""

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends import format_bytes, require_memory
from calderon.solvers.gmres import gmres
from calderon.solvers.iteration import SolverInfo
from calderon.solvers.lu import lu
from calderon.solvers.sparse_lu import SparseLU, factor_bytes

DENSE = 5_000
"""Unknowns of the surface up to which the entries of the Schur complement are computed: so many solutions inside take
as long as some 50 iterations for each of 100 right-hand sides."""
COLUMNS = 128
"""Columns of A^-1 B at a time."""
LOSS = 1e-6
"""Part of its diagonal, times i, by which a singular matrix is changed before its factors precondition it."""


class CoupledMatrix(LinearOperator):
    """[[A, B], [P_1 T, P_2]] with P = [P_1, P_2], for columns [x, y].

    inside: A (N, N) sparse. load: B (N, n) sparse. trace: T (k, N) sparse. outside: P (n, k + n), anything with a
    product P @ x. Real or complex each.

    Raises TypeError for matrices that are not sparse, ValueError for shapes that do not fit.
    """

    def __init__(self, inside: Any, load: Any, trace: Any, outside: Any) -> None:
        for name, each in (("inside A", inside), ("load B", load), ("trace T", trace)):
            if not sp.issparse(each):
                raise TypeError(
                    f"the {name} of a coupled system is a sparse matrix of SciPy, got {type(each).__name__}"
                )
        if callable(getattr(outside, "assemble", None)):
            raise TypeError(f"the outside P of a coupled system has products: call .assemble() of {outside!r}")
        (size, count), rows = load.shape, trace.shape[0]
        expected = {"inside A": (size, size), "trace T": (rows, size), "outside P": (count, rows + count)}
        for (name, shape), each in zip(expected.items(), (inside, trace, outside), strict=True):
            if tuple(each.shape) != shape:
                raise ValueError(
                    f"the {name} of a coupled system is {each.shape[0]} x {each.shape[1]}, and {shape[0]} x {shape[1]} "
                    f"is needed next to a load B of {size} x {count} and a trace T of {rows} x {trace.shape[1]}"
                )
        self.inside, self.load, self.trace = (sp.csr_array(each) for each in (inside, load, trace))
        self.outside = outside
        kind = np.result_type(*(each.dtype for each in (inside, load, trace, outside)), np.float64)
        super().__init__(dtype=kind, shape=(size + count, size + count))

    def _matmat(self, z: NDArray[Any]) -> NDArray[Any]:
        x, y = np.split(z, [self.inside.shape[0]])
        below = self.outside @ np.concatenate([self.trace @ x, y])
        return np.concatenate([self.inside @ x + self.load @ y, np.asarray(below)])

    def _matvec(self, z: NDArray[Any]) -> NDArray[Any]:
        return self._matmat(z.reshape(-1))

    def _rmatmat(self, z: NDArray[Any]) -> NDArray[Any]:
        x, y = np.split(z, [self.inside.shape[0]])
        below = np.asarray(self.outside.conj().T @ y if isinstance(self.outside, np.ndarray) else self.outside.H @ y)
        of_trace, of_y = np.split(below, [self.trace.shape[0]])
        above = self.inside.conj().T @ x + self.trace.conj().T @ of_trace
        return np.concatenate([above, self.load.conj().T @ x + of_y])

    def schur_complement(self, factors: Any) -> "SchurComplement":
        """S with factors of A, such as `SparseLU(matrix.inside)`."""
        return SchurComplement(self, factors)

    def preconditioner(self, factors: Any, outside: Any = None) -> "BlockTriangle":
        """An approximate inverse with (nearly) A^-1 by factors, and one of S, None for the identity."""
        return BlockTriangle(self, factors, outside)


class SchurComplement(LinearOperator):
    """S = P [-T A^-1 B, I] (n, n), with a solution inside in each product. matrix: the whole. factors: A = L U.

    `rhs(f, g)`: its right-hand side. `inside(f, y)`: x of a solution y. `to_array()`: its entries.
    """

    def __init__(self, matrix: CoupledMatrix, factors: Any) -> None:
        size = matrix.load.shape[1]
        super().__init__(dtype=np.result_type(matrix.dtype, factors.dtype), shape=(size, size))
        self.whole, self.factors = matrix, factors

    def _matmat(self, y: NDArray[Any]) -> NDArray[Any]:
        whole = self.whole
        caused = whole.trace @ self.factors.solve(whole.load @ y)
        return np.asarray(whole.outside @ np.concatenate([-caused, y]))

    _matvec = _matmat

    def _rmatmat(self, y: NDArray[Any]) -> NDArray[Any]:
        whole = self.whole
        back = np.asarray(whole.outside.conj().T @ y if isinstance(whole.outside, np.ndarray) else whole.outside.H @ y)
        of_trace, of_y = np.split(back, [whole.trace.shape[0]])
        caused = self.factors.solve(whole.trace.conj().T @ of_trace, adjoint=True)
        return np.asarray(of_y - whole.load.conj().T @ caused)

    def rhs(self, f: NDArray[Any], g: NDArray[Any]) -> NDArray[Any]:
        """g - P [T A^-1 f, 0] (n,) or (n, m)."""
        caused = self.whole.trace @ self.factors.solve(f)
        return np.asarray(g - self.whole.outside @ np.concatenate([caused, np.zeros_like(g)]))

    def inside(self, f: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
        """A^-1 (f - B y)."""
        return np.asarray(self.factors.solve(f - self.whole.load @ y))

    def to_array(self) -> NDArray[Any]:
        """The entries, a new array (n, n), by batches of columns."""
        size = self.shape[0]
        require_memory(size**2 * self.dtype.itemsize, f"a Schur complement of {size} unknowns", "use GMRES")
        found = np.empty(self.shape, self.dtype)
        for first in range(0, size, COLUMNS):
            found[:, first : first + COLUMNS] = self._matmat(np.eye(size, min(COLUMNS, size - first), -first))
        return found

    toarray = to_array

    def __str__(self) -> str:
        return f"{self.whole.outside}, {self.factors.shape[0]} unknowns eliminated by {self.factors}"


class BlockTriangle(LinearOperator):
    """The inverse of [[A, B], [0, Q]] for a `CoupledMatrix`: y = Q^-1 g, x = A^-1 (f - B y).

    factors: of A, or of a matrix nearby. outside: Q^-1 as a product, such as the inverse of the mass matrix or of an
    OSRC operator; None for the identity.
    """

    name = "block triangle"

    def __init__(self, matrix: CoupledMatrix, factors: Any, outside: Any = None) -> None:
        kinds = [factors.dtype, *([] if outside is None else [outside.dtype])]
        super().__init__(dtype=np.result_type(matrix.dtype, *kinds), shape=matrix.shape)
        self.whole, self.factors, self.outside = matrix, factors, outside
        if outside is not None and tuple(outside.shape) != (matrix.load.shape[1],) * 2:
            raise ValueError(
                f"the preconditioner of the outside is {outside.shape[0]} x {outside.shape[1]}, and a system with "
                f"{matrix.load.shape[1]} unknowns of the surface is to be preconditioned"
            )

    def _matmat(self, z: NDArray[Any]) -> NDArray[Any]:
        f, g = np.split(z, [self.whole.inside.shape[0]])
        y = g if self.outside is None else np.asarray(self.outside @ g)
        return np.concatenate([self.factors.solve(f - self.whole.load @ y), y])

    _matvec = _matmat


@dataclass(frozen=True, eq=False)
class CoupledSolution:
    """inside: x (N,) or (N, m). surface: y (n,) or (n, m). info: of the iteration, whose `method` says which way was
    taken and why. factors: of A, for further right-hand sides."""

    inside: NDArray[Any]
    surface: NDArray[Any]
    info: SolverInfo
    factors: Any


def coupled_bytes(inside: Any, surface: int, dense: int = DENSE) -> int:
    """Bytes of the factors of A and, up to `dense` unknowns of the surface, of the entries of the Schur complement and
    its factors, in addition to the operators outside."""
    return factor_bytes(inside) + (2 * 16 * surface**2 if surface <= dense else 0)


def solve_coupled(
    matrix: CoupledMatrix,
    rhs: tuple[NDArray[Any], NDArray[Any]],
    *,
    rtol: float = 1e-6,
    outside: Any = None,
    way: str = "auto",
    factors: Any = None,
    maxiter: int = 1000,
    progress: bool | None = None,
) -> CoupledSolution:
    """The solution of a coupled system, for one right-hand side (f, g) or several, as columns.

    way: "dense" (the entries of the Schur complement and LAPACK), "schur" (GMRES with it), "whole" (GMRES with the
    block triangle), or "auto". outside: an approximate inverse of the outside, for GMRES. factors: of an earlier
    solution with the same A.

    Raises ValueError for another way and for right-hand sides of other sizes, numpy.linalg.LinAlgError for "dense" and
    "schur" where A is singular, ConvergenceError where GMRES ends above `rtol`.
    """
    count = matrix.load.shape[1]
    if way not in ("auto", "dense", "schur", "whole"):
        raise ValueError(f"unknown way {way!r}: choose 'auto', 'dense', 'schur' or 'whole'")
    f, g = (np.asarray(each) for each in rhs)
    if f.shape[:1] != matrix.load.shape[:1] or g.shape[:1] != (count,) or f.shape[1:] != g.shape[1:]:
        raise ValueError(
            f"right-hand sides of {matrix.load.shape[0]} and {count} rows are needed, got shapes {f.shape} and "
            f"{g.shape}"
        )
    factors, resonance = _factors(matrix, factors)
    if resonance and way in ("dense", "schur"):
        raise np.linalg.LinAlgError(f"way={way!r} eliminates the inside, and {resonance}: choose 'whole' or 'auto'")
    chosen = way if way != "auto" else "whole" if resonance else "dense" if count <= DENSE else "schur"
    reason = resonance or f"{count} unknowns of the surface are {'at most' if count <= DENSE else 'more than'} {DENSE}"
    given: dict[str, Any] = {"rtol": rtol, "maxiter": maxiter, "progress": progress}
    if chosen == "whole":
        block = matrix.preconditioner(factors, outside)
        found, info = gmres(matrix, np.concatenate([f, g]), preconditioner=block, **given)
        x, y = np.split(found, [matrix.inside.shape[0]])
        text = f"{info.method} on the whole, block triangle"
    else:
        schur = matrix.schur_complement(factors)
        if chosen == "dense":
            y, info = _direct(schur, schur.rhs(f, g), rtol)
        else:
            y, info = gmres(schur, schur.rhs(f, g), preconditioner=outside, **given)
        x, text = schur.inside(f, y), f"{info.method} of the Schur complement"
    text += f", {factors}" + ("" if way != "auto" else f"; chosen as {reason}")
    return CoupledSolution(x, y, replace(info, method=text), factors)


def _factors(matrix: CoupledMatrix, known: Any) -> tuple[Any, str]:
    """Factors of A, and "", or of a matrix nearby, and why."""
    try:
        factors = SparseLU(matrix.inside) if known is None else known
        if not getattr(factors, "is_singular", False):
            return factors, ""
        reason = f"the condition of the matrix inside is {factors.condition:.1e}"
    except np.linalg.LinAlgError:
        reason = "the matrix inside is singular"
    size = float(np.abs(matrix.inside.diagonal()).max(initial=1e-300))
    moved = matrix.inside + LOSS * size * 1j * sp.eye_array(matrix.inside.shape[0])
    return SparseLU(moved), reason


def _direct(schur: SchurComplement, rhs: NDArray[Any], rtol: float) -> tuple[NDArray[Any], SolverInfo]:
    """The solution by entries and LAPACK, and its record."""
    began = time.perf_counter()
    array = schur.to_array()
    y = lu(array).solve(rhs)
    norms = np.linalg.norm(rhs.reshape(len(rhs), -1), axis=0)
    residual = np.linalg.norm((array @ y - rhs).reshape(len(rhs), -1), axis=0) / np.where(norms > 0, norms, 1.0)
    text = f"LU of {format_bytes(array.nbytes)}"
    seconds = time.perf_counter() - began
    info = SolverInfo(text, 0, residual.max(keepdims=True), tuple(residual[:, None]), bool(residual.max() <= rtol),
                      rtol, 0.0, 1, seconds)  # fmt: skip
    return y, info
