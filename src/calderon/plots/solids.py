"""Solids under load: the deformed body, a stress on it with its largest value marked, and what holds and loads it."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import ArrayLike, NDArray

from calderon.plots.painter import Camera, Strokes, camera
from calderon.plots.quantity import show
from calderon.plots.style import CURVES, INK, ground, picture
from calderon.plots.surfaces import Body, draw_body

if TYPE_CHECKING:
    from calderon.mesh import TriangleMesh

Array = NDArray[np.float64]
FREE, HELD = "#c3ccd6", "#5b7ea6"
OUTLINE = "#8d98a5"


@picture
def solid(
    mesh: "TriangleMesh",
    values: ArrayLike,
    file: str | os.PathLike[str] | None = None,
    *,
    name: str = "",
    unit: str = "",
    length: str = "m",
    displacement: ArrayLike | None = None,
    factor: float = 1.0,
    mark: ArrayLike | None = None,
    note: str = "",
    title: str = "",
    limits: tuple[float, float] | None = None,
    view: str | ArrayLike = "iso",
    renderer: str = "matplotlib",
) -> Figure:
    """Draw real values (triangles, 3), at the corners of each triangle, on a body with its sharp edges; the figure is
    returned and, with file=, written.

    displacement (vertices, 3): moves the body, times the factor; the edges of the undeformed body are drawn in grey.
    mark: a point (3,) of the body with a note, such as the place of the largest value. length: the unit of the mesh.
    Further arguments as for `surface`.
    """
    given = np.asarray(values, dtype=float)
    if given.shape != mesh.triangles.shape:
        raise ValueError(
            f"values of shape {given.shape}: one at each corner of {len(mesh.triangles)} triangles, (n, 3)"
        )
    moved = np.zeros_like(mesh.vertices) if displacement is None else factor * np.asarray(displacement, dtype=float)
    vertices, lens = mesh.vertices + moved, camera(view)
    drawn = show(given, "real", name, unit, limits)
    shades = np.clip((drawn.values - drawn.low) / (drawn.high - drawn.low), 0, 1)
    strokes = [Strokes(vertices[_seen_edges(mesh, vertices, lens)], INK, 0.5)]
    around = np.zeros((0, 3))
    if displacement is not None:
        strokes.append(Strokes(mesh.vertices[_seen_edges(mesh, mesh.vertices, lens)], OUTLINE, 0.5))
        around = mesh.vertices
    body = Body(vertices, mesh.triangles, shades, drawn.colors, mesh.is_closed, False, tuple(strokes), around)
    figure = draw_body(body, drawn, lens, title, renderer, length)
    if mark is not None:
        _mark(figure.axes[0], mesh, vertices, lens, np.asarray(mark, dtype=float), note)
    return figure


def _seen_edges(mesh: "TriangleMesh", vertices: Array, lens: Camera) -> NDArray[np.int64]:
    """(n, 2) vertices of the sharp edges that a triangle facing the camera has."""
    corners = vertices[mesh.triangles]
    facing = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) @ lens.eye > 0
    seen = np.zeros(mesh.number_of_edges, bool)
    seen[mesh.triangle_edges[facing].ravel()] = True
    sharp = mesh.sharp_edges()
    return np.asarray(mesh.edges[sharp[seen[sharp]]])


def _mark(axes: Axes, mesh: "TriangleMesh", vertices: Array, lens: Camera, place: Array, note: str) -> None:
    """A ring at a vertex, dashed where the body is in front of it, and a note next to it, toward the middle."""
    number = int(np.argmin(((mesh.vertices - place) ** 2).sum(axis=1)))
    at = lens.project(vertices[number][None])[0]
    hidden = _covered(vertices, mesh.triangles, lens, at, 1e-3 * mesh.diameter)
    axes.plot(
        *at[:2], "o", markersize=9, markerfacecolor="none", markeredgecolor="white", markeredgewidth=3.0, zorder=5,
        clip_on=False,
    )  # fmt: skip
    axes.plot(
        *at[:2], "o", markersize=9, markerfacecolor="none", markeredgecolor="#c1121f", markeredgewidth=1.4, zorder=6,
        clip_on=False,
    )  # fmt: skip
    left, right = axes.get_xlim()
    bottom, top = axes.get_ylim()
    to_left, below = at[0] > (left + right) / 2, at[1] > (bottom + top) / 2
    axes.annotate(
        note + (" (behind)" if hidden else ""), at[:2], (-34 if to_left else 34, -26 if below else 26),
        textcoords="offset points", ha="right" if to_left else "left", va="top" if below else "bottom", fontsize=8.5,
        color=INK, zorder=7, bbox=ground(0.3, 0.92, "#c1121f"),
        arrowprops={"arrowstyle": "-", "color": "#c1121f", "linewidth": 1.0, "shrinkB": 5},
    )  # fmt: skip


def is_seen(mesh: "TriangleMesh", place: ArrayLike, view: str | ArrayLike) -> bool:
    """Whether no part of the body is in front of the vertex at a place (3,)."""
    lens = camera(view)
    number = int(np.argmin(((mesh.vertices - np.asarray(place)) ** 2).sum(axis=1)))
    at = lens.project(mesh.vertices[number][None])[0]
    return not _covered(mesh.vertices, mesh.triangles, lens, at, 1e-3 * mesh.diameter)


def _covered(vertices: Array, triangles: NDArray[np.int64], lens: Camera, at: Array, slack: float) -> bool:
    """Whether a triangle is nearer to the camera than a projected point (3,)."""
    a, b, c = np.moveaxis(lens.project(vertices)[triangles], 1, 0)
    u, v, w = b[:, :2] - a[:, :2], c[:, :2] - a[:, :2], at[:2] - a[:, :2]
    area = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    safe = np.where(area == 0, 1.0, area)
    s = (w[:, 0] * v[:, 1] - w[:, 1] * v[:, 0]) / safe
    t = (u[:, 0] * w[:, 1] - u[:, 1] * w[:, 0]) / safe
    within = (area != 0) & (s > 0) & (t > 0) & (s + t < 1)
    depth = a[:, 2] + s * (b[:, 2] - a[:, 2]) + t * (c[:, 2] - a[:, 2])
    return bool((depth[within] > at[2] + slack).any())


@picture
def conditions(
    mesh: "TriangleMesh",
    held: Mapping[str, NDArray[np.bool_]],
    loads: Mapping[str, tuple[NDArray[np.bool_], Array]],
    file: str | os.PathLike[str] | None = None,
    *,
    length: str = "m",
    title: str = "",
    view: str | ArrayLike = "iso",
    renderer: str = "matplotlib",
) -> Figure:
    """Draw a mesh with its supports and loads.

    held: by the text of the legend, the triangles (m,) of a support; loads: the same with tractions (m, 3), drawn as
    arrows in proportion to the largest of each load.
    """
    lens = camera(view)
    number, colors = np.zeros(len(mesh.triangles), int), [FREE]
    for mask in held.values():
        number[mask] = len(colors)
        colors.append(_lighter(HELD, 0.28 * (len(colors) - 1)))
    for k, (mask, _) in enumerate(loads.values()):
        number[mask] = len(colors)
        colors.append(_lighter(CURVES[(1, 2, 3, 5)[k % 4]], 0.6))
    shades = (number[:, None] + 0.5) / len(colors)
    texts = [*held, *loads]
    columns = 2 if max(map(len, texts), default=0) <= 20 else 1
    head = 0.15 + 0.21 * -(-len(texts) // columns)
    around = np.zeros((0, 3))
    body = Body(mesh.vertices, mesh.triangles, shades, ListedColormap(colors), mesh.is_closed, True, (), around, head)
    figure = draw_body(body, None, lens, title, renderer, length)
    handles: list[Any] = [Patch(color=colors[k + 1], label=text) for k, text in enumerate(held)]
    for k, (text, (mask, traction)) in enumerate(loads.items()):
        ink = CURVES[(1, 2, 3, 5)[k % 4]]
        _arrows(figure.axes[0], mesh, lens, mask, traction, ink)
        handles.append(Line2D([], [], color=ink, marker=">", markersize=5, linewidth=1.6, label=text))
    if handles:
        figure.axes[0].legend(
            handles=handles, loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.4, ncols=columns
        )
    return figure


def _lighter(color: str, part: float) -> str:
    """A colour moved toward white."""
    channels = np.array([int(color[k : k + 2], 16) for k in (1, 3, 5)])
    mixed = np.rint(channels + min(part, 0.8) * (255 - channels)).astype(int)
    return "#" + "".join(f"{each:02x}" for each in mixed)


def _arrows(axes: Axes, mesh: "TriangleMesh", lens: Camera, mask: NDArray, traction: Array, color: str) -> None:
    """Arrows that end on the visible triangles of a load, thinned out."""
    chosen = np.flatnonzero(mask & (mesh.normals @ lens.eye > 0.02))
    largest = float(np.linalg.norm(traction[chosen], axis=1).max(initial=0.0))
    if largest == 0:
        return
    chosen = chosen[:: max(1, len(chosen) // 40)]
    places, size = lens.project(mesh.centroids[chosen]), 0.09 * float(np.ptp(axes.get_xlim()))
    flat = lens.project(traction[chosen] / largest)[:, :2] * size
    pulls = np.einsum("ni,ni->n", traction[chosen], mesh.normals[chosen]) > 0
    tails = places[:, :2] - np.where(pulls[:, None], 0.0, flat)
    axes.quiver(
        *tails.T, *flat.T, angles="xy", scale_units="xy", scale=1.0, units="inches", width=0.011, headwidth=4.5,
        headlength=5.5, headaxislength=5.0, facecolor=color, edgecolor="white", linewidth=0.4, zorder=4, clip_on=False,
    )  # fmt: skip
