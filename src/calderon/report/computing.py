"""A case is run: mesh, problem, solution, and the fields that it asks for."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import sobel

import calderon.backends as backends
import calderon.exact as exact
from calderon.case import (
    Case,
    CaseFile,
    acoustic_problem,
    incident_wave,
    interior_fluid,
    static_problem,
    surface_mesh,
    wavenumbers,
)
from calderon.formulations import SolutionInfo
from calderon.mesh import TriangleMesh
from calderon.plots import inside, slice_points
from calderon.report.results import Results, Slice, Step
from calderon.report.stages import Stages


def run(file: CaseFile, stages: Stages | None = None) -> Results:
    """Compute everything a case asks for; warnings are collected for the report.

    CaseError tells what in the case cannot be used; errors of the problem and the solver pass through (ValueError,
    MemoryError, ConvergenceError).
    """
    stages = stages or Stages()
    case = file.case
    backend, there = case.solver.backend, backends.available()
    if backend not in there:
        choices = " or ".join(map(repr, there))
        raise file.mistake("solver", "backend", f"{backend!r} is not available on this machine: choose {choices}")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with stages.stage("read the mesh"):
            mesh = surface_mesh(file)
        if case.physics.acoustic:
            steps = tuple(_acoustic(case, mesh, number, k, stages) for number, k in enumerate(wavenumbers(case)))
        else:
            steps = (_static(case, mesh, stages),)
    texts = dict.fromkeys(str(one.message) for one in caught if issubclass(one.category, UserWarning))
    return Results(file, mesh, steps[0].surface.space.dimension, steps, stages.seconds, tuple(texts))


def _acoustic(case: Case, mesh: TriangleMesh, number: int, wavenumber: float, stages: Stages) -> Step:
    """Solve at one wavenumber, the number-th of the case, and evaluate; the field in a plane only at the last."""
    frequency = case.physics.frequency[number] if case.physics.frequency is not None else None
    at = f"{frequency:.6g} Hz" if frequency is not None and len(case.physics.frequency or ()) > 1 else ""
    posed = acoustic_problem(case, mesh, wavenumber)
    with stages.stage("assemble and solve", at):
        solution = posed.solve(incident_wave(case, wavenumber), **_options(case))
    far, strength, backward, monostatic, cut = None, None, None, None, None
    if case.output.far_field is not None:
        with stages.stage("far field", at):
            far = solution.far_field(case.output.far_field.directions)
            strength = _level(far, solution.incident_amplitude)
            if case.incident is not None and case.incident.position is None:
                backward = float(solution.target_strength(-case.incident.unit_direction[None])[0])
    if case.output.monostatic is not None:
        with stages.stage("monostatic target strength", at):
            monostatic = posed.monostatic_target_strength(case.output.monostatic.directions, rtol=case.solver.rtol)
    if case.output.slice is not None and number == len(wavenumbers(case)) - 1:  # the last is what is drawn
        with stages.stage("field in a plane", at):
            cut = _slice(case, mesh, solution.field)
    reference = _exact_far_field(case, wavenumber) if case.output.exact and far is not None else None
    return Step(
        wavenumber=float(wavenumber),
        frequency=frequency,
        surface=solution.surface,
        elements_per_wavelength=float(posed.elements_per_wavelength),
        far_field=far,
        strength=strength,
        exact_strength=None if reference is None else _level(reference, solution.incident_amplitude),
        exact_error=None
        if reference is None or far is None
        else float(np.linalg.norm(far - reference) / np.linalg.norm(reference)),
        backward=backward,
        monostatic=monostatic,
        slice=cut,
        **_convergence(solution.info),
    )


def _level(far: NDArray[np.complex128], amplitude: float) -> NDArray[np.float64]:
    """Target strength 20 log10 (|F| / |p_i|) in dB re 1 m."""
    with np.errstate(divide="ignore"):
        return 20 * np.log10(np.abs(far) / amplitude)


def _static(case: Case, mesh: TriangleMesh, stages: Stages) -> Step:
    """Solve a Laplace problem with constant data and evaluate."""
    posed = static_problem(case, mesh)
    data = case.physics.potential if case.physics.potential is not None else case.physics.flux
    with stages.stage("assemble and solve"):
        solution = posed.solve(data, **_options(case))
    cut = None
    if case.output.slice is not None:
        with stages.stage("field in a plane"):
            cut = _slice(case, mesh, solution.field)
    return Step(
        wavenumber=None,
        frequency=None,
        surface=solution.surface,
        slice=cut,
        total_flux=float(np.real(solution.surface.integral())) if case.physics.potential is not None else None,
        **_convergence(solution.info),
    )


def _options(case: Case) -> dict[str, Any]:
    """What the [solver] table says, as options of solve()."""
    solver = case.solver
    return {
        "method": solver.method,
        "rtol": solver.rtol,
        "precision": solver.precision,
        "backend": solver.backend,
        "solver": solver.solver,
        "maxiter": solver.max_iterations,
    }


def _convergence(info: SolutionInfo) -> dict[str, Any]:
    return {
        "equation": info.equation,
        "matrix": info.matrix,
        "solver": info.method,
        "iterations": info.iterations,
        "residuals": info.residuals,
        "residual": info.residual,
        "assembly_seconds": info.assembly_seconds,
        "solution_seconds": info.factorisation_seconds + info.solve_seconds,
    }


def _slice(case: Case, mesh: TriangleMesh, field: Any) -> Slice:
    """The field on the asked plane, where the problem defines it: outside the body, inside it, or both."""
    points = _slice_points(case, mesh)
    enclosed = inside(mesh, points)
    hidden = enclosed
    if case.physics.side == "interior":
        hidden = ~hidden
    elif case.physics.problem == "transmission":
        hidden = np.zeros_like(hidden)
    values = field(_moved_off(points, enclosed, mesh)[~hidden])
    filled = np.full(hidden.shape, np.nan, dtype=values.dtype)
    filled[~hidden] = values
    return Slice(points, filled)


def _moved_off(points: NDArray[np.float64], enclosed: NDArray[np.bool_], mesh: TriangleMesh) -> NDArray[np.float64]:
    """Points on either side of the surface, next to ones on the other, moved off it by a five-hundredth of an element.

    Of some thousand points one usually lies on the surface by chance, where the field is the mean of both sides.
    """
    along_rows, along_columns = (sobel((~enclosed).astype(float), axis, mode="nearest") for axis in (0, 1))
    right, up = points[0, 1] - points[0, 0], points[1, 0] - points[0, 0]
    away = along_columns[..., None] * right + along_rows[..., None] * up
    length = np.linalg.norm(away, axis=2, keepdims=True)
    outward = np.divide(away, length, out=np.zeros_like(away), where=length > 0)
    return points + mesh.mean_edge_length / 500 * np.where(enclosed[..., None], -outward, outward)


def _slice_points(case: Case, mesh: TriangleMesh) -> NDArray[np.float64]:
    """Points of the asked rectangle; by default 1.6 times the body's extent in each direction, about its centre."""
    asked = case.output.slice
    assert asked is not None
    axes = ["xyz".index(axis) for axis in asked.plane]
    low, high = mesh.bounds
    extent = (high - low)[axes]
    size = np.array(asked.size) if asked.size is not None else extent + 0.6 * extent.max()
    centre = np.array(asked.centre) if asked.centre is not None else (low + high) / 2
    columns, rows = np.maximum(2, np.round(asked.points * size / size.max())).astype(int)
    unit = np.eye(3)
    return slice_points(centre, size[0] * unit[axes[0]], size[1] * unit[axes[1]], (int(rows), int(columns)))


def _exact_far_field(case: Case, wavenumber: float) -> NDArray[np.complex128]:
    """The partial-wave series of the case's sphere at its far-field angles."""
    assert case.output.far_field is not None and case.incident is not None
    far: NDArray[np.complex128] = _exact_sphere(case, wavenumber).far_field(case.output.far_field.directions)
    return np.asarray(case.incident.amplitude * far, dtype=complex)


def _exact_sphere(case: Case, wavenumber: float) -> exact.SphereScattering:
    assert case.incident is not None and case.mesh.radius is not None
    physics, radius, along = case.physics, case.mesh.radius, case.incident.unit_direction
    if physics.problem == "sound-hard":
        return exact.rigid_sphere(wavenumber, radius, along)
    if physics.problem == "sound-soft":
        return exact.soft_sphere(wavenumber, radius, along)
    if physics.problem == "impedance":
        assert physics.admittance is not None
        return exact.impedance_sphere(wavenumber, radius, physics.admittance, along)
    interior, ratio = interior_fluid(case, wavenumber)
    return exact.fluid_sphere(wavenumber, radius, interior, ratio, along)
