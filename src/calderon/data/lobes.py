"""The strongest lobe of a pattern in a plane: where it points, how wide it is, and what goes elsewhere."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.validation import unit_vector

STEPS = 1440
"""Directions of a circle that are compared, .25 degrees apart."""
DROP = 10 * np.log10(2.0)
"""Decibels below the maximum at which a lobe ends."""
SILENT = -200.0
"""Decibels below which a gain is rounding."""
EQUAL = 1e-9
"""Decibels by which levels of lobes that are equally strong differ by rounding."""


class Lobe(NamedTuple):
    """The strongest lobe in a plane.

    direction (3,): a unit vector. level: in dB, of gains dBi. width: the angle in rad between the nearest directions of
    half of the intensity, 2 pi where there are none. front_to_back: dB by which the opposite direction is weaker.
    side_lobe: dB by which the next lobe is weaker, infinite where there is none.
    """

    direction: NDArray[np.float64]
    level: float
    width: float
    front_to_back: float
    side_lobe: float


def strongest_lobe(level: Callable[[NDArray[np.float64]], NDArray[np.float64]], normal: ArrayLike) -> Lobe:
    """The strongest lobe of a level in dB of unit vectors (n, 3) in the plane across `normal` (3,), from levels every
    .25 degrees, between which half of the intensity is found by straight lines. Of equally
    strong directions it is the first one from the axis that is least along the normal, toward the next one: from x
    toward z across y. ValueError for a vector without length, and for a plane into which nothing goes."""
    axis = unit_vector(normal, "normal")
    least = int(np.abs(axis).argmin())
    first = np.eye(3)[least] - axis[least] * axis
    first /= np.linalg.norm(first)
    second = np.cross(axis, first)
    second *= np.sign(second[np.abs(second).argmax()])
    angles = 2 * np.pi / STEPS * np.arange(STEPS)
    circle = np.cos(angles)[:, None] * first + np.sin(angles)[:, None] * second
    found = level(circle)
    top = int(np.argmax(found >= found.max() - EQUAL))
    if not found.max() > SILENT:
        raise ValueError(f"nothing goes into the plane across normal = {np.asarray(normal).tolist()}: it has no lobe")
    drop = found[top] - np.roll(found, -top)  # the maximum in front
    outside = np.flatnonzero(drop > DROP)
    if not len(outside):
        return Lobe(circle[top], float(found[top]), 2 * np.pi, float(drop[STEPS // 2]), np.inf)
    # the part of a step up to half of the intensity, on both sides
    sides = [(outside[0], outside[0] - 1), (outside[-1], (outside[-1] + 1) % STEPS)]
    parts = [(DROP - drop[inner]) / (drop[outer] - drop[inner]) for outer, inner in sides]
    width = 2 * np.pi / STEPS * (outside[0] - 1 + STEPS - 1 - outside[-1] + sum(parts))
    # lobes elsewhere: levels that are not below those of their neighbours, and above one of them
    own, before, after = drop, np.roll(drop, 1), np.roll(drop, -1)
    peaks = (own < before) & (own <= after)
    peaks[: outside[0]] = peaks[outside[-1] + 1 :] = False
    return Lobe(
        circle[top], float(found[top]), float(width), float(drop[STEPS // 2]), float(drop[peaks].min(initial=np.inf))
    )
