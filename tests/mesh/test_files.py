"""Files: what goes in comes out, units included; what cannot be used is refused with advice."""

import os
import warnings

import meshio
import numpy as np
import pytest

from calderon.mesh import MeshError, MeshWarning, TriangleMesh, cube, plate, read, sphere

FORMATS = ["a.msh", "a.vtu", "a.stl", "a.obj", "a.ply", "a.inp"]


def tagged_cube():
    mesh = cube(1.0, 0.4).translated([0.1, 0.2, 0.3])
    tags = np.where(mesh.centroids[:, 2] > 0.29, 7, 3)
    return TriangleMesh(mesh.vertices, mesh.triangles, tags, {"upper part": 7, "lower": 3})


def same_surface(a, b, rtol=1e-13):
    order_a, order_b = (np.lexsort(np.round(m.centroids, 6).T) for m in (a, b))
    np.testing.assert_allclose(a.centroids[order_a], b.centroids[order_b], rtol=rtol, atol=rtol)
    np.testing.assert_allclose(a.normals[order_a], b.normals[order_b], atol=10 * rtol)
    return order_a, order_b


@pytest.mark.parametrize(("name", "version"), [(name, None) for name in FORMATS] + [("a.msh", "2.2"), ("a.msh", "4.1")])
def test_round_trip_keeps_geometry_tags_and_names(tmp_path, name, version):
    mesh = tagged_cube()
    stl = name.endswith("stl")
    with pytest.warns(MeshWarning, match="no tags") if stl else warnings.catch_warnings():
        if not stl:
            warnings.simplefilter("error")
        mesh.write(tmp_path / name, version=version)
    assert os.listdir(tmp_path) == [name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = read(tmp_path / name)
    assert again.number_of_vertices == mesh.number_of_vertices
    first, second = same_surface(mesh, again, rtol=1e-6 if stl else 1e-13)
    assert again.is_closed and again.volume == pytest.approx(1.0, rel=1e-6)
    if not stl:
        np.testing.assert_array_equal(mesh.tags[first], again.tags[second])
        assert again.names == mesh.names


@pytest.mark.parametrize("name", FORMATS)
def test_scale_turns_millimetres_into_metres(tmp_path, name):
    sphere(250.0, 100.0).write(tmp_path / name)
    mesh = read(tmp_path / name, scale=1e-3)
    assert mesh.diameter == pytest.approx(2 * 0.25 * 3**0.5, rel=0.1)
    assert mesh.is_closed


def test_scale_must_be_positive(tmp_path):
    plate((1.0, 1.0), 0.5).write(tmp_path / "a.msh")
    with pytest.raises(MeshError, match="1e-3"):
        read(tmp_path / "a.msh", scale=0.0)


@pytest.mark.parametrize("path", [None, 3, ["a.stl"]])
def test_what_is_no_path_is_refused(path):
    with pytest.raises(MeshError, match="meshes are read from files, got"):
        read(path)


def test_scale_and_tolerance_are_lengths(tmp_path):
    for given in ({"scale": "1e-3"}, {"scale": True}, {"tolerance": -1.0}, {"tolerance": "1"}, {"tolerance": np.nan}):
        with pytest.raises(MeshError, match=f"{next(iter(given))} .* needed|{next(iter(given))} .* must be positive"):
            read(tmp_path / "a.stl", **given)


@pytest.mark.parametrize("name", FORMATS)
def test_files_cut_short_never_give_a_mesh_silently(tmp_path, name):
    path = tmp_path / name
    tagged = cube(1.0, 0.2)
    tagged.write(path)
    whole = path.read_bytes()
    for part in (0.05, 0.3, 0.6, 0.9):
        path.write_bytes(whole[: int(part * len(whole))])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                mesh = read(path)
            except MeshError as error:
                assert "a." in str(error)
                continue
        assert not mesh.is_closed  # a text format without an end mark: the missing triangles show as open edges


@pytest.mark.parametrize("header", [b"ply\n", b"ply\nformat ascii 1.0\nelement vertex 3\n"])
def test_a_header_that_does_not_end_is_refused(tmp_path, header):
    path = tmp_path / "a.ply"
    path.write_bytes(header)
    with pytest.raises(MeshError, match="header does not end"):
        read(path)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("content", [b"", b"\x00\xff\x13garbage" * 50, b"hello\nworld\n"])
def test_empty_and_garbage_files_are_refused(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(MeshError, match="a\\."):
        read(tmp_path / name)


def test_unknown_and_missing_files(tmp_path):
    with pytest.raises(MeshError, match=r"unknown mesh format '.step'; choose .msh, .vtu"):
        read(tmp_path / "a.step")
    with pytest.raises(MeshError, match="no such file"):
        read(tmp_path / "a.msh")
    with pytest.raises(MeshError, match="unknown mesh format"):
        plate((1.0, 1.0), 0.5).write(tmp_path / "a.dat")
    with pytest.raises(MeshError, match="'2.2' or '4.1'"):
        plate((1.0, 1.0), 0.5).write(tmp_path / "a.msh", version="3")
    with pytest.raises(MeshError, match="does not exist"):
        plate((1.0, 1.0), 0.5).write(tmp_path / "no" / "a.msh")


def test_lines_only_are_refused_with_what_the_file_holds(tmp_path):
    meshio.write(tmp_path / "a.vtu", meshio.Mesh(np.eye(3), [("line", np.array([[0, 1], [1, 2]]))]))
    with pytest.raises(MeshError, match="no triangles .*2 line"):
        read(tmp_path / "a.vtu")


def test_nan_in_a_file_is_refused(tmp_path):
    meshio.write(tmp_path / "a.vtu", meshio.Mesh(np.diag([1.0, np.nan, 1.0]), [("triangle", np.array([[0, 1, 2]]))]))
    with pytest.raises(MeshError, match="a.vtu: 1 vertices are NaN"):
        read(tmp_path / "a.vtu")


def test_half_flipped_file_is_repaired_with_a_notice(tmp_path):
    mesh = cube(1.0, 0.25)
    triangles = mesh.triangles.copy()
    triangles[::2] = triangles[::2, ::-1]
    meshio.write(tmp_path / "a.ply", meshio.Mesh(mesh.vertices, [("triangle", triangles)]))
    with pytest.warns(MeshWarning, match="flipped"):
        assert read(tmp_path / "a.ply").volume == pytest.approx(1.0)


def test_tetrahedra_give_their_boundary(tmp_path):
    vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]], dtype=float)
    tetrahedra = np.array([[0, 1, 2, 3], [1, 2, 3, 4]])
    meshio.write(tmp_path / "a.vtu", meshio.Mesh(vertices, [("tetra", tetrahedra)]))
    with pytest.warns(MeshWarning, match="6 boundary faces"):
        mesh = read(tmp_path / "a.vtu")
    assert mesh.is_closed and mesh.volume == pytest.approx(0.5)


def test_quadrilaterals_are_split_and_curved_triangles_flattened(tmp_path):
    vertices = np.array([[0, 0, 0], [2, 0, 0], [2, 1, 0], [0, 1, 0]], dtype=float)
    data = {"tags": [np.array([5])]}
    meshio.write(tmp_path / "a.vtu", meshio.Mesh(vertices, [("quad", np.array([[0, 1, 2, 3]]))], cell_data=data))
    with pytest.warns(MeshWarning, match="1 quadrilaterals split"):
        mesh = read(tmp_path / "a.vtu")
    assert mesh.area == pytest.approx(2.0) and mesh.tags.tolist() == [5, 5]
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], dtype=float)
    nodes = np.concatenate([corners, (corners + corners[[1, 2, 0]]) / 2])
    meshio.write(tmp_path / "b.vtu", meshio.Mesh(nodes, [("triangle6", np.arange(6)[None])]))
    with pytest.warns(MeshWarning, match="curved"):
        mesh = read(tmp_path / "b.vtu")
    assert mesh.number_of_vertices == 3 and mesh.area == pytest.approx(0.5)


def test_torn_file_is_joined_with_a_notice(tmp_path):
    mesh = cube(1.0, 0.5)
    soup = mesh.vertices[mesh.triangles].reshape(-1, 3)
    content = meshio.Mesh(soup, [("triangle", np.arange(len(soup)).reshape(-1, 3))])
    meshio.write(tmp_path / "a.vtu", content)
    with pytest.warns(MeshWarning, match="coincide"):
        healed = read(tmp_path / "a.vtu")
    assert healed.is_closed and healed.number_of_vertices == mesh.number_of_vertices


def test_gmsh_physical_groups_become_tags_and_names(tmp_path):
    gmsh = pytest.importorskip("gmsh")
    for version in (2.2, 4.1):
        gmsh.initialize()
        try:
            gmsh.option.setNumber("General.Verbosity", 0)
            gmsh.model.occ.addBox(0, 0, 0, 1, 1, 1)
            gmsh.model.occ.synchronize()
            gmsh.model.addPhysicalGroup(2, [1, 2], tag=11, name="sides")
            gmsh.model.addPhysicalGroup(2, [3, 4, 5, 6], tag=12, name="rest")
            gmsh.option.setNumber("Mesh.MeshSizeMax", 0.5)
            gmsh.option.setNumber("Mesh.MshFileVersion", version)
            gmsh.model.mesh.generate(2)
            gmsh.write(str(tmp_path / "box.msh"))
        finally:
            gmsh.finalize()
        mesh = read(tmp_path / "box.msh")
        assert mesh.names == {"sides": 11, "rest": 12}
        assert mesh.restricted("sides").area == pytest.approx(2.0)
        assert mesh.restricted(12).area == pytest.approx(4.0)


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.vtu"
    plate((1.0, 1.0), 0.5).write(path)
    before = path.read_bytes()

    def broken(*arguments, **keywords):
        raise OSError("disk full")

    monkeypatch.setattr(meshio, "write", broken)
    with pytest.raises(OSError, match="disk full"):
        sphere(1.0, 0.3).write(path)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["a.vtu"]
