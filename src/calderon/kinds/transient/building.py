"""A checked case of fields in time turned into its mesh, and a simulation on it."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import calderon.mesh as meshes
from calderon.case.meshing import mesh_of
from calderon.case.reading import CaseFile
from calderon.dg import MaxwellDG
from calderon.exact import SPEED_OF_LIGHT, VACUUM_IMPEDANCE, cubic_cavity
from calderon.kinds.transient.model import TransientCase
from calderon.mesh import TetrahedralMesh

Field = Callable[[NDArray[np.float64], float], NDArray[np.float64]]


def volume_mesh(file: CaseFile[TransientCase]) -> TetrahedralMesh:
    """The mesh of a case, in metres; CaseError for a file or a shape that cannot be used."""
    table = file.case.mesh

    def made() -> TetrahedralMesh:
        assert table.shape is not None
        given: dict[str, Any] = dict(table.parameters)
        if table.shape == "phantom" and file.case.physics.frequency is not None:
            given["frequency"] = file.case.physics.frequency
        return getattr(meshes, table.shape)(**given)

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
