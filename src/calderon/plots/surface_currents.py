"""Surface currents: their magnitude in colours, and arrows along which they flow at one moment."""

import os
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from calderon.plots.camera import Camera, camera
from calderon.plots.style import INK, paper, picture
from calderon.plots.surfaces import surface

if TYPE_CHECKING:
    from calderon.spaces import VectorFunction

SPACING = 0.24  # inches between arrows, at least


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
        _draw(figure, mesh, np.real(vectors * np.exp(-1j * moment)), camera(view))
    return figure


def _strongest(vectors: NDArray, areas: NDArray[np.float64]) -> float:
    """The phase at which the integral of |Re(J exp(-i phase))|^2 is largest: half that of int J . J."""
    return float(np.angle(areas @ np.sum(vectors * vectors, axis=1)) / 2)


def _draw(figure: Figure, mesh, vectors: NDArray[np.float64], lens: Camera) -> None:  # type: ignore[no-untyped-def]
    """Arrows on visible triangles, at least SPACING apart."""
    axes = figure.axes[0]
    cell = SPACING * np.ptp(axes.get_xlim()) / (axes.get_position().width * figure.get_figwidth())
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
            units="inches", width=0.02, headwidth=3.6, headlength=4.2, headaxislength=3.8, facecolor="white",
            edgecolor=INK, linewidth=0.45, zorder=4,
        )  # fmt: skip


def _spread(places: NDArray[np.float64], distance: float) -> NDArray[np.int64]:
    """Numbers of places (n, 3) at least a distance apart in the picture: the foremost of each cell of a grid, less
    those too near to one taken before.
    """
    index = np.floor((places[:, :2] - places[:, :2].min(axis=0)) / distance).astype(int)
    number = index[:, 0] * (index[:, 1].max() + 1) + index[:, 1]
    order = np.lexsort((-places[:, 2], number))
    foremost = order[np.unique(number[order], return_index=True)[1]]
    kept: list[int] = []
    for one in foremost:
        if all(np.hypot(*(places[kept, :2] - places[one, :2]).T) > 0.95 * distance):
            kept.append(int(one))
    return np.array(kept, np.int64)
