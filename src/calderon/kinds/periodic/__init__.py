"""Periodic surfaces: the element, the cell, and plane waves at each frequency."""

from pathlib import Path

import numpy as np

from calderon.case import CaseFile
from calderon.formulations import PeriodicCell
from calderon.kinds.periodic.model import PeriodicCase
from calderon.kinds.periodic.panels import PANELS, PeriodicResults
from calderon.report import Kind, Stages
from calderon.report.formatting import Row, frequency_text
from calderon.report.kind import plan_rows


class Periodic(Kind[PeriodicCase, PeriodicCell, PeriodicResults]):
    """Reflection and transmission of plane waves by a surface of equal cells."""

    def build(self, file: CaseFile[PeriodicCase], stages: Stages) -> PeriodicCell:
        case = file.case
        with stages.stage("make the mesh"), file.blamed("element", "shape"):
            mesh = case.element.mesh(case.height)
        with stages.stage("set up the cell"), file.blamed("periodic", "period"):
            return PeriodicCell(mesh, case.periodic.period, case.stack)

    def compute(
        self, file: CaseFile[PeriodicCase], posed: PeriodicCell, stages: Stages, scratch: Path | None
    ) -> PeriodicResults:
        wave, rtol, solutions = file.case.periodic, file.case.solver.rtol, []
        with file.blamed("periodic", "theta"):
            for frequency in wave.frequency:
                with stages.stage("solve", frequency_text(frequency)):
                    solutions.append(posed.solve(frequency, wave.theta, wave.phi, wave.side, rtol=rtol))
        return PeriodicResults(file, posed, tuple(solutions))

    def plan(self, file: CaseFile[PeriodicCase], stages: Stages) -> list[Row]:
        cell, wave = self.build(file, stages), file.case.periodic
        with file.blamed("periodic", "theta"):
            plan = cell.plan(max(wave.frequency), wave.theta, wave.phi, wave.side, rtol=file.case.solver.rtol)
        rows = plan_rows(plan, cell.mesh.number_of_triangles, "one frequency")
        return [*rows, ("frequencies", str(len(wave.frequency)), "")]

    def subtitle(self, results: PeriodicResults) -> str:
        case, wave = results.file.case, results.file.case.periodic
        sides = " × ".join(
            f"{1e3 * each:g}" for each in (wave.period if isinstance(wave.period, tuple) else [wave.period])
        )
        angles = f"θ = {np.degrees(wave.theta):g}°, φ = {np.degrees(wave.phi):g}°"
        return f"Element “{case.element.shape}”, period {sides} mm, waves from {wave.side}, {angles}."


KIND = Periodic("periodic", "Periodic surfaces", PeriodicCase, PANELS, "Plane waves at a periodic surface")
