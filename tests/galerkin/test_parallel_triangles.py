"""Integrals over triangles in parallel planes: rules far apart, a formula at a point, and the limit of a capacitor."""

import numpy as np
import pytest
from wilton import uniform_triangle_potential

from calderon.backends.numba import kernel
from calderon.galerkin.layered.parallel_triangles import panel_rules, put_edges, put_moments
from calderon.quadrature import triangle_rule

T = np.array([[0, 0], [1.0, 0], [0.2, 0.9]])
OTHERS = {
    "same": T,
    "edge": np.array([[1.0, 0], [0, 0], [0.5, -0.7]]),
    "vertex": np.array([[1.0, 0], [1.7, 0.3], [1.2, 1.0]]),
    "overlap": np.array([[0.1, 0.3], [0.9, 0.2], [0.6, 1.1]]),
    "inside": np.array([[0.3, 0.2], [0.5, 0.2], [0.4, 0.4]]),
    "line": np.array([[1.0, 0], [2.0, 0], [1.3, -0.6]]),
}


@kernel
def run(one, two, away, s, rule, out):
    first, second, places = np.empty((3, 7)), np.empty((3, 7)), np.empty((4, 2))
    put_edges(first, one, 0)
    put_edges(second, two, 0)
    put_moments(out, first, second, away[0], away[1], s, places, rule)


def moments(one, two, s):
    """(2, 6) of 1 / R and R."""
    c, d, out = one.mean(axis=0), two.mean(axis=0), np.empty(22)
    run((one - c).ravel(), (two - d).ravel(), c - d, s, panel_rules(), out)
    return out[:12].reshape(2, 6)


def area(triangle):
    (a, b), (c, d) = triangle[1:] - triangle[0]
    return abs(a * d - b * c) / 2


@pytest.mark.parametrize("name", OTHERS)
def test_rules_far_apart(name):
    other, rule, s = OTHERS[name], triangle_rule(20), 0.9
    x, y = rule.barycentric @ T, rule.barycentric @ other
    r = np.sqrt(((x[:, None] - y) ** 2).sum(axis=2) + s**2)
    xi, eta = x - T.mean(axis=0), y - other.mean(axis=0)
    weights = 4 * area(T) * area(other) * np.outer(rule.weights, rule.weights)
    expected = []
    for each in (weights / r, weights * r):
        both = np.einsum("pq,pc,qc", each, xi, eta)
        expected.append([each.sum(), *(each.sum(axis=1) @ xi), *(each.sum(axis=0) @ eta), both])
    expected = np.array(expected)
    assert np.abs(moments(T, other, s) - expected).max() < 1e-11 * expected.max()


@pytest.mark.parametrize("s", [0.3, 3e-2, 1e-3, 1e-5])
def test_the_potential_of_a_triangle_over_its_own_points(s):
    """A small triangle sees the potential of the other one at its centroid, up to the square of its size."""
    size = 1e-3 * min(1.0, s / 1e-3) if s > 1e-4 else 1e-5
    small = np.array([0.4, 0.3]) + size * np.array([[0, 0], [1, 0], [0.3, 0.8]])
    corners, place = np.column_stack([T, np.zeros(3)]), np.append(small.mean(axis=0), s)
    found = moments(T, small, s)[0, 0] / area(small)
    assert abs(found / uniform_triangle_potential(corners, place[None])[0] - 1) < 1e-5


@pytest.mark.parametrize("name", ["same", "edge", "overlap", "inside"])
def test_a_source_and_its_image_are_a_plate_capacitor(name):
    """int int (1 / R(s) - 1 / R(2 s)) -> 2 pi s times the common area, as s -> 0."""
    common = {"same": area(T), "edge": 0.0, "inside": area(OTHERS["inside"])}
    values = []
    for s in (1e-3, 1e-4, 1e-5):
        one, two = (moments(T, OTHERS[name], n * s)[0, 0] for n in (1, 2))
        values.append((one - two) / (2 * np.pi * s))
    if name in common:
        errors = np.abs(np.array(values) - common[name])
        assert errors[0] < 2e-2 and errors[1] < 0.2 * errors[0] and errors[2] < 1e-4 + 0.2 * errors[1]
    else:
        assert abs(values[2] - values[1]) < 0.2 * abs(values[1] - values[0]) + 1e-5


@pytest.mark.parametrize("name", OTHERS)
def test_both_orders_and_both_senses(name):
    for s in (0.0, 1e-4, 0.1) if name not in ("overlap", "inside", "same") else (1e-4, 0.1):
        here, there = moments(T, OTHERS[name], s), moments(OTHERS[name], T, s)
        turned = moments(T[::-1].copy(), OTHERS[name], s)
        exchanged = there[:, [0, 3, 4, 1, 2, 5]]
        assert np.abs(here - exchanged).max() < 1e-7 * here[0, 0]
        assert np.abs(here - turned).max() < 1e-7 * here[0, 0]
