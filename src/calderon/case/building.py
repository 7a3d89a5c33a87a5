"""A checked case turned into a mesh, a problem of `formulations` and an incident wave."""

import numpy as np
from numpy.typing import NDArray

import calderon.mesh as meshes
from calderon.case.incident import Incident
from calderon.case.models import Case
from calderon.case.physics import Physics
from calderon.case.reading import CaseFile, mesh_of
from calderon.exact import SPEED_OF_LIGHT, VACUUM_IMPEDANCE
from calderon.formulations import (
    DeltaGap,
    DielectricScattering,
    FluidTransmission,
    ImpedanceScattering,
    LaplaceDirichlet,
    LaplaceNeumann,
    PECAntenna,
    PECScattering,
    ScatteringProblem,
    SoundHardScattering,
    SoundSoftScattering,
)
from calderon.formulations.checks import sources_outside
from calderon.formulations.surface_values import values_at_nodes
from calderon.mesh import TriangleMesh
from calderon.spaces import P0
from calderon.waves import ElectromagneticPlaneWave, PlaneWave, PointSource


def surface_mesh(file: CaseFile[Case]) -> TriangleMesh:
    """The mesh of a case, in metres; CaseError for a file or a shape that cannot be used."""
    table = file.case.mesh

    def made() -> TriangleMesh:
        if table.sample is not None:
            return meshes.sample(table.sample, table.resolution or "coarse")
        assert table.shape is not None
        return getattr(meshes, table.shape)(**table.parameters)  # type: ignore[no-any-return]

    return mesh_of(file, meshes.read, made)


def wavenumbers(case: Case) -> NDArray[np.float64]:
    """Wavenumbers in 1/m, one for each frequency; empty for a static problem."""
    physics = case.physics
    if not physics.wave:
        return np.zeros(0)
    if physics.frequency is None:
        return np.array([physics.wavenumber])
    speed = physics.speed_of_sound if physics.acoustic else SPEED_OF_LIGHT
    assert speed is not None
    return 2 * np.pi * np.array(physics.frequency) / speed


def incident_wave(case: Case, wavenumber: float) -> PlaneWave | PointSource:
    """The incident sound at a wavenumber."""
    incident = _incident(case)
    amplitude = 1.0 if incident.amplitude is None else incident.amplitude
    if incident.position is not None:
        return PointSource(np.array(incident.position), wavenumber, amplitude)
    return PlaneWave(incident.unit_direction, wavenumber, amplitude)


def electromagnetic_wave(case: Case, wavenumber: float) -> ElectromagneticPlaneWave:
    """The incident electromagnetic plane wave at a wavenumber, in vacuum."""
    incident = _incident(case)
    amplitude = 1.0 if incident.electric_field is None else incident.electric_field
    assert incident.vector is not None
    return ElectromagneticPlaneWave(
        incident.unit_direction, incident.vector, wavenumber, amplitude, impedance=VACUUM_IMPEDANCE
    )


def _incident(case: Case) -> Incident:
    if case.incident is None:
        raise ValueError("the case has no [incident] table")
    return case.incident


def acoustic_problem(case: Case, mesh: TriangleMesh, wavenumber: float) -> ScatteringProblem:
    """The scattering problem of a case on its mesh, at a wavenumber."""
    physics = case.physics
    if physics.problem == "sound-hard":
        return SoundHardScattering(mesh, wavenumber)
    if physics.problem == "sound-soft":
        return SoundSoftScattering(mesh, wavenumber)
    if physics.problem == "impedance":
        return ImpedanceScattering(mesh, wavenumber, admittance=physics.admittance)
    if physics.problem == "transmission":
        interior, ratio = interior_fluid(case, wavenumber)
        return FluidTransmission(mesh, wavenumber, interior_wavenumber=interior, density_ratio=ratio)
    raise ValueError(f"{physics.problem!r} is not an acoustic problem")


def electromagnetic_problem(case: Case, mesh: TriangleMesh, wavenumber: float) -> PECScattering | DielectricScattering:
    """The scattering problem of a conductor or a dielectric body on its mesh, at a wavenumber."""
    physics = case.physics
    if physics.problem == "conductor":
        formulation, testing = physics.formulation or "cfie", physics.testing or "dual"
        return PECScattering(mesh, wavenumber, formulation=formulation, testing=testing)
    assert physics.permittivity is not None
    permeability = 1.0 if physics.permeability is None else physics.permeability
    formulation = physics.formulation or "pmchwt"
    if not isinstance(physics.permittivity, dict):
        assert not isinstance(permeability, dict)
        return DielectricScattering(mesh, wavenumber, physics.permittivity, permeability, formulation=formulation)
    tags = _tags_of_bodies(physics, mesh)
    surfaces = [mesh.restricted(tag) for tag in tags]
    constants = list(physics.permittivity.values()), _permeabilities(physics, mesh, tags)
    return DielectricScattering(surfaces, wavenumber, *constants, formulation=formulation)


def _tags_of_bodies(physics: Physics, mesh: TriangleMesh) -> list[int]:
    """The tags of several dielectric bodies, in the order of their permittivities; ValueError unless these are all."""
    assert isinstance(physics.permittivity, dict)
    tags = [int(mesh.tag_numbers(tag)[0]) for tag in physics.permittivity]
    if sorted(tags) != np.unique(mesh.tags).tolist():
        raise ValueError(
            f"permittivity is given for the tags {list(physics.permittivity)}, each surface once: the mesh has "
            f"{np.unique(mesh.tags).tolist()} and the names {dict(mesh.names)}"
        )
    return tags


def _permeabilities(physics: Physics, mesh: TriangleMesh, tags: list[int]) -> list[complex]:
    """The permeability of each of several bodies, by their tags; ValueError unless it is given for these."""
    permeability = 1.0 if physics.permeability is None else physics.permeability
    if not isinstance(permeability, dict):
        return [permeability] * len(tags)
    other = {int(mesh.tag_numbers(tag)[0]): value for tag, value in permeability.items()}
    if sorted(other) != sorted(tags):
        raise ValueError(f"permeability is given for the tags {list(permeability)}: give it for those of permittivity")
    return [other[tag] for tag in tags]


def antenna(case: Case, mesh: TriangleMesh, wavenumber: float) -> PECAntenna:
    """The fed antenna of a case, at a wavenumber."""
    feed = case.physics.feed
    assert feed is not None
    gap = DeltaGap(line=feed.line) if feed.line is not None else DeltaGap(between=feed.between)
    return PECAntenna(mesh, wavenumber, gap)


def interior_fluid(case: Case, wavenumber: float) -> tuple[float, float]:
    """Wavenumber inside a fluid body, and its density over that of the fluid around."""
    physics = case.physics
    assert physics.speed_of_sound and physics.interior_speed_of_sound and physics.density and physics.interior_density
    interior = wavenumber * physics.speed_of_sound / physics.interior_speed_of_sound
    return interior, physics.interior_density / physics.density


def static_problem(case: Case, mesh: TriangleMesh) -> LaplaceDirichlet | LaplaceNeumann:
    """The Laplace problem of a case on its mesh."""
    kind = LaplaceDirichlet if case.physics.problem == "laplace-dirichlet" else LaplaceNeumann
    return kind(mesh, side=case.physics.side or "exterior")


def require_posed(file: CaseFile[Case], mesh: TriangleMesh) -> None:
    """CaseError where the problem of a case cannot be posed on its mesh: constants by tags that it does not have, feeds
    and sources in the wrong place, and a mesh that does not suit this problem.
    """
    case, physics = file.case, file.case.physics
    _require_constants(file, mesh)
    wavenumber = float(wavenumbers(case)[0]) if physics.wave else 0.0
    with file.blamed("physics", "problem"):
        _problem(case, mesh, wavenumber)
    if physics.feed is not None:
        key, feed = ("feed.line", physics.feed.line) if physics.feed.line else ("feed.between", physics.feed.between)
        with file.blamed("physics", key, [list(end) if isinstance(end, tuple) else end for end in feed or ()]):
            antenna(case, mesh, wavenumber)
    if case.incident is not None and case.incident.position is not None:
        with file.blamed("incident", "position", list(case.incident.position)):
            sources_outside(incident_wave(case, wavenumber), mesh)


def _require_constants(file: CaseFile[Case], mesh: TriangleMesh) -> None:
    """CaseError for constants of the surface, or of bodies, by tags that are not those of the mesh."""
    physics = file.case.physics
    if isinstance(physics.admittance, dict):
        with file.blamed("physics", "admittance"):
            values_at_nodes(physics.admittance, P0(mesh), "admittance")
    if isinstance(physics.permittivity, dict):
        with file.blamed("physics", "permittivity"):
            tags = _tags_of_bodies(physics, mesh)
        with file.blamed("physics", "permeability"):
            _permeabilities(physics, mesh, tags)


def _problem(case: Case, mesh: TriangleMesh, wavenumber: float) -> object:
    """The problem of a case on its mesh; an antenna without its feed."""
    if case.physics.acoustic:
        return acoustic_problem(case, mesh, wavenumber)
    if case.physics.electromagnetic:
        return electromagnetic_problem(case, mesh, wavenumber)
    if case.physics.problem == "antenna":
        return PECScattering(mesh, wavenumber, formulation="efie")
    return static_problem(case, mesh)
