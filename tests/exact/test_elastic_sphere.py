"""Elastic spheres and shells in a fluid: a table, energy, limits, resonances and refusals."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import spherical_jn, spherical_yn

import calderon as cal
from calderon.exact import elastic_shell, elastic_sphere, fluid_sphere, rigid_sphere

STEEL = cal.ElasticMaterial.from_wave_speeds(7700.0, longitudinal=5950.0, shear=3240.0)
WATER = cal.Fluid(1000.0, 1500.0)
ANGLES = np.linspace(0, np.pi, 37)


def difference(one, other):
    far, exact = one.far_field(ANGLES, 0.0), other.far_field(ANGLES, 0.0)
    return np.abs(far - exact).max() / np.abs(exact).max()


def coefficients(field):
    """c_n of u_s = sum (2n + 1) i^n c_n h_n(kr) P_n."""
    n, z = np.arange(field.number_of_terms), field.wavenumber * field.radius
    return field.outgoing_terms / (spherical_jn(n, z) + 1j * spherical_yn(n, z)) / ((2 * n + 1) * 1j**n)


def solid(ka):
    return elastic_sphere(ka, 1.0, STEEL, WATER)


def shell(ka):
    return elastic_shell(ka, 1.0, 0.98, STEEL, WATER)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (solid, [0.319945, 0.794906, 0.810943, 0.858365, 1.104812, 1.365078, 1.034593, 1.237511]),
        (shell, [0.079172, 0.500374, 0.669812, 0.361212, 0.671150, 1.004803, 0.756369, 1.267030]),
    ],
)
def test_backscatter_is_that_of_an_unscaled_series(body, expected):
    """2 |F| / a of series of j_n and y_n as they are."""
    found = [2 * abs(body(ka).far_field(np.pi, 0.0)) for ka in (0.5, 1, 2, 3, 5, 6, 8, 10)]
    assert found == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("body", [solid, shell, lambda ka: elastic_shell(ka, 1.0, 0.3, STEEL, WATER, cal.Fluid.air())])
@pytest.mark.parametrize("ka", [1e-2, 0.7, 5.0, 40.0])
def test_no_energy_is_lost(body, ka):
    field = body(ka)
    some = coefficients(field)[: int(ka) + 10]
    assert np.abs(np.abs(1 + 2 * some) - 1).max() < 1e-12
    assert field.extinction_cross_section() == pytest.approx(field.scattering_cross_section(), rel=1e-9)


def test_loss_absorbs():
    lossy = cal.ElasticMaterial.from_wave_speeds(7700.0, 5950.0, 3240.0, loss_factor=0.05)
    for field in (elastic_sphere(5.7, 1.0, lossy, WATER), elastic_shell(1.46, 1.0, 0.98, lossy, WATER)):
        assert np.all(np.abs(1 + 2 * coefficients(field)) < 1 + 1e-12)
        assert field.extinction_cross_section() > 1.01 * field.scattering_cross_section()


@pytest.mark.parametrize("ka", [1.0, 5.0])
def test_limits(ka):
    stiff = cal.ElasticMaterial.from_wave_speeds(7.7e6, 5.95e6, 3.24e6)
    assert difference(elastic_sphere(ka, 1.0, stiff, WATER), rigid_sphere(ka)) < 2e-4
    fluid = fluid_sphere(ka, 1.0, ka / 0.7, 2.0)
    soft = [cal.ElasticMaterial.from_wave_speeds(2000.0, 1050.0, shear) for shear in (1.0, 0.5)]
    errors = [difference(elastic_sphere(ka, 1.0, each, WATER), fluid) for each in soft]
    assert errors[0] < 2.2e-6 and errors[1] == pytest.approx(errors[0] / 4, rel=0.02)
    filled = elastic_shell(ka, 1.0, 1 - 1e-7, STEEL, WATER, filling=cal.Fluid(2000.0, 1050.0))
    assert difference(filled, fluid) < 2e-5
    assert difference(elastic_shell(ka, 1.0, 0.02, STEEL, WATER), solid(ka)) < 1e-4


def test_small_spheres_move_as_rigid_ones_that_are_free():
    """The dipole of a sphere with the density ratio q is -(ka)^3 (q - 1) / (2 q + 1) / 3, and the monopole is that of
    its compressibility, over that of the fluid."""
    ka = 1e-3
    c = coefficients(solid(ka))[:2]
    bulk = STEEL.lame + 2 / 3 * STEEL.shear_modulus
    monopole = 1j * ka**3 / 3 * (WATER.density * WATER.speed_of_sound**2 / bulk - 1)
    assert c[0] == pytest.approx(monopole, rel=1e-4)
    assert c[1] == pytest.approx(1j * ka**3 / 3 * (7.7 - 1) / (2 * 7.7 + 1), rel=1e-4)


@pytest.mark.parametrize(
    ("body", "order", "place", "width"),
    [
        (solid, 2, 5.68309, 0.320),
        (solid, 1, 7.5749, 0.034),
        (solid, 3, 8.46888, 0.466),
        (shell, 2, 1.45702, 0.127),
        (shell, 3, 1.83409, 0.046),
        (shell, 4, 2.09665, 0.0093),
        (shell, 5, 2.29707, 0.0012),
    ],
)
def test_resonances(body, order, place, width):
    """Peaks of the delay d arg(1 + 2 c_n) / d ka, and the full width of resonances that have such a peak, 4 / delay."""

    def delay(ka):
        step = 0.01 * width
        after, before = (1 + 2 * coefficients(body(ka + each))[order] for each in (step, -step))
        return np.angle(after / before) / (2 * step)

    near = (place - width / 2, place + width / 2)
    peak = minimize_scalar(lambda ka: -delay(ka), bounds=near, options={"xatol": 1e-6})
    assert peak.x == pytest.approx(place, abs=1e-5 if width < 0.03 else 1e-4)
    assert -4 / peak.fun == pytest.approx(width, rel=0.02)


def test_point_sources_are_reciprocal():
    one, other = [0.5, -1.2, 1.0], [-1.5, 0.3, 2.0]
    first = elastic_sphere(4.0, 1.0, STEEL, WATER, source=one).scattered([other])
    second = elastic_sphere(4.0, 1.0, STEEL, WATER, source=other).scattered([one])
    assert first == pytest.approx(second, rel=1e-12)


def test_refusals():
    with pytest.raises(ValueError, match="inner_radius = 1.2 of a shell is below its radius"):
        elastic_shell(1.0, 1.0, 1.2, STEEL, WATER)
    with pytest.raises(ValueError, match="need the density"):
        elastic_sphere(1.0, 1.0, cal.ElasticMaterial(2e11, 0.3), WATER)
    with pytest.raises(TypeError, match="material must be elastic"):
        elastic_sphere(1.0, 1.0, WATER, WATER)
    with pytest.raises(TypeError, match="fluid must have a density"):
        elastic_sphere(1.0, 1.0, STEEL, 1000.0)
    with pytest.raises(ValueError, match="loss_factor is at least 0"):
        cal.ElasticMaterial.from_wave_speeds(7700.0, 5950.0, 3240.0, loss_factor=-0.01)
    with pytest.raises(ValueError, match="longitudinal waves are faster"):
        cal.ElasticMaterial.from_wave_speeds(7700.0, 3240.0, 5950.0)
