"""LU: solutions in each type and storage order, adjoint, condition number, and errors."""

import warnings
from functools import partial

import numpy as np
import pytest
from scipy.sparse import csc_matrix, diags

from calderon.mesh import AccuracyWarning
from calderon.solvers import jacobi, lu, refined, sparse_inverse, wide_product

TYPES = [np.float32, np.float64, np.complex64, np.complex128]


def random_matrix(dtype, n=50, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, n)) + 3 * np.eye(n)
    return (A + 1j * rng.standard_normal((n, n)) if np.dtype(dtype).kind == "c" else A).astype(dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("columns", [None, 1, 7])
@pytest.mark.parametrize("complex_side", [False, True])
def test_solution_and_adjoint_solution(dtype, order, columns, complex_side):
    A = np.array(random_matrix(dtype), order=order)
    kept = A.copy()
    b = np.random.default_rng(1).standard_normal((50,) if columns is None else (50, columns))
    b = b + 1j * b[::-1] if complex_side else b
    factors = lu(A)
    scale = 300 * np.finfo(dtype).eps * np.linalg.cond(A.astype(complex))
    for adjoint, matrix in ((False, A), (True, A.conj().T)):
        x = factors.solve(b, adjoint=adjoint)
        assert x.shape == b.shape and np.abs(matrix @ x - b).max() < scale
    assert np.array_equal(A, kept) and factors.dtype == dtype
    assert np.array_equal(factors @ b, factors.solve(b))


def test_factors_take_the_place_of_the_matrix_when_allowed():
    A = random_matrix(np.complex128)
    b, kept = np.ones(50), A.copy()
    factors = lu(A, overwrite=True)
    assert np.shares_memory(factors.factors, A) and np.allclose(kept @ factors.solve(b), b)


def test_read_only_matrix_is_never_overwritten():
    A = random_matrix(np.float64)
    A.flags.writeable = False
    kept = A.copy()
    lu(A, overwrite=True)
    assert np.array_equal(A, kept)


def test_assembled_operator_gives_its_array():
    class Assembled:
        shape = (50, 50)

        def to_array(self):
            return random_matrix(np.float64)

    assert np.allclose(random_matrix(np.float64) @ lu(Assembled()).solve(np.ones(50)), 1)


@pytest.mark.parametrize("condition", [10.0, 1e6])
def test_condition_number_to_a_factor(condition):
    rng = np.random.default_rng(2)
    U, V = (np.linalg.qr(rng.standard_normal((40, 40)))[0] for _ in range(2))
    A = (U * np.geomspace(1, condition, 40)) @ V
    assert 0.2 < lu(A).condition / np.linalg.cond(A, 1) < 5


def test_factorisation_prints_itself_and_counts_its_memory():
    factors = lu(random_matrix(np.complex64))
    assert "50 x 50, complex64" in str(factors) and factors.seconds > 0
    assert factors.nbytes >= 50 * 50 * 8


def test_singular_matrix_is_named():
    with pytest.raises(np.linalg.LinAlgError, match="pivot 1 of 3 is zero"):
        lu(np.diag([1.0, 0.0, 2.0]))


@pytest.mark.parametrize(
    ("matrix", "kind", "text"),
    [
        (np.ones((2, 3)), ValueError, "square"),
        (np.array([[np.nan, 1], [1, 1]]), ValueError, "NaN"),
        (np.array([["a"]]), TypeError, "numbers"),
        (csc_matrix(np.eye(3)), TypeError, "sparse_inverse"),
        (lambda x: x, TypeError, "dense"),
    ],
)
def test_bad_matrix_is_named(matrix, kind, text):
    with pytest.raises(kind, match=text):
        lu(matrix)


@pytest.mark.parametrize(
    ("b", "text"), [(np.ones(3), "shape"), (np.array([1, np.inf]), "1 entries"), (np.ones((2, 1, 1)), "shape")]
)
def test_bad_right_hand_side_is_named(b, text):
    with pytest.raises(ValueError, match=text):
        lu(np.eye(2)).solve(b)


@pytest.mark.parametrize("kind", [float, complex])
@pytest.mark.parametrize("shape", [(30,), (30, 4)])
def test_sparse_inverse_inverts(kind, shape):
    A = diags([np.ones(29), np.full(30, 4.0), np.ones(29)], [-1, 0, 1]).tocsr().astype(kind)
    if kind is complex:
        A = A + 0.5j * diags([np.ones(29)], [1])
    inverse = sparse_inverse(A)
    b = np.random.default_rng(0).standard_normal(shape) + 1j
    assert np.abs(A @ (inverse @ b) - b).max() < 1e-14 and np.abs(A.conj().T @ (inverse.H @ b) - b).max() < 1e-14
    assert (inverse @ b.real).dtype == kind


def test_sparse_inverse_refuses_singular_and_dense_matrices():
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        sparse_inverse(csc_matrix(np.diag([1.0, 0.0])))
    with pytest.raises(TypeError, match="use lu"):
        sparse_inverse(np.eye(2))
    with pytest.raises(ValueError, match="square"):
        sparse_inverse(csc_matrix(np.ones((2, 3))))


def test_jacobi_divides_by_the_diagonal_and_refuses_zeros():
    A = random_matrix(np.complex128)
    b = np.ones((50, 2))
    assert np.allclose(jacobi(A) @ b, b / np.diag(A)[:, None])
    with pytest.raises(ValueError, match="1 diagonal entries.*row 1"):
        jacobi(np.diag([1.0, 0.0]))
    with pytest.raises(TypeError, match="diagonal"):
        jacobi(np.sin)


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_a_matrix_that_is_singular_to_rounding_is_warned_of(dtype):
    eps = np.finfo(dtype).eps
    U, V = (np.linalg.qr(np.random.default_rng(n).standard_normal((30, 30)))[0] for n in (1, 2))
    singular, regular = ((U * np.geomspace(1, least, 30)) @ V for least in (0.01 * eps, 1e3 * eps))
    with pytest.warns(AccuracyWarning, match="singular to rounding: its condition number is about .* resonance"):
        lu(singular.astype(dtype))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lu(regular.astype(dtype))


@pytest.mark.parametrize("thin", [None, np.full((60, 1), 0.1)], ids=["plain", "lifted"])
def test_refinement_brings_single_precision_to_the_residual_of_double(thin):
    rng = np.random.default_rng(3)
    U, V = (np.linalg.qr(rng.standard_normal((60, 60)))[0] for _ in range(2))
    A = ((U * np.geomspace(1, 1e-4, 60)) @ V * (1 + 0.5j)).astype(np.complex64)
    whole = A.astype(complex) if thin is None else A + thin @ thin.T
    b = 1e-30 * rng.standard_normal((60, 3))  # its squares are below the range of single precision
    b[:, 1] = 0
    square = None if thin is None else thin @ thin.T
    x, residuals = refined(lu(whole.astype(np.complex64)), partial(wide_product, A, square), b, 1e-9)
    sizes = np.maximum(np.linalg.norm(b, axis=0), 1e-300)
    assert np.allclose(np.linalg.norm(whole @ x - b, axis=0) / sizes, residuals, rtol=0.1, atol=1e-12)
    assert residuals.max() < 1e-9 and not x[:, 1].any()


def test_refinement_ends_where_it_does_not_converge():
    A = np.diag([1.0, 1e-9]).astype(np.float32)
    x, residuals = refined(lu(np.diag([1.0, -1e-9])), A.__matmul__, np.ones((2, 1)), 1e-6)
    assert residuals[0] > 0.1 and np.isfinite(x).all()
