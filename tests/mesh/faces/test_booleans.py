"""Unions, differences and intersections of closed meshes: volumes, areas, tags, cavities."""

import numpy as np
import pytest

import calderon as cal

pytest.importorskip("manifold3d", reason="needs manifold3d, of the extra [cad]")
pytestmark = pytest.mark.filterwarnings("ignore:.*along the cuts")
CUBE, BALL = cal.mesh.cube(1.0, 0.3), cal.mesh.sphere(0.7, 0.25)


def test_volumes_of_what_two_bodies_have_in_common_add_up():
    union, common = cal.mesh.union([CUBE, BALL]), cal.mesh.intersection([CUBE, BALL])
    rest, other = cal.mesh.difference(CUBE, BALL), cal.mesh.difference(BALL, [CUBE])
    assert union.volume + common.volume == pytest.approx(CUBE.volume + BALL.volume, rel=1e-12)
    assert rest.volume + common.volume == pytest.approx(CUBE.volume, rel=1e-12)
    assert union.area + common.area == pytest.approx(CUBE.area + BALL.area, rel=1e-12)
    assert other.volume == pytest.approx(BALL.volume - common.volume, rel=1e-12)
    assert all(each.is_closed and each.is_manifold for each in (union, common, rest, other))


def test_tags_and_names_are_those_of_the_walls():
    block = cal.TriangleMesh(CUBE.vertices, CUBE.triangles, 3 + (CUBE.normals[:, 2] > 0.5), {"sides": 3, "top": 4})
    ball = cal.TriangleMesh(BALL.vertices, BALL.triangles, np.full(len(BALL.triangles), 3), {"ball": 3})
    cut = cal.mesh.difference(block, ball)
    assert set(cut.names) == {"sides", "top", "ball"} and set(cut.tags.tolist()) == set(cut.names.values())
    wall = cut.restricted("ball").vertices
    assert np.linalg.norm(wall, axis=1).max() < 0.72 and (cut.restricted("top").vertices[:, 2] == 0.5).all()


def test_a_component_inside_is_a_cavity():
    hollow, slab = cal.mesh.hollow_sphere(1.0, 0.5, h=0.4), cal.mesh.cube(3.0, 1.0).translated([1.5, 0, 0])
    assert cal.mesh.difference(hollow, slab).volume == pytest.approx(
        hollow.restricted(0).volume / 2 - 0.5**3 * np.pi * 2 / 3, rel=0.05
    )
    made = cal.mesh.difference(cal.mesh.cube(4.0, 2.0), BALL)
    assert made.number_of_components == 2 and made.area == pytest.approx(96 + BALL.area)


def test_open_surfaces_and_bodies_apart_are_refused():
    with pytest.raises(cal.MeshError, match="only closed surfaces bound bodies"):
        cal.mesh.union([CUBE, cal.mesh.plate([1, 1], 0.5)])
    with pytest.raises(cal.MeshError, match="nothing is left of the intersection"):
        cal.mesh.intersection([CUBE, CUBE.translated([5, 0, 0])])
    with pytest.raises(cal.MeshError, match="at least two meshes"):
        cal.mesh.union([CUBE])
