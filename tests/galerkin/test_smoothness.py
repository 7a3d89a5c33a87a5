"""How far lines between two triangles stay from singularities, against its definition."""

import numpy as np
import pytest

from calderon.pairs.classes import Pairs
from calderon.pairs.gauss_counts import COUNTS, ellipse_scratch, points_needed, put_ellipses, sample_lines
from calderon.quadrature.singular import ROLES, angular_maps


@pytest.mark.parametrize("shared", [1, 2, 3])
def test_ellipses_are_those_of_their_lines(shared):
    """19 pairs, which fill no whole number of vectors, of triangles with permuted corners."""
    rng = np.random.default_rng(shared)
    test, trial = rng.random((7, 3, 3)), rng.random((9, 3, 3)) + [0.5, 0, 0]
    triangles = np.stack([rng.integers(0, 7, 19), rng.integers(0, 9, 19)], axis=1).astype(np.int32)
    orders = [np.array([rng.permutation(3) for _ in range(19)]).astype(np.int8) for _ in range(2)]
    lines = sample_lines(angular_maps(shared), list(ROLES[shared]))
    found = np.empty((19, 1 + max(max(each) for each in ROLES[shared])))
    put_ellipses(test, trial, Pairs(triangles, *orders), lines, ellipse_scratch(lines), found)
    expected = np.full_like(found, np.inf)
    for n, (i, j) in enumerate(triangles):
        x, y = test[i][orders[0][n]], trial[j][orders[1][n]]
        u1, u2, v1, v2 = lines.points.T[:, :, None]
        d = x[0] + u1 * (x[1] - x[0]) + u2 * (x[2] - x[0]) - y[0] - v1 * (y[1] - y[0]) - v2 * (y[2] - y[0])
        length = np.linalg.norm(d, axis=1)
        for axis, p, q in lines.lines:
            if (step := np.linalg.norm(d[q] - d[p])) > 0:
                expected[n, axis] = min(expected[n, axis], (length[p] + length[q]) / step)
    assert np.abs(found / expected - 1).max() < 1e-13


def test_nearer_singularities_need_more_points():
    needed = points_needed(np.array([1 + 1e-9, 1.01, 1.1, 2.0, 100.0]), 14.0)
    assert needed[0] == 99 and (np.diff(needed) < 0).all() and needed[-1] == COUNTS[0]
    rho = 1.1 + np.sqrt(1.1**2 - 1)
    assert rho ** (-2.0 * needed[2]) <= np.exp(-14.0)
