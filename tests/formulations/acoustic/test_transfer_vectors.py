"""Pressures at points for any velocities of walls, by the transposed equation: those of direct solutions."""

from dataclasses import replace

import numpy as np
import pytest

import calderon as cal

AIR = cal.Fluid(1.2, 343.0)
POINTS = np.array([[0.0, 0.0, 3.0], [1.5, 0.2, 0.3], [2.0, 2.0, 1.0]])
INSIDE = np.array([[0.0, 0.0, 0.0], [0.3, 0.2, -0.4]])


def swaying(x):
    return 1 + x[:, 0] + 1j * x[:, 1]


def in_parts(mesh):
    """The mesh with the tags 1, 2 and 3 ("top") from left to right, but for what lies above."""
    x, _, z = mesh.centroids.T / np.abs(mesh.vertices).max()
    tags = np.where(z > 0.4, 3, np.where(x > 0.1, 2, 1))
    return cal.TriangleMesh(mesh.vertices, mesh.triangles, tags, {"top": 3})


def finely(solution, points):
    """The field with a rule of degree 12 instead of the usual one, of degree 4."""
    finer = (replace(each, quadrature=replace(each.quadrature, regular=12)) for each in solution.layers)
    return sum(each.evaluate(points) for each in finer)


def largest(found, exact):
    return np.abs(found - exact).max() / np.abs(exact).max()


MOVING = {1: cal.Velocity(swaying), "top": cal.Velocity(2.0)}
LINED = {1: [cal.Velocity(swaying), cal.Impedance.relative(2 - 1j)], 2: cal.Impedance.relative(0.5), 3: MOVING["top"]}
HELD = {1: cal.Velocity(swaying), 2: cal.SoundPressure(1.0), 3: cal.SoundPressure(swaying)}
ROOM = {"side": "interior"}
SURFACES = {
    "all": (lambda: cal.mesh.sphere(1.0, 0.4), {1: MOVING[1], 2: MOVING[1], 3: MOVING["top"]}, {}, POINTS),
    "lined": (lambda: cal.mesh.sphere(1.0, 0.4), LINED, {}, POINTS),
    "held": (lambda: cal.mesh.sphere(1.0, 0.4), HELD, {}, POINTS),
    "room": (lambda: cal.mesh.sphere(1.0, 0.4), LINED, ROOM, INSIDE),
    "small closed room": (lambda: cal.mesh.sphere(0.1, 0.04), MOVING, ROOM, 0.1 * INSIDE),
    "even": (lambda: cal.mesh.hemisphere(1.0, 0.4), LINED, {"mirrors": {"z": "even"}}, POINTS * [1, 1, -1]),
    "odd": (lambda: cal.mesh.hemisphere(1.0, 0.4), MOVING, {"mirrors": {"z": "odd"}}, POINTS),
    "floor": (lambda: cal.mesh.hemisphere(1.0, 0.4), MOVING, {"mirrors": cal.HalfSpace("z")}, POINTS),
    "baffle": (lambda: cal.mesh.disc(1.0, 0.3), {1: LINED[1], 2: LINED[2]}, {"mirrors": cal.Baffle()}, POINTS),
}


@pytest.mark.parametrize("name", SURFACES)
def test_transfer_vectors_give_direct_solutions_and_parts_add_up(name):
    build, conditions, given, points = SURFACES[name]
    problem = cal.AcousticProblem(in_parts(build()), 2.0, fluid=AIR, conditions=conditions, **given)
    direct = finely(problem.solve(rtol=1e-10), points)
    vectors = problem.transfer_vectors(points, rtol=1e-10)
    assert largest(vectors.pressure(), direct) < 1e-7
    parts = vectors.contributions()
    assert largest(sum(parts.values()), vectors.pressure()) < 1e-12
    assert len(parts) == (3 if name in ("all", "held") else 2 - (name == "baffle"))


def test_a_part_is_the_sound_of_walls_that_move_alone():
    mesh = in_parts(cal.mesh.sphere(1.0, 0.4))
    problem = cal.AcousticProblem(mesh, 2.0, fluid=AIR, conditions=LINED)
    vectors = problem.transfer_vectors(POINTS, rtol=1e-10)
    quiet = {1: LINED[1][1], 2: LINED[2], 3: cal.Velocity(2.0 - 1j)}
    alone = cal.AcousticProblem(mesh, 2.0, fluid=AIR, conditions=quiet).solve(rtol=1e-10)
    assert largest((2 - 1j) * vectors.transfer("top"), finely(alone, POINTS)) < 1e-7
    assert largest(vectors.transfer("top"), alone.transfer("top", POINTS)) < 1e-5  # the usual rule
    parts = vectors.contributions()
    assert largest(parts["top"], 2 * vectors.transfer("top")) < 1e-12
    # one value for each triangle: by the vectors themselves, which have a unit and places
    speeds = np.random.default_rng(1).normal(size=len(mesh.triangles))
    expected = vectors.pressure(cal.Velocity(speeds))
    assert largest(vectors.by_triangle @ speeds, expected) < 1e-12
    table = vectors.to_xarray()
    assert table.transfer.attrs["units"] == "Pa s/m" and table.transfer.dims == ("point", "triangle")
    assert np.allclose(table.z, POINTS[:, 2])


@pytest.mark.variant
def test_by_every_method():
    problem = cal.AcousticProblem(in_parts(cal.mesh.sphere(1.0, 0.4)), 2.0, fluid=AIR, conditions=LINED)
    expected = problem.transfer_vectors(POINTS, rtol=1e-9).pressure()
    for options, error in (({"solver": "lu"}, 1e-8), ({"method": "hmatrix"}, 1e-4), ({"method": "matrix-free"}, 1e-4)):
        assert largest(problem.transfer_vectors(POINTS, **options).pressure(), expected) < error


def test_what_transfer_vectors_refuse():
    mesh = in_parts(cal.mesh.sphere(1.0, 0.8))
    problem = cal.AcousticProblem(mesh, 1.0, fluid=AIR, conditions=HELD)
    vectors = problem.transfer_vectors(POINTS[:1])
    with pytest.raises(ValueError, match="take velocities"):
        vectors.pressure({1: cal.Impedance.relative(1.0)})
    with pytest.raises(ValueError, match="has a given pressure in the problem"):
        vectors.pressure({"top": cal.Velocity(1.0)})
    with pytest.raises(ValueError, match="lies inside the body"):
        problem.transfer_vectors([0, 0, 0.1])
    with pytest.raises(ValueError, match="do not sound alone"):
        problem.solve().transfer(1, POINTS)
    shaken = cal.AcousticProblem(mesh, 1.0, fluid=AIR, conditions=cal.Velocity([0, 0, 1.0])).solve()
    with pytest.raises(ValueError, match="no mean velocity"):
        shaken.transfer([1, 2, 3], POINTS)
    with pytest.raises(ValueError, match="do not sound alone"):
        shaken.transfer("top", POINTS)
