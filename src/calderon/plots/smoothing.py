"""Values on triangles as values at their corners, continuous where the surface is smooth."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from calderon.mesh import TriangleMesh


def corner_means(mesh: TriangleMesh, values: NDArray[Any]) -> NDArray[Any]:
    """(nt, 3) means of values (nt,) over the triangles at each vertex that are connected by edges at which normals
    differ by less than 30 degrees, weighted by area. Missing values (NaN) do not count; their own triangles keep them.
    """
    fan = _fans(mesh)
    known = np.isfinite(values)
    weights = np.repeat(np.where(known, mesh.areas, 0.0), 3)
    total = np.bincount(fan, weights)
    products = np.repeat(np.where(known, values, 0), 3) * weights
    sums: NDArray[Any] = np.bincount(fan, products.real)
    if np.iscomplexobj(values):
        sums = sums + 1j * np.bincount(fan, products.imag)
    means = (sums / np.where(total > 0, total, 1))[fan].reshape(-1, 3)
    means[~known] = values[~known][:, None]
    return means


def _fans(mesh: TriangleMesh) -> NDArray[np.int64]:
    """(3 nt,) the number of the fan of each corner 3 t + i."""
    one, two = mesh.paired_sides
    smooth = np.isin(np.flatnonzero(mesh.edge_triangle_counts == 2), mesh.sharp_edges(), invert=True)
    one, two = one[smooth], two[smooth]
    numbers = mesh.triangles.ravel()
    links = []
    for first in (1, 2):  # both ends of the edge
        here = 3 * (one // 3) + (one % 3 + first) % 3
        there = 3 * (two // 3) + (two % 3 + 1) % 3
        other = 3 * (two // 3) + (two % 3 + 2) % 3
        links.append((here, np.where(numbers[there] == numbers[here], there, other)))
    rows, columns = (np.concatenate(each) for each in zip(*links, strict=True))
    graph = sp.coo_array((np.ones(len(rows), bool), (rows, columns)), shape=(len(numbers), len(numbers)))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)
