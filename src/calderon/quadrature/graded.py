"""Gauss rules on the unit interval for functions that are nearly singular near its first end."""

import functools

import numpy as np
from numpy.typing import NDArray

from calderon.quadrature.segment import SegmentRule, gauss
from calderon.quadrature.triangle import TriangleRule


@functools.lru_cache(maxsize=512)
def graded(number: int, level: int) -> SegmentRule:
    """`number` points on [0, 1] for functions that are smooth but for singularities no nearer to 0 than 2^-level:
    t = eps sinh(u asinh(1 / eps)) with Gauss points u and eps = 2^-level; level 0 is Gauss's rule itself.

    Source: P. R. Johnston and D. Elliott, Int. J. Numer. Meth. Engng 62 (2005) 564.
    """
    rule = gauss(number)
    if level <= 0:
        return rule
    eps = 2.0**-level
    reach = np.arcsinh(1 / eps)
    return SegmentRule(eps * np.sinh(reach * rule.points), rule.weights * eps * reach * np.cosh(reach * rule.points))


@functools.lru_cache(maxsize=512)
def corner_rule(across: tuple[int, int], along: tuple[int, int]) -> TriangleRule:
    """Points on the triangle A, B, C for functions that are nearly singular along the edge AB and most so at A.

    across, along: number of points and level of `graded`, away from that edge and along it from A:
    x = (1 - s) (A + t (B - A)) + s C.
    """
    one, two = graded(*across), graded(*along)
    s, t = np.repeat(one.points, along[0]), np.tile(two.points, across[0])
    points: NDArray[np.float64] = np.stack([(1 - s) * t, s], axis=1)
    return TriangleRule(0, points, (1 - s) * np.outer(one.weights, two.weights).ravel())
