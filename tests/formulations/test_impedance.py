"""Surface impedances that vary: a manufactured solution, jumps between tags, and what is refused."""

from dataclasses import dataclass

import numpy as np
import pytest

import calderon.mesh as meshes
from calderon.exact import impedance_sphere
from calderon.formulations import ImpedanceScattering, SoundHardScattering
from calderon.formulations.acoustic.surface_values import values_at_nodes
from calderon.spaces import P0, P1, P2
from calderon.waves import PlaneWave, Wave

K = 2.0
CENTRE = np.array([0.3, 0.0, 0.1])
POINTS = np.array([[0.0, 0.0, -3.0], [2.0, 1.0, 0.5], [-0.5, 1.4, 0.2]])
WAVE = PlaneWave([0.0, 0.6, 0.8], K)


@dataclass(frozen=True, eq=False)
class StandingWave(Wave):
    """2 sin(kr)/r about a point: a field without sources."""

    wavenumber: complex = K

    def __call__(self, x, n=None):
        return 2 * self.wavenumber * np.sinc(self.wavenumber * distances(x) / np.pi)

    def gradient(self, x):
        r, k = distances(x)[:, None], self.wavenumber
        return 2 * (k * np.cos(k * r) / r - np.sin(k * r) / r**2) * (x - CENTRE) / r


def distances(x):
    return np.linalg.norm(x - CENTRE, axis=1)


def swallowing(x, n):
    """The admittance that takes in the incoming half of the standing wave and sends nothing back.

    2 sin(kr)/r = i exp(-ikr)/r - i exp(ikr)/r, and a source at y takes the second part off. What is left has
    du/dr = -(ik + 1/r) u, hence b = -du/dn / (ik u) = (1 - i/(kr)) n . (x - y)/r, with a positive real part on a ball
    that holds y.
    """
    r = distances(x)
    return (1 - 1j / (K * r)) * np.einsum("ij,ij->i", n, x - CENTRE) / r


def incoming(x):
    return 1j * np.exp(-1j * K * distances(x)) / distances(x)


def tagged(h=0.35):
    """A sphere with the tags 1 (x < 0) and 4 (x > 0)."""
    mesh = meshes.sphere(1.0, h)
    tags = np.where(mesh.centroids[:, 0] < 0, 1, 4)
    return meshes.TriangleMesh(mesh.vertices, mesh.triangles, tags, {"back": 1, "front": 4})


def test_manufactured_solution_converges_with_order_two():
    """A point source at y inside takes up a standing wave about y: its trace has the known, varying impedance."""
    errors, fields, sizes = [], [], []
    for h in (0.45, 0.225):
        mesh = meshes.sphere(1.0, h)
        solution = ImpedanceScattering(mesh, K, swallowing).solve(StandingWave(), rtol=1e-8)
        errors.append(solution.surface.l2_error(incoming) / solution.surface.l2_norm())
        fields.append(np.linalg.norm(solution.field(POINTS) - incoming(POINTS)) / np.linalg.norm(incoming(POINTS)))
        sizes.append(mesh.mean_edge_length)
    finer = np.log(sizes[0] / sizes[1])
    assert np.log(errors[0] / errors[1]) / finer == pytest.approx(2, abs=0.3), errors
    assert np.log(fields[0] / fields[1]) / finer == pytest.approx(2, abs=0.3), fields
    absorbed = solution.absorbed_power(2.0, 3.0)  # int |u|^2 over a sphere about y, over 2 rho c: 4 pi / (2 rho c)
    assert absorbed == pytest.approx(4 * np.pi / 12, rel=0.02)


def test_all_ways_to_give_one_number_are_that_number():
    mesh, b = tagged(), 0.7 - 0.3j
    one = ImpedanceScattering(mesh, K, b)
    reference = one.solve(WAVE, rtol=1e-9).surface.coefficients
    direction = np.array([[1.0, 2.0, -0.5]])
    ways = [
        {"admittance": {1: b, "front": b}},
        {"admittance": np.full(mesh.number_of_triangles, b)},
        {"admittance": lambda x: b},
        {"impedance": {"back": 1 / b, 4: 1 / b}},
        {"impedance": lambda x, n: 1 / b + 0 * n[:, 0]},
    ]
    for way in ways:
        problem = ImpedanceScattering(mesh, K, **way)
        assert np.allclose(problem.b, b, rtol=1e-14)
    assert np.allclose(problem.solve(WAVE, rtol=1e-9).surface.coefficients, reference, atol=1e-7)
    assert problem.monostatic_target_strength(direction) == pytest.approx(one.monostatic_target_strength(direction))


@pytest.mark.parametrize("b", [-0.5j, -20j])
def test_a_lossless_springy_wall(b):
    """Re b = 0 > Im b, in every way to give it: the series, and no power is lost."""
    mesh, ways = tagged(0.25), [b, {1: b, 4: b}, np.full(len(tagged(0.25).triangles), b), lambda x: b + 0 * x[:, 0]]
    fields = []
    for way in ways:
        solution = ImpedanceScattering(mesh, K, way).solve(WAVE, rtol=1e-7)
        fields.append(solution.field(POINTS))
        assert np.abs(fields[-1] - fields[0]).max() < 1e-6
        assert solution.info.iterations < 16
    series = impedance_sphere(K, 1.0, b, direction=WAVE.direction)
    assert fields[0] == pytest.approx(series.total(POINTS), abs=5e-3)
    assert abs(solution.absorption_cross_section()) < 1e-6


def test_an_infinite_impedance_is_rigid():
    """Infinity is accepted as a number, in tables, arrays and functions, on all of the surface and on a part of it."""
    mesh = tagged()
    every, front = np.full(len(mesh.triangles), np.inf), np.where(mesh.tags == 4, np.inf, 2 + 1j)
    for way in (np.inf, -np.inf, complex(np.inf, 1), {1: np.inf, "front": np.inf}, every, lambda x: np.inf):
        assert not np.any(ImpedanceScattering(mesh, K, impedance=way).b)
    half = ImpedanceScattering(mesh, K, admittance={"back": 1 / (2 + 1j), "front": 0.0}).b
    for way in ({"back": 2 + 1j, "front": np.inf}, front):
        assert np.allclose(ImpedanceScattering(mesh, K, impedance=way).b, half, rtol=1e-14)
    mixed = ImpedanceScattering(mesh, K, impedance=lambda x: np.where(x[:, 0] > 0, np.inf, 2.0)).b
    assert set(np.unique(mixed)) == {0, 0.5}
    hard = SoundHardScattering(mesh, K).solve(WAVE, rtol=1e-9)
    assert np.allclose(
        ImpedanceScattering(mesh, K, impedance=np.inf).solve(WAVE, rtol=1e-9).field(POINTS), hard.field(POINTS)
    )


@pytest.mark.parametrize("b", [{"back": 0.0, "front": 1.5 - 1j}, {1: 0.2 + 1j, 4: 2.0}])
def test_a_jump_keeps_the_optical_theorem(b):
    """Power lost by the wave, 4 pi Im F(forward) / k, is power scattered and absorbed."""
    solution = ImpedanceScattering(tagged(0.25), K, admittance=b).solve(WAVE, rtol=1e-8)
    lost = 4 * np.pi * solution.far_field(WAVE.direction)[0].imag / K
    absorbed = solution.absorption_cross_section()
    assert absorbed > 0.2 * lost
    assert solution.scattering_cross_section() + absorbed == pytest.approx(lost, rel=0.01)


def test_nodes_of_a_jump_have_the_mean():
    mesh = tagged()
    b = ImpedanceScattering(mesh, K, admittance={"back": 1.0, "front": 3.0}).b
    x = mesh.vertices[mesh.used_vertices, 0]
    assert np.all(np.abs(b - 2) < 1 + 1e-12) and not b.imag.any()
    assert np.allclose(b[x < -0.4], 1) and np.allclose(b[x > 0.4], 3)
    between = np.abs(b - 2) < 0.99
    assert 3 < between.sum() < 0.3 * len(b)
    impedance = ImpedanceScattering(mesh, K, impedance={"back": 1.0, "front": 1 / 3}).b
    assert np.allclose(impedance, b)


def test_values_of_triangles_at_the_nodes_of_any_space():
    """Linear functions of the place, taken at centroids, come back at nodes to the order of the triangles."""
    mesh = meshes.plate((1.0, 1.0), 0.1)
    linear = mesh.centroids @ [1.0, 2.0, 0.0]
    for space in (P1(mesh), P2(mesh), P0(mesh)):
        assert np.allclose(values_at_nodes(np.full(len(linear), 2j), space, "b"), 2j)
        inside = np.abs(space.nodes[:, :2]).max(axis=1) < 0.45
        error = np.abs(values_at_nodes(linear, space, "b") - space.nodes @ [1.0, 2.0, 0.0])[inside]
        assert error.max() < (1e-12 if space.name == "P0" else 0.1)


@pytest.mark.parametrize(
    ("way", "error", "message"),
    [
        ({"admittance": {1: 1.0}}, ValueError, r"admittance is not given for the tags \[4\]"),
        ({"admittance": {1: 1.0, 4: 1.0, 7: 2.0}}, ValueError, r"unknown tags \[7\]"),
        ({"admittance": {}}, ValueError, "unknown tags"),
        ({"admittance": {1: 1.0, 4: np.nan}}, ValueError, "admittance must be finite: "),
        ({"admittance": [1.0, 2.0]}, ValueError, "one value for each of the"),
        ({"admittance": "rubber"}, TypeError, "a number, a table from tags"),
        ({"admittance": True}, ValueError, "one value for each"),
        ({"admittance": np.inf}, ValueError, "admittance must be finite"),
        ({"admittance": {1: 1.0, 4: -0.1}}, ValueError, "create energy"),
        ({"admittance": lambda x: x}, ValueError, "must be vectorised"),
        ({"impedance": {1: 1.0, 4: 0.0}}, ValueError, "sound-soft"),
        ({"impedance": lambda x: 0 * x[:, 0]}, ValueError, "sound-soft"),
        ({"impedance": 1e-310}, ValueError, "sound-soft"),
        ({"impedance": np.nan}, ValueError, "impedance must be finite: 1 of 1 values are NaN"),
        ({"impedance": lambda x: np.where(x[:, 0] > 0, np.nan, np.inf)}, ValueError, "are NaN or infinite"),
    ],
)
def test_impedances_that_do_not_fit_are_refused(way, error, message):
    with pytest.raises(error, match=message):
        ImpedanceScattering(tagged(), K, **way)
