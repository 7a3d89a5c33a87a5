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
    with pytest.raises(MeshError, match="a mesh is stored in a file, got"):
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
    with pytest.raises(MeshError, match=r"unknown mesh format '.3ds'; choose .msh, .vtu"):
        read(tmp_path / "a.3ds")
    with pytest.raises(MeshError, match="no such file"):
        read(tmp_path / "a.msh")
    (tmp_path / "b.msh").mkdir()
    with pytest.raises(MeshError, match="a folder, not a file"):
        read(tmp_path / "b.msh")
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
    nodes = np.concatenate([nodes, nodes + [0, 0, 1]])
    blocks = [("triangle6", np.arange(6)[None]), ("triangle6", np.arange(6, 12)[None])]  # a block for each face
    meshio.write(tmp_path / "b.msh", meshio.Mesh(nodes, blocks), file_format="gmsh22", binary=False)
    with pytest.warns(MeshWarning, match="curved") as warned:
        mesh = read(tmp_path / "b.msh")
    assert mesh.number_of_vertices == 6 and mesh.area == pytest.approx(1.0)
    assert [str(each.message).partition(": ")[2][:17] for each in warned] == ["2 curved elements"]


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
        gmsh.initialize(interruptible=False)
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

    monkeypatch.setattr("calderon.mesh.files.formats.vtu.write_grid", broken)
    with pytest.raises(OSError, match="disk full"):
        sphere(1.0, 0.3).write(path)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["a.vtu"]


CUBE = cube(1.0, 0.5)
VERTICES = [" ".join(f"{x:g}" for x in vertex) for vertex in CUBE.vertices]
CORNERS = (CUBE.triangles + 1).tolist()


def read_text(path, *lines):
    path.write_text("".join(f"{line}\n" for line in lines))
    return read(path)


@pytest.mark.parametrize(
    ("vertex", "corner"),
    [
        ("v {}", "{}"),
        ("v {} 0.1 0.2 0.3", "{}"),  # colours, as MeshLab writes them
        ("v {} 1.0", "{}//1"),  # normals, as Blender writes them
        ("v\t{}", "{}/1/1"),
    ],
)
def test_wavefront_files_of_other_programs(tmp_path, vertex, corner):
    faces = [" ".join(corner.format(number) for number in face) for face in CORNERS]
    lines = [vertex.format(each) for each in VERTICES] + ["vn 0 0 1 # up", "vt 0 0", "o first"]
    lines += [f"f {face}" for face in faces[:10]] + ["o second", "s off"]
    lines += ["f " + face.replace(" ", " \\\n", 1) for face in faces[10:]]
    mesh = read_text(tmp_path / "a.obj", *lines)
    assert np.array_equal(mesh.triangles, CUBE.triangles) and np.allclose(mesh.vertices, CUBE.vertices)
    assert mesh.names == {"first": 1, "second": 2} and np.array_equal(np.bincount(mesh.tags), [0, 10, 38])
    last = [" ".join(str(number - 1 - len(VERTICES)) for number in face) for face in CORNERS]
    again = read_text(tmp_path / "b.obj", *(f"v {each}" for each in VERTICES), *(f"f {face}" for face in last))
    assert np.array_equal(again.triangles, CUBE.triangles)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("f 1 2", "line 76: a face has three corners or four"),
        ("f 1 2 3 4 5", "line 76: a polygon with more than four"),
        ("v 1 2", "line 76: a vertex has three coordinates"),
        ("f 1 2 0", "line 76: vertices are numbered from 1"),
        ("f 1 2 99", "1 faces refer to missing vertices, such as 99; the file has 26, numbered from 1"),
        ("f 1 2 -27", "line 76: vertex -27 counts back from the last one, but only 26 precede"),
        ("f 1 2 x", "cannot be read as a .obj file"),
    ],
)
def test_wavefront_lines_that_are_none(tmp_path, line, message):
    lines = [f"v {each}" for each in VERTICES] + ["f " + " ".join(map(str, face)) for face in CORNERS]
    with pytest.raises(MeshError, match=message):
        read_text(tmp_path / "a.obj", *lines, "# comment", line)


NODES = ["*HEADING", "a cube", "*NODE", *(f"{i}, " + each.replace(" ", ", ") for i, each in enumerate(VERTICES, 1))]


def elements(first, last, head="*ELEMENT, TYPE=S3"):
    rows = enumerate(CORNERS[first:last], first + 1)
    return [head, *(f"{number}, " + ", ".join(map(str, face)) for number, face in rows)]


@pytest.mark.parametrize(
    ("lines", "names", "counts"),
    [
        (elements(0, 10) + elements(10, 48, "*Element, type=S3R, elset=sail"), {"sail": 1}, [10, 38]),
        (
            elements(0, 10, "*ELEMENT, TYPE=S3, ELSET=hull")
            + elements(10, 20, "*ELEMENT, TYPE=M3D3, ELSET=sail")
            + elements(20, 48, "*ELEMENT, TYPE=S3, ELSET=hull"),
            {"hull": 1, "sail": 2},
            [0, 38, 10],
        ),
        (elements(0, 10) + ["*ELSET, ELSET=sail", "1, 2, 3,"] + elements(10, 48), {"sail": 1}, [45, 3]),
        (elements(0, 48) + ["*ELSET, ELSET=odd, GENERATE", "1, 48, 2"], {"odd": 1}, [24, 24]),
        (
            ["*ELEMENT, TYPE=T3D2, ELSET=rod", "99, 1, 2"] + elements(0, 48, "*ELEMENT, TYPE=S3, ELSET=a"),
            {"a": 1},
            [0, 48],
        ),
        (["*NODE, NSET=more", "99, 0, 0, 0", "**", *elements(0, 48)], {}, [48]),
    ],
)
def test_abaqus_files_of_other_programs(tmp_path, lines, names, counts):
    mesh = read_text(tmp_path / "a.inp", *NODES, *lines)
    assert np.array_equal(mesh.triangles, CUBE.triangles) and np.allclose(mesh.vertices, CUBE.vertices)
    assert mesh.names == names and np.bincount(mesh.tags).tolist() == counts


def test_the_smallest_of_several_sets_counts(tmp_path):
    sets = ["*ELSET, ELSET=sail", "1, 2, 3", "*ELSET, ELSET=rest", "4", "*ELSET, ELSET=both", "sail", "rest"]
    with pytest.warns(MeshWarning, match=r"4 elements are in several sets \(sail, rest, both\): the smallest"):
        mesh = read_text(tmp_path / "a.inp", *NODES, *elements(0, 48), *sets)
    assert mesh.names == {"sail": 1, "rest": 2} and np.bincount(mesh.tags).tolist() == [44, 3, 1]
    (tmp_path / "whole.inp").write_text("\n".join(NODES) + "\n*INCLUDE, INPUT=rows.inp\n")
    assert read_text(tmp_path / "rows.inp", *NODES, *elements(0, 48)).is_closed
    (tmp_path / "rows.inp").write_text("\n".join(elements(0, 48)) + "\n")
    assert read(tmp_path / "whole.inp").is_closed


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([*elements(0, 48), "49, 1, 2"], "195 numbers for elements of 4 each"),
        ([*elements(0, 48), "49, 1, 2, 77"], "refer to 1 missing nodes, such as 77"),
        ([*elements(0, 48), "*NODE", "1, 0, 0, 0"], "node 1 is given twice: write one part"),
        ([*elements(0, 48), *elements(0, 1)], "element numbers are given twice"),
        (["*ELEMENT, TYPE=C3D8", "1, 1, 2, 3, 4, 5, 6, 7, 8"], "only elements of the types C3D8"),
        ([*elements(0, 48), "*INSTANCE, NAME=a, PART=b", "0, 0, 1"], "an instance of a part is moved"),
        (["*INCLUDE, INPUT=there.inp"], "the included file 'there.inp' is not in the folder"),
    ],
)
def test_abaqus_files_that_cannot_be_used(tmp_path, lines, message):
    with pytest.raises(MeshError, match=message):
        read_text(tmp_path / "a.inp", *NODES, *lines)


def test_ply_files_say_how_many_faces_they_hold(tmp_path):
    path = tmp_path / "a.ply"
    CUBE.write(path)
    path.write_bytes(path.read_bytes().replace(b"vertex_indices", b"vertex_index"))
    assert read(path).is_closed
    binary = meshio.Mesh(CUBE.vertices, [("triangle", CUBE.triangles.astype(np.int32))])
    meshio.ply.write(path, binary, binary=True)
    assert read(path).is_closed
    path.write_bytes(path.read_bytes()[:-13])
    with pytest.raises(MeshError, match="incomplete, it holds 47 of 48 faces"):
        read(path)


def test_binary_stl_of_another_size_than_it_says(tmp_path):
    path = tmp_path / "a.stl"
    CUBE.write(path)
    path.write_bytes(path.read_bytes()[:-50])
    with pytest.raises(MeshError, match="2434 bytes, but its 48 triangles take 2484"):
        read(path)


@pytest.mark.parametrize("name", ["a.obj", "a.inp", "a.ply"])
def test_texts_cut_between_or_within_lines(tmp_path, name):
    path = tmp_path / name
    sheet = plate((1.0, 1.0), 0.5)
    sheet.write(path)
    whole = path.read_bytes()
    rows = whole.splitlines(keepends=True)
    if name != "a.inp":  # its sets stand behind the triangles
        path.write_bytes(b"".join(rows[:-1]))
        with pytest.raises(MeshError, match="incomplete, it holds 7 of 8 (triangles|faces)"):
            read(path)
    path.write_bytes(whole[:-1])
    with pytest.warns(MeshWarning, match="the last line does not end"):
        read(path)


def test_msh_files_cut_anywhere_between_their_elements(tmp_path):
    path = tmp_path / "a.msh"
    tagged_cube().write(path)
    whole = path.read_bytes()
    begin, end = whole.index(b"$Elements"), whole.index(b"$EndElements")
    for stop in range(begin, end - 1, 7):
        path.write_bytes(whole[:stop])
        with pytest.raises(MeshError, match="a.msh: "):
            read(path)


NAMES = {"a b": 1, "--dash": 2, "# hash": 3, "*star": 4, "7": 5, "tag 9": 6, "a  b": 7, "f 1 2 3": 8}


@pytest.mark.parametrize("name", ["a.msh", "a.vtu", "a.obj", "a.ply", "a.inp"])
def test_odd_names_come_back_or_are_refused(tmp_path, name):
    path = tmp_path / name
    mesh = TriangleMesh(CUBE.vertices, CUBE.triangles, np.arange(48) % 8 + 1, NAMES)
    mesh.write(path)
    again = read(path)
    first, second = same_surface(mesh, again)
    assert again.names == NAMES and np.array_equal(mesh.tags[first], again.tags[second])
    for odd in ("", " a", "a\n", 'a"b'):
        mesh = TriangleMesh(CUBE.vertices, CUBE.triangles, np.ones(48, int), {odd: 1})
        if name in ("a.vtu", "a.ply"):
            mesh.write(path)
            assert read(path).names == {odd: 1}
        else:
            with pytest.raises(MeshError, match="cannot hold the name"):
                mesh.write(path)


@pytest.mark.parametrize("name", ["a.msh", "a.ply"])
def test_tags_of_more_than_32_bits_are_refused(tmp_path, name):
    with pytest.raises(MeshError, match="tags up to 2147483647, got 1099511627776"):
        TriangleMesh(CUBE.vertices, CUBE.triangles, np.full(48, 2**40)).write(tmp_path / name)


def test_places_that_are_none(tmp_path):
    with pytest.raises(MeshError, match="a mesh is stored in a file, got None"):
        CUBE.write(None)
    (tmp_path / "a.stl").mkdir()
    with pytest.raises(IsADirectoryError, match="a.stl: it is a folder"):
        CUBE.write(tmp_path / "a.stl")
    with pytest.raises(MeshError, match="version '2.2' is for .msh files only"):
        CUBE.write(tmp_path / "b.stl", version="2.2")
