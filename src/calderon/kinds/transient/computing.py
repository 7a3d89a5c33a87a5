"""A transient case is run: mesh, simulation, fields in time, and the requested results."""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import calderon.mesh as meshes
from calderon.backends import format_bytes, thread_count
from calderon.case import Angles, CaseFile
from calderon.case.mesh import mesh_of
from calderon.dg import MaxwellDG, PeriodicFields, Probe
from calderon.dg.run.checkpoint import OtherRun
from calderon.dg.run.sampling import steps_until
from calderon.exact import SPEED_OF_LIGHT, VACUUM_IMPEDANCE, cubic_cavity
from calderon.kinds.transient.cuts import cut_points, outlines
from calderon.kinds.transient.model import Cut, TransientCase
from calderon.kinds.transient.panels import PANELS
from calderon.kinds.transient.results import Amplitudes, CutField, Facts, Pattern, Signals, TransientResults
from calderon.mesh import TetrahedralMesh
from calderon.mesh.tetrahedral.location import Search
from calderon.parallel import Communicator, world
from calderon.report import Kind, Stages
from calderon.report.folder import CHECKPOINT, OtherCase
from calderon.report.formatting import (
    CROSS_SECTION,
    GAIN,
    Level,
    Row,
    decibels_of_power,
    extent,
    frequency_text,
    time_text,
)
from calderon.report.kind import cost_rows

FAR_FIELD = Level("far field", "dB re 1 V", "far_field")
TABLES = {
    "mesh": "[mesh]",
    "materials": "[materials]",
    "boundaries": "[boundaries]",
    "sources": "[[source]]",
    "order": "[solver]",
    "flux": "[solver]",
    "precision": "[solver]",
    "observers": "probes, frames or snapshots of [output]",
    "initial fields": "[initial]",
}
"""The entries of a case file that define a run; all others define the steps."""


def require_outputs(file: CaseFile[TransientCase], posed: MaxwellDG) -> None:
    """CaseError for points or planes outside the mesh, cubes heavier than the tissue, voxels that do not fit in memory,
    and far fields without absorbing faces around everything."""
    output, mesh = file.case.output, posed.mesh
    search = Search(mesh)
    if output.probes and len(outside := np.flatnonzero(search.find(np.array(output.probes))[0] < 0)):
        text = f"number {outside[0] + 1} lies outside the mesh, {extent(mesh.vertices)}"
        raise file.mistake("output", "probes", text)
    for cut in output.slice:
        if not (search.find(cut_points(mesh, cut).reshape(-1, 3))[0] >= 0).any():
            shown = f"{cut.plane} around {', '.join(f'{each:g} m' for each in cut.centre or ())}"
            raise file.mistake("output", "slice", f"meets no tetrahedron of the mesh, {extent(mesh.vertices)}", shown)
    if output.sar is not None:
        with file.blamed("output", "sar", f"{output.sar.mass:g} kg, {output.sar.voxel:g} m"):
            posed.require_tissue(output.sar.mass, output.sar.voxel)
    if output.far_field is not None:
        with file.blamed("output", "far_field", output.far_field.plane):
            posed.require_surface()


def _facts(file: CaseFile[TransientCase], posed: MaxwellDG, ranks: Communicator) -> Facts:
    case = file.case
    frequency = case.physics.frequency
    if case.run.periods is not None and frequency is not None:
        steps = case.run.periods * posed.steps_per_period(frequency)
        end = case.run.periods / frequency
    else:
        assert case.run.until is not None
        end = case.run.until
        with file.blamed("run", "until", end):
            steps = steps_until(end, 0.0, posed.time_step)[1]
    memory = posed.memory + (posed.memory_of_amplitudes if case.run.periods else 0)
    return Facts(
        posed.number_of_unknowns, end / steps, posed.time_step_limit, steps, end, memory, ranks.size, thread_count(),
        posed.elements_by_step, posed.updates_per_step, posed.saving,
    )  # fmt: skip


def announcement(case: TransientCase, facts: Facts, tetrahedra: int) -> str:
    """Description of the run: method, size, steps, memory."""
    method = "leap-frog" if case.solver.flux == "centred" else "Runge-Kutta"
    ranks = f" on {facts.ranks} ranks" if facts.ranks > 1 else ""
    return (
        f"P{case.solver.order}, {case.solver.flux} flux, {method}, {tetrahedra} tetrahedra, {facts.unknowns} unknowns, "
        f"{facts.steps} steps of {1e12 * facts.step:.4g} ps{_halved(facts)}, {format_bytes(facts.memory)}{ranks}"
    )


def _halved(facts: Facts) -> str:
    """Which elements take shorter steps, and the saving."""
    if len(facts.elements_by_step) == 1:
        return ""
    counts = ", ".join(f"1/{2**k}: {count}" for k, count in enumerate(facts.elements_by_step) if k)
    return f" (tetrahedra with shorter ones, {counts}; {facts.saving:.1f} times less work)"


class _Plane:
    """A cut of a case, with the probe that records its frames in a run until a time."""

    def __init__(self, case: TransientCase, posed: MaxwellDG, steps: int, requested: Cut) -> None:
        self.requested, self.points = requested, cut_points(posed.mesh, requested)
        elements = Search(posed.mesh).find(self.points.reshape(-1, 3))[0]
        self.inside = elements.reshape(self.points.shape[:2]) >= 0
        self.probe: Probe | None = None
        if requested.frames and case.run.periods is None:
            self.probe = posed.add_probe(self.points[self.inside], max(1, steps // requested.frames))

    def field(self, posed: MaxwellDG, fields: PeriodicFields | None) -> CutField:
        """The field on the cut after the run: complex amplitudes where there are some."""
        requested, found = self.requested, self.points[self.inside]
        electric = self._spread(posed.electric(found) if fields is None else fields.electric(found))
        sar, frames, times = None, None, None
        if fields is not None and requested.quantity == "sar":
            sar = np.real(self._spread(fields.local_sar(found)))
        if self.probe is not None:
            frames, times = np.stack([self._spread(values) for values in self.probe.electric]), self.probe.times
        elif requested.frames and fields is not None:
            times = np.arange(requested.frames) / requested.frames / fields.frequency
            phasors = np.exp(-2j * np.pi * fields.frequency * times)
            frames = np.real(phasors[:, None, None, None] * electric)
        return CutField(requested, self.points, electric, sar, outlines(posed.mesh, self.points), frames, times)

    def _spread(self, values: NDArray[np.inexact]) -> NDArray[np.inexact]:
        """Values at the points in the mesh as an array over all points, elsewhere NaN."""
        result = np.full((*self.inside.shape, *values.shape[1:]), np.nan, values.dtype)
        result[self.inside] = values
        return result


class _Watch:
    """The probes, planes and snapshots of a case, placed before the run."""

    def __init__(self, case: TransientCase, posed: MaxwellDG, facts: Facts, scratch: Path | None) -> None:
        output = case.output
        period = facts.steps // (case.run.periods or 1)
        self._probe: Probe | None = None
        if output.probes:
            # at least 400 values in a run until a time, if it has as many steps, and in each period
            self._probe = posed.add_probe(output.probes, max(1, period // 400))
        self.planes = [_Plane(case, posed, facts.steps, requested) for requested in output.slice]
        self.files: Path | None = None
        if output.snapshots is not None:
            if scratch is None:
                raise ValueError("output.snapshots need a folder to be written to: scratch=")
            if output.snapshots.count > period:
                raise ValueError(
                    f"output.snapshots.count = {output.snapshots.count}: only {period} steps to show: choose fewer"
                )
            stride = max(1, period // output.snapshots.count)
            first = facts.steps - (output.snapshots.count - 1) * stride
            self.files = posed.add_snapshots(scratch / "snapshots", stride, first).folder

    def signals(self, scale: float) -> Signals | None:
        """The signals of the probes, multiplied by a factor."""
        if self._probe is None:
            return None
        probe = self._probe
        return Signals(probe.times, probe.points, scale * probe.electric, scale * probe.magnetic)


def _advance(
    case: TransientCase, posed: MaxwellDG, facts: Facts, watch: _Watch, stages: Stages, scratch: Path | None
) -> PeriodicFields | None:
    options: dict[str, Any] = {
        "progress": stages.progress,
        "checkpoint": None if scratch is None else scratch / CHECKPOINT,
        "checkpoint_seconds": case.run.checkpoint,
        "keep_checkpoint": scratch is not None,
    }
    with stages.stage("advance the fields", announcement(case, facts, posed.mesh.number_of_tetrahedra)):
        try:
            if case.run.periods is not None and case.physics.frequency is not None:
                return posed.run_until_periodic(case.physics.frequency, case.run.periods, **options)
            posed.run(facts.end, **options)
        except OtherRun as error:
            raise OtherCase(_of_another_case(error, scratch)) from error
    return None


def _of_another_case(error: OtherRun, scratch: Path | None) -> str:
    """Advice where an interrupted run of another case has left its checkpoint."""
    different = dict.fromkeys(TABLES.get(name, "time steps") for name in error.differing)
    return (
        f"{scratch} holds an interrupted run of another case ({', '.join(different)} differ): restore the case to "
        "continue it, delete that folder to restart, or choose another folder with --out"
    )


def _scale(case: TransientCase, fields: PeriodicFields) -> float:
    """The factor of all fields that feeds the requested power."""
    if case.output.fed_power is None:
        return 1.0
    fed = sum(feed.power for feed in fields.ports.values())
    if fed <= 0:
        raise ValueError(
            f"the currents feed {fed:.4g} W in the last period, which cannot be scaled to output.fed_power: run more "
            "periods, and check whether the part of the source touches metal at both ends"
        )
    return math.sqrt(case.output.fed_power / fed)


def _pattern(requested: Angles, fields: PeriodicFields) -> Pattern:
    """Gain 2 pi |F|^2 / (Z0 power fed), cross-section 4 pi |F / E|^2, or the level of |F| where there is neither."""
    far = fields.far_field(requested.directions)
    squares = (np.abs(far) ** 2).sum(axis=1)
    fed = sum(feed.power for feed in fields.ports.values())
    if fed > 0 and fields.incident_amplitude is None:
        return Pattern(requested, far, decibels_of_power(2 * np.pi * squares / (VACUUM_IMPEDANCE * fed)), GAIN)
    if fields.incident_amplitude is not None:
        ratio = 4 * np.pi * squares / abs(fields.incident_amplitude) ** 2
        return Pattern(requested, far, decibels_of_power(ratio), CROSS_SECTION)
    return Pattern(requested, far, decibels_of_power(squares), FAR_FIELD)


def _amplitudes(case: TransientCase, fields: PeriodicFields, scale: float) -> Amplitudes:
    return Amplitudes(
        frequency=fields.frequency,
        change=fields.change,
        absorbed=fields.absorbed_power(),
        outward=fields.outward_power(),
        feeds=dict(fields.ports),
        electric=fields.mean_electric(),
        sar=fields.specific_absorption_rate(),
        scale=scale,
        averaged=None,
        pattern=None if case.output.far_field is None else _pattern(case.output.far_field, fields),
    )


def _error(file: CaseFile[TransientCase], posed: MaxwellDG) -> float:
    """L2 error of E and Z0 H at the end over the norm of the computed field."""
    electric, magnetic = initial_mode(file)
    norm = math.sqrt(2 * posed.energy() * posed.medium.impedance * posed.medium.speed)
    return posed.l2_error(electric, magnetic) / norm


class FieldsInTime(Kind[TransientCase, MaxwellDG, TransientResults]):
    """Electromagnetic fields on tetrahedra, step by step."""

    in_time = True

    def build(self, file: CaseFile[TransientCase], stages: Stages) -> MaxwellDG:
        ranks = world()
        with stages.stage("make the mesh" if file.case.mesh.shape else "read the mesh"):
            mesh = ranks.gather(volume_mesh(file) if ranks.rank == 0 else None)[0]
        with stages.stage("prepare the simulation"):
            posed = simulation(file, mesh, stages.progress)
            require_outputs(file, posed)
        return posed

    def compute(
        self, file: CaseFile[TransientCase], posed: MaxwellDG, stages: Stages, scratch: Path | None
    ) -> TransientResults:
        """The results, the same on every rank. Without the folder scratch there are no checkpoints, and snapshots are
        refused; ValueError where an interrupted run of another case has left its checkpoint there."""
        case, mesh = file.case, posed.mesh
        facts = _facts(file, posed, world())
        watch = _Watch(case, posed, facts, scratch)
        fields = _advance(case, posed, facts, watch, stages, scratch)
        with stages.stage("evaluate the fields"):
            amplitudes, scale = None, 1.0
            if fields is not None:
                scale = _scale(case, fields)
                fields = fields.scaled(scale)
                amplitudes = _amplitudes(case, fields, scale)
            signals = watch.signals(scale)
            cuts = tuple(plane.field(posed, fields) for plane in watch.planes)
            error = _error(file, posed) if case.output.exact else None
            final = np.linalg.norm(posed.electric(mesh.centroids), axis=1) if fields is None else None
        if amplitudes is not None and fields is not None and case.output.sar is not None:
            with stages.stage("average the absorption rate"):
                average = fields.averaged_sar(case.output.sar.mass, case.output.sar.voxel)
                amplitudes = replace(amplitudes, averaged=average)
        shape = meshes.step_report(mesh, case.media)
        return TransientResults(file, mesh, shape, facts, signals, cuts, amplitudes, error, final, watch.files)

    def plan(self, file: CaseFile[TransientCase], stages: Stages) -> list[Row]:
        posed = self.build(file, stages)
        facts = _facts(file, posed, world())
        method = f"{len(posed.mesh.tetrahedra)} tetrahedra of degree {file.case.solver.order}, no matrix"
        rows: list[Row] = [("unknowns", str(facts.unknowns), ""), ("method", method, "")]
        rows += [("steps", f"{facts.steps} of {time_text(facts.step)}", ""), ("until", time_text(facts.end), "")]
        return [*rows, *cost_rows(facts.memory)]

    def subtitle(self, results: TransientResults) -> str:
        case = results.file.case
        run = f"{case.run.periods} periods of {frequency_text(case.physics.frequency or 0)}" if case.run.periods else (
            f"until {time_text(results.facts.end)}"
        )  # fmt: skip
        sources = [f"current through “{one.part}”" if one.kind == "current" else "plane wave" for one in case.source]
        if case.initial is not None:
            sources.append(f"standing wave {case.initial.mode}")
        return f"Mesh “{case.mesh.file or case.mesh.shape}”, {run}; {', '.join(sources)}."


KIND = FieldsInTime("transient", "Fields in time", TransientCase, PANELS, "Electromagnetic fields in time")


Field = Callable[[NDArray[np.float64], float], NDArray[np.float64]]


def volume_mesh(file: CaseFile[TransientCase]) -> TetrahedralMesh:
    """The mesh of a case, in metres; CaseError for a file or a shape that cannot be used."""
    table = file.case.mesh

    def made() -> TetrahedralMesh:
        assert table.shape is not None
        given: dict[str, Any] = dict(table.parameters)
        if table.shape == "phantom" and file.case.physics.frequency is not None:
            given["frequency"] = file.case.physics.frequency
        return getattr(meshes, table.shape)(**given)

    return mesh_of(file, meshes.read_tetrahedra, made)


def simulation(
    file: CaseFile[TransientCase], mesh: TetrahedralMesh, progress: Callable[[int, int], None] | bool = False
) -> MaxwellDG:
    """The simulation of a case on its mesh, in SI units, with the fields of [initial] set; progress: as of MaxwellDG.

    Errors as for MaxwellDG.
    """
    case = file.case
    solver = case.solver
    result = MaxwellDG(
        mesh, solver.order, flux=solver.flux, courant=solver.courant, boundaries=case.boundaries,
        materials=case.media,
        sources=[one.at(case.physics.frequency or 0.0) for one in case.source],
        precision=solver.precision, backend=solver.backend, local_time_stepping=solver.local_time_stepping,
        progress=progress,
    )  # fmt: skip
    if case.initial is not None:
        result.set_fields(*initial_mode(file))
    return result


def initial_mode(file: CaseFile[TransientCase]) -> tuple[Field, Field]:
    """E in V/m and H in A/m of the standing wave of [initial], as functions of points in m and a time in s."""
    case = file.case
    low, high = np.array(case.mesh.low), np.array(case.mesh.high)
    assert case.initial is not None
    if np.ptp(high - low) > 1e-9 * high.max():
        raise file.mistake("initial", "mode", f"the box has the sides {high - low} m: a cube is needed")
    with file.blamed("initial", "mode"):
        mode = cubic_cavity(case.initial.mode, float(high[0] - low[0]))
    amplitude = case.initial.electric_field

    def electric(points: NDArray[np.float64], time: float) -> NDArray[np.float64]:
        return amplitude * mode.electric(points - low, SPEED_OF_LIGHT * time)

    def magnetic(points: NDArray[np.float64], time: float) -> NDArray[np.float64]:
        return amplitude / VACUUM_IMPEDANCE * mode.magnetic(points - low, SPEED_OF_LIGHT * time)

    return electric, magnetic
