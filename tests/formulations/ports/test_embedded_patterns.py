"""Embedded patterns: superposition, steering, active reflection, correlation, reception, and shields."""

import numpy as np
import pytest

import calderon as cal

F = 299792458.0
K = 2 * np.pi
R = 40.0
PLACES = np.arange(4) * 0.45
GAPS = [cal.WireGap([x, 0, 0]) for x in PLACES]


def row(**given):
    rods = [cal.Wire([[x, 0, -0.23], [x, 0, 0.23]], 1e-3, 12) for x in PLACES]
    return cal.WireAntenna(rods, given.pop("ports", GAPS), F, **given)


def slot(x):
    return cal.DeltaGap(line=[[x, -0.05, 0], [x, 0.05, 0]])


def conductor():
    mesh, load = cal.mesh.plate([0.5, 0.1], 0.05), cal.Lumped(slot(0.15), resistance=20.0)
    return cal.PECAntenna(mesh, K, [slot(-0.1), slot(0.1)], loads=load).connected([[0.01]], slot(-0.2))


def bodies(**given):
    mesh = cal.mesh.plate([0.5, 0.1], 0.05)
    regions, surfaces = {"air": cal.Material()}, {0: cal.Sheet("air")}
    given = {"ports": [slot(-0.1), slot(0.1)], "wavenumber": K, **given}
    return cal.MaxwellProblem(mesh, regions=regions, surfaces=surfaces, **given)


MADE = {
    "wires": lambda: row().connected(cal.Line(75.0, 0.2), GAPS[:2]),
    "conductor": conductor,
    "sheet": lambda: bodies().connected([[0.01]], slot(-0.2)),
}


@pytest.mark.parametrize("name", MADE)
def test_beams_by_embedded_patterns_are_those_of_a_new_solution(name):
    antenna = MADE[name]()
    array = antenna.embedded(R)
    np.testing.assert_allclose(array.scattering_matrix, antenna.scattering_matrix(R), atol=1e-9)
    e = array.generators(1.1, 0.4, np.linspace(1.0, 0.5, len(array.units)))
    beam = array.fed(e)
    again = antenna.solve(beam.voltages)
    directions = (np.linspace(0.1, 3.0, 7), 0.3)
    np.testing.assert_allclose(beam.far_field(*directions), again.far_field(*directions), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(
        np.tensordot(e, array.far_fields(*directions), 1), beam.far_field(*directions), rtol=1e-8
    )
    assert beam.input_power == pytest.approx(again.input_power, rel=1e-8)
    # a generator behind R sees the active reflection, and all of them the power that goes in
    np.testing.assert_allclose(beam.voltages + R * beam.feed_currents, e, rtol=1e-9)
    reflected = array.active_reflection(e)
    np.testing.assert_allclose(reflected, (beam.voltages - R * beam.feed_currents) / e, atol=1e-9)
    assert np.sum(abs(e) ** 2 * (1 - abs(reflected) ** 2)) / (8 * R) == pytest.approx(beam.input_power, rel=1e-9)


def test_a_beam_points_where_it_is_steered_and_all_elements_add_up():
    array = row().embedded(R)
    toward = np.pi / 2, np.radians(65)
    beam = array.steered(*toward, polarization="V")
    phi = np.radians(np.arange(0, 181, 1.0))
    assert abs(phi[beam.gain(np.pi / 2, phi).argmax()] - toward[1]) < np.radians(4)
    each = abs(array.far_fields(*toward)).max(axis=1)
    assert abs(beam.far_field(*toward)).max() == pytest.approx(each.sum(), rel=1e-12)
    # no other phases of generators of 1 V give more
    random = np.exp(2j * np.pi * np.random.default_rng(3).uniform(size=(20, 4)))
    assert (abs(random @ array.far_fields(*toward)).max(axis=1) < each.sum()).all()
    vertical, chosen = array.generators(*toward, polarization="V"), array.generators(*toward)
    np.testing.assert_allclose(chosen / chosen[0], vertical / vertical[0], rtol=1e-9)


def test_what_is_received_is_what_loads_get_from_a_wave():
    array = row().embedded(R)
    radial, up = cal.exact.unit_directions(1.0, 0.4), [np.cos(1) * np.cos(0.4), np.cos(1) * np.sin(0.4), -np.sin(1)]
    wave = cal.ElectromagneticPlaneWave(-radial, up, K)
    loaded = row(loads=[cal.Lumped(gap, resistance=R) for gap in GAPS]).solve(wave)
    np.testing.assert_allclose(array.received(1.0, 0.4), -R * loaded.feed_currents, rtol=1e-6)
    np.testing.assert_allclose(array.received([1.0], [0.4], "V", 2.0)[:, 0], 2 * array.received(1.0, 0.4), rtol=1e-12)


def test_patterns_of_far_elements_are_not_correlated_and_those_of_equal_ones_are():
    """The correlation of two lossless ports follows from S (Blanch, Romeu, Corbella 2003)."""
    array = row(ports=GAPS[:2]).embedded(R)
    s = array.scattering_matrix
    rows = [1 - np.sum(abs(s[:, n]) ** 2) for n in range(2)]
    expected = abs(np.vdot(s[:, 0], s[:, 1])) ** 2 / (rows[0] * rows[1])
    found = array.envelope_correlation()
    assert found[0, 1] == pytest.approx(expected, rel=1e-3)
    np.testing.assert_allclose(np.diagonal(found), 1.0, rtol=1e-12)
    apart = [cal.Wire([[x, 0, -0.23], [x, 0, 0.23]], 1e-3, 12) for x in (0.0, 20.25)]
    gaps = [cal.WireGap([0, 0, 0]), cal.WireGap([20.25, 0, 0])]
    assert cal.WireAntenna(apart, gaps, F).embedded(R).envelope_correlation()[0, 1] < 1e-3


def test_a_sphere_of_glass_shields_as_statics_say():
    wave = cal.PlaneWave([0, 0, 1], polarization=[1, 0, 0], wavenumber=0.05)
    body = cal.DielectricScattering(cal.mesh.sphere(1.0, h=0.4), 0.05, permittivity=4.0).solve(wave)
    inside = [[0, 0, 0], [0.3, 0.2, 0.1]]
    assert body.shielding_effectiveness(inside) == pytest.approx(20 * np.log10(2.0), abs=0.25)
    assert body.shielding_effectiveness(inside, "magnetic") == pytest.approx(0.0, abs=0.02)
    with pytest.raises(ValueError, match="field"):
        body.shielding_effectiveness(inside, "both")


def test_what_makes_no_beam_is_refused():
    array = row(ports=GAPS[:2]).embedded(R)
    with pytest.raises(ValueError, match="has 0 V"):
        array.active_reflection([1.0, 0.0])
    with pytest.raises(ValueError, match="one direction"):
        array.steered([0.1, 0.2], 0.0)
    with pytest.raises(ValueError, match="a list of 2"):
        array.fed([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="has none"):
        row(ports=()).embedded()
