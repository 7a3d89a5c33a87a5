"""Elements of files: those that are not read are named, and none is dropped silently."""

import itertools

import meshio
import numpy as np
import pytest

from calderon.mesh import MeshError, MeshWarning, cube, read, read_tetrahedra
from calderon.mesh.files.surfaces import split_quadrilaterals

COLUMN = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1], [0, 0, 2.0]])
NODES = "*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n3, 0, 1, 0\n4, 1, 1, 0\n5, 2, 0, 0\n6, 2, 1, 0\n7, 0, 0, 1\n8, 1, 1, 1\n"
FIRST = "*ELEMENT, TYPE=S3\n1, 1, 2, 3\n"


def read_text(path, text):
    path.write_text(text)
    return read(path)


@pytest.mark.parametrize("reader", [read, read_tetrahedra])
@pytest.mark.parametrize(
    ("kind", "nodes"), [("wedge", range(6)), ("pyramid", [0, 1, 4, 3, 2]), ("hexahedron", [0, 1, 2, 3, 4, 5, 6, 6])]
)
def test_tetrahedra_beside_other_volumes_are_refused(tmp_path, reader, kind, nodes):
    content = meshio.Mesh(COLUMN, [(kind, [list(nodes)]), ("tetra", [[3, 4, 5, 6]])])
    meshio.write(tmp_path / "a.vtu", content)
    with pytest.raises(MeshError, match=f"holds 1 {kind} and 1 tetra, but volumes are read from tetrahedra only"):
        reader(tmp_path / "a.vtu")


VTU = """<VTKFile type="UnstructuredGrid" version="0.1" byte_order="LittleEndian"><UnstructuredGrid>{pieces}
</UnstructuredGrid></VTKFile>"""
PIECE = """<Piece NumberOfPoints="6" NumberOfCells="{number}"><Points><DataArray type="Float64" NumberOfComponents="3"
format="ascii">0 0 0 1 0 0 0 1 0 1 1 0 2 0 0 2 1 0</DataArray></Points><Cells>
<DataArray type="Int64" Name="connectivity" format="ascii">{corners}</DataArray>
<DataArray type="Int64" Name="offsets" format="ascii">{ends}</DataArray>
<DataArray type="Int64" Name="types" format="ascii">{types}</DataArray></Cells></Piece>"""


def grid(*pieces):
    """The text of a .vtu file with cells (VTK's type, corners) in each piece."""
    texts = []
    for cells in pieces:
        texts_of = {
            "corners": [corner for _, corners in cells for corner in corners],
            "ends": itertools.accumulate(len(corners) for _, corners in cells),
            "types": [kind for kind, _ in cells],
        }
        texts.append(PIECE.format(number=len(cells), **{k: " ".join(map(str, each)) for k, each in texts_of.items()}))
    return VTU.format(pieces="".join(texts))


def test_triangle_strips_are_named(tmp_path):
    strip, triangles = (6, [0, 1, 2, 3]), [(5, [3, 1, 4]), (5, [3, 4, 5])]
    with pytest.raises(MeshError, match="a.vtu: holds triangle strips, which are not supported: write triangles"):
        read_text(tmp_path / "a.vtu", grid([strip, *triangles]))
    lines = (4, [0, 1, 2])  # a chain of lines, which is no surface
    assert read_text(tmp_path / "b.vtu", grid([lines, *triangles])).area == pytest.approx(1.0)


def test_grids_in_several_pieces_are_refused(tmp_path):
    pieces = [(5, [0, 1, 2])], [(5, [3, 1, 4]), (5, [3, 4, 5])]
    with pytest.raises(MeshError, match="2 of 3 cells can be read: those of the last piece of several"):
        read_text(tmp_path / "a.vtu", grid(*pieces))


def test_polygons_of_three_or_four_corners_are_read(tmp_path):
    path = tmp_path / "a.vtu"
    with pytest.warns(MeshWarning, match="1 quadrilaterals split"):
        mesh = read_text(path, grid([(7, [0, 1, 3, 2]), (7, [1, 4, 3]), (7, [4, 5, 3])]))
    assert mesh.area == pytest.approx(2.0) and mesh.number_of_triangles == 4
    with pytest.raises(MeshError, match="holds 1 polygons with more than four corners"):
        read_text(path, grid([(7, [0, 1, 4, 5, 3])]))


@pytest.mark.parametrize("first", range(4))
def test_concave_quadrilaterals_stay_within_themselves(tmp_path, first):
    arrow = np.roll(np.array([[0, 0, 0], [10, -1, 0], [8, 0, 0], [10, 1, 0]], dtype=float), first, axis=0)
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
    for points in (arrow, arrow @ turn + [3.0, 1.0, 2.0]):
        a, b, c = np.moveaxis(points[split_quadrilaterals(np.arange(4)[None], points)], 1, 0)
        assert np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2 == pytest.approx([4.0, 4.0])
    lines = [f"v {x} {y} {z}" for x, y, z in arrow]
    with pytest.warns(MeshWarning, match="1 quadrilaterals split .* concave ones along the inner"):
        mesh = read_text(tmp_path / "a.obj", "\n".join([*lines, "f 1 2 3 4", ""]))
    assert mesh.area == pytest.approx(8.0)


def test_thermal_shells_are_read_and_other_types_are_told(tmp_path):
    shells = "*ELEMENT, TYPE=S4T\n2, 2, 5, 6, 4\n*ELEMENT, TYPE=S3T\n3, 2, 4, 3\n"
    with pytest.warns(MeshWarning, match="quadrilaterals"):
        assert read_text(tmp_path / "a.inp", NODES + FIRST + shells).area == pytest.approx(2.0)
    with pytest.warns(MeshWarning, match=r"elements ignored, of types that are not supported: CAX4 \(1 lines\)"):
        read_text(tmp_path / "b.inp", NODES + FIRST + "*ELEMENT, TYPE=CAX4\n2, 2, 5, 6, 4\n")
    with pytest.raises(MeshError, match="elements of the types C3D6 are not supported, only tetrahedra"):
        solid = "*ELEMENT, TYPE=C3D4\n1, 1, 2, 3, 7\n*ELEMENT, TYPE=C3D6\n2, 2, 5, 4, 7, 8, 6\n"
        read_text(tmp_path / "c.inp", NODES + solid)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (NODES + FIRST + "*ELGEN\n1, 2, 1, 1\n", r"\*ELGEN generates nodes or elements"),
        (NODES + "*NGEN\n1, 2, 1\n" + FIRST, r"\*NGEN generates nodes"),
        (NODES + "*NCOPY, CHANGE NUMBER=9\n" + FIRST, r"\*NCOPY generates nodes"),
        ("*SYSTEM\n10, 0, 0, 11, 0, 0\n" + NODES + FIRST, r"\*SYSTEM uses another coordinate system"),
        (NODES.replace("*NODE", "*NODE, SYSTEM=C") + FIRST, r"\*NODE uses another coordinate system"),
        ("*NODE, INPUT=n.txt\n" + FIRST, r"\*NODE refers to another file, 'n.txt'"),
    ],
)
def test_lines_that_would_make_another_mesh(tmp_path, text, message):
    with pytest.raises(MeshError, match=message):
        read_text(tmp_path / "a.inp", text)
    assert read_text(tmp_path / "b.inp", "*SYSTEM\n" + NODES + "*TRANSFORM\n1, 0, 0\n" + FIRST).number_of_triangles == 1


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0, np.nan], "the cell data 'tags' hold 1 tags that are not integers, such as nan"),
        ([1.0, 2.7], "hold 1 tags that are not integers, such as 2.7"),
        ([[1, 2, 3], [4, 5, 6]], "hold 3 numbers for each element, but a tag is one"),
    ],
)
def test_cell_data_that_are_no_tags(tmp_path, values, message):
    cells = {"triangle": [[0, 1, 2], [1, 4, 2]], "tetra": [[0, 1, 2, 3], [3, 4, 5, 6]]}
    for kind, reader in (("triangle", read), ("tetra", read_tetrahedra)):
        content = meshio.Mesh(COLUMN, [(kind, cells[kind])], cell_data={"tags": [np.array(values)]})
        meshio.write(tmp_path / "a.vtu", content)
        with pytest.raises(MeshError, match=message):
            reader(tmp_path / "a.vtu")
    content = meshio.Mesh(COLUMN, [("triangle", cells["triangle"])], cell_data={"tags": [np.array([3.0, 4.0])]})
    meshio.write(tmp_path / "a.vtu", content)
    assert read(tmp_path / "a.vtu").tags.tolist() == [3, 4]


def test_vertices_that_no_triangle_has_may_be_anything(tmp_path):
    mesh = cube(1.0, 0.5)
    points = np.vstack([mesh.vertices, np.full((1, 3), np.nan)])
    meshio.write(tmp_path / "a.vtu", meshio.Mesh(points, [("triangle", mesh.triangles)]))
    assert read(tmp_path / "a.vtu").number_of_vertices == mesh.number_of_vertices


def test_paths_that_the_system_refuses():
    with pytest.raises(MeshError, match="nnn.stl: file name too long; give the path of a mesh file"):
        read("n" * 300 + ".stl")
