"""How the equation of an elastic solid is solved, and how accurate its displacement then is.

Slender parts bend under small forces. Small residuals and small errors of the matrix are then large errors of the
displacement: a plate with a length of 62 times its thickness had an error of 4 % when the residual was 1e-5. With the
residual r and the preconditioner M, which approximates the inverse of the matrix A, |M r| is about the error that the
iteration leaves. The norm of the inverse, for displacements and the rows tested with them, is the amplification: times
the error of rotations (`Equation.defect`) it bounds the error that the matrix causes.

Small triangles divide errors of displacements by their edges. The same two errors are therefore measured in strains,
too: those of M r, and of what the inverse of A, or M, makes of the error of rotations.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends import return_memory
from calderon.formulations.elastic.plan import FAST
from calderon.formulations.elastic.preconditioner import two_levels
from calderon.mesh.errors import warn_of_accuracy
from calderon.operators.methods import candidates
from calderon.quadrature import Quadrature
from calderon.solvers import ConvergenceError, gmres, lu

Array = NDArray[np.float64]
EXCESS, STRAINS = 3.0, 50.0
"""An iteration ends when |M r| is at most the first times the tolerance, relative to the displacement, and its largest
strain the second times the tolerance, relative to the largest strain."""
DOUBTFUL, WANTED = 0.02, 0.005
"""Relative error of displacements above which the matrix is made again or a warning is given, and the one that it is
then made for."""
NOISY, QUIET = 0.004, 0.001
"""The same of the largest strain of the error of rotations by 1, about the relative error of the largest stress of
bodies that do not bend."""
SUSPICIOUS, TINY = 0.002, 1e-3
"""Strain that M finds, above which rules are made finer where the shortest edge over the size is below the second
number: for triangles 650 times as long as high M found a quarter of what the inverse of A makes of the errors of
rules, for triangles 4,000 times as long as high a tenth."""
FINEST = 5e-9
"""Smallest tolerance for which products are made again."""
FINE = Quadrature(regular=8, singular=11)
"""The rules with which a matrix is made again."""
POWERS = 5
"""Products with M for its norm."""
SLENDER, ROUGH = 500.0, 0.1
"""Norm of M above which a solution to the second number, a residual, gives the norm of the inverse of A itself."""


class Solved(NamedTuple):
    """Unknowns, what solved the equation as text, and about the error of the largest strain over that strain."""

    x: Array
    text: str
    noise: float


class Solver(NamedTuple):
    """What solves an equation, its amplification, and the largest strain of the error of rotations by 1. solve: from a
    right-hand side (unknowns,) to the unknowns, text, and the relative error of the largest strain that remains."""

    solve: Callable[[Array], tuple[Array, str, float]]
    strains: sp.csr_array
    displacements: int
    amplification: float
    noise: float

    @staticmethod
    def of(equation: Any, method: str, rtol: float) -> "Solver":
        """For an `Equation` or a `JointEquation`. rtol: of residuals; |M r| is at most EXCESS rtol, or a warning says
        that it is not."""
        strains, count = equation.strains, equation.displacements
        if method == "dense":
            factors = lu(equation.stored)
            noise, size = _largest(strains @ factors.solve(equation.rest)), _amplification(factors.solve, equation)[0]
            return Solver(lambda b: (factors.solve(b), str(factors), 0.0), strains, count, size, noise)
        inverse = two_levels(equation)
        noise = max(_largest(strains @ (inverse @ each)) for each in equation.rest.T)
        iteration = _Iteration(equation, inverse, strains, rtol)
        return Solver(iteration.solve, strains, count, _inverse_norm(equation, inverse), noise)

    def solved(self, b: Array) -> Solved:
        """The solution of a right-hand side (unknowns,)."""
        x, text, left = self.solve(b)
        strain, turned = (
            _largest(self.strains @ x),
            2 * _largest(x[: self.displacements]),
        )  # the rotation that moves so far
        return Solved(x, text, left + turned * self.noise / strain if strain > 0 else 0.0)


def _largest(values: Array) -> float:
    return float(np.abs(values).max(initial=0.0))


class _Iteration(NamedTuple):
    """GMRES until residual, displacement and strains are accurate; inverse: M."""

    equation: Any
    inverse: LinearOperator
    strains: sp.csr_array
    rtol: float

    def solve(self, b: Array) -> tuple[Array, str, float]:
        factors, size = [1.0], float(np.linalg.norm(b))

        def accept(x: Array, residual: Array) -> float:
            displacement, strain = self._errors(x, residual, size)
            factors.append(self.rtol / max(displacement / EXCESS, strain / STRAINS, 1e-300))
            return factors[-1]

        operator = self.equation.operator
        x, info = gmres(operator, b, rtol=self.rtol, preconditioner=self.inverse, accept=accept)
        error, strain = self._errors(x, b - operator @ x, size)
        if factors[-1] < 1 and error > DOUBTFUL:
            warn_of_accuracy(
                f"the displacement of slender parts has an error of about {100 * error:.2g} %, although the relative "
                f"residual is {info.residual:.1e}, which rounding does not let fall further. Try method='dense'",
            )
        return x, str(info), strain

    def _errors(self, x: Array, residual: Array, right: float) -> tuple[float, float]:
        """|M r| over the displacement, and the error of the largest strain; right: |b|. M, which knows little of very
        slender triangles, found a 4th to a 240th of that error: |r| over |b| and the shortest edge is a bound, too."""
        count, error = self.equation.displacements, np.asarray(self.inverse @ residual)
        size, strain = float(np.linalg.norm(x[:count])), _largest(self.strains @ x)
        left = float(np.linalg.norm(residual)) / right / self.equation.shortest if right > 0 else 0.0
        return (
            float(np.linalg.norm(error[:count])) / size if size > 0 else 0.0,
            max(left, _largest(self.strains @ error) / strain) if strain > 0 else 0.0,
        )


def _amplification(inverse: Callable[[Array], Array], equation: Any) -> tuple[float, Array]:
    """The norm of an (approximate) inverse for displacements, by its powers, and a residual of norm 1 that has such a
    displacement."""
    count, size = equation.displacements, 1.0
    x = last = np.zeros(equation.unknowns)
    x[:count] = np.random.default_rng(0).standard_normal(count)
    for _ in range(POWERS if count else 0):
        last = x / np.linalg.norm(x)
        x = np.array(inverse(last))
        x[count:] = 0
        size = float(np.linalg.norm(x))
    return size, last


def _inverse_norm(equation: Any, inverse: LinearOperator) -> float:
    """The amplification. M has a third to a twelfth of that of slender bodies: a rough solution has the rest."""
    size, residual = _amplification(inverse.matvec, equation)
    if size <= SLENDER:
        return size
    try:
        x, _ = gmres(equation.operator, residual, rtol=ROUGH, preconditioner=inverse)
    except ConvergenceError as error:
        x = error.solution
    return max(size, float(np.linalg.norm(x[: equation.displacements])))


class Posed(NamedTuple):
    """An equation, its right-hand sides (unknowns, k), what solves it, the tolerance of its products, whether its
    entries have the rules `FINE`, and what needed more than the first attempt."""

    equation: Any
    right: Array
    solver: Solver
    rtol: float
    fine: bool
    cause: str = ""

    @staticmethod
    def of(pose: Callable[[float, bool], tuple[Any, Array]], method: str, rtol: float, rules: bool) -> "Posed":
        """An equation whose error is at most DOUBTFUL, and that of strains at most NOISY, or a warning.

        pose: makes an equation and its right-hand sides, for a tolerance of products, and with the rules FINE or those
        of the solid. rtol: the tolerance to begin with, and that of residuals. rules: whether FINE may be chosen. The
        tolerance is made smaller first, then the rules are made finer; where that fails, the last equation is made
        again.
        """

        def attempt(tolerance: float, fine: bool, cause: str = "") -> Posed:
            return_memory()
            equation, right = pose(tolerance, fine)
            return Posed(equation, right, Solver.of(equation, method, rtol), tolerance, fine, cause)

        found = attempt(rtol, False)
        while (cause := found.suspicion(method)) and (finer := found.finer(method, rtol, rules)):
            last, cause = (found.rtol, found.fine, found.cause), found.cause or cause
            del found  # there is no room for two
            try:
                found = attempt(*finer, cause)
            except (MemoryError, RuntimeError):  # the latter where products do not hold the tolerance
                found = attempt(*last)
                break
        if found.doubt:
            found.warn(method)
        return found

    @property
    def doubt(self) -> str:
        """What makes errors of the matrix too large, "" for nothing."""
        return "slender parts" if self.error > DOUBTFUL else "small triangles" if self.solver.noise > NOISY else ""

    def suspicion(self, method: str) -> str:
        """The cause of `doubt`, or what may make errors too large where M stands for the inverse."""
        seen = method != "dense" and self.equation.shortest < TINY and self.solver.noise > SUSPICIOUS
        return self.doubt or ("small triangles" if seen else "")

    @property
    def error(self) -> float:
        """A bound of the relative error of displacements that the matrix causes."""
        return float(self.solver.amplification * self.equation.defect)

    def finer(self, method: str, rtol: float, rules: bool) -> tuple[float, bool] | None:
        """Tolerance and rules of the next attempt; None where there is no other one."""
        excess = max(self.error / WANTED, self.solver.noise / QUIET)
        tolerance = max(self.rtol / excess, FINEST)
        if self.doubt and is_approximate(method) and tolerance < self.rtol == rtol:
            return tolerance, self.fine
        return (self.rtol, True) if rules and not self.fine else None

    def warn(self, method: str) -> None:
        """That the matrix is not accurate enough."""
        advice = "a finer mesh, or finer rules, quadrature=cal.Quadrature(regular=12, singular=12)"
        if is_approximate(method):
            advice = f"rtol={self.rtol / 10:.0e}, method='dense' for few unknowns, {advice}"
        if self.doubt == "small triangles":
            warn_of_accuracy(
                f"stresses on small triangles have errors of about {100 * self.solver.noise:.2g} % of the largest one: "
                f"errors of the matrix, {self.equation.defect:.1e} (rotations), are divided by their edges. Try "
                f"{advice}, or less slender triangles"
            )
            return
        warn_of_accuracy(
            f"slender parts bend easily: the matrix has an error of {self.equation.defect:.1e} (rotations), and "
            f"bending amplifies it up to {self.solver.amplification:,.0f} times, to {100 * self.error:.2g} % of the "
            f"displacement. Stresses are much more accurate. Try {advice}",
        )

    def text(self, plan: Any, rtol: float) -> str:
        """The plan, and what slender parts or small triangles need in addition."""
        more = [f"products for rtol={self.rtol:.1e}"] if self.rtol < rtol else []
        more += ["finer rules of quadrature"] if self.fine else []
        return f"{plan}; {self.cause} need {' and '.join(more)}" if more else str(plan)


def is_approximate(method: str) -> bool:
    """Whether products of a method have a tolerance."""
    return method == FAST or candidates(method)[0].compresses
