"""Files of gmsh in every version it writes: reversed groups, parametric nodes, no groups, groups without elements."""

import itertools
import re
import warnings

import h5py
import meshio
import numpy as np
import pytest

from calderon.mesh import MeshError, MeshWarning, TriangleMesh, plate, read

FORMATS = [(2.2, 0), (2.2, 1), (4.0, 0), (4.1, 0), (4.1, 1)]
"""Versions, as text and binary; gmsh writes 4.0 as text only."""


@pytest.fixture
def gmsh():
    found = pytest.importorskip("gmsh", reason="extra gmsh")
    found.initialize(interruptible=False)
    found.option.setNumber("General.Terminal", 0)
    yield found
    found.finalize()


def options(gmsh, **numbers):
    for name, value in numbers.items():
        gmsh.option.setNumber(f"Mesh.{name}", value)


def two_sheets(gmsh, groups, order=1, **numbers):
    """Two squares in the plane z = 0, apart, with physical groups (surfaces, number, name)."""
    for x in (0, 3):
        gmsh.model.occ.addRectangle(x, 0, 0, 1, 1)
    gmsh.model.occ.synchronize()
    for each in groups:
        gmsh.model.addPhysicalGroup(2, *each)
    options(gmsh, MeshSizeMax=0.5, **numbers)
    gmsh.model.mesh.generate(2)
    gmsh.model.mesh.setOrder(order)


@pytest.mark.parametrize(("quads", "order", "parametric"), list(itertools.product((0, 1), (1, 2), (0, 1))))
def test_reversed_surfaces_keep_tag_name_and_sense(gmsh, tmp_path, quads, order, parametric):
    """`Physical Surface("back") = {-1}`: written in each version, and as gmsh's current model."""
    two_sheets(gmsh, [([-1], 5, "back"), ([2], 6, "front")], order, RecombineAll=quads, SaveParametric=parametric)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MeshWarning)
        found = [TriangleMesh.from_gmsh()]
        for version, binary in FORMATS:
            options(gmsh, MshFileVersion=version, Binary=binary)
            gmsh.write(str(tmp_path / "a.msh"))
            found.append(read(tmp_path / "a.msh"))
    for mesh in found:
        assert mesh.names == {"back": 5, "front": 6} and mesh.area == pytest.approx(2.0)
        back, front = (mesh.restricted(name) for name in ("back", "front"))
        assert np.allclose(back.normals, [0, 0, -1]) and back.vertices[:, 0].max() == pytest.approx(1.0)
        assert np.allclose(front.normals, [0, 0, 1])


@pytest.mark.parametrize(("version", "binary"), FORMATS)
def test_files_without_groups_keep_the_numbers_of_surfaces(gmsh, tmp_path, version, binary):
    two_sheets(gmsh, [], MshFileVersion=version, Binary=binary)
    gmsh.write(str(tmp_path / "a.msh"))
    mesh = read(tmp_path / "a.msh")
    assert mesh.names == {} and set(mesh.tags) == {1, 2}
    assert mesh.restricted(2).vertices[:, 0].min() == pytest.approx(3.0)


@pytest.mark.parametrize(("version", "binary"), FORMATS)
def test_groups_of_curves_alone_leave_the_numbers_of_surfaces(gmsh, tmp_path, version, binary):
    two_sheets(gmsh, [], MshFileVersion=version, Binary=binary, SaveAll=1)
    gmsh.model.addPhysicalGroup(1, [1], 9, "edge")
    gmsh.write(str(tmp_path / "a.msh"))
    mesh = read(tmp_path / "a.msh")
    assert mesh.names == {} and set(mesh.tags) == {1, 2}


@pytest.mark.parametrize(("version", "binary"), FORMATS)
def test_groups_without_triangles_are_told_and_left_out(gmsh, tmp_path, version, binary):
    two_sheets(gmsh, [([1, 2], 5, "all"), ([], 7, "nothing")], MshFileVersion=version, Binary=binary)
    gmsh.write(str(tmp_path / "a.msh"))
    with pytest.warns(MeshWarning, match="groups without triangles, whose names are left out: nothing"):
        assert read(tmp_path / "a.msh").names == {"all": 5}


def test_parts_of_partitioned_surfaces_have_the_tags_of_the_whole(gmsh, tmp_path):
    for groups, tags in (([([1], 5, "a"), ([2], 6, "b")], {5, 6}), ([], {1, 2})):
        gmsh.clear()
        two_sheets(gmsh, groups, SaveAll=1)
        gmsh.model.mesh.partition(3)
        for version, binary in FORMATS[2:]:
            options(gmsh, MshFileVersion=version, Binary=binary)
            gmsh.write(str(tmp_path / "a.msh"))
            mesh = read(tmp_path / "a.msh")
            assert set(mesh.tags) == tags and mesh.area == pytest.approx(2.0)


@pytest.mark.parametrize("version", ["2.2", "4.1"])
def test_own_files_keep_tags_of_zero_and_names_of_no_triangle(tmp_path, version):
    sheet = plate((1.0, 1.0), 0.5)
    for mesh in (sheet, TriangleMesh(sheet.vertices, sheet.triangles, sheet.tags, {"all": 0, "none": 9})):
        mesh.write(tmp_path / "a.msh", version)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            again = read(tmp_path / "a.msh")
        assert set(again.tags) == {0} and again.names == mesh.names
    with pytest.raises(MeshError, match="a negative tag in .msh files means a reversed surface, got -3"):
        TriangleMesh(sheet.vertices, sheet.triangles, np.full(8, -3)).write(tmp_path / "a.msh", version)


@pytest.mark.parametrize("version", ["2.2", "4.1"])
@pytest.mark.parametrize("end", [b"\r\n", b"\r"])
def test_line_ends_of_other_systems(tmp_path, version, end):
    sheet = plate((1.0, 1.0), 0.5)
    TriangleMesh(sheet.vertices, sheet.triangles, sheet.tags + 4, {"a b": 4}).write(tmp_path / "a.msh", version)
    (tmp_path / "a.msh").write_bytes((tmp_path / "a.msh").read_bytes().replace(b"\n", end))
    mesh = read(tmp_path / "a.msh")
    assert mesh.names == {"a b": 4} and mesh.number_of_triangles == 8


def test_numbers_of_the_other_byte_order(tmp_path):
    points, corners = np.array([[1, 2, 3]]).T, np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], float)
    nodes = np.zeros(3, np.dtype([("n", ">i4"), ("x", ">f8", 3)]))
    nodes["n"], nodes["x"] = points.ravel(), corners
    element = np.array([2, 1, 2, 1, 5, 8, 1, 2, 3], ">i4")
    data = [b"$MeshFormat\n2.2 1 8\n", np.array(1, ">i4").tobytes(), b"\n$EndMeshFormat\n$Nodes\n3\n", nodes.tobytes()]
    data += [b"\n$EndNodes\n$Elements\n1\n", element.tobytes(), b"\n$EndElements\n"]
    (tmp_path / "a.msh").write_bytes(b"".join(data))
    mesh = read(tmp_path / "a.msh")
    assert np.array_equal(mesh.vertices, corners) and mesh.tags.tolist() == [5]


def test_tags_that_other_programs_write_as_data(tmp_path):
    sheet = plate((1.0, 1.0), 0.5)
    content = meshio.Mesh(sheet.vertices, [("triangle", sheet.triangles)], cell_data={"tags": [np.arange(8.0)]})
    for binary in (False, True):
        meshio.write(tmp_path / "a.msh", content, file_format="gmsh", binary=binary)
        if not binary:  # meshio writes "np.float64(1.0)"
            text = re.sub(r"np.float64\((.*?)\)", r"\1", (tmp_path / "a.msh").read_text())
            (tmp_path / "a.msh").write_text(text)
        assert sorted(read(tmp_path / "a.msh").tags) == list(range(8))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("2.2 0 8", "1.0 0 8", "version '1.0' of gmsh's format is not supported: save version 4.1 or 2.2"),
        ("$MeshFormat", "$NOD", r"no section \$MeshFormat"),
        ("$Elements", "$Element", r"no section \$Elements: it holds no mesh"),
        (" 2 2 0 0 ", " 99 2 0 0 ", "elements of the unknown kind 99"),
        (" 2 2 0 0 ", " 3 2 0 0 ", "an element of kind 3 with 3 nodes, not 4"),
    ],
)
def test_files_that_are_no_mesh_of_gmsh(tmp_path, old, new, message):
    path = tmp_path / "a.msh"
    plate((1.0, 1.0), 0.5).write(path, "2.2")
    path.write_text(re.sub(re.escape(old), new, path.read_text(), count=1))
    with pytest.raises(MeshError, match=message):
        read(path)


@pytest.mark.parametrize("ending", ["med", "xdmf"])
def test_a_mended_file_is_not_taken_for_the_refused_one(tmp_path, ending):
    """While the error of the refusal is kept, and the file is written in its place."""
    path, content = tmp_path / f"a.{ending}", meshio.Mesh(np.eye(3), [("triangle", np.array([[0, 1, 2]]))])
    meshio.write(path, content)
    place = path if ending == "med" else tmp_path / "a.h5"
    good = place.read_bytes()
    with h5py.File(place, "a") as file:
        if ending == "med":
            mesh = file["ENS_MAA"][next(iter(file["ENS_MAA"]))]
            file["ENS_MAA"].copy(mesh, file["ENS_MAA"], "second")
        else:
            del file["data1"]
    with pytest.raises(MeshError) as kept:
        read(path)
    with place.open("r+b") as file:
        file.truncate(0)
        file.write(good)
    assert read(path).number_of_triangles == 1 and kept.value is not None


def test_groups_of_med_files_are_names(gmsh, tmp_path):
    two_sheets(gmsh, [([1], 5, "left"), ([2], 6, "right")])
    gmsh.write(str(tmp_path / "a.med"))
    mesh = read(tmp_path / "a.med")
    assert set(mesh.names) == {"left", "right"} and mesh.restricted("right").vertices[:, 0].min() == pytest.approx(3.0)


@pytest.mark.parametrize("ending", ["med", "unv"])
def test_files_without_faces(gmsh, tmp_path, ending):
    """Lines alone get advice that is not about a session of gmsh; tetrahedra alone give their skin."""
    gmsh.model.occ.addBox(0, 0, 0, 1, 1, 1)
    gmsh.model.occ.synchronize()
    options(gmsh, MeshSizeMax=0.5)
    path = tmp_path / f"a.{ending}"
    gmsh.model.mesh.generate(1)
    gmsh.write(str(path))
    with pytest.raises(MeshError, match=r"no triangles \(the file holds \d+ line\): mesh the surface"):
        read(path)
    gmsh.model.mesh.generate(3)
    gmsh.model.addPhysicalGroup(3, [1], 7, "inside")
    gmsh.write(str(path))
    with pytest.warns(MeshWarning, match="boundary faces are used"):
        assert read(path).volume == pytest.approx(1.0)
    path.write_text("    -1\n   164\n         1\n    -1\n")
    with pytest.raises(MeshError, match="it holds no nodes: mesh the surface, in gmsh|cannot be read as"):
        read(path)
