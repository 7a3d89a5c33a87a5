"""Scenes of solutions: currents with the body of their pattern."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.spaces import VectorFunction
from calderon.view import Field, Pattern, Scene, Steps


def currents_scene(currents: Sequence[VectorFunction], title: str, subtitle: str) -> Scene:
    """The currents of all surfaces; several are called surface 1, 2 ..."""
    layers = tuple(each.scene().layers[0] for each in currents)
    if len(layers) > 1:
        layers = tuple(replace(layer, name=f"surface {n}") for n, layer in enumerate(layers, start=1))
    return Scene(layers, title=title, subtitle=subtitle)


def pattern_rows(currents: Sequence[VectorFunction], wavenumber: complex) -> int:
    """Rows of directions of a pattern, four for each lobe, at most every 5 and at least every 2 degrees, as far as that
    takes little time: 5e7 directions times triangles."""
    meshes = [each.space.mesh for each in currents]
    radius = max(float(np.linalg.norm(mesh.vertices, axis=1).max()) for mesh in meshes)
    wanted = int(np.ceil(4 * abs(wavenumber) * radius)) + 1
    affordable = int(np.sqrt(5e7 / 2 / sum(mesh.number_of_triangles for mesh in meshes)))
    return max(19, min(max(37, wanted), 91, affordable)) | 1  # odd: the equator is one of them


def directional_scene(
    level: Callable[[NDArray[np.float64], NDArray[np.float64]], ArrayLike], rows: int, name: str, unit: str
) -> Scene:
    """level(theta, phi), linear values of a power, in all directions as a body: radius and colours are 10 log10."""
    shape = (rows, 2 * (rows - 1))
    return Scene((pattern_layer(shape, [level_values(level, shape)], name, unit),), length="", title=name)


def level_values(
    level: Callable[[NDArray[np.float64], NDArray[np.float64]], ArrayLike], shape: tuple[int, int]
) -> NDArray[np.float64]:
    """10 log10 of level in the directions of a pattern, -300 for zero."""
    values = np.asarray(level(*Pattern.directions(*shape)), dtype=float)
    return np.asarray(10 * np.log10(np.maximum(values, 1e-30)))


def pattern_layer(
    shape: tuple[int, int], values: Sequence[NDArray[np.float64] | None], name: str, unit: str, depth: float = 40.0
) -> Pattern:
    """Levels in decibels of one step or several, down to `depth` below the largest."""
    shown = Field(name[:1].upper() + name[1:], name, unit, values, quantity="real", level=True, depth=depth)
    return Pattern(name, shape, (shown,))


def stepped_scene(scenes: Sequence[Scene], steps: Steps) -> Scene:
    """Scenes with the same bodies, parts and fields as the steps of one: values change, shapes are those of the first.
    ValueError for parts that differ in shape, such as patterns with other numbers of directions."""
    layers = []
    for several in zip(*(each.layers for each in scenes), strict=True):
        first: Any = several[0]
        own: list[Any] = list(several)
        fields = tuple(
            replace(one, values=[each.fields[k].values[0] for each in own], short=len(own) > 4)
            for k, one in enumerate(first.fields)
        )
        for one in fields:
            if len(shapes := {np.shape(values) for values in one.values}) > 1:
                raise ValueError(f"{one.name!r} has values of shapes {sorted(shapes)} at the steps of a scene")
        layers.append(replace(first, fields=fields))
    parts = tuple(stepped_scene(several, steps) for several in zip(*(each.parts for each in scenes), strict=True))
    return replace(scenes[0], layers=tuple(layers), parts=parts, steps=steps)
