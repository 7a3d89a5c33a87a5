"""Sparse LU factors: solutions, few entries, pivots, memory that is announced, and what is refused."""

import numpy as np
import pytest
import scipy.sparse as sp

from calderon.solvers import sparse_lu
from calderon.solvers.sparse_lu import SparseLU, factor_bytes, nested_dissection, unknowns_at_nodes

RANDOM = np.random.default_rng(7)


def cube(n, shift=0.0, unknowns=1):
    """Trilinear finite elements on n^3 nodes: stiffness minus shift times mass, for coupled unknowns of nodes."""
    one = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    mass = sp.diags_array([1.0, 4.0, 1.0], offsets=[-1, 0, 1], shape=(n, n)) / 6
    parts = ((one, mass, mass), (mass, one, mass), (mass, mass, one))
    whole = sum(sp.kron(sp.kron(x, y), z) for x, y, z in parts) - shift * sp.kron(sp.kron(mass, mass), mass)
    return sp.csr_array(sp.kron(whole, np.eye(unknowns) + 0.3))


@pytest.mark.parametrize("shift", [0.7, 0.7 + 0.2j])
def test_solutions_adjoint_ones_and_complex_columns(shift):
    A = cube(8, shift)
    factors, b = SparseLU(A), RANDOM.standard_normal((A.shape[0], 3)) + 1j * RANDOM.standard_normal((A.shape[0], 3))
    assert factors.dtype == A.dtype  # real factors of a real matrix
    for each in (b, b.real, b[:, 0], b[:, :0]):
        assert np.abs(A @ factors.solve(each) - each).max(initial=0) < 1e-11
        assert factors.solve(each).shape == each.shape
    assert np.abs(A.conj().T @ factors.solve(b, adjoint=True) - b).max() < 1e-11
    inverse = factors.as_preconditioner()
    assert np.abs(A.T @ (inverse.T @ b) - b).max() < 1e-11
    exact = np.linalg.cond(A.toarray(), 1)
    assert exact / 3 < factors.condition <= 1.01 * exact and not factors.is_singular
    assert factors.residual(factors @ b, b) < 1e-13 and factors.seconds > 0


def test_nested_dissection_leaves_few_entries_and_memory_is_announced():
    pytest.importorskip("pymetis")
    A = cube(18)
    order = nested_dissection(A)
    assert np.array_equal(np.sort(order), np.arange(A.shape[0]))
    factors = SparseLU(A)
    by_degree = sp.linalg.splu(sp.csc_array(A), permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
    assert factors._factors.nnz < 0.8 * by_degree.nnz
    assert "nested dissection" in str(factors)
    held = factors.nbytes + A.data.nbytes + A.indices.nbytes
    assert held / 1.3 < factor_bytes(A) < 1.3 * held
    assert unknowns_at_nodes(cube(6, unknowns=3)) == 3 and unknowns_at_nodes(A) == 1


def test_without_pymetis_another_order_is_named(monkeypatch):
    monkeypatch.setattr(sparse_lu, "has_metis", lambda: False)
    A = cube(6)
    factors, b = SparseLU(A), RANDOM.standard_normal(A.shape[0])
    assert np.abs(A @ factors.solve(b) - b).max() < 1e-12
    assert "minimum degree, as pymetis is not installed (pip install 'calderon[fem]')" in str(factors)


def test_pivots_that_are_zero_on_the_diagonal():
    """[[0, A], [A, 0]] has no pivot on its diagonal."""
    A = cube(5)
    off = sp.csr_array(sp.block_array([[None, A], [A, None]]))
    factors, b = SparseLU(off), RANDOM.standard_normal(off.shape[0])
    assert factors.residual(factors.solve(b)[:, None], b[:, None]) < 1e-9


def test_matrices_that_are_singular_or_nearly_so():
    A = cube(5)
    lowest = np.linalg.eigvalsh(A.toarray())[0]
    near = SparseLU(A - lowest * (1 + 1e-15) * sp.eye_array(A.shape[0]))
    assert near.is_singular and near.condition > 1e13
    with pytest.raises(np.linalg.LinAlgError, match="a resonance of what it stands for, a body that is free"):
        SparseLU(sp.diags_array(np.arange(4.0)))


def test_input_that_is_no_such_matrix():
    for wrong, kind, words in (
        (np.eye(3), TypeError, r"got ndarray of float64: lu\(A\) factorises arrays"),
        (sp.eye_array(3, 4), ValueError, r"square matrix that is not empty, got shape \(3, 4\)"),
        (sp.diags_array([1.0, np.nan]), ValueError, "1 of 2 entries"),
    ):
        with pytest.raises(kind, match=words):
            SparseLU(wrong)


def test_memory_is_asked_for_before_it_is_taken(monkeypatch):
    def refuse(nbytes, what, advice):
        raise MemoryError(f"{what}: {advice}")

    monkeypatch.setattr(sparse_lu, "require_memory", refuse)
    with pytest.raises(MemoryError, match="of 27 rows: take a coarser volume, or solve the whole system by GMRES"):
        SparseLU(cube(3))
