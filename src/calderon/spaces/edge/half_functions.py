"""Edge functions of which some end at edges, where currents leave the surface, as into a wall."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from calderon.mesh import TriangleMesh
from calderon.spaces.edge.edge_space import EdgeSpace, edge_space, table_of_sides
from calderon.validation import unmasked


def half_functions(mesh: TriangleMesh, edges: ArrayLike) -> EdgeSpace:
    """The functions of `RWG` and, for each of these edges, half a function: +, out of the last of its triangles.

    edges: numbers of edges of the mesh. At an edge with m triangles m functions are all fields whose flow out of the
    edge is any. ValueError for numbers that no edge has.
    """
    numbers = np.unique(unmasked(edges, "edges").astype(np.int64))
    if len(numbers) and not 0 <= numbers[0] <= numbers[-1] < mesh.number_of_edges:
        raise ValueError(f"edges of half functions are numbers below {mesh.number_of_edges}, got {numbers.tolist()}")
    triangles = np.arange(mesh.number_of_triangles)
    space = edge_space(mesh, triangles, False)
    last = np.zeros(mesh.number_of_edges, np.int64)
    np.maximum.at(last, mesh.triangle_edges.ravel(), np.arange(3 * len(triangles)))
    halves = np.stack([last[numbers], np.full(len(numbers), -1)], axis=1)
    sides = np.concatenate([space.sides, halves])
    sides = sides[np.argsort(mesh.triangle_edges.ravel()[sides[:, 0]], kind="stable")]
    rows, dofs, signs = table_of_sides(triangles, sides, mesh.number_of_triangles)
    return replace(space, triangles=rows, dofs=dofs, signs=signs, sides=sides)
