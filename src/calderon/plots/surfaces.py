"""Surfaces, functions and currents on them, and bodies: by PyVista where it can render, else by Matplotlib alone."""

import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, ListedColormap
from matplotlib.figure import Figure
from matplotlib.image import imread
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import connected_components

from calderon.mesh import TriangleMesh
from calderon.plots import scene
from calderon.plots.arrow import compass
from calderon.plots.painter import Camera, Scene, Strokes, camera, paint, quartered
from calderon.plots.quantity import Shown, color_bar, show
from calderon.plots.style import INK, WIDE, new_figure, paper, picture

if TYPE_CHECKING:
    from calderon.mesh import TriangleMesh
    from calderon.spaces import Function, VectorFunction


BOTTOM = 0.78  # inches under the body, for scale bar and compass
RENDERERS = ("auto", "pyvista", "matplotlib")
STEEL = ListedColormap(["#b9c3cf"], name="calderon_steel")


@picture
def surface(
    shown: "Function | TriangleMesh",
    quantity: str = "abs",
    file: str | os.PathLike[str] | None = None,
    *,
    title: str = "",
    limits: tuple[float, float] | None = None,
    view: str | ArrayLike = "iso",
    edges: bool | None = None,
    renderer: str = "auto",
    scale_bar: bool = True,
    smooth: bool = True,
) -> Figure:
    """Draw a function on its surface, or a bare mesh; the figure is returned and, with file=, written (.png, .pdf,
    .svg).

    quantity: "abs", "real", "imag", "phase" or "db" of the function's values; the colour bar carries its label and
    unit. limits: (lower, upper) of the colours. view: "iso", "side", "top", "front", "back", (azimuth, elevation) in
    radians or a direction toward the eye. edges: draw the triangles' edges (default: on a bare mesh only). renderer:
    "auto" takes PyVista when it is installed and can render here, else Matplotlib; naming one insists on it and raises
    RuntimeError where it does not work. The projection is orthographic, so the scale bar holds everywhere in the
    picture; scale_bar=False leaves it out. smooth: values on triangles are averaged over the triangles around a vertex
    where the surface is smooth; False draws one value for each triangle.
    """
    if renderer not in RENDERERS:
        raise ValueError(f"unknown renderer {renderer!r}: choose one of {', '.join(map(repr, RENDERERS))}")
    vertices, triangles, field = _contents(shown, smooth)
    colors: Colormap = STEEL
    shades, drawn = np.zeros((len(triangles), 1)), None
    if field is not None:
        if quantity == "phase":  # a phase cannot be interpolated across its jump, the field can
            vertices, triangles, field = _refined(vertices, triangles, field)
            field = field.mean(axis=1, keepdims=True)
        drawn = show(field, quantity, getattr(shown, "label", ""), getattr(shown, "unit", ""), limits)
        colors, shades = drawn.colors, np.clip((drawn.values - drawn.low) / (drawn.high - drawn.low), 0, 1)
    body = Body(vertices, triangles, shades, colors, _mesh(shown).is_closed, drawn is None if edges is None else edges)
    return draw_body(body, drawn, camera(view), title, renderer, "m" if scale_bar else "")


class Body(NamedTuple):
    """A surface to draw, with shades (nt, 3) or (nt, 1) between 0 and 1, whether it is closed and the edges of
    triangles are shown; strokes: lines that it may hide; around: further points (n, 3) that the picture shows; head:
    inches above it."""

    vertices: NDArray[np.float64]
    triangles: NDArray[np.int64]
    shades: NDArray[np.float64]
    colors: Colormap
    closed: bool
    edges: bool = False
    strokes: tuple[Strokes, ...] = ()
    around: NDArray[np.float64] = np.zeros((0, 3))
    head: float = 0.10


def draw_body(body: Body, drawn: Shown | None, lens: Camera, title: str, renderer: str, unit: str = "m") -> Figure:
    """The figure of a body with its colour bar, a compass, and a scale bar in the unit of length where there is one."""
    vertices, triangles = body.vertices, body.triangles
    figure, axes = _frame(np.concatenate([vertices[np.unique(triangles)], body.around]), lens, drawn, title, body.head)
    if unit:
        _scale_bar(axes, unit=unit)
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    window = (left, right, bottom, top)
    height = int(np.clip(400 * axes.get_position().height * figure.get_figheight(), 60, 1600))
    pixels = (round(height * (right - left) / (top - bottom)), height)
    view_of_body = Scene(
        vertices, triangles, body.shades, body.colors, lens, window, pixels, body.edges, body.strokes
    )  # fmt: skip
    image = None if renderer == "matplotlib" else _rendered(view_of_body, insist=renderer == "pyvista")
    if image is None:
        image = paint(view_of_body, closed=body.closed)
    axes.imshow(image, extent=window, interpolation="antialiased", aspect="equal")
    compass(axes, lens)
    return figure


def _mesh(shown: Any) -> "TriangleMesh":
    """The mesh that is drawn, or on which the drawn function lives."""
    mesh: TriangleMesh = shown if hasattr(shown, "triangles") else shown.space.mesh
    return mesh


def _contents(shown: Any, smooth: bool) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray | None]:
    """Vertices, triangles and, of a function, its values at the corners (nt, 3) or on the triangles (nt, 1)."""
    if hasattr(shown, "triangles"):
        return shown.vertices, shown.triangles, None
    if not hasattr(shown, "plot_data"):
        raise TypeError(f"surface draws a Function or a TriangleMesh: got {type(shown).__name__}")
    mesh = shown.space.mesh
    place, values = shown.plot_data()
    values = np.asarray(values)
    expected = {"vertices": len(mesh.vertices), "triangles": len(mesh.triangles)}.get(place)
    if expected is None or values.shape != (expected,):
        raise ValueError(f"{values.shape} values on {place!r}: one value for each vertex or triangle is needed")
    if place == "vertices":
        return mesh.vertices, mesh.triangles, values[mesh.triangles]
    return mesh.vertices, mesh.triangles, corner_means(mesh, values) if smooth else values[:, None]


def _refined(
    vertices: NDArray[np.float64], triangles: NDArray[np.int64], field: NDArray
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray]:
    """The surface divided into up to 40,000 triangles, the values at corners interpolated linearly."""
    while field.shape[1] == 3 and 4 * len(triangles) <= 40_000:
        pairs = np.sort(np.concatenate([triangles[:, [1, 2]], triangles[:, [2, 0]], triangles[:, [0, 1]]]), axis=1)
        edges, number = np.unique(pairs, axis=0, return_inverse=True)
        bc, ca, ab = (len(vertices) + number.ravel()).reshape(3, -1)
        a, b, c = triangles.T
        vertices = np.concatenate([vertices, vertices[edges].mean(axis=1)])
        triangles = np.concatenate([np.stack(t, axis=1) for t in [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]])
        field = quartered(field)
    return vertices, triangles, field


def _frame(
    points: NDArray[np.float64], lens: Camera, drawn: Shown | None, title: str, head: float = 0.10
) -> tuple[Figure, Axes]:
    """A figure whose shape follows the body's, with a colour bar."""
    flat = lens.project(points)[:, :2]
    low, high = flat.min(axis=0), flat.max(axis=0)
    extent = np.maximum(high - low, 0.02 * (high - low).max())
    # the body fills a window of at most this width and height in one of its directions
    inches = extent * min(WIDE / extent[0], WIDE / extent[1])
    inches = np.maximum(inches, [1.6, 0.5])
    left, bottom, top = 0.12, BOTTOM, 0.36 if title else head
    right = 1.25 if drawn is not None else 0.12
    width, height = left + inches[0] + right, bottom + inches[1] + top
    figure = new_figure(width, height)
    axes = figure.add_axes((left / width, bottom / height, inches[0] / width, inches[1] / height))
    axes.set_axis_off()
    axes.set_aspect("equal")
    # the window around the body
    middle, half = (low + high) / 2, 0.51 * inches * (extent / inches).max()
    axes.set_xlim(middle[0] - half[0], middle[0] + half[0])
    axes.set_ylim(middle[1] - half[1], middle[1] + half[1])
    axes.set_title(title, loc="left", pad=8)
    if drawn is not None:
        tall = min(inches[1], 2.4)
        box = (
            (left + inches[0] + 0.22) / width,
            (bottom + (inches[1] - tall) / 2) / height,
            0.13 / width,
            tall / height,
        )
        color_bar(figure, box, drawn)
    return figure, axes


def one_two_five(most: float) -> float:
    """The largest of 1, 2 and 5 times the powers of ten that is at most `most` but for rounding."""
    decade = 10.0 ** np.floor(np.log10(most))
    return float(max(step * decade for step in (1, 2, 5) if step * decade <= most * (1 + 1e-9)))


def _scale_bar(axes: Axes, below: float = 0.6 * BOTTOM, unit: str = "m") -> None:
    """A bar of a round length, some inches under the body: the projection is orthographic."""
    span = np.ptp(axes.get_xlim())
    length = one_two_five(0.22 * span)
    figure = axes.get_figure(root=True)
    assert figure is not None
    y = -below / (axes.get_position().height * figure.get_figheight())
    fraction = length / span
    line = axes.transAxes
    axes.plot([0.0, fraction], [y, y], color=INK, linewidth=1.6, transform=line, clip_on=False, solid_capstyle="butt")
    axes.text(
        fraction + 0.012, y, f"{length:g} {unit}", transform=line, va="center", ha="left", fontsize=8.5, color=INK
    )


def _rendered(drawn: Scene, insist: bool) -> NDArray | None:
    """The picture as PyVista renders it; None where it is not installed or cannot render here."""
    if importlib.util.find_spec("pyvista") is None:
        if insist:
            raise RuntimeError('PyVista is missing: pip install "calderon[pyvista]", or use renderer="matplotlib"')
        return None
    # the scene as a file
    (left, right, bottom, top), lens, shades = drawn.window, drawn.lens, drawn.shades
    middle = (left + right) / 2 * lens.right + (bottom + top) / 2 * lens.up
    on_vertices = shades.shape[1] == 3
    if on_vertices:
        shades = np.zeros((len(drawn.vertices), 1))
        shades[drawn.triangles, 0] = drawn.shades
    with tempfile.TemporaryDirectory(prefix="calderon-scene-") as folder:
        npz, png = Path(folder) / "scene.npz", Path(folder) / "picture.png"
        np.savez(
            npz, vertices=drawn.vertices, triangles=drawn.triangles, colors=drawn.colors(np.linspace(0, 1, 256)),
            shades=shades[:, 0], on_vertices=on_vertices, right=lens.right, up=lens.up, eye=lens.eye,
            centre=middle + (drawn.vertices @ lens.eye).mean() * lens.eye, half_height=(top - bottom) / 2,
            pixels=np.array(drawn.pixels), edges=drawn.edges,
        )  # fmt: skip
        # another process renders it: one that cannot may end without a message
        environment = {name: value for name, value in os.environ.items() if name != "DISPLAY" or value}
        try:
            run = subprocess.run(
                [sys.executable, scene.__file__, str(npz), str(png)],
                capture_output=True, text=True, timeout=60, env=environment, cwd=folder, check=False,
            )  # fmt: skip
            failure = (
                "" if run.returncode == 0 and png.exists() else run.stderr.strip()[-400:] or f"exit {run.returncode}"
            )
        except subprocess.TimeoutExpired:
            failure = "no picture after 60.0 s"
        if not failure:
            return imread(png)
    if insist:
        raise RuntimeError(f'PyVista cannot render here ({failure}): try renderer="matplotlib"')
    return None


@picture
def currents(
    shown: "VectorFunction",
    file: str | os.PathLike[str] | None = None,
    *,
    quantity: str = "abs",
    arrows: bool = True,
    phase: float | None = None,
    title: str = "",
    limits: tuple[float, float] | None = None,
    view: str | ArrayLike = "iso",
    edges: bool = False,
    renderer: str = "auto",
) -> Figure:
    """Draw a tangential field on its surface; the figure is returned and, with file=, written.

    quantity: "abs" or "db" of the magnitude (the square root of the sum of |components|^2), with the field's label and
    unit on the colour bar. arrows: Re(J exp(-i phase)), the field at the moment omega t = phase, on visible triangles,
    their lengths in proportion; without phase (in radians) at the moment at which the field is strongest over the whole
    surface. Further arguments as for `surface`.
    """
    if not hasattr(shown, "at_centroids"):
        raise TypeError(f"currents draws a VectorFunction, got {type(shown).__name__}: use surface for scalars")
    if quantity not in ("abs", "db"):
        raise ValueError(f"unknown quantity {quantity!r} of a current: choose 'abs' or 'db'")
    figure = surface(shown, quantity, title=title, limits=limits, view=view, edges=edges, renderer=renderer)  # type: ignore[arg-type]
    if arrows:
        mesh, vectors = shown.space.mesh, np.asarray(shown.at_centroids())
        moment = _strongest(vectors, mesh.areas) if phase is None else phase
        _draw_arrows(figure, mesh, np.real(vectors * np.exp(-1j * moment)), camera(view))
    return figure


def _strongest(vectors: NDArray, areas: NDArray[np.float64]) -> float:
    """The phase at which the integral of |Re(J exp(-i phase))|^2 is largest: half that of int J . J."""
    return float(np.angle(areas @ np.sum(vectors * vectors, axis=1)) / 2)


def _draw_arrows(figure: Figure, mesh: Any, vectors: NDArray[np.float64], lens: Camera) -> None:
    """Arrows on visible triangles, at least 0.15 inches apart."""
    axes = figure.axes[0]
    cell = 0.15 * np.ptp(axes.get_xlim()) / (axes.get_position().width * figure.get_figwidth())
    places = lens.project(mesh.centroids)
    seen = mesh.normals @ lens.eye > 0.05 if mesh.is_closed else np.ones(len(places), dtype=bool)
    largest = float(np.linalg.norm(vectors[seen], axis=1).max(initial=0.0))
    if largest == 0:
        return
    chosen = _spread(places[seen], cell)
    flat = lens.project(vectors)[seen][chosen, :2] * (1.35 * cell / largest)
    long = np.linalg.norm(flat, axis=1) > 0.12 * cell
    with paper():
        axes.quiver(
            *places[seen][chosen][long, :2].T, *flat[long].T, angles="xy", scale_units="xy", scale=1.0, pivot="mid",
            units="inches", width=0.014, headwidth=3.6, headlength=4.2, headaxislength=3.8, facecolor="white",
            edgecolor=INK, linewidth=0.45, zorder=4,
        )  # fmt: skip


def _spread(places: NDArray[np.float64], distance: float) -> NDArray[np.int64]:
    """Numbers of places (n, 3) at least a distance apart in the picture: the foremost of each cell of a grid, less
    those too near to one taken before."""
    index = np.floor((places[:, :2] - places[:, :2].min(axis=0)) / distance).astype(int)
    number = index[:, 0] * (index[:, 1].max() + 1) + index[:, 1]
    order = np.lexsort((-places[:, 2], number))
    foremost = order[np.unique(number[order], return_index=True)[1]]
    kept: list[int] = []
    for one in foremost:
        if all(np.hypot(*(places[kept, :2] - places[one, :2]).T) > 0.95 * distance):
            kept.append(int(one))
    return np.array(kept, np.int64)


def corner_means(mesh: TriangleMesh, values: NDArray[Any]) -> NDArray[Any]:
    """(nt, 3) means of values (nt,) over the triangles at each vertex that are connected by edges at which normals
    differ by less than 30 degrees, weighted by area. Missing values (NaN) do not count; their own triangles keep them.
    """
    fan = _fans(mesh)
    known = np.isfinite(values)
    weights = np.repeat(np.where(known, mesh.areas, 0.0), 3)
    total = np.bincount(fan, weights)
    products = np.repeat(np.where(known, values, 0), 3) * weights
    sums: NDArray[Any] = np.bincount(fan, products.real)
    if np.iscomplexobj(values):
        sums = sums + 1j * np.bincount(fan, products.imag)
    means = (sums / np.where(total > 0, total, 1))[fan].reshape(-1, 3)
    means[~known] = values[~known][:, None]
    return means


def _fans(mesh: TriangleMesh) -> NDArray[np.int64]:
    """(3 nt,) the number of the fan of each corner 3 t + i."""
    one, two = mesh.paired_sides
    smooth = np.isin(np.flatnonzero(mesh.edge_triangle_counts == 2), mesh.sharp_edges(), invert=True)
    one, two = one[smooth], two[smooth]
    numbers = mesh.triangles.ravel()
    links = []
    for first in (1, 2):  # both ends of the edge
        here = 3 * (one // 3) + (one % 3 + first) % 3
        there = 3 * (two // 3) + (two % 3 + 1) % 3
        other = 3 * (two // 3) + (two % 3 + 2) % 3
        links.append((here, np.where(numbers[there] == numbers[here], there, other)))
    rows, columns = (np.concatenate(each) for each in zip(*links, strict=True))
    graph = sp.coo_array((np.ones(len(rows), bool), (rows, columns)), shape=(len(numbers), len(numbers)))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)
