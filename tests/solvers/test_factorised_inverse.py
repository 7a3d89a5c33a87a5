"""Sparse factors of inverses of matrices of Green's functions."""

import numpy as np
import pytest

from calderon.solvers import factorised_inverse, factorised_matrix


def softened(points, scale, screening):
    """Entries exp(-kappa r) / sqrt(r^2 + d^2), scaled to the diagonal 1."""

    def submatrices(which):
        x = points[which]
        r = np.linalg.norm(x[:, :, None] - x[:, None], axis=3)
        return scale * np.exp(-screening * r) / np.sqrt(r**2 + scale**2)

    return submatrices


@pytest.mark.parametrize("screening", [0.0, 5.0])
@pytest.mark.parametrize("graded", [False, True])
def test_eigenvalues_of_the_preconditioned_matrix_lie_close_together(screening, graded):
    """Alone, those of the matrix lie a hundred times farther apart, and the more so the more points there are."""
    apart = []
    for number in (300, 1200):
        t = np.random.default_rng(0).random((number, 3)) - 0.5
        points = t / np.linalg.norm(t, axis=1, keepdims=True)
        if graded:
            points *= np.linspace(0.1, 1, number)[:, None] ** 2
        entries = softened(points, 0.9 / np.sqrt(number) * (0.1 if graded else 1), screening)
        matrix = entries(np.arange(number)[None])[0]
        inverse = factorised_inverse(points, entries)
        product = inverse @ matrix
        values = np.sort(np.linalg.eigvals(product).real)
        assert np.abs((inverse @ np.eye(number)) - (inverse @ np.eye(number)).T).max() < 1e-12
        apart.append(values[-1] / values[0])
    assert max(apart) < 25 and apart[1] < 2.5 * apart[0]


def test_few_points_have_the_inverse_itself_and_equal_ones_no_trouble():
    points = np.random.default_rng(0).random((10, 3))
    entries = softened(points, 0.2, 0.0)
    matrix = entries(np.arange(10)[None])[0]
    assert np.abs(factorised_inverse(points, entries) @ matrix - np.eye(10)).max() < 1e-7
    twice = softened(np.repeat(points, 2, axis=0), 0.2, 0.0)  # singular: every unknown is there twice
    assert np.isfinite(factorised_inverse(np.repeat(points, 2, axis=0), twice) @ np.ones(20)).all()
    # pairs at one place with entries that are 0, as the two sides of metal have
    apart = np.repeat(points[:6], 2, axis=0)

    def of_sides(which):
        return entries(which // 2) * (which[:, :, None] % 2 == which[:, None] % 2)

    matrix = of_sides(np.arange(12)[None])[0]
    assert np.abs(factorised_inverse(apart, of_sides) @ matrix - np.eye(12)).max() < 1e-7


def test_the_matrix_of_the_factors_undoes_their_inverse():
    points = np.random.default_rng(1).random((200, 3)) * [
        1,
        1,
        0.1,
    ]  # so few have factors with equal numbers of entries
    entries = softened(points, 0.05, 0.0)
    x = np.random.default_rng(2).random((200, 2))
    matrix, inverse = factorised_matrix(points, entries), factorised_inverse(points, entries)
    assert np.abs(matrix @ (inverse @ x) - x).max() < 1e-9 and np.abs(matrix.T @ x - matrix @ x).max() < 1e-9
    few = entries(np.arange(10)[None])[0]
    assert np.abs(factorised_matrix(points[:10], entries) @ np.eye(10) - few).max() < 1e-7
    for factorised in (factorised_inverse, factorised_matrix):
        assert (factorised(points[:0], entries) @ np.zeros((0, 2))).shape == (0, 2)
