"""Planar shapes: areas, symmetry, grading, refusals."""

import importlib.util
import warnings

import numpy as np
import pytest

import calderon as cal
from calderon import planar

SHAPES = {
    "patch": (lambda: planar.patch(5.7, 3.8, 0.4, z=0.3), 5.7 * 3.8),
    "narrow patch": (lambda: planar.patch(5.7, 0.3, 0.4, z=0.3), 5.7 * 0.3),
    "dipole": (lambda: planar.strip_dipole(10.0, 0.2, 0.8, z=0.3), 2.0),
    "short dipole": (lambda: planar.strip_dipole(1.0, 0.2, 2.0, z=0.3), 0.2),
    "line": (lambda: planar.line_fed_patch(5.0, 4.0, 0.5, 3.0, 0.4, offset=-1.2, z=0.3), 21.5),
    "inset": (lambda: planar.line_fed_patch(5.0, 4.0, 0.5, 3.0, 0.4, inset=1.0, notch=0.3, z=0.3), 21.5 - 0.6),
    "tee": (lambda: planar.rectangles([(-5, 5, -1, 1), (-1, 1, 1 - 1e-13, 4), (0, 1, -1, 1)], 0.8, z=0.3), 26.0),
    "cross": (lambda: planar.jerusalem_cross(8.0, 1.0, 3.2, z=0.3), 23.8),
    "plain cross": (lambda: planar.jerusalem_cross(8.0, 1.0, 1.0, z=0.3), 15.0),
    "ring": (lambda: planar.ring(3.0, 2.0, 0.3, z=0.3), 5 * np.pi),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_have_their_area_and_are_sound(name):
    build, area = SHAPES[name]
    mesh = build()
    assert mesh.area == pytest.approx(area, rel=1e-9)
    assert np.allclose(mesh.normals, [0, 0, 1]) and np.all(mesh.vertices[:, 2] == 0.3)
    assert mesh.check().ok and mesh.number_of_components == 1 and not mesh.flipped


def mirrored(mesh, matrix):
    """Whether triangles mapped by the matrix (2, 2) are triangles of the mesh, up to rounding."""

    def places(points):
        corners = np.round(points[mesh.triangles][:, :, :2], 6) + 0.0  # no -0
        return {tuple(sorted(map(tuple, each))) for each in corners.tolist()}

    return places(mesh.vertices) == places(mesh.vertices[:, :2] @ np.array(matrix).T)


@pytest.mark.parametrize("name", ["patch", "dipole", "inset", "cross", "ring"])
def test_symmetric_shapes_have_symmetric_meshes(name):
    """Waves would be turned in polarisation by others."""
    mesh = SHAPES[name][0]()
    if name != "inset":
        assert mirrored(mesh, [[-1, 0], [0, 1]])
    assert mirrored(mesh, [[1, 0], [0, -1]])
    if name in ("cross", "ring"):
        assert mirrored(mesh, [[0, 1], [1, 0]])
    assert not mirrored(mesh, [[1, 0.1], [0, 1]])


def along_edge(mesh):
    """Sorted x of the vertices with the least y."""
    return np.sort(mesh.vertices[np.isclose(mesh.vertices[:, 1], mesh.vertices[:, 1].min()), 0])


def test_cells_are_small_at_edges_and_never_longer_than_h():
    steps = np.diff(along_edge(planar.patch(5.7, 3.8, 0.4)))
    assert steps.max() <= 0.4 * (1 + 1e-12) and np.allclose(steps[:2], [0.04, 0.12])
    across = np.diff(along_edge(planar.jerusalem_cross(8.0, 1.0, 1.0, cells=5)))
    assert len(across) == 5 and across.sum() == pytest.approx(1.0) and across[-1] < 0.4 * across[2]


def test_a_dipole_has_a_line_of_edges_for_its_gap():
    mesh = planar.strip_dipole(10.0, 0.2, 0.8)
    gap = cal.DeltaGap(line=[[0, -0.1, 0], [0, 0.1, 0]])
    assert np.count_nonzero(gap.weights(cal.RWG(mesh))) == 4


def test_a_spiral_has_the_area_of_its_length_times_width():
    mesh = planar.spiral(turns=3, width=1.0, gap=0.5, inner_radius=2.0, h=0.2)
    angle = np.linspace(0, 6 * np.pi, 100_001)
    length = np.trapezoid(np.hypot(2.5 + 1.5 * angle / (2 * np.pi), 0.0 * angle), angle)
    assert mesh.area == pytest.approx(length, rel=2e-3)
    assert mesh.check().ok and mesh.number_of_components == 1
    reach = np.linalg.norm(mesh.vertices[:, :2], axis=1)
    assert reach.min() == pytest.approx(2.0) and reach.max() == pytest.approx(2.0 + 1.0 + 4.5)


@pytest.mark.skipif(importlib.util.find_spec("gmsh") is None, reason="needs gmsh")
def test_an_outline_leaves_its_holes_out():
    square = [(0, 0), (4, 0), (4, 3), (0, 3)]
    mesh = planar.outline(square, [[(1, 1), (1, 2), (2, 2)]], h=0.5, edge=0.2, z=0.3)
    assert mesh.area == pytest.approx(11.5) and np.allclose(mesh.normals, [0, 0, 1])
    boundary = mesh.edge_triangle_counts == 1
    assert mesh.edge_lengths[boundary].max() < 0.3 < 0.35 < mesh.edge_lengths.max()
    for points, holes, text in (
        ([(0, 0), (1, 1), (1, 0), (0, 1)], [], "meet"),
        (square, [[(3, 1), (5, 1), (5, 2)]], "meet"),
        (square, [[(5, 1), (6, 1), (6, 2)]], "outside"),
        ([(0, 0), (1, 1)], [], "three or more"),
        (square[:3] + [(0, np.nan)], [], "NaN"),
    ):
        with pytest.raises(cal.MeshError, match=text):
            planar.outline(points, holes, h=0.5)


@pytest.mark.parametrize(
    "build, text",
    [
        (lambda: planar.patch(-1.0, 1.0, 0.1), "positive"),
        (lambda: planar.patch(1.0, 1.0, 0.1, z=np.nan), "finite"),
        (lambda: planar.jerusalem_cross(8.0, 1.0, 7.0), "meet"),
        (lambda: planar.jerusalem_cross(8.0, 1.0, 3.2, cells=2.5), "whole number"),
        (lambda: planar.ring(1.0, 2.0, 0.1), "smaller"),
        (lambda: planar.strip_dipole(1.0, 2.0, 0.1), "longer"),
        (lambda: planar.line_fed_patch(5.0, 4.0, 0.5, 3.0, 0.4, inset=5.0), "less than the patch"),
        (lambda: planar.line_fed_patch(5.0, 4.0, 0.5, 3.0, 0.4, offset=1.9), "smaller offset"),
        (lambda: planar.rectangles([(0, 1, 1, 0)], 0.1), "rectangle 0 is .* x low < x high and y low < y high"),
        (lambda: planar.rectangles([(0, 1, 0, np.nan)], 0.1), "list of .x low, x high, y low, y high."),
    ],
)
def test_impossible_shapes_are_refused(build, text):
    with pytest.raises(cal.MeshError, match=text):
        build()


def test_few_cells_across_a_strip_are_warned_of():
    with pytest.warns(cal.MeshWarning, match="2 % low"):
        planar.jerusalem_cross(8.0, 1.0, 3.2, cells=2)


def joints(mesh):
    return np.flatnonzero(mesh.edge_triangle_counts > 2)


def test_ribbons_and_vias_join_flat_metal():
    """At edges of three triangles or four, at all heights with metal; the edge of a patch has two, the foot one."""
    low, high = planar.patch(30e-3, 20e-3, h=5e-3, z=1e-3), planar.patch(30e-3, 20e-3, h=5e-3, z=3e-3)
    both = cal.TriangleMesh(
        np.concatenate([low.vertices, high.vertices]),
        np.concatenate([low.triangles, high.triangles + len(low.vertices)]),
    )
    heights = (0.0, 1e-3, 3e-3)
    tube = planar.via(both, (2e-3, 1e-3), 0.5e-3, heights)
    assert len(joints(tube)) == 12
    assert tube.area == pytest.approx(both.area + 2 * np.pi * 0.5e-3 * 3e-3, rel=1e-9)
    assert tube.number_of_components == 1
    line = ((10e-3, -15e-3), (10e-3, 15e-3))
    wall = planar.ribbon(line, heights[::-1], 1e-3, both)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # neighbours have the same orientation
        planar.ribbon(line, (1e-3, 0), 1e-3, low)
        planar.ribbon(line[::-1], (0, 1e-3), 1e-3, low)
    assert wall.area == pytest.approx(both.area + 30e-3 * 3e-3, rel=1e-9)
    assert wall.number_of_components == 1
    foot = (np.abs(wall.vertices[wall.edges][:, :, 2]) < 1e-12).all(axis=1)
    assert foot.sum() == len(np.unique(low.vertices[:, 1])) - 1
    assert len(joints(wall)) == foot.sum()  # at the lower patch; above it ends at the edge of the upper one
    alone = planar.ribbon(((0, 0), (3e-3, 4e-3)), (0, 10e-3), 2e-3, cells=3)
    assert alone.area == pytest.approx(50e-6) and np.abs(alone.normals[:, 2]).max() < 1e-12


def test_mistakes_of_vertical_shapes():
    patch = planar.patch(30e-3, 20e-3, h=5e-3, z=1e-3)
    with pytest.raises(cal.MeshError, match=r"do not cover the line from \[1.1 0. \] to \[ 1.1 12. \] mm"):
        planar.ribbon(((1.1e-3, 0), (1.1e-3, 12e-3)), (0, 1e-3), 1e-3, patch)
    with pytest.raises(cal.MeshError, match="heights is two or more z in metres that increase, or decrease"):
        planar.ribbon(((0, 0), (1e-3, 0)), (0, 1e-3, 1e-3), 1e-3)
    with pytest.raises(cal.MeshError, match=r"no metal at \(20, 0\) mm .* a post that stands free is a ribbon"):
        planar.via(patch, (20e-3, 0.0), 0.5e-3, (0, 1e-3))
    with pytest.raises(cal.MeshError, match="is not surrounded by metal"):
        planar.via(patch, (9.9e-3, 0.0), 0.5e-3, (0, 1e-3))
    one = planar.via(patch, (0.0, 0.0), 0.5e-3, (0, 1e-3))
    for x in (0.0, 0.4e-3):
        with pytest.raises(cal.MeshError, match="other vertical metal stands within 1 mm of a contact"):
            planar.via(one, (x, 0.0), 0.5e-3, (0, 1e-3))
    with pytest.raises(ValueError, match=r"the place of a via in m is two finite numbers \(x, y\), got \(0, 0, 1\)"):
        planar.via(patch, (0, 0, 1), 0.5e-3, (0, 1e-3))
    with pytest.raises(cal.MeshError, match="h = 0: a positive, finite number"):
        planar.ribbon(((0, 0), (1e-3, 0)), (0, 1e-3), 0)
