"""Right-hand sides compressed to few, and solved in one Krylov space."""

import importlib

import numpy as np
import pytest

from calderon.solvers import CompressedSides, ConvergenceError, block_gmres, gmres

N, M = 300, 90


def waves(k=9.0):
    """Plane waves along a line, from many angles."""
    return np.exp(1j * k * np.linspace(0, 1, N)[:, None] * np.cos(np.linspace(0, np.pi, M)))


def matrix(strength=0.6):
    rng = np.random.default_rng(2)
    return np.eye(N) + strength / np.sqrt(2 * N) * (rng.normal(size=(N, N)) + 1j * rng.normal(size=(N, N)))


def compressed(sides, tolerance, at_once=25):
    found = CompressedSides(tolerance)
    for first in range(0, sides.shape[1], at_once):
        found.add(sides[:, first : first + at_once])
    found.truncate()
    return found


@pytest.mark.parametrize("tolerance", [1e-3, 1e-6, 1e-10])
def test_compression_errors_are_bounded_and_the_rank_is_that_of_the_singular_values(tolerance):
    sides = waves() * np.linspace(0.1, 10, M)
    found = compressed(sides, tolerance)
    exact = np.linalg.norm(sides - found.rows.T @ found.coefficients * found.sizes, axis=0) / found.sizes
    assert (exact <= found.errors * (1 + 1e-4)).all() and found.errors.max() <= tolerance
    assert found.errors.max() < 2 * exact.max()
    assert np.abs(found.rows @ found.rows.conj().T - np.eye(found.rank)).max() < 1e-12
    values = np.linalg.svd(sides / found.sizes, compute_uv=False)
    needed = int((np.sqrt(np.cumsum(values[::-1] ** 2))[::-1] > tolerance * np.sqrt(M)).sum())  # in the mean
    assert needed <= found.rank <= needed + 3 < M / 3


@pytest.mark.parametrize("rtol", [1e-3, 1e-8])
def test_every_right_hand_side_meets_the_tolerance_with_few_products(rtol):
    a, sides = matrix(), waves()
    given = compressed(sides, rtol / 10)
    x, info = block_gmres(a, given, rtol)
    residuals = np.linalg.norm(sides - a @ (x @ given.coefficients * given.sizes), axis=0) / given.sizes
    bounds = np.array([each[-1] for each in info.histories])
    assert (residuals <= bounds * (1 + 1e-9)).all() and bounds.max() == info.residual <= rtol
    assert bounds.max() < residuals.max() + 2 * given.errors.max()  # no more than it should be
    one_by_one = gmres(a, sides, rtol)[1].products
    assert info.products < one_by_one / 3
    text = f"GMRES of {M} right-hand sides, rank {given.rank}, {info.iterations} steps of up to "
    assert text in str(info) and int(str(info).split(text)[1].split()[0]) <= given.rank


def test_one_right_hand_side_takes_the_steps_of_gmres():
    a, b = matrix(), waves()[:, :1]
    given = compressed(b, 1e-9)
    x, info = block_gmres(a, given, 1e-8)
    exact, single = gmres(a, b, 1e-8)
    assert info.iterations == single.iterations
    assert np.allclose(x @ given.coefficients * given.sizes, exact, rtol=0, atol=1e-7 * np.abs(exact).max())


def test_precision_of_the_matrix_a_preconditioner_and_restarts(monkeypatch):
    a, sides = matrix(0.9) * np.linspace(1, 20, N), waves()
    given = compressed(sides, 1e-6)
    bare = block_gmres(a, given, 1e-5)[1]
    scaled = block_gmres(a.astype(np.complex64), given, 1e-5, preconditioner=np.diag(1 / np.linspace(1, 20, N)))
    assert scaled[1].products < bare.products
    steps = []
    module = importlib.import_module("calderon.solvers.block_gmres")  # the function has its name
    monkeypatch.setattr(module, "free_memory", lambda: 2**20)  # room for the least space
    x, restarted = block_gmres(a, given, 1e-5, callback=lambda step, residual: steps.append(step))
    residuals = np.linalg.norm(sides - a @ (x @ given.coefficients * given.sizes), axis=0) / given.sizes
    assert residuals.max() <= 1e-5
    assert restarted.products > bare.products
    assert steps == list(range(1, restarted.iterations + 1))


def test_failures_are_told_with_the_solution_so_far():
    a, given = matrix(), compressed(waves(), 1e-7)
    with pytest.raises(ConvergenceError, match="reached its limit of 3 steps at relative residual") as caught:
        block_gmres(a, given, 1e-6, maxiter=3)
    assert caught.value.solution.shape == (N, given.rank)
    singular = np.diag(np.r_[np.zeros(40), np.ones(N - 40)])
    with pytest.raises(ConvergenceError, match="stagnated"):
        block_gmres(singular, given, 1e-6)
    with pytest.raises(ValueError, match="NaN or infinity"):
        block_gmres(a * np.inf, given, 1e-6)
    with pytest.raises(ValueError, match="cannot be solved to"):
        block_gmres(a, given, 1e-8)


def test_memory_is_refused_before_it_is_taken(monkeypatch):
    given = compressed(waves(), 1e-4)
    monkeypatch.setattr("calderon.backends.memory.free_memory", lambda: 1000)
    with pytest.raises(MemoryError, match=f"for {given.rank} right-hand sides needs"):
        block_gmres(matrix(), given, 1e-3)
