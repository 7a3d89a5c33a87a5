"""Sound scattered by a body: one frequency of a case."""

import numpy as np
from numpy.typing import NDArray

import calderon.backends as backends
import calderon.exact as exact
from calderon.case import Case, acoustic_problem, incident_wave, interior_fluid
from calderon.case.output import FarField
from calderon.formulations import ScatteringSolution
from calderon.mesh import TriangleMesh
from calderon.report.results import Moment, Step
from calderon.report.stages import Stages
from calderon.report.surface.plane import field_in_plane
from calderon.report.surface.solving import announcement, options, record


def solve_acoustics(case: Case, mesh: TriangleMesh, moment: Moment, stages: Stages) -> Step:
    """Solve at one wavenumber and evaluate; the field in a plane only at the last."""
    posed, output = acoustic_problem(case, mesh, moment.wavenumber), case.output
    with stages.stage("assemble and solve", announcement(case, posed.unknowns, moment.at)):
        solution = posed.solve(incident_wave(case, moment.wavenumber), **options(case))
    far, strength, backward, monostatic, cut, deviations = None, None, None, {}, None, {}
    if output.far_field is not None:
        with stages.stage("far field", moment.at):
            far = _echo(solution, output.far_field)
            strength = _level(far, solution.incident_amplitude)
            if case.incident is not None and case.incident.position is None:
                backward = float(solution.target_strength(-case.incident.unit_direction[None])[0])
    if far is not None and output.far_field is not None and _compared(case):
        with stages.stage(f"assemble and solve on {_compared(case)}", moment.at):
            again = posed.solve(solution.incident, **{**options(case), "backend": _compared(case), "matrix_file": None})
            deviations[_compared(case)] = _deviation(_echo(again, output.far_field), far)
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
        exact_error=None if reference is None or far is None else _deviation(far, reference),
        deviations=deviations,
        backward=backward,
        monostatic=monostatic,
        slice=cut,
        **record(solution.info),
    )


def _echo(solution: ScatteringSolution, asked: FarField) -> NDArray[np.complex128]:
    """F (n,) in Pa m: the far field, or at a distance r the scattered pressure times r exp(-ikr)."""
    r = asked.distance
    if r is None:
        return np.asarray(solution.far_field(asked.directions))
    return np.asarray(r * np.exp(-1j * solution.wavenumber * r) * solution.scattered(r * asked.directions))


def _compared(case: Case) -> str:
    """The backend that solves again, empty if there is none."""
    if case.solver.compare is None:
        return ""
    device = backends.get(case.solver.compare)
    name = "numba" if device is None else device.name
    return "" if case.solver.compare == "auto" and device is None else name


def _deviation(far: NDArray[np.complex128], reference: NDArray[np.complex128]) -> float:
    """The relative difference in the Euclidean norm over all directions."""
    return float(np.linalg.norm(far - reference) / np.linalg.norm(reference))


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
