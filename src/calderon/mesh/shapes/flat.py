"""Shapes of flat faces and straight walls by target edge length: plate, disc, cuboid, cube, cylinder, tube.

Plates and boxes are grids of ceil(size / h) cells a side, two triangles a cell, so that meshes of h and h / 2 nest.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import scipy
from numpy.typing import NDArray

from calderon.mesh.errors import MeshError
from calderon.mesh.sizes import cells_of, exceeds, positive, positive_lengths, refuse_long, room_for_surface
from calderon.mesh.triangles import TriangleMesh


def plate(lengths: Sequence[float] = (1.0, 1.0), h: float = 0.1) -> TriangleMesh:
    """Rectangle in the plane z = 0 about the origin, sides along x and y, normal +z; ceil(length / h) cells a side."""
    a, b = positive_lengths("lengths", lengths, 2)
    room_for_surface(a * b, positive("h", h))
    u, v, triangles = _grid(cells_of(a, h), cells_of(b, h))
    return TriangleMesh(np.stack([(u - 0.5) * a, (v - 0.5) * b, 0 * u], axis=1), triangles)


def cuboid(lengths: Sequence[float] = (1.0, 1.0, 1.0), h: float = 0.1, *, grading: float | None = None) -> TriangleMesh:
    """Surface of a box about the origin, edges along the axes; ceil(length / h) cells along each.

    grading: beta >= 1, makes the cells smaller toward the edges of the faces. The distances of the first n / 2 of n
    points along a side of length L from its end are

        x_i = (L / 2) (2 i / n)^beta,    i = 0, 1, ..., n / 2,

    and the other half mirrors them. The longest side has as many cells as keep the middle ones, about beta L / n long,
    below h; a shorter one at least so many that its first cell is no longer than that of the longest side. beta = 1
    gives equal cells.

    Near an edge of a body thinner than an element the solution behaves as that of an open sheet, as the root of the
    distance. With even cells the error of fields then falls only as h; with beta >= 3 it falls as h^3, as for a smooth
    solution, and 2.5 to 3 reach 0.5 % with the fewest cells. T. von Petersdorff and E. P. Stephan, Math. Methods Appl.
    Sci. 12 (1990) 229.
    """
    sizes = np.array(positive_lengths("lengths", lengths, 3))
    beta = _exponent(grading)
    room_for_surface(2 * float(sizes @ np.roll(sizes, 1)) * beta**2, positive("h", h))
    marks = _graded_sides(sizes, h, beta)
    cells = [len(each) - 1 for each in marks]
    points, triangles, offset = [], [], 0
    for axis in range(3):
        p, q = (axis + 1) % 3, (axis + 2) % 3
        u, v, faces = _grid(cells[p], cells[q])
        for side in (0, 1):
            x = np.zeros((len(u), 3), dtype=np.int64)
            x[:, p], x[:, q], x[:, axis] = np.rint(u * cells[p]), np.rint(v * cells[q]), side * cells[axis]
            points.append(x)
            triangles.append((faces if side else faces[:, [0, 2, 1]]) + offset)
            offset += len(u)
    places, inverse = np.unique(np.concatenate(points), axis=0, return_inverse=True)
    vertices = np.stack([marks[axis][places[:, axis]] for axis in range(3)], axis=1)
    return TriangleMesh(vertices, inverse.ravel()[np.concatenate(triangles)])


def layered_cuboid(
    lengths: Sequence[float] = (1.0, 1.0), thicknesses: Sequence[float] = (0.5, 0.5), h: float = 0.1
) -> TriangleMesh:
    """Cuboids on top of each other about the origin, with sides along x and y and thicknesses along z from below, with
    common faces between them: tags "layer 1", "layer 2", ... of their free faces, "joint 1", ... of the common ones.

    The surface of one is `restricted(["layer 1", "joint 1"])`; edges at joints belong to several triangles.
    """
    a, b = positive_lengths("lengths", lengths, 2)
    heights = positive_lengths("thicknesses", thicknesses, len(thicknesses) if isinstance(thicknesses, Iterable) else 2)
    if len(heights) < 2:
        raise MeshError(f"thicknesses = {list(thicknesses)}: a layered cuboid has two or more layers")
    room_for_surface(2 * (a + b) * sum(heights) + (len(heights) + 1) * a * b, positive("h", h))
    vertices, triangles, tags, offset, low = [], [], [], 0, -sum(heights) / 2
    for number, height in enumerate(heights):
        # a layer without its lower face, which is that of the layer below; its upper face is a joint
        layer = cuboid((a, b, height), h)
        top, bottom = layer.normals[:, 2] > 0.5, layer.normals[:, 2] < -0.5
        kept = ~bottom if number else np.ones(len(top), bool)
        inner = top & (number < len(heights) - 1)
        vertices.append(layer.vertices + [0, 0, low + height / 2])
        triangles.append(layer.triangles[kept] + offset)
        tags.append(np.where(inner, len(heights) + number, number)[kept])
        offset, low = offset + layer.number_of_vertices, low + height
    names = {f"layer {k + 1}": k for k in range(len(heights))}
    names |= {f"joint {k + 1}": len(heights) + k for k in range(len(heights) - 1)}
    # vertices of neighbouring layers are joined
    places = np.concatenate(vertices)
    _, first, number_of = np.unique(
        np.round(places / (1e-9 * max(a, b))), axis=0, return_index=True, return_inverse=True
    )
    return TriangleMesh(places[first], number_of.ravel()[np.concatenate(triangles)], np.concatenate(tags), names)


def cube(size: float = 1.0, h: float = 0.1) -> TriangleMesh:
    """Surface of a cube about the origin, ceil(size / h) cells along each edge."""
    return cuboid((size, size, size), h)


def disc(radius: float = 1.0, h: float = 0.1) -> TriangleMesh:
    """Disc in the plane z = 0 about the origin, normal +z, mean edge length h (at most 1.1 radius)."""
    radius, h = positive("radius", radius), positive("h", h)
    refuse_long(h, 1.1 * radius, f"a disc of radius {radius:g}")
    room_for_surface(np.pi * radius**2, h)
    points, triangles, _ = _flat_disc(max(5, round(np.pi / np.arcsin(min(1.0, h / (2 * radius))))))
    return TriangleMesh(radius * np.column_stack([points, np.zeros(len(points))]), triangles)


def cylinder(radius: float = 0.5, length: float = 1.0, h: float = 0.1) -> TriangleMesh:
    """Closed cylinder about the z axis, centre at the origin, with flat ends; mean edge length h (at most 1.1 radius).

    The wall is rows of equal triangles, each row rotated by half an edge against the next.
    """
    radius, length, h = positive("radius", radius), positive("length", length), positive("h", h)
    refuse_long(h, min(1.1 * radius, 1.4 * length), f"a cylinder of radius {radius:g}, length {length:g}")
    room_for_surface(2 * np.pi * radius * (radius + length), h)
    around = max(5, round(np.pi / np.arcsin(min(1.0, h / (2 * radius)))))
    rows = max(1, round(length / (np.sqrt(0.75) * h)))
    if around > 20:
        return TriangleMesh(*_cylinder(around, rows, radius, length))
    near = [(n, m) for n in range(max(5, around - 1), around + 2) for m in range(max(1, rows - 1), rows + 2)]
    meshes = [TriangleMesh(*_cylinder(n, m, radius, length)) for n, m in near]
    return min(meshes, key=lambda mesh: abs(mesh.mean_edge_length / h - 1) + max(0, mesh.edge_lengths.max() / h - 1.4))


def tube(radius: float = 1.0, inner_radius: float = 0.5, length: float = 1.0, h: float = 0.1) -> TriangleMesh:
    """A ring or a tube about the z axis, centre at the origin, with flat ends: tags "outer", "inner", "top", "bottom".

    h: edge length at the mean radius; the number of edges around is the same everywhere, so that those of the inner
    wall are shorter. The polygons of the ends have the areas of the circles.
    """
    radius, inner, length = (
        positive("radius", radius),
        positive("inner_radius", inner_radius),
        positive("length", length),
    )
    if inner >= radius:
        raise MeshError(f"inner_radius = {inner:g} is not below radius = {radius:g}: give a smaller one")
    room_for_surface(2 * np.pi * (radius + inner) * (length + radius - inner), positive("h", h))
    around = max(6, round(np.pi * (radius + inner) / h))
    along, across = max(1, round(length / h)), max(1, round((radius - inner) / h))
    ratio = np.linspace(0, 1, across + 1)
    # a regular polygon has the area of the circle through its corners times sin(a)/a, a the angle of an edge
    radii = (inner + ratio * (radius - inner)) / np.sqrt(np.sinc(2 / around))
    heights = np.linspace(-length / 2, length / 2, along + 1)
    # around the cross-section: up the outer wall, inward on top, down the inner wall, outward below
    path = [(radii[-1], z, 0) for z in heights[:-1]] + [(r, length / 2, 2) for r in radii[:0:-1]]
    path += [(radii[0], z, 1) for z in heights[:0:-1]] + [(r, -length / 2, 3) for r in radii[:-1]]
    rows = len(path)
    row, place = (a.ravel() for a in np.meshgrid(np.arange(rows), np.arange(around), indexing="ij"))
    angle = 2 * np.pi * (place + 0.5 * (row % 2)) / around  # the number of rows is even
    r, z, kind = (np.array([each[k] for each in path]) for k in range(3))
    vertices = np.stack([r[row] * np.cos(angle), r[row] * np.sin(angle), z[row]], axis=1)
    triangles = np.concatenate([_wall_row(k, around) for k in range(rows)]) % (rows * around)
    tags = np.repeat(kind, 2 * around)
    return TriangleMesh(vertices, triangles, tags, {"outer": 0, "inner": 1, "top": 2, "bottom": 3})


def _cylinder(around: int, rows: int, radius: float, length: float) -> tuple[NDArray, NDArray]:
    """Vertices and triangles of a cylinder with this many points around and rows of triangles along it."""
    row, place = (a.ravel() for a in np.meshgrid(np.arange(rows + 1), np.arange(around), indexing="ij"))
    angle = 2 * np.pi * (place + 0.5 * (row % 2)) / around
    wall = np.stack([radius * np.cos(angle), radius * np.sin(angle), length * (row / rows - 0.5)], axis=1)
    triangles = [_wall_row(k, around) for k in range(rows)]
    flat, faces, inner = _flat_disc(around)
    parts, offset = [wall], len(wall)
    for top in (False, True):
        start, turn = (rows * around, 0.5 * (rows % 2)) if top else (0, 0.0)
        c, s = np.cos(2 * np.pi * turn / around), np.sin(2 * np.pi * turn / around)
        rotated = radius * flat[around:] @ np.array([[c, s], [-s, c]])
        parts.append(np.column_stack([rotated, np.full(inner, length / 2 if top else -length / 2)]))
        number = np.concatenate([start + np.arange(around), offset + np.arange(inner)])
        triangles.append(number[faces if top else faces[:, [0, 2, 1]]])
        offset += inner
    return np.concatenate(parts), np.concatenate(triangles)


def _wall_row(row: int, around: int) -> NDArray:
    """Triangles (2 around, 3) between a row of points and the next, normals away from the axis."""
    k = np.arange(around)
    n = (k + 1) % around
    low, high = row * around, (row + 1) * around
    if row % 2 == 0:  # the upper row is half an edge ahead
        pieces = [(low + k, low + n, high + k), (low + n, high + n, high + k)]
    else:
        pieces = [(low + k, high + n, high + k), (low + k, low + n, high + n)]
    return np.concatenate([np.stack(piece, axis=1) for piece in pieces])


def _flat_disc(around: int) -> tuple[NDArray, NDArray, int]:
    """Points (n, 2) of the unit disc, first the given number on its boundary, triangles, and how many points lie
    inside.

    Points inside start on rings and move to the mean of the triangles around them in their Delaunay triangulation.
    """
    # rings of points with about that edge
    edge = 2 * np.sin(np.pi / around)
    rings = max(1, round(1 / (np.sqrt(0.75) * edge)))
    circles = [_ring(around, 1.0, 0.0)]
    for ring in range(rings - 1, 0, -1):
        circles.append(_ring(max(3, round(around * ring / rings)), ring / rings, 0.5 * (ring % 2)))
    points = np.concatenate([*circles, np.zeros((1, 2))])
    inner = len(points) - around
    for _ in range(40 if inner > 1 else 0):
        triangles = scipy.spatial.Delaunay(points).simplices
        a, b, c = (points[triangles[:, i]] for i in range(3))
        # each point inside moves to the mean of the centroids around it, weighted by area
        u, v = b - a, c - a
        areas = np.abs(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0])
        total = np.bincount(triangles.ravel(), weights=np.repeat(areas, 3), minlength=len(points))
        centre = (a + b + c) / 3 * areas[:, None]
        for axis in (0, 1):
            mean = np.bincount(triangles.ravel(), weights=np.repeat(centre[:, axis], 3), minlength=len(points)) / total
            points[around:, axis] = mean[around:]
    triangles = scipy.spatial.Delaunay(points).simplices.astype(np.int64)
    a, b, c = (points[triangles[:, i]] for i in range(3))
    clockwise = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0] < 0
    triangles[clockwise] = triangles[clockwise][:, [0, 2, 1]]
    return points, triangles, inner


def _ring(number: int, radius: float, turn: float) -> NDArray:
    angle = 2 * np.pi * (np.arange(number) + turn) / number
    return radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _exponent(grading: float | None) -> float:
    """The exponent beta of graded sides, 1 for none, or MeshError."""
    beta = 1.0 if grading is None else positive("grading", grading)
    steepest = 6.0  # cells of a side of 20 then differ by a factor of 3e5
    if not 1 <= beta <= steepest:
        raise MeshError(
            f"grading = {grading!r}: an exponent from 1 (equal cells) to {steepest:g} is needed; 2 or 3 is usual"
        )
    return beta


def _graded_sides(sizes: NDArray, h: float, beta: float) -> list[NDArray]:
    """Coordinates of the points along each side, from -length / 2 to length / 2."""
    if beta == 1:
        return [(np.arange(cells_of(size, h) + 1) / cells_of(size, h) - 0.5) * size for size in sizes]
    longest = _graded(float(sizes.max()), beta, h, np.inf)
    first = float(longest[1] - longest[0])
    return [_graded(float(size), beta, h, first) for size in sizes]


def _graded(length: float, beta: float, h: float, first: float) -> NDArray:
    """Points along a side that is graded toward both ends, with the fewest cells of which none is longer than h and
    those at the ends are no longer than `first`."""
    n = max(1, int(length / h))
    while True:
        x = np.minimum(np.arange(n + 1), np.arange(n, -1, -1)) * (2 / n)
        x = np.copysign(0.5 * length * (1 - x**beta), np.arange(n + 1) - 0.5 * n)
        steps = np.diff(x)
        if not exceeds(steps.max(), h) and not exceeds(steps[0], first):
            return x
        n += 1


def _grid(n: int, m: int) -> tuple[NDArray, NDArray, NDArray]:
    """Unit square of n by m cells, two triangles each: coordinates u, v (points,) and triangles, counter-clockwise."""
    u, v = np.meshgrid(np.linspace(0, 1, n + 1), np.linspace(0, 1, m + 1), indexing="ij")
    k = (np.arange(n)[:, None] * (m + 1) + np.arange(m)).ravel()
    lower = np.stack([k, k + m + 1, k + m + 2], axis=1)
    upper = np.stack([k, k + m + 2, k + 1], axis=1)
    return u.ravel(), v.ravel(), np.stack([lower, upper], axis=1).reshape(-1, 3)
