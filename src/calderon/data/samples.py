"""Fields at named places: evaluated, labelled, written."""

import os
from abc import abstractmethod
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.data.labelled import LabelledArrays, Quantity
from calderon.data.paraview import write_image
from calderon.data.places import Places, grid_places, line_places, plane_places, point_places, sphere_places
from calderon.data.quick_look import quick_look
from calderon.files import file_path, whole_file
from calderon.validation import instance
from calderon.view import Described, Field, Grid

ENDINGS = (".vti", ".npz", ".csv")


@dataclass(frozen=True, eq=False, repr=False)
class Samples(Described):
    """Fields at places: `data` is an `xarray.Dataset`, `arrays[name]` the values of one field, NaN where there is none.

    points: (..., 3) in m, in the shape of the values.
    """

    places: Places
    arrays: LabelledArrays

    @property
    def brief(self) -> str:
        """The fields, and how many points along each axis."""
        return self.arrays.brief

    @property
    def points(self) -> NDArray[np.float64]:
        """(..., 3) in m."""
        return self.places.points

    @cached_property
    def data(self) -> Any:
        """The fields as an `xarray.Dataset` with coordinates and units; needs the package xarray."""
        return self.arrays.to_xarray()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """For notebooks: a picture of a line, a plane or a sphere, and the dataset where xarray is installed."""
        shown: dict[str, Any] = {"text/plain": repr(self), "text/html": self._repr_html_()}
        if find_spec("xarray") is not None:
            shown["text/html"] = self.data._repr_html_()
        picture = quick_look(self.arrays)
        if picture is not None:
            inside = f'<img src="data:image/png;base64,{b64encode(picture).decode()}" alt="{escape(self.brief)}">'
            shown |= {"image/png": picture, "text/html": inside + shown["text/html"]}
        return shown

    def to_xarray(self) -> Any:
        """`data`."""
        return self.data

    def to_pandas(self) -> Any:
        """A tidy table, one row for each point; needs the package pandas."""
        return self.arrays.to_pandas()

    def layer(self) -> Grid:
        """The plane in a view, `solution.show(plane)`; ValueError for points that are no plane of one frequency."""
        image = self.places.image
        if image is None or self.points.ndim != 3 or self.arrays.axes != self.places.axes:
            shape = " x ".join(map(str, self.points.shape[:-1]))
            raise ValueError(f"a view shows fields of planes at one frequency, got {shape} points: take on_plane(...)")
        fields = tuple(
            Field(
                each.label or each.name, each.label or each.name, each.unit,
                [each.values.reshape(-1, 3) if each.vector else each.values.ravel()],
            )
            for each in self.arrays.quantities
        )  # fmt: skip
        return Grid("plane", self.points, fields, filled=True)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write a .vti file for ParaView (planes and grids), .npz for NumPy (`points`, a unit for each field under
        "units of NAME") or a tidy .csv. Atomic: the file appears whole or not at all."""
        ending = file_path(path, "a field", "plane.vti").suffix.lower()
        if ending == ".csv":
            self.arrays.write_csv(path)
        elif ending == ".npz":
            fields = {each.name: each.values for each in self.arrays.quantities}
            units = {f"units of {each.name}": np.array(each.unit) for each in self.arrays.quantities}
            with whole_file(path) as scratch, scratch.open("wb") as file:
                np.savez(file, **{"points": self.points, **fields, **units})  # type: ignore[arg-type]
        elif ending == ".vti":
            if self.arrays.axes != self.places.axes:
                raise ValueError(f"{str(path)!r}: an image (.vti) is of one frequency: write the solutions one by one")
            if self.places.image is None:
                raise ValueError(f"{str(path)!r}: images (.vti) are of planes and grids; write these points to .csv")
            write_image(path, self.places.image, self.arrays.quantities)
        else:
            raise ValueError(f"cannot write {str(path)!r}: choose an ending of {', '.join(ENDINGS)}")


class Sampling:
    """Anything whose fields can be evaluated at named places."""

    def at_points(self, points: ArrayLike) -> Samples:
        """Fields at points (n, 3) in m, with labels: NaN where the solution has none, inside of rigid bodies. See
        `data.Samples`."""
        return self.samples(point_places(points))

    def on_line(self, start: ArrayLike, end: ArrayLike, points: int = 101) -> Samples:
        """Fields at points from start to end, both (3,) in m."""
        return self.samples(line_places(start, end, points))

    def on_plane(
        self,
        origin: ArrayLike = (0.0, 0.0, 0.0),
        normal: ArrayLike = (0.0, 0.0, 1.0),
        size: float | Sequence[float] = 1.0,
        points: int | Sequence[int] = 101,
    ) -> Samples:
        """Fields on a rectangle about its centre `origin`, in m, across its `normal`.

        size: (width, height) in m, points: along both; one number is for both. The height runs along z as far as the
        normal lets it, of a horizontal plane along y.

            plane = solution.on_plane(normal=[0, 0, 1], size=[6, 6], points=[61, 61])
            plane.data["pressure"], plane.write("plane.vti")
        """
        return self.samples(plane_places(origin, normal, size, points))

    def on_grid(self, low: ArrayLike, high: ArrayLike, points: int | Sequence[int] = 21) -> Samples:
        """Fields in a box between the corners low and high (3,) in m, points: along x, y and z."""
        return self.samples(grid_places(low, high, points))

    def on_sphere(
        self, radius: float, theta: ArrayLike, phi: ArrayLike, centre: ArrayLike = (0.0, 0.0, 0.0)
    ) -> Samples:
        """Fields on a sphere at all pairs of the angles theta and phi (1-D arrays) in radians."""
        return self.samples(sphere_places(radius, theta, phi, centre))

    @abstractmethod
    def samples(self, places: Places) -> Samples:
        """Fields at places."""


class SampledField(Sampling):
    """A solution whose fields can be evaluated at points."""

    def samples(self, places: Places) -> Samples:
        instance(places, Places, "fields are sampled at Places, as by at_points(points)")
        x = places.points.reshape(-1, 3)
        there = self._has_field(x)
        shape, quantities = places.points.shape[:-1], []
        for each in self._fields_at(x[there]):
            kind = complex if np.iscomplexobj(each.values) else float
            values = np.full((len(x), *each.values.shape[1:]), np.nan * kind(1), kind)
            values[there] = each.values
            filled = values.reshape(*shape, *values.shape[1:])
            quantities.append(Quantity(each.name, filled, each.unit, each.label, vector=each.vector))
        return Samples(places, LabelledArrays(places.axes, tuple(quantities), places.coordinates, self._attributes))

    @property
    def _attributes(self) -> dict[str, Any]:
        """Attributes that all data share, by name."""
        return {}

    @abstractmethod
    def _has_field(self, points: NDArray[np.float64]) -> NDArray[np.bool_]:
        """(n,) whether the solution has a field at points (n, 3)."""

    @abstractmethod
    def _fields_at(self, points: NDArray[np.float64]) -> list[Quantity]:
        """Fields (n, ...) at points (n, 3)."""
