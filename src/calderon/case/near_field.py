"""Where a case requests fields: points, lines, grids and spheres."""

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import field_validator, model_validator

from calderon.case.quantities import Length, Place, Size
from calderon.case.reading import CaseFile
from calderon.case.table import AT_MOST, Table, key
from calderon.data import Places, grid_places, line_places, point_places, sphere_places

KINDS = ("points", "file", "line", "grid", "sphere")


class Line(Table):
    """Points from start to end, both included."""

    start: Place = key("first point", ...)
    end: Place = key("last point", ...)
    count: int = key("number of points", 101, ge=2, le=AT_MOST.points)


class Grid(Table):
    """A box of points between two corners; count: along x, y, z."""

    low: Place = key("the lower corner", ...)
    high: Place = key("the upper corner", ...)
    count: tuple[int, int, int] = key("numbers of points along x, y, z", (21, 21, 21))

    @model_validator(mode="after")
    def _box(self) -> "Grid":
        if min(self.count) < 1 or math.prod(self.count) > AT_MOST.points:
            raise ValueError(
                f"count: three numbers of points, at most {AT_MOST.points} together, got {list(self.count)}"
            )
        if any(not high > low and n > 1 for low, high, n in zip(self.low, self.high, self.count, strict=True)):
            raise ValueError("low must be below high along each axis with more than one point")
        return self


class Sphere(Table):
    """Points on a sphere: theta of them from the north pole to the south pole, phi around, both ends included."""

    radius: Size = key("of the sphere", ...)
    centre: tuple[Length, Length, Length] = key("of the sphere", (0.0, 0.0, 0.0))
    theta: int = key("number of polar angles from pole to pole", 37, ge=1, le=2000)
    phi: int = key("number of azimuths around, both ends included", 73, ge=1, le=2000)


class NearField(Table):
    """[[output.near_field]]: fields at points, one row each in near_field_NAME.csv, for grids a .vti file too.

    One of: points, a list of [x, y, z]; file, a text file of the folder of the case with x, y and z in m in each line
    (separated by commas or blanks; lines that begin with # and one with names are skipped); line; grid; sphere.
    """

    name: str = key("of the files; a number unless given", "")
    points: tuple[Place, ...] | None = key("a list of [x, y, z]", min_length=1)
    file: str | None = key("a text file in the folder of the case with x, y, z in m on each line")
    line: Line | None = None
    grid: Grid | None = None
    sphere: Sphere | None = None

    @field_validator("name")
    @classmethod
    def _plain(cls, name: str) -> str:
        if not re.fullmatch(r"[\w-]*", name):
            raise ValueError(f"a name for a file, of letters, digits, _ and -, got {name!r}")
        return name

    @model_validator(mode="after")
    def _one(self) -> "NearField":
        given = [kind for kind in KINDS if getattr(self, kind) is not None]
        if len(given) != 1:
            raise ValueError(f"give one of {', '.join(KINDS)}, got {' and '.join(given) or 'none'}")
        return self

    def places(self, file: Path | None = None) -> Places:
        """The points; file: the path of that named in the case. ValueError for a file without points."""
        if self.line is not None:
            return line_places(self.line.start, self.line.end, self.line.count)
        if self.grid is not None:
            return grid_places(self.grid.low, self.grid.high, self.grid.count)
        if (ball := self.sphere) is not None:
            angles = np.linspace(0, np.pi, ball.theta), np.linspace(0, 2 * np.pi, ball.phi)
            return sphere_places(ball.radius, *angles, ball.centre)
        if self.points is not None:
            return point_places(self.points)
        assert file is not None
        return point_places(points_of(file))


def points_of(path: Path) -> np.ndarray:
    """(n, 3) points of a text file; ValueError for other contents."""
    rows: list[list[float]] = []
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), start=1):
        text = line.split("#")[0].replace(",", " ").replace(";", " ").split()
        if not text:
            continue
        try:
            row = [float(each) for each in text]
        except ValueError:
            if rows:
                raise ValueError(f"line {number} of {path.name} is no point: {line.strip()[:60]!r}") from None
            continue  # names of columns
        if len(row) != 3 or not all(map(math.isfinite, row)):
            raise ValueError(f"line {number} of {path.name} has {len(row)} numbers: x, y and z in m are expected")
        rows.append(row)
    if not rows or len(rows) > AT_MOST.points:
        raise ValueError(f"{path.name} has {len(rows)} points: between 1 and {AT_MOST.points} are expected")
    return np.array(rows)


def near_places(file: CaseFile[Any]) -> dict[str, Places]:
    """The points of the near fields by name; CaseError for files without points."""
    output, found = file.case.output, {}
    for number, (name, one) in enumerate(zip(output.near_field_names, output.near_field, strict=True)):
        with file.blamed("output", "near_field", one.file, number):
            found[name] = one.places(None if one.file is None else file.path_of(one.file))
    return found
