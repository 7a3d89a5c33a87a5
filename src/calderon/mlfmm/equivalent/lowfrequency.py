"""Levels whose boxes carry equivalent sources on cubes (cubes.py), below those with plane waves.

All translations between boxes are dense matrices. An offset is a turned one of 16, and so is each of the eight children
of a box, and the matrix of a turned offset takes the same points in another order: a level has at most 16 matrices,
which stay in the cache.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends.threads import in_parts
from calderon.backends.vectors import aligned, width
from calderon.mlfmm.equivalent.cube_kernels import TOGETHER, Form, multiply, receiving_kernel, sending_kernel
from calderon.mlfmm.equivalent.cubes import TURNS, Cubes, Factors, potentials, standing
from calderon.mlfmm.levels import Level, Pairs
from calderon.mlfmm.points import Panels, Points, over_leaves
from calderon.mlfmm.spectrum import Array, flat
from calderon.products.lists import Lists, Runs
from calderon.products.octree import Octree


@dataclass(frozen=True, eq=False)
class CubeLevel:
    """Boxes low up to, without, high of the tree. pairs: of separated boxes, with `across`; up and down: between these
    boxes and those of the level above, None for the first one, with matrices `raised` and `lowered`; out, into: factors
    of both systems. small, large: points of the cubes, rows x, y, z of `pitch` numbers, relative to the centre of a
    box. receiving: as in `Level`."""

    low: int
    high: int
    edge: float
    small: NDArray[Any]
    large: NDArray[Any]
    octant: NDArray[np.int64]
    pairs: Runs
    own: Runs
    up: Runs | None
    down: Runs | None
    across: NDArray[Any]
    raised: NDArray[Any]
    lowered: NDArray[Any]
    out: tuple[NDArray[Any], NDArray[Any]]
    into: tuple[NDArray[Any], NDArray[Any]]
    receiving: tuple[int, int]

    def part(self, receiving: tuple[int, int]) -> "CubeLevel":
        """The level with fields in some boxes alone, for devices."""
        down = None if self.down is None else self.down.of_targets(*receiving)
        return replace(self, pairs=self.pairs.of_targets(*receiving), down=down, receiving=receiving)

    @property
    def count(self) -> int:
        """Boxes."""
        return self.high - self.low

    def nbytes(self, columns: int) -> int:
        """Bytes of matrices and lists, and of the sources of both directions for `columns` vectors."""
        lists = [each for runs in (self.pairs, self.own, self.up, self.down) if runs is not None for each in runs]
        own = (*lists, self.across, self.raised, self.lowered, *self.out, *self.into)
        return sum(each.nbytes for each in own) + self.sources * columns * self.small.itemsize

    @property
    def sources(self) -> int:
        """Numbers of the sources of each column, in both directions and before and after they are solved for."""
        low, high = self.receiving
        return 2 * (self.count + high - low) * 2 * (len(self.small) // 3)


@dataclass(frozen=True, eq=False)
class LowFrequency:
    """The levels with cubes, the coarsest first: sources of boxes from points, passes, and fields at points."""

    k: complex
    real: np.dtype[Any]
    cubes: Cubes
    pitch: int
    levels: list[CubeLevel]
    lists: Lists
    green: Any = None

    @staticmethod
    def of(
        tree: Octree,
        lists: Lists,
        pairs: list[Pairs],
        k: complex,
        real: Any,
        cubes: Cubes,
        first: int,
        green: Any = None,
    ) -> "LowFrequency":
        """first: number of the coarsest level."""
        real = np.dtype(real)
        pitch = -(-cubes.size // width(real)) * width(real)
        runs = tree.runs_of_levels()
        levels = [
            _level(tree, n, runs, pairs[n], k, cubes, pitch, real, n == first, green) for n in range(first, len(runs))
        ]
        return LowFrequency(k, real, cubes, pitch, levels, lists, green)

    def nbytes(self, columns: int) -> int:
        """Bytes of all levels with `columns` vectors, and of the turned cubes."""
        return sum(each.nbytes(columns) for each in self.levels) + self.cubes.turned.nbytes

    def outgoing(self, points: Panels | Points, numbers: NDArray[Any], parts: NDArray[np.int64], columns: int) -> Any:
        """Sources on the smaller cubes of the boxes of each level, from charges and dipoles at points."""
        found = [aligned(each.count * columns * 2 * self.pitch, self.real) for each in self.levels]
        for n in range(len(self.levels) - 1, -1, -1):
            level = self.levels[n]
            self._points(level, level.large, points, numbers, parts, columns, found[n], True)
            found[n] = self._solved(level, level.out, found[n], columns)
            if level.up is not None:
                self._multiply(level.raised, level.up, found[n], found[n - 1], columns)
        return found

    def below(self, level: Level, boxes: tuple[int, int] | None = None) -> tuple[Points, NDArray[np.int64]]:
        """Points of the smaller cubes of the first level relative to the centres of their parents, in their order, for
        each box of `level`, with plane waves; and which boxes have some. boxes: a run of the first level."""
        first, (low, high) = self.levels[0], boxes or (0, self.levels[0].count)
        octant = np.array(np.unravel_index(first.octant[low:high], (2, 2, 2))).T - 0.5
        local = (octant[:, None] * first.edge + self.cubes.small(first.edge)).reshape(-1, 3)
        children = np.clip(level.children, low, high) - low
        points = Points.of(local, children * self.cubes.size, np.zeros((level.count, 3)), self.real)
        return points, np.flatnonzero(np.diff(children))

    def listed(self, x: NDArray[Any], columns: int) -> NDArray[Any]:
        """Numbers of boxes as those of points (point, column, part)."""
        boxes = x.reshape(-1, columns, 2, self.pitch)[..., : self.cubes.size]
        return np.ascontiguousarray(boxes.transpose(0, 3, 1, 2)).ravel()

    def add_listed(self, values: NDArray[Any], x: NDArray[Any], columns: int) -> None:
        """The other way: potentials of plane waves."""
        boxes = values.reshape(-1, self.cubes.size, columns, 2).transpose(0, 2, 3, 1)
        x.reshape(-1, columns, 2, self.pitch)[..., : self.cubes.size] += self.real.type(4 * np.pi) * boxes

    def across(self, sources: list[NDArray[Any]], columns: int) -> list[NDArray[Any]]:
        """Potentials on the smaller cubes from the sources of separated boxes."""
        found = [np.zeros_like(each) for each in sources]
        for level, x, y in zip(self.levels, sources, found, strict=True):
            self._multiply(level.across, level.pairs, x, y, columns)
        return found

    def incoming(
        self,
        given: list[NDArray[Any]],
        points: Panels | Points,
        numbers: NDArray[Any],
        parts: NDArray[np.int64],
        columns: int,
    ) -> None:
        """Values and gradients at points from potentials on the smaller cubes of each level."""
        above: Any = None
        for level, y in zip(self.levels, given, strict=True):
            if level.down is not None:
                self._multiply(level.lowered, level.down, above, y, columns)
            above = self._solved(level, level.into, y, columns)
            self._points(level, level.large, points, numbers, parts, columns, above, False)

    def _solved(self, level: CubeLevel, factors: Any, x: NDArray[Any], columns: int) -> NDArray[Any]:
        """The sources on one cube of each box that have the potentials x on the other cube, by both factors."""
        for each in factors:
            y = np.zeros_like(x)
            self._multiply(each, level.own, x, y, columns)
            x = y
        return x

    def _multiply(
        self, matrices: NDArray[Any], pairs: Runs, x: NDArray[Any], y: NDArray[Any], columns: int
    ) -> None:  # fmt: skip
        """Add to y the products of matrices with the sources x, for all pairs (target, source, matrix, turn)."""
        size, pitch, turned = self.cubes.size, self.pitch, self.cubes.turned
        places = np.arange(3 * TOGETHER)

        def work(low: int, high: int) -> None:
            room, out = aligned(3 * TOGETHER * size, self.real), aligned(3 * TOGETHER * pitch, self.real)
            multiply(matrices, size, pitch, turned, x, y, pairs.source, pairs.target, columns, pairs.runs, pairs.blocks,
                     room, out, places, places, low, high)  # fmt: skip

        in_parts(work, len(pairs.blocks) - 1)

    def _points(
        self, level: CubeLevel, cube: NDArray[Any], points: Panels | Points, numbers: NDArray[Any],
        parts: NDArray[np.int64],
        columns: int, x: NDArray[Any], outward: bool,
    ) -> None:  # fmt: skip
        """Potentials of charges on cubes, or fields of sources there."""
        leaves = np.flatnonzero((self.lists.leaves >= level.low) & (self.lists.leaves < level.high))
        boxes = self.lists.leaves[leaves] - level.low
        derivatives = "mixed" if points.is_mixed else "gradient" if parts.any() else ""
        run = (sending_kernel if outward else receiving_kernel)(
            derivatives, self.green is None and self.k.imag > 0, Form.of(self.green)
        )
        mix = points.mix.view(float).astype(self.real)
        arguments = (
            mix, points.starts, numbers, parts, cube, self.pitch,
            *numbers_of(self.k, self.green, self.real), leaves, boxes, x, columns,
            self.real.type(1 / (4 * np.pi)),
        )  # fmt: skip
        room = 8 * self.pitch
        over_leaves(points, leaves, lambda *own: run(*own[:3], *arguments, aligned(room, self.real), *own[3:]))


def _level(
    tree: Octree, number: int, runs: list[tuple[int, int]], pairs: Pairs, k: complex, cubes: Cubes, pitch: int,
    real: Any, first: bool, green: Any,
) -> CubeLevel:  # fmt: skip
    """The tables of level `number`, whose boxes are runs[number] in the tree; pairs: separated boxes; pitch: numbers of
    the points of a cube, padded to vectors; first: whether it is the first level with cubes."""
    low, high = runs[number]
    edge, count, pad = 0.5**number * tree.cube.edge, high - low, (0, pitch - cubes.size)

    def points(places: Array) -> NDArray[Any]:
        return flat(np.pad(places.T, ((0, 0), pad), mode="edge"), real)

    def tables(matrices: Any) -> NDArray[Any]:
        """Transposed Re, Im and Re + Im of each matrix, padded to vectors: the tables that `multiply` reads."""
        columns = np.array([np.concatenate([a.real.T, a.imag.T, a.real.T + a.imag.T]) for a in matrices])
        return flat(np.pad(columns, ((0, 0), (0, 0), pad)), real)

    def factors(each: Factors) -> tuple[NDArray[Any], NDArray[Any]]:
        return tables([each.first]), tables([each.last])

    # few matrices across, turned for all offsets of separated boxes
    small, large = cubes.small(edge), cubes.large(edge)
    few, which, turn = standing(pairs.used) if len(pairs.used) else (np.zeros((0, 3)), *np.zeros((2, 0), np.int64))
    target = np.repeat(np.arange(count), np.diff(pairs.first))
    # one matrix up and one down, turned for the other seven children
    octant = np.array(np.unravel_index(tree.octant[low:high], (2, 2, 2))).T * 2 - 1
    turns = standing(octant)[2]
    every = np.arange(count)
    up = down = None
    raised = lowered = flat(np.zeros(0), real)
    if not first:
        above = runs[number - 1][1] - runs[number - 1][0]
        parent = (tree.parent[low:high] - runs[number - 1][0]).astype(np.int64)
        up, down = _runs(every, parent, turns, above), _runs(parent, every, turns, count)
        shift = np.full(3, edge / 2)  # to the child in the corner of which all others are turned ones
        raised = tables([potentials(cubes.large(2 * edge), small + shift, k, real, green)])
        lowered = tables([potentials(small + shift, cubes.large(2 * edge), k, real, green)])
    return CubeLevel(
        low, high, edge, points(small), points(large), tree.octant[low:high],
        _runs(pairs.source, target, turn[pairs.offset], count, which[pairs.offset], len(few)),
        _runs(every, every, np.zeros(count, np.int64), count), up, down,
        tables([potentials(small + each * edge, small, k, real, green) for each in few]) if len(few) else raised,
        raised, lowered,
        factors(cubes.solving(k, edge, real, True, green)), factors(cubes.solving(k, edge, real, False, green)),
        (0, count),
    )  # fmt: skip


def numbers_of(k: complex, green: Any, real: np.dtype[Any]) -> tuple[Any, Any]:
    """The numbers that kernels read: k and Im k / Re k of waves, the parameters of another Green's function and 0."""
    if green is None:
        return real.type(k.real), real.type(k.imag / k.real)
    return np.array(green.parameters, real), real.type(0)


def _runs(
    source: NDArray[np.int64], target: NDArray[np.int64], turn: NDArray[np.int64], targets: int,
    matrix: NDArray[np.int64] | None = None, matrices: int = 1,
) -> Runs:  # fmt: skip
    """Pairs with turned matrices, in blocks of targets."""
    own = np.zeros(len(source), np.int64) if matrix is None else matrix
    size = max(1, min(256, -(-targets // 24)))  # targets of a block: 24 blocks at least, for the threads
    return Runs.of(source * len(TURNS) + turn, target, own, target // size, max(1, matrices))
