"""Iron that saturates, and permanent magnets, against closed forms of balls."""

import re

import numpy as np
import pytest
from scipy.optimize import brentq

import calderon as cal
from calderon.exact.vacuum import VACUUM_PERMEABILITY as MU0

pytest.importorskip("skfem")
pytest.importorskip("gmsh")

H = np.array([0, *np.geomspace(100, 8e5, 14)])
IRON = cal.MagnetizationCurve(H, MU0 * (H + 2.1 / MU0 * 2 / np.pi * np.arctan(H / 300)))
X = np.array([[0.1, 0, 0], [0.3, 0, 0.5], [-0.2, 0.5, -0.3]])


def ball(**material):
    return cal.InhomogeneousPotential(cal.mesh.ball(1.0, 0.5), **material)


@pytest.mark.parametrize("outside", [1e3, 5e5, 2e6])
def test_a_ball_of_iron_in_a_uniform_field(outside):
    """The field inside is uniform, H + M(H) / 3 = H_0, from the linear part of the curve to beyond saturation: B to
    2 % on this coarse mesh."""
    solution = ball(permeability=IRON).solve(cal.UniformField([0, 0, outside]), method="dense")
    h = brentq(lambda h: h + (IRON.flux_density_at([0, 0, h])[2] / MU0 - h) / 3 - outside, 0, 3 * outside)
    expected = IRON.flux_density_at([0, 0, h])
    assert np.allclose(IRON.flux_density_at(solution.strength(X)), expected, atol=0.03 * expected[2])
    steps = int(re.match(r"Newton's iteration of (\d+) steps", solution.info.method)[1])
    assert 1 < steps < 12 and solution.info.converged


def test_a_straight_curve_is_a_linear_material(tmp_path):
    straight = cal.MagnetizationCurve([0, 1e6], [0, 5e6 * MU0])
    loop = cal.CurrentPath([[3, 0, 0], [0, 3, 0], [-3, 0, 0], [0, -3, 0]], 1000.0)
    curved, linear = (ball(permeability=mu).solve(loop, method="dense", rtol=1e-10) for mu in (straight, 5.0))
    assert curved.strength(X) == pytest.approx(linear.strength(X), rel=1e-8)
    curved.save(tmp_path / "iron.h5")
    assert cal.load(tmp_path / "iron.h5").strength(X) == pytest.approx(curved.strength(X), rel=1e-12)


@pytest.mark.variant
def test_half_a_block_of_iron_is_the_whole():
    half = cal.mesh.box([-0.5, -0.5, 0], [0.5, 0.5, 0.5], cells=[2, 2, 1])
    both = np.concatenate([half.vertices, half.vertices * [1, 1, -1]])
    vertices, place = np.unique(both, axis=0, return_inverse=True)
    twice = np.concatenate([half.tetrahedra, half.tetrahedra + len(half.vertices)])
    whole = cal.TetrahedralMesh(vertices, place.reshape(-1)[twice])
    found = []
    for volume, mirrors in ((whole, None), (half, {"z": "odd"})):
        problem = cal.InhomogeneousPotential(volume, permeability=IRON, space="P1", mirrors=mirrors)
        solution = problem.solve(cal.UniformField([0, 0, 1e6]), method="dense", rtol=1e-9)
        found.append(solution.strength([[0.1, 0.2, 0.3], [0, 0, 1.5], [0.4, 0, -0.2]]))
    assert np.allclose(found[1], found[0], rtol=1e-6, atol=1e-6 * abs(found[0]).max())


def test_a_magnet_is_a_dipole():
    """A ball of uniform M: H = -M / 3 inside, that of a dipole of moment 4 pi M / 3 outside."""
    magnet = ball(permeability=1.0, remanence=[0, 0, 1.2]).solve(method="dense")
    m = 1.2 / MU0
    assert np.allclose(magnet.strength(X), [0, 0, -m / 3], atol=0.01 * m)
    assert magnet.strength([0, 0, 2.0])[0, 2] == pytest.approx(2 / 3 * m / 8, rel=0.01)
    moved = ball(permeability=1.0, remanence=lambda x: np.tile([0, 0, 1.2], (len(x), 1))).solve(method="dense")
    assert moved.strength(X) == pytest.approx(magnet.strength(X), rel=1e-9)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: cal.MagnetizationCurve([0, 100], [0, 1e4]), "with H in A/m and B in T"),
        (lambda: cal.MagnetizationCurve([0, 100, 200], [0, 1.0, 0.9]), "B grows from 1 to 0.9 T"),
        (lambda: cal.MagnetizationCurve([10, 100], [0.5, 1.0]), "begins with strength 0"),
        (lambda: cal.MagnetizationCurve([0, 100], [0, 1, 2]), "as many values"),
        (lambda: ball(permittivity=IRON), "curves belong to permeability="),
        (lambda: ball(permittivity=2.0, remanence=[0, 0, 1]), "belongs to permeability"),
        (lambda: ball(permeability=2.0, remanence=1.0), "a vector"),
        (lambda: ball(permeability=2.0, remanence=lambda x: x[:, 0]), "vectors .n, 3."),
    ],
)
def test_what_is_no_magnetic_material_is_refused(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()


def test_fields_beyond_a_curve_are_warned_of():
    short = cal.MagnetizationCurve([0, 100.0, 200.0], [0, 0.5, 0.9])
    with pytest.warns(cal.AccuracyWarning, match="add points up to saturation"):
        ball(permeability=short, space="P1").solve(cal.UniformField([0, 0, 1e6]), method="dense")
