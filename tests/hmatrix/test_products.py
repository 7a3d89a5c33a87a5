"""Products with an H-matrix are those of its entries, for every side, type and number of vectors."""

import numpy as np
import pytest
from point_kernels import point_matrix, sphere_points
from scipy.sparse.linalg import gmres

from calderon.hmatrix import Admissibility, block_tree, cluster_tree, hmatrix
from catalogue import cases

X, Y = sphere_points(700), sphere_points(450, seed=1)


def build(dtype, symmetric, rtol=1e-4):
    rows = cluster_tree(X)
    columns = rows if symmetric else cluster_tree(Y)
    tree = block_tree(rows, columns, Admissibility(), symmetric)
    k = 5.0 if np.dtype(dtype).kind == "c" else 0.0
    y = X if symmetric else Y
    return hmatrix(point_matrix(rows, columns, X, y, k, 0.05, dtype=dtype, symmetric=symmetric), tree, rtol)


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize(
    "dtype", cases([np.float64, np.complex128, np.float32, np.complex64], [np.float64, np.complex128])
)
def test_products_are_those_of_the_array(dtype, symmetric):
    A = build(dtype, symmetric)
    array = A.to_array()
    rng = np.random.default_rng(2)
    eps = 50 * np.finfo(np.zeros(0, dtype).real.dtype).eps
    m, n = A.shape
    kinds = [dtype] if np.dtype(dtype).itemsize != 8 or np.dtype(dtype).kind == "c" else [dtype, np.complex128]
    for kind in kinds:
        x, z = (rng.standard_normal((size, 3)) + 1j * rng.standard_normal((size, 3)) for size in (n, m))
        x, z = (each.astype(kind) if np.dtype(kind).kind == "c" else each.real.astype(kind) for each in (x, z))
        for found, given, exact in (
            (A @ x, x, array),
            (A.T @ z, z, array.T),
            (A.H @ z, z, array.conj().T),
        ):
            assert found.dtype == np.result_type(dtype, kind)
            assert np.abs(found - exact @ given).max() < eps * np.abs(exact @ given).max()
        assert np.allclose(A @ x[:, 0], (A @ x)[:, 0], rtol=eps, atol=eps * np.abs(A @ x).max())
        assert np.allclose(A.H @ z[:, 1], (A.H @ z)[:, 1], rtol=eps, atol=eps * np.abs(A.H @ z).max())


def test_more_vectors_than_are_multiplied_at_a_time():
    A = build(np.float64, True)
    x = np.random.default_rng(0).standard_normal((700, 70))
    assert np.allclose(A @ x, A.to_array() @ x, rtol=1e-11)


def test_single_precision_sums_in_double_for_vectors_in_double():
    A = build(np.float32, True)
    x = np.random.default_rng(0).standard_normal(700)
    exact = A.to_array().astype(float) @ x
    assert (A @ x).dtype == np.float64
    assert np.abs(A @ x - exact).max() < 2e-7 * np.abs(exact).max()  # crosses are multiplied out in single in to_array
    alone = np.abs(A @ x.astype(np.float32) - exact).max()
    assert np.abs(A @ x - exact).max() < alone


def test_extended_precision_is_computed_in_double_and_objects_are_refused():
    A = build(np.float64, True)
    x = np.random.default_rng(0).standard_normal((700, 2))
    assert np.array_equal(A @ x.astype(np.longdouble), A @ x)
    assert np.array_equal(A.H @ (1j * x).astype(np.clongdouble), A.H @ (1j * x))
    with pytest.raises(TypeError, match=r"products are those of numbers, got vectors of dtype object: .* x.astype"):
        A @ x.astype(object)


def test_products_repeat_exactly():
    A = build(np.complex128, True)
    x = np.random.default_rng(0).standard_normal(700) + 0j
    first = A @ x
    assert all(np.array_equal(A @ x, first) for _ in range(5))


def test_it_prints_what_it_is():
    A = build(np.float64, True)
    text = str(A)
    assert text.startswith("H-matrix 700 x 700 float64, ")
    assert "rtol 0.0001" in text and "ranks up to" in text and text.count(" s") >= 1
    levels = A.statistics
    assert sum(each.nbytes for each in levels.levels) == levels.total.nbytes
    assert levels.total.nbytes < A.nbytes
    assert len(str(levels).splitlines()) == len(levels.levels) + 2


def test_gmres_takes_it():
    A = build(np.float64, True, rtol=1e-8)
    b = A @ np.ones(700)
    x, info = gmres(A, b, rtol=1e-6, restart=200, maxiter=5)
    assert np.linalg.norm(A @ x - b) < 1e-5 * np.linalg.norm(b) and info == 0
