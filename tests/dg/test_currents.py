"""Driven currents: what they feed, what they radiate, what they feel."""

import numpy as np
import pytest

import calderon as cal

SPEED, IMPEDANCE = cal.exact.SPEED_OF_LIGHT, cal.exact.VACUUM_IMPEDANCE
FREQUENCY = 1e9
LENGTH = SPEED / FREQUENCY
WAVENUMBER = 2 * np.pi / LENGTH


def box_with_feed(half, cells, feed):
    """A cube of that half side around the origin with a smaller one, the part "feed"."""
    mesh = cal.mesh.box([-half] * 3, [half] * 3, cells=cells)
    tags = (np.abs(mesh.centroids) < feed).all(axis=1).astype(int)
    return cal.TetrahedralMesh(mesh.vertices, mesh.tetrahedra, tags, {"air": 0, "feed": 1})


def around(radius):
    """12 points on a sphere."""
    points = np.random.default_rng(0).standard_normal((12, 3))
    return radius * points / np.linalg.norm(points, axis=1, keepdims=True)


def test_leap_frog_gains_the_energy_that_is_fed():
    """Work of the currents over each step, by the mean of the voltages before and after it: equal to rounding."""
    sources = [
        cal.CurrentSource("feed", [0, 0, 2], cal.GaussianPulse(3e-10, 2.0)),
        cal.CurrentDipole([0.06, -0.03, 0.1], [0, 0.1, 0.02], cal.GaussianPulse(2e-10, frequency=1e9)),
    ]
    lossless = {"feed": cal.Material(permittivity=2.0)}
    simulation = cal.MaxwellDG(box_with_feed(0.15, 3, 0.05), 2, materials=lossless, sources=sources)
    simulation.run(100 * simulation.time_step)
    fed = 0.0
    for source in sources:
        port = simulation.ports[source.name]
        times, voltages = np.append(0, port.times), np.append(0, port.voltage)
        middle = np.array([source.signal(each) for each in (times[1:] + times[:-1]) / 2])
        fed += (middle * (voltages[1:] + voltages[:-1]) / 2 * np.diff(times)).sum()
    medium = simulation.medium
    stored = simulation._system.discrete_energy(simulation.time_step * medium.speed) / (medium.impedance * medium.speed)
    assert stored == pytest.approx(fed, rel=1e-12)
    assert fed > 0


def test_port_sees_a_constant_field():
    """Voltage -E . d times the length of the feed; the load is the current times the length."""
    mesh = box_with_feed(0.15, 3, 0.05)
    source = cal.CurrentSource("feed", [0, 1, 0], cal.RampedSine(1e9))
    simulation = cal.MaxwellDG(mesh, 2, materials={"feed": cal.Material()}, sources=[source])
    simulation.set_fields(lambda x, t: np.tile([1.0, 2.0, 3.0], (len(x), 1)), lambda x, t: 0 * x)
    (load,) = simulation._system.loads
    assert simulation._system.voltage(load) == pytest.approx(-2.0 * 0.1, rel=1e-12)


def test_a_block_of_current_radiates_as_its_dipoles():
    """The field is the sum of those of Hertz dipoles spread over the block, the power fed is the radiated one, but for
    what flat absorbing walls at 0.8 wavelengths reflect."""
    half = 0.8 * LENGTH
    side = half / 2
    source = cal.CurrentSource("feed", [0, 0, 1], cal.RampedSine(FREQUENCY, 2.0))
    options = {"materials": {"feed": cal.Material()}, "boundaries": {"wall": "absorbing"}, "sources": [source]}
    simulation = cal.MaxwellDG(box_with_feed(half, 8, side / 2), 3, **options)
    result = simulation.run_until_periodic(FREQUENCY, periods=4)
    nodes, weights = np.polynomial.legendre.leggauss(5)
    places = np.stack(np.meshgrid(*3 * [nodes * side / 2], indexing="ij"), axis=-1).reshape(-1, 3)
    shares = np.einsum("i,j,k->ijk", *3 * [weights / 2]).ravel()
    dipoles = [cal.exact.hertz_dipole(WAVENUMBER, [0, 0, 2 * side * w], y, impedance=IMPEDANCE)
               for y, w in zip(places, shares, strict=True)]  # fmt: skip
    points = around(LENGTH / 2)
    exact = sum(each.electric(points) for each in dipoles)
    assert np.linalg.norm(result.electric(points) - exact) < 0.04 * np.linalg.norm(exact)
    polar, angle_weights = np.polynomial.legendre.leggauss(8)
    around_axis = np.linspace(0, 2 * np.pi, 16, endpoint=False)
    z, phi = (each.ravel() for each in np.meshgrid(polar, around_axis, indexing="ij"))
    directions = np.stack([np.sqrt(1 - z**2) * np.cos(phi), np.sqrt(1 - z**2) * np.sin(phi), z], axis=1)
    far = sum(each.far_field(directions) for each in dipoles)
    density = (np.abs(far) ** 2).sum(axis=1) / (2 * IMPEDANCE)
    radiated = np.repeat(angle_weights, 16) @ density * 2 * np.pi / 16
    port = result.ports["feed"]
    assert port.current == pytest.approx(2.0, rel=1e-9)
    assert port.power == pytest.approx(radiated, rel=0.02)
    assert port.impedance.real == pytest.approx(radiated / 2, rel=0.02)


def test_hertz_dipole():
    """Field at 0.7 wavelengths and power of a dipole off the nodes of the mesh, in a ball of 1.2 wavelengths."""
    pytest.importorskip("gmsh")
    position, moment = np.array([0.01, 0.013, -0.017]), [0.5, -0.3, 1.0]
    mesh = cal.mesh.layered_ball([0.3 * LENGTH], ["core"], 1.2 * LENGTH, 0.25 * LENGTH)
    dipole = cal.CurrentDipole(position, moment, cal.RampedSine(FREQUENCY), radius=0.3 * LENGTH)
    options = {"materials": {"core": cal.Material()}, "boundaries": {"outer": "absorbing"}, "sources": [dipole]}
    result = cal.MaxwellDG(mesh, 2, flux="upwind", **options).run_until_periodic(FREQUENCY, periods=4)
    exact = cal.exact.hertz_dipole(WAVENUMBER, moment, position, impedance=IMPEDANCE)
    points = position + around(0.7 * LENGTH)
    error = np.linalg.norm(result.electric(points) - exact.electric(points)) / np.linalg.norm(exact.electric(points))
    assert error < 0.06
    assert result.ports["dipole"].power == pytest.approx(exact.radiated_power(), rel=0.05)


def test_signals():
    ramped, pulse = cal.RampedSine(2.0, 3j), cal.GaussianPulse(0.1, 2.0)
    assert (ramped(-1.0), ramped(0.0)) == (0.0, 0.0)
    assert ramped(5.125) == pytest.approx(3.0)  # Re 3i exp(-iwt) = 3 sin wt, a quarter period after a whole number
    assert (pulse(0.6), pulse(0.7)) == pytest.approx((2.0, 2.0 * np.exp(-0.5)))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (lambda s: cal.CurrentSource("port", [0, 0, 1], s), "no part 'port': choose 'air', 'feed'"),
        (lambda s: cal.CurrentSource("feed", [0, 0, 0], s), "direction of a current source"),
        (lambda s: cal.CurrentSource("feed", [0, 0, 1], 1.0), "function of time"),
        (lambda s: cal.CurrentDipole([1, 0, 0], [0, 0, 1], s), "outside the mesh"),
        (lambda s: cal.CurrentDipole([0, 0, 0], [0, 0, 1], s, radius=1e-3), "larger radius"),
        (lambda s: cal.CurrentDipole([0, 0, 0], [0, 0, 1j], s), "real numbers"),
        (lambda s: cal.PlaneWave([0, 0, 1], 1.0), "choose TransientPlaneWave, CurrentSource or CurrentDipole"),
    ],
)
def test_mistakes_are_named(source, message):
    with pytest.raises(ValueError, match=message):
        cal.MaxwellDG(
            box_with_feed(0.15, 3, 0.05), 1, materials={"feed": cal.Material()}, sources=[source(cal.RampedSine(1e9))]
        )


def test_two_sources_of_one_name_and_signals_that_are_no_number_are_refused():
    mesh, feed = box_with_feed(0.15, 3, 0.05), {"feed": cal.Material()}
    one = cal.CurrentSource("feed", [0, 0, 1], lambda t: np.nan)
    with pytest.raises(ValueError, match="more than one current is called 'feed'"):
        cal.MaxwellDG(mesh, 1, materials=feed, sources=[one, one])
    with pytest.raises(ValueError, match="signal of 'feed' gave nan at t"):
        cal.MaxwellDG(mesh, 1, materials=feed, sources=[one]).run(1e-9)
