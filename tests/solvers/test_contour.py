"""Eigenvalues within an ellipse by contour integrals."""

import numpy as np
import pytest

from calderon.solvers.contour import Ellipse, eigenpairs

SIZE = 40
INSIDE = np.array([1.0, 2.0, 2.0, 3.5 - 0.05j, 4.2])
OUTSIDE = np.concatenate([[0.85, 4.5], np.linspace(5, 30, SIZE - 7)])


@pytest.fixture(scope="module")
def vectors():
    return np.random.default_rng(1).standard_normal((SIZE, 2 * SIZE)).view(complex)


@pytest.mark.parametrize("height", [0.2, 0.5])
@pytest.mark.parametrize("columns", [4, 16])  # the first has to be doubled
def test_eigenvalues_with_their_multiplicities(vectors, height, columns):
    """A(z) = Q sin((z - roots) / 16) Q^-1: not linear in z, two roots outside of the interval near its ends."""
    roots = np.concatenate([INSIDE, OUTSIDE])

    def matrix(z):
        return (vectors * (np.sin((z - roots) / 16))) @ np.linalg.inv(vectors)

    found, x = eigenpairs(lambda z, r: np.linalg.solve(matrix(z), r), SIZE, Ellipse(0.9, 4.4, height), columns)
    assert found.shape == (5,)
    assert np.abs(found - INSIDE).max() < 1e-6
    for z, each in zip(found, x.T, strict=True):
        assert np.linalg.norm(matrix(z) @ each) < 1e-6 * np.linalg.norm(matrix(z + 1) @ each)
    assert np.linalg.matrix_rank(x[:, 1:3]) == 2  # the double one has two vectors


def test_an_empty_ellipse_has_none(vectors):
    found, x = eigenpairs(lambda z, r: r / (z - 9), 6, Ellipse(1.0, 2.0, 0.2), 4)
    assert found.shape == (0,) and x.shape == (6, 0)
