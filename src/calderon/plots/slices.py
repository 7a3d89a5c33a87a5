"""Fields on a plane through a body: the points to evaluate at, which of them lie inside, and the picture."""

import operator
import os
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import scipy
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from numpy.typing import ArrayLike, NDArray

from calderon.plots.arrow import direction_arrow
from calderon.plots.quantity import LOWER, UPPER, Shown, color_bar, show
from calderon.plots.style import INK, WIDE, new_figure, picture

if TYPE_CHECKING:
    from calderon.mesh import TriangleMesh


BLANK = "#eceff3"
STREAMS = 1.1
"""How closely field lines begin, in the unit of Matplotlib's streamplot."""


def slice_points(centre: ArrayLike, across: ArrayLike, up: ArrayLike, shape: tuple[int, int]) -> NDArray[np.float64]:
    """A rectangle of points (rows, columns, 3) about a centre; across and up are its full sides as vectors (3,).
    ValueError for sides that span no plane, and for fewer points than 2 x 2."""
    try:
        rows, columns = (operator.index(number) for number in shape)
    except (TypeError, ValueError):
        raise ValueError(f"shape={shape!r}: the points of a slice are counted as (rows, columns)") from None
    if rows < 2 or columns < 2:
        raise ValueError(f"a slice of {rows} x {columns} points: at least 2 x 2 are needed")
    s, t = np.linspace(-0.5, 0.5, columns), np.linspace(-0.5, 0.5, rows)
    centre, across, up = (np.asarray(v, dtype=float) for v in (centre, across, up))
    area = float(np.linalg.norm(np.cross(across, up)))
    if not 1e-9 * np.linalg.norm(across) * np.linalg.norm(up) < area < np.inf:
        raise ValueError(f"the sides of a slice span a plane, got {across.tolist()} and {up.tolist()}")
    return centre + s[None, :, None] * across + t[:, None, None] * up


def section(mesh: "TriangleMesh", points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Where the surface cuts the plane of a slice: segments (n, 2, 2) in metres along the slice's two sides.

    points (rows, columns, 3): the slice; its first point is the origin, its first row and first column the axes.
    """
    return cut_triangles(mesh.vertices, mesh.triangles, points)


def cut_triangles(
    vertices: NDArray[np.float64], triangles: NDArray[np.int64], points: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Segments in which a plane cuts triangles (nt, 3) of any kind; points and result as in `section`."""
    origin, across, up, _ = _plane(points)
    # a plane exactly through vertices would cut them twice or not at all: it is moved by a part in 1e9 of the body
    diameter = float(np.linalg.norm(np.ptp(vertices, axis=0)))
    height = (vertices - origin) @ np.cross(across, up) + 1.1e-9 * diameter
    corners, h = vertices[triangles], height[triangles]
    cut = (h > 0).any(axis=1) & (h < 0).any(axis=1)
    corners, h = corners[cut], h[cut]
    # the corner alone on its side of the plane sends two edges through it
    alone = np.argmax((h > 0) == ((h > 0).sum(axis=1) == 1)[:, None], axis=1)
    rows = np.arange(len(h))
    ends = []
    for step in (1, 2):
        other = (alone + step) % 3
        weight = h[rows, alone] / (h[rows, alone] - h[rows, other])
        ends.append(corners[rows, alone] + weight[:, None] * (corners[rows, other] - corners[rows, alone]))
    cuts = np.stack(ends, axis=1) - origin
    return np.stack([cuts @ across, cuts @ up], axis=-1)


def inside(mesh: "TriangleMesh", points: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which points (rows, columns) of a slice lie inside a closed surface: a ray along each row counts the
    crossings."""
    if not mesh.is_closed:
        return np.zeros(points.shape[:2], dtype=bool)
    origin, across, up, _ = _plane(points)
    segments = section(mesh, points)
    s = (points[0] - origin) @ across
    t = (points[:, 0] - origin) @ up
    hidden = np.zeros(points.shape[:2], dtype=bool)
    for row, height in enumerate(t):
        (s0, t0), (s1, t1) = segments[:, 0].T, segments[:, 1].T
        crossed = (t0 <= height) != (t1 <= height)
        where = s0[crossed] + (height - t0[crossed]) / (t1[crossed] - t0[crossed]) * (s1[crossed] - s0[crossed])
        hidden[row] = np.searchsorted(np.sort(where), s) % 2 == 1
    return hidden


@picture
def field_slice(
    points: ArrayLike,
    values: ArrayLike,
    mesh: "TriangleMesh | None" = None,
    quantity: str = "real",
    file: str | os.PathLike[str] | None = None,
    *,
    name: str = "p",
    unit: str = "",
    title: str = "",
    limits: tuple[float, float] | None = None,
    blank: str = "inside",
    incident: ArrayLike | None = None,
    length: str = "m",
    contours: ArrayLike | None = None,
    levels: int = 16,
    field_lines: ArrayLike | None = None,
) -> Figure:
    """Draw values (rows, columns) of a field at the points (rows, columns, 3) of a rectangle; the figure is returned.

    The outline of a mesh is drawn and a closed one's inside left blank (blank="inside", "outside" or "none"); NaN
    values are left blank too. Where limits are not given, the colours span the largest magnitude shown, or its 99.5th
    percentile where a few points near an edge stand out. incident: the direction (3,) along which the incident wave
    travels; an arrow in the corner shows it. length: the unit of points. contours: values (rows, columns) of which
    lines of equal values are drawn, at so many equidistant levels between the smallest and the largest. field_lines:
    vectors (rows, columns, 3) of which lines are drawn along their part in the plane.
    """
    points, field, hidden = visible(points, values, mesh, blank)
    drawn = usual(show(np.where(hidden, np.nan, field), quantity, name, unit, limits), quantity, limits)
    if (field_lines is not None or contours is not None) and drawn.colors.name.startswith("viridis"):
        drawn = replace(drawn, colors=UPPER if drawn.colors.name == "viridis" else LOWER)  # lines are dark
    figure = drawn_slice(points, drawn, hidden, mesh, blank, length)
    figure.axes[0].set_title(title, loc="left", pad=8)
    if contours is not None and levels:
        lines = checked_slice(points, np.asarray(contours))[1].real
        inner = np.linspace(np.nanmin(lines), np.nanmax(lines), levels + 2)[1:-1]
        if np.ptp(inner) > 0:
            pale = 0.6 if field_lines is None else 0.35
            figure.axes[0].contour(
                *slice_sides(points), lines, inner, colors=INK, linewidths=0.6, alpha=pale, linestyles="solid"
            )
    if field_lines is not None:
        _draw_lines(figure.axes[0], points, np.asarray(field_lines, dtype=float))
    if incident is not None:
        along = np.asarray(incident, dtype=float) / np.linalg.norm(incident)
        across, up = _plane(points)[1:3]
        top = figure.axes[0].get_position().y1 * figure.get_figheight()
        corner, flat = (0.65 + 0.56, top - 0.34), (float(along @ across), float(along @ up))
        direction_arrow(figure, corner, flat, "incident wave", boxed=True)
    return figure


def _draw_lines(axes: Axes, points: NDArray[np.float64], vectors: NDArray[np.float64]) -> None:
    """Draw lines along the parts of vectors (rows, columns, 3) in the plane of a slice, of their directions alone."""
    if vectors.shape != points.shape:
        raise ValueError(
            f"field lines of shape {vectors.shape} at points of shape {points.shape}: give one vector a point"
        )
    across, up = _plane(points)[1:3]
    flat = np.ma.masked_invalid(vectors @ np.stack([across, up], axis=1))
    if not (largest := np.abs(flat).max()) or largest is np.ma.masked:
        return
    unit = flat / np.maximum(np.linalg.norm(flat, axis=2, keepdims=True), 1e-12 * largest)
    x, y = slice_sides(points)
    limits = axes.axis()
    axes.streamplot(
        x, y, unit[..., 0], unit[..., 1], density=STREAMS, color=INK, linewidth=0.6, arrowsize=0.6, zorder=2,
    )  # fmt: skip
    axes.axis(limits)


def visible(
    points: ArrayLike, values: ArrayLike, mesh: "TriangleMesh | None", blank: str
) -> tuple[NDArray[np.float64], NDArray, NDArray[np.bool_]]:
    """Points (rows, columns, 3) and values (rows, columns) of a slice, and which points lie on the side of a closed
    mesh that is left blank; ValueError for other shapes and sides."""
    points, field = checked_slice(np.asarray(points, dtype=float), np.asarray(values))
    if blank not in ("inside", "outside", "none"):
        raise ValueError(f"blank={blank!r}: choose 'inside', 'outside' or 'none'")
    if mesh is None or not mesh.is_closed or blank == "none":
        return points, field, np.zeros(field.shape, bool)
    return points, field, inside(mesh, points) == (blank == "inside")


def drawn_slice(
    points: NDArray[np.float64],
    drawn: Shown,
    hidden: NDArray[np.bool_],
    mesh: "TriangleMesh | None",
    blank: str,
    length: str = "m",
) -> Figure:
    """A figure of values (rows, columns) at the points of a slice with the outline of a mesh, of which one side, the
    points `hidden`, is left blank; the other arguments as of `field_slice`."""
    # values, continued into the blank side so that interpolation has neighbours
    figure, image, extent = slice_image(points, drawn, np.where(hidden, continued(drawn.values), drawn.values), length)
    axes = image.axes
    if mesh is not None and mesh.is_closed and blank != "none":
        # the blank side, at a finer resolution than the points
        cover = inside(mesh, _finer(points)) == (blank == "inside")
        stencil = np.where(cover[..., None], np.rint(255 * np.array(to_rgba(BLANK))), 0).astype(np.uint8)
        axes.imshow(stencil, interpolation="nearest", origin="lower", extent=extent, zorder=1)
    if mesh is not None:
        lines = section(mesh, points) + [extent[0], extent[2]]
        axes.add_collection(LineCollection(list(lines), colors=INK, linewidths=1.1, capstyle="round"))
    return figure


def usual(drawn: Shown, quantity: str, limits: tuple[float, float] | None) -> Shown:
    """Magnitudes with colours up to the 99.5th percentile where the largest is far beyond."""
    if limits is None and quantity in ("abs", "real", "imag"):
        usual = float(np.nanpercentile(np.abs(drawn.values), 99.5))
        if 0 < 1.5 * usual < drawn.high:
            return replace(drawn, low=-usual if drawn.low < 0 else 0.0, high=usual)
    return drawn


def checked_slice(points: NDArray[np.float64], field: NDArray) -> tuple[NDArray[np.float64], NDArray]:
    if points.ndim != 3 or points.shape[2] != 3 or min(points.shape[:2]) < 2:
        raise ValueError(f"points of shape {points.shape}: a slice is (rows, columns, 3) with at least two of each")
    if field.shape != points.shape[:2]:
        raise ValueError(f"values of shape {field.shape} at points of shape {points.shape}: give one value a point")
    return points, field.astype(complex if np.iscomplexobj(field) else float)


def slice_image(
    points: NDArray[np.float64], drawn: Shown, values: NDArray[np.float64], length: str = "m"
) -> tuple[Figure, AxesImage, tuple[float, float, float, float]]:
    """A figure in the slice's proportions with a colour bar and an image of values (rows, columns) in the colours of
    `drawn`, and its (left, right, bottom, top) in the unit of length."""
    offset, sides = _offset(points)
    ratio = sides[1] / sides[0]
    wide = min(WIDE, 1.15 * WIDE / ratio)
    width, height = wide + 1.65, wide * ratio + 0.9
    figure = new_figure(width, height)
    axes = figure.add_axes((0.65 / width, 0.55 / height, wide / width, wide * ratio / height))
    names = _plane(points)[3]
    axes.set(xlabel=f"{names[0]} ({length})", ylabel=f"{names[1]} ({length})")
    color_bar(figure, ((0.81 + wide) / width, 0.55 / height, 0.13 / width, wide * ratio / height), drawn)
    extent = (offset[0], offset[0] + sides[0], offset[1], offset[1] + sides[1])
    image = axes.imshow(
        values, cmap=drawn.colors.with_extremes(bad=BLANK), vmin=drawn.low, vmax=drawn.high, interpolation="bilinear",
        origin="lower", extent=extent,
    )  # fmt: skip
    axes.set(xlim=extent[:2], ylim=extent[2:], aspect="equal")
    return figure, image, extent


def slice_sides(points: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Coordinates of the columns and of the rows of a slice along its sides, as its axes have them."""
    offset, sides = _offset(points)
    rows, columns = points.shape[:2]
    return offset[0] + np.linspace(0, sides[0], columns), offset[1] + np.linspace(0, sides[1], rows)


def _finer(points: NDArray[np.float64], factor: int = 5) -> NDArray[np.float64]:
    """Centres of the cells of the rectangle divided `factor` times finer, as a picture covers it."""
    origin, across, up, _ = _plane(points)
    sides = _offset(points)[1]
    rows, columns = factor * points.shape[0], factor * points.shape[1]
    s, t = (np.arange(columns) + 0.5) / columns * sides[0], (np.arange(rows) + 0.5) / rows * sides[1]
    return origin + s[None, :, None] * across + t[:, None, None] * up


def continued(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Blank values replaced by their nearest neighbours, so that colours reach the outline."""
    blank = np.isnan(values)
    if not blank.any() or blank.all():
        return values
    out, known = values.copy(), np.argwhere(~blank)
    out[blank] = values[~blank][scipy.spatial.cKDTree(known).query(np.argwhere(blank))[1]]
    return out


def _plane(
    points: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], list[str]]:
    """First point, unit vectors along rows and columns, and their names (x, y, z where they run along an axis)."""
    across, up = points[0, -1] - points[0, 0], points[-1, 0] - points[0, 0]
    across, up = across / np.linalg.norm(across), up / np.linalg.norm(up)
    if abs(across @ up) > 1e-9:
        raise ValueError("the sides of a slice must be perpendicular")
    names = []
    for vector, default in ((across, "s"), (up, "t")):
        along = np.flatnonzero(vector > 1 - 1e-9)
        names.append("xyz"[along[0]] if len(along) else default)
    return points[0, 0], across, up, names


def _offset(points: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Coordinates of the first point along the slice's sides, and the lengths of the sides."""
    origin, across, up, _ = _plane(points)
    sides = np.array([np.linalg.norm(points[0, -1] - origin), np.linalg.norm(points[-1, 0] - origin)])
    return np.array([origin @ across, origin @ up]), sides
