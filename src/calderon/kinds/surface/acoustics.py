"""Sound scattered by a body: one frequency of a case."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import calderon.backends as backends
import calderon.exact as exact
from calderon.formulations import ScatteringSolution
from calderon.kinds.surface.computing import SurfacePhysics, deviation, options, saved_sweep
from calderon.kinds.surface.model import Case, FarField
from calderon.kinds.surface.null_field import left_inside
from calderon.kinds.surface.results import Moment, Words
from calderon.mesh import TriangleMesh
from calderon.report.formatting import TARGET_STRENGTH
from calderon.report.stages import Stages
from calderon.waves import PlaneWave, PointSource


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
                    again = posed.solve(solution.incident, **{**options(case), "backend": backend, "matrix_file": None})
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
