"""BC and RBC: continuity, charges of dual cells, dimension and pairing with RWG, closed and open."""

import numpy as np
import pytest

import calderon as cal
from calderon.mesh.fans import fans

MESHES = {
    "sphere": cal.mesh.sphere(1.0, 0.5),
    "torus": cal.mesh.torus(1.0, 0.4, 0.35),
    "plate": cal.mesh.plate([1.0, 0.7], 0.25),
}


@pytest.fixture(params=MESHES)
def mesh(request):
    return MESHES[request.param]


def charges(mesh, space):
    """(6 nt, dimension) charge on each fine triangle, and the vertex (6 nt,) whose dual cell it belongs to."""
    fine = mesh.barycentric_refinement.mesh
    return space.divergence_matrix().toarray() * fine.areas[:, None], fine.triangles[:, 0]


def test_dimension_and_numbering_are_those_of_rwg(mesh):
    rwg, bc, rbc = cal.RWG(mesh), cal.BC(mesh), cal.RBC(mesh)
    assert bc.dimension == rbc.dimension == rwg.dimension == np.count_nonzero(mesh.edge_triangle_counts == 2)
    assert (bc.edges == rwg.edges).all()
    assert (rbc.rotated, bc.rotated) == (True, False)


def test_each_cell_spreads_its_charge_evenly_over_its_fine_triangles(mesh):
    """Hence div BC lies in the span of one field per dual cell: +l in one cell, -l in the other; 0 at the boundary."""
    bc = cal.BC(mesh)
    charge, cell = charges(mesh, bc)
    order = np.argsort(cell, kind="stable")
    start = np.flatnonzero(np.diff(cell[order], prepend=-1))
    highest, lowest = (extreme.reduceat(charge[order], start) for extreme in (np.maximum, np.minimum))
    assert (highest - lowest).max() < 1e-13
    total = np.add.reduceat(charge[order], start)
    inner = ~np.isin(np.arange(mesh.number_of_vertices), mesh.boundary_vertices)
    assert np.abs(total[~inner]).max(initial=0) < 1e-13
    ends = mesh.edges[bc.edges]
    expected = np.zeros_like(total)
    for end in (0, 1):
        expected[ends[:, end], np.arange(bc.dimension)] = mesh.edge_lengths[bc.edges] * inner[ends[:, end]]
    assert np.allclose(np.abs(total), expected, atol=1e-13)
    both = inner[ends].all(axis=1)
    assert np.abs(total.sum(axis=0))[both].max() < 1e-13


def test_divergence_is_constant_on_dual_cells_where_the_triangles_have_equal_areas():
    octahedron = cal.TriangleMesh(
        np.concatenate([np.eye(3), -np.eye(3)]),
        [[0, 1, 2], [1, 3, 2], [3, 4, 2], [4, 0, 2], [1, 0, 5], [3, 1, 5], [4, 3, 5], [0, 4, 5]],
    )
    density = cal.BC(octahedron).divergence_matrix().toarray()
    cell = octahedron.barycentric_refinement.mesh.triangles[:, 0]
    for vertex in range(6):
        assert np.ptp(density[cell == vertex], axis=0).max() < 1e-13


def test_divergence_has_the_rank_of_the_cells_that_can_be_charged(mesh):
    bc = cal.BC(mesh)
    inner = mesh.number_of_vertices - len(mesh.boundary_vertices)
    rank = np.linalg.matrix_rank(bc.divergence_matrix().toarray())
    assert rank == (inner - 1 if mesh.is_closed else inner)  # on a closed surface the total charge vanishes


def test_normal_components_are_continuous_on_the_refined_mesh(mesh):
    """Across every inner fine edge, from the vectors themselves; on the boundary flow leaves only at open fans."""
    bc = cal.BC(mesh)
    fine = mesh.barycentric_refinement.mesh
    function = cal.VectorFunction(bc, np.random.default_rng(1).standard_normal(bc.dimension))
    out = np.zeros((fine.number_of_triangles, 3))
    for edge in range(3):
        ends = np.eye(3)[[(edge + 1) % 3, (edge + 2) % 3]][:, 1:]
        along = np.diff(fine.vertices[fine.triangles[:, [(edge + 1) % 3, (edge + 2) % 3]]], axis=1)[:, 0]
        outward = np.cross(along, fine.normals)
        outward /= np.linalg.norm(outward, axis=1, keepdims=True)
        out[:, edge] = (function.values(ends.mean(axis=0)[None])[:, 0] * outward).sum(axis=1)
    net = np.bincount(fine.triangle_edges.ravel(), out.ravel(), fine.number_of_edges)
    inner = np.ones(fine.number_of_edges, dtype=bool)
    inner[fine.boundary_edges] = False
    assert np.abs(out).max() > 0.5
    assert np.abs(net[inner]).max() < 1e-12


def test_each_function_flows_across_its_own_edge_only(mesh):
    """The flow through the dual edge (two fine edges) is the length of the edge: moments are a left inverse."""
    bc = cal.BC(mesh)
    assert abs(bc.moments @ bc.matrix - np.eye(bc.dimension)).max() < 1e-13
    assert (np.diff(bc.moments.indptr) == 2).all()
    assert cal.RWG(mesh).mass_matrix(cal.RBC(mesh)).diagonal().min() > 0


def test_coefficients_around_an_interior_vertex_are_those_of_andriulli():
    """Around a vertex of N triangles: (N - i) / (2 N) times l over the length of fine edge i = 1 ... 2 N - 1."""
    mesh = MESHES["sphere"]
    bc, around = cal.BC(mesh), fans(mesh)
    fine, function = bc.base.mesh, 11
    length = mesh.edge_lengths[bc.edges[function]]
    column = bc.matrix[:, [function]].tocoo()
    dofs = column.coords[0]
    flows = column.data * fine.edge_lengths[bc.base.edges[dofs]] / length
    for vertex in mesh.edges[bc.edges[function]]:
        n = np.diff(around.start)[around.fan[np.flatnonzero(mesh.triangles.ravel() == vertex)[0]]]
        at = np.abs(flows[(fine.edges[bc.base.edges[dofs]] == vertex).any(axis=1)])
        expected = np.abs(n - np.arange(1, 2 * n)) / (2 * n)
        assert np.allclose(np.sort(at), np.sort(expected[expected > 0]), rtol=1e-12)


def test_flow_into_a_boundary_cell_leaves_through_the_nearer_end_of_the_boundary_first():
    """The edge lies after k of the N triangles around a boundary vertex: (N - k) / N through the first end, k / N
    through the last."""
    mesh = MESHES["plate"]
    bc, around = cal.BC(mesh), fans(mesh)
    fine, checked = bc.base.mesh, 0
    for function, edge in enumerate(bc.edges):
        column = bc.matrix[:, [function]].tocoo()
        at = bc.base.edges[column.coords[0]]
        flow = dict(zip(at.tolist(), column.data * fine.edge_lengths[at] / mesh.edge_lengths[edge], strict=True))
        for vertex in np.intersect1d(mesh.edges[edge], mesh.boundary_vertices):
            fan = around.fan[np.flatnonzero(mesh.triangles.ravel() == vertex)[0]]
            triangles = around.corners[around.start[fan] : around.start[fan + 1]] // 3
            n, k = len(triangles), np.flatnonzero((mesh.triangle_edges[triangles] == edge).any(axis=1))[1]
            for end, share in ((triangles[0], (n - k) / n), (triangles[-1], k / n)):
                edges = [e for e in mesh.triangle_edges[end] if vertex in mesh.edges[e] and e in mesh.boundary_edges]
                middle = mesh.number_of_vertices + edges[0]
                half = np.flatnonzero((fine.edges == sorted([vertex, middle])).all(axis=1))[0]
                assert abs(flow[int(half)]) == pytest.approx(share, rel=1e-12)
                checked += n > 2
    assert checked > 20


@pytest.mark.parametrize("make", [
    lambda h: cal.mesh.sphere(1.0, 1.5 * h),
    lambda h: cal.mesh.cube(1.0, h),
    lambda h: cal.mesh.plate([1.0, 0.7], h),
], ids=["sphere", "cube", "plate"])  # fmt: skip
def test_the_pairing_with_rwg_is_well_conditioned_at_every_mesh_size(make):
    """... whereas that of n x RWG with RWG is singular."""
    numbers = []
    for h in (0.4, 0.2, 0.14):
        mesh = make(h)
        rwg = cal.RWG(mesh)
        scale = 1 / mesh.edge_lengths[rwg.edges]
        numbers.append(np.linalg.cond(rwg.mass_matrix(cal.RBC(mesh)).toarray() * scale * scale[:, None]))
    assert max(numbers) < 3.5
    assert numbers[2] < 1.1 * numbers[1]
    mesh = make(0.3)
    singular = np.linalg.svd(cal.RWG(mesh).mass_matrix(cal.SNC(mesh)).toarray(), compute_uv=False)
    assert singular[-1] < 1e-6 * singular[0]


def test_rotated_pairings(mesh):
    rwg, snc, bc, rbc = cal.RWG(mesh), cal.SNC(mesh), cal.BC(mesh), cal.RBC(mesh)
    assert abs(rbc.mass_matrix() - bc.mass_matrix()).max() < 1e-13
    assert abs(rwg.mass_matrix(rbc) + snc.mass_matrix(bc)).max() < 1e-13  # (n x g) . f = -g . (n x f)
    assert abs(rwg.mass_matrix(bc) - bc.mass_matrix(rwg).T).max() < 1e-13
    assert abs(snc.mass_matrix(rbc) - rwg.mass_matrix(bc)).max() < 1e-13
    assert abs(rbc.perpendicular().matrix - bc.matrix).max() == 0


def test_parts_pair_with_dual_functions_as_in_the_whole():
    sphere = MESHES["sphere"]
    tags = (sphere.centroids[:, 2] > 0).astype(int)
    mesh = cal.TriangleMesh(sphere.vertices, sphere.triangles, tags)
    part, whole, rbc = cal.RWG(mesh, tags=1), cal.RWG(mesh), cal.RBC(mesh)
    chosen = np.isin(whole.edges, part.edges) & (tags[whole.pairs] == 1).all(axis=1)
    assert np.count_nonzero(chosen) == part.dimension
    assert abs(rbc.mass_matrix(part) - rbc.mass_matrix(whole)[chosen]).max() < 1e-14


def test_junctions_are_refused():
    vertices = [[0, 0, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0], [-1, -1, 0]]
    mesh = cal.TriangleMesh(vertices, [[0, 1, 2], [0, 1, 3], [1, 0, 4]])
    with pytest.raises(cal.MeshError, match=r"1 edges \(first \[0\]\) have three triangles"):
        cal.BC(mesh)
