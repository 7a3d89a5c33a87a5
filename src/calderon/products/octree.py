"""Adaptive octrees over sources and targets: boxes level by level, each a run of both in Morton order."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import first_at_least, jitable_part, kernel, read_only
from calderon.mesh.geometry import enlarge
from calderon.mesh.locality import DEEPEST, point_keys, sorted_keys, spread


class Cube(NamedTuple):
    """The root: its lowest corner and its edge."""

    low: NDArray[np.float64]
    edge: float

    @staticmethod
    def around(*sides: NDArray[np.float64]) -> "Cube":
        """The smallest cube around points (n, 3), a little larger; of edge 1 around points in one place."""
        bounds = np.array([[np.inf] * 3, [-np.inf] * 3])
        for side in sides:
            enlarge(read_only(side), bounds)
        low, high = bounds
        edge = float((high - low).max()) * (1 + 1e-9)
        edge = edge if edge > 0 else 1.0
        return Cube((low + high - edge) / 2, edge)

    def enlarged(self, factor: float) -> "Cube":
        """A larger cube with the same centre."""
        edge = factor * self.edge
        return Cube(self.low + (self.edge - edge) / 2, edge)


@dataclass(frozen=True, eq=False)
class Octree:
    """Boxes; number 0 is the root, children come after their parents, level by level, in Morton order.

    level, parent, leaf (boxes,); children (boxes, 8), -1 where there are no points; position (boxes, 3): in units of
    the edges of its level. sources, targets (boxes, 2): the runs of `order` of both, (n,) and (m,).
    """

    cube: Cube
    level: NDArray[np.int32]
    parent: NDArray[np.int32]
    children: NDArray[np.int32]
    position: NDArray[np.int64]
    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    source_order: NDArray[np.int64]
    target_order: NDArray[np.int64]

    @property
    def leaf(self) -> NDArray[np.bool_]:
        """(boxes,) whether a box has no children."""
        return self.children.max(axis=1) < 0

    @property
    def edge(self) -> NDArray[np.float64]:
        """(boxes,) edges, of the root 1."""
        return np.asarray(0.5**self.level, np.float64)

    @property
    def centre(self) -> NDArray[np.float64]:
        """(boxes, 3) in units of the root, whose lowest corner is the origin."""
        return np.asarray((self.position + 0.5) * self.edge[:, None], np.float64)

    @property
    def first_key(self) -> NDArray[np.int64]:
        """(boxes,) the smallest key of points in the box."""
        keys = np.empty(len(self.level), np.int64)
        box_keys(self.position, self.level, keys)
        return keys

    @property
    def octant(self) -> NDArray[np.int64]:
        """(boxes,) which child of its parent a box is."""
        return (self.position & 1) @ np.array([4, 2, 1])

    def runs_of_levels(self) -> list[tuple[int, int]]:
        """First box of each level, and one beyond the last."""
        bounds = np.searchsorted(self.level, np.arange(int(self.level[-1]) + 2))
        return list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))

    def inside(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Points (n, 3) in units of the root."""
        return (points - self.cube.low) / self.cube.edge


def octree(
    sources: NDArray[np.float64],
    targets: NDArray[np.float64] | None,
    most: int,
    deepest: tuple[NDArray[np.int8], NDArray[np.int8]] | None = None,
    cube: Cube | None = None,
) -> Octree:
    """Divide boxes until none holds more than `most` sources or targets (n, 3); None for the same points.

    deepest: for each source and target the deepest level of its box, default 20. cube: the root, by default the
    smallest cube around all points.
    """
    depth = DEEPEST if deepest is None else max(int(each.max(initial=0)) for each in deepest)
    if cube is None:
        cube = Cube.around(sources) if targets is None else Cube.around(sources, targets)
    given = [sources] if targets is None else [sources, targets]
    keys, orders, limits = [], [], []
    for n, points in enumerate(given):
        key = np.empty(len(points), np.int64)
        point_keys(read_only(points), cube.low, 2**DEEPEST / cube.edge, 3 * (DEEPEST - depth), key)
        key, order = sorted_keys(key)
        keys.append(key)
        orders.append(order)
        limits.append(np.full(1, DEEPEST, np.int8) if deepest is None else deepest[n].take(order))
    if targets is None:
        keys, orders, limits = keys * 2, orders * 2, limits * 2
    table, children = divide(*keys, most, *limits, targets is None)
    level, parent = table[:, 0].astype(np.int32), table[:, 1].astype(np.int32)
    return Octree(cube, level, parent, children.copy(), table[:, 2:5].copy(), table[:, 5:7].copy(),
                  table[:, 7:9].copy(), *orders)  # fmt: skip


@kernel
def box_keys(position, level, keys):
    """Fill keys (boxes,) with the smallest key in each box, at position (boxes, 3) of its level (boxes,)."""
    for b in range(len(level)):
        key = np.int64(0)
        for c in range(3):
            key = (key << 1) | spread(position[b, c])
        keys[b] = key << (3 * (DEEPEST - level[b]))


@jitable_part
def shallowest(limits, lo, hi):
    """The smallest of the limits of the run lo up to, without, hi; one limit stands for all."""
    if len(limits) == 1:
        return np.int64(limits[0])
    least = np.int64(DEEPEST)
    for i in range(lo, hi):
        least = min(least, limits[i])
    return least


@kernel
def divide(sources, targets, most, source_limit, target_limit, same):
    """Divide boxes until they hold at most `most` sources and targets: (boxes, 9) level, parent, position, runs of
    sources and of targets; (boxes, 8) children.

    sources, targets (n,): keys, increasing; source_limit, target_limit: the deepest level of each, or one for all;
    same: whether sources are targets.
    """
    capacity = 64 + 8 * max(len(sources), len(targets)) // max(1, most)
    table, children = np.empty((capacity, 9), np.int64), np.empty((capacity, 8), np.int32)
    table[0] = 0
    table[0, 1], table[0, 6], table[0, 8] = -1, len(sources), len(targets)
    count, box = 1, 0
    everywhere = shallowest(source_limit, 0, len(sources))
    if not same:
        everywhere = min(everywhere, shallowest(target_limit, 0, len(targets)))
    # boxes in the order in which they are made, level by level
    while box < count:
        level, s_lo, s_hi, t_lo, t_hi = table[box, 0], table[box, 5], table[box, 6], table[box, 7], table[box, 8]
        children[box] = -1
        divides = max(s_hi - s_lo, t_hi - t_lo) > most and level < DEEPEST
        if divides and level >= everywhere:
            divides = level < shallowest(source_limit, s_lo, s_hi)
            if divides and not same:
                divides = level < shallowest(target_limit, t_lo, t_hi)
        # children in the order of their keys, those alone that hold anything
        if divides:
            if count + 8 > capacity:
                capacity *= 2
                larger, more = np.empty((capacity, 9), np.int64), np.empty((capacity, 8), np.int32)
                larger[:count], more[: box + 1] = table[:count], children[: box + 1]
                table, children = larger, more
            # keys of the children: those of the position, with the octant as the last digit
            shift = 3 * (DEEPEST - level - 1)
            first = np.int64(0)
            for c in range(3):
                first = (first << 1) | spread(table[box, 2 + c])
            first <<= 3
            s, t = s_lo, t_lo
            # sources and targets of each child are those below its end
            for octant in range(8):
                end = (first + octant + 1) << shift
                s_end = first_at_least(sources, s, s_hi, end)
                t_end = s_end if same else first_at_least(targets, t, t_hi, end)
                if s_end > s or t_end > t:
                    children[box, octant] = count
                    table[count, 0], table[count, 1] = level + 1, box
                    for c in range(3):
                        table[count, 2 + c] = 2 * table[box, 2 + c] + ((octant >> (2 - c)) & 1)
                    table[count, 5], table[count, 6], table[count, 7], table[count, 8] = s, s_end, t, t_end
                    count += 1
                s, t = s_end, t_end
        box += 1
    return table[:count], children[:count]
