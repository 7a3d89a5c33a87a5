"""A clamped bracket with a fillet and a hole by the fast multipole method: seconds from the mesh to displacements,
memory, and errors against a reference by quadratic finite elements.

Lengths in mm, stresses in MPa; edges of 1.31 give 83,000 unknowns. Needs gmsh.
"""

import time
from argparse import Namespace
from typing import Any

import numpy as np
from rich.console import Console

import calderon as cal
from benchmarks.common.machine import Floor
from benchmarks.common.processes import apart, peak_bytes
from calderon.mesh.shapes.gmsh_volumes import MeshedModel, gmsh_model

EDGES = 5.0, 2.6, 1.31
"""Longest edges of triangles."""
PROFILE = [(0, 0), (120, 0), (120, 30), (100, 30), (35, 30), (20, 45), (20, 120), (0, 120)]
SINKING = {(45, 30, 30): -0.04585, (60, 0, 15): -0.08056, (95, 30, 0): -0.22812, (120, 30, 30): -0.34396}
STRESSES = {(45, 30, 30): 153.5, (95, 30, 0): 21.05, (75, 40, 15): 75.0, (24.39339828, 30, 34.39339828): 221.7}
ENERGY, LOAD = 3566.9, 24000.0


def bracket(size: float) -> cal.TriangleMesh:
    """The bracket with a clamped wall and a loaded strip of its arm."""
    with gmsh_model("bracket") as gmsh:
        make = gmsh.model.occ
        points = [make.addPoint(x, 0, z) for x, z in PROFILE]
        centre = make.addPoint(35, 0, 45)
        ends = [*points[1:], points[0]]
        lines = [make.addCircleArc(one, centre, other) if n == 4 else make.addLine(one, other)
                 for n, (one, other) in enumerate(zip(points, ends, strict=True))]  # fmt: skip
        body = make.extrude([(2, make.addPlaneSurface([make.addCurveLoop(lines)]))], 0, 60, 0)
        make.cut([each for each in body if each[0] == 3], [(3, make.addCylinder(75, 30, -5, 0, 0, 50, 10))])
        make.synchronize()
        gmsh.option.setNumber("Mesh.MeshSizeMax", size)
        gmsh.option.setNumber("Mesh.MeshSizeFromCurvature", 14)
        gmsh.model.mesh.generate(2)
        meshed = MeshedModel(gmsh)
        used, corners = np.unique(meshed.elements(3, -1), return_inverse=True)
    mesh = cal.TriangleMesh(meshed.vertices[used], corners.reshape(-1, 3)).merged_vertices()
    x = mesh.centroids
    loaded = (np.abs(x[:, 2] - 30) < 1e-6) & (x[:, 0] > 100)
    tags = np.where(x[:, 0] < 1e-6, 1, np.where(loaded, 2, 0))
    return cal.TriangleMesh(mesh.vertices, mesh.triangles, tags, {"free": 0, "wall": 1, "load": 2})


def errors(solution: Any) -> dict[str, float]:
    """Relative errors of displacements, stresses, energy and reaction."""
    mesh, found = solution.solid.mesh, {}
    for n, (point, exact) in enumerate(SINKING.items(), 1):
        nearest = np.argsort(((mesh.vertices - point) ** 2).sum(axis=1))[:3]
        weights = np.linalg.lstsq(np.vstack([mesh.vertices[nearest].T, np.ones(3)]), [*point, 1.0], rcond=None)[0]
        found[f"u_z {n}"] = float(weights @ solution.displacement.at_nodes[nearest, 2]) / exact - 1
    corners = mesh.vertices[mesh.triangles]
    for name, (point, exact) in zip(("P1", "P3", "hole", "fillet"), STRESSES.items(), strict=True):
        place = np.unravel_index(int(np.argmin(((corners - point) ** 2).sum(axis=2))), corners.shape[:2])
        found[f"von Mises {name}"] = float(solution.von_mises[place]) / exact - 1
    found["energy"] = solution.strain_energy / ENERGY - 1
    found["reaction"] = float(solution.reactions["wall"].force[2]) / LOAD - 1
    return found


def solved(mesh: cal.TriangleMesh) -> tuple[dict[str, Any], str]:
    """Figures of one solution, and what it says of itself; seconds from the mesh on, peak of this process."""
    began, used = time.perf_counter(), time.process_time()
    solid = cal.ElasticSolid(mesh, cal.ElasticMaterial(200e3, 0.3), {"wall": cal.elastic.Fixed()},
                             {"load": cal.Traction([0.0, 0.0, -20.0])}, units="mm-N-MPa")  # fmt: skip
    plan, solution = solid.plan(method="fmm"), solid.solve(method="fmm")
    wall, cpu = time.perf_counter() - began, time.process_time() - used
    peak = peak_bytes()
    found = {"unknowns": solid.unknowns, "wall": wall, "cpu": cpu, "peak": peak, "planned": plan.nbytes}
    return found | errors(solution), str(solution.info)


def measure(screen: Console, floor: Floor, options: Namespace) -> dict[str, Any]:
    """One solution of each size."""
    record: dict[str, Any] = {}
    for edge in EDGES:
        name = f"bracket {edge:g}"
        if options.only and options.only not in name:
            continue
        found, info = apart(solved, apart(bracket, edge))
        record[name] = found | {"info": info}
        wrong = {key: value for key, value in found.items() if key.startswith(("u_z", "von", "energy", "reaction"))}
        unknowns, peak = found["unknowns"], found["peak"]
        screen.print(
            f"{name}: {unknowns} unknowns, wall {found['wall']:.1f} s, processor {found['cpu']:.1f} s, peak "
            f"{peak / 1e6:.0f} MB, {peak / unknowns / 1e3:.1f} KB an unknown"
        )
        screen.print(f"  {info}")
        screen.print("  " + ", ".join(f"{key} {100 * value:+.2f} %" for key, value in wrong.items()))
    return record
