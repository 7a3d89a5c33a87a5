"""Sums between columns from the moments of boxes that are not neighbours."""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends import InOrder, run_tasks
from calderon.backends.numba import kernel
from calderon.backends.register_tiles import add_products
from calderon.backends.threads import in_parts
from calderon.backends.vector_loads import total
from calderon.backends.vectors import aligned, lanes, load, store, width, zero
from calderon.fmm.moment_store import first_of_run, run_at
from calderon.fmm.p2m_l2p import SUMS
from calderon.fmm.product import Line, MultipoleProduct
from calderon.fmm.tables import Tables
from calderon.formulations.elastic.coarse.columns import REAL, Index, LeafColumns
from calderon.products.octree import Octree
from calderon.products.packed import PER_EXPONENT

KEPT = 32
"""The number of combinations of harmonics, the first of a table, that far sums have: they are for approximate
inverses."""
TASKS = 192
"""Tasks of the sums, which are added up in their order."""


class Moments(NamedTuple):
    """The moments of columns in all boxes that have separated ones.

    spans (boxes, 2): first and last of the numbers of each box. numbers: columns that are not zero there. values: for
    each of these SUMS vectors of moments, one after the other.
    """

    spans: Index
    numbers: NDArray[np.int32]
    values: NDArray[np.float32]

    @staticmethod
    def of(product: MultipoleProduct, lines: Sequence[Line], columns: LeafColumns, count: int) -> "Moments":
        """The moments of columns on the functions of a product. lines: its rows or its columns. count: the number of
        all columns."""
        far = product.far
        tree, leaves, (kept, rank) = far.layout.tree, far.layout.lists.leaves, ranks_of(far.table)
        spans, numbers = box_columns(tree, leaves, columns, count)
        values = aligned(len(numbers) * SUMS * rank, REAL)
        run = leaf_moment_kernel(lines[0].moments.is_packed)
        for line in lines:
            arms, starts = far.layout.centres.astype(REAL), line.starts
            rows = line.first + line.pieces.whole

            given = line.moments.stored, line.moments.rank, starts, line.values, arms, rows

            def enter(low: int, high: int, given: Any = given) -> None:
                """Add the moments of the leaves low .. high."""
                run(*given, tuple(columns[:3]), spans[leaves], numbers, values, kept, rank, np.empty(count, np.int64),
                    aligned(SUMS * given[1], np.float64), low, high)  # fmt: skip

            in_parts(enter, len(leaves))
        up = padded(far.table.up, kept, rank)
        for low, high in reversed(tree.runs_of_levels()[3:]):
            parents = np.unique(tree.parent[low:high])

            def raise_(low: int, high: int, parents: NDArray[Any] = parents) -> None:
                """Add the moments of children to the parents low .. high."""
                lists = np.empty((3, SUMS * count), np.int64)
                raise_moments(up, rank, parents, tree.children, spans, numbers, values, *lists, low, high)

            in_parts(raise_, len(parents))
        return Moments(spans, numbers, values)


def ranks_of(table: Tables) -> tuple[int, int]:
    """The number of combinations that are kept, and the same up to whole vectors."""
    kept = min(KEPT, table.rank)
    return kept, -(-kept // width(REAL)) * width(REAL)


def padded(matrices: NDArray[Any], kept: int, rank: int) -> NDArray[np.float32]:
    """The first rows and columns of matrices (n, r, r), one after the other."""
    found = aligned((len(matrices), rank, rank), REAL)
    found[:, :kept, :kept] = matrices[:, :kept, :kept]
    return found.ravel()


def box_columns(tree: Octree, leaves: Index, columns: LeafColumns, count: int) -> tuple[Index, NDArray[np.int32]]:
    """The fields spans and numbers of `Moments`: the columns of all leaves (n,) within each box of level 2 and more.
    count: the number of all columns."""
    boxes, inside = leaves, [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
    for _ in range(int(tree.level.max()) - 1):  # up to level 2
        own = np.flatnonzero(tree.level[boxes] >= 2)
        inside.append((boxes[own], own))
        boxes = np.where(tree.level[boxes] >= 2, tree.parent[boxes], boxes)
    rows, owners = (np.concatenate(each) for each in zip(*inside, strict=True))
    within = sp.coo_array((np.ones(len(rows)), (rows, owners)), (len(tree.level), len(leaves))).tocsr()
    found = within @ sp.csr_array((np.ones(len(columns.numbers)), columns.numbers, columns.first), (len(leaves), count))
    found.sort_indices()
    return np.stack([found.indptr[:-1], found.indptr[1:]], axis=1).astype(np.int64), found.indices.astype(np.int32)


@functools.cache
def leaf_moment_kernel(packed: bool) -> Callable[..., None]:
    """The kernel that makes moments of leaves, for `Moments` in 16 bits (packed) or as floats."""

    @kernel
    def leaf_moments(
        stored, pitch, starts, values, arms, rows, matrix, spans, numbers, moments, kept, rank, place, run, low, high
    ):  # fmt: skip
        """Add the moments of the functions of a line in leaves low .. high.

        stored: the first five fields of the `Moments` of functions, with runs of `pitch` numbers. starts (leaves + 1,):
        where the functions of each leaf begin. values: whether the line has values, else tractions of displacements.
        arms (leaves, 3): from the centre of the tree to those of leaves. rows: the row of the matrix of each function.
        matrix: indptr, indices and data. spans, numbers, moments: as in Moments, spans of leaves. kept, rank: as in
        ranks_of. place (k,), run: space for numbers of columns, and for the moments of one function.
        """
        size = lanes(run)
        indptr, indices, data = matrix
        count = 3 if values else 1
        for i in range(low, high):
            # where the moments of each column of the leaf are
            for a in range(spans[i, 0], spans[i, 1]):
                place[numbers[a]] = a
            if spans[i, 0] == spans[i, 1]:
                continue
            for j in range(starts[i], starts[i + 1]):
                # the first of the four vectors of moments of a function
                for s in range(4):
                    for k in range(0, PER_EXPONENT, size):
                        store(run, s * pitch + k, first_of_run(stored, packed, pitch, 4 * j + s, k, run))
                    for k in range(PER_EXPONENT, kept, size):
                        store(run, s * pitch + k, run_at(stored, packed, pitch, 4 * j + s, k, run))
                # times the entries of the matrix
                for c in range(count):
                    row = rows[count * j + c]
                    for a in range(indptr[row], indptr[row + 1]):
                        f, at = data[a], place[indices[a]] * 4 * rank
                        if values:
                            for k in range(kept):
                                moments[at + c * rank + k] += f * run[k]
                                moments[at + 3 * rank + k] += f * (run[(1 + c) * pitch + k] + arms[i, c] * run[k])
                        else:
                            for s in range(4):
                                arm = arms[i, s] if s < 3 else arms.dtype.type(0)
                                for k in range(kept):
                                    moments[at + s * rank + k] += f * (run[s * pitch + k] - arm * run[3 * pitch + k])

    return leaf_moments


@kernel
def raise_moments(matrices, rank, parents, children, spans, numbers, values, place, sources, targets, low, high):
    """Add the moments of children to those of the parents low .. high. matrices: (8, rank, rank) of the octants. spans,
    numbers, values: as in Moments. children (boxes, 8): -1 for none. place, sources, targets: space for numbers."""
    size = lanes(matrices)
    for q in range(low, high):
        parent = parents[q]
        for a in range(spans[parent, 0], spans[parent, 1]):
            place[numbers[a]] = a
        # all vectors of a child, by one matrix
        for octant in range(8):
            child, n = children[parent, octant], 0
            if child < 0:
                continue
            for a in range(spans[child, 0], spans[child, 1]):
                for s in range(4):
                    sources[n], targets[n] = 4 * a + s, 4 * place[numbers[a]] + s
                    n += 1
            add_products(matrices, octant * rank * rank, rank // size, rank, values, sources, rank, values, targets,
                         rank, 0, n)  # fmt: skip


def far_sums(product: MultipoleProduct, left: LeafColumns, right: LeafColumns, sums: NDArray[Any]) -> None:
    """Add left^T A right of separated boxes to a dense matrix (k, k). product: A. left, right: columns on its rows and
    on its columns."""
    far = product.far
    pairs, edge, count = far.layout.lists.far, far.layout.tree.edge.astype(REAL), len(sums)
    if not len(pairs.source):
        return
    sources, targets = (Moments.of(product, *each, count) for each in ((far.columns, right), (far.rows, left)))
    matrices, which = directions(far.table, pairs.runs[:, 0])
    rank = ranks_of(far.table)[1]
    matrix = np.repeat(which, np.diff(pairs.runs[:, 1:])[:, 0])
    order = np.argsort(pairs.target, kind="stable")
    source, matrix = pairs.source[order], matrix[order]
    begin = np.searchsorted(pairs.target[order], np.arange(len(edge) + 1))
    sizes = np.diff(sources.spans)[:, 0]
    bounds = shares(np.append(0, np.cumsum(sizes[source]))[begin])

    def work(task: int, place: Index, panel: NDArray[Any]) -> None:
        """Add the sums of one part of the target boxes to a panel."""
        lists, room = np.empty((3, SUMS * count), np.int64), aligned(SUMS * rank * count, REAL)
        far_panel(matrices, rank, *sources, *targets, begin, source, matrix, edge, place, panel, np.full(count, -1),
                  *lists, room, bounds[task], bounds[task + 1])  # fmt: skip

    def rows(task: int) -> Index:
        """The columns that are not zero in these boxes."""
        spans = targets.spans[bounds[task] : bounds[task + 1]]
        return np.unique(np.concatenate([targets.numbers[low:high] for low, high in spans.tolist()]))

    add_in_panels(sums, work, rows, len(bounds) - 1)


def directions(table: Tables, used: Index) -> tuple[NDArray[np.float32], Index]:
    """The matrices of the directions that are used, between the first combinations, one after the other; and the number
    of its matrix for each direction in `used`."""
    found, which = np.unique(used, return_inverse=True)
    kept, rank = ranks_of(table)
    matrices = aligned((len(found), rank, rank), REAL)

    def make(low: int, high: int) -> None:
        """Write the matrices low .. high, from the factors of a table that has fewer combinations."""
        for n in range(low, high):
            v = int(found[n])
            first, inner = int(table.starts[v]), int(table.vectors[v]) * width(table.numbers.dtype) or table.rank
            one = table.numbers[first : first + table.rank * inner].reshape(table.rank, inner)[:kept]
            if table.vectors[v]:
                first += table.rank * inner
                one = one @ table.numbers[first : first + table.rank * inner].reshape(inner, table.rank)
            matrices[n, :kept, :kept] = one[:, :kept]

    in_parts(make, len(found))
    return matrices.ravel(), which


@kernel
def far_panel(
    matrices, rank, source_spans, source_numbers, moments, target_spans, target_numbers, tests, begin, source, matrix,
    edge, row, panel, seen, numbers, given, wanted, local, low, high,
):  # fmt: skip
    """Add the sums of target boxes low .. high to a panel: the local expansions of all columns that are not zero in
    their sources, with the moments of tests.

    matrices, rank: of directions, one after the other. source_spans, source_numbers, moments, target_spans,
    target_numbers, tests: `Moments` of both sides. begin (boxes + 1,): where the sources of each box begin. source,
    matrix: the box of each, and the number of its matrix. edge (boxes,). row, panel: as in add_sums of the near blocks.
    seen (k,): -1. numbers, given, wanted: space for numbers. local: the expansions, in the order of `numbers`.
    """
    size = lanes(matrices)
    for b in range(low, high):
        # columns that are not zero in the sources
        count = 0
        for p in range(begin[b], begin[b + 1]):
            for a in range(source_spans[source[p], 0], source_spans[source[p], 1]):
                if seen[source_numbers[a]] < 0:
                    seen[source_numbers[a]], numbers[count] = count, source_numbers[a]
                    count += 1
        for k in range(count * 4 * rank):
            local[k] = 0
        # their local expansions
        for p in range(begin[b], begin[b + 1]):
            n = 0
            for a in range(source_spans[source[p], 0], source_spans[source[p], 1]):
                for s in range(4):
                    given[n], wanted[n] = 4 * a + s, 4 * seen[source_numbers[a]] + s
                    n += 1
            add_products(matrices, matrix[p] * rank * rank, rank // size, rank, moments, given, rank, local, wanted,
                         rank, 0, n)  # fmt: skip
        # scalar products with the moments of tests
        for a in range(target_spans[b, 0], target_spans[b, 1]):
            at = row[target_numbers[a]]
            for q in range(count):
                t = zero(local)
                for k in range(0, 4 * rank, size):
                    t = t + load(tests, a * 4 * rank + k) * load(local, q * 4 * rank + k)
                panel[at, numbers[q]] += total(t) / edge[b]
        for q in range(count):
            seen[numbers[q]] = -1


def add_in_panels(
    sums: NDArray[Any], work: Callable[[int, Index, NDArray[Any]], None], rows: Callable[[int], Index], tasks: int
) -> None:
    """Let tasks add to rows of a dense matrix (k, k), each at its turn, so that equal input gives equal bits.

    work(task, place, panel): adds to a panel of zeros, in which row r of the matrix is place[r]. rows(task): the rows
    that a task adds to. tasks: their number.
    """

    def add(own: Index, panel: NDArray[Any]) -> None:
        """Add a panel to its rows of the matrix."""
        for low in range(0, len(own), 64):  # few rows at a time, as a sum of all would be a second panel
            sums[own[low : low + 64]] += panel[low : low + 64]

    entered = InOrder(add)

    def one(task: int) -> None:
        """Make the panel of a task, and add it at its turn."""
        own, place = rows(task), np.full(len(sums), -1)
        panel = np.zeros((len(own), sums.shape[1]), REAL)
        place[own] = np.arange(len(own))
        work(task, place, panel)
        entered.add(task, own, panel)

    run_tasks(one, tasks)


def shares(work: Index) -> Index:
    """Bounds of at most TASKS parts, none of which is empty, of things with the cumulative work (n + 1,)."""
    bounds = np.searchsorted(work, np.linspace(0, work[-1], min(TASKS, len(work) - 1) + 1))
    bounds[-1] = len(work) - 1
    return np.unique(np.append(0, bounds))
