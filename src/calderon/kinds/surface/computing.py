"""A case on a surface is run: mesh, problem, solution, and the requested fields."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

import calderon.exact as exact
from calderon.backends import format_bytes
from calderon.case import CaseFile, surface_mesh
from calderon.case.near_field import near_places
from calderon.data import Places
from calderon.files import discard
from calderon.formulations import PECScattering
from calderon.formulations.acoustic.surface_values import values_at_nodes
from calderon.formulations.checks import sources_on_side
from calderon.formulations.options import SolveOptions
from calderon.kinds.surface.model import Case, Incident
from calderon.kinds.surface.references import read_references
from calderon.kinds.surface.results import Moment, PlaneWaves, Results, Slice, Source, Step, Words
from calderon.mesh import TriangleMesh
from calderon.mlfmm import Multipole
from calderon.operators.methods import candidates
from calderon.plots import inside
from calderon.report.formatting import extent, frequency_texts, vector_text
from calderon.report.scenes import evenly
from calderon.report.second_mesh import SecondMesh, estimated, other_meshes, second_mesh
from calderon.report.stages import Stages
from calderon.spaces import P0

PLANES = 5
"""Frequencies of a sweep, evenly over it, and incident waves, for which the field in the plane is computed."""
Measured = tuple[str, NDArray[Any], NDArray[Any]]


class SurfacePhysics(ABC):
    """A family of problems on surfaces: which source excites them, and what is evaluated of a solution."""

    words: ClassVar[Words]
    field_method: ClassVar[str] = "field"
    """The method of a solution that gives the field at points (n, 3): numbers (n,) or vectors (n, 3)."""

    def compute(self, file: CaseFile[Case], mesh: TriangleMesh, stages: Stages) -> Results:
        """All requested results of a case on its mesh; CaseError for what in the case cannot be used."""
        located = replace(file, case=_located(file))
        if located.case.solver.matrix_file is not None:
            _discard_former_sweeps(located.case)
        references = read_references(file) if file.case.output.reference else {}
        places = near_places(file) if file.case.output.near_field else {}
        steps = tuple(self._step(located, mesh, moment, places, stages) for moment in moments_of(file.case))
        return Results(file, mesh, self.words, steps, references=references)

    def _step(
        self, file: CaseFile[Case], mesh: TriangleMesh, moment: Moment, places: dict[str, Places], stages: Stages
    ) -> Step:
        """Solve at one wavenumber and evaluate; the field on a second mesh only at the last."""
        case = file.case
        posed = case.physics.build(mesh, moment.wavenumber)
        by_wave = [case, *(case.model_copy(update={"incident": wave, "wave": ()}) for wave in case.wave)]
        waves = [self.excitation(each, moment.wavenumber) for each in by_wave]
        with stages.stage("assemble and solve", announcement(case, posed.unknowns, moment.at)):
            chosen = case.solver.options
            solutions = [posed.solve(*waves, **chosen)] if len(waves) == 1 else posed.solve_all(waves, **chosen)
        solution = solutions[0]
        evaluated = self.evaluate(case, posed, solution, moment, stages)
        sources, planes = [], [0, *(n + 1 for n in evenly(len(case.wave), PLANES - 1))]
        for n, (each, found) in enumerate(zip(by_wave, solutions, strict=True)):
            cut, name = None, source_name(n + 1, each.incident) if case.wave else ""
            if case.output.slice is not None and moment.in_plane and n in planes:
                with stages.stage("field in a plane", f"wave {name}" if n else moment.at):
                    cut = self._field_in_plane(each, mesh, found)
            sources.append(Source(name, self.surface(mesh, found), cut))
        left = None
        if mesh.is_closed:
            with stages.stage("error estimate", moment.at):
                left = self.left_inside(case, mesh, solution)
        second = None
        if moment.last:
            known = left is not None or evaluated.get("exact_error") is not None
            if _wants_estimate(case, mesh, known):
                second = self._second_mesh(file, mesh, solution, moment, stages)
        near = {}
        for name, place in places.items():
            with stages.stage("near field", name):
                near[name] = solution.samples(place)
        return Step(
            near_fields=near,
            wavenumber=moment.wavenumber or None,
            frequency=moment.frequency,
            name=moment.name,
            sources=tuple(sources),
            **evaluated,
            left_inside=left,
            second_mesh=second,
            info=solution.info,
            plane_waves=PlaneWaves.of(matrix) if isinstance(matrix := posed.system.matrix, Multipole) else None,
        )

    def _second_mesh(
        self, file: CaseFile[Case], mesh: TriangleMesh, solution: Any, moment: Moment, stages: Stages
    ) -> SecondMesh | None:
        """The error by the first of other meshes on which the problem can be posed, with its feeds and tags."""
        case = file.case

        def compare(other: TriangleMesh, posed: Any) -> SecondMesh | None:
            again = posed.solve(
                self.excitation(case, moment.wavenumber), **(case.solver.options | {"matrix_file": None})
            )
            return second_mesh(*self.measured(case, mesh, solution, again), mesh, other)

        def longer(h: float) -> tuple[TriangleMesh, Any]:
            table = case.mesh.model_copy(update={"h": h})
            other = surface_mesh(replace(file, case=case.model_copy(update={"mesh": table})))
            return other, case.physics.build(other, moment.wavenumber)

        others = other_meshes(case.mesh.h, mesh, longer, lambda other: case.physics.build(other, moment.wavenumber))
        return estimated(others, compare, stages, lambda posed: announcement(case, posed.unknowns, moment.at))

    def _field_in_plane(self, case: Case, mesh: TriangleMesh, solution: Any) -> Slice:
        """The field on the requested plane, where the problem defines it: outside the body, inside it, or both."""
        points = _slice_points(case, mesh)
        enclosed, hidden = _sides(case, mesh, points)
        values = getattr(solution, self.field_method)(_moved_off(points, enclosed, mesh)[~hidden])
        filled = np.full((*hidden.shape, *values.shape[1:]), np.nan, dtype=values.dtype)
        filled[~hidden] = values
        return Slice(points, filled) if values.ndim == 1 else Slice(points, self.drawn(case, filled), filled)

    @abstractmethod
    def excitation(self, case: Case, wavenumber: float) -> Any:
        """The argument of the problem's `solve`: a wave, a voltage, or data on the surface."""

    @abstractmethod
    def evaluate(self, case: Case, posed: Any, solution: Any, moment: Moment, stages: Stages) -> dict[str, Any]:
        """The fields of a `Step` that this physics has."""

    def drawn(self, case: Case, vectors: NDArray[Any]) -> NDArray[Any]:
        """The numbers (...,) that are drawn of vectors (..., 3): magnitudes."""
        return np.linalg.norm(vectors, axis=-1)

    def left_inside(self, case: Case, mesh: TriangleMesh, solution: Any) -> float | None:
        """The field that the solution leaves inside of a closed body, relative; None where there may be a field."""
        return None

    def measured(self, case: Case, mesh: TriangleMesh, *solutions: Any) -> Measured:
        """A quantity of two solutions, with its name: the far field in all directions."""
        first, second = (np.asarray(each.far_field(all_around())) for each in solutions)
        return "far field", first, second

    def surface(self, mesh: TriangleMesh, solution: Any) -> Any:
        """The function on the surface that is drawn and written."""
        return solution.surface


def checked_mesh(file: CaseFile[Case], stages: Stages) -> TriangleMesh:
    """The mesh of a case, on which its problem can be posed and its outputs computed; CaseError for others."""
    with stages.stage("make the mesh" if file.case.mesh.shape else "read the mesh"):
        mesh = surface_mesh(file)
        require_posed(file, mesh)
        require_outputs(file, mesh)
    return mesh


def require_posed(file: CaseFile[Case], mesh: TriangleMesh) -> None:
    """CaseError where the problem of a case cannot be posed on its mesh: constants by tags that it does not have, feeds
    and sources in the wrong place, and a mesh that does not suit this problem.
    """
    case, physics = file.case, file.case.physics
    _require_constants(file, mesh)
    wavenumber = float(physics.wavenumbers[0]) if physics.wave else 0.0
    with file.blamed("physics", "problem"):
        if physics.feed is None:
            physics.build(mesh, wavenumber)
        else:  # an antenna without its feed, of which errors have another key
            PECScattering(mesh, wavenumber, formulation="efie")
    if physics.feed is not None:
        key, feed = ("feed.line", physics.feed.line) if physics.feed.line else ("feed.between", physics.feed.between)
        with file.blamed("physics", key, [list(end) if isinstance(end, tuple) else end for end in feed or ()]):
            physics.build(mesh, wavenumber)
    waves = [("incident", case.incident, None), *(("wave", wave, n) for n, wave in enumerate(case.wave))]
    for table, wave, number in waves:
        if wave is not None and wave.position is not None:
            with file.blamed(table, "position", list(wave.position), number):
                sources_on_side(wave.sound(wavenumber), mesh)


def _require_constants(file: CaseFile[Case], mesh: TriangleMesh) -> None:
    """CaseError for constants of the surface, or of bodies, by tags that are not those of the mesh."""
    physics = file.case.physics
    if isinstance(physics.admittance, dict):
        with file.blamed("physics", "admittance"):
            values_at_nodes(physics.admittance, P0(mesh), "admittance")
    for name in ("interior_speed_of_sound", "interior_density", "rigid"):
        if isinstance(given := getattr(physics, name), dict | tuple):
            with file.blamed("physics", name, given if isinstance(given, dict) else list(given)):
                mesh.tag_numbers(given)
    if isinstance(physics.permittivity, dict):
        with file.blamed("physics", "permittivity"):
            tags = physics.tags_of_bodies(mesh)
        with file.blamed("physics", "permeability"):
            physics.permeabilities(mesh, tags)


def require_outputs(file: CaseFile[Case], mesh: TriangleMesh) -> None:
    """CaseError for planes on which there is no field, distances within the body, and invalid matrix files."""
    case = file.case
    cut, far = case.output.slice, case.output.far_field
    if cut is not None and _sides(case, mesh, _slice_points(case, mesh))[1].all():
        shown = cut.plane + ("" if cut.size is None else ", {:g} m x {:g} m".format(*cut.size))
        side = "inside" if case.physics.side == "interior" else "outside of"
        text = f"no point lies {side} the body, {extent(mesh.vertices)}, and there is no field elsewhere: give "
        raise file.mistake("output", "slice", text + "another size or centre", shown)
    if far is not None and far.distance is not None:
        reach = float(np.linalg.norm(mesh.vertices, axis=1).max())
        if far.distance <= reach:
            text = f"the body reaches to {reach:.4g} m from the origin: choose a larger distance, or omit it for "
            raise file.mistake("output", "far_field.distance", text + "the far field", f"{far.distance:g} m")
    if case.solver.matrix_file is not None:
        with file.blamed("solver", "matrix_file"):
            reads = next(each.reads for each in candidates(case.solver.method) if each.reads)
            reads(file.path_of(case.solver.matrix_file))


def _sides(case: Case, mesh: TriangleMesh, points: NDArray[np.float64]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which points (rows, columns) lie inside the body, and which ones have no field."""
    enclosed = inside(mesh, points) if mesh.is_closed else np.zeros(points.shape[:2], dtype=bool)
    if case.physics.side == "interior":
        return enclosed, ~enclosed
    if case.physics.definition.penetrable:
        return enclosed, np.zeros_like(enclosed)
    return enclosed, enclosed


def _moved_off(points: NDArray[np.float64], enclosed: NDArray[np.bool_], mesh: TriangleMesh) -> NDArray[np.float64]:
    """Points on either side of the surface, next to ones on the other, moved off it by a five-hundredth of an element.

    Of some thousand points one usually lies on the surface by chance, where the field is the mean of both sides.
    """
    outside = np.pad((~enclosed).astype(float), 1, mode="edge")
    along_rows, along_columns = outside[2:] - outside[:-2], outside[:, 2:] - outside[:, :-2]  # Sobel's differences
    along_rows = along_rows[:, :-2] + 2 * along_rows[:, 1:-1] + along_rows[:, 2:]
    along_columns = along_columns[:-2] + 2 * along_columns[1:-1] + along_columns[2:]
    right, up = points[0, 1] - points[0, 0], points[1, 0] - points[0, 0]
    away = along_columns[..., None] * right + along_rows[..., None] * up
    length = np.linalg.norm(away, axis=2, keepdims=True)
    outward = np.divide(away, length, out=np.zeros_like(away), where=length > 0)
    return points + mesh.mean_edge_length / 500 * np.where(enclosed[..., None], -outward, outward)


def _slice_points(case: Case, mesh: TriangleMesh) -> NDArray[np.float64]:
    """Points of the requested rectangle; by default 1.6 times the body's extent in each direction, about its centre."""
    requested = case.output.slice
    assert requested is not None
    low, high = mesh.bounds
    extent = (high - low)[requested.axes]
    return requested.grid(extent + 0.6 * extent.max(), (low + high) / 2)


def _located(file: CaseFile[Case]) -> Case:
    """The case with its title, which its sweeps are named after, and the matrix file in its folder."""
    solver, titled = file.case.solver, file.case.model_copy(update={"title": file.title})
    if solver.matrix_file is None:
        return titled
    with file.blamed("solver", "matrix_file"):
        path = str(file.path_of(solver.matrix_file))
    return titled.model_copy(update={"solver": solver.model_copy(update={"matrix_file": path})})


def moments_of(case: Case) -> list[Moment]:
    """The frequencies of a case, or its one wavenumber, or one moment without any."""
    numbers, frequencies = case.physics.wavenumbers.tolist(), case.physics.frequency
    if frequencies is None:
        name = f"k = {numbers[0]:.6g} 1/m" if numbers else ""
        return [Moment(numbers[0] if numbers else 0.0, None, name, False, True, True)]
    last, in_plane = len(numbers) - 1, evenly(len(numbers), PLANES)
    return [
        Moment(wavenumber, frequency, name, last > 0, n == last, n in in_plane)
        for n, (wavenumber, frequency, name) in enumerate(
            zip(numbers, frequencies, frequency_texts(frequencies), strict=True)
        )
    ]


def source_name(number: int, incident: Incident | None) -> str:
    """An incident wave in a view, by its number and direction."""
    assert incident is not None
    if incident.position is not None:
        return f"{number}: from {vector_text(incident.position)} m"
    field = "" if incident.vector is None else f", E along {vector_text(incident.vector)}"
    return f"{number}: along {vector_text(incident.unit_direction)}{field}"


@contextmanager
def saved_sweep(case: Case, pair: str = "") -> Iterator[dict[str, Any]]:
    """The option sweep_file= of a monostatic sweep while it is solved, next to the matrix file of the case if it has
    one, so that a run that was ended goes on. Its name says what it belongs to; it goes when the sweep is solved, and
    when the case has changed."""
    if case.solver.matrix_file is None:
        yield {}
        return
    file, _ = _sweep_place(case)
    file = file.with_stem(f"{file.stem}{pair and '-'}{pair.lower()}")
    yield {"sweep_file": file}
    file.unlink(missing_ok=True)


def _discard_former_sweeps(case: Case) -> None:
    """Remove what ended runs of earlier states of the case have left of their sweeps."""
    file, begin = _sweep_place(case)
    for each in sorted(file.parent.iterdir()) if file.parent.is_dir() else []:
        name = each.name.removeprefix(".").removesuffix(".lock").partition(".")[0]
        if name.startswith(begin) and not name.startswith(file.stem):
            discard(file.with_name(f"{name}{file.suffix}"))


def _sweep_place(case: Case) -> tuple[Path, str]:
    """The file of the sweeps of a case, next to its matrix file, and the beginning of their names in all states."""
    place = Path(str(case.solver.matrix_file))
    begin = f"{place.stem}-sweep-{_digest(case.title)}-"
    text = repr((case.output.monostatic, case.solver, case.physics, case.media, case.mesh))
    return place.with_name(f"{begin}{_digest(text)}{place.suffix}"), begin


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def announcement(case: Case, unknowns: int, at: str) -> str:
    """Description of the next solution, with the memory of a dense matrix, and without a method that "auto" has yet to
    choose; `at`: the step of a sweep, empty without one."""
    method = SolveOptions(**case.solver.options).for_unknowns(unknowns).chosen
    what = method.matrix if case.solver.names_method else ""
    if method.stores_entries:
        what = "matrix and factors" if case.solver.solver == "lu" else "matrix"
        what += f" {format_bytes(dense_bytes(case, unknowns))}"
    return ", ".join(filter(None, [at, f"{unknowns} unknowns", what]))


def dense_bytes(case: Case, unknowns: int) -> int:
    """Bytes of a dense matrix, and of its factors if it is solved by them."""
    entry = (16 if case.physics.wave else 8) // (2 if case.solver.precision == "single" else 1)
    return (2 if case.solver.solver == "lu" else 1) * entry * unknowns**2


def all_around() -> NDArray[np.float64]:
    """Directions (64, 3) in which solutions on two meshes are compared: eight theta between the poles by eight phi."""
    theta, phi = np.meshgrid(np.pi * (np.arange(8) + 0.5) / 8, np.pi * np.arange(8) / 4, indexing="ij")
    return exact.unit_directions(theta.ravel(), phi.ravel())


def deviation(far: NDArray[np.complex128], reference: NDArray[np.complex128]) -> float:
    """The relative difference in the Euclidean norm over all directions."""
    return float(np.linalg.norm(far - reference) / np.linalg.norm(reference))


def _wants_estimate(case: Case, mesh: TriangleMesh, known: bool) -> bool:
    """Whether a second mesh is solved. known: whether the error is known already; then, for large meshes and for files,
    the case has to request it."""
    requested = case.output.estimate
    return not (known or mesh.number_of_triangles > 5000 or case.mesh.h is None) if requested is None else requested
