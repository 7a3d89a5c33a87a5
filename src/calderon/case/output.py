"""Parts of [output] that several kinds of cases share: angles, rectangles and near fields."""

import math
from typing import Literal, Self

import numpy as np
from pydantic import model_validator

from calderon.case.near_field import NearField
from calderon.case.quantities import Angle, Place, Size
from calderon.case.table import Table, key
from calderon.plots import slice_points


class Angles(Table):
    """Angles in a plane through the origin, from its first axis toward its second; both ends included."""

    plane: Literal["xy", "xz", "yz"] = key("in which the directions lie, through the origin", "xy")
    start: Angle = key("first angle, from the first axis of the plane toward the second", 0.0)
    stop: Angle = key("last angle", 2 * math.pi)
    count: int = key("number of directions", 361, ge=1, le=100_000)

    @property
    def values(self) -> np.ndarray:
        """(count,) angles in radians."""
        return np.linspace(self.start, self.stop, self.count)

    @property
    def directions(self) -> np.ndarray:
        """(count, 3) unit vectors toward the observer."""
        first, second = (np.eye(3)["xyz".index(axis)] for axis in self.plane)
        return np.cos(self.values)[:, None] * first + np.sin(self.values)[:, None] * second

    @property
    def theta_phi(self) -> tuple[np.ndarray, np.ndarray]:
        """theta and phi (count,) toward the observer; on the z axis phi is that of the plane."""
        x, y, z = np.where(np.abs(self.directions) < 1e-14, 0.0, self.directions).T
        pole = (x == 0) & (y == 0)
        of_plane = np.pi / 2 if self.plane == "yz" else 0.0
        return np.arctan2(np.hypot(x, y), z), np.where(pole, of_plane, np.arctan2(y, x))


class Rectangle(Table):
    """A rectangle parallel to two axes on which a field is evaluated; points: along its longer side."""

    plane: Literal["xy", "xz", "yz"] = key("to which it is parallel", "xy")
    size: tuple[Size, Size] | None = key("its two lengths")
    centre: Place | None = key("its middle")
    points: int = key("along its longer side", 160, ge=8, le=2000)

    @property
    def axes(self) -> list[int]:
        return ["xyz".index(axis) for axis in self.plane]

    def grid(self, size: np.ndarray, centre: np.ndarray) -> np.ndarray:
        """(rows, columns, 3) points; size (2,) and centre (3,) in m where the case gives none."""
        size = size if self.size is None else np.array(self.size)
        columns, rows = np.maximum(2, np.round(self.points * size / size.max())).astype(int)
        across, up = size[:, None] * np.eye(3)[self.axes]
        return slice_points(centre if self.centre is None else self.centre, across, up, (int(rows), int(columns)))


class NearFields(Table):
    """Fields at points that a case requests."""

    near_field: tuple[NearField, ...] = ()

    @property
    def near_field_names(self) -> list[str]:
        """Names of the files: those given, else numbers."""
        return [one.name or f"{number:02d}" for number, one in enumerate(self.near_field, start=1)]

    @model_validator(mode="after")
    def _distinct_names(self) -> Self:
        if len(set(self.near_field_names)) < len(self.near_field):
            raise ValueError("two near fields have the same name")
        return self
