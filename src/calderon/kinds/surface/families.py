"""Families of problems on surfaces: what excites sound, electromagnetic waves, antennas and potentials, and what is
evaluated of a solution at one frequency."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import scipy
from numpy.typing import NDArray

import calderon.backends as backends
import calderon.exact as exact
from calderon.case import Angles
from calderon.exact.angular import line_of_sight
from calderon.formulations import (
    DielectricScattering,
    DielectricSolution,
    ElectromagneticSolution,
    PECScattering,
    ScatteringSolution,
)
from calderon.formulations.scenes import level_values, pattern_rows
from calderon.kinds.surface.computing import Measured, SurfacePhysics, all_around, deviation, saved_sweep
from calderon.kinds.surface.model import Case, FarField
from calderon.kinds.surface.results import FarFields, Moment, Words
from calderon.mesh import TriangleMesh
from calderon.report.formatting import CROSS_SECTION, GAIN, TARGET_STRENGTH, decibels_of_power
from calderon.report.stages import Stages
from calderon.spaces import RWG, EdgeSpace, VectorFunction
from calderon.waves import ElectromagneticPlaneWave, PlaneWave, PointSource

POLARIZATIONS = ("VV", "HH")


class Electromagnetics(SurfacePhysics):
    """Electromagnetic waves. level: the method of a solution that gives the power density of its far field."""

    field_method = "electric"
    level: ClassVar[str]

    def evaluate(self, case: Case, posed: Any, solution: Any, moment: Moment, stages: Stages) -> dict[str, Any]:
        """Elements per wavelength, the far field at the requested angles with its level, and that in all directions."""
        requested, level = case.output.far_field, getattr(solution, self.level)
        conductor = getattr(posed, "conductor", posed)
        found: dict[str, Any] = {"elements_per_wavelength": float(conductor.elements_per_wavelength)}
        with stages.stage("far field", moment.at):
            if requested is not None:
                found["far_field"] = components(solution.far_field(requested.directions), requested)
                found["strength"] = decibels_of_power(level(*requested.theta_phi, requested.polarization))
            rows = pattern_rows(solution.currents.electric_currents, solution.currents.wavenumber)
            shape = (rows, 2 * (rows - 1))
            found["pattern"] = level_values(level, shape).reshape(shape)
        return found


class Radar(Electromagnetics):
    """Scattering of an electromagnetic plane wave."""

    words = Words(CROSS_SECTION, "E", "V/m", "total electric field")
    level = "rcs"

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
        requested, found = case.output.far_field, super().evaluate(case, posed, solution, moment, stages)
        if requested is not None:
            assert case.incident is not None
            found["backward"] = float(decibels_of_power(solution.rcs(*case.incident.toward_source)))
            if case.output.exact:
                series = _exact_sphere(case, moment.wavenumber)
                found["exact_strength"] = decibels_of_power(series.rcs(*requested.theta_phi, requested.polarization))
                exact_field = components(series.far_field(requested.directions), requested)
                both = (np.stack([*each.values()]) for each in (found["far_field"], exact_field))
                found["exact_error"] = deviation(*both)
        return found | {"monostatic": _monostatic(case, posed, moment, stages)}


class Antennas(Electromagnetics):
    """Conductors that a voltage feeds."""

    words = Words(GAIN, "E", "V/m", "total electric field")
    level = "gain"

    def excitation(self, case: Case, wavenumber: float) -> float:
        assert case.physics.feed is not None
        return case.physics.feed.voltage

    def measured(self, case: Case, mesh: TriangleMesh, *solutions: Any) -> Measured:
        first, second = (np.array([each.input_impedance]) for each in solutions)
        return "input impedance", first, second

    def evaluate(self, case: Case, posed: Any, solution: Any, moment: Moment, stages: Stages) -> dict[str, Any]:
        return super().evaluate(case, posed, solution, moment, stages) | {"impedance": solution.input_impedance}


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
            chosen = case.solver.options | saved
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


class Acoustics(SurfacePhysics):
    """Scattering of sound, in Pa."""

    words = Words(TARGET_STRENGTH, "p", "Pa", "total pressure", "sonar")

    def excitation(self, case: Case, wavenumber: float) -> PlaneWave | PointSource:
        assert case.incident is not None
        return case.incident.sound(wavenumber)

    def left_inside(self, case: Case, mesh: TriangleMesh, solution: Any) -> float | None:
        if case.physics.definition.penetrable:
            return None
        wave = solution.incident
        return left_inside(mesh, lambda x: wave(x) + solution.scattered(x), wave)

    def evaluate(self, case: Case, posed: Any, solution: Any, moment: Moment, stages: Stages) -> dict[str, Any]:
        requested, monostatic = case.output.far_field, case.output.monostatic
        found: dict[str, Any] = {"elements_per_wavelength": float(posed.elements_per_wavelength)}
        if requested is not None:
            with stages.stage("far field", moment.at):
                far = _far_field(solution, requested)
                found |= {"far_field": {("far_field", "Pa_m"): far}, "strength": _level(far, solution)}
                assert case.incident is not None
                if (travel := case.incident.travel) is not None:
                    found["backward"] = float(solution.target_strength(-travel[None])[0])
            if backend := _compared(case):
                with stages.stage(f"assemble and solve on {backend}", moment.at):
                    again = posed.solve(
                        solution.incident, **{**case.solver.options, "backend": backend, "matrix_file": None}
                    )
                    found["deviations"] = {backend: deviation(_far_field(again, requested), far)}
            if case.output.exact:
                reference = _exact_far_field(case, moment.wavenumber, requested)
                found |= {"exact_strength": _level(reference, solution), "exact_error": deviation(far, reference)}
        if monostatic is not None:
            with stages.stage("monostatic target strength", moment.at), saved_sweep(case) as saved:
                levels = posed.monostatic_target_strength(monostatic.directions, rtol=case.solver.rtol, **saved)
                found["monostatic"] = {"": levels}
        return found


def _far_field(solution: ScatteringSolution, requested: FarField) -> NDArray[np.complex128]:
    """F (n,) in Pa m: the far field, or at a distance r the scattered pressure times r exp(-ikr)."""
    r = requested.distance
    if r is None:
        return np.asarray(solution.far_field(requested.directions))
    return np.asarray(r * np.exp(-1j * solution.wavenumber * r) * solution.scattered(r * requested.directions))


def _compared(case: Case) -> str:
    """The backend that solves again, empty if there is none."""
    if case.solver.compare is None:
        return ""
    name = backends.Execution.of(case.solver.compare, case.solver.precision).name
    return "" if (case.solver.compare, name) == ("auto", "numba") else name


def _level(far: NDArray[np.complex128], solution: ScatteringSolution) -> NDArray[np.float64]:
    """Target strength 20 log10 (|F| / |p_i|) in dB re 1 m."""
    with np.errstate(divide="ignore"):
        return 20 * np.log10(np.abs(far) / solution.incident_amplitude)


def _exact_far_field(case: Case, wavenumber: float, requested: FarField) -> NDArray[np.complex128]:
    """The partial-wave series of the case's sphere at its far-field angles."""
    assert case.incident is not None and case.mesh.radius is not None
    physics, sphere = case.physics, (wavenumber, case.mesh.radius)
    along = case.incident.unit_direction
    if physics.problem == "sound-hard":
        series = exact.rigid_sphere(*sphere, along)
    elif physics.problem == "sound-soft":
        series = exact.soft_sphere(*sphere, along)
    elif physics.problem == "impedance":
        assert isinstance(physics.admittance, complex)
        series = exact.impedance_sphere(*sphere, physics.admittance, along)
    else:
        series = exact.fluid_sphere(*sphere, *physics.interior_fluid(wavenumber), along)
    return np.asarray(case.incident.pressure * series.far_field(requested.directions), dtype=complex)


class Statics(SurfacePhysics):
    """Laplace problems: the potential between bodies."""

    words = Words(TARGET_STRENGTH, "potential", "V", "potential")

    def excitation(self, case: Case, wavenumber: float) -> float | None:
        return case.physics.potential if case.physics.potential is not None else case.physics.flux

    def evaluate(self, case: Case, posed: Any, solution: Any, moment: Moment, stages: Stages) -> dict[str, Any]:
        """The total charge of exterior problems with a given potential; inside, the density is the jump between both
        sides, whose total does not describe the field there."""
        charged = case.physics.potential is not None and case.physics.side != "interior"
        return {"total_flux": float(np.real(solution.surface.integral()))} if charged else {}

    def measured(self, case: Case, mesh: TriangleMesh, *solutions: Any) -> Measured:
        """The charge of bodies at a given potential, else the potential, inside or about the body."""
        if case.physics.potential is not None and case.physics.side != "interior":
            first, second = (np.array([each.surface.integral()]) for each in solutions)
            return "charge", first, second
        if case.physics.side == "interior":
            x = points_inside(mesh)
        else:
            x = mesh.bounds.mean(axis=0) + mesh.diameter * all_around()
        first, second = (np.asarray(each.field(x)) for each in solutions)
        return "potential", first, second

    def left_inside(self, case: Case, mesh: TriangleMesh, solution: Any) -> float | None:
        """The deviation inside of a body from its given potential."""
        given = case.physics.potential
        if not given or case.physics.side == "interior":
            return None
        return left_inside(mesh, lambda x: solution.field(x) - given, lambda x: np.full(len(x), given))


Field = Callable[[NDArray[np.float64]], NDArray[Any]]


def left_inside(mesh: TriangleMesh, field: Field, reference: Field) -> float | None:
    """The field that a solution leaves inside of a closed body, the root of its mean square over that of `reference` at
    points that are a mean edge away from the surface; None for open surfaces and for bodies that are too thin.

    The boundary integral equation is posed on the surface; that its solution also extinguishes the field at points
    inside is another equation, which holds as far as the solution is accurate (Waterman's null field). It gives the
    order of magnitude of an error: on spheres of 2.5 to 10 elements per radius, far fields have errors 1.1 to 6 times
    as large.
    """
    x = points_inside(mesh) if mesh.is_closed else np.zeros((0, 3))
    if len(x) < 8:  # too few for a mean
        return None
    left, size = (float(np.sqrt(np.mean(np.abs(each(x)) ** 2))) for each in (field, reference))
    return left / size if size else None


def points_inside(mesh: TriangleMesh) -> NDArray[np.float64]:
    """At most 64 of 1000 random points (n, 3) in the box of a closed surface: inside, a mean edge away from it."""
    low, high = mesh.bounds
    x = low + (high - low) * np.random.default_rng(1).random((1000, 3))
    distances, _ = scipy.spatial.cKDTree(mesh.centroids).query(x)
    x = x[distances > mesh.mean_edge_length]
    return x[mesh.contains(x)][:64] if len(x) else x
