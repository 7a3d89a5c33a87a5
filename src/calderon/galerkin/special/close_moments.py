"""Moments of pairs of triangles that are much closer to each other than their size."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.galerkin.special.close_kernel import close_kernel, close_scratch, graded_lines
from calderon.greens import Radial
from calderon.integrands import Components
from calderon.mesh.geometry import FlatTriangles
from calderon.pairs.close import ClosePairs, ClosePieces, close_pieces
from calderon.pairs.near import restriction
from calderon.pairs.tables import CHUNK, SideTable
from calderon.quadrature import triangle_rule
from calderon.quadrature.graded import corner_rule
from calderon.spaces.element import Element


class GradedRules(NamedTuple):
    """Points of graded rules, and how many pairs are integrated at a time."""

    share: int = 256
    """Pairs that are cut and integrated at a time."""
    away: dict[int, Any] = {1: (7, 0.6), 2: (7, 0.8)}
    along: dict[int, Any] = {1: (5, 0.5), 2: (6, 0.6)}
    inner: dict[int, Any] = {1: (5, 0.6), 2: (7, 0.9)}
    """By the power of the kernel, singular like 1/|x - y|^power: points of a graded rule, and more for each level, on
    the outer triangle away from a side and along it, and on lines of the inner one; for 1e-6 of the largest entry."""
    higher: int = 2
    """More points for each degree of the local functions above 2."""
    radians: float = 0.4
    """Points for each radian along a line of the outer or the inner triangle."""


RULES = GradedRules()


class Integral(NamedTuple):
    """The integrand: the radial part of a Green's function, components, whether they are complex, and the
    parameters of the radial part."""

    radial: Radial
    components: Components
    oscillates: bool
    parameters: NDArray[np.float64]


def close_moments(
    settings: ClosePairs,
    integral: Integral,
    test: FlatTriangles,
    trial: FlatTriangles,
    pairs: NDArray[np.int32],
    elements: tuple[Element, Element],
) -> NDArray[np.float64]:
    """(components, 2, n, A, B) real and imaginary parts of int int k phi_a psi_b over the pairs (n, 2) of triangles of
    both surfaces, local functions of both elements numbered as the triangles' vertices are.

    settings: which triangle is the outer one, and how accurate rules are.
    """
    settings = settings._replace(more=settings.more + RULES.higher * max(0, max(each.degree for each in elements) - 2))
    sides, numbers, wanted = (test, trial), pairs.T, integral.components
    if settings.exchanged:
        sides, numbers, elements = (trial, test), numbers[::-1], elements[::-1]
        wanted = tuple(each.exchanged() for each in wanted)
    chosen = integral._replace(components=tuple(sorted(wanted)))  # one kernel for both orders of sides
    out = np.empty((len(wanted), 2, len(pairs), elements[0].size, elements[1].size))
    for low in range(0, len(pairs), RULES.share):
        part = slice(low, low + RULES.share)
        out[:, :, part] = _share(settings, chosen, sides, numbers[:, part], elements)
    order = [chosen.components.index(each) for each in wanted]
    if order != sorted(order):
        out = out[order]
    if not settings.exchanged:
        return out
    for component, moments in zip(wanted, out, strict=True):
        if component.degree % 2:  # d changes its sign
            np.negative(moments, moments)
    return np.ascontiguousarray(out.swapaxes(3, 4))


def _share(
    settings: ClosePairs,
    integral: Integral,
    sides: tuple[FlatTriangles, FlatTriangles],
    numbers: NDArray[np.int32],
    elements: tuple[Element, Element],
) -> NDArray[np.float64]:
    """Moments (components, 2, n, A, B) of the pairs of triangles numbers (2, n), where sides, numbers and elements are
    those of the outer side first; of components the outer triangle is the test triangle."""
    pieces = close_pieces(*(side.corners[each] for side, each in zip(sides, numbers, strict=True)))
    outer = sides[0].parts(numbers[0][pieces.parent], pieces.outer)
    corners = sides[1].corners[numbers[1]]
    table, rules = _outer_rules(pieces, settings, elements[0], outer.corners)
    first, slope = RULES.inner[settings.power]
    lines = graded_lines(first + _more(settings, corners), slope)
    degree, (rows, columns) = elements[1].degree, (element.size for element in elements)
    kernel = close_kernel(integral.radial, integral.components, integral.oscillates, degree)
    values = np.zeros((len(integral.components), 2, len(rules), rows, columns))
    inner = sides[1].normals[numbers[1]]
    kernel(
        outer.corners, outer.normals, outer.jacobian, corners, inner, pieces.parent, rules, *table, *lines,
        integral.parameters, *close_scratch(rows, degree, len(values)), values,
    )  # fmt: skip
    values = restriction(elements[0], pieces.outer) @ values
    return (
        np.add.reduceat(values, np.searchsorted(pieces.parent, np.arange(numbers.shape[1])), axis=2)
        @ elements[1].monomials.T
    )


def _outer_rules(
    pieces: ClosePieces, settings: ClosePairs, element: Element, corners: NDArray[np.float64]
) -> tuple[SideTable, NDArray[np.int64]]:
    """The rules of the outer pieces with functions of an element, and which each has, (pieces,); corners (pieces, 3,
    3)."""
    more = _more(settings, corners)
    keys = np.column_stack([pieces.degree, pieces.more, pieces.levels])
    distinct, rules = np.unique(keys, axis=0, return_inverse=True)
    chosen = []
    for degree, needle, *levels in distinct.tolist():
        if degree:
            chosen.append(triangle_rule(min(20, degree + 2 * more)))
        else:
            counts = [int(first + slope * level) + more for (first, slope), level in zip(
                (RULES.away[settings.power], RULES.along[settings.power]), levels, strict=True)]  # fmt: skip
            counts[0] += needle
            chosen.append(corner_rule(*zip(counts, levels, strict=True)))
    sides = [(each.points, each.weights) for each in chosen]
    return SideTable.of(sides, element, CHUNK), rules.ravel()


def _more(settings: ClosePairs, corners: NDArray[np.float64]) -> int:
    """Additional points of lines in triangles with corners (n, 3, 3): as required, and for oscillation and decay."""
    size = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(initial=0.0)
    return settings.more + math.ceil(RULES.radians * settings.wavenumber * size)
