"""Solid bodies by a few numbers, or from CAD files."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.mesh.errors import MeshError
from calderon.mesh.files.cad import CAD_FORMATS
from calderon.mesh.files.content import mesh_path
from calderon.mesh.sizes import positive
from calderon.mesh.tolerances import TOLERANCES
from calderon.validation import one_of, one_or_more_points, real_array, real_number

COUNTS = {"cuboid": (2, 2), "ball": (1, 1), "cylinder": (2, 2), "prism": (3, 10_000), "file": (0, 0)}
"""Least and largest numbers of points by kind."""


@dataclass(frozen=True, eq=False)
class Solid:
    """A solid body for `cal.mesh.solids`, made by `Solid.cuboid`, `ball`, `cylinder`, `prism` or `read`. Lengths in m.

    kind: "cuboid" between two points, "ball" around a point, "cylinder" between two points on its axis, "prism" over a
    polygon of three or more points at one height z, "file" of a CAD model. points: (n, 3). size: the radius of a ball
    or a cylinder, the height of a prism. path: of the file. MeshError for bodies without a volume.
    """

    kind: Literal["cuboid", "ball", "cylinder", "prism", "file"]
    points: ArrayLike = ()
    size: float | None = None
    path: str | Path | None = None

    def __post_init__(self) -> None:
        least, most = COUNTS[one_of(self.kind, COUNTS, "kind of a solid")]
        if self.kind == "file":
            path = mesh_path(self.path)  # type: ignore[arg-type]
            if path.suffix.lower() not in CAD_FORMATS:
                raise MeshError(f"{path}: solids are read from CAD files, {', '.join(CAD_FORMATS)}")
            object.__setattr__(self, "path", path)
            return
        points = one_or_more_points(self.points, f"points of a {self.kind}")
        if not least <= len(points) <= most:
            raise MeshError(f"a {self.kind} has from {least} to {most} points, got {len(points)}")
        object.__setattr__(self, "points", points)
        if self.kind != "cuboid":
            object.__setattr__(self, "size", positive("size", self.size))  # type: ignore[arg-type]
        spans = np.ptp(points, axis=0)
        if self.kind == "cuboid" and spans.min() <= TOLERANCES.joined * spans.max():
            raise MeshError(f"a cuboid between {points[0].tolist()} and {points[1].tolist()} has no volume")
        if self.kind == "cylinder" and not spans.any():
            raise MeshError(f"both ends of a cylinder are at {points[0].tolist()}")
        if self.kind == "prism" and (spans[2] != 0 or spans[:2].min() == 0):
            raise MeshError("a prism stands on a polygon with an area at one height z")

    @classmethod
    def cuboid(cls, low: ArrayLike, high: ArrayLike) -> "Solid":
        """A cuboid with sides along the axes, between two opposite corners (3,)."""
        return cls("cuboid", [_place(low, "low"), _place(high, "high")])

    @classmethod
    def ball(cls, radius: float, centre: ArrayLike = (0.0, 0.0, 0.0)) -> "Solid":
        """A ball."""
        return cls("ball", [_place(centre, "centre")], radius)

    @classmethod
    def cylinder(cls, radius: float, start: ArrayLike, end: ArrayLike) -> "Solid":
        """A round cylinder between the centres (3,) of its ends."""
        return cls("cylinder", [_place(start, "start"), _place(end, "end")], radius)

    @classmethod
    def prism(cls, outline: ArrayLike, bottom: float, height: float) -> "Solid":
        """An upright prism over a polygon of points (n, 2) at z = bottom, without the first one at its end again."""
        plane = real_array(outline, "the outline", "points (n, 2)")
        if plane.ndim != 2 or plane.shape[1] != 2:
            raise MeshError(f"the outline of a prism is points (n, 2), got the shape {plane.shape}")
        z = np.full((len(plane), 1), real_number(bottom, "the bottom"))
        return cls("prism", np.hstack([plane, z]), height)

    @classmethod
    def read(cls, path: str | Path) -> "Solid":
        """All solids of a STEP, IGES or BREP file together, whatever its unit (that of BREP is mm)."""
        return cls("file", path=path)

    @property
    def bounds(self) -> NDArray[np.float64]:
        """(2, 3) corners of a box around it; of files unknown, NaN."""
        if self.kind == "file":
            return np.full((2, 3), np.nan)
        points = np.asarray(self.points)
        around = 0.0 if self.size is None or self.kind == "prism" else self.size
        found = np.array([points.min(axis=0) - around, points.max(axis=0) + around])
        if self.kind == "prism":
            found[1, 2] += self.size
        return found


def _place(values: ArrayLike, name: str) -> NDArray[np.float64]:
    points = one_or_more_points(values, name)
    if len(points) != 1:
        raise MeshError(f"{name} is one point (3,), got {len(points)}")
    return points[0]
