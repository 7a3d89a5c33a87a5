"""Elements that become smaller toward the sharp edges of a surface: conforming bisection in an anisotropic metric.

Near an edge the solution changes across it, as a power of the distance, and slowly along it. So elements there are
to be low and long. Across an edge f at distance s an element may be as high as

    t_f(s) = max(tau_f, s),      tau_f = ratio * (height of the higher of its two triangles now),

so that a row is as high as those before it together, and it may be SLENDER times as long as that. An edge of a triangle
from a to b has the metric length

    l = max over f of  max(|v - (v.e_f) e_f|, |v| / SLENDER) / t_f(min(s_f(a), s_f(b))),    v = b - a,

e_f the direction of f; those above 1 are bisected, with the edges that are longest in this metric of the triangles that
they belong to, so that the mesh stays conforming (M.-C. Rivara, Int. J. Numer. Meth. Eng. 20 (1984) 745). Triangles are
cut in their own planes: the surface does not change. In strips that are lower than t_f / 4, such as the side of a
thin plate, diagonals are not cut: where four corners lie in a plane, two triangles exchange their common edge for the
other diagonal if that makes the lower one of them higher.
"""

from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from calderon.backends import require_memory
from calderon.mesh.sizes import PEAK_BYTES
from calderon.mesh.tolerances import TOLERANCES
from calderon.mesh.topology import edge_pairs, edge_table

Floats = NDArray[np.float64]
Index = NDArray[np.int64]

SLENDER = 32.0


def refined_toward(
    vertices: Floats, triangles: Index, tags: Index, segments: Index, heights: Floats
) -> tuple[Floats, Index, Index]:
    """Vertices, triangles and their tags, with elements as high as `heights` (n,) at the edges `segments` (n, 2)."""
    corners = vertices[segments]
    along = np.linalg.norm(corners[:, 1] - corners[:, 0], axis=1)
    number = len(triangles) + 8 * float(np.sum(along / heights)) / SLENDER
    require_memory(
        int(PEAK_BYTES.triangle * number), f"a mesh of about {number:.2g} triangles", "choose a larger ratio"
    )
    metric = Metric(corners, heights)
    while True:
        edges, of_triangle, _ = edge_table(triangles, len(vertices))
        length, allowed = metric.lengths(vertices[edges[:, 0]], vertices[edges[:, 1]])
        # triangles that are much lower than elements may be there
        low = heights_of(vertices[triangles]) < 0.25 * allowed[of_triangle].min(axis=1)
        length[_within_strips(vertices, triangles, of_triangle, low)] = 0
        marked = _closed_marks(length > 1 + 1e-9, length, of_triangle)
        if not marked.any():
            return vertices, triangles, tags
        middle = np.full(len(edges), -1)
        middle[marked] = len(vertices) + np.arange(np.count_nonzero(marked))
        vertices = np.concatenate([vertices, vertices[edges[marked]].mean(axis=1)])
        triangles, source = _bisected(triangles, middle[of_triangle], length[of_triangle], of_triangle)
        tags, low = tags[source], low[source]
        triangles[low] = exchanged_diagonals(vertices, triangles[low], tags[low])


def _within_strips(vertices: Floats, triangles: Index, of_triangle: Index, low: NDArray[np.bool_]) -> Index:
    """Numbers of the edges that are longest in two low triangles, within strips such as the sides of a thin plate: to
    cut them would make the strips lower still."""
    long = of_triangle[np.arange(len(low)), _sides(vertices[triangles]).argmax(axis=1)]
    return np.flatnonzero(np.bincount(long[low], minlength=int(of_triangle.max()) + 1) == 2)


class Metric:
    """The metric near segments (n, 2, 3) at which elements are as high as `heights` (n,).

    Of segments with about the same direction the nearest one counts, so that at a corner two or three do.
    """

    def __init__(self, segments: Floats, heights: Floats) -> None:
        self._start, along = segments[:, 0], segments[:, 1] - segments[:, 0]
        self._size = np.linalg.norm(along, axis=1)
        self._direction = along / self._size[:, None]
        self._heights = heights
        # axes of an icosahedron: directions nearest to the same axis are less than 75 degrees apart
        g = (1 + 5**0.5) / 2
        axes = np.array([[0, 1, g], [0, -1, g], [1, g, 0], [-1, g, 0], [g, 0, 1], [g, 0, -1]])
        group = np.abs(self._direction @ axes.T).argmax(axis=1)
        self._trees: list[tuple[Any, Index]] = []
        for each in np.unique(group):
            own = np.flatnonzero(group == each)
            number = np.minimum(np.ceil(2 * self._size[own] / np.median(self._size)), 1000).astype(np.int64)
            owner = np.repeat(own, number)
            before = np.repeat(np.cumsum(number) - number, number)
            place = (np.arange(len(owner)) - before + 0.5) / np.repeat(number, number)
            self._trees.append((scipy.spatial.cKDTree(self._start[owner] + place[:, None] * along[owner]), owner))

    def lengths(self, a: Floats, b: Floats) -> tuple[Floats, Floats]:
        """Metric lengths (n,) from points a to b (n, 3), and the heights allowed there (n,)."""
        v, longest, lowest = b - a, np.zeros(len(a)), np.full(len(a), np.inf)
        for tree, owner in self._trees:
            # the nearest edge, sought among those of the eight nearest samples
            near = owner[tree.query(0.5 * (a + b), k=np.arange(1, min(8, len(owner)) + 1))[1]]
            best = self._distance(0.5 * (a + b)[:, None], near).argmin(axis=1)
            which = np.take_along_axis(near, best[:, None], axis=1)[:, 0]
            reach = np.minimum(self._distance(a, which), self._distance(b, which))
            allowed = np.maximum(self._heights[which], reach)
            direction = self._direction[which]
            across = np.linalg.norm(v - np.einsum("ni,ni->n", v, direction)[:, None] * direction, axis=1)
            longest = np.maximum(longest, np.maximum(across, np.linalg.norm(v, axis=1) / SLENDER) / allowed)
            lowest = np.minimum(lowest, allowed)
        return longest, lowest

    def _distance(self, points: Floats, which: Index) -> Floats:
        from_start = points - self._start[which]
        reach = np.einsum("...i,...i->...", from_start, self._direction[which])
        nearest = np.clip(reach, 0, self._size[which])[..., None] * self._direction[which]
        return np.asarray(np.linalg.norm(from_start - nearest, axis=-1))


def _closed_marks(marked: NDArray[np.bool_], length: Floats, of_triangle: Index) -> NDArray[np.bool_]:
    """The marked edges (ne,) and those that must be: the longest one of each triangle with a marked edge."""
    longest = of_triangle[np.arange(len(of_triangle)), _longest(length[of_triangle], of_triangle)]
    while True:
        found = longest[marked[of_triangle].any(axis=1)]
        if marked[found].all():
            return marked
        marked[found] = True


def _longest(length: Floats, of_triangle: Index) -> Index:
    """(nt,) which edge (nt, 3) of each triangle is longest; of equal ones that with the highest number, as seen from
    both of its triangles."""
    equal = length >= length.max(axis=1, keepdims=True) * (1 - 1e-12)
    return np.asarray(np.where(equal, of_triangle, -1).argmax(axis=1))


def _bisected(triangles: Index, middle: Index, length: Floats, of_triangle: Index) -> tuple[Index, Index]:
    """Triangles cut at the middles (nt, 3) of their edges (-1: not cut), the longest edge first, and their parents."""
    first = _longest(length, of_triangle)
    turn = (first[:, None] + np.arange(3)) % 3  # the vertex opposite to the longest edge first
    a, b, c = np.take_along_axis(triangles, turn, axis=1).T
    m, on_ca, on_ab = np.take_along_axis(middle, turn, axis=1).T
    whole = m < 0
    parts = [(triangles[whole], np.flatnonzero(whole))]
    for corner, other, cut, forward in ((a, b, on_ab, True), (a, c, on_ca, False)):
        for split in (False, True):
            own = np.flatnonzero(~whole & ((cut >= 0) == split))
            p, q, r, n = corner[own], other[own], m[own], cut[own]
            pieces = [(p, n, r), (n, q, r)] if split else [(p, q, r)]
            parts += [(np.stack(piece if forward else (piece[1], piece[0], piece[2]), axis=1), own) for piece in pieces]
    return np.concatenate([part for part, _ in parts]), np.concatenate([own for _, own in parts])


def exchanged_diagonals(vertices: Floats, triangles: Index, tags: Index) -> Index:
    """The triangles with diagonals of flat pairs exchanged until no exchange makes the lower one of a pair higher."""
    for _ in range(100 if len(triangles) else 0):
        edges, of_triangle, incidence = edge_table(triangles, len(vertices))
        one, two = edge_pairs(incidence, np.bincount(of_triangle.ravel(), minlength=len(edges)))
        first, second = one // 3, two // 3
        p, q = (triangles[first, (one + k) % 3] for k in (1, 2))
        r, s = triangles[first, one % 3], triangles[second, two % 3]
        old = [vertices[triangles[first]], vertices[triangles[second]]]
        new = [vertices[np.stack(corners, axis=1)] for corners in ((p, s, r), (s, q, r))]
        before, after = (np.minimum(*(heights_of(each) for each in pair)) for pair in (old, new))
        better = (tags[first] == tags[second]) & (after > before * (1 + 1e-6)) & _same_plane(old, new)
        number = np.flatnonzero(better)
        gain = np.zeros(len(triangles))
        for each in (first, second):
            np.maximum.at(gain, each[number], after[number] + 1e-9 * after[number] * number / len(first))
        rank = after[number] + 1e-9 * after[number] * number / len(first)
        number = number[(gain[first[number]] == rank) & (gain[second[number]] == rank)]
        if not len(number):
            return triangles
        triangles[first[number]] = np.stack([p, s, r], axis=1)[number]
        triangles[second[number]] = np.stack([s, q, r], axis=1)[number]
    return triangles


def _same_plane(old: list[Floats], new: list[Floats]) -> NDArray[np.bool_]:
    """(n,) whether two triangles lie in a plane and so do those with the other diagonal, on the same side up."""
    normal = _doubled(old[0]) + _doubled(old[1])
    up = np.all([np.einsum("ni,ni->n", _doubled(each), normal) > 0 for each in (*old, *new)], axis=0)
    size = np.maximum(*(_sides(each).max(axis=1) for each in old))
    offset = np.einsum("nai,ni->na", old[1] - old[0][:, :1], normal / np.linalg.norm(normal, axis=1)[:, None])
    return np.asarray(up & (np.abs(offset).max(axis=1) < TOLERANCES.same * size))


def heights_of(corners: Floats) -> Floats:
    """(n,) heights of triangles (n, 3, 3) over their longest edges."""
    return np.asarray(np.linalg.norm(_doubled(corners), axis=1) / _sides(corners).max(axis=1))


def _doubled(corners: Floats) -> Floats:
    """(n, 3) normals of triangles times twice the area."""
    return np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])


def _sides(corners: Floats) -> Floats:
    """(n, 3) lengths of the edges opposite to the corners."""
    return np.asarray(np.linalg.norm(np.roll(corners, 1, axis=1) - np.roll(corners, -1, axis=1), axis=2))
