"""A case of sound is run: the problem at each frequency, or at few of a band, its solutions, the requested fields."""

import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.case import CaseFile
from calderon.case.faces import with_faces
from calderon.case.mesh import surface_mesh
from calderon.case.near_field import near_places
from calderon.data import Places, rectangle_places
from calderon.exact import unit_directions
from calderon.formulations import AcousticProblem, AcousticSheet, FourPole
from calderon.formulations.acoustic.results.acoustic_solution import AcousticSolution
from calderon.formulations.acoustic.room_modes import RoomMode
from calderon.formulations.checks import sources_on_side
from calderon.formulations.impulse_response import ImpulseResponse, impulse_response
from calderon.formulations.scenes import level_values, pattern_rows
from calderon.formulations.sweep import values_of, warned_of_coarse_meshes
from calderon.formulations.swept_values import Measured
from calderon.kinds.acoustics.model import Directivity, SoundCase, SoundOutput
from calderon.kinds.acoustics.results import Part, SoundResults, Step
from calderon.kinds.acoustics.rooms import four_poles, modes, require_ports
from calderon.kinds.acoustics.sheets import posed_sheet, without_sheet
from calderon.kinds.acoustics.walls import conditions_of
from calderon.mesh import TriangleMesh
from calderon.mesh.errors import CoarseMeshWarning
from calderon.report.formatting import decibels_of_power, frequency_text, frequency_texts
from calderon.report.scenes import evenly
from calderon.report.second_mesh import SecondMesh, estimated, other_meshes, second_mesh
from calderon.report.stages import Stages

SHOWN = 5
"""Frequencies of a sweep, evenly over it, at which fields in the plane and in all directions are computed."""


def posed_problem(file: CaseFile[SoundCase], stages: Stages) -> Any:
    """The problem of a case at its highest frequency; CaseError for what cannot be used."""
    case = file.case
    with stages.stage("make the mesh" if case.mesh.shape else "read the mesh"):
        mesh = with_faces(file, surface_mesh(file))
    problem = _problem(file, mesh)
    for number, one in enumerate(case.source):
        with file.blamed("source", "position" if one.position else "direction", number=number):
            wave = one.wave.at(problem.wavenumber)
            if one.position is not None and not problem.surface.is_baffle:
                sources_on_side(wave, problem.surface.whole, case.acoustics.side)
            problem.surface.with_images(wave)
    return problem


def _problem(file: CaseFile[SoundCase], mesh: TriangleMesh) -> Any:
    """The problem of a case on a mesh, at its highest frequency."""
    case, acoustics = file.case, file.case.acoustics
    conditions, highest = conditions_of(file, mesh), max(case.frequencies)
    require_ports(file, mesh)

    def posed(frequency: float) -> Any:
        if acoustics.side == "both":
            return posed_sheet(case, mesh, conditions, frequency)
        return AcousticProblem(
            mesh, frequency=frequency, fluid=case.fluid_at(frequency), side=acoustics.side, conditions=conditions,
            mirrors=acoustics.plane, space=acoustics.space,
        )  # fmt: skip

    with file.blamed("mesh", next(name for name in case.mesh.SELECTORS if getattr(case.mesh, name) is not None)):
        if len(case.frequencies) == 1:
            return posed(highest)
        with warned_of_coarse_meshes(posed, np.array(case.frequencies)):
            return posed(highest)


def at_frequency(file: CaseFile[SoundCase], problem: Any, frequency: float) -> Any:
    """The problem at a frequency in Hz, in the fluid as it is there."""
    speed = {"speed_of_sound": None} if isinstance(problem, AcousticSheet) else {}
    return replace(problem, wavenumber=None, frequency=frequency, fluid=file.case.fluid_at(frequency), **speed)


def _options(case: SoundCase, exact: bool) -> dict[str, Any]:
    """The options of solutions. exact: of a band with rational functions, and of modes, those that the case gives:
    others are those of values without noise."""
    options = case.solver.options
    names = {"max_iterations": "maxiter"}
    given = {names.get(name, name) for name in case.solver.model_fields_set}
    return {name: options[name] for name in options if name in given} if exact else options


def computed(file: CaseFile[SoundCase], problem: Any, stages: Stages) -> SoundResults:
    """All requested results of a case. Of too coarse a mesh the posed problem has warned, for all frequencies."""
    with warnings.catch_warnings(action="ignore", category=CoarseMeshWarning):
        return _computed(file, problem, stages)


def _computed(file: CaseFile[SoundCase], problem: Any, stages: Stages) -> SoundResults:
    """All requested results of a case, with such warnings."""
    case, acoustics = file.case, file.case.acoustics
    frequencies = np.sort(np.array(case.frequencies))
    steps, solved = list[Step](), frequencies
    error: float | None = None
    response: ImpulseResponse | None = None
    without: NDArray[np.complex128] | None = None
    poles: tuple[FourPole, ...] = ()
    found: tuple[RoomMode, ...] = ()
    pressures, powers = np.empty((len(frequencies), 0), np.complex128), np.empty(0)
    if case.sounds:
        steps, pressures, powers, error = _swept(file, problem, frequencies, stages)
        solved = np.array([each.frequency for each in steps])
    if case.output.impulse is not None:
        with stages.stage("responses in time"), file.blamed("output", "impulse.rate", case.output.impulse.rate):
            response = impulse_response(frequencies, pressures, case.output.impulse.rate, "pressure", "Pa")
    if acoustics.side == "both":
        without = without_sheet(case, problem, frequencies)
    if case.output.four_pole is not None:
        with stages.stage("four-poles"):
            options = _options(case, exact=acoustics.interpolate is not None)
            poles, solved = four_poles(file, lambda each: at_frequency(file, problem, each), frequencies, options)
    if case.output.resonances is not None:
        with stages.stage("resonances"):
            found = modes(file, problem, _options(case, exact=True))
    second = _second_mesh(file, problem, steps[-1], stages) if case.output.estimate and steps else None
    return SoundResults(
        file, problem, tuple(steps), frequencies, pressures, powers, error, response, second, problem.unknowns,
        without, poles, found, solved,
    )  # fmt: skip


def _swept(
    file: CaseFile[SoundCase], problem: Any, frequencies: NDArray[np.float64], stages: Stages
) -> tuple[list[Step], NDArray[np.complex128], NDArray[np.float64], float | None]:
    """Solutions ascending with the frequency, pressures and powers at all frequencies, and the error of those that are
    interpolated, None without any."""
    case = file.case
    places = near_places(file) if case.output.near_field else {}
    if case.acoustics.interpolate is not None:
        steps, pressures, powers, error = _band(file, problem, places, stages)
        return sorted(steps, key=lambda each: each.frequency), pressures, powers, error
    names = frequency_texts(frequencies.tolist())
    shown, steps = frequencies[evenly(len(frequencies), SHOWN)], []
    for frequency, name in zip(frequencies.tolist(), names, strict=True):
        with stages.stage("assemble and solve", name if len(names) > 1 else ""):
            posed = at_frequency(file, problem, frequency)
            solution = posed.solve(case.sources, **_options(case, exact=False), **_split(case))
        steps.append(_step(case, posed, solution, name, places, frequency in shown, stages))
    powers = np.array([each.power for each in steps if each.power is not None])
    return steps, np.array([each.pressures for each in steps]), powers, None


def _split(case: SoundCase) -> dict[str, bool]:
    """The option of solutions by which sources are split into even and odd ones."""
    return {"decompose": True} if case.acoustics.decompose else {}


def _band(
    file: CaseFile[SoundCase], problem: Any, places: dict[str, Places], stages: Stages
) -> tuple[list[Step], NDArray[np.complex128], NDArray[np.float64], float]:
    """Solutions at few frequencies, and pressures and powers at all by rational functions."""
    case, steps = file.case, list[Step]()
    highest = max(case.frequencies)

    def measured(solution: Any) -> NDArray[np.complex128]:
        posed, frequency = at_frequency(file, problem, solution.frequency), solution.frequency
        shown = abs(frequency / highest - 1) < 1e-9
        steps.append(_step(case, posed, solution, frequency_text(frequency), places, shown, stages))
        given = [] if steps[-1].power is None else [steps[-1].power]
        return np.array([*steps[-1].pressures, *given], np.complex128)

    with stages.stage("solve at few frequencies"):
        kept: Any = Measured(None, measured, "", "")
        options: Any = {**_options(case, exact=True), **_split(case)}
        speed, few = problem.fluid.speed_of_sound, case.acoustics.interpolate
        swept = values_of(problem, case.frequencies, case.sources, speed, kept, few, **options)
    values = swept.values[np.argsort(swept.frequencies)]
    count = len(case.output.points)
    powers = values[:, count].real if values.shape[1] > count else np.empty(0)
    return steps, values[:, :count], powers, swept.error


def _step(
    case: SoundCase, posed: Any, solution: Any, name: str, places: dict[str, Places], shown: bool, stages: Stages
) -> Step:
    """Fields and powers of a solution. shown: whether those in the plane and in all directions are among them."""
    output, plane = case.output, None
    with stages.stage("fields", name):
        points = np.array(output.points).reshape(-1, 3)
        pressures = np.asarray(solution.field(points)) if len(points) else np.empty(0, np.complex128)
        if shown and output.slice is not None:
            plane = solution.samples(rectangle_places(slice_points(case, posed.surface.whole)))
        near = {place: solution.samples(each) for place, each in places.items()}
        step = Step(
            solution.frequency, name, posed.fluid.impedance, solution.surface, solution.info,
            posed.elements_per_wavelength, pressures, plane, near,
        )  # fmt: skip
        if isinstance(solution, AcousticSolution):
            return _of_walls(step, solution, output, shown)
    if np.imag(solution.wavenumber) != 0:
        return step
    return replace(step, absorbed=solution.absorbed_power(posed.fluid.density, posed.fluid.speed_of_sound))


def _of_walls(step: Step, solution: AcousticSolution, output: SoundOutput, shown: bool) -> Step:
    """A step with the powers of its walls, and outside with its directivity."""
    outside, lossless = solution.side == "exterior", np.imag(solution.wavenumber) == 0
    far = directed = pattern = beam = None
    if output.directivity is not None:
        far = np.asarray(solution.far_field(output.directivity.directions))
        directed = decibels_of_power(solution.directivity(output.directivity.directions))
        beam = _beam(solution, output.directivity, directed)
    if shown and outside and lossless:
        rows = pattern_rows([solution.surface], solution.wavenumber)  # type: ignore[list-item]
        shape = (rows, 2 * (rows - 1))
        pattern = level_values(solution.directivity, shape).reshape(shape)
    moves = solution.moving is not None
    gives = moves or solution.released is not None
    # where power goes is smooth over frequency, and exact to second order; sources and losses leave the surface alone
    away = solution.radiated_power if outside and lossless else 0.0
    power = solution.absorbed_power() + away if lossless and solution.sources is None else solution.sound_power
    return replace(
        step, power=power if gives else None, power_error=_power_error(solution) if gives else None,
        absorbed=solution.absorbed_power(), efficiency=solution.radiation_efficiency if moves and outside else None,
        far=far, directivity=directed, beam=beam, pattern=pattern, parts=tuple(_parts(solution)),
    )  # fmt: skip


def _beam(
    solution: AcousticSolution, requested: Directivity, levels: NDArray[np.float64]
) -> tuple[float, float] | None:
    """The loudest of the requested directions, an angle in rad, and the beamwidth about it in their plane in rad; None
    where there is none, as along the plane of a half space."""
    angle = float(requested.values[int(levels.argmax())])
    first, second = (np.eye(3)["xyz".index(axis)] for axis in requested.plane)
    along, toward = np.cos(angle) * first + np.sin(angle) * second, np.cos(angle) * second - np.sin(angle) * first
    with suppress(ValueError):
        return angle, solution.beamwidth(along, toward, requested.drop)
    return None


def _power_error(solution: AcousticSolution) -> float | None:
    """The difference of powers by surface and by far field, or in a room of that which walls give and that which they
    absorb, relative; None where they differ by other things."""
    if solution.sources is not None or np.imag(solution.wavenumber) != 0:
        return None
    return solution.power_error if solution.side == "exterior" or solution.absorbed_power() > 0 else None


def _parts(solution: AcousticSolution) -> Iterator[Part]:
    """The parts of the surface by tag, with impedances where they move and powers where they absorb."""
    mesh = solution.mesh
    names = {number: name for name, number in mesh.names.items()}
    for tag in np.unique(mesh.tags).tolist():
        impedance = None
        with suppress(ValueError):  # of parts that do not move
            impedance = solution.radiation_impedance(tag)
        name = names.get(tag, f"tag {tag}" if tag else "surface without a tag" if mesh.tags.any() else "surface")
        yield Part(name, impedance, solution.absorbed_power(tag) or None)


def slice_points(case: SoundCase, mesh: TriangleMesh) -> NDArray[np.float64]:
    """Points (rows, columns, 3) of the requested rectangle; by default the box of a room, and outside 1.6 times the
    body's extent in each direction."""
    requested, (low, high) = case.output.slice, mesh.bounds
    assert requested is not None
    extent = (high - low)[requested.axes]
    inside = case.acoustics.side == "interior"
    size = 0.998 * extent if inside else extent + 0.6 * extent.max()  # no points on the walls of a box
    return requested.grid(size, (low + high) / 2)


def _second_mesh(file: CaseFile[SoundCase], problem: Any, last: Step, stages: Stages) -> SecondMesh | None:
    """The error of the sound, outside far away and inside at some points, by the first of other meshes on which the
    problem can be posed, at the highest frequency."""
    case = file.case

    def posed(h: float) -> tuple[TriangleMesh, Any]:
        table = case.mesh.model_copy(update={"h": h})
        mesh = surface_mesh(replace(file, case=case.model_copy(update={"mesh": table})))
        return mesh, _problem(file, mesh)

    def compare(_: TriangleMesh, again: Any) -> SecondMesh | None:
        chosen = {**case.solver.options, **_split(case)}
        first, second = (_measured(each.solve(case.sources, **chosen)) for each in (problem, again))
        found = second_mesh("sound pressure", first, second, problem.surface.whole, again.surface.whole)
        return found if found is None else replace(found, at=f" at {last.name}")

    h = None if case.face else case.mesh.h
    others = other_meshes(h, problem.mesh, posed, lambda mesh: _problem(file, mesh))
    return estimated(others, compare, stages, lambda again: f"{again.unknowns} unknowns")


def _measured(solution: Any) -> NDArray[np.complex128]:
    """The far field in 64 directions, or the pressure at some points in a room."""
    if not isinstance(solution, AcousticSolution) or solution.side == "exterior":
        theta, phi = np.meshgrid(np.pi * (np.arange(8) + 0.5) / 8, np.pi * np.arange(8) / 4, indexing="ij")
        return np.asarray(solution.far_field(unit_directions(theta.ravel(), phi.ravel())))
    low, high = solution.mesh.bounds
    x = low + (high - low) * np.random.default_rng(1).random((1000, 3))
    return np.asarray(solution.field(x[solution.mesh.contains(x)][:64]))
