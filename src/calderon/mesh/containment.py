"""Which points a closed surface encloses."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Index = NDArray[np.int64]

PAIRS_AT_ONCE = 2_000_000


def winding_numbers(vertices: Floats, triangles: Index, points: Floats) -> Index:
    """(n,) how often the closed surface turns about points (n, 3), seen from inside: 1 inside, 0 outside.

    Counts the triangles above a point, +1 where their normal points up, -1 where it points down. Above means that the
    projection along z holds the point; a point on a projected edge belongs to one of its two triangles,
    because an edge is compared with the point by the same arithmetic from both sides and holds its lower end only.
    """
    columns = _Columns(vertices[triangles])
    turns = np.zeros(len(points), dtype=np.int64)
    cell = columns.cell_of(points)
    count = columns.count[cell]
    ends = np.cumsum(count)
    for first, last in _ranges(ends):
        which = np.repeat(np.arange(first, last), count[first:last])
        begin = np.repeat(ends[first:last] - count[first:last], count[first:last])
        offset = np.arange(len(which)) + (ends[first - 1] if first else 0) - begin
        triangle = columns.members[columns.start[cell[which]] + offset]
        turns += np.bincount(which, _crossing(columns.corners[triangle], points[which]), len(points)).astype(np.int64)
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


def _ranges(ends: Index) -> list[tuple[int, int]]:
    """Runs of points whose pairs with triangles fit into memory together; ends: cumulative number of pairs."""
    cuts = [0]
    while cuts[-1] < len(ends):
        done = ends[cuts[-1] - 1] if cuts[-1] else 0
        cuts.append(max(cuts[-1] + 1, int(np.searchsorted(ends, done + PAIRS_AT_ONCE, side="right"))))
    return list(zip(cuts[:-1], cuts[1:], strict=True))


class _Columns:
    """Triangles (nt, 3, 3) sorted into the cells of a grid in x and y that their projections touch."""

    def __init__(self, corners: Floats) -> None:
        self.corners = corners
        low, high = corners.min(axis=1)[:, :2], corners.max(axis=1)[:, :2]
        self.low = low.min(axis=0)
        span = np.maximum(high.max(axis=0) - self.low, np.finfo(float).tiny)
        self.shape = np.clip(np.ceil(span / np.maximum((high - low).mean(axis=0), span / 1000)), 1, 1000).astype(int)
        self.step = span / self.shape
        first, last = self._at(low), self._at(high)
        wide = last - first + 1
        number = wide.prod(axis=1)
        triangle = np.repeat(np.arange(len(corners)), number)
        local = np.arange(len(triangle)) - np.repeat(np.cumsum(number) - number, number)
        x, y = first[triangle, 0] + local // wide[triangle, 1], first[triangle, 1] + local % wide[triangle, 1]
        cell = x * self.shape[1] + y
        self.members = triangle[np.argsort(cell, kind="stable")]
        # one more cell, always empty, for the points outside the grid
        self.count = np.append(np.bincount(cell, minlength=int(self.shape.prod())), 0)
        self.start = np.cumsum(self.count) - self.count

    def _at(self, xy: Floats) -> Index:
        return np.clip((xy - self.low) // self.step, 0, self.shape - 1).astype(np.int64)

    def cell_of(self, points: Floats) -> Index:
        """(n,) the number of each point's cell."""
        xy = points[:, :2]
        place = self._at(xy)
        outside = ((xy < self.low) | (xy > self.low + self.step * self.shape * (1 + 1e-12))).any(axis=1)
        return np.where(outside, len(self.count) - 1, place[:, 0] * self.shape[1] + place[:, 1])


def _crossing(corners: Floats, points: Floats) -> Floats:
    """(n,) +1, -1 or 0: whether triangle i (n, 3, 3) lies above point i (n, 3), and which way its normal points."""
    total = np.zeros(len(points))
    for i in range(3):
        a, b = corners[:, i], corners[:, (i + 1) % 3]
        total += _edge_to_the_right(a[:, :2], b[:, :2], points[:, :2])
    # an upward triangle runs counter-clockwise: its edges to the right of the point sum to 1, of a downward one to -1
    height = corners - points[:, None]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return total * (np.einsum("ni,ni->n", normal, height[:, 0]) * np.sign(normal[:, 2]) > 0)


def _edge_to_the_right(a: Floats, b: Floats, p: Floats) -> Floats:
    """(n,) +1 where the edge from a to b crosses the ray from p along +x upward in y, -1 downward, else 0."""
    up = b[:, 1] > a[:, 1]
    low, high = np.where(up[:, None], a, b), np.where(up[:, None], b, a)
    within = (low[:, 1] <= p[:, 1]) & (p[:, 1] < high[:, 1])
    turn = (high[:, 0] - low[:, 0]) * (p[:, 1] - low[:, 1]) - (p[:, 0] - low[:, 0]) * (high[:, 1] - low[:, 1])
    return np.where(within & (turn > 0), np.where(up, 1.0, -1.0), 0.0)
