"""A checked case turned into a mesh, and into a problem or a simulation on it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

import calderon.mesh as meshes
from calderon.case.models import Case, TransientCase
from calderon.case.reading import CaseFile
from calderon.dg import MaxwellDG
from calderon.exact import SPEED_OF_LIGHT, VACUUM_IMPEDANCE, cubic_cavity
from calderon.formulations import PECScattering
from calderon.formulations.acoustic.surface_values import values_at_nodes
from calderon.formulations.checks import sources_outside
from calderon.mesh import TetrahedralMesh, TriangleMesh, metres_per
from calderon.spaces import P0

Field = Callable[[NDArray[np.float64], float], NDArray[np.float64]]
Mesh = TypeVar("Mesh")


def mesh_of(
    file: CaseFile[Any], read: Callable[..., Mesh], make: Callable[[], Mesh], metres: float = 1.0, unit: str = "m"
) -> Mesh:
    """What `read(path, scale=)` gives for the file in [mesh], or what `make()` gives without one; CaseError for a file
    or a shape that cannot be used. metres: the unit of the mesh; unit: that of a file without another."""
    table, key, produce = file.case.mesh, "shape", make
    if table.file is not None:
        path = file.folder / table.file
        if not path.is_file():
            raise file.mistake("mesh", "file", f"no such file in {file.folder.resolve()}, the folder of the case")
        key, produce = "file", lambda: read(path, scale=metres_per(table.unit or unit) / metres)
    with file.blamed("mesh", key):
        return produce()


def surface_mesh(file: CaseFile[Any], metres: float = 1.0, unit: str = "m") -> TriangleMesh:
    """The mesh of a case, in metres, or in a unit of so many; CaseError for a file or a shape that cannot be used.
    unit: of a file without another."""
    table = file.case.mesh

    def made() -> TriangleMesh:
        if table.sample is not None:
            found = meshes.sample(table.sample, table.resolution or "coarse")
            return found if metres == 1 else found.scaled(1 / metres)
        assert table.shape is not None
        return getattr(meshes, table.shape)(**table.parameters)  # type: ignore[no-any-return]

    def read(path: Path, scale: float) -> TriangleMesh:
        if path.suffix.lower() not in meshes.CAD_FORMATS:
            return meshes.read(path, scale=scale)
        assert table.h is not None
        found = meshes.read_cad(path, table.h * metres)
        return found if metres == 1 else found.scaled(1 / metres)

    mesh = mesh_of(file, read, made, metres, unit)
    if table.divisions is None:
        return mesh
    with file.blamed("mesh", "divisions"):
        return mesh.divided(table.divisions)


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
                sources_outside(wave.sound(wavenumber), mesh)


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


def volume_mesh(file: CaseFile[TransientCase]) -> TetrahedralMesh:
    """The mesh of a case, in metres; CaseError for a file or a shape that cannot be used."""
    table = file.case.mesh

    def made() -> TetrahedralMesh:
        assert table.shape is not None
        given: dict[str, Any] = dict(table.parameters)
        if table.shape == "phantom" and file.case.physics.frequency is not None:
            given["frequency"] = file.case.physics.frequency
        return getattr(meshes, table.shape)(**given)  # type: ignore[no-any-return]

    return mesh_of(file, meshes.read_tetrahedra, made)


def simulation(
    file: CaseFile[TransientCase], mesh: TetrahedralMesh, progress: Callable[[int, int], None] | bool = False
) -> MaxwellDG:
    """The simulation of a case on its mesh, in SI units, with the fields of [initial] set; progress: as of MaxwellDG.

    Errors as for MaxwellDG.
    """
    case = file.case
    solver = case.solver
    result = MaxwellDG(
        mesh, solver.order, flux=solver.flux, courant=solver.courant, boundaries=case.boundaries,
        materials={name: medium.material for name, medium in case.materials.items()},
        sources=[one.at(case.physics.frequency or 0.0) for one in case.source],
        precision=solver.precision, backend=solver.backend, local_time_stepping=solver.local_time_stepping,
        progress=progress,
    )  # fmt: skip
    if case.initial is not None:
        result.set_fields(*initial_mode(file))
    return result


def initial_mode(file: CaseFile[TransientCase]) -> tuple[Field, Field]:
    """E in V/m and H in A/m of the standing wave of [initial], as functions of points in m and a time in s."""
    case = file.case
    low, high = np.array(case.mesh.low), np.array(case.mesh.high)
    assert case.initial is not None
    if np.ptp(high - low) > 1e-9 * high.max():
        raise file.mistake("initial", "mode", f"the box has the sides {high - low} m: a cube is needed")
    with file.blamed("initial", "mode"):
        mode = cubic_cavity(case.initial.mode, float(high[0] - low[0]))
    amplitude = case.initial.electric_field

    def electric(points: NDArray[np.float64], time: float) -> NDArray[np.float64]:
        return amplitude * mode.electric(points - low, SPEED_OF_LIGHT * time)

    def magnetic(points: NDArray[np.float64], time: float) -> NDArray[np.float64]:
        return amplitude / VACUUM_IMPEDANCE * mode.magnetic(points - low, SPEED_OF_LIGHT * time)

    return electric, magnetic
