"""A case of static fields is run: the skeleton of its surfaces, the problem, the solution and what is made of it."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

import calderon.mesh as meshes
from calderon.case import CaseFile
from calderon.case.faces import with_faces
from calderon.case.mesh import surface_mesh
from calderon.case.near_field import near_places
from calderon.data import rectangle_places
from calderon.formulations import Region, StaticProblem
from calderon.formulations.statics.loads import regions_of
from calderon.formulations.statics.solution import StaticSolution
from calderon.formulations.statics.surface_values import at_sides
from calderon.kinds.statics.model import StaticCase
from calderon.kinds.statics.results import StaticForces, StaticResults
from calderon.mesh import TriangleMesh
from calderon.report.second_mesh import SecondMesh, estimated, other_meshes, second_mesh
from calderon.report.stages import Stages
from calderon.waves import PointCharge


def posed_problem(file: CaseFile[StaticCase], stages: Stages) -> StaticProblem:
    """The problem of a case; CaseError for what cannot be used."""
    with stages.stage("make the mesh"):
        mesh = _mesh(file)
    with stages.stage("find the regions"):
        problem = _problem(file, mesh)
    for number, one in enumerate(file.case.source):
        with file.blamed("source", "position" if one.position else "kind", number=number):
            regions_of([one.source], problem.skeleton)
    return problem


def _mesh(file: CaseFile[StaticCase]) -> TriangleMesh:
    """The surfaces of a case with the names of its [[face]] tables."""
    if file.case.mesh is not None:
        return with_faces(file, surface_mesh(file))
    parts = {each.name: surface_mesh(file, number=number) for number, each in enumerate(file.case.surface)}
    with file.blamed("surface", "name", number=0):
        return with_faces(file, meshes.joined(parts))


def _problem(file: CaseFile[StaticCase], mesh: TriangleMesh) -> StaticProblem:
    """The problem of a case on a mesh."""
    case = file.case
    for table in ("region", "electrode"):
        for number, each in enumerate(getattr(case, table)):
            with file.blamed(table, "tags", number=number):
                if each.tags != "all" or "all" in mesh.names:
                    mesh.tag_numbers(each.tags)
    regions = {each.name: Region(each.tags, **each.constants) for each in case.region}
    electrodes = {each.name: each.tags for each in case.electrode}
    around = case.statics.outside
    outside = None if case.statics.closed else Region(**({} if around is None else around.constants))
    table = "region" if case.region else "electrode" if case.electrode else "statics"
    key, value = ("space", None) if table == "statics" else ("tags", "those of all tables")
    with file.blamed(table, key, value, None if table == "statics" else 0):
        return StaticProblem(mesh, regions, electrodes, outside, case.statics.space)


def options_of(case: StaticCase) -> dict[str, Any]:
    """The options of solutions."""
    solver = case.solver
    return {"method": solver.method, "rtol": solver.rtol, "backend": solver.backend}


def computed(file: CaseFile[StaticCase], problem: StaticProblem, stages: Stages) -> StaticResults:
    """All requested results of a case."""
    case, output = file.case, file.case.output
    options, found = options_of(case), StaticResults(file, problem)
    if case.is_driven:
        table, key = ("electrode", "name") if case.electrode else ("source", "kind")
        with stages.stage("assemble and solve"), file.blamed(table, key, number=0):
            solution = problem.solve(**case.excitation, **options)
        found = _of_field(replace(found, solution=solution), solution, stages)
    if output.capacitance:
        with stages.stage("charges of unit potentials"):
            found = replace(found, matrix=_matrix(problem, options))
    if (lead := output.lead_field) is not None:
        with stages.stage("lead field"), file.blamed("output", "lead_field.places"):
            found = replace(found, leads=problem.lead_field(lead.electrodes, lead.places, **options))
    return replace(found, second_mesh=_second_mesh(file, problem, stages)) if output.estimate else found


def _matrix(problem: StaticProblem, options: dict[str, Any]) -> Any:
    of = problem.conductance_matrix if problem.kind.name == "conductivity" else problem.capacitance_matrix
    return of(**options)


def _of_field(found: StaticResults, solution: StaticSolution, stages: Stages) -> StaticResults:
    """Results with what is requested of their solution."""
    output = found.file.case.output
    with stages.stage("fields"):
        if output.slice is not None:
            found = replace(found, plane=solution.samples(rectangle_places(slice_points(found.file.case, found.mesh))))
        if output.near_field:
            near = {name: solution.samples(places) for name, places in near_places(found.file).items()}
            found = replace(found, near_fields=near)
    if output.forces:
        with stages.stage("forces"):
            found = replace(found, forces=_forces(solution))
    return found


def _forces(solution: StaticSolution) -> StaticForces:
    """Forces on walls, and on point charges where there are no other sources."""
    forces, torques = solution.forces(), solution.torques()
    charges = [each for each in solution.sources if isinstance(each, PointCharge)]
    if charges and len(charges) == len(solution.sources):
        for number, (each, force) in enumerate(zip(charges, solution.force_on_sources(), strict=True), 1):
            forces[f"charge {number}"], torques[f"charge {number}"] = force, np.cross(each.position, force)
    largest = np.nanmax(at_sides(solution.posed)[0], axis=1)
    scale = largest * solution.posed.mesh.areas @ solution.surface_strength.coefficients**2 / 2
    return StaticForces(forces, torques, float(scale))


def slice_points(case: StaticCase, mesh: TriangleMesh) -> NDArray[np.float64]:
    """Points (rows, columns, 3) of the requested rectangle; by default 1.6 times the extent of the bodies, or what
    closed ones hold."""
    requested, (low, high) = case.output.slice, mesh.bounds
    assert requested is not None
    extent = (high - low)[requested.axes]
    return requested.grid(extent + (0.02 if case.statics.closed else 0.6) * extent.max(), (low + high) / 2)


def _second_mesh(file: CaseFile[StaticCase], problem: StaticProblem, stages: Stages) -> SecondMesh | None:
    """The error of capacitances, or of charges and of the potential at some points, by a second mesh."""
    case = file.case
    lengths = [each.h for each in ([case.mesh] if case.mesh is not None else case.surface)]

    def longer(factor: float) -> tuple[TriangleMesh, StaticProblem]:
        update: dict[str, Any] = {
            "surface": tuple(each.model_copy(update={"h": each.h and factor * each.h}) for each in case.surface)
        }
        if case.mesh is not None:
            update["mesh"] = case.mesh.model_copy(update={"h": factor * (case.mesh.h or 0.0)})
        other = replace(file, case=case.model_copy(update=update))
        mesh = _mesh(other)
        return mesh, _problem(other, mesh)

    quantity, points = _measured_name(case), _points(problem)

    def compare(mesh: TriangleMesh, again: StaticProblem) -> SecondMesh | None:
        first, second = (_measured(case, each, points) for each in (problem, again))
        return second_mesh(quantity, first, second, problem.mesh, mesh)

    scale = 1.0 if all(lengths) and not case.face else None
    others = other_meshes(scale, problem.mesh, longer, lambda mesh: _problem(file, mesh))
    return estimated(others, compare, stages, lambda again: f"{again.unknowns} unknowns")


def _measured_name(case: StaticCase) -> str:
    if case.output.capacitance:
        return "conductances" if case.materials == "conductivity" else "capacitances"
    return "potential"


def _points(problem: StaticProblem) -> NDArray[np.float64]:
    """Some points in regions, those farthest from surfaces, next to which meshes differ most."""
    low, high = problem.mesh.bounds
    x = low + (high - low) * np.random.default_rng(1).random((1000, 3))
    x = x[problem.skeleton.located(x) >= 0]
    away = cKDTree(problem.mesh.centroids).query(x)[0]
    return np.asarray(x[np.argsort(-away)[:64]])


def _measured(case: StaticCase, problem: StaticProblem, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Capacitances where they are requested, else the potential at points in regions of both meshes."""
    options = options_of(case)
    if case.output.capacitance:
        return np.asarray(_matrix(problem, options).values.ravel())
    return np.nan_to_num(problem.solve(**case.excitation, **options).field(points))
