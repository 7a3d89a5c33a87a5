"""Reflectarrays: phases of cells, sizes, all elements together, the field at the focus."""

from pathlib import Path

import numpy as np

from calderon.case import CaseFile
from calderon.exact.vacuum import SPEED_OF_LIGHT
from calderon.formulations import ReflectArray
from calderon.kinds.reflectarray.model import ReflectarrayCase
from calderon.kinds.reflectarray.panels import PANELS, ReflectarrayResults
from calderon.report import Kind, Stages
from calderon.report.formatting import Row, frequency_text
from calderon.report.kind import plan_rows


class Reflectarrays(Kind[ReflectarrayCase, ReflectArray, ReflectarrayResults]):
    """A square grid of elements that focus a wave at normal incidence."""

    def build(self, file: CaseFile[ReflectarrayCase], stages: Stages) -> ReflectArray:
        case, given = file.case, file.case.reflectarray
        with stages.stage("compute the phases of elements"), file.blamed("reflectarray", "period"):
            sizes = np.linspace(given.smallest, given.largest, given.sizes)
            array = ReflectArray(
                case.mesh, sizes, given.period, given.count, case.stack, given.frequency, given.focus,
                polarisation=given.polarisation,
            )  # fmt: skip
            assert array.phases is not None
        return array

    def compute(
        self, file: CaseFile[ReflectarrayCase], posed: ReflectArray, stages: Stages, scratch: Path | None
    ) -> ReflectarrayResults:
        case = file.case
        with stages.stage("solve"):
            echo = posed.scatter(method=case.solver.method, rtol=case.solver.rtol)
        with stages.stage("compute the field at the focus"):
            across = np.linspace(-2.5, 2.5, 81) * SPEED_OF_LIGHT / case.reflectarray.frequency  # wavelengths about it
            z = np.full(len(across), float(posed.mesh.vertices[:, 2].max()) + case.reflectarray.focus)
            lines = [np.stack([across, 0 * z, z], axis=1), np.stack([0 * z, across, z], axis=1)]
            levels = np.linalg.norm(echo.electric(np.concatenate(lines)), axis=1).reshape(2, -1)
        return ReflectarrayResults(file, posed, echo, across, levels)

    def plan(self, file: CaseFile[ReflectarrayCase], stages: Stages) -> list[Row]:
        """The plan of the array, whose sizes follow from phases that are computed."""
        array, solver = self.build(file, stages), file.case.solver
        with stages.stage("plan the matrix"):
            plan = array.plan(method=solver.method, rtol=solver.rtol)
        return plan_rows(plan, array.mesh.number_of_triangles, "solution")

    def subtitle(self, results: ReflectarrayResults) -> str:
        given = results.file.case.reflectarray
        n, m = given.count
        return (
            f"{n} × {m} elements “{results.file.case.element.shape}”, period {1e3 * given.period:g} mm, "
            f"{frequency_text(given.frequency)}, focus {1e3 * given.focus:g} mm above."
        )


KIND = Reflectarrays("reflectarray", "Reflectarrays", ReflectarrayCase, PANELS)
