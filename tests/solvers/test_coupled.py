"""Finite elements inside and a dense operator outside: every way has the solution of the whole matrix."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from calderon.solvers import ConvergenceError, CoupledMatrix, SparseLU, coupled, coupled_bytes, lu, solve_coupled

N, K, n = 120, 30, 20
RANDOM = np.random.default_rng(11)


def system(is_complex=True, shift=0.4):
    """A coupled system with a chain inside, and its whole matrix."""
    one = 1j if is_complex else 0.0
    inside = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(N, N)) - shift * sp.eye_array(N)
    load = sp.random_array((N, n), density=0.05, rng=np.random.default_rng(1), format="csr")
    trace = sp.csr_array((np.ones(K), (np.arange(K), np.arange(0, 4 * K, 4))), (K, N))
    outside = RANDOM.standard_normal((n, K + n)) * 0.1 * (1 + one)
    outside[:, K:] += 2 * np.eye(n)
    whole = np.block([[inside.toarray(), load.toarray()], [outside[:, :K] @ trace, outside[:, K:]]])
    return CoupledMatrix(inside, load, trace, outside), whole


def sides(*columns):
    f, g = RANDOM.standard_normal((N, *columns)), RANDOM.standard_normal((n, *columns))
    return f, g * (1 + 1j)


@pytest.mark.parametrize("is_complex", [False, True])
def test_products_are_those_of_the_whole_matrix(is_complex):
    matrix, whole = system(is_complex)
    x = RANDOM.standard_normal((N + n, 2)) + 1j * RANDOM.standard_normal((N + n, 2))
    assert np.abs(matrix @ x - whole @ x).max() < 1e-12 and np.abs(matrix @ x[:, 0] - whole @ x[:, 0]).max() < 1e-12
    assert np.abs(matrix.H @ x - whole.conj().T @ x).max() < 1e-12
    A, B, C, D = whole[:N, :N], whole[:N, N:], whole[N:, :N], whole[N:, N:]
    exact = D - C @ np.linalg.solve(A, B)
    schur = matrix.schur_complement(SparseLU(matrix.inside))
    y = x[:n]
    assert schur.dtype == (complex if is_complex else float)
    assert np.abs(schur.to_array() - exact).max() < 1e-11 and np.abs(schur @ y[:, 0] - exact @ y[:, 0]).max() < 1e-11
    assert np.abs(schur.H @ y - exact.conj().T @ y).max() < 1e-11
    other = CoupledMatrix(matrix.inside, matrix.load, matrix.trace, aslinearoperator(matrix.outside))
    assert np.abs(other.H @ x - whole.conj().T @ x).max() < 1e-12
    assert np.abs(other.schur_complement(SparseLU(matrix.inside)).H @ y - exact.conj().T @ y).max() < 1e-11


@pytest.mark.parametrize("columns", [(), (3,)])
@pytest.mark.parametrize("way", ["dense", "schur", "whole", "auto"])
def test_every_way_has_the_solution(way, columns):
    matrix, whole = system()
    f, g = sides(*columns)
    outside = lu(matrix.outside[:, K:]).as_preconditioner()
    found = solve_coupled(matrix, (f, g), rtol=1e-10, way=way, outside=outside, progress=False)
    exact = np.linalg.solve(whole, np.concatenate([f, g]))
    assert found.inside.shape == f.shape and found.surface.shape == g.shape
    assert np.linalg.norm(np.concatenate([found.inside, found.surface]) - exact) < 1e-8 * np.linalg.norm(exact)
    assert found.info.converged and "LU factorisation 120 x 120, float64" in found.info.method
    words = {"dense": "of the Schur complement", "schur": "GMRES", "whole": "block triangle", "auto": "at most 5000"}
    assert words[way] in found.info.method
    again = solve_coupled(matrix, (2 * f, 2 * g), rtol=1e-10, way=way, factors=found.factors, progress=False)
    assert again.factors is found.factors and np.abs(again.surface - 2 * found.surface).max() < 1e-6


def test_the_choice_follows_the_size(monkeypatch):
    monkeypatch.setattr(coupled, "DENSE", 10)
    matrix, _ = system()
    found = solve_coupled(matrix, sides(), progress=False)
    assert found.info.method.startswith("GMRES") and "20 unknowns of the surface are more than 10" in found.info.method
    assert coupled_bytes(matrix.inside, n, 100) - coupled_bytes(matrix.inside, n, 10) == 2 * 16 * n**2


def test_the_whole_is_solved_where_the_inside_is_singular():
    """At an eigenvalue of the inside the whole stays regular."""
    resonance = 2 - 2 * np.cos(np.pi * 40 / (N + 1))
    matrix, whole = system(shift=resonance)
    assert np.linalg.cond(whole) < 1e5
    f, g = sides()
    found = solve_coupled(matrix, (f, g), rtol=1e-10, progress=False)
    exact = np.linalg.solve(whole, np.concatenate([f, g]))
    assert np.linalg.norm(found.surface - exact[N:]) < 1e-6 * np.linalg.norm(exact)
    assert "block triangle" in found.info.method and "chosen as the condition of the matrix" in found.info.method
    with pytest.raises(np.linalg.LinAlgError, match="way='schur' eliminates the inside, and the condition"):
        solve_coupled(matrix, (f, g), way="schur")


def test_a_triangle_takes_few_steps_where_blocks_are_nearly_triangular():
    """Without coupling upwards it is the inverse: one step."""
    matrix, _ = system()
    apart = matrix.outside.copy()
    apart[:, :K] = 0
    alone = CoupledMatrix(matrix.inside, matrix.load, matrix.trace, apart)
    exact = lu(apart[:, K:]).as_preconditioner()
    assert solve_coupled(alone, sides(), way="whole", outside=exact, rtol=1e-8, progress=False).info.iterations == 1
    with pytest.raises(ConvergenceError):
        solve_coupled(matrix, sides(), way="whole", rtol=1e-10, maxiter=2, progress=False)


def test_parts_that_do_not_fit():
    matrix, _ = system()
    A, B, T, P = matrix.inside, matrix.load, matrix.trace, matrix.outside
    for parts, kind, words in (
        (
            (A.toarray(), B, T, P),
            TypeError,
            "the inside A of a coupled system is a sparse matrix of SciPy, got ndarray",
        ),
        ((A[:, :-1], B, T, P), ValueError, "the inside A of a coupled system is 120 x 119, and 120 x 120 is needed"),
        ((A, B, T.T.tocsr(), P), ValueError, "the trace T of a coupled system is 120 x 30, and 120 x 120"),
        ((A, B, T, P[:, 1:]), ValueError, "the outside P of a coupled system is 20 x 49, and 20 x 50 is needed"),
    ):
        with pytest.raises(kind, match=words):
            CoupledMatrix(*parts)
    f, g = sides()
    with pytest.raises(ValueError, match=r"right-hand sides of 120 and 20 rows are needed, got shapes \(20,\)"):
        solve_coupled(matrix, (g, f))
    with pytest.raises(ValueError, match="unknown way 'lu': choose 'auto', 'dense', 'schur' or 'whole'"):
        solve_coupled(matrix, (f, g), way="lu")
    with pytest.raises(ValueError, match="the preconditioner of the outside is 3 x 3, and a system with 20"):
        matrix.preconditioner(SparseLU(A), np.eye(3))
