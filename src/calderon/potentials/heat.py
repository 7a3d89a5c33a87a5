"""The temperature inside a solid, and what it expands to, from temperature and its slope on the surface.

For a harmonic temperature T with the normal derivative q on the surface, d = y - x, r = |d| and the height h = d.n,

    T = 1/(4 pi) int q / r + T h / r^3 dS,   w = -1/(8 pi) int q d / r + T (d h / r^3 - n / r) dS,   div w = T inside.

These are four harmonic potentials: with S of charges and D of dipoles along the normal, each with the factor
1 / (4 pi),

    T = S(q) - D(T),   w = (x T - S(q y) + S(T n) + D(T y)) / 2.

Triangles that are near a point in terms of their size are cut into four, again and again. For many points, the sums
over the points of one rule on all triangles are those of the fast multipole method; near triangles are then replaced.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.backends import Execution, run_tasks
from calderon.backends.numba import jitable_part, kernel
from calderon.backends.vectors import aligned, jitable, lanes, load, number, store, where_less, width, zero
from calderon.greens import Laplace
from calderon.greens.elementary import inverse_square_root
from calderon.potentials.near_evaluation import near_pairs
from calderon.potentials.summation import fast_sums
from calderon.quadrature import triangle_rule
from calderon.spaces import Function
from calderon.validation import one_or_more_points

Array = NDArray[np.float64]
Index = NDArray[np.int64]
FEW = 2e7
"""Pairs of points and triangles that are integrated one by one: about a second."""


class Limits(NamedTuple):
    """Rules of triangles by their distance, and sizes of tasks."""

    rtol: float = 1.25e-6
    """Tolerance of fast sums. Layers of dipoles have a fifth of it with the first order that promises it, and pass its
    check."""
    degrees: tuple[Any, ...] = (3, 6)
    """Degrees of the coarse and the fine rule; fast sums are by the fine one."""
    far: float = 3.0
    near: float = 1.0
    least: float = 1e-2
    """The distance of a point from the centroid of a part, over its longest edge, from which on the coarse and the fine
    rule serve, and the least size of parts relative to the triangle, as the integrands are as singular as 1 / r at
    most."""
    points: int = 32
    pairs: int = 4096
    """Points of a task, and pairs."""
    ball: float = 0.6
    """Sizes of a triangle that `near_pairs` adds to its reach, from the centroid."""
    none: float = 1e-36
    """Squared distance below which a point of a rule is left out, as the one that it coincides with."""


LIMITS = Limits()
CUTS, ROW = 8, 13
"""How often a triangle is cut at most; numbers of a part: its corners from the point (9), temperatures there (3), and
its size relative to the triangle."""
SUMS = 13
"""Numbers at a point: T, w (3), and its derivatives (9)."""


def heat_potentials(
    temperature: Function, gradient: Function, points: ArrayLike, few: float = FEW
) -> tuple[Array, Array, Array]:
    """T (n,), w (n, 3), and dw_i / dx_j (n, 3, 3) at points (n, 3), of which w also on the surface; temperature: linear
    on triangles; gradient: its normal gradient q, constant on them. few: pairs that are integrated one by one."""
    out = _sums(temperature, gradient, points, True, few)
    return out[:, 0], out[:, 1:4], out[:, 4:].reshape(-1, 3, 3)


def heat_displacements(temperature: Function, gradient: Function, points: ArrayLike, few: float = FEW) -> Array:
    """w (n, 3) alone, inside or on the surface."""
    return _sums(temperature, gradient, points, False, few)[:, 1:]


def _sums(temperature: Function, gradient: Function, points: ArrayLike, whole: bool, few: float) -> Array:
    """(n, 4), or (n, 13) for all."""
    x, mesh = one_or_more_points(points), temperature.space.mesh
    nodes = temperature.values(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    slopes = gradient.values(np.full((1, 2), 1 / 3))[:, 0]
    data = mesh.vertices[mesh.triangles].reshape(-1, 9), mesh.normals, nodes, slopes, mesh.diameters, *_rules()
    every = mesh.number_of_triangles
    # many pairs: fast sums by one rule, and corrections of the near ones; few: all pairs, some points at a time
    if len(x) * every > few:
        out = _by_one_rule(mesh, nodes, slopes, x, whole)
        flat = mesh.flat_triangles(np.arange(every), "the heat in a solid")
        for found in near_pairs(flat, x, LIMITS.near - LIMITS.ball):
            near = found[np.argsort(found[:, 0], kind="stable")]
            cuts = np.append(np.searchsorted(near[:, 0], near[:: LIMITS.pairs, 0]), len(near))  # a point is of one task
            _run([near[low:high] for low, high in zip(cuts[:-1], cuts[1:], strict=True)], x, data, whole, True, out)
        return out
    out = np.zeros((len(x), 13 if whole else 4))
    for low in range(0, len(x), LIMITS.points * LIMITS.points):
        starts = range(low, min(low + LIMITS.points * LIMITS.points, len(x)), LIMITS.points)
        parts = [np.arange(n, min(n + LIMITS.points, len(x))) for n in starts]
        pairs = [np.stack([np.repeat(each, every), np.tile(np.arange(every), len(each))], axis=1) for each in parts]
        _run(pairs, x, data, whole, False, out)
    return out


def _run(pairs: list[Index], x: Array, data: tuple[Any, ...], whole: bool, corrects: bool, out: Array) -> None:
    def work(task: int) -> None:
        room = aligned(SUMS * width(np.float64), np.float64)
        _integrate(pairs[task], x, *data, whole, corrects, room, out)

    run_tasks(work, len(pairs))


def _rules() -> tuple[Array, Index]:
    """Both rules as rows of barycentric coordinates and weights, with zero weights up to whole vectors; and where each
    begins, and the end."""
    rules, step, parts = [triangle_rule(degree) for degree in LIMITS.degrees], width(np.float64), []
    for rule in rules:
        count = -(-len(rule.weights) // step) * step
        part = np.zeros((4, count))
        part[:3] = rule.barycentric[np.minimum(np.arange(count), len(rule.weights) - 1)].T
        part[3, : len(rule.weights)] = rule.weights
        parts.append(part)
    table = aligned(4 * sum(part.shape[1] for part in parts), np.float64)
    table[:] = np.concatenate(parts, axis=1).ravel()
    return table, np.cumsum([0, *(part.shape[1] for part in parts)])


def _by_one_rule(mesh: Any, nodes: Array, slopes: Array, x: Array, whole: bool) -> Array:
    """The sums over the points of the fine rule on all triangles."""
    rule = triangle_rule(LIMITS.degrees[1])
    centre = mesh.bounds.mean(axis=0)
    y = np.einsum("qk,mkc->mqc", rule.barycentric, mesh.vertices[mesh.triangles] - centre).reshape(-1, 3)
    weights, n = 2 * mesh.areas[:, None] * rule.weights, np.repeat(mesh.normals, len(rule.weights), axis=0)
    t, q = (nodes @ rule.barycentric.T * weights).ravel(), (slopes[:, None] * weights).ravel()
    heights, at = np.column_stack([y, np.ones(len(y))]), x - centre
    charges, dipoles = q[:, None] * heights, -(t[:, None] * heights)[:, :, None] * n[:, None]
    charges[:, :3] -= t[:, None] * n
    sums: Any = fast_sums("fmm", Laplace(), Execution.of("numba", "double"), np.inf, LIMITS.rtol)
    values = sums(y, charges, dipoles, 0.0, targets=at, gradient=False)[:, :, 0].real
    out = np.column_stack([values[:, 3], 0.5 * (at * values[:, 3:] - values[:, :3])])
    if not whole:
        return out
    steps = sums(y, charges, dipoles, 0.0, targets=at, gradient=True).real
    dw = at[:, :, None] * steps[:, 3:] - steps[:, :3] + values[:, 3, None, None] * np.eye(3)
    return np.concatenate([out, 0.5 * dw.reshape(-1, 9)], axis=1)


@kernel
def _integrate(pairs, x, corners, normals, nodes, slopes, sizes, rules, starts, whole, corrects, room, out):
    """Add the integrals of pairs (k, 2) of point and triangle, in the order of points, to out (n, 4 or 13); corrects:
    of near ones alone, less those by the fine rule on the whole triangle.

    x (n, 3): points; corners (m, 9), normals (m, 3), sizes (m,): of triangles; nodes (m, 3), slopes (m,): temperatures
    at their corners, normal derivatives; rules, starts: of `_rules`; whole: with derivatives; room: SUMS vectors.
    """
    stack, part, third, step = np.empty((4 * CUTS, ROW)), np.empty(ROW + 5), 1.0 / 3.0, lanes(room)
    for k in range(SUMS):
        store(room, k * step, zero(room))
    for pair in range(pairs.shape[0]):
        p, m = pairs[pair, 0], pairs[pair, 1]
        # the triangle seen from the point
        for c in range(9):
            stack[0, c] = corners[m, c] - x[p, c % 3]
        stack[0, 9], stack[0, 10], stack[0, 11], stack[0, 12] = nodes[m, 0], nodes[m, 1], nodes[m, 2], 1.0
        # its plane gives the height, and twice its area
        n, a, b = normals[m], stack[0, 3:6] - stack[0, :3], stack[0, 6:9] - stack[0, :3]
        part[13] = n[0] * stack[0, 0] + n[1] * stack[0, 1] + n[2] * stack[0, 2]
        part[14], part[15], part[16], part[17] = slopes[m], n[0], n[1], n[2]
        area = n[0] * (a[1] * b[2] - a[2] * b[1]) + n[1] * (a[2] * b[0] - a[0] * b[2])
        area = (area + n[2] * (a[0] * b[1] - a[1] * b[0])) / (8 * np.pi)
        # parts that are close in relation to their size are cut, others are summed by a rule
        count = 1
        while count > 0:
            count -= 1
            for k in range(ROW):
                part[k] = stack[count, k]
            share = part[12]
            square = 0.0
            for c in range(3):
                square += (third * (part[c] + part[3 + c] + part[6 + c])) ** 2
            ratio = np.sqrt(square) / (share * sizes[m])
            if corrects and share == 1.0:
                if ratio >= LIMITS.near:
                    continue
                _add_part(room, rules, starts[2], starts[1], starts[2], part, -area, whole)
            if ratio < LIMITS.near and share > LIMITS.least:
                cut_in_four(part, stack, count)
                count += 4
            elif ratio > LIMITS.far:
                _add_part(room, rules, starts[2], starts[0], starts[1], part, area * share * share, whole)
            else:
                _add_part(room, rules, starts[2], starts[1], starts[2], part, area * share * share, whole)
        # the last pair of a point: add up the lanes
        if pair + 1 == pairs.shape[0] or pairs[pair + 1, 0] != p:
            for k in range(out.shape[1]):
                for lane in range(step):
                    out[p, k] += room[k * step + lane]
                store(room, k * step, zero(room))


@jitable_part
def cut_in_four(part, stack, count):
    """Put the four parts of a triangle onto the stack (parts, row) from `count` on: those at its corners, and the one
    between the middles of its edges. part: three coordinates of each corner, perhaps one more number of each, and the
    size."""
    last = stack.shape[1] - 1
    for child in range(4):
        here = stack[count + child]
        for k in range(3):
            one, two = (k, child) if child < 3 else ((k + 1) % 3, (k + 2) % 3)
            for c in range(3):
                here[3 * k + c] = 0.5 * (part[3 * one + c] + part[3 * two + c])
            if last > 9:
                here[9 + k] = 0.5 * (part[9 + one] + part[9 + two])
        here[last] = 0.5 * part[last]


@jitable
def _add_part(s, rules, pitch, first, last, part, factor, whole):
    """Add to the SUMS vectors s the sums of a part over the points first .. last of a rule; factor: twice its area over
    8 pi.

    rules: of `_rules`, whose rows are `pitch` apart; part (ROW + 5,): a part, then height, slope and normal; whole:
    with derivatives.
    """
    p0, p1, p2, p3, p4 = number(part, 0), number(part, 1), number(part, 2), number(part, 3), number(part, 4)
    p5, p6, p7, p8 = number(part, 5), number(part, 6), number(part, 7), number(part, 8)
    t0, t1, t2 = number(part, 9) * factor, number(part, 10) * factor, number(part, 11) * factor
    h, q, n0, n1, n2 = number(part, 13), number(part, 14) * factor, number(part, 15), number(part, 16), number(part, 17)
    for k in range(first, last, lanes(s)):
        # a vector of points of the rule, the offset d of each from the point of the field
        b0, b1, b2 = load(rules, k), load(rules, k + pitch), load(rules, k + 2 * pitch)
        weight = load(rules, k + 3 * pitch)
        d0, d1, d2 = b0 * p0 + b1 * p3 + b2 * p6, b0 * p1 + b1 * p4 + b2 * p7, b0 * p2 + b1 * p5 + b2 * p8
        square = d0 * d0 + d1 * d1 + d2 * d2
        inverse = where_less(LIMITS.none, square, inverse_square_root(square), zero(s))
        # q / r, T / r and T h / r^3
        single, layer = weight * inverse * q, weight * inverse * (b0 * t0 + b1 * t1 + b2 * t2)
        over = inverse * inverse
        double = layer * over * h
        both = single + double
        _add(s, 0, both * 2.0)
        _add(s, 1, layer * n0 - both * d0)
        _add(s, 2, layer * n1 - both * d1)
        _add(s, 3, layer * n2 - both * d2)
        if whole:
            # div w is half of T; T (n d + d n) / r^3 - d d (q / r^3 + 3 T h / r^5)
            jump, twice = layer * over, (single + double * 3.0) * over
            j0, j1, j2 = jump * d0, jump * d1, jump * d2
            m0, m1, m2 = twice * d0, twice * d1, twice * d2
            _add(s, 4, both + j0 * (2.0 * n0) - m0 * d0)
            _add(s, 8, both + j1 * (2.0 * n1) - m1 * d1)
            _add(s, 12, both + j2 * (2.0 * n2) - m2 * d2)
            x, y, z = j1 * n0 + j0 * n1 - m0 * d1, j2 * n0 + j0 * n2 - m0 * d2, j2 * n1 + j1 * n2 - m1 * d2
            _add(s, 5, x)
            _add(s, 7, x)
            _add(s, 6, y)
            _add(s, 10, y)
            _add(s, 9, z)
            _add(s, 11, z)


@jitable
def _add(s, k, value):
    """Add a value to vector k of s."""
    place = k * lanes(s)
    store(s, place, load(s, place) + value)
