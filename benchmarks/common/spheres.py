"""Unit spheres with a wanted number of triangles or unknowns."""

import numpy as np

import calderon as cal
from calderon.mesh.shapes.flat import disc


def octahedral_sphere(triangles: int) -> cal.TriangleMesh:
    """The octahedron, each face in n^2 triangles, pushed out: 8 n^2 triangles, the nearest to the number wanted, such
    as 200, 8192 (4098 vertices), 32768."""
    n = max(1, round((triangles / 8) ** 0.5))
    i, j = (grid.ravel() for grid in np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij"))
    kept = i + j <= n
    i, j = i[kept], j[kept]
    number = np.full((n + 2, n + 2), -1)
    number[i, j] = np.arange(len(i))
    a, b = i[i + j < n], j[i + j < n]
    upward = np.stack([number[a, b], number[a + 1, b], number[a, b + 1]], axis=1)
    a, b = i[i + j < n - 1], j[i + j < n - 1]
    downward = np.stack([number[a + 1, b], number[a + 1, b + 1], number[a, b + 1]], axis=1)
    face = np.concatenate([upward, downward])
    grid = np.stack([i, j, n - i - j], axis=1)
    points, faces = [], []
    for signs in np.array(np.meshgrid([1, -1], [1, -1], [1, -1])).reshape(3, -1).T:
        faces.append((face if signs.prod() > 0 else face[:, ::-1]) + len(i) * len(points))
        points.append(grid * signs)
    places, inverse = np.unique(np.concatenate(points), axis=0, return_inverse=True)
    vertices = places / np.linalg.norm(places, axis=1, keepdims=True)
    return cal.TriangleMesh(vertices, inverse.ravel()[np.concatenate(faces)])


def cut_ball(unknowns: int) -> cal.TriangleMesh:
    """A ball in halves, "upper" and "lower", of the volume of the unit ball, and the disc between, "cut", with about so
    many unknowns."""
    h = 8.06 * unknowns**-0.5  # of the disc, from which the halves are mapped
    flat = disc(1.0, h)
    radius = np.linalg.norm(flat.vertices[:, :2], axis=1, keepdims=True)
    angle = radius * np.pi / 2
    upper = flat.vertices * np.where(radius > 0, np.sin(angle) / np.maximum(radius, 1e-300), 0)
    upper[:, 2] = np.cos(angle[:, 0])
    t, n = flat.triangles, len(upper)
    vertices = np.concatenate([upper, upper * [1, 1, -1], flat.vertices])
    whole = np.concatenate([t, t[:, [0, 2, 1]] + n, t + 2 * n])
    names = {"upper": 0, "lower": 1, "cut": 2}
    mesh = cal.TriangleMesh(vertices, whole, np.repeat([0, 1, 2], len(t)), names).merged_vertices(1e-6)
    return mesh.scaled((4 * np.pi / 3 / mesh.restricted(["upper", "lower"]).volume) ** (1 / 3))
