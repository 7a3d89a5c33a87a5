"""The matrix of vertical metal in layers, with itself and with horizontal metal.

The parts of Green's functions that are singular where triangles, or one and the image of the other, touch are those of
free space with factors for the horizontal and the vertical current and the charge: they have the rules of free space.
So has T, but for the closest pairs. What is left comes from tables.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends import Execution
from calderon.backends.threads import in_parts
from calderon.backends.vectors import width
from calderon.galerkin.assembly import add_block
from calderon.galerkin.layered.near_pairs import LayerForm, LayerGreen, scattered
from calderon.galerkin.layered.vertical_sums import cross_products, cross_scratch, rest_products
from calderon.galerkin.selection import vertex_numbers
from calderon.integrands import ELECTRIC_FIELD
from calderon.layers.limits.quasi_static import Part, nothing_left, singular_parts
from calderon.layers.parts import MetalParts
from calderon.layers.rest_tables import Heights, RestTable, height_at, heights_in, rest_table
from calderon.layers.sections import Sections
from calderon.mesh import TriangleMesh
from calderon.mesh.geometry import extents
from calderon.pairs.classes import near_pairs, touching_pairs
from calderon.quadrature import Quadrature, touching_rule, triangle_rule
from calderon.spaces import EdgeSpace
from calderon.spaces.element import barycentric


class VerticalRules(NamedTuple):
    """Rules of pairs with a vertical triangle, and how many are in memory together."""

    degrees: tuple[Any, ...] = ((4.0, 4), (2.0, 6), (1.3, 8), (0.8, 10), (0.4, 14), (0.0, 20))
    """(ratio of distance to size, degree of the rule): from that ratio on."""
    radial: int = 4
    angular: int = 7
    """Points of touching pairs for T."""
    together: int = 1 << 17
    """Pairs whose products are in memory together."""


RULES = VerticalRules()
Index = NDArray[np.int64]


class Side(NamedTuple):
    """Rows of the table of functions in one range of heights."""

    rows: Index
    heights: Heights


@dataclass(frozen=True, eq=False)
class VerticalMatrix:
    """Entries of all pairs of triangles of which one at least is vertical."""

    sections: Sections
    space: EdgeSpace
    parts: MetalParts
    quadrature: Quadrature = field(default_factory=Quadrature)
    charges: bool = True
    """Whether the field of charges is part of entries."""

    @cached_property
    def matrix(self) -> sp.csr_array:
        """(dimension, dimension), symmetric."""
        half = sp.csr_array((self.space.dimension,) * 2, dtype=complex)
        for test, trial in self._pairs():
            factor = 0.5 if test is trial else 1.0
            for each in self._between(test, trial):
                half = half + factor * each
        return (half + half.T).tocsr()

    def _pairs(self) -> Iterator[tuple[Side, Side]]:
        upright, flat = self._sides
        for n, test in enumerate(upright):
            yield from ((test, trial) for trial in upright[n:])
            for rows, z in flat:
                yield test, Side(rows, height_at(self.sections, z, test.heights.layer))

    @cached_property
    def _sides(self) -> tuple[list[Side], list[tuple[Index, float]]]:
        """Vertical metal by layers, and horizontal rows by heights."""
        z = self._corners[:, :, 2]
        upright = []
        for layer in np.unique(self.parts.layers).tolist():
            rows = self.parts.vertical[self.parts.layers == layer]
            upright.append(Side(rows, heights_in(self.sections, layer, z[rows].min(), z[rows].max())))
        faces = np.unique(self.sections.high[:-1])
        flat = self.parts.horizontal
        numbers = np.abs(z[flat, :1] - faces).argmin(axis=1) if len(flat) else flat
        return upright, [(flat[numbers == n], float(faces[n])) for n in np.unique(numbers).tolist()]

    @cached_property
    def _corners(self) -> NDArray[np.float64]:
        return np.ascontiguousarray(self.space.mesh.vertices[self.space.mesh.triangles[self.space.triangles]])

    def _between(self, test: Side, trial: Side) -> Iterator[sp.csr_array]:
        """Matrices of test rows and trial columns."""
        for part in singular_parts(self.sections, test.heights.layer, trial.heights.layer):
            mirrored = self._mirrored(part)
            yield self._waves(part, test.rows, trial.rows, mirrored)
            if abs(part.zx) > 1e-12 * abs(part.zz):
                yield self._cross(part, test.rows, trial.rows, mirrored)
        if not nothing_left(self.sections, test.heights.layer, trial.heights.layer):
            yield self._rest(test, trial)

    def _mirrored(self, part: Part) -> TriangleMesh:
        mesh = self.space.mesh
        if part.mirror is None:
            return mesh
        places = mesh.vertices.copy()
        places[:, 2] = 2 * part.mirror - places[:, 2]
        return TriangleMesh(places, mesh.triangles)

    def _waves(self, part: Part, rows: Index, columns: Index, mirrored: TriangleMesh) -> sp.csr_array:
        """The matrix of what a part adds to G_xx, K and G_zz. On the mirrored mesh vertical currents are turned."""
        test, i = _compact(self.space, rows)
        trial, j = _compact(self.space, columns)
        trial = replace(trial, mesh=mirrored)
        turn = 1.0 if part.mirror is None else -1.0
        out = np.zeros((len(i), len(j)), complex)
        factors = np.array([part.xx, turn * part.zz, part.K * self.charges])
        for unit, real in ((1.0, factors.real), (1j, factors.imag)):
            if real.any():
                k = part.k if part.k.imag else part.k.real
                across, along, charge = real.tolist()
                green = LayerGreen(k, k0=self.sections.k0, test=(across, along, charge))
                form = LayerForm(green, ELECTRIC_FIELD, trial, test, self.quadrature)
                add_block(out, form, unit, None, None, Execution.of("numba", "double"))
        places = np.repeat(i, len(j)), np.tile(j, len(i))
        return sp.coo_array((out.ravel(), places), (self.space.dimension,) * 2).tocsr()

    def _cross(self, part: Part, rows: Index, columns: Index, mirrored: TriangleMesh) -> sp.csr_array:
        """The matrix of what a part adds to G_zx and G_xz."""
        test: Any = self.space.taken(rows)
        trial: Any = replace(self.space.taken(columns), mesh=mirrored)
        corners = self._corners[rows], np.ascontiguousarray(mirrored.vertices[mirrored.triangles[trial.triangles]])
        # which rule each pair needs: touching ones by common vertices, others by distance
        ids = vertex_numbers(test, slice(None), trial, slice(None))
        own = rows is columns
        touching = touching_pairs(ids[0], ids[1], own)
        near, ratio = near_pairs(*corners, ids, RULES.degrees[0][0])
        ratios = np.full((len(rows), len(columns)), np.inf)
        ratios[tuple(near.T)] = ratio
        ratios[tuple(touching.pairs.T)] = -1.0
        if own:
            ratios[np.tril_indices(len(rows), -1)] = -1.0
        # data of the pairs, then touching ones
        given = (self._corners[rows], self._corners[columns]), (test.scale, trial.scale)
        numbers = part.zx, part.xz, part.k, part.mirror is not None, float(part.mirror or 0.0)
        total = sp.csr_array((self.space.dimension,) * 2, dtype=complex)
        for shared in (1, 2, 3):
            chosen = touching.shared == shared
            if chosen.any():
                both = touching_rule(shared, RULES.radial, RULES.angular)
                places = barycentric(both.test_points).T, barycentric(both.trial_points).T
                orders = touching.test_order[chosen], touching.trial_order[chosen]
                values = self._crossed(touching.pairs[chosen], orders, *given, places, both.weights, numbers)
                total = total + self._scattered(rows, columns, touching.pairs[chosen], values)
        # all others, by the degree of their rule
        for degree, pairs in _by_degree(ratios):
            rule, order = triangle_rule(degree), np.broadcast_to(np.arange(3, dtype=np.int8), (len(pairs), 3))
            n = len(rule.weights)
            places = np.repeat(rule.barycentric, n, axis=0), np.tile(rule.barycentric, (n, 1))
            weights = np.repeat(rule.weights, n) * np.tile(rule.weights, n)
            values = self._crossed(pairs, (order, order), *given, places, weights, numbers)
            total = total + self._scattered(rows, columns, pairs, values)
        return total

    def _crossed(self, pairs: Any, orders: Any, corners: Any, scales: Any, places: Any, weights: Any, part: Any) -> Any:
        """(n, 9) products of pairs."""
        out = np.empty((len(pairs), 9), complex)
        pairs, orders = np.ascontiguousarray(pairs, np.int64), tuple(np.ascontiguousarray(each) for each in orders)
        missing = -len(weights) % width(float)
        weights = np.pad(weights, (0, missing))
        places = np.pad(np.concatenate([each[:, 1:].T for each in places]), [(0, 0), (0, missing)], mode="edge").ravel()

        def work(low: int, high: int) -> None:
            given = corners, scales, places, weights, part, self.sections.k0, cross_scratch()
            cross_products(pairs, orders, low, high, *given, out)

        in_parts(work, len(pairs), most=256)
        return out

    def _rest(self, test: Side, trial: Side) -> sp.csr_array:
        """The matrix of the rest of the Green's functions, which is tabulated."""
        one, two = self._corners[test.rows], self._corners[trial.rows]
        low = np.minimum(one.min(axis=(0, 1)), two.min(axis=(0, 1)))[:2]
        reach = 1.001 * float(np.hypot(*(np.maximum(one.max(axis=(0, 1)), two.max(axis=(0, 1)))[:2] - low)))
        table = rest_table(self.sections, test.heights, trial.heights, reach)
        places = self.space.mesh.vertex_places[self.space.mesh.triangles[self.space.triangles]]
        ids = places[test.rows], places[trial.rows]
        near, ratio = near_pairs(one, two, ids, RULES.degrees[0][0])
        ratios = np.full((len(one), len(two)), np.inf)
        ratios[tuple(near.T)] = ratio
        ratios[tuple(touching_pairs(*ids).pairs.T)] = 0.0
        sizes = np.maximum(extents(one).size[:, None], extents(two).size)
        ratios = np.hypot(ratios, 2 * self._thickness(test.heights.layer, trial.heights.layer) / sizes)
        if test is trial:
            ratios[np.tril_indices(len(one), -1)] = -1.0
        total = sp.csr_array((self.space.dimension,) * 2, dtype=complex)
        for degree, pairs in _by_degree(ratios):
            total = total + self._tabulated(table, test, trial, min(degree, 14), pairs)
        return total

    def _thickness(self, *layers: int) -> float:
        """The least thickness of these layers and their neighbours."""
        n = np.arange(max(0, min(layers) - 1), min(len(self.sections.eps), max(layers) + 2))
        finite = (self.sections.high - self.sections.low)[n]
        return float(finite[finite > 0].min(initial=np.inf))

    def _tabulated(self, table: RestTable, test: Side, trial: Side, degree: int, pairs: Index) -> sp.csr_array:
        rule = triangle_rule(degree)
        sides = [self._data(each, rule, pairs[:, n]) for n, each in enumerate((test, trial))]
        local = np.stack([each[0] for each in sides], axis=1)
        points, functions, charges, areas, heights = zip(*(each[1:] for each in sides), strict=True)
        given = *table.data, len(table.observers.nodes), len(table.sources.nodes)
        weights, out = 2 * rule.weights, np.empty((len(pairs), 9), complex)

        numbers = points, functions, weights, charges, areas, heights, given, self.sections.k0, out
        in_parts(lambda low, high: rest_products(local, low, high, *numbers), len(pairs), most=256)
        return self._scattered(test.rows, trial.rows, pairs, out)

    def _data(self, side: Side, rule: Any, numbers: Index) -> tuple[Any, ...]:
        """Numbers of the triangles among those that occur, and what `rest_products` reads of these."""
        some, local = np.unique(numbers, return_inverse=True)
        space = self.space.taken(side.rows[some])
        points = rule.barycentric @ self._corners[side.rows[some]]
        functions = space.values(rule.points)
        return (
            local,
            np.ascontiguousarray(points[..., :2].swapaxes(1, 2)),
            np.ascontiguousarray(functions.swapaxes(2, 3)),
            2 * space.scale * self.charges,
            space.mesh.areas[space.triangles],
            np.ascontiguousarray(side.heights.weights(points[..., 2])),
        )

    def _scattered(self, rows: Index, columns: Index, pairs: Any, values: NDArray[np.complex128]) -> sp.csr_array:
        """The matrix of products (n, 9) of pairs of some rows and columns of the table; of the same ones pairs in one
        order alone are given, and count twice."""
        total, twice = sp.csr_array((self.space.dimension,) * 2, dtype=complex), 2.0 if rows is columns else 1.0
        for low in range(0, len(pairs), RULES.together):
            i, j = pairs[low : low + RULES.together].T
            local = values[low : low + RULES.together].reshape(-1, 3, 3)
            total = total + twice * scattered(self.space, np.stack([rows[i], columns[j]], axis=1), local)
        return total


def _by_degree(ratios: NDArray[np.float64]) -> Iterator[tuple[int, Index]]:
    """Degrees of rules and the pairs (n, 2) that have them; those of negative ratio have none."""
    bounds, degrees = np.array(RULES.degrees).T
    which = np.where(ratios < 0, -1, np.searchsorted(-bounds, -ratios))
    for number, degree in enumerate(degrees.astype(int).tolist()):
        pairs = np.argwhere(which == number)
        if len(pairs):
            yield degree, pairs


def _compact(space: EdgeSpace, rows: Index) -> tuple[EdgeSpace, Index]:
    """The functions of some rows alone, and their numbers."""
    part = space.taken(rows)
    used = np.unique(part.dofs[part.dofs >= 0])
    dofs = np.where(part.dofs >= 0, np.searchsorted(used, part.dofs), -1)
    return replace(part, dofs=dofs, sides=space.sides[used]), used
