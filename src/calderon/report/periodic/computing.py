"""A case of a periodic surface is run: the element, the cell, and plane waves at each frequency."""

from pathlib import Path

from calderon.case import CaseFile, PeriodicCase
from calderon.formulations import PeriodicCell
from calderon.report.formatting import frequency_text
from calderon.report.periodic.results import PeriodicResults
from calderon.report.stages import Stages


def built(file: CaseFile[PeriodicCase], stages: Stages) -> PeriodicCell:
    """The cell of a case; CaseError for an element that cannot be made or that overlaps its copies."""
    case = file.case
    with stages.stage("make the mesh"), file.blamed("element", "shape"):
        mesh = case.element.mesh(case.height)
    with stages.stage("set up the cell"), file.blamed("periodic", "period"):
        return PeriodicCell(mesh, case.periodic.period, case.stack, rtol=case.solver.rtol)


def compute_periodic(file: CaseFile[PeriodicCase], stages: Stages, scratch: Path | None = None) -> PeriodicResults:
    """Reflection, transmission and all orders at each frequency. Errors: CaseError, ValueError, MemoryError."""
    wave, cell = file.case.periodic, built(file, stages)
    with file.blamed("periodic", "theta"):
        solutions = []
        for frequency in wave.frequency:
            with stages.stage("solve", frequency_text(frequency)):
                solutions.append(cell.solve(frequency, wave.theta, wave.phi, wave.side))
    return PeriodicResults(file, cell, tuple(solutions))
