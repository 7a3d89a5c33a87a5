"""Solids of different materials that are bonded at common faces."""

import copy
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.formulations.elastic import balance
from calderon.formulations.elastic.equations import DEFECT
from calderon.formulations.elastic.interfaces import (
    Faces,
    common_faces,
    joined,
    joined_supports,
    refuse_conditions_on_faces,
    selection,
)
from calderon.formulations.elastic.joint_equation import JointEquation, Part, joint_equation
from calderon.formulations.elastic.load_cases import LoadCase, named_cases
from calderon.formulations.elastic.plan import FAST, Plan, one_after_the_other
from calderon.formulations.elastic.solid import LARGEST_DENSE, ElasticSolid, with_conditions, with_rules
from calderon.formulations.elastic.solution import BondedSolution, ElasticInfo, ElasticSolution, warn_of_reactions
from calderon.formulations.elastic.solver import FINE, Posed, Solved
from calderon.formulations.elastic.surface_conditions import SurfaceConditions
from calderon.mesh.errors import warn_of_accuracy
from calderon.operators.methods import AUTO, candidates
from calderon.quadrature import Quadrature
from calderon.solvers.iteration import tolerance
from calderon.validation import describe

Array = NDArray[np.float64]
JUMP = 0.01
"""Difference of the steady temperatures of two parts on a common face, over their range, that is warned of."""


@dataclass(frozen=True, eq=False, repr=False)
class BondedSolids:
    """Solids (`ElasticSolid`) with common faces, at which they have one displacement and opposite tractions.

    parts: {name: ElasticSolid}, each with material, supports, loads and loads of the volume of its own. Common faces
    are found: the meshes have the same triangles there, without conditions. All parts have one kind of space.

    TypeError for other parts, ValueError for fewer than two, for parts that share no triangles, that overlap or lie
    within each other (also where both are on one side of a face), and for loads that nothing balances.
    """

    parts: Mapping[Any, ElasticSolid]

    def __post_init__(self) -> None:
        if not isinstance(self.parts, Mapping) or not all(isinstance(p, ElasticSolid) for p in self.parts.values()):
            raise TypeError(f"bonded solids are given by name, {{name: ElasticSolid(...)}}, got {describe(self.parts)}")
        if len(self.parts) < 2:
            raise ValueError(
                f"{len(self.parts)} part(s) cannot be bonded: give two or more, or take ElasticSolid.solve"
            )
        for name in ("space", "units"):
            if len(values := {getattr(part, name) for part in self.parts.values()}) > 1:
                raise ValueError(f"bonded solids have one {name}, got {sorted(values)}: give all parts the same")
        object.__setattr__(self, "parts", dict(self.parts))
        for (name, part), common in zip(self.parts.items(), self.faces.triangles, strict=True):
            refuse_conditions_on_faces(name, part.mesh, common, part.supports or {}, part.loads or {})

    def __repr__(self) -> str:
        return f"BondedSolids({self.parts!r})"

    @cached_property
    def rank(self) -> list[int]:
        """By part, the stiffest is 0."""
        stiffness = [-part.material.youngs_modulus for part in self.parts.values()]
        return np.argsort(np.argsort(stiffness, kind="stable")).tolist()

    @cached_property
    def faces(self) -> Faces:
        """The common faces."""
        meshes, spaces = [s.mesh for s in self.solids], [s.spaces.tractions for s in self.solids]
        return common_faces([*self.parts], meshes, spaces, self.rank, [s.exterior for s in self.solids])

    @cached_property
    def bounds(self) -> Array:
        """(2, 3) lowest and highest coordinates."""
        bounds = np.stack([part.mesh.bounds for part in self.parts.values()])
        return np.stack([bounds[:, 0].min(axis=0), bounds[:, 1].max(axis=0)])

    @property
    def size(self) -> float:
        """The longest diagonal in m."""
        return float(np.linalg.norm(self.bounds[1] - self.bounds[0]))

    @cached_property
    def numbers(self) -> list[NDArray[np.int64]]:
        """By part, the numbers of its nodes among the joined ones."""
        return joined([part.spaces.displacements.scalar.nodes for part in self.parts.values()], self.size)

    @cached_property
    def nodes(self) -> Array:
        """(n, 3) the joined nodes."""
        nodes = np.zeros((1 + max(int(each.max()) for each in self.numbers), 3))
        for part, number in zip(self.parts.values(), self.numbers, strict=True):
            nodes[number] = part.spaces.displacements.scalar.nodes
        return nodes

    @cached_property
    def supports(self) -> tuple[Array, sp.csr_array]:
        """U_0 (n, 3) and N (3 n, q) of displacements U = U_0 + N q of the joined nodes."""
        particular = [s.particular_displacement(s.spaces.displacements.scalar.nodes) for s in self.solids]
        return joined_supports([*self.parts], self.numbers, [s.conditions for s in self.solids], particular)

    @cached_property
    def mass(self) -> sp.csr_array:
        """(3 n, 3 n) of the surfaces of all parts."""
        selections = [selection(number, len(self.nodes)) for number in self.numbers]
        parts = [p.T @ s.spaces.displacements.mass_matrix() @ p for s, p in zip(self.solids, selections, strict=True)]
        return sum(parts[1:], parts[0]).tocsr()

    @cached_property
    def free_motions(self) -> Array:
        """(6, f) translations and rotations about the centre, in units of the size, that no support holds."""
        if any(part.exterior for part in self.parts.values()):
            return np.zeros((6, 0))
        motions, free = self._motions, self.supports[1]
        held = [motions - free @ (free.T @ motions)]
        for part, number in zip(self.parts.values(), self.numbers, strict=True):
            springs = part.conditions.springs
            if springs.nnz:
                held.append(springs @ selection(number, len(self.nodes)) @ motions / abs(springs).max())
        return balance.null_motions(np.concatenate(held))

    @property
    def _motions(self) -> Array:
        motions = balance.rigid_motions(self.nodes, self.bounds.mean(axis=0)).reshape(-1, 6)
        return np.asarray(motions / np.array([1.0] * 3 + [self.size] * 3))

    def plan(self, method: str = AUTO, rtol: float = 1e-5) -> Plan:
        """What `solve` with these options will take, before it is computed."""
        tolerance(rtol)
        candidates(method)
        tractions = 3 * len(self.faces.numbers) + sum(part.conditions.bound.shape[1] for part in self.solids)
        unknowns = self.supports[1].shape[1], tractions
        count = sum(unknowns)
        if method == AUTO:
            method = "dense" if count <= LARGEST_DENSE else FAST
        parts = self._parts([solid.conditions.loaded for solid in self.solids])
        solids = [with_conditions(each.solid, replace(each.conditions, free=each.displacement)) for each in parts]
        entries, layers = zip(*(each.planned_layers(method, rtol) for each in solids), strict=True)
        plan = Plan.of(method, unknowns, sum(entries), one_after_the_other(layers))
        plan = replace(plan, nbytes=plan.nbytes + 8 * count**2) if method == "dense" else plan  # a sum of matrices
        return plan.after([each for solid in self.solids for each in solid.planned_sources])

    def solve(self, method: str = AUTO, rtol: float = 1e-5, backend: str = "numba") -> BondedSolution:
        """The solution of each part by its name, with the options and errors of `ElasticSolid.solve`."""
        return self._solutions([self], method, rtol, backend)[0]

    def solve_cases(
        self, cases: Mapping[Any, Any], method: str = AUTO, rtol: float = 1e-5, backend: str = "numba"
    ) -> dict[Any, BondedSolution]:
        """Solutions by name of the case and of the part for several sets of loads, with one matrix.

        cases: {name: {part: LoadCase(loads, body) or loads by tag}}; they replace the loads of all parts, and a part
        that a case does not name has none. The same options and errors as `solve`; KeyError for unknown parts."""
        if not isinstance(cases, Mapping) or not cases or not all(isinstance(case, Mapping) for case in cases.values()):
            raise TypeError(f"load cases of bonded solids are {{name: {{part: loads by tag}}}}, got {describe(cases)}")
        systems = [self._loaded_by(named_cases(case)) for case in cases.values()]
        return dict(zip(cases, self._solutions(systems, method, rtol, backend), strict=True))

    def _loaded_by(self, case: Mapping[Any, LoadCase]) -> "BondedSolids":
        if unknown := [name for name in case if name not in self.parts]:
            raise KeyError(f"unknown parts {unknown} of a load case: choose among {[*self.parts]}")
        none = LoadCase()
        return replace(self, parts={
            name: replace(part, loads=case.get(name, none).loads, body=case.get(name, none).body)
            for name, part in self.parts.items()
        })  # fmt: skip

    def _solutions(self, systems: "list[BondedSolids]", method: str, rtol: float, backend: str) -> list[BondedSolution]:
        """Of bonded solids that differ in their loads only."""
        plan = self.plan(method, rtol)
        for each in systems:
            each._refuse_unbalanced()
        loaded = [
            np.any([p.conditions.loaded for p in parts], axis=0)
            for parts in zip(*(s.solids for s in systems), strict=True)
        ]
        cases = [[(c, s.moving_source) for c, s in zip(each.known, each.solids, strict=True)] for each in systems]

        def pose(tolerance: float, fine: bool) -> tuple[JointEquation, Array]:
            own = self._with_rules(FINE) if fine else self
            own.plan(plan.method, tolerance).require_memory()
            equation = own._equation(loaded, (plan.method, tolerance, backend))
            for name, defect in zip(self.parts, equation.defects, strict=True):
                if not defect <= DEFECT:
                    raise ValueError(
                        f"the surface of {name!r} does not bound a body properly: rotations, which need no traction, "
                        f"have an error of {defect:.2g}; mesh.check() finds triangles that repeat, cross or overlap"
                    )
            return equation, equation.rhs_of(cases)

        rules = all(part.quadrature == Quadrature() for part in self.parts.values())
        began, found = time.perf_counter(), []
        posed = Posed.of(pose, plan.method, rtol, rules)
        assembly, began = time.perf_counter() - began, time.perf_counter()
        for each in systems:
            each._warn_of_jumps()
        for each, b in zip(systems, posed.right.T, strict=True):
            solved = posed.solver.solved(b)
            seconds, began = time.perf_counter() - began, time.perf_counter()
            known = posed.text(plan, rtol), posed.solver.amplification
            found.append(each._solution(posed.equation, solved, known, (assembly, seconds)))
        return found

    def _solution(
        self, equation: JointEquation, by: Solved, known: tuple[str, float], seconds: tuple[float, float]
    ) -> BondedSolution:
        """known: the plan and the amplification."""
        q, s = equation.split(by.x)
        motions, free = self._orthonormal_motions, self.free_motions.shape[1]
        whole = self.supports[0].ravel() + self.supports[1] @ q
        whole = whole - motions @ (motions.T @ (self.mass @ whole))
        found = BondedSolution()
        for (name, part), number, own, defect in zip(
            self.parts.items(), self.numbers, equation.parts, equation.defects, strict=True
        ):
            u, t = part.surface_fields(whole.reshape(-1, 3)[number], own.traction @ s)
            errors = part.estimated_errors(u, t, by.noise)
            info = ElasticInfo(known[0], by.text, defect, free, self._free_tags(part), *errors, *seconds, known[1])
            found[name] = ElasticSolution(part, u, t, info)
        warn_of_reactions(found)
        return found

    def _warn_of_jumps(self) -> None:
        """AccuracyWarning for steady temperatures of parts that differ on common faces."""
        found = [part.steady_temperature for part in self.solids]
        numbers = joined([part.mesh.vertices for part in self.solids], self.size)
        low, high = (np.full(1 + max(int(each.max()) for each in numbers), sign * np.inf) for sign in (1, -1))
        for part, number, own, common in zip(self.solids, numbers, found, self.faces.triangles, strict=True):
            if own is not None:
                met = np.unique(part.mesh.triangles[common])
                low[number[met]] = np.minimum(low[number[met]], own[met])
                high[number[met]] = np.maximum(high[number[met]], own[met])
        jump = float((high - low).max(initial=0.0))
        known = np.concatenate([each for each in found if each is not None] or [np.zeros(1)])
        if jump > JUMP * np.ptp(known):
            warn_of_accuracy(
                f"the steady temperatures of bonded parts differ by up to {jump:.3g} K on their common faces: no heat "
                "passes there between parts that are solved apart; give the temperature of common faces to both parts"
            )

    @property
    def solids(self) -> list[ElasticSolid]:
        """The parts."""
        return [*self.parts.values()]

    @property
    def known(self) -> list[SurfaceConditions]:
        """The conditions of the parts, with what is known of the displacements of joined nodes."""
        return [
            replace(s.conditions, u0=u0 - s.particular_displacement(s.spaces.displacements.scalar.nodes))
            for s, u0 in zip(self.solids, (self.supports[0][number] for number in self.numbers), strict=True)
        ]

    def _free_tags(self, part: ElasticSolid) -> tuple[str, ...]:
        """Tags without a condition, other than those of common faces."""
        common = self.faces.triangles[[*self.parts.values()].index(part)]
        names = {number: name for name, number in part.mesh.names.items()}
        faces = {str(names.get(tag, tag)) for tag in np.unique(part.mesh.tags[common]).tolist()}
        faces -= {str(names.get(tag, tag)) for tag in np.unique(part.mesh.tags[~common]).tolist()}
        return tuple(tag for tag in part.free_tags if tag not in faces)

    def _refuse_unbalanced(self) -> None:
        if not self.free_motions.shape[1]:
            return
        applied = [part.applied for part in self.parts.values()]
        total = balance.Resultant(*(np.sum([each[0][k] for each in applied], axis=0) for k in (0, 1)))
        tags = [tag for part in self.parts.values() for tag in part.mesh.names or np.unique(part.mesh.tags).tolist()]
        centre = self.bounds.mean(axis=0)
        balance.refuse_unbalanced(total, sum(each[1] for each in applied), self.size, self.free_motions, centre, tags)

    @cached_property
    def _orthonormal_motions(self) -> Array:
        """(3 n, f) the free motions at the joined nodes, orthonormal over the surfaces."""
        return balance.orthonormal(self._motions @ self.free_motions, self.mass)

    def _with_rules(self, rules: Quadrature) -> "BondedSolids":
        """The same solids with other rules, not checked again."""
        found = copy.copy(self)
        found.__dict__["parts"] = {name: with_rules(part, rules) for name, part in self.parts.items()}
        return found

    def _equation(self, loaded: list[NDArray[np.bool_]], options: tuple[str, float, str]) -> JointEquation:
        """loaded: by part, triangles with tractions in some load case; options: method, rtol, backend."""
        free = self.supports[1]
        lift = free.T @ (self.mass @ self._orthonormal_motions)
        return joint_equation(self._parts(loaded), (self.nodes, free), lift, self.size, options)

    def _parts(self, loaded: list[NDArray[np.bool_]]) -> list[Part]:
        """The parts with what they add to the equation."""
        count, free = len(self.nodes), self.supports[1]
        columns = _traction_columns(self.solids, self.faces)
        best = np.full(count, len(self.solids))
        for rank, number in zip(self.rank, self.numbers, strict=True):
            best[number] = np.minimum(best[number], rank)
        parts = []
        for k, (solid, number) in enumerate(zip(self.solids, self.numbers, strict=True)):
            chosen = sp.diags_array(np.repeat(best[number] == self.rank[k], 3).astype(float))
            displacement = selection(number, count) @ free
            conditions = replace(
                solid.conditions, free=(chosen @ displacement).tocsr(), bound=columns[k],
                supported=solid.conditions.supported | self.faces.softer[k],
                loaded=loaded[k] | self.faces.triangles[k],
            )  # fmt: skip
            parts.append(Part(solid, conditions, displacement.tocsr(), columns[k]))
        return parts


def _traction_columns(solids: list[ElasticSolid], faces: Faces) -> list[sp.csr_array]:
    """By part, (3 m, s) from all unknown tractions, those of supports and then those of common faces, to its own."""
    own = [part.conditions.bound for part in solids]
    shared, found = 3 * len(faces.numbers), []
    for k, bound in enumerate(own):
        column = np.arange(shared)
        matrix = sp.csr_array((bound.shape[0], shared))
        for side, sign in enumerate((1.0, -1.0)):
            here = np.repeat(faces.parts[:, side] == k, 3)
            rows = (3 * faces.numbers[:, side, None] + np.arange(3)).ravel()[here]
            matrix = matrix + sp.coo_array((np.full(len(rows), sign), (rows, column[here])), matrix.shape).tocsr()
        blocks = [bound if j == k else sp.csr_array((bound.shape[0], each.shape[1])) for j, each in enumerate(own)]
        found.append(sp.hstack([*blocks, matrix], format="csr"))
    return found
