"""Conductors with mirror planes, electric and magnetic walls, against those of the whole."""

import numpy as np
import pytest

import calderon as cal

K = 2.2
DIRECTIONS = np.array([[0.0, 0.6, 0.8], [1.0, 0, 0], [-0.6, 0, -0.8]])


def part_of_ball(planes, h=0.5):
    """The part of a ball on the positive sides of planes."""
    cube = cal.mesh.cube(2.0, h)
    vertices = cube.vertices / np.linalg.norm(cube.vertices, axis=1)[:, None]
    kept = (cube.centroids[:, ["xyz".index(plane) for plane in planes]] > 0).all(axis=1)
    return cal.TriangleMesh(vertices, cube.triangles[kept])


def fitting(mirrors):
    """A plane wave with the images that make it as even or odd as the mirrors say."""
    wave = cal.PlaneWave([1.0, 2.0, 2.0], K, polarization=[2.0, 0, -1.0])
    for plane, parity in mirrors.items():
        wave = wave + (1 if parity == "even" else -1) * wave.mirrored(plane)
    return wave


@pytest.mark.parametrize("mirrors", [{"z": "even"}, {"x": "odd", "y": "even", "z": "odd"}], ids=str)
@pytest.mark.parametrize(
    "formulation, testing",
    [("efie", "dual"), ("cfie", "dual"), pytest.param("mfie", "primal", marks=pytest.mark.variant)],
)
@pytest.mark.filterwarnings("ignore::calderon.mesh.AccuracyWarning")
def test_the_part_has_the_currents_of_the_whole(formulation, testing, mirrors):
    part, wave = part_of_ball(mirrors), fitting(mirrors)
    chosen = {"formulation": formulation, "testing": testing}
    one = cal.PECScattering(part, K, mirrors=mirrors, **chosen)
    two = cal.PECScattering(part.mirrored(mirrors), K, **chosen)
    assert one.unknowns < (0.5 ** len(mirrors) + 0.1) * two.unknowns
    a, b = one.solve(wave, rtol=1e-10), two.solve(wave, rtol=1e-10)
    difference = np.linalg.norm(a.surface.coefficients - b.surface.coefficients)
    assert difference < 1e-8 * np.linalg.norm(b.surface.coefficients)
    far = b.far_field(DIRECTIONS)
    assert np.abs(a.far_field(DIRECTIONS) - far).max() < 1e-8 * np.abs(far).max()


@pytest.mark.variant
@pytest.mark.parametrize("method", ["mlfmm", "hmatrix", "matrix-free"])
@pytest.mark.filterwarnings("ignore::calderon.mesh.AccuracyWarning")
def test_every_method_has_mirrors(method):
    problem, wave = cal.PECScattering(part_of_ball("z"), K, mirrors={"z": "odd"}), fitting({"z": "odd"})
    dense = problem.solve(wave, rtol=1e-9, method="dense").surface.coefficients
    found = problem.solve(wave, rtol=1e-5, method=method).surface.coefficients
    assert np.linalg.norm(found - dense) < 5e-5 * np.linalg.norm(dense)


def test_a_plate_stands_on_an_electric_wall():
    """Functions of edges in an electric wall stay: currents flow through it to the image; at a magnetic one they go."""
    plate = cal.mesh.plate([1.0, 1.0], 0.25).rotated([[1, 0, 0], [0, 0, -1], [0, 1, 0]]).translated([0, 0, 0.5])
    assert plate.vertices[:, 2].min() == pytest.approx(0, abs=1e-12)
    unknowns = {}
    for parity in ("even", "odd"):
        one = cal.PECScattering(plate, K, formulation="efie", mirrors={"z": parity})
        two = cal.PECScattering(plate.mirrored("z"), K, formulation="efie")
        a, b = (each.solve(fitting({"z": parity}), rtol=1e-10).surface.coefficients for each in (one, two))
        assert np.linalg.norm(a - b) < 1e-8 * np.linalg.norm(b)
        unknowns[parity] = one.unknowns
    assert unknowns["odd"] - unknowns["even"] == 4


@pytest.mark.filterwarnings("ignore::calderon.mesh.AccuracyWarning")
def test_what_has_no_mirrors_is_refused():
    part = part_of_ball("z")
    with pytest.raises(ValueError, match="has no mirrors"):
        cal.PECScattering(part, K, formulation="calderon", mirrors={"z": "odd"})
    with pytest.raises(ValueError, match="scales of their own"):
        cal.PECScattering(part, 0.1, formulation="efie", mirrors={"z": "odd"})
    with pytest.raises(ValueError, match="no Baffle"):
        cal.PECScattering(cal.mesh.disc(1.0, 0.5), K, formulation="efie", mirrors=cal.Baffle())
    problem = cal.PECScattering(part, K, mirrors={"z": "odd"})
    with pytest.raises(ValueError, match="not as even or odd"):
        problem.solve(cal.PlaneWave([0, 0, 1.0], polarization=[1.0, 0, 0]))
    with pytest.raises(ValueError, match="radar"):
        problem.monostatic_rcs(0.3, 0.2)


def strip(length, width):
    """An upright strip on the plane z = 0, two cells wide."""
    mesh = cal.mesh.plate([length, width], width / 2)
    return mesh.rotated([[0, -1, 0], [0, 0, -1], [1, 0, 0]]).translated([0, 0, length / 2])


def test_a_quarter_wave_monopole_on_the_ground_has_half_the_impedance_of_the_dipole(tmp_path):
    """And half of its power, twice its gain; with a plane of symmetry alone it is the dipole."""
    arm = strip(0.25, 0.02)
    feed = cal.DeltaGap(line=[[-0.01, 0, 0], [0.01, 0, 0]], toward=[0, 0, 1.0])
    k = 2 * np.pi
    monopole = cal.PECAntenna(arm, k, feed, mirrors=cal.HalfSpace("z"))
    dipole = cal.PECAntenna(arm.mirrored("z"), k, feed)
    half = cal.PECAntenna(arm, k, feed, mirrors={"z": "odd"})
    one, two, same = monopole.solve(), dipole.solve(), half.solve()
    assert one.input_impedance == pytest.approx(two.input_impedance / 2, rel=1e-8)
    assert same.input_impedance == pytest.approx(two.input_impedance, rel=1e-8)
    assert one.radiated_power() == pytest.approx(one.input_power, rel=1e-2)
    assert same.radiated_power() == pytest.approx(two.radiated_power(), rel=1e-7)
    across = np.array([[1.0, 0, 0]])
    assert one.gain(across)[0] == pytest.approx(2 * two.gain(across)[0], rel=1e-7)
    one.save(tmp_path / "monopole.h5")
    assert cal.load(tmp_path / "monopole.h5").radiated_power() == one.radiated_power()


def test_a_feed_above_the_ground_has_its_image():
    """A dipole above a ground against the dipole and its image, both currents upward, in the whole."""
    arm = strip(0.5, 0.04).translated([0, 0, 0.3])
    line = np.array([[-0.02, 0, 0.54], [0.02, 0, 0.54]])
    feed = cal.DeltaGap(line=line, toward=[0, 0, 1.0])
    image = cal.DeltaGap(line=line * [1, 1, -1], toward=[0, 0, 1.0])
    grounded = cal.PECAntenna(arm, 2 * np.pi, feed, mirrors=cal.HalfSpace("z")).solve()
    pair = cal.PECAntenna(arm.mirrored("z"), 2 * np.pi, [feed, image]).solve([1.0, 1.0])
    assert grounded.input_impedance == pytest.approx(pair.input_impedances[0], rel=1e-8)
    assert grounded.input_power == pytest.approx(pair.input_power / 2, rel=1e-8)
    with pytest.raises(ValueError, match="not their own images"):
        cal.PECAntenna(arm, 2 * np.pi, feed, mirrors={"z": "odd"})


def test_a_sphere_above_a_ground_is_two_spheres_and_two_waves():
    ball = cal.mesh.sphere(0.5, 0.3).translated([0.1, 0, 1.0])
    wave = cal.PlaneWave([1.0, 0, -2.0], K, polarization=[2.0, 0, 1.0])
    one = cal.PECScattering(ball, K, mirrors=cal.HalfSpace("z")).solve(wave, rtol=1e-10)
    two = cal.PECScattering(ball.mirrored("z"), K).solve(wave - wave.mirrored("z"), rtol=1e-10)
    up = np.abs(DIRECTIONS) * [1, 1, 1]
    np.testing.assert_allclose(one.far_field(up), two.far_field(up), atol=1e-7 * np.abs(two.far_field(up)).max())
    assert one.incident_amplitude == pytest.approx(1.0)
    np.testing.assert_allclose(one.rcs(up), 4 * np.pi * (np.abs(two.far_field(up)) ** 2).sum(axis=-1), rtol=1e-6)
    problem = cal.PECScattering(ball, K, mirrors=cal.HalfSpace("z"))
    for angle in (0.4, 1.1):  # a radar, seen from which the wave has its reflection, too
        toward = np.array([[np.sin(angle), 0, np.cos(angle)]])
        wave = cal.PlaneWave(-toward[0], K, polarization=[np.cos(angle), 0, -np.sin(angle)])
        seen = problem.solve(wave, rtol=1e-9).rcs(toward, polarization="V")
        np.testing.assert_allclose(problem.monostatic_rcs(toward, polarization="VV", rtol=1e-9), seen, rtol=1e-5)
    with pytest.raises(ValueError, match="does not come to the plane"):
        problem.monostatic_rcs([[0, 0, -1.0]])
    total = one.electric([[0.3, 0.4, 0.0]])[0]
    assert np.abs(total[:2]).max() < 1e-9 * np.abs(total[2])


@pytest.mark.variant
@pytest.mark.parametrize("mirrors", [{"x": "odd", "z": "even"}], ids=str)
@pytest.mark.filterwarnings("ignore::calderon.mesh.AccuracyWarning")
def test_penetrable_bodies_have_mirrors(mirrors):
    """M is even where J is odd: fields, far fields and powers of the part are those of the whole."""
    part, wave = part_of_ball(mirrors), fitting(mirrors)
    one = cal.DielectricScattering(part, K, 2.0 + 0.5j, mirrors=mirrors)
    two = cal.DielectricScattering(part.mirrored(mirrors), K, 2.0 + 0.5j)
    assert one.unknowns < (0.5 ** len(mirrors) + 0.12) * two.unknowns
    a, b = one.solve(wave, rtol=1e-10), two.solve(wave, rtol=1e-10)
    for f, g in ((a.electric_currents, b.electric_currents), (a.magnetic_currents, b.magnetic_currents)):
        assert np.linalg.norm(f[0].coefficients - g[0].coefficients) < 1e-8 * np.linalg.norm(g[0].coefficients)
    far, inside = b.far_field(DIRECTIONS), np.array([[0.2, 0.1, -0.3]])
    assert np.abs(a.far_field(DIRECTIONS) - far).max() < 1e-8 * np.abs(far).max()
    assert np.abs(a.electric(inside) - b.electric(inside)).max() < 1e-8 * np.abs(b.electric(inside)).max()
    assert a.absorbed_power("flux") == pytest.approx(b.absorbed_power("flux"), rel=1e-7)


@pytest.mark.variant
@pytest.mark.parametrize("options", [{"method": "mlfmm"}, {"method": "hmatrix"}, {"backend": "opencl"}], ids=str)
@pytest.mark.filterwarnings("ignore::calderon.mesh.AccuracyWarning")
def test_penetrable_bodies_have_mirrors_by_every_method(options, request):
    if "backend" in options:
        request.getfixturevalue("opencl")
    problem = cal.DielectricScattering(part_of_ball("z"), K, 2.0 + 0.5j, mirrors={"z": "odd"})
    wave = fitting({"z": "odd"})
    solutions = [problem.solve(wave, rtol=1e-6, **given) for given in ({}, options)]
    dense, found = (each.magnetic_currents[0].coefficients for each in solutions)
    assert np.linalg.norm(found - dense) < 3e-5 * np.linalg.norm(dense)


@pytest.mark.filterwarnings("ignore::calderon.mesh.AccuracyWarning")
def test_a_coated_conductor_above_a_ground():
    """Against two bodies and two waves, whose powers it has the half of; a radar sees the reflected wave, too."""
    coat, core = (cal.mesh.sphere(radius, 0.4).translated([0.1, 0, 1.0]) for radius in (0.6, 0.35))
    wave = cal.PlaneWave([1.0, 0, -2.0], K, polarization=[2.0, 0, 1.0])
    constants = [2.0 + 1.0j, np.inf]
    ground = cal.DielectricScattering([coat, core], K, constants, mirrors=cal.HalfSpace("z"))
    whole = cal.DielectricScattering([coat.mirrored("z"), core.mirrored("z")], K, constants)
    one, two = ground.solve(wave, rtol=1e-10), whole.solve(wave - wave.mirrored("z"), rtol=1e-10)
    up = np.abs(DIRECTIONS)
    assert np.abs(one.far_field(up) - two.far_field(up)).max() < 1e-7 * np.abs(two.far_field(up)).max()
    assert one.absorbed_power("flux")[0] == pytest.approx(two.absorbed_power("flux")[0] / 2, rel=1e-6)
    toward = np.array([[0.6, 0, 0.8]])
    sent = cal.PlaneWave(-toward[0], K, polarization=[0.8, 0, -0.6])
    seen = ground.solve(sent, rtol=1e-9).rcs(toward, polarization="V")
    np.testing.assert_allclose(ground.monostatic_rcs(toward, polarization="VV", rtol=1e-9), seen, rtol=1e-5)
    with pytest.raises(ValueError, match="has mirrors by 'pmchwt' alone"):
        cal.DielectricScattering(coat, K, 2.0, formulation="muller", mirrors=cal.HalfSpace("z"))
    with pytest.raises(ValueError, match="scales of their own"):
        cal.DielectricScattering(coat, 0.1, 2.0, mirrors={"z": "odd"})
