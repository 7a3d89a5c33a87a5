"""Electromagnetic waves scattered by a conductor or a dielectric body, and fed antennas: one frequency of a case."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import calderon.exact as exact
from calderon.case import Angles
from calderon.exact.angular import line_of_sight
from calderon.formulations import DielectricScattering, DielectricSolution, ElectromagneticSolution, PECScattering
from calderon.formulations.scenes import level_values, pattern_rows
from calderon.kinds.surface.computing import Measured, SurfacePhysics, deviation, options, saved_sweep
from calderon.kinds.surface.model import Case
from calderon.kinds.surface.null_field import left_inside
from calderon.kinds.surface.results import FarFields, Moment, Words
from calderon.mesh import TriangleMesh
from calderon.report.formatting import CROSS_SECTION, GAIN, decibels_of_power
from calderon.report.stages import Stages
from calderon.spaces import RWG, EdgeSpace, VectorFunction
from calderon.waves import ElectromagneticPlaneWave

POLARIZATIONS = ("VV", "HH")


class Radar(SurfacePhysics):
    """Scattering of an electromagnetic plane wave."""

    words = Words(CROSS_SECTION, "E", "V/m", "total electric field")
    field_method = "electric"

    def excitation(self, case: Case, wavenumber: float) -> ElectromagneticPlaneWave:
        assert case.incident is not None
        return case.incident.electromagnetic(wavenumber)

    def drawn(self, case: Case, vectors: NDArray[Any]) -> NDArray[Any]:
        """The magnitude of E, or for signed pictures the component along the incident polarisation."""
        assert case.output.slice is not None and case.incident is not None and case.incident.vector is not None
        if case.output.slice.quantity in ("abs", "db"):
            return super().drawn(case, vectors)
        return np.asarray(vectors @ case.incident.vector)

    def surface(self, mesh: TriangleMesh, solution: Any) -> VectorFunction:
        return current_on(mesh, solution)

    def left_inside(self, case: Case, mesh: TriangleMesh, solution: Any) -> float | None:
        if case.physics.definition.penetrable:
            return None
        return left_inside(mesh, solution.electric, solution.incident.electric)

    def evaluate(self, case: Case, posed: Any, solution: Any, moment: Moment, stages: Stages) -> dict[str, Any]:
        requested = case.output.far_field
        found: dict[str, Any] = {"elements_per_wavelength": float(posed.elements_per_wavelength)}
        if requested is not None:
            with stages.stage("far field", moment.at):
                vectors = solution.far_field(requested.directions)
                found["far_field"] = components(vectors, requested)
                found["strength"] = decibels_of_power(solution.rcs(*requested.theta_phi, requested.polarization))
                assert case.incident is not None
                found["backward"] = float(decibels_of_power(solution.rcs(*case.incident.toward_source)))
            if case.output.exact:
                series = _exact_sphere(case, moment.wavenumber)
                found["exact_strength"] = decibels_of_power(series.rcs(*requested.theta_phi, requested.polarization))
                found["exact_error"] = deviation(vectors, series.far_field(requested.directions))
        with stages.stage("far field", moment.at):
            found["pattern"] = pattern(solution, solution.rcs)
        return found | {"monostatic": _monostatic(case, posed, moment, stages)}


class Antennas(SurfacePhysics):
    """Conductors that a voltage feeds."""

    words = Words(GAIN, "E", "V/m", "total electric field")
    field_method = "electric"

    def excitation(self, case: Case, wavenumber: float) -> float:
        assert case.physics.feed is not None
        return case.physics.feed.voltage

    def measured(self, case: Case, mesh: TriangleMesh, *solutions: Any) -> Measured:
        first, second = (np.array([each.input_impedance]) for each in solutions)
        return "input impedance", first, second

    def evaluate(self, case: Case, posed: Any, solution: Any, moment: Moment, stages: Stages) -> dict[str, Any]:
        requested = case.output.far_field
        found: dict[str, Any] = {"elements_per_wavelength": float(posed.conductor.elements_per_wavelength)}
        if requested is not None:
            with stages.stage("far field", moment.at):
                found["far_field"] = components(solution.far_field(requested.directions), requested)
                found["strength"] = decibels_of_power(solution.gain(*requested.theta_phi, requested.polarization))
        with stages.stage("far field", moment.at):
            found["pattern"] = pattern(solution, solution.gain)
        return found | {"impedance": solution.input_impedance}


def pattern(solution: Any, level: Any) -> NDArray[np.float64]:
    """10 log10 of a level in all directions (rows, columns)."""
    rows = pattern_rows(solution.currents.electric_currents, solution.currents.wavenumber)
    shape = (rows, 2 * (rows - 1))
    return level_values(level, shape).reshape(shape)


def components(vectors: NDArray[np.complex128], angles: Angles) -> FarFields:
    """Far fields (n, 3) in V along theta-hat and phi-hat."""
    _, vertical, horizontal = line_of_sight(*angles.theta_phi)
    return {
        ("far_field_theta", "V"): np.sum(vectors * vertical, axis=1),
        ("far_field_phi", "V"): np.sum(vectors * horizontal, axis=1),
    }


def _monostatic(
    case: Case, posed: PECScattering | DielectricScattering, moment: Moment, stages: Stages
) -> dict[str, NDArray[np.float64]]:
    """Levels by polarisation; the matrix and its factors are those of the solution."""
    requested = case.output.monostatic
    levels = {}
    for pair in () if requested is None else requested.polarizations or POLARIZATIONS:
        assert requested is not None
        step = ", ".join(filter(None, [pair, moment.at]))
        with stages.stage("monostatic cross-section", step), saved_sweep(case, pair) as saved:
            chosen = options(case) | saved
            levels[pair] = decibels_of_power(posed.monostatic_rcs(*requested.theta_phi, pair, **chosen))
    return levels


def current_on(mesh: TriangleMesh, solution: ElectromagneticSolution) -> VectorFunction:
    """The electric current of all surfaces as one function on the mesh of which they are parts by tag."""
    if not isinstance(solution, DielectricSolution) or len(solution.electric_currents) == 1:
        return solution.currents.electric_currents[0]
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


def _exact_sphere(case: Case, wavenumber: float) -> exact.MieScattering:
    """Mie's series of the case's sphere."""
    assert case.mesh.radius is not None and case.incident is not None
    physics, radius, (along, e, amplitude) = case.physics, case.mesh.radius, case.incident.polarized
    if physics.problem == "conductor":
        return exact.mie_pec_sphere(wavenumber, radius, along, e, amplitude)
    permeability = 1.0 if physics.permeability is None else physics.permeability
    permittivity = physics.constants("permittivity", wavenumber)
    assert not isinstance(permittivity, dict) and not isinstance(permeability, dict)
    return exact.mie_dielectric_sphere(wavenumber, radius, permittivity, permeability, along, e, amplitude)
