"""Scenes: layers of triangles with values on them, as arrays, and their JSON for `static/view.js`."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

PART_COLOURS = ("#b9c3cf", "#7fb3d5", "#f0b27a", "#82c9a9", "#d7a9cf", "#f2d388", "#a7c7e7", "#e59c9c")
PLACES = ("vertices", "triangles", "corners")
NO_VALUE = np.iinfo(np.uint16).max


@dataclass(frozen=True)
class Field:
    """Values of one quantity. name: for readers; symbol and unit: for colour bars; values: one array for each step, or
    one for all of them, None where a step has none, of shape (n,) or, for vectors, (n, 3).

    on: "vertices", "triangles" or "corners" (3 nt in the order of the triangles) of a surface; nodes of a grid or a
    pattern are its vertices. quantity: what is shown first, "abs", "real", "imag", "phase" or "db". level: the values
    are decibels or another scale with one way to show it. Decibels are offered of complex values and of those that are
    shown in them first. power: of which 10 log10 is the level. depth: decibels shown below the largest. short: kept in
    16 bits, for many steps.
    """

    name: str
    symbol: str
    unit: str
    values: Sequence[NDArray[Any] | None]
    on: str = "vertices"
    quantity: str = "abs"
    level: bool = False
    power: bool = False
    depth: float = 40.0
    short: bool = False

    def packed(self) -> dict[str, Any]:
        given = [np.asarray(each) for each in self.values if each is not None]
        if not given or self.on not in PLACES:
            raise ValueError(f"field {self.name!r} on {self.on!r}: give values on one of {', '.join(PLACES)}")
        if any(each.ndim > 2 or each.shape[1:] not in ((), (3,)) for each in given):
            raise ValueError(f"field {self.name!r} has shape {given[0].shape}: give values (n,) or (n, 3)")
        pack = shortened if self.short else packed
        values = []
        for each in self.values:
            parts = None
            if each is not None:
                parts = {"re": pack(np.real(each))}
                if np.iscomplexobj(each):
                    parts["im"] = pack(np.imag(each))
            values.append(parts)
        real = [each.real for each in given if not np.iscomplexobj(each)]
        return {
            "name": self.name,
            "symbol": self.symbol,
            "unit": self.unit,
            "on": self.on,
            "components": 3 if given[0].ndim == 2 else 1,
            "complex": any(np.iscomplexobj(each) for each in given),
            "signed": any(np.nanmin(each, initial=0.0) < 0 for each in real),
            "quantity": self.quantity,
            "level": self.level,
            "power": self.power,
            "depth": self.depth,
            "values": values,
        }


@dataclass(frozen=True)
class Surface:
    """Triangles (nt, 3) of vertices (nv, 3). colour: "#rrggbb" where it has no field. displacement (nv, 3): by which it
    can be deformed. open: (normal, distance), the side normal . x > distance is taken off at first. numbers (nt,): by
    which triangles are called, instead of 0, 1, 2 ... hidden: until it is chosen. opacity: below 1 of what others
    are seen through, such as a board."""

    name: str
    vertices: NDArray[np.float64]
    triangles: NDArray[np.integer]
    fields: tuple[Field, ...] = ()
    colour: str = ""
    displacement: NDArray[np.float64] | None = None
    open: tuple[NDArray[np.float64], float] | None = None
    numbers: NDArray[np.integer] | None = None
    hidden: bool = False
    opacity: float = 1.0

    @classmethod
    def of_faces(
        cls, name: str, vertices: NDArray[np.float64], faces: NDArray[np.integer], colour: str, **more: Any
    ) -> "Surface":
        """Some faces (n, 3), with their vertices alone."""
        used, index = np.unique(faces, return_inverse=True)
        return cls(name, vertices[used], index.reshape(-1, 3), colour=colour, **more)

    @classmethod
    def box(cls, name: str, low: ArrayLike, high: ArrayLike, colour: str, **more: Any) -> "Surface":
        """A cuboid between opposite corners (3,), or a rectangle where these agree along one axis."""
        corners = np.stack(np.meshgrid([0, 1], [0, 1], [0, 1], indexing="ij"), axis=-1).reshape(-1, 3)
        vertices = np.where(corners == 0, np.asarray(low, dtype=float), np.asarray(high, dtype=float))
        sides = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
        triangles = np.array([[[a, b, c], [a, c, d]] for a, b, c, d in sides]).reshape(-1, 3)
        areas = np.linalg.norm(
            np.cross(*(vertices[triangles[:, k]] - vertices[triangles[:, 0]] for k in (1, 2))), axis=1
        )
        kept = triangles[areas > 0]
        flat = len(kept) < len(triangles)
        return cls(name, vertices, kept[: len(kept) // 2] if flat else kept, colour=colour, **more)

    def packed(self) -> dict[str, Any]:
        index = np.uint16 if len(self.vertices) <= 1 << 16 else np.uint32
        layer: dict[str, Any] = {
            "kind": "surface",
            "name": self.name,
            "vertices": packed(self.vertices),
            "triangles": packed(np.asarray(self.triangles), index),
            "fields": [each.packed() for each in self.fields],
            "hidden": self.hidden,
        }
        if self.colour:
            layer["colour"] = self.colour
        if self.displacement is not None:
            layer["displacement"] = packed(self.displacement)
        if self.numbers is not None:
            layer["numbers"] = packed(self.numbers, np.uint32)
        if self.opacity < 1:
            layer["opacity"] = self.opacity
        if self.open is not None:
            layer["open"] = [*map(float, self.open[0]), float(self.open[1])]
        return layer


@dataclass(frozen=True)
class Grid:
    """A rectangle of points (rows, columns, 3) of equal distances, with values (rows columns,), NaN where none is
    drawn. filled: values are continued by one point into a body that hides them, so that there is no gap at it. side:
    "inside" or "outside" of the surfaces of the scene, to which the rectangle is clipped; they must be closed."""

    name: str
    points: NDArray[np.float64]
    fields: tuple[Field, ...]
    hidden: bool = False
    filled: bool = False
    side: str = ""

    def packed(self) -> dict[str, Any]:
        corner = self.points[0, 0]
        return {
            "kind": "grid",
            "name": self.name,
            "shape": list(self.points.shape[:2]),
            "origin": corner.tolist(),
            "along": (self.points[0, -1] - corner).tolist(),
            "across": (self.points[-1, 0] - corner).tolist(),
            "fields": [each.packed() for each in self.fields],
            "hidden": self.hidden,
            "filled": self.filled,
            "side": self.side,
        }


@dataclass(frozen=True)
class Pattern:
    """Levels in decibels in the directions theta (rows, from 0 to pi, both included) and phi (columns, from 0 to 2 pi,
    without the latter), as a body whose radius is the level above the floor `depth` of the field."""

    name: str
    shape: tuple[int, int]
    fields: tuple[Field, ...]

    @staticmethod
    def directions(rows: int, columns: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """theta and phi (rows columns,) in radians."""
        theta, phi = np.linspace(0, np.pi, rows), 2 * np.pi * np.arange(columns) / columns
        return np.repeat(theta, columns), np.tile(phi, rows)

    def packed(self) -> dict[str, Any]:
        fields = [each.packed() for each in self.fields]
        return {"kind": "pattern", "name": self.name, "shape": list(self.shape), "fields": fields}


@dataclass(frozen=True)
class Arrows:
    """Arrows from places (n, 3) along vectors (n, 3), in coordinates of the scene, with texts at their beginnings.

    sizes (n,): of double arrows about their places, which lead outward in the first of the colours where the size is
    positive, and inward in the second where it is negative. normals (n, 3): of faces, which hide those that look away.
    """

    name: str
    places: NDArray[np.float64]
    vectors: NDArray[np.float64]
    colours: tuple[str, ...] = ("#1c2127",)
    texts: tuple[str, ...] = ()
    sizes: NDArray[np.float64] | None = None
    normals: NDArray[np.float64] | None = None
    hidden: bool = False

    def packed(self) -> dict[str, Any]:
        arrows: dict[str, Any] = {"name": self.name, "colours": list(self.colours), "hidden": self.hidden}
        arrows |= {"places": packed(self.places), "vectors": packed(self.vectors)}
        if self.texts:
            arrows["texts"] = list(self.texts)
        if self.sizes is not None:
            arrows["signs"] = packed(np.sign(self.sizes))
        if self.normals is not None:
            arrows["normals"] = packed(self.normals)
        return arrows


@dataclass(frozen=True)
class Steps:
    """The steps of fields with several values: name (such as "frequency"), a label for each step, first: number of the
    step shown first (-1: the last), own: whether each step has a range of colours of its own at first."""

    name: str
    labels: Sequence[str]
    first: int = -1
    own: bool = False


@dataclass(frozen=True)
class Scene:
    """Layers in one picture; length: the unit of coordinates; steps: of fields with several values; factor: of
    displacements, at first; edges: of triangles shown at first; eye: azimuth and elevation in degrees from which it is
    seen at first; flags: whether the places of the largest and the least value are marked at first; arrows: next to
    the layers; caption: a sentence below."""

    layers: tuple[Surface | Grid | Pattern, ...]
    length: str = "m"
    steps: Steps | None = None
    factor: float = 0.0
    edges: bool = False
    eye: tuple[float, float] | None = None
    flags: bool = False
    arrows: tuple[Arrows, ...] = ()
    caption: str = ""
    title: str = ""
    subtitle: str = ""
    parts: tuple["Scene", ...] = field(default=())
    """Further scenes on the same page."""

    def packed(self) -> dict[str, Any]:
        """The scene as JSON."""
        scene: dict[str, Any] = {"layers": [each.packed() for each in self.layers], "length": self.length}
        if self.steps is not None:
            labels = list(self.steps.labels)
            first = self.steps.first % len(labels)
            scene["steps"] = {"name": self.steps.name, "labels": labels, "first": first, "own": self.steps.own}
        if self.eye is not None:
            scene["eye"] = list(self.eye)
        if self.edges:
            scene["edges"] = True
        if self.flags:
            scene["flags"] = True
        if self.arrows:
            scene["arrows"] = [each.packed() for each in self.arrows]
        if self.factor:
            scene["factor"] = self.factor
        return scene


CODES: dict[Any, str] = {np.float32: "f32", np.uint32: "u32", np.uint16: "u16"}


def packed(values: NDArray[Any], kind: Any = np.float32) -> dict[str, Any]:
    """{type, data} of an array in row order, little-endian, base64."""
    array = np.ascontiguousarray(values, dtype=np.dtype(kind).newbyteorder("<"))
    return {"type": CODES[kind], "data": base64.b64encode(array.tobytes()).decode("ascii")}


def shortened(values: NDArray[np.float64]) -> dict[str, Any]:
    """{type, data, low, high} of an array in 16 bits; errors are at most 1/131,068 of the range from low to high."""
    finite = np.isfinite(values)
    low, high = (float(values[finite].min()), float(values[finite].max())) if finite.any() else (0.0, 1.0)
    if high == low:
        high = low + 1.0
    scaled = np.full(values.shape, NO_VALUE, dtype=np.uint16)
    scaled[finite] = np.round((values[finite] - low) * ((NO_VALUE - 1) / (high - low))).astype(np.uint16)
    return packed(scaled, np.uint16) | {"low": low, "high": high}
