"""Symmetric operators are integrated by half; the mirror image is exact."""

import numpy as np
import pytest

import calderon as cal
from calderon.backends import computing
from calderon.operators.symmetry import symmetrise


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.complex128, np.complex64])
@pytest.mark.parametrize("size", [1, 7, 64, 200, 333])
def test_mirror(kind, size):
    numbers = np.random.default_rng(size).standard_normal((2, size, size))
    matrix = (numbers[0] + 1j * numbers[1]).astype(kind) if np.dtype(kind).kind == "c" else numbers[0].astype(kind)
    inside = np.zeros((size, 2 * size + 3), kind)  # rows that do not follow each other
    inside[:, size : 2 * size] = matrix
    view, exact = inside[:, size : 2 * size], matrix + matrix.T
    symmetrise(matrix)
    symmetrise(view)
    assert np.array_equal(matrix, exact)
    assert np.array_equal(view, exact)
    assert not inside[:, :size].any() and not inside[:, 2 * size :].any()


@pytest.mark.parametrize("space", [cal.P0, cal.P1])
@pytest.mark.parametrize("green", [cal.Laplace(), cal.Helmholtz(3.0)])
def test_half_equals_whole(space, green):
    mesh = cal.mesh.sphere(1.0, 0.35)
    operators = [cal.single_layer(green, space(mesh))]
    if space is cal.P1:
        operators.append(cal.hypersingular(green, operators[0].trial))
    for operator in operators:
        halves = operator.assemble().to_array()
        whole = np.zeros_like(halves)
        operator.add_to(whole, 1.0, None, None, computing("numba", "double"))
        assert np.array_equal(halves, halves.T)
        assert np.abs(halves - whole).max() < 1e-8 * np.abs(whole).max()  # an edge rule is not symmetric in its sides
