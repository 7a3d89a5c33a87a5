"""Sound that bodies make: walls that move, absorb or have a given pressure, outside of them or in a room."""

from pathlib import Path
from typing import Any

from calderon.case import CaseFile
from calderon.kinds.acoustics.computing import computed, posed_problem
from calderon.kinds.acoustics.model import SoundCase
from calderon.kinds.acoustics.panels import PANELS
from calderon.kinds.acoustics.results import SoundResults
from calderon.report import Kind, Stages
from calderon.report.formatting import Row, frequency_text
from calderon.report.kind import plan_rows
from calderon.solvers.contour import NODES


class Acoustics(Kind[SoundCase, Any, SoundResults]):
    """Sound of walls with conditions, and of sources."""

    def build(self, file: CaseFile[SoundCase], stages: Stages) -> Any:
        return posed_problem(file, stages)

    def compute(self, file: CaseFile[SoundCase], posed: Any, stages: Stages, scratch: Path | None) -> SoundResults:
        return computed(file, posed, stages)

    def plan(self, file: CaseFile[SoundCase], stages: Stages) -> list[Row]:
        """The plan at the highest frequency."""
        problem, case = self.build(file, stages), file.case
        solver, frequencies = case.solver, case.frequencies
        with stages.stage("plan the matrix"), file.blamed("solver", "method"):
            names = ("method", "rtol", "precision", "compression_rtol")
            plan = problem.plan(**{name: value for name, value in solver.options.items() if name in names})
        rows = plan_rows(plan, problem.mesh.number_of_triangles, "set-up")
        several = [("planned, of the sweep", frequency_text(max(frequencies)), "")] if len(frequencies) > 1 else []
        counts = [("frequencies", str(len(frequencies)), "")] if case.sounds or case.output.four_pole else []
        if case.acoustics.decompose:
            counts.append(("matrices at a frequency", str(2 ** len(case.acoustics.mirrors or ())), "by even and odd"))
        if case.output.four_pole is not None and case.sounds:
            counts.append(("matrices at a frequency", "2", "one of the four-pole"))
        if case.output.resonances is not None:
            counts.append(("matrices of a contour", str(NODES), "around the resonances"))
        return [*several, *rows, *counts]

    def subtitle(self, results: SoundResults) -> str:
        case, (low, high) = results.file.case, results.frequencies[[0, -1]]
        if case.acoustics.frequency is None and case.output.resonances is not None:
            low, high = case.output.resonances
        source = case.mesh.file or case.mesh.sample or case.mesh.shape
        count, fluid = len(results.frequencies), results.problem.fluid
        span = f"{'' if count == 1 else f'{count} frequencies, '}{frequency_text(low)} to {frequency_text(high)}"
        span = frequency_text(high) if low == high else span
        where = {"interior": "inside of", "exterior": "outside of", "both": "at the thin sheet of"}
        constants = f"{fluid.density:.4g} kg/m³, {fluid.speed_of_sound:.5g} m/s"
        fluid_text = f"{case.acoustics.fluid}, {constants}"
        return f"Sound {where[case.acoustics.side]} mesh “{source}” at {span}; {fluid_text}."


KIND = Acoustics("acoustics", "Sound that bodies make", SoundCase, PANELS)
