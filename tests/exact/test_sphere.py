"""Sphere series satisfy their equation, boundary condition, reciprocity and energy balance, and meet their limits."""

import numpy as np
import pytest
from numpy.polynomial.legendre import leggauss
from scipy.special import eval_legendre, spherical_jn, spherical_yn

from calderon.exact import (
    fluid_sphere,
    impedance_sphere,
    layered_fluid_sphere,
    point_sources,
    rigid_sphere,
    soft_sphere,
)

A = 1.3
KINDS = {
    "soft": lambda k, **incidence: soft_sphere(k, A, **incidence),
    "hard": lambda k, **incidence: rigid_sphere(k, A, **incidence),
    "impedance": lambda k, **incidence: impedance_sphere(k, A, 0.7 + 0.4j, **incidence),
    "fluid": lambda k, **incidence: fluid_sphere(k, A, 1.6 * k, 0.8, **incidence),
}
INCIDENCES = [{}, {"direction": [1, -2, 2]}, {"source": [0.5, -1.2, 1.0]}, {"source": [0, 0, -9.0]}]
WAVENUMBERS = [1e-3, 0.7, 5.0, 20.0, 100 / A, 2 + 0.4j, 3j]


def random_directions(number, seed=0):
    d = np.random.default_rng(seed).standard_normal((number, 3))
    return d / np.linalg.norm(d, axis=1)[:, None]


def incident_slope(field, points):
    """du_i/dr from the closed form of the incident field."""
    radial = points / np.linalg.norm(points, axis=1)[:, None]
    if field.source is None:
        return 1j * field.wavenumber * (radial @ field.axis) * field.incident(points)
    return point_sources(field.source, 1.0, field.wavenumber).normal_derivative(points, radial)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", WAVENUMBERS)
@pytest.mark.parametrize("incidence", INCIDENCES, ids=str)
def test_boundary_condition_holds_to_twelve_digits(kind, k, incidence):
    field = KINDS[kind](k, **incidence)
    points = A * random_directions(40)
    value = field.incident(points) + field.scattered(points)
    slope = incident_slope(field, points) + field.scattered_radial_derivative(points)
    size, slope_size = np.abs(field.incident(points)).max(), np.abs(incident_slope(field, points)).max()
    if kind == "soft":
        wrong = np.abs(value).max() / size
    elif kind == "hard":
        wrong = np.abs(slope).max() / slope_size
    elif kind == "impedance":
        wrong = np.abs(slope + 1j * k * (0.7 + 0.4j) * value).max() / (abs(k) * size + slope_size)
    else:
        wrong = np.abs(value - field.interior(points)).max() / size
    assert wrong < 1e-12
    assert np.abs(field.surface_pressure(points) - value).max() < 1e-12 * size
    assert np.abs(field.surface_normal_derivative(points) - slope).max() < 1e-12 * (slope_size + abs(k) * size)


@pytest.mark.parametrize("k", [0.7, 5.0, 2 + 0.4j])
def test_slopes_on_both_sides_of_a_fluid_sphere_are_as_the_densities(k):
    field = KINDS["fluid"](k)
    d, h = random_directions(20), 1e-3
    inside = [field.interior((A - step * h) * d) for step in range(5)]
    slope = (25 / 12 * inside[0] - 4 * inside[1] + 3 * inside[2] - 4 / 3 * inside[3] + inside[4] / 4) / h
    assert np.abs(slope / 0.8 - field.surface_normal_derivative(d)).max() < 1e-8 * max(abs(k), 1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [0.7, 5.0, 2 + 0.4j])
@pytest.mark.parametrize("incidence", INCIDENCES[1:3], ids=str)
def test_fields_satisfy_the_helmholtz_equation(kind, k, incidence):
    field, h = KINDS[kind](k, **incidence), 0.02

    def residual(function, points, wavenumber):
        weights = {1: 270, 2: -27, 3: 2}  # sixth order; the centre has -490
        laplacian = -3 * 490 * function(points)
        for axis in np.eye(3):
            for step, weight in weights.items():
                laplacian = laplacian + weight * (
                    function(points + step * h * axis) + function(points - step * h * axis)
                )
        return np.abs(laplacian / (180 * h**2) + wavenumber**2 * function(points)).max()

    outside = 2.2 * A * random_directions(10)
    assert residual(field.scattered, outside, k) < 1e-7 * max(abs(k) ** 2, 1) * np.abs(field.scattered(outside)).max()
    if kind == "fluid":
        inside = 0.6 * A * random_directions(10)
        assert (
            residual(field.interior, inside, 1.6 * k) < 1e-6 * abs(1.6 * k) ** 2 * np.abs(field.interior(inside)).max()
        )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("incidence", INCIDENCES[1:3], ids=str)
def test_far_field_is_the_limit_of_the_scattered_field(kind, incidence):
    field, d = KINDS[kind](3.0, **incidence), random_directions(20)

    def scaled(r):
        return field.scattered(r * d) * r * np.exp(-3j * r)

    limit = (8 * scaled(4e3) - 6 * scaled(2e3) + scaled(1e3)) / 3  # removes the terms in 1/r and 1/r^2
    assert np.abs(limit - field.far_field(d)).max() < 1e-8


@pytest.mark.parametrize("kind", KINDS)
def test_reciprocity_of_two_points(kind):
    """The scattered field at x of a source at y is that at y of a source at x."""
    x, y = np.array([0.4, 1.5, -0.8]), np.array([-2.0, 0.3, 1.1])
    there = KINDS[kind](4.0, source=x).scattered(y[None])[0]
    assert KINDS[kind](4.0, source=y).scattered(x[None])[0] == pytest.approx(there, rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_reciprocity_of_plane_wave_and_point_source(kind):
    """4 pi F(d) of a source at y is the scattered field at y of the plane wave along -d."""
    y, d = np.array([-1.0, 0.7, 1.1]), random_directions(1)[0]
    there = KINDS[kind](4.0, direction=-d).scattered(y[None])[0]
    assert 4 * np.pi * KINDS[kind](4.0, source=y).far_field(d[None])[0] == pytest.approx(there, rel=1e-12)


@pytest.mark.parametrize("kind", ["soft", "hard", "fluid"])
@pytest.mark.parametrize("k", [0.1, 1.0, 10.0, 100 / A, 500.0])
def test_optical_theorem_without_loss(kind, k):
    field = KINDS[kind](k)
    assert field.extinction_cross_section() == pytest.approx(field.scattering_cross_section(), rel=1e-9)


@pytest.mark.parametrize("k", [0.5, 3.0, 20.0])
@pytest.mark.parametrize("kind", ["impedance", "lossy fluid"])
def test_absorbed_power_is_the_flux_into_the_sphere(kind, k):
    """extinction - scattering = -(1/k) int Im(conj(u) du/dr) over the sphere, positive."""
    field = KINDS["impedance"](k) if kind == "impedance" else fluid_sphere(k, A, (1.4 + 0.2j) * k, 1.1)
    cosine, weights = leggauss(200)
    points = A * np.stack([np.sqrt(1 - cosine**2), 0 * cosine, cosine], axis=1)
    flux = np.imag(field.surface_pressure(points).conj() * field.surface_normal_derivative(points))
    absorbed = -2 * np.pi * A**2 * np.sum(weights * flux) / k
    assert absorbed > 0
    difference = field.extinction_cross_section() - field.scattering_cross_section()
    assert difference == pytest.approx(absorbed, rel=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_cross_section_is_the_integral_of_the_far_field(kind):
    field = KINDS[kind](6.0)
    cosine, weights = leggauss(100)
    far = field.far_field(np.stack([np.sqrt(1 - cosine**2), 0 * cosine, cosine], axis=1))
    assert field.scattering_cross_section() == pytest.approx(2 * np.pi * np.sum(weights * np.abs(far) ** 2), rel=1e-12)


@pytest.mark.parametrize("k", [1.0, 10.0])
def test_series_as_in_the_textbook(k):
    """Morse and Ingard's rigid and soft sphere term by term, with SciPy's Bessel functions."""
    angles = np.linspace(0, np.pi, 19)
    d = np.stack([np.sin(angles), 0 * angles, np.cos(angles)], axis=1)
    n = np.arange(int(k * A) + 25)
    legendre = eval_legendre(n[:, None], np.cos(angles))
    for field, slope in ((soft_sphere(k, A), False), (rigid_sphere(k, A), True)):
        j, y = spherical_jn(n, k * A, slope), spherical_yn(n, k * A, slope)
        expected = 1j / k * ((2 * n + 1) * j / (j + 1j * y)) @ legendre
        assert np.abs(field.far_field(d) - expected).max() < 1e-12


def test_low_frequency_limits():
    """Soft: F = -a. Rigid: F = -(k^2 a^3 / 3)(1 - 3/2 cos). Small bubble: resonance of Minnaert."""
    k, d = 1e-4, random_directions(30)
    assert np.abs(soft_sphere(k, A).far_field(d) / -A - 1).max() < 2 * k * A
    rayleigh = -(k**2) * A**3 / 3 * (1 - 1.5 * d[:, 2])
    assert np.abs(rigid_sphere(k, A).far_field(d) - rayleigh).max() < 1e-3 * np.abs(rayleigh).max()
    assert rigid_sphere(k, A).scattering_cross_section() == pytest.approx(7 * np.pi / 9 * k**4 * A**6, rel=1e-6)
    ratio, speed = 1.2 / 1000, 340 / 1480
    minnaert = speed * np.sqrt(3 * ratio)  # k a at resonance, with k of the water
    near = [minnaert * f for f in (0.8, 0.9, 1.0, 1.1, 1.2)]
    sections = [fluid_sphere(ka, 1.0, ka / speed, ratio).scattering_cross_section() for ka in near]
    assert np.argmax(sections) == 2 and sections[2] > 10 * sections[0]


@pytest.mark.parametrize("make", [soft_sphere, rigid_sphere])
def test_high_frequency_cross_section_is_twice_the_disc(make):
    sections = [make(k, 1.0).scattering_cross_section() / np.pi for k in (100.0, 1000.0)]
    assert abs(sections[1] - 2) < abs(sections[0] - 2) < 0.1


def test_high_frequency_backscatter_is_that_of_a_mirror():
    """|F| = a/2 in the back direction: target strength 20 log10(a/2)."""
    back = np.array([[0, 0, -1.0]])
    assert rigid_sphere(100.0, 2.0).target_strength(back)[0] == pytest.approx(0.0, abs=0.1)


def test_limits_of_the_fluid_sphere():
    d, k = random_directions(20), 4.0
    assert np.abs(fluid_sphere(k, A, k, 1.0).far_field(d)).max() < 1e-14
    inside = 0.5 * A * d
    transparent = fluid_sphere(k, A, k, 1.0)
    assert np.abs(transparent.interior(inside) - transparent.incident(inside)).max() < 1e-13
    rigid, soft = rigid_sphere(k, A).far_field(d), soft_sphere(k, A).far_field(d)
    assert np.abs(fluid_sphere(k, A, 1.3, 1e9).far_field(d) - rigid).max() < 1e-7
    assert np.abs(fluid_sphere(k, A, 1.3, 1e-9).far_field(d) - soft).max() < 1e-7


def test_limits_of_the_impedance_sphere():
    d, k = random_directions(20), 4.0
    assert np.abs(impedance_sphere(k, A, 0).far_field(d) - rigid_sphere(k, A).far_field(d)).max() < 1e-14
    assert np.abs(impedance_sphere(k, A, 1e9).far_field(d) - soft_sphere(k, A).far_field(d)).max() < 1e-7


@pytest.mark.parametrize("kind", KINDS)
def test_ka_100_and_beyond_without_overflow(kind):
    for k in (100 / A, 1000 / A):
        field = KINDS[kind](k)
        points = np.concatenate([A * random_directions(10), 5 * random_directions(10), 1e6 * random_directions(10)])
        with np.errstate(all="raise", under="ignore"):
            values = np.concatenate([field.scattered(points), field.far_field(points)])
        assert np.all(np.isfinite(values)) and np.abs(values).max() < 1000


@pytest.mark.parametrize("inside", [1e-3, 0.5, 40.0, 300.0])
def test_strong_contrast_does_not_overflow(inside):
    """Interior wavenumbers far below and above the exterior one."""
    field = fluid_sphere(20.0, A, inside, 2.0)
    points = np.concatenate([np.zeros((1, 3)), 0.01 * random_directions(5), 0.9 * A * random_directions(5)])
    assert np.all(np.isfinite(field.interior(points)))
    assert field.extinction_cross_section() == pytest.approx(field.scattering_cross_section(), rel=1e-9)


def test_shadow_pressure_keeps_its_digits():
    """Deep in the shadow of a lossy medium: the Wronskian form against the sum of incident and scattered field."""
    field = rigid_sphere(30 + 0.1j, 1.0)
    behind = np.array([[0.0, 0.6, 0.8]])
    assert field.surface_pressure(behind)[0] == pytest.approx(field.total(behind)[0], rel=1e-10)


def test_total_field_inside_and_outside_of_a_fluid_sphere():
    field = KINDS["fluid"](3.0)
    points = np.array([[0.0, 0.0, 0.2], [0.0, 0.0, 3.0]])
    expected = [field.interior(points[:1])[0], (field.incident(points[1:]) + field.scattered(points[1:]))[0]]
    assert np.array_equal(field.total(points), expected)


def test_rotation_of_the_incidence_rotates_the_field():
    rotation = np.linalg.qr(np.random.default_rng(5).standard_normal((3, 3)))[0]
    points = 2 * random_directions(10)
    turned = rigid_sphere(5.0, A, direction=rotation @ [0, 0, 1]).scattered(points @ rotation.T)
    assert np.abs(turned - rigid_sphere(5.0, A).scattered(points)).max() < 1e-13


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: rigid_sphere(0.0), "not be zero"),
        (lambda: rigid_sphere(np.nan), "finite"),
        (lambda: rigid_sphere(2 - 1j), "conjugate"),
        (lambda: rigid_sphere(1.0, -1.0), "radius"),
        (lambda: rigid_sphere(1.0, direction=[0, 0, 0]), "direction"),
        (lambda: rigid_sphere(1.0, source=[0, 0, 0.5]), "not outside"),
        (lambda: rigid_sphere(1.0, direction=[0, 0, 1], source=[0, 0, 2]), "not both"),
        (lambda: rigid_sphere(1.0, source=[0, 0, 1 + 1e-6]), "too close"),
        (lambda: rigid_sphere(1e5), "too high"),
        (lambda: rigid_sphere(400j), "no digits"),
        (lambda: impedance_sphere(1.0, 1.0, -1.0), "create energy"),
        (lambda: fluid_sphere(1.0, 1.0, 2.0, 0.0), "density_ratio"),
        (lambda: rigid_sphere(1.0).interior(np.zeros((1, 3))), "no field inside"),
        (lambda: rigid_sphere(1.0).scattered(np.zeros((1, 3))), "1 of 1 points lie inside"),
        (lambda: rigid_sphere(1.0).scattered([0, 0, 2]), "shape"),
        (lambda: fluid_sphere(1.0, 1.0, 2.0, 1.0).interior([[0, 0, 2]]), "outside"),
        (lambda: rigid_sphere(1 + 1j).scattering_cross_section(), "real wavenumber"),
        (lambda: rigid_sphere(1.0, source=[0, 0, 2]).target_strength([[0, 0, 1]]), "plane wave"),
    ],
)
def test_bad_arguments_are_named(call, text):
    with pytest.raises(ValueError, match=text):
        call()


@pytest.mark.parametrize("incidence", [{"direction": [0, 0.6, 0.8]}, {"source": [0, 2.0, 1.0]}])
def test_layers_of_one_fluid_are_one_sphere(incidence):
    """Also layers of the fluid around, on a ball, a rigid and a soft core."""
    k, toward = 3.0, np.random.default_rng(0).normal(size=(30, 3))
    x = toward / np.linalg.norm(toward, axis=1)[:, None] * np.linspace(0.05, 1.7, 30)[:, None]
    ball = fluid_sphere(k, 1.0, 5.0, 2.0, **incidence).total(x)
    for radii, more in (([0.3, 0.7, 1.0], []), ([0.1, 1.0], []), ([0.3, 1.0, 1.5], [k])):
        count = len(radii) - len(more)
        densities = [2.0] * count + [1.0] * len(more)
        layered = layered_fluid_sphere(k, radii, [5.0] * count + more, densities, **incidence)
        assert layered.total(x) == pytest.approx(ball, abs=1e-13)
    outside = x[np.linalg.norm(x, axis=1) > 0.6]
    for make, core in ((rigid_sphere, "rigid"), (soft_sphere, "soft")):
        alone = make(k, 0.6, **incidence).total(outside)
        for radii in ([0.6], [0.6, 0.8, 1.0]):
            water = [k] * (len(radii) - 1), [1.0] * (len(radii) - 1)
            assert layered_fluid_sphere(k, radii, *water, core=core, **incidence).total(outside) == pytest.approx(alone)


def test_layers_are_continuous_and_lose_what_they_absorb():
    """u and (1/rho) du/dr at each face; thin, lossy and slow layers; the optical theorem at any k a."""
    k, radii, densities = 3.0, [0.3, 0.7, 1.0], [0.001, 3 + 1j, 1.2, 1.0]
    sphere = layered_fluid_sphere(k, radii, [0.5 + 0.1j, 40 + 5j, 7.0], densities[:3])
    d, h = np.array([[0.6, 0, 0.8], [0, 1, 0]]), 1e-6
    for radius, inside, outside in zip(radii, densities[:-1], densities[1:], strict=True):
        below, above = (sphere.total(d * (radius + side * 1e-8)) for side in (-1, 1))
        assert below == pytest.approx(above, abs=1e-6)
        slopes = [(below - sphere.total(d * (radius - h))) / inside, (sphere.total(d * (radius + h)) - above) / outside]
        assert slopes[0] == pytest.approx(slopes[1], abs=0.02 * np.abs(slopes[0]).max())
    assert sphere.extinction_cross_section() > sphere.scattering_cross_section()
    for k, ratio in ((1e-3, 1.0), (2.0, 1.0), (150.0, 1.0)):
        clear = layered_fluid_sphere(k, [0.3, 0.9, 0.9001, 1.0], [2 * k, 0.4 * k, k, 1.5 * k], [0.1, 2, 0.01, 1.3])
        assert clear.extinction_cross_section() / clear.scattering_cross_section() == pytest.approx(ratio, rel=1e-8)


@pytest.mark.parametrize(
    "arguments, text",
    [
        (([1.0, 0.5], [1, 2], [1, 2]), "increase from the inside"),
        (([0.5, 1.0], [1], [1, 2]), "have 2 layers of fluid"),
        (([0.5, 1.0], [1, 2], [1, -2]), "must be positive"),
        (([], [], []), "increase from the inside"),
    ],
)
def test_layers_that_do_not_fit_are_refused(arguments, text):
    with pytest.raises(ValueError, match=text):
        layered_fluid_sphere(2.0, *arguments)
