"""Ports between the ground and the foot of vertical metal."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.spaces import EdgeSpace
from calderon.validation import positive_length, real_numbers, unmasked

CLOSENESS = 1e-5
"""Part of the size of the mesh by which feet may lie off a line."""
CORNERS = 1.05
"""Distance of the corners of a via from its axis, over its radius."""

PAIR = "a pair of different points (x, y) in m on the ground"


@dataclass(frozen=True, eq=False)
class EdgePort:
    """A generator in an infinitely narrow slot between the ground and vertical metal that stands on it.

    The edges on the ground, by one of two names. line: end points (2, 2), x and y in m, of a straight line of them, as
    below a `planar.ribbon`. around: (x, y, radius) in m, all within that distance, as those of a `planar.via` of that
    radius. name: for reports. Positive current flows from the ground into the metal. Other metal on the ground is
    joined to it.
    """

    line: ArrayLike | None = None
    around: ArrayLike | None = None
    name: str = ""

    def __post_init__(self) -> None:
        if (self.line is None) == (self.around is None):
            raise ValueError("an edge port is named by one of line=((x, y), (x, y)) and around=(x, y, radius)")
        if self.line is not None:
            points = real_numbers(self.line, (2, 2), "line", PAIR)
            if np.array_equal(*points):
                raise ValueError(f"line is {PAIR}, got {self.line!r}")
        else:
            numbers = real_numbers(self.around, (3,), "around", "(x, y, radius) in m")  # type: ignore[arg-type]
            positive_length(float(numbers[2]), "the radius around an edge port in m")

    def weights(self, space: EdgeSpace) -> NDArray[np.float64]:
        """(dimension,): weights @ coefficients is the current in A, of functions that flow into the ground.

        Raises ValueError where the metal has no edge on the ground there, or not on the whole line.
        """
        mesh, feet = space.mesh, np.flatnonzero(space.sides[:, 1] < 0)
        ends = mesh.vertices[mesh.edges[space.edges[feet]], :2]
        if self.around is not None:
            x, y, radius = unmasked(self.around, "around").astype(float)
            on = (np.linalg.norm(ends - [x, y], axis=2) < radius * CORNERS).all(axis=1)
            where = f"within {1e3 * radius:g} mm of ({1e3 * x:g}, {1e3 * y:g}) mm"
        else:
            start, end = unmasked(self.line, "line").astype(float)
            length, close = float(np.linalg.norm(end - start)), CLOSENESS * mesh.diameter
            along = (ends - start) @ (end - start) / length
            off = np.linalg.norm(ends - start - along[..., None] * (end - start) / length, axis=2)
            on = ((off < close) & (along > -close) & (along < length + close)).all(axis=1)
            where = f"on the line of {1e3 * length:g} mm from ({1e3 * start[0]:g}, {1e3 * start[1]:g}) mm"
            covered = mesh.edge_lengths[space.edges[feet[on]]].sum()
            if on.any() and abs(covered - length) > 2 * close:
                raise ValueError(
                    f"feet of vertical metal cover {1e3 * covered:g} mm {where}: name the line that they cover"
                )
        if not on.any():
            raise ValueError(
                f"no vertical metal stands on the ground {where}: join the metal to it by planar.ribbon or planar.via "
                "down to a wall of the stack"
            )
        out = np.zeros(space.dimension)
        out[feet[on]] = -mesh.edge_lengths[space.edges[feet[on]]]
        return out
