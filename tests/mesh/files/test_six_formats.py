"""Formats that need no other package: files of VTK in all of its encodings, of Stanford in both byte orders."""

import sys

import meshio
import numpy as np
import pytest

import calderon as cal
from calderon.files.vtu import write_grid
from calderon.mesh import MeshError, cube, read
from calderon.mesh.files.formats.vtu import read_vtu

BOX = cube(1.0, 0.5)
OTHERS = ("off", "vtk", "xdmf")


@pytest.fixture
def without_meshio(monkeypatch):
    for name in [each for each in sys.modules if each.partition(".")[0] == "meshio"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "meshio", None)  # its import fails


@pytest.mark.parametrize("name", ["a.msh", "a.vtu", "a.stl", "a.obj", "a.ply", "a.inp"])
def test_six_formats_are_written_and_read_without_meshio(tmp_path, without_meshio, name):
    BOX.write(tmp_path / name)
    assert read(tmp_path / name).volume == pytest.approx(1.0)


def test_other_formats_name_the_extra(tmp_path, without_meshio):
    for ending in OTHERS:
        (tmp_path / f"a.{ending}").write_text("x")
        with pytest.raises(MeshError, match=r"need meshio, which is not installed: pip install 'calderon\[formats\]'"):
            read(tmp_path / f"a.{ending}")
    with pytest.raises(MeshError, match=r"meshio is not installed: pip install 'calderon\[formats\]'"):
        BOX.to_meshio()


@pytest.mark.parametrize("mode", ["Ascii", "Binary", "Appended"])
@pytest.mark.parametrize("packed", [False, True])
def test_grids_of_vtk_in_all_encodings(tmp_path, mode, packed):
    pyvista = pytest.importorskip("pyvista")
    from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridWriter

    path = str(tmp_path / "a.vtu")
    for order, bits, raw in ((0, 32, False), (1, 64, True)):
        writer = vtkXMLUnstructuredGridWriter()
        writer.SetInputData(pyvista.from_meshio(BOX.to_meshio()))
        writer.SetFileName(path)
        getattr(writer, f"SetDataModeTo{mode}")()
        writer.SetByteOrder(order)
        (writer.SetHeaderTypeToUInt64 if bits == 64 else writer.SetHeaderTypeToUInt32)()
        writer.SetEncodeAppendedData(not raw)
        if not packed:
            writer.SetCompressorTypeToNone()
        writer.Write()
        found = read(path)
        assert np.abs(found.vertices - BOX.vertices).max() < 1e-6 and np.array_equal(found.triangles, BOX.triangles)


def test_arrays_longer_than_a_block_come_back(tmp_path):
    """30,000 points and their values, in blocks of 32,768 bytes, by meshio and by this package."""
    rng = np.random.default_rng(1)
    points, cells = rng.random((30000, 3)), np.arange(30000).reshape(-1, 4)
    values = {'a "b" <c>': rng.random((30000, 3)), "single": points[:, 0].astype(np.float32)}
    write_grid(tmp_path / "a.vtu", points, [("tetra", cells)], values, {"tags": np.arange(7500)})
    found = meshio.read(tmp_path / "a.vtu")
    assert np.array_equal(found.points, points) and np.array_equal(found.cells[0].data, cells)
    assert all(np.array_equal(found.point_data[name], each) for name, each in values.items())
    own = read_vtu(tmp_path / "a.vtu")
    assert np.array_equal(own.points, points) and np.array_equal(own.cell_data["tags"][0], np.arange(7500))


@pytest.mark.parametrize("order", ["<", ">"])
def test_binary_files_of_stanford(tmp_path, order):
    """Faces of three and four corners in turn, colours at vertices, and tags."""
    head = f"ply\nformat binary_{'little' if order == '<' else 'big'}_endian 1.0\ncomment of a scanner\n"
    head += "element vertex 5\n" + "".join(f"property float {axis}\n" for axis in "xyz") + "property uchar red\n"
    head += "element face 2\nproperty list uchar int vertex_indices\nproperty short tags\nend_header\n"
    x = np.zeros(5, [("x", f"{order}f4", 3), ("red", "u1")])
    x["x"] = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0, 0]]
    data = x.tobytes()
    for corners, tag in (([0, 1, 2, 3], 7), ([1, 4, 2], 8)):
        numbers = np.array(corners, f"{order}i4"), np.array(tag, f"{order}i2")
        data += bytes([len(corners)]) + b"".join(each.tobytes() for each in numbers)
    (tmp_path / "a.ply").write_bytes(head.encode() + data)
    with pytest.warns(cal.MeshWarning, match="1 quadrilaterals split"):
        mesh = read(tmp_path / "a.ply")
    assert mesh.area == pytest.approx(1.5) and sorted(mesh.tags.tolist()) == [7, 7, 8]
    (tmp_path / "a.ply").write_bytes(head.encode() + data[:-3])
    with pytest.raises(MeshError, match="incomplete, it holds 1 of 2 faces"):
        read(tmp_path / "a.ply")


def test_entities_of_xml_are_refused(tmp_path):
    (tmp_path / "a.vtu").write_text('<!DOCTYPE a [<!ENTITY b "c">]><VTKFile/>')
    with pytest.raises(MeshError, match="declares entities"):
        read(tmp_path / "a.vtu")
