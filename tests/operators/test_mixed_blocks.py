"""Sparse matrices, arrays and LinearOperators next to operators: sums, spaces of volumes, and what is refused."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator

import calderon as cal
from calderon.mlfmm.check import rows_of_integrals
from calderon.operators.fingerprint import fingerprint_of_all
from calderon.operators.memory_estimate import given_bytes
from calderon.operators.products import near_entries

SPACE = cal.P1(cal.mesh.sphere(1.0, 0.6))
N = SPACE.dimension
V = cal.single_layer(cal.Helmholtz(1.5), SPACE)
RANDOM = np.random.default_rng(2)


def sparse(rows, columns):
    real = sp.random_array((rows, columns), density=0.1, rng=np.random.default_rng(rows + columns), format="csr")
    return (real * (1 + 2j)).tocsr()


@pytest.fixture(scope="module")
def entries():
    return V.assemble().to_array()


def test_sums_with_sparse_matrices(entries):
    S = sparse(N, N)
    for operator, expected in (
        (V + S, entries + S),
        (S.tocoo() + V, entries + S),
        (V - sp.csr_matrix(S), entries - S),
        (S - 2 * V, S - 2 * entries),
        (sum([S, V, S.T]), entries + S + S.T),
    ):
        assert np.abs(operator.assemble().to_array() - expected).max() < 1e-14
        assert operator.trial is SPACE and operator.test is SPACE
    for wrong in (sparse(N, N - 1), np.zeros((N, N)), aslinearoperator(np.eye(N))):
        with pytest.raises(
            (ValueError, TypeError), match=r"a sum: the sparse matrix is|and blocks\(\[\[X\]\]\) for an"
        ):
            V + wrong
    array = RANDOM.standard_normal((N, N))
    assert np.abs((V + cal.blocks([[array]])).assemble().to_array() - entries - array).max() < 1e-14


def test_a_space_of_the_volume_names_its_unknowns_and_composes():
    mass = sp.diags_array(np.linspace(1, 2, 9))
    inside = cal.VolumeSpace("P1 in tetrahedra", 9, "any mesh", mass)
    A, T = sparse(9, 9), sparse(N, 9)
    system = cal.blocks([[A, T.T], [V @ T, V]], trial=[inside, None], test=[inside, None])
    assert [each.name for each in system.trial.spaces] == [each.name for each in system.test.spaces]
    assert system.trial.spaces == (inside, SPACE) and system.trial.mesh[0] == "any mesh"
    assert abs(system.trial.mass_matrix(system.test)[:9, :9] - mass).max() == 0
    # V @ T alone in its column keeps the space, too
    assert cal.blocks([[V @ T, V]], trial=[inside, None]).trial.spaces[0] is inside
    # A @ A = A M^-1 A between operators of the volume
    one = cal.blocks([[A]], [inside], [inside])
    product = (one @ one).assemble().to_array()
    assert np.abs(product - A @ np.diag(1 / mass.diagonal()) @ A).max() < 1e-13
    unknown = cal.blocks([[A]], [cal.VolumeSpace("P1 in tetrahedra", 9)], [cal.VolumeSpace("P1 in tetrahedra", 9)])
    with pytest.raises(ValueError, match="are not known: give mass= to the space"):
        (unknown @ unknown).assemble()
    with pytest.raises(ValueError, match="column 0 of the blocks has dimension 9, and the space"):
        cal.blocks([[A]], trial=[cal.VolumeSpace("P1", 8)])
    with pytest.raises(ValueError, match="1 columns of blocks have as many spaces"):
        cal.blocks([[A]], trial=[inside, inside])
    with pytest.raises(ValueError, match="is 9 x 9, and has a row and a column for each of 8"):
        cal.VolumeSpace("P1", 8, None, mass)
    with pytest.raises(ValueError, match="dimension=0: a whole number of at least 1"):
        cal.VolumeSpace("P1", 0)


def test_arrays_are_told_apart_and_give_their_entries():
    one, other = RANDOM.standard_normal((2, N, 3))
    tables = [cal.blocks([[V, each]]) for each in (one, other, one.copy())]
    prints = [fingerprint_of_all(each) for each in tables]
    assert prints[0] == prints[2] != prints[1]
    matrix = tables[0].assemble("matrix-free")
    x, y = RANDOM.standard_normal((N + 3, 2)), RANDOM.standard_normal((N, 2)) * 1j
    dense = tables[0].assemble().to_array()
    assert np.abs(matrix @ x - dense @ x).max() < 1e-12 and np.abs(matrix.H @ y - dense.conj().T @ y).max() < 1e-12
    i, j = np.array([0, 5]), np.array([0, 2])
    (alone,) = cal.blocks([[one]]).terms()
    assert np.array_equal(near_entries(alone.atom.value(None), i, j), one[i, j])


def test_plans_count_what_is_given():
    S = sparse(N, 200)
    bare, mixed = cal.blocks([[V]]), cal.blocks([[V, S]])
    added = S.data.nbytes + S.indices.nbytes + S.indptr.nbytes
    assert given_bytes(mixed) - given_bytes(bare) == added
    for method in ("hmatrix", "mlfmm"):
        assert mixed.plan(method, 1e-3).nbytes - bare.plan(method, 1e-3).nbytes == added
    assert given_bytes(S.T @ V) == added


def test_dense_matrices_of_zeros_are_refused_and_auto_takes_another_method():
    size = 20_000
    system = cal.blocks([[sp.eye_array(size), sparse(size, N)], [sparse(N, size), V]])
    for attempt in (lambda: system.assemble("dense"), lambda: system.plan("dense")):
        with pytest.raises(ValueError, match=r"'dense' would store 6.4 GB of zeros next to .* use 'hmatrix', 'mlfmm'"):
            attempt()
    assert system.plan("auto", 1e-3).method == "hmatrix"
    assert system.assemble("matrix-free").shape == (size + N, size + N)


def test_rows_that_are_checked_have_integrals():
    """Sparse rows are exact by every method, and large ones would hide the errors of the others."""
    system = cal.blocks([[sparse(9, 9), sparse(9, N)], [V @ sparse(N, 9), V]])
    assert np.array_equal(rows_of_integrals(system), np.arange(9, 9 + N))


def test_blocks_without_numbers_are_refused():
    texts = LinearOperator((N, N), matvec=lambda x: x, dtype=object)
    for given, words in (
        (texts, "a block of object holds no numbers"),
        (np.full((N, N), np.nan), "needs finite numbers, got nan"),
        (np.array([["a"] * N] * N), "holds no numbers"),
        (sp.csr_array(np.full((N, N), np.inf)), "a block: entries of a sparse matrix are finite"),
    ):
        with pytest.raises(ValueError, match=words):
            cal.blocks([[V, given]])
