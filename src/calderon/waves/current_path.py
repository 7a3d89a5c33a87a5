"""The static magnetic field of a current along a closed polygon."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.validation import one_or_more_points, points_in_space, real_number

SEGMENTS = 1 << 20
"""Pairs of a point and a segment at a time."""


@dataclass(frozen=True, eq=False)
class CurrentPath:
    """A current in A along straight wires through points (n, 3) in m, from each to the next and from the last to the
    first. ValueError for less than three points, and for points that follow each other at one place."""

    points: NDArray[np.float64]
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

    def magnetic_field(self, x: ArrayLike) -> NDArray[np.float64]:
        """H (n, 3) in A/m at points (n, 3): for each wire from a to b, with r = x - a and s = x - b,

            H = I / (4 pi)  r x s (|r| + |s|) / (|r| |s| (|r| |s| + r . s)),

        the law of Biot and Savart. ValueError for points on a wire.
        """
        places = one_or_more_points(x)
        found = np.empty(places.shape)
        step = max(1, SEGMENTS // len(self.points))
        for start in range(0, len(places), step):
            part = slice(start, start + step)
            r = places[part, None] - self.points
            s = places[part, None] - np.roll(self.points, -1, axis=0)
            one, two = np.linalg.norm(r, axis=2), np.linalg.norm(s, axis=2)
            below = one * two * (one * two + np.einsum("nij,nij->ni", r, s))
            if (below <= 1e-14 * (one * two) ** 2).any():
                raise ValueError("the magnetic field of a wire is infinite on it: keep points away from the path")
            found[part] = np.einsum("nij,ni->nj", np.cross(r, s), (one + two) / below)
        return self.current / (4 * np.pi) * found
