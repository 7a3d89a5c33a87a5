"""Which points a closed surface encloses."""

from itertools import chain

import numpy as np
import scipy
from numpy.typing import NDArray

from calderon.mesh.tolerances import TOLERANCES

Floats = NDArray[np.float64]
Index = NDArray[np.int64]


def winding_numbers(vertices: Floats, triangles: Index, points: Floats, pairs: int = 2_000_000) -> Index:
    """(n,) how often the closed surface turns about points (n, 3), seen from inside: 1 inside, 0 outside.

    Counts the triangles above a point, +1 where their normal points up, -1 where it points down. Above means that the
    projection along z holds the point; a point on a projected edge belongs to one of its two triangles,
    because an edge is compared with the point by the same arithmetic from both sides and holds its lower end only.
    pairs: of triangles and points, about how many are held at a time.
    """
    corners = vertices[triangles]
    middle = corners[:, :, :2].mean(axis=1)
    reach = np.linalg.norm(corners[:, :, :2] - middle[:, None], axis=2).max(axis=1)
    reach += TOLERANCES.rounding * np.abs(corners).max()
    points = np.clip(points, -1e100, 1e100)  # beyond all meshes; the tree squares distances
    tree = scipy.spatial.cKDTree(points[:, :2])
    number = tree.query_ball_point(middle, reach, return_length=True)
    near = np.flatnonzero(number)
    corners, middle, reach, ends = corners[near], middle[near], reach[near], np.cumsum(number[near])
    turns = np.zeros(len(points), dtype=np.int64)
    for some in np.split(np.arange(len(near)), np.flatnonzero(np.diff(ends // pairs)) + 1) if len(near) else ():
        below = tree.query_ball_point(middle[some], reach[some])
        which = np.fromiter(chain.from_iterable(below), np.int64)
        triangle = np.repeat(some, [len(each) for each in below])
        turns += np.bincount(which, _crossing(corners[triangle], points[which]), len(points)).astype(np.int64)
    return turns


def nested_components(vertices: Floats, triangles: Index, components: Index) -> Index:
    """Numbers of the components (nt,) of a closed surface that lie within another one."""
    number = int(components.max(initial=0)) + 1
    nested = []
    for part in range(number if number > 1 else 0):
        own = components == part
        corner = vertices[triangles[own][:1, 0]]
        if winding_numbers(vertices, triangles[~own], corner)[0] != 0:
            nested.append(part)
    return np.array(nested, dtype=np.int64)


def _crossing(corners: Floats, points: Floats) -> Floats:
    """(n,) +1, -1 or 0: whether triangle i (n, 3, 3) lies above point i (n, 3), and which way its normal points."""
    total, p = np.zeros(len(points)), points[:, :2]
    for i in range(3):
        # +1 where the edge from a to b crosses the ray from p along +x upward in y, -1 downward
        a, b = corners[:, i, :2], corners[:, (i + 1) % 3, :2]
        up = b[:, 1] > a[:, 1]
        low, high = np.where(up[:, None], a, b), np.where(up[:, None], b, a)
        within = (low[:, 1] <= p[:, 1]) & (p[:, 1] < high[:, 1])
        turn = (high[:, 0] - low[:, 0]) * (p[:, 1] - low[:, 1]) - (p[:, 0] - low[:, 0]) * (high[:, 1] - low[:, 1])
        total += np.where(within & (turn > 0), np.where(up, 1.0, -1.0), 0.0)
    # an upward triangle runs counter-clockwise: its edges to the right of the point sum to 1, of a downward one to -1
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return total * (np.einsum("ni,ni->n", normal, corners[:, 0] - points) * np.sign(normal[:, 2]) > 0)
