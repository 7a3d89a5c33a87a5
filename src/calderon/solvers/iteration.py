"""What every iteration shares: checked options, and the verdict at its end."""

import math
import numbers
import operator
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calderon.solvers.convergence import ConvergenceError, SolverInfo, worst_residuals
from calderon.solvers.system import LinearSystem

Callback = Callable[[int, float], Any]

COLUMNS_AT_ONCE = 16  # right-hand sides whose products with A are formed together; bounds the memory for the bases


@dataclass(frozen=True)
class Limits:
    """Tolerances and limits of an iteration: |b - A x| <= max(rtol |b|, atol) within maxiter steps."""

    rtol: float
    atol: float
    maxiter: int


@dataclass(eq=False)
class Outcome:
    """One right-hand side while it is iterated on: the iterate, the relative residuals, and why it failed, if so."""

    x: np.ndarray
    history: list[float]
    products: int = 0
    failure: str = ""


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
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 < float(value) < 1:
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


def batches(number: int) -> list[range]:
    """The columns 0 .. number - 1 in batches that are iterated together."""
    return [range(first, min(first + COLUMNS_AT_ONCE, number)) for first in range(0, number, COLUMNS_AT_ONCE)]


def verdict(
    method: str, system: LinearSystem, limit: Limits, outcomes: Sequence[Outcome], began: float
) -> tuple[np.ndarray, SolverInfo]:
    """Solution and record; raises `ConvergenceError` when some right-hand side failed."""
    histories = tuple(np.array(outcome.history) for outcome in outcomes)
    residuals = worst_residuals(histories)
    failures = [outcome for outcome in outcomes if outcome.failure]
    info = SolverInfo(
        method=method,
        iterations=len(residuals) - 1,
        residuals=residuals,
        histories=histories,
        converged=not failures,
        rtol=limit.rtol,
        atol=limit.atol,
        products=sum(outcome.products for outcome in outcomes),
        seconds=time.perf_counter() - began,
    )
    solution = system.solution(np.stack([outcome.x for outcome in outcomes], axis=1))
    if failures:
        worst = max(failures, key=lambda outcome: outcome.history[-1])
        several = f" for {len(failures)} of {len(outcomes)} right-hand sides" if len(outcomes) > 1 else ""
        reason = (
            f"{worst.failure}{several} after {len(worst.history) - 1} iterations at relative residual "
            f"{worst.history[-1]:.1e}, not {limit.rtol:.1e}"
        )
        raise ConvergenceError(info, solution, reason, _advice(method, worst, system, limit))
    return solution, info


def _advice(method: str, worst: Outcome, system: LinearSystem, limit: Limits) -> str:
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
