"""Small arrows: the direction in which a wave travels, and the axes of coordinates."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from calderon.plots.painter import Camera
from calderon.plots.style import INK, MUTED


def direction_arrow(
    figure: Figure, centre: tuple[float, float], along: tuple[float, float], label: str, boxed: bool = False
) -> None:
    """Draw an arrow along a plane vector about a centre, in inches from the figure's lower left, its label below.

    boxed: on white, to be read over a picture.
    A vector shorter than 0.3 (of one) is out of the plane: nothing is drawn.
    """
    size = float(np.hypot(*along))
    if size < 0.3:
        return
    width, height = figure.get_figwidth(), figure.get_figheight()
    half = 0.15 * np.array(along) / size  # inches
    below = centre[1] - abs(half[1]) - 0.08
    if boxed:
        low, high = below - 0.17, centre[1] + abs(half[1]) + 0.1
        ground = figure.add_axes(((centre[0] - 0.43) / width, low / height, 0.86 / width, (high - low) / height))
        ground.set(xticks=[], yticks=[], facecolor=(1, 1, 1, 0.85))
        ground.spines[:].set_visible(False)
    paper = figure.add_axes((0, 0, 1, 1))
    paper.set_axis_off()
    _arrow(paper, figure, centre - half, centre + half, INK, 1.1, "head_width=0.16,head_length=0.3")
    paper.text(
        centre[0] / width, below / height, label, transform=figure.transFigure, ha="center", va="top", fontsize=7.5,
        color=INK,
    )  # fmt: skip


def compass(axes: Axes, lens: Camera) -> None:
    """Small arrows along x, y and z in the lower right corner; the one that points at the viewer is left out."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    size, inches = 0.28, figure.get_size_inches()
    origin = np.array([axes.get_position().x1 * inches[0] - size - 0.12, 0.24])
    for name, axis in zip("xyz", np.eye(3), strict=True):
        arrow = np.array([axis @ lens.right, axis @ lens.up]) * size
        if np.linalg.norm(arrow) < 0.15 * size:
            continue
        _arrow(axes, figure, origin, origin + arrow, MUTED, 0.8, "head_width=0.12,head_length=0.22")
        text = (origin + arrow * (1 + 0.08 / np.linalg.norm(arrow))) / inches
        axes.annotate(name, text, xycoords="figure fraction", ha="center", va="center", fontsize=7.5, color=MUTED)


def _arrow(axes: Axes, figure: Figure, tail: np.ndarray, tip: np.ndarray, color: str, width: float, head: str) -> None:
    """An arrow between two points in inches from the figure's lower left."""
    look = {"arrowstyle": f"-|>,{head}", "color": color, "linewidth": width, "shrinkA": 0, "shrinkB": 0}
    start, end = (tuple(point / figure.get_size_inches()) for point in (tail, tip))
    axes.annotate("", end, start, arrowprops=look, xycoords="figure fraction", textcoords="figure fraction")
