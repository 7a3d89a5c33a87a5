"""The conjugate gradient method for Hermitian positive definite systems.

M. R. Hestenes and E. Stiefel, J. Res. Nat. Bur. Standards 49 (1952) 409; with preconditioner as in Saad, Iterative
Methods for Sparse Linear Systems (2003), algorithm 9.1. The error in the energy norm falls at least like
2 ((sqrt(kappa) - 1) / (sqrt(kappa) + 1))^j.
"""

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from calderon.solvers.iteration import Callback, Column, Iteration, SolverInfo, limits, stack
from calderon.solvers.system import dot, linear_system, norm


def cg(
    A: Any,
    b: Any,
    rtol: float = 1e-6,
    atol: float = 0.0,
    maxiter: int = 1000,
    preconditioner: Any = None,
    x0: Any = None,
    progress: bool | None = None,
    callback: Callback | None = None,
) -> tuple[np.ndarray, SolverInfo]:
    """Solve A x = b, A Hermitian positive definite, to |b - A x| <= max(rtol |b|, atol); return x and the `SolverInfo`.

    A: (n, n) with a product A @ x, such as a single layer of Laplace or a mass matrix.
    b: (n,) or (n, m); the products of several right-hand sides are formed together.
    preconditioner: M, Hermitian positive definite, an approximation of the inverse of A, used as M @ x.
    Other options as for `gmres`. The symmetry of A is not verified; a direction p with p^* A p <= 0 is reported as
    ValueError, since the matrix is then not positive definite, or singular and b not in its range. Raises
    `ConvergenceError` like `gmres`.
    """
    began = time.perf_counter()
    limit = limits(rtol, atol, maxiter)
    system = linear_system(A, b, x0, preconditioner, "cg")
    method = "CG" if preconditioner is None else "CG, preconditioned"
    return _CG(system, limit).solve(method, began, progress, callback)


@dataclass(eq=False)
class _Column(Column):
    """residual r, direction p, slope r^* M r; largest p^* A p / |p|^2."""

    residual: np.ndarray = field(init=False)
    direction: np.ndarray = field(init=False)
    slope: float = 0.0
    largest: float = 0.0

    @property
    def has_diverged(self) -> bool:
        """Whether the residual has grown as it does for a singular matrix and a right-hand side outside its range.

        sqrt(|A| |A^-1|) bounds its ratio to the right-hand side, so that no usable definite matrix reaches 1e8.
        """
        return not self.history[-1] <= 1e8

    def singular(self, what: str) -> ValueError:
        """The error for such a system."""
        return ValueError(
            "the matrix given to cg is not positive definite: singular, with a right-hand side that has a part in its "
            f"null space, or indefinite. In step {len(self.history)} the residual is {self.history[-1]:.1g} times the "
            f"right-hand side, {what}. Make the data compatible (of mean zero for the Laplace hypersingular operator "
            "on a closed surface), or lift the null space (A + c c^T); for indefinite matrices use gmres"
        )


def _advance(column: _Column, image: np.ndarray) -> None:
    """One step along the direction: x += a p, r -= a A p."""
    curvature, length = dot(column.direction, image), norm(column.direction)
    if not np.isfinite(curvature):
        if column.has_diverged:
            raise column.singular(f"and p^* A p = {curvature:.3g}")
        raise ValueError("the operator or the preconditioner gave NaN or infinity: check the mesh and its matrix")
    # p^* A p / |p|^2 must be real and positive; where it is small against the largest one, the matrix is singular
    quotient = float(curvature.real) / length / length if length > 0 else 0.0
    if curvature.real <= 0 or abs(curvature.imag) > 1e-3 * curvature.real:
        vanishes = abs(quotient) <= 1e-4 * column.largest  # may be zero up to rounding and compression
        if column.has_diverged or vanishes or not curvature:
            raise column.singular(f"and p^* A p = {curvature:.3g} for a direction of length {length:.3g}")
        raise ValueError(
            f"cg needs a Hermitian positive definite matrix, but p^* A p = {curvature:.3g} for the direction p of step "
            f"{len(column.history)}: use gmres"
        )
    column.largest = max(column.largest, quotient)
    with np.errstate(over="ignore", invalid="ignore"):  # detected from the result
        step = column.slope / curvature.real
        column.x += step * column.direction
        column.residual -= step * image
    column.products += 1
    column.history.append(norm(column.residual) / column.size)
    if not np.isfinite(column.history[-1]):
        raise column.singular("outside the range of numbers")


@dataclass(frozen=True, eq=False)
class _CG(Iteration[_Column]):
    title = "CG"
    column = _Column

    def start(self, columns: list[_Column], residuals: list[np.ndarray]) -> None:
        for column, residual in zip(columns, residuals, strict=True):
            column.residual, column.direction = residual.copy(), np.zeros_like(residual)
        self._next_directions(columns)

    def step(self, active: list[_Column], steps: int) -> None:
        last = steps == self.limit.maxiter
        images = self.system.product(stack([column.direction for column in active]))
        for column, image in zip(active, images.T, strict=True):
            _advance(column, image)
        if due := [column for column in active if last or norm(column.residual) <= column.goal]:
            self._check(due, last)
        if active := [column for column in active if column.running]:
            self._next_directions(active)

    def _next_directions(self, columns: list[_Column]) -> None:
        """The next directions p = M r + (slope / old slope) p."""
        residuals = stack([column.residual for column in columns])
        images = residuals if self.system.precondition is None else self.system.precondition(residuals)
        for column, image in zip(columns, images.T, strict=True):
            slope = dot(column.residual, image)
            if not (np.isfinite(slope) and slope.real > 0):
                if column.has_diverged:
                    raise column.singular(f"and r^* M r = {slope:.3g}")
                if self.system.precondition is None:
                    raise ValueError(
                        f"cg squares residuals, and that of {norm(column.residual):.3g} has the square {slope:.3g}: "
                        "scale the right-hand side"
                    )
                raise ValueError(f"cg needs a positive definite preconditioner M, but r^* M r = {slope:.3g}: use gmres")
            ratio = slope.real / column.slope if column.slope > 0 else 0.0
            column.direction = image + ratio * column.direction
            column.slope = float(slope.real)

    def _check(self, due: list[_Column], last: bool) -> None:
        """Replace the residual of the recursion by the true one; end, or restart from it."""
        residuals = stack([column.rhs for column in due]) - self.system.product(stack([column.x for column in due]))
        for column, residual in zip(due, residuals.T, strict=True):
            true = norm(residual)
            column.products += 1
            column.history[-1] = true / column.size
            if true <= column.goal or last or true > 0.5 * column.checked:
                column.running = False
                if true > column.goal:
                    column.failure = "reached its limit" if last else "stagnated"
            else:
                column.residual, column.checked, column.slope = residual.copy(), true, 0.0
