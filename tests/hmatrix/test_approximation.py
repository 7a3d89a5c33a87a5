"""Compressed matrices without a mesh against the same matrices by NumPy: error below the tolerance, blocks that deceive
the usual stopping test, ranks."""

import numpy as np
import pytest
import scipy.sparse as sp
from point_kernels import dense, point_matrix, sphere_points

from calderon.hmatrix import Admissibility, block_tree, cluster_tree, hmatrix


def everything_admissible(rows, columns, row, column):
    """One block of low rank."""
    return np.ones(len(row), bool)


def compressed(x, y, rtol, k=0.0, normals=None, dtype=np.float64, admissible=None, symmetric=False, shift=0.0):
    """The H-matrix of a kernel between points."""
    rows = cluster_tree(x)
    columns = rows if symmetric else cluster_tree(y)
    tree = block_tree(rows, columns, admissible or Admissibility(), symmetric)
    return hmatrix(point_matrix(rows, columns, x, y, k, shift, normals, dtype, symmetric), tree, rtol)


def error(found, exact):
    """Relative, in the Frobenius norm."""
    return np.linalg.norm(found.to_array() - exact) / np.linalg.norm(exact)


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize(("k", "dtype"), [(0.0, np.float64), (4.0, np.complex128)])
@pytest.mark.parametrize("rtol", [1e-3, 1e-6, 1e-9])
def test_error_is_below_the_tolerance(k, dtype, rtol, symmetric):
    x = sphere_points(1500)
    found = compressed(x, x, rtol, k, dtype=dtype, symmetric=symmetric)
    assert error(found, dense(x, x, k)) < rtol


@pytest.mark.parametrize("rtol", [1e-2, 1e-4, 1e-8])
def test_hilbert_matrix(rtol):
    """1 / (i + j + 1): ranks grow with the logarithm of the size and of the tolerance."""
    n = 1000
    x, y = np.zeros((n, 3)), np.zeros((n, 3))
    x[:, 0], y[:, 0] = np.arange(n) + 1.0, -np.arange(n)
    exact = 1 / (x[:, :1] - y[:, 0])
    found = compressed(x, y, rtol)
    assert error(found, exact) < rtol
    assert found.statistics.total.largest_rank < 2 + 2.2 * np.log10(1 / rtol)
    whole = compressed(x, y, rtol, admissible=everything_admissible)
    assert error(whole, exact) < rtol
    best = int((np.linalg.svd(exact, compute_uv=False) > rtol * np.linalg.norm(exact)).sum())
    assert best <= whole.statistics.total.largest_rank <= best + 2


@pytest.mark.variant
def test_single_precision():
    x = sphere_points(1500)
    found = compressed(x, x, 1e-4, dtype=np.float32, shift=0.01)
    assert found.dtype == np.float32
    assert error(found, dense(x, x, shift=0.01)) < 1e-4


def test_entries_below_the_rounding_unit_of_the_largest_one_are_no_noise():
    """They add up in products with smooth vectors."""
    x, rtol = sphere_points(1500), 1e-4
    rows = cluster_tree(x)
    tree = block_tree(rows, rows, Admissibility(), False)
    matrix = point_matrix(rows, rows, x, x, shift=0.01, dtype=np.float32)
    largest = sp.csr_array((np.array([1e8], np.float32), ([0], [0])), matrix.shape)
    exact = dense(x, x, shift=0.01)
    m, n = tree.sizes(np.arange(len(tree.row)))
    errors = 1e-2 * rtol * np.sqrt(m * n)
    found = hmatrix(matrix._replace(special=largest), tree, rtol, errors=errors).to_array()
    found[rows.order[0], rows.order[0]] = exact[rows.order[0], rows.order[0]]
    ones = np.ones(len(x))
    assert np.linalg.norm((found - exact) @ ones) < rtol * np.linalg.norm(exact @ ones)


def test_blocks_of_noise_below_the_rounding_unit_have_few_crosses():
    rng, rtol = np.random.default_rng(0), 1e-4
    x = sphere_points(600)
    normals = rng.standard_normal((600, 3))  # no low rank at all
    rows = cluster_tree(x)
    tree = block_tree(rows, rows, Admissibility(), False)
    matrix = point_matrix(rows, rows, x, x, 0.0, 0.01, normals, np.float32)
    largest = sp.csr_array((np.array([1e12], np.float32), ([0], [0])), matrix.shape)
    errors = np.full(len(tree.row), 1e-9)
    found = hmatrix(matrix._replace(special=largest), tree, rtol, errors=errors)
    assert found.statistics.total.largest_rank <= 10


def two_faces(n, seed=0):
    """Points in the planes z = 0 (normal z) and x = 1 (normal x), in random order, and normals."""
    rng = np.random.default_rng(seed)
    flat, upright = rng.random((n, 3)), rng.random((n, 3))
    flat[:, 2], upright[:, 0] = 0, 1
    order = rng.permutation(2 * n)
    return np.concatenate([flat, upright])[order], np.repeat([[0, 0, 1.0], [1.0, 0, 0]], n, axis=0)[order]


@pytest.mark.parametrize("rtol", [1e-3, 1e-6])
def test_double_layer_over_an_edge(rtol):
    """Two faces do not see themselves: each block over the edge is [[0, B], [C, 0]] with B and C apart."""
    x, _ = two_faces(300)
    y, normals = two_faces(300, seed=1)
    y += [0, 1.5, 0]
    found = compressed(x, y, rtol, normals=normals)
    assert error(found, dense(x, y, normals=normals)) < rtol
    whole = compressed(x, y, rtol, normals=normals, admissible=everything_admissible)
    assert error(whole, dense(x, y, normals=normals)) < 2 * rtol  # judged by few rows, and this block has edges


def test_double_layer_in_a_plane_has_rank_zero():
    x, y = sphere_points(400) * [1, 1, 0], sphere_points(400, 1) * [1, 1, 0] + [3, 0, 0]
    found = compressed(x, y, 1e-4, normals=np.tile([0, 0, 1.0], (400, 1)))
    assert found.statistics.total.largest_rank == 0
    assert not found.to_array().any()


@pytest.mark.parametrize("place", [0, 77, 255])
def test_one_row_in_a_block_of_zeros(place):
    """All points in a plane but one."""
    x, y = sphere_points(256) * [1, 1, 0], sphere_points(256, 1) * [1, 1, 0] + [4, 0, 0]
    x[place, 2] = 0.3
    normals = np.tile([0, 0, 1.0], (256, 1))
    found = compressed(x, y, 1e-6, normals=normals, admissible=everything_admissible)
    assert error(found, dense(x, y, normals=normals)) < 1e-6
    assert found.statistics.total.largest_rank == 1


@pytest.mark.parametrize("place", [3, 200])
def test_one_column_in_a_block_of_zeros(place):
    x, y = sphere_points(256) * [1, 1, 0], sphere_points(256, 1) * [1, 1, 0] + [4, 0, 0]
    y[place, 2] = 0.3
    normals = np.tile([0, 0, 1.0], (256, 1))
    found = compressed(x, y, 1e-6, normals=normals, admissible=everything_admissible)
    assert error(found, dense(x, y, normals=normals)) < 1e-6
    assert found.statistics.total.largest_rank == 1


@pytest.mark.parametrize("seed", range(25))
def test_rows_in_the_plane_of_all_columns_but_two(seed):
    """Two tilted columns are soon known, and then the rows in the plane have converged: the others must not follow."""
    rng = np.random.default_rng(seed)
    x, y = rng.random((60, 3)), rng.random((64, 3)) * [1, 1, 0] + [1.6, 0, 0]
    x[rng.permutation(60)[: rng.integers(5, 30)], 2] = 0
    normals = np.tile([0, 0, 1.0], (64, 1))
    normals[rng.permutation(64)[:2]] = [1, 0, 0]
    found = compressed(x, y, 1e-5, normals=normals, admissible=everything_admissible)
    assert error(found, dense(x, y, normals=normals)) < 3e-5
    assert found.full == 0


def test_blocks_without_low_rank_are_kept_dense_and_counted():
    """Many waves across a block."""
    x, y = sphere_points(500), sphere_points(500, 1) + [2.2, 0, 0]
    found = compressed(x, y, 1e-6, k=100.0, dtype=np.complex128, admissible=everything_admissible)
    assert found.full == 1
    assert "1 admissible blocks of full rank kept dense" in str(found)
    exact = dense(x, y, 100.0)
    assert error(found, exact) < 1e-13
    assert found.nbytes < 1.01 * exact.nbytes


def test_a_last_leaf_of_one_unknown_is_not_told():
    """Its block has full rank, as a row has, and nothing is wrong with that."""
    x, y = sphere_points(33), sphere_points(33, 1) + [9.0, 0, 0]
    leaves = lambda rows, columns, row, column: rows.is_leaf[row] & columns.is_leaf[column]  # noqa: E731
    found = compressed(x, y, 1e-6, admissible=leaves)
    assert found.statistics.total.dense == 3 and found.statistics.total.low_rank == 1
    assert found.full == 0 and "full rank" not in str(found)
    assert error(found, dense(x, y)) < 1e-6


def test_special_pairs_replace_what_rows_and_blocks_hold():
    """In dense blocks they are added, in others they take the place of what stands there."""
    x = sphere_points(600)
    clusters = cluster_tree(x)
    exact = dense(x, x)[np.ix_(clusters.order, clusters.order)]
    rng = np.random.default_rng(3)
    chosen = np.triu(rng.random(exact.shape) < 0.01)
    chosen |= chosen.T
    value = np.where(chosen, rng.random(exact.shape), 0)
    value = value + value.T
    for symmetric in (False, True):
        tree = block_tree(clusters, clusters, Admissibility(), symmetric)
        # dense blocks: value on top of the entry; blocks of rows: the entry itself is replaced
        given = point_matrix(clusters, clusters, x, x, symmetric=symmetric)
        given = given._replace(special=sp.csr_array(value), overlap=lambda: sp.csr_array(np.where(chosen, exact, 0)))
        compact = hmatrix(given, tree, 1e-6)
        found = compact.to_array()[np.ix_(clusters.order, clusters.order)]
        dense_part = np.zeros(exact.shape, bool)
        for slab in compact.slabs:
            for r, m, c, n, rank, *_ in slab.table:
                if rank < 0:
                    dense_part[r : r + m, c : c + n] = True
                    dense_part[c : c + n, r : r + m] |= symmetric
        expected = np.where(dense_part, exact + value, np.where(chosen, value, exact))
        assert chosen[~dense_part].any() and chosen[dense_part].any()
        assert np.abs(found - expected).max() < 1e-4
