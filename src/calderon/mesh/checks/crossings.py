"""Pairs of triangles that pass through each other or lie on each other.

Triangles with a common vertex have more in common exactly if they do so near that vertex, as both are convex: there
they are sectors, whose directions are arcs on the unit sphere, and the arcs cross or cover a part of each other. Those
with a common edge do so exactly if they are folded onto each other.
"""

from collections.abc import Iterator

import numpy as np
import scipy
from numpy.typing import NDArray

from calderon.mesh.tolerances import TOLERANCES


def overlapping(x: NDArray, y: NDArray) -> NDArray[np.bool_]:
    """(n,) whether triangles with corners x and y (n, 3, 3) have more in common than boundary points: one passes
    through the other, or both lie in a plane and share an area.

    Through: an edge of one pierces the other inside. In a plane: no line along an edge parts them (separating axes).
    """
    sides = [np.linalg.norm(each - np.roll(each, 1, axis=1), axis=2).max(axis=1) for each in (x, y)]
    margin = TOLERANCES.same * np.max(sides, 0)
    normals = [_units(np.cross(each[:, 1] - each[:, 0], each[:, 2] - each[:, 0])) for each in (x, y)]
    pierced = _pierces(x, y, normals[1], margin) | _pierces(y, x, normals[0], margin)
    return pierced | _share_area(x, y, normals[1], margin)


def crossing_pairs(corners: NDArray, triangles: NDArray) -> NDArray[np.int64]:
    """(n, 2) pairs of triangles with these corners (m, 3, 3) that overlap (see `overlapping`), or have more in common
    than the vertex or the edge that they share; triangles (m, 3) their vertices."""
    low, high = (np.ascontiguousarray(each.T) for each in (corners.min(axis=1), corners.max(axis=1)))
    found = [np.zeros((0, 2), np.int64)]
    for i, j in _close_pairs(corners):
        for least, most in zip(low, high, strict=True):  # boxes around both meet along each axis
            meet = (least[i] <= most[j]) & (least[j] <= most[i])
            i, j = i[meet], j[meet]
        same = triangles[i][:, :, None] == triangles[j][:, None]
        shared = same.reshape(-1, 9).view(np.uint8) @ np.ones(9, np.uint8)
        for number, overlap in enumerate((overlapping, _overlapping_sectors, _folded)):
            these = shared == number
            x, y = corners[i[these]], corners[j[these]]
            if number:
                x, y = _common_first(x, same[these].any(axis=2)), _common_first(y, same[these].any(axis=1))
            cut = overlap(x, y)
            found.append(np.stack([i[these][cut], j[these][cut]], axis=1))
    return np.unique(np.sort(np.concatenate(found), axis=1), axis=0)


def _close_pairs(corners: NDArray) -> Iterator[tuple[NDArray, NDArray]]:
    """Triangles whose balls meet, some thousand at a time, each pair at least once: classes of sizes within a factor of
    two against each other, so that a few large triangles do not make pairs of all small ones."""
    centres = corners.mean(axis=1)
    radii = np.linalg.norm(corners - centres[:, None], axis=2).max(axis=1)
    size = np.floor(np.log2(radii)).astype(np.int64)
    classes = [np.flatnonzero(size == each) for each in np.unique(size)]
    trees = [scipy.spatial.cKDTree(centres[each]) for each in classes]
    for large in range(len(classes)):
        for small in range(large + 1):
            reach = 2.0 ** (size[classes[large][0]] + 1) + 2.0 ** (size[classes[small][0]] + 1)
            for some in np.split(classes[large], range(4096, len(classes[large]), 4096)):
                own = scipy.spatial.cKDTree(centres[some])
                near = own.sparse_distance_matrix(trees[small], reach, output_type="ndarray")
                first, second = some[near["i"]], classes[small][near["j"]]
                kept = (first < second) if small == large else np.ones(len(first), bool)
                yield first[kept], second[kept]


def _common_first(x: NDArray, common: NDArray) -> NDArray:
    """Corners (n, 3, 3) in another order, those first that are common (n, 3)."""
    return np.take_along_axis(x, np.argsort(~common, axis=1, kind="stable")[:, :, None], axis=1)


def _overlapping_sectors(x: NDArray, y: NDArray) -> NDArray[np.bool_]:
    """(n,) whether triangles with a common first corner have more than that in common."""
    edges, around = x[:, 1:] - x[:, :1], y[:, 1:] - y[:, :1]
    pole = np.cross(around[:, 0], around[:, 1])
    heights = np.einsum("nij,nj->ni", edges, pole)
    flat = 2 * TOLERANCES.same * np.sqrt((edges**2).sum(axis=(1, 2)) * (pole**2).sum(axis=1))
    # most triangles lie on one side of the plane of the other
    found = (heights.min(axis=1) < 0) & (heights.max(axis=1) > 0) | (np.abs(heights).max(axis=1) < flat)
    near = np.flatnonzero(found)
    found[near] = _overlapping_arcs([_units(each[near]) for each in (edges, around)])
    return found


def _overlapping_arcs(arcs: list[NDArray]) -> NDArray[np.bool_]:
    """(n,) whether two arcs (n, 2, 3) between unit vectors cross, or cover a part of each other."""
    poles = [np.cross(arc[:, 0], arc[:, 1]) for arc in arcs]
    spans = [np.linalg.norm(pole, axis=1) for pole in poles]
    heights = [np.einsum("nij,nj->ni", arcs[k], poles[1 - k]) for k in (0, 1)]  # times the sine of the other's angle
    cross = np.ones(len(arcs[0]), bool)
    for height, span in zip(heights, reversed(spans), strict=True):
        margin = np.maximum(TOLERANCES.same * span, TOLERANCES.determinant)
        cross &= (height.min(axis=1) < -margin) & (height.max(axis=1) > margin)
    near = np.flatnonzero(cross)  # a crossing of the great circles, which may be that opposite to the other arc
    meet = np.einsum("ni,nij->nj", np.abs(heights[0][near][:, ::-1]), arcs[0][near])
    cross[near] = np.einsum("ni,ni->n", meet, arcs[1][near].sum(axis=1)) > 0
    # heights would not do: those of needles near the edge of a thin wedge are small, too
    flat = np.linalg.norm(np.cross(poles[0], poles[1]), axis=1) < TOLERANCES.same * spans[0] * spans[1]
    near = np.flatnonzero(flat)
    (first, one), (second, two) = (_middle(arc[near]) for arc in arcs)
    flat[near] = _angles(first, second) < one + two
    return cross | flat


def _middle(arcs: NDArray) -> tuple[NDArray, NDArray]:
    """(n, 3) middles of arcs (n, 2, 3) and half their angles (n,), less the rounding error of both."""
    total = arcs.sum(axis=1)
    length = np.linalg.norm(total, axis=1)
    return total / length[:, None], 0.5 * _angles(
        arcs[:, 0], arcs[:, 1]
    ) - TOLERANCES.same - TOLERANCES.determinant / length


def _folded(x: NDArray, y: NDArray) -> NDArray[np.bool_]:
    """(n,) whether triangles with an edge from the first to the second corner in common lie on each other."""
    edge = _units(x[:, 1] - x[:, 0])
    across = [each[:, 2] - each[:, 0] for each in (x, y)]
    across = [each - np.einsum("ni,ni->n", each, edge)[:, None] * edge for each in across]
    return _angles(across[0], across[1]) < TOLERANCES.same


def _units(x: NDArray) -> NDArray:
    return np.asarray(x / np.linalg.norm(x, axis=-1, keepdims=True))


def _angles(x: NDArray, y: NDArray) -> NDArray:
    """(n,) between vectors, exact for small ones."""
    return np.asarray(np.arctan2(np.linalg.norm(np.cross(x, y), axis=1), np.einsum("ni,ni->n", x, y)))


def _pierces(x: NDArray, y: NDArray, normals: NDArray, margin: NDArray) -> NDArray[np.bool_]:
    """(n,) whether an edge of x passes through the inside of y, of unit normals (n, 3), by more than margin (n,)."""
    heights = np.einsum("nij,nj->ni", x - y[:, :1], normals)
    edges = [(y[:, i], _units(np.cross(normals, y[:, (i + 1) % 3] - y[:, i]))) for i in range(3)]
    inside = np.zeros(len(x), bool)
    for a, b in ((0, 1), (1, 2), (2, 0)):
        low, high = np.sort(heights[:, [a, b]], axis=1).T
        across = (low < -margin) & (high > margin)
        step = np.where(across, heights[:, a] - heights[:, b], 1.0)
        point = x[:, a] + (heights[:, a] / step)[:, None] * (x[:, b] - x[:, a])
        # the distance in the plane of y from the nearest line along an edge, positive inside
        depth = np.min([np.einsum("nj,nj->n", point - start, inward) for start, inward in edges], axis=0)
        inside |= across & (depth > margin)
    return inside


def _share_area(x: NDArray, y: NDArray, normals: NDArray, margin: NDArray) -> NDArray[np.bool_]:
    """(n,) whether both lie in one plane and share an area; arguments as in `_pierces`."""
    shared = np.abs(np.einsum("nij,nj->ni", x - y[:, :1], normals)).max(axis=1) < margin
    for one in (x, y):
        for i in range(3):
            axis = np.cross(normals, one[:, (i + 1) % 3] - one[:, i])
            axis /= np.maximum(np.linalg.norm(axis, axis=1, keepdims=True), 1e-300)  # 0 for an edge along the normal
            first, second = (np.einsum("nij,nj->ni", each - one[:, :1], axis) for each in (x, y))
            low, high = np.maximum(first.min(axis=1), second.min(axis=1)), np.minimum(first.max(1), second.max(1))
            shared &= high - low > margin
    return np.asarray(shared)
