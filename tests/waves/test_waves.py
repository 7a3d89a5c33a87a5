"""Waves satisfy their equation, their gradients are those of their values, and bad input is refused."""

import numpy as np
import pytest

from calderon.waves import PlaneWave, PointSource, Superposition

WAVES = [
    PlaneWave([1, 2, -2], 3.0),
    PlaneWave([0, 0, 5], 2.0 + 0.3j, amplitude=2 - 1j),
    PlaneWave([1, 0, 0], 1.5j),
    PointSource([0.1, -0.2, 0.3], 0),
    PointSource([0, 0, 0], 4.0, amplitude=3j),
    PointSource([0.5, 0, 0], 2 + 1j),
    PointSource([0, 0.1, 0], 2j),
    PlaneWave([0, 1, 0], 2.0) + 0.5j * PointSource([0, 0, 0.2], 2.0),
]
POINTS = np.array([[1.0, 0.4, 0.2], [-0.7, 1.1, 0.5], [0.3, -0.8, -1.4]])
AXES = np.eye(3)


@pytest.mark.parametrize("wave", WAVES, ids=repr)
def test_wave_satisfies_the_helmholtz_equation(wave):
    """Fourth-order differences of the gradient: div grad u = -k^2 u."""
    h = 1e-3
    divergence = sum(
        8 * (wave.gradient(POINTS + h * e) - wave.gradient(POINTS - h * e)) @ e
        - (wave.gradient(POINTS + 2 * h * e) - wave.gradient(POINTS - 2 * h * e)) @ e
        for e in AXES
    ) / (12 * h)
    scale = np.abs(wave.gradient(POINTS)).max() * max(abs(wave.wavenumber), 1)
    assert np.abs(divergence + wave.wavenumber**2 * wave(POINTS)).max() < 1e-9 * scale


@pytest.mark.parametrize("wave", WAVES, ids=repr)
def test_gradient_is_that_of_the_values(wave):
    h = 1e-3
    gradient = np.stack(
        [
            (8 * (wave(POINTS + h * e) - wave(POINTS - h * e)) - wave(POINTS + 2 * h * e) + wave(POINTS - 2 * h * e))
            / (12 * h)
            for e in AXES
        ],
        axis=1,
    )
    assert np.abs(gradient - wave.gradient(POINTS)).max() < 1e-9 * np.abs(gradient).max()
    normals = POINTS / np.linalg.norm(POINTS, axis=1)[:, None]
    assert np.allclose(
        wave.normal_derivative(POINTS, normals), np.sum(wave.gradient(POINTS) * normals, axis=1), rtol=1e-14
    )
    assert np.array_equal(wave(POINTS, normals), wave(POINTS))


@pytest.mark.parametrize("wave", [wave for wave in WAVES if isinstance(wave, PointSource)], ids=repr)
def test_far_field_is_the_limit_of_the_field(wave):
    """u = F exp(ikr)/r (1 + c/r + O(1/r^2)); the 1/r term is removed by a second radius."""
    directions = POINTS / np.linalg.norm(POINTS, axis=1)[:, None]

    def scaled(r):
        return wave(r * directions) * r * np.exp(-1j * wave.wavenumber * r)

    limit = 2 * scaled(200.0) - scaled(100.0)
    assert np.abs(limit - wave.far_field(directions)).max() < 1e-3 * np.abs(limit).max()


def test_point_source_has_unit_flux():
    """Laplace: the flux of -grad u through a sphere about the charge is its strength."""
    wave = PointSource([0, 0, 0], 0, amplitude=2.5)
    assert np.allclose(-wave.normal_derivative(3 * AXES, AXES) * 4 * np.pi * 9, 2.5, rtol=1e-14)
    assert wave(POINTS).dtype == np.float64


def test_direction_is_normalised_and_fixed():
    wave = PlaneWave([3, 0, 4], 1.0)
    assert np.allclose(wave.direction, [0.6, 0, 0.8], rtol=1e-15)
    with pytest.raises(ValueError, match="read-only"):
        wave.direction[0] = 1
    with pytest.raises(AttributeError):
        wave.wavenumber = 2.0
    assert np.allclose(PlaneWave([1e-200, 0, 0], 1).direction, [1, 0, 0])


def test_loss_decays_along_the_direction():
    values = np.abs(PlaneWave([0, 0, 1], 1 + 0.5j)(np.array([[0, 0, 0.0], [0, 0, 2.0]])))
    assert values[1] / values[0] == pytest.approx(np.exp(-1))


def test_waves_add_and_scale():
    a, b = PlaneWave([1, 0, 0], 2.0), PointSource([0, 0, 0], 2.0)
    total = np.float64(2) * a + b * 1j - a
    assert isinstance(total, Superposition) and total.wavenumber == 2.0 and len(total.terms) == 3
    assert np.allclose(total(POINTS), a(POINTS) + 1j * b(POINTS), rtol=1e-14)
    with pytest.raises(ValueError, match="one wavenumber"):
        a + PointSource([0, 0, 0], 3.0)
    with pytest.raises(TypeError):
        a + 1
    with pytest.raises(ValueError, match="factor"):
        np.nan * a


@pytest.mark.parametrize("direction", [[0, 0, 0], [np.nan, 0, 1], [np.inf, 0, 0], [1, 0], [[1, 0, 0]], "x", [1j, 0, 0]])
def test_direction_that_is_none_is_refused(direction):
    with pytest.raises(ValueError, match="direction of a plane wave"):
        PlaneWave(direction, 1.0)


@pytest.mark.parametrize(
    ("wavenumber", "text"),
    [(0, "not be zero"), (np.nan, "finite"), (1 - 0.1j, "conjugate"), (-1, "negative real"), ("k", "k")],
)
def test_wavenumber_that_is_none_is_refused(wavenumber, text):
    with pytest.raises(ValueError, match=text):
        PlaneWave([0, 0, 1], wavenumber)


def test_bad_sources_and_points_are_refused():
    with pytest.raises(ValueError, match="position"):
        PointSource([0, 0], 1.0)
    with pytest.raises(ValueError, match="amplitude"):
        PointSource([0, 0, 0], 1.0, amplitude=np.inf)
    wave = PointSource([0, 0, 0], 1.0)
    for points, text in [([0, 0, 1.0], "shape"), (np.zeros((4, 2)), "shape"), ([[np.nan, 0, 0]], "1 of 1 points")]:
        with pytest.raises(ValueError, match=text):
            wave(points)
    with pytest.raises(ValueError, match="lies on"):
        wave(np.zeros((1, 3)))
    with pytest.raises(ValueError, match="2 normals for 3 points"):
        wave.normal_derivative(POINTS, POINTS[:2])
    assert wave(np.empty((0, 3))).shape == (0,)
