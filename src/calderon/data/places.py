"""Where a field is evaluated: single points, lines, planes, grids and spheres, with names for their coordinates."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.backends import require_memory
from calderon.data.labelled import Axis, LabelledArrays, Quantity
from calderon.validation import (
    one_or_more_points,
    one_point,
    positive_length,
    real_array,
    several,
    unit_vector,
    whole_number,
)

Array = NDArray[np.float64]
AXES = ("x", "y", "z")
ALIGNED = 1 - 1e-12
"""Least largest component of a unit vector along x, y or z."""


@dataclass(frozen=True, eq=False)
class Image:
    """A box of points x = origin + sum_i spacing[i] n_i directions[i], n_i = 0 ... counts[i] - 1."""

    origin: Array
    directions: Array
    spacing: Array
    counts: tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class Places:
    """points (..., 3) along named axes. coordinates: x, y, z where they are no axes. image: for points in a box, of
    which the last axis of points runs first."""

    points: Array
    axes: tuple[Axis, ...]
    coordinates: tuple[Quantity, ...]
    image: Image | None = None

    def in_unit(self, unit: str) -> "Places":
        """These places with their numbers taken as lengths in another unit than m."""
        axes = tuple(replace(each, unit=unit) if each.unit == "m" else each for each in self.axes)
        coordinates = tuple(replace(each, unit=unit) if each.unit == "m" else each for each in self.coordinates)
        return replace(self, axes=axes, coordinates=coordinates)


def point_places(points: ArrayLike) -> Places:
    """Single points (n, 3), or one (3,)."""
    x = one_or_more_points(points)
    return Places(x, (Axis("point", np.arange(len(x))),), _coordinates(x))


def labelled_points(name: str, points: Array, quantities: Sequence[Quantity]) -> LabelledArrays:
    """Quantities at points (n, 3) along one axis of that name."""
    return LabelledArrays((Axis(name, np.arange(len(points))),), tuple(quantities), _coordinates(points))


def line_places(start: ArrayLike, end: ArrayLike, points: int) -> Places:
    """Points at even distances from start to end, both included, by the distance from the start."""
    a, b = one_point(start, "start"), one_point(end, "end")
    length = float(np.linalg.norm(b - a))
    if not length > 0:
        raise ValueError(f"a line runs between two different points, got {a.tolist()} twice")
    (count,) = _counts(points, 1, 2)
    part = np.linspace(0.0, 1.0, count)
    x = a + part[:, None] * (b - a)
    return Places(x, (Axis("distance", part * length, "m"),), _coordinates(x))


def sphere_places(radius: float, theta: ArrayLike, phi: ArrayLike, centre: ArrayLike) -> Places:
    """Points at angles theta (from z) and phi (from x toward y) in radians, 1-D arrays, of a sphere about a centre."""
    r, c = positive_length(radius, "radius"), one_point(centre, "centre")
    axes = angle_axes(theta, phi)
    t, p = np.meshgrid(*(each.values for each in axes), indexing="ij")
    x = c + r * np.stack([np.sin(t) * np.cos(p), np.sin(t) * np.sin(p), np.cos(t)], axis=-1)
    return Places(x, axes, _coordinates(x))


def angle_axes(theta: ArrayLike, phi: ArrayLike) -> tuple[Axis, Axis]:
    """The axes of all pairs of angles in radians, numbers or 1-D arrays."""
    found = []
    for name, values, label in (("theta", theta, "angle from z"), ("phi", phi, "angle from x toward y")):
        angles = np.atleast_1d(real_array(values, name, "angles in radians"))
        if angles.ndim != 1 or angles.size == 0:
            raise ValueError(f"{name} is an angle in radians or a 1-D array of them, got {values!r}")
        found.append(Axis(name, angles, "rad", label))
    return found[0], found[1]


def plane_places(origin: ArrayLike, normal: ArrayLike, size: Any, points: Any) -> Places:
    """A rectangle about its centre `origin`; size: (width, height) in m or one length for both; points: along both.

    The height runs along z as far as the normal lets it, of a horizontal plane along y; the width to the right of it,
    along a positive axis where there is one.
    """
    centre, n = one_point(origin, "origin"), unit_vector(normal, "normal")
    up = np.array([0.0, 1, 0]) if abs(n[2]) > ALIGNED else np.array([0.0, 0, 1])
    up = up - (up @ n) * n
    up = _rounded(up / np.linalg.norm(up))
    across = _rounded(np.cross(up, n))
    across = across * np.sign(across[np.argmax(np.abs(across))])
    sides, counts = several(size, 2, "size", positive_length), _counts(points, 2, 2)
    s, t = (np.linspace(-0.5, 0.5, counts[i]) * sides[i] for i in range(2))
    return rectangle_places(centre + s[None, :, None] * across + t[:, None, None] * up)


def rectangle_places(points: Array) -> Places:
    """A rectangle of evenly spaced points (rows, columns, 3), two of each at least."""
    rows, columns = points.shape[:2]
    sides = points[0, -1] - points[0, 0], points[-1, 0] - points[0, 0]
    lengths = [float(np.linalg.norm(side)) for side in sides]
    across, up = (_rounded(side / length) for side, length in zip(sides, lengths, strict=True))
    spacing = np.array([lengths[0] / (columns - 1), lengths[1] / (rows - 1), 1.0])
    image = Image(points[0, 0], np.stack([across, up, np.cross(across, up)]), spacing, (columns, rows, 1))
    i, j = _axis_of(across), _axis_of(up)
    if i is None or j is None:
        s, t = (np.linspace(-0.5, 0.5, n) * length for n, length in zip((columns, rows), lengths, strict=True))
        axes = Axis("t", t, "m", "along the height"), Axis("s", s, "m", "along the width")
        return Places(points, axes, _coordinates(points), image)
    axes = Axis(AXES[j], points[:, 0, j], "m"), Axis(AXES[i], points[0, :, i], "m")
    height = Quantity(AXES[3 - i - j], np.array(points[0, 0, 3 - i - j]), "m", along=())
    return Places(points, axes, (height,), image)


def grid_places(low: ArrayLike, high: ArrayLike, points: Any) -> Places:
    """A box of points between two corners, both included; points: along x, y, z, or one number for all."""
    a, b = one_point(low, "low"), one_point(high, "high")
    counts = _counts(points, 3, 1)
    if any(not h > l and n > 1 for l, h, n in zip(a, b, counts, strict=True)):
        raise ValueError(f"the corners of a grid: low {a.tolist()} must be below high {b.tolist()}")
    ticks = [np.linspace(l, h, n) for l, h, n in zip(a, b, counts, strict=True)]
    z, y, x = np.meshgrid(*ticks[::-1], indexing="ij")
    spacing = np.array([(h - l) / (n - 1) if n > 1 else 1.0 for l, h, n in zip(a, b, counts, strict=True)])
    image = Image(np.array([each[0] for each in ticks]), np.eye(3), spacing, (counts[0], counts[1], counts[2]))
    axes = tuple(Axis(name, values, "m") for name, values in zip("zyx", ticks[::-1], strict=True))
    return Places(np.stack([x, y, z], axis=-1), axes, (), image)


def _coordinates(x: Array) -> tuple[Quantity, ...]:
    return tuple(Quantity(name, x[..., i], "m") for i, name in enumerate(AXES))


def _rounded(vector: Array) -> Array:
    """A unit vector along an axis without rounding errors and signs of zero."""
    return np.where(np.abs(vector) < 1e-15, 0.0, vector)


def _axis_of(vector: Array) -> int | None:
    along = np.flatnonzero(vector > ALIGNED)
    return int(along[0]) if len(along) else None


def _counts(points: Any, directions: int, least: int) -> list[int]:
    """Points along each of the directions, at least so many; MemoryError for more than memory holds."""
    counts = several(points, directions, "points", lambda value, name: whole_number(value, name, least))
    require_memory(3 * 8 * math.prod(counts), "a field at all points", "choose fewer points")
    return counts
