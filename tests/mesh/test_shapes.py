"""Shapes: areas and volumes converge at rate 2, edges are as long as asked, triangles well shaped."""

import warnings

import numpy as np
import pytest
from scipy.special import ellipeinc, ellipkinc

import calderon as cal
from calderon.mesh import (
    MeshError,
    almond,
    cube,
    cuboid,
    cylinder,
    disc,
    ellipsoid,
    hollow_sphere,
    layered_cuboid,
    ogive,
    plate,
    sphere,
    torus,
    tube,
)  # fmt: skip


def euler(mesh):
    return mesh.number_of_vertices - mesh.number_of_edges + mesh.number_of_triangles


def assert_sound(mesh, h, least_angle, handles=0):
    assert mesh.is_closed and mesh.is_manifold and mesh.number_of_components == 1 and mesh.flipped == 0
    assert euler(mesh) == 2 - 2 * handles
    assert abs(mesh.mean_edge_length / h - 1) < 0.1
    assert mesh.edge_lengths.max() <= 1.5 * h
    assert np.degrees(mesh.angles).min() > least_angle
    assert mesh.number_of_vertices == len(mesh.used_vertices)


@pytest.mark.parametrize(
    "h", [0.02, 0.05, 0.1, 0.13, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.7]
)
def test_sphere_has_good_triangles_at_any_h(h):
    assert_sound(sphere(2.0, 2 * h), 2 * h, least_angle=40)
    inscribed = sphere(2.0, 2 * h, volume=False)
    assert_sound(inscribed, 2 * h, least_angle=40)
    np.testing.assert_allclose(np.linalg.norm(inscribed.vertices, axis=1), 2.0, rtol=1e-14)


def ellipsoid_area(a, b, c):
    """Legendre's form, a >= b >= c, a > c."""
    phi = np.arccos(c / a)
    m = a**2 * (b**2 - c**2) / (b**2 * (a**2 - c**2))
    e, f = ellipeinc(phi, m), ellipkinc(phi, m)
    return 2 * np.pi * c**2 + 2 * np.pi * a * b / np.sin(phi) * (e * np.sin(phi) ** 2 + f * np.cos(phi) ** 2)


ROUND = {
    "sphere": (lambda h: sphere(1.0, h, volume=False), 4 * np.pi, 4 * np.pi / 3, (0.2, 0.1), 0, 40),
    "ellipsoid": (
        lambda h: ellipsoid((2.0, 1.0, 0.5), h, volume=False),
        ellipsoid_area(2.0, 1.0, 0.5),
        4 * np.pi / 3,
        (0.3, 0.15),
        0,
        25,
    ),
    "torus": (lambda h: torus(1.0, 0.4, h, volume=False), 4 * np.pi**2 * 0.4, 2 * np.pi**2 * 0.16, (0.3, 0.15), 1, 25),
    "cylinder": (lambda h: cylinder(1.0, 2.0, h), 6 * np.pi, 2 * np.pi, (0.3, 0.15), 0, 25),
}


@pytest.mark.parametrize("name", ROUND)
def test_area_and_volume_converge_at_rate_two(name):
    make, area, volume, sizes, handles, angle = ROUND[name]
    errors = []
    for h in sizes:
        mesh = make(h)
        assert_sound(mesh, h, angle, handles)
        errors.append((abs(mesh.area / area - 1), abs(mesh.volume / volume - 1)))
    rates = np.log2(np.array(errors[0]) / np.array(errors[1]))
    assert (np.abs(rates - 2) < 0.4).all(), (errors, rates)
    assert max(errors[1]) < 0.02


def test_vertices_lie_on_their_surfaces():
    x = ellipsoid((2.0, 1.0, 0.5), 0.3, volume=False).vertices / [2.0, 1.0, 0.5]
    np.testing.assert_allclose((x**2).sum(axis=1), 1, rtol=1e-12)
    x, y, z = torus(1.0, 0.4, 0.3, volume=False).vertices.T
    np.testing.assert_allclose(np.hypot(np.hypot(x, y) - 1.0, z), 0.4, rtol=1e-12)
    d = 0.2523744
    t, y, z = almond(h=0.02, volume=False).vertices.T / d
    blunt = 0.193333 * np.sqrt(np.maximum(1 - (t / 0.416667) ** 2, 0))
    front = 4.83345 * (np.sqrt(1 - (t / 2.08335) ** 2) - 0.96)
    np.testing.assert_allclose(np.hypot(y, 3 * z), np.where(t < 0, blunt, front), atol=2e-5)  # six digits in the paper
    x, y, z = ogive(h=0.02, volume=False).vertices.T / 0.0254
    arc = (np.sqrt(1 - (x / 5) ** 2 * (5 / 13) ** 2) - 12 / 13) / (1 / 13)
    np.testing.assert_allclose(np.hypot(y, z), arc, atol=1e-8)


@pytest.mark.parametrize("axes", [(1, 1, 0.1), (5, 2, 0.5), (0.3, 3, 0.3)])
def test_thin_and_long_ellipsoids(axes):
    assert_sound(ellipsoid(axes, 0.25), 0.25, least_angle=20)


@pytest.mark.parametrize("h", [0.03, 0.017])
def test_almond_and_ogive_keep_their_tips(h):
    nut = almond(h=h)
    assert_sound(nut, h, least_angle=18)
    np.testing.assert_allclose(nut.bounds[1, 0], 0.583333 * 0.2523744, rtol=1e-6)
    widths = nut.bounds[1] - nut.bounds[0]
    assert widths[0] > widths[1] > 2 * widths[2]
    spindle = ogive(h=h)
    assert_sound(spindle, h, least_angle=20)
    np.testing.assert_allclose(spindle.bounds[:, 0], [-0.127, 0.127], rtol=1e-6)


def test_shapes_are_deterministic_and_scale():
    first, second = almond(h=0.03), almond(h=0.03)
    np.testing.assert_array_equal(first.vertices, second.vertices)
    np.testing.assert_array_equal(first.triangles, second.triangles)
    assert sphere(1e-3, 1e-4).number_of_triangles == sphere(1.0, 0.1).number_of_triangles


def test_three_factors_make_an_ellipsoid_of_a_sphere():
    ball = sphere(1.0, 0.3)
    egg = ball.scaled((1.0, 2.0, 0.5))
    assert egg.volume == pytest.approx(ball.volume) and egg.is_closed
    np.testing.assert_allclose(egg.bounds, ball.bounds * (1.0, 2.0, 0.5), rtol=1e-14)
    for wrong in ((1.0, 2.0), (1.0, -1.0, 1.0), (1.0, 0.0, 1.0), "2", (1.0, np.nan, 1.0)):
        with pytest.raises(MeshError, match="positive and finite|one positive finite number, or three"):
            ball.scaled(wrong)


@pytest.mark.parametrize("h", [0.1, 0.3, 1 / 3, 0.26, 1.0, 5.0])
def test_boxes_and_plates_have_ceil_size_over_h_cells(h):
    n = int(np.ceil(1 / h - 1e-9))
    box = cube(1.0, h)
    assert box.number_of_triangles == 12 * n * n
    assert box.volume == pytest.approx(1.0) and box.is_closed and euler(box) == 2
    np.testing.assert_allclose(box.bounds, [[-0.5] * 3, [0.5] * 3])
    sheet = plate((1.0, 2.0), h)
    assert sheet.number_of_triangles == 2 * n * int(np.ceil(2 / h - 1e-9))
    assert sheet.area == pytest.approx(2.0) and (sheet.normals == [0, 0, 1]).all()
    assert cuboid((1.0, 2.0, 3.0), h).volume == pytest.approx(6.0)


@pytest.mark.parametrize("h", [0.1, 0.2, 0.5, 1.0])
def test_disc(h):
    mesh = disc(1.0, h)
    count = len(mesh.boundary_edges)
    assert mesh.area == pytest.approx(0.5 * count * np.sin(2 * np.pi / count))
    assert abs(mesh.mean_edge_length / h - 1) < 0.1 and mesh.edge_lengths.max() < 1.5 * h
    assert euler(mesh) == 1 and (mesh.normals[:, 2] > 0).all()
    assert np.degrees(mesh.angles).min() > 25


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sphere(1.0, 2.0), "at most 1.7"),
        (lambda: sphere(-1.0, 0.1), "radius = -1.0"),
        (lambda: sphere(1.0, 0.0), "h = 0.0"),
        (lambda: cube(1.0, float("nan")), "h = nan"),
        (lambda: cube("one", 0.1), "'one'"),
        (lambda: plate(1.0, 0.1), "2 positive lengths"),
        (lambda: cuboid((1.0, 2.0), 0.1), "3 positive lengths"),
        (lambda: ellipsoid((1.0, 2.0), 0.1), "3 positive lengths"),
        (lambda: torus(1.0, 1.0, 0.1), "intersect itself"),
        (lambda: torus(1.0, 0.1, 0.3), "too large for a torus"),
        (lambda: cylinder(0.1, 1.0, 0.3), "too large for a cylinder"),
        (lambda: disc(1.0, 1.5), "too large for a disc"),
        (lambda: almond(h=0.05), "too large for this almond"),
        (lambda: ogive(h=0.05), "too large for this ogive"),
        (lambda: ellipsoid((1.0, 1.0, 0.001), 0.4), "too large"),
    ],
)
def test_sizes_that_make_no_sense_are_refused(make, message):
    with pytest.raises(MeshError, match=message):
        make()


@pytest.mark.parametrize(
    "shape", ["sphere", "ellipsoid", "torus", "plate", "disc", "cuboid", "cylinder", "almond", "ogive"]
)
def test_more_triangles_than_memory_holds_are_refused(shape):
    with pytest.raises(MemoryError, match=r"triangles needs .* are free: choose edges longer than h = 1e-07"):
        getattr(cal.mesh, shape)(h=1e-7)


def test_more_tetrahedra_than_memory_holds_are_refused():
    with pytest.raises(MemoryError, match="a box of 20000 x 20000 x 20000 cells needs .* take fewer"):
        cal.mesh.box([0, 0, 0], [1, 1, 1], cells=20000)
    with pytest.raises(MemoryError, match="tetrahedra needs .* longer than h = 1e-05"):
        cal.mesh.layered_ball([0.5], ["core"], 1.0, 1e-5)


def test_the_largest_h_that_is_named_is_allowed():
    assert cylinder(0.1, 0.01, 0.014).is_closed and sphere(0.1, 0.17).is_closed
    assert disc(0.1, 0.11).number_of_triangles and torus(1.0, 0.1, 0.12).is_closed
    with pytest.raises(MeshError, match="h = 0.015 is too large .* at most 0.014"):
        cylinder(0.1, 0.01, 0.015)


@pytest.mark.parametrize("axes", [1, None, (1.0, 2.0)])
def test_ellipsoids_have_three_axes(axes):
    with pytest.raises(MeshError, match="semi_axes = .*: 3 positive lengths are needed"):
        ellipsoid(axes, 0.2)


def test_a_tube_and_a_hollow_sphere():
    """Each wall has its tag; end faces have the exact area, and the volume of a hollow sphere is kept."""
    ring = tube(2.0, 1.0, 0.5, 0.3)
    assert ring.is_closed and ring.flipped == 0 and euler(ring) == 0 and np.degrees(ring.angles).min() > 20
    top = ring.restricted("top")
    assert top.areas.sum() == pytest.approx(3 * np.pi) and np.ptp(top.vertices[np.unique(top.triangles), 2]) == 0
    assert ring.volume == pytest.approx(1.5 * np.pi, rel=0.01)
    inner, outer = ring.tags == ring.names["inner"], ring.tags == ring.names["outer"]
    axis = np.einsum("ni,ni->n", ring.centroids[:, :2], ring.normals[:, :2])
    assert (axis[outer] > 0.9).all() and (axis[inner] < -0.9).all()
    shell = hollow_sphere(2.0, 1.0, 0.5)
    volumes = [shell.restricted(name).volume for name in ("outer", "inner")]
    assert volumes == pytest.approx([32 * np.pi / 3, 4 * np.pi / 3], rel=1e-3)
    for wrong in (lambda: tube(1.0, 1.0, 1.0, 0.1), lambda: hollow_sphere(1.0, 2.0, 0.1)):
        with pytest.raises(MeshError, match="inner_radius = .* is not below radius"):
            wrong()


def test_layers_share_their_common_faces():
    mesh = layered_cuboid((3.0, 2.0), (1.0, 0.5, 1.5), 0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # common faces are turned for one of two layers
        layers = [
            mesh.restricted(tags) for tags in (["layer 1", "joint 1"], ["layer 2", "joint 1", "joint 2"], "joint 1")
        ]
    assert [each.volume for each in layers[:2]] == pytest.approx([6.0, 3.0])
    assert layers[2].areas.sum() == pytest.approx(6.0)
    with pytest.raises(MeshError, match="two or more layers"):
        layered_cuboid((1.0, 1.0), (1.0,), 0.5)
