"""A case of antennas is run: the surfaces, the wires, the ports over the band, and the solution at one frequency."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import calderon.mesh as meshes
from calderon.case import CaseFile
from calderon.case.mesh import surface_mesh
from calderon.formulations import MaxwellProblem, WireAntenna, read_nec
from calderon.formulations.ports.port_sweep import adaptive_sweep
from calderon.formulations.sweep import warned_of_coarse_meshes
from calderon.kinds.antennas.model import AntennaCase
from calderon.kinds.antennas.panels import PANELS
from calderon.kinds.antennas.results import AntennaResults
from calderon.mesh.errors import CoarseMeshWarning
from calderon.report import Kind, Stages
from calderon.report.formatting import Row, frequency_text
from calderon.report.kind import cost_rows, plan_rows
from calderon.report.port_panels import LEAST, Radiation, accepted_share


@dataclass(frozen=True)
class Posed:
    """An antenna at any frequency: arguments of `MaxwellProblem`, or of a `WireAntenna` without a mesh; waves of modes
    and voltages in V; frequencies in Hz at which S is computed, and that of the pattern, None for the one of the least
    |S11|."""

    given: dict[str, Any]
    voltages: Sequence[Any]
    frequencies: Any
    pattern: float | None

    def at(self, frequency: float) -> MaxwellProblem | WireAntenna:
        """The problem at a frequency in Hz."""
        kind: Any = MaxwellProblem if "mesh" in self.given else WireAntenna
        return kind(**self.given, frequency=frequency)


def solve_options(case: AntennaCase, problem: Any) -> dict[str, Any]:
    """The [solver] table as options of `MaxwellProblem.solve`; none of wires alone."""
    is_dense = isinstance(problem, WireAntenna)
    return {} if is_dense else {"method": case.solver.method, "rtol": case.solver.rtol}


def _solved(problem: Any, r: float, voltages: Sequence[Any], options: dict[str, Any]) -> tuple[Any, Any]:
    """S for lines of r ohm, and the solution for voltages, by superposition of those for 1 V at one port; with modes of
    waveguides it is None unless factors of the matrix are kept, as it would be solved for again."""
    if len(voltages) == len(problem.ports):
        found = problem.embedded(r, **options)
        return found.scattering_matrix, found.combined(np.asarray(voltages, np.complex128))
    s = problem.scattering_matrix(r, **options)
    return s, None if problem.system.factors is None else problem.solve(voltages, **options)


def _of_deck(file: CaseFile[AntennaCase]) -> Posed:
    antennas = file.case.antennas
    assert antennas.deck is not None
    with file.blamed("antennas", "deck"):
        model = read_nec(file.path_of(antennas.deck))
        if not model.ports:
            raise ValueError("the deck has no voltage: give EX 0")
    given = {
        "wires": model.wires,
        "ports": model.ports,
        "loads": model.loads,
        "ground": file.case.ground or model.ground,
        "circuits": model.circuits,
    }
    own = antennas.band is None and antennas.frequency is None
    hertz = np.unique(model.frequencies) if own else _frequencies(file.case)
    return Posed(given, list(model.voltages), hertz, antennas.frequency)


def _frequencies(case: AntennaCase) -> Any:
    band = case.antennas.band
    return np.array([case.antennas.frequency]) if band is None else np.linspace(band.start, band.stop, band.points)


def posed(file: CaseFile[AntennaCase], stages: Stages) -> Posed:
    """The antenna of a case; CaseError for what cannot be used."""
    case = file.case
    if case.antennas.deck is not None:
        with stages.stage("read the deck"):
            found = _of_deck(file)
        with file.blamed("antennas", "deck"):
            found.at(float(found.frequencies[0]))
        return found
    given: dict[str, Any] = {}
    for table, attribute in (("wire", "wire"), ("port", "gap"), ("load", "load")):
        listed = given[f"{table}s"] = []
        for number, each in enumerate(getattr(case, table)):
            with file.blamed(table, "points" if table == "wire" else "kind", number=number):
                listed.append(getattr(each, attribute))
    circuits = []
    for number, one in enumerate(case.circuit):
        with file.blamed("circuit", "kind" if one.file is None else "file", number=number):
            circuits.append(one.between(file.path_of))
    given["circuits"] = tuple(circuits)
    if case.surface:
        with stages.stage("make the mesh"):
            names = {each.name: surface_mesh(file, number=number) for number, each in enumerate(case.surface)}
        with file.blamed("surface", "name", number=0):
            mesh = meshes.joined(names)
        given |= {"mesh": mesh, "regions": case.regions, "surfaces": {each.name: each.sides for each in case.surface}}
    else:
        given["ground"] = case.ground
    found = Posed(given, case.excitation, _frequencies(case), case.antennas.frequency)
    table, key = ("surface", "outside") if case.surface else ("wire", "points")
    with stages.stage("set up the ports"), file.blamed(table, key, number=0):
        with warnings.catch_warnings(action="ignore", category=CoarseMeshWarning):  # of which the solution warns
            found.at(float(found.frequencies[-1]))
    return found


class AntennaKind(Kind[AntennaCase, Posed, AntennaResults]):
    """Wires, metal and dielectrics, fed at ports."""

    def build(self, file: CaseFile[AntennaCase], stages: Stages) -> Posed:
        return posed(file, stages)

    def compute(
        self, file: CaseFile[AntennaCase], posed: Posed, stages: Stages, scratch: Path | None
    ) -> AntennaResults:
        case, hertz = file.case, posed.frequencies
        r = case.antennas.reference

        radiations: list[Radiation] = []

        def scattering(f: float) -> Any:
            problem: Any = posed.at(f)
            options = solve_options(case, problem)
            if len(hertz) == 1:
                return problem.scattering_matrix(r, **options)
            found, solution = _solved(problem, r, posed.voltages, options)
            radiation = None if solution is None else Radiation.of(solution)
            radiations.extend([radiation] if radiation else [])
            return found

        text = frequency_text(float(hertz[0])) + (f" to {frequency_text(float(hertz[-1]))}" if len(hertz) > 1 else "")
        every = np.append(hertz, [] if posed.pattern is None or posed.pattern <= hertz.max() else posed.pattern)
        with stages.stage("solve the ports", text), warned_of_coarse_meshes(posed.at, every):
            sweep = adaptive_sweep(scattering, hertz, r, case.solver.interpolate, of_lines=case.modes > 0)
        best = float(hertz[np.abs(sweep.s[:, 0, 0]).argmin()])
        at = best if posed.pattern is None else posed.pattern
        with (
            stages.stage("solve the pattern", frequency_text(at)),
            warnings.catch_warnings(action="ignore", category=CoarseMeshWarning),
        ):
            problem: Any = posed.at(at)
            solution = problem.solve(posed.voltages, **solve_options(case, problem))
        if (share := accepted_share(solution)) < LEAST:
            what = f"ports accept {share:.2g} of the power at one of them"
            text = f"{what}: what enters by one leaves by others, so that there is no pattern to show"
            raise file.mistake("antennas", "frequency", text)
        return AntennaResults(file, problem, sweep, solution, tuple(radiations))

    def plan(self, file: CaseFile[AntennaCase], stages: Stages) -> list[Row]:
        """The plan of one frequency, the highest one."""
        problem: Any = self.build(file, stages)
        problem = problem.at(float(problem.frequencies[-1]))
        if isinstance(problem, WireAntenna):
            return [("unknowns", str(problem.unknowns), ""), *cost_rows(problem.plan().nbytes)]
        plan = problem.plan(method=file.case.solver.method)
        return plan_rows(plan, problem.mesh.number_of_triangles, "one frequency")

    def subtitle(self, results: AntennaResults) -> str:
        wires = len(results.problem.wires)
        parts = [f"{wires} wire{'s' if wires > 1 else ''}"] if wires else []
        parts += [f"surface “{each.name}”" for each in results.file.case.surface]
        low, high = (frequency_text(float(each)) for each in results.sweep.frequencies[[0, -1]])
        count = len(results.solution.feeds)
        return f"{', '.join(parts)}; {count} port{'s' * (count > 1)}; {low if low == high else f'{low} to {high}'}."


KIND = AntennaKind("antennas", "Antennas and composite bodies", AntennaCase, PANELS)
