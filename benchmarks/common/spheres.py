"""Unit spheres with a wanted number of triangles: the octahedron, each face in n^2 triangles, pushed out."""

import numpy as np

import calderon as cal


def octahedral_sphere(triangles: int) -> cal.TriangleMesh:
    """8 n^2 triangles, the nearest to the number wanted: 200, 8192 (4098 vertices), 32768."""
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
