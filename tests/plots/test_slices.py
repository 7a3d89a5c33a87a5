"""The plane section of a body: its outline, its inside, and the picture."""

import numpy as np
import pytest

import calderon.plots as plots
from calderon.mesh import cube, plate, sphere


def grid(size=3.0, shape=(31, 41)):
    return plots.slice_points([0, 0, 0], [size, 0, 0], [0, 0, size], shape)


def test_the_section_of_a_sphere_is_its_circle():
    ball = sphere(1.0, 0.1)
    points = grid()
    segments = plots.section(ball, points)
    corners = segments + points[0, 0][[0, 2]]
    assert np.abs(np.linalg.norm(corners, axis=2) - 1).max() < 0.005
    length = np.linalg.norm(segments[:, 1] - segments[:, 0], axis=1).sum()
    assert length == pytest.approx(2 * np.pi, rel=5e-3)


def test_inside_of_a_cube_is_its_square_even_through_its_vertices():
    box = cube(1.0, 0.25)  # the plane y = 0 passes exactly through vertices and edges
    points = grid(2.02, (50, 60))
    expected = (np.abs(points) < 0.5).all(axis=2)
    assert (plots.inside(box, points) == expected).all()


def test_an_open_surface_has_no_inside_and_a_far_plane_no_section():
    assert not plots.inside(plate((1.0, 1.0), 0.3), grid()).any()
    away = plots.slice_points([0, 9, 0], [3, 0, 0], [0, 0, 3], (5, 5))
    assert len(plots.section(sphere(1.0, 0.4), away)) == 0


def test_slice_blanks_the_body_and_names_axes_and_unit(tmp_path):
    points = grid()
    figure = plots.field_slice(
        points, np.exp(2j * points[..., 2]), sphere(1.0, 0.4), "real", tmp_path / "x.png", unit="Pa"
    )
    axes = figure.axes
    assert axes[0].get_xlabel() == "x (m)" and axes[0].get_ylabel() == "z (m)"
    assert "Re p (Pa)" in axes[1].get_ylabel()
    stencil = axes[0].images[1].get_array()
    covered = (stencil[..., 3] > 0).mean() * 9.0
    assert covered == pytest.approx(np.pi, rel=0.06)  # m², a sphere in coarse triangles is smaller


def test_the_arrow_of_a_wave_across_the_plane_is_left_out():
    points = grid()
    values = np.exp(2j * points[..., 2])
    along, across = (plots.field_slice(points, values, incident=way) for way in ([0, 0, 2], [0, 1, 0]))
    assert len(along.axes) == 4 and len(across.axes) == 2  # picture, colour bar, ground of the arrow, arrow


def test_field_lines_are_parallel_to_the_field():
    points = grid()
    field = np.broadcast_to([2.0, 5.0, 1.0], points.shape).copy()  # y is across the plane
    field[:3, :3] = np.nan  # as in metal
    axes = plots.field_slice(points, points[..., 0], field_lines=field).axes[0]
    lines = [path for one in axes.collections for path in one.get_segments()]
    steps = np.concatenate([np.diff(each, axis=0) for each in lines])
    assert len(steps) > 100
    assert np.allclose(steps[:, 0], 2 * steps[:, 1], atol=1e-6)


def test_slice_refuses_what_does_not_fit():
    points = grid()
    with pytest.raises(ValueError, match="one vector a point"):
        plots.field_slice(points, np.zeros(points.shape[:2]), field_lines=np.zeros((3, 3, 3)))
    with pytest.raises(ValueError, match="one value a point"):
        plots.field_slice(points, np.zeros((3, 3)))
    with pytest.raises(ValueError, match=r"\(rows, columns, 3\)"):
        plots.field_slice(points[..., :2], np.zeros(points.shape[:2]))
    with pytest.raises(ValueError, match="choose 'inside', 'outside' or 'none'"):
        plots.field_slice(points, np.zeros(points.shape[:2]), blank="left")
    with pytest.raises(ValueError, match="perpendicular"):
        plots.section(sphere(1.0, 0.5), plots.slice_points([0, 0, 0], [1, 0, 0], [1, 0, 1], (4, 4)))


@pytest.mark.parametrize("up", [[2, 0, 0], [0, 0, 0], [0, np.nan, 0]])
def test_a_slice_needs_two_sides(up):
    with pytest.raises(ValueError, match="the sides of a slice span a plane"):
        plots.slice_points([0, 0, 0], [1, 0, 0], up, (4, 4))


@pytest.mark.parametrize("shape", [5, (5.5, 5), (5, 5, 5), ("5", "5"), None])
def test_a_slice_needs_rows_and_columns(shape):
    with pytest.raises(ValueError, match=r"counted as \(rows, columns\)"):
        plots.slice_points([0, 0, 0], [1, 0, 0], [0, 0, 1], shape)
