"""The blocks of an H-matrix, coloured by rank."""

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import colormaps
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from calderon.backends import format_bytes
from calderon.plots.style import INK, MUTED, new_figure, picture

if TYPE_CHECKING:
    from calderon.hmatrix import HMatrix

DENSE = "#3b4048"


@picture
def hmatrix(matrix: "HMatrix", file: str | os.PathLike[str] | None = None, *, title: str = "") -> Figure:
    """Draw the blocks of an H-matrix in the order of the clusters; the figure is returned.

    Blocks of low rank are coloured by their rank, which large ones carry as a number; dense blocks are dark. Of a
    symmetric matrix half of the blocks are stored, and both halves are drawn. TypeError for what is no H-matrix, such
    as an operator composed of several: draw one of its `.parts`.
    """
    if not hasattr(matrix, "slabs"):
        raise TypeError(f"a picture of blocks needs an HMatrix, got {type(matrix).__name__}: draw one of its .parts")
    # blocks: of low rank in the colour of their rank, dense ones dark
    corners, ranks = _blocks(matrix)
    low = ranks >= 0
    largest = max(1, int(ranks.max(initial=1)))
    colors, scale = colormaps["YlGnBu"], Normalize(0, 1.15 * largest)
    figure = new_figure(5.9, 5.0)
    axes = figure.add_axes((0.11, 0.09, 0.72, 0.72 * 5.9 / 5.0))
    width = 0.25 if len(ranks) <= 30_000 else 0.0  # outlines of more blocks would cover them
    lines: dict[str, Any] = {"linewidths": width, "antialiaseds": width > 0}
    for chosen, face in ((low, colors(scale(ranks[low]))), (~low, DENSE)):
        edge = "white" if width else face
        axes.add_collection(PolyCollection(list(_outlines(corners[chosen])), facecolors=face, edgecolors=edge, **lines))
    _numbers(axes, corners[low], ranks[low], matrix.shape, scale)
    axes.set(xlim=(0, matrix.shape[1]), ylim=(matrix.shape[0], 0), aspect="equal")
    axes.set(xlabel="column, in the order of the clusters", ylabel="row, in the order of the clusters")
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    for side in axes.spines.values():
        side.set(color=MUTED, linewidth=0.6)
    # the scale of ranks, and the key of dense blocks
    box = axes.get_position()
    bar = figure.add_axes((box.x1 + 0.025, box.y0 + 0.12, 0.022, box.height - 0.12))
    figure.colorbar(ScalarMappable(scale, colors), cax=bar, label="rank", boundaries=np.linspace(0, largest, 200))
    bar.set_yticks(np.unique(np.linspace(0, largest, 5).round().astype(int)))
    figure.legend(
        handles=[Patch(facecolor=DENSE, label="dense")], loc="lower left", borderaxespad=0,
        bbox_to_anchor=(box.x1 + 0.02, box.y0), handlelength=1.2,
    )  # fmt: skip
    # title: size and memory
    share = matrix.nbytes / (np.prod(matrix.shape, dtype=float) * matrix.dtype.itemsize)
    size = f"{matrix.shape[0]} × {matrix.shape[1]}, {format_bytes(matrix.nbytes)}, {share:.1%} of dense"
    axes.set_title(title or size, loc="left", pad=8, color=INK)
    return figure


def _blocks(matrix: "HMatrix") -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First and last row and column (n, 4) of each block, in both halves of a symmetric matrix; ranks, -1 for dense."""
    table = matrix.table
    first_row, height, first_column, width, ranks = table[:, :5].T
    corners = np.stack([first_row, first_row + height, first_column, first_column + width], axis=1)
    if matrix.tree.symmetric:
        other = first_row != first_column
        corners = np.concatenate([corners, corners[other][:, [2, 3, 0, 1]]])
        ranks = np.concatenate([ranks, ranks[other]])
    return corners, ranks


def _outlines(corners: NDArray[np.int64]) -> NDArray[np.int64]:
    """(n, 4, 2) corners as x, y."""
    top, bottom, left, right = corners.T
    return np.stack([[left, right, right, left], [top, top, bottom, bottom]]).transpose(2, 1, 0)


def _numbers(
    axes: Any, corners: NDArray[np.int64], ranks: NDArray[np.int64], shape: tuple[int, int], scale: Normalize
) -> None:
    """Ranks in blocks large enough to read them, by the part of the matrix that they are wide and high."""
    height, width = corners[:, 1] - corners[:, 0], corners[:, 3] - corners[:, 2]
    part = np.minimum(height / shape[0], width / shape[1])
    for (top, bottom, left, right), rank, size in zip(corners, ranks, part, strict=True):
        if size >= 0.028:
            axes.text(
                (left + right) / 2, (top + bottom) / 2, str(rank), ha="center", va="center_baseline",
                fontsize=float(np.clip(150 * size, 4.5, 11)), color="white" if scale(rank) > 0.55 else INK,
            )  # fmt: skip
