"""The width of a beam between directions of a lower level."""

from collections.abc import Callable

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from calderon.data.far_fields import decibels
from calderon.validation import positive_length, unit_vector

DEEPEST = 1e-30
"""Part of the largest intensity below which a direction counts as silent, so that levels are finite."""

LARGEST_DROP = 20.0
"""Decibels down to which the nulls of a pattern are as wide as the steps between the directions that are compared."""


def beamwidth(
    directivity: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    direction: ArrayLike,
    toward: ArrayLike,
    drop: float,
    size: float,
    half_space: str,
) -> float:
    """The angle in rad about a direction (3,), in the plane of it and of `toward` (3,), up to the nearest directions on
    both sides whose level is `drop` dB lower.

    directivity: of unit vectors (n, 3). size: k R, R the radius of the body, by which lobes are at least some 1 / (k R)
    wide. half_space: as of `AcousticSolution`. A side on which the level does not fall as far counts pi, or up to the
    plane. ValueError for a direction without sound or beyond the plane, for vectors along one line, and for more than
    20 dB, down to which nulls are narrow.
    """
    drop, along, other = positive_length(drop, "drop"), unit_vector(direction), unit_vector(toward, "toward")
    if drop > LARGEST_DROP:
        raise ValueError(f"drop is up to {LARGEST_DROP:g} dB, got {drop:g}: usual ones are 3, 6 and 10")
    across = other - (other @ along) * along
    if np.linalg.norm(across) < 1e-9:
        raise ValueError(f"toward = {toward!r} lies along the direction {direction!r}: they span a plane")
    across = across / np.linalg.norm(across)

    def level(angles: NDArray[np.float64]) -> NDArray[np.float64]:
        found = directivity(np.cos(angles)[:, None] * along + np.sin(angles)[:, None] * across)
        return decibels(np.maximum(found, DEEPEST))

    top = level(np.zeros(1))[0]
    if top <= decibels(np.array(DEEPEST)):
        raise ValueError(f"no sound goes in the direction {direction!r}: a beamwidth is about a direction of a beam")
    count, width = 180 + int(np.ceil(12 * size)), 0.0
    for side in (1.0, -1.0):
        limit = _angle_to_plane(along, side * across, half_space)
        angles = np.linspace(0, limit, count)
        lower = np.flatnonzero(level(side * angles) <= top - drop)
        if not len(lower):
            width += limit
            continue
        between = angles[lower[0] - 1], angles[lower[0]]
        width += scipy.optimize.brentq(lambda a, side=side: level(np.array([side * a]))[0] - top + drop, *between)
    return float(width)


def _angle_to_plane(along: NDArray[np.float64], across: NDArray[np.float64], half_space: str) -> float:
    """The angle in rad from `along` over `across` up to the plane of a half space; pi without one."""
    if not half_space:
        return float(np.pi)
    axis, side = "xyz".index(half_space[1]), 1.0 if half_space[0] == "+" else -1.0
    up, turning = side * along[axis], side * across[axis]
    if up < -1e-9:
        raise ValueError(f"the direction {along.tolist()} leads beyond the plane of the half space {half_space!r}")
    if max(up, abs(turning)) < 1e-9:
        return float(np.pi)
    return float(np.clip(np.arctan2(turning, max(up, 0.0)) + np.pi / 2, 0, np.pi))
