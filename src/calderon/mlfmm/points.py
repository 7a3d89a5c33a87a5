"""Points of one side of a tree, by leaves, and sums of waves from nearby points to points."""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import kernel
from calderon.backends.threads import in_parts
from calderon.backends.vector_loads import total
from calderon.backends.vectors import jitable, lanes, load, number, store, where_less, zero
from calderon.greens.elementary import (
    decaying_exponential,
    inverse_square_root,
    short_sine_cosine,
    sine_cosine,
)
from calderon.mlfmm.spectrum import Array
from calderon.products.direct_sums import places_of
from calderon.products.lists import Lists, leaves_of_boxes
from calderon.products.near_filling import inside_runs
from calderon.products.octree import Octree

TINY = 1e-24, 1e-18
"""Squared distance, in wavelengths over 2 pi or edges of the smallest leaf, below which points coincide and add
nothing: double and single."""
TOGETHER = 64
"""Leaves whose points are computed at a time: some hundred kilobytes."""


class Points(NamedTuple):
    """Points sorted by leaves: starts (leaves + 1,): the first of each leaf; local (n, 3): places relative to the
    centres of their leaves in m, subtracted in double precision. normals (n, 4), mix (rows, 2) complex: a unit charge
    counts as a charge a and a dipole b along the normal, where normals[:, 3] is the row of (a, b) in mix; empty where
    charges are plain. spans (n, 2): the first component of a field at each point, and one beyond the last; empty where
    all points have all components."""

    starts: NDArray[np.int64]
    local: NDArray[Any]
    normals: NDArray[Any]
    mix: NDArray[np.complex128]
    spans: NDArray[np.int64] = np.zeros((0, 2), np.int64)

    @staticmethod
    def of(
        places: Array, starts: NDArray[np.int64], centres: Array, real: Any, normals: Any = None, mix: Any = None
    ) -> "Points":
        """places (n, 3), centres (leaves, 3) in m."""
        local = places - np.repeat(centres, np.diff(starts), axis=0)
        normals = np.zeros((0, 4)) if normals is None else normals
        mix = np.zeros((0, 2), complex) if mix is None else mix
        return Points(starts, np.ascontiguousarray(local, real), np.ascontiguousarray(normals, real), mix)

    @property
    def is_mixed(self) -> bool:
        """Whether charges have dipoles, and tests derivatives, of their own."""
        return len(self.mix) > 0

    @property
    def arrays(self) -> list[NDArray[Any]]:
        """All arrays that are stored."""
        return list(self)

    def same_places(self, other: "Points | Panels") -> bool:
        """Whether both have one table of places."""
        return isinstance(other, Points) and self.local is other.local

    def of_leaves(self, low: int, high: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Places and normals of the points of the leaves low up to, without, high."""
        own = slice(self.starts[low], self.starts[high])
        return self.local[own], self.normals[own]

    def places(self, numbers: NDArray[np.int64], leaves: NDArray[np.int64]) -> NDArray[Any]:
        """(..., 3) places of the points of these numbers (...), which are in these leaves."""
        return np.asarray(self.local[numbers])


class Panels(NamedTuple):
    """Points of a quadrature rule on flat triangles, sorted by leaves, which are computed when they are needed: a
    triangle takes 4 bytes instead of 28 for each of its points, and its waves take far longer than its points.

    starts (leaves + 1,), mix, spans: as of `Points`. triangle (n,): of each triangle with points, its row in corners
    (m, 3), numbers of vertices (v, 3) in m; row (n,): of mix, empty where all have the first one. barycentric (q, 3):
    coordinates of the points of a triangle; centres (leaves, 3) in m; real: type of computed numbers. corners and
    vertices belong to the mesh, unless there are several."""

    starts: NDArray[np.int64]
    triangle: NDArray[np.int32]
    row: NDArray[np.int32]
    corners: NDArray[np.int64]
    vertices: Array
    barycentric: Array
    centres: Array
    real: np.dtype[Any]
    is_own: bool
    mix: NDArray[np.complex128]
    spans: NDArray[np.int64] = np.zeros((0, 2), np.int64)

    @property
    def is_mixed(self) -> bool:
        """Whether charges have dipoles, and tests derivatives, of their own."""
        return len(self.mix) > 0

    @property
    def arrays(self) -> list[NDArray[Any]]:
        """All arrays that are stored, without those of the mesh."""
        mesh = [self.corners, self.vertices] if self.is_own else []
        return [self.starts, self.triangle, self.row, self.centres, self.mix, self.spans, *mesh]

    def same_places(self, other: "Points | Panels") -> bool:
        """Whether both have one table of triangles."""
        return isinstance(other, Panels) and self.triangle is other.triangle

    @property
    def local(self) -> NDArray[Any]:
        """(points, 3) places of all points relative to the centres of their leaves, in m."""
        return self.of_leaves(0, len(self.starts) - 1)[0]

    @property
    def normals(self) -> NDArray[Any]:
        """(points, 4) normals of all points, which end with the row in mix; empty where charges are plain."""
        return self.of_leaves(0, len(self.starts) - 1)[1]

    def of_leaves(self, low: int, high: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Places and normals of the points of the leaves low up to, without, high."""
        count = int(self.starts[high] - self.starts[low])
        local = np.empty((count, 3), self.real)
        normals = np.empty((count if self.is_mixed else 0, 4), self.real)
        given = self.triangle, self.row, self.corners, self.vertices, self.barycentric, self.centres, self.starts
        write_points(*given, local, normals, low, high)
        return local, normals

    def places(self, numbers: NDArray[np.int64], leaves: NDArray[np.int64]) -> NDArray[Any]:
        """Places (..., 3) of the points of these numbers (...), which are in these leaves."""
        triangle, point = np.divmod(numbers, len(self.barycentric))
        corners = self.vertices[self.corners[self.triangle[triangle]]] - self.centres[leaves][..., None, :]
        return np.einsum("...b,...bc->...c", self.barycentric[point], corners).astype(self.real)


@kernel
def write_points(triangle, row, corners, vertices, barycentric, centres, starts, local, normals, low, high):
    """Write places to local (points, 3) and, unless it is empty, normals (points, 4) of the points of the leaves low up
    to, without, high; triangle, row, corners, vertices, barycentric, centres, starts: of `Panels`."""
    points, at = len(barycentric), 0
    for leaf in range(low, high):
        cx, cy, cz = centres[leaf, 0], centres[leaf, 1], centres[leaf, 2]
        for n in range(starts[leaf] // points, starts[leaf + 1] // points):
            # corners relative to the centre of the leaf, in double precision
            a, b, c = corners[triangle[n], 0], corners[triangle[n], 1], corners[triangle[n], 2]
            ax, ay, az = vertices[a, 0] - cx, vertices[a, 1] - cy, vertices[a, 2] - cz
            bx, by, bz = vertices[b, 0] - cx, vertices[b, 1] - cy, vertices[b, 2] - cz
            dx, dy, dz = vertices[c, 0] - cx, vertices[c, 1] - cy, vertices[c, 2] - cz
            for j in range(points):
                u, v, w = barycentric[j, 0], barycentric[j, 1], barycentric[j, 2]
                local[at + j, 0] = u * ax + v * bx + w * dx
                local[at + j, 1] = u * ay + v * by + w * dy
                local[at + j, 2] = u * az + v * bz + w * dz
            # the unit normal of the triangle
            if len(normals):
                bx, by, bz, dx, dy, dz = bx - ax, by - ay, bz - az, dx - ax, dy - ay, dz - az
                nx, ny, nz = by * dz - bz * dy, bz * dx - bx * dz, bx * dy - by * dx
                scale = 1 / math.sqrt(nx * nx + ny * ny + nz * nz)
                for j in range(points):
                    normals[at + j, 0], normals[at + j, 1], normals[at + j, 2] = nx * scale, ny * scale, nz * scale
                    normals[at + j, 3] = row[n] if len(row) else 0
            at += points


def points_of(
    groups: Sequence[tuple[Any, NDArray[np.int64]]], rows: Sequence[int], carrier: NDArray[np.int64], reference: Array,
    starts: NDArray[np.int64], centres: Array, real: Any, mix: Any,
) -> Points | Panels:  # fmt: skip
    """The points of a rule, reference (q, 2), on the triangles carrier (n,), numbers in all groups (mesh, triangles)
    one after the other, whose rows in mix (of `Points`, None for plain charges) are `rows`."""
    group = np.repeat(np.arange(len(groups)), [len(triangles) for _, triangles in groups])[carrier]
    row = np.asarray(rows, np.int32)[group]
    table = np.zeros((0, 2), complex) if mix is None else mix
    if not all(mesh.is_flat for mesh, _ in groups):
        found = [(shape.points(reference), shape.normals_at(reference))
                 for shape in (mesh.geometry(triangles) for mesh, triangles in groups)]  # fmt: skip
        places, normals = (np.concatenate(each)[carrier].reshape(-1, 3) for each in zip(*found, strict=True))
        ends = np.column_stack([normals, np.repeat(row, len(reference))])
        return Points.of(places, starts, centres, real, None if mix is None else ends, mix)
    # one mesh lends its arrays, several are put together
    meshes = list({id(mesh): mesh for mesh, _ in groups}.values())
    begins = np.cumsum([0, *(len(mesh.triangles) for mesh in meshes[:-1])])
    begin = {id(mesh): first for mesh, first in zip(meshes, begins, strict=True)}
    triangle = np.concatenate([triangles + begin[id(mesh)] for mesh, triangles in groups])[carrier]
    corners, vertices = meshes[0].triangles, meshes[0].vertices
    if len(meshes) > 1:
        firsts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes[:-1])])
        corners = np.concatenate([mesh.triangles + first for mesh, first in zip(meshes, firsts, strict=True)])
        vertices = np.concatenate([mesh.vertices for mesh in meshes])
        corners.flags.writeable = vertices.flags.writeable = False
    barycentric = np.column_stack([1 - reference.sum(axis=1), reference])
    return Panels(
        starts, triangle.astype(np.int32), row if len(set(rows)) > 1 else row[:0], corners, vertices, barycentric,
        centres, np.dtype(real), len(meshes) > 1, table,
    )  # fmt: skip


def over_leaves(points: Points | Panels, leaves: NDArray[np.int64], run: Callable[..., None]) -> None:
    """Call run(places, normals, first, low, high) for parts of the increasing leaves (n,), from leaves[low] up to,
    without, leaves[high], on all threads: with places and normals of their points, of which `first` is the first."""

    def work(low: int, high: int) -> None:
        for begin in range(low, high, TOGETHER):
            end = min(begin + TOGETHER, high)
            own = int(leaves[begin]), int(leaves[end - 1]) + 1
            run(*points.of_leaves(*own), points.starts[own[0]], begin, end)

    in_parts(work, len(leaves))


@kernel
def put_farthest(places, starts, apart, inside, leaves, first, low, high, squares):
    """Raise squares (levels,) to the largest squared distance on each level of the points of leaves[low] up to,
    without, leaves[high] from the centres of their boxes.

    places (n, 3): from the centres of the leaves, those of point `first` of all and of the next ones; starts: of the
    points; apart (levels, leaves, 3): of `PointsOfLevel`; inside (levels, leaves): whether a leaf is in a box.
    """
    for n in range(low, high):
        leaf = leaves[n]
        for level in range(len(squares)):
            if inside[level, leaf]:
                found = squares[level]
                dx, dy, dz = apart[level, leaf, 0], apart[level, leaf, 1], apart[level, leaf, 2]
                for i in range(starts[leaf] - first, starts[leaf + 1] - first):
                    x, y, z = places[i, 0] + dx, places[i, 1] + dy, places[i, 2] + dz
                    found = max(found, x * x + y * y + z * z)
                squares[level] = found


class PointsOfLevel(NamedTuple):
    """Points of the boxes of one level. first, last (boxes,): box b has the leaves first[b] up to, without, last[b];
    apart (leaves, 3): from the centre of the box of a leaf to that of the leaf, in m, 0 for leaves in no box."""

    points: Points | Panels
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    apart: Array

    @staticmethod
    def of(points: Points | Panels, tree: Octree, lists: Lists, low: int, high: int) -> "PointsOfLevel":
        """Points of the level whose boxes are low up to, without, high in the tree."""
        first, last = leaves_of_boxes(tree, lists, low, high)
        centres, apart = centres_of(tree), np.zeros((len(lists.leaves), 3))
        inside = inside_runs(first, last, len(apart))
        apart[inside] = centres[lists.leaves[inside]] - np.repeat(centres[low:high], last - first, axis=0)
        return PointsOfLevel(points, first, last, apart)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """(boxes,) points of each."""
        starts = self.points.starts
        return np.asarray(starts[self.last] - starts[self.first])

    def of_boxes(self, boxes: NDArray[np.int64], numbers: NDArray[np.int64]) -> Array:
        """(n, m, 3) the points numbers (n, m) of boxes (n,), counted in each of them, relative to their centres."""
        points = self.points.starts[self.first[boxes]][:, None] + numbers
        leaves = np.searchsorted(self.points.starts, points, "right") - 1
        return np.asarray(self.points.places(points, leaves) + self.apart[leaves], np.float64)


def radii_of(levels: Sequence[PointsOfLevel]) -> Array:
    """(levels,) the largest distance in m of a point from the centre of its box, 0 without points, of levels with the
    same points; those of leaves that are in no box of a level do not count there."""
    found = [np.zeros(len(levels))]
    points, apart = levels[0].points, np.stack([each.apart for each in levels])
    inside = np.stack([inside_runs(each.first, each.last, len(points.starts) - 1) for each in levels])
    leaves = np.flatnonzero(inside.any(axis=0))

    def work(places: NDArray[Any], _: Any, *run: int) -> None:
        squares = np.zeros(len(levels))
        put_farthest(places, points.starts, apart, inside, leaves, *run, squares)
        found.append(squares)

    over_leaves(points._replace(mix=points.mix[:0]), leaves, work)  # without normals
    return np.asarray(np.sqrt(np.max(found, axis=0)))


def centres_of(tree: Octree) -> Array:
    """(boxes, 3) centres of all boxes in m."""
    return np.asarray(tree.cube.low + tree.cube.edge * tree.centre, np.float64)


def interaction(charges: bool, dipoles: bool, gradient: bool, lossy: bool, split: bool) -> Callable[..., Any]:
    """The compiled sum t + fields of one source at a vector of targets: value, re and im, and gradient. split:
    places are sums of two numbers."""
    rest, distances = 3 + 2 * charges + 6 * dipoles, places_of(split)[2]

    @jitable
    def product(ar, ai, br, bi):
        """Re and Im of (ar + i ai) (br + i bi)."""
        return ar * br - ai * bi, ar * bi + ai * br

    @jitable
    def interact(t, place, sources, s, apart, k, loss, tiny):
        """The eight sums t with the fields of the source in column s of sources, rows that are `apart` numbers apart.

        place: of the targets, by `moved`; k, loss: Re k and Im k / Re k; tiny: squared distance below which a source is
        left out, as the target itself.
        """
        ex, ey, ez = distances(place, sources, s, apart, rest)
        r2 = ex * ex + ey * ey + ez * ez
        square = where_less(r2, tiny, 1.0, r2)
        # g = exp(i k r) / r and f = g' / (r g)
        u = where_less(r2, tiny, 0.0, inverse_square_root(square))
        kr = square * u * k
        sine, cosine = sine_cosine(kr)
        if lossy:
            decay = decaying_exponential(kr * loss)
            sine, cosine = sine * decay, cosine * decay
        re, im, w = cosine * u, sine * u, u * u
        fr, fi = 0.0 - w - w * kr * loss, w * kr  # g' = (i k - 1 / r) g, f = g' / (r g)
        t0, t1, t2, t3, t4, t5, t6, t7 = t
        # q g, and its gradient f q g e
        if charges:
            qr, qi = product(re, im, number(sources, s + 3 * apart), number(sources, s + 4 * apart))
            t0, t1 = t0 + qr, t1 + qi
            if gradient:
                gr, gi = product(fr, fi, qr, qi)
                t2, t3, t4 = t2 + gr * ex, t3 + gr * ey, t4 + gr * ez
                t5, t6, t7 = t5 + gi * ex, t6 + gi * ey, t7 + gi * ez
        # d . grad_y g = -f g d . e, and its gradient
        if dipoles:
            d = s + (5 if charges else 3) * apart
            ax, ay, az = number(sources, d), number(sources, d + 2 * apart), number(sources, d + 4 * apart)
            bx, by, bz = number(sources, d + apart), number(sources, d + 3 * apart), number(sources, d + 5 * apart)
            br, bi = product(re, im, 0.0 - ax * ex - ay * ey - az * ez, 0.0 - bx * ex - by * ey - bz * ez)
            vr, vi = product(fr, fi, br, bi)
            t0, t1 = t0 + vr, t1 + vi
            if gradient:  # f'/r + f^2 = (3 - 3 i k r + (i k r)^2) / r^4
                lr = kr * loss
                hr, hi = w * w * (3.0 + 3.0 * lr + lr * lr - kr * kr), 0.0 - w * w * kr * (3.0 + 2.0 * lr)
                gr, gi = product(hr, hi, br, bi)
                cr, ci = product(fr, fi, re, im)
                t2, t5 = t2 + gr * ex - (cr * ax - ci * bx), t5 + gi * ex - (cr * bx + ci * ax)
                t3, t6 = t3 + gr * ey - (cr * ay - ci * by), t6 + gi * ey - (cr * by + ci * ay)
                t4, t7 = t4 + gr * ez - (cr * az - ci * bz), t7 + gi * ez - (cr * bz + ci * az)
        return t0, t1, t2, t3, t4, t5, t6, t7

    return interact


@functools.lru_cache(maxsize=12)
def near_kernel(charges: bool, dipoles: bool, gradient: bool, lossy: bool, split: bool) -> Callable[..., None]:
    """Sums (q + d.grad_y) exp(i k r) / r over the points of neighbouring leaves; gradients with respect to x. split:
    three more rows of targets and of sources hold the rest of places."""
    interact = interaction(charges, dipoles, gradient, lossy, split)
    taken, moved, _ = places_of(split)

    @kernel
    def sums(
        targets, across, sources, apart, target_starts, source_starts, near_start, near, centres, k, loss, tiny, room,
        out, low, high,
    ):  # fmt: skip
        """out[f across + j] += field f (value: re, im; gradient: re x y z, im x y z) at the points j of the target
        leaves low up to, without, high. targets: rows x, y, z of `across` numbers each; sources: rows x, y, z of
        `apart` numbers each, then charges, re and im, and dipoles, re and im of x, y, z; places relative to the centres
        (leaves, 3). target_starts, source_starts (leaves + 1,): where the points of each leaf begin; near_start, near:
        neighbouring leaves; k, loss, tiny: as in `interact`; room: eight vectors."""
        width = lanes(room)
        for i in range(low, high):
            for s in range(target_starts[i], target_starts[i + 1], width):
                # a vector of targets, and all sources of the neighbours of their leaf
                own = taken(targets, s, across)
                t = (zero(room), zero(room), zero(room), zero(room), zero(room), zero(room), zero(room), zero(room))
                for e in range(near_start[i], near_start[i + 1]):
                    c = near[e]
                    place = moved(own, centres[i], centres[c], room)
                    for j in range(source_starts[c], source_starts[c + 1]):
                        t = interact(t, place, sources, j, apart, k, loss, tiny)
                # their sums, number by number
                for f in range(8 if gradient else 2):
                    store(room, f * width, t[f])
                # added to those targets that exist
                for w in range(min(width, target_starts[i + 1] - s)):
                    for f in range(8 if gradient else 2):
                        out[f * across + s + w] += room[f * width + w]

    return sums


@functools.lru_cache(maxsize=8)
def mutual_kernel(lossy: bool, split: bool, short: bool) -> Callable[..., None]:
    """Sums of charges at their own points, where every pair of leaves is visited once; short: where k r is at most
    SHORT."""
    taken, moved, distances = places_of(split)
    waves = short_sine_cosine if short else sine_cosine

    @kernel
    def sums(
        targets, across, sources, apart, starts, near_start, near, centres, k, loss, tiny, room, out, begin, low, high,
    ):  # fmt: skip
        """out (2, points) += fields, re and im, at the points from `begin` on: in the leaves low up to, without, high
        from charges in these and later leaves, and in the later leaves from charges in these. room: six vectors, and
        two for each point of a leaf. starts (leaves + 1,): where leaves begin; targets, across, sources, apart,
        near_start, near, centres, k, loss and tiny: as in `near_kernel`."""
        w, size = lanes(room), len(out) // 2
        back = 6 * w
        for i in range(low, high):
            for e in range(near_start[i], near_start[i + 1]):
                c = near[e]
                if c < i:
                    continue
                # sums back at the points of leaf c
                first, count = starts[c], starts[c + 1] - starts[c]
                for f in range(back, back + 2 * count * w):
                    room[f] = 0
                for s in range(starts[i], starts[i + 1], w):
                    place = moved(taken(targets, s, across), centres[i], centres[c], room)
                    own = min(w, starts[i + 1] - s)
                    for f in range(w):
                        room[f] = sources[3 * apart + s + f] if f < own else 0
                        room[w + f] = sources[4 * apart + s + f] if f < own else 0
                    # a vector of targets with their charges, and all sources of leaf c, both ways
                    qr, qi, re, im = load(room, 0), load(room, w), zero(room), zero(room)
                    for j in range(count):
                        ex, ey, ez = distances(place, sources, first + j, apart, 5)
                        r2 = ex * ex + ey * ey + ez * ez
                        square = where_less(r2, tiny, 1.0, r2)
                        u = where_less(r2, tiny, 0.0, inverse_square_root(square))
                        kr = square * u * k
                        sine, cosine = waves(kr)
                        if lossy:
                            decay = decaying_exponential(kr * loss)
                            sine, cosine = sine * decay, cosine * decay
                        gr, gi = cosine * u, sine * u
                        a, b = number(sources, first + j + 3 * apart), number(sources, first + j + 4 * apart)
                        re, im = re + gr * a - gi * b, im + gr * b + gi * a
                        at = back + 2 * j * w
                        store(room, at, load(room, at) + gr * qr - gi * qi)
                        store(room, at + w, load(room, at + w) + gr * qi + gi * qr)
                    store(room, 2 * w, re)
                    store(room, 3 * w, im)
                    for f in range(own):
                        out[s - begin + f] += room[2 * w + f]
                        out[size + s - begin + f] += room[3 * w + f]
                for j in range(count if c > i else 0):
                    at = back + 2 * j * w
                    out[first - begin + j] += total(load(room, at))
                    out[size + first - begin + j] += total(load(room, at + w))

    return sums
