"""Mie series satisfy Maxwell's equations, the conditions on every interface, reciprocity and the balance of energy."""

import numpy as np
import pytest
from numpy.polynomial.legendre import leggauss

from calderon.exact import mie_dielectric_sphere, mie_layered_sphere, mie_pec_sphere

RADII = np.array([0.4, 0.7, 1.1])
WAVE = {"direction": [1, -2, 2], "polarization": [2, 1 + 2j, 2j], "amplitude": 1.5 - 0.5j, "impedance": 2.0}
SPHERES = {
    "conductor": lambda k, **wave: mie_pec_sphere(k, 1.1, **wave),
    "glass": lambda k, **wave: mie_dielectric_sphere(k, 1.1, 2.25, **wave),
    "ferrite": lambda k, **wave: mie_dielectric_sphere(k, 1.1, 6 + 0.3j, 1.7 + 0.2j, **wave),
    "metal": lambda k, **wave: mie_dielectric_sphere(k, 1.1, -12 + 1.2j, **wave),
    "layers": lambda k, **wave: mie_layered_sphere(k, RADII, [4, 1.5 + 0.8j, 3], [1, 1.2, 2 + 0.1j], **wave),
    "coated": lambda k, **wave: mie_layered_sphere(k, RADII, [2 + 0.1j, 5], conducting_core=True, **wave),
    "bubble": lambda k, **wave: mie_layered_sphere(k, RADII, [1, -3 + 0.2j, 1], **wave),
}
LOSSLESS = ("conductor", "glass")


def random_directions(number, seed=0):
    d = np.random.default_rng(seed).standard_normal((number, 3))
    return d / np.linalg.norm(d, axis=1)[:, None]


def constants_at(field, r):
    """Relative permittivity and permeability at distance r, None in a conductor."""
    if r > field.radius:
        return 1.0, 1.0
    i = int(np.searchsorted(field.radii, r)) - field.conducting_core
    return None if i < 0 else (field.permittivity[i], field.permeability[i])


def curl(f, x, h):
    """Fourth-order differences of a vector field (n, 3)."""
    D = [(8 * (f(x + h * e) - f(x - h * e)) - f(x + 2 * h * e) + f(x - 2 * h * e)) / (12 * h) for e in np.eye(3)]
    return np.stack([D[1][:, 2] - D[2][:, 1], D[2][:, 0] - D[0][:, 2], D[0][:, 1] - D[1][:, 0]], axis=1)


@pytest.mark.parametrize("kind", SPHERES)
@pytest.mark.parametrize("k", [0.3, 12.0])
def test_maxwells_equations_hold_in_every_medium(kind, k):
    """curl E = ik eta mu H and curl H = -(ik / eta) eps E, also near the centre and on the axis of the wave."""
    field = SPHERES[kind](k, **WAVE)
    directions = np.concatenate([random_directions(2), field.direction[None]])
    for r in (0.02, 0.3, 0.55, 0.9, 1.2, 3.0):
        constants = constants_at(field, r)
        x = r * directions
        E, H = field.electric(x), field.magnetic(x)
        if constants is None:
            assert not E.any() and not H.any()
            continue
        permittivity, permeability = constants
        h = min(3e-3 / (k * abs(np.sqrt(permittivity * permeability))), r / 500)
        size = max(np.abs(E).max(), 2 * np.abs(H).max()) * k * max(abs(permittivity), abs(permeability))
        assert np.abs(curl(field.electric, x, h) - 1j * k * 2.0 * permeability * H).max() < 1e-8 * size
        assert np.abs(curl(field.magnetic, x, h) * 2.0 + 1j * k * permittivity * E).max() < 1e-8 * size


@pytest.mark.parametrize("kind", SPHERES)
@pytest.mark.parametrize("k", [1e-3, 90.0])
def test_conditions_on_every_interface(kind, k):
    """n x E, n x H, eps n . E and mu n . H are continuous; on a conductor n x E = 0 and n . H = 0."""
    field, d = SPHERES[kind](k, **WAVE), random_directions(30)
    for i, radius in enumerate(field.radii):
        outside = [field.electric(radius * d), field.magnetic(radius * d)]
        after = constants_at(field, 1.0001 * radius)
        size = [np.abs(outside[0]).max(), np.abs(outside[1]).max()]
        if field.conducting_core and i == 0:
            assert np.abs(np.cross(d, outside[0])).max() < 1e-11 * size[0]
            assert np.abs(np.sum(d * outside[1], axis=1)).max() < 1e-11 * size[1]
            continue
        # 1e-8 of the radius inside, and to first order from there onto the interface
        depth = 1e-6 * radius / max(k * radius, 1) * np.array([1, 2])
        before = constants_at(field, 0.9999 * radius)
        for number, f in enumerate((field.electric, field.magnetic)):
            inside = 2 * f((radius - depth[0]) * d) - f((radius - depth[1]) * d)
            jump = outside[number] - inside
            assert np.abs(np.cross(d, jump)).max() < 1e-8 * size[number]
            flux = np.sum(d * (after[number] * outside[number] - before[number] * inside), axis=1)
            assert np.abs(flux).max() < 1e-8 * size[number] * max(abs(after[number]), abs(before[number]))


@pytest.mark.parametrize("kind", SPHERES)
@pytest.mark.parametrize("k", [1e-3, 2.0, 1000 / 1.1])
def test_radial_functions_are_continuous_to_rounding(kind, k):
    field = SPHERES[kind](k, **WAVE)
    for below, above in zip(field.layers[:-1], field.layers[1:], strict=True):
        face = np.array([below.outer])
        inner, outer = below.radial(face), above.radial(face)
        for name in "uvwq":
            one, two = getattr(inner, name), getattr(outer, name)
            assert np.all(np.isfinite(one)) and np.abs(one - two).max() <= 1e-10 * np.abs(one).max()


@pytest.mark.parametrize("kind", SPHERES)
@pytest.mark.parametrize("k", [0.05, 2.0, 1000 / 1.1])
def test_energy_is_conserved(kind, k):
    """Extinction, from the forward amplitude, is scattering and absorption, which is the flux inside."""
    field = SPHERES[kind](k, **WAVE)
    scattered, absorbed = field.scattering_cross_section(), field.absorption_cross_section()
    assert np.isfinite(scattered) and scattered > 0
    assert scattered + absorbed == pytest.approx(field.extinction_cross_section(), rel=1e-10)
    forward = field.far_field(field.direction[None])[0] @ field.polarization.conj() / field.amplitude
    assert 4 * np.pi / k * forward.imag == pytest.approx(scattered + absorbed, rel=1e-10)
    assert (absorbed == 0) == (kind in LOSSLESS)
    power = field.absorbed_power_by_layer()
    assert power.sum() == pytest.approx(field.absorbed_power(), rel=1e-12, abs=1e-300)
    lossy = (field.permittivity.imag > 0) | (field.permeability.imag > 0)
    assert np.all(power[lossy] > 0) and np.all(power[~lossy] == 0)
    assert field.absorbed_power() == pytest.approx(abs(1.5 - 0.5j) ** 2 / 4 * absorbed, rel=1e-12)


def sphere_rule(degree):
    """Directions and weights that integrate polynomials of this degree over the unit sphere."""
    cosine, weights = leggauss(degree // 2 + 1)
    angles = 2 * np.pi * np.arange(degree + 1) / (degree + 1)
    c, a = (part.ravel() for part in np.meshgrid(cosine, angles, indexing="ij"))
    s = np.sqrt(1 - c * c)
    return np.stack([s * np.cos(a), s * np.sin(a), c], axis=1), np.repeat(weights, degree + 1) * 2 * np.pi / (
        degree + 1
    )


@pytest.mark.parametrize("kind", SPHERES)
def test_cross_sections_are_integrals_of_the_fields(kind):
    """Integrals of |F|^2 over all directions, and of the Poynting vector over a sphere outside; F is transverse."""
    field = SPHERES[kind](3.0, **WAVE)
    d, weights = sphere_rule(60)
    F = field.far_field(d)
    assert np.abs(np.sum(F * d, axis=1)).max() < 1e-13 * np.abs(F).max()
    total = weights @ np.sum(np.abs(F) ** 2, axis=1) / abs(field.amplitude) ** 2
    assert field.scattering_cross_section() == pytest.approx(total, rel=1e-12)
    r = 1.3
    flux = np.sum(np.cross(field.electric(r * d), field.magnetic(r * d).conj()) * d, axis=1).real
    intensity = abs(field.amplitude) ** 2 / field.impedance
    assert field.absorbed_power() == pytest.approx(-(r**2) * weights @ flux / 2, abs=1e-12 * intensity)


@pytest.mark.parametrize("kind", ["ferrite", "layers", "coated", "bubble"])
def test_absorbed_power_is_the_loss_within_each_layer(kind):
    """P = k / 2 int (Im eps |E|^2 / eta + eta Im mu |H|^2) dV."""
    k, eta = 2.5, 2.0
    field = SPHERES[kind](k, **WAVE)
    d, weights = sphere_rule(30)
    faces = field.radii if field.conducting_core else np.concatenate([[0.0], field.radii])
    nodes, steps = leggauss(20)
    for i, (a, b) in enumerate(zip(faces[:-1], faces[1:], strict=True)):
        power = 0.0
        for node, step in zip(nodes, steps, strict=True):
            r = (a + b) / 2 + (b - a) / 2 * node
            E2 = np.sum(np.abs(field.electric(r * d)) ** 2, axis=1)
            H2 = np.sum(np.abs(field.magnetic(r * d)) ** 2, axis=1)
            density = field.permittivity[i].imag * E2 / eta + eta * field.permeability[i].imag * H2
            power += (b - a) / 2 * step * r**2 * k / 2 * (weights @ density)
        assert field.absorbed_power_by_layer()[i] == pytest.approx(power, rel=1e-10, abs=1e-14)


@pytest.mark.parametrize("kind", SPHERES)
def test_far_field_is_the_limit_of_the_scattered_field(kind):
    """And H_s of it is d x E_s / eta."""
    field, d = SPHERES[kind](2.0, **WAVE), random_directions(20)

    def scaled(f, r):
        return f(r * d) * r * np.exp(-2j * r)

    F = field.far_field(d)
    for f, limit in ((field.scattered_electric, F), (field.scattered_magnetic, np.cross(d, F) / 2.0)):
        extrapolated = 2 * scaled(f, 2e4) - scaled(f, 1e4)
        assert np.abs(extrapolated - limit).max() < 1e-6 * np.abs(limit).max()
    x = 1.7 * d
    assert np.allclose(field.scattered_electric(x) + field.incident_electric(x), field.electric(x), rtol=1e-12)
    assert np.allclose(field.scattered_magnetic(x) + field.incident_magnetic(x), field.magnetic(x), rtol=1e-12)


@pytest.mark.parametrize("kind", SPHERES)
def test_reciprocity(kind):
    """e2 . F(d2; from d1, e1) = e1 . F(-d1; from -d2, e2)."""
    d1, d2 = random_directions(2, seed=3)
    e1, e2 = np.cross(d1, [0.3, 1, 0.2]) + 1j * np.cross(d1, [1, 0, 0]), np.cross(d2, [1, 0.4j, 0.2j])
    e1, e2 = e1 / np.linalg.norm(e1), e2 / np.linalg.norm(e2)
    there = SPHERES[kind](6.0, direction=d1, polarization=e1).far_field(d2[None])[0] @ e2
    back = SPHERES[kind](6.0, direction=-d2, polarization=e2).far_field(-d1[None])[0] @ e1
    assert there == pytest.approx(back, rel=1e-11)


@pytest.mark.parametrize("kind", SPHERES)
def test_fields_are_linear_in_the_polarization_and_turn_with_the_wave(kind):
    x = 1.5 * random_directions(10)
    ex, ey = (SPHERES[kind](4.0, polarization=e).electric(x) for e in ([1, 0, 0], [0, 1, 0]))
    circular = SPHERES[kind](4.0, polarization=[1, 1j, 0]).electric(x)
    assert np.abs(circular - (ex + 1j * ey) / np.sqrt(2)).max() < 1e-12
    turn, _ = np.linalg.qr(np.random.default_rng(5).standard_normal((3, 3)))
    turn *= np.linalg.det(turn)
    turned = SPHERES[kind](4.0, direction=turn[:, 2], polarization=turn[:, 0])
    assert np.abs(turned.electric(x @ turn.T) - ex @ turn.T).max() < 1e-12


def test_rcs_takes_angles_of_any_shape_and_polarizations_of_the_receiver():
    field = mie_pec_sphere(5.0, 0.7)
    theta, phi = np.linspace(0, np.pi, 7), np.linspace(0, 2 * np.pi, 5)
    table = field.rcs(theta[:, None], phi)
    assert table.shape == (7, 5) and field.rcs(0.3, 0.2).shape == ()
    V, H = (field.rcs(theta[:, None], phi, polarization=p) for p in "VH")
    assert np.allclose(V + H, table, rtol=1e-13)
    assert np.all(H[:, 0] < 1e-25) and np.allclose(V[:, 0], table[:, 0])  # E in the plane of incidence stays there
    assert table[3, 1] == pytest.approx(4 * np.pi * np.sum(np.abs(field.far_field([[0, 1, 0.0]])) ** 2), rel=1e-12)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: mie_pec_sphere(0), "wavenumber k"),
        (lambda: mie_pec_sphere(1 + 1j), "losses there"),
        (lambda: mie_pec_sphere(1, -1), "radius"),
        (lambda: mie_pec_sphere(1, polarization=[1, 0, 0.1]), "orthogonal"),
        (lambda: mie_pec_sphere(1, polarization=[0, 0, 0]), "not be zero"),
        (lambda: mie_pec_sphere(1, amplitude=0), "amplitude"),
        (lambda: mie_pec_sphere(1, impedance=0), "impedance"),
        (lambda: mie_pec_sphere(1e5), "multipoles"),
        (lambda: mie_dielectric_sphere(1, 1, 2 - 0.1j), "conjugate"),
        (lambda: mie_dielectric_sphere(1, 1, 0), "not be zero"),
        (lambda: mie_dielectric_sphere(1, 1, -2 + 0.1j, -1 + 0.1j), "negative refractive index"),
        (lambda: mie_dielectric_sphere(1, 1, 1e14j), "200000"),
        (lambda: mie_layered_sphere(1, [1, 1], [2, 3]), "increase"),
        (lambda: mie_layered_sphere(1, [1, 2], [2, 3], conducting_core=True), "1 layers"),
        (lambda: mie_layered_sphere(1, [1, 2], [2, 3], [1]), "1 permeabilities"),
        (lambda: mie_pec_sphere(1).rcs(0, 0, "VV"), "choose 'V'"),
        (lambda: mie_pec_sphere(1).rcs(np.nan, 0), "finite angles"),
        (lambda: mie_pec_sphere(1).scattered_electric([[0, 0, 0.5]]), "inside"),
        (lambda: mie_pec_sphere(1).far_field([[0, 0, 0]]), "zero"),
    ],
)
def test_what_has_no_meaning_is_refused(call, text):
    with pytest.raises(ValueError, match=text):
        call()
