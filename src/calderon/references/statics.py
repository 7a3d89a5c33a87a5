"""References of static fields and of solids."""

import numpy as np

import calderon.exact as exact
from calderon.formulations import (
    ElasticMaterial,
    ElasticSolid,
    LaplaceDirichlet,
    Pressure,
    Region,
    StaticProblem,
)
from calderon.mesh import TriangleMesh, cube, hollow_sphere, sphere
from calderon.references.reference import Reference
from calderon.references.sound import deviation
from calderon.waves import StaticDipole


def _cube() -> float:
    charge = LaplaceDirichlet(cube(1.0, 0.1)).solve(1.0).surface.integral()
    return float(abs(charge / (4 * np.pi) / exact.cube_capacitance(1.0) - 1))


def _head() -> float:
    """Potentials of a dipole halfway to the surface of a conducting ball, less their mean."""
    problem = StaticProblem(sphere(1.0, 0.3), {"head": Region("all", conductivity=1.0)}, outside=None)
    place, moment = np.array([0.0, 0.0, 0.5]), np.array([1.0, 0.0, 0.5])
    found = problem.solve(sources=[StaticDipole(place, moment)]).surface.coefficients
    known = exact.layered_head([1.0], [1.0], place, moment, problem.function_space.nodes)
    return deviation(found - found.mean(), known - known.mean())


def _hollow() -> float:
    """The mean radial displacement of the outer face of a hollow sphere of the radii 0.5 and 1 m with the pressure p
    inside, against p a^3 b 3 (1 - nu) / (2 E (b^3 - a^3))."""
    nu, a, pressure = 0.3, 0.5, 1e6
    both = hollow_sphere(1.0, a, 0.25)
    inside = np.linalg.norm(both.centroids, axis=1) < 0.75
    mesh = TriangleMesh(both.vertices, both.triangles, inside.astype(int), {"outer": 0, "inner": 1})
    steel = ElasticMaterial(210e9, nu)
    solution = ElasticSolid(mesh, steel, loads={"inner": Pressure(pressure)}).solve()
    radii = np.linalg.norm(mesh.vertices, axis=1)
    along = np.einsum("ij,ij->i", solution.displacement.at_nodes, mesh.vertices / radii[:, None])
    known = pressure * a**3 * 3 * (1 - nu) / (2 * steel.youngs_modulus * (1 - a**3))
    return float(abs(along[radii > 0.75].mean() / known - 1))


CUBE = Reference("cube", "capacitance", "J. Helsing, K.-M. Perfekt, ACHA 34 (2013), 445", 3e-3, _cube)
HEAD = Reference(
    "ball-with-dipole", "potentials on the surface", "J. C. de Munck, J. Appl. Phys. 64 (1988), 464", 0.05, _head
)
HOLLOW = Reference("hollow-sphere", "radial displacement", "Lamé, closed form", 0.02, _hollow)
