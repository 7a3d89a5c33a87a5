"""A case of an elastic solid is run: mesh, equations, stresses on the surface and inside."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import require_memory
from calderon.case import CaseFile, SolidCase, elastic_solid, solid_mesh
from calderon.formulations import ElasticSolution
from calderon.mesh import TriangleMesh
from calderon.mesh.containment import winding_numbers
from calderon.mesh.errors import warn
from calderon.plots import inside
from calderon.report.solid.results import Inside, Largest, SolidResults
from calderon.report.solid.singular import next_to, singular_edges
from calderon.report.stages import Stages

Array = NDArray[np.float64]
OFF = 1e-3
"""Of the mean edge: how far points of a plane are kept from the surface."""


def compute_solid(file: CaseFile[SolidCase], stages: Stages, scratch: Path | None = None) -> SolidResults:
    """Everything that a case of a solid requests; CaseError for what in the case cannot be used, ValueError for loads
    that nothing balances, MemoryError before anything is computed. scratch: not needed."""
    case = file.case
    with stages.stage("make the mesh" if case.mesh.shape else "read the mesh"):
        posed = elastic_solid(file, solid_mesh(file))
        mesh = posed.mesh
        plane = _plane(file, mesh)
        _require_inside(file, mesh)
    plan = posed.plan(case.solver.method, case.solver.rtol)
    require_memory(plan.nbytes, f"the solution of {plan.unknowns} unknowns ({plan.method})", "use a coarser mesh")
    with stages.stage("assemble and solve", str(plan)):
        solution = posed.solve(case.solver.method, case.solver.rtol, case.solver.backend)
    with stages.stage("stresses on the surface"):
        largest = _largest(solution)
    points, lines, cut = None, [], None
    if case.output.points or case.output.line or plane is not None:
        with stages.stage("stresses inside"):
            if case.output.points:
                points = _inside(solution, np.array(case.output.points))
            lines = [_inside(solution, line.points) for line in case.output.line]
            if plane is not None:
                cut = plane, _cut(case, solution, plane)
    return SolidResults(file, mesh, solution, largest, points, tuple(lines), cut)


def _require_inside(file: CaseFile[SolidCase], mesh: TriangleMesh) -> None:
    """CaseError for requested points that are not inside the material: reported before the equations are solved."""
    output = file.case.output
    named: list[tuple[Any, str, Any]] = [(output.points, "points", None)] if output.points else []
    named += [(line.points, "line", [list(line.start), list(line.stop)]) for line in output.line]
    for points, key, value in named:
        x = np.array(points)
        turns = winding_numbers(mesh.vertices, mesh.triangles, x)
        if len(wrong := np.flatnonzero(turns != (0 if file.case.solid.exterior else 1))):
            shown = ", ".join(f"{each:.6g}" for each in x[wrong[0]])
            text = f"{len(wrong)} of {len(x)} points are not inside the material, the first is [{shown}]: the surface "
            raise file.mistake("output", key, f"{text}has its stresses in solid.vtu and surface.csv", value)


def _inside(solution: ElasticSolution, points: Array) -> Inside:
    return Inside(points, solution.field(points), solution.stress(points))


def _largest(solution: ElasticSolution) -> Largest:
    """The largest stress and its place, with a warning on edges at which it has no limit."""
    mesh = solution.solid.mesh
    value, place = solution.largest_stress
    edges = singular_edges(solution.solid)
    at = int(np.argmin(((mesh.vertices - place) ** 2).sum(axis=1)))
    edge = next((reason for reason, mask in edges.items() if mask[at]), "")
    kept = ~next_to(mesh.triangles, np.any([*edges.values()], axis=0))[mesh.triangles]
    stress = np.where(kept, solution.von_mises, -1.0)
    corner = np.unravel_index(int(np.argmax(stress)), stress.shape) if kept.any() else (0, 0)
    away = (float(stress[corner]), mesh.vertices[mesh.triangles[corner]]) if kept.any() else (value, place)
    if edge:
        warn(
            f"the largest von Mises stress lies on {edge}, where the exact stress has no limit: it grows with every "
            "refinement, so judge the part by the largest one away from such edges, or model the fillet"
        )
    return Largest(value, place, edge, away)


def _plane(file: CaseFile[SolidCase], mesh: TriangleMesh) -> Array | None:
    """(rows, columns, 3) points of the requested plane; CaseError where it does not meet the body."""
    requested = file.case.output.slice
    if requested is None:
        return None
    low, high = mesh.bounds
    extent = (high - low)[requested.axes]
    points = requested.grid(1.04 * extent, (low + high) / 2)
    if not _in_material(file.case, mesh, points).any():
        raise file.mistake("output", "slice", "no point of the plane lies in the solid", requested.plane)
    return points


def _in_material(case: SolidCase, mesh: TriangleMesh, points: Array) -> NDArray[np.bool_]:
    return np.asarray(inside(mesh, points) != case.solid.exterior)


def _cut(case: SolidCase, solution: ElasticSolution, points: Array) -> Array:
    """(rows, columns) von Mises stresses or magnitudes of displacement, NaN outside of the material and on its
    surface."""
    requested = case.output.slice
    assert requested is not None
    mesh = solution.solid.mesh
    chosen = _in_material(case, mesh, points)
    step = OFF * mesh.mean_edge_length
    across, up = (v / np.linalg.norm(v) for v in (points[0, 1] - points[0, 0], points[1, 0] - points[0, 0]))
    for shift in (across, -across, up, -up):
        chosen &= _in_material(case, mesh, points + step * shift)
    values = np.full(points.shape[:2], np.nan)
    found = _inside(solution, points[chosen]) if requested.quantity == "von-mises" else None
    if found is not None:
        values[chosen] = found.von_mises
    else:
        values[chosen] = np.linalg.norm(solution.field(points[chosen]), axis=1)
    return values
