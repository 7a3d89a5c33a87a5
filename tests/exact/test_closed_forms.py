"""Capacitances, radiating spheres and point sources."""

import numpy as np
import pytest
from scipy.integrate import quad

from calderon.exact import (
    cube_capacitance,
    disc_capacitance,
    ellipsoid_capacitance,
    point_sources,
    radiating_cap,
    radiating_sphere,
    rigid_sphere,
    sphere_capacitance,
    spread_point_sources,
)


def random_directions(number, seed=0):
    d = np.random.default_rng(seed).standard_normal((number, 3))
    return d / np.linalg.norm(d, axis=1)[:, None]


def test_ellipsoid_contains_sphere_disc_and_spheroid():
    assert ellipsoid_capacitance((2, 2, 2)) == pytest.approx(sphere_capacitance(2.0), rel=1e-15)
    assert ellipsoid_capacitance((3, 3, 0)) == pytest.approx(disc_capacitance(3.0), rel=1e-14)
    a, b = 5.0, 1.0  # prolate: sqrt(a^2 - b^2) / arcosh(a / b)
    assert ellipsoid_capacitance((b, a, b)) == pytest.approx(np.sqrt(a * a - b * b) / np.arccosh(a / b), rel=1e-14)


def test_ellipsoid_is_kelloggs_integral():
    a, b, c = 1.0, 0.6, 0.3
    integral = quad(lambda s: 1 / np.sqrt((a * a + s) * (b * b + s) * (c * c + s)), 0, np.inf, epsabs=1e-12)[0]
    assert ellipsoid_capacitance((a, b, c)) == pytest.approx(2 / integral, rel=1e-8)


def test_capacitance_grows_with_the_body_and_scales():
    """Inscribed and circumscribed sphere bound the cube; its disc-like bounds are met too."""
    assert 0.5 < cube_capacitance(1.0) < np.sqrt(3) / 2
    assert cube_capacitance(3.0) == pytest.approx(3 * 0.66067815409957, rel=1e-15)
    assert disc_capacitance(1.0) < ellipsoid_capacitance((1, 1, 0.1)) < sphere_capacitance(1.0)


@pytest.mark.parametrize(
    "call",
    [
        lambda: sphere_capacitance(0),
        lambda: cube_capacitance(-1),
        lambda: disc_capacitance(np.nan),
        lambda: ellipsoid_capacitance((1, 0, 0)),
        lambda: ellipsoid_capacitance((1, 1)),
        lambda: ellipsoid_capacitance((1, 1, -1)),
    ],
)
def test_capacitance_of_no_body_is_refused(call):
    with pytest.raises(ValueError, match="radius|side|semi_axes"):
        call()


@pytest.mark.parametrize("k", [1e-3, 1.0, 30.0, 2 + 1j, 2j])
@pytest.mark.parametrize("order", [0, 1, 4])
def test_radiating_sphere_has_the_prescribed_slope_and_far_field(k, order):
    axis = np.array([2.0, 1, -2]) / 3
    field, d = radiating_sphere(k, 0.8, order, axis), random_directions(20)
    cosine = d @ axis
    mode = {0: 1 + 0 * cosine, 1: cosine, 4: (35 * cosine**4 - 30 * cosine**2 + 3) / 8}[order]
    assert np.abs(field.radial_derivative(0.8 * d) - mode).max() < 1e-13
    r, h = 2.0, 1e-3
    slope = (8 * (field((r + h) * d) - field((r - h) * d)) - field((r + 2 * h) * d) + field((r - 2 * h) * d)) / (12 * h)
    assert np.abs(slope - field.radial_derivative(r * d)).max() < 1e-7 * np.abs(slope).max()
    if np.imag(k) == 0 and k > 0.1:
        limit = 1e7 * np.exp(-1j * k * 1e7) * field(1e7 * d)
        assert np.abs(limit - field.far_field(d)).max() < 1e-5 * np.abs(limit).max()


def test_pulsating_sphere_in_closed_form():
    k, a, d = 3.0, 0.8, random_directions(10)
    field = radiating_sphere(k, a)
    for r in (a, 2.0, 50.0):
        assert np.allclose(field(r * d), -(a**2) * np.exp(1j * k * (r - a)) / ((1 - 1j * k * a) * r), rtol=1e-13)


@pytest.mark.parametrize("order", [0, 2])
def test_radiated_power_is_the_work_done_by_the_surface(order):
    """P = 1/2 Re int p conj(v), v = (du/dr) / (i omega rho)."""
    k, a, rho, c = 2.5, 0.8, 1000.0, 1500.0
    field = radiating_sphere(k, a, order)
    cosine, weights = np.polynomial.legendre.leggauss(20)
    x = a * np.stack([np.sqrt(1 - cosine**2), 0 * cosine, cosine], axis=1)
    velocity = field.radial_derivative(x) / (1j * k * c * rho)
    work = 0.5 * 2 * np.pi * a**2 * np.sum(weights * np.real(field(x) * velocity.conj()))
    assert field.radiated_power(rho, c) == pytest.approx(work, rel=1e-12)


def test_a_sphere_of_several_orders_is_the_sum_of_its_orders():
    k, slopes, axis = 1.7, [0.5, -1j, 0.0, 0.25 + 1j], [0.6, 0.0, 0.8]
    x = 1.6 * random_directions(12)
    both = radiating_sphere(k, 0.9, axis=axis, slopes=slopes)
    parts = [radiating_sphere(k, 0.9, order, axis) for order in range(4)]
    assert np.allclose(both(x), sum(s * part(x) for s, part in zip(slopes, parts, strict=True)), rtol=1e-13)
    each = [abs(s) ** 2 * part.radiated_power(1.2, 343.0) for s, part in zip(slopes, parts, strict=True)]
    assert both.radiated_power(1.2, 343.0) == pytest.approx(sum(each), rel=1e-13)  # orders are orthogonal


def test_oscillating_sphere_has_the_known_impedance():
    """At low frequency: the mass of half of the fluid displaced, and a resistance of rho c (ka)^4 / 4."""
    k, a = 1e-3, 0.5
    moving = radiating_sphere(k, a, 1)
    velocity = 1 / (1j * k * 1000.0 * 1500.0)
    mean = 2 * moving.complex_power(1000.0, 1500.0) / (4 * np.pi * a**2 / 3 * abs(velocity) ** 2)
    # a sphere that moves carries half of the mass of the fluid that it displaces, -i omega m over its area / 3
    mass = 0.5 * 1000.0 * 4 / 3 * np.pi * a**3
    assert mean.imag == pytest.approx(-k * 1500.0 * mass / (4 * np.pi * a**2 / 3), rel=1e-5)
    assert mean.real == pytest.approx(1000.0 * 1500.0 * (k * a) ** 4 / 4, rel=1e-5)


@pytest.mark.parametrize(
    "k, levels, index, impedance",
    [
        (2.0, [-0.66, -2.27, -7.89, -4.54], 3.73, 0.2975 - 0.5561j),
        (8.0, [-4.74, -17.84, -23.93, -19.34], 11.93, 0.9276 - 0.2633j),
    ],
)
def test_cap_of_a_rigid_sphere_is_morses(k, levels, index, impedance):
    cap, rho, c = radiating_cap(k, 1.0, np.radians(30)), 1.2, 343.0
    angles = np.radians([0, 30, 60, 120, 180])
    far = np.abs(cap.far_field(angles, 0 * angles))
    assert np.allclose(20 * np.log10(far[1:] / far[0]), levels, atol=0.005)
    assert cap.directivity_index() == pytest.approx(index, abs=0.005)
    area, velocity = 2 * np.pi * (1 - np.cos(np.radians(30))), 1 / (1j * k * rho * c)
    assert 2 * cap.complex_power(rho, c) / (area * abs(velocity) ** 2) == pytest.approx(rho * c * impedance, rel=2e-4)
    assert cap.complex_power(rho, c).real == pytest.approx(cap.radiated_power(rho, c), rel=1e-12)


def test_a_cap_is_the_whole_sphere_or_a_point_source_on_it():
    d = 1.5 * random_directions(10)
    assert np.allclose(radiating_cap(2.0, 1.0, np.pi)(d), radiating_sphere(2.0, 1.0)(d), rtol=1e-12)
    small = np.radians(0.1)  # of area pi angle^2, the reciprocal of the pressure at the pole of a rigid sphere
    pole = [rigid_sphere(2.0, 1.0, source=x).surface_pressure([[0, 0, 1.0]])[0] for x in d]
    assert np.allclose(radiating_cap(2.0, 1.0, small)(d), -np.pi * small**2 * np.array(pole), rtol=1e-5)


def test_radiating_sphere_refuses_what_has_no_meaning():
    with pytest.raises(ValueError, match="not both"):
        radiating_sphere(1.0, order=1, slopes=[1.0])
    with pytest.raises(ValueError, match="one at least"):
        radiating_sphere(1.0, slopes=[])
    with pytest.raises(ValueError, match="half angle"):
        radiating_cap(1.0, 1.0, 0.0)
    for arguments, text in [
        ((0.0,), "zero"),
        ((1.0, 0.0), "radius"),
        ((1.0, 1.0, -1), "order"),
        ((1.0, 1.0, 0, [0, 0, 0]), "axis"),
    ]:
        with pytest.raises(ValueError, match=text):
            radiating_sphere(*arguments)
    with pytest.raises(ValueError, match="inside"):
        radiating_sphere(1.0)([[0, 0, 0.5]])
    with pytest.raises(ValueError, match="real wavenumber"):
        radiating_sphere(1j).radiated_power(1.0, 1.0)


@pytest.mark.parametrize("k", [0, 3.0, 1 + 1j, 2j])
def test_manufactured_field_is_the_sum_of_its_sources(k):
    field = spread_point_sources(0.5, 7, k)
    assert np.linalg.norm(field.positions, axis=1).max() <= 0.5
    x = 2 * random_directions(15)
    parts = [point_sources(y, q, k) for y, q in zip(field.positions, field.strengths, strict=True)]
    assert np.allclose(field(x), sum(part(x) for part in parts), rtol=1e-13)
    assert np.allclose(field.gradient(x), sum(part.gradient(x) for part in parts), rtol=1e-12, atol=1e-14)
    assert np.allclose(field.far_field(x / 2), sum(part.far_field(x / 2) for part in parts), rtol=1e-13)
    assert (field(x).dtype == np.float64) == (np.real(k) == 0)


def test_manufactured_field_obeys_gauss():
    """Laplace: the flux through any sphere around the charges is their sum."""
    field = spread_point_sources(0.5, 4)
    cosine, weights = np.polynomial.legendre.leggauss(40)
    angles = 2 * np.pi * np.arange(80) / 80
    sine = np.sqrt(1 - cosine**2)
    n = np.stack(
        [np.outer(sine, np.cos(angles)), np.outer(sine, np.sin(angles)), np.outer(cosine, np.ones(80))], axis=-1
    )
    slopes = field.normal_derivative(1.5 * n.reshape(-1, 3), n.reshape(-1, 3)).reshape(40, 80)
    assert -(1.5**2) * 2 * np.pi / 80 * np.sum(weights[:, None] * slopes) == pytest.approx(
        field.strengths.sum(), rel=1e-12
    )


def test_modified_helmholtz_source_decays():
    field = point_sources([0, 0, 0], 1.0, 2j)
    assert field([[3.0, 0, 0]])[0] == pytest.approx(np.exp(-6) / (12 * np.pi), rel=1e-14)


def test_many_points_are_taken_in_portions():
    field = spread_point_sources(0.5, 30, 2.0)
    x = 2 * random_directions(5000)
    assert np.allclose(field(x)[4000:4100], field(x[4000:4100]), rtol=1e-14)


def test_bad_sources_are_refused():
    for arguments, text in [
        (([[0, 0]],), "shape"),
        (([[0, 0, 0]], [1, 2]), "strengths"),
        (([[0, 0, 0]], np.nan), "NaN"),
        ((np.empty((0, 3)),), "at least one"),
        (([0, 0, 0], 1.0, -1j), "conjugate"),
    ]:
        with pytest.raises(ValueError, match=text):
            point_sources(*arguments)
