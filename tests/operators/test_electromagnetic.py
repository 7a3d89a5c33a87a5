"""Electric and magnetic field operators between edge functions, against sums, scalar layers and symmetries."""

import pickle

import numpy as np
import pytest

import calderon as cal
from calderon.operators.algebra import TransformedOperator
from calderon.quadrature import triangle_rule
from calderon.spaces.lagrange import discontinuous

DEGREE = cal.Quadrature().regular


def brute_entry(k, test, trial, i, j, magnetic, degree=DEGREE):
    """One entry as a sum over the points of a product rule: for functions far apart."""
    mesh, rule, total = trial.mesh, triangle_rule(degree), 0.0
    u, v = rule.points.T
    inside = np.stack([1 - u - v, u, v])
    for r, a in np.argwhere(test.dofs == i):
        for s, b in np.argwhere(trial.dofs == j):
            t, t_ = test.triangles[r], trial.triangles[s]
            x, y = (np.einsum("bq,bc->qc", inside, mesh.vertices[mesh.triangles[each]]) for each in (t, t_))
            f, g = test.values(rule.points)[r, a], trial.values(rule.points)[s, b]
            weights = 4 * mesh.areas[t] * mesh.areas[t_] * np.outer(rule.weights, rule.weights)
            d = x[:, None] - y
            distance = np.linalg.norm(d, axis=2)
            green = np.exp(1j * k * distance) / (4 * np.pi * distance)
            if magnetic:
                gradient = (green * (1j * k * distance - 1) / distance**2)[..., None] * d
                integrand = np.einsum("pc,pqc->pq", f, np.cross(mesh.normals[t], np.cross(gradient, g)))
            else:
                integrand = 1j * k * green * (f @ g.T - 4 * test.scale[r, a] * trial.scale[s, b] / k**2)
            total += (weights * integrand).sum()
    return total


def two_plates():
    """A fifth of a triangle apart: pairs that are subdivided."""
    plate = cal.mesh.plate([1.0, 0.7], h=0.35)
    return cal.TriangleMesh(
        np.concatenate([plate.vertices, plate.vertices + [0.05, 0.02, 0.06]]),
        np.concatenate([plate.triangles, plate.triangles + plate.number_of_vertices]),
    )


def junction():
    """Three triangles at an edge, of which one has two functions there."""
    vertices = np.array([[0, 0, 0], [1, 0, 0], [0.3, 1, 0], [0.4, -1, 0.2], [0.5, 0.1, 0.9], [1.2, 1.0, 0.3]])
    return cal.TriangleMesh(vertices, np.array([[0, 1, 2], [1, 0, 3], [0, 1, 4], [1, 5, 2]]))


SHAPES = {
    "plate": lambda: cal.mesh.plate([1.0, 0.7], h=0.35),
    "sphere": lambda: cal.mesh.sphere(1.0, 0.6),
    "two plates": two_plates,
    "junction": junction,
}


@pytest.fixture(scope="module")
def sphere():
    return cal.mesh.sphere(1.0, 0.5)


def test_far_entries_against_sums(sphere):
    k = 1.3
    rwg, snc = cal.RWG(sphere), cal.SNC(sphere)
    middles = sphere.vertices[sphere.edges[rwg.edges]].mean(axis=1)
    order = np.argsort(np.linalg.norm(middles - middles[0], axis=1))
    columns = order[len(order) // 2 :: len(order) // 8]
    for operator in (
        cal.electric_field(k, rwg),
        cal.magnetic_field(k, rwg),
        cal.magnetic_field(cal.Helmholtz(k), rwg, snc),
    ):
        magnetic = operator.integrand.name == "magnetic_field"
        expected = np.array([brute_entry(k, operator.test, rwg, 0, j, magnetic) for j in columns])
        for precision, tolerance in (("double", 1e-11), ("single", 1e-5)):
            computed = operator.entries([0], columns, precision)[0]
            assert np.abs(computed - expected).max() < tolerance * np.abs(expected).max()


@pytest.mark.parametrize("shape", SHAPES)
def test_the_electric_field_is_made_of_single_layers(shape):
    """i k (sum_c T_c^T V T_c - div^T V div / k^2) with V between discontinuous functions: every class of pairs."""
    mesh, k = SHAPES[shape](), 0.7
    rwg, green = cal.RWG(mesh), cal.Helmholtz(k)
    computed = cal.electric_field(green, rwg).assemble().to_array()
    fine = discontinuous(cal.P1(mesh), 1)
    values = rwg.expansion(fine.element.nodes)
    layer = cal.single_layer(green, fine).assemble().to_array()
    constant = cal.single_layer(green, cal.P0(mesh)).assemble().to_array()
    divergence = rwg.divergence_matrix()
    expected = sum(part.T @ (part.T @ layer.T).T for part in values)
    expected = 1j * k * (expected - divergence.T @ (divergence.T @ constant.T).T / k**2)
    assert np.abs(computed - expected).max() < 2e-6 * np.abs(expected).max()


def test_symmetries(sphere):
    """Complex symmetric on one space; the tangential magnetic field too, whose touching pairs have unlike roles."""
    rwg, snc = cal.RWG(sphere), cal.SNC(sphere)
    every = np.arange(rwg.dimension)
    for operator, tolerance in ((cal.electric_field(1.5, rwg), 1e-6), (cal.magnetic_field(1.5, rwg, snc), 2e-5)):
        assert operator.is_symmetric
        whole = operator.entries(every, every)  # each entry for itself
        scale = np.abs(whole).max()
        assert np.abs(whole - whole.T).max() < tolerance * scale
        half = operator.assemble().to_array()
        np.testing.assert_array_equal(half, half.T)
        assert np.abs(half - whole).max() < tolerance * scale
        single = operator.assemble(precision="single").to_array()
        assert single.dtype == np.complex64
        assert np.abs(single - half).max() < 1e-5 * scale


@pytest.mark.parametrize("rotated", [False, True])
@pytest.mark.parametrize("make", [two_plates, junction])
def test_magnetic_field_does_not_depend_on_the_cut_of_the_surface(make, rotated):
    """The functions on the barycentric refinement: other pairs, other rules, the same matrix."""
    mesh = make()
    rwg = cal.RWG(mesh)
    test = rwg.perpendicular() if rotated else rwg
    rule = cal.Quadrature(regular=10, singular=10)
    computed = cal.magnetic_field(1.1, rwg, test, quadrature=rule).assemble().to_array()
    fine = cal.magnetic_field(1.1, rwg.refined(), test.refined(), quadrature=rule).assemble().to_array()
    assert np.abs(computed - fine).max() < 2e-6 * np.abs(fine).max()


def test_the_charge_part_of_currents_of_constant_divergence(sphere):
    """Where k -> 0 only charges count: -i k T = div^T V div, V the single layer of P0."""
    rwg, k = cal.RWG(sphere), 1e-4
    computed = 1j * k * cal.electric_field(k, rwg).assemble().to_array()
    divergence = rwg.divergence_matrix()
    layer = cal.single_layer(cal.Helmholtz(k), cal.P0(sphere)).assemble().to_array()
    expected = divergence.T @ (divergence.T @ layer.T).T
    assert np.abs(computed - expected).max() < 1e-6 * np.abs(expected).max()


@pytest.mark.parametrize("build", [cal.electric_field, cal.magnetic_field])
def test_surfaces_of_two_meshes_and_parts_by_tag(build):
    """Blocks between bodies: the same as in one mesh of both, whole or through its parts."""
    one, two = cal.mesh.sphere(1.0, 0.8), cal.mesh.cube(1.0, 0.5).translated([2.0, 0.3, 0.4])
    both = cal.mesh.merge([one, two])
    half = len(one.triangles)
    both = cal.TriangleMesh(both.vertices, both.triangles, (np.arange(len(both.triangles)) >= half).astype(int))
    spaces = cal.RWG(one), cal.RWG(two)
    whole = build(1.2, cal.RWG(both)).assemble().to_array()
    n = spaces[0].dimension
    apart = build(1.2, spaces[0], spaces[1]).assemble().to_array()
    assert np.abs(apart - whole[n:, :n]).max() < 1e-9 * np.abs(apart).max()
    tagged = build(1.2, cal.RWG(both, tags=[0]), cal.RWG(both, tags=[1])).assemble().to_array()
    assert np.abs(apart - tagged).max() < 1e-9 * np.abs(apart).max()


def test_entries_are_those_of_the_dense_matrix(sphere):
    rwg = cal.RWG(sphere)
    for operator in (cal.magnetic_field(2.0, rwg), cal.electric_field(2.0, rwg) * 2 - cal.identity(rwg) / 2):
        dense = operator.assemble().to_array()
        rows, columns = [5, 3, 5, -1], [0, 100, 7]
        part = operator.entries(rows, columns)
        assert np.abs(part - dense[rows][:, columns]).max() < 1e-6 * np.abs(dense).max()


def test_pickled_operators_are_the_same(sphere):
    rwg = cal.RWG(sphere)
    for operator in (cal.magnetic_field(2.0, rwg), *(cal.electric_field(2.0, rwg, charges=each) for each in (1, 0))):
        copy = pickle.loads(pickle.dumps(operator))
        assert np.array_equal(copy.assemble().to_array(), operator.assemble().to_array())


def test_dual_spaces_combine_the_functions_of_the_refinement():
    mesh = cal.mesh.sphere(1.0, 0.8)
    rwg, bc, rbc = cal.RWG(mesh), cal.BC(mesh), cal.RBC(mesh)
    base = cal.electric_field(1.2, bc.base).assemble().to_array()
    expected = bc.matrix.T @ (bc.matrix.T @ base.T).T
    operator = cal.electric_field(1.2, bc)
    assert isinstance(operator, TransformedOperator)
    assert np.abs(operator.assemble().to_array() - expected).max() < 1e-6 * np.abs(expected).max()
    mixed = cal.magnetic_field(1.2, rwg, rbc)
    base = cal.magnetic_field(1.2, bc.base, rbc.base).entries(
        np.arange(rbc.base.dimension), np.arange(bc.base.dimension)
    )
    expected = rbc.matrix.T @ (rwg.refined().matrix.T @ base.T).T
    assert mixed.shape == (rwg.dimension, rwg.dimension)
    assert np.abs(mixed.assemble().to_array() - expected).max() < 1e-6 * np.abs(expected).max()
    both = (mixed - cal.identity(rwg, rbc) / 2).assemble().to_array()
    pairing = rwg.mass_matrix(rbc).toarray() / 2
    assert np.abs(both - expected + pairing).max() < 1e-6 * np.abs(both).max()
    part = mixed.entries([3, 1], [2, 8, 4])
    assert np.abs(part - expected[[3, 1]][:, [2, 8, 4]]).max() < 1e-6 * np.abs(expected).max()


def test_a_sliced_dual_operator_is_the_same(monkeypatch):
    bc = cal.BC(cal.mesh.sphere(1.0, 0.8))
    operator = cal.electric_field(1.2, bc)
    whole = operator.assemble().to_array()
    monkeypatch.setattr("calderon.operators.sandwich.SLICE", 100_000)
    assert np.abs(operator.assemble().to_array() - whole).max() < 1e-9 * np.abs(whole).max()


def test_operators_say_what_they_are(sphere):
    rwg, rbc = cal.RWG(sphere), cal.RBC(sphere)
    size = f"{rwg.dimension} x {rwg.dimension}"
    assert repr(cal.electric_field(2.0, rwg)) == f"electric_field of Helmholtz(wavenumber=2.0), RWG, {size}"
    assert repr(cal.magnetic_field(2.0, rwg, rbc)).endswith(f"RWG to RBC, {size}")


def test_what_is_refused(sphere):
    rwg, snc = cal.RWG(sphere), cal.SNC(sphere)
    with pytest.raises(ValueError, match="divergence"):
        cal.electric_field(1.0, rwg, snc)
    with pytest.raises(ValueError, match="SNC"):
        cal.magnetic_field(1.0, snc)
    with pytest.raises(ValueError, match="k = 0"):
        cal.electric_field(0.0, rwg)
    with pytest.raises(TypeError, match="RWG"):
        cal.magnetic_field(1.0, cal.P1(sphere))
    with pytest.raises(TypeError, match="Helmholtz"):
        cal.electric_field(cal.Laplace(), rwg)
    with pytest.raises(ValueError, match="loss"):
        cal.magnetic_field(1.0 - 0.1j, rwg)
