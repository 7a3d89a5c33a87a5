"""GMRES: the minimal residual it promises, the residual it reports, and what it says when it cannot."""

import io

import numpy as np
import pytest
from rich.console import Console
from scipy.sparse import csr_matrix, diags
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from calderon.solvers import ConvergenceError, gmres, live_bar, lu

KINDS = ["real", "complex", "real matrix", "single"]


def random_system(n=80, spread=0.4, kind="complex", columns=None, seed=0):
    """Identity plus a random matrix of spectral radius `spread`."""
    rng = np.random.default_rng(seed)
    A = np.eye(n) + spread * rng.standard_normal((n, n)) / np.sqrt(n)
    b = rng.standard_normal((n,) if columns is None else (n, columns))
    if kind in ("complex", "single"):
        A = A + 1j * spread * rng.standard_normal((n, n)) / np.sqrt(n)
    if kind in ("complex", "single", "real matrix"):
        b = b + 1j * rng.standard_normal(b.shape)
    return (A.astype(np.complex64) if kind == "single" else A), b


def relative_residual(A, x, b):
    return np.linalg.norm(b - A.astype(complex) @ x) / np.linalg.norm(b)


@pytest.mark.parametrize("kind", KINDS)
def test_solution_is_that_of_elimination(kind):
    A, b = random_system(kind=kind)
    rtol = 1e-5 if kind == "single" else 1e-12
    x, info = gmres(A, b, rtol=rtol)
    assert info.converged and len(info.residuals) == info.iterations + 1
    assert x.dtype == (np.float64 if kind == "real" else np.complex128)
    assert np.linalg.norm(x - np.linalg.solve(A.astype(complex), b)) < 100 * rtol * np.linalg.norm(x)


def test_each_step_reaches_the_least_squares_minimum_over_the_krylov_space():
    A, b = random_system(n=40)
    _, info = gmres(A, b, rtol=1e-10)
    basis = np.linalg.qr(np.stack([np.linalg.matrix_power(A, j) @ b for j in range(8)], axis=1))[0]
    for step in range(1, 9):
        image = A @ basis[:, :step]
        y = np.linalg.lstsq(image, b)[0]
        assert info.residuals[step] == pytest.approx(np.linalg.norm(b - image @ y) / np.linalg.norm(b), rel=1e-7)


def test_residual_obeys_the_bound_for_a_normal_matrix():
    """Spectrum in the disc |z - 1| <= rho: the residual falls at least like rho^j (Saad 2003, section 6.11)."""
    rho, n = 0.3, 200
    eigenvalues = 1 + rho * np.sqrt(np.linspace(0, 1, n)) * np.exp(1j * 2.4 * np.arange(n))
    _, info = gmres(np.diag(eigenvalues), np.ones(n), rtol=1e-10)
    steps = np.arange(info.iterations)
    assert np.all(info.residuals[:-1] <= rho**steps * (1 + 1e-12))


def test_as_many_steps_as_distinct_eigenvalues():
    x, info = gmres(np.diag(np.repeat([1.0, 2.0, 5.0, -3.0], 20)), np.ones(80), rtol=1e-12)
    assert info.iterations == 4
    assert np.allclose(x, 1 / np.repeat([1.0, 2.0, 5.0, -3.0], 20), rtol=1e-11)


def test_history_never_rises_and_ends_with_the_true_residual():
    A, b = random_system(spread=0.7)
    x, info = gmres(A, b, rtol=1e-9)
    assert info.residuals[0] == 1 and np.all(np.diff(info.residuals) <= 1e-13)
    assert info.residuals[-1] == pytest.approx(relative_residual(A, x, b), rel=1e-6)
    assert info.residuals[-1] <= 1e-9 < info.residuals[-2]


@pytest.mark.parametrize("restart", [1, 4, 10, 33, 200])
def test_restarted_iteration_meets_the_same_tolerance(restart):
    A, b = random_system(spread=0.3)
    full = gmres(A, b, rtol=1e-9)[1]
    x, info = gmres(A, b, rtol=1e-9, restart=restart)
    assert relative_residual(A, x, b) <= 1e-9 and info.iterations >= full.iterations
    assert len(info.residuals) == info.iterations + 1 and np.all(np.diff(info.residuals) <= 1e-12)
    if restart >= full.iterations:
        assert info.iterations == full.iterations


def test_basis_stays_orthogonal_over_hundreds_of_steps():
    """A cyclic shift needs every one of its n steps, and any loss of orthogonality would show in the solution."""
    n = 300
    x, info = gmres(np.roll(np.eye(n), 1, axis=0), np.eye(n)[0] + 0j, rtol=1e-10)
    assert info.iterations == n and np.abs(x - np.eye(n)[-1]).max() < 1e-12


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("restart", [None, 7])
def test_preconditioner_on_either_side_solves_the_same_system(side, restart):
    rng = np.random.default_rng(3)
    scale = 10.0 ** rng.uniform(-3, 3, 100)
    A, b = random_system(100, spread=0.3)
    A = scale[:, None] * A if side == "left" else A * scale
    exact = np.linalg.solve(A, b)
    x, info = gmres(A, b, rtol=1e-11, preconditioner=diags(1 / scale), side=side, restart=restart)
    assert info.residuals[-1] <= 1e-11
    assert info.residuals[-1] == pytest.approx(relative_residual(A, x, b), rel=1e-3)
    assert np.linalg.norm(x - exact) < 1e-6 * np.linalg.norm(exact)
    assert info.iterations < 200 and side in info.method


@pytest.mark.parametrize("side", ["left", "right"])
def test_exact_inverse_needs_one_step(side):
    A, b = random_system()
    _, info = gmres(A, b, rtol=1e-10, preconditioner=lu(A), side=side)
    assert info.iterations == 1


def test_complex_preconditioner_of_a_real_system():
    A, b = random_system(kind="real")
    x, _ = gmres(A, b, rtol=1e-10, preconditioner=diags(np.full(80, 1 + 1j)))
    assert x.dtype == np.complex128 and relative_residual(A, x, b) <= 1e-10


@pytest.mark.parametrize("side", ["left", "right"])
def test_several_right_hand_sides_equal_one_after_another(side):
    A, b = random_system(60, columns=21)
    b[:, 3] *= 1e-8
    b[:, 5] = 0
    M = np.linalg.inv(A + 0.02 * random_system(60, seed=9)[0])
    x, info = gmres(A, b, rtol=1e-9, preconditioner=M, side=side)
    assert x.shape == b.shape and len(info.histories) == 21
    iterations = []
    for i in range(21):
        xi, single = gmres(A, b[:, i], rtol=1e-9, preconditioner=M, side=side)
        iterations.append(single.iterations)
        assert np.linalg.norm(x[:, i] - xi) <= 1e-9 * np.linalg.norm(xi)
        assert len(info.histories[i]) == single.iterations + 1
    assert info.iterations == max(iterations) == len(info.residuals) - 1
    assert info.residuals[-1] == max(history[-1] for history in info.histories)


def test_products_of_several_right_hand_sides_are_formed_together():
    A, b = random_system(columns=8)
    calls = []

    def product(x):
        calls.append(x.shape[1] if x.ndim == 2 else 1)
        return A @ x

    operator = LinearOperator(A.shape, matvec=product, matmat=product, dtype=complex)
    _, info = gmres(operator, b, rtol=1e-8)
    assert max(calls) == 8 and len(calls) <= 3 * info.iterations


@pytest.mark.parametrize("wrap", [aslinearoperator, csr_matrix, np.asfortranarray])
def test_anything_with_a_product_serves_as_matrix(wrap):
    A, b = random_system(kind="real matrix")
    assert relative_residual(A, gmres(wrap(A), b, rtol=1e-9)[0], b) <= 1e-9


def test_single_precision_matrix_is_not_converted():
    A, b = random_system(kind="single")
    seen = []
    operator = LinearOperator(A.shape, matvec=lambda x: seen.append(x.dtype) or A @ x, dtype=A.dtype)
    gmres(operator, b, rtol=1e-5)
    assert set(seen) == {np.dtype(np.complex64)}


def test_single_precision_says_how_far_it_goes():
    A, b = random_system(kind="single")
    with pytest.raises(ConvergenceError, match="single precision") as caught:
        gmres(A, b, rtol=1e-10)
    assert caught.value.info.residual < 1e-5


def test_zero_right_hand_side_gives_zero_at_once():
    x, info = gmres(np.eye(5), np.zeros(5), x0=np.ones(5))
    assert np.all(x == 0) and info.iterations == 0 and info.converged and len(info.residuals) == 1


def test_good_initial_guess_ends_at_once_and_a_near_one_sooner():
    A, b = random_system()
    exact = np.linalg.solve(A, b)
    assert gmres(A, b, rtol=1e-8, x0=exact)[1].iterations == 0
    near, info = gmres(A, b, rtol=1e-8, x0=exact + 1e-4)
    assert 0 < info.iterations < gmres(A, b, rtol=1e-8)[1].iterations and relative_residual(A, near, b) <= 1e-8


def test_absolute_tolerance_counts_where_it_is_larger():
    A, b = random_system()
    x, info = gmres(A, b, rtol=0, atol=1e-3)
    assert 1e-6 < np.linalg.norm(b - A @ x) <= 1e-3 and info.atol == 1e-3


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_scale_of_the_right_hand_side_does_not_matter(size):
    A, b = random_system()
    x, info = gmres(A, size * b, rtol=1e-9)
    assert info.iterations == gmres(A, b, rtol=1e-9)[1].iterations
    assert relative_residual(A, x / size, b) < 2e-9


def test_limit_raises_with_history_and_partial_solution():
    A, b = random_system(spread=0.9)
    with pytest.raises(ConvergenceError, match="reached its limit.*maxiter") as caught:
        gmres(A, b, rtol=1e-12, maxiter=6)
    error = caught.value
    assert len(error.residuals) == 7 and not error.info.converged and "did not converge" in str(error.info)
    assert error.residuals[-1] == pytest.approx(relative_residual(A, error.solution, b))
    assert error.solution.shape == b.shape and error.residuals[-1] < 1


def test_limit_counts_the_steps_of_all_restarts():
    A, b = random_system(spread=0.9)
    with pytest.raises(ConvergenceError) as caught:
        gmres(A, b, rtol=1e-12, maxiter=10, restart=4)
    assert len(caught.value.residuals) == 11


def test_one_failing_right_hand_side_does_not_spoil_the_others():
    A = np.diag([1.0, 2.0, 3.0, 0.0])
    b = np.array([[1.0, 1.0], [1.0, 1.0], [1.0, 1.0], [0.0, 1.0]])
    with pytest.raises(ConvergenceError, match="1 of 2 right-hand sides") as caught:
        gmres(A, b)
    assert np.allclose(A @ caught.value.solution[:, 0], b[:, 0])


def test_stagnating_restart_is_told_apart_from_slow():
    """The cyclic shift: no progress before step n, so restarting after fewer never moves."""
    with pytest.raises(ConvergenceError, match="stagnated.*restart"):
        gmres(np.roll(np.eye(20), 1, axis=0), np.eye(20)[0], restart=5)


def test_singular_system_is_reported():
    with pytest.raises(ConvergenceError, match="singular"):
        gmres(np.diag([1.0, 2.0, 0.0]), np.ones(3))


def test_singular_but_consistent_system_is_solved():
    A = np.diag([1.0, 2.0, 0.0])
    x, info = gmres(A, np.array([1.0, 4.0, 0.0]))
    assert info.converged and np.allclose(x[:2], [1, 2])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_none_are_refused(bad):
    b = np.ones(4)
    b[2] = bad
    with pytest.raises(ValueError, match="1 entries that are NaN or infinite"):
        gmres(np.eye(4), b)
    matrix = np.eye(4)
    matrix[1, 1] = bad
    with pytest.raises(ValueError, match="operator or the preconditioner"), np.errstate(invalid="ignore"):
        gmres(matrix, np.ones(4))


@pytest.mark.parametrize(
    ("change", "kind", "text"),
    [
        ({"side": "middle"}, ValueError, "choose 'left' or 'right'"),
        ({"rtol": -1.0}, ValueError, "rtol must be"),
        ({"rtol": 0}, ValueError, "choose a tolerance"),
        ({"rtol": 2}, ValueError, "between 0 and 1"),
        ({"rtol": np.nan}, ValueError, "rtol must be"),
        ({"rtol": True}, ValueError, "rtol must be"),
        ({"restart": 0}, ValueError, "restart must be at least 1"),
        ({"maxiter": 2.5}, TypeError, "maxiter must be an integer"),
        ({"b": np.ones(5)}, ValueError, r"shape \(4,\) or \(4, m\)"),
        ({"b": np.array(["a"] * 4)}, TypeError, "numbers"),
        ({"x0": np.ones((4, 2))}, ValueError, "initial guess"),
        ({"A": np.ones((4, 3))}, ValueError, "square"),
        ({"A": "matrix"}, TypeError, "product A @ x"),
        ({"preconditioner": np.eye(3)}, ValueError, "3 x 3"),
        ({"preconditioner": np.sin}, TypeError, "preconditioner"),
    ],
)
def test_bad_arguments_are_named(change, kind, text):
    arguments = {"A": np.eye(4), "b": np.ones(4), **change}
    with pytest.raises(kind, match=text):
        gmres(**arguments)


def test_operator_that_is_not_assembled_is_refused():
    class Lazy:
        shape = (3, 3)

        def __matmul__(self, other):
            return self

    with pytest.raises(TypeError, match="assemble"):
        gmres(Lazy(), np.ones(3))


def test_callback_sees_every_step():
    A, b = random_system()
    seen = []
    _, info = gmres(A, b, callback=lambda step, residual: seen.append((step, residual)))
    assert [step for step, _ in seen] == list(range(1, info.iterations + 1))
    assert np.array_equal([residual for _, residual in seen], info.residuals[1:])


@pytest.mark.parametrize("shown", [False, True])
def test_interrupt_from_the_keyboard_passes_through(shown):
    A, b = random_system()

    def stop(step, residual):
        if step == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gmres(A, b, rtol=1e-10, progress=shown, callback=stop)
    assert gmres(A, b, rtol=1e-10, progress=shown)[1].converged


def test_progress_line_shows_iteration_and_residual(monkeypatch):
    text = io.StringIO()
    bar = live_bar.Progress
    monkeypatch.setattr(
        live_bar,
        "Progress",
        lambda *columns, **options: bar(
            *columns, console=Console(file=text, force_terminal=True, width=120), **options
        ),
    )
    A, b = random_system()
    _, info = gmres(A, b, progress=True)
    assert f"iteration {info.iterations}, residual {info.residuals[-1]:.1e}" in text.getvalue()


def test_a_solution_may_be_accepted_or_not():
    """The iteration goes on in the same space, and ends where it can make no more of it."""
    A, b = random_system(n=60)
    plain, first = gmres(A, b, rtol=1e-3)
    seen = []

    def accept(x, residual):
        seen.append(np.linalg.norm(residual))
        assert np.linalg.norm(residual - (b - A @ x)) < 1e-12
        return 1e-3 if len(seen) == 1 else 1.0

    x, info = gmres(A, b, rtol=1e-3, accept=accept)
    assert len(seen) == 2 and seen[1] <= 1e-3 * seen[0] and info.converged
    assert info.iterations == gmres(A, b, rtol=1e-3 * seen[0] / np.linalg.norm(b))[1].iterations > first.iterations
    _, last = gmres(A, b, rtol=1e-3, accept=lambda x, residual: 1e-30)
    assert last.converged and last.residual < 1e-12
    limited, info = gmres(A, b, rtol=1e-3, maxiter=first.iterations, accept=lambda x, residual: 0.1)
    assert info.converged and np.array_equal(limited, plain)


def test_record_prints_itself():
    A, b = random_system()
    info = gmres(A, b)[1]
    assert str(info).startswith(f"GMRES converged: {info.iterations} iterations, relative residual")
    assert info.products == info.iterations + 1 and info.seconds > 0
