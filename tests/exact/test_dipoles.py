"""Hertz dipoles satisfy Maxwell's equations and their static and far limits; thin dipoles are integrals of them."""

import numpy as np
import pytest
from numpy.polynomial.legendre import leggauss
from scipy.integrate import quad

from calderon.exact import VACUUM_IMPEDANCE, hertz_dipole, thin_dipole_impedance

MOMENT = [0.3, 1 - 0.5j, -0.8j]
POSITION = [0.1, -0.2, 0.05]
POINTS = np.array([[1.0, 0.4, 0.2], [-0.7, 1.1, 0.5], [0.3, -0.8, -1.4]])


def curl(f, x, h=1e-3):
    """Fourth-order differences of a vector field (n, 3)."""
    D = [(8 * (f(x + h * e) - f(x - h * e)) - f(x + 2 * h * e) + f(x - 2 * h * e)) / (12 * h) for e in np.eye(3)]
    return np.stack([D[1][:, 2] - D[2][:, 1], D[2][:, 0] - D[0][:, 2], D[0][:, 1] - D[1][:, 0]], axis=1)


def sphere_rule(number=20):
    cosine, weights = leggauss(number)
    angles = np.pi * np.arange(2 * number) / number
    c, a = (part.ravel() for part in np.meshgrid(cosine, angles, indexing="ij"))
    s = np.sqrt(1 - c * c)
    return np.stack([s * np.cos(a), s * np.sin(a), c], axis=1), np.repeat(weights, 2 * number) * np.pi / number


@pytest.mark.parametrize("kind", ["electric", "magnetic"])
@pytest.mark.parametrize(("k", "eta"), [(0.1, 1.0), (3.0, 2.0), (2 + 0.5j, 1.5 - 0.2j)])
def test_maxwells_equations(kind, k, eta):
    field = hertz_dipole(k, MOMENT, POSITION, kind, eta)
    E, H = field.electric(POINTS), field.magnetic(POINTS)
    assert np.abs(curl(field.electric, POINTS) - 1j * k * eta * H).max() < 1e-9 * np.abs(E).max()
    assert np.abs(curl(field.magnetic, POINTS) + 1j * k / eta * E).max() < 1e-9 * np.abs(H).max()


def test_near_fields_are_those_of_biot_and_savart_and_of_two_charges():
    """H = m x R / (4 pi R^3); E = (i eta / k) (3 d (d . m) - m) / (4 pi R^3), since p = i m / omega; duals alike."""
    k, eta, d = 2.0, 3.0, POINTS / np.linalg.norm(POINTS, axis=1)[:, None]
    r, m = 1e-5, np.array(MOMENT)
    H = np.cross(m, d) / (4 * np.pi * r**2)
    charges = (3 * d * (d @ m)[:, None] - m) / (4 * np.pi * r**3)
    electric, magnetic = (hertz_dipole(k, m, kind=kind, impedance=eta) for kind in ("electric", "magnetic"))
    for value, limit in (
        (electric.magnetic(r * d), H),
        (electric.electric(r * d), 1j * eta / k * charges),
        (magnetic.electric(r * d), -H),
        (magnetic.magnetic(r * d), 1j / (eta * k) * charges),
    ):
        assert np.abs(value - limit).max() < 1e-9 * np.abs(limit).max()


@pytest.mark.parametrize("kind", ["electric", "magnetic"])
def test_far_field_and_power(kind):
    """The limit of E; transverse; int |F|^2 / (2 eta) is the flux of the Poynting vector at any distance."""
    k, eta, (d, weights) = 2.5, 2.0, sphere_rule()
    field = hertz_dipole(k, MOMENT, POSITION, kind, eta)
    F = field.far_field(d)

    def scaled(r):
        return field.electric(r * d) * r * np.exp(-1j * k * r)

    assert np.abs(2 * scaled(2e4) - scaled(1e4) - F).max() < 1e-6 * np.abs(F).max()
    assert np.abs(np.sum(F * d, axis=1)).max() < 1e-14
    assert field.radiated_power() == pytest.approx(weights @ np.sum(np.abs(F) ** 2, axis=1) / (2 * eta), rel=1e-12)
    x = np.array(POSITION) + 0.7 * d
    flux = np.sum(np.cross(field.electric(x), field.magnetic(x).conj()) * d, axis=1).real / 2
    assert field.radiated_power() == pytest.approx(0.7**2 * weights @ flux, rel=1e-12)


def test_reciprocity_of_two_dipoles():
    """m2 . E1(y2) = m1 . E2(y1); between electric and magnetic ones m2 . H1(y2) = -m1 . E2(y1)."""
    m1, m2, y1, y2 = np.array(MOMENT), np.array([1j, 0.2, 0.7]), np.array(POSITION), np.array([0.5, 0.6, -0.9])
    a, b = hertz_dipole(3.0, m1, y1), hertz_dipole(3.0, m2, y2)
    assert a.electric(y2[None])[0] @ m2 == pytest.approx(b.electric(y1[None])[0] @ m1, rel=1e-13)
    b = hertz_dipole(3.0, m2, y2, "magnetic")
    assert a.magnetic(y2[None])[0] @ m2 == pytest.approx(-b.electric(y1[None])[0] @ m1, rel=1e-13)


def wire_field(k, length, rho, z):
    """E_z at (rho, z) of the current sin(k (l/2 - |z|)) for eta = 1 (S. A. Schelkunoff): three spherical waves."""
    R = [np.hypot(rho, z - length / 2), np.hypot(rho, z + length / 2), np.hypot(rho, z)]
    waves = [np.exp(1j * k * r) / r for r in R]
    return 1j / (4 * np.pi) * (waves[0] + waves[1] - 2 * np.cos(k * length / 2) * waves[2])


@pytest.mark.parametrize("length", [0.2, 0.5, 0.8, 1.5])
def test_sinusoidal_wire_is_a_line_of_hertz_dipoles(length):
    k, rho, z = 2 * np.pi, 0.15, 0.11
    nodes, weights = leggauss(60)
    total = 0
    for a, b in ((-length / 2, 0), (0, length / 2)):
        for node, weight in zip((a + b) / 2 + (b - a) / 2 * nodes, (b - a) / 2 * weights, strict=True):
            current = [0, 0, np.sin(k * (length / 2 - abs(node)))]
            total += weight * hertz_dipole(k, current, [0, 0, node]).electric(np.array([[rho, 0, z]]))[0, 2]
    assert total == pytest.approx(wire_field(k, length, rho, z), rel=1e-11)


@pytest.mark.parametrize("length", [0.05, 0.3, 0.47, 0.5, 0.8, 1.0, 1.25, 1.5])
def test_impedance_is_the_induced_electromotive_force(length):
    """Z_m = -int E_z(a, z) I(z) dz / I_m^2 on a wire of radius 1e-5 wavelengths."""
    k, a = 2 * np.pi, 1e-5

    def force(z, part):
        return part(wire_field(k, length, a, z)) * np.sin(k * (length / 2 - z))

    ends = {"points": [1e-4, 1e-3, 1e-2, length / 2 - 1e-3, length / 2 - 1e-4], "limit": 400, "epsabs": 1e-10}
    Z = -2 * (
        quad(force, 0, length / 2, (np.real,), **ends)[0] + 1j * quad(force, 0, length / 2, (np.imag,), **ends)[0]
    )
    assert thin_dipole_impedance(k, length, a, at="maximum") == pytest.approx(Z, rel=2e-4)
    if length != 1.0:
        feed = Z / np.sin(k * length / 2) ** 2
        assert thin_dipole_impedance(k, length, a) == pytest.approx(feed, rel=2e-4)


def test_half_wave_dipole():
    """73.13 + j 42.54 of the textbooks, with their eta = 120 pi and time factor; the wire does not matter."""
    half = thin_dipole_impedance(2 * np.pi / 3, 1.5, impedance=120 * np.pi)
    assert half.conjugate() == pytest.approx(73.13 + 42.54j, abs=6e-3)
    assert half == pytest.approx(thin_dipole_impedance(2 * np.pi / 3, 1.5, 1e-3, impedance=120 * np.pi), rel=1e-12)
    assert half == thin_dipole_impedance(2 * np.pi / 3, 1.5, impedance=120 * np.pi, at="maximum")


def test_short_dipole_radiates_little_and_is_capacitive():
    """R -> eta (kl)^2 / (24 pi), a triangular current; X < 0."""
    Z = thin_dipole_impedance(1.0, 0.01, 1e-5, VACUUM_IMPEDANCE)
    assert Z.real == pytest.approx(VACUUM_IMPEDANCE * 0.01**2 / (24 * np.pi), rel=1e-4)
    assert Z.imag > 100 * Z.real  # exp(-i omega t): Z = R - iX


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: thin_dipole_impedance(1.0, 1.0), "give its radius"),
        (lambda: thin_dipole_impedance(1.0, 1.0, 0.2), "not thin"),
        (lambda: thin_dipole_impedance(2 * np.pi, 1.0), "no current at its feed"),
        (lambda: thin_dipole_impedance(1.0, 1.0, 0.01, at="end"), "choose 'feed'"),
        (lambda: thin_dipole_impedance(1j, 1.0), "k must be"),
        (lambda: hertz_dipole(1.0, [0, 0, 0]), "moment"),
        (lambda: hertz_dipole(1.0, [0, 0, 1], kind="toroidal"), "choose 'electric'"),
        (lambda: hertz_dipole(1.0, [0, 0, 1], impedance=-1), "impedance"),
        (lambda: hertz_dipole(0, [0, 0, 1]), "zero"),
        (lambda: hertz_dipole(1.0, [0, 0, 1]).electric([[0, 0, 0]]), "on the dipole"),
        (lambda: hertz_dipole(1 + 1j, [0, 0, 1]).radiated_power(), "without loss"),
    ],
)
def test_what_has_no_meaning_is_refused(call, text):
    with pytest.raises(ValueError, match=text):
        call()
