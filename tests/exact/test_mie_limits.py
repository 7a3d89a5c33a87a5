"""Mie series against limits, exact symmetries, published values and the reference curves next to the project."""

from pathlib import Path

import numpy as np
import pytest

from calderon.exact import (
    SPEED_OF_LIGHT,
    VACUUM_IMPEDANCE,
    conducting_permittivity,
    mie_dielectric_sphere,
    mie_layered_sphere,
    mie_pec_sphere,
)

REFERENCES = Path(__file__).parents[2].parent / "shared" / "data" / "rcs"
SIZES = [1e-3, 1e-2]


@pytest.mark.parametrize("x", SIZES)
def test_small_conductor_scatters_as_rayleigh(x):
    """10 pi / 3 k^4 a^6 in all, 9 pi k^4 a^6 backward, pi k^4 a^6 forward: electric and magnetic dipole together."""
    a = 0.3
    field, unit = mie_pec_sphere(x / a, a), x**4 * a**2 * np.pi
    assert field.scattering_cross_section() == pytest.approx(10 / 3 * unit, rel=3 * x**2)
    assert field.rcs(np.pi, 0) == pytest.approx(9 * unit, rel=3 * x**2)
    assert field.rcs(0, 0) == pytest.approx(unit, rel=5 * x**2)


@pytest.mark.parametrize("x", SIZES)
@pytest.mark.parametrize("permittivity", [2.25, 4 + 0.1j, 78.44 + 1.225j, -5 + 0.3j])
def test_small_dielectric_scatters_and_absorbs_as_a_dipole(x, permittivity):
    """8 pi / 3 k^4 a^6 |p|^2 and 4 pi k a^3 Im p, p = (eps - 1) / (eps + 2)."""
    a, p = 2.0, (permittivity - 1) / (permittivity + 2)
    field, error = mie_dielectric_sphere(x / a, a, permittivity), 3 * abs(permittivity) * x**2
    assert field.scattering_cross_section() == pytest.approx(8 * np.pi / 3 * x**4 * a**2 * abs(p) ** 2, rel=error)
    absorbed = 4 * np.pi * x * a**2 * np.imag(p)
    assert field.absorption_cross_section() == pytest.approx(absorbed, rel=2 * abs(permittivity) ** 2 * x**2)


def test_small_coated_sphere_has_the_static_polarizability():
    """p = ((e2-1)(e1+2 e2) + f (e1-e2)(1+2 e2)) / ((e2+2)(e1+2 e2) + f (2 e2-2)(e1-e2)), f the ratio of volumes."""
    x, e1, e2, f = 1e-3, 3 + 1j, 5 + 0.2j, 0.6**3
    p = ((e2 - 1) * (e1 + 2 * e2) + f * (e1 - e2) * (1 + 2 * e2)) / (
        (e2 + 2) * (e1 + 2 * e2) + f * (2 * e2 - 2) * (e1 - e2)
    )
    field = mie_layered_sphere(x, [0.6, 1.0], [e1, e2])
    assert field.absorption_cross_section() == pytest.approx(4 * np.pi * x * p.imag, rel=1e-5)
    assert field.scattering_cross_section() == pytest.approx(8 * np.pi / 3 * x**4 * abs(p) ** 2, rel=1e-5)


def test_static_field_in_a_small_dielectric_sphere():
    """E = 3 / (eps + 2) E_0, the same everywhere, the centre included."""
    x = np.array([[0, 0, 0], [0, 0, 0.5], [0.3, -0.6, 0.1], [0, 1e-9, 0.0]])
    E = mie_dielectric_sphere(1e-6, 1.0, 4.0, polarization=[0.6, 0.8, 0]).electric(x)
    assert np.abs(E - 0.5 * np.array([0.6, 0.8, 0])).max() < 1e-5


def test_large_conductor_reflects_as_its_cross_section():
    """Backscatter pi a^2 (1 + O(1/x^2)), where waves creeping around it have died out; extinction twice that."""
    for x in (300.0, 1000.0):
        field = mie_pec_sphere(x, 1.0)
        assert field.rcs(np.pi, 0) == pytest.approx(np.pi, rel=2 / x**2)
        assert 0 < field.extinction_cross_section() / np.pi - 2 < 0.2 * x ** (-2 / 3)


def test_large_absorber_reflects_by_fresnel_and_keeps_the_rest():
    """Backscatter |(1 - m) / (1 + m)|^2 pi a^2; absorption 1 - mean Fresnel reflectance over the disc."""
    x, permittivity = 1000.0, 4 + 2j
    field, m = mie_dielectric_sphere(x, 1.0, permittivity), np.sqrt(permittivity)
    assert field.rcs(np.pi, 0) == pytest.approx(np.pi * abs((1 - m) / (1 + m)) ** 2, rel=2e-3)
    s2 = (np.arange(20000) + 0.5) / 20000  # sin^2 of the angle of incidence is uniform over the disc
    c, t = np.sqrt(1 - s2), np.sqrt(permittivity - s2)
    reflected = (np.abs((c - t) / (c + t)) ** 2 + np.abs((permittivity * c - t) / (permittivity * c + t)) ** 2) / 2
    assert field.absorption_cross_section() / np.pi == pytest.approx(1 - reflected.mean(), rel=2e-2)


@pytest.mark.parametrize("permittivity", [2.25, 4 + 0.1j, 78.44 + 1.225j, 100j, -20 + 1j])
@pytest.mark.parametrize("x", [0.1, 5.0, 80.0, pytest.param(1000.0, marks=pytest.mark.variant)])
def test_equal_layers_are_one_sphere(x, permittivity):
    one = mie_dielectric_sphere(x, 1.0, permittivity, 1.1)
    layered = mie_layered_sphere(x, [0.05, 0.5, 0.500001, 1.0], [permittivity] * 4, [1.1] * 4)
    for a, b in zip(layered.coefficients, one.coefficients, strict=True):
        assert np.abs(a - b).max() < 1e-9 * np.abs(b).max()
    x = np.array([[0.03, 0, 0.02], [0.1, 0.2, -0.3], [0.2, 0.5, 0.6], [1, 1, 1.0]])
    assert np.abs(layered.electric(x) - one.electric(x)).max() < 1e-8 * np.abs(one.electric(x)).max()


def test_a_layer_of_the_surroundings_is_invisible():
    for x in (1.0, 40.0):
        bare = mie_dielectric_sphere(x, 0.6, 3 + 0.2j)
        wrapped = mie_layered_sphere(x, [0.6, 1.0], [3 + 0.2j, 1])
        theta = np.linspace(0, np.pi, 50)
        assert np.allclose(wrapped.rcs(theta, 0.4), bare.rcs(theta, 0.4), rtol=1e-10)
        pair = mie_pec_sphere(x, 0.6), mie_layered_sphere(x, [0.6, 1.0], [1], conducting_core=True)
        assert np.allclose(pair[0].rcs(theta, 0.4), pair[1].rcs(theta, 0.4), rtol=1e-10)


def test_a_thick_absorbing_layer_hides_what_is_inside():
    theta, shell = np.linspace(0, np.pi, 50), 3 + 3j
    solid = mie_dielectric_sphere(60.0, 1.0, shell).rcs(theta, 0.4)
    for core in ({"permittivities": [10, shell]}, {"permittivities": [shell], "conducting_core": True}):
        assert np.allclose(mie_layered_sphere(60.0, [0.5, 1.0], **core).rcs(theta, 0.4), solid, rtol=1e-10)


@pytest.mark.parametrize("x", [0.5, 40.0])
def test_a_good_conductor_tends_to_the_perfect_one(x):
    """The difference falls like the surface impedance 1 / |m|, also where the field decays over 1e-3 of the radius."""
    theta, exact = np.linspace(0, np.pi, 30), mie_pec_sphere(x, 1.0)
    errors = []
    for loss in (1e4, 1e6):
        field = mie_dielectric_sphere(x, 1.0, 1j * loss)
        errors.append(np.abs(field.rcs(theta, 0.3) - exact.rcs(theta, 0.3)).max() / exact.rcs(theta, 0.3).max())
        inside = np.abs(field.electric(np.array([[0, 0.5, 0]]))).max()
        assert np.isfinite(inside) and inside < 3 * np.exp(-np.sqrt(loss / 2) * x / 2) + 1e-300
    assert errors[1] < 1e-2 and errors[0] / errors[1] == pytest.approx(10, rel=0.2)


def test_exchange_of_permittivity_and_permeability_exchanges_the_multipoles():
    a, b = mie_layered_sphere(7.0, [0.5, 1], [2 + 0.1j, 3], [1.5, 1.2]).coefficients
    c, d = mie_layered_sphere(7.0, [0.5, 1], [1.5, 1.2], [2 + 0.1j, 3]).coefficients
    assert np.allclose(a, d, rtol=1e-10, atol=1e-14) and np.allclose(b, c, rtol=1e-10, atol=1e-14)


def test_equal_permittivity_and_permeability_send_nothing_back():
    """V. H. Weston, IEEE Trans. Antennas Propag. 11 (1963) 578."""
    for constant in (3, 2 + 1j):
        field = mie_dielectric_sphere(8.0, 1.0, constant, constant)
        assert field.rcs(np.pi, 0) < 1e-22 * field.rcs(0, 0)


@pytest.mark.parametrize(
    "sphere",
    [
        lambda x: mie_pec_sphere(x, 1.0),
        lambda x: mie_dielectric_sphere(x, 1.0, 2.25),
        lambda x: mie_dielectric_sphere(x, 1.0, 78.44 + 1.225j),
        lambda x: mie_dielectric_sphere(x, 1.0, 3 + 400j),
        lambda x: mie_layered_sphere(x, [0.3, 0.3001, 0.99, 1.0], [4, 78.44 + 1.2j, 2.25, 1.5 + 0.001j]),
        lambda x: mie_layered_sphere(x, [0.9, 1.0], [2.5 + 0.1j], conducting_core=True),
    ],
)
def test_size_parameter_1000(sphere):
    """Everything is finite, energy is conserved, and half the extinction is the shadow."""
    field = sphere(1000.0)
    assert 1000 < field.number_of_terms < 1400
    total = field.extinction_cross_section()
    parts = field.scattering_cross_section() + field.absorption_cross_section()
    assert parts == pytest.approx(total, rel=1e-11)
    assert 2.0 < total / np.pi < 2.05
    x = np.array([[0, 0, -1.0], [0.3, 0.5, 0.1], [0, 0.29, 0], [0, 0, 2.0], [0.6, 0.3, 0.7], [0, 0, 0]])
    for values in (field.electric(x), field.magnetic(x)):
        assert np.all(np.isfinite(values)) and np.abs(values).max() < 100


def test_values_of_bohren_and_huffman():
    """Appendix A (x = 5.213, m = 1.55: efficiencies 3.10543 and 2.92534 backward) and B (a coated sphere)."""
    k, a = 2 * np.pi / 0.6328, 0.525
    field, disc = mie_dielectric_sphere(k, a, 1.55**2), np.pi * a**2
    assert field.extinction_cross_section() / disc == pytest.approx(3.10543, abs=6e-6)
    assert field.rcs(np.pi, 0) / disc == pytest.approx(2.92534, abs=6e-6)
    k, radii = 2 * np.pi / 3, [0.171, 6.265]
    field, disc = mie_layered_sphere(k, radii, [(1.59 + 0.66j) ** 2, (1.409 + 0.1747j) ** 2]), np.pi * radii[1] ** 2
    assert field.scattering_cross_section() / disc == pytest.approx(1.14341, abs=6e-6)
    assert field.extinction_cross_section() / disc == pytest.approx(2.32803, abs=6e-6)
    assert field.rcs(np.pi, 0) / disc == pytest.approx(0.0285099, abs=6e-8)


def test_head_at_900_megahertz():
    """Grey matter, cerebrospinal fluid, bone and dry skin, 1 V/m peak value in vacuum."""
    frequency = 900e6
    permittivity = conducting_permittivity(
        [52.725, 68.638, 12.454, 41.405], [0.9423, 2.4126, 0.1433, 0.8666], frequency
    )
    k = 2 * np.pi * frequency / SPEED_OF_LIGHT
    head = mie_layered_sphere(k, [0.080, 0.083, 0.090, 0.095], permittivity, impedance=VACUUM_IMPEDANCE)
    assert head.absorbed_power() == pytest.approx(4.939e-5, abs=6e-9)
    shares = 100 * head.absorbed_power_by_layer() / head.absorbed_power()
    assert np.abs(shares - [43.74, 17.46, 5.21, 33.59]).max() < 6e-3


@pytest.mark.parametrize(("name", "polarization"), [("V", [0, 0, 1]), ("H", [0, 1, 0])])
def test_reference_sphere_at_320_megahertz(name, polarization):
    """Bistatic curves of the Austin RCS benchmarks, diameter 0.6 m, radar at +x; written with six decimals."""
    path = REFERENCES / f"pec_sphere_d0.6m_320MHz_{name}.txt"
    if not path.exists():
        pytest.skip("the reference curves are not next to the project (shared/data/rcs)")
    frequency, theta, phi, level = np.loadtxt(path, unpack=True)
    field = mie_pec_sphere(2 * np.pi * frequency[0] / SPEED_OF_LIGHT, 0.3, [-1, 0, 0], polarization)
    rcs = field.rcs(np.radians(theta), np.radians(phi), polarization=name)
    assert np.abs(10 * np.log10(rcs) - level).mean() < 1e-6


def test_conducting_permittivity():
    assert conducting_permittivity(2.0, 0.0, 1e9) == 2.0
    assert conducting_permittivity(1.0, 1.0, 17.975103572e9) == pytest.approx(1 + 1j, rel=1e-8)
    with pytest.raises(ValueError, match="conductivity"):
        conducting_permittivity(1.0, -1.0, 1e9)
    with pytest.raises(ValueError, match="frequency"):
        conducting_permittivity(1.0, 1.0, 0.0)
