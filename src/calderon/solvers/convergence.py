"""What an iteration reports: its history when it converges, the same with advice when it does not."""

from dataclasses import dataclass

import numpy as np


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
