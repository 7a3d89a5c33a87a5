"""Projects of Mesh2HRTF solved at their frequencies, and their results: solutions, pressures on grids, SOFA files.

NumCalc's admittance A = rho c / Z and velocity v are along n, the normal out of the body or the room: v_n = v - A p /
(rho c) outside, and inside v_n = v + A p / (rho c), so that A is that of a passive wall on both sides.
"""

import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.files import FileKind, new_file, put, put_texts
from calderon.formulations.acoustic.acoustic_problem import AcousticProblem
from calderon.formulations.acoustic.conditions.wall_conditions import (
    Impedance,
    SoundPressure,
    Velocity,
    WallCondition,
)
from calderon.formulations.acoustic.fluid import Fluid
from calderon.formulations.acoustic.heads.sofa_files import write_sofa
from calderon.kinds.numcalc.reading import Amplitude, Grid, Project, ProjectError
from calderon.mesh import AccuracyWarning
from calderon.report.formatting import Row
from calderon.report.kind import cost_rows
from calderon.report.stages import Stages
from calderon.validation import callers_level
from calderon.waves import PlaneWave, PointSource, Wave

Complex = NDArray[np.complex128]
PRESSURES = FileKind(
    "calderon pressures on grids", "pressures on grids", "solve the project again", version=1, former=1
)


@dataclass(frozen=True, eq=False)
class Driven:
    """A project at one frequency in Hz: its problem and its sources, for exp(-i omega t).

    flow: int v dA in m^3/s of walls that move, out of the body. admittance (triangles,): rho c / Z.
    """

    problem: AcousticProblem
    sources: Wave | None
    flow: complex
    admittance: Complex

    def take_matrix(self, other: "Driven") -> None:
        """Take the matrix of another one, where only what sounds differs."""
        one, two = self.problem, other.problem
        same = all(
            np.array_equal(a, b)
            for a, b in (
                (one.mesh.vertices, two.mesh.vertices), (one.mesh.triangles, two.mesh.triangles),
                (one.mesh.tags, two.mesh.tags), (self.admittance, other.admittance),
            )
        )  # fmt: skip
        if same and (one.fluid, one.side, one.mirrors) == (two.fluid, two.side, two.mirrors):
            one.__dict__["system"] = two.system


def driven(project: Project, frequency: float) -> Driven:
    """The problem of a project at a frequency in Hz."""
    fluid = Fluid(project.density, project.speed_of_sound)
    count = project.mesh.number_of_triangles
    velocity, admittance = np.zeros(count, np.complex128), np.zeros(count, np.complex128)
    pressures = dict[int, complex]()
    for number, each in enumerate(project.boundary, 1):
        value = _value(project, each.value, frequency)
        if each.kind == "VELO":
            velocity[each.triangles] = value
        elif each.kind == "PRES":
            pressures[number] = value
        else:
            admittance[each.triangles] = value if each.kind == "ADMI" else 1 / value
    tags = set(np.unique(project.mesh.tags).tolist())
    conditions: dict[int, Any] = {tag: SoundPressure(pressures[tag]) for tag in tags - {0}}
    free, moving = project.mesh.tags == 0, list[WallCondition]()
    velocity, admittance = np.where(free, velocity, 0), np.where(free, admittance, 0)
    if velocity.any():
        moving.append(Velocity(velocity if project.side == "exterior" else -velocity))
    if admittance.any():
        rigid = admittance == 0
        moving.append(Impedance(np.where(rigid, np.inf, fluid.impedance / np.where(rigid, 1.0, admittance))))
    if moving:
        conditions[0] = moving
    problem = AcousticProblem(
        project.mesh,
        frequency=frequency,
        fluid=fluid,
        side=project.side,  # type: ignore[arg-type]
        conditions=conditions,
        mirrors=project.mirrors or None,  # type: ignore[arg-type]
    )
    waves = list[Wave]()
    for source in project.sources:
        kind = PlaneWave if source.is_plane else PointSource
        waves.append(kind(source.vector, problem.wavenumber, amplitude=_value(project, source.amplitude, frequency)))
    total = waves[0] if waves else None
    for wave in waves[1:]:
        total = total + wave  # type: ignore[operator]
    for plane, parity in project.mirrors.items():
        if total is not None:
            total = total + (1.0 if parity == "even" else -1.0) * total.mirrored(plane)
    return Driven(problem, total, complex(velocity @ project.mesh.areas), admittance)


def _value(project: Project, amplitude: Amplitude, frequency: float) -> complex:
    """A value at a frequency in Hz, for exp(-i omega t)."""
    factors = [1.0, 1.0]
    for place, number in enumerate(amplitude[1:]):
        if number != -1:
            factors[place] = float(np.interp(frequency, *project.curves[number]))
    value = complex(amplitude.value.real * factors[0], amplitude.value.imag * factors[1])
    return value.conjugate() if project.conjugate else value


def plan_rows(projects: Sequence[Project]) -> list[Row]:
    """The plan of the highest frequency, with the seconds of all sources: names, values, units."""
    project = projects[0]
    problem = driven(project, float(project.frequencies.max())).problem
    plan, count = problem.plan(), len(project.frequencies)
    solves = count * len(projects)
    rows: list[Row] = [("frequencies", str(count), ""), ("unknowns", str(problem.unknowns), "")]
    rows.append(("method", str(plan.method), ""))
    return [*rows, *cost_rows(plan.nbytes, solves * plan.seconds, "set-up of all solutions")]


@dataclass(frozen=True, eq=False)
class Solved:
    """Results of one source of a project: pressures (f, n) at all nodes of grids, the flow (f,) of its walls, and
    records of the solver."""

    project: Project
    values: Complex
    flows: Complex
    records: list[dict[str, Any]]

    @property
    def is_ear(self) -> bool:
        """Whether walls alone sound, all with a flow, outside of a body without images."""
        alone = not self.project.sources and self.project.side == "exterior" and not self.project.mirrors
        return bool(alone and self.flows.all())


def run(projects: Sequence[Project], folder: Path, stages: Stages) -> list[Row]:
    """Solve the sources of a project at all frequencies and write the results into a folder; names, values and units of
    what was done.

    solution_0001.h5, ..., with several sources source_1_0001.h5, ...: the solutions, whose fields `cal.load` computes
    anywhere. pressures.h5: on all grids. pressure_GRID.sofa: pressures, and where only walls move HRTF_GRID.sofa: over
    that of a point source of the same flow at the origin; without the package sofar none. summary.json: the records of
    the solver. ProjectError for silent sources, and for those with other frequencies or grids than the first.
    """
    first = projects[0]
    for each in projects:
        require_sound(each)
        same = np.array_equal(each.frequencies, first.frequencies) and len(each.grids) == len(first.grids)
        grids = zip(each.grids, first.grids, strict=False)
        if not (same and all(np.array_equal(one.points, two.points) for one, two in grids)):
            raise ProjectError(f"{each.path}: has other frequencies or grids than {first.path}: run them one by one")
    names = ["solution"] if len(projects) == 1 else [f"source_{number}" for number in range(1, len(projects) + 1)]
    solved = _solved(projects, names, folder, stages)
    with stages.stage("files"):
        values = np.stack([each.values for each in solved], axis=2)
        _write_pressures(folder / "pressures.h5", first, values)
        written = _write_sofa(solved, folder, values)
        records = {name: each.records for name, each in zip(names, solved, strict=True)}
        summary = {"title": first.title, "time_factor": "exp(-i omega t)", **records}
        (folder / "summary.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    count = str(first.mesh.number_of_triangles)
    rows: list[Row] = [("frequencies", str(len(first.frequencies)), ""), ("sources", str(len(projects)), "")]
    rows += [("triangles", count, ""), ("evaluation grids", ", ".join(each.name for each in first.grids) or "none", "")]
    missing = "none: pip install 'calderon[sofa]'" if first.grids and not written else "none"
    return [*rows, ("SOFA files", ", ".join(written) or missing, "")]


def require_sound(project: Project) -> None:
    """ProjectError for a project in which nothing sounds."""
    if not (project.sources or any(each.kind in ("VELO", "PRES") for each in project.boundary)):
        raise ProjectError(f"{project.path}: nothing sounds: give VELO, PRES, PLANE WAVES or POINT SOURCES")


def _solved(projects: Sequence[Project], names: Sequence[str], folder: Path, stages: Stages) -> list[Solved]:
    """The results of all sources, whose solutions are saved under their names with the number of the frequency. Sources
    that differ in what sounds alone share the matrix of a frequency."""
    project, count = projects[0], len(projects)
    points = np.concatenate([each.points for each in project.grids] or [np.zeros((0, 3))])
    fields, flows, records = ([list[Any]() for _ in projects] for _ in range(3))
    for number, frequency in enumerate(project.frequencies.tolist(), 1):
        with stages.stage("solve", f"{frequency:.6g} Hz"), warnings.catch_warnings():
            if frequency < project.frequencies.max():  # of which the warning of coarse meshes says all
                warnings.simplefilter("ignore", AccuracyWarning)
            first: Driven | None = None
            for source in range(count):
                each = driven(projects[source], frequency)
                if first is not None:
                    each.take_matrix(first)
                first = first or each
                solution = each.problem.solve(each.sources)
                solution.save(folder / f"{names[source]}_{number:04d}.h5")
                fields[source].append(solution.field(points) if len(points) else np.zeros(0, np.complex128))
                flows[source].append(each.flow)
                info = solution.info
                records[source].append(
                    {"frequency_Hz": frequency, "iterations": info.iterations, "residual": info.residual}
                )
            inside = first.problem.surface.whole.contains(points) if first and number == 1 else None
        if inside is not None and (wrong := np.count_nonzero(inside != (project.side == "interior"))):
            warnings.warn(
                f"{wrong} of {len(points)} nodes of grids are not in the fluid: 0 there", stacklevel=callers_level()
            )
    made = zip(projects, fields, flows, records, strict=True)
    return [Solved(each, np.array(values), np.array(flow), record) for each, values, flow, record in made]


def _write_pressures(path: Path, project: Project, values: Complex) -> None:
    """Write frequencies, and for each grid its nodes and pressures (frequencies, nodes, sources), exp(-i omega t)."""
    with new_file(path, PRESSURES) as file:
        put(file, "frequencies", project.frequencies)
        put_texts(file, "grids", [each.name for each in project.grids])
        for number, (grid, own) in enumerate(_parts(project, values)):
            group = file.create_group(f"{number}")
            put(group, "numbers", grid.numbers)
            put(group, "points", grid.points)
            put(group, "pressures", np.ascontiguousarray(own))


def _parts(project: Project, values: Complex) -> list[tuple[Grid, Complex]]:
    """The grids with their columns of values on all of them."""
    ends = np.cumsum([len(each.points) for each in project.grids])
    return list(zip(project.grids, np.split(values, ends[:-1], axis=1), strict=True)) if len(ends) else []


def _write_sofa(solved: Sequence[Solved], folder: Path, values: Complex) -> list[str]:
    """Write pressures (f, n, sources) on grids as SOFA files, and transfer functions where all sources are ears; their
    names."""
    if find_spec("sofar") is None:
        return []
    project = solved[0].project
    receivers, hertz = np.array([_receiver(each.project) for each in solved]), project.frequencies
    written = list[str]()
    for grid, own in _parts(project, values):
        kinds = {"pressure": (own, "pressures in Pa")}
        r = np.linalg.norm(grid.points, axis=1)
        if all(each.is_ear for each in solved) and r.all():
            omega = 2 * np.pi * hertz[:, None]
            wave = np.exp(1j * omega / project.speed_of_sound * r) / (4 * np.pi * r)
            flows = np.stack([each.flows for each in solved], axis=1)
            free = -1j * omega[..., None] * project.density * flows[:, None] * wave[..., None]
            kinds["HRTF"] = own / free, "pressures over those of a point source with this flow at the origin"
        for name, (each, comment) in kinds.items():
            file = f"{name}_{grid.name}.sofa"
            file = f"{name}_{grid.name}_{len(written)}.sofa" if file in written else file
            write_sofa(folder / file, grid.points, receivers, spectra=(hertz, each), comment=comment)
            written.append(file)
    return written


def _receiver(project: Project) -> NDArray[np.float64]:
    """The place (3,) of the ear: the centre of the walls that move, or a point source, or the origin."""
    moving = [each.triangles for each in project.boundary if each.kind == "VELO" and each.value.value]
    if moving:
        numbers = np.unique(np.concatenate(moving))
        return np.average(project.mesh.centroids[numbers], axis=0, weights=project.mesh.areas[numbers])
    places = [each.vector for each in project.sources if not each.is_plane]
    return places[0] if places else np.zeros(3)
