"""Currents without charges: as many as the topology has, exactly without divergence, and the projection onto them."""

import numpy as np
import pytest

import calderon as cal
from calderon.mesh import TriangleMesh
from calderon.spaces import RWG, SNC, EdgeSpace, half_functions
from calderon.spaces.edge.loops import FlowGraph


def sheet(columns: int, rows: int, holes: tuple[tuple[int, int], ...] = (), turned: bool = False) -> TriangleMesh:
    """Squares of two triangles in the plane z = 0, or y = 0, without some of them."""
    x, y = np.meshgrid(np.arange(columns + 1.0), np.arange(rows + 1.0), indexing="ij")
    vertices = np.stack([x.ravel(), 0 * x.ravel(), y.ravel()] if turned else [x.ravel(), y.ravel(), 0 * x.ravel()], 1)
    corners = np.arange(len(vertices)).reshape(columns + 1, rows + 1)
    found = []
    for i in range(columns):
        for j in range(rows):
            a, b, c, d = corners[i, j], corners[i + 1, j], corners[i + 1, j + 1], corners[i, j + 1]
            found += [] if (i, j) in holes else [[a, b, c], [a, c, d]]
    return TriangleMesh(vertices, np.array(found))


def joined(*meshes: TriangleMesh) -> TriangleMesh:
    cuts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
    triangles = [mesh.triangles + cut for mesh, cut in zip(meshes, cuts, strict=False)]
    return TriangleMesh(np.concatenate([mesh.vertices for mesh in meshes]), np.concatenate(triangles))


def junction() -> TriangleMesh:
    """Three half-planes along a common line, and what else three sheets share."""
    below = sheet(4, 3)
    mirrored = TriangleMesh(below.vertices * [1, -1, 1], below.triangles)
    with pytest.warns(cal.mesh.MeshWarning):
        return joined(below, sheet(4, 3, turned=True), mirrored).merged_vertices()


def loops_of(space: EdgeSpace) -> int:
    """Their number, of a basis that is checked."""
    graph = FlowGraph.of(space)
    found = graph.loops()
    flows = (graph.lengths[:, None] * found.toarray()).round()
    assert np.allclose(flows, graph.lengths[:, None] * found.toarray(), atol=1e-12)
    assert not (graph.outflow @ flows).any()
    assert np.linalg.matrix_rank(flows) == found.shape[1] == graph.number_of_loops
    assert found.shape[1] == space.dimension - np.linalg.matrix_rank(graph.outflow.toarray())
    return int(found.shape[1])


@pytest.mark.parametrize(
    "mesh, expected",
    [
        (cal.mesh.sphere(1.0, 0.6), lambda mesh: len(mesh.vertices) - 1),
        (cal.mesh.torus(1.0, 0.3, 0.36), lambda mesh: len(mesh.vertices) + 1),  # a handle has two
        (joined(cal.mesh.sphere(1.0, 0.8), sheet(5, 4)), None),
        (sheet(5, 4), lambda mesh: 4 * 3),  # vertices off the boundary
        (sheet(7, 5, ((1, 1), (4, 2))), lambda mesh: 6 * 4 - 8 + 2),  # a hole has one
        (sheet(6, 3, ((1, 1), (2, 1))), lambda mesh: 5 * 2 - 6 + 1),
        (sheet(4, 4, ((1, 1), (2, 2))), lambda mesh: 9 - 7 + 1),  # holes that share a vertex are one
    ],
    ids=["sphere", "torus", "sphere and sheet", "sheet", "two holes", "slot", "pinched"],
)
def test_loops_are_as_many_as_vertices_holes_and_handles(mesh, expected):
    space = RWG(mesh)
    count = loops_of(space)
    assert expected is None or count == expected(mesh)
    parts = mesh.number_of_components
    assert count == space.dimension - mesh.number_of_triangles + parts


@pytest.mark.parametrize("mesh", [junction(), sheet(5, 4)], ids=["three sheets at a line", "sheet"])
def test_walls_and_junctions_have_their_own(mesh):
    """Half functions end outside, which is one node more: through it their flows close."""
    open_loops = loops_of(RWG(mesh))
    ends = mesh.boundary_edges[:4]
    assert loops_of(half_functions(mesh, ends)) == open_loops + len(ends) - 1
    assert loops_of(RWG(mesh).of_functions(np.arange(3, 20))) < open_loops


@pytest.mark.parametrize("mesh, handles", [(cal.mesh.sphere(1.0, 0.6), 0), (cal.mesh.torus(1.0, 0.3, 0.36), 1)])
def test_long_loops_are_two_for_each_handle(mesh, handles):
    loops = FlowGraph.of(RWG(mesh)).long_loops()
    assert loops.shape[1] == 2 * handles
    euler = mesh.number_of_vertices - mesh.number_of_edges + mesh.number_of_triangles
    assert euler == 2 - 2 * handles


def test_a_projection_separates_charges_from_loops():
    space = RWG(joined(sheet(6, 4, ((2, 2),)), cal.mesh.torus(1.0, 0.3, 0.36)))
    graph, rng = FlowGraph.of(space), np.random.default_rng(1)
    given = rng.standard_normal((space.dimension, 2)) + 1j * rng.standard_normal((space.dimension, 2))
    charged, divergence = graph.charging(given), space.divergence_matrix()
    assert np.allclose(graph.charging(charged), charged, atol=1e-12)
    assert np.allclose(divergence @ charged, divergence @ given, atol=1e-11)
    assert np.abs(graph.charging(graph.loops().toarray())).max() < 1e-13
    other = rng.standard_normal(space.dimension)
    assert np.allclose(other @ charged, graph.charging_transposed(other) @ given, atol=1e-11)


def test_rotated_functions_have_no_flow():
    with pytest.raises(ValueError, match="perpendicular"):
        FlowGraph.of(SNC(cal.mesh.sphere(1.0, 0.8)))
