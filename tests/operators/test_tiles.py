"""The parts of a tile: sums over points in threes, sums of the results of a column."""

import numpy as np
import pytest

import calderon as cal
from calderon.backends.numba import kernel
from calderon.galerkin import block as entries
from calderon.galerkin.regular.element_tables import LANES, in_threes
from calderon.galerkin.regular.flush import take, take_values
from calderon.galerkin.regular.pair_mask import first_left_out, left_out, mark, words_for
from calderon.galerkin.regular.scatter_columns import (
    add_complex_columns,
    add_complex_rows,
    add_real_columns,
    add_real_rows,
    column_scratch,
    columns_of,
)
from calderon.quadrature import triangle_rule


def test_rules_in_threes():
    assert [degree for degree in range(1, 21) if in_threes(triangle_rule(degree))] == [2, 3, 4]


@pytest.mark.parametrize("real", [np.float64, np.float32])
@pytest.mark.parametrize("oscillates", [False, True])
@pytest.mark.parametrize("across", [False, True])
def test_columns_are_summed(real, oscillates, across):
    random = np.random.default_rng(1)
    places = random.integers(-1, 40, (2, 3 * LANES))  # -1: results that nobody wants
    columns, width = columns_of(places), 64 // np.dtype(real).itemsize
    size, count = 3 * LANES, width - 1  # one row fewer than fit
    numbers = random.standard_normal((2, width, size)).astype(real)
    work = np.split(np.zeros(column_scratch(size, width), real), 3)
    exact = np.ones((20, 40), np.result_type(real, np.complex64) if oscillates else real)
    out = exact.T.copy() if across else exact.copy()
    rows, top = random.permutation(20)[: count + 2], 2
    add = ADD[oscillates, across]

    for b in range(2):
        for part in range(2):
            work[part][:] = numbers[part].T.ravel()
        _summed(add)(out.ravel(), out.shape[1], rows, top, count, columns, b, *work)
        for r, row in enumerate(rows[top:]):
            value = numbers[0, r] + (1j * numbers[1, r] if oscillates else 0)
            wanted = places[b] >= 0
            np.add.at(exact[row], places[b][wanted], value[wanted])
    assert np.abs((out.T if across else out) - exact).max() < 100 * np.finfo(real).eps


ADD = {
    (False, False): add_real_columns,
    (True, False): add_complex_columns,
    (False, True): add_real_rows,
    (True, True): add_complex_rows,
}


def _summed(add):
    @kernel
    def run(out, pitch, rows, top, count, columns, block, turned, imaginary, work):
        add(out, pitch, rows, top, count, columns, block, turned, imaginary, work)

    return run


@pytest.mark.parametrize("real", [np.float64, np.float32])
def test_results_are_taken(real):
    """Once, transposed or as they are, with their own rows, functions and triangles."""
    width, functions, kept, top = 64 // np.dtype(real).itemsize, 3, 48, 16
    given = np.random.default_rng(2).standard_normal((kept, functions, LANES)).astype(real)
    vectors = given.reshape(kept, functions, -1, width)
    t = np.ascontiguousarray(vectors.transpose(2, 0, 1, 3)).ravel()
    wanted = given[top : top + width].reshape(width, -1)
    turned, results = np.zeros(wanted.size, real), np.ones(wanted.size, real)
    _taken()(t.copy(), kept, functions, top, turned, results, t)
    assert (turned.reshape(-1, width).T == wanted).all()
    assert np.abs(results.reshape(width, -1) - 1 - wanted).max() < 10 * np.finfo(real).eps
    left = t.reshape(-1, kept, functions, width).transpose(1, 2, 0, 3).reshape(given.shape)
    rows = np.isin(np.arange(kept), np.arange(top, top + width))
    assert not left[rows].any() and (left[~rows] == given[~rows]).all()


def _taken():
    @kernel
    def run(t, kept, functions, top, turned, results, other):
        take(t, 0, kept, functions, top, turned)
        take_values(other, 0, kept, functions, top, results)

    return run


@pytest.mark.parametrize("real", [np.float64, np.float32])
def test_what_a_tile_leaves_out(real):
    """Listed pairs, and those that symmetry gives, block after block."""
    random, triangles, lo, hi = np.random.default_rng(3), 3 * LANES, 100, 290
    kept = random.random((hi, triangles)) > 0.05
    start = np.append(0, np.cumsum((~kept).sum(axis=1)))
    position = np.nonzero(~kept)[1].astype(np.int32)
    for upper in (False, True):
        found = np.ones((hi - lo, triangles), real)
        _left_out()(start, position, lo, hi, 1, upper, np.ones(64 // np.dtype(real).itemsize, real), found)
        exact = kept[lo:] & (np.arange(triangles) > np.arange(lo, hi)[:, None] if upper else True)
        assert (found[:, LANES:] == exact[:, LANES:]).all()


def _left_out():
    @kernel
    def run(start, position, lo, hi, first, upper, mask, found):
        cursors, words = first_left_out(start, position, lo, hi, first), words_for(lo, hi)
        for b in range(first, found.shape[1] // LANES):
            mark(words, cursors, start, position, lo, hi, b, upper)
            for i in range(lo, hi):
                for v in range(0, LANES, mask.size):
                    if left_out(words, i - lo, v, mask):
                        for k in range(mask.size):
                            found[i - lo, b * LANES + v + k] = mask[k]

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


PLATE, SPHERE = cal.mesh.plate((1.0, 1.0), 0.09), cal.mesh.sphere(1.0, 0.3)
IN_STRIPS = {
    "P0": cal.single_layer(cal.Laplace(), cal.P0(PLATE)),
    "without the rim": cal.single_layer(cal.Laplace(), cal.P1(PLATE, boundary=False)),
    "curls": cal.hypersingular(cal.Helmholtz(2.0), cal.P1(PLATE, boundary=False)),
    "other spaces": cal.double_layer(cal.Laplace(), cal.P1(SPHERE), cal.P0(PLATE)),
    "open currents": cal.electric_field(2.0, cal.RWG(PLATE)),
    "magnetic": cal.magnetic_field(2.0, cal.RWG(SPHERE)),
}


@pytest.mark.parametrize("precision", ["double", pytest.param("mixed", marks=pytest.mark.variant)])
@pytest.mark.parametrize("name", IN_STRIPS)
def test_strips_of_tiles_make_the_same_matrix(name, precision, monkeypatch):
    """Also of functions that some triangles lack, and into rows that are kept apart."""
    operator, used = IN_STRIPS[name], []
    whole = operator.assemble(precision=precision).to_array()
    strips = entries.Block.strips

    def noted(*arguments):
        parts = list(strips(*arguments))
        used.append(len(parts))
        return iter(parts)

    monkeypatch.setattr(entries.Block, "strips", noted)
    monkeypatch.setattr(entries, "STRIP", 3)
    found = operator.assemble(precision=precision).to_array()
    assert max(used) > 1
    assert np.abs(found - whole).max() < (1e-13 if precision == "double" else 1e-6) * np.abs(whole).max()
