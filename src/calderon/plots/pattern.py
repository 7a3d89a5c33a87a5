"""Radiation patterns of antennas: on planes of coordinates, and in all directions."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from calderon.mesh import TriangleMesh, hemisphere, sphere
from calderon.plots.curves import polar
from calderon.plots.surfaces import surface
from calderon.spaces import P1, Function

Pattern = Callable[[NDArray[np.float64], NDArray[np.float64]], Any]
PLANES = ("xy", "xz", "yz", "yx", "zx", "zy")


def radiation_pattern(
    gain: Pattern | Mapping[str, Pattern],
    file: str | os.PathLike[str] | None = None,
    *,
    planes: Sequence[str] = ("xy", "xz", "yz"),
    points: int = 361,
    quantity: str = "gain",
    title: str = "",
    span: float = 40.0,
    limits: tuple[float, float] | None = None,
) -> Figure:
    """Polar curves of a gain in dBi on planes of coordinates; the figure is returned and, with file=, written.

    gain: a function of theta and phi in radians (n,) with linear values (n,), 1 for an isotropic radiator, such as
    `solution.gain` or `solution.directivity`; or several by label. planes: "xz" begins along x, to the right, and turns
    toward z. Values below `span` decibels under the largest are drawn on the floor; limits: (floor, top) in dBi.
    """
    angles = np.linspace(0, 2 * np.pi, points)
    curves = levels_on_planes(gain, planes, angles)
    return polar(angles, curves, "dBi", file, quantity=quantity, title=title, span=span, limits=limits)


def levels_on_planes(
    gain: Pattern | Mapping[str, Pattern], planes: Sequence[str], angles: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    """Curves {label: (n,)} of 10 log10 of a gain, or several by label, at angles (n,) in radians on planes of
    coordinates, from -300 dB on; arguments as of `radiation_pattern`."""
    patterns = gain if isinstance(gain, Mapping) else {"": gain}
    wrong = [plane for plane in planes if plane not in PLANES]
    if wrong or not planes:
        raise ValueError(f"unknown planes {wrong or list(planes)}: choose among {', '.join(map(repr, PLANES))}")
    curves = {}
    for label, pattern in patterns.items():
        for plane in planes:
            theta, phi = _directions(angles, plane)
            with np.errstate(divide="ignore"):
                level = 10 * np.log10(np.asarray(pattern(theta, phi), dtype=float))
            curves[f"{label} {plane} plane".strip()] = np.maximum(level, -300.0)
    return curves


def radiation_body(
    gain: Pattern,
    file: str | os.PathLike[str] | None = None,
    *,
    quantity: str = "gain",
    title: str = "",
    span: float = 30.0,
    view: str | ArrayLike = "iso",
    renderer: str = "auto",
) -> Figure:
    """A gain in all directions as a body: its colours are decibels above isotropic, its radius too, from zero `span`
    decibels below the largest. The figure is returned and, with file=, written.

    gain: as one of `radiation_pattern`. view, renderer: as for `surface`.
    """
    return pattern_body(gain, directions(), quantity, file, span, title=title, view=view, renderer=renderer)


def pattern_body(
    gain: Pattern,
    ball: TriangleMesh,
    quantity: str,
    file: str | os.PathLike[str] | None,
    span: float,
    unit: str = "isotropic",
    **options: Any,
) -> Figure:
    """The picture of `radiation_body` over the directions to the vertices of a ball, or of a part of it, with decibels
    re 1 unit; options as for `surface`."""
    if not 0 < span < np.inf:
        raise ValueError(f"span must be positive, in dB, got {span!r}")
    x, y, z = ball.vertices.T
    values = np.maximum(np.asarray(gain(np.arctan2(np.hypot(x, y), z), np.arctan2(y, x)), dtype=float), 0.0)
    if not 0 < values.max() < np.inf:
        raise ValueError(f"a gain must be finite and not zero everywhere, its largest value is {values.max():g}")
    top = 10 * np.log10(values.max())
    level = 10 * np.log10(np.maximum(values, values.max() * 10 ** (-span / 10)))
    radius = np.maximum((level - top + span) / span, 0.01)  # a body of no thickness has no normals
    body = TriangleMesh(radius[:, None] * ball.vertices, ball.triangles)
    shown = Function(P1(body), np.sqrt(values), quantity, unit)
    return surface(shown, "db", file, limits=(top - span, top), scale_bar=False, **options)


def directions(half_space: str = "") -> TriangleMesh:
    """A ball whose vertices are directions in all of space, or half of one for a half space such as "+z"."""
    if not half_space:
        return sphere(1.0, 0.05)
    half, axis = hemisphere(1.0, 0.05), "xyz".index(half_space[1])
    x = half.vertices if half_space[0] == "+" else half.vertices * [1, -1, -1]
    return TriangleMesh(np.roll(x, axis - 2, axis=1), half.triangles)


def _directions(angles: NDArray[np.float64], plane: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """theta and phi of directions on a plane, from its first axis toward its second."""
    first, second = np.eye(3)[["xyz".index(axis) for axis in plane]]
    x, y, z = (np.cos(angles)[:, None] * first + np.sin(angles)[:, None] * second).T
    return np.arctan2(np.hypot(x, y), z), np.arctan2(y, x)
