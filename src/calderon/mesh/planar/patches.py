"""Patches, fed patches and strips."""

import numpy as np
from numpy.typing import ArrayLike

from calderon.mesh.errors import MeshError
from calderon.mesh.planar.grid import (
    cells_across,
    cells_within,
    graded_lines,
    half_lines,
    lines_through,
    mirrored,
    strip_lines,
)
from calderon.mesh.sizes import positive, room_for_surface
from calderon.mesh.triangles import TriangleMesh
from calderon.validation import real_number, real_numbers


def patch(width: float, length: float, h: float, z: float = 0.0) -> TriangleMesh:
    """Rectangle about the z axis, `width` along y, `length` along x, cells of at most h, smaller ones at its edges."""
    length, width, h = positive("length", length), positive("width", width), positive("h", h)
    room_for_surface(length * width, h)
    x, y = graded_lines(-length / 2, length / 2, h), graded_lines(-width / 2, width / 2, h)
    return cells_within([(-length, length, -width, width)], x, y, z)


def strip_dipole(length: float, width: float, h: float, cells: int = 4, z: float = 0.0) -> TriangleMesh:
    """Strip along x about the origin, with edges at x = 0 for a gap, cells of at most h along it, smaller ones
    at its ends, and so many cells across."""
    length, width, h = positive("length", length), positive("width", width), positive("h", h)
    if width > length:
        raise MeshError(f"a strip of width {width:g} is longer than that, got the length {length:g}: use patch")
    room_for_surface(length * width, min(h, width / cells_across(cells)))
    x, y = mirrored(half_lines(length / 2, h)), strip_lines(-width / 2, width / 2, cells)
    return cells_within([(-length, length, -width, width)], x, y, z)


def line_fed_patch(
    length: float,
    width: float,
    line_width: float,
    line_length: float,
    h: float,
    inset: float = 0.0,
    notch: float | None = None,
    offset: float = 0.0,
    z: float = 0.0,
) -> TriangleMesh:
    """A patch, `length` along x and `width` along y about the origin, with a line to its edge at x = -length / 2.

    The line, `line_width` wide with its middle at y = offset, begins `line_length` before the patch. inset: how far it
    goes into the patch, between two notches of the width `notch` (default half of the line's).
    """
    length, width, h = positive("length", length), positive("width", width), positive("h", h)
    line, before = positive("line_width", line_width), positive("line_length", line_length)
    deep, aside = real_number(inset, "inset"), real_number(offset, "offset")
    slot = positive("notch", line / 2 if notch is None else notch) if deep else 0.0
    if not 0 <= deep < length:
        raise MeshError(f"inset = {inset!r}: the line goes from 0 to less than the patch's length {length:g} into it")
    if abs(aside) + line / 2 + slot > width / 2 * (1 + 1e-12):
        raise MeshError(
            f"a line of width {line:g}{f' with notches of {slot:g}' if deep else ''} at y = {aside:g} reaches over "
            f"the patch's width {width:g}: choose a smaller offset"
        )
    room_for_surface(length * width + line * before, h)
    west, end = -length / 2, -length / 2 + deep
    south, north = aside - line / 2 - slot, aside + line / 2 + slot
    metal = [(end, length / 2, -width / 2, width / 2), (west - before, end, aside - line / 2, aside + line / 2)]
    metal += [(west, end, -width / 2, south), (west, end, north, width / 2)] if deep else []
    x = [west - before, west, end, length / 2]
    y = [-width / 2, south, aside - line / 2, aside + line / 2, north, width / 2]
    return cells_within(metal, lines_through(np.array(x), h), lines_through(np.array(y), h), z)


def rectangles(metal: ArrayLike, h: float, cells: int = 3, z: float = 0.0) -> TriangleMesh:
    """Rectangles (n, 4), each x low, x high, y low, y high, that touch or overlap, as of patches and lines on a board.

    Lines of cells run along all sides through all of the metal. Between two of them are cells of at most h, smaller
    ones next to both, or, where they are close together, at least so many cells.
    """
    needed = "a list of (x low, x high, y low, y high) in metres"
    array, cells = real_numbers(metal, (None, 4), "metal", needed, MeshError), cells_across(cells)
    empty = (array[:, 1] <= array[:, 0]) | (array[:, 3] <= array[:, 2])
    if empty.any():
        first = int(empty.argmax())
        raise MeshError(f"rectangle {first} is {array[first].tolist()}: x low < x high and y low < y high are needed")
    h = positive("h", h)
    room_for_surface(float(np.prod(array[:, 1::2] - array[:, ::2], axis=1).sum()), h)
    x, y = (lines_through(np.unique(array[:, each]), h, cells) for each in ([0, 1], [2, 3]))
    return cells_within(array.tolist(), x, y, z)
