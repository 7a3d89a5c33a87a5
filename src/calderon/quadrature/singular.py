"""Quadrature on pairs of triangles, for integrands singular like 1/|x - y| where the triangles touch.

Sauter and Schwab, Boundary Element Methods (2011), section 5.2: each pair of reference triangles is cut into regions
and each region mapped from the unit cube (xi, eta1, eta2, eta3) so that the Jacobian cancels the singularity. The
distance x - y is then a product of "radial" coordinates and a function of the remaining "angular" ones; the integrand
is a polynomial in the radial coordinates (for Laplace) and merely smooth in the angular ones. The two kinds get their
own number of Gauss points, which for the same accuracy needs a fraction of the isotropic rule.

`condensed_rule` goes further. Along a fibre, the points of one angular coordinate, x - y = rho D with rho the product
of the radial coordinates, so rho^m k(rho D) for a kernel singular like 1/|x - y|^m is a constant for Laplace and an
entire function of rho for a wave. It is interpolated in rho, and the radial integrals of the interpolation with any
shape functions are numbers that depend on nothing else: the kernel is evaluated at one or a few points of a fibre,
those of the Gauss rule for the measure that the radial integrals have in rho.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from calderon.quadrature.segment import gauss
from calderon.quadrature.triangle import triangle_rule

Array = NDArray[np.float64]
Side = tuple[Array, Array]
"""Points (n, 2) and weights (n,) on one triangle."""
TEST, TRIAL, RATIO = 0, 1, 2
"""Angular coordinates of a common vertex: along the opposite edge of the test and of the trial triangle, and the
ratio of the distances from the vertex."""
ROLES = {3: ((0,),) * 6, 2: ((0, 1),) * 5, 1: ((TEST, RATIO, TRIAL), (TRIAL, RATIO, TEST))}
"""By number of shared vertices and region: which angular coordinate the arguments of the region after the radial ones
are."""
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


_REGIONS: dict[int, Callable[..., list[tuple[Array, ...]]]] = {3: _coincident, 2: _common_edge, 1: _common_vertex}
SYMMETRIC = ((3, 6), (4, 8), (6, 12), (10, 20))
"""(n, degree): the symmetric rule of this degree is as accurate as n Gauss points along every direction."""


def _split(part: tuple[Array, ...], shape: tuple[int, ...]) -> tuple[Array, Array, Array]:
    """Test and trial points (..., 2) and Jacobian of a region: Sauter and Schwab's triangle is 0 < x2 < x1 < 1 with
    vertices A, A + (B-A), B + (C-B), so u = x1 - x2, v = x2."""
    x1, x2, y1, y2, jacobian = part
    test, trial = np.empty((*shape, 2)), np.empty((*shape, 2))
    test[..., 0], test[..., 1] = x1 - x2, x2
    trial[..., 0], trial[..., 1] = y1 - y2, y2
    return test, trial, jacobian


def touching_rule(shared_vertices: int, radial: int, angular: int) -> PairRule:
    """The rule for triangles that share 3, 2 or 1 vertices, which come first and in the same order in both.

    radial, angular: Gauss points in the directions of either kind (see the module).
    """
    if shared_vertices not in (1, 2, 3):
        raise ValueError(f"touching triangles share 1, 2 or 3 vertices, got {shared_vertices}")
    regions = _REGIONS[shared_vertices]
    kinds = {3: (radial, radial, radial, angular), 2: (radial, radial, angular, angular)}
    counts = kinds.get(shared_vertices, (radial, angular, angular, angular))
    rules = [gauss(count) for count in counts]
    grids = [grid.ravel() for grid in np.meshgrid(*(rule.points for rule in rules), indexing="ij")]
    weights = functools.reduce(np.multiply.outer, [rule.weights for rule in rules]).ravel()
    parts = [_split(part, weights.shape) for part in regions(*grids)]
    test, trial, jacobians = zip(*parts, strict=True)
    return PairRule(np.concatenate(test), np.concatenate(trial), np.concatenate([each * weights for each in jacobians]))


@dataclass(frozen=True, eq=False)
class CondensedRule:
    """Quadrature over two reference triangles with few evaluations of the kernel.

    The kernel is evaluated at points j of fibres f, test_points, trial_points (F J, 2), and the shape functions at
    test_fibres, trial_fibres (F, R, 2): int int k phi psi = sum_fj k(test_points_fj, trial_points_fj) sum_R
    weights_fjR phi(test_fibres_fR) psi(trial_fibres_fR).
    """

    test_points: Array
    trial_points: Array
    test_fibres: Array
    trial_fibres: Array
    weights: Array


@functools.lru_cache(maxsize=256)
def fibre_places(shared_vertices: int, number: int, power: int) -> Array:
    """(number,) places of rho where a kernel singular like 1/|x - y|^power is evaluated on a fibre; 1 for one place.

    The radial integrals of rho^-power times the Jacobian have the density rho^(3-power) in rho for a common vertex,
    (1 - rho) rho^(2-power) for an edge, (1 - rho)^2 rho^(1-power) for coincident triangles (without that power where it
    is negative). At the Gauss points of that weight polynomials of degree 2 number - 1 - d are integrated exactly with
    products of shape functions of degree d, where any points interpolate those of degree number - 1.
    """
    if number == 1:
        return np.ones(1)
    points, _ = scipy.special.roots_jacobi(number, shared_vertices - 1, max(0, 4 - shared_vertices - power))
    places = np.asarray((points + 1) / 2)
    places.flags.writeable = False
    return places


@functools.lru_cache(maxsize=64)
def _along_fibres(shared_vertices: int, nodes: int, power: int, degree: int) -> tuple[Array, Array, Array]:
    """The part of `condensed_rule` that all numbers of angular points share: the places (J,) on a fibre, the radial
    coordinates (shared vertices, R) of the points where shape functions are evaluated, and their weights (J, R):
    with rho, the product of the radial coordinates, w_R (places_j / rho_R)^power times the polynomial that is 1 at
    place j and 0 at the others."""
    exact = gauss((degree + 3 + nodes) // 2 + 1)
    radii = np.stack([grid.ravel() for grid in np.meshgrid(*[exact.points] * shared_vertices, indexing="ij")])
    weights = functools.reduce(np.multiply.outer, [exact.weights] * shared_vertices).ravel()
    rho = np.prod(radii, axis=0)
    places = fibre_places(shared_vertices, nodes, power)
    others = places[:, None] - places + np.eye(nodes)
    ratio = (rho[:, None, None] - places) / others  # of node j (second axis) by place (third)
    lagrange = np.where(np.eye(nodes, dtype=bool), 1.0, ratio).prod(axis=2) * (places / rho[:, None]) ** power
    return places, radii, np.ascontiguousarray(lagrange.T) * weights


def condensed_rule(
    shared_vertices: int, angular: tuple[int, ...], nodes: int, power: int, degree: int
) -> CondensedRule:
    """The rule for triangles that share 3, 2 or 1 vertices, which come first and in the same order in both.

    angular: Gauss points along each angular coordinate, 1, 2 or 3 of them (for a vertex: TEST, TRIAL, RATIO). nodes:
    points on a fibre, 1 for homogeneous kernels like Laplace's. power: the kernel is singular like 1/|x - y|^power, 1
    or 2. degree: of the products of shape functions, integrated exactly.
    """
    region, radial = _REGIONS[shared_vertices], shared_vertices
    places, radii, radial_weights = _along_fibres(shared_vertices, nodes, power, degree)
    first = [places[None], *[np.ones((1, 1))] * (radial - 1)]
    mapped: dict[tuple[int, ...], Any] = {}
    parts: list[list[Array]] = [[], [], [], [], []]
    for number, roles in enumerate(ROLES[shared_vertices]):
        if roles not in mapped:  # of all regions
            rules = [gauss(angular[role]) for role in roles]
            grids = [grid.ravel() for grid in np.meshgrid(*(rule.points for rule in rules), indexing="ij")]
            weights = functools.reduce(np.multiply.outer, [rule.weights for rule in rules]).ravel()
            columns = [grid[:, None] for grid in grids]
            mapped[roles] = weights, region(*first, *columns), region(*(each[None] for each in radii), *columns)
        # places on fibres where the kernel is evaluated, and points where shape functions are
        weights, on_fibres, inside = mapped[roles]
        at = _split(on_fibres[number], (weights.size, nodes))
        fibre = _split(inside[number], (weights.size, radii.shape[1]))
        parts[0].append(at[0].reshape(-1, 2))
        parts[1].append(at[1].reshape(-1, 2))
        parts[2].append(fibre[0])
        parts[3].append(fibre[1])
        parts[4].append((weights[:, None] * fibre[2])[:, None, :] * radial_weights)
    return CondensedRule(*map(np.concatenate, parts))


def angular_maps(shared_vertices: int) -> list[Callable[..., tuple[Array, ...]]]:
    """By region, the map from the angular coordinates to u1, u2, v1, v2 of x and y at radial coordinates 1."""

    def of(number: int) -> Callable[..., tuple[Array, ...]]:
        def mapping(*angular: Array) -> tuple[Array, ...]:
            ones = [np.ones_like(angular[0])] * shared_vertices
            part = _REGIONS[shared_vertices](*ones, *angular)[number]
            test, trial, _ = _split(part, angular[0].shape)
            return (*test.T, *trial.T)

        return mapping

    return [of(number) for number in range(len(ROLES[shared_vertices]))]


@functools.lru_cache(maxsize=256)
def side_rule(along: int, across: int) -> Side:
    """Points (n, 2) and weights (n,) on one triangle with this many Gauss points from the first vertex to the opposite
    edge (along) and parallel to that edge (across): x = (s (1 - t), s t). Where a symmetric rule of the larger number
    has fewer points, that rule is returned."""
    most = max(along, across)
    degree = next((each for count, each in SYMMETRIC if count >= most), None)
    if degree is not None and triangle_rule(degree).number_of_points <= along * across:
        return triangle_rule(degree).points, triangle_rule(degree).weights
    one, two = gauss(along), gauss(across)
    s, t = np.repeat(one.points, across), np.tile(two.points, along)
    return np.stack([s * (1 - t), s * t], axis=1), s * np.outer(one.weights, two.weights).ravel()


def points_on_side(given: int | tuple[int, int]) -> Side:
    """Points and weights on one triangle: of a symmetric rule of that degree or of `side_rule`."""
    if isinstance(given, tuple):
        return side_rule(*given)
    rule = triangle_rule(given)
    return rule.points, rule.weights
