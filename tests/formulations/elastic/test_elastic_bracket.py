"""A bracket with a fillet and a hole, clamped at one side and loaded at the other, against a fine solution by others.

Lengths in mm, stresses in MPa. References of displacement and energy by Richardson extrapolation of quadratic elements.
"""

import numpy as np
import pytest

import calderon as cal
from calderon.mesh.shapes.gmsh_session import gmsh_model
from calderon.mesh.shapes.gmsh_volumes import MeshedModel

gmsh = pytest.importorskip("gmsh")
pytestmark = pytest.mark.variant
PROFILE = [(0, 0), (120, 0), (120, 30), (100, 30), (35, 30), (20, 45), (20, 120), (0, 120)]
SINKING = {(45, 30, 30): -0.04585, (60, 0, 15): -0.08056, (95, 30, 0): -0.22812, (120, 30, 30): -0.34396}
FILLET, STRESS = np.array([24.39339828, 30, 34.39339828]), 221.7
ENERGY, LOAD = 3566.9, 24000.0


def bracket(size):
    with gmsh_model("bracket") as gmsh:
        make = gmsh.model.occ
        points = [make.addPoint(x, 0, z) for x, z in PROFILE]
        centre = make.addPoint(35, 0, 45)
        lines = [make.addLine(points[k], points[k + 1]) for k in range(4)]
        lines.append(make.addCircleArc(points[4], centre, points[5]))
        lines += [make.addLine(points[5], points[6]), make.addLine(points[6], points[7])]
        lines.append(make.addLine(points[7], points[0]))
        face = make.addPlaneSurface([make.addCurveLoop(lines)])
        body = [each for each in make.extrude([(2, face)], 0, 60, 0) if each[0] == 3]
        make.cut(body, [(3, make.addCylinder(75, 30, -5, 0, 0, 50, 10))])
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


@pytest.fixture(scope="module")
def solid():
    material = cal.ElasticMaterial(200e3, 0.3)
    load = cal.Traction([0.0, 0.0, -20.0])
    return cal.ElasticSolid(bracket(14.0), material, {"wall": cal.elastic.Fixed()}, {"load": load}, units="mm-N-MPa")


@pytest.fixture(scope="module")
def solution(solid):
    return solid.solve(method="dense")


def test_the_bracket_sinks_and_bends(solid, solution):
    mesh = solid.mesh
    for point, exact in SINKING.items():
        nearest = np.argsort(((mesh.vertices - point) ** 2).sum(axis=1))[:3]
        weights = np.linalg.lstsq(np.vstack([mesh.vertices[nearest].T, np.ones(3)]), [*point, 1.0], rcond=None)[0]
        assert weights @ solution.displacement.at_nodes[nearest, 2] == pytest.approx(exact, rel=0.04)
    assert solution.strain_energy == pytest.approx(ENERGY, rel=0.02)
    assert solution.reactions["wall"].force[2] == pytest.approx(LOAD, rel=0.01)
    place = np.unravel_index(
        np.argmin(((mesh.vertices[mesh.triangles] - FILLET) ** 2).sum(axis=2)), (len(mesh.tags), 3)
    )
    assert solution.von_mises[place] == pytest.approx(STRESS, rel=0.15)


def test_few_steps_by_leaves_and_rigid_motions_of_clusters(solid, solution):
    compressed = solid.solve(method="hmatrix", rtol=1e-6)
    difference = compressed.displacement.coefficients - solution.displacement.coefficients
    assert np.linalg.norm(difference) < 1e-5 * np.linalg.norm(solution.displacement.coefficients)
    assert 0 < compressed.info.iterations < 30
