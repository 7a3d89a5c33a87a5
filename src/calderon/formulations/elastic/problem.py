"""Elastic bodies under static loads, one or several that are bonded: from load cases to solutions.

The displacements are U = U_0 + N q at the nodes of all bodies, joined where they coincide, and u = U at the nodes of
each body; its tractions are t = t_0 + B s - S u.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple, Unpack

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends import return_memory
from calderon.formulations.elastic.coarse.preconditioner import two_levels
from calderon.formulations.elastic.conditions import rigid_motions
from calderon.formulations.elastic.loads.load_cases import LoadCase
from calderon.formulations.elastic.results.info import ElasticInfo
from calderon.formulations.elastic.results.solution import ElasticSolution, warn_of_reactions
from calderon.formulations.elastic.system.accuracy import Criterion, FinerMatrices
from calderon.formulations.elastic.system.body import Body
from calderon.formulations.elastic.system.equation import LazyEquation
from calderon.formulations.elastic.system.tested_rows import Known
from calderon.formulations.linear_system import LinearSystem, SolutionInfo
from calderon.formulations.options import SolveChoices, SolveOptions, checked_choices, named_options
from calderon.formulations.problem import Problem, Solution
from calderon.mesh.errors import warn
from calderon.operators.methods import AUTO, candidates, least_of, method_named
from calderon.quadrature import Quadrature

Array = NDArray[np.float64]
LOOSER, LOOSEST = 20, 1e-3
"""The error of fast products over that of the solver, and the largest one: the errors of smooth functions are far below
those of random ones, which set the order."""
ONLY = ("two-level",)
"""The names of preconditioners."""
REFUSED = {
    "precision": "bending of slender parts amplifies rounding, so that all numbers are in double precision",
    "keep_on_device": "its matrix is a sum of several ones, which the processor makes",
    "matrix_file": "its matrix is a sum of several ones",
    "preconditioner": "its own one also measures the errors of displacements and strains",
}
"""Options of a problem that elastic solids do not have, and why."""


class Errors(NamedTuple):
    """What is known of the errors of a solution. defects: of rotations in the equation of each body. amplification: of
    these by bending. noise: the error of the largest strain that solver and matrix leave, over that strain."""

    defects: list[float]
    amplification: float
    noise: float


class ElasticProblem(Problem[Solution]):
    """One elastic body, or several that are bonded, with supports and loads."""

    title = "Elastic solids under static loads"

    @property
    @abstractmethod
    def named_solids(self) -> Mapping[Any, Any]:
        """{name: ElasticSolid}, the bodies."""

    @property
    @abstractmethod
    def bounds(self) -> Array:
        """(2, 3) lowest and highest coordinates."""

    @property
    @abstractmethod
    def nodes(self) -> Array:
        """(n, 3) the joined nodes."""

    @property
    @abstractmethod
    def numbers(self) -> Sequence[NDArray[np.int64]]:
        """By body, the numbers of its nodes among the joined ones."""

    @property
    @abstractmethod
    def supports_of_nodes(self) -> tuple[Array, sp.csr_array]:
        """U_0 (n, 3) and N (3 n, q) of displacements U = U_0 + N q of the joined nodes."""

    @property
    @abstractmethod
    def mass(self) -> sp.csr_array:
        """(3 n, 3 n) the mass matrix of displacements on the surfaces of all bodies."""

    @property
    @abstractmethod
    def traction_columns(self) -> Sequence[sp.csr_array]:
        """By body, its tractions (3 m, s) from the unknown tractions of all bodies."""

    @abstractmethod
    def bodies(self, loaded: Sequence[NDArray[np.bool_]]) -> list[Body]:
        """The bodies in the unknowns of all. loaded: by body, the triangles with tractions in some load case."""

    @abstractmethod
    def with_loads(self, data: Any) -> Any:
        """The problem with other loads and the same supports. data: one load case. TypeError for others."""

    @abstractmethod
    def free_tags(self, name: Any) -> tuple[str, ...]:
        """The tags of a body without a condition, by name where they have one."""

    @abstractmethod
    def collected(self, found: dict[Any, ElasticSolution]) -> Solution:
        """The solution of the problem from those of its bodies by name."""

    @named_options
    def solve(self, data: Any = None, **options: Unpack[SolveChoices]) -> Solution:
        """The solution for the loads of the problem, or for those of one load case.

        data: a `LoadCase` or loads by tag (of bonded solids {part: ...}) that replace the loads of the problem; its
        supports stay. Options, by name, are those of every problem. method: "dense", "fmm", "hmatrix", "matrix-free",
        or "auto": what is expected to take the least seconds, "dense" or "fmm". rtol: of GMRES, which goes on until
        displacements of slender bodies are about as accurate. compression_rtol: of products, by default twenty times
        rtol with "fmm", whose errors for displacements are much smaller than those for random vectors, and a tenth of
        it with "hmatrix". solver: "lu" (default of "dense") or "gmres". backend: what assembles, or multiplies by
        "fmm". Other preconditioners and precisions, keep_on_device and matrix_file are refused.

        ValueError for loads that nothing balances; AccuracyWarning for slender bodies whose bending makes errors of the
        matrix large, after the matrix was made again for smaller ones.
        """
        return super().solve(data, **options)

    @named_options
    def solve_cases(self, cases: Mapping[Any, Any], **options: Unpack[SolveChoices]) -> dict[Any, Solution]:
        """The solutions of several load cases by their names, with one matrix and one factorisation or preconditioner.
        cases: {name: load case}; otherwise as in `solve`."""
        return dict(zip(cases, self.solve_all(self._named_cases(cases), **options), strict=True))

    @abstractmethod
    def _named_cases(self, cases: Any) -> list[Any]:
        """The load cases of {name: load case}; TypeError for others."""

    @property
    def solids(self) -> list[Any]:
        """The bodies, `ElasticSolid` each."""
        return [*self.named_solids.values()]

    @property
    def preconditioners(self) -> tuple[str, ...]:
        return ONLY

    @property
    def size(self) -> float:
        """The diagonal of the bounding box."""
        return float(np.linalg.norm(self.bounds[1] - self.bounds[0]))

    @property
    def brief(self) -> str:
        """The problem and its size."""
        triangles = sum(each.mesh.number_of_triangles for each in self.solids)
        return f"{self.title}, {self.unknowns} unknowns on {triangles} triangles"

    def __str__(self) -> str:
        return f"{self.brief}\n  {self.system.equation}"

    @cached_property
    def free_motions(self) -> Array:
        """(6, f) translations and rotations about the centre, in units of the size, that no support holds."""
        if any(each.exterior for each in self.solids):
            return np.zeros((6, 0))
        motions, free = self._motions, self.supports_of_nodes[1]
        held = [motions - free @ (free.T @ motions)]
        for solid, number in zip(self.solids, self.numbers, strict=True):
            springs = solid.conditions.springs
            if springs.nnz:
                own = motions.reshape(-1, 3, 6)[number].reshape(-1, 6)
                held.append(springs @ own / max(float(abs(springs).max()), 1e-300))
        return rigid_motions.null_motions(np.concatenate(held))

    @cached_property
    def orthonormal_motions(self) -> Array:
        """(3 n, f) the free motions at the joined nodes, orthonormal over the surfaces."""
        if not self.free_motions.shape[1]:
            return np.zeros((3 * len(self.nodes), 0))
        return rigid_motions.orthonormal(self._motions @ self.free_motions, self.mass)

    def refuse_unbalanced(self) -> None:
        """ValueError for loads with a resultant along a motion that no support holds."""
        if not self.free_motions.shape[1]:
            return
        applied = [solid.applied for solid in self.solids]
        total = rigid_motions.Resultant(*(np.sum([each[0][k] for each in applied], axis=0) for k in (0, 1)))
        tags = [tag for s in self.solids for tag in s.mesh.names or np.unique(s.mesh.tags).tolist()]
        centre, size = self.bounds.mean(axis=0), sum(each[1] for each in applied)
        rigid_motions.refuse_unbalanced(total, size, self.size, self.free_motions, centre, tags)

    @property
    def known(self) -> list[Known]:
        """What is known of each body."""
        found = []
        for solid, number in zip(self.solids, self.numbers, strict=True):
            particular = solid.volume.displacement(solid.spaces.displacements.scalar.nodes)
            u = self.supports_of_nodes[0][number] - particular
            found.append(Known(u, solid.conditions.t0, solid.volume.moving_source))
        return found

    def warn_of_loads(self) -> None:
        """A warning where the loads of bodies do not suit each other."""

    @property
    def _motions(self) -> Array:
        """(3 n, 6) translations and rotations about the centre, in units of the size, at the joined nodes."""
        motions = rigid_motions.rigid_motions(self.nodes, self.bounds.mean(axis=0)).reshape(-1, 6)
        return np.asarray(motions / np.array([1.0] * 3 + [self.size] * 3))

    def _equation_of(self, posed: Sequence["ElasticProblem[Solution]"]) -> LazyEquation:
        """The lazy equation for this problem with the loads of several ones."""
        parts = zip(*(each.solids for each in posed), strict=True)
        loaded = [np.any([solid.conditions.loaded for solid in part], axis=0) for part in parts]
        bodies, free = self.bodies(loaded), self.supports_of_nodes[1]
        planned = [
            (solid, body.source_points) for each in posed for solid, body in zip(each.solids, bodies, strict=True)
        ]
        return LazyEquation(
            names=[*self.named_solids],
            bodies=bodies,
            nodes=self.nodes,
            free=free,
            lift=free.T @ (self.mass @ self.orthonormal_motions),
            length=self.size,
            cases=[each.known for each in posed],
            sources=[one for solid, points in planned for one in solid.volume.planned(points)],
        )

    def _build_system(self) -> LinearSystem:
        return self._system_of([self], None)

    def _system_of(self, posed: Sequence["ElasticProblem[Solution]"], finer: FinerMatrices | None) -> LinearSystem:
        """The discrete equation of several load cases. finer: makes its matrix again where that is needed."""
        spaces = tuple(each.spaces.displacements for each in self.solids)
        equation = "(1/2 + K) u = V t (Somigliana), tested with displacements and unknown tractions"
        lazy: Any = self._equation_of(posed)
        return LinearSystem(equation, lazy, spaces, inverse_of=two_levels, accept=Criterion.of, finer=finer)

    @property
    def unknowns(self) -> int:
        return sum(self.system.operator.unknowns)  # type: ignore[attr-defined]

    def _options(self, choices: SolveChoices) -> SolveOptions:
        """Checked options, with the method that "auto" stands for; ValueError for those that solids do not have."""
        given = checked_choices(choices)
        for name, why in REFUSED.items():
            value = given.get(name)
            if not (value is None or value is False or (isinstance(value, str) and value in ("double", *ONLY))):
                raise ValueError(f"{name}= is no option of elastic solids: {why}; leave it out")
        options = SolveOptions(**given | {"preconditioner": ONLY[0]})
        if options.method == AUTO:
            options = self._with_method(options)
        if options.compression_rtol is None and options.chosen.joins_blocks:
            options = replace(options, compression_rtol=fast_rtol(options.rtol))
        if "solver" not in given and options.chosen.stores_entries:
            options = replace(options, solver="lu")
        return options

    def _with_method(self, options: SolveOptions) -> SolveOptions:
        """The options with the method of the least expected seconds: one that stores the entries, or one that joins
        the layers."""
        lazy: Any = self.system.operator
        found = [lazy.plan(each.name, options.compression_rtol or fast_rtol(options.rtol)) for each in candidates(AUTO)
                 if each.stores_entries or (each.joins_blocks and options.solver != "lu")]  # fmt: skip
        name, reason = least_of(sorted(found, key=lambda plan: plan.expected_seconds))
        kept = options.compression_rtol if method_named(name).compresses else None
        return replace(options, method=name, compression_rtol=kept, reason=reason)

    def _checked(self, data: Any) -> "ElasticProblem[Solution]":
        return self if data is None else self.with_loads(data)

    def _right_hand_side(self, data: Any) -> NDArray[Any]:
        raise NotImplementedError("the right-hand sides of solids are made with their matrix")

    def _solve(self, data: list[Any], options: SolveOptions) -> list[Solution]:
        posed = [self._checked(one) for one in data]
        for each in posed:
            each.refuse_unbalanced()
        default = all(solid.quadrature == Quadrature() for solid in self.solids)
        finer = FinerMatrices(default)
        system = self._system_of(posed, finer)
        seconds = system.assemble(options)
        finer.warn()
        for each in posed:
            each.warn_of_loads()
        equation: Any = system.matrix
        coefficients, infos = system.solve(equation.right, options)
        pairs = zip(coefficients.T, equation.right.T, strict=True)
        noises = [finer.noise(system, x, b, options.rtol) for x, b in pairs]
        unknowns = [equation.unscaled(x) for x in coefficients.T]
        errors = [Errors(equation.defects, finer.errors.amplification, noise) for noise in noises]
        text = f"{equation}{finer.needs}" + (f", {options.reason}" if options.reason else "")
        infos = [replace(info, matrix=text, assembly_seconds=seconds) for info in infos]
        del system, equation
        return_memory()  # stresses need memory of their own
        return [each._solution(*one) for each, *one in zip(posed, errors, unknowns, infos, strict=True)]

    def _solution(self, data: "Errors", coefficients: Array, info: SolutionInfo) -> Solution:
        """The solution of unknown displacements and tractions, coefficients (unknowns,). data: of its errors. info: of
        the linear system."""
        (known, free), motions = self.supports_of_nodes, self.orthonormal_motions
        q, s = np.split(coefficients, [free.shape[1]])
        whole = known.ravel() + free @ q
        if motions.shape[1]:
            whole = whole - motions @ (motions.T @ (self.mass @ whole))
        if len(self.solids) == 1 and not whole.any():
            warn("nothing acts on this solid, so that its displacement is zero: check loads, body and supports")
        found = {}
        for (name, solid), number, columns, defect in zip(
            self.named_solids.items(), self.numbers, self.traction_columns, data.defects, strict=True
        ):
            u, t = solid.surface_fields(whole.reshape(-1, 3)[number], columns @ s)
            errors = solid.estimated_errors(u, t, data.noise)
            own = ElasticInfo(
                **vars(info), rotation_error=defect, free_motions=self.free_motions.shape[1],
                free_tags=self.free_tags(name), displacement_error=errors[0], stress_error=errors[1],
                amplification=data.amplification,
            )  # fmt: skip
            found[name] = ElasticSolution(solid, u, t, own)
        warn_of_reactions(found)
        return self.collected(found)


def fast_rtol(rtol: float) -> float:
    """The tolerance of fast products for that of the solver."""
    return min(LOOSER * rtol, LOOSEST)


def load_case(data: Any) -> LoadCase:
    """The load case that loads by tag, or a `LoadCase`, stand for; TypeError for others."""
    if isinstance(data, LoadCase):
        return data
    if isinstance(data, Mapping):
        return LoadCase(data)
    raise TypeError(f"the loads of a solid are a LoadCase or loads by tag, {{tag: Force(...)}}, got {data!r}")
