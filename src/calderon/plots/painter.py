"""A surface drawn by Matplotlib alone: triangles projected, shaded, sorted by depth and painted from back to front.

The painter's algorithm on small triangles; large ones are cut up first, which also interpolates values given at
vertices. Painting happens without anti-aliasing on a canvas of twice the resolution, which is then averaged: neither
seams between triangles nor stairs at the outline.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PolyCollection
from matplotlib.colors import Colormap, to_rgba
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

VIEWS: dict[str, tuple[float, float]] = {
    # name: azimuth of the eye seen from above, counted from +x, and its elevation, both in degrees
    "iso": (-58.0, 24.0),
    "side": (-90.0, 0.0),
    "top": (-90.0, 90.0),
    "front": (0.0, 0.0),
    "back": (180.0, 0.0),
}


@dataclass(frozen=True)
class Camera:
    """right, up and eye: orthonormal vectors (3,), eye pointing from the body to the viewer."""

    right: NDArray[np.float64]
    up: NDArray[np.float64]
    eye: NDArray[np.float64]

    def project(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n, 3) points to (n, 3): to the right, upward, and depth growing toward the viewer."""
        return points @ np.stack([self.right, self.up, self.eye], axis=1)


def camera(view: str | ArrayLike) -> Camera:
    """A camera by name ("iso", "side", "top", "front", "back"), by (azimuth, elevation) in radians or by a direction
    (3,) to the eye."""
    if isinstance(view, str):
        if view not in VIEWS:
            raise ValueError(f"unknown view {view!r}: choose one of {', '.join(map(repr, VIEWS))} or give a direction")
        azimuth, elevation = np.radians(VIEWS[view])
    else:
        given = np.asarray(view, dtype=float)
        if given.shape == (3,) and np.linalg.norm(given) > 0:
            azimuth, elevation = np.arctan2(given[1], given[0]), np.arctan2(given[2], np.hypot(given[0], given[1]))
        elif given.shape == (2,):
            azimuth, elevation = given
        else:
            raise ValueError(f"view of shape {given.shape}: give a name, (azimuth, elevation) or a direction (3,)")
    sin_a, cos_a, sin_e, cos_e = np.sin(azimuth), np.cos(azimuth), np.sin(elevation), np.cos(elevation)
    return Camera(
        right=np.array([-sin_a, cos_a, 0.0]),
        up=np.array([-sin_e * cos_a, -sin_e * sin_a, cos_e]),
        eye=np.array([cos_e * cos_a, cos_e * sin_a, sin_e]),
    )


def light(normals: NDArray[np.float64], lens: Camera) -> NDArray[np.float64]:
    """Brightness (n,) between 0 and 1 of faces with the given normals, lit on both sides.

    A key light from the upper left and a fill light at the eye.
    """
    facing = normals * np.where(normals @ lens.eye < 0, -1.0, 1.0)[:, None]
    facing /= np.linalg.norm(facing, axis=1)[:, None]
    key = lens.eye * 0.75 + lens.up * 0.60 - lens.right * 0.40
    key /= np.linalg.norm(key)
    return 0.34 + 0.48 * np.clip(facing @ key, 0, 1) + 0.18 * np.clip(facing @ lens.eye, 0, 1)


@dataclass(frozen=True)
class Strokes:
    """Lines in space, segments (n, 2, 3), hidden where the surface is in front of them; the width in points."""

    segments: NDArray[np.float64]
    color: str
    width: float


@dataclass(frozen=True)
class Scene:
    """A surface to be drawn: shades between 0 and 1 at the corners (nt, 3) or on the triangles (nt, 1); the window
    (left, right, bottom, top) in metres that the camera sees, and the picture's width and height in pixels."""

    vertices: NDArray[np.float64]
    triangles: NDArray[np.int64]
    shades: NDArray[np.float64]
    colors: Colormap
    lens: Camera
    window: tuple[float, float, float, float]
    pixels: tuple[int, int]
    edges: bool
    strokes: tuple[Strokes, ...] = ()


def paint(scene: Scene, closed: bool = False) -> NDArray[np.uint8]:
    """A picture (height, width, 3) on white of what the camera sees in the window. Of a closed surface only the
    triangles that face the camera are painted."""
    triangles, shades, lens, edges = scene.triangles, scene.shades, scene.lens, scene.edges
    corners = scene.vertices[triangles]
    faces = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals = _smooth_normals(faces, triangles, len(scene.vertices))
    if closed:
        front = faces @ lens.eye > 0
        corners, normals, shades = corners[front], normals[front], shades[front]
    # few triangles are divided, so that shades vary within them
    pieces = 1
    while not edges and len(corners) * 4 <= 60_000:
        corners, normals, shades = _quartered(corners), _quartered(normals), quartered(shades)
        pieces *= 2
    # colours
    brightness = light(normals.mean(axis=1), lens)
    face_colors = scene.colors(shades.mean(axis=1))
    # shaded no more than the form needs: dark shades would pass for other values
    face_colors[:, :3] *= (0.45 + 0.55 * brightness)[:, None]
    # triangles and lines in the window, lines as triangles without area and a little nearer
    projected = lens.project(corners.reshape(-1, 3)).reshape(-1, 3, 3)
    count = len(projected)
    inks, widths = [np.tile(to_rgba("#2c3a47" if edges else "none"), (count, 1))], [np.full(count, 0.35 * edges)]
    for stroke in scene.strokes:
        lines = _cut(lens.project(stroke.segments.reshape(-1, 3)).reshape(-1, 2, 3), max(pieces, 8))
        lines[:, :, 2] += 2e-3 * (scene.window[1] - scene.window[0])
        projected = np.concatenate([projected, lines[:, [0, 1, 1]]])
        inks.append(np.tile(to_rgba(stroke.color), (len(lines), 1)))
        widths.append(np.full(len(lines), 2 * stroke.width))
    face_colors = np.concatenate([face_colors, np.zeros((len(projected) - count, 4))])
    # painted from the back to the front, at twice the resolution
    back_to_front = np.argsort(projected[:, :, 2].mean(axis=1), kind="stable")
    width, height = scene.pixels
    canvas = FigureCanvasAgg(
        Figure(figsize=((2 * width + 0.01) / 100, (2 * height + 0.01) / 100), dpi=100, facecolor="white")
    )
    axes = canvas.figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set(xlim=scene.window[:2], ylim=scene.window[2:])
    outlines: Any = projected[back_to_front, :, :2]
    axes.add_collection(
        PolyCollection(
            outlines,
            facecolors=face_colors[back_to_front],
            edgecolors=_once(np.concatenate(inks)[back_to_front]),
            linewidths=_once(np.concatenate(widths)[back_to_front]),
            antialiaseds=edges,
        ),
        autolim=False,
    )
    canvas.draw()
    # the mean of four pixels
    picture = np.asarray(canvas.buffer_rgba())[: 2 * height, : 2 * width, :3]
    total = picture[::2, ::2].astype(np.uint16)
    for down, right in ((0, 1), (1, 0), (1, 1)):
        total += picture[down::2, right::2]
    return (total // 4).astype(np.uint8)


def _once(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The first where all are equal: Matplotlib scales a pattern of dashes for each."""
    return values[:1] if (values == values[:1]).all() else values


def _smooth_normals(
    faces: NDArray[np.float64], triangles: NDArray[np.int64], number_of_vertices: int
) -> NDArray[np.float64]:
    """Unit normals at the corners (nt, 3, 3): averaged over the triangles around a vertex, except across sharp
    edges."""
    around = np.stack(
        [np.bincount(triangles.ravel(), np.repeat(faces[:, axis], 3), number_of_vertices) for axis in range(3)], axis=1
    )
    own = (faces / np.linalg.norm(faces, axis=1)[:, None])[:, None, :]
    at_corners = around[triangles] / np.maximum(np.linalg.norm(around[triangles], axis=2), 1e-300)[..., None]
    smooth = np.cos(np.radians(32))  # sharper edges stay edges
    return np.where((at_corners * own).sum(axis=2, keepdims=True) > smooth, at_corners, own)


def _cut(segments: NDArray[np.float64], pieces: int) -> NDArray[np.float64]:
    """Segments (n, 2, 3) cut into equal pieces (n pieces, 2, 3)."""
    at = np.linspace(0, 1, pieces + 1)[:, None, None]
    places = segments[:, 0] + at * (segments[:, 1] - segments[:, 0])
    return np.stack([places[:-1], places[1:]], axis=2).reshape(-1, 2, 3)


def _quartered(corners: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, 3, d) triangles cut at their edge midpoints: (4 n, 3, d)."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
    return np.concatenate(
        [np.stack(corner, axis=1) for corner in [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]]
    )


def quartered(shades: NDArray) -> NDArray:
    """Values at the corners (n, 3), or on triangles (n, 1), of triangles cut as in `_quartered`."""
    return np.tile(shades, (4, 1)) if shades.shape[1] == 1 else _quartered(shades[..., None])[..., 0]
