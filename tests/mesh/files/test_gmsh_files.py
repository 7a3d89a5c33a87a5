"""Files of gmsh: whole sections, and elements with no, one or several physical groups."""

import warnings

import meshio
import numpy as np
import pytest

import calderon as cal
from calderon.mesh import MeshError, MeshWarning, cube, plate, read, read_tetrahedra


def box(folder, version, binary, dimension=2, groups=((2, [1], 5, "left"),), save_all=True):
    """A unit cube of gmsh with physical groups (dimension, entities, tag, name)."""
    gmsh = pytest.importorskip("gmsh")
    gmsh.initialize(interruptible=False)
    try:
        gmsh.option.setNumber("General.Terminal", 0)
        gmsh.model.occ.addBox(0, 0, 0, 1, 1, 1)
        gmsh.model.occ.synchronize()
        for each in groups:
            gmsh.model.addPhysicalGroup(*each)
        for name, value in (("MeshSizeMax", 0.5), ("SaveAll", save_all), ("Binary", binary)):
            gmsh.option.setNumber(f"Mesh.{name}", value)
        gmsh.option.setNumber("Mesh.MshFileVersion", version)
        gmsh.model.mesh.generate(dimension)
        gmsh.write(str(folder / "box.msh"))
    finally:
        gmsh.finalize()
    return folder / "box.msh"


@pytest.mark.parametrize("version", ["2.2", "4.1"])
def test_sections_have_their_end_marks(tmp_path, version):
    path = tmp_path / "a.msh"
    cube(1.0, 0.5).write(path, version)
    whole = path.read_text()
    for section in ("Nodes", "Elements"):
        end = whole.index(f"\n$End{section}")
        for stop in (end - 1, end, end + 1, end + 9):
            path.write_text(whole[:stop])
            with pytest.raises(MeshError, match=rf"\${section} has no end mark \$End{section}: it is incomplete"):
                read(path)
    path.write_text(whole.rstrip())
    assert read(path).is_closed


@pytest.mark.parametrize("binary", [0, 1])
def test_entities_without_a_group_get_the_tag_zero(tmp_path, binary):
    path = box(tmp_path, 4.1, binary)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mesh = read(path)
    assert mesh.is_closed and mesh.names == {"left": 5} and set(mesh.tags) == {0, 5}
    assert mesh.restricted("left").area == pytest.approx(1.0)


@pytest.mark.parametrize("binary", [0, 1])
def test_tetrahedra_beside_entities_without_a_group(tmp_path, binary):
    path = box(tmp_path, 4.1, binary, 3, ((3, [1], 7, "inside"), (2, [2], 4, "right")))
    mesh = read_tetrahedra(path)
    assert mesh.names == {"inside": 7} and set(mesh.tags) == {7} and mesh.volumes.sum() == pytest.approx(1.0)
    right = mesh.faces[mesh.face_tags == mesh.face_names["right"]]
    assert np.allclose(mesh.vertices[right][..., 0], 1) and len(right)
    assert read(path).restricted("right").area == pytest.approx(1.0)


@pytest.mark.parametrize("binary", [0, 1])
@pytest.mark.parametrize("version", [2.2, 4.1])
def test_the_smallest_of_several_groups_counts(tmp_path, version, binary):
    groups = ((2, [1, 2, 3, 4, 5, 6], 1, "all"), (2, [3, 4], 7, "part"))
    path = box(tmp_path, version, binary, groups=groups, save_all=False)
    with pytest.warns(
        MeshWarning, match=r"elements are in several physical groups \(all, part\): the smalle"
    ) as warned:
        mesh = read(path)
    assert len(warned) == 1 and f"{np.count_nonzero(mesh.tags == 7)} elements" in str(warned[0].message)
    assert mesh.is_closed and mesh.names == {"all": 1, "part": 7}
    assert mesh.restricted("part").area == pytest.approx(2.0) and mesh.restricted("all").area == pytest.approx(4.0)


def test_triangles_that_are_given_twice_are_no_groups(tmp_path):
    path = tmp_path / "a.msh"
    plate((1.0, 1.0), 1.0).write(path, "2.2")
    text = path.read_text()
    begin, end = text.index("$Elements"), text.index("$EndElements")
    head, count, *rows = text[begin:end].splitlines()
    rows.append(rows[0])
    path.write_text(text[:begin] + "\n".join([head, str(int(count) + 1), *rows]) + "\n" + text[end:])
    with pytest.warns(MeshWarning, match="1 triangles that repeat others dropped"):
        assert read(path).number_of_triangles == 2


def test_the_count_of_tetrahedra_in_several_blocks(tmp_path):
    box_ = cal.mesh.box([0, 0, 0], [2, 1, 1], cells=[2, 1, 1])
    tags = (box_.centroids[:, 0] > 1).astype(int) + 1
    parts = cal.TetrahedralMesh(box_.vertices, box_.tetrahedra, tags, {"a": 1, "b": 2})
    blocks = [("tetra", parts.tetrahedra[tags == 1]), ("vertex", [[0]]), ("tetra", parts.tetrahedra[tags == 2])]
    meshio.write(tmp_path / "a.vtu", meshio.Mesh(parts.vertices, blocks))
    with pytest.warns(MeshWarning, match=f"no triangles but {len(tags)} tetra, 1 vertex; their"):
        assert read(tmp_path / "a.vtu").volume == pytest.approx(2.0)
