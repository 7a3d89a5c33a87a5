"""A transient case is run: mesh, simulation, fields in time, and the requested results."""

import math
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import calderon.mesh as meshes
from calderon.backends import format_bytes, thread_count
from calderon.case import Angles, CaseFile
from calderon.case.transient import TransientCase
from calderon.case.transient.building import initial_mode, simulation, volume_mesh
from calderon.dg import MaxwellDG, PeriodicFields, Probe
from calderon.dg.run.checkpoint import OtherRun
from calderon.exact import VACUUM_IMPEDANCE
from calderon.mesh import TetrahedralMesh
from calderon.mesh.tetrahedral.location import Search
from calderon.parallel import Communicator, world
from calderon.report.folder import CHECKPOINT
from calderon.report.results import CROSS_SECTION, GAIN, Level, decibels_of_power
from calderon.report.stages import Stages
from calderon.report.transient.cuts import cut_points, outlines
from calderon.report.transient.preflight import require_outputs
from calderon.report.transient.results import Amplitudes, CutField, Facts, Pattern, Signals, TransientResults

FAR_FIELD = Level("far field", "dB re 1 V", "far_field")
RECORDS = 400
"""Least number of values that a probe records in a run until a time (if it has as many steps), and in each period."""
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


def run_transient(
    file: CaseFile[TransientCase], stages: Stages | None = None, scratch: Path | None = None
) -> TransientResults:
    """Compute everything that a transient case requests; every rank makes the same call and gets the same results.

    scratch: a folder for checkpoints and snapshots, from which an interrupted run continues; without it there are no
    checkpoints, and snapshots are refused. Errors: CaseError for a mesh, ValueError (also where an interrupted run of
    another case has left its checkpoint in `scratch`), MemoryError, FloatingPointError.
    """
    stages, ranks, case = stages or Stages(), world(), file.case
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with stages.stage("make the mesh" if case.mesh.shape else "read the mesh"):
            mesh = ranks.gather(volume_mesh(file) if ranks.rank == 0 else None)[0]
        with stages.stage("prepare the simulation"):
            posed = simulation(file, mesh, stages.progress)
            require_outputs(file, posed)
        facts = _facts(case, posed, ranks)
        watch = _Watch(case, posed, facts, scratch)
        fields = _advance(case, posed, facts, watch, stages, scratch)
        with stages.stage("evaluate the fields"):
            amplitudes, scale = None, 1.0
            if fields is not None:
                scale = _scale(case, fields)
                fields = fields.scaled(scale)
                amplitudes = _amplitudes(case, fields, scale)
            signals = watch.signals(scale)
            cuts = tuple(_cut(watch, n, posed, fields) for n in range(len(case.output.slice)))
            error = _error(file, posed) if case.output.exact else None
            final = np.linalg.norm(posed.electric(mesh.centroids), axis=1) if fields is None else None
        if amplitudes is not None and fields is not None and case.output.sar is not None:
            with stages.stage("average the absorption rate"):
                average = fields.averaged_sar(case.output.sar.mass, case.output.sar.voxel)
                amplitudes = replace(amplitudes, averaged=average)
    texts = dict.fromkeys(str(one.message) for one in caught if issubclass(one.category, UserWarning))
    shape = meshes.step_report(mesh, {name: medium.material for name, medium in case.materials.items()})
    return TransientResults(
        file, mesh, shape, facts, signals, cuts, amplitudes, error, final, stages.seconds, tuple(texts), watch.files
    )


def _facts(case: TransientCase, posed: MaxwellDG, ranks: Communicator) -> Facts:
    frequency = case.physics.frequency
    if case.run.periods is not None and frequency is not None:
        steps = case.run.periods * posed.steps_per_period(frequency)
        end = case.run.periods / frequency
    else:
        assert case.run.until is not None
        end = case.run.until
        steps = math.ceil(end / posed.time_step * (1 - 1e-12))
    memory = posed.memory + (posed.memory_of_amplitudes if case.run.periods else 0)
    return Facts(
        posed.number_of_unknowns,
        end / steps,
        posed.time_step_limit,
        steps,
        end,
        memory,
        ranks.size,
        thread_count(),
        posed.elements_by_step,
        posed.updates_per_step,
        posed.saving,
    )


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


class _Watch:
    """The probes and snapshots of a case, placed before the run."""

    def __init__(self, case: TransientCase, posed: MaxwellDG, facts: Facts, scratch: Path | None) -> None:
        output, self.asked = case.output, case.output.slice
        period = facts.steps // (case.run.periods or 1)
        self._probe: Probe | None = None
        if output.probes:
            self._probe = posed.add_probe(output.probes, max(1, period // RECORDS))
        self.points = [cut_points(posed.mesh, asked) for asked in output.slice]
        self.inside = [_inside(posed.mesh, points) for points in self.points]
        self.moving: list[Probe | None] = []
        for asked, points, inside in zip(output.slice, self.points, self.inside, strict=True):
            wanted = asked.frames and case.run.periods is None
            stride = max(1, facts.steps // max(asked.frames, 1))
            self.moving.append(posed.add_probe(points[inside], stride) if wanted else None)
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
    how = {
        "progress": stages.progress,
        "checkpoint": None if scratch is None else scratch / CHECKPOINT,
        "checkpoint_seconds": case.run.checkpoint,
    }
    with stages.stage("advance the fields", announcement(case, facts, posed.mesh.number_of_tetrahedra)):
        try:
            if case.run.periods is not None and case.physics.frequency is not None:
                return posed.run_until_periodic(case.physics.frequency, case.run.periods, **how)  # type: ignore[arg-type]
            posed.run(facts.end, **how)  # type: ignore[arg-type]
        except OtherRun as error:
            raise ValueError(_of_another_case(error, scratch)) from error
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


def _pattern(asked: Angles, fields: PeriodicFields) -> Pattern:
    """Gain 2 pi |F|^2 / (Z0 power fed), cross-section 4 pi |F / E|^2, or the level of |F| where there is neither."""
    far = fields.far_field(asked.directions)
    squares = (np.abs(far) ** 2).sum(axis=1)
    fed = sum(feed.power for feed in fields.ports.values())
    if fed > 0 and fields.incident_amplitude is None:
        return Pattern(asked, far, decibels_of_power(2 * np.pi * squares / (VACUUM_IMPEDANCE * fed)), GAIN)
    if fields.incident_amplitude is not None:
        ratio = 4 * np.pi * squares / abs(fields.incident_amplitude) ** 2
        return Pattern(asked, far, decibels_of_power(ratio), CROSS_SECTION)
    return Pattern(asked, far, decibels_of_power(squares), FAR_FIELD)


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


def _inside(mesh: TetrahedralMesh, points: NDArray[np.float64]) -> NDArray[np.bool_]:
    """(rows, columns) whether the points lie in the mesh."""
    elements = Search(mesh).find(points.reshape(-1, 3))[0]
    return np.asarray(elements.reshape(points.shape[:2]) >= 0)


def _cut(watch: _Watch, number: int, posed: MaxwellDG, fields: PeriodicFields | None) -> CutField:
    asked = watch.asked[number]
    points, inside, probe = watch.points[number], watch.inside[number], watch.moving[number]

    def spread(values: NDArray[np.inexact]) -> NDArray[np.inexact]:
        result = np.full((*inside.shape, *values.shape[1:]), np.nan, values.dtype)
        result[inside] = values
        return result

    found = points[inside]
    electric = posed.electric(found) if fields is None else fields.electric(found)
    sar = None if fields is None or asked.quantity != "sar" else np.real(spread(fields.local_sar(found)))
    frames, times = None, None
    if probe is not None:
        frames = np.stack([spread(values) for values in probe.electric])
        times = probe.times
    elif asked.frames and fields is not None:
        times = np.arange(asked.frames) / asked.frames / fields.frequency
        turned = np.exp(-2j * np.pi * fields.frequency * times)
        frames = np.real(turned[:, None, None, None] * spread(electric))
    return CutField(asked, points, spread(electric), sar, outlines(posed.mesh, points), frames, times)


def _error(file: CaseFile[TransientCase], posed: MaxwellDG) -> float:
    """L2 error of E and Z0 H at the end over the norm of the computed field."""
    electric, magnetic = initial_mode(file)
    norm = math.sqrt(2 * posed.energy() * posed.medium.impedance * posed.medium.speed)
    return posed.l2_error(electric, magnetic) / norm
