"""Which boxes of an octree meet: directly, or by translation of their expansions."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import kernel
from calderon.pairs.grouping import grouped
from calderon.products.octree import DEEPEST, Octree

BLOCK = 128
"""Target boxes of a block, whose pairs are sorted by direction."""


def offsets(apart: int) -> NDArray[np.int64]:
    """(n, 3) from a source to a target box, in edges, whose parents are neighbours and which are not: centres of
    neighbours are at most `apart` edges away in each direction. offsets[::-1] are the opposite ones."""
    found: NDArray[np.int64] = np.indices(3 * [4 * apart + 3]).reshape(3, -1).T - 2 * apart - 1
    return found[np.abs(found).max(axis=1) > apart]


OFFSETS = offsets(1)
"""(316, 3) where neighbours touch."""


class Runs(NamedTuple):
    """Pairs of boxes in blocks, each of runs with one matrix: source, target (pairs,); runs (n, 3): matrix, first pair,
    one beyond the last; blocks (m + 1,): where the runs of each block begin."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    runs: NDArray[np.int64]
    blocks: NDArray[np.int64]

    @staticmethod
    def of(source: NDArray[Any], target: NDArray[Any], matrix: NDArray[Any], block: NDArray[Any],
           matrices: int) -> "Runs":  # fmt: skip
        """The runs of pairs whose matrices and blocks (pairs,) are counted from 0 on."""
        key = block * matrices + matrix
        starts, order = grouped(key, (int(block.max(initial=-1)) + 1) * matrices)
        return Runs.counted(source.take(order), target.take(order), np.diff(starts), matrices)

    @staticmethod
    def counted(source: NDArray[np.int64], target: NDArray[np.int64], each: NDArray[np.int64], matrices: int) -> "Runs":
        """From pairs in the order of blocks and matrices; each (blocks * matrices,): how many there are of both."""
        ends, found = np.cumsum(each), np.flatnonzero(each)
        runs = np.stack([found % matrices, ends[found] - each[found], ends[found]], axis=1)
        blocks = np.searchsorted(found // matrices, np.arange(len(each) // matrices + 1))
        return Runs(source, target, runs, blocks)

    def of_targets(self, low: int, high: int) -> "Runs":
        """The pairs with targets low up to, without, high alone; runs and blocks stay in number and order."""
        return self.of_pairs((self.target >= low) & (self.target < high))

    def to_boxes(self, chosen: NDArray[np.bool_]) -> "Runs":
        """The pairs whose targets are chosen boxes (boxes,), in the same runs."""
        return self.of_pairs(chosen[self.target])

    def of_pairs(self, kept: NDArray[np.bool_]) -> "Runs":
        """The pairs that are kept (pairs,), in the same runs."""
        places = np.append(0, np.cumsum(kept))
        runs = np.column_stack([self.runs[:, 0], places[self.runs[:, 1:]]])
        return Runs(self.source[kept], self.target[kept], runs, self.blocks)


class Lists(NamedTuple):
    """leaves (n,): boxes without children, in Morton order. near (pairs,): the numbers of source leaves of each target
    leaf, from near_start (n + 1,) on: neighbours, and on the side of a larger neighbour all leaves in its smaller ones.
    far: translations from box to box of the parents' neighbours."""

    leaves: NDArray[np.int64]
    near_start: NDArray[np.int64]
    near: NDArray[np.int64]
    far: Runs

    def near_sum(self, targets: NDArray[np.integer], sources: NDArray[np.integer]) -> int:
        """The sum over near pairs of the products of numbers (n,) of their target and of their source leaf."""
        return int(sum_of_pairs(self.near_start, self.near, targets, sources))

    @property
    def near_pairs(self) -> NDArray[np.int64]:
        """(pairs, 2) target and source leaf."""
        return np.stack([np.repeat(np.arange(len(self.leaves)), np.diff(self.near_start)), self.near], axis=1)


def lists_of(tree: Octree, apart: int = 1) -> Lists:
    """The lists of a tree; neighbours are boxes of one level that are at most so many edges apart."""
    boxes, key = len(tree.level), tree.first_key
    leaves = np.flatnonzero(tree.leaf)
    leaves = leaves[np.argsort(key[leaves], kind="stable")]
    ends = key + 8 ** (DEEPEST - tree.level.astype(np.int64))
    within = np.stack([np.searchsorted(key[leaves], each) for each in (key, ends)], axis=1)
    neighbours = neighbours_of(tree, apart)
    holds = np.stack([np.diff(each)[:, 0] > 0 for each in (tree.sources, tree.targets)], axis=1)
    start = np.zeros(len(leaves) + 1, np.int64)
    none = np.zeros(0, np.int64)
    near_lists(leaves, within, neighbours, holds, start, none)
    start = np.cumsum(start)
    near = np.empty(int(start[-1]), np.int64)
    near_lists(leaves, within, neighbours, holds, start[:-1].copy(), near)
    directions = offsets(apart)
    each = np.zeros(-(-boxes // BLOCK) * len(directions), np.int64)
    family = tree.parent, tree.children, tree.position, neighbours, holds, numbers_of(directions), len(directions)
    far_lists(*family, each, none, none)
    source, target = np.empty((2, int(each.sum())), np.int64)
    far_lists(*family, np.cumsum(each) - each, source, target)
    return Lists(leaves, start, near, Runs.counted(source, target, each, len(directions)))


def neighbours_of(tree: Octree, apart: int, half: bool = False) -> NDArray[np.int32]:
    """(boxes, n) the neighbours of each box, with itself, ended by -1; by half those alone that do not come before."""
    neighbours = np.empty((len(tree.level), (2 * apart + 1) ** 3), np.int32)
    find_neighbours(tree.parent, tree.children, tree.position, apart, half, neighbours)
    return neighbours


def pair_counts(tree: Octree, apart: int = 1) -> tuple[int, NDArray[np.int64]]:
    """How many pairs of a target and a source are in neighbouring leaves, and on each level how many pairs of boxes are
    translated: what the lists of a tree would have, for those who compare trees."""
    return counts_of_runs(tree, neighbours_of(tree, apart, True), tree.sources, tree.targets)


def counts_of_runs(
    tree: Octree, neighbours: NDArray[np.int32], sources: NDArray[np.int64], targets: NDArray[np.int64]
) -> tuple[int, NDArray[np.int64]]:
    """The numbers of `pair_counts` for some of the points: runs (boxes, 2) are as long as each box has points.
    neighbours: of each box those that do not come before it."""
    far = np.zeros(int(tree.level[-1]) + 1, np.int64)
    return int(count_pairs(tree.parent, tree.level, neighbours, sources, targets, far)), far


def numbers_of(directions: NDArray[np.int64]) -> NDArray[np.int64]:
    """(n, n, n) which of the directions an offset is, by its three coordinates from the lowest one on."""
    most = int(directions.max())
    numbers = np.full(3 * [2 * most + 1], -1)
    numbers[tuple((directions + most).T)] = np.arange(len(directions))
    return numbers


@kernel
def find_neighbours(parent, children, position, apart, half, neighbours):
    """Write the neighbours of each box, with itself, from those of its parent, to neighbours (boxes, n), ended by -1.

    parent (boxes,), children (boxes, 8): in the tree, -1 for none; position (boxes, 3): integers, on the level of each;
    apart: edges between neighbours, at most; half: see `neighbours_of`.
    """
    neighbours[0, 0], most = 0, neighbours.shape[1]
    neighbours[0, 1:] = -1
    # children, as bits, that lie near a child, for each distance of the parents along an axis
    near = np.zeros((3, 2 * apart + 1, 2), np.int64)
    for axis in range(3):
        for step in range(-apart, apart + 1):
            for octant in range(8):
                for own in range(2):
                    if abs(2 * step + ((octant >> (2 - axis)) & 1) - own) <= apart:
                        near[axis, step + apart, own] |= 1 << octant
    for b in range(1, len(parent)):
        count, p, least = 0, parent[b], b if half else 0
        x, y, z = position[b, 0], position[b, 1], position[b, 2]
        for n in neighbours[p]:
            if n < 0:
                break
            bits = near[0, position[n, 0] - (x >> 1) + apart, x & 1]
            bits &= near[1, position[n, 1] - (y >> 1) + apart, y & 1]
            bits &= near[2, position[n, 2] - (z >> 1) + apart, z & 1]
            if bits == 0:
                continue
            for octant in range(8):
                c = children[n, octant]
                if (bits >> octant) & 1 and c >= least:
                    neighbours[b, count] = c
                    count += 1
        if count < most:
            neighbours[b, count] = -1


@kernel
def count_pairs(parent, level, neighbours, sources, targets, far):
    """The numbers of `pair_counts`, of which those of the levels are added to far (levels,). parent: as in
    `find_neighbours`; level (boxes,); neighbours (boxes, m): of each box those that do not come before it, ended by -1;
    sources, targets (boxes, 2): runs of a tree."""
    near = np.int64(0)
    # whether boxes have children, and how many of these have sources, and targets
    divided, holding = np.zeros(len(parent), np.bool_), np.zeros((len(parent), 2), np.int64)
    for b in range(1, len(parent)):
        divided[parent[b]] = True
        holding[parent[b], 0] += sources[b, 1] > sources[b, 0]
        holding[parent[b], 1] += targets[b, 1] > targets[b, 0]
    for b in range(len(parent)):
        s, t = sources[b, 1] - sources[b, 0], targets[b, 1] - targets[b, 0]
        for n in neighbours[b]:
            if n < 0:
                break
            # both orders of a pair, of a box and itself one; smaller leaves in a neighbour are near to a leaf, too
            others, theirs, has_two = sources[n, 1] - sources[n, 0], targets[n, 1] - targets[n, 0], n > b
            if not (divided[b] and divided[n]):
                near += t * others + has_two * s * theirs
            # children of neighbours are far from each other unless they are neighbours
            if divided[b] and divided[n]:
                far[level[b] + 1] += holding[b, 1] * holding[n, 0] + has_two * holding[n, 1] * holding[b, 0]
            if b > 0:
                far[level[b]] -= (t > 0 and others > 0) + (has_two and s > 0 and theirs > 0)
    return near


@kernel
def near_lists(leaves, within, neighbours, holds, place, near):
    """Write source leaves to near[place[leaf]], which is advanced; where near is empty, count them in place[leaf + 1].

    leaves (n,): their boxes; within (boxes, 2): the leaves in each box, the first and one beyond the last; neighbours
    (boxes, m): of each box, ended by -1; holds (boxes, 2): whether a box has sources, and targets.
    """
    counts = len(near) == 0
    for b in range(len(leaves)):
        box = leaves[b]
        for n in neighbours[box]:
            if n < 0:
                break
            for e in range(within[n, 0], within[n, 1]):
                other = leaves[e]
                for turn in range(1 if within[n, 1] - within[n, 0] == 1 and other == n else 2):
                    target, source = (b, e) if turn == 0 else (e, b)
                    if holds[leaves[target], 1] and holds[leaves[source], 0]:
                        if counts:
                            place[target + 1] += 1
                        else:
                            near[place[target]] = source
                            place[target] += 1


@kernel
def sum_of_pairs(start, near, targets, sources):
    """The sum of targets[t] sources[s] over the sources s = near[start[t]] up to, without, near[start[t + 1]]."""
    total = np.int64(0)
    for t in range(len(start) - 1):
        own = np.int64(0)
        for n in range(start[t], start[t + 1]):
            own += sources[near[n]]
        total += targets[t] * own
    return total


@kernel
def far_lists(parent, children, position, neighbours, holds, numbers, matrices, place, source, target):
    """Write pairs of boxes with children of the neighbours of their parents that are no neighbours, in the order of
    blocks of targets and of matrices, at place[block * matrices + matrix], which is advanced.

    source, target (pairs,): are written; where they are empty, pairs are counted in place. parent, children, position:
    as in `find_neighbours`; neighbours, holds: as in `near_lists`; numbers: see `numbers_of`; matrices: how many there
    are.
    """
    counts, most = len(source) == 0, numbers.shape[0] // 2
    for b in range(1, len(parent)):
        if not holds[b, 1]:
            continue
        # children of the parent's neighbours, by their offset from the box
        first, x, y, z = b // BLOCK * matrices, position[b, 0] + most, position[b, 1] + most, position[b, 2] + most
        for n in neighbours[parent[b]]:
            if n < 0:
                break
            for c in children[n]:
                if c < 0 or not holds[c, 0]:
                    continue
                matrix = numbers[x - position[c, 0], y - position[c, 1], z - position[c, 2]]
                if matrix >= 0:
                    key = first + matrix
                    if not counts:
                        source[place[key]], target[place[key]] = c, b
                    place[key] += 1


def leaves_of_boxes(tree: Octree, lists: Lists, low: int, high: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first leaf in each of the boxes low up to, without, high, and one beyond the last."""
    key = tree.first_key
    ends = key[low:high] + 8 ** (DEEPEST - tree.level[low:high].astype(np.int64))
    first, last = (np.searchsorted(key[lists.leaves], each) for each in (key[low:high], ends))
    return first, last
