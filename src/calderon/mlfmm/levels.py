"""Levels of an octree with their plane waves, and what one product takes through them."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import thread_count
from calderon.backends.threads import in_parts
from calderon.backends.vectors import aligned, width
from calderon.mlfmm.passes import expand, l2l, m2l, m2m
from calderon.mlfmm.spectrum import Grid, Interpolation, flat
from calderon.mlfmm.translation import translators
from calderon.pairs.grouping import grouped
from calderon.products.lists import OFFSETS, Lists
from calderon.products.octree import Octree


class Pairs(NamedTuple):
    """Separated boxes of a level, counted from its first box: those of target b from first[b] to first[b + 1], and
    which of the used offsets (n, 3), in edges, lies between them."""

    first: NDArray[np.int64]
    source: NDArray[np.int64]
    offset: NDArray[np.int64]
    used: NDArray[np.int64]


def pairs_of_levels(tree: Octree, lists: Lists) -> list[Pairs]:
    """The pairs of all levels, from the root on."""
    far = lists.far
    matrix = np.repeat(far.runs[:, 0], far.runs[:, 2] - far.runs[:, 1])
    # pairs in the order of their targets
    starts, order = grouped(far.target, len(tree.level))
    source, matrix = far.source[order], matrix[order]
    found = []
    for low, high in tree.runs_of_levels():
        first = starts[low : high + 1]
        own = slice(first[0], first[-1])
        is_used = np.bincount(matrix[own], minlength=len(OFFSETS)) > 0
        offset = (np.cumsum(is_used) - 1)[matrix[own]]
        found.append(Pairs(first - first[0], source[own] - low, offset, OFFSETS[is_used]))
    return found


class Degrees(NamedTuple):
    """Degrees of the stored patterns of a level, and of its translations."""

    half: int
    full: int


@dataclass(frozen=True, eq=False)
class Level:
    """A level with plane waves: boxes low up to, without, high of the tree, all numbers of boxes counted from `low`.

    children (boxes + 1,): where those of each box begin on the next level, octant: which of the children of its parent
    each box is. widen: from the stored patterns to the full grid; lift: to those of the level above, None for the
    first; shifts (8, 2, pitch of that) from a box to its parent. receiving: the run of boxes with incoming patterns,
    all of them but in parts for devices.
    """

    k: complex
    low: int
    high: int
    edge: float
    half: Grid
    full: Grid
    pairs: Pairs
    children: NDArray[np.int64]
    octant: NDArray[np.int64]
    widen: Interpolation
    lift: Interpolation | None
    shifts: NDArray[Any]
    factors: NDArray[Any]
    receiving: tuple[int, int]

    def part(self, receiving: tuple[int, int]) -> "Level":
        """The level with incoming patterns of some boxes alone, for devices."""
        # pairs of these targets, counted from the first one
        first, source, offset, used = self.pairs
        low, high = first[list(receiving)].tolist()
        pairs = Pairs(np.clip(first, low, high) - low, source[low:high], offset[low:high], used)
        return replace(self, pairs=pairs, receiving=receiving)

    @property
    def count(self) -> int:
        """Boxes."""
        return self.high - self.low

    def nbytes(self, columns: int, integer: int = 8) -> int:
        """Bytes of factors, matrices, lists, and of outgoing and incoming patterns; integer: bytes of an integer, 4 on
        devices."""
        lists = integer * sum(each.size for each in (*self.pairs, self.children, self.octant))
        matrices = self.shifts.nbytes + self.factors.nbytes + self.widen.nbytes + (self.lift.nbytes if self.lift else 0)
        return lists + matrices + (self.patterns + self.incoming) * columns * self.factors.itemsize

    @property
    def patterns(self) -> int:
        """Numbers of one pattern of each box."""
        return self.count * 2 * self.half.pitch(self.factors.dtype)

    @property
    def incoming(self) -> int:
        """Numbers of one incoming pattern of each box that has some."""
        return (self.receiving[1] - self.receiving[0]) * 2 * self.half.pitch(self.factors.dtype)


def levels_of(
    tree: Octree, pairs: list[Pairs], k: complex, degrees: dict[int, Degrees], real: Any
) -> list[Level]:  # fmt: skip
    """The levels with these degrees, the coarsest first: one without separated boxes needs no patterns."""
    runs, found = tree.runs_of_levels(), list[Level]()
    for number, (low, high) in enumerate(runs):
        if number not in degrees:
            continue
        below = runs[number + 1] if number + 1 < len(runs) else (high, high)
        children = low + np.searchsorted(tree.parent[slice(*below)], np.arange(low, high + 1)) - low
        edge = 0.5**number * tree.cube.edge
        half, full = Grid.of(degrees[number].half), Grid.of(degrees[number].full)
        above = found[-1].half if found else None
        octants = np.array(np.unravel_index(np.arange(8), (2, 2, 2))).T
        shifts = np.zeros((8, 2, 0))
        if above is not None:
            phase = np.exp(-1j * k * ((octants - 0.5) * edge) @ above.directions)
            shifts = np.zeros((8, 2, above.pitch(real)))
            shifts[:, 0, : above.count], shifts[:, 1, : above.count] = phase.real, phase.imag
        found.append(Level(
            k, low, high, edge, half, full, pairs[number], children, tree.octant[low:high],
            Interpolation.of(half, full, real), Interpolation.of(half, above, real) if above else None,
            flat(shifts, real), translators(k, pairs[number].used * edge, full, real),
            (0, high - low),
        ))  # fmt: skip
    return found


Patterns = list[NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Traversal:
    """Incoming patterns from outgoing ones. vector: whether they are components along unit vectors of theta and phi,
    two for each column."""

    levels: list[Level]
    real: np.dtype[Any]
    vector: bool = False

    @property
    def spectra(self) -> int:
        """Patterns of a column."""
        return 2 if self.vector else 1

    def empty(self, columns: int) -> Patterns:
        """Zero patterns (boxes, columns, spectra, part, pitch) of all levels."""
        return [aligned(each.patterns * columns * self.spectra + width(self.real), self.real) for each in self.levels]

    def _spare(self, grid: Grid) -> NDArray[Any]:
        """Room for a pattern, and what vectors write behind it."""
        return aligned(2 * grid.pitch(self.real) + 2 * width(self.real), self.real)

    def m2m(self, outgoing: Patterns, columns: int) -> None:
        """M2M: outgoing patterns of parents from those of their children, level by level from the leaves up."""
        for n in range(len(self.levels) - 1, 0, -1):
            self._between(n, outgoing, columns * self.spectra, upward=True)

    def l2l(self, incoming: Patterns, columns: int) -> None:
        """L2L: add the incoming patterns of parents to those of their children, level by level from the root down."""
        for n in range(1, len(self.levels)):
            self._between(n, incoming, columns * self.spectra, upward=False)

    def m2l(self, outgoing: Patterns, incoming: Patterns, columns: int) -> None:
        """Add the outgoing patterns of separated boxes to incoming ones, level by level, some columns at a time."""
        together = 8  # patterns of a box on the full grid: of fewer, threads are started too often
        count, chosen = columns * self.spectra, [n for n, each in enumerate(self.levels) if len(each.pairs.source)]
        largest = max((self.levels[n].count * self.levels[n].full.pitch(self.real) for n in chosen), default=0)
        full = aligned(2 * min(count, together) * largest, self.real)
        for n in chosen:
            for first in range(0, count, together):
                self._across(
                    self.levels[n], outgoing[n], incoming[n], full, (first, min(first + together, count), count)
                )

    def _between(self, n: int, x: Patterns, count: int, upward: bool) -> None:
        """M2M from level n to its parents, or L2L from these to level n."""
        level, above, lift = self.levels[n], self.levels[n - 1], self.levels[n].lift
        assert lift is not None
        # patterns that are given and those that are wanted, with matrices that way
        sides = [(x[n], level.half.pitch(self.real)), (x[n - 1], above.half.pitch(self.real))]
        given, wanted = sides if upward else sides[::-1]
        run, theta, phi = (m2m, lift.theta, lift.phi) if upward else (l2l, lift.theta_back, lift.phi_back)
        tables = above.children, level.octant, count, self.vector, tuple(lift.sizes), theta, phi, level.shifts

        def work(low: int, high: int) -> None:
            run(*given, *wanted, *tables, lift.room(self.real), self._spare(above.half), low, high)

        in_parts(work, above.count)

    def _across(
        self, level: Level, x: NDArray[Any], y: NDArray[Any], full: NDArray[Any], some: tuple[int, int, int]
    ) -> None:
        """Add the outgoing patterns x of separated boxes to incoming ones y; some: columns of these, from the first one
        to before the second, of so many; full: room for their patterns on the full grid."""
        widen, pairs, half, pitch = level.widen, level.pairs, level.half.pitch(self.real), level.full.pitch(self.real)
        sizes, size = tuple(widen.sizes), 2 * (some[1] - some[0]) * pitch
        # boxes of a task, whose sums over pairs take half of a second-level cache, about
        most = max(1, min(64, 512_000 // (size * self.real.itemsize), level.count // (4 * thread_count())))

        def widened(low: int, high: int) -> None:
            expand(x, half, full, pitch, level.count, *some, self.vector, sizes, widen.theta, widen.phi,
                   widen.room(self.real), self._spare(level.full), low, high)  # fmt: skip

        def translated(low: int, high: int) -> None:
            sums, room, spare = aligned(most * size, self.real), widen.room(self.real), self._spare(level.full)
            for begin in range(low, high, most):
                m2l(
                    full, level.count, level.factors, len(pairs.used), pairs.first, pairs.source, pairs.offset, *some,
                    self.vector, y, half, pitch, sizes, widen.theta_back, widen.phi_back, room, spare, sums, begin,
                    min(begin + most, high),
                )  # fmt: skip

        in_parts(widened, level.count)
        in_parts(translated, level.count)
