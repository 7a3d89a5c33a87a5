"""A case of a body in a fluid is run: its tetrahedra, its problem at each frequency, and what is requested."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

import calderon.mesh as meshes
from calderon.case import CaseFile
from calderon.case.mesh import mesh_of
from calderon.case.near_field import near_places
from calderon.coupling import ElasticScattering, InhomogeneousScattering
from calderon.coupling.volumes import snapped_volume
from calderon.data import rectangle_places
from calderon.formulations import ElasticMaterial
from calderon.formulations.checks import element_length, elements_per_wavelength, sources_on_side
from calderon.formulations.elastic.conditions.resultant_loads import Force
from calderon.kinds.bodies.materials import Graded
from calderon.kinds.bodies.model import BodyCase, InhomogeneousCase, StructureCase
from calderon.kinds.bodies.results import BodyResults, BodyStep
from calderon.mesh import TetrahedralMesh
from calderon.mesh.errors import warn_of_accuracy
from calderon.report import Kind, Stages
from calderon.report.formatting import Row, frequency_text, frequency_texts
from calderon.report.kind import plan_rows
from calderon.report.scenes import evenly
from calderon.spaces import P1
from calderon.validation import one_of

B = TypeVar("B", bound=BodyCase)
SHOWN = 5
"""Frequencies of a sweep, evenly over it, at which fields in the plane are computed."""
NOTHING = 1e-6
"""Absorption over scattering cross-section that is that of a body without loss, by rounding."""
FEWEST = 4.0
"""Quadratic elements per wavelength in the body, of shear waves in a structure; below, a warning."""


def _layered(h: float, radii: tuple[float, ...], names: tuple[str, ...]) -> TetrahedralMesh:
    if len(names) != len(radii):
        raise ValueError(f"{len(radii)} radii and {len(names)} names: each layer has one of both")
    found = meshes.layered_ball(radii[:-1], names[:-1], radii[-1], h)  # whose outermost part is "air"
    known = {name: number for number, name in enumerate(names)}
    return TetrahedralMesh(found.vertices, found.tetrahedra, found.tags, known)


MADE: dict[str, Callable[..., TetrahedralMesh]] = {
    "ball": meshes.ball,
    "shell": meshes.spherical_shell,
    "layered_ball": _layered,
    "box": meshes.box,
}


def volume_mesh(file: CaseFile[Any]) -> TetrahedralMesh:
    """The tetrahedra of a case; CaseError for a file or a shape that cannot be used."""
    table = file.case.mesh

    def made() -> TetrahedralMesh:
        return MADE[table.shape](**table.parameters)

    def read(path: Path, scale: float) -> TetrahedralMesh:
        if table.thickness is None:
            return meshes.read_tetrahedra(path, scale=scale)
        return meshes.thickened(meshes.read(path, scale=scale), table.thickness, table.layers or 1)

    return mesh_of(file, read, made)


class Bodies(Kind[B, Any, BodyResults], Generic[B]):
    """Bodies of finite elements in a fluid."""

    @abstractmethod
    def posed(self, file: CaseFile[B], volume: TetrahedralMesh, frequency: float) -> Any:
        """The problem at a frequency in Hz."""

    @abstractmethod
    def slowest(self, case: B) -> float:
        """The least speed of waves in the body in m/s."""

    @abstractmethod
    def completed(self, case: B, step: BodyStep, solution: Any, plane: NDArray[np.float64] | None) -> BodyStep:
        """A step with what this kind adds; plane (rows, columns, 3): points of output.slice, where it is shown."""

    def build(self, file: CaseFile[B], stages: Stages) -> Any:
        case = file.case
        with stages.stage("make the mesh" if case.mesh.shape else "read the mesh"):
            volume = volume_mesh(file)
        if case.body.plane is not None:
            with file.blamed("mesh", "shape" if case.mesh.shape else "file"):
                snapped_volume(volume, tuple(case.body.mirrors or case.body.plane.plane))
        problem = self.posed(file, volume, max(case.frequencies))
        if case.solver.preconditioner is not None:
            with file.blamed("solver", "preconditioner"):
                one_of(case.solver.preconditioner, problem.preconditioners, "preconditioner")
        surface = problem.surface
        for number, one in enumerate(case.source):
            with file.blamed("source", "position" if one.position else "direction", number=number):
                wave = one.wave.at(problem.wavenumber)
                sources_on_side(wave, surface.whole)
                surface.with_images(wave)
        if case.body.mirrors and case.source:
            with file.blamed(case.table, "mirrors"):
                functions = surface.functions(P1(surface.whole))
                values = case.sources.at(problem.wavenumber)(surface.whole.vertices)
                surface.require_symmetry(functions, values, case.body.mirrors)
        return problem

    def compute(self, file: CaseFile[B], posed: Any, stages: Stages, scratch: Path | None) -> BodyResults:
        case, places = file.case, near_places(file)
        frequencies = np.sort(np.array(case.frequencies))
        plane = None if case.output.slice is None else _plane(case, posed.surface.whole)
        shown, steps, names = frequencies[evenly(len(frequencies), SHOWN)], [], frequency_texts(frequencies.tolist())
        resolution = self.slowest(case) / frequencies[-1] / element_length(posed.mesh)
        if resolution < FEWEST:
            warn_of_accuracy(
                f"{resolution:.1f} elements per wavelength in the body at {frequency_text(frequencies[-1])}: "
                f"{FEWEST:g} quadratic ones are needed, give a smaller mesh.h or a lower frequency"
            )
        for frequency, name in zip(frequencies.tolist(), names, strict=True):
            with stages.stage("assemble and solve", name if len(names) > 1 else ""):
                problem = posed.at(posed.wavenumber * (frequency / frequencies[-1]))
                solution = problem.solve(case.sources, **self._options(case))
            with stages.stage("fields", name):
                cut = plane if frequency in shown else None
                step = _step(case, problem, solution, frequency, name, cut, places)
                steps.append(self.completed(case, step, solution, cut))
        pressures = np.array([each.pressures for each in steps])
        powers = np.array([each.power for each in steps if each.power is not None])
        unknowns = self.volume_unknowns(posed)
        return BodyResults(
            file, posed, tuple(steps), frequencies, pressures, powers, None, posed.unknowns, posed.volume, unknowns,
            resolution, solution,
        )  # fmt: skip

    @abstractmethod
    def volume_unknowns(self, problem: Any) -> int:
        """Number of unknowns of finite elements."""

    def _options(self, case: B) -> dict[str, Any]:
        """The options of solutions that the case gives; others are those of the problem."""
        options, names = case.solver.options, {"max_iterations": "maxiter"}
        given = {names.get(name, name) for name in case.solver.model_fields_set}
        return {name: options[name] for name in options if name in given}

    def plan(self, file: CaseFile[B], stages: Stages) -> list[Row]:
        """The plan at the highest frequency."""
        problem, case = self.build(file, stages), file.case
        with stages.stage("plan the matrix"), file.blamed("solver", "method"):
            names = ("method", "rtol", "precision", "compression_rtol")
            plan = problem.plan(**{name: value for name, value in self._options(case).items() if name in names})
        rows = plan_rows(plan, problem.mesh.number_of_triangles, "set-up")
        many = len(case.frequencies) > 1
        several = [("planned, of the sweep", frequency_text(max(case.frequencies)), "")] if many else []
        count = f"{self.volume_unknowns(problem)} on {problem.volume.number_of_tetrahedra} tetrahedra"
        return [*several, ("finite elements", count, ""), *rows]

    def subtitle(self, results: BodyResults) -> str:
        case, (low, high) = results.file.case, results.frequencies[[0, -1]]
        source = case.mesh.file or case.mesh.shape
        span = frequency_text(high) if low == high else f"{frequency_text(low)} to {frequency_text(high)}"
        given: Any = case.body.material
        material = given if isinstance(given, str) else ", ".join(f"{tag}: {name}" for tag, name in given.items())
        filled = getattr(case.body, "inside", None)
        holes = "" if filled is None else f", full of {filled},"
        return f"Mesh “{source}” ({material}){holes} in {case.body.fluid} at {span}."


def _step(
    case: BodyCase, problem: Any, solution: Any, frequency: float, name: str, plane: NDArray[np.float64] | None,
    places: dict[str, Any],
) -> BodyStep:  # fmt: skip
    output, fluid = case.output, case.fluid
    points = np.array(output.points).reshape(-1, 3)
    step = BodyStep(
        frequency, name, fluid.impedance, solution.surface, solution.info,
        elements_per_wavelength(problem.mesh, problem.wavenumber),
        np.asarray(solution.field(points)) if len(points) else np.empty(0, np.complex128),
        None if plane is None else solution.samples(rectangle_places(plane)),
        {place: solution.samples(each) for place, each in places.items()},
    )  # fmt: skip
    wave = case.plane_wave
    if wave is None or case.is_driven:
        return step
    ahead = np.asarray(wave.unit_direction)
    echo = float(solution.target_strength(-ahead[None])[0])
    if fluid.loss == 0:
        section = solution.scattering_cross_section()
        step = replace(step, cross_section=section)
    if fluid.loss == 0 and case.body.half_space is None:
        (forward,) = solution.far_field(ahead[None])
        # the optical theorem: 4 pi / k Im F is scattered and absorbed
        extinct = 4 * np.pi / np.real(problem.wavenumber) * (forward / wave.pressure).imag
        intensity = abs(wave.pressure) ** 2 / (2 * fluid.impedance)
        lost = getattr(solution, "lost_power", None)
        absorbed = solution.absorption_cross_section() if lost is None else lost / intensity
        error = float(abs((section + absorbed) / extinct - 1))
        lost = absorbed * intensity if absorbed > NOTHING * section else 0.0
        step = replace(step, power_error=error, lost=lost)
    if output.target_strength is not None:
        directions = output.target_strength.directions
        far = np.asarray(solution.far_field(directions))
        step = replace(step, far=far, strength=np.asarray(solution.target_strength(directions)))
    return replace(step, echo=echo)


def _plane(case: BodyCase, mesh: Any) -> NDArray[np.float64]:
    """Points (rows, columns, 3) of the requested rectangle, by default 1.2 times the extent more than the body."""
    requested, (low, high) = case.output.slice, mesh.bounds
    assert requested is not None
    extent = (high - low)[requested.axes]
    return requested.grid(extent + 1.2 * extent.max(), (low + high) / 2)


class InhomogeneousBodies(Bodies[InhomogeneousCase]):
    """Bodies of varying density and speed of sound."""

    def posed(self, file: CaseFile[InhomogeneousCase], volume: TetrahedralMesh, frequency: float) -> Any:
        case, fluid, given = file.case, file.case.fluid, file.case.materials_by_tag
        omega = 2 * np.pi * frequency
        outside = complex(1 + 1j * fluid.loss) if fluid.loss else 1.0

        def wavenumber(one: Any) -> complex:
            inner = one.fluid_at(frequency)
            return complex(omega / inner.speed_of_sound * (1 + 1j * inner.loss))

        if isinstance(given, Graded):
            density: Any = lambda x: given.rows(x, given.density) / fluid.density  # noqa: E731
            inside: Any = lambda x: omega / given.rows(x, given.speed_of_sound) * (1 + 1j * given.loss)  # noqa: E731
        elif isinstance(given, dict):
            density = {tag: one.fluid_at(frequency).density / fluid.density for tag, one in given.items()}
            inside = {tag: wavenumber(one) for tag, one in given.items()}
        else:
            density, inside = given.fluid_at(frequency).density / fluid.density, wavenumber(given)
        with file.blamed("inhomogeneous", "material"):
            return InhomogeneousScattering(
                volume, omega / fluid.speed_of_sound * outside, density_ratio=density, interior_wavenumber=inside,
                space=case.inhomogeneous.space, formulation=case.inhomogeneous.formulation,
                speed_of_sound=fluid.speed_of_sound, mirrors=case.body.plane,
            )  # fmt: skip

    def slowest(self, case: InhomogeneousCase) -> float:
        given = case.materials_by_tag
        if isinstance(given, Graded):
            return min(given.speed_of_sound)
        highest = max(case.frequencies)
        return min(
            one.fluid_at(highest).speed_of_sound for one in (given.values() if isinstance(given, dict) else [given])
        )

    def completed(
        self, case: InhomogeneousCase, step: BodyStep, solution: Any, plane: NDArray[np.float64] | None
    ) -> BodyStep:
        return step

    def volume_unknowns(self, problem: Any) -> int:
        return int(problem.elements.dimension)


class Structures(Bodies[StructureCase]):
    """Elastic structures."""

    def posed(self, file: CaseFile[StructureCase], volume: TetrahedralMesh, frequency: float) -> Any:
        case = file.case
        loads: dict[Any, list[Any]] = {}
        surface = volume.surface()
        for number, one in enumerate(case.load):
            if one.tag is not None:
                with file.blamed("load", "tag", number=number):
                    surface.tag_numbers(one.tag)
                loads.setdefault(one.tag, []).append(Force(one.force))
        forces = [(one.position, one.vector) for one in case.load if one.position is not None]
        with file.blamed("structure", "material"):
            found = ElasticScattering(
                volume, frequency=frequency, material=case.materials_by_tag, fluid=case.fluid, mirrors=case.body.plane
            )
        if case.inner_fluid is not None:
            with file.blamed("structure", "inside"):
                found = replace(found, frequency=None, inside=case.inner_fluid)  # type: ignore[arg-type]
        if not case.load:
            return found
        with file.blamed("load", "force", [list(one.force) for one in case.load], 0):
            return replace(found, frequency=None, loads=loads or None, point_forces=forces)  # type: ignore[arg-type]

    def slowest(self, case: StructureCase) -> float:
        given = case.materials_by_tag
        every: list[ElasticMaterial] = list(given.values()) if isinstance(given, dict) else [given]
        return min((one.shear_modulus / one.required("density", "a wave")) ** 0.5 for one in every)

    def completed(
        self, case: StructureCase, step: BodyStep, solution: Any, plane: NDArray[np.float64] | None
    ) -> BodyStep:
        if plane is not None:
            step = replace(step, moved=solution.displacement(plane.reshape(-1, 3)).reshape(plane.shape))
        if not case.load:
            return step
        away = None if case.source else solution.radiated_power()
        found = []
        for one in case.load:
            if one.position is not None:
                velocity = -1j * solution.omega * solution.displacement(np.array([one.position]))[0]
                found.append(complex(velocity @ one.vector.conj() / np.linalg.norm(one.vector) ** 2))
        return replace(step, power=away, mobilities=tuple(found), given=solution.input_power, lost=solution.lost_power)

    def volume_unknowns(self, problem: Any) -> int:
        return int(problem.structure.unknowns)
