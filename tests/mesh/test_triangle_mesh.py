"""The mesh's own quantities against the geometry they stand for, and what its constructor refuses."""

import numpy as np
import pytest

from calderon.mesh import MeshError, MeshWarning, TriangleMesh, cube, merge, metres_per, plate, sphere, warn_wavenumber


def test_one_triangle():
    mesh = TriangleMesh([[0, 0, 0], [3, 0, 0], [0, 4, 0]], [[0, 1, 2]])
    assert mesh.areas.tolist() == [6.0]
    assert mesh.normals.tolist() == [[0, 0, 1]]
    assert mesh.diameters.tolist() == [5.0]
    np.testing.assert_allclose(mesh.centroids, [[1, 4 / 3, 0]])
    assert mesh.edges.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert mesh.triangle_edges.tolist() == [[2, 1, 0]]
    np.testing.assert_allclose(
        np.degrees(mesh.angles), [[90, np.degrees(np.arctan(4 / 3)), np.degrees(np.arctan(3 / 4))]]
    )
    assert mesh.boundary_vertices.tolist() == [0, 1, 2] and not mesh.is_closed
    assert mesh.diameter == 5.0


def test_euler_characteristic_and_divergence_theorem():
    for mesh in (sphere(1.0, 0.3), cube(2.0, 0.5)):
        assert mesh.number_of_vertices - mesh.number_of_edges + mesh.number_of_triangles == 2
        np.testing.assert_allclose((mesh.normals * mesh.areas[:, None]).sum(axis=0), 0, atol=1e-13)
        moved = mesh.translated([100.0, -50.0, 3.0])
        assert moved.volume == pytest.approx(mesh.volume, rel=1e-11)
        assert mesh.scaled(2.0).volume == pytest.approx(8 * mesh.volume)


def test_arrays_are_read_only_copies():
    vertices = np.eye(3)
    mesh = TriangleMesh(vertices, [[0, 1, 2]])
    vertices[0, 0] = 9
    assert mesh.vertices[0, 0] == 1
    for name in ("vertices", "triangles", "tags", "edges", "areas", "normals", "centroids"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(mesh, name)[0] = 0
    with pytest.raises(AttributeError):
        mesh.vertices = vertices


@pytest.mark.parametrize(
    ("vertices", "triangles", "message"),
    [
        ([[0, 0, 0], [1, 0, 0], [0, np.nan, 0]], [[0, 1, 2]], "1 vertices are NaN or infinite: 2"),
        ([[0, 0, 0], [1, 0, 0], [0, np.inf, 0]], [[0, 1, 2]], "NaN or infinite: 2"),
        (np.eye(3), [[0, 1, 3]], "outside 0..2: 0; .*subtract 1"),
        (np.eye(3), [[0, 1, -1]], "outside"),
        (np.eye(3), np.zeros((0, 3), dtype=int), "empty mesh"),
        (np.zeros((0, 3)), np.zeros((0, 3), dtype=int), "empty mesh"),
        (np.eye(3), [[0, 1, 1]], "1 degenerate triangles without area: 0"),
        ([[0, 0, 0], [1, 1, 1], [2, 2, 2]], [[0, 1, 2]], "degenerate"),
        (np.eye(3), [[0, 1, 2], [1, 2, 0]], "repeat another one .*: 1"),
        (np.eye(3)[:, :2], [[0, 1, 2]], "add z = 0"),
        (np.eye(4)[:, :3], [[0, 1, 2, 3]], "split quadrilaterals"),
        (np.eye(3), [[0.5, 1, 2]], "not integers"),
        (np.eye(3) * 1j, [[0, 1, 2]], "vertices"),
        ("abc", [[0, 1, 2]], "vertices"),
    ],
)
def test_the_constructor_refuses(vertices, triangles, message):
    with pytest.raises(MeshError, match=message):
        TriangleMesh(vertices, triangles)


def test_tags_must_match():
    with pytest.raises(MeshError, match=r"\(1,\)"):
        TriangleMesh(np.eye(3), [[0, 1, 2]], tags=[1, 2])


@pytest.mark.parametrize("names", [{1: "hull"}, {"hull": 1.5}, {"hull": "1"}, {"hull": True}, ["hull"], 3])
def test_names_are_names_of_numbers(names):
    with pytest.raises(MeshError, match=r"names of tags are \{name: number\}"):
        TriangleMesh(np.eye(3), [[0, 1, 2]], names=names)


@pytest.mark.parametrize("tags", [0.5, [0.0], True, [False, True], None, np.array([True])])
def test_parts_are_chosen_by_numbers_or_names(tags):
    with pytest.raises(MeshError, match="tags are numbers or names, got"):
        TriangleMesh(np.eye(3), [[0, 1, 2]]).restricted(tags)


@pytest.mark.parametrize(
    ("change", "value"),
    [("translated", value) for value in (1.0, [0, 1], [0, 0, 1j], [0, 0, np.nan], ["a"] * 3, np.ones((3, 3)))]
    + [("scaled", value) for value in (0, -1.0, "2", True, None, np.nan, np.inf, [1, 1], [1, 1, 0])]
    + [("rotated", value) for value in (1.0, 2 * np.eye(3), -np.eye(3), np.full((3, 3), np.nan), "x", 1j * np.eye(3))]
    + [("merged_vertices", value) for value in (-1.0, np.nan, np.inf, "1", True)],
)
def test_changes_that_are_none_are_refused(change, value):
    with pytest.raises(MeshError):
        getattr(TriangleMesh(np.eye(3), [[0, 1, 2]]), change)(value)


def test_degeneracy_does_not_depend_on_scale_or_place():
    for scale in (1e-9, 1.0, 1e9):
        mesh = cube(1.0, 0.5).scaled(scale)
        assert mesh.volume == pytest.approx(scale**3)


def test_restricted_and_merge_keep_tags_and_names():
    first = TriangleMesh(*_arrays(cube(1.0, 0.5)), names={"box": 0})
    second = TriangleMesh(*_arrays(sphere(0.3, 0.2).translated([2, 0, 0])), names={"ball": 0})
    both = merge([first, second])
    assert both.names == {"box": 0, "ball": 1} and both.number_of_components == 2
    assert both.restricted("ball").number_of_vertices == second.number_of_vertices
    assert both.restricted(["box", "ball"]).area == pytest.approx(both.area)
    assert both.volume == pytest.approx(first.volume + second.volume)
    kept = merge([first, TriangleMesh(*_arrays(second), tags=np.full(second.number_of_triangles, 5))])
    assert set(kept.tags) == {0, 5}
    assert merge([first, first.translated([3, 0, 0])]).names == {"box": 0, "box (2)": 1}
    for unknown in ("cone", 9, []):
        with pytest.raises(MeshError, match="unknown tags"):
            both.restricted(unknown)
    with pytest.raises(MeshError, match="at least one"):
        merge([])


def _arrays(mesh):
    return mesh.vertices, mesh.triangles


def test_unused_vertices_keep_the_numbering_and_do_not_count():
    mesh = TriangleMesh([[99, 99, 99], [0, 0, 0], [1, 0, 0], [0, 1, 0]], [[1, 2, 3]])
    assert mesh.number_of_vertices == 4 and mesh.used_vertices.tolist() == [1, 2, 3]
    assert mesh.diameter == pytest.approx(2**0.5)
    assert mesh.restricted(0).number_of_vertices == 3


def test_merged_vertices_heals_a_soup():
    mesh = sphere(1.0, 0.4)
    soup = mesh.vertices[mesh.triangles].reshape(-1, 3)
    noise = np.random.default_rng(0).uniform(-1e-9, 1e-9, soup.shape)
    torn = TriangleMesh(soup + noise, np.arange(len(soup)).reshape(-1, 3))
    report = torn.check()
    assert not report.ok and {"torn edges", "duplicate vertices"} <= {p.name for p in report.problems}
    assert "merged_vertices" in str(report)
    healed = torn.merged_vertices()
    assert healed.is_closed and healed.number_of_vertices == mesh.number_of_vertices
    with pytest.warns(MeshWarning, match="dropped"):
        assert mesh.merged_vertices(0.35).number_of_triangles < mesh.number_of_triangles


def test_a_tolerance_that_joins_everything_is_named():
    with pytest.raises(MeshError, match=r"tolerance 0.6 joins vertices of each of the 48 .* the shortest edge, 0\.5"):
        cube(1.0, 0.5).merged_vertices(0.6)


def test_the_check_says_how_many_were_flipped():
    with pytest.warns(MeshWarning, match="flipped"):
        inward = TriangleMesh(cube(1.0, 1.0).vertices, cube(1.0, 1.0).triangles[:, ::-1])
    assert "note: orientation: 12 triangles were flipped when the mesh was made; look" in str(inward.check())


def test_check_tells_holes_from_rims():
    ball = sphere(1.0, 0.3)
    assert ball.check().ok and ball.check().notes == ()
    pierced = TriangleMesh(ball.vertices, ball.triangles[1:])
    report = pierced.check()
    assert [p.name for p in report.problems] == ["holes"] and report.problems[0].count == 3
    assert set(pierced.edges[report.problems[0].ids].ravel()) == set(ball.triangles[0])
    sheet = plate((1.0, 2.0), 0.25).check()
    assert sheet.ok and [n.name for n in sheet.notes] == ["open edges"] and sheet.notes[0].count == 24
    half = TriangleMesh(ball.vertices, ball.triangles[ball.centroids[:, 2] > 0])
    assert half.check().ok and {n.name for n in half.check().notes} == {"open edges", "unused vertices"}


def test_check_tells_parts_within_others():
    outer, inner = sphere(1.0, 0.5), sphere(0.3, 0.2)
    notes = merge([outer, inner]).check().notes
    assert [(note.name, note.count) for note in notes] == [("nested parts", inner.number_of_triangles)]
    assert notes[0].ids[0] == outer.number_of_triangles
    assert merge([outer, inner.translated([2, 0, 0])]).check().notes == ()


def test_check_finds_non_manifold_edges_touching_vertices_and_slivers():
    vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1]], dtype=float)
    report = TriangleMesh(vertices, [[0, 1, 2], [1, 0, 3], [0, 1, 4]]).check()
    assert [(p.name, p.count, p.ids.tolist()) for p in report.problems] == [("non-manifold edges", 1, [0])]
    bow = TriangleMesh([[0, 0, 0], [1, 1, 0], [1, -1, 0], [-1, 1, 0], [-1, -1, 0]], [[0, 2, 1], [0, 3, 4]]).check()
    assert [n.ids.tolist() for n in bow.notes if n.name == "touching vertices"] == [[0]]
    thin = TriangleMesh([[0, 0, 0], [1, 0, 0], [0.5, 1e-3, 0]], [[0, 1, 2]]).check()
    assert [p.name for p in thin.problems] == ["slivers"]


def test_units():
    assert metres_per("mm") == 1e-3 and metres_per("in") == 0.0254
    with pytest.raises(MeshError, match="'mm'"):
        metres_per("furlong")
    mesh = sphere(1.0, 0.5)
    with pytest.warns(MeshWarning, match="units"):
        warn_wavenumber(mesh, 1000.0)
    with pytest.warns(MeshWarning, match="units"):
        warn_wavenumber(mesh, 1e-5)


def test_no_doubt_about_usual_sizes(recwarn):
    warn_wavenumber(sphere(1.0, 0.5), 10.0 + 1j)
    warn_wavenumber(sphere(1.0, 0.5), 0.0)
    assert len(recwarn) == 0
