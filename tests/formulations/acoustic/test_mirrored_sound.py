"""Sound with mirror planes: as that of the whole body, and of bodies in a half of space."""

import numpy as np
import pytest
from scipy.special import jv, struve

import calderon as cal

AIR = cal.Fluid(1.2, 343.0)
K = 1.3
POINTS = np.array([[0.3, 0.4, 3.0], [2.0, -0.5, 1.5], [1.0, 1.0, 2.5]])


@pytest.fixture(scope="module")
def half():
    return cal.mesh.hemisphere(1.0, 0.45)


def part_of_ball(planes, h=0.5):
    """The part of a ball on the positive sides of planes; tag 1 where |x| + |y| + |z| > 1.45, 0 elsewhere."""
    cube = cal.mesh.cube(2.0, h)
    vertices = cube.vertices / np.linalg.norm(cube.vertices, axis=1)[:, None]
    kept = (cube.centroids[:, ["xyz".index(plane) for plane in planes]] > 0).all(axis=1)
    part = cal.TriangleMesh(vertices, cube.triangles[kept])
    tags = (np.abs(part.centroids).sum(axis=1) > 1.45).astype(int)
    return cal.TriangleMesh(part.vertices, part.triangles, tags, {"face": 0, "corner": 1})


def extended(problem, values):
    """Values by triangle of the part on the whole."""
    return (problem.surface.parities[:, None] * values).ravel()


def assert_equal(one, two, problem, bound=1e-8):
    """Two solutions on the whole, the first from the part, in the mean over the nodes, and their fields."""
    for a, b in ((one.surface, two.surface), (one.released, two.released)):
        if b is not None:
            assert np.linalg.norm(a.coefficients - b.coefficients) < bound * np.linalg.norm(b.coefficients)
    points = POINTS if problem.side == "exterior" else POINTS / 8
    field = two.field(points)
    assert np.abs(one.field(points) - field).max() < bound * np.abs(two.surface.coefficients).max()
    assert one.sound_power == pytest.approx(two.sound_power, rel=bound)


@pytest.mark.parametrize(
    "mirrors",
    [{"z": "even"}, {"x": "odd", "z": "even"}, {"x": "even", "y": "odd", "z": "odd"}, dict.fromkeys("xyz", "even")],
    ids=str,
)
@pytest.mark.parametrize("side", ["exterior", "interior"])
def test_velocities_and_impedances_on_the_part_sound_as_on_the_whole(side, mirrors):
    """Velocities by triangle, an impedance on one tag."""
    part = part_of_ball(mirrors)
    velocity = np.random.default_rng(0).standard_normal(part.number_of_triangles)
    lining = cal.Impedance.relative(2.0 + 1.0j)

    def conditions(values):
        return {"face": cal.Velocity(values), "corner": [cal.Velocity(values), lining]}

    shared = {"fluid": AIR, "side": side}
    one = cal.AcousticProblem(part, K, conditions=conditions(velocity), mirrors=mirrors, **shared)
    whole = part.mirrored(mirrors)
    two = cal.AcousticProblem(whole, K, conditions=conditions(extended(one, velocity)), **shared)
    assert one.unknowns < (0.5 ** len(mirrors) + 0.1) * two.unknowns  # some lie in mirrors
    a, b = one.solve(rtol=1e-11), two.solve(rtol=1e-11)
    assert_equal(a, b, one)
    assert a.absorbed_power("corner") == pytest.approx(b.absorbed_power("corner"), rel=1e-7)


@pytest.mark.parametrize("parity", ["even", "odd"])
@pytest.mark.parametrize("space", ["P1", pytest.param("P2", marks=pytest.mark.variant)])
def test_functions_on_the_part_sound_as_on_the_whole(parity, space):
    """Unknown p and r together, by functions of points and normals that are even or odd by themselves. Unknown slopes
    have the errors of the rules of touching triangles times the condition of V, most in P2."""

    def velocity(x, nu):
        return np.cos(x[:, 0]) + nu[:, 1] + x[:, 2] ** 2 if parity == "even" else nu[:, 2] + x[:, 2] * x[:, 0]

    def pressure(x):
        return 1.0 + x[:, 0] + x[:, 2] ** 2 if parity == "even" else x[:, 2] * (1 + x[:, 0])

    part, conditions = part_of_ball("z"), {0: cal.Velocity(velocity), 1: cal.SoundPressure(pressure)}
    shared = {"fluid": AIR, "space": space, "conditions": conditions}
    one = cal.AcousticProblem(part, K, mirrors={"z": parity}, **shared)
    two = cal.AcousticProblem(part.mirrored("z"), K, **shared)
    assert_equal(one.solve(rtol=1e-11), two.solve(rtol=1e-11), one, 3e-8 if space == "P2" else 1e-8)


@pytest.mark.parametrize(
    "method, backend",
    [
        pytest.param("hmatrix", "numba", marks=pytest.mark.variant),
        ("mlfmm", "numba"),
        pytest.param("matrix-free", "numba", marks=pytest.mark.variant),
        ("dense", "opencl"),
        ("mlfmm", "opencl"),
    ],
)
def test_every_method_has_mirrors(half, method, backend):
    """Within the tolerance of the method of the dense solution of the whole."""
    conditions = cal.Velocity([0.0, 0.0, 1.0])
    whole = cal.AcousticProblem(half.mirrored("z"), K, fluid=AIR, conditions=conditions)
    dense = whole.solve(rtol=1e-9, method="dense").surface.coefficients
    problem = cal.AcousticProblem(half, K, fluid=AIR, conditions=conditions, mirrors={"z": "odd"})
    found = problem.solve(rtol=1e-5, method=method, backend=backend).surface.coefficients
    assert np.linalg.norm(found - dense) < 2e-5 * np.linalg.norm(dense)


@pytest.mark.parametrize("rigid", [True, False])
def test_a_sphere_near_a_plane_is_two_spheres_and_two_waves(rigid):
    """A rigid sphere below a plane that is rigid or gives way, hit by a plane wave and a source: the same pressure,
    far field, and half of the power that two would absorb."""
    ball = cal.mesh.sphere(1.0, 0.6).translated([0.2, 0.0, -1.6])
    sign = 1.0 if rigid else -1.0
    wall = cal.Impedance.relative(3.0)
    shared = {"fluid": AIR, "conditions": wall}
    one = cal.AcousticProblem(ball, K, mirrors=cal.HalfSpace("z", rigid=rigid), **shared)
    two = cal.AcousticProblem(ball.mirrored("z"), K, **shared)
    wave = cal.PlaneWave([1.0, 0.5, 2.0]) + 3.0 * cal.PointSource([2.0, 1.0, -0.5])
    both = wave + sign * (cal.PlaneWave([1.0, 0.5, -2.0]) + 3.0 * cal.PointSource([2.0, 1.0, 0.5]))
    a, b = one.solve(wave, rtol=1e-11), two.solve(both, rtol=1e-11)
    assert np.abs(a.surface.coefficients - b.surface.coefficients).max() < 1e-8 * np.abs(b.surface.coefficients).max()
    theta = np.linspace(1.6, 3.1, 5)
    np.testing.assert_allclose(a.far_field(theta, 0.3 + 0 * theta), b.far_field(theta, 0.3 + 0 * theta), rtol=1e-7)
    x = np.array([[0.0, 2.0, 0.0], [1.0, 1.0, 0.0]])
    surface = a.velocity(x)[:, 2] if rigid else a.field(x)
    assert np.abs(surface).max() < 1e-12 * np.abs(a.gradient(x)).max()
    assert a.field(-POINTS).all() and not a.field(POINTS).any()
    assert a.absorbed_power() == pytest.approx(b.absorbed_power() / 2, rel=1e-8)
    assert a.half_space == "-z" and b.half_space == ""


def test_a_pulsating_hemisphere_on_the_floor_has_half_of_the_power_and_3_db_more(half, tmp_path):
    conditions = cal.Velocity(1e-3)
    ground = cal.AcousticProblem(half, K, fluid=AIR, conditions=conditions, mirrors=cal.HalfSpace("z")).solve()
    free = cal.AcousticProblem(half, K, fluid=AIR, conditions=conditions, mirrors={"z": "even"}).solve()
    assert ground.sound_power == pytest.approx(free.sound_power / 2, rel=1e-12)
    assert ground.radiated_power == pytest.approx(free.radiated_power / 2, rel=1e-12)
    assert ground.directivity_index([1.0, 0, 1.0]) == pytest.approx(10 * np.log10(2), abs=0.02)
    assert ground.radiation_impedance() == pytest.approx(free.radiation_impedance(), rel=1e-12)
    plane = ground.at_points([[0, 0, 2.0], [0, 0, -2.0]]).arrays["pressure"]
    assert np.isfinite(plane[0]) and np.isnan(plane[1])
    ground.save(tmp_path / "ground.h5")
    again = cal.load(tmp_path / "ground.h5")
    assert again.half_space == "+z" and np.array_equal(again.field(POINTS), ground.field(POINTS))


def test_a_small_room_with_mirrors_has_its_nearly_constant_pressure():
    """A box of 0.2 m with a piston at 1 Hz, of which half is meshed: rho c^2 v S / (-i omega V) to 1e-3; an odd
    mirror has no such pressure."""
    box = cal.mesh.cuboid([0.2, 0.2, 0.2], h=0.1)
    part = cal.TriangleMesh(box.vertices, box.triangles[box.centroids[:, 2] > 0])
    part = cal.TriangleMesh(part.vertices, part.triangles, (part.normals[:, 0] < -0.5).astype(int))
    conditions = {1: cal.Velocity(1.0)}
    room = {"fluid": AIR, "side": "interior", "conditions": conditions, "frequency": 1.0, "space": "P2"}
    solution = cal.AcousticProblem(part, mirrors={"z": "even"}, **room).solve(rtol=1e-8)
    exact = 1.2 * 343.0**2 * 0.04 / (-2j * np.pi * 0.008)
    assert solution.field([[0.0, 0.0, 0.0]])[0] == pytest.approx(exact, rel=1e-3)
    odd = cal.AcousticProblem(part, mirrors={"z": "odd"}, **room).solve(rtol=1e-8)
    assert abs(odd.field([[0.0, 0.0, 0.05]])[0]) < 1e-3 * abs(exact)


def test_sweeps_share_the_whole_mesh(half):
    problem = cal.AcousticProblem(half, frequency=50.0, fluid=AIR, conditions=cal.Velocity(1.0), mirrors={"z": "even"})
    sweep = problem.sweep([50.0, 60.0])
    assert sweep[0].mesh is sweep[1].mesh is problem.surface.whole


def test_a_body_may_stand_on_an_edge():
    """A cube on one of its edges in the plane, where the whole has four triangles at an edge."""
    s = np.sqrt(0.5)
    cube = cal.mesh.cuboid([1.0, 1.0, 1.0], 0.5).rotated([[1, 0, 0], [0, s, -s], [0, s, s]])
    cube = cube.translated([0, 0, -cube.bounds[0, 2]])
    assert not cube.mirrored("z").is_manifold
    shared = {"fluid": AIR, "conditions": cal.Velocity([0, 0, 1.0])}
    one = cal.AcousticProblem(cube, K, mirrors={"z": "odd"}, **shared)
    two = cal.AcousticProblem(cube.mirrored("z"), K, **shared)
    assert_equal(one.solve(rtol=1e-11), two.solve(rtol=1e-11), one, 1e-7)  # 6 triangles a side: errors of the rules


def test_the_plane_is_met_within_a_millionth_and_at_any_scale():
    """Vertices next to the plane are moved into it; axes, parities and lengths may be exchanged and scaled."""
    part, shared = part_of_ball("xz"), {"fluid": AIR, "conditions": cal.Velocity(1.0)}

    def pressures(vertices, k, **mirrors):
        mesh = cal.TriangleMesh(vertices, part.triangles)
        return cal.AcousticProblem(mesh, k, mirrors=mirrors, **shared).solve(rtol=1e-11).surface.coefficients

    exact = pressures(part.vertices, K, x="even", z="odd")
    noise = np.where(part.vertices == 0, np.random.default_rng(0).uniform(-1e-7, 1e-7, part.vertices.shape), 0)
    with pytest.warns(cal.MeshWarning, match="were moved into it"):
        moved = pressures(part.vertices + noise, K, x="even", z="odd")
    scaled, turned = pressures(1e3 * part.vertices, K / 1e3, x="even", z="odd"), part.vertices[:, [1, 2, 0]]
    assert np.linalg.norm(scaled - exact) < 1e-7 * np.linalg.norm(exact)
    assert np.linalg.norm(moved - exact) < 1e-6 * np.linalg.norm(exact)
    assert np.linalg.norm(pressures(turned, K, z="even", y="odd")) == pytest.approx(np.linalg.norm(exact), rel=1e-7)


@pytest.mark.variant
@pytest.mark.filterwarnings("ignore:.*elements per wavelength")
def test_resonances_of_the_inside_do_no_harm(half):
    """A pulsating sphere at ka = pi by one half: -ik a / (1 - ik a), as by the whole."""
    shared = {"fluid": AIR, "conditions": cal.Velocity(1.0)}
    one = cal.AcousticProblem(half, np.pi, mirrors={"z": "even"}, **shared).solve(rtol=1e-10)
    two = cal.AcousticProblem(half.mirrored("z"), np.pi, **shared).solve(rtol=1e-10)
    exact = AIR.impedance * -1j * np.pi / (1 - 1j * np.pi)
    assert np.linalg.norm(one.surface.coefficients - two.surface.coefficients) < 1e-8 * np.sqrt(
        half.number_of_vertices
    ) * abs(exact)
    assert np.abs(one.surface.coefficients / exact - 1).max() < 0.05


@pytest.mark.parametrize("rigid", [True, False])
def test_sound_from_here_to_there_is_that_from_there_to_here(rigid):
    """An absorbing ball below a floor, or the surface of the sea, within the error of the mesh."""
    ball, places = (
        cal.mesh.sphere(1.0, 0.45).translated([0.2, 0, -1.6]),
        np.array([[3.0, 0.2, -0.7], [-2.0, 1.5, -2.0]]),
    )
    wall = cal.Impedance.relative(2.0 + 1.0j)
    problem = cal.AcousticProblem(ball, K, fluid=AIR, conditions=wall, mirrors=cal.HalfSpace("z", rigid=rigid))
    one, two = problem.solve_all([cal.PointSource(each) for each in places], rtol=1e-9)
    assert one.field(places[1:])[0] == pytest.approx(two.field(places[:1])[0], rel=1e-4)


def test_what_does_not_fit_a_mirror_is_refused(half):
    walls = {"fluid": AIR, "conditions": cal.Velocity(1.0)}
    with pytest.raises(ValueError, match="both sides of the mirror x"):
        cal.AcousticProblem(half, K, mirrors={"x": "even"}, **walls)
    with pytest.raises(ValueError, match='"even" or "odd"'):
        cal.AcousticProblem(half, K, mirrors={"z": "rigid"}, **walls)
    with pytest.raises(TypeError, match="by plane"):
        cal.AcousticProblem(half, K, mirrors="z", **walls)
    with pytest.raises(ValueError, match="closed surface"):
        cal.AcousticProblem(half.translated([0, 0, 0.5]), K, mirrors={"z": "even"}, **walls)
    with pytest.raises(ValueError, match="choose 'x'"):
        cal.HalfSpace("w")
    problem = cal.AcousticProblem(half, K, mirrors={"z": "even"}, **walls)
    with pytest.raises(ValueError, match="not as even or odd"):
        problem.solve(cal.PlaneWave([0, 0, -1.0]))
    problem.solve(cal.PlaneWave([1.0, 0, 0]))
    with pytest.raises(ValueError, match="beyond the plane"):
        cal.AcousticProblem(half, K, mirrors=cal.HalfSpace("z"), **walls).solve(cal.PointSource([0, 0, -3.0]))
    for direction in ([0, 0, 1.0], [1.0, 0, 0]):
        with pytest.raises(ValueError, match="does not come to the plane"):
            cal.AcousticProblem(half, K, mirrors=cal.HalfSpace("z"), **walls).solve(cal.PlaneWave(direction))


def test_any_source_is_split_into_even_and_odd_ones():
    """Two planes, walls that move evenly and yield: the sum of four sounds is that of the whole."""
    part = part_of_ball("xz")
    conditions = {"face": cal.Velocity(1e-3), "corner": [cal.Velocity(1e-3), cal.Impedance.relative(2.0)]}
    sources = cal.PointSource([0.5, 1.0, 2.0], amplitude=1e-2) + 1e-3 * cal.PlaneWave([1.0, 2.0, -0.5])
    shared = {"fluid": AIR, "conditions": conditions}
    one = cal.AcousticProblem(part, K, mirrors=dict.fromkeys("xz", "even"), **shared)
    two = cal.AcousticProblem(part.mirrored("xz"), K, **shared)
    assert_equal(one.solve(sources, decompose=True, rtol=1e-11), two.solve(sources, rtol=1e-11), one)
    even = sources + sources.mirrored("x") + (sources + sources.mirrored("x")).mirrored("z")
    found = one.solve_all([even, None, sources], decompose=True, rtol=1e-11)
    for a, b in zip(found, two.solve_all([even, None, sources], rtol=1e-11), strict=True):
        assert_equal(a, b, one)
        assert len(a.layers) == len(b.layers) == 3
    with pytest.raises(ValueError, match="planes of symmetry"):
        two.solve(sources, decompose=True)
    with pytest.raises(TypeError, match="solve accepts one"):
        one.solve_all(sources, decompose=True)


def test_sources_of_one_parity_are_decomposed_without_the_others(half):
    """A wave that is odd alone, and silence, which sounds like nothing; a sweep decomposes, too."""
    rigid = cal.AcousticProblem(half, K, fluid=AIR, mirrors={"z": "even"})
    wave = cal.PlaneWave([0.3, 0, -1.0])
    odd = wave + -1.0 * wave.mirrored("z")
    whole = cal.AcousticProblem(half.mirrored("z"), K, fluid=AIR)
    assert_equal(rigid.solve(odd, decompose=True, rtol=1e-11), whole.solve(odd, rtol=1e-11), rigid)
    silence = rigid.solve(0.0 * wave, decompose=True)
    assert not silence.surface.coefficients.any()
    with pytest.raises(ValueError, match="nothing sounds"):
        rigid.solve(None, decompose=True)
    hertz, given = [60.0, 70.0], {"points": POINTS, "rtol": 1e-9}
    by_parts, at_once = rigid.sweep(hertz, wave, decompose=True, **given), whole.sweep(hertz, wave, **given)
    assert np.abs(by_parts.values - at_once.values).max() < 1e-7 * np.abs(at_once.values).max()
    assert rigid.sweep(hertz, wave, decompose=True)[1].field(POINTS) == pytest.approx(by_parts.values[1], rel=1e-4)


@pytest.mark.parametrize("ka", [0.5, 2.0, 6.0])
def test_a_piston_in_a_baffle_has_rayleighs_impedance(ka):
    """1 - J1(2ka)/ka - i H1(2ka)/ka, for the area of the facets to 0.3 % at h = a/7; power by surface and far field."""
    x = 2 * ka
    exact = 1 - jv(1, x) / ka - 1j * struve(1, x) / ka
    conditions = cal.Velocity(1e-3)
    problem = cal.AcousticProblem(cal.mesh.disc(1.0, 1 / 7), ka, fluid=AIR, conditions=conditions, mirrors=cal.Baffle())
    solution = problem.solve()
    assert abs(solution.radiation_impedance() / AIR.impedance / exact - 1) < 3e-3
    assert solution.power_error < 3e-3
    on_axis = solution.field([[0, 0, 2.0]])[0] / (AIR.impedance * 1e-3)
    assert on_axis == pytest.approx(np.exp(2j * ka) - np.exp(1j * ka * np.sqrt(5.0)), abs=0.01)
    assert np.isnan(solution.at_points([[0, 0, -2.0]]).arrays["pressure"][0])
    behind = [[0.2, 0, -2.0]]
    assert solution.field(behind)[0] == 0 and not solution.velocity(behind).any() and solution.spl(behind)[0] == -np.inf


def test_an_absorbing_piece_of_a_wall_takes_what_the_reflected_wave_loses():
    """The optical theorem for the reflected wave: absorbed and scattered power are 4 pi / k Im F / (2 rho c); a rigid
    piece leaves the wave and its reflection alone."""
    plate, wave = cal.mesh.plate([1.5, 1.0], 0.25), cal.PlaneWave([0.3, 0.2, -1.0])
    wall = cal.Impedance.relative(1.0 + 0.5j)
    problem = cal.AcousticProblem(plate, 2.0, fluid=AIR, conditions=wall, mirrors=cal.Baffle())
    solution = problem.solve(wave, rtol=1e-8)
    lost = 4 * np.pi / 2.0 * solution.far_field(wave.direction[None] * [1, 1, -1])[0].imag / (2 * AIR.impedance)
    assert solution.absorbed_power() + solution.radiated_power == pytest.approx(lost, rel=1e-4)
    assert solution.absorbed_power() > solution.radiated_power > 0
    rigid = cal.AcousticProblem(plate, 2.0, fluid=AIR, conditions=cal.Rigid(), mirrors=cal.Baffle()).solve(wave)
    assert rigid.field(POINTS) == pytest.approx(wave.at(2.0)(POINTS) + wave.mirrored("z").at(2.0)(POINTS), abs=1e-12)
    with pytest.raises(ValueError, match="beyond the plane"):
        problem.solve(cal.PointSource([0, 0, -1.0]))


def test_a_baffle_is_a_plane_of_coordinates():
    walls = {"fluid": AIR, "conditions": cal.Velocity(1.0), "mirrors": cal.Baffle()}
    with pytest.raises(ValueError, match="needs a mesh in the plane"):
        cal.AcousticProblem(cal.mesh.disc(1.0, 0.5).translated([0, 0, 1.0]), K, **walls)
    with pytest.raises(ValueError, match="side of its normals"):
        cal.AcousticProblem(cal.mesh.disc(1.0, 0.5), K, side="interior", **walls)
