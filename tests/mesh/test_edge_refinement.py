"""Elements that become smaller toward the edges of a body: graded boxes and bisection."""

import numpy as np
import pytest

import calderon as cal
from calderon.mesh import MeshError


def heights(mesh):
    return 2 * mesh.areas / mesh.diameters


def rows(mesh, axis):
    return np.unique(mesh.vertices[:, axis])


@pytest.mark.parametrize(("h", "beta"), [(0.2, 2.0), (0.11, 3.0), (0.3, 1.5)])
def test_graded_sides_follow_the_power_of_the_distance_from_their_ends(h, beta):
    box = cal.mesh.cuboid((2.0, 1.0, 0.3), h, grading=beta)
    assert box.is_closed and box.volume == pytest.approx(0.6)
    first = []
    for axis, length in enumerate((2.0, 1.0, 0.3)):
        x = rows(box, axis)
        n = len(x) - 1
        np.testing.assert_array_equal(x, -x[::-1])
        i = np.arange(n // 2 + 1)
        np.testing.assert_allclose(x[i] + length / 2, length / 2 * (2 * i / n) ** beta, atol=1e-15)
        assert np.diff(x).max() <= h * (1 + 1e-12)
        first.append(x[1] - x[0])
    assert max(first) <= first[0] * (1 + 1e-12)  # that of the longest side
    fewer = len(rows(box, 0)) - 2  # with one cell less, a cell would be longer than h
    x = 1 - (np.minimum(np.arange(fewer + 1), np.arange(fewer, -1, -1)) * (2 / fewer)) ** beta
    signed = np.where(np.arange(fewer + 1) < fewer / 2, -x, x)
    assert np.diff(signed).max() > h


def test_no_grading_gives_equal_cells():
    plain, one = cal.mesh.cuboid((1.0, 0.7, 0.2), 0.15), cal.mesh.cuboid((1.0, 0.7, 0.2), 0.15, grading=1)
    np.testing.assert_array_equal(plain.vertices, one.vertices)
    np.testing.assert_array_equal(plain.triangles, one.triangles)


@pytest.mark.parametrize("grading", [0.5, 7, -2, float("nan"), "steep", True])
def test_gradings_that_make_no_sense_are_refused(grading):
    with pytest.raises(MeshError, match="grading"):
        cal.mesh.cuboid((1, 1, 1), 0.3, grading=grading)


@pytest.mark.parametrize(
    "make",
    [
        lambda: cal.mesh.cube(1.0, 0.25),
        lambda: cal.mesh.cuboid((1.0, 1.0, 1e-4), 0.2),
        lambda: cal.mesh.cylinder(0.5, 1.0, 0.25),
        lambda: cal.mesh.plate((1.0, 0.5), 0.2),
        lambda: cal.mesh.cube(1.0, 0.25).rotated(cal_rotation()),
    ],
    ids=["cube", "thin box", "cylinder", "open plate", "turned cube"],
)
@pytest.mark.parametrize("ratio", [0.3, 0.05])
def test_bisection_toward_edges_conforms_and_keeps_the_surface(make, ratio):
    mesh = make()
    tags = (mesh.centroids @ [1.0, 2.0, 3.0] > 0).astype(int)
    mesh = cal.TriangleMesh(mesh.vertices, mesh.triangles, tags, {"near": 1})
    fine = mesh.refine_edges(ratio)
    assert fine.is_closed == mesh.is_closed and fine.is_manifold and fine.flipped == 0
    assert fine.names == mesh.names and fine.number_of_components == mesh.number_of_components
    for tag in (0, 1):
        assert fine.areas[fine.tags == tag].sum() == pytest.approx(mesh.areas[mesh.tags == tag].sum(), rel=1e-12)
    assert fine.volume == pytest.approx(mesh.volume, rel=1e-10, abs=1e-15)
    boundary = fine.edge_lengths[fine.boundary_edges].sum()
    assert boundary == pytest.approx(mesh.edge_lengths[mesh.boundary_edges].sum(), rel=1e-12)
    # at the edges as low as demanded, and not much lower anywhere
    sharp = np.zeros(fine.number_of_edges, bool)
    sharp[fine.sharp_edges()] = True
    triangle, side = np.nonzero(sharp[fine.triangle_edges])
    at_edge = 2 * fine.areas[triangle] / fine.edge_lengths[fine.triangle_edges[triangle, side]]
    old = 2 * mesh.areas / mesh.edge_lengths[mesh.triangle_edges].min(axis=1)
    long = fine.edge_lengths[fine.triangle_edges[triangle, side]] > ratio * old.max()
    assert at_edge[long].max() <= ratio * old.max() * (1 + 1e-9)
    assert heights(fine).min() > 0.98 * min(heights(mesh).min(), 0.05 * ratio * heights(mesh).max())


def cal_rotation():
    c, s = np.cos(0.7), np.sin(0.7)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]]) @ np.array([[1.0, 0, 0], [0, c, -s], [0, s, c]])


def test_elements_become_long_along_edges_and_few():
    """Halving the height adds rows, not rings of square elements."""
    box = cal.mesh.cuboid((1.0, 1.0, 1e-4), 0.2)
    numbers = [box.refine_edges(ratio).number_of_triangles for ratio in (1 / 4, 1 / 8, 1 / 16)]
    assert numbers[-1] < 2000 and numbers[2] - numbers[1] < 1.5 * (numbers[1] - numbers[0])


def test_the_sides_of_a_thin_plate_are_not_cut_across():
    fine = cal.mesh.cuboid((1.0, 1.0, 1e-4), 0.2).refine_edges(0.05)
    assert (np.abs(np.abs(fine.vertices[:, 2]) - 5e-5) < 1e-19).all()
    side = np.abs(fine.normals[:, 2]) < 0.5
    assert heights(fine)[side].min() > 0.99e-4


def test_smooth_bodies_and_a_ratio_of_one_are_left_as_they_are():
    ball = cal.mesh.sphere(1.0, 0.4)
    assert ball.refine_edges(0.1) is ball and not len(ball.sharp_edges())
    cube = cal.mesh.cube(1.0, 0.5)
    assert len(cube.sharp_edges()) == 24
    assert len(cal.mesh.plate((1.0, 1.0), 0.5).sharp_edges()) == 8  # the open boundary
    assert len(cube.sharp_edges(np.pi / 2 + 0.01)) == 0 and len(cube.sharp_edges(0.0)) == 24


@pytest.mark.parametrize("ratio", [0, 1.5, 1e-6, float("nan"), "half", True])
def test_ratios_that_make_no_sense_are_refused(ratio):
    with pytest.raises(MeshError, match="ratio = .*1e-5 to 1"):
        cal.mesh.cube(1.0, 0.5).refine_edges(ratio)


def test_degrees_are_refused_as_angle_of_edges():
    with pytest.raises(MeshError, match="angle = 30: .* in radians"):
        cal.mesh.cube(1.0, 0.5).refine_edges(0.5, angle=30)
