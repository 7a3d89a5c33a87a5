"""Rigid bodies next to bodies of fluid, against multipoles of two spheres that meet the conditions at points."""

import numpy as np
import pytest
from scipy.special import eval_legendre, spherical_jn, spherical_yn

import calderon as cal

K, AWAY, ORDERS = np.pi, 1.4, 18  # k a of the inside of a sphere at resonance
AXIS = np.array([0.0, 0.0, 1.0])
FLUID = {"interior_wavenumber": 1.3 * K, "density_ratio": 2.0}
WAVE = cal.PlaneWave(AXIS)


def two_balls(h=0.3):
    ball = cal.mesh.sphere(1.0, h)
    ball = ball.scaled(float((4 * np.pi / 3 / ball.volume) ** (1 / 3)))
    tagged = [cal.TriangleMesh(ball.vertices + z * AXIS, ball.triangles, 0 * ball.tags + tag, {name: tag})
              for tag, (name, z) in enumerate({"gel": -AWAY, "steel": AWAY}.items(), 1)]  # fmt: skip
    return cal.mesh.merge(tagged)


BALLS = two_balls()


def multipoles(points, centre, k, radial, step=1e-5):
    """Values of f_n(k r) P_n(cos) about a centre on the axis, and their gradients along x and z, (n, orders)."""

    def values(x):
        r = np.linalg.norm(x - centre * AXIS, axis=1)[:, None]
        n = np.arange(ORDERS)
        size = radial(n, k)  # of order 1 on the unit sphere
        return radial(n, k * r) / size * eval_legendre(n, (x[:, 2:] - centre) / r)

    slopes = [(values(points + step * e) - values(points - step * e)) / (2 * step) for e in np.eye(3)[[0, 2]]]
    return values(points), *slopes


def outgoing(n, x):
    return spherical_jn(n, x) + 1j * spherical_yn(n, x)


def reference(points, ratio=FLUID["density_ratio"], inside=FLUID["interior_wavenumber"]):
    """The field outside of a fluid sphere and a rigid one; a plane wave along the axis, so that all is symmetric."""
    angles = (np.arange(3 * ORDERS) + 0.5) * np.pi / (3 * ORDERS)
    normals = np.stack([np.sin(angles), 0 * angles, np.cos(angles)], axis=1)

    def slope(parts):
        return parts[1] * normals[:, :1] + parts[2] * normals[:, 2:]

    rows, sides = [], []
    for centre in (-AWAY, AWAY):
        x = normals + centre * AXIS
        parts = [multipoles(x, c, K, outgoing) for c in (-AWAY, AWAY)]
        wave, change = np.exp(1j * K * x[:, 2]), 1j * K * np.exp(1j * K * x[:, 2]) * normals[:, 2]
        own = multipoles(x, centre, inside, spherical_jn)
        values, slopes = [each[0] for each in parts], [slope(each) for each in parts]
        if centre < 0:
            rows += [np.hstack([*values, -own[0]]), np.hstack([*slopes, -slope(own) / ratio])]
            sides += [-wave, -change]
        else:
            rows, sides = [*rows, np.hstack([*slopes, 0 * own[0]])], [*sides, -change]
    found, *_ = np.linalg.lstsq(np.vstack(rows), np.concatenate(sides), rcond=1e-13)
    around = np.hstack([multipoles(points, c, K, outgoing)[0] for c in (-AWAY, AWAY)])
    return np.exp(1j * K * points[:, 2]) + around @ found[: 2 * ORDERS]


ARC = np.linspace(0, np.pi, 15)
POINTS = np.stack([3.5 * np.sin(ARC), 0 * ARC, 3.5 * np.cos(ARC)], axis=1)


def difference(values, expected):
    return np.linalg.norm(values - expected) / np.linalg.norm(expected)


def posed(mesh=BALLS, k=K, **changed):
    return cal.FluidTransmission(mesh, k, **{**FLUID, "rigid": "steel", **changed})


@pytest.fixture(scope="module")
def solution():
    return posed().solve(WAVE, rtol=1e-8)


def test_two_spheres_meet_the_multipoles_where_the_inside_of_the_rigid_one_resonates(solution):
    wave = np.exp(1j * K * POINTS[:, 2])
    assert difference(solution.scattered(POINTS), reference(POINTS) - wave) < 0.006
    assert difference(solution.field(POINTS), reference(POINTS)) < 0.002
    assert abs(solution.field([AWAY * AXIS])) < 1e-3  # nothing in the rigid sphere
    inside = solution.at_points([AWAY * AXIS, -AWAY * AXIS]).arrays["pressure"]
    assert np.isnan(inside).tolist() == [True, False]
    scattered = solution.scattering_cross_section()
    assert abs(solution.absorption_cross_section()) < 5e-4 * scattered
    assert 4 * np.pi / K * solution.far_field([AXIS])[0].imag == pytest.approx(scattered, rel=3e-3)
    steel = BALLS.tag_numbers("steel")
    assert not solution.derivative.coefficients[BALLS.triangles[np.isin(BALLS.tags, steel)]].any()


@pytest.mark.variant
def test_limits_of_the_fluid():
    """A fluid as that around is not seen; one of infinite density is rigid."""
    alone = cal.SoundHardScattering(BALLS.restricted("steel"), K).solve(WAVE)
    invisible = posed(interior_wavenumber=K, density_ratio=1.0).solve(WAVE)
    assert difference(invisible.scattered(POINTS), alone.scattered(POINTS)) < 1e-4
    heavy = posed(density_ratio=1e8).solve(WAVE).scattered(POINTS)
    assert difference(heavy, cal.SoundHardScattering(BALLS, K).solve(WAVE).scattered(POINTS)) < 0.003


@pytest.mark.parametrize("method", ["dense", *(pytest.param(m, marks=pytest.mark.variant) for m in ("mlfmm",))])
def test_methods_tables_and_echoes_agree(method, solution):
    problem = posed(density_ratio={"gel": FLUID["density_ratio"]})
    fast = problem.solve(WAVE, method=method, rtol=1e-5)
    assert difference(fast.surface.coefficients, solution.surface.coefficients) < 3e-5
    assert fast.info.iterations < 15
    if method == "dense":
        assert problem.solve(WAVE, rtol=1e-5, preconditioner="mass").info.iterations > 15
        echo = problem.monostatic_target_strength([-AXIS])
        assert echo == pytest.approx(solution.target_strength([-AXIS]), abs=1e-3)


@pytest.mark.variant
def test_errors_fall_as_the_square_of_the_edges():
    finer = posed(two_balls(0.2)).solve(WAVE)
    assert difference(finer.scattered(POINTS), reference(POINTS) - np.exp(1j * K * POINTS[:, 2])) < 0.0015


def test_saved_solutions_know_their_rigid_bodies(tmp_path, solution):
    solution.save(tmp_path / "s.h5")
    again = cal.load(tmp_path / "s.h5")
    assert again.rigid == solution.rigid == (2,)
    assert np.array_equal(again.field(POINTS), solution.field(POINTS))


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"rigid": "iron"}, "unknown tags"),
        ({"rigid": ["gel", "steel"]}, "every tag is in rigid"),
        ({"rigid": "steel", "density_ratio": {"gel": 2.0, "steel": 3.0}}, "the tags \\[2\\] are both"),
        ({"rigid": (), "density_ratio": {"gel": 2.0}}, "have none or several"),
        ({"rigid": 2.5}, "tags are numbers or names"),
    ],
)
def test_wrong_tags_are_named(changed, says):
    with pytest.raises(ValueError, match=says):
        posed(**changed)
