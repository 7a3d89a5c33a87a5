"""Static fields in several materials: dielectrics, conductors of current, magnetic materials, metal."""

from pathlib import Path

from calderon.case import CaseFile
from calderon.formulations import StaticProblem
from calderon.kinds.statics.computing import computed, options_of, posed_problem
from calderon.kinds.statics.model import StaticCase
from calderon.kinds.statics.panels import PANELS
from calderon.kinds.statics.results import StaticResults
from calderon.report import Kind, Stages
from calderon.report.formatting import Row
from calderon.report.kind import plan_rows

HEADINGS = {
    "permittivity": "Static electric field in several dielectrics",
    "conductivity": "Currents in several conductors",
    "permeability": "Static magnetic field in several materials",
}


class Statics(Kind[StaticCase, StaticProblem, StaticResults]):
    """Static fields of regions, electrodes and sources."""

    def build(self, file: CaseFile[StaticCase], stages: Stages) -> StaticProblem:
        return posed_problem(file, stages)

    def compute(
        self, file: CaseFile[StaticCase], posed: StaticProblem, stages: Stages, scratch: Path | None
    ) -> StaticResults:
        return computed(file, posed, stages)

    def plan(self, file: CaseFile[StaticCase], stages: Stages) -> list[Row]:
        problem = self.build(file, stages)
        with stages.stage("plan the matrix"), file.blamed("solver", "method"):
            plan = problem.plan(**{name: each for name, each in options_of(file.case).items() if name != "backend"})
        rows = plan_rows(plan, problem.mesh.number_of_triangles, "set-up")
        return [*rows, ("regions", ", ".join(problem.skeleton.regions), "")]

    def subject(self, case: StaticCase) -> str:
        return HEADINGS[case.materials]

    def subtitle(self, results: StaticResults) -> str:
        regions = [
            f"{name} ({each.constant:g}{' S/m' if each.kind.name == 'conductivity' else ''})"
            for name, each in results.problem.skeleton.regions.items()
        ]
        return f"{results.problem.kind.name.capitalize()} of {', '.join(regions)}."


KIND = Statics("statics", "Static fields in several materials", StaticCase, PANELS)
