"""A cube of fluid of which one face is a rigid wall, with sound on both sides of it."""

import numpy as np
import pytest

import calderon as cal

K = 2.0
WAVE = cal.PlaneWave([0.0, 0.6, 0.8])
GEL = {"interior_wavenumber": 1.4 * K, "density_ratio": 2.3}


def cube(h, rigid=(0.0, 0.0, 1.0), tags=("gel", "lid")):
    """A unit cube about the origin; its face with that normal has the second tag."""
    body = cal.mesh.cube(1.0, h)
    numbers = 1 + (body.normals @ rigid > 0.5)
    vertices = body.vertices - body.bounds.mean(axis=0)
    return cal.TriangleMesh(vertices, body.triangles, numbers, dict(zip(tags, (1, 2), strict=True)))


CUBE = cube(0.17)


def posed(mesh=CUBE, **changed):
    return cal.FluidTransmission(mesh, K, **{**GEL, "rigid": "lid", **changed})


def directions(number=20):
    d = np.random.default_rng(3).standard_normal((number, 3))
    return d / np.linalg.norm(d, axis=1)[:, None]


def difference(values, expected):
    return np.linalg.norm(values - expected) / np.linalg.norm(expected)


def test_the_wall_of_a_body_like_the_fluid_around_is_a_plate():
    plate = cal.mesh.plate([1.0, 1.0], 0.06).translated([0, 0, 0.5])
    space, green, wave = cal.P1(plate, boundary=False), cal.Helmholtz(K), WAVE.at(K)
    loads = space.loads()
    rhs = loads @ wave.normal_derivative(loads.points, loads.normals)
    jump, _ = cal.gmres(cal.hypersingular(green, space).assemble(), rhs, rtol=1e-6)
    layer = cal.double_layer_potential(green, cal.Function(space, jump))
    solution = posed(interior_wavenumber=K, density_ratio=1.0).solve(WAVE)
    assert difference(solution.far_field(directions()), layer.far_field(directions())) < 0.06
    inside = np.array([[0.0, 0.0, 0.1], [0.2, -0.1, -0.2]])
    assert difference(solution.field(inside), wave(inside) + layer.evaluate(inside)) < 0.012
    assert solution.info.iterations < 35


@pytest.fixture(scope="module")
def problem():
    return posed()


@pytest.fixture(scope="module")
def solution(problem):
    return problem.solve(WAVE, rtol=1e-8)


def test_energy_and_reciprocity(problem, solution, tmp_path):
    scattered = solution.scattering_cross_section()
    forward = solution.far_field([WAVE.direction])[0]
    assert 4 * np.pi / K * forward.imag == pytest.approx(scattered, rel=6e-3)
    with pytest.warns(cal.AccuracyWarning, match="has an error of some percent of the scattered power"):
        assert abs(solution.absorption_cross_section()) < 0.05 * scattered
    one, other = directions(2)
    there, back = problem.solve_all([cal.PlaneWave(one), cal.PlaneWave(-other)], rtol=1e-8)
    assert there.far_field([other])[0] == pytest.approx(back.far_field([-one])[0], rel=1e-6)
    echo = problem.monostatic_target_strength([-WAVE.direction])
    assert echo == pytest.approx(solution.target_strength([-WAVE.direction]), abs=1e-3)
    solution.save(tmp_path / "s.h5")
    points = np.array([[0, 0, 0.2], [0, 0, 2.0]])
    assert np.array_equal(cal.load(tmp_path / "s.h5").field(points), solution.field(points))


def test_pressure_is_continuous_through_the_rest_of_the_surface_and_jumps_at_the_wall(solution):
    near = np.array([[0.05, 0.03, z] for z in (-0.503, -0.497, 0.497, 0.503)])
    outside, inside, behind, before = solution.field(near)
    assert inside == pytest.approx(outside, rel=0.02) and abs(behind - before) > 0.5 * abs(before)


def test_a_heavy_fluid_in_the_vessel_is_rigid_next_to_another_body():
    steel = cal.mesh.sphere(0.4, h=0.35).translated([0, 2.0, 0])
    both = cal.mesh.merge(
        [cube(0.25), cal.TriangleMesh(steel.vertices, steel.triangles, 0 * steel.tags + 3, {"steel": 3})]
    )
    heavy = posed(both, density_ratio={"gel": 1e8}, rigid=["lid", "steel"]).solve(WAVE)
    hard = cal.SoundHardScattering(both, K).solve(WAVE)
    assert difference(heavy.far_field(directions()), hard.far_field(directions())) < 0.008
    assert heavy.rigid == (3,)
    filled = posed(both, rigid=["lid", "steel"]).solve(WAVE)  # more than the sum of both alone
    assert difference(filled.far_field(directions()), hard.far_field(directions())) > 0.1
    scattered = filled.scattering_cross_section()
    assert 4 * np.pi / K * filled.far_field([WAVE.direction])[0].imag == pytest.approx(scattered, rel=0.02)


@pytest.mark.variant
def test_methods_agree(solution):
    fast = posed().solve(WAVE, method="hmatrix", rtol=1e-5)
    assert difference(fast.far_field(directions()), solution.far_field(directions())) < 1e-4


def test_what_is_refused():
    body = cal.mesh.cube(1.0, 0.5).translated([3.0, 0, 0])
    vertices = np.concatenate([CUBE.vertices, body.vertices])
    triangles = np.concatenate([CUBE.triangles, body.triangles + len(CUBE.vertices)])
    more = cal.TriangleMesh(vertices, triangles, [*CUBE.tags, *(0 * body.tags + 2)], CUBE.names)
    for changed, says in (
        ({"space": "P2"}, "needs space='P1'"),
        ({"mesh": cube(1.0)}, "is too coarse"),
        ({"mesh": more}, "tags of their own"),
    ):
        with pytest.raises(ValueError, match=says):
            posed(**changed)
