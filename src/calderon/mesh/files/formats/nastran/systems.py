"""Coordinate systems of Nastran (CORD1R, CORD1C, CORD1S, CORD2R, CORD2C, CORD2S), defined by points in one another.

Source: MSC Nastran Quick Reference Guide, entries CORD1x and CORD2x; angles are in degrees.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from calderon.mesh.errors import MeshError
from calderon.mesh.files.formats.nastran.cards import Card
from calderon.mesh.tolerances import TOLERANCES

BASIC = 0
BY_GRIDS, BY_POINTS = ("CORD1R", "CORD1C", "CORD1S"), ("CORD2R", "CORD2C", "CORD2S")

Grid = tuple[int, NDArray[np.float64]]
"""The system of a point, and its coordinates (3,) there."""


@dataclass(frozen=True)
class System:
    """A system by three points: its origin, one on its z axis, one in the half plane of its x axis. They are grids, or
    points in the system parent. Its kind is the last letter of its card: R, C, S."""

    card: Card = field(compare=False)
    kind: str
    grids: tuple[int, ...] = ()
    parent: int = BASIC
    points: tuple[tuple[float, ...], ...] = ()


def systems_of(card: Card) -> dict[int, System]:
    """The systems of a card, by number: a CORD1x may define two."""
    kind = card.name[-1]
    if card.name in BY_GRIDS:
        starts = [start for start in (0, 4) if start == 0 or any(card.fields[start:])]
        return {
            card.integer(start): System(card, kind, tuple(card.integer(start + i) for i in (1, 2, 3)))
            for start in starts
        }
    if len(card.fields) <= 8:
        card.refuse("the line with its third point is missing")
    points = tuple(tuple(card.real(2 + 3 * row + i) for i in range(3)) for row in range(3))
    return {card.integer(0): System(card, kind, (), card.integer(1, BASIC, 0), points)}


class Frames:
    """Where the systems lie in the basic one, found as they are needed."""

    def __init__(self, systems: dict[int, System], grid: Callable[[int], Grid | None]) -> None:
        self._systems = systems
        self._grid = grid
        self._found = {BASIC: (np.zeros(3), np.eye(3))}

    def basic(self, number: int, points: NDArray[np.float64], whose: str) -> NDArray[np.float64]:
        """Points (n, 3) of a system in the basic one. MeshError if it, or one that it needs, is missing, is defined by
        itself, or has points that define no axes; whose: what names it."""
        self._find(number, whose)
        origin, axes = self._found[number]
        return np.asarray(origin + rectangular("R" if number == BASIC else self._systems[number].kind, points) @ axes)

    def _find(self, number: int, whose: str) -> None:
        open_systems = {} if number in self._found else {number: whose}
        while open_systems:
            number, whose = next(reversed(open_systems.items()))
            if number not in self._systems:
                raise MeshError(f"{whose} is given in the coordinate system {number}, which the deck does not define")
            system = self._systems[number]
            needed = [self._given(system, each)[0] for each in system.grids] or [system.parent]
            missing = [each for each in needed if each not in self._found]
            if not missing:
                self._found[number] = self._axes(system)
                del open_systems[number]
            elif missing[0] in open_systems:
                system.card.refuse(f"coordinate system {missing[0]} is defined by itself")
            else:
                open_systems[missing[0]] = f"{system.card.line}: {system.card.name}"

    def _given(self, system: System, number: int) -> Grid:
        found = self._grid(number)
        if found is None:
            system.card.refuse(f"refers to GRID {number}, which the deck does not have")
        return found

    def _axes(self, system: System) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Origin (3,) and axes (3, 3), one in each row."""
        pairs = [self._given(system, each) for each in system.grids]
        pairs = pairs or [(system.parent, np.array(point)) for point in system.points]
        origin, along, across = (self.basic(each, point[None], "")[0] for each, point in pairs)
        with np.errstate(all="ignore"):
            z = (along - origin) / np.linalg.norm(along - origin)
            y = np.cross(z, across - origin) / np.linalg.norm(across - origin)
            sine = np.linalg.norm(y)
            if not (np.isfinite(z).all() and sine > TOLERANCES.same):
                system.card.refuse("its three points coincide or lie on a line, and define no axes")
        y /= sine
        return origin, np.array([np.cross(y, z), y, z])


def rectangular(kind: str, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Points (n, 3) of a rectangular, cylindrical (r, theta, z) or spherical system (r, theta from the z axis, phi),
    angles in degrees, by x, y, z of that system."""
    if kind == "R":
        return points
    r, second, third = points.T
    theta = np.radians(second)
    if kind == "C":
        return np.column_stack([r * np.cos(theta), r * np.sin(theta), third])
    phi = np.radians(third)
    return np.column_stack([r * np.sin(theta) * np.cos(phi), r * np.sin(theta) * np.sin(phi), r * np.cos(theta)])
