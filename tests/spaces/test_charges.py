"""Charges of every space: sums over points between separated surfaces are the matrices of the operators."""

from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp

import calderon as cal
from calderon.spaces import dual_tests
from calderon.spaces.charges import charges, entries_of_charges, shares
from catalogue import EDGE_SPACES, NODAL_SPACES, cases

DEGREE = 4
K = 1.3
GREEN = cal.Helmholtz(K)
LAYERS = {
    "single": (cal.single_layer, "value", "value"),
    "double": (cal.double_layer, "value", "normal"),
    "adjoint": (cal.adjoint_double_layer, "normal", "value"),
}


@pytest.fixture(scope="module")
def meshes():
    """A closed and an open surface, far from each other."""
    return cal.mesh.cube(1.0, 0.7), cal.mesh.plate((1.0, 0.8), 0.5).translated([8.0, 3.0, 5.0])


def kernel(x, y):
    """G and G'/r at all pairs of points, and x - y (n, m, 3)."""
    d = x[:, None] - y[None]
    r = np.linalg.norm(d, axis=2)
    r[r == 0] = 1  # of points with themselves, which no test looks at
    g = np.exp(1j * K * r) / (4 * np.pi * r)
    return g, (1j * K * r - 1) / r**2 * g, d


class Paired(NamedTuple):
    """A sum over points, and the largest sum of magnitudes: charges of a divergence have no total, and cancel."""

    values: np.ndarray
    size: float

    def __add__(self, other):
        return Paired(self.values + other.values, self.size + other.size)

    def __rmul__(self, factor):
        return Paired(factor * self.values, abs(factor) * self.size)


def agree(found, operator):
    expected = operator.assemble().to_array()
    assert found.values.shape == expected.shape
    assert np.abs(found.values - expected).max() < 1e-12 * found.size


def paired(test, trial, kinds, values):
    """The sum of gather_c values(c, d) spread_d over the components c and d, values (n, m)."""
    total, size = 0, 0
    for c, left in enumerate(test.gather(kinds[0])):
        for d, right in enumerate(trial.spread(kinds[1])):
            entries = values(c, d)
            total = total + left @ (right.T @ entries.T).T
            size = size + abs(left) @ (abs(right).T @ abs(entries).T).T
    return Paired(total, size.max())


@pytest.mark.parametrize(
    "layer, test, trial",
    cases(
        [("single", "P0", "P0"), ("adjoint", "P1", "P1"), ("single", "P0", "P1"), ("double", "DP1", "P2")],
        [("single", "P0", "P0"), ("adjoint", "P1", "P1")],
    ),
)
def test_layers_are_sums_over_points(meshes, layer, test, trial):
    """One space on both sides; variants have two."""
    left, right = NODAL_SPACES[test](meshes[0]), NODAL_SPACES[trial](meshes[1])
    operator, *kinds = LAYERS[layer]
    tests, trials = charges(left, DEGREE), charges(right, DEGREE)
    g, h, d = kernel(tests.points, trials.points)
    sums = {
        "single": lambda a, b: g,
        "double": lambda a, b: -h * d[..., b],  # grad_y G
        "adjoint": lambda a, b: h * d[..., a],
    }
    found = paired(tests, trials, kinds, sums[layer])
    agree(found, operator(GREEN, right, left, quadrature=cal.Quadrature(regular=DEGREE)))


@pytest.mark.parametrize("test, trial", [("P1", "P1")])
def test_the_hypersingular_operator_is_a_sum_of_curls_and_normals(meshes, test, trial):
    left, right = NODAL_SPACES[test](meshes[0]), NODAL_SPACES[trial](meshes[1], boundary=False)
    tests, trials = charges(left, DEGREE), charges(right, DEGREE)
    g, _, _ = kernel(tests.points, trials.points)
    diagonal = lambda a, b: g * (a == b)  # noqa: E731
    curls, normals = (paired(tests, trials, (kind, kind), diagonal) for kind in ("curl", "normal"))
    agree(curls + -(K**2) * normals, cal.hypersingular(GREEN, right, left, quadrature=cal.Quadrature(regular=DEGREE)))


@pytest.mark.parametrize("test, trial", [("RWG", "RWG"), ("BC", "RWG")])
def test_the_electric_field_is_a_sum_of_currents_and_divergences(meshes, test, trial):
    left, right = EDGE_SPACES[test](meshes[0]), EDGE_SPACES[trial](meshes[1])
    tests, trials = charges(left, DEGREE), charges(right, DEGREE)
    g, _, _ = kernel(tests.points, trials.points)
    currents = paired(tests, trials, ("current", "current"), lambda a, b: g * (a == b))
    divergences = paired(tests, trials, ("divergence", "divergence"), lambda a, b: g)
    found = (1j * K) * currents + (1 / (1j * K)) * divergences
    agree(found, cal.electric_field(K, right, left, quadrature=cal.Quadrature(regular=DEGREE)))


@pytest.mark.parametrize("test, trial", [("RWG", "RWG"), ("SNC", "RWG"), ("RBC", "BC")])
def test_the_magnetic_field_is_a_sum_of_currents(meshes, test, trial):
    """<f, n x H> = -<n x f, H> with H = grad_x G x J."""
    left, right = EDGE_SPACES[test](meshes[0]), EDGE_SPACES[trial](meshes[1])
    agree(magnetic_sum(left, right), cal.magnetic_field(K, right, left, quadrature=cal.Quadrature(regular=DEGREE)))


def test_dual_tests_are_moments_of_currents():
    """Dual tests live on the mesh of their functions: entries between two parts of it that are far from each other."""
    one = cal.mesh.cube(1.0, 0.7)
    both = cal.mesh.merge([one, one.translated([9.0, 2.0, 1.0])])
    space = cal.RWG(both)
    found = magnetic_sum(dual_tests(space), space)
    operator = cal.magnetic_field(K, space, dual_tests(space), quadrature=cal.Quadrature(regular=DEGREE))
    half = np.flatnonzero(both.vertices[both.edges[space.edges]].mean(axis=1)[:, 0] < 5)
    rest = np.setdiff1d(np.arange(space.dimension), half)
    expected = operator.entries(half, rest)
    assert np.abs(found.values[half][:, rest] - expected).max() < 1e-12 * np.abs(expected).max()


def magnetic_sum(left, right):
    tests, trials = charges(left, DEGREE), charges(right, DEGREE)
    _, h, d = kernel(tests.points, trials.points)
    sign = np.zeros((3, 3, 3))
    for a, b, c in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        sign[a, b, c], sign[a, c, b] = 1, -1
    values = lambda a, b: -h * np.einsum("e,nme->nm", sign[a, :, b], d)  # noqa: E731
    return paired(tests, trials, ("rotated", "current"), values)


@pytest.mark.parametrize("name", NODAL_SPACES | EDGE_SPACES)
def test_strengths_and_moments_are_products_with_spread_and_gather(meshes, name):
    space = (NODAL_SPACES | EDGE_SPACES)[name](meshes[0])
    found = charges(space, 4)
    rng = np.random.default_rng(1)
    x = rng.standard_normal(space.dimension) + 1j * rng.standard_normal(space.dimension)
    assert found.kinds == space.charge_kinds
    assert found.weights.sum() == pytest.approx(meshes[0].areas.sum())
    for kind in found.kinds:
        spread = found.spread(kind)
        assert found.strengths(kind, x) == pytest.approx(np.stack([part @ x for part in spread], axis=1), abs=1e-14)
        v = rng.standard_normal((len(found.points), len(spread)))
        gathered = sum(part @ v[:, c] for c, part in enumerate(found.gather(kind)))
        assert found.moments(kind, v) == pytest.approx(gathered, abs=1e-13)
        columns = found.strengths(kind, np.stack([x, 2 * x], axis=1))
        assert np.array_equal(columns[..., 1], 2 * found.strengths(kind, x))
        assert np.array_equal(found.moments(kind, np.stack([v, 2 * v], axis=2))[:, 1], 2 * found.moments(kind, v))
    assert charges(space, 4, found.kinds[0]).kinds[0] == found.kinds[0]


@pytest.mark.parametrize("kind", ["value", "normal", "curl"])
def test_entries_by_triangles_are_those_of_the_maps(meshes, kind):
    """Components of curls have entries at different places on an open surface."""
    space = cal.P1(meshes[1])
    maps, entries = charges(space, 2, kind).spread(kind), entries_of_charges(space, 2, kind)
    numbers = entries.numbers(np.arange(len(entries.carriers)), np.float64)
    points = numbers.shape[1]
    rows = (points * entries.carriers[:, None] + np.arange(points)).ravel()
    columns = np.repeat(entries.unknowns, points)
    for c, expected in enumerate(maps):
        found = sp.csr_array((numbers[:, :, c].ravel(), (rows, columns)), expected.shape)
        assert abs(found - expected).max() < 1e-15 * abs(expected).max() + 1e-290


def test_kinds_that_a_space_does_not_have_are_refused(meshes):
    with pytest.raises(ValueError, match="have no charges 'curl': choose 'value', 'normal'"):
        charges(cal.P0(meshes[0]), 2, "curl")
    with pytest.raises(ValueError, match="have no charges 'divergence': choose 'current', 'rotated'"):
        charges(cal.SNC(meshes[0]), 2, "divergence")
    only = charges(cal.P1(meshes[0]), 2, "value")
    with pytest.raises(ValueError, match="no kind 'curl': choose 'value', 'normal'"):
        only.spread("curl")
    with pytest.raises(ValueError, match=r"potentials of shape \(\d+, 1\), got"):
        only.moments("value", np.zeros(3))


@pytest.mark.parametrize("make", [cal.RWG, cal.SNC, lambda mesh: cal.dual_tests(cal.RWG(mesh)), cal.P1])
def test_charges_of_parts_of_the_surface_are_those_of_the_space(make):
    space = make(cal.mesh.sphere(1.0, 0.4))
    kind, parts = space.charge_kinds[0], shares(space, triangles=50)
    assert (len(parts) > 3) == (kind == "current")
    whole, some = charges(space, 2, kind), [charges(part, 2, kind) for part in parts]
    for name in ("points", "normals", "weights", "triangles"):
        assert np.array_equal(np.concatenate([getattr(each, name) for each in some]), getattr(whole, name))
    for c, spread in enumerate(whole.spread(kind)):
        assert abs(sp.vstack([each.spread(kind)[c] for each in some]) - spread).max() == 0
