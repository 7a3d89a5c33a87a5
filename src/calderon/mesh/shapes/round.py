"""Sphere, hemisphere, hollow sphere, ellipsoid and torus by target edge length."""

import functools
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import scipy
from numpy.typing import NDArray

from calderon.mesh.errors import MeshError
from calderon.mesh.shapes.mirror_images import mirror_images
from calderon.mesh.shapes.remeshing import remeshed
from calderon.mesh.shapes.volume_kept import VOLUME_NOTE, curved_mesh, with_volume_kept
from calderon.mesh.sizes import positive, positive_lengths, refuse_long, room_for_surface
from calderon.mesh.triangles import TriangleMesh
from calderon.validation import truth

RING_HEIGHT = 3**0.5 / 2  # of equilateral triangles over their sides
MEAN_EDGE = 1.2046  # mean edge length of the geodesic unit sphere times its frequency


def sphere(radius: float = 1.0, h: float = 0.1, volume: bool = True) -> TriangleMesh:
    """Sphere about the origin with mean edge length h (up to 1.7 radius), longest edge below 1.35 h, angles above 30
    degrees.

    Fine spheres are geodesic: each face of the icosahedron in n^2 triangles, pushed out to the sphere. Coarse ones,
    where whole n leave gaps between the edge lengths, are the convex hull (the Delaunay triangulation) of points
    spread evenly. volume: move vertices off the sphere, by about h^2 / (8 radius), so that the triangles enclose its
    volume; False leaves them on it. Fields of the first are nearer to those of a sphere by an order of magnitude.
    """
    radius, h = positive("radius", radius), positive("h", h)
    refuse_long(h, 1.7 * radius, f"a sphere of radius {radius:g}")
    room_for_surface(4 * np.pi * radius**2, h)
    frequency = round(MEAN_EDGE * radius / h)
    if frequency >= 9:  # from there on steps of h between whole numbers are fine enough
        points, triangles = geodesic_sphere(frequency)
        points = _of_unit_ball(points, triangles, volume)
    else:
        points, triangles = _spread_sphere(h / radius, volume)
    return TriangleMesh(radius * points, triangles, note=VOLUME_NOTE if volume else "")


def hollow_sphere(radius: float = 1.0, inner_radius: float = 0.5, h: float = 0.1, volume: bool = True) -> TriangleMesh:
    """Two spheres about the origin, tagged "outer" and "inner", the normals of both away from it. The edges of the
    inner one are shorter, h times the root of the ratio of radii; volume: as of `sphere`."""
    radius, inner_radius = positive("radius", radius), positive("inner_radius", inner_radius)
    if inner_radius >= radius:
        raise MeshError(f"inner_radius = {inner_radius:g} is not below radius = {radius:g}: give a smaller one")
    outer = sphere(radius, h, volume)
    inner = sphere(inner_radius, h * np.sqrt(inner_radius / radius), volume)
    vertices = np.concatenate([outer.vertices, inner.vertices])
    triangles = np.concatenate([outer.triangles, inner.triangles + outer.number_of_vertices])
    tags = np.repeat([0, 1], [outer.number_of_triangles, inner.number_of_triangles])
    return TriangleMesh(vertices, triangles, tags, {"outer": 0, "inner": 1}, note=outer.note)


def hemisphere(radius: float = 1.0, h: float = 0.1, volume: bool = True) -> TriangleMesh:
    """The half z >= 0 of a sphere about the origin, open, its boundary in the plane z = 0; mean edge length h (up to
    0.7 radius). Its images, `hemisphere(...).mirrored("z")`, make a sphere; volume: as of `sphere`."""
    radius, h = positive("radius", radius), positive("h", h)
    refuse_long(h, 0.7 * radius, f"a hemisphere of radius {radius:g}")
    room_for_surface(2 * np.pi * radius**2, h)
    rings = round(np.pi / 2 * radius / (h * RING_HEIGHT))
    found = [_ringed_hemisphere(each) for each in range(max(2, rings - 1), rings + 2)]
    points, triangles = min(found, key=lambda shape: abs(radius * _mean_edge(*shape) - h))
    whole = mirror_images(points, triangles, ("z",))
    points = _of_unit_ball(whole.vertices, whole.triangles, volume)[: len(points)]
    points[-np.count_nonzero(whole.vertices[:, 2] == 0) :, 2] = 0.0  # the last ring
    return TriangleMesh(radius * points, triangles, note=VOLUME_NOTE if volume else "")


def _ringed_hemisphere(number: int) -> tuple[NDArray, NDArray]:
    """Points of the half z >= 0 of the unit sphere in so many rings about the z axis, and outward triangles: the pole
    first, the ring in z = 0 last; points of a ring are as far apart as makes triangles equilateral."""
    step = np.pi / 2 / number
    theta = step * np.arange(1, number + 1)
    counts = np.maximum(np.rint(2 * np.pi * np.sin(theta) / step * RING_HEIGHT), 3).astype(np.int64)
    phi = 2 * np.pi * np.concatenate([np.arange(n) / n for n in counts])
    theta = np.repeat(theta, counts)
    height = np.append(np.cos(theta[: -counts[-1]]), np.zeros(counts[-1]))
    ringed = np.stack([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), height], axis=1)
    starts = np.append(1, 1 + np.cumsum(counts))
    k = np.arange(counts[0])
    triangles = [np.stack([0 * k, 1 + k, 1 + (k + 1) % counts[0]], axis=1)]
    for n, m, start, after in zip(counts[:-1], counts[1:], starts[:-2], starts[1:-1], strict=True):
        # sides of both rings in the order of their middles; each makes a triangle with the other ring's last point
        middles = np.concatenate([(np.arange(n) + 0.5) / n, (np.arange(m) + 0.5) / m])
        order = np.argsort(middles, kind="stable")
        outer = order >= n
        i, j = np.cumsum(~outer) - ~outer, np.cumsum(outer) - outer  # points passed before each side
        third = np.where(outer, after + (j + 1) % m, start + (i + 1) % n)
        triangles.append(np.stack([start + i % n, after + j % m, third], axis=1))
    return np.concatenate([[[0.0, 0.0, 1.0]], ringed]), np.concatenate(triangles)


def _of_unit_ball(points: NDArray, triangles: NDArray, volume: bool) -> NDArray:
    """Points of the unit sphere, moved to keep its volume; a last factor corrects the error left by least squares
    (order h^4)."""
    if not truth(volume, "volume"):
        return points
    placed = with_volume_kept(points, triangles, lambda x: x / np.linalg.norm(x, axis=1)[:, None])
    enclosed = np.linalg.det(placed[triangles]).sum() / 6
    return placed * (4 * np.pi / 3 / enclosed) ** (1 / 3)


def geodesic_sphere(frequency: int) -> tuple[NDArray, NDArray]:
    """Points (10 n^2 + 2, 3) on the unit sphere and triangles (20 n^2, 3), outward; poles at x = -1, 1."""
    base, faces = _icosahedron()
    n = frequency
    i, j = np.array([(i, j) for i in range(n + 1) for j in range(n + 1 - i)]).T
    number = np.full((n + 2, n + 2), -1)
    number[i, j] = np.arange(len(i))
    weights = np.stack([n - i - j, i, j], axis=1)
    up = np.flatnonzero(i + j < n)
    down = np.flatnonzero(i + j < n - 1)
    upright = [up, number[i[up] + 1, j[up]], number[i[up], j[up] + 1]]
    inverted = [number[i[down] + 1, j[down]], number[i[down] + 1, j[down] + 1], number[i[down], j[down] + 1]]
    local = np.concatenate([np.stack(each, axis=1) for each in (upright, inverted)])
    points = np.einsum("pw,fwk->fpk", weights / n, base[faces]).reshape(-1, 3)
    # points on edges and corners belong to several faces: name each by its corners and weights
    corner = np.where(weights[None] > 0, faces[:, None, :], len(base)).reshape(-1, 3)
    weight = np.broadcast_to(weights, (len(faces), *weights.shape)).reshape(-1, 3)
    order = np.argsort(corner, axis=1, kind="stable")
    name = np.take_along_axis(corner, order, 1) * (n + 1) + np.take_along_axis(weight, order, 1)
    key = name @ (13 * (n + 1)) ** np.arange(3)[::-1].astype(np.int64)
    first, inverse = np.unique(key, return_index=True, return_inverse=True)[1:]
    points = points[first]
    points /= np.linalg.norm(points, axis=1)[:, None]
    triangles = local[None] + len(i) * np.arange(len(faces))[:, None, None]
    return points, inverse.ravel()[triangles.reshape(-1, 3)]


def _icosahedron() -> tuple[NDArray, NDArray]:
    """Vertices (12, 3) on the unit sphere, two of them on the x axis, and outward faces (20, 3)."""
    angle = 2 * np.pi * np.arange(5) / 5
    low, high = -1 / np.sqrt(5), 2 / np.sqrt(5)
    ring = np.stack([np.full(5, -low), high * np.cos(angle), high * np.sin(angle)], axis=1)
    other = np.stack([np.full(5, low), high * np.cos(angle + np.pi / 5), high * np.sin(angle + np.pi / 5)], axis=1)
    k = np.arange(5)
    n = (k + 1) % 5
    faces = [
        np.stack(f, axis=1)
        for f in [(0 * k, 1 + k, 1 + n), (1 + k, 6 + k, 1 + n), (1 + n, 6 + k, 6 + n), (0 * k + 11, 6 + n, 6 + k)]
    ]
    return np.concatenate([[[1, 0, 0]], ring, other, [[-1, 0, 0]]]), np.concatenate(faces)


def _spread_sphere(h: float, volume: bool) -> tuple[NDArray, NDArray]:
    """Evenly spread points on (or near) the unit sphere whose mean edge length is within 3 % of h, or the nearest
    possible."""
    number = round(2 + 8 * np.pi / (np.sqrt(3) * h * h))
    if h > 1.2:
        shapes = [*map(_bipyramid, (4, 5, 6, 7)), *map(_spread_points, (9, 10, 12))]
        shapes = [(_of_unit_ball(*shape, volume), shape[1]) for shape in shapes]
        return min(shapes, key=lambda shape: abs(_mean_edge(*shape) - h))
    tried: dict[int, tuple[float, tuple[NDArray, NDArray]]] = {}
    while number not in tried and len(tried) < 8 and min((miss for miss, _ in tried.values()), default=np.inf) > 0.03:
        points, triangles = _spread_points(number)
        shape = _of_unit_ball(points, triangles, volume), triangles
        mean = _mean_edge(*shape)
        tried[number] = abs(mean / h - 1), shape
        number = max(9, round(2 + (number - 2) * (mean / h) ** 2))
    return min(tried.values(), key=lambda pair: pair[0])[1]


def _mean_edge(points: NDArray, triangles: NDArray) -> float:
    """Mean edge length of a closed surface: each edge counted twice."""
    return float(np.linalg.norm(points[triangles] - points[triangles[:, [1, 2, 0]]], axis=2).mean())


def _bipyramid(number: int) -> tuple[NDArray, NDArray]:
    """The tetrahedron, or two poles and number - 2 points on the equator of the unit sphere."""
    if number == 4:
        points = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) / np.sqrt(3)
        return points, np.array([[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]])
    sides = number - 2
    k = np.arange(sides)
    points = np.zeros((number, 3))
    points[:-2, 0], points[:-2, 1] = np.cos(2 * np.pi * k / sides), np.sin(2 * np.pi * k / sides)
    points[-2:, 2] = 1, -1
    n = (k + 1) % sides
    top, bottom = np.full(sides, number - 2), np.full(sides, number - 1)
    return points, np.concatenate([np.stack([k, n, top], axis=1), np.stack([n, k, bottom], axis=1)])


@functools.lru_cache(maxsize=64)  # of less than 60 kB each
def _spread_points(number: int) -> tuple[NDArray, NDArray]:
    """Points on the unit sphere from the Fibonacci spiral, relaxed on their convex hull, and its outward triangles,
    both read-only."""
    k = np.arange(number) + 0.5
    z, angle = 1 - 2 * k / number, np.pi * (1 + 5**0.5) * k
    points = np.stack([np.sqrt(1 - z * z) * np.cos(angle), np.sqrt(1 - z * z) * np.sin(angle), z], axis=1)
    for _ in range(60):
        triangles = scipy.spatial.ConvexHull(points).simplices
        corners = points[triangles]
        areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
        moved = np.zeros_like(points)
        np.add.at(moved, triangles, (corners.mean(axis=1) * areas[:, None])[:, None, :])
        points = moved / np.linalg.norm(moved, axis=1)[:, None]
    triangles = scipy.spatial.ConvexHull(points).simplices.astype(np.int64)
    inward = np.linalg.det(points[triangles]) < 0
    triangles[inward] = triangles[inward][:, [0, 2, 1]]
    points.flags.writeable = triangles.flags.writeable = False
    return points, triangles


def ellipsoid(semi_axes: Sequence[float] = (1.0, 1.0, 0.5), h: float = 0.1, volume: bool = True) -> TriangleMesh:
    """Ellipsoid about the origin, semi-axes along x, y, z, with mean edge length h and longest edge at most 1.5 h.

    volume: as for `sphere`, up to the fourth order of h.
    """
    axes = np.array(positive_lengths("semi_axes", semi_axes, 3))
    h = positive("h", h)
    if np.ptp(axes) == 0:
        return sphere(axes[0], h, volume)
    smallest, middle, _ = np.sort(axes)
    advice = ", the middle one and four times the smallest; model a body much thinner than its triangles as a disc"
    refuse_long(h, min(middle, 4 * smallest), f"semi-axes {axes.tolist()}", advice)
    room_for_surface(4 * np.pi * np.mean([(a * b) ** 1.6 for a, b in combinations(axes, 2)]) ** (1 / 1.6), h)  # Thomsen
    frequency = max(2, round(MEAN_EDGE * np.prod(axes) ** (1 / 3) / h))
    points, triangles = geodesic_sphere(frequency)

    def project(x: NDArray) -> NDArray:
        return closest_on_ellipsoid(x, axes)

    vertices, triangles = remeshed(points * axes, triangles, h, project)
    return curved_mesh(vertices, triangles, project, volume)


def closest_on_ellipsoid(points: NDArray, axes: NDArray) -> NDArray:
    """Closest points (n, d) on ellipsoids of semi-axes (d,) or, one for each point, (n, d), about the origin.

    x_i a_i^2 / (a_i^2 + t) with the largest root t of sum (a_i x_i / (a_i^2 + t))^2 = 1. The sum falls in t; Newton's
    method on its inverse square root, which is nearly straight, climbs to the root from below (Eberly, Distance from
    a point to an ellipse, an ellipsoid, or a hyperellipsoid, 2013; More and Sorensen, SIAM J. Sci. Stat. Comput. 4,
    1983). A radial step at the end puts the point on the surface exactly.
    """
    squares = np.broadcast_to(axes**2, points.shape)
    # a coordinate near zero makes a pole near the root, from which Newton's method would move slowly
    scaled = np.maximum(np.abs(points) * axes, 1e-6 * squares.min(axis=1, keepdims=True))
    t = (scaled - squares).max(axis=1)
    for _ in range(16):
        below = np.maximum(squares + t[:, None], scaled)  # equality up to rounding
        terms = (scaled / below) ** 2
        total = terms.sum(axis=1)
        step = total * np.maximum(np.sqrt(total) - 1, 0)
        t = t + step / (terms / below).sum(axis=1)
    x = points * squares / np.maximum(squares + t[:, None], scaled)
    return x / np.sqrt(((x / axes) ** 2).sum(axis=1))[:, None]


def torus(major_radius: float = 1.0, minor_radius: float = 0.3, h: float = 0.1, volume: bool = True) -> TriangleMesh:
    """Torus about the z axis: the circle of the minor radius runs along the circle of the major radius in z = 0.

    volume: as for `sphere`, up to the fourth order of h.
    """
    major, minor, h = positive("major_radius", major_radius), positive("minor_radius", minor_radius), positive("h", h)
    if minor >= major:
        raise MeshError(f"minor_radius {minor:g} must be below major_radius {major:g}: it would intersect itself")
    refuse_long(h, min(1.2 * minor, 2.0 * (major - minor)), f"a torus of radii {major:g} and {minor:g}")
    room_for_surface(4 * np.pi**2 * major * minor, h)
    # a grid of n x m points, each cell in two triangles, is remeshed
    n, m = max(4, round(2 * np.pi * major / h)), max(4, round(2 * np.pi * minor / h))
    i, j = (a.ravel() for a in np.meshgrid(np.arange(n), np.arange(m), indexing="ij"))
    u, v = 2 * np.pi * i / n, 2 * np.pi * j / m
    ring = major + minor * np.cos(v)
    points = np.stack([ring * np.cos(u), ring * np.sin(u), minor * np.sin(v)], axis=1)
    a, b, c, d = i * m + j, (i + 1) % n * m + j, (i + 1) % n * m + (j + 1) % m, i * m + (j + 1) % m
    triangles = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])

    def project(x: NDArray) -> NDArray:
        centre = np.zeros_like(x)
        centre[:, :2] = major * x[:, :2] / np.linalg.norm(x[:, :2], axis=1)[:, None]
        away = x - centre
        return centre + minor * away / np.linalg.norm(away, axis=1)[:, None]

    vertices, triangles = remeshed(points, triangles, h, project)
    return curved_mesh(vertices, triangles, project, volume)
