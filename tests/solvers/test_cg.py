"""Conjugate gradients: the bound of the condition number, true residuals, refusal of what is not definite."""

import numpy as np
import pytest
from scipy.sparse import diags

import calderon as cal
from calderon.solvers import ConvergenceError, cg, jacobi


def definite(n=60, condition=50.0, seed=0, kind=complex):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((n, n)) + (1j * rng.standard_normal((n, n)) if kind is complex else 0))[0]
    A = (Q * np.geomspace(1, condition, n)) @ Q.conj().T
    return (A + A.conj().T) / 2, rng.standard_normal(n) + (1j * rng.standard_normal(n) if kind is complex else 0)


@pytest.mark.parametrize("kind", [float, complex])
def test_solution_is_that_of_elimination(kind):
    A, b = definite(kind=kind)
    x, info = cg(A, b, rtol=1e-11)
    assert x.dtype == kind and np.linalg.norm(x - np.linalg.solve(A, b)) < 1e-9 * np.linalg.norm(x)
    assert len(info.residuals) == info.iterations + 1
    assert info.residuals[-1] == pytest.approx(np.linalg.norm(b - A @ x) / np.linalg.norm(b), rel=1e-6)
    assert info.residuals[-1] <= 1e-11


def test_energy_error_obeys_the_bound_of_the_condition_number():
    A, b = definite(condition=100.0)
    exact = np.linalg.solve(A, b)

    def energy(error):
        return np.sqrt(np.vdot(error, A @ error).real)

    for steps in (3, 8, 15, 25):
        with pytest.raises(ConvergenceError) as caught:
            cg(A, b, rtol=1e-14, maxiter=steps)
        assert energy(caught.value.solution - exact) <= 2 * (9 / 11) ** steps * energy(exact)
        assert len(caught.value.residuals) == steps + 1


def test_diagonal_preconditioner_undoes_a_scaling():
    A, b = definite()
    scale = np.geomspace(1, 1e3, 60)
    scaled = scale[:, None] * A * scale
    plain = cg(scaled, b, rtol=1e-8, maxiter=20000)[1]
    x, info = cg(scaled, b, rtol=1e-8, preconditioner=jacobi(scaled))
    assert info.iterations < plain.iterations / 4
    assert np.linalg.norm(b - scaled @ x) <= 1e-8 * np.linalg.norm(b)


def test_several_right_hand_sides_equal_one_after_another():
    A, b = definite()
    sides = np.stack([b, 1e-3 * b[::-1], 0 * b, A @ b], axis=1)
    # products with a matrix and with a vector round differently, which conjugate gradients amplify step by step as they
    # lose orthogonality: 1e-16 has become 1e-10 at a residual of 1e-4
    x, info = cg(A, sides, rtol=1e-3)
    for i in range(4):
        xi, single = cg(A, sides[:, i], rtol=1e-3)
        assert np.linalg.norm(x[:, i] - xi) <= 1e-10 * np.linalg.norm(xi)
        assert len(info.histories[i]) == single.iterations + 1


def test_sparse_matrix_complex_right_hand_side_and_guess():
    A = diags([-np.ones(99), 2.1 * np.ones(100), -np.ones(99)], [-1, 0, 1]).tocsr()
    b = np.exp(1j * np.arange(100))
    exact = np.linalg.solve(A.toarray(), b)
    x, info = cg(A, b, rtol=1e-10, x0=exact + 1e-6)
    assert np.abs(x - exact).max() < 1e-8 and info.iterations < cg(A, b, rtol=1e-10)[1].iterations


def test_more_than_rounding_allows_stagnates_with_advice():
    A, b = definite(condition=1e6)
    with pytest.raises(ConvergenceError, match="stagnated|limit"):
        cg(A.astype(np.complex64), b, rtol=1e-10, maxiter=3000)


def test_indefinite_matrix_is_refused():
    with pytest.raises(ValueError, match="positive definite.*gmres"):
        cg(np.diag([1.0, -2.0]), np.ones(2))


def test_indefinite_preconditioner_is_refused():
    with pytest.raises(ValueError, match="preconditioner"):
        cg(np.eye(2), np.ones(2), preconditioner=-np.eye(2))


def test_operator_with_nan_is_refused():
    with pytest.raises(ValueError, match="NaN"):
        cg(np.array([[np.nan, 0], [0, 1]]), np.ones(2))


def test_zero_right_hand_side_gives_zero_at_once():
    x, info = cg(np.eye(3), np.zeros(3))
    assert np.all(x == 0) and info.iterations == 0


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("preconditioner", [None, np.eye(3)])
def test_a_singular_matrix_with_incompatible_data_is_told(preconditioner):
    A = np.diag([1.0, 2.0, 0.0])
    with pytest.raises(ValueError, match="cg is not positive definite: singular, with a right-hand side"):
        cg(A, np.ones(3), preconditioner=preconditioner)
    assert np.allclose(cg(A, np.array([1.0, 1.0, 0.0]), preconditioner=preconditioner)[0], [1, 0.5, 0])
    with pytest.raises(ValueError, match="singular"):
        cg(np.zeros((2, 2)), np.ones(2))


def test_constants_are_the_null_space_of_the_hypersingular_operator():
    space = cal.P1(cal.mesh.sphere(1.0, 0.6))
    A = cal.hypersingular(cal.Laplace(), space).assemble()
    mean = space.mass_matrix() @ np.ones(space.dimension)
    data = np.random.default_rng(0).standard_normal(space.dimension)
    data -= mean * data.sum() / mean.sum()
    x, _ = cg(A, data, rtol=1e-10)
    assert np.linalg.norm(A @ x - data) <= 1e-10 * np.linalg.norm(data)
    for wrong in (mean, data + 0.1 * mean):  # rounding decides whether the residual runs away, stays or wanders
        with pytest.raises((ValueError, ConvergenceError)) as caught:
            cg(A, wrong)
        assert isinstance(caught.value, ConvergenceError) or "Make the data compatible" in str(caught.value)


def test_squares_of_residuals_beyond_double_precision_are_told():
    for size in (1e-200, 1e200):
        with pytest.raises(ValueError, match="squares residuals.*: scale the right-hand side"):
            cg(np.eye(2), size * np.ones(2))
