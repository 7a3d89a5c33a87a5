"""Radiation patterns of antennas on the planes of coordinates."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from calderon.plots.curves import polar

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
    patterns = gain if isinstance(gain, Mapping) else {"": gain}
    wrong = [plane for plane in planes if plane not in PLANES]
    if wrong or not planes:
        raise ValueError(f"unknown planes {wrong or list(planes)}: choose among {', '.join(map(repr, PLANES))}")
    angles = np.linspace(0, 2 * np.pi, points)
    curves = {}
    for label, pattern in patterns.items():
        for plane in planes:
            theta, phi = _directions(angles, plane)
            with np.errstate(divide="ignore"):
                level = 10 * np.log10(np.asarray(pattern(theta, phi), dtype=float))
            curves[f"{label} {plane} plane".strip()] = np.maximum(level, -300.0)
    return polar(angles, curves, "dBi", file, quantity=quantity, title=title, span=span, limits=limits)


def _directions(angles: NDArray[np.float64], plane: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """theta and phi of directions on a plane, from its first axis toward its second."""
    first, second = np.eye(3)[["xyz".index(axis) for axis in plane]]
    x, y, z = (np.cos(angles)[:, None] * first + np.sin(angles)[:, None] * second).T
    return np.arctan2(np.hypot(x, y), z), np.arctan2(y, x)
