"""E and H at points of currents between layers: free space, Maxwell's equations, interfaces, probes, mistakes."""

import numpy as np
import pytest
from numpy.polynomial import chebyshev

import calderon as cal
from calderon.exact.angular import line_of_sight
from calderon.exact.vacuum import VACUUM_IMPEDANCE
from calderon.formulations.planar.layered_currents import LayeredCurrents
from calderon.layers.plane_wave import plane_wave
from calderon.potentials.layered import _of_probe
from calderon.quadrature import gauss

BOARD = cal.Stack([cal.Layer(1.5e-3, 2.2), cal.Layer(1e-3, 4.0)], below="pec")
pytestmark = pytest.mark.filterwarnings("ignore:edges of up to")


@pytest.fixture(scope="module")
def echo():
    patch = cal.planar.patch(20e-3, 16e-3, h=6e-3, z=1.5e-3)
    return cal.PlanarProblem(BOARD, patch).scatter(4.4e9, 0.6, 0.3)


def test_fields_in_layers_of_vacuum():
    plate = cal.mesh.plate((0.1, 0.07), 0.03)
    mesh = cal.TriangleMesh(plate.vertices + [0.01, 0, 0.03], plate.triangles)
    stack = cal.Stack([cal.Layer(0.03), cal.Layer(0.02)])
    found = cal.PlanarProblem(stack, mesh).scatter(3e9, 0.5, 0.4, "H")
    points = np.array([[0.02, -0.03, 0.05], [0.1, 0.1, 0.05], [0.08, 0.0, 0.03], [0.1, 0.05, 0.03]])
    own, k = LayeredCurrents._near_fields(found, points), found.sections.k0
    fine = cal.Quadrature(regular=12)
    expected = (
        VACUUM_IMPEDANCE * cal.electric_field_potential(k, found.surface, quadrature=fine).evaluate(points),
        cal.magnetic_field_potential(k, found.surface, quadrature=fine).evaluate(points),
    )
    for one, other in zip(own, expected, strict=True):
        assert np.abs(one - other).max() < 1e-6 * np.abs(other).max()
    (radial,), _, (across,) = line_of_sight([0.5], [0.4])
    wave = cal.PlaneWave(-radial, k, polarization=across)
    assert np.allclose(found.electric(points), own[0] + wave.electric(points), atol=1e-12)
    assert np.allclose(found.magnetic(points), own[1] + wave.magnetic(points) / VACUUM_IMPEDANCE, atol=1e-12)


def nodes_and_derivative(low, high, count=7):
    t = np.cos(np.pi * np.arange(count) / (count - 1))[::-1]
    slopes = np.stack([chebyshev.chebval(t, chebyshev.chebder(each)) for each in np.eye(count)], axis=1)
    values = chebyshev.chebvander(t, count - 1)
    return low + (high - low) * (1 + t) / 2, slopes @ np.linalg.inv(values) * 2 / (high - low)


@pytest.mark.parametrize("low, high", [(0.5e-3, 0.8e-3), pytest.param(6e-3, 7e-3, marks=pytest.mark.variant)])
def test_maxwell_equations(echo, low, high):
    sides = ((14e-3, 15e-3), (4e-3, 5e-3), (low, high))
    axes, slopes = zip(*(nodes_and_derivative(*each) for each in sides), strict=True)
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    electric, magnetic = (each.reshape(grid.shape) for each in echo._near_fields(grid.reshape(-1, 3)))
    sections = echo.sections
    eps, k0 = sections.eps[sections.layer_of(high)], sections.k0

    def curl(field):
        x, y, z = (np.moveaxis(np.tensordot(s, field, (1, n)), 0, n) for n, s in enumerate(slopes))
        return np.stack([y[..., 2] - z[..., 1], z[..., 0] - x[..., 2], x[..., 1] - y[..., 0]], axis=-1)

    for one, other in (
        (curl(electric), 1j * k0 * VACUUM_IMPEDANCE * magnetic),
        (curl(magnetic), -1j * k0 * eps / VACUUM_IMPEDANCE * electric),
    ):
        inside = np.abs(one - other)[2:-2, 2:-2, 2:-2]
        assert inside.max() < 1e-5 * np.abs(other).max()


@pytest.mark.parametrize("face", [1.5e-3, pytest.param(2.5e-3, marks=pytest.mark.variant)])
def test_fields_are_continuous(echo, face):
    """Tangential E and H, eps E_z and H_z; on the ground E is along the normal, H across it."""
    points = np.array([[14e-3, 3e-3, face], [17e-3, -4e-3, face]])
    above, below = echo._near_fields(points), echo._near_fields(points - [0, 0, 1e-12])
    eps = [echo.sections.eps[echo.sections.layer_of(face, side)] for side in ("above", "below")]
    size = [np.abs(each).max() for each in above]
    assert np.abs(above[0] - below[0])[:, :2].max() < 1e-7 * size[0]
    assert np.abs(eps[0] * above[0] - eps[1] * below[0])[:, 2].max() < 1e-5 * size[0]
    assert np.abs(above[1] - below[1]).max() < 1e-7 * size[1]
    electric, magnetic = echo._near_fields(points * [1, 1, 0])
    assert np.abs(electric[:, :2]).max() < 1e-9 * size[0] and np.abs(magnetic[:, 2]).max() < 1e-9 * size[1]


def test_a_plane_wave_over_a_conductor():
    sections = cal.Stack([cal.Layer(0.02)], below="pec").at(3e9)
    (r,), *vectors = line_of_sight([0.5], [0.4])
    points, mirror = np.array([[0.01, 0.02, 0.005], [0.0, -0.03, 0.02], [0.1, 0.0, 0.05]]), np.array([1, 1, -1])
    for e in (each[0] for each in vectors):
        wave = cal.PlaneWave(-r, sections.k0, polarization=e)
        image = cal.PlaneWave(-r * mirror, sections.k0, polarization=e * mirror)
        found = plane_wave(sections, r, e, points)
        assert np.allclose(found[0], wave.electric(points) - image.electric(points), atol=1e-9)
        assert np.allclose(found[1], wave.magnetic(points) - image.magnetic(points), atol=1e-9)


def test_a_probe_in_air_and_its_image():
    """A_z = int g over twice the height, H = -dA_z/d rho around it."""
    top, k, points = 3e-3, cal.Stack().at(3e9).k0, np.array([[2e-3, 1e-3], [-5e-3, 4e-3]])
    sections = cal.Stack([cal.Layer(top)], below="pec").at(3e9)
    found = _of_probe(sections, np.array([1e-3, 0.0]), top, points, 1e-3)
    d, rule = points - [1e-3, 0], gauss(40)
    s = 1e-3 - top * (2 * rule.points - 1)
    distance = np.hypot(np.linalg.norm(d, axis=1)[:, None], s)
    g = np.exp(1j * k * distance) / (4 * np.pi * distance)
    turn = -((1j * k - 1 / distance) * g / distance) @ (2 * top * rule.weights)
    expected = [0, 0, g @ (2 * top * rule.weights), -turn * d[:, 1], turn * d[:, 0], 0]
    for n, each in enumerate(expected):
        assert np.abs(found[:, n] - each).max() < 1e-6 * np.abs(found[:, 2 if n < 3 else 4]).max()


def test_mistakes_are_named(echo):
    with pytest.raises(ValueError, match=r"1 points are too close to the metal, the first one at \(0, 0, 2\) mm"):
        echo.electric([[0, 0, 2e-3], [0.02, 0, 2e-3]])
    with pytest.raises(ValueError, match="is outside of the stack"):
        echo.magnetic([[0.02, 0, -1e-3]])
    probe = cal.ProbePort((-4e-3, 1e-3), radius=0.5e-3)
    with pytest.raises(ValueError, match="0.2 mm from the axis of a probe"):
        _of_probe(BOARD.at(4.4e9), np.array(probe.place), 10e-3, np.array([[-3.8e-3, 1e-3]]), 1e-3)


def test_fields_of_vertical_metal():
    """In vacuum those of free space; on a conductor below dielectrics no tangential field."""
    patch, line = cal.planar.patch(20e-3, 16e-3, h=8e-3, z=3e-3), ((-8e-3, -10e-3), (-8e-3, 10e-3))
    mesh = cal.planar.ribbon(line, (0.5e-3, 3e-3), 3e-3, patch)
    found = cal.PlanarProblem(cal.Stack([cal.Layer(3e-3)]), mesh).scatter(4e9, 0.6, 0.3)
    points = np.array([[-14e-3, 1e-3, 1e-3], [-11e-3, 2e-3, 1e-3]])
    own, k, fine = LayeredCurrents._near_fields(found, points), found.sections.k0, cal.Quadrature(regular=12)
    expected = (
        VACUUM_IMPEDANCE * cal.electric_field_potential(k, found.surface, quadrature=fine).evaluate(points),
        cal.magnetic_field_potential(k, found.surface, quadrature=fine).evaluate(points),
    )
    for one, other in zip(own, expected, strict=True):
        assert np.abs(one - other).max() < 1e-6 * np.abs(other).max()
    board = cal.Stack([cal.Layer(3e-3, 2.2), cal.Layer(1e-3, 4.0)], below="pec")
    fed = cal.PlanarProblem(
        board, cal.planar.ribbon(line, (0.0, 3e-3), 3e-3, patch), ports=[cal.planar.EdgePort(line=line)]
    )
    field = fed.solve(4e9).electric(points * [1, 1, 1e-6])
    assert np.abs(field[:, :2]).max() < 1e-5 * np.abs(field[:, 2]).max()
