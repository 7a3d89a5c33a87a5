"""Sound scattered by a body: one frequency of a case."""

import numpy as np
from numpy.typing import NDArray

import calderon.exact as exact
from calderon.case import Case, acoustic_problem, incident_wave, interior_fluid
from calderon.mesh import TriangleMesh
from calderon.report.plane import field_in_plane
from calderon.report.results import Moment, Step
from calderon.report.solving import announcement, options, record
from calderon.report.stages import Stages


def solve_acoustics(case: Case, mesh: TriangleMesh, moment: Moment, stages: Stages) -> Step:
    """Solve at one wavenumber and evaluate; the field in a plane only at the last."""
    posed, output = acoustic_problem(case, mesh, moment.wavenumber), case.output
    with stages.stage("assemble and solve", announcement(case, posed.unknowns, moment.at)):
        solution = posed.solve(incident_wave(case, moment.wavenumber), **options(case))
    far, strength, backward, monostatic, cut = None, None, None, {}, None
    if output.far_field is not None:
        with stages.stage("far field", moment.at):
            far = solution.far_field(output.far_field.directions)
            strength = _level(far, solution.incident_amplitude)
            if case.incident is not None and case.incident.position is None:
                backward = float(solution.target_strength(-case.incident.unit_direction[None])[0])
    if output.monostatic is not None:
        with stages.stage("monostatic target strength", moment.at):
            levels = posed.monostatic_target_strength(output.monostatic.directions, rtol=case.solver.rtol)
            monostatic = {"": levels}
    if output.slice is not None and moment.last:
        with stages.stage("field in a plane", moment.at):
            cut = field_in_plane(case, mesh, solution.field)
    reference = _exact_far_field(case, moment.wavenumber) if output.exact and far is not None else None
    return Step(
        wavenumber=moment.wavenumber,
        frequency=moment.frequency,
        surface=solution.surface,
        elements_per_wavelength=float(posed.elements_per_wavelength),
        far_field={} if far is None else {("far_field", "Pa_m"): far},
        strength=strength,
        exact_strength=None if reference is None else _level(reference, solution.incident_amplitude),
        exact_error=None
        if reference is None or far is None
        else float(np.linalg.norm(far - reference) / np.linalg.norm(reference)),
        backward=backward,
        monostatic=monostatic,
        slice=cut,
        **record(solution.info),
    )


def _level(far: NDArray[np.complex128], amplitude: float) -> NDArray[np.float64]:
    """Target strength 20 log10 (|F| / |p_i|) in dB re 1 m."""
    with np.errstate(divide="ignore"):
        return 20 * np.log10(np.abs(far) / amplitude)


def _exact_far_field(case: Case, wavenumber: float) -> NDArray[np.complex128]:
    """The partial-wave series of the case's sphere at its far-field angles."""
    assert case.output.far_field is not None and case.incident is not None
    far: NDArray[np.complex128] = _exact_sphere(case, wavenumber).far_field(case.output.far_field.directions)
    return np.asarray((1.0 if case.incident.amplitude is None else case.incident.amplitude) * far, dtype=complex)


def _exact_sphere(case: Case, wavenumber: float) -> exact.SphereScattering:
    assert case.incident is not None and case.mesh.radius is not None
    physics, radius, along = case.physics, case.mesh.radius, case.incident.unit_direction
    if physics.problem == "sound-hard":
        return exact.rigid_sphere(wavenumber, radius, along)
    if physics.problem == "sound-soft":
        return exact.soft_sphere(wavenumber, radius, along)
    if physics.problem == "impedance":
        assert isinstance(physics.admittance, complex)
        return exact.impedance_sphere(wavenumber, radius, physics.admittance, along)
    interior, ratio = interior_fluid(case, wavenumber)
    return exact.fluid_sphere(wavenumber, radius, interior, ratio, along)
