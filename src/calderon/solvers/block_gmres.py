"""GMRES for many right-hand sides in one space: block GMRES that multiplies the directions that matter.

The right-hand sides are b_j = |b_j| (Q c_j + e_j), as `CompressedSides` has them, and A X = Q is solved, so that
x_j = |b_j| X c_j. The space is U = [V, P], orthonormal, with A M V = U H: V has been multiplied, P has not. X = M V Y
with Y that minimises |F - H Y| for Q = U F makes every residual |Q c_j - A X c_j| the least one at once. Then P is
turned so that its first vectors have the largest part of these residuals relative to what is allowed; those that no
right-hand side needs are not multiplied (M. Robbe and M. Sadkane, Linear Algebra Appl. 419 (2006) 265; H. Calandra,
S. Gratton, R. Lago, X. Vasseur and L. M. Carvalho, SIAM J. Sci. Comput. 35 (2013) S345). Without the selection this is
block GMRES (Saad, Iterative Methods for Sparse Linear Systems, 2003, section 6.12).

At the end R = Q - A X is computed anew, and with it |b_j - A x_j| / |b_j| <= |R c_j| + |e_j| of every right-hand side.
"""

import math
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import free_memory, require_memory
from calderon.solvers.compression import CompressedSides, orthogonalise
from calderon.solvers.iteration import Callback, ConvergenceError, SolverInfo, limits
from calderon.solvers.live_bar import live_progress
from calderon.solvers.system import LinearSystem, linear_system, require_finite

DEPENDENT = 64 * np.finfo(float).eps
"""New vectors below this part of the product that they come from are rounding."""

Rows = NDArray[np.complex128]


def block_gmres(
    A: Any,
    sides: CompressedSides,
    rtol: float = 1e-6,
    maxiter: int = 1000,
    preconditioner: Any = None,
    x0: Any = None,
    progress: bool | None = None,
    callback: Callback | None = None,
) -> tuple[Rows, SolverInfo]:
    """Solve A X = Q so that |b_j - A x_j| <= rtol |b_j| for all x_j = |b_j| X c_j; return X (n, r) and the record.

    A, preconditioner, progress, callback: as of `gmres`; the preconditioner acts from the right. sides: whose errors
    are below rtol. x0: an approximation of X. maxiter: steps, each with products of at most as many columns as Q has.

    The space takes 16 n bytes a product, and the iteration restarts when half of the free memory is taken. The record
    has the bounds of the residuals of all right-hand sides; `products` counts all of them together. Raises as `gmres`
    does, the `solution` of a ConvergenceError is X; MemoryError where there is no room for four vectors a column of Q.
    """
    began = time.perf_counter()
    system = linear_system(A, sides.rows.T, x0, preconditioner, "block GMRES")
    iteration = _BlockGMRES(system, sides, limits(rtol, 0.0, maxiter).rtol)
    failure = iteration.run(maxiter, progress, callback)
    steps, worst = len(iteration.bounds) - 1, np.array([each.max() for each in iteration.bounds])
    count = len(sides.sizes)
    title = f"GMRES of {count} right-hand sides, rank {sides.rank}, {steps} steps of up to {iteration.widest} columns"
    if preconditioner is not None:
        title += ", right preconditioner"
    info = SolverInfo(
        title, steps, worst, tuple(np.array(iteration.bounds).T), not failure, rtol, 0.0, iteration.products,
        time.perf_counter() - began,
    )  # fmt: skip
    if failure:
        reason = f"{failure} at relative residual {worst[-1]:.1e}, not {rtol:.1e}"
        advice = "raise maxiter=, give a preconditioner=, choose a larger rtol, or check for a resonance"
        raise ConvergenceError(info, iteration.solution, reason, advice)
    return iteration.solution, info


class _BlockGMRES:
    """solution (n, r): X. bounds: of the residuals (m,) before and after each step. widest: most columns of a step."""

    def __init__(self, system: LinearSystem, sides: CompressedSides, rtol: float) -> None:
        self.system, self.sides, self.rtol = system, sides, rtol
        self.allowed = rtol - sides.errors
        if not (self.allowed > 0).all():
            raise ValueError(f"right-hand sides compressed to {sides.errors.max():.1e} cannot be solved to {rtol:.1e}")
        self.solution = np.zeros(system.rhs.shape, np.complex128) if system.start is None else system.start
        self.bounds: list[NDArray[np.float64]] = []
        self.products, self.widest, self.steps = 0, 0, 0

    def run(self, most: int, progress: bool | None, callback: Callback | None) -> str:
        """Iterate until all right-hand sides are solved: "", or why they are not."""
        residual = np.ascontiguousarray(self.system.rhs.T) if self.system.start is None else self._residual()
        before = self._bound(residual @ residual.conj().T)
        self.bounds.append(before)
        with live_progress("GMRES", self.rtol, progress) as report:
            while self.bounds[-1].max() > self.rtol:
                space = _Space(residual, self._room(residual))
                estimate = self._cycle(space, most, report, callback)
                self.solution += self._right(space.combination())
                residual = self._residual()
                true = self._bound(residual @ residual.conj().T)
                self.bounds[-1] = true
                if true.max() <= self.rtol:
                    break
                if self.steps >= most:
                    return f"reached its limit of {most} steps"
                # a cycle at the end of its space must have halved the residual, any other one reduced it
                ended = estimate <= self.rtol or space.size == space.multiplied
                if not true.max() <= 0.5 * before.max() and (ended or not true.max() < before.max()):
                    return "stagnated"
                before = true
        return ""

    def _cycle(self, space: "_Space", most: int, report: Any, callback: Callback | None) -> float:
        """Steps in one space until the estimated residuals are met or the space is full; the largest one."""
        estimate = float(self.bounds[-1].max())
        while estimate > self.rtol and space.pending and not space.full and self.steps < most:
            count = self._turn(space)
            images = self.system.product(self._right(space.take(count).T))
            self.products += count
            self.widest, self.steps = max(self.widest, count), self.steps + 1
            space.extend(np.ascontiguousarray(images.T, np.complex128))
            own = np.linalg.norm(space.residual @ self.sides.coefficients, axis=0) + self.sides.errors
            self.bounds.append(own)
            estimate = float(own.max())
            report(self.steps, estimate)
            if callback is not None:
                callback(self.steps, estimate)
        return estimate

    def _turn(self, space: "_Space") -> int:
        """Turn the pending directions, those with the largest residuals first; how many are to be multiplied."""
        parts = space.residual[space.multiplied :] @ self.sides.coefficients / self.allowed
        missing = max(0, len(parts) - parts.shape[1])
        turn, values, right = np.linalg.svd(np.pad(parts, ((0, 0), (0, missing))), full_matrices=False)
        space.turn(turn)
        tails = np.sqrt(np.cumsum((np.abs(values[:, None] * right) ** 2)[::-1], axis=0)[::-1].max(axis=1))
        needed = int((tails > 0.5).sum())  # the others may have half of the allowed residual
        return needed or len(parts)

    def _room(self, residual: Rows) -> int:
        """Vectors of the space at most; a power of two of bytes, so that a sweep that is resumed has the same."""
        rank, n = residual.shape
        least = 4 * rank
        require_memory(least * n * 16, f"a space of {least} vectors for {rank} right-hand sides", "solve fewer angles")
        half = 2 ** int(math.log2(max(free_memory() / 2, 1)))
        return min(n + rank, max(least, half // (16 * n)))

    def _right(self, vectors: Rows) -> Rows:
        precondition = self.system.precondition
        return vectors if precondition is None else precondition(vectors)

    def _residual(self) -> Rows:
        """Q - A X, transposed (r, n)."""
        self.products += self.solution.shape[1]
        return np.ascontiguousarray((self.system.rhs - self.system.product(self.solution)).T)

    def _bound(self, gram: Rows) -> NDArray[np.float64]:
        """|R c_j| + |e_j| (m,) from the products of the rows of R transposed, which are the conjugate of R* R."""
        c = self.sides.coefficients
        squares = np.einsum("rj,rs,sj->j", c.conj(), gram.conj(), c, optimize=True).real
        return np.sqrt(np.maximum(squares, 0)) + self.sides.errors


class _Space:
    """U in rows, the first `multiplied` of `size` are V. residual (size, r): F - H Y in the basis U. Of H = Q R the
    columns of Q (size, multiplied) are turned with P, R stays; fitted (multiplied, r): Q* F."""

    def __init__(self, start: Rows, room: int) -> None:
        basis, factors = np.linalg.qr(start.T)
        self.size, self.multiplied, self.limit = basis.shape[1], 0, room
        self.rows = np.empty((room, start.shape[1]), np.complex128)
        self.rows[: self.size] = basis.T
        self.residual: Rows = factors
        self.orthogonal: Rows = np.zeros((self.size, 0), np.complex128)
        self.triangle: Rows = np.zeros((0, 0), np.complex128)
        self.fitted: Rows = np.zeros((0, len(start)), np.complex128)

    @property
    def pending(self) -> int:
        """Vectors that are not multiplied."""
        return self.size - self.multiplied

    @property
    def full(self) -> bool:
        """Whether there is no room for the products of a step."""
        return self.size + self.pending > self.limit

    def turn(self, turn: Rows) -> None:
        """P -> P G, unitary (pending, pending)."""
        own = slice(self.multiplied, self.size)
        self.rows[own] = turn.T @ self.rows[own]
        self.residual[own] = turn.conj().T @ self.residual[own]
        self.orthogonal[own] = turn.conj().T @ self.orthogonal[own]

    def take(self, count: int) -> Rows:
        """The next pending vectors (count, n), which are multiplied."""
        self.multiplied += count
        return self.rows[self.multiplied - count : self.multiplied]

    def extend(self, images: Rows) -> None:
        """Accept the products (s, n) of the vectors taken last, which are overwritten."""
        scale = float(np.linalg.norm(images, axis=1).max())
        require_finite(scale)
        inside = orthogonalise(images, self.rows[: self.size])
        basis, factors = np.linalg.qr(images.T)
        left, values, right = np.linalg.svd(factors)
        kept = int((values > DEPENDENT * scale).sum())
        self.rows[self.size : self.size + kept] = (basis @ left[:, :kept]).T
        self.size += kept
        self.residual = np.pad(self.residual, ((0, kept), (0, 0)))
        self.orthogonal = np.pad(self.orthogonal, ((0, kept), (0, 0)))
        self._fit(np.concatenate([inside, values[:kept, None] * right[:kept]]))

    def _fit(self, columns: Rows) -> None:
        """Append columns (size, s) to H."""
        given = np.ascontiguousarray(columns.T)
        above = orthogonalise(given, np.ascontiguousarray(self.orthogonal.T))
        new, corner = np.linalg.qr(given.T)
        left = np.zeros((len(corner), self.triangle.shape[1]), np.complex128)
        self.triangle = np.block([[self.triangle, above], [left, corner]])
        part = new.conj().T @ self.residual
        self.residual -= new @ part
        self.orthogonal = np.concatenate([self.orthogonal, new], axis=1)
        self.fitted = np.concatenate([self.fitted, part])

    def combination(self) -> Rows:
        """V Y (n, r)."""
        diagonal = np.abs(self.triangle.diagonal())
        if len(diagonal) and diagonal.min() > DEPENDENT * diagonal.max():
            y = np.linalg.solve(self.triangle, self.fitted)
        else:  # a singular operator; the residual shows it
            y = np.linalg.lstsq(self.triangle, self.fitted)[0]
        return (y.T @ self.rows[: self.multiplied]).T
