"""A checked case turned into a mesh, a problem of `formulations` and an incident wave."""

import numpy as np
from numpy.typing import NDArray

import calderon.mesh as meshes
from calderon.case.incident import Incident
from calderon.case.mesh_making import mesh_of
from calderon.case.models import Case
from calderon.case.reading import CaseFile
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
from calderon.mesh import TriangleMesh
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
    tags = [int(mesh.tag_numbers(tag)[0]) for tag in physics.permittivity]
    if sorted(tags) != np.unique(mesh.tags).tolist():
        raise ValueError(
            f"permittivity is given for the tags {list(physics.permittivity)}, each surface once: the mesh has "
            f"{np.unique(mesh.tags).tolist()} and the names {dict(mesh.names)}"
        )
    if not isinstance(permeability, dict):
        permeability = dict.fromkeys(tags, permeability)
    other = {int(mesh.tag_numbers(tag)[0]): value for tag, value in permeability.items()}
    if sorted(other) != sorted(tags):
        raise ValueError(f"permeability is given for the tags {list(permeability)}: give it for those of permittivity")
    surfaces = [mesh.restricted(tag) for tag in tags]
    constants = list(physics.permittivity.values()), [other[tag] for tag in tags]
    return DielectricScattering(surfaces, wavenumber, *constants, formulation=formulation)


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
