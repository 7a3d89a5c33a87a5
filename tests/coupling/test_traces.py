"""Boundaries of volumes and traces of finite elements: values at nodes, masses of faces, normal components."""

import builtins

import numpy as np
import pytest

import calderon as cal
from calderon.mesh.orientation import signed_volumes

skfem = pytest.importorskip("skfem")
BLOCK = cal.mesh.box([0, 0, 0], [1.0, 0.8, 0.6], [2, 2, 1])
NODAL = {1: (skfem.ElementTetP1(), cal.P1, cal.DP1), 2: (skfem.ElementTetP2(), cal.P2, cal.DP2)}


def hollow(cells=3):
    """A cube with a cubic hole in its middle."""
    whole = cal.mesh.box([0, 0, 0], [1.0, 1.0, 1.0], cells)
    kept = np.abs(whole.centroids - 0.5).max(axis=1) > 0.5 / cells
    return cal.TetrahedralMesh(whole.vertices, whole.tetrahedra[kept])


def quadratic(x):
    return 1 + x[0] - 2 * x[1] * x[2] + x[2] ** 2 + 0.3 * x[0] * x[1]


def linear(x):
    return 1 + x[0] - 2 * x[1] + 0.5 * x[2]


FIELDS = {1: linear, 2: quadratic}


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("jumps", [False, True])
def test_values_at_the_nodes(degree, jumps):
    element, field = NODAL[degree][0], FIELDS[degree]
    basis = skfem.Basis(cal.coupling.skfem_mesh(BLOCK), element)
    space = NODAL[degree][1 + jumps](BLOCK.surface())
    values = cal.coupling.trace(basis, space) @ field(basis.doflocs)
    assert np.abs(values - field(space.nodes.T)).max() < 1e-14


@pytest.mark.parametrize("degree", [1, 2])
def test_masses_of_the_faces(degree):
    element, continuous, _ = NODAL[degree]
    mesh = cal.coupling.skfem_mesh(BLOCK)
    basis, space = skfem.Basis(mesh, element), continuous(BLOCK.surface())
    faces = skfem.BilinearForm(lambda u, v, w: u * v).assemble(skfem.FacetBasis(mesh, element, intorder=4))
    trace = cal.coupling.trace(basis, space)
    assert np.abs(trace.T @ space.mass_matrix() @ trace - faces).max() < 1e-13 * np.abs(faces).max()


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("volume", [BLOCK, hollow()], ids=["block", "hollow"])
def test_the_normal_component_points_out_of_the_material(degree, volume):
    """Also in a hole; its flux through the boundary is the integral of the divergence."""
    mesh = cal.coupling.skfem_mesh(volume)
    basis = skfem.Basis(mesh, skfem.ElementVector(NODAL[degree][0]))
    space, field = NODAL[degree][2](volume.surface()), FIELDS[degree]
    u = np.zeros(basis.N)
    for c in range(3):  # u = f(x) (1, 2, 3)
        own = [basis.nodal_dofs[c], *([basis.edge_dofs[c]] if degree == 2 else [])]
        u[np.concatenate(own)] = (c + 1) * field(basis.doflocs[:, np.concatenate(own)])
    normal = cal.coupling.trace(basis, space) @ u
    flux = np.ones(space.dimension) @ space.mass_matrix() @ normal
    divergence = skfem.Functional(lambda w: sum(w["u"].grad[c, c] for c in range(3)))
    assert flux == pytest.approx(divergence.assemble(basis, u=basis.interpolate(u)), rel=1e-12)
    rows = cal.coupling.trace(basis, NODAL[degree][1](volume.surface(), components=3)) @ u
    nodes = NODAL[degree][1](volume.surface()).nodes
    assert np.abs(rows.reshape(-1, 3) - field(nodes.T)[:, None] * [1, 2, 3]).max() < 1e-13


def test_linear_functions_of_a_volume_need_no_basis():
    space, part = cal.P1(BLOCK.surface()), cal.P2(BLOCK.surface().restricted("wall"))
    assert np.allclose(cal.coupling.trace(BLOCK, space) @ linear(BLOCK.vertices.T), linear(space.nodes.T))
    assert np.allclose(cal.coupling.trace(BLOCK, part) @ linear(BLOCK.vertices.T), linear(part.nodes.T))


def test_the_boundary_and_its_maps():
    volume = hollow()
    boundary = volume.boundary
    mesh = boundary.mesh
    assert mesh is volume.surface() and mesh.number_of_components == 2
    assert np.array_equal(volume.vertices[boundary.vertices], mesh.vertices)
    inward = volume.centroids[boundary.tetrahedra] - mesh.centroids
    assert (np.einsum("ni,ni->n", inward, mesh.normals) < 0).all()
    in_hole = np.abs(mesh.centroids - 0.5).max(axis=1) < 0.2
    assert np.array_equal(boundary.hollow, in_hole)
    assert mesh.volume == pytest.approx(26 / 27)


def test_volumes_of_other_kinds_have_the_same_boundary():
    first = cal.coupling.boundary(BLOCK)
    others = (BLOCK.vertices, BLOCK.tetrahedra), cal.coupling.skfem_mesh(BLOCK)
    for other in others:
        mesh = cal.coupling.boundary(other)
        assert np.array_equal(mesh.vertices, first.vertices) and np.array_equal(mesh.triangles, first.triangles)
    right = cal.coupling.skfem_mesh(BLOCK)
    assert (signed_volumes(right.p.T, right.t.T) > 0).all()


def test_names_of_faces_and_parts_pass_to_and_fro():
    mesh = cal.coupling.skfem_mesh(BLOCK).with_boundaries({"floor": lambda x: x[2] == 0})
    surface = cal.coupling.boundary(mesh.with_subdomains({"left": lambda x: x[0] < 0.5}))
    floor = surface.restricted("floor")
    assert floor.area == pytest.approx(0.8) and "wall" in surface.names
    assert cal.coupling.skfem_mesh(BLOCK).subdomains.keys() == {"vacuum"}


def test_curved_tetrahedra_become_straight_with_a_warning():
    curved = skfem.MeshTet2.from_mesh(cal.coupling.skfem_mesh(BLOCK))
    with pytest.warns(cal.MeshWarning, match="straight ones"):
        mesh = cal.coupling.boundary(curved)
    assert mesh.number_of_vertices == BLOCK.surface().number_of_vertices
    with pytest.warns(cal.MeshWarning, match="another body"):
        cal.coupling.trace(skfem.Basis(curved, skfem.ElementTetP2()), cal.P2(mesh))


def test_matrices_of_linear_tetrahedra():
    stiffness, mass = cal.coupling.matrices(BLOCK)
    x, one = BLOCK.vertices[:, 0], np.ones(BLOCK.number_of_vertices)
    assert np.abs(stiffness @ one).max() < 1e-13
    assert x @ stiffness @ x == pytest.approx(0.48) and one @ mass @ one == pytest.approx(0.48)
    assert one @ mass @ x == pytest.approx(0.24)


def test_a_ball_keeps_its_volume():
    pytest.importorskip("gmsh")
    ball = cal.mesh.ball(2.0, h=0.9)
    assert ball.volumes.sum() == pytest.approx(32 / 3 * np.pi, rel=1e-6) == ball.surface().volume
    assert ball.surface().mean_edge_length == pytest.approx(0.9, rel=0.1)
    with pytest.raises(cal.MeshError, match="too large"):
        cal.mesh.ball(1.0, h=3.0)


def test_walls_behind_surfaces():
    """Behind a cube the wall keeps its thickness on all sides; behind a round surface at right angles to triangles."""
    cube = cal.mesh.cube(1.0, h=0.5)
    wall = cal.mesh.thickened(cube, 0.1, layers=2)
    assert wall.volumes.sum() == pytest.approx(1 - 0.8**3, rel=1e-12)
    inner = wall.surface().tags == wall.face_names["inner"]
    assert wall.surface().areas[inner].sum() == pytest.approx(6 * 0.64)
    assert wall.number_of_tetrahedra == 6 * cube.number_of_triangles
    sphere = cal.mesh.sphere(1.0, h=0.4)
    shell = cal.mesh.thickened(sphere, 0.02)
    assert shell.volumes.sum() == pytest.approx(0.02 * sphere.area, rel=0.03)
    exact = cal.mesh.spherical_shell(2.0, 0.1, h=0.8, layers=2)
    assert exact.volumes.sum() == pytest.approx(4 / 3 * np.pi * (8 - 1.9**3), rel=1e-9)
    plate = cal.mesh.thickened(cal.mesh.plate((1.0, 0.5), 0.25), 0.05)
    assert plate.volumes.sum() == pytest.approx(0.025)
    assert plate.surface().restricted("wall").area == pytest.approx(0.15)


def test_walls_that_fold_are_refused():
    with pytest.raises(cal.MeshError, match="folds"):
        cal.mesh.thickened(cal.mesh.cube(1.0, h=0.5), 0.6)
    with pytest.raises(ValueError, match="smaller than the radius"):
        cal.mesh.spherical_shell(1.0, 1.0, h=0.5)
    plate = cal.mesh.plate((1.0, 0.5), 0.25)
    below = plate.translated([0.1, 0.05, -0.05])
    with pytest.raises(cal.MeshError, match="passes through itself"):
        cal.mesh.thickened(cal.mesh.merge([plate, below]), 0.1)


def test_surfaces_that_do_not_match_are_refused():
    with pytest.raises(cal.MeshError, match=r"up to 0\.1 away"):
        cal.coupling.trace(BLOCK, cal.P1(BLOCK.surface().translated([0.1, 0, 0])))
    flat = cal.TriangleMesh([[0, 0, 0], [1, 0, 0], [0, 0.8, 0.6]], [[0, 1, 2]])
    with pytest.raises(cal.MeshError, match="no faces of tetrahedra"):
        cal.coupling.trace(BLOCK, cal.P1(flat))


@pytest.mark.parametrize(
    ("element", "space", "error", "message"),
    [
        (skfem.ElementTetP2(), cal.P1(BLOCK.surface()), ValueError, "choose P2 or DP2"),
        (skfem.ElementTetP1(), cal.P0(BLOCK.surface()), ValueError, "choose P1 or DP1"),
        (skfem.ElementTetP0(), cal.P1(BLOCK.surface()), TypeError, "ElementTetP0"),
        (skfem.ElementVector(skfem.ElementTetP2()), cal.P2(BLOCK.surface()), ValueError, r"DP2\(mesh\)"),
        (skfem.ElementTetP2(), cal.P2(BLOCK.surface(), components=3), ValueError, "1 components have no trace of 3"),
    ],
)
def test_spaces_that_do_not_hold_the_values_are_refused(element, space, error, message):
    basis = skfem.Basis(cal.coupling.skfem_mesh(BLOCK), element)
    with pytest.raises(error, match=message):
        cal.coupling.trace(basis, space)


def test_what_is_no_volume_is_refused():
    with pytest.raises(TypeError, match="a volume is a TetrahedralMesh"):
        cal.coupling.boundary(cal.mesh.cube(1.0, h=0.5))


def test_a_missing_extra_is_named(monkeypatch):
    known = builtins.__import__

    def without(name, *rest):
        if name == "skfem":
            raise ImportError(name)
        return known(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r'pip install "calderon\[fem\]"'):
        cal.coupling.matrices(BLOCK)
