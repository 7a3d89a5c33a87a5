"""The parts of a tile: sums over points in threes, sums of the results of a column."""

import numpy as np
import pytest

import calderon as cal
from calderon.backends.numba import kernel
from calderon.operators.columns import add_complex_columns, add_real_columns, column_scratch, columns_of
from calderon.operators.sides import LANES, in_threes
from calderon.quadrature import triangle_rule


def test_rules_in_threes():
    assert [degree for degree in range(1, 21) if in_threes(triangle_rule(degree))] == [2, 3, 4]


@pytest.mark.parametrize("real", [np.float64, np.float32])
@pytest.mark.parametrize("oscillates", [False, True])
def test_columns_are_summed(real, oscillates):
    random = np.random.default_rng(1)
    places = random.integers(-1, 40, (2, 3 * LANES))  # -1: results that nobody wants
    columns, width = columns_of(places), 64 // np.dtype(real).itemsize
    size, count = 3 * LANES, width - 1  # one row fewer than fit
    numbers = random.standard_normal((2, width, size)).astype(real)
    work = np.zeros(column_scratch(size, width), real)
    out = np.ones((20, 40), np.result_type(real, np.complex64) if oscillates else real)
    rows = random.permutation(20)[:count]
    add_columns = add_complex_columns if oscillates else add_real_columns

    exact = out.copy()
    for b in range(2):
        results, imaginary = numbers.reshape(2, -1).copy()
        _summed(add_columns)(out, rows, columns, b, results, imaginary, work)
        for r, row in enumerate(rows):
            value = numbers[0, r] + (1j * numbers[1, r] if oscillates else 0)
            wanted = places[b] >= 0
            np.add.at(exact[row], places[b][wanted], value[wanted])
    assert np.abs(out - exact).max() < 100 * np.finfo(real).eps


def _summed(add_columns):
    @kernel
    def run(out, rows, columns, block, results, imaginary, work):
        add_columns(out, rows, rows.size, columns, block, results, imaginary, work)

    return run


@pytest.mark.parametrize("spaces", [("P1", "P1"), ("P0", "P1"), ("P1", "P0"), ("P2", "P1")])
def test_rules_agree(spaces):
    """Rules with and without points in threes, of higher degree, have one limit."""
    mesh = cal.mesh.sphere(1.0, 0.6)
    far = cal.TriangleMesh(mesh.vertices + [20.0, 0, 0], mesh.triangles)
    test, trial = getattr(cal, spaces[0])(mesh), getattr(cal, spaces[1])(far)
    matrices = [
        cal.single_layer(cal.Laplace(), trial, test, quadrature=cal.Quadrature(regular=degree)).assemble().to_array()
        for degree in (4, 5, 8)
    ]
    for matrix in matrices[:2]:
        assert np.abs(matrix - matrices[2]).max() < 1e-7 * np.abs(matrices[2]).max()
