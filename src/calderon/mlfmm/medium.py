"""Products with all terms of an expression that have one Green's function of Helmholtz: one traversal for all.

An unknown belongs to the leaf of the middle of its support. Entries between unknowns of neighbouring leaves are exact;
all others are plane waves of the charges at quadrature points of whole functions, or equivalent sources where boxes
are small against the wavelength.
"""

import copy
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends import Device, Execution, run_tasks
from calderon.backends.devices.sharing import Distribution
from calderon.galerkin.rows.entry_kernels import Clusters
from calderon.integrands import MAGNETIC_FIELD
from calderon.mlfmm.channels import Channel, Listed, factorised, is_of_currents, listed, mixed, table_of, weighted
from calderon.mlfmm.degrees import SampledLevels, guess, other_green, shortest, with_real_part
from calderon.mlfmm.equivalent.cubes import SUMS
from calderon.mlfmm.far import Far, find_degrees, is_vector
from calderon.mlfmm.levels import Degrees
from calderon.mlfmm.points import Panels, Points, centres_of
from calderon.mlfmm.sites import Alike, Sites
from calderon.mlfmm.spectrum import Array, Grid
from calderon.operators.methods import PRODUCTS
from calderon.operators.tree import Term
from calderon.pairs.zones import tolerant
from calderon.products.far_field import far_product
from calderon.products.lists import lists_of
from calderon.products.near_file import SavedNear
from calderon.products.near_filling import filled_store
from calderon.products.near_store import NearStore
from calderon.products.octree import DEEPEST, Cube, Octree, octree
from calderon.products.packed import PACKED
from calderon.products.shared import Shares, distributed_leaves
from calderon.quadrature import NearQuadrature, Quadrature, triangle_rule


class LeafRules(NamedTuple):
    """By which leaves are chosen, on every machine the same ones.

    most, low: unknowns of a leaf at most, unless its edge is the least one; the same where smaller leaves have
    equivalent sources. factors: edges of the smallest leaves by the least one, of which the best one is taken: near
    entries depend on where boxes end. low_factors: likewise, edges of the cube around all functions, by which those of
    leaves with equivalent sources come near the least one. near, pair, point: work of a near entry of one term, of a
    direction of a pair of boxes, and of one at a point: a pair takes a complex product and sum, a point the exponential
    of a phase, too; an entry of P1 has 144 evaluations of four times as many operations. points: of an unknown, of both
    sides together. cube: equivalent sources of a box; a translation takes their square times `pair`, a point twice
    `point` each. outside, low_outside: parts of the edge of its leaf that the support of a function may reach from its
    middle: with plane waves, and with equivalent sources. loops: reach of most functions of currents, times k, below
    which errors of their charges, relative to fields of all charges, would cover those of currents in loops, which have
    none: there are no equivalent sources then.
    """

    most: int = 24
    low: tuple[int, ...] = (40, 100)
    factors: tuple[float, ...] = (1.0, 1.03, 1.06, 1.1, 1.15, 1.2, 1.44, 1.7)
    low_factors: tuple[float, ...] = (1.0, 1.2, 1.4, 1.5, 1.7)
    near: float = 600.0
    pair: float = 1.0
    point: float = 4.0
    points: int = 20
    cube: int = 98
    outside: float = 0.5
    low_outside: float = 0.25
    loops: float = 0.04


LEAVES = LeafRules()
RULES = (8e-4, 0.45, (1, 2, 1, 2), NearQuadrature), (9e-5, 0.67, (0, 0, 0, 0), Quadrature)
"""From a tolerance on, the part of `Quadrature.near` that is enough, what `singular` is lowered by, of scalars, of
scalars with a normal, of electric and of magnetic fields, and the kind of quadrature. Matrices in single precision
lower `singular` by themselves, too, those of fields with a `NearQuadrature`."""


def loosened(term: Term, rtol: float) -> Term:
    """A term with rules of near entries whose errors are about a tenth of that tolerance of products at most."""
    if rtol < RULES[-1][0]:
        return term
    near, less, kind = next(each[1:] for each in RULES if rtol >= each[0])
    atom = tolerant(term.atom, rtol)
    given, integrand = atom.quadrature, atom.integrand
    own = less[2 + (integrand == MAGNETIC_FIELD) if is_of_currents(term) else int(integrand.normal != "none")]
    rules = kind(given.regular, max(2, given.singular - own), near * given.near, given.accuracy)
    return term._replace(atom=replace(atom, quadrature=rules))


class Side(NamedTuple):
    """The charges of all terms, or their tests, listed at points; weights (maps, rank): of the channels in each
    traversal."""

    listed: Listed
    points: Panels | Points
    weights: NDArray[np.complex128]

    @property
    def arrays(self) -> list[NDArray[Any]]:
        """All arrays of maps and points."""
        return [*(part for each in self.listed.maps for part in each[2:]), *self.points.arrays]


class Waves(NamedTuple):
    """The tests and the charges of all terms; degree: of the quadrature of charges. sampled: levels with samples of
    their points, where degrees are searched for. slopes: whether there are derivatives."""

    degree: int
    tests: Side
    charges: Side
    sampled: SampledLevels
    slopes: bool


class Near(NamedTuple):
    """Blocks between neighbouring leaves, and the regions of the matrix that are multiples of them."""

    alike: Alike
    store: NearStore


class Medium(LinearOperator):
    """Products with all terms of one wavenumber, near and far, some columns at a time.

    tree, lists: of the unknowns, leaf (sites,): of each. alike: the regions of the matrix, near_counts: their entries
    between neighbouring leaves, and near: their blocks, once for all that are multiples of one. waves: charges and
    tests, and far: fields between separated leaves; both None where all leaves are neighbours. refused: by type of real
    numbers, the largest tolerance that they did not hold.
    there: the products of devices, once they have them.
    """

    def __init__(
        self, terms: Sequence[Term], shape: tuple[int, int], edge: float, real: Any, mixed: bool = True
    ) -> None:
        """edge: of the smallest leaves with plane waves at least, in wavelengths; of leaves of some sizes the best ones
        are taken; 0 for one leaf of all unknowns. mixed: whether there may be smaller ones, with equivalent sources."""
        super().__init__(dtype=np.dtype(complex), shape=shape)
        self.terms, self.real = terms, np.dtype(real)
        green = terms[0].atom.green
        self.k, self.green = with_real_part(complex(green.wavenumber)), other_green(green)
        self.sites = Sites.of(terms, shape)
        self.alike = Alike.of(terms, self.sites)
        # middles and reaches of the functions that have triangles
        used = np.isfinite(self.sites.boxes[:, 0, 0])
        low, high = self.sites.boxes[used].transpose(1, 0, 2)
        centres, reach = (low + high) / 2, (high - low).max(axis=1) / 2
        # functions that are no waves have equivalent sources in boxes of all sizes
        shortest_edge = edge and (shortest(self.k, edge) if self.green is None else math.inf)
        divisions = list(self._divisions(Cube.around(centres), reach, shortest_edge, mixed))
        best, lock = (math.inf, 0), threading.Lock()

        def work(number: int) -> None:
            """Make a tree, and keep it if it has the least work of near entries and of products so far."""
            nonlocal best
            cube, most, edges, least = divisions[number]
            deepest = np.clip(np.log2(cube.edge / edges) + 1e-9, 0, DEEPEST).astype(np.int8)
            tree = octree(centres, None, most, (deepest, deepest), cube)
            counts, far = self.sites.counts(tree, used, self.alike)
            # of all regions, also of those that share blocks: else leaves would be larger, which takes more memory
            near = sum(n * len(each.terms) * len(each.regions) for n, each in zip(counts, self.alike, strict=True))
            cost = LEAVES.near * near + self._cost(tree, far, least)
            with lock:
                if (cost, number) < best:
                    best = cost, number
                    self.cost, self.tree, self.near_counts, self.least = cost, tree, counts, least

        run_tasks(work, len(divisions))
        self.lists, self.leaf = self.sites.meeting(self.tree, lists_of(self.tree), used), np.full(len(used), -1)
        numbers = np.repeat(np.arange(len(self.lists.leaves)), np.diff(self.tree.sources[self.lists.leaves])[:, 0])
        self.leaf[np.flatnonzero(used)[self.tree.source_order]] = numbers
        self.near: list[Near] = []
        self.waves: Waves | None = None
        self.rtol, self.refused = math.inf, dict[np.dtype[Any], float]()
        self.far: Far | None = None
        self.there: LinearOperator | None = None

    def _divisions(
        self, cube: Cube, reach: Array, edge: float, mixed: bool
    ) -> Iterator[tuple[Cube, int, Array, float]]:
        """Some ways to divide a cube: a larger one, the unknowns of a leaf at most, the least edge in m of the leaf of
        each function (n,), and that below which boxes have equivalent sources. For `edge` 0 one leaf of all unknowns;
        reach (n,): of the functions."""
        if not edge:
            yield cube, len(reach), np.full(len(reach), cube.edge), 0.0
            return
        # plane waves alone, whose smallest leaves have the least edge or a little more
        for factor in LEAVES.factors if math.isfinite(edge) else ():
            least = factor * edge
            depth = max(0, math.ceil(math.log2(cube.edge / least)))
            wider = cube.enlarged(least * 2.0**depth / cube.edge) if depth else cube
            yield wider, LEAVES.most, np.maximum(least, reach / LEAVES.outside), 0.0
        # equivalent sources in smaller boxes, too
        low = reach / LEAVES.low_outside
        loops = is_of_currents(self.terms[0]) and abs(self.k) * np.median(reach) < LEAVES.loops
        if (mixed or math.isinf(edge)) and (low < 0.5 * edge).any() and not loops:
            own = np.where(low < edge, low, np.maximum(edge, reach / LEAVES.outside))
            for most, factor in product(LEAVES.low, LEAVES.low_factors):
                yield cube.enlarged(factor), most, own, edge

    def _cost(self, tree: Octree, far: NDArray[np.int64], least: float) -> float:
        """Work of PRODUCTS products with plane waves and equivalent sources, in units of LEAVES.pair; far (levels,):
        separated pairs."""
        if not far.any():
            return 0.0
        edges = tree.cube.edge * 0.5 ** np.arange(len(far))
        waves = np.array([Grid(guess(abs(self.k) * edge * math.sqrt(3), 1e-3)).count for edge in edges])
        sums = SUMS if is_of_currents(self.terms[0]) else 1
        low = sums * np.array([[2 * LEAVES.cube * LEAVES.point], [LEAVES.cube**2 * LEAVES.pair]])
        point, pair = np.where(edges < least, low, [waves * LEAVES.point / 4, waves * LEAVES.pair])
        points = float(np.diff(tree.sources)[tree.leaf, 0] @ point[tree.level[tree.leaf]])
        return PRODUCTS * (LEAVES.points * points + float(pair @ far))

    def fill_near(
        self,
        execution: Execution,
        rtol: float,
        saved: SavedNear | None = None,
        advance: Callable[[int, int], None] | None = None,
        devices: Sequence[Device] = (),
    ) -> None:
        """Compute the entries between unknowns of neighbouring leaves, with rules and numbers that suit the tolerance,
        or take them from what is saved. advance(done, total): called after each chunk of a region of the matrix.
        devices: the first one computes entries, where they stay, if it has kernels for all terms and saves nothing."""
        packs = self.real == np.float32 and rtol >= PACKED
        for alike in self.alike:
            ((top, left), _), terms = alike.regions[0], [loosened(each, rtol) for each in alike.terms]
            sides = (top, terms[0].shape[0], self.sites.rows), (left, terms[0].shape[1], self.sites.columns)
            # clusters of unknowns by leaf, and the pairs of them that have blocks
            rows, columns = (self.clusters(self.leaf[site[first : first + count]]) for first, count, site in sides)
            pairs = self.lists.near_pairs
            kept = (rows.stop > rows.start)[pairs[:, 0]] & (columns.stop > columns.start)[pairs[:, 1]]
            # terms on the same spaces together
            spaces = dict.fromkeys((t.atom.test, t.atom.trial) for t in terms)
            groups = [[(t.factor, t.atom) for t in terms if (t.atom.test, t.atom.trial) == pair] for pair in spaces]
            given = (rows, columns), pairs[kept], packs, groups, execution
            self.near.append(Near(alike, filled_store(*given, saved, advance, devices)))

    def near_entries(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.complex128]:
        """(n,) the entries in these rows and columns, zero between unknowns of leaves that are no neighbours."""
        found = np.zeros(len(rows), complex)
        for alike, near in self.near:
            height, width = len(near.layout.rows.order), len(near.layout.columns.order)
            for (top, left), factor in alike.regions:
                for i, j in ((rows, columns), (columns, rows))[: 1 + alike.mirrored]:
                    own = (i >= top) & (i < top + height) & (j >= left) & (j < left + width)
                    found[own] += factor * near.entries(i[own] - top, j[own] - left)
        return found

    def clusters(self, leaf: NDArray[np.int64]) -> Clusters:
        """The unknowns of each leaf, those in leaf[n] (n,)."""
        order = np.argsort(leaf, kind="stable")
        bounds = np.searchsorted(leaf[order], np.arange(len(self.lists.leaves) + 1))
        return Clusters(order, bounds[:-1], bounds[1:])

    def fill_far(self, rtol: float, degree: int) -> bool:
        """Prepare plane waves and equivalent sources; where numbers do not hold the tolerance nothing is changed, and
        the answer is False. degree: of the quadrature of charges."""
        if not len(self.lists.far.source):
            return True
        if rtol <= self.refused.get(self.real, 0.0):
            return False
        # charges of that degree, some of which share a rule, and degrees of all levels that hold the tolerance
        waves = self.waves
        if waves is None or not np.array_equal(triangle_rule(waves.degree).points, triangle_rule(degree).points):
            waves = self._charges(degree)
        elif rtol == self.rtol:
            self.waves = waves._replace(degree=degree)
            return True
        sides, derivatives = (waves.charges.points, waves.tests.points), (waves.slopes, False)
        degrees = find_degrees(waves.sampled, self.k, rtol, self.real, derivatives, self.least, green=self.green)
        if degrees is None:
            self.refused[self.real] = rtol
            return False
        kinds = waves.charges.listed.waves, waves.tests.listed.waves
        # tables of these levels
        levels = degrees.levels(self.tree, self.lists, self.k, self.real, is_vector(kinds[0]), self.green)
        self.waves, self.rtol = waves._replace(degree=degree), rtol
        self.far = Far(self.k, self.tree, self.lists, levels[0], *sides, *kinds, levels[1])
        return True

    @property
    def degrees(self) -> dict[int, Degrees]:
        """Degrees of the levels with plane waves, by their number in the tree; none before there are waves."""
        levels = [] if self.far is None else self.far.traversal.levels
        return {int(self.tree.level[each.low]): Degrees(each.half.degree, each.full.degree) for each in levels}

    def _charges(self, degree: int) -> Waves:
        """The charges and the tests of all terms."""
        *sides, table = table_of(self.terms, not self.least)
        (rows, into), (columns, out) = (weighted(*each) for each in zip(sides, factorised(table), strict=True))
        mix: list[Any] = [None, None]
        slopes = any(each.wave in ("gradient", "magnetic") for each in rows + columns)
        # scalars in one traversal: a charge and a dipole along the normal are one charge
        if into.shape[1] == 1 and not is_vector([each.wave for each in columns]):
            rows, mix[0] = mixed(rows, into[:, 0])
            columns, mix[1] = mixed(columns, out[:, 0])
            into, out = (np.ones((len(each), 1), complex) for each in (rows, columns))
        charges = self._side(columns, out, self.sites.columns, mix[1], degree)
        # both sides share points where they are the same functions
        if rows != columns or not np.array_equal(self.sites.rows, self.sites.columns):
            tests = self._side(rows, into, self.sites.rows, mix[0], degree)
        else:
            points = charges.points if mix[0] is None else charges.points._replace(mix=mix[0])
            tests = Side(charges.listed, points, into)
        sampled = SampledLevels(self.tree, self.lists, charges.points, tests.points)
        return Waves(degree, tests, charges, sampled, slopes)

    def _side(
        self, channels: list[Channel], weights: NDArray[np.complex128], sites: NDArray[np.int64], mix: Any, degree: int
    ) -> Side:
        """Points of one side; mix: of `Points`."""

        def leaf_of(each: Channel) -> NDArray[np.int64]:
            return self.leaf[sites[each.first : each.first + each.space.dimension]]

        centres = centres_of(self.tree)[self.lists.leaves]
        return Side(*listed(channels, leaf_of, centres, degree, self.real, mix), weights)

    def improve(self, rtol: float, finer: bool, double: bool) -> bool:
        """Plane waves for a smaller tolerance, finer: and charges of a higher degree; whether numbers hold it. Where
        they do not, charges of a higher degree with the last tolerance come first; double: then double precision."""
        if self.waves is None:
            return False
        most = max(term.atom.quadrature.regular for term in self.terms)
        degree = min(most, self.waves.degree + finer)
        if self.fill_far(rtol, degree):
            return True
        if self.waves.degree < most and self.fill_far(self.rtol, self.waves.degree + 1):
            return True
        if self.real == np.float64 or not double:
            return False
        before = self.real, self.waves
        self.real, self.waves = np.dtype(np.float64), None
        if self.fill_far(rtol, degree):
            return True
        self.real, self.waves = before
        return False

    @property
    def together(self) -> int:
        """Columns that are multiplied at a time: eight, if their patterns take less than 512 MB."""
        if self.far is None:
            return 8
        own = 4 * sum(level.patterns for level in self.far.traversal.levels) * self.far.traversal.spectra
        own += self.far.sums * sum(level.sources for level in self.far.low.levels) if self.far.low else 0
        return int(max(1, min(8, 512_000_000 // max(1, own * self.rank * self.real.itemsize))))

    def _matmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return self.there.matmat(x) if self.there else self._some(x, False)

    def _rmatmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return self.there.rmatmat(x) if self.there else self._some(x.conj(), True).conj()

    def _some(self, x: NDArray[Any], transposed: bool) -> NDArray[Any]:
        together, y = self.together, np.empty((self.shape[1 if transposed else 0], x.shape[1]), self.dtype)
        for n in range(0, x.shape[1], together):
            y[:, n : n + together] = self.product(x[:, n : n + together], transposed)
        return y

    def product(self, x: NDArray[Any], transposed: bool = False) -> NDArray[Any]:
        """A x or A^T x of columns (n, m)."""
        y = self.near_product(x, transposed)
        if self.far is not None:
            self._add_far(self.far.transposed if transposed else self.far, x.astype(y.dtype), y, transposed)
        return y

    def near_product(self, x: NDArray[Any], transposed: bool) -> NDArray[Any]:
        """A x or A^T x with the entries between neighbouring leaves alone."""
        y = np.zeros((self.shape[1 if transposed else 0], x.shape[1]), np.result_type(self.real, np.complex64))
        for alike, near in self.near:
            height, width = len(near.layout.rows.order), len(near.layout.columns.order)
            for other in (transposed, not transposed)[: 1 + alike.mirrored]:
                # the columns of all regions side by side: numbers are read once
                (to, rows), (at, columns) = ((0, height), (1, width))[:: -1 if other else 1]
                own = np.concatenate([x[place[at] : place[at] + columns] for place, _ in alike.regions], axis=1)
                found = np.split(near.product(own, other), len(alike.regions), axis=1)
                for (place, factor), one in zip(alike.regions, found, strict=True):
                    y[place[to] : place[to] + rows] += one if factor == 1 else y.dtype.type(factor) * one
        return y

    def _add_far(self, far: Far, x: NDArray[Any], y: NDArray[Any], transposed: bool) -> None:
        """Add the products with x (n, m) of all charges that are not in neighbouring leaves to y."""
        assert self.waves is not None
        # charges of all columns and traversals, fields of these, and moments of fields
        wanted, given = (self.waves.tests, self.waves.charges)[:: -1 if transposed else 1]
        charges = given.listed.spread(x, given.weights)
        charges = charges.reshape(*charges.shape[:1], -1, given.listed.components)
        if self.rank == 1:
            fields = far_product(far, charges)
        else:
            used = charges.any(axis=(0, 2))  # columns of J alone, or of M alone, have traversals without charges
            if not used.any():
                return
            some = far_product(far, charges[:, used])
            fields = np.zeros((len(some), used.size, wanted.listed.components), some.dtype)
            fields[:, used] = some
        fields = fields.reshape(*fields.shape[:1], x.shape[1], self.rank, -1)
        wanted.listed.gather(fields, wanted.weights, y)

    def distributed(self, shares: Shares, with_processor: bool) -> Distribution:
        """Media whose products add up to those of this one, and the work of each; see `distributed_leaves`."""
        far = np.zeros(len(self.lists.leaves)) if self.far is None else self.far.cost * self.rank
        return distributed_leaves([each.store for each in self.near], far, shares, with_processor, self._part)

    def _part(self, near: tuple[int, int], far: tuple[int, int]) -> "Medium":
        """The near blocks of the rows of a run of leaves, and the fields in another run, which may be empty."""
        own = copy.copy(self)
        own.near = [each._replace(store=each.store.part(*near)) for each in self.near]
        own.far = None if self.far is None or far[0] == far[1] else self.far.part(*far)
        return own

    @property
    def rank(self) -> int:
        """Traversals of a product."""
        return 0 if self.waves is None else self.waves.charges.weights.shape[1]

    @property
    def side_bytes(self) -> int:
        """Bytes of maps and points, which both sides may share."""
        sides = () if self.waves is None else (self.waves.tests, self.waves.charges)
        return sum({id(each): each.nbytes for side in sides for each in side.arrays}.values())

    @property
    def nbytes(self) -> int:
        """Bytes of blocks, waves and maps."""
        total = sum(each.store.nbytes for each in self.near)
        if self.far is not None and self.waves is not None:
            total += self.side_bytes
            total += self.far.nbytes_of(self.rank)
        return total
