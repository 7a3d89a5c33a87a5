"""Waves and potentials on surfaces: the mesh, the problem at each frequency, its solution, and the requested fields."""

from pathlib import Path

from calderon.case import CaseFile
from calderon.formulations.options import SolveOptions, largest_dense
from calderon.kinds.surface.computing import SurfacePhysics, checked_mesh, dense_bytes, moments_of
from calderon.kinds.surface.families import Acoustics, Antennas, Radar, Statics
from calderon.kinds.surface.model import Case
from calderon.kinds.surface.panels import PANELS
from calderon.kinds.surface.results import Results
from calderon.mesh import TriangleMesh
from calderon.operators.methods import rounded
from calderon.report import Kind, Stages
from calderon.report.formatting import Row, vector_text
from calderon.report.kind import cost_rows

PHYSICS: dict[str, SurfacePhysics] = {
    "acoustic": Acoustics(),
    "electromagnetic": Radar(),
    "antenna": Antennas(),
    "static": Statics(),
}
"""By the family of a problem, see `FAMILIES`."""


class SurfaceProblems(Kind[Case, TriangleMesh, Results]):
    """Problems of `physics.PROBLEMS`."""

    def build(self, file: CaseFile[Case], stages: Stages) -> TriangleMesh:
        return checked_mesh(file, stages)

    def compute(self, file: CaseFile[Case], posed: TriangleMesh, stages: Stages, scratch: Path | None) -> Results:
        return PHYSICS[file.case.family].compute(file, posed, stages)

    def plan(self, file: CaseFile[Case], stages: Stages) -> list[Row]:
        """The plan at the largest wavenumber of a sweep."""
        case, mesh = file.case, self.build(file, stages)
        moment = max(moments_of(case), key=lambda each: each.wavenumber)
        with stages.stage("plan the matrix", moment.at):
            posed = case.physics.build(mesh, moment.wavenumber)
            chosen = SolveOptions(**case.solver.options).for_unknowns(posed.unknowns, posed.system.operator)
            method = chosen.chosen
            with file.blamed("solver", "method"):
                given = posed.system.operator, chosen.assembly_rtol, chosen.precision
                plan = None if method.plan is None else method.plan(*given)
        rows: list[Row] = [("planned, of the sweep", moment.name, "")] if moment.of_several else []
        rows += [
            ("unknowns", f"{posed.unknowns} on {mesh.number_of_triangles} triangles", ""),
            ("method", f"{method.name}, {method.matrix}", ""),
        ]
        if not case.solver.names_method:
            rows.append(("why", chosen.reason or _why(case, posed.unknowns), ""))
        if plan is None:
            return [*rows, ("memory", "no entries: each product computes them anew", "")]
        rows.append(("numbers", f"{plan.precision} precision", ""))
        if plan.details:
            rows.append(("tree", plan.details, ""))
        nbytes = dense_bytes(case, posed.unknowns) if method.stores_entries else plan.nbytes
        rows += cost_rows(nbytes, plan.seconds)
        return [*rows, ("one product", f"about {rounded(plan.product_seconds)}", "s")]

    def subject(self, case: Case) -> str:
        return case.physics.definition.title

    def subtitle(self, results: Results) -> str:
        case = results.file.case
        source = case.mesh.file or case.mesh.sample or case.mesh.shape
        text = f"Mesh “{source}”"
        steps = results.steps
        if steps[0].frequency is not None:
            span = (
                steps[0].name if len(steps) == 1 else f"{len(steps)} frequencies, {steps[0].name} to {steps[-1].name}"
            )
            text += f" at {span}"
            if case.physics.speed_of_sound:
                text += f", speed of sound {case.physics.speed_of_sound:g} m/s"
        elif steps[0].wavenumber is not None:
            text += f" at wavenumber {steps[0].wavenumber:.6g} 1/m"
        if case.incident is not None:
            if case.incident.position is not None:
                text += f"; point source at ({', '.join(f'{x:g}' for x in case.incident.position)}) m"
            else:
                text += f"; plane wave travelling along {vector_text(case.incident.unit_direction)}"
            if case.incident.vector is not None:
                text += f", electric field along {vector_text(case.incident.vector)}"
        if case.wave:
            text += f"; {len(case.wave)} further wave{'s' if len(case.wave) > 1 else ''} in the view"
        physics = case.physics
        if not physics.wave:
            data = (
                f"potential {physics.potential:g} V" if physics.potential is not None else f"flux {physics.flux:g} V/m"
            )
            text += f", {data} on the surface, {physics.side or 'exterior'} problem"
        return text + "."


def _why(case: Case, unknowns: int) -> str:
    """Why "auto" took a method without a comparison."""
    if unknowns <= (limit := largest_dense()):
        return f'"auto" stores the entries of up to {limit} unknowns'
    if case.solver.solver == "lu":
        return '"auto" stores the entries, as solver = "lu" needs'
    return '"auto" takes the method that supports the other keys in [solver]'


KIND = SurfaceProblems("surface", "Waves and potentials on surfaces", Case, PANELS)
