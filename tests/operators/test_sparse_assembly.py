"""Sums, multiples, transposes and tables of sparse operators are assembled as sparse matrices."""

import numpy as np
import pytest
import scipy.sparse as sp

import calderon as cal
from calderon.dense.sparse import SparseMatrix

SPACE = cal.P1(cal.mesh.sphere(1.0, 0.5))
OTHER = cal.P0(SPACE.mesh)
MASS = SPACE.mass_matrix().toarray()
LINEAR = cal.identity(SPACE)
MIXED = cal.identity(SPACE, OTHER)


@pytest.mark.parametrize(
    ("operator", "exact"),
    [
        (LINEAR, MASS),
        (-2.5 * LINEAR, -2.5 * MASS),
        (0.5 * LINEAR - 2j * LINEAR, (0.5 - 2j) * MASS),
        ((3j * MIXED).H, -3j * MIXED.entries(slice(None), slice(None)).T),
        (MIXED.T, MIXED.entries(slice(None), slice(None)).T),
        (cal.blocks([[LINEAR, None], [2 * LINEAR, LINEAR]]), np.block([[MASS, 0 * MASS], [2 * MASS, MASS]])),
    ],
)
def test_entries_are_those_of_the_expression(operator, exact):
    matrix = operator.assemble()
    assert isinstance(matrix, SparseMatrix) and matrix.dtype == operator.dtype()
    assert matrix.to_array() == pytest.approx(exact, abs=1e-15)
    x = np.random.default_rng(0).standard_normal((matrix.shape[1], 2))
    assert matrix @ x == pytest.approx(exact @ x, abs=1e-13)
    y = np.random.default_rng(1).standard_normal(matrix.shape[0])
    assert matrix.H @ y == pytest.approx(exact.conj().T @ y, abs=1e-13)
    assert np.asarray(matrix) == pytest.approx(exact, abs=1e-15)


def test_many_unknowns_take_little_memory():
    """100,002 unknowns would take 80 GB as a dense matrix."""
    space = cal.P1(cal.mesh.sphere(1.0, 0.012))
    assert space.dimension > 90_000
    operator = 0.5 * cal.identity(space)
    plan = operator.plan("dense")
    matrix = operator.assemble()
    assert matrix.nbytes < plan.nbytes < 1e8
    assert np.ones(space.dimension) @ (matrix @ np.ones(space.dimension)) == pytest.approx(2 * np.pi, rel=1e-3)
    assert sp.issparse(matrix.tocsr()) and "sparse matrix" in str(matrix) and "0.5" in str(matrix)
    with pytest.raises(MemoryError, match=r"all entries of a sparse matrix .* tocsr\(\)"):
        matrix.to_array()


def test_a_sum_with_an_integral_is_dense():
    matrix = (LINEAR + cal.single_layer(cal.Laplace(), SPACE)).assemble()
    assert not isinstance(matrix, SparseMatrix)
    assert matrix.to_array().shape == MASS.shape
