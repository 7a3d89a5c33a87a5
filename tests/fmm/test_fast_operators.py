"""Boundary operators of Laplace's equation by fast multipole products, against dense matrices."""

import re

import numpy as np
import pytest
import scipy.sparse as sp

import calderon as cal
from calderon.fmm import galerkin, laplace, near, orders, passes
from calderon.fmm.product import MultipoleProduct
from calderon.operators.methods import fastest
from calderon.products.far_field import far_product
from catalogue import NODAL_SPACES

RANDOM = np.random.default_rng(0)
MESHES = {
    "long": lambda: cal.mesh.ellipsoid([2.5, 0.3, 0.3], 0.13),
    "cylinder": lambda: cal.mesh.cylinder(0.3, 4.0, 0.11),
    "plate": lambda: cal.mesh.plate([4.0, 0.5], 0.08),
    "graded": lambda: graded(),
    "two bodies": lambda: two_bodies(),
}


def graded():
    """A sphere whose triangles are 30 times smaller at one pole."""
    mesh = cal.mesh.sphere(1.0, 0.12)
    x = mesh.vertices.copy()
    angle = np.arccos(np.clip(x[:, 2], -1, 1)) / np.pi
    new, phi = np.pi * angle**2.2, np.arctan2(x[:, 1], x[:, 0])
    moved = np.stack([np.sin(new) * np.cos(phi), np.sin(new) * np.sin(phi), np.cos(new)], axis=1)
    return cal.TriangleMesh(moved, mesh.triangles)


def two_bodies():
    """A sphere and another one that is 10,000 times smaller."""
    large, small = cal.mesh.sphere(1.0, 0.25), cal.mesh.sphere(1e-4, 0.25e-4)
    corners = np.concatenate([large.triangles, small.triangles + large.number_of_vertices])
    return cal.TriangleMesh(np.concatenate([large.vertices, small.vertices + [2, 0, 0]]), corners)


@pytest.fixture(autouse=True)
def own_random_numbers():
    """Random numbers of each test, whichever ran before."""
    global RANDOM
    RANDOM = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def small_leaves(monkeypatch):
    """Far fields on meshes of some hundred unknowns."""
    monkeypatch.setattr(galerkin, "FUNCTIONS", tuple(each._replace(leaf=25) for each in orders.FUNCTIONS))


def difference(found, wanted):
    return np.linalg.norm(found - wanted, axis=0).max() / np.linalg.norm(wanted, axis=0).max()


def check(operator, rtol):
    """Products and transposed products with two vectors; the error is that which was reported, or a part of it."""
    dense, fast = operator.assemble(), operator.assemble("fmm", rtol=rtol)
    right, left = (RANDOM.standard_normal((n, 2)) for n in reversed(operator.shape))
    assert difference(fast @ right, dense @ right) <= rtol
    assert difference(fast.T @ left, dense.T @ left) <= rtol
    assert 0 < fast.error <= rtol
    assert fast.info[0].checked.endswith("columns") == ("double" in fast.info[0].operator)
    return fast


def variant(*case):
    return pytest.param(*case, marks=pytest.mark.variant)


@pytest.mark.parametrize(
    "name, layer",
    [
        ("P1", "single_layer"),
        ("P1", "double_layer"),
        ("P1", "hypersingular"),
        variant("DP1", "adjoint_double_layer"),
        variant("P2", "hypersingular"),
    ],
)
def test_products_hold_the_tolerance(name, layer):
    fast = check(getattr(cal, layer)(cal.Laplace(), NODAL_SPACES[name](MESHES["long"]())), 1e-4)
    assert fast.info[0].leaves >= 15 and "fast multipole operator" in str(fast)


@pytest.mark.parametrize(
    "name, layer, rtol",
    [
        ("cylinder", "double_layer", 1e-3),
        ("graded", "single_layer", 1e-6),
        ("two bodies", "single_layer", 1e-4),
        ("plate", "hypersingular", 1e-6),
    ],
)
def test_tolerances_on_other_bodies(name, layer, rtol):
    check(getattr(cal, layer)(cal.Laplace(), cal.P1(MESHES[name]())), rtol)


@pytest.mark.parametrize("layer, test, rtol", [("double_layer", "P0", 1e-8), variant("hypersingular", "P1", 1e-7)])
def test_high_accuracy(layer, test, rtol):
    """From some tolerance on neighbours are boxes that are two edges away, too; a dense matrix whose distant pairs have
    a cheaper rule is not as accurate."""
    mesh, one_rule = MESHES["long"](), cal.Quadrature(accuracy=0)
    spaces = cal.P1(mesh), NODAL_SPACES[test](mesh)
    fast = check(getattr(cal, layer)(cal.Laplace(), *spaces, quadrature=one_rule), rtol)
    assert fast.info[0].leaves >= 15 and fast.info[0].order > (0, 0)


@pytest.mark.parametrize("layer", ["single_layer", "double_layer"])
def test_near_pairs_of_some_leaves_at_a_time(layer, monkeypatch):
    """Parts of a surface have the entries of the whole one."""
    operator = getattr(cal, layer)(cal.Laplace(), cal.P1(MESHES["long"]()))
    x = RANDOM.standard_normal((operator.shape[1], 1))
    whole = operator.assemble("fmm", rtol=1e-4) @ x
    monkeypatch.setattr(near, "SCRATCH_BYTES", 600_000)
    monkeypatch.setattr(laplace, "SHARE", 300)
    assert difference(operator.assemble("fmm", rtol=1e-4) @ x, whole) < 1e-6


@pytest.mark.parametrize("layer", ["single_layer", "double_layer"])
def test_parts_of_far_fields_add_up(layer):
    """Fields in some leaves alone, as devices compute them, from harmonics of all charges."""
    operator = getattr(cal, layer)(cal.Laplace(), cal.P1(MESHES["long"]()))
    far = operator.assemble("fmm", rtol=1e-4).product.far
    x, leaves = RANDOM.standard_normal((operator.shape[1], 2)), len(far.cost)
    for each in (far, far.transposed):
        parts = [each.part(low, high) for low, high in ((0, leaves // 3), (leaves // 3, leaves))]
        assert difference(sum(far_product(part, x) for part in parts), far_product(each, x)) < 1e-6
        assert (far_product(parts[0], x) == 0).any()


def test_transposed_products_of_double_layers_are_checked(monkeypatch):
    turned = MultipoleProduct._rmatmat
    monkeypatch.setattr(galerkin, "FUNCTIONS", galerkin.FUNCTIONS[:2])
    monkeypatch.setattr(MultipoleProduct, "_rmatmat", lambda self, x: 1.1 * turned(self, x))
    operator = cal.double_layer(cal.Laplace(), cal.P1(MESHES["long"]()))
    with pytest.raises(RuntimeError, match=r"has an error of 1\.0e-01 at 64 random columns, and rtol=0\.003"):
        operator.assemble("fmm", rtol=3e-3)


def test_functions_on_two_meshes():
    one, other = MESHES["long"](), cal.mesh.sphere(0.5, 0.12)
    other = cal.TriangleMesh(other.vertices + [0.0, 0.0, 1.2], other.triangles)
    check(cal.single_layer(cal.Laplace(), cal.P1(one), cal.P1(other)), 1e-4)


def test_sums_blocks_and_several_columns():
    mesh = MESHES["long"]()
    P1, green = cal.P1(mesh), cal.Laplace()
    V, K, D = (build(green, P1) for build in (cal.single_layer, cal.double_layer, cal.hypersingular))
    system = cal.blocks([[V, 0.5 * cal.identity(P1) - K], [0.5 * cal.identity(P1) + K.T, D]])
    dense, fast = system.assemble(), system.assemble("fmm", rtol=1e-4)
    x = RANDOM.standard_normal((system.shape[1], 3)) * (1 + 1j)
    assert difference(fast @ x, dense @ x) <= 1e-4
    for each in (fast, fast.T):
        assert difference(each @ x, np.stack([each @ column for column in x.T], axis=1)) < 1e-6
    assert len(fast.info) == 3  # K and its transposed are prepared once


@pytest.mark.parametrize("room, together", [(passes.SCRATCH_BYTES, 8), (3000, 1)])
def test_groups_of_columns(room, together, monkeypatch):
    """Columns beyond those that are multiplied at a time, or whose expansions have no room, have the same products."""
    monkeypatch.setattr(passes, "SCRATCH_BYTES", room)
    fast = cal.single_layer(cal.Laplace(), cal.P1(MESHES["long"]())).assemble("fmm", rtol=1e-4)
    assert fast.product.together == together
    x = RANDOM.standard_normal((fast.shape[1], 10))
    assert difference(fast @ x, np.stack([fast @ column for column in x.T], axis=1)) < 1e-6
    assert (fast @ x[:, :0]).shape == (fast.shape[0], 0)


def test_a_plane_has_no_double_layer():
    """The product is zero: the error is compared with the size of the terms."""
    space = cal.P1(MESHES["plate"]())
    fast = cal.double_layer(cal.Laplace(), space).assemble("fmm", rtol=1e-4)
    assert fast.error <= 1e-4


def test_capacitance():
    """The density of a sphere of potential 1."""
    space = cal.P1(cal.mesh.sphere(1.0, 0.12))
    matrix = cal.single_layer(cal.Laplace(), space).assemble("fmm", rtol=1e-5)
    density, _ = cal.gmres(matrix, space.load_vector(1.0), rtol=1e-6)
    assert abs(density @ space.load_vector(1.0) / (4 * np.pi) - 1) < 1e-3


@pytest.mark.parametrize("double", [False, variant(True)])
def test_potentials_outside_and_close_to_the_surface(double):
    space = cal.P1(cal.mesh.sphere(1.0, 0.12))
    directions = RANDOM.standard_normal((9000, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    points = directions * RANDOM.uniform(1.05, 3, 9000)[:, None]
    build = cal.double_layer_potential if double else cal.single_layer_potential
    potential = build(cal.Laplace(), space.interpolation(lambda x, n: (1 + 2j) * (x[:, 0] + 0.2)))
    assert difference(potential.evaluate(points, method="fmm", rtol=1e-5), potential.evaluate(points)) < 1e-5
    if double:
        found = potential.gradient(points, method="fmm", rtol=1e-4)
        assert difference(found, potential.gradient(points)) < 1e-3


def test_near_blocks_of_low_tolerances_are_in_single_precision():
    space = cal.P1(cal.mesh.sphere(1.0, 0.2))
    rough, fine = (cal.single_layer(cal.Laplace(), space).assemble("fmm", rtol=rtol) for rtol in (1e-3, 1e-6))
    assert rough.nbytes < fine.nbytes / 1.5


def test_higher_orders_are_tried(monkeypatch):
    lowest, low, higher = (galerkin.FUNCTIONS[n]._replace(potential=1e-5 / 100**n) for n in range(3))
    operator = cal.single_layer(cal.Laplace(), cal.P1(MESHES["long"]()))
    monkeypatch.setattr(galerkin, "FUNCTIONS", (lowest, low, higher))
    assert operator.assemble("fmm", rtol=2e-5).info[0].order == (14, 96)
    monkeypatch.setattr(galerkin, "FUNCTIONS", (lowest, lowest))
    with pytest.raises(RuntimeError, match="single_layer has an error of .*: increase rtol, or use method='hmatrix'"):
        operator.assemble("fmm", rtol=2e-5)


def test_the_plan_bounds_the_memory_and_is_kept(monkeypatch):
    space = cal.P1(MESHES["long"]())
    V = cal.single_layer(cal.Laplace(), space)
    plan, fast = V.plan("fmm", rtol=1e-3), V.assemble("fmm", rtol=1e-3)
    assert fast.nbytes < plan.nbytes
    assert f"{fast.info[0].levels} levels, degree {fast.info[0].order[0]} with" in str(plan)
    assert V.plan().method == "dense"
    larger = cal.P1(cal.mesh.sphere(1.0, 0.04))
    assert cal.single_layer(cal.Laplace(), larger).plan(rtol=1e-3).method == "fmm"
    assert fastest(cal.single_layer(cal.Laplace(), larger), 1e-3, "opencl")[0] == "hmatrix"  # fmm has no devices
    with pytest.raises(ValueError, match="rtol=5: a tolerance"):
        V.assemble("auto", rtol=5)
    assert cal.single_layer(cal.Helmholtz(1.0), larger).plan(rtol=1e-3).method == "mlfmm"
    monkeypatch.setattr("calderon.backends.memory.free_memory", lambda: 1_000_000)
    with pytest.raises(MemoryError, match=r"the fast multipole operator .\d levels.* needs .*: increase rtol"):
        V.assemble("fmm", rtol=1e-3)
    monkeypatch.setattr("calderon.operators.methods.free_memory", lambda: 1000)
    with pytest.raises(MemoryError, match=r"every method needs more (?=.*fmm: about)(?=.*hmatrix: about)"):
        V.assemble("auto")


def test_refusals():
    mesh = cal.mesh.sphere(1.0, 0.6)
    laplace = cal.single_layer(cal.Laplace(), cal.P1(mesh))
    with pytest.raises(ValueError, match="method='fmm' is for operators of Laplace's equation"):
        cal.single_layer(cal.Helmholtz(1.0), cal.P1(mesh)).assemble("fmm")
    with pytest.raises(ValueError, match="holds 1e-11 and above"):
        laplace.assemble("fmm", rtol=1e-12)
    with pytest.raises(ValueError, match="rtol=2: a tolerance"):
        laplace.assemble("fmm", rtol=2)
    potential = cal.single_layer_potential(cal.Helmholtz(1.0), cal.Function(cal.P1(mesh), np.ones(laplace.shape[0])))
    with pytest.raises(ValueError, match="method 'fmm' sums potentials of Laplace's equation"):
        potential.evaluate([[0, 0, 3.0]], method="fmm")
    with pytest.raises(ValueError, match="method 'direct' sums exactly"):
        potential.evaluate([[0, 0, 3.0]], method="direct", rtol=1e-3)
    with pytest.raises(ValueError, match="unknown method 'fast': choose 'auto' or 'direct' or 'fmm' or 'mlfmm'"):
        potential.evaluate([[0, 0, 3.0]], method="fast")


def test_few_unknowns_have_no_far_field():
    space = cal.P1(cal.mesh.sphere(1.0, 0.7))
    fast, dense = (cal.single_layer(cal.Laplace(), space).assemble(method) for method in ("fmm", "dense"))
    assert sp.linalg.norm(sp.csr_array(fast @ np.eye(space.dimension) - dense.to_array())) < 1e-6


def test_formulations_accept_the_method(monkeypatch):
    mesh = cal.mesh.sphere(1.0, 0.2)
    problem = cal.LaplaceDirichlet(mesh, space="P1")
    dense, fast = (problem.solve(1.0, method=method, rtol=1e-5) for method in ("dense", "fmm"))
    places = np.array([[0.0, 0.0, 2.0], [3.0, 0.0, 0.0]])
    assert difference(fast.field(places), dense.field(places)) < 1e-5
    assert "fast multipole operator" in str(fast.info)
    monkeypatch.setattr("calderon.operators.methods.DENSE_BYTES", 16 * 10**2)
    auto = cal.LaplaceDirichlet(mesh, space="P1").solve(1.0, method="auto", rtol=1e-5)
    names = re.search(r"chosen as (\w+): about .*, not (\w+): about", str(auto.info))
    assert names and set(names.groups()) == {"fmm", "hmatrix"}
    with pytest.raises(ValueError, match="method='fmm' is for operators of Laplace's equation"):
        cal.SoundSoftScattering(mesh, 1.0).solve(cal.PlaneWave([0, 0, 1], 1.0), method="fmm")


def test_double_layers_of_traces_err_by_a_part_of_their_jump_and_others_of_themselves():
    """The equations of both traces have K, K' and V: what K adds to is I / 2."""
    mesh, rtol = cal.mesh.sphere(1.0, 0.13), 1e-5
    green, nodes, panels = cal.Laplace(), cal.P1(mesh), cal.P0(mesh)
    single, double = cal.single_layer(green, panels), cal.double_layer(green, nodes, panels)
    x = RANDOM.standard_normal(nodes.dimension)
    traces = cal.blocks([[cal.hypersingular(green, nodes), double.T], [-double, single]])
    found = -(traces.assemble("fmm", rtol=rtol) @ np.concatenate([x, np.zeros(panels.dimension)]))[nodes.dimension :]
    wanted, jump = double.assemble() @ x, nodes.mass_matrix(panels) @ x / 2
    assert np.linalg.norm(found - wanted) <= rtol * max(np.linalg.norm(wanted), np.linalg.norm(jump))
    alone = cal.blocks([[double, single]]).assemble("fmm", rtol=rtol)
    assert all(each.order > (0, 0) for each in alone.info)  # expansions are needed
    found = alone @ np.concatenate([x, np.zeros(panels.dimension)])
    assert np.linalg.norm(found - wanted) <= rtol * np.linalg.norm(wanted)
