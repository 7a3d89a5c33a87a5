"""How the pictures look and how they reach the disk.

Figures carry their own Agg canvas: nothing here touches Matplotlib's global state, so pictures can be drawn in threads
and in a notebook without leaving a figure open.
"""

import io
import os
from collections.abc import Callable
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Any, ParamSpec

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image

from calderon.files import file_path, whole_file

# Okabe and Ito (2008), Color Universal Design: distinguishable with every common colour vision; the yellow is left
# out on white.
CURVES = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00"]
DASHES: list[Any] = ["-", (0, (5, 1.6)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)), (0, (3, 1)), (0, (8, 2))]
INK = "#22262b"
MUTED = "#6b7280"
HAIRLINE = "#d5d9df"
WIDE = 3.4
"""Inches of a body or a slice in its picture, at most: with its bar a picture is some 4.7 wide, and its texts can be
read in a column of a paper, and on a telephone."""

PAPER: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.labelsize": 9.0,
    "axes.edgecolor": "#8a919b",
    "axes.labelcolor": INK,
    "axes.linewidth": 0.7,
    "axes.titlecolor": INK,
    "text.color": INK,
    "xtick.color": "#8a919b",
    "ytick.color": "#8a919b",
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "xtick.minor.width": 0.5,
    "ytick.minor.width": 0.5,
    "grid.color": HAIRLINE,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.6,
    "lines.solid_capstyle": "round",
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "legend.handlelength": 2.6,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
    "mathtext.fontset": "dejavusans",
}
P = ParamSpec("P")
FORMATS = (".png", ".pdf", ".svg")


def paper() -> Any:
    """Context in which a figure is built and saved: the fonts, lines and colours of this package."""
    return rc_context(PAPER)


def picture(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """A function that returns a figure, drawn with the fonts, lines and colours of this package, and written where
    file= is given; the name of the file is checked first."""
    arguments = signature(draw)

    @wraps(draw)
    def drawn(*args: P.args, **options: P.kwargs) -> Figure:
        file = arguments.bind(*args, **options).arguments.get("file")
        if file is not None:
            checked_path(file)
        with paper():
            figure = draw(*args, **options)
        if file is not None:
            save(figure, file)
        return figure

    return drawn


class Picture(Figure):
    """A figure that a notebook shows as the value of a cell, with no magic command before."""

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """The picture as PNG, and its text."""
        drawn = io.BytesIO()
        with paper():
            Image.fromarray(_trimmed(pixels(self, 120))).save(drawn, "PNG")
        return {"image/png": drawn.getvalue(), "text/plain": repr(self)}


def new_figure(width: float, height: float, fitted: bool = False) -> Figure:
    """A figure of width x height inches with its own Agg canvas.

    fitted: its axes make room for what stands around them.
    """
    figure = Picture(figsize=(width, height), dpi=150, layout="constrained" if fitted else None)
    FigureCanvasAgg(figure)
    return figure


def pen(number: int) -> dict[str, Any]:
    """The colour and dashes of a curve by its number."""
    return {"color": CURVES[number % len(CURVES)], "linestyle": DASHES[number % len(DASHES)]}


def ground(pad: float = 0.12, alpha: float = 0.8, edge: str = "none") -> dict[str, Any]:
    """The white box behind a text, wider than it by a part of its size, and so opaque."""
    return {"boxstyle": f"round,pad={pad:g}", "facecolor": "white", "edgecolor": edge, "alpha": alpha}


def plain_axes(axes: Axes) -> None:
    """Only the two axes that carry numbers, and hairlines to read them by."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.grid(True, which="major")
    axes.set_axisbelow(True)


def checked_path(file: str | os.PathLike[str]) -> Path:
    """The path of a picture, its format given by the ending; ValueError for another ending or a missing folder."""
    path = file_path(file, "a picture", "picture.png")
    if path.suffix.lower() not in FORMATS:
        raise ValueError(f"a picture's file name ends in {', '.join(FORMATS)}: got {str(path)!r}")
    if not path.absolute().parent.is_dir():
        raise ValueError(f"no folder {str(path.parent)!r} for the picture {path.name!r}: create it first")
    return path


def save(figure: Figure, file: str | os.PathLike[str], dpi: int = 400) -> Path:
    """Write the figure, its margins cut off, whole or not at all: into a sibling file first, then renamed.

    No dates or version numbers go into the file: the same numbers give the same bytes.
    """
    path = checked_path(file)
    metadata: dict[str, Any] = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}
    with whole_file(path) as scratch, paper():
        if path.suffix.lower() == ".png":
            picture = Image.fromarray(_trimmed(pixels(figure, dpi)))
            # half of the time of the usual level 6 of zlib, for files that are a few per cent larger
            picture.save(scratch, "PNG", dpi=(dpi, dpi), compress_level=4)
        else:
            details = metadata[path.suffix.lower()]
            drawn, kind = io.BytesIO(), path.suffix[1:].lower()
            figure.savefig(drawn, format=kind, dpi=dpi, metadata=details, bbox_inches="tight", pad_inches=0.06)
            scratch.write_bytes(drawn.getvalue())  # Matplotlib hides the error of a full disk
    return path


def pixels(figure: Figure, dpi: int) -> NDArray[np.uint8]:
    """The figure drawn once, (height, width, 3)."""
    before = figure.dpi
    figure.set_dpi(dpi)
    canvas = figure.canvas
    assert isinstance(canvas, FigureCanvasAgg)
    canvas.draw()
    picture = np.asarray(canvas.buffer_rgba())[..., :3].copy()
    figure.set_dpi(before)
    return picture


def _trimmed(picture: NDArray[np.uint8], margin: int = 18) -> NDArray[np.uint8]:
    """The picture without its white border, but for a margin in pixels."""
    box = Image.fromarray(255 - picture).getbbox()
    if box is None:
        return picture
    left, top, right, bottom = box
    return np.ascontiguousarray(picture[max(top - margin, 0) : bottom + margin, max(left - margin, 0) : right + margin])
