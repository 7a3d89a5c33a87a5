"""A function or a mesh shown on its surface: PyVista off-screen when it is installed and works, else Matplotlib."""

import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, ListedColormap
from matplotlib.figure import Figure
from matplotlib.image import imread
from numpy.typing import ArrayLike, NDArray

from calderon.plots import scene
from calderon.plots.camera import Camera, camera
from calderon.plots.painter import paint
from calderon.plots.quantity import Shown, color_bar, show
from calderon.plots.style import INK, MUTED, checked_path, new_figure, paper, save

if TYPE_CHECKING:
    from calderon.mesh import TriangleMesh
    from calderon.spaces import Function

PATIENCE = 60.0  # seconds; with software graphics a picture takes 5 to 20
BOTTOM = 0.78  # inches under the body, for scale bar and compass
RENDERERS = ("auto", "pyvista", "matplotlib")
ARROW: dict[str, Any] = {
    "arrowstyle": "-|>,head_width=0.12,head_length=0.22",
    "color": MUTED,
    "linewidth": 0.8,
    "shrinkA": 0,
    "shrinkB": 0,
}
STEEL = ListedColormap(["#b9c3cf"], name="calderon_steel")


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
) -> Figure:
    """Draw a function on its surface, or a bare mesh; the figure is returned and, with file=, written (.png, .pdf,
    .svg).

    quantity: "abs", "real", "imag", "phase" or "db" of the function's values; the colour bar carries its label and
    unit. limits: (lower, upper) of the colours. view: "iso", "side", "top", "front", "back", (azimuth, elevation) in
    radians or a direction toward the eye. edges: draw the triangles' edges (default: on a bare mesh only). renderer:
    "auto" takes PyVista when it is installed and can render here, else Matplotlib; naming one insists on it and raises
    RuntimeError where it does not work. The projection is orthographic, so the scale bar holds everywhere in the
    picture; scale_bar=False leaves it out.
    """
    if renderer not in RENDERERS:
        raise ValueError(f"unknown renderer {renderer!r}: choose one of {', '.join(map(repr, RENDERERS))}")
    if file is not None:
        checked_path(file)
    vertices, triangles, field = _contents(shown)
    colors: Colormap = STEEL
    shades, drawn = np.zeros((len(triangles), 1)), None
    if field is not None:
        if quantity == "phase":  # a phase cannot be interpolated across its jump, the field can
            vertices, triangles, field = _refined(vertices, triangles, field)
            field = field.mean(axis=1, keepdims=True)
        drawn = show(field, quantity, getattr(shown, "label", ""), getattr(shown, "unit", ""), limits)
        colors, shades = drawn.colors, np.clip((drawn.values - drawn.low) / (drawn.high - drawn.low), 0, 1)
    edges = drawn is None if edges is None else edges
    lens = camera(view)
    with paper():
        figure, axes = _frame(vertices[np.unique(triangles)], lens, drawn, title)
        if scale_bar:
            _scale_bar(axes)
        (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
        window = (left, right, bottom, top)
        height = int(np.clip(250 * axes.get_position().height * figure.get_figheight(), 60, 1600))
        pixels = (round(height * (right - left) / (top - bottom)), height)
        body = (vertices, triangles, shades, colors, lens, window, pixels, edges)
        image = None if renderer == "matplotlib" else _rendered(*body, insist=renderer == "pyvista")
        if image is None:
            image = paint(*body, closed=_mesh(shown).is_closed)
        axes.imshow(image, extent=window, interpolation="antialiased", aspect="equal")
        _compass(axes, lens)
    if file is not None:
        save(figure, file)
    return figure


def _mesh(shown: Any) -> "TriangleMesh":
    """The mesh that is drawn, or on which the drawn function lives."""
    mesh: TriangleMesh = shown if hasattr(shown, "triangles") else shown.space.mesh
    return mesh


def _contents(shown: Any) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray | None]:
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
    return mesh.vertices, mesh.triangles, values[mesh.triangles] if place == "vertices" else values[:, None]


def _refined(
    vertices: NDArray[np.float64], triangles: NDArray[np.int64], field: NDArray
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray]:
    """The same surface in up to 40,000 triangles, the values at corners interpolated linearly."""
    while field.shape[1] == 3 and 4 * len(triangles) <= 40_000:
        pairs = np.sort(np.concatenate([triangles[:, [1, 2]], triangles[:, [2, 0]], triangles[:, [0, 1]]]), axis=1)
        edges, number = np.unique(pairs, axis=0, return_inverse=True)
        bc, ca, ab = (len(vertices) + number.ravel()).reshape(3, -1)
        a, b, c = triangles.T
        vertices = np.concatenate([vertices, vertices[edges].mean(axis=1)])
        triangles = np.concatenate([np.stack(t, axis=1) for t in [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]])
        f, g, h = field.T
        fg, gh, hf = (f + g) / 2, (g + h) / 2, (h + f) / 2
        field = np.concatenate([np.stack(t, axis=1) for t in [(f, fg, hf), (fg, g, gh), (hf, gh, h), (fg, gh, hf)]])
    return vertices, triangles, field


def _frame(points: NDArray[np.float64], lens: Camera, drawn: Shown | None, title: str) -> tuple[Figure, Axes]:
    """A figure whose shape follows the body's, with a colour bar."""
    flat = lens.project(points)[:, :2]
    low, high = flat.min(axis=0), flat.max(axis=0)
    extent = np.maximum(high - low, 0.02 * (high - low).max())
    # the body fills a window of at most 6.4 x 4.4 inches in one of its directions
    inches = extent * min(6.4 / extent[0], 4.4 / extent[1])
    inches = np.maximum(inches, [1.6, 0.5])
    left, bottom, top = 0.12, BOTTOM, 0.36 if title else 0.10
    right = 1.25 if drawn is not None else 0.12
    width, height = left + inches[0] + right, bottom + inches[1] + top
    figure = new_figure(width, height)
    axes = figure.add_axes((left / width, bottom / height, inches[0] / width, inches[1] / height))
    axes.set_axis_off()
    axes.set_aspect("equal")
    middle, half = (low + high) / 2, 0.51 * inches * (extent / inches).max()
    axes.set_xlim(middle[0] - half[0], middle[0] + half[0])
    axes.set_ylim(middle[1] - half[1], middle[1] + half[1])
    if title:
        axes.set_title(title, loc="left", pad=8)
    if drawn is not None:
        tall = min(inches[1], 2.9)
        box = (
            (left + inches[0] + 0.22) / width,
            (bottom + (inches[1] - tall) / 2) / height,
            0.13 / width,
            tall / height,
        )
        color_bar(figure, box, drawn)
    return figure, axes


def _scale_bar(axes: Axes, below: float = 0.6 * BOTTOM) -> None:
    """A bar of a round length in metres, some inches under the body: the projection is orthographic."""
    span = np.ptp(axes.get_xlim())
    target = 0.22 * span
    decade = 10.0 ** np.floor(np.log10(target))
    length = max(step * decade for step in (1, 2, 5) if step * decade <= target)
    figure = axes.get_figure(root=True)
    assert figure is not None
    y = -below / (axes.get_position().height * figure.get_figheight())
    fraction = length / span
    line = axes.transAxes
    axes.plot([0.0, fraction], [y, y], color=INK, linewidth=1.6, transform=line, clip_on=False, solid_capstyle="butt")
    axes.text(fraction + 0.012, y, f"{length:g} m", transform=line, va="center", ha="left", fontsize=8.5, color=INK)


def _compass(axes: Axes, lens: Camera) -> None:
    """Small arrows along x, y and z in the lower right corner; the one that points at the viewer is left out."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    size = 0.28
    width, height = figure.get_figwidth(), figure.get_figheight()
    origin = np.array([axes.get_position().x1 * width - size - 0.12, 0.24])
    for name, axis in zip("xyz", np.eye(3), strict=True):
        arrow = np.array([axis @ lens.right, axis @ lens.up]) * size
        if np.linalg.norm(arrow) < 0.15 * size:
            continue
        tip, text = origin + arrow, origin + arrow * (1 + 0.08 / np.linalg.norm(arrow))
        place: dict[str, Any] = {"xycoords": "figure fraction", "textcoords": "figure fraction"}
        axes.annotate(
            "", (tip[0] / width, tip[1] / height), (origin[0] / width, origin[1] / height), arrowprops=ARROW, **place
        )
        axes.annotate(
            name, (text[0] / width, text[1] / height), xycoords="figure fraction", ha="center", va="center",
            fontsize=7.5, color=MUTED,
        )  # fmt: skip


def _rendered(
    vertices: NDArray[np.float64],
    triangles: NDArray[np.int64],
    shades: NDArray[np.float64],
    colors: Colormap,
    lens: Camera,
    window: tuple[float, float, float, float],
    pixels: tuple[int, int],
    edges: bool,
    *,
    insist: bool,
) -> NDArray | None:
    """The picture as PyVista renders it; None where it is not installed or cannot render here."""
    if importlib.util.find_spec("pyvista") is None:
        if insist:
            raise RuntimeError('PyVista is not installed: pip install "calderon[plot]", or use renderer="matplotlib"')
        return None
    left, right, bottom, top = window
    middle = (left + right) / 2 * lens.right + (bottom + top) / 2 * lens.up
    if shades.shape[1] == 3:
        at_vertices = np.zeros(len(vertices))
        at_vertices[triangles] = shades
    with tempfile.TemporaryDirectory(prefix="calderon-scene-") as folder:
        npz, png = Path(folder) / "scene.npz", Path(folder) / "picture.png"
        np.savez(
            npz, vertices=vertices, triangles=triangles, colors=colors(np.linspace(0, 1, 256)), right=lens.right,
            shades=at_vertices if shades.shape[1] == 3 else shades[:, 0], on_vertices=shades.shape[1] == 3, up=lens.up,
            eye=lens.eye, centre=middle + (vertices @ lens.eye).mean() * lens.eye, half_height=(top - bottom) / 2,
            pixels=np.array(pixels), edges=edges,
        )  # fmt: skip
        environment = {name: value for name, value in os.environ.items() if name != "DISPLAY" or value}
        try:
            run = subprocess.run(
                [sys.executable, scene.__file__, str(npz), str(png)],
                capture_output=True, text=True, timeout=PATIENCE, env=environment, cwd=folder, check=False,
            )  # fmt: skip
            failure = (
                "" if run.returncode == 0 and png.exists() else run.stderr.strip()[-400:] or f"exit {run.returncode}"
            )
        except subprocess.TimeoutExpired:
            failure = f"no picture after {PATIENCE} s"
        if not failure:
            return imread(png)
    if insist:
        raise RuntimeError(f'PyVista cannot render here ({failure}): try renderer="matplotlib"')
    return None
