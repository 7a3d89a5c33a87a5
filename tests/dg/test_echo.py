"""The echo of a plane pulse from a conducting half-space, whose elements are larger or smaller than its skin."""

import warnings

import numpy as np
import pytest

import calderon as cal

SPEED, IMPEDANCE = cal.exact.SPEED_OF_LIGHT, cal.exact.VACUUM_IMPEDANCE
AIR, WIDTH = 0.24, 0.03
"""Length of the air in front of it, and of the pulse exp(-(z / WIDTH)^2), which begins in its middle, in m."""
COPPER, STEEL = cal.Material(conductivity=5.8e7), cal.Material(permeability=1000.0, conductivity=1.4e6)
SEA, CARBON = cal.Material(80.0, conductivity=5.0), cal.Material(conductivity=100.0)


def column(cells, depth, behind, side):
    """Air in `cells` layers from z = -AIR to 0, metal to the depth in `behind` layers; E along x."""
    mesh = cal.mesh.box([0, 0, 0], [side, side, cells + behind], cells=[1, 1, cells + behind])
    heights = np.append(np.linspace(-AIR, 0, cells, endpoint=False), np.linspace(0, depth, behind + 1))
    vertices = mesh.vertices.copy()
    vertices[:, 2] = heights[np.rint(vertices[:, 2]).astype(int)]
    corners, tags = mesh.vertices[mesh.faces], np.ones(len(mesh.faces), int)
    tags[np.isclose(corners[:, :, 2], 0).all(axis=1)] = 0
    tags[(np.ptp(corners[:, :, 1], axis=1) < 1e-9 * side)] = 2
    names = {"open": 0, "electric": 1, "magnetic": 2}
    parts = (mesh.centroids[:, 2] > cells).astype(int)
    return cal.TetrahedralMesh(vertices, mesh.tetrahedra, parts, {"air": 0, "metal": 1}, mesh.faces, tags, names)


def pulse(z):
    return np.exp(-((z / WIDTH) ** 2))


def exact_echo(metal, z):
    """E of the echo of `pulse` when it would be back at -AIR / 2, by its Fourier transform."""
    step = 32 * AIR / 2**14
    path, k = step * (np.arange(2**14) - 2**13), 2 * np.pi * np.fft.fftfreq(2**14, step)
    k[0] = 1e-9
    z_wall = np.sqrt(metal.permeability / (metal.permittivity + metal.conductivity * IMPEDANCE / (1j * k)))
    reflected = np.fft.ifft(np.fft.fft(pulse(path)) * (z_wall - 1) / (z_wall + 1)).real
    return np.interp(z + AIR / 2, path, reflected)


def echo(metal, order, flux, cells=24, depth=0.03, behind=3, side=0.01, **options):
    """The echo's amplitude over the exact one, its greatest error, and the warnings of the run."""
    simulation = cal.MaxwellDG(
        column(cells, depth, behind, side), order, flux, materials={"metal": metal},
        boundaries={"open": "absorbing", "magnetic": "pmc"}, **options,
    )  # fmt: skip
    along = np.array([[1.0, 0, 0], [0, 1.0 / IMPEDANCE, 0]])
    simulation.set_fields(*(lambda x, t, each=each: pulse(x[:, 2] + AIR / 2)[:, None] * each for each in along))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        simulation.run(AIR / SPEED)
    z = np.linspace(-0.9 * AIR, -0.02, 200)
    got = simulation.electric(np.stack([np.full(200, 0.3 * side), np.full(200, 0.4 * side), z], axis=1))[:, 0]
    exact = exact_echo(metal, z)
    return got @ exact / (exact @ exact), np.abs(got - exact).max(), [str(each.message) for each in caught]


@pytest.mark.parametrize("flux", ["centred", "upwind"])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_elements_larger_than_the_skin_reflect_as_the_metal_does(order, flux):
    """Whatever the conductivity and permeability; and a warning says that the skin is not resolved."""
    cells = 48 if order == 1 else 24
    for metal in (COPPER, STEEL, CARBON):
        amplitude, error, warned = echo(metal, order, flux, cells)
        assert abs(amplitude - 1) < 0.02
        assert error < 0.05
        assert "longer than twice the skin depth" in warned[-1]


@pytest.mark.parametrize("flux", ["centred", "upwind"])
def test_elements_smaller_than_the_skin_resolve_it(flux):
    """Five skin depths or attenuation lengths of metal, to 0.2 %, without a warning."""
    for metal, depth in ((SEA, 0.05), (cal.Material(conductivity=20.0), 0.016), (cal.Material(2.0, 5.0, 5.0), 0.016)):
        amplitude, error, warned = echo(metal, 2, flux, 24, depth, round(depth / 0.002), 0.002)
        assert abs(amplitude - 1) < 2e-3
        assert error < 5e-3
        assert not warned


@pytest.mark.parametrize("metal", [COPPER, STEEL, SEA])
def test_local_steps_reflect_alike(metal):
    """Thin elements of the metal take shorter steps."""
    whole, local = (echo(metal, 1, "centred", 24, 0.01, 8, local_time_stepping=each) for each in (False, True))
    assert local[0] == pytest.approx(whole[0], abs=2e-3)
    assert bool(local[2]) == bool(whole[2])


@pytest.mark.parametrize("flux", ["centred", "upwind"])
def test_a_good_conductor_does_not_shorten_the_steps(flux):
    """Although traces at its face are not the mean of both sides."""
    mesh = column(8, 0.03, 1, 0.03)
    steps = [cal.MaxwellDG(mesh, 2, flux, materials={"metal": each}).time_step for each in (COPPER, cal.Material())]
    assert steps[0] > 0.98 * steps[1]


def test_a_current_warns_too():
    """By the frequencies of its signal; a static one has none."""
    for signal, expected in ((cal.GaussianPulse(1e-10), True), (lambda t: 1.0, False)):
        source = cal.CurrentSource("air", [1, 0, 0], signal)
        simulation = cal.MaxwellDG(column(8, 0.01, 1, 0.03), 1, materials={"metal": COPPER}, sources=[source])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            simulation.run(20 * simulation.time_step)
        assert any("skin depth" in str(each.message) for each in caught) == expected
