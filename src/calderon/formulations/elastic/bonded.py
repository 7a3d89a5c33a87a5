"""Solids of different materials that are bonded at common faces."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from calderon.formulations.elastic.conditions.interfaces import (
    Faces,
    common_faces,
    joined,
    joined_supports,
    refuse_conditions_on_faces,
    selection,
)
from calderon.formulations.elastic.conditions.joined_bodies import JoinedBodies
from calderon.formulations.elastic.loads.body_loads import LoadCase
from calderon.formulations.elastic.problem import ElasticProblem
from calderon.formulations.elastic.results.solution import BondedSolution, ElasticSolution
from calderon.formulations.elastic.solid import ElasticSolid
from calderon.formulations.elastic.tolerances import TOLERANCES
from calderon.mesh.errors import warn_of_accuracy
from calderon.validation import describe


@dataclass(frozen=True, eq=False, repr=False)
class BondedSolids(ElasticProblem[BondedSolution]):
    """Solids (`ElasticSolid`) with common faces, at which they have one displacement and opposite tractions.

    parts: {name: ElasticSolid}, each with material, supports, loads and loads of the volume of its own. Common faces
    are found: the meshes have the same triangles there, without conditions. All parts have one kind of space.

    TypeError for other parts, ValueError for fewer than two, for parts that share no triangles, that overlap or lie
    within each other (also where both are on one side of a face), and for loads that nothing balances.
    """

    parts: Mapping[Any, ElasticSolid]

    case_form = "{part: loads by tag}"

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
        """The rank of each part by its stiffness, 0 for the stiffest."""
        stiffness = [-part.material.youngs_modulus for part in self.parts.values()]
        return np.argsort(np.argsort(stiffness, kind="stable")).tolist()

    @cached_property
    def faces(self) -> Faces:
        """The common faces."""
        meshes, spaces = [s.mesh for s in self.solids], [s.spaces.tractions for s in self.solids]
        return common_faces([*self.parts], meshes, spaces, self.rank, [s.exterior for s in self.solids])

    @property
    def solids(self) -> list[ElasticSolid]:
        """The parts."""
        return [*self.parts.values()]

    @cached_property
    def joined(self) -> JoinedBodies:
        """The parts in common unknowns. ValueError where supports of different parts disagree."""
        solids = self.solids
        nodes = [solid.spaces.displacements.scalar.nodes for solid in solids]
        bounds = np.concatenate([solid.mesh.bounds for solid in solids])
        numbers = joined(nodes, float(np.linalg.norm(np.ptp(bounds, axis=0))))
        whole = np.zeros((1 + max(int(each.max()) for each in numbers), 3))
        best = np.full(len(whole), len(solids))
        for number, own, rank in zip(numbers, nodes, self.rank, strict=True):
            whole[number] = own
            best[number] = np.minimum(best[number], rank)
        particular = [solid.volume.displacement(own) for solid, own in zip(solids, nodes, strict=True)]
        u0, free = joined_supports([*self.parts], numbers, [solid.conditions for solid in solids], particular)
        tests = []
        for number, rank in zip(numbers, self.rank, strict=True):
            chosen = sp.diags_array(np.repeat(best[number] == rank, 3).astype(float))
            tests.append((chosen @ (selection(number, len(whole)) @ free)).tocsr())
        return JoinedBodies(
            names=[*self.parts], solids=solids, numbers=numbers, nodes=whole, u0=u0, free=free, tests=tests,
            tractions=self._traction_columns(), tested=self.faces.softer, common=self.faces.triangles,
        )  # fmt: skip

    def _traction_columns(self) -> list[sp.csr_array]:
        """The tractions (3 m, s) of each part from all unknown ones: those of supports and then those of common
        faces, of which the softer part has the opposite ones."""
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

    def with_loads(self, data: Any) -> "BondedSolids":
        if not isinstance(data, Mapping):
            raise TypeError(f"a load case of bonded solids is {{part: loads by tag}}, got {describe(data)}")
        if unknown := [name for name in data if name not in self.parts]:
            raise ValueError(f"unknown parts {unknown} of a load case: choose among {[*self.parts]}")
        cases = {name: LoadCase.of(data[name]) if name in data else LoadCase() for name in self.parts}
        parts = {name: replace(part, loads=cases[name].loads, body=cases[name].body)
                 for name, part in self.parts.items()}  # fmt: skip
        return replace(self, parts=parts)

    def _collected(self, found: dict[Any, ElasticSolution]) -> BondedSolution:
        return BondedSolution(found)

    def _warn_of_loads(self) -> None:
        """AccuracyWarning for steady temperatures of parts that differ on common faces."""
        found = [part.volume.steady_temperature for part in self.solids]
        numbers = joined([part.mesh.vertices for part in self.solids], self.joined.size)
        low, high = (np.full(1 + max(int(each.max()) for each in numbers), sign * np.inf) for sign in (1, -1))
        for part, number, own, common in zip(self.solids, numbers, found, self.faces.triangles, strict=True):
            if own is not None:
                met = np.unique(part.mesh.triangles[common])
                low[number[met]] = np.minimum(low[number[met]], own[met])
                high[number[met]] = np.maximum(high[number[met]], own[met])
        jump = float((high - low).max(initial=0.0))
        known = np.concatenate([each for each in found if each is not None] or [np.zeros(1)])
        if jump > TOLERANCES.jump * np.ptp(known):
            warn_of_accuracy(
                f"the steady temperatures of bonded parts differ by up to {jump:.3g} K on their common faces: no heat "
                "passes there between parts that are solved apart; give the temperature of common faces to both parts"
            )
