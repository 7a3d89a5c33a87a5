"""A case of a printed circuit is run: the metal, the ports, S over the band, and the solution at one frequency."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import calderon.mesh as meshes
from calderon.case import CaseFile
from calderon.formulations import PlanarProblem, PlanarSolution, PortSweep
from calderon.kinds.planar.model import PlanarCase, Ribbon, Via
from calderon.kinds.planar.panels import PANELS
from calderon.kinds.planar.results import PlanarResults, resonances_of
from calderon.layers.parts import UPRIGHT
from calderon.mesh import TriangleMesh
from calderon.report import Kind, Stages
from calderon.report.formatting import Row, frequency_text
from calderon.report.kind import plan_rows
from calderon.report.port_panels import Radiation
from calderon.report.second_mesh import SecondMesh, estimated, longer_edges, second_mesh


def _metal(file: CaseFile[PlanarCase]) -> TriangleMesh:
    """With its lowest flat part at the height of its interface, and with vias and ribbons."""
    case, metal = file.case, file.case.metal
    with file.blamed("metal", "shape" if metal.shape else "file"):
        if metal.file is None:
            mesh = metal.mesh()
        else:
            path = file.path_of(metal.file)
            if not path.is_file():
                raise ValueError(f"no such file in {file.folder.resolve()}, the folder of the case")
            mesh = meshes.read(path, scale=meshes.metres_per(metal.unit or "m"))
        flat = np.abs(mesh.normals[:, 2]) >= UPRIGHT
        low = float(mesh.vertices[mesh.triangles[flat] if flat.any() else mesh.triangles, 2].min())
        mesh = mesh.translated([0.0, 0.0, case.height - low])
    upright: list[tuple[str, str, tuple[Via | Ribbon, ...]]] = [
        ("ribbon", "from_to", case.ribbon), ("via", "place", case.via)
    ]  # fmt: skip
    for table, key, several in upright:
        for number, each in enumerate(several):
            with file.blamed(table, key, number=number):
                mesh = each.added(mesh, each.heights(case.stack, case.interface))
    return mesh


def solve_options(case: PlanarCase) -> dict[str, Any]:
    """The [solver] table as options of `PlanarProblem.solve`."""
    return {"method": case.solver.method, "rtol": case.solver.rtol}


def sweep_options(case: PlanarCase) -> dict[str, Any]:
    """The [solver] table as options of `PlanarProblem.sweep`."""
    return {**solve_options(case), "interpolate": case.solver.interpolate}


class Planar(Kind[PlanarCase, PlanarProblem, PlanarResults]):
    """Metal between layers, fed at ports."""

    def build(self, file: CaseFile[PlanarCase], stages: Stages) -> PlanarProblem:
        case = file.case
        with stages.stage("make the mesh" if case.metal.shape else "read the mesh"):
            mesh = _metal(file)
        with stages.stage("set up the ports"):
            ports = []
            for number, table in enumerate(case.port):
                with file.blamed("port", "kind", number=number):
                    ports.append(table.at(case.height))
                    PlanarProblem(case.stack, mesh, ports[-1:])
            with file.blamed("port", "kind", number=len(ports) - 1):  # of several ones together
                problem = PlanarProblem(case.stack, mesh, ports, sheet=case.metal.sheet)
        for number, load in enumerate(case.load):
            with file.blamed("load", "kind", number=number):
                problem = replace(problem, loads=[*problem.loads, load.at(case.height)])
        return problem

    def compute(
        self, file: CaseFile[PlanarCase], posed: PlanarProblem, stages: Stages, scratch: Path | None
    ) -> PlanarResults:
        case, planar = file.case, file.case.planar
        with file.blamed("planar", "frequency" if planar.band is None else "band"):
            if planar.band is None:
                assert planar.frequency is not None
                low = high = planar.frequency
                points, text = 1, frequency_text(low)
            else:
                low, high, points = planar.band.start, planar.band.stop, planar.band.points
                text = f"{frequency_text(low)} to {frequency_text(high)}"
            radiations: list[Radiation] = []

            def solved(solution: PlanarSolution) -> None:
                radiations.extend([found] if (found := Radiation.of(solution)) else [])

            band: dict[str, Any] = {"voltages": case.voltages, "solved": solved} if points > 1 and case.radiates else {}
            with stages.stage("solve the ports", text):
                sweep = posed.sweep(low, high, points, reference=planar.reference, **band, **sweep_options(case))
        best = float(sweep.frequencies[np.abs(sweep.s[:, 0, 0]).argmin()])
        at = best if planar.frequency is None else planar.frequency
        with stages.stage("solve the pattern", frequency_text(at)), file.blamed("planar", "frequency"):
            alone = np.eye(len(posed.ports)).tolist() if len(posed.ports) > 1 else []
            solution, *by_port = posed.solve_all(at, [case.voltages, *alone], **solve_options(case))
            solution.power  # noqa: B018
        second = self._second_sweep(file, posed, sweep, stages)
        return PlanarResults(file, posed, sweep, solution, second, tuple(by_port), tuple(radiations))

    def _second_sweep(
        self, file: CaseFile[PlanarCase], problem: PlanarProblem, sweep: PortSweep, stages: Stages
    ) -> SecondMesh | None:
        """The error of the first resonance, or of S over the band without one, by a sweep with longer edges of a shape.

        Only where the case requests it: the Green's functions of each frequency take as long as for the first mesh."""
        case, h = file.case, file.case.metal.h
        if h is None or not case.planar.estimate:
            return None

        def posed(h: float) -> tuple[TriangleMesh, PlanarProblem]:
            metal = case.metal.model_copy(update={"h": h})
            other = self.build(replace(file, case=case.model_copy(update={"metal": metal})), Stages())
            return other.mesh, other

        def compare(mesh: TriangleMesh, other: PlanarProblem) -> SecondMesh | None:
            f = sweep.frequencies
            again = other.sweep(f[0], f[-1], len(f), reference=case.planar.reference, **sweep_options(case))
            found = [resonances_of(each) for each in (sweep, again)]
            if all(found):
                first, second = (np.array([each[0].frequency]) for each in found)
                return second_mesh("resonance", first, second, problem.mesh, mesh)
            return second_mesh("S over the band", sweep.s, again.s, problem.mesh, mesh)

        return estimated(longer_edges(h, problem.mesh, posed), compare, stages)

    def plan(self, file: CaseFile[PlanarCase], stages: Stages) -> list[Row]:
        """The plan of one frequency, the highest one."""
        problem, frequency = self.build(file, stages), max(file.case.frequencies)
        with stages.stage("plan the matrix", frequency_text(frequency)):
            plan = problem.plan(frequency, **solve_options(file.case))
        return plan_rows(plan, problem.function_space.mesh.number_of_triangles, "one frequency")

    def subtitle(self, results: PlanarResults) -> str:
        case, sweep = results.file.case, results.sweep
        low, high = (frequency_text(float(each)) for each in sweep.frequencies[[0, -1]])
        kinds = ", ".join(port.kind for port in case.port)
        band = low if low == high else f"{low} to {high}"
        metal = f"shape “{case.metal.shape}”" if case.metal.shape else f"mesh “{case.metal.file}”"
        return f"Metal: {metal}; port{'s' if len(case.port) > 1 else ''}: {kinds}; {band}."


KIND = Planar("planar", "Printed circuits and antennas", PlanarCase, PANELS)
