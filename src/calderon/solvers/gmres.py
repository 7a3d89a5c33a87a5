"""The generalised minimal residual method.

Y. Saad and M. H. Schultz, SIAM J. Sci. Stat. Comput. 7 (1986) 856: x_j minimises |b - A x| over x_0 + the Krylov space
of dimension j. Only products A @ x are needed; several right-hand sides have a Krylov space each, and their products
with A are formed together, so that a dense matrix is read once for all of them.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from calderon.backends import OnDevice
from calderon.backends.devices.device_matrix import on_host
from calderon.solvers.arnoldi import Basis, KrylovSpace
from calderon.solvers.device_basis import DeviceBasis
from calderon.solvers.iteration import Callback, Column, Iteration, SolverInfo, limits, positive, stack
from calderon.solvers.system import linear_system, norm

Accept = Callable[[np.ndarray, np.ndarray], float]
_ROUNDING = 1e-14
"""Residuals of a cycle below this part of its first one are rounding."""


def gmres(
    A: Any,
    b: Any,
    rtol: float = 1e-6,
    atol: float = 0.0,
    restart: int | None = None,
    maxiter: int = 1000,
    preconditioner: Any = None,
    side: str = "right",
    x0: Any = None,
    progress: bool | None = None,
    callback: Callback | None = None,
    accept: Accept | None = None,
) -> tuple[np.ndarray, SolverInfo]:
    """Solve A x = b to |b - A x| <= max(rtol |b|, atol); return x and the `SolverInfo`.

    A: (n, n), anything with a product A @ x: NumPy array, SciPy sparse matrix or LinearOperator, assembled operator.
        With a matrix that stays on a device (`DeviceMatrix`, or "fmm" and "mlfmm" there) the basis is also there, and
        only a few numbers a step and the solution come to the host.
    b: (n,) or (n, m) for m right-hand sides. x has the same shape; it is complex as soon as A, b, x0 or M is.
    restart: steps after which the basis is dropped; None keeps it all (16 n bytes a step and complex right-hand side).
    maxiter: the largest number of steps for each right-hand side.
    preconditioner: M, an approximation of the inverse of A, used as M @ x; it must be the same linear map in each step.
    side: "right" solves A M z = b, x = M z and monitors the residual itself; "left" solves M A x = M b and monitors the
        preconditioned residual. Either ends only when the residual of A x = b, computed anew, meets the tolerance.
    x0: initial guess, of the shape of b.
    progress: show a live line on the terminal; None: after two seconds, where the output is one or a notebook.
    callback: called as ``callback(iteration, residual)`` after each step with the relative residual (the largest of the
        right-hand sides that are iterated together, 16 at most).
    accept: called as ``accept(x, residual)`` with the solution and the residual b - A x (n,) of a right-hand side that
        meets the tolerance: where it returns less than 1, the iteration goes on until the residual is smaller by this
        factor, or makes no further progress.

    Raises `ConvergenceError`, which carries the history and the best solution, when the limit is reached or no
    further progress is made; ValueError for NaN or infinity in b or from A.
    """
    began = time.perf_counter()
    if side not in ("left", "right"):
        raise ValueError(f"unknown side {side!r}: choose 'left' or 'right'")
    restart = None if restart is None else positive(restart, "restart")
    limit = limits(rtol, atol, maxiter)
    system = linear_system(A, b, x0, preconditioner, "gmres")
    method = "GMRES" if restart is None else f"GMRES(restart {restart})"
    iteration = _GMRES(system, limit, restart, side, accept)
    if isinstance(A, OnDevice):
        iteration, method = _DeviceGMRES(system, limit, restart, side, accept, A), f"{method} on {A.backend}"
    if preconditioner is not None:
        method += f", {side} preconditioner"
    return iteration.solve(method, began, progress, callback)


@dataclass(eq=False)
class _Column(Column):
    """scale: what the iteration's own residuals are relative to, |b| or |M b|. target: its residual at which the true
    one is computed. met: whether the tolerance was met, before `accept` requested less."""

    scale: float = 1.0
    target: float = 0.0
    met: bool = False
    space: KrylovSpace = field(init=False)


@dataclass(frozen=True, eq=False)
class _GMRES(Iteration[_Column]):
    restart: int | None
    side: str
    accept: Accept | None

    title = "GMRES"
    column = _Column

    def left(self, vectors: np.ndarray) -> np.ndarray:
        """Precondition residuals (n, m)."""
        precondition = self.system.precondition
        return vectors if self.side == "right" or precondition is None else precondition(vectors)

    def right(self, vectors: np.ndarray) -> np.ndarray:
        """From the unknowns of the iteration to those of the system."""
        precondition = self.system.precondition
        return vectors if self.side == "left" or precondition is None else precondition(vectors)

    def space(self, start: np.ndarray) -> KrylovSpace:
        """The Krylov space that begins with a residual (n,)."""
        return KrylovSpace(start, Basis(len(start), start.dtype, self.restart))

    def images(self, spaces: list[KrylovSpace]) -> list[Any]:
        """The newest vector of each space times the preconditioned matrix."""
        newest = stack([space.basis.newest for space in spaces])
        return list(np.ascontiguousarray(self.left(self.system.product(self.right(newest))).T))

    def start(self, columns: list[_Column], residuals: list[np.ndarray]) -> None:
        rhs = self.left(stack([column.rhs for column in columns]))
        for column, right_hand_side in zip(columns, rhs.T, strict=True):
            column.scale = norm(right_hand_side)
        self._open_spaces(columns, residuals)

    def step(self, active: list[_Column], steps: int) -> None:
        due = []
        for column, image in zip(active, self.images([column.space for column in active]), strict=True):
            estimate = column.space.extend(image)
            column.products += 1
            column.history.append(estimate / column.scale)
            full = column.space.exhausted or column.space.steps == self.restart or steps == self.limit.maxiter
            if full or estimate <= column.target:
                due.append(column)
        if due:
            self._check(due, steps)

    def _open_spaces(self, columns: list[_Column], residuals: list[np.ndarray]) -> None:
        if not columns:
            return
        for column, start in zip(columns, self.left(stack(residuals)).T, strict=True):
            beta = norm(start)
            if not 0 < beta < np.inf or not 0 < column.scale < np.inf:
                raise ValueError(f"the operator or the preconditioner turned a residual into one of norm {beta}")
            column.space = self.space(start)
            column.target = column.goal / column.size * column.scale

    def _check(self, due: list[_Column], steps: int) -> None:
        """Form the solutions, compute their true residuals, and end, go on or restart."""
        # true residuals of all columns by one product
        trials = stack([c.x for c in due]) + self.right(stack([c.space.combination() for c in due]))
        residuals = stack([c.rhs for c in due]) - self.system.product(trials)
        again, starts = [], []
        for column, trial, residual in zip(due, trials.T, residuals.T, strict=True):
            column.products += 1
            true = norm(residual)
            if true <= column.goal and steps < self.limit.maxiter and self._goes_on(column, trial, residual, true):
                continue
            if true <= column.goal or steps == self.limit.maxiter:
                column.failure = "" if true <= column.goal else "reached its limit"
            elif self._continues(column, true):
                continue
            elif self._has_improved(column, true):
                column.x, column.checked = trial.copy(), true
                again.append(column)
                starts.append(residual)
                continue
            else:
                column.failure = "met a singular matrix" if column.space.exhausted else "stagnated"
            if true <= column.checked:  # a trial worse than the last iterate is not kept
                column.x, column.checked = trial.copy(), true
            column.running, column.failure = False, "" if column.met else column.failure
            column.condition = column.space.condition
            column.history[-1] = column.checked / column.size
        self._open_spaces(again, starts)

    def _goes_on(self, column: _Column, trial: np.ndarray, residual: np.ndarray, true: float) -> bool:
        """A smaller residual is wanted, and the space can grow: lower the goal."""
        factor = 1.0 if self.accept is None else float(self.accept(trial, residual))
        space = column.space
        if not 0 < factor < 1 or space.exhausted or space.steps == self.restart:
            return False
        column.met, column.goal, column.target = True, factor * true, factor * space.residual
        return True

    def _continues(self, column: _Column, true: float) -> bool:
        """Left preconditioning: the preconditioned residual is ahead of the true one: lower its target, same space."""
        space = column.space
        if self.side == "right" or space.exhausted or space.steps == self.restart:
            return False
        tighter = 0.5 * space.residual * column.goal / true
        if tighter <= _ROUNDING * space.beta:
            return False
        column.target = tighter
        return True

    def _has_improved(self, column: _Column, true: float) -> bool:
        """Whether a restart from this iterate can help: the cycle reduced the residual that it works on.

        A cycle that reached its target, or the floor of rounding, without reducing the true residual is at its end.
        """
        space = column.space
        at_floor = space.residual <= max(_ROUNDING * space.beta, column.target if self.side == "right" else 0.0)
        return true <= 0.5 * column.checked if at_floor else space.residual <= (1 - 1e-8) * space.beta


@dataclass(frozen=True, eq=False)
class _DeviceGMRES(_GMRES):
    """An iteration whose matrix and vectors are on a device; a preconditioner works where it is, on the host."""

    matrix: OnDevice

    def space(self, start: np.ndarray) -> KrylovSpace:
        return KrylovSpace(start, DeviceBasis(self.matrix.device, len(start), start.dtype, self.restart))

    def images(self, spaces: list[KrylovSpace]) -> list[Any]:
        return [self._image(space.basis) for space in spaces]

    def _image(self, basis: Any) -> Any:
        newest, first = basis.newest
        is_complex = basis.dtype.kind == "c"
        if self.system.precondition is None:
            return self.matrix.times(newest, first, is_complex)
        if self.side == "left":
            image = on_host(self.matrix.device, self.matrix.times(newest, first, is_complex), basis.dtype)
            return basis.from_host(self.left(image[:, None])[:, 0])
        given = basis.from_host(self.right(basis.to_host(basis.newest)[:, None])[:, 0])
        return self.matrix.times(given, 0, is_complex)
