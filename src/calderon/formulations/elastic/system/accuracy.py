"""The accuracy of displacements of elastic bodies: when an iteration ends, and when the matrix is made again.

Slender parts bend under small forces. Small residuals and small errors of the matrix are then large errors of the
displacement: a plate with a length of 62 times its thickness had an error of 4 % when the residual was 1e-5. With the
residual r and the preconditioner M, which approximates the inverse of the matrix A, |M r| is about the error that the
iteration leaves. The norm of the inverse, for displacements and the rows tested with them, is the amplification: times
the error of rotations (`Equation.defect`) it bounds the error that the matrix causes.

Small triangles divide errors of displacements by their edges. The same two errors are therefore measured in strains,
too: those of M r, and of what the inverse of A, or M, makes of the error of rotations.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.linear_system import LinearSystem, SolveOptions
from calderon.mesh.errors import warn_of_accuracy
from calderon.quadrature import Quadrature
from calderon.solvers import ConvergenceError, gmres

Array = NDArray[np.float64]


class Limits(NamedTuple):
    """Limits of errors of displacements and of the largest strain, all relative (docs/decisions/51-slender-solids.md).

    excess, strains: an iteration ends when |M r| is at most the first times the tolerance, relative to the
    displacement, and its largest strain the second times the tolerance, relative to the largest strain.
    doubtful, wanted: the error of displacements above which the matrix is made again or a warning is given, and the one
    that it is then made for.
    noisy, quiet: the same for the largest strain of the error of rotations by 1, about the error of the largest stress
    of bodies that do not bend.
    suspicious, tiny: the strain that M finds, above which rules are made finer where the shortest edge over the size is
    below the second number: for triangles 650 times as long as high M found a quarter of what the inverse of A makes of
    the errors of rules, for triangles 4,000 times as long as high a tenth.
    finest: the smallest tolerance for which products are made again, over the ratio of those of the first products and
    of the solver. rules: those with which a matrix is made again.
    expected, predicted: noise that the tolerance of fast products leaves, times the shortest edge over the size and
    over that tolerance, and the smallest tolerance that is taken on this ground before anything is measured. Bodies
    that do not bend, of 4,362 to 98,472 unknowns: .08 (a bracket) to .25 (a cube); a bar with thin layers .03.
    powers: products with the inverse for its norm. slender, rough: the norm of M above which a solution to the second
    number, a residual, gives the norm of the inverse of A itself.
    """

    excess: float = 3.0
    strains: float = 50.0
    doubtful: float = 0.02
    wanted: float = 0.005
    noisy: float = 0.004
    quiet: float = 0.001
    suspicious: float = 0.002
    tiny: float = 1e-3
    finest: float = 5e-9
    rules: Quadrature = Quadrature(regular=8, singular=11)
    expected: float = 0.15
    predicted: float = 1e-5
    powers: int = 5
    slender: float = 500.0
    rough: float = 0.1


LIMITS = Limits()


def largest(values: Array) -> float:
    """The largest absolute value; 0 of none."""
    return float(np.abs(values).max(initial=0.0))


@dataclass(frozen=True, eq=False)
class Criterion:
    """A criterion of an iteration for one right-hand side beyond its residual: displacement and strains.

    equation: the assembled `Equation`. inverse: M. rtol: the tolerance of the iteration. right (unknowns,): b.
    """

    equation: Any
    inverse: Any
    rtol: float
    right: Array

    def __call__(self, x: Array, residual: Array) -> float:
        """The factor, below 1 where the residual (unknowns,) of x (unknowns,) has to be smaller by it."""
        displacement, strain = self.errors(x, residual)
        return self.rtol / max(displacement / LIMITS.excess, strain / LIMITS.strains, 1e-300)

    def errors(self, x: Array, residual: Array) -> tuple[float, float]:
        """|M r| over the displacement, and the error of the largest strain. M, which knows little of very slender
        triangles, found a 4th to a 240th of the latter: |r| over |b| and the shortest edge is a bound, too."""
        count, error = self.equation.displacements, np.asarray(self.inverse @ residual)
        size, strain = float(np.linalg.norm(x[:count])), largest(self.equation.strains @ x)
        right = float(np.linalg.norm(self.right))
        left = float(np.linalg.norm(residual)) / right / self.equation.shortest if right > 0 else 0.0
        return (
            float(np.linalg.norm(error[:count])) / size if size > 0 else 0.0,
            max(left, largest(self.equation.strains @ error) / strain) if strain > 0 else 0.0,
        )

    def strain_error(self, x: Array, residual: Array) -> float:
        """The error of the largest strain of a solution x (unknowns,), relative; AccuracyWarning where rounding kept
        its residual (unknowns,) above what displacements need."""
        displacement, strain = self.errors(x, residual)
        if displacement > LIMITS.doubtful and self(x, residual) < 1:
            relative = float(np.linalg.norm(residual) / np.linalg.norm(self.right))
            warn_of_accuracy(
                f"the displacement of slender parts has an error of about {100 * displacement:.2g} %, although the "
                f"relative residual is {relative:.1e}, which rounding does not let fall further. Try method='dense'",
            )
        return strain


class Amplified(NamedTuple):
    """The errors of a solution that bending and small triangles make of those of its matrix.

    defect: the error of rotations in the matrix. shortest: the shortest edge over the size. amplification: the norm of
    the inverse for displacements. noise: the largest strain of the error of rotations by 1. measured: whether noise
    comes from the inverse itself, not from an approximation.
    """

    defect: float
    shortest: float
    amplification: float
    noise: float
    measured: bool

    @staticmethod
    def of(equation: Any, inverse: Any, exact: bool) -> "Amplified":
        """The errors of an `Equation`. inverse: M, or the factors of A, with products with vectors (unknowns,). exact:
        whether it is the inverse of the matrix itself."""
        noise = max(largest(equation.strains @ (inverse @ each)) for each in equation.rest.T)
        size, residual = inverse_norm(equation, inverse)
        if not exact and size > LIMITS.slender:  # M has a third to a twelfth of it: a rough solution has the rest
            try:
                x, _ = gmres(equation, residual, rtol=LIMITS.rough, preconditioner=inverse)
            except ConvergenceError as error:
                x = error.solution
            size = max(size, float(np.linalg.norm(x[: equation.displacements])))
        return Amplified(equation.defect, equation.shortest, size, noise, exact)

    @property
    def error(self) -> float:
        """A bound of the relative error of displacements that the matrix causes."""
        return self.amplification * self.defect

    @property
    def doubt(self) -> str:
        """The cause of errors that are too large, "" for none."""
        return (
            "slender parts" if self.error > LIMITS.doubtful else "small triangles" if self.noise > LIMITS.noisy else ""
        )

    @property
    def suspicion(self) -> str:
        """The cause of `doubt`, or what may make errors too large where M stands for the inverse."""
        seen = not self.measured and self.shortest < LIMITS.tiny and self.noise > LIMITS.suspicious
        return self.doubt or ("small triangles" if seen else "")

    @property
    def excess(self) -> float:
        """The factor by which the errors of the matrix should be smaller."""
        return max(self.error / LIMITS.wanted, self.noise / LIMITS.quiet)

    def strain_noise(self, equation: Any, x: Array, left: float) -> float:
        """About the error of the largest strain of a solution x (unknowns,) over that strain; left: by the solver."""
        strain = largest(equation.strains @ x)
        turned = 2 * largest(x[: equation.displacements])  # the rotation that moves so far
        return left + turned * self.noise / strain if strain > 0 else 0.0

    def warn(self, compressed: float | None) -> None:
        """An AccuracyWarning where the matrix is not accurate enough. compressed: the tolerance of products, if any."""
        if not self.doubt:
            return
        advice = "a finer mesh, or finer rules, quadrature=cal.Quadrature(regular=12, singular=12)"
        if compressed is not None:
            advice = f"compression_rtol={compressed / 10:.0e}, method='dense' for few unknowns, {advice}"
        if self.doubt == "small triangles":
            warn_of_accuracy(
                f"stresses on small triangles have errors of about {100 * self.noise:.2g} % of the largest one: errors "
                f"of the matrix, {self.defect:.1e} (rotations), are divided by their edges. Try {advice}, or less "
                "slender triangles"
            )
            return
        warn_of_accuracy(
            f"slender parts bend easily: the matrix has an error of {self.defect:.1e} (rotations), and bending "
            f"amplifies it up to {self.amplification:,.0f} times, to {100 * self.error:.2g} % of the displacement. "
            f"Stresses are much more accurate. Try {advice}",
        )


class FinerMatrices:
    """A maker of more accurate matrices for a `LinearSystem`, until bending does not amplify their errors too much.

    rules: whether finer rules of quadrature may be taken. first, last: the tolerance of products of the first and of
    the last matrix, None without any. fine: whether the last one has finer rules. found: the errors of the last matrix;
    None before there is one. cause: what needed more than the first one.
    """

    def __init__(self, rules: bool) -> None:
        self.rules, self.fine, self.cause = rules, False, ""
        self.first: float | None = None
        self.last: float | None = None
        self.found: Amplified | None = None

    def __call__(self, system: LinearSystem, options: SolveOptions) -> tuple[Any, SolveOptions] | None:
        """The lazy equation and options of the next matrix; None where the available one will do, or where there is no
        other one. The tolerance of products is made smaller first, once, then the rules are made finer."""
        self.last = options.assembly_rtol
        if self.found is None:
            self.first = self.last
        self.fine = system.operator.rules is not None
        self.found = Amplified.of(system.matrix, system.inverse, system.factors is not None)
        if not (suspicion := self.found.suspicion):
            return None
        self.cause = self.cause or suspicion
        if self.found.doubt and self.last is not None and self.last == self.first:
            least = LIMITS.finest * self.last / options.rtol
            tolerance = max(one_two_five(max(self.last / self.found.excess, least)), least)
            if tolerance < self.last:
                return system.operator, replace(options, compression_rtol=tolerance)
        if self.rules and not self.fine:
            return system.operator.with_rules(LIMITS.rules), options
        return None

    @property
    def errors(self) -> Amplified:
        """The errors of the last matrix."""
        if self.found is None:
            raise ValueError("no matrix was made")
        return self.found

    @property
    def needs(self) -> str:
        """The end of a sentence, what slender parts or small triangles needed beyond the first matrix; or ""."""
        more = [f"products for rtol={self.last:.1e}"] if self.last != self.first else []
        more += ["finer rules of quadrature"] if self.fine else []
        return f"; {self.cause} need {' and '.join(more)}" if more else ""

    def warn(self) -> None:
        """An AccuracyWarning where the last matrix is not accurate enough."""
        self.errors.warn(self.last)

    def noise(self, system: LinearSystem, x: Array, b: Array, rtol: float) -> float:
        """About the error of the largest strain of a solution x (unknowns,) for b (unknowns,), over that strain. rtol:
        the tolerance of an iteration."""
        equation: Any = system.matrix
        left = 0.0
        if system.preconditioner is not None:
            left = Criterion(equation, system.preconditioner, rtol, b).strain_error(x, b - equation @ x)
        return self.errors.strain_noise(equation, x, left)


def tolerance_of_products(rtol: float, shortest: float) -> float:
    """The tolerance of fast products in the first matrix for `rtol` of the solver, twenty times as large: the errors of
    smooth functions are far below those of random ones, which set the order; above 1e-3 they are not. shortest: the
    shortest edge over the size. Where strains on small triangles would be noisy, and the matrix be made again, it is
    the tolerance by which half of LIMITS.noisy is expected, unless that is below LIMITS.predicted: those of very small
    triangles are measured first."""
    usual = min(20 * rtol, 1e-3)
    noise = LIMITS.expected * usual / shortest
    finer = one_two_five(usual * LIMITS.noisy / 2 / noise)
    return finer if noise > LIMITS.noisy and LIMITS.predicted <= finer < usual else usual


def one_two_five(size: float) -> float:
    """The nearest of 1, 2 and 5 times the powers of ten, at most 1.6 times as large: tolerances that follow from
    estimates then stay with small changes of these, by which the next order of products may cost three times as much.
    """
    exponent = math.floor(math.log10(size))
    near = [float(f"{step}e{exponent}") for step in (1, 2, 5, 10)]
    return min(near, key=lambda each: abs(math.log(each / size)))


def inverse_norm(equation: Any, inverse: Any) -> tuple[float, Array]:
    """The norm of an (approximate) inverse for displacements, by its powers, and a residual (unknowns,) of norm 1 that
    has such a displacement. equation, inverse: as in `Amplified.of`."""
    count, size = equation.displacements, 1.0
    x = last = np.zeros(equation.unknowns)
    x[:count] = np.random.default_rng(0).standard_normal(count)
    for _ in range(LIMITS.powers if count else 0):
        last = x / np.linalg.norm(x)
        x = np.array(inverse @ last)
        x[count:] = 0
        size = float(np.linalg.norm(x))
    return size, last
