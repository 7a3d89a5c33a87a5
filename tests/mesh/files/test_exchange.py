"""Meshes of other packages in memory, their files, CAD models and remeshing."""

import warnings

import meshio
import numpy as np
import pytest

import calderon as cal
from calderon.mesh import AccuracyWarning, MeshError, MeshWarning, TriangleMesh, read


def box():
    """A cuboid whose faces have tags, two of them names."""
    mesh = cal.mesh.cuboid([1.0, 1.0, 2.0], 0.5)
    tags = np.rint(mesh.normals @ [1, 2, 3]).astype(int) + 4
    return TriangleMesh(mesh.vertices, mesh.triangles, tags, {"top": 7, "bottom": 1})


BOX = box()


def same(found, mesh=BOX, names=True):
    """Whether it is the same surface with the same tags, whatever the order of its vertices."""
    order = [np.lexsort(each.centroids.round(6).T) for each in (found, mesh)]
    assert found.centroids[order[0]] == pytest.approx(mesh.centroids[order[1]], abs=1e-6)
    assert np.array_equal(found.tags[order[0]], mesh.tags[order[1]])
    assert not names or found.names == mesh.names
    return True


@pytest.fixture
def gmsh():
    found = pytest.importorskip("gmsh", reason="extra gmsh")
    found.initialize()
    found.option.setNumber("General.Terminal", 0)
    found.model.add("other")
    yield found
    found.finalize()


def test_meshio_round_trip_and_scale():
    assert same(TriangleMesh.from_meshio(BOX.to_meshio()))
    quads = meshio.Mesh([[0, 0], [2, 0], [2, 1], [0, 1.0]], [("quad", [[0, 1, 2, 3]])])
    with pytest.warns(MeshWarning, match="the meshio mesh: 1 quadrilaterals split"):
        assert TriangleMesh.from_meshio(quads, scale=0.5).area == pytest.approx(0.5)
    with pytest.raises(MeshError, match="the meshio mesh: a meshio.Mesh has points and cells, got str"):
        TriangleMesh.from_meshio("hull.msh")
    with pytest.raises(MeshError, match="the meshio mesh: no triangles"):
        TriangleMesh.from_meshio(meshio.Mesh([[0.0, 0, 0], [1, 0, 0]], [("line", [[0, 1]])]))


def test_pyvista_round_trip_and_bodies():
    pyvista = pytest.importorskip("pyvista", reason="extra plot")
    assert same(TriangleMesh.from_pyvista(BOX.to_pyvista()), names=False)
    with pytest.warns(MeshWarning, match="quadrilaterals split"):
        cube = TriangleMesh.from_pyvista(pyvista.Cube())
    assert cube.is_closed and cube.volume == pytest.approx(1)
    ball = TriangleMesh.from_pyvista(pyvista.Sphere(radius=0.5))
    assert ball.is_closed and ball.volume == pytest.approx(np.pi / 6, rel=0.03)


def test_trimesh_round_trip():
    trimesh = pytest.importorskip("trimesh", reason="no dependency of the package")
    assert same(TriangleMesh.from_trimesh(BOX.to_trimesh()), names=False)
    assert TriangleMesh.from_trimesh(trimesh.creation.icosphere(2)).is_closed
    with pytest.raises(MeshError, match="a trimesh.Trimesh has vertices and faces"):
        TriangleMesh.from_trimesh(3)


def test_gmsh_models(gmsh):
    with pytest.raises(MeshError, match="has no mesh"):
        TriangleMesh.from_gmsh()
    BOX.to_gmsh()
    assert same(TriangleMesh.from_gmsh())
    gmsh.model.add("disc")
    disc = gmsh.model.occ.addDisk(0, 0, 0, 1, 1)
    gmsh.model.occ.addDisk(5, 0, 0, 1, 1)
    gmsh.model.occ.synchronize()
    gmsh.model.addPhysicalGroup(2, [disc], 9, "disc")
    gmsh.model.mesh.generate(2)
    found = TriangleMesh.from_gmsh()
    assert found.names == {"disc": 9} and found.area == pytest.approx(np.pi, rel=0.1)


@pytest.mark.parametrize("ending", [".vtk", ".off", ".med", ".xdmf", ".bdf", ".nas"])
def test_files_by_meshio(ending, tmp_path):
    path, mesh = tmp_path / f"box{ending}", BOX.to_meshio()
    if ending in (".bdf", ".nas"):
        mesh.cell_data = {"nastran:ref": mesh.cell_data["tags"]}
        meshio.write(path, mesh, file_format="nastran")
    else:
        mesh.field_data = {}
        meshio.write(path, mesh)
    found = read(path)
    if ending in (".off", ".med"):  # without tags, by the name "tags"
        found = TriangleMesh(found.vertices, found.triangles, BOX.tags)
    assert same(found, names=False)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 3])
    with pytest.raises(MeshError, match=f"box{ending}"):
        read(path)


def test_files_by_pyvista_and_gmsh(gmsh, tmp_path):
    pytest.importorskip("pyvista", reason="extra plot")
    for ending in (".vtp", ".vtk"):
        BOX.to_pyvista().save(tmp_path / f"box{ending}")
        assert same(read(tmp_path / f"box{ending}"), names=False)
    BOX.to_gmsh()
    for path in (tmp_path / f"box{ending}" for ending in (".unv", ".bdf", ".med")):
        gmsh.write(str(path))
        found = read(path)
        assert found.is_closed and found.volume == pytest.approx(2, rel=1e-5), path
        assert len(np.unique(found.tags)) == 6, path
    deck = (tmp_path / "box.bdf").read_bytes()
    (tmp_path / "box.bdf").write_bytes(deck[: len(deck) // 2])
    with pytest.warns(MeshWarning, match="no ENDDATA at its end: if it is incomplete, elements are missing"):
        assert not read(tmp_path / "box.bdf").is_closed


def test_cad_models_need_an_edge_length(gmsh, tmp_path):
    gmsh.model.occ.addBox(0, 0, 0, 100, 100, 200)  # in mm
    gmsh.model.occ.synchronize()
    gmsh.option.setNumber("Mesh.MeshSizeMax", 1e-3)  # of the caller, whose session and model stay
    for ending in ("step", "igs"):
        gmsh.write(str(tmp_path / f"box.{ending}"))
        found = read(tmp_path / f"box.{ending}", h=0.05)
        assert found.bounds[1] - found.bounds[0] == pytest.approx([0.1, 0.1, 0.2])
        assert found.edge_lengths.max() < 0.08
    assert gmsh.model.getEntities(3) == [(3, 1)] and gmsh.option.getNumber("Mesh.MeshSizeMax") == 1e-3
    with pytest.raises(MeshError, match="give the length of edges, h=, in metres"):
        read(tmp_path / "box.step")
    with pytest.raises(MeshError, match="h = 50 m is longer than the model, 0.245 m"):
        read(tmp_path / "box.step", h=50.0)
    BOX.write(tmp_path / "box.stl")
    with pytest.raises(MeshError, match="h is for CAD models"):
        read(tmp_path / "box.stl", h=0.1)


BODIES = {
    "addBox": ((0, 0, 0, 30, 40, 50), (3.0, 6.0, 10.0)),
    "addSphere": ((0, 0, 0, 10), (2.0, 6.0, 10.0)),
    "addCylinder": ((0, 0, 0, 0, 0, 60, 8), (2.0, 6.0, 10.0)),
    "addTorus": ((0, 0, 0, 20, 5), (2.0, 6.0)),
    "addCone": ((0, 0, 0, 0, 0, 30, 10, 0), (2.0, 6.0)),
}


@pytest.mark.parametrize("body", BODIES)
def test_the_mean_edge_of_a_cad_model_is_h(gmsh, tmp_path, body):
    """In mm, where edges of h are too long for 16 of them around: the shape does not shorten them."""
    arguments, lengths = BODIES[body]
    getattr(gmsh.model.occ, body)(*arguments)
    gmsh.model.occ.synchronize()
    for ending in ("step", "brep"):
        gmsh.write(str(tmp_path / f"a.{ending}"))
        for h in lengths:
            with warnings.catch_warnings():
                warnings.simplefilter("error", MeshWarning)
                warnings.simplefilter("ignore", AccuracyWarning)
                mesh = read(tmp_path / f"a.{ending}", h=1e-3 * h)
            assert mesh.is_closed and mesh.mean_edge_length == pytest.approx(1e-3 * h, rel=0.1), h


def test_features_shorter_than_h_are_told(gmsh, tmp_path):
    occ = gmsh.model.occ
    holes = [(3, occ.addCylinder(10 + 20 * i, 10 + 20 * j, -1, 0, 0, 4, 1)) for i in range(3) for j in range(3)]
    occ.cut([(3, occ.addBox(0, 0, 0, 60, 60, 2))], holes)
    occ.synchronize()
    gmsh.write(str(tmp_path / "a.step"))
    with pytest.warns(MeshWarning, match=r"the mean edge is 0.\d+ h: features that are shorter than h"):
        assert read(tmp_path / "a.step", h=10e-3).is_closed


def test_edges_that_are_long_for_round_walls_are_told_or_refused(gmsh, tmp_path):
    """The volume of a ball of flat triangles is smaller; polygons of a thin pipe pass through each other."""
    occ = gmsh.model.occ
    occ.addSphere(0, 0, 0, 10)
    occ.synchronize()
    gmsh.write(str(tmp_path / "ball.step"))
    with pytest.warns(
        AccuracyWarning, match=r"times the area and 0.8\d+ times the volume of the model: edges of h are lo"
    ):
        read(tmp_path / "ball.step", h=6e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(tmp_path / "ball.step", h=2e-3).volume == pytest.approx(4 / 3 * np.pi * 1e-6, rel=0.05)
    gmsh.clear()
    pipes = [occ.addCylinder(0, 0, 0, 0, 0, 80, radius) for radius in (6.0, 5.95)]
    occ.cut([(3, pipes[0])], [(3, pipes[1])])
    occ.synchronize()
    gmsh.write(str(tmp_path / "pipe.step"))
    with pytest.raises(MeshError, match=r"times the volume of the model: edges of h are too long for its thin round"):
        read(tmp_path / "pipe.step", h=10e-3)


def test_programs_of_gmsh_are_not_run(tmp_path):
    (tmp_path / "a.geo").write_text('SystemCall "touch here";')
    with pytest.raises(MeshError, match="a.geo: .geo files are programs of gmsh.*: mesh it by gmsh -2 a.geo, and read"):
        read(tmp_path / "a.geo", h=0.1)
    assert [each.name for each in tmp_path.iterdir()] == ["a.geo"]


@pytest.mark.parametrize("h", [0.12, 0.25])
def test_the_mean_edge_of_a_new_mesh_is_h(gmsh, h):
    assert cal.mesh.sphere(1.0, 0.15).remesh(h).mean_edge_length == pytest.approx(h, rel=0.05)


@pytest.mark.parametrize("h", [0.25, 0.6])
def test_remeshing_keeps_edges_tags_and_names(h):
    pytest.importorskip("gmsh", reason="extra gmsh")
    found = BOX.remesh(h)
    assert found.is_closed and found.volume == pytest.approx(2) and found.names == BOX.names
    assert np.array_equal(found.tags, np.rint(found.normals @ [1, 2, 3]).astype(int) + 4)
    assert 0.5 * h < found.mean_edge_length < 1.2 * h
    for angle in (0, 0.01):
        with pytest.raises(MeshError, match=f"angle = {angle}.* from 0.0175"):
            BOX.remesh(h, angle)


def test_remeshing_that_loses_edges_is_reported():
    pytest.importorskip("gmsh", reason="extra gmsh")
    with pytest.warns(MeshWarning, match="changed the area of the surface by"):
        BOX.remesh(0.6, np.pi)
