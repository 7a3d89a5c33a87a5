"""Rules integrate every monomial of their degree, are symmetric, positive and inside."""

from fractions import Fraction
from math import factorial

import numpy as np
import pytest

from calderon.quadrature import gauss, triangle_rule

DEGREES = range(1, 21)
POINTS = [1, 3, 6, 6, 7, 12, 15, 16, 19, 25, 28, 33, 37, 42, 49, 55, 60, 67, 73, 79]


def monomial_error(rule, a, b):
    """Error of the rule for u^a v^b; summed in rational arithmetic, so only the rounded tables err."""
    exact = Fraction(factorial(a) * factorial(b), factorial(a + b + 2))
    u, v = ([Fraction(x) for x in column] for column in rule.points.T)
    terms = (Fraction(w) * x**a * y**b for w, x, y in zip(rule.weights, u, v, strict=True))
    return float(abs(sum(terms) - exact))


@pytest.mark.parametrize("degree", DEGREES)
def test_every_monomial_of_the_degree_is_exact(degree):
    rule = triangle_rule(degree)
    u, v = rule.points.T
    for a in range(degree + 1):
        for b in range(degree + 1 - a):
            exact = factorial(a) * factorial(b) / factorial(a + b + 2)
            assert abs(np.sum(rule.weights * u**a * v**b) - exact) < 1e-15


@pytest.mark.parametrize("degree", [1, 4, 8, 20])
def test_tables_are_correct_to_the_last_bit(degree):
    rule = triangle_rule(degree)
    for a, b in [(0, 0), (1, 0), (degree, 0), (0, degree), (degree // 2, degree - degree // 2)]:
        assert monomial_error(rule, a, b) < 5e-17


@pytest.mark.parametrize("degree", [d for d in DEGREES if d != 3])
def test_some_monomial_of_the_next_degree_is_not_exact(degree):
    """The rule has the degree it claims and no more (degree 3 shares the 6 points of degree 4)."""
    rule = triangle_rule(degree)
    errors = [monomial_error(rule, a, degree + 1 - a) for a in range(degree + 2)]
    assert max(errors) > 1e-15


@pytest.mark.parametrize("degree", DEGREES)
def test_points_are_inside_weights_positive_and_orbits_contiguous(degree):
    rule = triangle_rule(degree)
    assert rule.number_of_points == POINTS[degree - 1]
    assert rule.points.shape == (rule.number_of_points, 2)
    assert rule.barycentric.min() > 0 and rule.weights.min() > 0
    assert abs(rule.weights.sum() - 0.5) < 1e-15
    orbits = np.sort(rule.barycentric, axis=1)
    changes = np.count_nonzero(np.abs(np.diff(orbits, axis=0)).max(axis=1) > 1e-12)
    assert changes + 1 == len({tuple(np.round(row, 10)) for row in orbits})


@pytest.mark.parametrize("degree", DEGREES)
def test_rule_does_not_know_the_numbering_of_vertices(degree):
    rule = triangle_rule(degree)
    known = {tuple(np.round(row, 12)) for row in rule.barycentric}
    for order in ([1, 2, 0], [1, 0, 2]):
        assert {tuple(np.round(row, 12)) for row in rule.barycentric[:, order]} == known


def test_the_four_degree_rule_is_two_orbits_of_three():
    weights = triangle_rule(4).weights
    assert np.all(weights[:3] == weights[0]) and np.all(weights[3:] == weights[3]) and weights[0] != weights[3]


def test_rules_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        triangle_rule(2).weights[0] = 0


@pytest.mark.parametrize("degree", [0, -1, 21])
def test_unknown_degree_says_what_is_allowed(degree):
    with pytest.raises(ValueError, match="choose 1 to 20"):
        triangle_rule(degree)


def test_fractional_degree_is_refused():
    with pytest.raises(TypeError, match="integer"):
        triangle_rule(2.5)


@pytest.mark.parametrize("number", [1, 2, 5, 12, 40])
def test_gauss_rule_is_exact_to_twice_its_points(number):
    rule = gauss(number)
    for power in range(2 * number):
        assert abs(np.sum(rule.weights * rule.points**power) - 1 / (power + 1)) < 4e-15
    error = abs(np.sum(rule.weights * (rule.points - 0.5) ** (2 * number)) - 0.25**number / (2 * number + 1))
    assert number > 5 or error > 0.1 * 8.0 ** (-2 * number)


def test_gauss_rule_needs_a_point():
    with pytest.raises(ValueError, match="at least 1"):
        gauss(0)
    with pytest.raises(TypeError, match="integer"):
        gauss(1.5)
