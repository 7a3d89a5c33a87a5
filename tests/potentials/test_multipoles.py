"""Expansions of distant clusters: the equation, the rate at which they converge, and the accuracy of potentials."""

import numpy as np
import pytest

import calderon as cal
from calderon.potentials.sources.multipoles import count, degree_for, gradient_of, moments, place, recurrence

NONE = cal.Quadrature(accuracy=0)


def charges(rng, number=40):
    """Offsets within the unit ball and complex charges of one cluster."""
    offsets = rng.normal(size=(1, number, 3))
    offsets *= rng.uniform(size=(1, number, 1)) / np.linalg.norm(offsets, axis=2, keepdims=True)
    return offsets, rng.normal(size=(1, number, 1)) + 1j * rng.normal(size=(1, number, 1))


def summed(coefficients, x, k, degree):
    """The expansion at points, term by term as the head of multipoles.py says."""
    r = np.linalg.norm(x, axis=1)
    u = x / r[:, None]
    g = [np.exp(1j * k * r) / r]
    g.append(g[0] * (1j * k * r - 1) / r)
    for n in range(1, degree):
        g.append(-(2 * n + 1) / r * g[n] - k**2 * g[n - 1])
    total, pairs = np.zeros(len(x), complex), coefficients.reshape(-1, 2)
    for m in range(degree + 1):
        turn, before, p = (u[:, 0] + 1j * u[:, 1]) ** m, np.zeros(len(x)), np.ones(len(x))
        for n in range(m, degree + 1):
            if n > m:
                before, p = p, u[:, 2] * p - recurrence(degree)[place(n, m)] * before
            a, b = pairs[place(n, m)]
            total += g[n] * p * (a * turn.real + b * turn.imag)
    return total


@pytest.mark.parametrize("k", [0.0, 1.3, 0.7 + 0.6j])
def test_expansions_converge_like_powers_of_the_distance(k):
    """To sum_q c_q exp(i k r_q) / r_q, the error of degree N falling like (R / r)^(N + 1)."""
    offsets, given = charges(np.random.default_rng(1))
    x = np.random.default_rng(2).normal(size=(50, 3))
    errors = []
    for ratio in (4.0, 8.0):
        at = ratio * x / np.linalg.norm(x, axis=1, keepdims=True)
        r = np.linalg.norm(at[:, None] - offsets[0], axis=2)
        exact = (np.exp(1j * k * r) / r) @ given[0, :, 0]
        for degree in (3, 7):
            found = summed(moments(offsets, given, k, degree)[0, 0], at, k, degree)
            errors.append(np.abs(found - exact).max() * ratio / np.abs(given).sum())
    rates = np.log2(np.array(errors[:2]) / errors[2:])
    if k == 0:
        assert np.all(np.abs(rates - [4, 8]) < 0.5)
    assert errors[1] < 1e-4 and errors[3] < 1e-5


@pytest.mark.parametrize("k", [0.0, 1.3, 0.7 + 0.6j])
def test_derivatives_of_expansions_obey_the_equation(k):
    """div grad u = -k^2 u, and derivatives commute, coefficient by coefficient."""
    found = moments(*charges(np.random.default_rng(3)), k, 6)[0, 0].ravel()
    twice = gradient_of(gradient_of(found, k**2), k**2)
    laplacian = sum(twice[v, v] for v in range(3))
    size = np.abs(twice).max()
    assert np.abs(laplacian[: len(found)] + k**2 * found).max() < 1e-12 * size
    assert np.abs(laplacian[len(found) :]).max() < 1e-12 * size
    assert np.abs(twice - np.swapaxes(twice, 0, 1)).max() < 1e-12 * size


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("waves", [0.0, 0.8, 2.0])
def test_more_digits_take_more_terms_and_distance_takes_fewer(order, waves):
    degrees = [degree_for(accuracy, 5.0, waves, order) for accuracy in (1e-3, 1e-4, 1e-5)]
    assert all(low < high for low, high in zip(degrees, degrees[1:], strict=False))
    assert degree_for(1e-4, 10.0, waves, order) <= degrees[1]


def evaluated(potential, quantity, x):
    return potential.evaluate(x, method="direct") if quantity == "value" else potential.gradient(x, method="direct")


def densities(space):
    """Constant, smooth and random ones."""
    at = space.mesh.vertices
    rng = np.random.default_rng(4)
    values = np.ones(space.dimension), np.cos(2 * at[:, 0]) + at[:, 1], rng.normal(size=space.dimension)
    return [cal.Function(space, each) for each in values]


VARIANTS = [
    pytest.param(cal.ModifiedHelmholtz(2.0), "single", "value", marks=pytest.mark.variant),
    pytest.param(cal.Helmholtz(4.0 + 0.5j), "double", "value", marks=pytest.mark.variant),
    pytest.param(cal.Laplace(), "double", "gradient", marks=pytest.mark.variant),
]


@pytest.mark.parametrize(
    "green, layer, quantity",
    [(cal.Laplace(), "single", "value"), (cal.Helmholtz(6.0), "single", "value"),
     *VARIANTS],
)  # fmt: skip
def test_potentials_of_distant_clusters_have_the_accuracy_of_the_quadrature(green, layer, quantity):
    """A tenth of it for static fields, against the sources themselves, at points of all distances on both sides of a
    body with small and large triangles; and expansions are used."""
    mesh = cal.mesh.sphere(1.0, 0.12)
    mesh = cal.TriangleMesh(mesh.vertices * (1 + 0.5 * (mesh.vertices[:, :1] > 0)) * [2, 1, 1], mesh.triangles)
    x = np.random.default_rng(5).normal(size=(2000, 3))
    x *= np.linspace(0.2, 6.0, 2000)[:, None] / np.linalg.norm(x, axis=1, keepdims=True)
    make = cal.single_layer_potential if layer == "single" else cal.double_layer_potential
    found, exact = (
        np.array([evaluated(make(green, each, quadrature=rule), quantity, x) for each in densities(cal.P1(mesh))])
        for rule in (cal.Quadrature(), NONE)
    )
    # the double layer of 1 has no gradient: all are compared with the largest field
    error = np.abs(found - exact).max() / np.abs(exact).max()
    assert 0 < error < (1e-5 if green.wavenumber else 1e-6)


@pytest.mark.variant
@pytest.mark.parametrize("make", [cal.electric_field_potential, cal.magnetic_field_potential])
def test_fields_of_distant_currents_have_the_accuracy_of_the_quadrature(make):
    space = cal.RWG(cal.mesh.sphere(1.0, 0.12))
    current = cal.VectorFunction(space, np.random.default_rng(6).normal(size=space.dimension) + 0j)
    x = np.random.default_rng(5).normal(size=(2000, 3))
    x *= np.linspace(0.2, 4.0, 2000)[:, None] / np.linalg.norm(x, axis=1, keepdims=True)
    found, exact = (
        make(6.0, current, quadrature=each).evaluate(x, method="direct") for each in (cal.Quadrature(), NONE)
    )
    assert 0 < np.abs(found - exact).max() < 1e-5 * np.abs(exact).max()


def test_pairs_are_numbered_one_after_the_other():
    pairs = [place(n, m) for n in range(5) for m in range(n + 1)]
    assert pairs == list(range(count(4)))
