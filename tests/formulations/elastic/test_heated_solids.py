"""Solids with a steady temperature: no stress under a linear one, and a hot pipe."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import calderon as cal
from calderon.formulations.elastic.plan import COUNTS
from calderon.potentials.heat import heat_displacements, heat_potentials
from calderon.products.cost import Cost

METAL = cal.ElasticMaterial(2.1, 0.3, expansion=0.02)
UNIT = 2.1 * 0.02 * 5 / 2  # E alpha dT / 2 of the cube


@pytest.fixture(scope="module")
def cube():
    mesh = cal.mesh.cube(1.0, 0.34)
    tags = 1 + np.rint(mesh.normals[:, 0]).astype(int)
    names = {"cold": 0, "side": 1, "hot": 2}
    return cal.TriangleMesh(mesh.vertices - mesh.bounds.mean(axis=0) + [0.3, 0.1, 0.0], mesh.triangles, tags, names)


def linear(x):
    return 20 + 5 * x[:, 0]


def exact(x):
    """The displacement that this temperature, 20 free of stress, expands to."""
    a, b, c = x.T
    return 0.1 * np.column_stack([(a**2 - b**2 - c**2) / 2, a * b, a * c])


def test_a_linear_temperature_makes_no_stress(cube):
    """In a free body; heat enters at one end, five times the conductivity."""
    heat = cal.elastic.SteadyTemperature({"cold": linear}, {"hot": 50.0}, conductivity=10.0, reference=20.0)
    solid = cal.ElasticSolid(cube, METAL, body=[heat])
    solution = solid.solve()
    x = np.array([[0.3, 0.1, 0.0], [0.5, 0.3, 0.1]])
    assert solid.temperature(x) == pytest.approx(5 * x[:, 0], abs=1e-4)
    assert np.abs(solution.stress(x)).max() < 0.01 * UNIT
    with pytest.raises(ValueError, match="strain energy under a temperature that varies"):
        _ = solution.strain_energy


def test_held_as_it_expands_a_solid_needs_no_traction(cube):
    """Linear functions on the surface miss h^2 / 8 of the second derivatives."""
    heat = cal.elastic.SteadyTemperature(dict.fromkeys(cube.names, linear), reference=20.0)
    held = cal.elastic.Prescribed(exact)
    solution = cal.ElasticSolid(cube, METAL, dict.fromkeys(cube.names, held), body=[heat]).solve()
    x = np.array([[0.3, 0.1, 0.0], [0.5, 0.3, 0.1]])
    assert np.abs(solution.field(x) - exact(x)).max() < 0.04 * np.abs(exact(cube.vertices)).max()
    assert np.abs(solution.stress(x)).max() < 0.06 * UNIT


def test_a_hot_pipe():
    """Plane strain between symmetry planes; heat enters at the bore (S. P. Timoshenko, J. N. Goodier, article 151)."""
    mesh = cal.mesh.cuboid([np.log(2), np.pi / 2, 1.0], 0.35)
    side = np.rint(mesh.normals @ [1, 2, 3]).astype(int)
    r, angle, z = (mesh.vertices - mesh.bounds[0]).T
    places = np.column_stack([np.exp(r) * np.cos(angle), np.exp(r) * np.sin(angle), z])
    names = {"bottom": 0, "right": 1, "bore": 2, "outside": 3, "left": 4, "top": 5}
    mesh = cal.TriangleMesh(places, mesh.triangles, np.searchsorted([-3, -2, -1, 1, 2, 3], side), names)
    drop, ratio = 80.0, METAL.poissons_ratio
    heat = cal.elastic.SteadyTemperature({"outside": 20.0}, {"bore": 15.0 * drop / np.log(2)}, 15.0, reference=20.0)
    planes = dict.fromkeys(("bottom", "right", "left", "top"), cal.elastic.SymmetryPlane())
    solid = cal.ElasticSolid(mesh, METAL, planes, body=[heat])
    solution = solid.solve()
    unit = 2.1 * 0.02 * drop / (2 * (1 - ratio) * np.log(2))
    for radius in (1.3, 1.6):
        log, share = np.log(2 / radius), np.log(2) / 3
        radial, hoop = -log - share * (1 - 4 / radius**2), 1 - log - share * (1 + 4 / radius**2)
        axial = ratio * (radial + hoop) - 2 * (1 - ratio) * log
        half = np.sqrt(0.5)
        turn = np.array([[half, half, 0], [-half, half, 0], [0, 0, 1]])
        point = [[half * radius, half * radius, 0.5]]
        found = turn @ solution.stress(point)[0] @ turn.T / unit
        assert np.abs(found - np.diag([radial, hoop, axial])).max() < 0.04
        assert solid.temperature(np.array(point))[0] == pytest.approx(drop * log / np.log(2), abs=0.03 * drop)


def test_a_linear_temperature_makes_no_stress_in_quadratic_displacements():
    """P2 has the displacement, so that the rules alone leave stress."""
    mesh = cal.mesh.cube(1.0, 0.5)
    heat = cal.elastic.SteadyTemperature({0: lambda x: 5 * x[:, 0] - 2 * x[:, 2]})
    solution = cal.ElasticSolid(mesh, METAL, space="P2", body=[heat]).solve()
    assert np.abs(solution.stress(mesh.bounds.mean(axis=0) + [[0.1, 0.2, 0.05]])).max() < 1e-3 * UNIT


@pytest.mark.parametrize("bore", ["temperature", "heat"])
def test_a_hot_hollow_sphere(bore):
    """S. P. Timoshenko, J. N. Goodier, Theory of Elasticity, article 152: T = 80 (1 / r - 1) between 0.5 and 1."""
    meshes = cal.mesh.sphere(1.0, 0.45), cal.mesh.sphere(0.5, 0.25)
    mesh = cal.mesh.merge(meshes)
    tags = np.repeat([0, 1], [len(each.triangles) for each in meshes])
    mesh = cal.TriangleMesh(mesh.vertices, mesh.triangles, tags, {"outside": 0, "bore": 1})
    given = {"outside": lambda x: np.full(len(x), 20.0)}
    heat = cal.elastic.SteadyTemperature(given, {"bore": 10.0 * 80 / 0.25}, 10.0, reference=20.0)
    if bore == "temperature":
        heat = cal.elastic.SteadyTemperature({**given, "bore": 100.0}, reference=20.0)
    solid = cal.ElasticSolid(mesh, METAL, body=[heat])
    solution = solid.solve()
    unit = 2.1 * 0.02 * 80 / (1 - METAL.poissons_ratio) * 0.5 / (1 - 0.125)
    for r in (0.6, 0.75, 0.9):
        n = np.array([0.48, 0.6, 0.64])
        radial, hoop = 1.5 - 1.75 / r + 0.25 / r**3, 1.5 - 0.875 / r - 0.125 / r**3
        exact = radial * np.outer(n, n) + hoop * (np.eye(3) - np.outer(n, n))
        assert np.abs(solution.stress([r * n])[0] / unit - exact).max() < 0.01
        assert solid.temperature(r * n[None])[0] == pytest.approx(80 * (1 / r - 1), abs=0.01 * 80)


def test_bonded_parts_need_the_temperature_of_common_faces():
    """A linear temperature through both makes no stress; parts that are insulated from each other are warned of."""
    parts = {}
    for name, low in (("one", 0.0), ("two", 1.0)):
        mesh = cal.mesh.cuboid((1.0, 1.0, 1.0), 0.5)
        ends = 1 + np.rint(mesh.normals[:, 0]).astype(int)
        places = mesh.vertices - mesh.bounds[0] + [low, 0, 0]
        parts[name] = cal.TriangleMesh(places, mesh.triangles, ends, {"left": 0, "side": 1, "right": 2})
    slope = lambda x: 10 * x[:, 0] + 3  # noqa: E731

    def solved(*tags):
        loads = (cal.elastic.SteadyTemperature(dict.fromkeys(each, slope), reference=n) for n, each in enumerate(tags))
        return cal.BondedSolids({
            name: cal.ElasticSolid(mesh, METAL, body=[load])
            for (name, mesh), load in zip(parts.items(), loads, strict=True)
        }).solve()  # fmt: skip

    with warnings.catch_warnings():
        warnings.simplefilter("error", cal.AccuracyWarning)
        found = solved(("left", "right"), ("left", "right", "side"))
    assert found["one"].solid.temperature(np.array([[0.5, 0.4, 0.5]])) == pytest.approx(8.0, abs=1e-3)
    assert found["two"].solid.temperature(np.array([[1.5, 0.4, 0.5]])) == pytest.approx(17.0, abs=1e-3)
    with pytest.warns(cal.AccuracyWarning, match=r"differ by up to 20 K on their common faces"):
        solved(("left",), ("right",))


def test_what_a_steady_temperature_needs(cube):
    with pytest.raises(ValueError, match="needs the temperature of one tag"):
        cal.elastic.SteadyTemperature({}, {"hot": 1.0}, 10.0)
    with pytest.raises(ValueError, match="needs its conductivity"):
        cal.elastic.SteadyTemperature({"cold": 1.0}, {"hot": 1.0})
    with pytest.raises(TypeError, match="temperatures are given by tag"):
        cal.elastic.SteadyTemperature(20.0)
    with pytest.raises(cal.MeshError, match=r"unknown tags \['wall'\]"):
        cal.ElasticSolid(cube, METAL, body=[cal.elastic.SteadyTemperature({"wall": 1.0})])
    with pytest.raises(ValueError, match="a steady temperature needs the expansion"):
        cal.ElasticSolid(cube, cal.ElasticMaterial(1.0, 0.3), body=[cal.elastic.SteadyTemperature({"hot": 1.0})])
    both = cal.elastic.SteadyTemperature({"hot": 1.0}, {"hot": 1.0}, 10.0)
    with pytest.raises(ValueError, match=r"\[2\] have a temperature and heat"):
        cal.ElasticSolid(cube, METAL, body=[both]).solve()
    for wrong in (np.nan, lambda x: np.full(len(x), np.nan)):
        with pytest.raises(ValueError, match="NaN or infinite"):
            cal.ElasticSolid(cube, METAL, body=[cal.elastic.SteadyTemperature({"hot": wrong})]).solve()


HEAT = cal.elastic.SteadyTemperature({"cold": linear}, {"hot": 50.0}, 10.0, reference=20.0)


@pytest.mark.variant
def test_fast_products_are_those_of_stored_matrices(cube):
    equation = HEAT.on(cube, np.zeros(3))._equation
    for one, two in zip(*(replace(equation, method=method).solve() for method in ("dense", "fmm")), strict=True):
        assert one.coefficients == pytest.approx(two.coefficients, abs=1e-4 * np.abs(one.coefficients).max())


def test_fast_sums_are_the_direct_ones(cube):
    """Inside and on the surface, in all quantities; far triangles have a finer rule in fast sums."""
    stored = HEAT.on(cube, np.zeros(3)).surface
    inside = np.random.default_rng(0).uniform(*cube.bounds, (20, 3))
    x = np.concatenate([inside, cube.vertices, cube.centroids])
    direct, summed = (heat_potentials(*stored, x, few) for few in (np.inf, 0))
    for one, two in zip(direct, summed, strict=True):
        assert np.abs(one - two)[:20].max() < 1e-7 * np.abs(one[:20]).max()
    surface = heat_displacements(*stored, x, 0)
    assert np.abs(surface - direct[1]).max() < 1e-6 * np.abs(direct[1]).max()
    h = 1e-5
    shifted = [heat_displacements(*stored, inside[0] + h * np.eye(3)[k])[0] for k in range(3)]
    assert np.stack(shifted, axis=1) - direct[1][0][:, None] == pytest.approx(h * direct[2][0], abs=1e-2 * h)


def test_the_plan_counts_the_temperature(cube):
    """Its matrix, or its products, and the sums at all points of the rules; of bonded parts each."""
    load = cal.elastic.SteadyTemperature({"cold": 20.0})
    for space, points in (("P1", 6), ("P2", 12)):
        cold, warm = (cal.ElasticSolid(cube, METAL, body=body, space=space) for body in ([], [load]))
        extra = warm.plan().seconds - cold.plan().seconds
        pairs = points * len(cube.triangles) ** 2
        assert extra > Cost(COUNTS.heat_pair * pairs).seconds
        assert warm.plan().nbytes >= cold.plan().nbytes
    equation = load.on(cube, np.zeros(3))._equation
    assert equation.unknowns == np.count_nonzero(equation.free) + np.count_nonzero(cube.tags == cube.names["cold"])
