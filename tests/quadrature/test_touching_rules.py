"""Condensed rules for touching triangles against the full rules of Sauter and Schwab."""

import numpy as np
import pytest

from calderon.quadrature.singular import ROLES, condensed_rule, points_on_side, side_rule, touching_rule
from calderon.spaces.element import Element

CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0.4, 0.8, 0], [0.2, -0.5, 0.6], [-0.7, 0.1, -0.3], [-0.2, 0.6, 0.8]])


def kernel(shared, wavenumber, power, test_points, trial_points):
    """exp(ikr)/r or its derivative along the normal of the trial triangle, at reference points."""
    x = CORNERS[:3]
    y = np.concatenate([CORNERS[:shared], CORNERS[3 : 6 - shared]])
    d = x[0] + test_points @ (x[1:] - x[0]) - y[0] - trial_points @ (y[1:] - y[0])
    r = np.linalg.norm(d, axis=1)
    if power == 1:
        return np.exp(1j * wavenumber * r) / r
    return d @ np.cross(y[1] - y[0], y[2] - y[0]) * (1j * wavenumber * r - 1) * np.exp(1j * wavenumber * r) / r**3


@pytest.mark.parametrize("degree", [0, 1, 2])
@pytest.mark.parametrize(
    ("shared", "power", "wavenumber", "nodes"),
    [
        (3, 1, 0, 1),
        (2, 1, 0, 1),
        (1, 1, 0, 1),
        (2, 2, 0, 1),
        (1, 2, 0, 1),
        (3, 1, 0.5, 8),
        (2, 2, 0.5, 8),
        (1, 1, 0.5, 8),
    ],
)
def test_condensed_rules_are_the_full_ones(shared, power, wavenumber, nodes, degree):
    angular, element = 6, Element(degree)
    full = touching_rule(shared, 10, angular)
    values = full.weights * kernel(shared, wavenumber, power, full.test_points, full.trial_points)
    expected = np.einsum("q,aq,bq->ab", values, element.values(full.test_points), element.values(full.trial_points))
    number = 1 + max(max(each) for each in ROLES[shared])
    rule = condensed_rule(shared, (angular,) * number, nodes, power, 2 * degree)
    assert len(rule.test_points) < len(full.weights) / (1.2 if nodes > 1 else 4)
    values = kernel(shared, wavenumber, power, rule.test_points, rule.trial_points)
    assert np.abs(moments(rule, values, element) - expected).max() < 1e-10 * np.abs(expected).max()


def moments(rule, values, element):
    """(A, A) integrals by a condensed rule of a kernel with these values times products of local functions."""
    left, right = (
        element.values(each.reshape(-1, 2)).reshape(-1, *each.shape[:2])
        for each in (rule.test_fibres, rule.trial_fibres)
    )
    return np.einsum("fj,fjr,afr,bfr->ab", values.reshape(rule.weights.shape[:2]), rule.weights, left, right)


@pytest.mark.parametrize(("shared", "power"), [(3, 1), (2, 1), (1, 1), (2, 2), (1, 2)])
@pytest.mark.parametrize("nodes", [2, 3, 4])
def test_few_points_of_a_fibre_are_those_of_gauss(shared, power, nodes):
    """n points integrate rho^(2n - 1) exactly; linear functions on both sides take two of these degrees."""
    number = 1 + max(max(each) for each in ROLES[shared])
    full = touching_rule(shared, 10, 6)
    for degree in (0, 1):
        element, most = Element(degree), 2 * nodes - 1 - 2 * degree
        rule = condensed_rule(shared, (6,) * number, nodes, power, 2 * degree)
        errors = []
        for exponent in (most, most + 2):  # of |x - y|, next to the singularity
            of = [power_of_distance(shared, exponent - power, each) for each in (full, rule)]
            left, right = element.values(full.test_points), element.values(full.trial_points)
            expected = np.einsum("q,aq,bq->ab", full.weights * of[0], left, right)
            errors.append(np.abs(moments(rule, of[1], element) - expected).max() / np.abs(expected).max())
        assert errors[0] < 1e-11 < 1e-6 < errors[1]


def power_of_distance(shared, exponent, rule):
    return kernel(shared, 0, 1, rule.test_points, rule.trial_points) ** -exponent


@pytest.mark.parametrize(("along", "across"), [(3, 3), (9, 3), (6, 4), (12, 12)])
def test_rules_of_one_triangle_integrate_polynomials(along, across):
    points, weights = side_rule(along, across)
    u, v = points.T
    assert weights @ (u * v**2) == pytest.approx(1 / 60, rel=1e-13)
    assert points_on_side((along, across))[1].sum() == pytest.approx(0.5, rel=1e-13)
    assert points_on_side(6)[0].shape == (12, 2)
    assert len(weights) <= along * across
