"""A case of an elastic solid is run: mesh, equations, stresses on the surface and inside."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import require_memory
from calderon.case import CaseFile
from calderon.case.near_field import near_places
from calderon.data import Places
from calderon.formulations import BondedSolids, BondedSolution, ElasticSolid, ElasticSolution, LoadCase
from calderon.formulations.elastic.material import von_mises
from calderon.kinds.solid.building import elastic_solid, solid_mesh
from calderon.kinds.solid.model import SolidCase
from calderon.kinds.solid.panels import PANELS
from calderon.kinds.solid.results import Inside, Largest, SolidResults
from calderon.kinds.solid.singular import next_to, singular_edges
from calderon.kinds.solid.units import Units
from calderon.mesh.containment import winding_numbers
from calderon.plots import inside
from calderon.plots.slices import continued
from calderon.report import Kind, Stages
from calderon.report.formatting import Row
from calderon.report.kind import cost_rows

Array = NDArray[np.float64]
OFF = 1e-3
"""How far points of a plane are kept from the surface, over the mean edge."""


@dataclass(frozen=True)
class PosedSolid:
    """The problem of each load case, the points (rows, columns, 3) of a plane, and the places of near fields."""

    systems: dict[str, ElasticSolid | BondedSolids]
    plane: Array | None
    places: dict[str, Places]

    @property
    def first(self) -> ElasticSolid | BondedSolids:
        """The problem of the first load case."""
        return next(iter(self.systems.values()))


def _parts(posed: ElasticSolid | BondedSolids) -> Mapping[str, ElasticSolid]:
    return posed.parts if isinstance(posed, BondedSolids) else {"": posed}


def _solved(systems: Mapping[str, ElasticSolid | BondedSolids], options: Any) -> dict[str, BondedSolution]:
    """Solutions by load case and part, with one matrix."""
    first = next(iter(systems.values()))
    cases = {
        name: {part: LoadCase(solid.loads, solid.body) for part, solid in _parts(system).items()}
        for name, system in systems.items()
    }
    if isinstance(first, BondedSolids):
        return first.solve_cases(cases, **options)
    alone = first.solve_cases({name: case[""] for name, case in cases.items()}, **options)
    return {name: BondedSolution({"": solution}) for name, solution in alone.items()}


def _part_of(solids: Mapping[str, ElasticSolid], points: Array) -> NDArray[np.int64]:
    """(n,) number of the part in which each point (n, 3) is, -1 for none."""
    found = np.full(len(points), -1)
    for number, solid in enumerate(solids.values()):
        turns = winding_numbers(solid.mesh.vertices, solid.mesh.triangles, points)
        found[turns == (0 if solid.exterior else 1)] = number
    return found


def _require_inside(file: CaseFile[SolidCase], solids: Mapping[str, ElasticSolid]) -> None:
    """CaseError for requested points that are not inside the material: reported before the equations are solved."""
    output = file.case.output
    named: list[tuple[Any, str, Any]] = [(output.points, "points", None)] if output.points else []
    named += [(line.points, "line", [list(line.start), list(line.stop)]) for line in output.line]
    for points, key, value in named:
        x = np.array(points)
        if len(wrong := np.flatnonzero(_part_of(solids, x) < 0)):
            shown = ", ".join(f"{each:.6g}" for each in x[wrong[0]])
            text = f"{len(wrong)} of {len(x)} points are not inside the material, the first is [{shown}]: the surface "
            raise file.mistake("output", key, f"{text}has its stresses in solid.vtu and surface.csv", value)


def _inside(parts: Mapping[str, ElasticSolution], points: Array) -> Inside:
    """ValueError for points on the surface of a part."""
    number = _part_of({name: each.solid for name, each in parts.items()}, points)
    displacement, stress = np.zeros_like(points), np.zeros((len(points), 3, 3))
    for k, solution in enumerate(parts.values()):
        own = number == k
        if own.any():
            displacement[own], stress[own] = solution.field(points[own]), solution.stress(points[own])
    return Inside(points, displacement, stress)


def _largest(parts: Mapping[str, ElasticSolution]) -> Largest:
    """The largest stress and its place."""
    return max((_largest_of(each) for each in parts.values()), key=lambda found: found.value)


def _largest_of(solution: ElasticSolution) -> Largest:
    mesh = solution.solid.mesh
    value, place = solution.largest_stress
    edges = singular_edges(solution.solid)
    at = int(np.argmin(((mesh.vertices - place) ** 2).sum(axis=1)))
    edge = next((reason for reason, mask in edges.items() if mask[at]), "")
    kept = ~next_to(mesh.triangles, np.any([*edges.values()], axis=0))[mesh.triangles]
    stress = np.where(kept, solution.von_mises, -1.0)
    corner = np.unravel_index(int(np.argmax(stress)), stress.shape) if kept.any() else (0, 0)
    away = (float(stress[corner]), mesh.vertices[mesh.triangles[corner]]) if kept.any() else (value, place)
    return Largest(value, place, edge, away)


def _plane(file: CaseFile[SolidCase], solids: Mapping[str, ElasticSolid]) -> Array | None:
    """(rows, columns, 3) points of the requested plane; CaseError where it does not meet the body."""
    requested = file.case.output.slice
    if requested is None:
        return None
    bounds = np.stack([each.mesh.bounds for each in solids.values()])
    low, high = bounds[:, 0].min(axis=0), bounds[:, 1].max(axis=0)
    extent = (high - low)[requested.axes]
    points = requested.grid(1.04 * extent, (low + high) / 2)
    if not any(_in_material(each, points).any() for each in solids.values()):
        raise file.mistake("output", "slice", "no point of the plane lies in the solid", requested.plane)
    return points


def _in_material(solid: ElasticSolid, points: Array) -> NDArray[np.bool_]:
    return np.asarray(inside(solid.mesh, points) != solid.exterior)


def _cut(case: SolidCase, parts: Mapping[str, ElasticSolution], points: Array) -> Array:
    """(rows, columns) von Mises stresses or magnitudes of displacement, NaN outside of the material; next to surfaces
    those of the nearest point."""
    requested = case.output.slice
    assert requested is not None
    across, up = (v / np.linalg.norm(v) for v in (points[0, 1] - points[0, 0], points[1, 0] - points[0, 0]))
    values, material = np.full(points.shape[:2], np.nan), np.zeros(points.shape[:2], bool)
    for solution in parts.values():
        chosen, step = _in_material(solution.solid, points), OFF * solution.solid.mesh.mean_edge_length
        material |= chosen
        for shift in (across, -across, up, -up):
            chosen &= _in_material(solution.solid, points + step * shift)
        if requested.quantity == "von-mises":
            values[chosen] = von_mises(solution.stress(points[chosen]))
        else:
            values[chosen] = np.linalg.norm(solution.field(points[chosen]), axis=1)
    near = material & np.isnan(values)
    values[near] = continued(values)[near] if np.isfinite(values).any() else np.nan
    return values


class Solids(Kind[SolidCase, PosedSolid, SolidResults]):
    """Solids under static loads."""

    def build(self, file: CaseFile[SolidCase], stages: Stages) -> PosedSolid:
        case = file.case
        with stages.stage("make the mesh" if case.mesh.shape else "read the mesh"):
            mesh = solid_mesh(file)
            systems = {name: elastic_solid(file, mesh, name) for name in case.load_cases}
            solids = _parts(next(iter(systems.values())))
            plane = _plane(file, solids)
            _require_inside(file, solids)
            return PosedSolid(systems, plane, near_places(file))

    def compute(
        self, file: CaseFile[SolidCase], posed: PosedSolid, stages: Stages, scratch: Path | None
    ) -> SolidResults:
        case, plane = file.case, posed.plane
        options: Any = {"method": case.solver.method, "rtol": case.solver.rtol}
        plan, unknowns = posed.first.plan(**options), posed.first.unknowns
        require_memory(plan.nbytes, f"the solution of {unknowns} unknowns ({plan.method})", "use a coarser mesh")
        with stages.stage("assemble and solve", str(plan)):
            load_cases = _solved(posed.systems, options | {"backend": case.solver.backend})
        with stages.stage("stresses on the surface"):
            worst = max(load_cases, key=lambda name: max(each.largest_stress[0] for each in load_cases[name].values()))
            parts = load_cases[worst]
            largest = _largest(parts)
        points, lines, cut = None, [], None
        if case.output.points or case.output.line or plane is not None:
            with stages.stage("stresses inside"):
                if case.output.points:
                    points = _inside(parts, np.array(case.output.points))
                lines = [_inside(parts, line.points) for line in case.output.line]
                if plane is not None:
                    cut = plane, _cut(case, parts, plane)
        near = {}
        for name, each in posed.places.items():
            with stages.stage("near field", name):
                near[name] = parts.samples(each.in_unit(Units(case.solid.units).base("length")))
        return SolidResults(
            file, parts, unknowns, largest, points, tuple(lines), cut, worst, load_cases, near_fields=near
        )

    def plan(self, file: CaseFile[SolidCase], stages: Stages) -> list[Row]:
        """The plan of the matrix, and of the solution of the first load case."""
        posed = self.build(file, stages).first
        with stages.stage("plan the matrix"):
            options: Any = {"method": file.case.solver.method, "rtol": file.case.solver.rtol}
            plan = posed.plan(**options)
        costs = cost_rows(plan.nbytes, plan.expected_seconds, "solution")
        return [*((name, text, "") for name, text in plan.lines), ("method", plan.method, ""), *costs]

    def subtitle(self, results: SolidResults) -> str:
        case = results.file.case
        source = case.mesh.file or case.mesh.sample or case.mesh.shape
        side = ", the solid around the surface" if case.solid.exterior else ""
        materials = []
        for name, one in case.materials.items():
            called = ", ".join(filter(None, [name, one.name]))
            modulus = results.units.text("modulus", one.youngs_modulus)
            materials.append(f"{called + ': ' if called else ''}E = {modulus}, ν = {one.poissons_ratio:g}")
        return f"Mesh “{source}”{side}; {'; '.join(materials)}."


KIND = Solids("solid", "Elastic solids", SolidCase, PANELS, "Elastic solid under static loads")
