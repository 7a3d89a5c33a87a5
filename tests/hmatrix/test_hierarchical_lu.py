"""Hierarchical factorisations: solutions to the tolerance, adjoints, preconditioning, what is refused."""

import numpy as np
import pytest
from point_kernels import point_matrix, sphere_points

import calderon as cal
from calderon.hmatrix import Admissibility, block_tree, cluster_tree, hmatrix

MESH = cal.mesh.sphere(1.0, 0.15)
SPACE = cal.P1(MESH)
HELMHOLTZ = cal.Helmholtz(6.0)
OPERATORS = {
    "symmetric": cal.single_layer(cal.Laplace(), SPACE),
    "adjoint": 0.5 * cal.identity(SPACE) + 1j * cal.double_layer(HELMHOLTZ, SPACE).H,
    "Burton-Miller": 0.5 * cal.identity(SPACE)
    - cal.double_layer(HELMHOLTZ, SPACE)
    + (1j / 6) * cal.hypersingular(HELMHOLTZ, SPACE),
}


def residual(A, x, b):
    return np.linalg.norm(A @ x - b) / np.linalg.norm(b)


@pytest.mark.parametrize("name", OPERATORS)
def test_residual_follows_the_tolerance(name):
    A = OPERATORS[name].assemble("hmatrix", rtol=1e-6)
    rng = np.random.default_rng(0)
    b = A @ rng.standard_normal((A.shape[1], 2))
    assert A.shape[0] > 600
    for rtol in (1e-2, 1e-4):
        factors = cal.hlu(A, rtol=rtol)
        assert residual(A, factors.solve(b), b) < 5 * rtol
        assert residual(A.H, factors.solve(b, adjoint=True), b) < 5 * rtol
        assert residual(A, factors.solve(b[:, 0]), b[:, 0]) < 5 * rtol
    assert factors.ranks[0] > 5
    assert "hierarchical LU" in str(factors) and f"{A.shape[0]} x" in str(factors)


def test_a_matrix_without_a_mesh():
    """A Hilbert-like kernel with a diagonal, several levels deep."""
    x = sphere_points(2000)
    clusters = cluster_tree(x)
    tree = block_tree(clusters, clusters, Admissibility(), True)
    A = hmatrix(point_matrix(clusters, clusters, x, x, shift=0.01, symmetric=True), tree, 1e-9)
    factors = cal.hlu(A, rtol=1e-6)
    array = A.to_array()
    b = np.random.default_rng(1).standard_normal(2000)
    assert len(factors.ranks) == 3
    assert residual(array, factors.solve(b), b) < 1e-4
    exact = np.linalg.cond(array, 1)
    assert 0.95 * exact < factors.condition < 1.01 * exact


def test_small_matrices_are_factorised_dense():
    A = cal.single_layer(cal.Laplace(), cal.P1(cal.mesh.sphere(1.0, 0.5))).assemble("hmatrix", rtol=1e-6)
    factors, b = cal.hlu(A), np.ones(A.shape[0])
    assert factors.ranks == []
    assert residual(A, factors.solve(b), b) < 1e-12


def test_preconditioned_iterations():
    """An equation of the first kind: few iterations with rough factors, many without."""
    A = cal.electric_field(cal.Helmholtz(4.0), cal.RWG(cal.mesh.sphere(1.0, 0.16))).assemble("hmatrix", rtol=1e-6)
    b = np.random.default_rng(0).standard_normal(A.shape[0])
    factors = cal.hlu(A, rtol=1e-2)
    solution, record = cal.gmres(A, b, rtol=1e-6, preconditioner=factors.as_preconditioner())
    assert residual(A, solution, b) < 1e-5
    assert len(record.histories[0]) - 1 <= 15
    with pytest.raises(cal.ConvergenceError):
        cal.gmres(A, b, rtol=1e-6, maxiter=60)


def test_what_cannot_be_factorised():
    mesh = cal.mesh.sphere(1.0, 0.3)
    layer = cal.single_layer(cal.Laplace(), cal.P1(mesh))
    x, y = sphere_points(100), sphere_points(100, 1)
    rows, columns = cluster_tree(x), cluster_tree(y)
    tree = block_tree(rows, columns, Admissibility(), False)
    with pytest.raises(ValueError, match="same space on both sides"):
        cal.hlu(hmatrix(point_matrix(rows, columns, x, y, shift=0.01), tree, 1e-3))
    with pytest.raises(ValueError, match="for products and block systems use gmres"):
        cal.hlu((layer @ layer).assemble("hmatrix"))
    with pytest.raises(TypeError, match="or use lu"):
        cal.hlu(np.eye(3))
    with pytest.raises(ValueError, match="rtol=2"):
        cal.hlu(layer.assemble("hmatrix"), rtol=2)
