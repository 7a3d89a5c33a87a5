"""The static magnetic field of a current along a closed polygon."""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from calderon.validation import (
    one_or_more_points,
    one_point,
    points_in_space,
    positive_length,
    real_number,
    unit_vector,
    whole_number,
)
from calderon.view import Described
from calderon.waves.given import Given

SEGMENTS = 1 << 20
"""Pairs of a point and a segment at a time."""


@dataclass(frozen=True, eq=False)
class CurrentPath(Described):
    """A current in A along straight wires through points (n, 3) in m, from each to the next and from the last to the
    first. ValueError for less than three points, and for points that follow each other at one place."""

    points: Given
    current: float

    def __post_init__(self) -> None:
        points = points_in_space(self.points, "the points of a current path")
        if len(points) < 3:
            raise ValueError(f"a closed path of {len(points)} points: three or more are needed")
        if (np.linalg.norm(np.roll(points, -1, axis=0) - points, axis=1) == 0).any():
            raise ValueError(
                "points of a current path follow each other at one place: leave one out, also the last one"
            )
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "current", real_number(self.current, "the current of a path"))

    @property
    def brief(self) -> str:
        """The current, and how many wires there are."""
        return f"{self.current:g} A through {len(self.points)} points"

    @classmethod
    def loop(
        cls, radius: float, current: float, centre: ArrayLike = (0, 0, 0), axis: ArrayLike = (0, 0, 1), count: int = 180
    ) -> "CurrentPath":
        """A circle about an axis, around which the current turns right-handed, as a polygon of so many wires with the
        same area, whose field far away is that of the circle."""
        normal = unit_vector(axis)
        first = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
        first /= np.linalg.norm(first)
        size = positive_length(radius, "the radius of a loop")
        turn = 2 * np.pi * np.arange(whole_number(count, "count", least=3)) / count
        size *= np.sqrt(2 * np.pi / count / np.sin(2 * np.pi / count))
        circle = np.cos(turn)[:, None] * first + np.sin(turn)[:, None] * np.cross(normal, first)
        return cls(one_point(centre, "the centre of a loop") + size * circle, current)

    def magnetic_field(self, x: ArrayLike) -> NDArray[np.float64]:
        """H (n, 3) in A/m at points x (n, 3): for each wire d from a to b, with distances r and s of its ends,

            H = I / (4 pi)  d x (x - a)  2 (r + s) / (r s ((r + s)^2 - d^2)),

        the law of Biot and Savart. ValueError for points on a wire.
        """
        centre = self.points.mean(axis=0)
        places, starts = one_or_more_points(x) - centre, self.points - centre
        wires = np.roll(starts, -1, axis=0) - starts
        lengths, turns = np.linalg.norm(wires, axis=1), np.cross(wires, starts)
        found = np.empty(places.shape)
        step = max(1, SEGMENTS // len(starts))
        for start in range(0, len(places), step):
            part = places[start : start + step]
            one = scipy.spatial.distance.cdist(part, starts)
            two = np.roll(one, -1, axis=1)
            total, product = one + two, one * two
            below = (total - lengths) * (total + lengths)
            if (below <= 2e-14 * product).any():
                raise ValueError("the magnetic field of a wire is infinite on it: keep points away from the path")
            weights = 2 * total / (product * below)
            found[start : start + step] = np.cross(weights @ wires, part) - weights @ turns
        return self.current / (4 * np.pi) * found
