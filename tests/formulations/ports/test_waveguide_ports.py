"""Waveguide ports: guides that go on do not reflect and delay by exp(i beta L), horns radiate what they accept."""

import numpy as np
import pytest

import calderon as cal
from calderon.exact import SPEED_OF_LIGHT
from calderon.formulations.composite.guides.modes import waveguide_modes
from calderon.formulations.ports.port_arrows import port_arrows
from calderon.report.reflection import accepted_part

A, B, LENGTH, F = 22.86e-3, 10.16e-3, 24e-3, 10e9  # WR-90
MEDIA = {"air": cal.mesh.Material(), "guide": cal.mesh.Material()}
pytestmark = pytest.mark.filterwarnings("ignore::calderon.mesh.errors.CoarseMeshWarning")


def tagged(mesh, tops=True):
    z = mesh.centroids[:, 2]
    low, high = np.isclose(z, mesh.vertices[:, 2].min()), np.isclose(z, mesh.vertices[:, 2].max())
    kept = np.ones(len(z), bool) if tops else ~high
    tags = np.where(low, 1, np.where(high, 2, 0))[kept]
    names = {"walls": 0, "left": 1} | ({"right": 2} if tops else {})
    return cal.TriangleMesh(mesh.vertices, mesh.triangles[kept], tags, names)


def section(mesh, frequency=F, guide=MEDIA["guide"], **port):
    ends = {name: cal.WaveguidePort("guide", "air", **port) for name in ("left", "right")}
    surfaces = {"walls": cal.Metal("air", "guide"), **ends}
    media = {"air": cal.mesh.Material(), "guide": guide}
    return cal.MaxwellProblem(tagged(mesh), regions=media, surfaces=surfaces, frequency=frequency)


def beta_of(frequency, cutoff, epsilon=1.0):
    return np.sqrt((2 * np.pi * frequency / SPEED_OF_LIGHT) ** 2 * epsilon - cutoff**2 + 0j)


def decibels(value):
    return 20 * np.log10(abs(value))


@pytest.fixture(scope="module")
def rectangular():
    return cal.mesh.cuboid([A, B, LENGTH], 5e-3)


def test_a_rectangular_guide_goes_on(rectangular):
    problem = section(rectangular)
    s = problem.scattering_matrix(method="dense")
    through = s[1, 0] / np.exp(1j * beta_of(F, np.pi / A) * LENGTH)
    assert abs(np.degrees(np.angle(through))) < 1 and abs(through) == pytest.approx(1, abs=2e-3)
    assert decibels(s[0, 0]) < -35 and decibels(s[1, 1]) < -35
    assert s == pytest.approx(s.T, abs=1e-10)
    assert s.conj().T @ s == pytest.approx(np.eye(2), abs=1e-3)
    # the power of a wave of 1 is 1/2 W, which leaves through the other port
    solution = problem.solve([1.0, 0.0], method="dense")
    power = np.real(solution.voltages * solution.feed_currents.conj()) / 2
    assert power == pytest.approx([0.5, -0.5], rel=2e-3)
    assert problem.admittance_matrix(method="dense") @ solution.voltages == pytest.approx(solution.feed_currents)
    # the field in the middle is that of the mode
    x = [[0.0, 0.0, 0.0], [A / 4, 0.0, 0.0]]
    field = solution.electric(np.array(x))[:, 1]
    assert abs(field[1] / field[0]) == pytest.approx(np.cos(np.pi / 4), rel=0.01)
    y = beta_of(F, np.pi / A) / (2 * np.pi * F * 4e-7 * np.pi)
    assert abs(field[0]) == pytest.approx(np.sqrt(2 / (A * B) / y.real), rel=0.02)


def test_a_lossy_filling_attenuates(rectangular):
    medium = cal.mesh.Material(2.2, loss_tangent=0.02)
    s = section(rectangular, 7e9, medium).scattering_matrix(method="dense")
    through = s[1, 0] / np.exp(1j * beta_of(7e9, np.pi / A, 2.2 * (1 + 0.02j)) * LENGTH)
    assert abs(np.degrees(np.angle(through))) < 1 and decibels(through) == pytest.approx(0, abs=0.03)
    assert decibels(s[0, 0]) < -35


def test_a_coaxial_line_has_its_impedance_and_delay():
    mesh = cal.mesh.tube(3e-3, 1.3e-3, 8e-3, 1.15e-3)
    ends = {name: cal.WaveguidePort("guide", "air") for name in ("bottom", "top")}
    walls = {name: cal.Metal("air", "guide") for name in ("inner", "outer")}
    problem = cal.MaxwellProblem(mesh, regions=MEDIA, surfaces=walls | ends, frequency=8e9)
    s = problem.scattering_matrix(method="dense")
    assert np.degrees(np.angle(s[1, 0] / np.exp(1j * problem.wavenumber * 8e-3))) == pytest.approx(0, abs=1)
    assert decibels(s[0, 0]) < -35


FOOT = cal.WireGap([0, -B / 2, 0], [0, 1, 0])


def launcher(**given):
    """A guide with a metal end and a probe in it, a quarter of a guided wavelength before the end, about."""
    mesh = tagged(cal.mesh.cuboid([A, B, LENGTH], 4.5e-3))
    metal = cal.Metal("air", "guide")
    surfaces = {"walls": metal, "left": cal.WaveguidePort("guide", "air"), "right": metal}
    probe = cal.Wire([[0, -B / 2, 0], [0, 1.2e-3, 0]], 0.1e-3, 6)
    return cal.MaxwellProblem(mesh, regions=MEDIA, surfaces=surfaces, wires=probe, frequency=F, **given)


def test_a_probe_couples_a_line_to_a_guide():
    """Nothing is lost between both; a load of 50 ohm, in the matrix or by a circuit, is a matched line."""
    problem = launcher(ports=FOOT)
    s = problem.scattering_matrix(method="dense")
    assert s == pytest.approx(s.T, abs=1e-9)
    assert s.conj().T @ s == pytest.approx(np.eye(2), abs=2e-3)
    assert abs(s[1, 0]) > 0.5
    loaded = launcher(loads=cal.Lumped(FOOT, resistance=50.0))
    assert loaded.scattering_matrix(method="dense")[0, 0] == pytest.approx(s[0, 0], abs=1e-9)
    joined = launcher().connected(np.array([[1 / 50]]), FOOT)
    assert joined.scattering_matrix(method="dense")[0, 0] == pytest.approx(s[0, 0], abs=1e-9)
    hit = joined.solve([1.0], method="dense")
    assert hit.circuit_power == pytest.approx(hit.input_power, rel=5e-3)
    both = problem.solve([1.0, 2.0], method="dense")
    assert both.feeds == ("left", "port 1") and both.voltages[1] == 2.0
    arrows = port_arrows(problem, both.feeds)
    assert arrows.texts == both.feeds and np.allclose(arrows.vectors[1, ::2], 0)
    part = accepted_part(s[None], np.array([1.0, 2.0]), 50.0, 1)
    assert part[0] == pytest.approx(both.input_power / both.available_power(50.0), abs=1e-9)
    assert problem.admittance_matrix(method="dense") @ both.voltages == pytest.approx(both.feed_currents)
    with pytest.raises(ValueError, match="1 mode.s. of waveguides and 1 port.s.: give one amplitude for each, then"):
        problem.solve([1.0])
    with pytest.raises(ValueError, match="of gaps alone"):
        problem.embedded()


def test_polarizations_of_a_circular_guide_are_ports_of_their_own():
    mesh = cal.mesh.cylinder(10e-3, 20e-3, 4.5e-3)
    s = section(mesh, 10.5e9, waves=2, polarization=(1, 0, 0)).scattering_matrix(method="dense")
    assert np.abs(s[2:, :2]) == pytest.approx(np.eye(2), abs=3e-3)
    assert s[2:, :2] == pytest.approx(np.eye(2) * s[2, 0], abs=3e-3)


def test_cutoffs_are_those_of_closed_forms():
    normal, radius = np.array([0, 0, 1.0]), 1.0
    plate = cal.mesh.plate([2.0, 1.0], 0.2)
    found = [(each.kind, each.cutoff) for each in waveguide_modes(plate.vertices, plate.triangles, normal, 4.0)]
    exact = [("TE", np.pi / 2), ("TE", np.pi), ("TE", np.pi), ("TE", 3.5124), ("TM", 3.5124)]
    assert [each[0] for each in found] == [each[0] for each in exact]
    assert [each[1] for each in found] == pytest.approx([each[1] for each in exact], rel=4e-4)
    disc = cal.mesh.disc(radius, 0.12)
    modes = waveguide_modes(disc.vertices, disc.triangles, normal, 3.2)
    assert [each.cutoff for each in modes] == pytest.approx([1.8412, 1.8412, 2.4048, 3.0542, 3.0542], rel=6e-3)
    ring = cal.mesh.planar.ring(1.0, 0.5, 0.15)
    first = waveguide_modes(ring.vertices, ring.triangles, normal, 1.6)
    assert first[0].kind == "TEM" and first[0].cutoff == 0
    assert first[1].cutoff == pytest.approx(1.3547, rel=5e-3)  # about 2 / (a + b)


@pytest.fixture(scope="module")
def open_end():
    mesh = tagged(cal.mesh.cuboid([A, B, 16e-3], 5e-3), tops=False)
    surfaces = {"walls": cal.Sheet("air"), "left": cal.WaveguidePort("air", "air", into=(0, 0, 1))}
    return cal.MaxwellProblem(mesh, regions={"air": cal.mesh.Material()}, surfaces=surfaces, frequency=F)


def test_an_open_end_radiates_what_it_accepts(open_end, tmp_path):
    solution = open_end.solve(method="dense")
    s = open_end.scattering_matrix(method="dense")[0, 0]
    assert solution.input_power == pytest.approx((1 - abs(s) ** 2) / 2, rel=1e-9)
    assert solution.available_power() == solution.available_power(75.0) == 0.5  # of the wave, not of lines
    assert solution.realized_gain(0.3, 0.0) == pytest.approx(solution.gain(0.3, 0.0) * (1 - abs(s) ** 2), rel=1e-9)
    assert solution.radiated_power() == pytest.approx(solution.input_power, rel=1e-3)
    assert 0.15 < abs(s) < 0.35
    ahead, behind = (float(solution.gain(theta, 0.0, decibels=True)) for theta in (0.0, np.pi))
    assert ahead == pytest.approx(10 * np.log10(21.6 * 10 * A), abs=0.5)  # A. D. Yaghjian (1984)
    assert ahead - behind > 5
    # the wave of a mode has an impedance of its own, so that no Z follows from S
    band = open_end.sweep(F, F, 1, method="dense")
    for asked in (lambda: band.z, band.resonances, band.circuit_model, lambda: band.renormalised(75.0)):
        with pytest.raises(ValueError, match="or of modes of waveguides, at the ports"):
            asked()
    band.write_touchstone(tmp_path / "guide.s1p")
    assert "or of modes of waveguides" in (tmp_path / "guide.s1p").read_text() and "resonance" not in str(band)
    solution.save(tmp_path / "guide.h5")
    again = cal.load(tmp_path / "guide.h5")
    assert np.array_equal(again.far_field(0.3, 0.2), solution.far_field(0.3, 0.2)) and again.available_power() == 0.5


def test_ports_that_cannot_be_are_refused(rectangular):
    with pytest.raises(ValueError, match="'left' has 0 travelling mode"):
        section(rectangular, 5e9).scattering_matrix(method="dense")
    with pytest.raises(ValueError, match="one region on both sides, which needs it"):
        cal.WaveguidePort("air", "air")
    with pytest.raises(ValueError, match="at the edge of a waveguide port"):
        surfaces = {"walls": cal.Metal("air", "guide"), "left": cal.WaveguidePort("guide", "air"),
                    "right": cal.Metal("air", "guide")}  # fmt: skip
        gap = cal.DeltaGap(between=("walls", "left"))
        cal.MaxwellProblem(tagged(rectangular), regions=MEDIA, surfaces=surfaces, frequency=F, ports=gap)
    bent = cal.TriangleMesh(rectangular.vertices + 1e-3 * np.sin(400 * rectangular.vertices[:, :1]) * [0, 0, 1],
                            rectangular.triangles)  # fmt: skip
    with pytest.raises(ValueError, match="is not flat"):
        mesh = tagged(rectangular)
        bent = cal.TriangleMesh(bent.vertices, mesh.triangles, mesh.tags, mesh.names)
        ends = {name: cal.WaveguidePort("guide", "air") for name in ("left", "right")}
        surfaces = {"walls": cal.Metal("air", "guide"), **ends}
        cal.MaxwellProblem(bent, regions=MEDIA, surfaces=surfaces, frequency=F)
    with pytest.raises(ValueError, match="this problem has 2 mode"):
        section(rectangular).solve([1.0])
