"""Where the outer triangle of a pair that is much closer than its size (close_moments.py) is cut, and how points are
graded on its pieces.

The potential of the inner triangle is smooth at the outer one but for the vicinity of the inner triangle's edges: on a
side of its plane it continues analytically across the triangle. So the outer triangle is cut along the shadows of
those edges that are near, and each piece into six right-angled triangles of the center of its inscribed circle, where
points are graded toward the side and toward the corner.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.mesh.errors import warn_of_accuracy
from calderon.mesh.geometry import extents

Array = NDArray[np.float64]
Index = NDArray[np.int64]
CLOSE = 0.06
"""Ratio of distance to size below which a pair is close."""


class Grading(NamedTuple):
    """Where outer triangles are cut, and how points are graded on their pieces."""

    smaller: float = 0.8
    """The trial triangle is the outer one if its size is less than so much of that of the test triangle."""
    tested: float = 1e-5
    """Ratio of distance to size down to which the accuracy has been tested."""
    near: float = 0.3
    """An edge nearer than this part of a piece's size cuts it."""
    tolerance: float = 0.1
    """Corners nearer to a shadow than this part of the edge's distance lie on it."""
    lateral: float = 0.7
    parallel: float = 0.98
    """Where a corner or an edge is nearer to a side than this part of the way to its ends, points are graded; an edge
    less inclined than of this cosine lies along the side."""
    smooth: tuple[Any, ...] = ((1.2, 8), (0.6, 12), (0.4, 20))
    """(ratio of a piece's distance from the edges to its size, degree of a symmetric rule), from that ratio on."""
    needles: float = 2.0
    """Points for each doubling of the longest edge over the height on it."""
    finest: int = 40
    touching: int = 14
    """Levels at most, and where triangles touch: what is left out there is a part of 2^-14 or less of the integral."""


GRADING = Grading()


class ClosePairs(NamedTuple):
    """How close pairs are integrated: whether the trial triangle is the outer one, |k|, power of the kernel, additional
    points of all rules."""

    exchanged: bool
    wavenumber: float
    power: int
    more: int


def in_order(pairs: NDArray[np.int32], test: Array, trial: Array) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The pairs (n, 2) whose outer triangle is the test, and those where it is the trial triangle; of triangles with
    corners (m, 3, 3)."""
    exchanged = extents(trial[pairs[:, 1]]).size < GRADING.smaller * extents(test[pairs[:, 0]]).size
    return pairs[~exchanged], pairs[exchanged]


def warn_of_closest(pairs: NDArray[np.int32], ratio: NDArray[np.floating], test: Array, trial: Array) -> None:
    """Warn of pairs (n, 2), at that ratio of distance to size, nearer than the accuracy has been tested for."""
    sizes = extents(test[pairs[:, 0]]).size, extents(trial[pairs[:, 1]]).size
    if number := int(np.count_nonzero(ratio * np.maximum(*sizes) < GRADING.tested * np.minimum(*sizes))):
        warn_of_accuracy(
            f"{number} pairs of triangles are nearer than {GRADING.tested:g} of their size without touching; their "
            "integrals may lose accuracy: merge the surfaces or refine the mesh there"
        )


class ClosePieces(NamedTuple):
    """Parts of outer triangles: `parent` (n,) the pair, increasing; corners as barycentric coordinates (n, 3, 3);
    `degree` (n,) of a symmetric rule or 0; `levels` (n, 2) away from the first edge and along it from the first corner
    (quadrature.graded.corner_rule); `more` (n,) points away from the first edge, of needles."""

    parent: Index
    outer: Array
    degree: Index
    levels: Index
    more: Index


def close_pieces(x: Array, y: Array) -> ClosePieces:
    """Cut the outer triangles x of pairs with inner triangles y, corners (n, 3, 3)."""
    parent, outer = np.arange(len(x)), np.broadcast_to(np.eye(3), (len(x), 3, 3))
    for side in range(3):
        ends = y[parent, side], y[parent, (side + 1) % 3]
        source, outer = _cut(outer, outer @ x[parent], *ends)
        parent = parent[source]
    kept = _has_area(outer @ x[parent])
    parent, outer = parent[kept], outer[kept]
    corners, edges = outer @ x[parent], y[parent]
    distance = np.min([_from_edges(corners[:, n], corners[:, (n + 1) % 3], edges) for n in range(3)], axis=0)
    ratio = distance / _lengths(corners).max(axis=1)
    # distant parts have a rule of one degree, the others a graded one on fans
    degree = np.zeros(len(parent), np.int64)
    for bound, value in reversed(GRADING.smooth):
        degree[ratio >= bound] = value
    even, rest = np.flatnonzero(degree), np.flatnonzero(degree == 0)
    source, fan, levels = _fans(outer[rest], corners[rest], edges[rest])
    source = np.append(even, rest[source])
    more = np.where(degree == 0, _more_of_needles(corners), 0)[source]
    outer = np.concatenate([outer[even], fan])
    degree = np.append(degree[even], np.zeros(len(fan), np.int64))
    levels = np.concatenate([np.zeros((len(even), 2), np.int64), levels])
    # in the order of the pairs, without parts that have no area
    order = np.argsort(parent[source], kind="stable")
    order = order[_has_area(outer[order] @ x[parent[source][order]])]
    return ClosePieces(parent[source][order], outer[order], degree[order], levels[order], more[order])


def _has_area(corners: Array) -> NDArray[np.bool_]:
    """(n,) whether triangles (n, 3, 3) are more than a line."""
    twice = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    return np.asarray(twice > 1e-13 * _lengths(corners).max(axis=1) ** 2)


def _more_of_needles(corners: Array) -> Index:
    """Points that needles (n, 3, 3) need in addition: on lines along them toward the center, which is near to the other
    end."""
    twice = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    stretch = _lengths(corners).max(axis=1) ** 2 / twice
    return np.ceil(GRADING.needles * np.log2(np.maximum(stretch / 2, 1))).astype(np.int64)


def _cut(parts: Array, corners: Array, start: Array, end: Array) -> tuple[Index, Array]:
    """Cut parts (n, 3, 3 barycentric; corners (n, 3, 3)) by the shadows of edges from start to end (n, 3), where these
    are near: which part each new one is of, and the new ones."""
    size = _lengths(corners).max(axis=1)
    height, reach = _beside(corners, start, end)
    # parts that a shadow crosses, near the edge that casts it
    crossed = (height.max(axis=1) > 1e-9 * size) & (height.min(axis=1) < -1e-9 * size) & reach
    chosen = np.flatnonzero(crossed)
    chord = _chords(corners[chosen], height[chosen])
    distance, _ = _segment_distances(*chord, start[chosen], end[chosen])
    near = distance < GRADING.near * size[chosen]
    chosen, distance = chosen[near], distance[near]
    # corners closer to the shadow than the tolerance are on it
    f = height[chosen]
    f = np.where(np.abs(f) <= np.maximum(GRADING.tolerance * distance, 1e-9 * size[chosen])[:, None], 0, f)
    side = np.sign(f)
    split = (side == 1).any(axis=1) & (side == -1).any(axis=1)
    chosen, f, side = chosen[split], f[split], side[split]
    kept = np.setdiff1d(np.arange(len(parts)), chosen)
    # the corner alone on its side, or on the shadow, first
    total = side.sum(axis=1)
    alone = np.where(total == 0, (side == 0).argmax(axis=1), (side == -total[:, None]).argmax(axis=1))
    turn = (alone[:, None] + np.arange(3)) % 3
    a, b, c = np.moveaxis(np.take_along_axis(parts[chosen], turn[:, :, None], axis=1), 1, 0)
    f = np.take_along_axis(f, turn, axis=1)
    # two parts where the shadow passes through a corner, else three
    two = total == 0
    new, source = [parts[kept]], [kept]
    p = _between(b[two], c[two], f[two, 1], f[two, 2])
    new += [np.stack([a[two], b[two], p], axis=1), np.stack([a[two], p, c[two]], axis=1)]
    source += [chosen[two]] * 2
    a, b, c, f = (each[~two] for each in (a, b, c, f))
    p, q = _between(a, b, f[:, 0], f[:, 1]), _between(a, c, f[:, 0], f[:, 2])
    new += [np.stack(each, axis=1) for each in ((a, p, q), (p, b, c), (p, c, q))]
    source += [chosen[~two]] * 3
    return np.concatenate(source), np.concatenate(new)


def _beside(corners: Array, start: Array, end: Array) -> tuple[Array, NDArray[np.bool_]]:
    """(n, 3) distances of the corners of triangles from the shadow of an edge on their plane, with sign, and where
    there is such a line: not for an edge perpendicular to the plane."""
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    along = end - start
    across = np.cross(normal, along)
    length = np.linalg.norm(across, axis=1)
    there = length > 1e-3 * np.linalg.norm(along, axis=1)
    across /= np.where(there, length, 1)[:, None]
    return np.einsum("nac,nc->na", corners - start[:, None], across), there


def _chords(corners: Array, f: Array) -> tuple[Array, Array]:
    """Where the lines f = 0 enter and leave triangles; f (n, 3) at the corners has both signs."""
    ends = []
    for n in range(3):
        m = (n + 1) % 3
        cut = (f[:, n] > 0) != (f[:, m] > 0)
        ends.append((cut, _between(corners[:, n], corners[:, m], *np.where(cut, f[:, [n, m]].T, [[1.0], [-1.0]]))))
    first = np.where(ends[0][0][:, None], ends[0][1], ends[1][1])
    last = np.where(ends[2][0][:, None], ends[2][1], ends[1][1])
    return first, last


def _between(a: Array, b: Array, f: Array, g: Array) -> Array:
    """The point from a to b where a function with values f and g vanishes."""
    return a + (f / (f - g))[:, None] * (b - a)


def _fans(parts: Array, corners: Array, edges: Array) -> tuple[Index, Array, Index]:
    """Pieces of parts: a special point of a side, half of the way to the next one, the center of the inscribed circle.
    Which part each is of, its corners (m, 3, 3), and its levels (m, 2)."""
    lengths = np.roll(_lengths(corners), -1, axis=1)  # opposite to each corner
    center = (lengths / lengths.sum(axis=1, keepdims=True))[:, :, None]
    middle, whole = (parts * center).sum(axis=1), (corners * center).sum(axis=1)
    source, pieces, levels = [], [], []
    for n in range(3):
        m = (n + 1) % 3
        start, side = corners[:, n], corners[:, m] - corners[:, n]
        # the side between neighbouring special points, in two halves, each with its special point as tip
        places = np.sort(_special_points(start, side, edges), axis=1)
        number, column = np.nonzero(np.isfinite(places[:, 1:]))
        one, two = places[number, column], places[number, column + 1]
        for tip in (one, two):
            between = np.stack([tip, (one + two) / 2], axis=1)[:, :, None]
            ends = parts[number, n, None] + between * (parts[number, m] - parts[number, n])[:, None]
            a, b = np.moveaxis(start[number, None] + between * side[number, None], 1, 0)
            away, along = np.linalg.norm(whole[number] - (a + b) / 2, axis=1), np.linalg.norm(b - a, axis=1)
            base, corner = _from_edges(a, b, edges[number]), _from_edges(a, a, edges[number])
            source.append(number)
            pieces.append(np.concatenate([ends, middle[number, None]], axis=1))
            levels.append(np.stack([_level(base, away), _level(corner, along)], axis=1))
    return np.concatenate(source), np.concatenate(pieces), np.concatenate(levels)


def _special_points(start: Array, side: Array, edges: Array) -> Array:
    """(n, 8) places on sides start + k side next to which the potential is least smooth: both ends, and where a corner
    or a crossing edge of the inner triangle is near; infinite where there is no more."""
    length = np.linalg.norm(side, axis=1)
    places = [np.zeros(len(start)), np.ones(len(start))]
    for n in range(3):
        a, b = edges[:, n], edges[:, (n + 1) % 3]
        parallel = np.abs(np.einsum("nc,nc->n", side, b - a)) > GRADING.parallel * length * np.linalg.norm(
            b - a, axis=1
        )
        for target, barred in ((a, False), (b, parallel)):
            distance, k = _segment_distances(start, start + side, a, target)
            special = (distance < GRADING.lateral * np.minimum(k, 1 - k) * length) & ~np.asarray(barred)
            for other in places[2:]:
                special &= ~(np.abs(k - other) * length < np.maximum(0.5 * distance, 1e-9 * length))
            places.append(np.where(special, k, np.inf))
    return np.stack(places, axis=1)


def _level(scale: Array, length: Array) -> Index:
    """Level of the graded rule on a line of this length for a singularity at the distance `scale`."""
    levels = np.ceil(np.log2(np.maximum(length, 1e-300) / np.maximum(scale, 1e-300)))
    return np.where(scale > 1e-12 * length, np.clip(levels, 0, GRADING.finest), GRADING.touching).astype(np.int64)


def _lengths(corners: Array) -> Array:
    """(n, 3) lengths of the edges from each corner to the next."""
    return np.asarray(np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2))


def _from_edges(start: Array, end: Array, triangles: Array) -> Array:
    """(n,) distances of segments (n, 3) from the edges of triangles (n, 3, 3)."""
    found = [_segment_distances(start, end, triangles[:, n], triangles[:, (n + 1) % 3])[0] for n in range(3)]
    return np.minimum(np.minimum(found[0], found[1]), found[2])


def _segment_distances(a: Array, b: Array, c: Array, d: Array) -> tuple[Array, Array]:
    """(n,) distances of segments a b from segments c d, either of which may be a point, and places on a b."""

    def dot(p: Array, q: Array) -> Array:
        return np.einsum("ni,ni->n", p, q)

    u, v, w = b - a, d - c, a - c
    uu, vv, uv, uw, vw = dot(u, u), dot(v, v), dot(u, v), dot(u, w), dot(v, w)
    determinant = uu * vv - uv * uv
    skew = determinant > 1e-14 * uu * vv
    s = np.where(skew, np.clip((uv * vw - vv * uw) / np.where(skew, determinant, 1), 0, 1), 0)
    t = np.clip((uv * s + vw) / np.where(vv > 0, vv, 1), 0, 1)
    s = np.clip((uv * t - uw) / np.where(uu > 0, uu, 1), 0, 1)
    return np.linalg.norm(w + s[:, None] * u - t[:, None] * v, axis=1), s
