"""A ball of radius 1 in halves of two media, k = 1.5: two meshes of triangles, and the solver in time.

The solver in time has a mesh of its own of tetrahedra, whose faces lie on the sphere and on the cut, with the volume of
the ball; its way from a run to a pattern is first tried with one medium against Mie's series. Errors of cross-sections
are those in both planes from 0 to 180 degrees, in dB: largest, mean, and largest where the level is at most 20 dB below
the maximum; the fourth figure is the lowest level.
"""

import math
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

import calderon as cal
from benchmarks.common import results
from benchmarks.common.spheres import cut_ball
from calderon.mesh.shapes.gmsh_session import gmsh_model
from calderon.mesh.shapes.gmsh_volumes import EDGE_GROWTH, MeshedModel, fill, keep_volume

K, MEDIA = 1.5, (2.25, 4.0)
UNKNOWNS = 1736, 3400
"""Numbers of unknowns of the two meshes of triangles, about."""
ROOM, EDGE, AIR_EDGE, ORDER, PERIODS = 5.0, 0.35, 1.0, 2, 8
"""Radius of the air, longest edges in the ball and in the air, order of the polynomials, periods of the run."""
FREQUENCY = K * cal.exact.SPEED_OF_LIGHT / (2 * math.pi)
ANGLES = np.linspace(0, np.pi, 37)
BOUNDS = {"one medium, in time and Mie": 0.5, "two media, two meshes": 0.05, "two media, in time and triangles": 0.5}


def show(screen: Console) -> dict[str, Any]:
    """The table of all rows, and its figures."""
    table = results.table("A ball in halves (dB)", ["", "at most", "largest", "mean", "above -20 dB", "lowest", "s"])
    found = differences()
    for name, row in found.items():
        table.add_row(name, f"{BOUNDS[name]:g}", *(f"{each:.3g}" for each in row.values()))
    screen.print(table)
    return found


def differences(edge: float = EDGE, order: int = ORDER) -> dict[str, dict[str, float]]:
    """Differences of patterns in dB, and processor seconds, by row."""
    began = time.process_time()
    mesh = tetrahedra(edge)
    known = cal.exact.mie_dielectric_sphere(K, 1.0, MEDIA[0])
    rows = [_compared(pattern(in_time(mesh, MEDIA[0], MEDIA[0], order)), pattern(known), began)]
    began = time.process_time()
    coarse, fine = (pattern(by_triangles(unknowns)) for unknowns in UNKNOWNS)
    rows.append(_compared(coarse, fine, began))
    began = time.process_time()
    rows.append(_compared(pattern(in_time(mesh, *MEDIA, order)), fine, began))
    return dict(zip(BOUNDS, rows, strict=True))


def _compared(found: NDArray[np.float64], known: NDArray[np.float64], began: float) -> dict[str, float]:
    errors, levels = abs(found - known), known - known.max()
    figures = errors.max(), errors.mean(), errors[levels > -20].max(), levels.min(), time.process_time() - began
    return dict(zip(("largest", "mean", "above", "lowest", "seconds"), map(float, figures), strict=True))


def pattern(solution: Any) -> NDArray[np.float64]:
    """(2, 37) cross-sections in dB in the planes of E and of H."""
    return np.asarray(10 * np.log10([solution.rcs(ANGLES, phi) for phi in (0.0, np.pi / 2)]))


def by_triangles(unknowns: int) -> Any:
    """The solution of integral equations for a wave along z."""
    problem = in_halves(cut_ball(unknowns), *MEDIA, K)
    return problem.solve(cal.PlaneWave([0, 0, 1], polarization=[1, 0, 0]))


def in_halves(mesh: cal.TriangleMesh, upper: float, lower: float, wavenumber: float) -> cal.MaxwellProblem:
    """A ball whose halves have these permittivities."""
    surfaces = {"upper": cal.Interface("air", "top"), "lower": cal.Interface("air", "low"),
                "cut": cal.Interface("top", "low")}  # fmt: skip
    media = {"air": cal.Material(), "top": cal.Material(upper), "low": cal.Material(lower)}
    return cal.MaxwellProblem(mesh, regions=media, surfaces=surfaces, wavenumber=wavenumber)


def in_time(mesh: cal.TetrahedralMesh, upper: float, lower: float, order: int) -> Any:
    """Amplitudes of a run until fields are periodic, with a wave along z."""
    simulation = cal.MaxwellDG(
        mesh, order, "upwind", boundaries={"wall": "absorbing"},
        materials={"top": cal.Material(upper), "low": cal.Material(lower)},
        sources=[cal.TransientPlaneWave([0, 0, 1], [1, 0, 0], FREQUENCY)],
    )  # fmt: skip
    return simulation.run_until_periodic(FREQUENCY, periods=PERIODS)


def tetrahedra(edge: float) -> cal.TetrahedralMesh:
    """The ball in halves "top" and "low" within a ball of air, with edges of at most about `edge` in the halves."""
    with gmsh_model("ball in halves") as gmsh:
        made = gmsh.model.occ
        half = [(3, made.addSphere(0, 0, 0, 1, -1, low, low + np.pi / 2)) for low in (0, -np.pi / 2)]
        made.fragment([(3, made.addSphere(0, 0, 0, ROOM))], half)
        made.synchronize()
        fill(gmsh, lambda x, y, z: min(AIR_EDGE, edge + EDGE_GROWTH * max(0.0, math.hypot(x, y, z) - 1)))
        meshed = MeshedModel(gmsh)
        parts = {}
        for _, tag in gmsh.model.getEntities(3):
            box = gmsh.model.getBoundingBox(3, tag)
            parts["air" if box[3] > 1.1 else "top" if box[5] > 0.5 else "low"] = meshed.elements(4, tag)
    names = {"top": 0, "low": 1, "air": 2}
    corners = np.concatenate([parts[name] for name in names])
    tags = np.repeat([0, 1, 2], [len(parts[name]) for name in names])
    for inside, radius in ((tags < 2, 1.0), (tags < 3, ROOM)):
        keep_volume(meshed.vertices, corners[inside], np.full(3, radius))
    return cal.TetrahedralMesh(meshed.vertices, corners, tags, names)
