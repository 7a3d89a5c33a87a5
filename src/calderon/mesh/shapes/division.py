"""Triangles divided in their planes, each into four of half the size and the same shape."""

import numpy as np
from numpy.typing import NDArray

from calderon.backends import require_memory
from calderon.mesh.sizes import PEAK_BYTES
from calderon.mesh.topology import edge_table


def quartered(
    vertices: NDArray[np.float64], triangles: NDArray[np.int64], times: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Vertices and triangles, the 4^times parts of each one after another; MemoryError if there is no room."""
    number = len(triangles) * 4**times
    require_memory(PEAK_BYTES.triangle * number, f"a mesh of {number} triangles", "divide fewer times")
    for _ in range(times):
        edges, of_triangle, _ = edge_table(triangles, len(vertices))
        (a, b, c), (p, q, r) = triangles.T, len(vertices) + of_triangle.T  # middles of the edges opposite a, b, c
        vertices = np.concatenate([vertices, vertices[edges].mean(axis=1)])
        parts = np.array([[a, r, q], [r, b, p], [q, p, c], [p, q, r]])
        triangles = parts.transpose(2, 0, 1).reshape(-1, 3)
    return vertices, triangles
