"""Any block of rows and columns of a Galerkin matrix, computed without the rest.

A dense matrix is the block of all rows and all columns. The work is dealt in tiles of test triangles; tiles that share
output rows never run side by side (backends.run_tasks), so everything is added in place.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray
from scipy.spatial import cKDTree

from calderon.backends import run_tasks, thread_count
from calderon.greens import Green, Radial
from calderon.integrands import HYPERSINGULAR, SINGLE_LAYER, Integrand
from calderon.operators.near import degree_for, restriction, subdivided
from calderon.operators.options import Quadrature
from calderon.operators.pairs import near_pairs, touching_pairs, without
from calderon.operators.regular import tile_kernel, tile_scratch
from calderon.operators.sides import Surface, in_threes, surface, surface_of, test_side, trial_side
from calderon.operators.singular import Pairs, RuleTable, moment_kernel, moment_scratch, rule_table, scatter_kernel
from calderon.quadrature import product_rule, touching_rule, triangle_rule
from calderon.spaces import Space

TILE = 512
"""Test triangles in a tile at most, for real kernels in double precision; sums of a megabyte fit the second-level cache
of a core."""
TINY = {np.dtype(np.float64): 1e-37, np.dtype(np.float32): 1e-20}
"""Added to squared distances, so that coincident points give finite values (which then meet the factor zero)."""


class Batch(NamedTuple):
    """Pairs of selected triangles that share a rule, sorted by test triangle; parts: None or the barycentric corners
    ((n, 3, 3), (n, 3, 3)) where a pair is a part of its triangles."""

    table: RuleTable
    pairs: Pairs
    parts: tuple[NDArray[np.float64], NDArray[np.float64]] | None


class Selection(NamedTuple):
    """The triangles of a space that carry wanted functions, in order: numbers into space.triangles, places in the
    output (n, L)."""

    triangles: NDArray[np.int64]
    places: NDArray[np.int64]


def select(space: Space, wanted: NDArray[np.int64] | None) -> Selection:
    """Triangles that carry the wanted functions (all for None) and where in the output each local function goes, or
    -1."""
    if wanted is None:
        index = space.dofs
    else:
        place = np.full(space.dimension + 1, -1)
        place[wanted] = np.arange(len(wanted))
        index = place[space.dofs]
    triangles = np.flatnonzero((index >= 0).any(axis=1))
    if space.is_continuous:
        triangles = triangles[locality_order(space.mesh.centroids[space.triangles[triangles]])]
    return Selection(triangles, np.ascontiguousarray(index[triangles]))


def locality_order(points: NDArray[np.float64], leaf: int = 32) -> NDArray[np.int64]:
    """Permutation that puts neighbours together: recursive bisection at the median of the longest extent."""
    return np.asarray(cKDTree(points, leafsize=leaf, balanced_tree=True, compact_nodes=True).indices)


def add_block(
    out: NDArray[Any],
    green: Green,
    integrand: Integrand,
    test: Space,
    trial: Space,
    factor: complex = 1.0,
    rows: NDArray[np.int64] | None = None,
    columns: NDArray[np.int64] | None = None,
    quadrature: Quadrature | None = None,
    real: DTypeLike = np.float64,
    advance: Callable[[int, int], None] | None = None,
    half: bool = False,
    kind: "type[Block] | None" = None,
) -> None:
    """out += factor * matrix[rows][:, columns] of the boundary operator <phi_i, A psi_j>; all rows or columns for None.

    `out` (rows, columns) has contiguous rows and is complex where the Green's function or the factor is. rows and
    columns hold no number twice. advance(done, total) is called after each tile. half: for a symmetric integrand on
    one space, all rows and columns, add only S where the matrix is S + S^T: half the work (see `symmetrise`). kind:
    the class that computes, for spaces of vector fields (edge_entries.py).
    """
    work = (kind or Block)(
        out, green, integrand, test, trial, factor, rows, columns, quadrature or Quadrature(), np.dtype(real), half
    )
    count = len(work.tiles) - 1
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        if advance is not None:
            advance(done, count)

    if count > 0 and work.trial.triangles.size:
        run_tasks(work.run, count, work.neighbours, step)


class Block:
    """One call of add_block: what its tiles share."""

    def __init__(self, out, green, integrand, test, trial, factor, rows, columns, quadrature, real, half=False):  # type: ignore[no-untyped-def]
        self.out, self.integrand, self.quadrature, self.half = out, integrand, quadrature, half
        self.test_space, self.trial_space = test, trial
        self.test, self.trial = select(test, rows), select(trial, columns)
        scale, origin = _common_frame(test.mesh, trial.mesh)
        self.test_surface = surface_of(test, self.test.triangles, scale, origin)
        self.trial_surface = surface_of(trial, self.trial.triangles, scale, origin)
        self.scale, self.green, self.real, self.is_complex = scale, green, real, out.dtype.kind == "c"
        self.parameters = np.array([value / scale for value in green.parameters])
        spread = abs(complex(*self.parameters)) * (_radius(self.test_surface) + _radius(self.trial_surface))
        radial = green.radial(spread)
        self.moments = moment_kernel(radial, integrand.normal, green.is_complex)
        self._compile(radial, complex(factor))
        self._prepare()

    def _compile(self, radial: Radial, factor: complex) -> None:
        """Coefficients and compiled kernels."""
        green, integrand, scale = self.green, self.integrand, self.scale
        power = {SINGLE_LAYER.name: -3, HYPERSINGULAR.name: -1}.get(integrand.name, -2)
        k2 = complex(green.wavenumber) ** 2 / scale**2
        alpha = factor * scale**power / (4 * math.pi)
        mass = -alpha * k2 if integrand.curls else alpha
        coefficients = [alpha.real, alpha.imag, mass.real, mass.imag]
        self.scalars = np.array([*self.parameters, TINY[self.real], *coefficients]).astype(self.real)
        curls_alone = integrand.curls and green.wavenumber == 0
        self.linear = self.test_space.element.degree > 0 and not curls_alone
        self.single_slot = self.trial_space.element.degree == 0
        rule = triangle_rule(self.quadrature.regular)
        form = (in_threes(rule), rule.number_of_points, 3 if integrand.curls else self.trial.places.shape[1])
        kinds = (self.linear, self.single_slot, integrand.curls, green.is_complex, self.is_complex, *form)
        self.tile = tile_kernel(radial, integrand.normal, *kinds)
        self.coefficients = np.array(coefficients)
        self.scatter = scatter_kernel(self.is_complex)

    def _sides(self) -> None:
        """Tables of both sides for the regular part."""
        degree, real = self.quadrature.regular, self.real
        self.test_side: Any = test_side(self.test_space, self.test_surface, degree, not self.linear, real)
        self.trial_side: Any = trial_side(self.trial_space, self.trial_surface, self.trial.places, degree, real)

    def _prepare(self) -> None:
        real = self.real
        self._sides()
        self.batches, special = self._special_pairs()
        order = np.lexsort((special[:, 1], special[:, 0]))
        self.skip_position = np.ascontiguousarray(special[order, 1])
        count = len(self.test.triangles)
        self.skip_start = np.searchsorted(special[order, 0], np.arange(count + 1))
        size = TILE * 8 // (real.itemsize * (2 if self.green.is_complex else 1))
        size = max(8, min(size, math.ceil(count / (4 * thread_count()))))
        self.tiles = np.append(np.arange(0, count, size), count)
        self.neighbours = self._neighbours() if self.test_space.is_continuous else None

    def _neighbours(self) -> list[NDArray[np.int64]]:
        """For each tile the others (and itself) that write to some row of it."""
        tile = np.repeat(np.arange(len(self.tiles) - 1), np.diff(self.tiles))
        rows = self.test.places
        kept = rows >= 0
        shape = (len(self.tiles) - 1, len(self.out))
        entries = (np.ones(int(kept.sum())), (np.repeat(tile[:, None], rows.shape[1], axis=1)[kept], rows[kept]))
        table = sp.coo_array(entries, shape=shape).tocsr()
        touching = (table @ table.T).tocsr()
        return [touching.indices[touching.indptr[t] : touching.indptr[t + 1]] for t in range(shape[0])]

    def _special_pairs(self) -> tuple[list[Batch], NDArray[np.int32]]:
        """Batches of touching and near pairs, and the list (n, 2) of all of them for the regular part to leave out."""
        test, trial = self.test_space, self.trial_space
        test_ids, trial_ids = _vertex_numbers(test, self.test.triangles, trial, self.trial.triangles)
        touching = touching_pairs(test_ids, trial_ids, self.half)
        x, y = self.test_surface.corners, self.trial_surface.corners
        pairs, ratio = without(*near_pairs(x, y, self.quadrature.near, self.half), touching)
        batches = self._touching_batches(touching) + self._near_batches(pairs, ratio)
        return batches, np.concatenate([touching.pairs, pairs])

    def _touching_batches(self, touching) -> list[Batch]:  # type: ignore[no-untyped-def]
        longest = np.sqrt(max(self.test_surface.jacobian.max(), self.trial_surface.jacobian.max()) * 1.16)
        phase = abs(complex(*self.parameters)) * longest
        degrees = self.test_space.element.degree + self.trial_space.element.degree
        radial = 2 + math.ceil(degrees / 2) + (0 if phase == 0 else 1 if phase < 0.5 else 2 + int(phase))
        extra = np.maximum(
            _extra_angular(self.test_surface)[touching.pairs[:, 0]],
            _extra_angular(self.trial_surface)[touching.pairs[:, 1]],
        )
        batches = []
        for shared in (3, 2, 1):
            for more in np.unique(extra[touching.shared == shared]):
                chosen = np.flatnonzero((touching.shared == shared) & (extra == more))
                angular = self.quadrature.singular + int(more)
                rule = touching_rule(shared, radial, max(2, angular - 2) if shared == 1 else angular)
                arrays = (touching.pairs[chosen], touching.test_order[chosen], touching.trial_order[chosen])
                batches.append(self._batch(rule, *arrays, None))
        return batches

    def _near_batches(self, pairs: NDArray[np.int32], ratio: NDArray[np.float64]) -> list[Batch]:
        batches = []
        unchanged = np.arange(3, dtype=np.int8)
        degree = degree_for(ratio)
        for value in np.unique(degree[degree > 0]):
            chosen = pairs[degree == value]
            order = np.broadcast_to(unchanged, (len(chosen), 3))
            batches.append(self._batch(product_rule(int(value)), chosen, order, order, None))
        close = pairs[degree == 0]
        if len(close):
            x, y = self.test_surface.corners[close[:, 0]], self.trial_surface.corners[close[:, 1]]
            for value, pieces in subdivided(x, y):
                chosen = close[pieces.parent]
                order = np.broadcast_to(unchanged, (len(chosen), 3))
                batches.append(self._batch(product_rule(value), chosen, order, order, (pieces.test, pieces.trial)))
        return batches

    def _batch(self, rule, pairs, test_order, trial_order, parts) -> Batch:  # type: ignore[no-untyped-def]
        order = np.argsort(pairs[:, 0], kind="stable")
        table = rule_table(rule, self.test_space.element, self.trial_space.element)
        if parts is not None:
            parts = tuple(part[order] for part in parts)
        return Batch(table, Pairs(pairs[order], test_order[order], trial_order[order]), parts)

    def run(self, number: int) -> None:
        """All pairs of one tile."""
        self.add_regular(number)
        self.add_special(number)

    def add_regular(self, number: int) -> None:
        """The pairs of one tile that are neither touching nor near."""
        lo, hi = int(self.tiles[number]), int(self.tiles[number + 1])
        tile_rows, row_ids = self._rows(lo, hi)
        points, functions = self.trial_side.points.shape[1], self.trial.places.shape[1]
        scratch = tile_scratch(len(row_ids), functions, self.integrand.curls, points, self.real)
        for group in range(len(self.test_side.weights)):
            self.tile(
                self.test_side, self.trial_side, group, self.skip_start, self.skip_position, self.scalars, lo, hi,
                self.half, tile_rows, row_ids, scratch, self.out,
            )  # fmt: skip

    def _rows(self, lo: int, hi: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows (hi - lo, L) of the local functions of a tile, numbered within it, and (n,) where in the output
        these are."""
        row_ids, inverse = np.unique(self.test.places[lo:hi], return_inverse=True)
        tile_rows = inverse.reshape(hi - lo, -1).astype(np.int64)
        if row_ids[0] < 0:
            row_ids, tile_rows = row_ids[1:], tile_rows - 1
            tile_rows[tile_rows < 0] = len(row_ids)  # the row that nobody reads
        return tile_rows, row_ids

    def add_special(self, number: int) -> None:
        """The touching and near pairs of one tile."""
        for batch in self.batches:
            a, b = np.searchsorted(batch.pairs.triangles[:, 0], self.tiles[number : number + 2])
            if a < b:
                parts = None if batch.parts is None else (batch.parts[0][a:b], batch.parts[1][a:b])
                self._add_pairs(Batch(batch.table, batch.pairs.part(slice(a, b)), parts))

    def _add_pairs(self, batch: Batch) -> None:
        """Add all pairs of a batch."""
        self.scatter(
            self._moments(batch, self.test_surface), batch.pairs, self.test_surface, self.trial_surface,
            self.test.places, self.trial.places, self.coefficients, self.integrand.curls, self.half, self.out,
        )  # fmt: skip

    def _moments(self, batch: Batch, test_surface: Surface) -> NDArray[np.float64]:
        """(2, n, A, B) real and imaginary integrals of the kernel with test and trial functions of the n pairs of a
        batch, numbered in the order of its rule."""
        surfaces, pairs = (test_surface, self.trial_surface), batch.pairs
        elements = self.test_space.element, self.trial_space.element
        count = len(pairs.triangles)
        if batch.parts is not None:
            sides = zip(surfaces, pairs.triangles.T, batch.parts, strict=True)
            surfaces = tuple(_part_of(*side) for side in sides)  # type: ignore[assignment]
            pairs = Pairs(np.repeat(np.arange(count, dtype=np.int32)[:, None], 2, axis=1), *pairs[1:])
        number = batch.table.products.shape[0]
        values = np.zeros((2, count, number))
        self.moments(*surfaces, pairs, batch.table, self.parameters, moment_scratch(number), values)
        matrices: NDArray[np.float64] = values.reshape(2, count, elements[0].size, elements[1].size)
        if batch.parts is not None:
            left, right = (restriction(*each) for each in zip(elements, batch.parts, strict=True))
            matrices = left @ matrices @ np.swapaxes(right, 1, 2)
        return matrices


def _extra_angular(surface: Surface) -> NDArray[np.int64]:
    """(n,) additional Gauss points per angular direction by longest edge over height: none for equilateral triangles, 1
    for right-angled ones, up to 10 for needles."""
    edges = surface.corners - np.roll(surface.corners, 1, axis=1)
    aspect = (edges**2).sum(axis=2).max(axis=1) / surface.jacobian
    return np.array([0, 1, 3, 6, 10])[np.searchsorted([1.7, 2.5, 5.0, 10.0], aspect)]


def _part_of(whole: Surface, triangles: NDArray[np.int64], parts: NDArray[np.float64]) -> Surface:
    """The parts (n, 3, 3 barycentric corners) of the given triangles as a surface of its own."""
    corners = parts @ whole.corners[triangles]
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    return surface(corners, whole.normals[triangles], area)


def _radius(side: Surface) -> float:
    """Largest distance of a corner from the centroid of its triangle."""
    offsets = side.corners - side.corners.mean(axis=1, keepdims=True)
    return float(np.sqrt((offsets**2).sum(axis=2).max()))


def _common_frame(first, second) -> tuple[float, NDArray[np.float64]]:  # type: ignore[no-untyped-def]
    """Scale and origin that bring both meshes into a box of about unit size, where squared distances suit single
    precision."""
    low = np.minimum(first.vertices.min(axis=0), second.vertices.min(axis=0))
    high = np.maximum(first.vertices.max(axis=0), second.vertices.max(axis=0))
    return 1.0 / float(np.linalg.norm(high - low)), (low + high) / 2


def _vertex_numbers(test: Space, test_triangles, trial: Space, trial_triangles):  # type: ignore[no-untyped-def]
    """Vertex numbers (n, 3) of both sides in one numbering; vertices of different meshes at the same place are one."""
    first = test.mesh.triangles[test.triangles[test_triangles]]
    second = trial.mesh.triangles[trial.triangles[trial_triangles]]
    if test.mesh is trial.mesh:
        return first, second
    tolerance = 1e-10 / _common_frame(test.mesh, trial.mesh)[0]
    distance, nearest = cKDTree(test.mesh.vertices).query(trial.mesh.vertices, distance_upper_bound=tolerance)
    offset = test.mesh.number_of_vertices
    numbers = np.where(np.isfinite(distance), nearest, offset + np.arange(trial.mesh.number_of_vertices))
    return first, numbers[second]
