"""Laplace problems with mirror planes, against those of the whole."""

import numpy as np
import pytest

import calderon as cal

POINTS = np.array([[0.3, 0.4, 3.0], [2.0, -0.5, 1.5], [1.0, 1.0, 2.5]])


def part_of_ball(planes, h=0.5):
    """The part of a ball on the positive sides of planes."""
    cube = cal.mesh.cube(2.0, h)
    vertices = cube.vertices / np.linalg.norm(cube.vertices, axis=1)[:, None]
    kept = (cube.centroids[:, ["xyz".index(plane) for plane in planes]] > 0).all(axis=1)
    return cal.TriangleMesh(vertices, cube.triangles[kept])


def fitting(mirrors):
    """A function that is as even or odd as the mirrors say."""
    odd = [plane in mirrors and mirrors[plane] == "odd" for plane in "xyz"]
    even = [plane in mirrors and mirrors[plane] == "even" for plane in "xyz"]

    def data(x):
        return np.prod(np.where(odd, x, np.where(even, np.cos(x), 1 + x / 3)), axis=1)

    return data


MIRRORS = [
    {"z": "even"},
    {"x": "odd", "z": "even"},
    {"x": "odd", "y": "even", "z": "odd"},
    dict.fromkeys("xyz", "even"),
]


PROBLEMS = [(cal.LaplaceDirichlet, "P1"), (cal.LaplaceDirichlet, "P0"), (cal.LaplaceNeumann, "P1")]


@pytest.mark.parametrize("mirrors", MIRRORS, ids=str)
@pytest.mark.parametrize("problem, space", PROBLEMS)
@pytest.mark.parametrize("side", ["exterior", "interior"])
def test_the_part_has_the_potential_of_the_whole(side, problem, space, mirrors):
    part, given = part_of_ball(mirrors), fitting(mirrors)
    if problem is cal.LaplaceNeumann and side == "interior":
        mean = cal.P0(part.mirrored(mirrors)).load_vector(given).sum() / part.mirrored(mirrors).area

        def data(x):
            return given(x) - mean * ("odd" not in mirrors.values())
    else:
        data = given
    one = problem(part, side, space, mirrors=mirrors)
    two = problem(part.mirrored(mirrors), side, space)
    assert one.unknowns < (0.5 ** len(mirrors) + 0.1) * two.unknowns
    a, b = one.solve(data, rtol=1e-11), two.solve(data, rtol=1e-11)
    difference = np.linalg.norm(a.surface.coefficients - b.surface.coefficients)
    assert difference < 1e-8 * np.linalg.norm(b.surface.coefficients)
    points = POINTS if side == "exterior" else POINTS / 8
    assert np.abs(a.field(points) - b.field(points)).max() < 1e-8 * np.abs(b.surface.coefficients).max()


@pytest.mark.parametrize("method", ["fmm", pytest.param("hmatrix", marks=pytest.mark.variant)])
def test_fast_methods_have_mirrors(method):
    mirrors = {"x": "odd", "z": "even"}
    problem = cal.LaplaceDirichlet(part_of_ball("xz", 0.25), space="P1", mirrors=mirrors)
    dense = problem.solve(fitting(mirrors), rtol=1e-9, method="dense").field(POINTS)
    found = problem.solve(fitting(mirrors), rtol=1e-5, method=method).field(POINTS)
    assert np.abs(found - dense).max() < 1e-5 * np.abs(dense).max()


def test_constants_are_lifted_for_each_body_next_to_an_odd_mirror():
    """A body next to the mirror and its image have constants of opposite sign inside, a body across it has none."""
    mirrors = {"z": "odd"}
    apart = part_of_ball("").translated([0.0, 0, 1.5])
    given = cal.P0(apart).load_vector(lambda x: x[:, 0])
    assert abs(given.sum()) < 1e-12
    one = cal.LaplaceNeumann(apart, "interior", mirrors=mirrors).solve(lambda x: x[:, 0], rtol=1e-10)
    x = np.array([[0.2, 0.1, 1.4]])
    assert one.field(x)[0] == pytest.approx(0.2, abs=0.02)
    assert one.field(x * [1, 1, -1])[0] == pytest.approx(-one.field(x)[0], rel=1e-8)
    across = cal.LaplaceNeumann(part_of_ball("z"), "interior", mirrors=mirrors).solve(lambda x: x[:, 2], rtol=1e-10)
    assert across.field([[0.1, 0.2, 0.3]])[0] == pytest.approx(0.3, abs=0.03)


def test_capacitances_are_those_of_the_whole_and_above_ground_twice_those_with_the_plane():
    """A sphere far from a plane, 4 pi eps0 (1 + 1/(2 d)) to second order, d the height over the radius; two plates."""
    ball = cal.mesh.sphere(1.0, 0.6).translated([0, 0, 3.0])
    eps0 = cal.exact.VACUUM_PERMITTIVITY
    grounded = cal.LaplaceDirichlet(ball, mirrors={"z": "odd"}).capacitance_matrix()
    pair = cal.LaplaceDirichlet(ball.mirrored("z")).capacitance_matrix()
    assert grounded[0, 0] / 2 == pytest.approx(pair[0, 0] - pair[0, 1], rel=1e-5)
    assert grounded[0, 0] / 2 / (4 * np.pi * eps0) == pytest.approx(1 / (1 - 1 / 6 - 1 / 216), rel=0.01)
    even = cal.LaplaceDirichlet(ball, mirrors={"z": "even"}).capacitance_matrix()
    assert even[0, 0] == pytest.approx(2 * (pair[0, 0] + pair[0, 1]), rel=1e-5)


def test_half_spaces_are_refused():
    with pytest.raises(ValueError, match="has no HalfSpace"):
        cal.LaplaceDirichlet(part_of_ball("z"), mirrors=cal.HalfSpace("z"))
