"""Sums of oscillating charges over points, against direct sums."""

import numpy as np
import pytest

import calderon as cal
from calderon.backends import Execution
from calderon.mlfmm import sums
from calderon.mlfmm.plan import Attempt
from calderon.mlfmm.sums import direct_sums
from calderon.potentials.summation import fast_sums
from calderon.products.direct_sums import Kinds


def sphere(count):
    n = np.arange(count) + 0.5
    z, phi = 1 - 2 * n / count, np.pi * (1 + 5**0.5) * n
    s = np.sqrt(1 - z * z)
    return np.stack([s * np.cos(phi), s * np.sin(phi), z], axis=1)


def complex_numbers(count):
    random = np.random.default_rng(2)
    return random.standard_normal(count) + 1j * random.standard_normal(count)


def exact_sums(points, targets, charges, k, gradient):
    return direct_sums(points, targets, charges[:, None, None], k, Kinds(True, False, gradient))[:, 0]


@pytest.fixture
def plane_waves(monkeypatch):
    """Sums by plane waves, however few points there are."""
    monkeypatch.setattr(sums, "RULES", sums.RULES._replace(direct=0.0))


def test_direct_sums_are_the_formula():
    points, charges, k = sphere(40), complex_numbers(40), 3.0 + 0.4j
    targets = np.concatenate([points[:2], [[0.1, 0.2, 0.3]]])
    found = cal.helmholtz_sums(points, charges, k, targets=targets, gradient=True)
    for x, value, slope in zip(targets, found.potential, found.gradient, strict=True):
        d = x - points
        r = np.linalg.norm(d, axis=1)
        r[r == 0] = np.inf
        g = np.exp(1j * k * np.where(np.isinf(r), 0, r)) / (4 * np.pi * r)
        assert abs(g @ charges - value) <= 1e-11 * np.abs(g).sum()
        expected = (charges * g * (1j * k - 1 / r) / r) @ d
        assert np.abs(expected - slope).max() <= 1e-10 * np.abs(expected).max()
    assert str(found.info).startswith("direct sums")


@pytest.mark.parametrize(
    ("k", "rtol", "gradient"),
    [
        (15.0, 1e-3, False),
        (15.0, 1e-5, True),
        (40.0, 1e-3, True),
        (40.0 + 2j, 1e-4, False),
        (4.0, 1e-4, False),
        (6j, 1e-4, False),
    ],  # fmt: skip
)
def test_sums_hold_the_tolerance(k, rtol, gradient, plane_waves):
    count = 6000 if np.real(k) else 20_000
    points, charges = sphere(count), complex_numbers(count)
    found = cal.helmholtz_sums(points, charges, k, gradient=gradient, rtol=rtol)
    assert found.info.method == "mlfmm" and found.info.levels + found.info.low_levels > 0
    assert found.info.levels >= (0 if np.real(k) < 5 else 2)
    chosen = np.arange(0, count, count // 600)
    exact = exact_sums(points, points[chosen], charges, complex(k), gradient)
    parts = [(found.potential, exact[:, 0]), (found.gradient, exact[:, 1:])][: 1 + gradient]
    for values, wanted in parts:
        assert np.linalg.norm(values[chosen] - wanted) <= rtol * np.linalg.norm(wanted)


def test_points_that_are_far_apart_in_wavelengths_are_summed_directly():
    """4,000 points in a cube of 48 wavelengths; in one of 0.6 wavelengths plane waves are tried."""
    points, charges = np.random.default_rng(4).random((4000, 3)), complex_numbers(4000)
    for k, method in (300.0, "direct"), (4.0, "mlfmm"):
        found = cal.helmholtz_sums(points, charges, k, rtol=1e-4)
        exact = exact_sums(points, points[:100], charges, complex(k), False)[:, 0]
        assert found.info.method == method
        assert np.linalg.norm(found.potential[:100] - exact) <= 1e-4 * np.linalg.norm(exact)


def test_boxes_that_are_all_neighbours_of_their_level_pass_on_their_waves():
    """A few points are close together: the smallest boxes have no separated ones of their size."""
    random = np.random.default_rng(3)
    points = np.concatenate([sphere(2000), [0.3, 0.5, 0.8] + 0.06 * random.random((60, 3))])
    charges, k = complex_numbers(2060), 60.0 + 0j
    attempt = Attempt(0.35, np.dtype(np.float64), 0.5)
    found = sums.PointTree.of(points, None, k, 1e-5, sums.ALONE, attempt)
    assert found.far is not None and not len(found.far.traversal.levels[-1].pairs.source)
    wanted = exact_sums(points, points, charges, k, False)[:, 0]
    change = found.product(charges[:, None, None])[:, 0, 0] - wanted
    assert np.linalg.norm(change) <= 3e-5 * np.linalg.norm(wanted)  # of an attempt, which nothing has checked


def test_points_that_almost_coincide():
    """In single precision their distance is below the rounding of places."""
    points, charges = sphere(6000), complex_numbers(6000)
    points[1] = points[0] + [0, 0, 1e-9]
    found = cal.helmholtz_sums(points, charges, 15.0, rtol=1e-3)
    assert found.info.method == "mlfmm"
    exact = exact_sums(points, points[:2], charges, 15.0 + 0j, False)[:, 0]
    np.testing.assert_allclose(found.potential[:2], exact, rtol=1e-6)


def test_targets_of_their_own_in_a_volume():
    random = np.random.default_rng(3)
    points, targets, charges = random.random((5000, 3)), 0.5 + random.random((3000, 3)), complex_numbers(5000)
    found = cal.helmholtz_sums(points, charges, 30.0, targets=targets, rtol=1e-3)
    exact = exact_sums(points, targets, charges, 30.0, False)[:, 0]
    assert np.linalg.norm(found.potential - exact) <= 1e-3 * np.linalg.norm(exact)


def dipole_field(points, dipoles, k, x):
    """At one point, from the gradient of charges there."""
    return sum(-cal.helmholtz_sums(points, dipoles[:, n], k, targets=x, gradient=True).gradient[:, n] for n in range(3))


def test_dipoles_are_derivatives_of_charges():
    points, k, x = sphere(40), 3.0 + 0.4j, np.array([[0.1, 0.2, 0.3], [2.0, 1.0, 0.0]])
    dipoles = np.stack([complex_numbers(40), 2 * complex_numbers(40), np.arange(40.0)], axis=1)
    found = cal.helmholtz_sums(points, complex_numbers(40), k, dipoles, targets=x, gradient=True)
    alone = cal.helmholtz_sums(points, complex_numbers(40), k, targets=x, gradient=True)
    assert np.allclose(found.potential - alone.potential, dipole_field(points, dipoles, k, x), rtol=1e-11)
    for n, step in enumerate(1e-5 * np.eye(3)):
        ends = [dipole_field(points, dipoles, k, x + sign * step) for sign in (1, -1)]
        slope = (ends[0] - ends[1]) / 2e-5
        assert np.allclose((found.gradient - alone.gradient)[:, n], slope, rtol=1e-6, atol=1e-6 * abs(slope).max())


def test_columns_of_charges_and_dipoles(plane_waves):
    points, k = sphere(4000), 15.0
    charges = np.stack([complex_numbers(4000), complex_numbers(4000)[::-1]], axis=1)
    dipoles = 1j * charges[:, :, None] * [0.1, 0.02, -0.05]
    sizes = np.array([1, 1e-60])  # of columns, one beyond single precision
    found = cal.helmholtz_sums(points, sizes * charges, k, sizes[:, None] * dipoles, rtol=1e-4).potential / sizes
    numbers = np.concatenate([charges[..., None], dipoles], axis=2)
    chosen = np.arange(0, 4000, 9)
    exact = direct_sums(points, points[chosen], numbers, k, Kinds(True, True, False))[..., 0]
    assert np.linalg.norm(found[chosen] - exact) <= 1e-4 * np.linalg.norm(exact)
    both = cal.helmholtz_sums(points, charges, k, dipoles, rtol=1e-5).potential  # in double precision
    one = cal.helmholtz_sums(points, charges[:, 1], k, dipoles[:, 1], rtol=1e-5).potential
    assert np.linalg.norm(both[:, 1] - one) <= 1e-10 * np.linalg.norm(one)


@pytest.fixture(scope="module")
def places():
    """In a plane through a sphere, close to it and on it."""
    x, z = (each.ravel() for each in np.meshgrid(np.linspace(-2, 2, 40), np.linspace(-2, 2, 40)))
    return np.stack([x, 0 * x + 0.01, z], axis=1)


@pytest.mark.parametrize("gradient", [False, True])
@pytest.mark.parametrize("double", [False, True])
def test_layer_potentials(places, double, gradient):
    mesh, build = cal.mesh.sphere(radius=1.0, h=0.12), cal.single_layer_potential
    if double:
        build = cal.double_layer_potential
    density = cal.P1(mesh).interpolation(lambda y, n: np.exp(8j * y[:, 2]) * (1 + y[:, 0]))
    layer = build(cal.Helmholtz(8.0), density)
    of = layer.gradient if gradient else layer.evaluate
    exact = of(places, method="direct")
    assert np.linalg.norm(of(places, method="mlfmm", rtol=1e-4) - exact) <= 2e-4 * np.linalg.norm(exact)


@pytest.mark.parametrize("build", [cal.electric_field_potential, cal.magnetic_field_potential])
def test_fields_of_currents(places, build):
    mesh = cal.mesh.sphere(radius=1.0, h=0.12)
    space = cal.RWG(mesh)
    field = build(cal.Helmholtz(8.0), cal.VectorFunction(space, np.exp(1j * np.arange(space.dimension) / 300)))
    exact = field.evaluate(places, method="direct")
    assert np.linalg.norm(field.evaluate(places, method="mlfmm", rtol=1e-4) - exact) <= 2e-4 * np.linalg.norm(exact)


def test_what_does_not_fit_is_summed_directly(monkeypatch):
    points, charges = sphere(2300), complex_numbers(2300)
    found = cal.helmholtz_sums(points, charges, 1e4)
    exact = exact_sums(points, points[:9], charges, 1e4 + 0j, False)[:, 0]
    assert found.info.method == "direct" and np.allclose(found.potential[:9], exact, rtol=1e-9)
    monkeypatch.setattr(sums, "RULES", sums.RULES._replace(direct=1e6))
    with pytest.raises(MemoryError, match="a sum by plane waves"):
        cal.helmholtz_sums(points, charges, 1e4)


def test_choice_of_sums_at_points():
    processor, wave = Execution.of("numba", "double"), cal.Helmholtz(1.0)
    assert fast_sums("auto", wave, processor, 1e12, None).func is sums.potential_sums
    assert fast_sums("auto", wave, processor, 1e9, None) is None
    assert fast_sums("auto", cal.Helmholtz(-1.0), processor, 1e12, None) is None
    assert fast_sums("direct", wave, processor, 1e12, None) is None
    with pytest.raises(ValueError, match="method 'mlfmm' sums potentials of Helmholtz's equation"):
        fast_sums("mlfmm", cal.Laplace(), processor, 1e12, None)
    with pytest.raises(ValueError, match="rtol=2: a tolerance"):
        fast_sums("auto", wave, processor, 1.0, 2)
    with pytest.raises(ValueError, match="'direct' sums exactly"):
        fast_sums("direct", wave, processor, 1.0, 1e-3)


def test_refusals():
    points = sphere(10)
    for k, message in ((0, "k > 0"), (-1, "k > 0"), (1 - 1j, "grows"), (np.nan, "NaN|finite")):
        with pytest.raises(ValueError, match=message):
            cal.helmholtz_sums(points, np.ones(10), k)
    with pytest.raises(ValueError, match="shape"):
        cal.helmholtz_sums(points, np.ones(9), 1.0)
    with pytest.raises(ValueError, match="NaN"):
        cal.helmholtz_sums(points, np.full(10, np.nan), 1.0)
    with pytest.raises(
        ValueError, match=r"dipoles of 10 points must have shape \(10, 3\), or \(10, c, 3\), got \(10, 2\)"
    ):
        cal.helmholtz_sums(points, None, 1.0, np.ones((10, 2)))
    with pytest.raises(ValueError, match="no charges and no dipoles"):
        cal.helmholtz_sums(points, None, 1.0)
    with pytest.raises(ValueError, match="2 columns of charges and 1 of dipoles"):
        cal.helmholtz_sums(points, np.ones((10, 2)), 1.0, np.ones((10, 1, 3)))
    with pytest.raises(TypeError, match="numbers"):
        cal.helmholtz_sums(points, np.array(["a"] * 10), 1.0)
    assert cal.helmholtz_sums(points, np.ones(10), 1.0, targets=np.empty((0, 3))).potential.shape == (0,)
