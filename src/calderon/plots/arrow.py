"""A small arrow that says along which direction a wave travels."""

from typing import Any

from matplotlib.figure import Figure

from calderon.plots.style import INK

LENGTH = 0.36  # inches
HEAD: dict[str, Any] = {
    "arrowstyle": "-|>,head_width=0.16,head_length=0.3",
    "color": INK,
    "linewidth": 1.1,
    "shrinkA": 0,
    "shrinkB": 0,
}


def direction_arrow(
    figure: Figure, centre: tuple[float, float], along: tuple[float, float], label: str, boxed: bool = False
) -> None:
    """Draw an arrow along a plane vector about a centre, in inches from the figure's lower left, its label below.

    boxed: on white, to be read over a picture.
    A vector shorter than 0.3 (of one) is out of the plane: nothing is drawn.
    """
    size = float((along[0] ** 2 + along[1] ** 2) ** 0.5)
    if size < 0.3:
        return
    width, height = figure.get_figwidth(), figure.get_figheight()
    half = (LENGTH / 2 * along[0] / size, LENGTH / 2 * along[1] / size)
    tail, tip = ((centre[0] + s * half[0], centre[1] + s * half[1]) for s in (-1, 1))
    below = centre[1] - abs(half[1]) - 0.08
    if boxed:
        low, high = below - 0.17, centre[1] + abs(half[1]) + 0.1
        ground = figure.add_axes(((centre[0] - 0.48) / width, low / height, 0.96 / width, (high - low) / height))
        ground.set(xticks=[], yticks=[], facecolor=(1, 1, 1, 0.85))
        ground.spines[:].set_visible(False)
    place: dict[str, Any] = {"xycoords": "figure fraction", "textcoords": "figure fraction"}
    paper = figure.add_axes((0, 0, 1, 1))
    paper.set_axis_off()
    paper.annotate("", (tip[0] / width, tip[1] / height), (tail[0] / width, tail[1] / height), arrowprops=HEAD, **place)
    paper.text(
        centre[0] / width, below / height, label, transform=figure.transFigure, ha="center", va="top", fontsize=7.5,
        color=INK,
    )  # fmt: skip
