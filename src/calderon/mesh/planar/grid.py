"""Metal on a grid of lines along x and y that crowd toward edges."""

from collections.abc import Sequence
from numbers import Integral, Real

import numpy as np
from numpy.typing import NDArray

from calderon.mesh.coincident import compacted
from calderon.mesh.errors import MeshError, warn
from calderon.mesh.sizes import LARGEST_LENGTH, cells_of
from calderon.mesh.tolerances import TOLERANCES
from calderon.mesh.triangles import TriangleMesh

EDGE_CELLS = np.array([0.1, 0.3])
"""Cells at an edge, in units of those in the middle."""


def strip_lines(low: float, high: float, cells: int) -> NDArray[np.float64]:
    """Lines across a strip, crowded toward both edges as the zeros of sines: cells + 1 of them."""
    return 0.5 * (low + high) - 0.5 * (high - low) * np.cos(np.pi * np.arange(cells + 1) / cells)


def graded_lines(low: float, high: float, h: float, cells: int = 3) -> NDArray[np.float64]:
    """Lines between two edges: cells of 0.1 h and 0.3 h at the edges, at most h in the middle; of strips that are
    too narrow for that, at least so many cells by `strip_lines`."""
    length, ends = high - low, float(EDGE_CELLS.sum()) * h
    if length < 2 * ends + 0.5 * h:
        return strip_lines(low, high, max(cells, cells_of(0.5 * np.pi * length, h)))
    middle = cells_of(length - 2 * ends, h)
    steps = [*(h * EDGE_CELLS), *np.full(middle, (length - 2 * ends) / middle), *(h * EDGE_CELLS[::-1])]
    return low + np.concatenate([[0.0], np.cumsum(steps[:-1]), [length]])


def lines_through(sides: NDArray[np.float64], h: float, cells: int = 3) -> NDArray[np.float64]:
    """`graded_lines` between sides in ascending order, of which nearly equal ones are one."""
    kept = sides[np.concatenate([[True], np.diff(sides) > TOLERANCES.same * np.ptp(sides)])]
    return joined(*(graded_lines(low, high, h, cells) for low, high in zip(kept[:-1], kept[1:], strict=True)))


def half_lines(length: float, h: float) -> NDArray[np.float64]:
    """Lines from a plane of symmetry, 0, to an edge at `length`: cells of h, and smaller ones at the edge."""
    ends = float(EDGE_CELLS.sum()) * h
    if length < ends + 0.5 * h:
        count = max(2, cells_of(0.5 * np.pi * length, h))
        return length * np.sin(0.5 * np.pi * np.arange(count + 1) / count)
    middle = cells_of(length - ends, h)
    return np.concatenate([(length - ends) * np.arange(middle + 1) / middle, [length - h * EDGE_CELLS[0], length]])


def joined(*lines: NDArray[np.float64]) -> NDArray[np.float64]:
    """Lines of intervals that follow one another, common ends once."""
    return np.concatenate([lines[0], *(each[1:] for each in lines[1:])])


def mirrored(lines: NDArray[np.float64]) -> NDArray[np.float64]:
    """Lines at positive coordinates, in ascending order, and at their negatives; a line at 0 once."""
    return np.concatenate([-lines[::-1], lines[lines != 0]])


def cells_of_grid(rows: int, columns: int, wrap: bool = False) -> tuple[NDArray, NDArray, NDArray]:
    """Corners (cells, 4), counter-clockwise with rows along x and columns along y, of the cells of a grid with so many
    rows and columns of points, numbered row by row, and the row and the column (cells,) of each. wrap: whether the last
    column is followed by the first."""
    i, j = (each.ravel() for each in np.indices((rows - 1, columns if wrap else columns - 1)))
    k = (j + 1) % columns
    low, high = i * columns, (i + 1) * columns
    return np.stack([low + j, high + j, high + k, low + k], axis=1), i, j


def cells_within(
    metal: Sequence[tuple[float, float, float, float]], x: NDArray[np.float64], y: NDArray[np.float64], z: float
) -> TriangleMesh:
    """The cells of the grid whose centres lie in one of the rectangles (x low, x high, y low, y high).

    A symmetric shape on symmetric lines has a symmetric mesh: diagonals are mirrored at x = 0 and y = 0, and cells
    across these planes have both diagonals.
    """
    u, v = 0.5 * (x[1:] + x[:-1])[:, None], 0.5 * (y[1:] + y[:-1])[None]
    inside = np.zeros((len(x) - 1, len(y) - 1), bool)
    for west, east, south, north in metal:
        inside |= (west < u) & (u < east) & (south < v) & (v < north)
    i, j = np.nonzero(inside)
    corners = np.stack([i * len(y) + j, (i + 1) * len(y) + j, (i + 1) * len(y) + j + 1, i * len(y) + j + 1], axis=1)
    points = np.stack([np.repeat(x, len(y)), np.tile(y, len(x))], axis=1)
    across = (np.abs(u) < 1e-9 * np.ptp(x)) | (np.abs(v) < 1e-9 * np.ptp(y))
    return quadrangles(points, corners, (u * v > 0)[i, j], z, across[i, j])


def quadrangles(
    points: NDArray[np.float64],
    corners: NDArray[np.int64],
    falling: NDArray[np.bool_],
    z: float,
    crossed: NDArray[np.bool_] | None = None,
) -> TriangleMesh:
    """Two triangles for each cell with corners (n, 4), counter-clockwise, among points (m, 2), of which unused ones are
    dropped; its diagonal joins the corners 1 and 3 where `falling` (n,), else 0 and 2. Four where `crossed` (n,)."""
    four = corners[:0] if crossed is None else corners[crossed]
    middle = len(points) + np.arange(len(four))
    parts = [np.stack([four[:, k], four[:, (k + 1) % 4], middle], axis=1) for k in range(4)]
    for chosen, order in ((falling, [[0, 1, 3], [1, 2, 3]]), (~falling, [[0, 1, 2], [0, 2, 3]])):
        kept = chosen if crossed is None else chosen & ~crossed
        parts += [corners[kept][:, each] for each in order]
    places, triangles = compacted(np.concatenate([points, points[four].mean(axis=1)]), np.concatenate(parts))
    return TriangleMesh(np.column_stack([places, np.full(len(places), height(z))]), triangles)


def cells_across(cells: int) -> int:
    """The number of cells across a strip; MeshError unless it is a whole number from 1 on, a warning below three."""
    if isinstance(cells, bool) or not isinstance(cells, Integral) or not 1 <= cells <= 1000:
        raise MeshError(f"cells = {cells!r}: a whole number of cells across a strip is needed, 4 or 5 for resonances")
    if cells < 3:  # below which a resonance shifts by more than a percent
        warn(f"{cells} cell(s) across a strip put its resonances about 2 % low: use cells=4 or more")
    return int(cells)


def height(z: float) -> float:
    """The z of a plane, or MeshError."""
    if (
        isinstance(z, bool)
        or not isinstance(z, Real)
        or not abs(float(z) if isinstance(z, np.floating) else z) <= LARGEST_LENGTH
    ):
        raise MeshError(f"z = {z!r}: the height of the metal is a finite number, in metres")
    return float(z)
