"""Wires above real earth: NEC-2, limits of the earth, power through its face, Maxwell's equations, reciprocity."""

import tracemalloc

import numpy as np
import pytest

import calderon as cal
from calderon.exact import SPEED_OF_LIGHT, VACUUM_IMPEDANCE

F = 14e6
L = SPEED_OF_LIGHT / F  # the wavelength
EARTH = cal.mesh.Material(13.0, conductivity=5e-3)
SLOPING = ((0, 0, 0.1), (0.3, 0, 0.5))


def antenna(ends, ground=EARTH, segments=42):
    ends = np.array(ends) * L
    return cal.WireAntenna(cal.Wire(ends, 1e-4 * L, segments), cal.WireGap(ends.mean(axis=0)), F, ground=ground)


def lying(height):
    return (-0.25, 0, height), (0.25, 0, height)


def upright(low):
    return (0, 0, low), (0, 0, low + 0.5)


def largest_gain(solution):
    theta, phi = np.meshgrid(np.linspace(0, np.pi / 2, 91), [0, np.pi / 2])
    return solution.gain(theta, phi, decibels=True).max()


@pytest.fixture(scope="module")
def sloping():
    return antenna(SLOPING).solve()


# nec2c 1.3 with GN 2 and 41 segments: R + jX in ohm, the largest gain in dBi in the planes x and y
NEC = {
    "lying, 0.1": (lying(0.1), 60.56 + 59.41j, 3.96),
    "lying, 0.5": (lying(0.5), 74.08 + 35.07j, 7.45),
    "lying, 0.02": (lying(0.02), 96.65 + 78.99j, -4.63),
    "upright, 0.05": (upright(0.05), 90.74 + 38.80j, 0.49),
    "upright, 0.3": (upright(0.3), 77.87 + 47.40j, 0.96),
    "sloping": (SLOPING, 88.78 + 42.03j, 1.88),
}


@pytest.mark.parametrize("name", NEC)
def test_dipoles_above_earth_are_those_of_nec(name):
    ends, z, gain = NEC[name]
    solution = antenna(ends).solve()
    assert abs(solution.input_impedance.conjugate() - z) < 0.02 * abs(z)
    assert largest_gain(solution) == pytest.approx(gain, abs=0.1)


def test_earth_of_vacuum_is_none_and_of_metal_is_metal():
    free, metal = (antenna(SLOPING, ground, 20).solve() for ground in (None, "pec"))
    nothing = antenna(SLOPING, cal.mesh.Material(), 20).solve()
    assert nothing.input_impedance == pytest.approx(free.input_impedance, rel=1e-12)
    assert nothing.far_field(0.7, 0.3) == pytest.approx(free.far_field(0.7, 0.3), rel=1e-9)
    points = np.array([[2.0, 3.0, 1.0], [5.0, -4.0, 6.0]])
    errors = []
    for sigma in (1e4, 1e6):  # differences fall like the surface impedance
        good = antenna(SLOPING, cal.mesh.Material(conductivity=sigma), 20).solve()
        fields = (("electric", (points,)), ("magnetic", (points,)), ("far_field", (0.7, 0.3)))
        pairs = [(getattr(each, name)(*at) for each in (good, metal)) for name, at in fields]
        relative = [np.abs(one - other).max() / np.abs(other).max() for one, other in pairs]
        errors.append([abs(good.input_impedance / metal.input_impedance - 1), *relative])
    np.testing.assert_array_less(errors[1], 2e-4)
    np.testing.assert_array_less(errors[1], 0.15 * np.array(errors[0]))


def test_power_is_radiated_upward_or_flows_into_the_earth():
    solution = antenna(lying(0.1), segments=10).solve()
    # Poynting's vector through the face of the earth, of a quarter of the plane
    t, weights = np.polynomial.legendre.leggauss(24)
    end = np.arctan(40.0)
    angle = (t + 1) / 2 * end
    rho, phi = 0.2 * L * np.tan(angle), (np.arange(4) + 0.5) * np.pi / 8
    x = np.stack([np.outer(rho, np.cos(phi)), np.outer(rho, np.sin(phi)), np.full((24, 4), 1e-3 * L)], axis=-1)
    flux = np.cross(solution.electric(x), solution.magnetic(x).conj()).real[..., 2] / 2
    into = -(flux.mean(axis=1) * 2 * np.pi * rho * weights * end / 2 * 0.2 * L / np.cos(angle) ** 2).sum()
    assert into > 0.5 * solution.input_power
    assert solution.radiated_power() + into == pytest.approx(solution.input_power, rel=3e-3)


def test_fields_obey_maxwells_equations_and_a_wave_is_received_as_it_is_sent(sloping):
    x, k, step = np.array([[2.0, 3.0, 1.0], [5.0, -4.0, 6.0], [3.0, 0.0, 2.0]]), sloping.wavenumber, 1e-3

    def curl(field):
        moved = [(field(x + step * e) - field(x - step * e)) / (2 * step) for e in np.eye(3)]
        return sum(np.cross(e, each) for e, each in zip(np.eye(3), moved, strict=True))

    h, e = sloping.magnetic(x), sloping.electric(x)
    assert curl(sloping.electric) == pytest.approx(1j * k * VACUUM_IMPEDANCE * h, abs=1e-5 * np.abs(e).max() * k)
    assert curl(sloping.magnetic) == pytest.approx(-1j * k / VACUUM_IMPEDANCE * e, abs=1e-5 * np.abs(h).max() * k)
    toward = cal.exact.unit_directions(0.8, 0.4)
    vector = np.array([1, 2j, 0]) - (np.array([1, 2j, 0]) @ toward) * toward
    wave = cal.ElectromagneticPlaneWave(-toward, vector, k)
    received = antenna(SLOPING).solve(wave).feed_currents[0]
    sent = sloping.far_field(0.8, 0.4) @ np.asarray(wave.polarization) * 4 * np.pi / (1j * k * VACUUM_IMPEDANCE)
    assert received == pytest.approx(sent, rel=1e-6)


def test_layers_below_and_files(tmp_path, sloping):
    stack = cal.planar.Stack([cal.planar.Layer(3.0, 13.0, conductivity=5e-3)] * 2,
                             below=cal.planar.Layer(eps_r=13.0, conductivity=5e-3))  # fmt: skip
    high = antenna(np.array(SLOPING) + [0, 0, 6.0 / L], stack).solve()
    assert high.input_impedance == pytest.approx(sloping.input_impedance, rel=1e-6)
    sloping.save(tmp_path / "wires.h5")
    again = cal.load(tmp_path / "wires.h5")
    assert np.array_equal(again.far_field(0.7, 0.3), sloping.far_field(0.7, 0.3))
    deck = tmp_path / "deck.nec"
    a, b = (" ".join(f"{v * L:.9g}" for v in end) for end in SLOPING)
    deck.write_text(f"GW 1 41 {a} {b} {1e-4 * L}\nGE 0\nGN 2 0 0 0 13 .005\nEX 0 1 21 0 1 0\nFR 0 1 0 0 14 0\nEN\n")
    assert cal.read_nec(deck).solve().input_impedance == pytest.approx(sloping.input_impedance, rel=1e-2)


@pytest.mark.parametrize(
    ("ends", "ground", "message"),
    [
        (upright(0.0), EARTH, "wire 0 reaches z = 0 m, into the ground, whose face is z = 0 m"),
        (upright(0.1), 13.0, "ground is 'pec', a Material such as"),
        (upright(0.1), cal.planar.Stack(above="pec"), "got pec"),
    ],
)
def test_wires_that_cannot_be_above_earth_are_refused(ends, ground, message):
    with pytest.raises((TypeError, ValueError), match=message):
        antenna(ends, ground)


def test_points_in_the_earth_have_no_field(sloping):
    with pytest.raises(ValueError, match="1 of 2 points are in the ground, below z = 0 m"):
        sloping.electric([[1.0, 1.0, 1.0], [1.0, 1.0, -1.0]])
    wave = cal.ElectromagneticPlaneWave([0, 0, 1], [1, 0, 0], sloping.wavenumber)
    with pytest.raises(ValueError, match="a wave comes from above the ground"):
        antenna(SLOPING).solve(wave)


def test_planned_bytes_do_not_depend_on_the_height(sloping):
    """High above the earth all pairs of points lie in one cell of the table."""
    for height in (0.1, 0.5):
        above = antenna(lying(height), segments=60)
        tracemalloc.start()
        above.matrix()
        taken = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert taken < above.plan().nbytes < 1.2 * taken
