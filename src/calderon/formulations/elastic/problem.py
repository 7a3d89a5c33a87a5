"""Elastic bodies under static loads, one or several that are bonded: from load cases to solutions.

The displacements are U = U_0 + N q at the nodes of all bodies, joined where they coincide, and u = U at the nodes of
each body; its tractions are t = t_0 + B s - S u.
"""

import time
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from calderon.backends import return_memory
from calderon.formulations.elastic.coarse.preconditioner import two_levels
from calderon.formulations.elastic.conditions.joined_bodies import JoinedBodies
from calderon.formulations.elastic.results.reactions import Supports
from calderon.formulations.elastic.results.solution import ElasticInfo, ElasticSolution, warn_of_tractions
from calderon.formulations.elastic.results.surface_stress import corner_stresses, estimated_errors
from calderon.formulations.elastic.system.accuracy import Criterion, FinerMatrices, tolerance_of_products
from calderon.formulations.elastic.system.body import Known
from calderon.formulations.elastic.system.equation import LazyEquation
from calderon.formulations.linear_system import LinearSystem
from calderon.formulations.options import (
    PlanChoices,
    SolveChoices,
    SolveOptions,
    checked_choices,
    named_options,
    require_supported,
)
from calderon.formulations.problem import Problem, Solution
from calderon.formulations.solution_info import SolutionInfo
from calderon.mesh.errors import warn
from calderon.operators.methods import Plan, candidates, is_automatic, least_of, method_named
from calderon.quadrature import Quadrature
from calderon.validation import describe

Array = NDArray[np.float64]
PRECONDITIONER = "two-level"
INFLUENCE, BENT = (1e-3, 1e-4), 3e-3
"""Tolerances of iterations for influence fields of supports, whose errors are those of the shares of the loads: of all
fields, and of those whose displacements have an error above BENT after that, relative, as bending makes it larger."""
MOST_GROUPS = 5
"""Groups of connected supports up to which iterations give each its influence fields, six for each but one."""
SUPPORTED: dict[str, tuple[str, ...]] = {
    "method": (), "rtol": (), "compression_rtol": (), "solver": (), "backend": (), "progress": (), "maxiter": (),
    "preconditioner": (PRECONDITIONER,),
}  # fmt: skip
WHY = (
    "elastic solids multiply by a sum of matrices in double precision, as bending of slender parts amplifies rounding, "
    "and their own preconditioner also measures the errors of displacements and strains"
)


class Errors(NamedTuple):
    """The errors of a solution, as far as they are known. defects: of rotations in the equation of each body.
    amplification: of these by bending. noise: the error of the largest strain that solver and matrix leave, over it."""

    defects: list[float]
    amplification: float
    noise: float


class ElasticProblem(Problem[Solution]):
    """One elastic body, or several that are bonded, with supports and loads."""

    title = "Elastic solids under static loads"
    case_form: ClassVar[str]
    """The form of a load case, in messages."""

    @cached_property
    @abstractmethod
    def joined(self) -> JoinedBodies:
        """The bodies in common unknowns."""

    @abstractmethod
    def with_loads(self, data: Any) -> Any:
        """The problem with other loads and the same supports. data: one load case. TypeError for others."""

    @abstractmethod
    def _collected(self, found: dict[Any, ElasticSolution]) -> Solution:
        """The solution of the problem from those of its bodies by name."""

    @named_options
    def solve(self, data: Any = None, **options: Unpack[SolveChoices]) -> Solution:
        """The solution for the loads of the problem, or for those of one load case.

        data: a `LoadCase` or loads by tag (of bonded solids {part: ...}) that replace the loads of the problem; its
        supports stay. Options, by name, are those of every problem. method: "dense", "fmm", "hmatrix", "matrix-free",
        or "auto": what is expected to take the least seconds, "dense" or "fmm". rtol: of GMRES, which goes on until
        displacements of slender bodies are about as accurate. compression_rtol: of products, by default twenty times
        rtol with "fmm", whose errors for displacements are much smaller than those for random vectors, less where short
        edges need it, and a tenth of it with "hmatrix". solver: "lu" (default of "dense") or "gmres". backend: what
        assembles and multiplies. Other preconditioners and precisions, keep_on_device and matrix_file are refused.

        ValueError for loads that nothing balances; AccuracyWarning for slender bodies whose bending makes errors of the
        matrix large, after the matrix was made again for smaller ones.
        """
        return super().solve(data, **options)

    @named_options
    def plan(self, **options: Unpack[PlanChoices]) -> Plan:
        """The bytes, seconds of set-up and of a product, and numbers of unknowns of a solution with these options,
        before it is computed; factors or the preconditioner are included."""
        checked_choices(options, PlanChoices)
        return self.system.planned_matrix(self._options(options))  # type: ignore[arg-type]

    @named_options
    def solve_cases(self, cases: Mapping[Any, Any], **options: Unpack[SolveChoices]) -> dict[Any, Solution]:
        """The solutions of several load cases by their names, with one matrix and one factorisation or preconditioner.
        cases: {name: load case}; otherwise as in `solve`."""
        if not isinstance(cases, Mapping):
            raise TypeError(f"load cases are given by name, {{name: {self.case_form}}}, got {describe(cases)}")
        if not cases:
            raise ValueError("there are no load cases: give at least one, or take solve()")
        return dict(zip(cases, self.solve_all([*cases.values()], **options), strict=True))

    @property
    def preconditioners(self) -> tuple[str, ...]:
        return (PRECONDITIONER,)

    @property
    def brief(self) -> str:
        """The problem and its size."""
        triangles = sum(each.mesh.number_of_triangles for each in self.joined.solids)
        return f"{self.title}, {self.unknowns} unknowns on {triangles} triangles"

    def __str__(self) -> str:
        return f"{self.brief}\n  {self.system.equation}"

    def _warn_of_loads(self) -> None:
        """A warning where the loads of bodies do not suit each other."""

    def _build_system(self) -> LinearSystem:
        return _system_of([self.joined], None)

    def _options(self, choices: SolveChoices) -> SolveOptions:
        """Checked options, with the method that "auto" stands for; ValueError for those that solids do not have."""
        require_supported(choices, SUPPORTED, WHY)
        options = SolveOptions(**{"preconditioner": PRECONDITIONER} | choices)
        if is_automatic(options.method):
            options = self._with_method(options)
        if options.compression_rtol is None and options.chosen.joins_blocks:
            options = replace(options, compression_rtol=self._products_rtol(options))
        if "solver" not in choices and options.chosen.stores_entries:
            options = replace(options, solver="lu")
        return options

    def _with_method(self, options: SolveOptions) -> SolveOptions:
        """The options with the method of the least expected seconds: one that stores the entries, or one that joins
        the layers."""
        lazy: Any = self.system.operator
        rtol = options.compression_rtol or self._products_rtol(options)
        found = [lazy.plan(each.name, rtol)._replace(lines=()) for each in candidates(options.method)
                 if each.stores_entries or (each.joins_blocks and options.solver != "lu")]  # fmt: skip
        name, reason = least_of(sorted(found, key=lambda plan: plan.expected_seconds))
        kept = options.compression_rtol if method_named(name).compresses else None
        return replace(options, method=name, compression_rtol=kept, is_automatic=True, reason=reason)

    def _products_rtol(self, options: SolveOptions) -> float:
        """The tolerance of fast products, unless it is given."""
        return tolerance_of_products(options.rtol, self.joined.shortest)

    def _checked(self, data: Any) -> "ElasticProblem[Solution]":
        """The problem with the loads of a load case, None for its own."""
        return self if data is None else self.with_loads(data)

    def _right_hand_side(self, data: Any) -> NDArray[Any]:
        raise NotImplementedError("the right-hand sides of solids are made with their matrix")

    def _solve(self, data: Sequence[Any], options: SolveOptions) -> list[Solution]:
        posed = [self._checked(one) for one in data]
        for each in posed:
            each.joined.refuse_unbalanced()
        default = all(solid.quadrature == Quadrature() for solid in self.joined.solids)
        finer = FinerMatrices(default)
        supports, count = Supports.of(posed[0].joined), len(posed)
        influences = supports.influences() if options.solver == "lu" or supports.groups <= MOST_GROUPS else []
        system = _system_of([each.joined for each in posed], finer, influences)
        seconds = system.assemble(options)
        finer.warn()
        for each in posed:
            each._warn_of_loads()
        equation: Any = system.matrix
        right = equation.right[:, :count]
        coefficients, infos = system.solve(right, options)
        if influences:
            began = time.perf_counter()
            fields = _influence_fields(system, equation.right[:, count:], options)
            supports = supports.with_fields(np.stack([equation.unscaled(x) for x in fields.T], axis=1))
            more = time.perf_counter() - began
            infos = [replace(info, solve_seconds=info.solve_seconds + more) for info in infos]
        pairs = zip(coefficients.T, right.T, strict=True)
        noises = [finer.noise(system, x, b, options.rtol) for x, b in pairs]
        unknowns = [equation.unscaled(x) for x in coefficients.T]
        errors = [Errors(equation.defects, finer.errors.amplification, noise) for noise in noises]
        text = f"{equation}{finer.needs}" + (f", {options.reason}" if options.reason else "")
        infos = [replace(info, matrix=text, assembly_seconds=seconds) for info in infos]
        del system, equation
        return_memory()  # stresses need memory of their own
        found = zip(posed, errors, unknowns, infos, strict=True)
        return [each._solution(error, x, info, supports) for each, error, x, info in found]

    def _solution(
        self, data: "Errors", coefficients: Array, info: SolutionInfo, supports: Supports | None = None
    ) -> Solution:
        """The solution of unknown displacements and tractions, coefficients (unknowns,). data: of its errors. info: of
        the linear system. supports: what shares the balance of reactions."""
        joined, motions = self.joined, self.joined.orthonormal_motions
        q, s = np.split(coefficients, [joined.free.shape[1]])
        whole = joined.u0.ravel() + joined.free @ q
        if motions.shape[1]:
            whole = whole - motions @ (motions.T @ (joined.mass @ whole))
        if len(joined.solids) == 1 and not whole.any():
            warn("nothing acts on this solid, so that its displacement is zero: check loads, body and supports")
        found = {}
        for k, (name, solid) in enumerate(zip(joined.names, joined.solids, strict=True)):
            u, t = solid.surface_fields(whole.reshape(-1, 3)[joined.numbers[k]], joined.tractions[k] @ s)
            stresses = corner_stresses(solid.material, u, t, solid.free_strain)
            free = solid.material.youngs_modulus * solid.free_strain
            errors = estimated_errors(solid.mesh, stresses, free, data.noise)
            own = ElasticInfo(
                **vars(info), rotation_error=data.defects[k], free_motions=joined.free_motions.shape[1],
                free_tags=joined.free_tags(k), displacement_error=errors[0], stress_error=errors[1],
                amplification=data.amplification,
            )  # fmt: skip
            found[name] = ElasticSolution(solid, u, t, own)
        warn_of_tractions(found)
        return self._collected(found if supports is None else supports.balanced(joined, found))


def _system_of(
    posed: Sequence[JoinedBodies], finer: FinerMatrices | None, influences: Sequence[Sequence[Known]] = ()
) -> LinearSystem:
    """The discrete equation of several load cases, and of influence fields of supports. finer: makes its matrix again
    where that is needed."""
    equation = "(1/2 + K) u = V t (Somigliana), tested with displacements and unknown tractions"
    lazy: Any = LazyEquation.of(posed, influences)
    return LinearSystem(equation, lazy, (lazy,), inverse_of=two_levels, accept=Criterion, finer=finer)


def _influence_fields(system: LinearSystem, right: Array, options: SolveOptions) -> Array:
    """Influence fields (unknowns, k) of right-hand sides (unknowns, k), by an iteration of all together, and of those
    whose displacements bending leaves less accurate once more, one by one."""
    rtol, least = (max(options.rtol, each) for each in INFLUENCE)
    options = replace(options, rtol=least, compression_rtol=options.assembly_rtol, accept=True, progress=False)
    accept, system.accept = system.accept, None
    found, _ = system.solve(right, replace(options, rtol=rtol))
    system.accept = accept
    if options.solver == "gmres":
        left = right - system.matrix @ found
        for x, b, residual in zip(found.T, right.T, left.T, strict=True):
            moved, _ = Criterion(system.matrix, system.preconditioner, rtol, b).errors(x, residual)
            if moved > BENT:
                x[:] = system.solve(b[:, None], options)[0][:, 0]
    return found
