"""Images of waves in planes."""

import numpy as np
import pytest

import calderon as cal

K = 1.3
POINTS = np.random.default_rng(0).uniform(-1, 1, (6, 3))
Y = [0.3, 2.0, -2.5]
SOUND = {
    "plane": cal.PlaneWave([1.0, 2.0, -0.5], K, 2 - 1j),
    "source": cal.PointSource(Y, K, 1 + 3j),
    "multipole": cal.Multipole(Y, np.arange(9) + 1j * np.arange(9)[::-1], K),
    "sum": 2j * cal.PlaneWave([1.0, 2.0, -0.5], K) + cal.PointSource(Y, K),
}
FIELDS = {
    "plane": cal.PlaneWave([1.0, 0, -0.5], K, 2 - 1j, polarization=[1.0, 2.0, 2.0], impedance=377.0),
    "electric": cal.ElectricDipole(Y, [1.0, 2j, 0.5], K, 377.0),
    "magnetic": cal.MagneticDipole(Y, [1.0, 2j, 0.5], K),
}


@pytest.mark.parametrize("plane", "xyz")
@pytest.mark.parametrize("name", SOUND)
def test_sound_is_that_at_the_image(name, plane):
    reflection = np.where(np.array(list("xyz")) == plane, -1.0, 1.0)
    wave, image = SOUND[name], SOUND[name].mirrored(plane)
    np.testing.assert_allclose(image(POINTS), wave(POINTS * reflection), rtol=1e-12)
    np.testing.assert_allclose(image.gradient(POINTS), wave.gradient(POINTS * reflection) * reflection, rtol=1e-10)


@pytest.mark.parametrize("plane", "xyz")
@pytest.mark.parametrize("name", FIELDS)
def test_the_electric_field_is_reflected_and_the_magnetic_one_has_the_other_sign(name, plane):
    reflection = np.where(np.array(list("xyz")) == plane, -1.0, 1.0)
    wave, image = FIELDS[name], FIELDS[name].mirrored(plane)
    there = POINTS * reflection
    np.testing.assert_allclose(image.electric(POINTS), wave.electric(there) * reflection, rtol=1e-12)
    np.testing.assert_allclose(image.magnetic(POINTS), -wave.magnetic(there) * reflection, rtol=1e-12)
    assert image.takes_impedance == wave.takes_impedance


def test_waves_of_others_have_no_image():
    class Other(cal.waves.Wave):
        def __call__(self, x, n=None):
            return x[:, 0]

        def gradient(self, x):
            return x

    with pytest.raises(TypeError, match="Other has no image"):
        Other().mirrored("z")
