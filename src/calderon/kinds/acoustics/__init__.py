"""Sound that bodies make: walls that move, absorb or have a given pressure, outside of them or in a room."""

from pathlib import Path

from calderon.case import CaseFile
from calderon.formulations import AcousticProblem
from calderon.kinds.acoustics.computing import computed, posed_problem
from calderon.kinds.acoustics.model import SoundCase
from calderon.kinds.acoustics.panels import PANELS
from calderon.kinds.acoustics.results import SoundResults
from calderon.report import Kind, Stages
from calderon.report.formatting import Row, frequency_text
from calderon.report.kind import plan_rows


class Acoustics(Kind[SoundCase, AcousticProblem, SoundResults]):
    """Sound of walls with conditions, and of sources."""

    def build(self, file: CaseFile[SoundCase], stages: Stages) -> AcousticProblem:
        return posed_problem(file, stages)

    def compute(
        self, file: CaseFile[SoundCase], posed: AcousticProblem, stages: Stages, scratch: Path | None
    ) -> SoundResults:
        return computed(file, posed, stages)

    def plan(self, file: CaseFile[SoundCase], stages: Stages) -> list[Row]:
        """The plan at the highest frequency."""
        problem, solver, frequencies = self.build(file, stages), file.case.solver, file.case.acoustics.frequency
        with stages.stage("plan the matrix"), file.blamed("solver", "method"):
            names = ("method", "rtol", "precision", "compression_rtol")
            plan = problem.plan(**{name: value for name, value in solver.options.items() if name in names})
        rows = plan_rows(plan, problem.mesh.number_of_triangles, "set-up")
        several = [("planned, of the sweep", frequency_text(max(frequencies)), "")] if len(frequencies) > 1 else []
        return [*several, *rows, ("frequencies", str(len(frequencies)), "")]

    def subtitle(self, results: SoundResults) -> str:
        case, (low, high) = results.file.case, results.frequencies[[0, -1]]
        source = case.mesh.file or case.mesh.sample or case.mesh.shape
        count, fluid = len(results.frequencies), results.problem.fluid
        span = frequency_text(high) if count == 1 else f"{count} frequencies, {frequency_text(low)} to "
        span += "" if count == 1 else frequency_text(high)
        where = "inside of" if results.problem.side == "interior" else "outside of"
        constants = f"{fluid.density:.4g} kg/m³, {fluid.speed_of_sound:.5g} m/s"
        return f"Sound {where} mesh “{source}” at {span}; {case.acoustics.fluid}, {constants}."


KIND = Acoustics("acoustics", "Sound that bodies make", SoundCase, PANELS)
