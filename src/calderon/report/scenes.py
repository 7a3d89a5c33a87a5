"""Parts of scenes that several kinds of problems share."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.mesh import TriangleMesh
from calderon.plots.painter import camera
from calderon.report.formatting import plane_equation
from calderon.view import Arrows, Field, Grid, Scene, Steps, Viewable

NUMBERS = 500_000
"""Numbers of a field over all its steps, at most."""


def grid(
    points: NDArray[np.float64], fields: Sequence[Field], hidden: bool = False, filled: bool = False, side: str = "",
    length: str = "m",
) -> Grid:  # fmt: skip
    """The field in a plane, points (rows, columns, 3) with values in their order, thinned to what a page carries; in
    the given unit of length. Further arguments as of `Grid`."""
    rows, columns = points.shape[:2]
    weight = max(
        sum(
            np.asarray(values).size * (2 if np.iscomplexobj(values) else 1)
            for values in one.values
            if values is not None
        )
        for one in fields
    ) / (rows * columns)
    steps = max(sum(values is not None for values in one.values) for one in fields)
    most = min(120_000 * steps, NUMBERS)  # a plane is as sharp as the picture of it
    every = int(np.ceil(np.sqrt(max(1.0, rows * columns * weight / most))))
    fewer = [_thinned(one, (rows, columns), every) for one in fields]
    name = f"plane {plane_equation(points, length)}"
    return Grid(name, points[::every, ::every], tuple(fewer), hidden, filled, side)


def _thinned(one: Field, shape: tuple[int, int], every: int) -> Field:
    """A field on every so manieth point of (rows, columns), values (rows columns, ...)."""
    values = []
    for each in one.values:
        x = np.asarray(each)
        fewer = None if each is None else x.reshape(*shape, *x.shape[1:])[::every, ::every]
        values.append(None if fewer is None else fewer.reshape(-1, *x.shape[1:]))
    return replace(one, values=values, short=True)


def stepped_currents(sources: Sequence[Viewable], caption: str, steps: Steps | None = None, **look: Any) -> Scene:
    """The surface currents of several sources, one a step, on the surface of the first; look: of its fields."""
    shown = [each.scene() for each in sources]
    body: Any = shown[0].layers[0]
    layers: list[Any] = [each.layers[0] for each in shown]
    fields = tuple(
        replace(one, symbol="J", values=[each.fields[k].values[0] for each in layers], short=len(layers) > 4, **look)
        for k, one in enumerate(body.fields)
    )
    return replace(shown[0], layers=(replace(body, fields=fields),), caption=caption, steps=steps)


def opening(points: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """The normal of a plane toward who looks at the scene, and its distance from the origin."""
    normal = np.cross(points[0, -1] - points[0, 0], points[-1, 0] - points[0, 0])
    normal = normal / np.linalg.norm(normal)
    if normal @ camera("iso").eye < 0:
        normal = -normal
    return normal, float(normal @ points[0, 0])


def facing(normal: NDArray[np.float64]) -> tuple[float, float]:
    """Azimuth and elevation in degrees from which a plane is seen well, and the bodies behind it, too."""
    azimuth = float(np.degrees(np.arctan2(normal[1], normal[0])))
    return (-58.0, 42.0) if abs(normal[2]) > 0.7 else (azimuth - 32.0 if normal[0] > 0.7 else azimuth + 32.0, 20.0)


def eye_of(view: Any) -> tuple[float, float]:
    """Azimuth and elevation in degrees of a view of pictures (`plots.painter.camera`)."""
    lens = camera(view)
    azimuth = np.degrees(np.arctan2(-lens.right[0], lens.right[1]))
    return float(azimuth), float(np.degrees(np.arcsin(np.clip(lens.eye[2], -1, 1))))


def incident_arrows(mesh: TriangleMesh, travel: NDArray[np.float64], vector: NDArray[Any] | None) -> Arrows:
    """Where a plane wave comes from and goes to, next to a body, and the real part of its electric field (3,)."""
    low, high = mesh.bounds
    middle, reach = (low + high) / 2, float(np.abs((high - low) / 2 @ np.abs(travel)))
    size = 0.3 * float(np.linalg.norm(high - low))
    start = middle - (reach + 1.25 * size) * travel
    places, vectors, texts = [start], [size * travel], ["incident wave"]
    if vector is not None and (length := float(np.linalg.norm(np.real(vector)))) > 0:
        places.append(start)
        vectors.append(0.6 * size * np.real(vector) / length)
        texts = ["incident wave, E"]
    return Arrows("incident wave", np.array(places), np.array(vectors), texts=tuple(texts))


def thinned_steps(count: int, numbers: int) -> list[int]:
    """The steps of a field that a page carries, evenly spread, the last among them; numbers: of one step."""
    return evenly(count, max(1, 8 * NUMBERS // max(1, numbers)))


def evenly(count: int, most: int) -> list[int]:
    """At most so many of the numbers below count, evenly over them, the last among them."""
    return sorted({round(x) for x in np.linspace(count - 1, 0, min(most, count)).tolist()})
