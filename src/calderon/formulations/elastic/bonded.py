"""Solids of different materials that are bonded at common faces."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.formulations.elastic.conditions.interfaces import (
    Faces,
    common_faces,
    joined,
    joined_supports,
    refuse_conditions_on_faces,
    selection,
)
from calderon.formulations.elastic.loads.load_cases import LoadCase
from calderon.formulations.elastic.problem import ElasticProblem, load_case
from calderon.formulations.elastic.results.bonded_solution import BondedSolution
from calderon.formulations.elastic.results.solution import ElasticSolution
from calderon.formulations.elastic.solid import ElasticSolid
from calderon.formulations.elastic.system.body import Body
from calderon.mesh.errors import warn_of_accuracy
from calderon.validation import describe

Array = NDArray[np.float64]
JUMP = 0.01
"""Difference of the steady temperatures of two parts on a common face, over their range, that is warned of."""


@dataclass(frozen=True, eq=False, repr=False)
class BondedSolids(ElasticProblem[BondedSolution]):
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
    def supports_of_nodes(self) -> tuple[Array, sp.csr_array]:
        """U_0 (n, 3) and N (3 n, q) of displacements U = U_0 + N q of the joined nodes. ValueError where supports of
        different parts disagree."""
        particular = [solid.volume.displacement(solid.nodes) for solid in self.solids]
        return joined_supports([*self.parts], self.numbers, [s.conditions for s in self.solids], particular)

    @cached_property
    def mass(self) -> sp.csr_array:
        """(3 n, 3 n) the mass matrix of displacements on the surfaces of all parts."""
        selections = [selection(number, len(self.nodes)) for number in self.numbers]
        parts = [p.T @ s.spaces.displacements.mass_matrix() @ p for s, p in zip(self.solids, selections, strict=True)]
        return sum(parts[1:], parts[0]).tocsr()

    @property
    def named_solids(self) -> Mapping[Any, ElasticSolid]:
        return self.parts

    @cached_property
    def traction_columns(self) -> list[sp.csr_array]:
        """By part, its tractions (3 m, s) from all unknown ones: those of supports and then those of common faces."""
        own, shared, found = [solid.conditions.bound for solid in self.solids], 3 * len(self.faces.numbers), []
        for k, bound in enumerate(own):
            column = np.arange(shared)
            matrix = sp.csr_array((bound.shape[0], shared))
            for side, sign in enumerate((1.0, -1.0)):
                here = np.repeat(self.faces.parts[:, side] == k, 3)
                rows = (3 * self.faces.numbers[:, side, None] + np.arange(3)).ravel()[here]
                entries = np.full(len(rows), sign), (rows, column[here])
                matrix = matrix + sp.coo_array(entries, matrix.shape).tocsr()
            blocks = [bound if j == k else sp.csr_array((bound.shape[0], each.shape[1])) for j, each in enumerate(own)]
            found.append(sp.hstack([*blocks, matrix], format="csr"))
        return found

    def bodies(self, loaded: Sequence[NDArray[np.bool_]]) -> list[Body]:
        count, free = len(self.nodes), self.supports_of_nodes[1]
        best = np.full(count, len(self.solids))
        for rank, number in zip(self.rank, self.numbers, strict=True):
            best[number] = np.minimum(best[number], rank)
        found = []
        for k, (solid, number) in enumerate(zip(self.solids, self.numbers, strict=True)):
            chosen = sp.diags_array(np.repeat(best[number] == self.rank[k], 3).astype(float))
            displacement = selection(number, count) @ free
            conditions = replace(
                solid.conditions, free=(chosen @ displacement).tocsr(), bound=self.traction_columns[k],
                supported=solid.conditions.supported | self.faces.softer[k],
                loaded=loaded[k] | self.faces.triangles[k],
            )  # fmt: skip
            found.append(Body(solid, conditions, displacement.tocsr(), self.traction_columns[k]))
        return found

    def with_loads(self, data: Any) -> "BondedSolids":
        if not isinstance(data, Mapping):
            raise TypeError(f"the loads of bonded solids are {{part: loads by tag}}, got {describe(data)}")
        if unknown := [name for name in data if name not in self.parts]:
            raise KeyError(f"unknown parts {unknown} of a load case: choose among {[*self.parts]}")
        cases = {name: load_case(data[name]) if name in data else LoadCase() for name in self.parts}
        parts = {name: replace(part, loads=cases[name].loads, body=cases[name].body)
                 for name, part in self.parts.items()}  # fmt: skip
        return replace(self, parts=parts)

    def _named_cases(self, cases: Any) -> list[Any]:
        if not isinstance(cases, Mapping) or not cases or not all(isinstance(case, Mapping) for case in cases.values()):
            raise TypeError(f"load cases of bonded solids are {{name: {{part: loads by tag}}}}, got {describe(cases)}")
        return [*cases.values()]

    def collected(self, found: dict[Any, ElasticSolution]) -> BondedSolution:
        return BondedSolution(found)

    def free_tags(self, name: Any) -> tuple[str, ...]:
        """The tags of a part without a condition, other than those of common faces."""
        part, common = self.parts[name], self.faces.triangles[[*self.parts].index(name)]
        names = {number: name for name, number in part.mesh.names.items()}
        faces = {str(names.get(tag, tag)) for tag in np.unique(part.mesh.tags[common]).tolist()}
        faces -= {str(names.get(tag, tag)) for tag in np.unique(part.mesh.tags[~common]).tolist()}
        return tuple(tag for tag in part.free_tags() if tag not in faces)

    def warn_of_loads(self) -> None:
        """AccuracyWarning for steady temperatures of parts that differ on common faces."""
        found = [part.volume.steady_temperature for part in self.solids]
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
