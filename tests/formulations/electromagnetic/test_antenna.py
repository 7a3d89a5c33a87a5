"""Strip dipoles against the theory of thin antennas, power and reciprocity of ports, and how feeds are found."""

import numpy as np
import pytest
from scipy.optimize import brentq

import calderon as cal
from calderon.pairs import zones

LENGTH, WIDTH = 1.0, 1.0 / 250
MIDDLE = cal.DeltaGap(line=[[-WIDTH / 2, 0, 0], [WIDTH / 2, 0, 0]])


def strip(along, across=1, length=LENGTH, at=0.0):
    """A strip along y of so many cells, about (at, 0, 0)."""
    x, y = np.linspace(-WIDTH / 2, WIDTH / 2, across + 1) + at, np.linspace(-length / 2, length / 2, along + 1)
    vertices = np.stack([*(part.ravel() for part in np.meshgrid(x, y)), np.zeros(len(x) * len(y))], axis=1)
    a = (np.arange(along)[:, None] * (across + 1) + np.arange(across)).ravel()
    b = a + across + 1
    return cal.TriangleMesh(vertices, np.concatenate([np.stack([a, a + 1, b + 1], 1), np.stack([a, b + 1, b], 1)]))


def dipole(mesh, wavelengths, feed=MIDDLE):
    return cal.PECAntenna(mesh, 2 * np.pi * wavelengths / LENGTH, feed)


def resonance(mesh):
    """Length in wavelengths at which the reactance vanishes, and the resistance in ohm there."""
    reactance = lambda x: -dipole(mesh, x).solve().input_impedance.imag  # noqa: E731
    length = brentq(reactance, 0.46, 0.49, xtol=1e-4)
    return length, dipole(mesh, length).solve().input_impedance.real


@pytest.fixture(scope="module")
def half_wave():
    return dipole(strip(60), 0.479).solve()


@pytest.fixture(scope="module")
def short():
    return dipole(strip(20), 0.02).solve()


def test_resonant_length_and_resistance_of_a_strip_dipole():
    """0.47 to 0.485 wavelengths and 66 to 76 ohm, hardly changed by finer meshes along and across the strip."""
    figures = np.array([resonance(strip(*cells)) for cells in ((20, 1), (40, 1), (40, 2))])
    assert np.all((0.47 < figures[:, 0]) & (figures[:, 0] < 0.485)), figures
    assert np.all((66 < figures[:, 1]) & (figures[:, 1] < 76)), figures
    assert np.ptp(figures[:, 0]) < 2e-3 and np.ptp(figures[:, 1]) < 0.5, figures


def test_a_closed_rod_is_a_strip_of_the_same_equivalent_radius():
    """A square rod of side s acts like a wire of radius 0.59 s, a strip of width w like one of w / 4 (Balanis 2016,
    section 9.5): fed around a ring of edges, a closed body gives the impedance of the strip."""
    side = WIDTH / 4 / 0.59
    rod = cal.mesh.cuboid([side, LENGTH, side], LENGTH / 80)
    rod = cal.TriangleMesh(rod.vertices, rod.triangles, rod.centroids[:, 1] > 0)
    ring = dipole(rod, 0.479, cal.DeltaGap(between=(0, 1))).solve()
    assert ring.input_impedance == pytest.approx(dipole(strip(80, 2), 0.479).solve().input_impedance, rel=0.02)
    assert ring.radiated_power() == pytest.approx(ring.input_power, rel=1e-8)


def test_power_is_conserved(half_wave):
    """The power of the feed leaves through a large sphere: the Galerkin equation conserves power."""
    assert abs(half_wave.radiated_power() / half_wave.input_power - 1) < 1e-8
    current = abs(half_wave.feed_currents[0])
    assert half_wave.input_power == pytest.approx(current**2 * half_wave.input_impedance.real / 2)


def test_gain_of_half_wave_and_short_dipoles(half_wave, short):
    broadside = half_wave.gain(np.pi / 2, 0.0)
    assert broadside == pytest.approx(1.64, rel=1e-2)
    assert half_wave.gain(np.pi / 2, 0.0, decibels=True) == pytest.approx(2.15, abs=0.05)
    assert short.directivity(np.pi / 2, 0.0) == pytest.approx(1.5, rel=1e-3)
    # along y: the far field is along phi-hat at phi = 0 and vanishes on the axis
    assert short.gain(np.pi / 2, 0.0, "V") < 1e-8 * short.gain(np.pi / 2, 0.0, "H")
    assert short.gain(np.pi / 2, np.pi / 2) < 1e-4


def test_beam_and_polarisation_of_a_half_wave_dipole(half_wave):
    """cos(pi / 2 sin theta) / cos theta, in a plane with the dipole, falls to half the power at 39 degrees either way;
    around the dipole nothing falls. The wave is linear."""
    assert np.degrees(half_wave.beam_width(np.pi / 2)) == pytest.approx(78, abs=1)
    assert half_wave.beam_width(0.0) == pytest.approx(np.pi)
    assert half_wave.axial_ratio(0.3, 0.4) > 1e4


def test_near_field_of_a_short_dipole_is_that_of_a_point(short):
    """E in V/m and H in A/m at ten lengths, a fifth of a wavelength, from the moment of the current."""
    eta = cal.exact.VACUUM_IMPEDANCE
    point = cal.ElectricDipole([0, 0, 0], short.surface.integral(), short.currents.wavenumber, impedance=eta)
    x = 10 * np.array([[1.0, 0, 0], [0, 1, 0], [0.6, 0, -0.8], [0.6, 0.64, 0.48]])
    for found, exact in ((short.electric(x), point.electric(x)), (short.magnetic(x), point.magnetic(x))):
        assert np.linalg.norm(found - exact) < 3e-3 * np.linalg.norm(exact)
    assert short.radiated_power() == pytest.approx(point.radiated_power(), rel=1e-3)
    # a short dipole is a capacitor: X < 0, with a resistance of 20 (kL / 2)^2 ohm for a triangular current
    z = short.input_impedance
    assert -z.imag < -1000 and z.real == pytest.approx(5 * (0.02 * 2 * np.pi) ** 2, rel=0.15)


def pair(distance):
    """Two parallel strips, fed in the middle, at a distance along x."""
    left, right = strip(20), strip(20, at=distance)
    vertices = np.concatenate([left.vertices, right.vertices])
    both = cal.TriangleMesh(vertices, np.concatenate([left.triangles, right.triangles + left.number_of_vertices]))
    return dipole(both, 0.479, [MIDDLE, cal.DeltaGap(line=np.asarray(MIDDLE.line) + [distance, 0, 0], name="right")])


def test_mutual_impedance_far_away_is_that_of_the_far_fields():
    """Z_21 = 4 pi i / (k eta) (F / I)^2 exp(ikd) / d with the far field F of a dipole alone, by reciprocity."""
    alone = dipole(strip(20), 0.479)
    solution, k = alone.solve(), alone.wavenumber
    height = (solution.far_field([1.0, 0, 0])[0] / solution.feed_currents[0])[1]
    differences = []
    for distance in (10.0, 80.0):
        mutual = pair(distance).impedance_matrix()[1, 0]
        expected = 4j * np.pi / (k * alone.impedance) * height**2 * np.exp(1j * k * distance) / distance
        differences.append(abs(mutual / expected - 1))
    assert differences[1] < 1e-2 and abs(differences[0] / differences[1] - 8) < 1, differences  # of the order 1/d


def test_one_rule_of_all_pairs_conserves_power(monkeypatch):
    """Points of far fields are those of the matrix then, so that both have the same real power."""
    monkeypatch.setattr(zones, "ERRORS", zones.Errors(waves=((np.inf, 1.0), (np.inf, 1.0))))  # no pair is distant
    solution = pair(1.0).solve([1.0, 0.5j])
    assert solution.radiated_power() == pytest.approx(solution.input_power, rel=2e-10)


def test_ports_are_reciprocal_and_conserve_power():
    antenna = pair(1.0)
    z = antenna.impedance_matrix()
    assert abs(z[0, 1] - z[1, 0]) < 1e-8 * abs(z[0, 1]) and abs(z[0, 0] - z[1, 1]) < 1e-3 * abs(z[0, 0])
    one = np.eye(2)
    s = antenna.scattering_matrix(50.0)
    assert np.allclose(s, (z - 50 * one) @ np.linalg.inv(z + 50 * one))
    solution = antenna.solve([1.0, 0.5j])
    assert np.allclose(z @ solution.feed_currents, [1.0, 0.5j])
    assert solution.radiated_power() == pytest.approx(solution.input_power, rel=1e-7)  # as accurate as distant pairs
    # waves a into the lines of both feeds carry the available power, of which S a comes back
    a = (solution.voltages + 50 * solution.feed_currents) / np.sqrt(8 * 50)
    assert solution.available_power() == pytest.approx(np.linalg.norm(a) ** 2)
    assert solution.input_power == pytest.approx(np.linalg.norm(a) ** 2 - np.linalg.norm(s @ a) ** 2)
    with pytest.raises(ValueError, match="2 feeds"):
        _ = solution.input_impedance
    assert "right: U = 0 + 0.5i V" in str(solution)


def test_realized_gain_is_the_gain_less_the_reflection(half_wave):
    reflected = abs(half_wave.reflection_coefficient(50.0)) ** 2
    realized = half_wave.realized_gain(np.pi / 2, 0.3, "H", reference=50.0)
    assert realized == pytest.approx((1 - reflected) * half_wave.gain(np.pi / 2, 0.3, "H"))
    assert reflected == pytest.approx(0.0325, abs=0.003)  # (72 - 50) / (72 + 50), squared


def test_received_current_is_the_far_field():
    """Reciprocity: what a plane wave from a direction drives through the shorted gap, the transmitted field tells."""
    antenna = dipole(strip(20), 0.6)
    solution, direction, e = antenna.solve(2.0), np.array([0.6, 0.0, 0.8]), np.array([0, 1.0, 0])
    wave = cal.PlaneWave(
        direction=-direction, polarization=e, wavenumber=antenna.wavenumber, impedance=antenna.impedance
    )
    received = antenna.conductor.solve(wave, solver="lu").surface.coefficients @ MIDDLE.weights(antenna.function_space)
    far = solution.far_field(direction)[0] @ e / 2.0
    assert received == pytest.approx(4 * np.pi / (1j * antenna.wavenumber * antenna.impedance) * far, rel=1e-8)


def test_feeds_by_line_tags_and_numbers_agree():
    mesh = strip(6, 2)
    halves = cal.TriangleMesh(mesh.vertices, mesh.triangles, mesh.centroids[:, 1] > 0, {"lower": 0, "upper": 1})
    space = cal.RWG(halves)
    by_line = MIDDLE.weights(space)
    assert np.count_nonzero(by_line) == 2 and np.abs(by_line).sum() == pytest.approx(WIDTH)
    by_tags = cal.DeltaGap(between=("lower", "upper")).weights(space)
    numbers = space.edges[by_line != 0]
    for feed in (cal.DeltaGap(edges=numbers), cal.DeltaGap(edges=numbers, toward=[0, 3.0, 1.0])):
        assert np.array_equal(feed.weights(space), by_line)
    assert np.array_equal(by_tags, by_line)
    assert np.array_equal(cal.DeltaGap(between=(1, 0)).weights(space), -by_line)
    assert np.array_equal(cal.DeltaGap(line=MIDDLE.line, toward=[0, -1.0, 0]).weights(space), -by_line)
    # a uniform current along y crosses the gap as current density times width
    uniform = cal.VectorFunction.interpolate(space, np.array([0, 2.0, 0]))
    assert by_line @ uniform.coefficients == pytest.approx(2.0 * WIDTH)


def test_monopole_on_a_plate_does_not_depend_on_numbering():
    """At the edge where a wall stands on a plate two functions share the gap; which ones depends on the order of the
    triangles, impedance and power do not."""
    ground = cal.mesh.plate([0.5, 0.5], 0.13)
    foot = np.array([[0.0, 0.0, 0.0], [0.125, 0.0, 0.0]])
    steps = np.linspace(0, 0.25, 5)[1:]
    wall = np.concatenate([foot + [0, 0, z] for z in steps])
    known = [int(np.argmin(np.linalg.norm(ground.vertices - point, axis=1))) for point in foot]
    number = np.append(known, ground.number_of_vertices + np.arange(len(wall)))
    a = 2 * np.arange(len(steps))
    faces = number[np.concatenate([np.stack([a, a + 1, a + 3], 1), np.stack([a, a + 3, a + 2], 1)])]
    vertices = np.concatenate([ground.vertices, wall])
    triangles = np.concatenate([ground.triangles, faces])
    tags = np.repeat([1, 2], [ground.number_of_triangles, len(faces)])
    found = []
    for order in (np.arange(len(tags)), np.arange(len(tags))[::-1]):
        mesh = cal.TriangleMesh(vertices, triangles[order], tags[order], {"ground": 1, "wall": 2})
        solution = cal.PECAntenna(mesh, 2 * np.pi, cal.DeltaGap(between=("ground", "wall"))).solve()
        assert solution.radiated_power() == pytest.approx(solution.input_power, rel=1e-6)
        found.append(solution.input_impedance)
    assert found[0] == pytest.approx(found[1], rel=1e-8) and found[0].real > 1
    with pytest.raises(ValueError, match="three or more"):
        cal.DeltaGap(line=foot).weights(cal.RWG(mesh))


def test_bad_feeds_are_refused():
    mesh = strip(6)
    space, odd = cal.RWG(mesh), cal.RWG(strip(5))
    for feed, on, message in (
        (MIDDLE, odd, "even number"),
        (cal.DeltaGap(line=[[-WIDTH / 2, -0.5, 0], [WIDTH / 2, -0.5, 0]]), space, "boundary of the surface"),
        (cal.DeltaGap(edges=[10_000]), space, "counted from 0"),
        (cal.DeltaGap(edges=[]), space, "whole numbers"),
        (cal.DeltaGap(line=MIDDLE.line, toward=[1.0, 0, 0]), space, "toward"),
        (cal.DeltaGap(between=(0, [0])), space, "share tags"),
        (cal.DeltaGap(between=(0, "arm")), space, "unknown tags"),
    ):
        with pytest.raises(ValueError, match=message):
            feed.weights(on)
    for options, message in (
        ({}, "one of between"),
        ({"edges": [1], "between": (0, 1)}, "one of between"),
        ({"between": "ab"}, "pair of tags"),
        ({"line": [[0, 0, 0], [0, 0, 0]]}, "different points"),
        ({"edges": [1], "toward": [0, 0, 0]}, "not zero"),
    ):
        with pytest.raises(ValueError, match=message):
            cal.DeltaGap(**options)
    antenna = cal.PECAntenna(mesh, 3.0, MIDDLE)
    for voltages, kind in (([1.0, 2.0], ValueError), (np.nan, ValueError), ("1 V", TypeError)):
        with pytest.raises(kind, match="voltage"):
            antenna.solve(voltages)
    with pytest.raises(ValueError, match="share"):
        cal.PECAntenna(mesh, 3.0, [MIDDLE, MIDDLE])
    with pytest.raises(TypeError, match="DeltaGap"):
        cal.PECAntenna(mesh, 3.0, "middle")
    with pytest.raises(ValueError, match="positive power"):
        antenna.solve(0.0).gain(0.0, 0.0)
    with pytest.raises(ValueError, match="positive resistance"):
        antenna.scattering_matrix(-50.0)


@pytest.mark.parametrize("value", ["a", None, 50j, [50.0], 0, -1.0, np.inf, pytest.param(10**400, id="1e400")])
def test_impedances_that_are_none_are_refused(value, short):
    mesh = strip(4)
    with pytest.raises(ValueError, match="the impedance of the medium, in ohm, must be a"):
        cal.PECAntenna(mesh, 1.0, MIDDLE, impedance=value)
    with pytest.raises(ValueError, match="the reference impedance in ohm, a positive resistance such as 50, must be a"):
        dipole(mesh, 0.1).scattering_matrix(value)
    with pytest.raises(ValueError, match="the reference impedance"):
        short.reflection_coefficient(value)


def test_feeds_that_are_none_are_refused():
    for feed in (None, 3, [], "gap", [None]):
        with pytest.raises(TypeError, match="an antenna needs a DeltaGap or a list of them as its feed, got"):
            cal.PECAntenna(strip(4), 1.0, feed)


@pytest.mark.filterwarnings("error")
def test_without_a_current_there_is_no_impedance():
    still = dipole(strip(4), 0.1).solve(0)
    for value in (lambda: still.input_impedance, lambda: still.input_impedances, still.reflection_coefficient):
        with pytest.raises(
            ValueError, match="no current flows through feed 1, .* at 0.* V: solve with another voltage"
        ):
            value()
    assert "I = 0 + 0i A" in str(still)
