"""Directions of far fields: angles or vectors, one convention for all."""

import numpy as np
import pytest

import calderon as cal
from calderon.exact import unit_directions
from calderon.exact.angular import line_of_sight

THETA, PHI = np.array([0.0, 0.4, 1.3, np.pi]), np.array([0.0, -2.0, 0.7])
VECTORS = np.array([[1.0, 2.0, -2.0], [0.0, 0.0, -3.0], [-0.1, 0.0, 0.0]])


def test_angles_are_broadcast_to_unit_vectors():
    d = unit_directions(THETA[:, None], PHI)
    assert d.shape == (4, 3, 3)
    assert np.allclose(np.linalg.norm(d, axis=-1), 1, atol=1e-15)
    assert np.allclose(d[..., 2], np.cos(THETA)[:, None])
    assert np.allclose(d[1:3, :, 1], np.outer(np.sin(THETA[1:3]), np.sin(PHI)))
    assert unit_directions(0.5, 0.1).shape == (3,)


def test_vectors_of_any_length_give_the_frame_of_their_angles():
    r, v, h = line_of_sight(VECTORS)
    x, y, z = VECTORS.T
    for mine, theirs in zip((r, v, h), line_of_sight(np.arctan2(np.hypot(x, y), z), np.arctan2(y, x)), strict=True):
        assert np.allclose(mine, theirs, atol=1e-15)
    assert np.allclose(unit_directions([0.0, 0.6, 0.8]), [[0.0, 0.6, 0.8]], atol=1e-15)
    assert unit_directions(np.zeros((0, 3))).shape == (0, 3)


@pytest.mark.parametrize(
    "given, kind, message",
    [
        ((0.3,), ValueError, r"shape \(n, 3\), got \(\) and no phi: give vectors, or angles theta and phi in radians"),
        (([0.1, 0.2],), ValueError, r"got \(2,\) and no phi"),
        (([0.1, 0.2, 0.3],), ValueError, r"three numbers \[0.1, 0.2, 0.3\] without phi may be angles or a vector"),
        (([[0.0, 0.0, 0.0]],), ValueError, "length zero"),
        (([[0.0, np.nan, 0.0]],), ValueError, "NaN"),
        (([[0.0, 1j, 0.0]],), TypeError, "real numbers"),
        (([[0.0, 0.6, 0.8], [1.0, 0.0, 0.0]], 0.0), ValueError, "holds unit vectors: give these without phi"),
        (([0.1, 0.2], [0.1, 0.2, 0.3]), ValueError, "do not go together"),
        ((0.1, "V"), TypeError, "got 'V': name the options that follow"),
        ((0.1, 1j), TypeError, "phi must be real numbers"),
        ((0.1, np.inf), ValueError, "finite angles"),
    ],
)
def test_what_is_ambiguous_or_wrong_is_refused(given, kind, message):
    with pytest.raises(kind, match=message):
        unit_directions(*given)


def exact_fields():
    yield cal.exact.rigid_sphere(2.0, 1.0), ("far_field", "target_strength")
    yield cal.exact.mie_pec_sphere(2.0, 1.0), ("far_field", "rcs")
    yield cal.exact.radiating_sphere(2.0, 1.0, 1), ("far_field",)
    yield cal.PointSource([0.1, 0.0, 0.2], 2.0), ("far_field",)
    yield cal.ElectricDipole([0.1, 0.0, 0.2], [0.0, 1.0, 0.0], 2.0), ("far_field",)


@pytest.mark.parametrize("field, names", list(exact_fields()), ids=lambda each: type(each).__name__)
def test_exact_fields_accept_both(field, names):
    theta, phi = np.array([[0.3], [1.2]]), np.array([0.1, 2.0, -1.0])
    vectors = unit_directions(theta, phi).reshape(-1, 3)
    for name in names:
        by_angles, by_vectors = getattr(field, name)(theta, phi), getattr(field, name)(2.0 * vectors)
        assert by_angles.shape[:2] == (2, 3)
        assert np.allclose(by_angles.reshape(by_vectors.shape), by_vectors, rtol=1e-12)


def acoustic(mesh):
    return cal.SoundHardScattering(mesh, 1.0).solve(cal.PlaneWave([0, 0, 1], 1.0), rtol=1e-3)


def conductor(mesh):
    wave = cal.PlaneWave([0, 0, 1], 1.0, polarization=[1, 0, 0])
    return cal.PECScattering(mesh, 1.0, formulation="efie").solve(wave, rtol=1e-3)


@pytest.mark.parametrize("solve, level", [(acoustic, "target_strength"), (conductor, "rcs")])
def test_solutions_accept_both_and_have_a_field(solve, level):
    solution = solve(cal.mesh.sphere(1.0, 0.7))
    theta, phi = np.array([[0.3], [1.2]]), np.array([0.1, 2.0, -1.0])
    vectors = unit_directions(theta, phi).reshape(-1, 3)
    assert solution.far_field(theta, phi).shape[:2] == getattr(solution, level)(theta, phi).shape == (2, 3)
    assert np.allclose(getattr(solution, level)(theta, phi).ravel(), getattr(solution, level)(vectors), rtol=1e-12)
    points = np.array([[0.0, 2.0, 0.0], [1.5, 0.3, 0.2]])
    field = solution.field(points)
    if solve is conductor:
        assert np.array_equal(field, solution.electric(points))
        assert np.allclose(
            solution.rcs(vectors, polarization="V") + solution.rcs(vectors, polarization="H"), solution.rcs(vectors)
        )
    assert len(field) == 2


def test_monostatic_sweeps_accept_both():
    mesh = cal.mesh.sphere(1.0, 0.7)
    theta, phi = np.array([0.3, 1.2]), 0.4
    vectors = 3.0 * unit_directions(theta, phi)
    sound = cal.SoundHardScattering(mesh, 1.0)
    by_angles = sound.monostatic_target_strength(theta, phi)
    assert np.allclose(by_angles, sound.monostatic_target_strength(vectors), rtol=1e-10)
    radar = cal.PECScattering(mesh, 1.0, formulation="efie")
    by_angles = radar.monostatic_rcs(theta, phi, "HH")
    assert np.allclose(by_angles, radar.monostatic_rcs(vectors, polarization="HH"), rtol=1e-10)
