"""Parts of an elastic product as small dense matrices: blocks of neighbouring unknowns, and sums between columns of
which each lives in few leaves, without products with whole vectors."""

import functools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends import InOrder, run_tasks, thread_count
from calderon.backends.numba import kernel
from calderon.backends.vectors import width
from calderon.fmm.elastic import ElasticProduct, Line
from calderon.fmm.elastic_moments import SUMS
from calderon.fmm.layout import Layout
from calderon.fmm.near import Near
from calderon.fmm.tables import Tables

Index = NDArray[np.int64]
TOGETHER = 4096
"""Columns of sources that are translated at a time."""
KEPT = 32
"""Combinations of harmonics, the first of a table, that far sums have: they are for approximate inverses."""
REAL = np.float32
"""Precision of far sums and blocks."""
ROWS = 8192
"""Of a sparse matrix that are taken apart at a time."""
SHARES = 16
"""Of the near blocks of a term, for each thread."""


def groups_of_leaves(layout: Layout, weights: Index, most: int) -> Index:
    """(leaves,) the group of each leaf: boxes, and neighbouring ones of one parent, whose weights (leaves,) are `most`
    together, or single leaves."""
    tree, leaves = layout.tree, layout.lists.leaves
    total = np.zeros(len(tree.level), np.int64)
    total[leaves] = weights
    for box in range(len(tree.level) - 1, 0, -1):
        total[tree.parent[box]] += total[box]
    number, group = np.full(len(tree.level), -1), 0
    number[0] = 0 if total[0] <= most or tree.leaf[0] else -1
    for each in np.flatnonzero((total > most) & ~tree.leaf):
        held = 0
        for child in tree.children[each]:
            if child < 0 or (total[child] > most and not tree.leaf[child]):
                held = 0
                continue
            if held == 0 or held + total[child] > most:
                group, held = group + 1, 0
            number[child], held = group, held + total[child]
    for box in range(1, len(tree.level)):
        if number[box] < 0:
            number[box] = number[tree.parent[box]]
    return np.unique(number[leaves], return_inverse=True)[1]


class Columns(NamedTuple):
    """Columns of a sparse matrix on the unknowns of lines: of each leaf the numbers of those that are not zero there,
    and of each line and leaf their values (unknowns, columns)."""

    numbers: list[Index]
    values: list[list[NDArray[Any]]]

    @staticmethod
    def of(lines: Sequence[Line], matrix: sp.csr_array, leaves: int, real: Any) -> "Columns":
        parts = [sp.csr_array(matrix[line.first + line.pieces.whole]) for line in lines]
        numbers, values = [], [[] for _ in lines]  # type: ignore[var-annotated]
        for i in range(leaves):
            bounds = [each.indptr[line.pieces.starts[i : i + 2]] for line, each in zip(lines, parts, strict=True)]
            found = [each.indices[low:high] for each, (low, high) in zip(parts, bounds, strict=True)]
            own, place = np.unique(np.concatenate(found), return_inverse=True)
            numbers.append(own.astype(np.int64))
            places = np.split(place, np.cumsum([len(each) for each in found])[:-1])
            for k, (line, part) in enumerate(zip(lines, parts, strict=True)):
                first, last = line.pieces.starts[i : i + 2]
                dense = np.zeros((last - first, len(own)), real)
                row = np.repeat(np.arange(last - first), np.diff(part.indptr[first : last + 1]))
                dense[row, places[k]] = part.data[bounds[k][0] : bounds[k][1]]
                values[k].append(dense)
        return Columns(numbers, values)


def block_sums(
    product: ElasticProduct, left: sp.csr_array, right: sp.csr_array, local: sp.csr_array, groups: Sequence[Index]
) -> list[NDArray[Any]]:
    """The blocks on the diagonal of left^T A right + local for groups of unknowns, no two of which have one in common,
    from neighbouring leaves."""
    owner, place = np.full(left.shape[1], -1), np.zeros(left.shape[1], np.int64)
    for number, each in enumerate(groups):
        owner[each], place[each] = number, np.arange(len(each))
    sizes = np.array([len(each) for each in groups])
    starts = np.append(0, np.cumsum(sizes**2))
    out = np.zeros(starts[-1], REAL)
    for low in range(0, local.shape[0], ROWS):
        given = local[low : low + ROWS].tocoo()
        i, j = given.coords[0] + low, given.coords[1]
        inside = (owner[i] == owner[j]) & (owner[i] >= 0)
        i, j = i[inside], j[inside]
        out[starts[owner[i]] + place[i] * sizes[owner[i]] + place[j]] = given.data[inside]
    parts = np.linspace(0, len(groups), thread_count() + 1).astype(np.int64)
    for term, near in zip(product.terms, product.near, strict=True):
        sides = list[sp.csr_array]()
        for lines, first, matrix in ((product.far.rows, term.top, left), (product.far.columns, term.left, right)):
            line = next(each for each in lines if each.first == first)
            whole: NDArray[Any] = line.pieces.whole
            if near.strips is not None and lines is product.far.columns:
                whole = near.strips.functions
            small = matrix.data.astype(REAL), matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
            sides.append(sp.csr_array(sp.csr_array(small, matrix.shape)[line.first + whole]))
        arrays = [each for one in sides for each in (one.indptr, one.indices, one.data)]

        def work(n: int, near: Near = near, arrays: list[Any] = arrays) -> None:
            seen = np.full(len(groups), -1)
            for number, (i, j) in enumerate(near.pairs.tolist()):
                block = near.block(number)
                given = [(block, near.row_starts[i], near.column_starts[j])]
                if near.symmetric and i != j:
                    given.append((np.ascontiguousarray(block.T), near.row_starts[j], near.column_starts[i]))
                for k, one in enumerate(given):
                    taken = 2 * number + k, *one, *arrays, owner, place, starts, sizes, seen, out
                    add_block_sums(*taken, parts[n], parts[n + 1])

        run_tasks(work, thread_count())
    return [out[low:high].reshape(n, n) for low, high, n in zip(starts[:-1], starts[1:], sizes, strict=True)]


@kernel
def add_block_sums(  # type: ignore[no-untyped-def]
    n, block, top, low, left_starts, left_columns, left_values, right_starts, right_columns, right_values, owner, place,
    starts, sizes, seen, out, least, most,
):  # fmt: skip
    """Add left^T B right to blocks with the same owner of row and column, least .. most; B, the block number n, has the
    rows from `top` and the columns from `low` on."""
    height, width = block.shape
    for m in range(right_starts[low], right_starts[low + width]):
        seen[owner[right_columns[m]]] = n
    for r in range(height):
        for a in range(left_starts[top + r], left_starts[top + r + 1]):
            p, mine = left_columns[a], owner[left_columns[a]]
            if mine < least or mine >= most or seen[mine] != n:
                continue
            row = starts[mine] + place[p] * sizes[mine]
            for c in range(width):
                for b in range(right_starts[low + c], right_starts[low + c + 1]):
                    if owner[right_columns[b]] == mine:
                        out[row + place[right_columns[b]]] += left_values[a] * block[r, c] * right_values[b]


def near_sums(product: ElasticProduct, left: Columns, right: Columns, matrix: sp.csr_array, sums: NDArray[Any]) -> None:
    """Add left^T A right of neighbouring leaves to a dense matrix; matrix: the same as right."""
    tops = {line.first: n for n, line in enumerate(product.far.rows)}
    lefts = {line.first: n for n, line in enumerate(product.far.columns)}
    for term, near in zip(product.terms, product.near, strict=True):
        tests, trials = left.values[tops[term.top]], right.values[lefts[term.left]]
        part = matrix[term.left : term.left + term.shape[1]]
        _add_near_sums(near, (left.numbers, tests), (right.numbers, trials), sp.csr_array(part), sums)


Side = tuple[list[Index], list[NDArray[Any]]]
"""Of each leaf the numbers of columns, and their values."""


def _add_near_sums(near: Near, left: Side, right: Side, whole: sp.csr_array, sums: NDArray[Any]) -> None:
    """Of one term; whole: the right columns on functions that are not cut."""
    (rows, tests), (columns, trials) = left, right
    bounds = np.linspace(0, len(near.pairs), SHARES * thread_count() + 1).astype(np.int64)

    def of_pair(number: int) -> Iterator[tuple[Any, NDArray[Any]]]:
        """Places, and what the block of a pair adds there."""
        (i, j), block = near.pairs[number].tolist(), near.block(number)
        if near.strips is not None:
            moved = whole[near.strips.functions[near.column_starts[j] : near.column_starts[j + 1]]]
            chosen = np.unique(moved.indices)
            yield (rows[i][:, None], chosen), (tests[i].T @ block) @ moved[:, chosen].toarray().astype(REAL)
            return
        yield (rows[i][:, None], columns[j]), tests[i].T @ (block @ trials[j])
        if near.symmetric and i != j:
            yield (rows[j][:, None], columns[i]), tests[j].T @ (block.T @ trials[i])

    def add(found: list[tuple[Any, NDArray[Any]]]) -> None:
        for place, values in found:
            sums[place] += values

    entered = InOrder(add)  # so that equal input gives equal bits

    def work(n: int) -> None:
        entered.add(n, [each for number in range(bounds[n], bounds[n + 1]) for each in of_pair(number)])

    run_tasks(work, len(bounds) - 1)


class Moments(NamedTuple):
    """Of each box the numbers of columns that are not zero there, and their moments (4, r, columns)."""

    numbers: list[Index]
    values: list[NDArray[Any]]

    @staticmethod
    def of(product: ElasticProduct, lines: Sequence[Line], columns: Columns) -> "Moments":
        layout, table = product.far.layout, product.far.table
        tree, rank = layout.tree, min(KEPT, table.rank)
        numbers, values = [np.zeros(0, np.int64)] * len(tree.level), [np.zeros((SUMS, rank, 0), REAL)] * len(tree.level)
        for i, box in enumerate(layout.lists.leaves):
            found: Any = 0
            for line, dense in zip(lines, columns.values, strict=True):
                own = line.of_leaf(i)[:, :, :rank]
                found = found + own.reshape(-1, SUMS * rank).T @ dense[i]
            numbers[box], values[box] = columns.numbers[i], np.asarray(found, REAL).reshape(SUMS, rank, -1)
        octant, up = tree.octant, table.up[:, :rank, :rank].astype(REAL).transpose(0, 2, 1)
        for low, high in reversed(tree.runs_of_levels()[2:]):
            for parent in np.unique(tree.parent[low:high]):
                children = [int(each) for each in tree.children[parent] if each >= 0]
                own, place = np.unique(np.concatenate([numbers[each] for each in children]), return_inverse=True)
                total = np.zeros((SUMS, rank, len(own)), REAL)
                places = np.split(place, np.cumsum([len(numbers[each]) for each in children])[:-1])
                for child, at in zip(children, places, strict=True):
                    total[:, :, at] += up[octant[child]] @ values[child]
                numbers[parent], values[parent] = own, total
        return Moments(numbers, values)

    def stacked(self) -> "Stacked":
        """Boxes with about as many columns together; these moments are no longer here."""
        count = np.array([len(each) for each in self.numbers])
        most = 6 * 2 ** np.ceil(np.log2(np.maximum(count, 1) / 6)).clip(0).astype(np.int64)
        found, place, none = {}, np.zeros(len(count), np.int64), np.zeros((0, 0, 0), REAL)
        for each in np.unique(most):
            boxes = np.flatnonzero(most == each)
            place[boxes] = np.arange(len(boxes))
            numbers = np.full((len(boxes), each), -1)
            values = np.zeros((len(boxes), *self.values[boxes[0]].shape[:2], each), self.values[boxes[0]].dtype)
            for k, box in enumerate(boxes):
                numbers[k, : count[box]], values[k, ..., : count[box]] = self.numbers[box], self.values[box]
                self.values[box] = none
            found[int(each)] = numbers, values
        return Stacked(most, place, found)


class Stacked(NamedTuple):
    """sizes, place (boxes,): which of `found` a box is in, and where; found: by size numbers (n, size), -1 for none,
    and moments (n, 4, r, size)."""

    sizes: Index
    place: Index
    found: dict[int, tuple[Index, NDArray[Any]]]


def factors_of(table: Tables, v: int) -> tuple[NDArray[Any] | None, NDArray[Any]]:
    """A, B with the matrix A B of a direction between the first combinations; None for a unit A."""
    rank, first, vectors, most = table.rank, int(table.starts[v]), int(table.vectors[v]), min(KEPT, table.rank)
    inner = vectors * width(table.numbers.dtype) if vectors else rank
    one = table.numbers[first : first + rank * inner].reshape(rank, inner)
    if not vectors:
        return None, one.T[:most, :most].astype(REAL)
    after = table.numbers[first + one.size : first + 2 * one.size].reshape(inner, rank).T
    return after[:most].astype(REAL), one.T[:, :most].astype(REAL)


def far_sums(product: ElasticProduct, left: Columns, right: Columns, sums: NDArray[Any]) -> None:
    """Add left^T A right of separated boxes to a dense matrix with a further row and column."""
    far = product.far
    pairs, edge = far.layout.lists.far, far.layout.tree.edge
    if not len(pairs.source):
        return
    sources, targets = (
        Moments.of(product, lines, columns).stacked() for lines, columns in ((far.columns, right), (far.rows, left))
    )
    direction = np.empty(len(pairs.source), np.int64)
    for v, begin, end in pairs.runs:
        direction[begin:end] = v
    key = (direction * 64 + np.log2(sources.sizes[pairs.source] / 6).astype(np.int64)) * 64
    key += np.log2(targets.sizes[pairs.target] / 6).astype(np.int64)
    order = np.argsort(key, kind="stable")
    parts = list[Index]()
    for run in np.split(order, np.flatnonzero(np.diff(key[order])) + 1):
        size = max(int(sources.sizes[pairs.source[run[0]]]), int(targets.sizes[pairs.target[run[0]]]))
        parts += np.array_split(run, -(-len(run) * size // TOGETHER))
    entered = InOrder(functools.partial(np.add.at, sums))  # so that equal input gives equal bits

    def work(number: int) -> None:
        part = parts[number]
        factors = factors_of(far.table, int(direction[part[0]]))
        found = _of_pairs(factors, (sources, pairs.source[part]), (targets, pairs.target[part]), edge)
        entered.add(number, *found)

    run_tasks(work, len(parts))


def _of_pairs(
    factors: tuple[NDArray[Any] | None, NDArray[Any]],
    source: tuple[Stacked, Index],
    target: tuple[Stacked, Index],
    edge: NDArray[np.float64],
) -> tuple[tuple[Index, Index], NDArray[Any]]:
    """Places and sums of the pairs of boxes with one direction and about as many columns."""
    (sources, s), (targets, t) = source, target
    columns, moments = (each[sources.place[s]] for each in sources.found[int(sources.sizes[s[0]])])
    rows, tests = (each[targets.place[t]] for each in targets.found[int(targets.sizes[t[0]])])
    after, before = factors
    given = before @ moments
    wanted = tests.transpose(0, 1, 3, 2) if after is None else tests.transpose(0, 1, 3, 2) @ after
    found = (wanted @ given).sum(axis=1) / edge[t, None, None].astype(REAL)
    return (rows[:, :, None], columns[:, None]), found
