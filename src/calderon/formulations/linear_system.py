"""The discrete equation of a problem: its matrix and factors, kept between solutions."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends import DeviceMatrix, require_memory
from calderon.formulations.options import SolveOptions
from calderon.formulations.solution_info import SolutionInfo
from calderon.mesh.errors import warn_of_accuracy
from calderon.operators.methods import Method, Plan, require
from calderon.products.cost import Cost, lu_flops
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
from calderon.solvers.gmres import Accept
from calderon.spaces import Space, VectorSpace
from calderon.spaces.mirror_images import MirroredFunctions


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


class Scaling:
    """A change A x = b -> A' x' = L b with x = R x', and weights W of its residuals; here L = R = W = 1.

    Subclasses replace what differs. Vectors are columns (n, m).
    """

    def check(self, method: Method, rtol: float | None) -> None:
        """ValueError where a method of that accuracy, None of an exact one, does not hold the equation."""

    def holding(self, rtol: float) -> float:
        """The accuracy of compressed entries, at most `rtol`, that holds the equation."""
        return rtol

    def tested(self, rhs: NDArray[Any]) -> NDArray[Any]:
        """L b of right-hand sides b (n, m)."""
        return rhs

    def found(self, solution: NDArray[Any]) -> NDArray[Any]:
        """R x' of solutions x' (n, m)."""
        return solution

    def weighted(self, residuals: NDArray[Any]) -> NDArray[Any]:
        """W r of residuals r (n, m)."""
        return residuals

    def matrix(self, matrix: Any) -> Any:
        """W A' of the assembled matrix A'."""
        return matrix

    def preconditioner(self, inverse: Any, mass: bool) -> Any:
        """An approximate inverse of W A' from one of A'. mass: whether that is the inverse of the identity."""
        return inverse


HLU_RTOL = 1e-2
"""Tolerance of the hierarchical factors that precondition a compressed matrix."""


class SampledRows:
    """Up to 64 random rows of a matrix, by which residuals are estimated where factors overwrite it. rows (m,);
    entries (m, n)."""

    def __init__(self, array: NDArray[Any]) -> None:
        number = min(64, len(array))
        self.rows = np.random.default_rng(0).choice(len(array), number, replace=False)
        self.entries, self._whole = array[self.rows], len(array)

    def residuals(self, solution: NDArray[Any], rhs: NDArray[Any]) -> NDArray[Any]:
        """A x - b in the rows, times the root of n / m, so that its norm estimates that of all rows."""
        return np.asarray((self._whole / len(self.rows)) ** 0.5 * (self.entries @ solution - rhs[self.rows]))


@dataclass(eq=False)
class LinearSystem:
    """A x = b for one operator; the last matrix assembled, and its factors, stay until other ones are requested.

    equation: as text. operator: the lazy operator. spaces: of the unknowns, one for each block. thin: what gives a term
    that is added to the matrix, or None. scales: of unknowns and rows of different order, None where all are of one.
    overwrites: whether LU factors overwrite the matrix, of which some rows stay for residuals, so that one is in
    memory at a time. inverse_of: makes the preconditioner of the problem from the matrix; None where options give it.
    accept: makes, from matrix, preconditioner, tolerance and right-hand side (n,), what a solution has to meet beyond
    its residual, as in `gmres`; right-hand sides are then solved one by one. finer: gives, from the system and the
    options of the available matrix, the operator and options of a more accurate one, or None where it is accurate
    enough.
    """

    equation: str
    operator: Any
    spaces: tuple[Space | VectorSpace | MirroredFunctions, ...]
    thin: Callable[[], ThinTerm] | None = None
    scales: Scaling | None = None
    overwrites: bool = False
    inverse_of: Callable[[Any], LinearOperator] | None = None
    accept: Callable[[Any, Any, float, NDArray[Any]], Accept] | None = None
    finer: Callable[["LinearSystem", SolveOptions], tuple[Any, SolveOptions] | None] | None = None
    key: tuple[Any, ...] | None = field(default=None, init=False)
    matrix: Any = field(default=None, init=False)
    factors: Factorisation | None = field(default=None, init=False)
    preconditioner: LinearOperator | None = field(default=None, init=False)
    reason: str = field(default="", init=False)
    _sampled: SampledRows | None = field(default=None, init=False)

    @property
    def unknowns(self) -> int:
        return sum(space.dimension for space in self.spaces)

    @property
    def compared(self) -> Any:
        """The operator whose plans "auto" compares; None where it takes the first method that compresses."""
        return self.operator

    def sides(self, tested: NDArray[Any], options: SolveOptions) -> NDArray[Any]:
        """Right-hand sides of `solve_together` (n, m), from integrals against the test functions."""
        scales = self.scales_for(options)
        return tested if scales is None else scales.weighted(scales.tested(tested))

    def coefficients(self, unknowns: NDArray[Any], options: SolveOptions) -> NDArray[Any]:
        """Coefficients (n, m) of solutions of `solve_together`."""
        scales = self.scales_for(options)
        return unknowns if scales is None else scales.found(unknowns)

    def scales_for(self, options: SolveOptions) -> Scaling | None:
        """Unknowns and weights in a solution with these options."""
        return self.scales

    def solve(self, rhs: NDArray[Any], options: SolveOptions) -> tuple[NDArray[Any], list[SolutionInfo]]:
        """Solutions (n, m) for right-hand sides (n, m), and the record of each."""
        if options.solver == "lu":
            scales = self.scales_for(options)
            found, infos = self._recorded(self._direct, rhs if scales is None else scales.tested(rhs), options)
        else:
            found, infos = self._recorded(partial(self._iterative, gmres), self.sides(rhs, options), options)
        return self.coefficients(found, options), infos

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
        if not worst <= 10 * options.rtol:
            warn_of_accuracy(
                f"{sum(not info.converged for info in infos)} of {len(infos)} solutions did not converge: the largest "
                f"relative residual is {worst:.1e}, and {options.rtol:.1e} was requested"
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
        """The plan of the matrix of these options, with the factors of its near entries, or of all; ValueError where
        the equation would not be held."""
        if (scales := self.scales_for(options)) is not None:
            scales.check(options.chosen, options.assembly_rtol)
        plan = self.planned_matrix(options)
        nbytes, seconds = plan.nbytes + getattr(options.preconditioner, "nbytes", 0), plan.seconds
        if options.solver == "lu":
            whole = self.unknowns**2 * (8 if options.precision == "single" else 16)
            # factors are made when what was held during the assembly is free
            nbytes += 0 if self.overwrites else max(0, 2 * min(plan.nbytes, whole) - plan.nbytes)
            seconds += Cost(lu_flops(self.unknowns, is_complex=True)).seconds
        lines = (("unknowns", str(self.unknowns)), *plan.lines)
        return plan._replace(nbytes=nbytes, seconds=seconds, lines=lines)

    def planned_matrix(self, options: SolveOptions) -> Plan:
        """The plan of the matrix alone."""
        return self.operator.plan(options.method, options.assembly_rtol, options.precision)

    def assemble(self, options: SolveOptions) -> float:
        """Make the matrix of these options available; the seconds that took, 0 where it was."""
        self.reason = options.reason
        key = self.key_of(options)
        if self.key == key:
            self._save(options)
            return 0.0
        if (scales := self.scales_for(options)) is not None:
            scales.check(options.chosen, options.assembly_rtol)
        began = time.perf_counter()
        self._make(options)
        if self.finer is not None:
            self._refine(self.finer, options)
        self.key = key
        return time.perf_counter() - began

    def _make(self, options: SolveOptions) -> None:
        """Assemble the matrix instead of the available one, which is released before: there may be no room for two."""
        self.key, self.matrix, self.factors, self.preconditioner = None, None, None, None
        self.matrix = self._assembled(options)
        if options.solver == "lu" and self.finer is not None:
            self._factorise(options)
        elif self.inverse_of is not None:
            self.preconditioner = self.inverse_of(self.matrix)

    def _refine(self, finer: Callable[..., Any], options: SolveOptions) -> None:
        """Make the matrix again as long as `finer` says how; where that fails, the last one again."""
        while (better := finer(self, options)) is not None:
            last = self.operator, options
            try:
                self.operator, options = better
                self._make(options)
            except (MemoryError, RuntimeError):  # the latter where products do not hold the tolerance
                self.operator, options = last
                self._make(options)
                finer(self, options)
                break

    @property
    def inverse(self) -> Any:
        """The factors of the available matrix, or the preconditioner that was made from it."""
        return self.preconditioner if self.factors is None else self.factors

    def key_of(self, options: SolveOptions) -> tuple[Any, ...]:
        """Options that the matrix and its factors depend on; the first ones as `SolveOptions.matrix_key`."""
        return (*options.matrix_key, options.solver) if self.overwrites else options.matrix_key

    def _assembled(self, options: SolveOptions) -> Any:
        matrix = self.operator.assemble(
            options.method,
            **options.execution,
            progress=options.progress,
            keep_on_device=options.keep_on_device,
            matrix_file=options.matrix_file,
        )
        return matrix if self.thin is None else LiftedMatrix(matrix, self.thin())

    def _save(self, options: SolveOptions) -> None:
        """Save the available matrix to the file of the options, if they name one."""
        if options.matrix_file is None:
            return
        require(options.method, "matrix_file")
        options.chosen.saves(self.operator, self.assembled, options.matrix_file, **options.execution)  # type: ignore[misc]

    def _iterative(
        self, iteration: Callable[..., Any], rhs: NDArray[Any] | CompressedSides, options: SolveOptions
    ) -> tuple[NDArray[Any], list[SolutionInfo]]:
        if self.accept is not None and isinstance(rhs, np.ndarray) and rhs.shape[1] > 1:
            parts = [self._iterative(iteration, rhs[:, k : k + 1], options) for k in range(rhs.shape[1])]
            return np.concatenate([x for x, _ in parts], axis=1), [info for _, infos in parts for info in infos]
        given, factorisation = options.preconditioner, 0.0
        if self.preconditioner is not None:
            preconditioner = self.preconditioner
        elif options.preconditioned_by("hlu"):
            if self.factors is None:
                self.factors = options.chosen.factorise(self.matrix, HLU_RTOL)  # type: ignore[misc]
                factorisation = self.factors.seconds
            preconditioner = self.factors.as_preconditioner()
        else:
            preconditioner = mass_preconditioner(self.spaces) if isinstance(given, str) else given
        matrix, scales, more = self.matrix, self.scales_for(options), {}
        if self.accept is not None:
            more["accept"] = self.accept(self.matrix, preconditioner, options.rtol, rhs[:, 0])  # type: ignore[index]
        if scales is not None:
            matrix = scales.matrix(matrix)
            if preconditioner is not None:
                preconditioner = scales.preconditioner(preconditioner, options.preconditioned_by("mass"))
        try:
            solution, info = iteration(
                matrix,
                rhs,
                rtol=options.rtol,
                maxiter=options.maxiter,
                preconditioner=preconditioner,
                progress=options.progress,
                **more,
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
        infos = self._infos(method, columns, factorisation, info.seconds)
        for number, condition in enumerate(info.conditions):
            infos[number] = replace(infos[number], condition=condition)
        return solution, infos

    def _direct(self, rhs: NDArray[Any], options: SolveOptions) -> tuple[NDArray[Any], list[SolutionInfo]]:
        factorisation = self._factorise(options)
        began = time.perf_counter()
        solution, residuals = self._substituted(rhs, options)
        seconds = time.perf_counter() - began
        # up to 1e4 rounding units of the matrix a residual is no error: no more can be had in its precision
        goal = max(options.rtol, 0.0 if self._refines else 1e4 * float(np.finfo(self.matrix.dtype).eps))
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

    def _factorise(self, options: SolveOptions) -> float:
        """Make the factors of the available matrix available; the seconds that took, 0 where they were."""
        if self.factors is not None:
            return 0.0
        if not (options.keep_on_device or self.overwrites):  # the device requests its own memory
            size = self.unknowns**2 * np.dtype(self.matrix.dtype).itemsize
            require_memory(
                size, "an LU factorisation in addition to the matrix", "try solver='gmres' or precision='single'"
            )
        self._sampled = SampledRows(self.matrix.to_array()) if self.overwrites else None
        self.factors = lu(self.matrix, overwrite=self.overwrites)
        return self.factors.seconds

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
            return self.matrix.matmat
        return partial(wide_product, matrix.to_array(), thin)

    def _substituted(self, rhs: NDArray[Any], options: SolveOptions) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Solutions (n, m) by the factors and their relative residuals (m,)."""
        assert self.factors is not None
        if self._refines:
            return refined(self.factors, self._wide_product, rhs, options.rtol)
        solution = self.factors.solve(rhs)
        if self._sampled is not None:
            residuals = self._sampled.residuals(solution, rhs)
        else:
            residuals, scales = self.matrix @ solution - rhs, self.scales_for(options)
            if scales is not None:
                residuals, rhs = scales.weighted(residuals), scales.weighted(rhs)
        errors = np.linalg.norm(residuals, axis=0)
        return solution, errors / np.maximum(np.linalg.norm(rhs, axis=0), np.finfo(float).tiny)


def mass_preconditioner(spaces: tuple[Space | VectorSpace | MirroredFunctions, ...]) -> LinearOperator:
    """M^-1 block by block, so that iterations for equations of the second kind do not depend on mesh and grading."""
    blocks = [(space.dimension, space.solve_mass) for space in spaces]
    return block_diagonal(blocks, np.dtype(np.float64))


def block_diagonal(
    blocks: Sequence[tuple[int, Callable[[NDArray[Any]], NDArray[Any]]]], dtype: np.dtype[Any]
) -> LinearOperator:
    """An operator of blocks (size, product of columns (size, m)) along its diagonal."""
    cuts = np.cumsum([size for size, _ in blocks])

    def product(x: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([one(part) for (_, one), part in zip(blocks, np.split(x, cuts[:-1]), strict=True)])

    size = int(cuts[-1])
    return LinearOperator((size, size), matvec=lambda x: product(np.ravel(x)), matmat=product, dtype=dtype)
