"""Gauss-Legendre rules on the unit interval."""

import functools
import operator
from dataclasses import dataclass

import numpy as np
import scipy


@dataclass(frozen=True, eq=False)
class SegmentRule:
    """Quadrature on [0, 1]: points (n,) increasing, weights (n,) with sum 1; exact to degree 2 n - 1."""

    points: np.ndarray
    weights: np.ndarray


@functools.lru_cache(maxsize=256)
def _legendre(number: int) -> SegmentRule:
    points, weights = scipy.special.roots_legendre(number)
    rule = SegmentRule((points + 1) / 2, weights / 2)
    rule.points.flags.writeable = False
    rule.weights.flags.writeable = False
    return rule


def gauss(number: int) -> SegmentRule:
    """The Gauss-Legendre rule of `number` >= 1 points on [0, 1]."""
    try:
        count = operator.index(number)
    except TypeError:
        raise TypeError(f"the number of Gauss points is an integer, got {number!r}") from None
    if count < 1:
        raise ValueError(f"a Gauss rule needs at least 1 point, got {count}")
    return _legendre(count)
