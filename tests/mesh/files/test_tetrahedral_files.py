"""Tetrahedra into files and back; files that cannot be used; shapes and the time step."""

import meshio
import numpy as np
import pytest

import calderon as cal


def parts(low_tag=0):
    """A box of two parts with two named boundaries."""
    mesh = cal.mesh.box([0, 0, 0], [2, 1, 1], cells=[4, 2, 2])
    tags = (mesh.centroids[:, 0] > 1).astype(int) + low_tag
    end = np.isclose(mesh.vertices[mesh.faces][:, :, 0], 2).all(axis=1).astype(int) + low_tag
    names = {"air": low_tag, "left -- or right": low_tag + 1}
    boundaries = {"wall": low_tag, "end": low_tag + 1}
    return cal.TetrahedralMesh(mesh.vertices, mesh.tetrahedra, tags, names, mesh.faces, end, boundaries)


@pytest.mark.parametrize("ending", [".msh", ".vtu"])
@pytest.mark.parametrize("low_tag", [0, 3])
def test_a_mesh_comes_back(ending, low_tag, tmp_path):
    mesh = parts(low_tag)
    mesh.write(tmp_path / f"box{ending}")
    assert [path.name for path in tmp_path.iterdir()] == [f"box{ending}"]
    back = cal.mesh.read_tetrahedra(tmp_path / f"box{ending}", scale=1e-3)
    np.testing.assert_allclose(back.vertices, 1e-3 * mesh.vertices, atol=1e-15)
    np.testing.assert_array_equal(back.tetrahedra, mesh.tetrahedra)
    assert back.material_names() == mesh.material_names()
    for name in ("wall", "end"):
        both = [each.faces[each.face_tags == each.face_names[name]] for each in (mesh, back)]
        np.testing.assert_array_equal(*both)


def test_gmsh_reads_what_was_written(tmp_path):
    gmsh = pytest.importorskip("gmsh")
    parts().write(tmp_path / "box.msh")
    gmsh.initialize(interruptible=False)
    try:
        gmsh.option.setNumber("General.Terminal", 0)
        gmsh.open(str(tmp_path / "box.msh"))
        named = {gmsh.model.getPhysicalName(*each) for each in gmsh.model.getPhysicalGroups()}
        count = len(gmsh.model.mesh.getElementsByType(4)[0])
    finally:
        gmsh.finalize()
    assert named == {"air", "left -- or right", "wall", "end"} and count == 96


def test_faces_between_tetrahedra_are_told(tmp_path):
    mesh = parts()
    inner = np.flatnonzero(np.isclose(mesh.vertices[mesh.tetrahedra][:, 1:, 0], 1).all(axis=1))
    faces = np.concatenate([mesh.faces, mesh.tetrahedra[inner][:, 1:]])
    marks = np.concatenate([mesh.face_tags, np.full(len(inner), 2)])
    sheet = cal.TetrahedralMesh(
        mesh.vertices, mesh.tetrahedra, mesh.tags, mesh.names, faces, marks, {**mesh.face_names, "screen": 2}
    )
    sheet.write(tmp_path / "sheet.vtu")
    with pytest.warns(cal.MeshWarning, match="tagged faces .screen. lie between two tetrahedra"):
        cal.mesh.read_tetrahedra(tmp_path / "sheet.vtu")


def test_files_that_cannot_be_used_are_refused(tmp_path):
    with pytest.raises(cal.MeshError, match="no such file"):
        cal.mesh.read_tetrahedra(tmp_path / "none.msh")
    with pytest.raises(cal.MeshError, match="unknown mesh format '.stl'; choose .msh, .vtu"):
        cal.mesh.read_tetrahedra(tmp_path / "none.stl")
    with pytest.raises(cal.MeshError, match="unknown mesh format '.stl': choose .msh, .vtu"):
        parts().write(tmp_path / "none.stl")
    with pytest.raises(cal.MeshError, match="does not exist"):
        parts().write(tmp_path / "none" / "box.msh")
    cal.mesh.write(cal.mesh.sphere(1.0, 0.8), tmp_path / "surface.msh")
    with pytest.raises(cal.MeshError, match="no tetrahedra .the file holds .* triangle.: mesh the volume"):
        cal.mesh.read_tetrahedra(tmp_path / "surface.msh")
    flat = meshio.Mesh(np.eye(4, 3) * [1, 1, 0], [("tetra", [[0, 1, 2, 3]])])
    flat.write(tmp_path / "flat.vtu")
    with pytest.raises(cal.MeshError, match="flat.vtu: 1 tetrahedra have no volume"):
        cal.mesh.read_tetrahedra(tmp_path / "flat.vtu")


def test_slivers_are_reported_with_their_effect_on_the_step():
    """A box whose middle vertex is moved toward a face: inscribed radii shrink, and the stable step with them."""
    mesh = cal.mesh.box([0, 0, 0], [1, 1, 1], cells=2)
    vertices = mesh.vertices.copy()
    vertices[13] = [0.5, 0.5, 0.02]
    thin = cal.TetrahedralMesh(vertices, mesh.tetrahedra, names={"vacuum": 0})
    report, even = cal.mesh.step_report(thin), cal.mesh.step_report(mesh)
    assert even.slivers == 0 and even.gain == 1 and "no slivers" in str(even)
    assert report.slivers == (thin.quality < 0.1).sum() > 0
    good = thin.quality >= 0.1
    assert report.gain == pytest.approx(thin.inradii[good].min() / thin.inradii.min())
    assert report.worst == thin.inradii.argmin()
    assert f"{report.slivers} slivers" in str(report) and f"{report.gain:.2f} times larger" in str(report)
    # the stable step follows the least delay, within the factor that shapes make
    steps = [cal.MaxwellDG(each, 2).time_step_limit for each in (mesh, thin)]
    assert steps[1] / steps[0] == pytest.approx(report.delay.min() / even.delay.min(), rel=0.5)
    glass = cal.mesh.step_report(mesh, {"vacuum": cal.Material(permittivity=4.0)})
    assert glass.delay == pytest.approx(2 * even.delay)


def test_names_and_numbers_that_are_refused(tmp_path):
    box = cal.mesh.box([0, 0, 0], [1, 1, 1], cells=1)
    quoted = cal.TetrahedralMesh(box.vertices, box.tetrahedra, names={'the "air"': 0})
    with pytest.raises(cal.MeshError, match="cannot hold the name"):
        quoted.write(tmp_path / "a.msh")
    quoted.write(tmp_path / "a.vtu")
    assert cal.mesh.read_tetrahedra(tmp_path / "a.vtu").material_names() == quoted.material_names()
    with pytest.raises(cal.MeshError, match="tetrahedra hold numbers that are not integers"):
        cal.TetrahedralMesh(box.vertices, box.tetrahedra + 0.5)
