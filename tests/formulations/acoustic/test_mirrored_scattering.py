"""Scattering of sound with mirror planes: as by the whole body, and by bodies in a half of space."""

import numpy as np
import pytest

import calderon as cal

K = 1.3
POINTS = np.array([[0.3, 0.4, 3.0], [2.0, -0.5, 1.5], [1.0, 1.0, 2.5]])
BELOW = np.array([[0.3, 0.4, -4.0], [2.0, -0.5, -1.5], [1.0, 1.0, -2.5]])


def part_of_ball(planes, h=0.6):
    """The part of a ball on the positive sides of planes; tag 1 where |x| + |y| + |z| > 1.45, 0 elsewhere."""
    cube = cal.mesh.cube(2.0, h)
    vertices = cube.vertices / np.linalg.norm(cube.vertices, axis=1)[:, None]
    kept = (cube.centroids[:, ["xyz".index(plane) for plane in planes]] > 0).all(axis=1)
    part = cal.TriangleMesh(vertices, cube.triangles[kept])
    return cal.TriangleMesh(part.vertices, part.triangles, (np.abs(part.centroids).sum(axis=1) > 1.45).astype(int))


def symmetric(wave, mirrors):
    """The part of a wave that is as even or odd as the mirrors say."""
    for plane, parity in mirrors.items():
        wave = wave + (1.0 if parity == "even" else -1.0) * wave.mirrored(plane)
    return wave


def admittance(x, n):
    """One that depends on places and normals, and is given for x, z > 0 alone."""
    return 0.3 + 0.2 * np.where(x[:, 2] >= 0, x[:, 2], 9.0) + 0.1j * n[:, 0] ** 2


@pytest.mark.parametrize("mirrors", [{"z": "odd"}, {"x": "odd", "z": "even"}], ids=str)
@pytest.mark.parametrize(
    "kind, given, bound",
    [
        (cal.SoundHardScattering, {}, 1e-8),
        pytest.param(cal.SoundHardScattering, {"space": "P2"}, 1e-8, marks=pytest.mark.variant),
        (cal.SoundSoftScattering, {}, 1e-8),
        pytest.param(cal.SoundSoftScattering, {"space": "P0"}, 1e-8, marks=pytest.mark.variant),
        (cal.ImpedanceScattering, {"admittance": {0: 0.2, 1: 0.5 + 0.1j}}, 1e-8),
    ],
    ids=["hard", "hard P2", "soft", "soft P0", "impedance"],
)
def test_the_part_scatters_as_the_whole(kind, given, bound, mirrors):
    part, wave = part_of_ball(mirrors), symmetric(cal.PlaneWave([1.0, 0.5, -0.7]), mirrors)
    one, two = kind(part, K, mirrors=mirrors, **given), kind(part.mirrored(mirrors), K, **given)
    assert one.unknowns < (0.5 ** len(mirrors) + 0.1) * two.unknowns
    a, b = one.solve(wave, rtol=1e-11), two.solve(wave, rtol=1e-11)
    found, exact = a.surface.coefficients, b.surface.coefficients
    assert np.linalg.norm(found - exact) < bound * np.linalg.norm(exact)
    assert np.abs(a.field(POINTS) - b.field(POINTS)).max() < bound * np.abs(exact).max()
    assert np.abs(a.far_field(POINTS) - b.far_field(POINTS)).max() < bound * np.abs(b.far_field(POINTS)).max()
    power = [each.absorbed_power(1.0, 1.0) + each.radiated_power(1.0, 1.0) for each in (a, b)]
    assert power[0] == pytest.approx(power[1], rel=bound)


def test_impedances_are_those_of_the_part():
    """By triangle, and by a function of places and normals that is asked on the part alone: as even values on the
    whole, that of a triangle next to the plane at its image, too."""
    part, mirrors = part_of_ball("z"), {"z": "odd"}
    values = np.random.default_rng(0).random(part.number_of_triangles) + 0.1
    wave = symmetric(cal.PlaneWave([1.0, 0.5, -0.7]), mirrors)
    for own, of_whole in (
        (values, np.tile(values, 2)),
        (admittance, lambda x, n: admittance(np.abs(x), n)),
    ):
        one = cal.ImpedanceScattering(part, K, admittance=own, mirrors=mirrors)
        two = cal.ImpedanceScattering(part.mirrored("z"), K, admittance=of_whole)
        np.testing.assert_allclose(one.b, two.b, rtol=1e-12)
        a, b = (each.solve(wave, rtol=1e-11).surface.coefficients for each in (one, two))
        assert np.linalg.norm(a - b) < 1e-8 * np.linalg.norm(b)
    with pytest.raises(ValueError, match=f"each of the {part.number_of_triangles} triangles"):
        cal.ImpedanceScattering(part, K, admittance=np.tile(values, 2), mirrors=mirrors)


@pytest.mark.parametrize("rigid", [True, False])
def test_a_body_near_a_plane_is_two_bodies_and_two_waves(rigid, tmp_path):
    """A rigid sphere below a floor or the surface of the sea: pressures, far fields, and half of the power of two; the
    wave alone is what figures refer to."""
    ball, sign = cal.mesh.sphere(1.0, 0.6).translated([0.2, 0.0, -1.6]), 1.0 if rigid else -1.0
    one = cal.SoundHardScattering(ball, K, mirrors=cal.HalfSpace("z", rigid=rigid))
    two = cal.SoundHardScattering(ball.mirrored("z"), K)
    wave = cal.PlaneWave([1.0, 0.5, 2.0], amplitude=2.0)
    both = wave + sign * cal.PlaneWave([1.0, 0.5, -2.0], amplitude=2.0)
    a, b = one.solve(wave, rtol=1e-11), two.solve(both, rtol=1e-11)
    assert np.abs(a.surface.coefficients - b.surface.coefficients).max() < 1e-8 * np.abs(b.surface.coefficients).max()
    assert np.abs(a.field(BELOW) - b.field(BELOW)).max() < 1e-8
    assert a.field(BELOW).all() and not a.field(-BELOW).any() and not a.gradient(-BELOW).any()
    assert a.incident_amplitude == pytest.approx(2.0, rel=1e-12)
    assert a.radiated_power(1.0, 1.0) == pytest.approx(b.radiated_power(1.0, 1.0) / 2, rel=1e-8)
    assert a.scattering_cross_section() == pytest.approx(a.radiated_power(1.0, 1.0) * 2 / 4.0, rel=1e-12)
    down = np.array([[0.2, 0.3, -1.0], [0.0, 0.9, -0.5]])
    # the far field of potentials and the integrals of an echo have rules of their own: 2e-7 apart, without mirrors, too
    bistatic = [one.solve(cal.PlaneWave(-d), rtol=1e-11).target_strength(d[None])[0] for d in down]
    np.testing.assert_allclose(one.monostatic_target_strength(down, rtol=1e-9), bistatic, atol=4e-6)
    there = a.at_points([[0, 3.0, -2.0], [0, 3.0, 2.0]]).arrays["pressure"]
    assert np.isfinite(there[0]) and np.isnan(there[1])
    a.save(tmp_path / "sea.h5")
    again = cal.load(tmp_path / "sea.h5")
    assert again.half_space == "-z" and again.scattering_cross_section() == a.scattering_cross_section()


def test_what_does_not_fit_a_mirror_is_refused():
    half = cal.mesh.hemisphere(1.0, 0.6)
    problem = cal.SoundHardScattering(half, K, mirrors={"z": "even"})
    with pytest.raises(ValueError, match="not as even or odd"):
        problem.solve(cal.PlaneWave([0, 0, -1.0]))
    with pytest.raises(ValueError, match="a sonar sends waves that are not even or odd"):
        problem.monostatic_target_strength([[1.0, 0, 0]])
    with pytest.raises(ValueError, match="has no Baffle"):
        cal.SoundSoftScattering(cal.mesh.disc(1.0, 0.5), K, mirrors=cal.Baffle())
    with pytest.raises(ValueError, match="walls of which a part is rigid have no mirrors"):
        cal.FluidTransmission(part_of_ball("z", 0.5), K, {0: 2.0}, {0: 1.5}, rigid=1, mirrors={"z": "even"})
    with pytest.raises(ValueError, match="closed surface"):
        cal.FluidTransmission(half, K, 2.0, 1.5)


@pytest.mark.parametrize("mirrors", [{"z": "odd"}, {"x": "even", "z": "odd"}], ids=str)
@pytest.mark.filterwarnings("ignore::calderon.mesh.AccuracyWarning")
def test_bodies_of_fluid_have_mirrors(mirrors):
    part = part_of_ball(mirrors)
    part = cal.TriangleMesh(part.vertices, part.triangles)
    wave = symmetric(cal.PlaneWave([1.0, 2.0, 2.0], K), mirrors)
    one = cal.FluidTransmission(part, K, 2.0, 1.5, mirrors=mirrors)
    two = cal.FluidTransmission(part.mirrored(mirrors), K, 2.0, 1.5)
    assert one.unknowns < (0.5 ** len(mirrors) + 0.1) * two.unknowns
    a, b = one.solve(wave, rtol=1e-10), two.solve(wave, rtol=1e-10)
    for f, g in ((a.surface, b.surface), (a.derivative, b.derivative)):
        assert np.linalg.norm(f.coefficients - g.coefficients) < 1e-8 * np.linalg.norm(g.coefficients)
    for points in (POINTS, 0.2 * POINTS):  # outside and inside
        assert np.abs(a.field(points) - b.field(points)).max() < 1e-8 * np.abs(b.field(points)).max()


@pytest.mark.variant
@pytest.mark.parametrize("options", [{"method": "mlfmm"}, {"method": "hmatrix"}, {"backend": "opencl"}], ids=str)
@pytest.mark.filterwarnings("ignore::calderon.mesh.AccuracyWarning")
def test_bodies_of_fluid_have_mirrors_by_every_method(options, request):
    if "backend" in options:
        request.getfixturevalue("opencl")
    mirrors, part = {"z": "odd"}, part_of_ball("z")
    wave = symmetric(cal.PlaneWave([1.0, 2.0, 2.0], K), mirrors)
    problem = cal.FluidTransmission(cal.TriangleMesh(part.vertices, part.triangles), K, 2.0, 1.5, mirrors=mirrors)
    dense, found = (problem.solve(wave, rtol=1e-6, **given).surface.coefficients for given in ({}, options))
    assert np.linalg.norm(found - dense) < 3e-5 * np.linalg.norm(dense)


@pytest.mark.filterwarnings("ignore::calderon.mesh.AccuracyWarning")
def test_a_bubble_next_to_a_rigid_ball_below_the_surface_of_the_sea():
    """Against both with their images in the whole, and two waves of opposite sign."""
    bubble, ball = (cal.mesh.sphere(0.5, 0.4).translated([x, 0, -1.2]) for x in (-0.8, 0.8))
    both = cal.mesh.merge([
        cal.TriangleMesh(each.vertices, each.triangles, np.full(each.number_of_triangles, tag))
        for tag, each in enumerate((bubble, ball), 1)
    ])  # fmt: skip
    given, wave = ({1: 2.0}, {1: 1.5}), cal.PlaneWave([1.0, 0, 2.0], K)
    sea = cal.FluidTransmission(both, K, *given, rigid=2, mirrors=cal.HalfSpace("z", rigid=False))
    whole = cal.FluidTransmission(both.mirrored("z"), K, *given, rigid=2)
    one, two = sea.solve(wave, rtol=1e-10), whole.solve(wave - wave.mirrored("z"), rtol=1e-10)
    assert np.abs(one.field(BELOW) - two.field(BELOW)).max() < 1e-8 * np.abs(two.field(BELOW)).max()
    toward = np.array([[0.6, 0, -0.8]])
    echo = sea.solve(cal.PlaneWave(-toward[0], K), rtol=1e-9).far_field(toward)
    strength = sea.monostatic_target_strength(toward, rtol=1e-9)
    assert strength[0] == pytest.approx(20 * np.log10(np.abs(echo[0])), abs=1e-4)
