"""A checked case turned into a mesh, a problem of `formulations` and an incident wave."""

import numpy as np
from numpy.typing import NDArray

import calderon.mesh as meshes
from calderon.case.models import Case
from calderon.case.reading import CaseFile
from calderon.formulations import (
    FluidTransmission,
    ImpedanceScattering,
    LaplaceDirichlet,
    LaplaceNeumann,
    ScatteringProblem,
    SoundHardScattering,
    SoundSoftScattering,
)
from calderon.mesh import MeshError, TriangleMesh
from calderon.waves import PlaneWave, PointSource


def surface_mesh(file: CaseFile) -> TriangleMesh:
    """The mesh of a case, in metres; CaseError for a file or a shape that cannot be used."""
    table = file.case.mesh
    if table.file is not None:
        path = file.folder / table.file
        if not path.is_file():
            raise file.mistake("mesh", "file", f"no such file in {file.folder.resolve()}, the folder of the case")
        try:
            return meshes.read(path, scale=table.scale)
        except MeshError as error:
            raise file.mistake("mesh", "file", str(error)) from error
    if table.sample is not None:
        return meshes.sample(table.sample, table.resolution or "coarse")
    assert table.shape is not None
    try:
        mesh: TriangleMesh = getattr(meshes, table.shape)(**table.parameters)
    except MeshError as error:
        raise file.mistake("mesh", "shape", str(error)) from error
    return mesh


def wavenumbers(case: Case) -> NDArray[np.float64]:
    """Wavenumbers in 1/m, one for each frequency; empty for a static problem."""
    physics = case.physics
    if not physics.acoustic:
        return np.zeros(0)
    if physics.frequency is None:
        return np.array([physics.wavenumber])
    assert physics.speed_of_sound is not None
    return 2 * np.pi * np.array(physics.frequency) / physics.speed_of_sound


def incident_wave(case: Case, wavenumber: float) -> PlaneWave | PointSource:
    """The incident field at a wavenumber."""
    incident = case.incident
    if incident is None:
        raise ValueError("the case has no [incident] table")
    if incident.position is not None:
        return PointSource(np.array(incident.position), wavenumber, incident.amplitude)
    return PlaneWave(incident.unit_direction, wavenumber, incident.amplitude)


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
