"""Fields between the points of separated leaves: from charges at sources to fields at targets."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import require_memory, run_tasks
from calderon.backends.vectors import aligned, width
from calderon.mlfmm.degrees import Degrees, SampledLevels, Search
from calderon.mlfmm.equivalent.cubes import EDGE, PARTS, SUMS, WAVES, Cubes, find_points, from_sums, to_sums
from calderon.mlfmm.equivalent.lowfrequency import LowFrequency
from calderon.mlfmm.levels import Level, Pairs, Patterns, Traversal, levels_of
from calderon.mlfmm.p2m_l2p import POINTS, l2p_kernel, p2m_kernel
from calderon.mlfmm.points import Panels, Points, over_leaves
from calderon.mlfmm.spectrum import Grid, flat
from calderon.products.lists import Lists, leaves_of_boxes
from calderon.products.octree import Octree

KINDS = {"value": 1, "gradient": 3, "mixed": 1, "electric": 3, "magnetic": 3}
"""Components of charges and of fields. Out: charges; dipoles d, that is d.grad_y; charges with dipoles along normals;
currents J; d x J. In: value; gradient; value with normal derivative; E = (I - d d) J; d x J. Scalars have the first
three, currents the others."""


def is_vector(kinds: Sequence[str]) -> bool:
    """Whether kinds are of currents."""
    return kinds[0] in ("electric", "magnetic")


def factors_of(kinds: Sequence[str], grid: Grid, k: complex, outward: bool) -> NDArray[np.complex128]:
    """(spectra, components, count) factors of the components of sources in outgoing patterns, or, unless `outward`, of
    incoming patterns in the components of fields: i k d instead of -i k d."""
    directions, (theta, phi) = grid.directions, grid.frame
    one = np.ones((1, 1, grid.count))
    slope = (-1j if outward else 1j) * k * directions[None]
    turned = np.stack([-phi, theta]) if outward else np.stack([phi, -theta])  # d x J, d x (p_theta, p_phi)
    parts = {"value": one, "mixed": one, "gradient": slope, "electric": np.stack([theta, phi]), "magnetic": turned}
    return np.concatenate([parts[kind].astype(complex) for kind in kinds], axis=1)


class WavesOfLevel(NamedTuple):
    """Tables between numbers at points and the plane waves of a level. along: Re k times directions (3, pitch); growth:
    Im k times a radius about the centre of a box within which all its points are; factors: those of `factors_of` times
    exp(growth), of emission (spectra, components, part, pitch) or of reception (components, spectra, part, pitch)."""

    along: NDArray[np.float64]
    growth: float
    factors: NDArray[np.float64]

    @staticmethod
    def of(level: Level, kinds: Sequence[str], k: complex, spectra: int, real: Any, outward: bool) -> "WavesOfLevel":
        """The tables of a level for components of these kinds; real: type of numbers; outward: of emission."""
        grid, pitch = level.half, level.half.pitch(real)
        growth = float(np.imag(k) * 1.75 * level.edge)
        along, table = np.zeros((3, pitch)), np.zeros((spectra, sum(KINDS[kind] for kind in kinds), 2, pitch))
        along[:, : grid.count] = k.real * grid.directions
        values = factors_of(kinds, grid, k, outward) * np.exp(growth)
        table[:, :, 0, : grid.count], table[:, :, 1, : grid.count] = values.real, values.imag
        return WavesOfLevel(along, growth, table if outward else table.swapaxes(0, 1))


class Sent(NamedTuple):
    """All that boxes send or receive. columns: how many vectors; patterns: plane waves of each level; numbers: of each
    level below them the equivalent sources, or the potentials of these at the points of cubes."""

    columns: int
    patterns: Patterns
    numbers: list[NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Far:
    """The far field (`FarField`): waves between separated leaves, with the factor 1 from charges to fields.

    k: wavenumber; tree, lists: boxes, and which are separated; traversal: the levels with plane waves; low: those below
    them, with equivalent sources, None without; both may be shared with other far fields. sources, targets: points.
    source_kinds, target_kinds: kinds (`KINDS`) of the components of charges and fields, all of scalars or all of
    currents. run: the leaves run[0] up to, without, run[1] have fields; None for all of them.
    """

    k: complex
    tree: Octree
    lists: Lists
    traversal: Traversal
    sources: Panels | Points
    targets: Panels | Points
    source_kinds: tuple[str, ...]
    target_kinds: tuple[str, ...]
    low: LowFrequency | None = None
    run: tuple[int, int] | None = None

    def part(self, low: int, high: int) -> "Far":
        """The far field of all charges at the points of the leaves low up to, without, high alone, for devices."""

        def some(levels: Sequence[Any]) -> list[Any]:
            found = []
            for level in levels:
                first, last = leaves_of_boxes(self.tree, self.lists, level.low, level.high)
                found.append(level.part((int(np.searchsorted(last, low, "right")), int(np.searchsorted(first, high)))))
            return found

        cubes = None if self.low is None else replace(self.low, levels=some(self.low.levels))
        traversal = replace(self.traversal, levels=some(self.traversal.levels))
        return replace(self, traversal=traversal, low=cubes, run=(low, high))

    @property
    def receiving(self) -> tuple[int, int]:
        """The first leaf that has fields, and the end, one beyond the last."""
        return self.run or (0, len(self.lists.leaves))

    @cached_property
    def transposed(self) -> "Far":
        """The far field from targets to sources."""
        return replace(
            self, sources=self.targets, targets=self.sources,
            source_kinds=self.target_kinds, target_kinds=self.source_kinds,
        )  # fmt: skip

    @property
    def nbytes(self) -> int:
        """Bytes of all levels, and of the patterns of one column."""
        return self.nbytes_of(1)

    def nbytes_of(self, columns: int, integer: int = 8) -> int:
        """Bytes of all levels, and of the patterns of `columns` vectors; integer: as in `Level.nbytes`."""
        total = sum(level.nbytes(columns * self.traversal.spectra, integer) for level in self.traversal.levels)
        return total + (self.low.nbytes(columns * self.sums) if self.low else 0)

    @property
    def cost(self) -> NDArray[np.float64]:
        """(leaves,) work of each leaf: number of target points times number of directions, or of points of cubes."""
        found, points = np.zeros(len(self.lists.leaves)), np.diff(self.targets.starts)
        for level, (own, _) in zip(self.traversal.levels, self.leaves, strict=True):
            found[own] = points[own] * level.half.count
        for each in self.low.levels if self.low else []:
            inside = (self.lists.leaves >= each.low) & (self.lists.leaves < each.high)
            found[inside] = points[inside] * self.low.cubes.size * self.sums  # type: ignore[union-attr]
        return found

    @cached_property
    def leaves(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """The leaves of each level with waves, and their numbers in the level."""
        found = []
        for level in self.traversal.levels:
            own = np.flatnonzero((self.lists.leaves >= level.low) & (self.lists.leaves < level.high))
            found.append((own, self.lists.leaves[own] - level.low))
        return found

    def send(self, x: NDArray[Any]) -> Sent:
        """Outgoing patterns, and equivalent sources, of all boxes from charges x (sources, columns, components)."""
        columns, real = x.shape[1], self.traversal.real
        given = np.ascontiguousarray(x, np.result_type(real, np.complex64)).view(real).ravel()
        patterns = self.traversal.empty(columns)
        self._points(patterns, given, columns, True)
        numbers = self._sources(patterns, given, columns)
        self.traversal.m2m(patterns, columns)
        return Sent(columns, patterns, numbers)

    def across(self, outgoing: Sent) -> Sent:
        """Incoming patterns, and potentials at the points of cubes, of all boxes from outgoing ones (M2L)."""
        columns = outgoing.columns
        patterns = self.traversal.empty(columns)
        self.traversal.m2l(outgoing.patterns, patterns, columns)
        numbers = [] if self.low is None else self.low.across(outgoing.numbers, columns * self.sums)
        return Sent(columns, patterns, numbers)

    def receive(self, incoming: Sent) -> NDArray[Any]:
        """Fields (targets, columns, components), complex, from what boxes receive; `incoming` is changed: patterns of
        parents are added to those of their children (L2L)."""
        columns, patterns, numbers = incoming
        count, real = sum(KINDS[kind] for kind in self.target_kinds), self.traversal.real
        fields = np.zeros((int(self.targets.starts[-1]), columns, 2 * count), real)
        self.traversal.l2l(patterns, columns)
        self._points(patterns, fields.ravel(), columns, False)
        self._fields(patterns, numbers, fields.ravel(), columns)
        return fields.view(np.result_type(real, np.complex64))

    def _points(self, patterns: Patterns, numbers: NDArray[Any], columns: int, outward: bool) -> None:
        """P2M from charges, `numbers`, to patterns if outward, else L2P from patterns to fields, which are added to
        `numbers`."""
        points, kinds = (self.sources, self.source_kinds) if outward else (self.targets, self.target_kinds)
        for level, (leaves, boxes), x in zip(self.traversal.levels, self.leaves, patterns, strict=True):
            self._waves(level, leaves, boxes, x, points, numbers, kinds, columns, outward)

    def _waves(
        self, level: Level, leaves: NDArray[np.int64], boxes: NDArray[np.int64], x: NDArray[Any],
        points: Panels | Points, numbers: NDArray[Any], kinds: Sequence[str], columns: int, outward: bool,
    ) -> None:  # fmt: skip
        """P2M or L2P between `numbers` at the points of `leaves`, of these kinds, and the patterns x of their
        `boxes`."""
        if not len(leaves):
            return
        real, spectra, k = self.traversal.real, self.traversal.spectra, complex(self.k)
        components, lossy = sum(KINDS[kind] for kind in kinds), k.imag > 0
        # the kernel, and the tables of the level for it
        run = (p2m_kernel if outward else l2p_kernel)(lossy, points.is_mixed)
        mix = points.mix.view(float).astype(real)
        pitch, (along, growth, table) = level.half.pitch(real), WavesOfLevel.of(level, kinds, k, spectra, real, outward)
        rows, factors = flat(along, real), flat(table, real)
        size = 4 * POINTS * width(real) + 2 * pitch * (1 + columns * components)
        spans = () if outward else (points.spans,)
        arguments = (mix, points.starts, *spans, numbers, components, rows, pitch, real.type(k.imag / k.real),
                     real.type(growth), factors, leaves, boxes, x, columns, spectra)  # fmt: skip
        over_leaves(points, leaves, lambda *own: run(*own[:3], *arguments, aligned(size, real), *own[3:]))

    @property
    def sums(self) -> int:
        """Scalar sums of a column in boxes with equivalent sources."""
        return SUMS if self.traversal.vector else 1

    def _sources(self, outgoing: Patterns, numbers: NDArray[Any], columns: int) -> list[NDArray[Any]]:
        """Equivalent sources of all levels that have them, from charges `numbers`; those of the coarsest of these
        levels are added to the outgoing patterns of its parents."""
        if self.low is None:
            return []
        vector, count = self.traversal.vector, columns * self.sums
        # currents as sums of scalars
        given = to_sums(numbers, self.source_kinds, self.k) if vector else numbers
        # sources of all boxes with cubes; those of the coarsest level are charges of plane waves above
        found = self.low.outgoing(self.sources, given, PARTS if vector else parts_of(self.source_kinds), count)
        if outgoing:
            points, parents = self.low.below(self.traversal.levels[-1])
            charges = self.low.listed(found[0], count)
            if vector:
                charges = charges.reshape(-1, SUMS, 2)[:, :WAVES].ravel()
            self._waves(self.traversal.levels[-1], parents, parents, outgoing[-1], points, charges, self.below,
                        columns, True)  # fmt: skip
        return found

    def _fields(self, incoming: Patterns, found: list[NDArray[Any]], numbers: NDArray[Any], columns: int) -> None:
        """Add fields at the points of boxes with equivalent sources to numbers; found: those of these sources at the
        points of cubes, to which the plane waves above are added."""
        if self.low is None:
            return
        vector, count = self.traversal.vector, columns * self.sums
        if incoming:
            points, parents = self.low.below(self.traversal.levels[-1])
            values = np.zeros((len(points.local) * columns, WAVES if vector else 1, 2), self.traversal.real)
            self._waves(self.traversal.levels[-1], parents, parents, incoming[-1], points, values.ravel(), self.below,
                        columns, False)  # fmt: skip
            rest = np.zeros((len(values), self.sums - values.shape[1], 2), values.dtype)
            self.low.add_listed(np.concatenate([values, rest], axis=1).ravel(), found[0], count)
        if not vector:
            self.low.incoming(found, self.targets, numbers, parts_of(self.target_kinds), count)
            return
        values = np.zeros(int(self.targets.starts[-1]) * count * 2 * len(PARTS), self.traversal.real)
        self.low.incoming(found, self.targets, values, PARTS, count)
        numbers += from_sums(values, self.target_kinds, self.k)

    @property
    def below(self) -> tuple[str]:
        """The kind of charges and fields between plane waves and equivalent sources."""
        return ("electric",) if self.traversal.vector else ("value",)


def parts_of(kinds: Sequence[str]) -> NDArray[np.int64]:
    """The part that each component of scalars is: 0 for values, 1, 2, 3 for derivatives; equivalent sources know no
    others."""
    known = {"value": (0,), "mixed": (0,), "gradient": (1, 2, 3)}
    return np.array([n for kind in kinds for n in known[kind]])


class Found(NamedTuple):
    """The levels of a far field. pairs: separated boxes of all levels; degrees: of the levels with plane waves, by
    their numbers; cubes: those of the levels below them, which have equivalent sources, None without such levels;
    first: the number of the first of these."""

    pairs: list[Pairs]
    degrees: dict[int, Degrees]
    cubes: Cubes | None
    first: int

    def levels(
        self, tree: Octree, lists: Lists, k: complex, real: Any, vector: bool = False, green: Any = None
    ) -> tuple[Traversal, LowFrequency | None]:
        """The tables of all levels with plane waves, and those of the levels below them, None without.

        Raises MemoryError, before anything is allocated, if there is no room for the tables and for the patterns of one
        vector. k: wavenumber; real: type of numbers; vector: True for currents, whose patterns have two components;
        green: the Green's function of functions that are no waves, None for waves.
        """
        runs = tree.runs_of_levels()
        # real numbers of the tables and half-grid patterns, and of one level's patterns on the full grid
        numbers, widest, components = 0, 0, 2 if vector else 1
        for n, each in self.degrees.items():
            boxes = runs[n][1] - runs[n][0]
            full, half = 2 * Grid.of(each.full).pitch(real), Grid.of(each.half).pitch(real)
            # factors of the offsets that occur; patterns out and in, twice, which leaves a margin
            numbers += len(self.pairs[n].used) * full + 4 * components * boxes * half
            widest = max(widest, components * boxes * full)
        nbytes = (numbers + widest) * np.dtype(real).itemsize
        require_memory(
            nbytes, f"a sum by plane waves on {len(self.degrees)} levels", "increase rtol, or divide the problem"
        )
        low = LowFrequency.of(tree, lists, self.pairs, k, real, self.cubes, self.first, green) if self.cubes else None
        return Traversal(levels_of(tree, self.pairs, k, self.degrees, real), real, vector), low


def find_degrees(
    sampled: SampledLevels, k: complex, rtol: float, real: Any, derivatives: tuple[bool, bool], least: float = 0.0,
    once: bool = False, green: Any = None,
) -> Found | None:  # fmt: skip
    """Degrees of the levels with separated boxes, and of those between them and the leaves, that hold a tolerance; None
    where numbers cannot hold it. derivatives: of the kernel, at targets and at sources. Boxes with edges below `least`
    (in m) have equivalent sources; once: for a single product."""
    pairs, edges, found = sampled.pairs, sampled.edges, dict[int, Degrees | None]()
    search, cubes, lowest = Search(k, real, *derivatives, once, green), None, len(pairs)
    values = search._replace(inward=False, outward=False)
    # waves decay before they are received; errors of other functions are of one sign
    shares = rtol * np.exp(np.minimum(np.imag(k) * edges, 700.0)) if green is None else np.full(len(pairs), rtol / 6)
    # from the leaves up; up to the first level whose waves have decayed before they reach separated boxes
    levels = np.arange(len(pairs) - 1, sampled.first - 1, -1)
    levels = levels[np.logical_and.accumulate(shares[levels] < 1)]

    # small boxes: points of cubes, found by values; derivatives have the errors of nearby points
    for n in levels[edges[levels] < least].tolist():
        few, lowest = cubes.p if cubes else EDGE.least, n
        cubes = find_points(values, sampled.level(n), few, shares[n] * 0.7 ** sum(derivatives))
        if cubes is None:
            return None
    # degrees of each other level; boxes without separated ones give patterns to the level above, and get some from it
    waves = levels[edges[levels] >= least].tolist()

    def work(task: int) -> None:
        n = waves[task]
        if None in found.values():  # one level that does not hold the tolerance is enough
            return
        found[n] = search.degrees(sampled.level(n), shares[n])

    run_tasks(work, len(waves))
    # at least those of the level below
    degrees, below = dict[int, Degrees](), Degrees(1, 1)
    for n in waves:
        each = found.get(n)
        if each is None:
            return None
        degrees[n] = below = Degrees(max(each.half, below.half), max(each.full, below.half))
    return Found(pairs, degrees, cubes, lowest)
