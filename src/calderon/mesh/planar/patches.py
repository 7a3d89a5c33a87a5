"""Flat metal by name, on grids of lines: patches, strips, rectangles, and elements of periodic surfaces and coils."""

import numpy as np
from numpy.typing import ArrayLike

from calderon.mesh.errors import MeshError
from calderon.mesh.planar.grid import (
    cells_across,
    cells_of_grid,
    cells_within,
    graded_lines,
    half_lines,
    joined,
    lines_through,
    mirrored,
    quadrangles,
    strip_lines,
)
from calderon.mesh.sizes import cells_of, positive, room_for_surface
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


def jerusalem_cross(length: float, width: float, ends: float, cells: int = 4, z: float = 0.0) -> TriangleMesh:
    """Two crossed strips along x and y, `length` from tip to tip, with caps of the length `ends` across their tips.

    Strips and caps are `width` wide, with so many cells across, which become smaller toward the edges.

    Against finite differences four or five cells put the resonance of a cross within 0.4 %, two put it 2 % low.
    """
    length, width, ends = positive("length", length), positive("width", width), positive("ends", ends)
    cells = cells_across(cells)
    if not (width < ends < length - 2 * width or ends == width < length / 3 * (1 + 1e-9)):
        raise MeshError(
            f"ends = {ends:g}: caps are longer than the strips are wide, {width:g} (as long for a plain cross, of "
            f"at least 3 times that), and shorter than length - 2 width = {length - 2 * width:g}, where they would meet"
        )
    room_for_surface(length * (2 * width) + 4 * ends * width, width / cells)
    tip, inner, cap = length / 2, length / 2 - width, ends / 2
    sections = [strip_lines(-width / 2, width / 2, cells)]
    if cap - width / 2 > 1e-9 * length:
        count = max(2, cells_of(cap - width / 2, 0.75 * width))
        sections.append(width / 2 + (cap - width / 2) * np.sin(np.pi / 2 * np.arange(count + 1) / count))
    if inner - cap > 1e-9 * length:
        count = max(2, cells_of(inner - cap, width))
        sections.append(cap + (inner - cap) * np.arange(count + 1) / count)
    sections.append(strip_lines(inner, tip, cells))
    lines = joined(*sections)
    lines = mirrored(np.where(np.abs(lines) < 1e-9 * length, 0.0, lines)[lines > -1e-9 * length])
    arms = [(-tip, tip, -width / 2, width / 2), (inner, tip, -cap, cap), (-tip, -inner, -cap, cap)]
    return cells_within(arms + [(*each[2:], *each[:2]) for each in arms], lines, lines, z)


def ring(radius: float, inner_radius: float, h: float, z: float = 0.0) -> TriangleMesh:
    """Ring about the z axis, edges of about h around it, smaller cells at both edges; its area is exact."""
    radius, inner, h = positive("radius", radius), positive("inner_radius", inner_radius), positive("h", h)
    if inner >= radius:
        raise MeshError(f"inner_radius = {inner:g} is not below radius = {radius:g}: give a smaller one")
    room_for_surface(np.pi * (radius**2 - inner**2), h)
    around = 8 * max(2, cells_of(np.pi * (radius + inner) / 8, h))
    # a regular polygon has the area of the circle through its corners times sin(a)/a, a the angle of an edge
    radii = graded_lines(inner, radius, h) / np.sqrt(np.sinc(2 / around))
    angle = 2 * np.pi * np.arange(around) / around
    points = np.stack([np.outer(radii, np.cos(angle)), np.outer(radii, np.sin(angle))], axis=2).reshape(-1, 2)
    corners, _, j = cells_of_grid(len(radii), around, wrap=True)
    return quadrangles(points, corners, (8 * j // around) % 2 == 0, z)


def spiral(
    turns: float, width: float, gap: float, inner_radius: float, h: float, cells: int = 4, z: float = 0.0
) -> TriangleMesh:
    """Strip of the given width wound about the z axis, `gap` between its turns, from x = inner_radius outward, counter-
    clockwise; cells of about h along it, so many across."""
    turns, width, gap = positive("turns", turns), positive("width", width), positive("gap", gap)
    inner, h = positive("inner_radius", inner_radius), positive("h", h)
    cells = cells_across(cells)
    pitch = (width + gap) / (2 * np.pi)
    total = 2 * np.pi * turns
    length = total * (inner + width / 2) + 0.5 * pitch * total**2
    room_for_surface(length * width, min(h, width / cells))
    steps = cells_of(length, h)
    start = inner + width / 2
    arc = length * np.arange(steps + 1) / steps
    angle = 2 * arc / (start + np.sqrt(start**2 + 2 * pitch * arc))  # of arc = start angle + pitch angle^2 / 2
    r = (start + pitch * angle)[:, None] + strip_lines(-width / 2, width / 2, cells)
    points = np.stack([r * np.cos(angle)[:, None], r * np.sin(angle)[:, None]], axis=2).reshape(-1, 2)
    corners, i, j = cells_of_grid(steps + 1, cells + 1)
    return quadrangles(points, corners[:, [0, 3, 2, 1]], (i + j) % 2 == 0, z)
