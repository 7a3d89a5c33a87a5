"""Quadrature on pairs of triangles, for integrands singular like 1/|x - y| where the triangles touch.

Sauter and Schwab, Boundary Element Methods (2011), section 5.2: each pair of reference triangles is cut into regions
and each region mapped from the unit cube (xi, eta1, eta2, eta3) so that the Jacobian cancels the singularity. The
distance x - y is then a product of "radial" coordinates and a function of the remaining "angular" ones: the integrand
is a polynomial in the radial coordinates (for Laplace) and merely smooth in the angular ones. The two kinds get their
own number of Gauss points, which for the same accuracy needs a fraction of the isotropic rule.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calderon.quadrature.segment import gauss
from calderon.quadrature.triangle import triangle_rule

Array = NDArray[np.float64]
Region = Callable[[Array, Array, Array, Array], tuple[Array, Array, Array, Array, Array]]


@dataclass(frozen=True, eq=False)
class PairRule:
    """Quadrature over two reference triangles: test points (n, 2), trial points (n, 2), weights (n,) with sum 1/4."""

    test_points: Array
    trial_points: Array
    weights: Array


def _coincident(s: Array, a: Array, b: Array, c: Array) -> list[tuple[Array, ...]]:
    jacobian = s**3 * a**2 * b
    p, q = (s, s * (1 - a + a * b)), (s * (1 - a * b * c), s * (1 - a))
    r, t = (s, s * a * (1 - b + b * c)), (s * (1 - a * b), s * a * (1 - b))
    u, v = (s * (1 - a * b * c), s * a * (1 - b * c)), (s, s * a * (1 - b))
    return [(*x, *y, jacobian) for x, y in ((p, q), (q, p), (r, t), (t, r), (u, v), (v, u))]


def _common_edge(s: Array, a: Array, b: Array, c: Array) -> list[tuple[Array, ...]]:
    first, others = s**3 * a**2, s**3 * a**2 * b
    inner = (s * (1 - a * b * c), s * a * b * (1 - c))
    return [
        (s, s * a * c, s * (1 - a * b), s * a * (1 - b), first),
        (s, s * a, *inner, others),
        (s * (1 - a * b), s * a * (1 - b), s, s * a * b * c, others),
        (*inner, s, s * a, others),
        (s * (1 - a * b * c), s * a * (1 - b * c), s, s * a * b, others),
    ]


def _common_vertex(s: Array, a: Array, b: Array, c: Array) -> list[tuple[Array, ...]]:
    jacobian = s**3 * b
    near, far = (s, s * a), (s * b, s * b * c)
    return [(*near, *far, jacobian), (*far, *near, jacobian)]


@functools.lru_cache(maxsize=64)
def touching_rule(shared_vertices: int, radial: int, angular: int) -> PairRule:
    """The rule for triangles that share 3, 2 or 1 vertices, which come first and in the same order in both.

    radial, angular: Gauss points in the directions of either kind (see the module).
    """
    if shared_vertices not in (1, 2, 3):
        raise ValueError(f"touching triangles share 1, 2 or 3 vertices, got {shared_vertices}")
    regions = {3: _coincident, 2: _common_edge, 1: _common_vertex}[shared_vertices]
    kinds = {3: (radial, radial, radial, angular), 2: (radial, radial, angular, angular)}
    counts = kinds.get(shared_vertices, (radial, angular, angular, angular))
    rules = [gauss(count) for count in counts]
    grids = [grid.ravel() for grid in np.meshgrid(*(rule.points for rule in rules), indexing="ij")]
    weights = functools.reduce(np.multiply.outer, [rule.weights for rule in rules]).ravel()
    parts = regions(*grids)
    x1, x2, y1, y2, w = (np.concatenate([part[i] * np.ones_like(weights) for part in parts]) for i in range(5))
    # Sauter and Schwab's triangle is 0 < x2 < x1 < 1 with vertices A, A + (B-A), B + (C-B): u = x1 - x2, v = x2
    test, trial = np.stack([x1 - x2, x2], axis=1), np.stack([y1 - y2, y2], axis=1)
    return PairRule(test, trial, w * np.tile(weights, len(parts)))


@functools.lru_cache(maxsize=64)
def product_rule(degree: int) -> PairRule:
    """Every point of the symmetric rule of that degree with every other: for pairs that are near but do not touch."""
    rule = triangle_rule(degree)
    n = rule.number_of_points
    weights = np.outer(rule.weights, rule.weights).ravel()
    return PairRule(np.repeat(rule.points, n, axis=0), np.tile(rule.points, (n, 1)), weights)
