"""Blocks put together, and blocks small compared with the matrix: less memory, and rough and smooth vectors see less
than the tolerance."""

import numpy as np
import pytest
from point_kernels import dense, point_matrix, sphere_points

import calderon as cal
from calderon.hmatrix import Admissibility, Choices, HMatrix, assemble_hmatrix, block_tree, cluster_tree, hmatrix
from calderon.hmatrix.galerkin import smooth_vectors
from calderon.hmatrix.tree.block_tree import SPLIT

MESH = cal.mesh.sphere(1.0, 0.15)
SPACE, CURRENTS = cal.P1(MESH), cal.RWG(cal.mesh.sphere(1.0, 0.18))
OPERATORS = {
    "single layer": cal.single_layer(cal.Laplace(), SPACE),
    "double layer": cal.double_layer(cal.Helmholtz(3.0), SPACE),
    "hypersingular": cal.hypersingular(cal.Laplace(), SPACE),
    "electric field": cal.electric_field(3.0, CURRENTS),
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(each, marks=[pytest.mark.variant] if each == "hypersingular" else []) for each in OPERATORS],
)
def test_rough_and_smooth_vectors_see_less_than_the_tolerance(name):
    operator = OPERATORS[name]
    matrix = operator.assemble("dense")
    rough = np.random.default_rng(0).standard_normal((operator.trial.dimension, 1))
    vectors = np.concatenate([rough, smooth_vectors(operator.trial, 0.0), smooth_vectors(operator.trial, 5.0)], axis=1)
    exact = matrix @ vectors
    for rtol in (1e-3, 1e-5):
        plain = assemble_hmatrix(operator, rtol=rtol, choices=Choices(coarsen=False))
        found = assemble_hmatrix(operator, rtol=rtol)
        error = np.linalg.norm(found @ vectors - exact, axis=0) / np.linalg.norm(exact, axis=0)
        assert error.max() < rtol
        assert found.nbytes < 0.92 * plain.nbytes
        assert found.statistics.total.dense < 0.7 * plain.statistics.total.dense


def test_a_graded_mesh_keeps_its_small_elements_accurate():
    """Rows of elements a hundred times smaller than others, each by itself."""
    points = MESH.vertices * (1.02 + MESH.vertices[:, 2:]) ** 1.2
    space = cal.P1(cal.TriangleMesh(points, MESH.triangles))
    operator = cal.hypersingular(cal.Laplace(), space)
    x = smooth_vectors(space, 0.0)
    error = np.abs(operator.assemble("hmatrix", rtol=1e-4) @ x - operator.assemble("dense") @ x)
    scale = np.abs(operator.assemble("dense") @ x)
    size = space.load_vector(1.0)
    for low, high in ((0, 0.1), (0.1, 0.5), (0.5, 1.0)):
        part = (size >= np.quantile(size, low)) & (size <= np.quantile(size, high))
        assert np.linalg.norm(error[part]) < 5e-4 * np.linalg.norm(scale[part])


def point_case(symmetric=True):
    x = sphere_points(1500)
    clusters = cluster_tree(x, leaf=8)
    tree = block_tree(clusters, clusters, Admissibility(), symmetric)
    rows = point_matrix(clusters, clusters, x, x, 0.0, 0.05, symmetric=symmetric)
    return rows, tree, dense(x, x, 0.0, 0.05)


@pytest.mark.parametrize("symmetric", [False, True])
def test_errors_of_blocks_are_those_allowed(symmetric):
    """In proportion to the root of the area, so that those of all blocks together are the same part of the whole."""
    rows, tree, exact = point_case(symmetric)
    order = tree.rows.order
    m, n = tree.sizes(np.arange(len(tree.row)))
    found = hmatrix(rows, tree, 1e-9, errors=np.where(tree.row == tree.column, 0, 1e-4 * np.sqrt(m * n)))
    error = (found.to_array() - exact)[np.ix_(order, order)]
    assert 1e-5 * len(exact) < np.linalg.norm(error) < 1e-4 * len(exact)
    for slab in found.slabs:
        for r, height, c, width, rank, *_ in slab.table:
            if rank < 0:
                assert np.abs(error[r : r + height, c : c + width]).max() < 1e-12
    assert found.nbytes < 0.7 * hmatrix(rows, tree, 1e-9).nbytes


@pytest.mark.parametrize("symmetric", [False, True])
def test_the_tree_of_fewer_blocks_covers_every_entry_once(symmetric, tmp_path):
    rows, tree, _ = point_case(symmetric)
    m, n = tree.sizes(np.arange(len(tree.row)))
    found = hmatrix(rows, tree, 1e-4, errors=np.where(tree.row == tree.column, 0, 1e-2 * np.sqrt(m * n)))
    new = found.tree
    assert len(new.leaves) < 0.6 * len(tree.leaves)
    cover = np.zeros(new.shape, int)
    for block in new.leaves:
        r, c = new.row[block], new.column[block]
        part = slice(new.rows.start[r], new.rows.stop[r]), slice(new.columns.start[c], new.columns.stop[c])
        cover[part] += 1
        if symmetric and r != c:
            cover[part[::-1]] += 1
    assert (cover == 1).all()
    assert sorted(np.concatenate([slab.table[:, -1] for slab in found.slabs])) == sorted(new.leaves)
    assert np.array_equal(new.parent[new.first_child[new.kind == SPLIT]], np.flatnonzero(new.kind == SPLIT))
    found.save(tmp_path / "A.h5")
    assert np.array_equal(HMatrix.load(tmp_path / "A.h5").to_array(), found.to_array())
