"""The common part of iterations: checked options, right-hand sides in batches, the verdict and the record at the
end."""

import math
import numbers
import operator
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from calderon.solvers.live_bar import live_progress
from calderon.solvers.system import LinearSystem, norm

Callback = Callable[[int, float], Any]

BATCH = 16
"""Right-hand sides whose products with A are formed together: their bases are in memory at the same time."""


@dataclass(frozen=True, eq=False)
class SolverInfo:
    """The record of an iterative solution.

    method: the name of the iteration with its options.
    iterations: steps taken; with several right-hand sides, by the slowest.
    residuals: (iterations + 1,) relative residuals |b - A x| / |b|, before the first and after each step. Between the
        first and the last they are the values of the recursion (with a left preconditioner M: |M (b - A x)| / |M b|);
        the last is always computed anew from the solution. With several right-hand sides: the largest of each step.
    histories: one such array for each right-hand side, each as long as its own iteration.
    converged: every right-hand side met |b - A x| <= max(rtol |b|, atol).
    rtol, atol: as requested.
    products: applications of A to one vector, those of the residual checks included.
    seconds: wall-clock time.
    conditions: for each right-hand side an estimate, from below, of the condition number of the (preconditioned)
        operator, None where there is none.
    """

    method: str
    iterations: int
    residuals: np.ndarray
    histories: tuple[np.ndarray, ...]
    converged: bool
    rtol: float
    atol: float
    products: int
    seconds: float
    conditions: tuple[float | None, ...] = ()

    @property
    def residual(self) -> float:
        """The final relative residual, recomputed from the solution (the largest one for several right-hand sides)."""
        return max(float(history[-1]) for history in self.histories)

    def __str__(self) -> str:
        sides = len(self.histories)
        several = f", {sides} right-hand sides" if sides > 1 else ""
        verdict = "converged" if self.converged else "did not converge"
        return (
            f"{self.method} {verdict}: {self.iterations} iteration{'' if self.iterations == 1 else 's'}{several}, "
            f"relative residual {self.residual:.1e} (rtol {self.rtol:.1e}), {self.products} products, "
            f"{self.seconds:.3g} s"
        )


class ToleranceError(RuntimeError):
    """Products that do not hold the tolerance, as their check says."""


class ConvergenceError(RuntimeError):
    """An iteration ended without meeting its tolerance.

    residuals: the history, as in `SolverInfo`.
    solution: the best iterate, of the shape of the right-hand side.
    info: the `SolverInfo` of the attempt.
    advice: what to try.
    """

    def __init__(self, info: SolverInfo, solution: np.ndarray, reason: str, advice: str):
        super().__init__(f"{info.method} {reason}: {advice}")
        self.info = info
        self.residuals = info.residuals
        self.solution = solution
        self.reason = reason
        self.advice = advice


@dataclass(frozen=True)
class Limits:
    """Tolerances and limits of an iteration: |b - A x| <= max(rtol |b|, atol) within maxiter steps."""

    rtol: float
    atol: float
    maxiter: int


@dataclass(eq=False)
class Column:
    """One right-hand side b while it is iterated on.

    x: the iterate. rhs, size: b and |b|. goal: the residual norm to reach. checked: the last true residual norm.
    products: with A. history: relative residuals. running: whether it needs further steps. failure: why it failed, if
    so. condition: an estimate of that of the operator, None without any.
    """

    x: np.ndarray
    rhs: np.ndarray
    size: float
    goal: float
    checked: float
    products: int
    history: list[float]
    running: bool
    failure: str = ""
    condition: float | None = None


AnyColumn = TypeVar("AnyColumn", bound=Column)


@dataclass(frozen=True, eq=False)
class Iteration(ABC, Generic[AnyColumn]):
    """An iterative method: how its columns start and what a step is."""

    system: LinearSystem
    limit: Limits

    title: ClassVar[str]
    column: ClassVar[type[Column]]

    @abstractmethod
    def start(self, columns: list[AnyColumn], residuals: list[np.ndarray]) -> None:
        """Prepare columns, whose residuals are given, for the first step."""

    @abstractmethod
    def step(self, active: list[AnyColumn], steps: int) -> None:
        """Step number `steps` of all columns that are running."""

    def solve(
        self, method: str, began: float, progress: bool | None, callback: Callback | None
    ) -> tuple[np.ndarray, SolverInfo]:
        """Solution and record; raises `ConvergenceError` when some right-hand side failed."""
        done: list[Any] = []
        with live_progress(self.title, self.limit.rtol, progress) as report:
            for first in range(0, self.system.rhs.shape[1], BATCH):
                columns = self._begin(slice(first, first + BATCH))
                done += columns
                steps = 0
                while active := [column for column in columns if column.running]:
                    steps += 1
                    self.step(active, steps)
                    worst = max(column.history[-1] for column in active)
                    report(steps, worst)
                    if callback is not None:
                        callback(steps, worst)
        return _verdict(method, self.system, self.limit, done, began)

    def _begin(self, batch: slice) -> list[Any]:
        rhs = self.system.rhs[:, batch]
        start, residuals, products = np.zeros_like(rhs), rhs, 0
        if self.system.start is not None:
            start = self.system.start[:, batch]
            residuals, products = rhs - self.system.product(start), 1
        columns, started = [], []
        for b, x, residual in zip(rhs.T, start.T, residuals.T, strict=True):
            size, first = norm(b), norm(residual)
            goal = max(self.limit.rtol * size, self.limit.atol)
            history = [first / size if size > 0 else 0.0]
            iterate = x.copy() if size > 0 else np.zeros_like(x)
            column = self.column(iterate, b, size, goal, first, products, history, size > 0 and not first <= goal)
            columns.append(column)
            if column.running:
                started.append((column, residual))
        if started:
            self.start(*(list(each) for each in zip(*started, strict=True)))
        return columns


def stack(vectors: list[np.ndarray]) -> np.ndarray:
    """Columns (n, m), each contiguous."""
    return np.stack(vectors).T


def limits(rtol: float, atol: float, maxiter: int) -> Limits:
    """Check the options that all iterations have."""
    for name, value in (("rtol", rtol), ("atol", atol)):
        if isinstance(value, bool) or not (isinstance(value, numbers.Real) and 0 <= value < math.inf):
            raise ValueError(f"{name} must be a number that is zero or positive, got {value!r}")
    if rtol >= 1 or rtol == atol == 0:
        raise ValueError(f"choose a tolerance rtol between 0 and 1, such as 1e-6, got rtol={rtol!r} and atol={atol!r}")
    return Limits(float(rtol), float(atol), positive(maxiter, "maxiter"))


def tolerance(value: Any, name: str = "rtol", example: str = "1e-6") -> float:
    """The value as a number above 0 and below 1; ValueError for anything else."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 < value < 1:  # type: ignore[operator]
        raise ValueError(f"{name}={value!r}: a tolerance is a number between 0 and 1, such as {example}")
    return float(value)


def positive(value: Any, name: str) -> int:
    """The value as an integer of at least 1."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {value!r}") from None
    if number < 1:
        raise ValueError(f"{name} must be at least 1, got {number}")
    return number


def _verdict(
    method: str, system: LinearSystem, limit: Limits, columns: list[Column], began: float
) -> tuple[np.ndarray, SolverInfo]:
    # the largest residual of all columns at each step
    histories = tuple(np.array(column.history) for column in columns)
    steps = max(len(history) for history in histories)  # one that ended earlier keeps its last value
    residuals = np.max([np.pad(history, (0, steps - len(history)), "edge") for history in histories], axis=0)
    failures = [column for column in columns if column.failure]
    info = SolverInfo(
        method=method,
        iterations=len(residuals) - 1,
        residuals=residuals,
        histories=histories,
        converged=not failures,
        rtol=limit.rtol,
        atol=limit.atol,
        products=sum(column.products for column in columns),
        seconds=time.perf_counter() - began,
        conditions=tuple(column.condition for column in columns),
    )
    solution = np.ascontiguousarray(stack([column.x for column in columns]).reshape(system.shape))
    # the column with the largest residual, and advice for it
    if failures:
        worst = max(failures, key=lambda column: column.history[-1])
        several = f" for {len(failures)} of {len(columns)} right-hand sides" if len(columns) > 1 else ""
        reason = (
            f"{worst.failure}{several} after {len(worst.history) - 1} iterations at relative residual "
            f"{worst.history[-1]:.1e}, not {limit.rtol:.1e}"
        )
        raise ConvergenceError(info, solution, reason, _advice(method, worst, system, limit))
    return solution, info


def _advice(method: str, worst: Column, system: LinearSystem, limit: Limits) -> str:
    if worst.failure == "reached its limit":
        larger = "maxiter= and restart=" if "restart" in method else "maxiter="
        return f"raise {larger}, give a preconditioner=, or factorise a matrix that fits in memory with lu(A)"
    if worst.history[-1] < 1e3 * system.digits:
        if system.digits > 1e-10:
            return "single precision of the matrix limits the accuracy: assemble in double, or choose rtol=1e-5"
        return "rounding limits the accuracy for this matrix: choose a larger rtol"
    if "restart" in method and "singular" not in worst.failure:
        return "raise restart= (None keeps the whole history), or give a preconditioner="
    return "check for a resonance, an equation without a unique solution, or a preconditioner that is singular"
