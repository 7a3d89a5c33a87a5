"""L D L^T of sparse symmetric matrices against dense algebra, and the fill-in of nested dissection."""

import numpy as np
import pytest
import scipy.sparse as sp

import calderon.mesh as meshes
from calderon.solvers.symmetric import SymmetricPencil, nested_dissection
from calderon.spaces import P1, P2


def pencil(space):
    mass, stiffness = space.mass_matrix(), space.laplace_beltrami_matrix()
    return SymmetricPencil((mass, stiffness), space.nodes), mass, stiffness


@pytest.mark.parametrize("space", [P1, P2])
@pytest.mark.parametrize("mesh", [meshes.sphere(1.0, 0.3), meshes.plate((1.0, 0.3), 0.05), meshes.sample("submarine")])
def test_solutions_solve(mesh, space):
    """P2: mass matrix and stiffness have different patterns."""
    both, mass, stiffness = pencil(space(mesh))
    n = mass.shape[0]
    rng = np.random.default_rng(0)
    b = rng.standard_normal((n, 3)) + 1j * rng.standard_normal((n, 3))
    for c, d in ((1.0, 0.0), (1.0, 0.3), (1.0, -0.2 - 0.1j), (2j, 0.5)):
        factors = both.factorise(c, d)
        for x in (b, b.real, b[:, 0], np.asfortranarray(b)):
            y = factors.solve(x)
            assert y.shape == x.shape
            assert np.abs(c * (mass @ y) + d * (stiffness @ y) - x).max() < 1e-10
        assert np.isrealobj(both.factorise(1.0, 0.5).solve(b.real))


def test_factors_are_those_of_the_matrix():
    both, mass, stiffness = pencil(P1(meshes.cube(1.0, 0.5)))
    factors = both.factorise(1.0, -0.1 - 0.2j)
    n = mass.shape[0]
    columns = np.repeat(np.arange(n), np.diff(factors.start))
    lower = sp.coo_array((factors.below, (factors.rows, columns)), (n, n)).toarray() + np.eye(n)
    assert (factors.rows > columns).all()
    expected = (mass - (0.1 + 0.2j) * stiffness).toarray()[np.ix_(factors.order, factors.order)]
    assert np.allclose(lower @ np.diag(factors.pivots) @ lower.T, expected, atol=1e-14)


def test_dissection_orders_every_node_once_and_fill_grows_slower_than_bands():
    """n log n entries, where bands would have n^(3/2)."""
    per_row = []
    for h in (0.2, 0.05):
        both, mass, _ = pencil(P1(meshes.sphere(1.0, h)))
        assert (np.sort(nested_dissection(mass, both.points)) == np.arange(mass.shape[0])).all()
        per_row.append(len(both.factorise(1.0, 0.0).rows) / mass.shape[0])
    assert per_row[1] < 45 and per_row[1] < 2 * per_row[0], per_row  # 4 times, if it were bands


def test_separate_parts_and_small_matrices():
    two = meshes.merge([meshes.sphere(1.0, 0.4), meshes.sphere(0.5, 0.3).translated((3, 0, 0))])
    both, mass, _ = pencil(P1(two))
    x = np.ones(mass.shape[0])
    assert np.allclose(both.factorise(1.0, 0.0).solve(mass @ x), x, atol=1e-12)
    one = SymmetricPencil((sp.csr_array([[4.0]]),), np.zeros((1, 3)))
    assert one.factorise(0.5).solve(np.array([1.0])) == 0.5


def test_a_zero_pivot_is_named():
    flat = SymmetricPencil((sp.csr_array(np.diag([1.0, 0.0])),), np.zeros((2, 3)))
    with pytest.raises(np.linalg.LinAlgError, match="pivot 1 of 2"):
        flat.factorise(1.0)
