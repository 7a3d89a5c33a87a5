"""The record of a solution: what was solved, how, and how well."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calderon.view import Described


@dataclass(frozen=True, eq=False)
class SolutionInfo(Described):
    """The record of one right-hand side.

    equation: what was solved. method: the solver with its options. matrix: the assembled matrix as text. unknowns:
    their number. iterations: steps of the iteration, 0 for LU. residuals: (iterations + 1,) relative residuals
    |b - A x| / |b| of GMRES, empty for LU. residual: the final one, computed from the solution. converged: whether it
    is below the requested rtol. One that is not raises ConvergenceError, except where `info` is requested, and for LU
    of a matrix that stays on a device without double precision, which gives a warning.
    right_hand_sides: how many were solved together. assembly_seconds: 0 where a matrix was available already.
    factorisation_seconds: of LU, 0 where factors were available. solve_seconds: of all right-hand sides together.
    condition: of GMRES an estimate, from below, of the condition number of the preconditioned matrix; of LU that of
    the matrix in the problems whose equation may be singular; else None.
    """

    equation: str
    method: str
    matrix: str
    unknowns: int
    iterations: int
    residuals: NDArray[np.float64]
    residual: float
    converged: bool
    right_hand_sides: int
    assembly_seconds: float
    factorisation_seconds: float
    solve_seconds: float
    condition: float | None = None

    @property
    def brief(self) -> str:
        """Size, iterations and residual."""
        steps = f", {self.iterations} iterations" if len(self.residuals) else ""
        return f"{self.unknowns} unknowns{steps}, relative residual {self.residual:.1e}"

    @property
    def seconds(self) -> float:
        """Assembly, factorisation and solution together."""
        return self.assembly_seconds + self.factorisation_seconds + self.solve_seconds

    def __str__(self) -> str:
        verdict = "converged" if self.converged else "did not converge"
        steps = f"{self.iterations} iteration{'' if self.iterations == 1 else 's'}, " if len(self.residuals) else ""
        together = f" for {self.right_hand_sides} right-hand sides" if self.right_hand_sides > 1 else ""
        assembly = f"{self.assembly_seconds:.3g} s" if self.assembly_seconds else "matrix reused"
        factors = f", factorisation {self.factorisation_seconds:.3g} s" if self.factorisation_seconds else ""
        return (
            f"{self.equation}\n"
            f"  {self.matrix}\n"
            f"  {self.method} {verdict}: {steps}relative residual {self.residual:.1e}\n"
            f"  assembly {assembly}{factors}, solution {self.solve_seconds:.3g} s{together}"
        )
