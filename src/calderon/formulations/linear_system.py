"""The discrete equation of a problem: its matrix and factors, kept between solutions, and how it was solved."""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends import DeviceMatrix, require_memory
from calderon.formulations.electromagnetic.loops_and_charges import LoopScales
from calderon.formulations.options import SolveOptions
from calderon.mesh.errors import AccuracyWarning
from calderon.operators import BoundaryOperator
from calderon.operators.methods import Plan, require
from calderon.solvers import (
    CompressedSides,
    ConvergenceError,
    Factorisation,
    SolverInfo,
    block_gmres,
    gmres,
    lu,
    refined,
    wide_product,
)
from calderon.solvers.system import applied
from calderon.spaces import Space, VectorSpace
from calderon.validation import callers_level
from calderon.view import Described

HLU_RTOL = 1e-2
"""Tolerance of the hierarchical factors that precondition a compressed matrix."""
ROUNDING = 1e4
"""Rounding units of the matrix up to which the residual of a direct solution is no error, whatever tolerance is
requested: no more can be had in its precision."""
WARN_ABOVE = 10.0
"""Tolerances above which the residual of a solution that is returned is warned of."""


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


@dataclass(frozen=True, eq=False)
class ThinTerm:
    """B C^T with thin B, C (n, m), which is added to a matrix that has a null space, or nearly one. name: what it is
    m of."""

    name: str
    left: NDArray[Any]
    right: NDArray[Any]

    def __matmul__(self, x: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self.left @ (self.right.T @ x))


class LiftedMatrix(LinearOperator):
    """A + B C^T: lifts the null space of A without storing anything new."""

    def __init__(self, matrix: Any, thin: ThinTerm) -> None:
        super().__init__(dtype=matrix.dtype, shape=matrix.shape)
        kinds = [np.empty(0, matrix.dtype) if np.iscomplexobj(each) else np.empty(0, matrix.dtype).real
                 for each in (thin.left, thin.right)]  # fmt: skip
        self.matrix = matrix
        self.thin = ThinTerm(thin.name, thin.left.astype(kinds[0].dtype), thin.right.astype(kinds[1].dtype))

    def _matvec(self, x: NDArray[Any]) -> NDArray[Any]:
        return self.matrix @ x + self.thin @ x

    _matmat = _matvec

    def to_array(self) -> NDArray[Any]:
        """The entries, a new array."""
        return self.matrix.to_array() + self.thin.left @ self.thin.right.T

    toarray = to_array

    def __str__(self) -> str:
        return f"{self.matrix}, with {self.thin.name} added"


@dataclass(eq=False)
class LinearSystem:
    """A x = b for one operator; the last matrix assembled, and its factors, stay until other ones are requested.

    equation: as text. operator: the lazy operator. spaces: of the unknowns, one for each block. thin: what gives a term
    that is added to the matrix, or None. scales: of loops and charges, where they are of different order.
    """

    equation: str
    operator: BoundaryOperator
    spaces: tuple[Space | VectorSpace, ...]
    thin: Callable[[], ThinTerm] | None = None
    scales: LoopScales | None = None
    key: tuple[Any, ...] | None = field(default=None, init=False)
    matrix: Any = field(default=None, init=False)
    factors: Factorisation | None = field(default=None, init=False)
    reason: str = field(default="", init=False)

    @property
    def unknowns(self) -> int:
        return sum(space.dimension for space in self.spaces)

    def sides(self, tested: NDArray[Any], options: SolveOptions) -> NDArray[Any]:
        """Right-hand sides of `solve_together` (n, m), from integrals against the test functions."""
        scales = self.scales_for(options)
        return tested if scales is None else scales.weighted(scales.tested(tested))

    def coefficients(self, unknowns: NDArray[Any], options: SolveOptions) -> NDArray[Any]:
        """Coefficients (n, m) of solutions of `solve_together`."""
        scales = self.scales_for(options)
        return unknowns if scales is None else scales.found(unknowns)

    def scales_for(self, options: SolveOptions) -> LoopScales | None:
        """Those of loops and charges in a solution with these options."""
        return self.scales

    def solve(self, rhs: NDArray[Any], options: SolveOptions) -> tuple[NDArray[Any], list[SolutionInfo]]:
        """Solutions (n, m) for right-hand sides (n, m), and the record of each."""
        solve = self._direct if options.solver == "lu" else partial(self._iterative, gmres)
        if (scales := self.scales_for(options)) is None:
            return self._recorded(solve, rhs, options)
        sides = scales.tested(rhs)
        found, infos = self._recorded(solve, sides if options.solver == "lu" else scales.weighted(sides), options)
        return scales.found(found), infos

    def solve_together(
        self,
        sides: CompressedSides,
        options: SolveOptions,
        start: NDArray[Any] | None = None,
        recorded: Callable[[Any], Any] = lambda matrix: matrix,
    ) -> tuple[NDArray[Any], list[SolutionInfo]]:
        """X (n, r) whose combinations are the solutions of all right-hand sides, by `block_gmres`, and their records.
        sides: those of `sides`; `coefficients` makes unknowns of X. start: an approximation of X. recorded: the matrix
        with other products."""

        def iteration(matrix: Any, rhs: CompressedSides, **given: Any) -> tuple[NDArray[Any], SolverInfo]:
            return block_gmres(recorded(matrix), rhs, x0=start, **given)

        return self._recorded(partial(self._iterative, iteration), sides, options)

    def _recorded(self, solve: Callable[..., Any], rhs: Any, options: SolveOptions) -> tuple[NDArray[Any], list[Any]]:
        assembly = self.assemble(options)
        solution, infos = solve(rhs, options)
        worst = max(info.residual for info in infos)
        if not worst <= WARN_ABOVE * options.rtol:
            warnings.warn(
                f"{sum(not info.converged for info in infos)} of {len(infos)} solutions did not converge: the largest "
                f"relative residual is {worst:.1e}, and {options.rtol:.1e} was requested",
                AccuracyWarning,
                stacklevel=callers_level(),
            )
        return solution, [replace(info, assembly_seconds=assembly) for info in infos]

    def _infos(
        self, method: str, columns: list[tuple[NDArray[np.float64], float, bool]], factorisation: float, seconds: float
    ) -> list[SolutionInfo]:
        """The record of each right-hand side, from its history, its residual and whether it converged."""
        matrix = f"{self.matrix}, {self.reason}" if self.reason else str(self.matrix)
        return [
            SolutionInfo(
                self.equation, method, matrix, self.unknowns, max(0, len(history) - 1), history, residual,
                converged, len(columns), 0.0, factorisation, seconds,
            )
            for history, residual, converged in columns
        ]  # fmt: skip

    def plan(self, options: SolveOptions) -> Plan:
        """What the matrix of these options will take, with the factors of its near entries; ValueError where it loses
        the loops."""
        if (scales := self.scales_for(options)) is not None:
            scales.check(options.chosen, options.assembly_rtol)
        plan = self.operator.plan(options.method, options.assembly_rtol, options.precision)
        return plan._replace(nbytes=plan.nbytes + getattr(options.preconditioner, "nbytes", 0))

    def assemble(self, options: SolveOptions) -> float:
        """Make the matrix of these options available; the seconds that took, 0 where it was."""
        self.reason = options.reason
        if self.key == options.matrix_key:
            self._save(options)
            return 0.0
        if (scales := self.scales_for(options)) is not None:
            scales.check(options.chosen, options.assembly_rtol)
        began = time.perf_counter()
        self.key, self.matrix, self.factors = None, None, None
        matrix = self.operator.assemble(
            options.method,
            **options.execution,
            progress=options.progress,
            keep_on_device=options.keep_on_device,
            matrix_file=options.matrix_file,
        )
        self.matrix = matrix if self.thin is None else LiftedMatrix(matrix, self.thin())
        self.key = options.matrix_key
        return time.perf_counter() - began

    def _save(self, options: SolveOptions) -> None:
        """Save the available matrix to the file of the options, if they name one."""
        if options.matrix_file is None:
            return
        require(options.method, "matrix_file")
        options.chosen.saves(self.operator, self.assembled, options.matrix_file, **options.execution)  # type: ignore[misc]

    def _iterative(
        self, iteration: Callable[..., Any], rhs: NDArray[Any] | CompressedSides, options: SolveOptions
    ) -> tuple[NDArray[Any], list[SolutionInfo]]:
        given, factorisation = options.preconditioner, 0.0
        preconditioner = mass_preconditioner(self.spaces) if isinstance(given, str) else given
        if options.preconditioned_by("hlu"):
            if self.factors is None:
                self.factors = options.chosen.factorise(self.matrix, HLU_RTOL)  # type: ignore[misc]
                factorisation = self.factors.seconds
            preconditioner = self.factors.as_preconditioner()  # type: ignore[union-attr]
        matrix = self.matrix
        if (scales := self.scales_for(options)) is not None:
            matrix = scales.matrix(matrix)
            if preconditioner is not None:
                inverse = applied(preconditioner, np.dtype(np.complex128), "the preconditioner")
                preconditioner = scales.preconditioner(inverse, options.preconditioned_by("mass"))
        try:
            solution, info = iteration(
                matrix,
                rhs,
                rtol=options.rtol,
                maxiter=options.maxiter,
                preconditioner=preconditioner,
                progress=options.progress,
            )
        except ConvergenceError as error:
            if not options.accept:
                raise
            solution, info = error.solution, error.info
        method = info.method
        if given is not None:
            method += f": {given if isinstance(given, str) else getattr(given, 'name', type(given).__name__)}"
        columns = [
            (history, float(history[-1]), info.converged or bool(history[-1] <= options.rtol))
            for history in info.histories
        ]
        return solution, self._infos(method, columns, factorisation, info.seconds)

    def _direct(self, rhs: NDArray[Any], options: SolveOptions) -> tuple[NDArray[Any], list[SolutionInfo]]:
        factorisation = 0.0
        if self.factors is None:
            if not options.keep_on_device:  # the device requests its own memory
                size = self.unknowns**2 * np.dtype(self.matrix.dtype).itemsize
                require_memory(
                    size, "an LU factorisation in addition to the matrix", "try solver='gmres' or precision='single'"
                )
            self.factors = lu(self.matrix)
            factorisation = self.factors.seconds
        began = time.perf_counter()
        solution, residuals = self._substituted(rhs, options)
        seconds = time.perf_counter() - began
        goal = max(options.rtol, 0.0 if self._refines else ROUNDING * float(np.finfo(self.matrix.dtype).eps))
        if not (options.accept or (residuals <= goal).all()):  # NaN is an error too
            worst, histories = residuals.max(keepdims=True), tuple(residuals[:, None])
            info = SolverInfo("LU", 0, worst, histories, False, options.rtol, 0.0, 0, factorisation + seconds)
            raise ConvergenceError(
                info,
                solution,
                f"has a relative residual of {worst[0]:.1e}, not {options.rtol:.1e}",
                "rounding limits the accuracy of this matrix: assemble in double precision, choose a larger rtol, or "
                "check for a resonance",
            )
        columns = [(np.zeros(0), float(r), bool(r <= options.rtol)) for r in residuals]
        return solution, self._infos("LU", columns, factorisation, seconds)

    @property
    def assembled(self) -> Any:
        """The matrix without the term that is added to it."""
        return self.matrix.matrix if isinstance(self.matrix, LiftedMatrix) else self.matrix

    @property
    def _refines(self) -> bool:
        """Whether direct solutions are refined: those of a matrix in single precision, unless it stays on a device
        that has no double precision."""
        matrix = self.assembled
        resolves = not isinstance(matrix, DeviceMatrix) or matrix.device.has_double
        return np.finfo(matrix.dtype).bits == 32 and resolves

    @property
    def _wide_product(self) -> Callable[[NDArray[Any]], NDArray[Any]]:
        """x -> A x, summed in double precision, as all products on a device with double precision are."""
        matrix, thin = self.assembled, getattr(self.matrix, "thin", None)
        if isinstance(matrix, DeviceMatrix):
            return self.matrix.matmat  # type: ignore[no-any-return]
        return partial(wide_product, matrix.to_array(), thin)

    def _substituted(self, rhs: NDArray[Any], options: SolveOptions) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Solutions (n, m) by the factors and their relative residuals (m,)."""
        assert self.factors is not None
        if self._refines:
            return refined(self.factors, self._wide_product, rhs, options.rtol)
        solution = self.factors.solve(rhs)
        residuals = self.matrix @ solution - rhs
        if (scales := self.scales_for(options)) is not None:
            residuals, rhs = scales.weighted(residuals), scales.weighted(rhs)
        errors = np.linalg.norm(residuals, axis=0)
        return solution, errors / np.maximum(np.linalg.norm(rhs, axis=0), np.finfo(float).tiny)


def mass_preconditioner(spaces: tuple[Space | VectorSpace, ...]) -> LinearOperator:
    """M^-1 block by block, so that iterations for equations of the second kind do not depend on mesh and grading."""
    cuts = np.cumsum([space.dimension for space in spaces])

    def solve(vectors: NDArray[Any]) -> NDArray[Any]:
        parts = np.split(vectors, cuts[:-1])
        return np.concatenate([space.solve_mass(part) for space, part in zip(spaces, parts, strict=True)])

    size = int(cuts[-1])
    return LinearOperator((size, size), matvec=lambda x: solve(np.ravel(x)), matmat=solve, dtype=np.dtype(np.float64))
