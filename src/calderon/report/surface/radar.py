"""Electromagnetic waves scattered by a conductor or a dielectric body: one frequency of a case."""

import numpy as np
from numpy.typing import NDArray

import calderon.exact as exact
from calderon.case import Angles, Case, electromagnetic_problem, electromagnetic_wave
from calderon.exact.angular import line_of_sight
from calderon.formulations import DielectricScattering, DielectricSolution, ElectromagneticSolution, PECScattering
from calderon.mesh import TriangleMesh
from calderon.report.results import FarFields, Moment, Step, decibels_of_power
from calderon.report.stages import Stages
from calderon.report.surface.plane import Field, field_in_plane
from calderon.report.surface.solving import announcement, options, record
from calderon.spaces import RWG, EdgeSpace, VectorFunction

POLARIZATIONS = ("VV", "HH")


def solve_radar(case: Case, mesh: TriangleMesh, moment: Moment, stages: Stages) -> Step:
    """Solve at one wavenumber and evaluate; the field in a plane only at the last."""
    posed, output = electromagnetic_problem(case, mesh, moment.wavenumber), case.output
    with stages.stage("assemble and solve", announcement(case, posed.unknowns, moment.at)):
        solution: ElectromagneticSolution = posed.solve(electromagnetic_wave(case, moment.wavenumber), **options(case))
    far: FarFields = {}
    strength, exact_strength, error, backward, cut = None, None, None, None, None
    if output.far_field is not None:
        asked = output.far_field
        with stages.stage("far field", moment.at):
            vectors = solution.far_field(asked.directions)
            far = components(vectors, asked)
            strength = decibels_of_power(solution.rcs(*asked.theta_phi, asked.polarization))
            backward = float(decibels_of_power(solution.rcs(*_toward_source(case))))
        if output.exact:
            series = _exact_sphere(case, moment.wavenumber)
            exact_strength = decibels_of_power(series.rcs(*asked.theta_phi, asked.polarization))
            reference = series.far_field(asked.directions)
            error = float(np.linalg.norm(vectors - reference) / np.linalg.norm(reference))
    if output.slice is not None and moment.last:
        with stages.stage("field in a plane", moment.at):
            cut = field_in_plane(case, mesh, shown_field(case, solution))
    return Step(
        wavenumber=moment.wavenumber,
        frequency=moment.frequency,
        surface=current_on(mesh, solution),
        elements_per_wavelength=float(posed.elements_per_wavelength),
        far_field=far,
        strength=strength,
        exact_strength=exact_strength,
        exact_error=error,
        backward=backward,
        monostatic=_monostatic(case, posed, moment, stages),
        slice=cut,
        **record(solution.info),
    )


def components(vectors: NDArray[np.complex128], angles: Angles) -> FarFields:
    """Far fields (n, 3) in V along theta-hat and phi-hat."""
    _, vertical, horizontal = line_of_sight(*angles.theta_phi)
    return {
        ("far_field_theta", "V"): np.sum(vectors * vertical, axis=1),
        ("far_field_phi", "V"): np.sum(vectors * horizontal, axis=1),
    }


def shown_field(case: Case, solution: ElectromagneticSolution) -> Field:
    """Of the electric field its magnitude, or for signed pictures the component along the incident polarisation."""
    assert case.output.slice is not None and case.incident is not None and case.incident.vector is not None
    if case.output.slice.quantity in ("abs", "db"):
        return lambda points: np.linalg.norm(solution.electric(points), axis=1)
    along = case.incident.vector / np.linalg.norm(case.incident.vector)
    return lambda points: np.asarray(solution.electric(points) @ along)


def _monostatic(
    case: Case, posed: PECScattering | DielectricScattering, moment: Moment, stages: Stages
) -> dict[str, NDArray[np.float64]]:
    """Levels by polarisation; the matrix and its factors are those of the solution."""
    asked = case.output.monostatic
    levels = {}
    for pair in () if asked is None else asked.polarizations or POLARIZATIONS:
        assert asked is not None
        with stages.stage("monostatic cross-section", ", ".join(filter(None, [pair, moment.at]))):
            levels[pair] = decibels_of_power(posed.monostatic_rcs(*asked.theta_phi, pair, **options(case)))
    return levels


def current_on(mesh: TriangleMesh, solution: ElectromagneticSolution) -> VectorFunction:
    """The electric current of all surfaces as one function on the mesh of which they are parts by tag."""
    several = isinstance(solution, DielectricSolution) and len(solution.electric_currents) > 1
    if not several:
        return solution.currents.electric_currents[0]
    assert isinstance(solution, DielectricSolution)
    whole = RWG(mesh)
    coefficients = np.zeros(whole.dimension, np.complex128)
    places = {tuple(edge): place for place, edge in enumerate(np.sort(mesh.edges[whole.edges], axis=1).tolist())}
    for current in solution.electric_currents:
        part = current.space
        assert isinstance(part, EdgeSpace)
        numbers = np.unique(mesh.triangles[np.isin(mesh.tags, part.mesh.tags)])  # of the vertices of the part
        edges = np.sort(numbers[part.mesh.edges[part.edges]], axis=1).tolist()
        coefficients[[places[tuple(edge)] for edge in edges]] = current.coefficients
    first = solution.electric_currents[0]
    return VectorFunction(whole, coefficients, first.label, first.unit)


def _toward_source(case: Case) -> tuple[float, float]:
    """theta and phi of the direction from which the plane wave comes."""
    assert case.incident is not None
    x, y, z = -case.incident.unit_direction
    return float(np.arctan2(np.hypot(x, y), z)), float(np.arctan2(y, x))


def _exact_sphere(case: Case, wavenumber: float) -> exact.MieScattering:
    """Mie's series of the case's sphere."""
    assert case.incident is not None and case.mesh.radius is not None
    physics, radius, wave = case.physics, case.mesh.radius, electromagnetic_wave(case, wavenumber)
    along, e, amplitude = wave.direction, wave.polarization, wave.amplitude
    if physics.problem == "conductor":
        return exact.mie_pec_sphere(wavenumber, radius, along, e, amplitude)
    permeability = 1.0 if physics.permeability is None else physics.permeability
    assert isinstance(physics.permittivity, complex) and not isinstance(permeability, dict)
    return exact.mie_dielectric_sphere(wavenumber, radius, physics.permittivity, permeability, along, e, amplitude)
