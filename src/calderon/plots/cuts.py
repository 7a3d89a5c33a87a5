"""Cuts through bodies of several parts: colours of a field, outlines of the parts, marks; still or moving."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import scipy
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Path2D
from matplotlib.patheffects import withStroke
from numpy.typing import ArrayLike, NDArray
from PIL import Image

from calderon.files import whole_file
from calderon.plots.quantity import Shown, show
from calderon.plots.slices import BLANK, checked_slice, continued, slice_image, usual
from calderon.plots.style import INK, ground, paper, picture, pixels

METAL, METAL_EDGE = "#c3c9d2", "#4b5563"
Outlines = Mapping[str, NDArray[np.float64]]
Marks = Mapping[str, tuple[float, float]]
Extent = tuple[float, float, float, float]


@picture
def cut(
    points: ArrayLike,
    values: ArrayLike,
    quantity: str = "abs",
    file: str | os.PathLike[str] | None = None,
    *,
    name: str = "E",
    unit: str = "V/m",
    outlines: Outlines | None = None,
    marks: Marks | None = None,
    title: str = "",
    limits: tuple[float, float] | None = None,
) -> Figure:
    """Draw values (rows, columns) at the points (rows, columns, 3) of a rectangle; the figure is returned.

    outlines {name: segments (n, 2, 2)} in metres along the rectangle's sides, from `cut_triangles`: lines; what the
    one called "metal" encloses is filled, and colours are drawn only within the one called "within". NaN is left blank
    without the latter. marks {label: (s, t)}, a cross at a point given alike. quantity, name, unit, limits: as for
    `field_slice`; without limits the colours of magnitudes end at the 99.5th percentile where a few points stand out.
    """
    points, field = checked_slice(np.asarray(points, dtype=float), np.asarray(values))
    drawn = usual(show(field, quantity, name, unit, limits), quantity, limits)
    figure, image, extent = _parts(points, drawn, drawn.values, outlines or {})
    for label, (s, t) in (marks or {}).items():
        _mark(image.axes, (extent[0] + s, extent[2] + t), label, extent)
    image.axes.set_title(title, loc="left", pad=8)
    return figure


def animate(
    points: ArrayLike,
    frames: ArrayLike,
    file: str | os.PathLike[str],
    quantity: str = "abs",
    *,
    name: str = "E",
    unit: str = "V/m",
    outlines: Outlines | None = None,
    limits: tuple[float, float] | None = None,
    captions: Sequence[str] = (),
    seconds: float = 2.4,
) -> Path:
    """Write values (frames, rows, columns) as a GIF that repeats, with one range of colours; the rest as for `cut`.

    captions: of the frames, such as times. seconds: of one round. Written whole or not at all. ValueError for another
    ending than .gif, a missing folder or no frames.
    """
    path = path_of_gif(file)
    every = np.asarray(frames)
    if every.ndim != 3 or not len(every):
        raise ValueError(f"frames of shape {every.shape}: (frames, rows, columns) with at least one are needed")
    place, _ = checked_slice(np.asarray(points, dtype=float), every[0])
    drawn = usual(show(every, quantity, name, unit, limits), quantity, limits)
    with paper():
        figure, image, _ = _parts(place, drawn, drawn.values[0], outlines or {})
        text = image.axes.set_title(" ", loc="left", pad=8)
        palette, pictures = _palette(drawn), []
        for number, values in enumerate(drawn.values):
            image.set_data(_filled(values, outlines or {}))
            text.set_text(captions[number] if number < len(captions) else " ")
            pictures.append(_indexed(pixels(figure, 85), palette))
    write_gif(path, pictures, seconds)
    return path


def path_of_gif(file: str | os.PathLike[str]) -> Path:
    """The path of an animation; ValueError for another ending than .gif."""
    path = Path(file)
    if path.suffix.lower() != ".gif":
        raise ValueError(f"an animation's file name ends in .gif: got {str(path)!r}")
    return path


def write_gif(path: Path, pictures: Sequence[Image.Image], seconds: float) -> None:
    """Write pictures as a GIF that repeats, one round in so many seconds, whole or not at all."""
    pace = int(1000 * seconds / len(pictures))
    with whole_file(path) as scratch:
        pictures[0].save(scratch, format="GIF", save_all=True, append_images=list(pictures[1:]), loop=0, duration=pace)


def _filled(values: NDArray[np.float64], outlines: Outlines) -> NDArray[np.float64]:
    """Blank values continued, so that colours reach outlines that cover or clip them."""
    return continued(values) if np.isnan(values).any() and "within" in outlines else values


def _parts(
    points: NDArray[np.float64], drawn: Shown, values: NDArray[np.float64], outlines: Outlines
) -> tuple[Figure, AxesImage, Extent]:
    """A figure in the rectangle's proportions with an image of values and outlines, and its range in metres."""
    figure, image, extent = slice_image(points, drawn, _filled(values, outlines))
    axes = image.axes
    axes.set_facecolor(BLANK)
    # the body: an outline, a metal region, or the region outside which nothing is drawn
    for name, segments in outlines.items():
        rings = [ring + [extent[0], extent[2]] for ring in chained(np.asarray(segments))]
        if name == "within":
            clip = PathPatch(Path2D.make_compound_path(*map(Path2D, rings)), transform=axes.transData)
            image.set_clip_path(clip)
        elif name == "metal":
            axes.add_collection(
                PolyCollection(rings, facecolors=METAL, edgecolors=METAL_EDGE, linewidths=1.1, zorder=3)
            )
        else:
            lines = LineCollection(rings, colors=INK, linewidths=0.8, capstyle="round", zorder=4)
            lines.set_path_effects([withStroke(linewidth=1.6, foreground=(1, 1, 1, 0.5))])
            axes.add_collection(lines)
    return figure, image, extent


def chained(segments: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Segments (n, 2, 2) that meet at their ends as lines (m, 2), closed ones ending where they begin."""
    size = float(np.ptp(segments.reshape(-1, 2), axis=0).max(initial=0)) or 1.0
    corners, number = np.unique(np.round(segments.reshape(-1, 2) / size, 9), axis=0, return_inverse=True)
    ends = [tuple(map(int, pair)) for pair in number.reshape(-1, 2) if pair[0] != pair[1]]
    around: dict[int, list[int]] = {}
    for n, pair in enumerate(ends):
        for corner in pair:
            around.setdefault(corner, []).append(n)
    used, lines = np.zeros(len(ends), bool), []
    # open lines are followed from one of their ends, closed ones from anywhere
    starts = [corner for corner, at in around.items() if len(at) % 2] + [pair[0] for pair in ends]
    for start in starts:
        line = [start]
        while free := [n for n in around[line[-1]] if not used[n]]:
            first, second = ends[free[0]]
            used[free[0]] = True
            line.append(second if first == line[-1] else first)
        if len(line) > 1:
            lines.append(corners[line] * size)
    return lines


def _palette(drawn: Shown) -> NDArray[np.uint8]:
    """(256, 3) the colours of the field, greys and the ground, the same for all frames."""
    colors = (255 * drawn.colors(np.linspace(0, 1, 208))[:, :3]).round().astype(np.uint8)
    greys = np.repeat(np.linspace(0, 255, 47).round().astype(np.uint8)[:, None], 3, axis=1)
    return np.concatenate([colors, greys, np.rint([255 * np.array(to_rgb(BLANK))]).astype(np.uint8)])


def _indexed(picture: NDArray[np.uint8], palette: NDArray[np.uint8]) -> Image.Image:
    """A picture (height, width, 3) in the nearest colours of the palette."""
    every, number = np.unique(picture.reshape(-1, 3), axis=0, return_inverse=True)
    nearest = scipy.spatial.cKDTree(palette).query(every)[1].astype(np.uint8)
    result = Image.fromarray(nearest[number.ravel()].reshape(picture.shape[:2]), mode="P")
    result.putpalette(palette.ravel().tolist())
    return result


def _mark(axes: Axes, place: tuple[float, float], label: str, extent: Extent) -> None:
    """A cross and its label, toward the middle of the picture."""
    axes.plot(*place, marker="+", markersize=11, markeredgewidth=2.6, color="white", zorder=5)
    axes.plot(*place, marker="+", markersize=10, markeredgewidth=1.2, color=INK, zorder=6)
    left = place[0] > (extent[0] + extent[1]) / 2
    axes.annotate(
        label, place, xytext=(-10 if left else 10, 8), textcoords="offset points", ha="right" if left else "left",
        fontsize=8, color=INK, zorder=7, bbox=ground(0.25, 0.85),
    )  # fmt: skip
