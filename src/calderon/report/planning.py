"""What the matrix of a case will take, before anything is computed."""

import calderon.report.planar.computing as planar
import calderon.report.reflectarray.computing as reflectarrays
from calderon.backends import format_bytes, free_memory
from calderon.case import (
    Case,
    CaseFile,
    PeriodicCase,
    PlanarCase,
    ReflectarrayCase,
    SolidCase,
    TransientCase,
    elastic_solid,
    solid_mesh,
)
from calderon.formulations.options import SolveOptions, largest_dense
from calderon.operators.methods import AUTO, Plan, rounded
from calderon.report.formatting import Row, frequency_text
from calderon.report.periodic.computing import built
from calderon.report.stages import Stages
from calderon.report.surface.computing import checked_mesh, dense_bytes, moments_of, options


def plan_surface(file: CaseFile[Case], stages: Stages) -> list[Row]:
    """Of a case on a surface: at the largest wavenumber of a sweep."""
    case, mesh = file.case, checked_mesh(file, stages)
    moment = max(moments_of(case), key=lambda each: each.wavenumber)
    with stages.stage("plan the matrix", moment.at):
        posed = case.physics.build(mesh, moment.wavenumber)
        chosen = SolveOptions(**options(case)).for_unknowns(posed.unknowns, posed.system.operator)
        method = chosen.chosen
        with file.blamed("solver", "method"):
            given = posed.system.operator, chosen.assembly_rtol, chosen.precision
            plan = None if method.plan is None else method.plan(*given)
    rows: list[Row] = [("planned, of the sweep", moment.name, "")] if moment.of_several else []
    rows += [
        ("unknowns", f"{posed.unknowns} on {mesh.number_of_triangles} triangles", ""),
        ("method", f"{method.name}, {method.matrix}", ""),
    ]
    if case.solver.method == AUTO:
        rows.append(("why", chosen.reason or _why(case, posed.unknowns), ""))
    if plan is None:
        return [*rows, ("memory", "no entries: each product computes them anew", "")]
    rows.append(("numbers", f"{plan.precision} precision", ""))
    if plan.details:
        rows.append(("tree", plan.details, ""))
    nbytes = dense_bytes(case, posed.unknowns) if method.stores_entries else plan.nbytes
    rows += _costs(nbytes, plan.seconds)
    return [*rows, ("one product", f"about {rounded(plan.product_seconds)}", "s")]


def plan_solid(file: CaseFile[SolidCase], stages: Stages) -> list[Row]:
    """Of an elastic solid, with the solution of its first load case."""
    case = file.case
    with stages.stage("make the mesh" if case.mesh.shape else "read the mesh"):
        mesh = solid_mesh(file)
        posed = elastic_solid(file, mesh, next(iter(case.load_cases)))
    with stages.stage("plan the matrix"):
        plan = posed.plan(method=case.solver.method, rtol=case.solver.rtol)  # type: ignore[arg-type]
    costs = _costs(plan.nbytes, plan.expected_seconds, "solution")
    return [("unknowns", plan.details, ""), ("method", plan.method, ""), *costs]


def plan_reflectarray(file: CaseFile[ReflectarrayCase], stages: Stages) -> list[Row]:
    """Of the array, whose sizes follow from phases that are computed."""
    array, solver = reflectarrays.built(file, stages), file.case.solver
    with stages.stage("plan the matrix"):
        plan = array.plan(method=solver.method, rtol=solver.rtol)
    return _rows_of(plan, array.mesh.number_of_triangles, "solution")


def plan_periodic(file: CaseFile[PeriodicCase], stages: Stages) -> list[Row]:
    """Of one cell."""
    cell = built(file, stages)
    number = cell.functions.dimension
    # near parts of 2 decays, 5 copies, vectors and charges, and the matrix
    return [
        ("unknowns", f"{number} on {cell.mesh.number_of_triangles} triangles", ""),
        ("method", "sum over Floquet waves", ""),
        ("memory", format_bytes((8 * 20 + 16 * 3) * number**2), ""),
        ("frequencies", str(len(file.case.periodic.frequency)), ""),
    ]


def plan_planar(file: CaseFile[PlanarCase], stages: Stages) -> list[Row]:
    """Of one frequency, the highest one."""
    problem, asked = planar.built(file, stages), file.case.planar
    frequency = max(asked.frequency or 0.0, 0.0 if asked.band is None else asked.band.stop)
    with stages.stage("plan the matrix", frequency_text(frequency)):
        plan = problem.plan(frequency, method=file.case.solver.method, rtol=file.case.solver.rtol)
    return _rows_of(plan, problem.function_space.mesh.number_of_triangles, "one frequency")


def _rows_of(plan: Plan, triangles: int, what: str) -> list[Row]:
    """The plan of metal in layers; what: that takes its seconds."""
    unknowns = dict(plan.lines)["unknowns"]
    rows: list[Row] = [("unknowns", f"{unknowns} on {triangles} triangles", ""), ("method", plan.method, "")]
    return [*rows, *_costs(plan.nbytes, plan.seconds, what)]


def plan_in_time(file: CaseFile[TransientCase], stages: Stages) -> list[Row]:
    """ValueError: steps in time have no matrix."""
    raise ValueError(
        f"{file.name}: fields in time take steps on tetrahedra and have no matrix to plan: run the case without "
        "--plan, or read the number of elements and the step with 'calderon mesh FILE'"
    )


def _costs(nbytes: int, seconds: float, what: str = "set-up") -> list[Row]:
    free = free_memory()
    fits = f"{format_bytes(free)} are free" + ("" if nbytes <= free else ": it does not fit")
    return [("memory", f"{format_bytes(nbytes)}, {fits}", ""), (what, f"about {rounded(seconds)}", "s")]


def _why(case: Case, unknowns: int) -> str:
    """Of a method that "auto" took without a comparison."""
    if unknowns <= (limit := largest_dense()):
        return f'"auto" stores the entries of up to {limit} unknowns'
    if case.solver.solver == "lu":
        return '"auto" stores the entries, as solver = "lu" needs'
    return '"auto" takes the method that supports the other keys in [solver]'
