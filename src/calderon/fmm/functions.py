"""Moments of pieces of functions with the combinations of harmonics, about the centres of their leaves, and products of
pieces in separated leaves by them.

Every product multiplies these numbers with coefficients; quadrature points are seen once, when they are computed.
"""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends import run_tasks
from calderon.backends.numba import kernel
from calderon.backends.threads import in_parts
from calderon.backends.vector_loads import load_as, total
from calderon.backends.vectors import aligned, lanes, load, number, store, width, zero
from calderon.fmm.point_expansions import inverse_products, moment_kernel
from calderon.fmm.tables import Tables
from calderon.fmm.translations import Translations, multiply
from calderon.products.direct_sums import padded
from calderon.products.lists import BLOCK, Lists, Runs
from calderon.products.octree import Octree
from calderon.spaces.charges import KINDS, charges
from calderon.spaces.pieces import Pieces

SHARE = 4096
"""Triangles of a task, about."""


class Sources(NamedTuple):
    """Charges of functions at quadrature points: places (points, 3) in edges of the root; of each component the rows
    (dimension, points) of charges, or of dipoles along the normals (3, points), if there are any."""

    places: NDArray[np.float64]
    parts: list[sp.csr_array]
    normals: NDArray[np.float64] | None

    @staticmethod
    def of(space: Any, degree: int, kind: str, tree: Octree) -> "Sources":
        """kind: "value", "normal" or "curl" of `Charges`."""
        found = charges(space, degree, "value" if kind == "normal" else kind)
        parts = list(found.gather("value" if kind == "normal" else kind))
        return Sources(tree.inside(found.points), parts, found.normals if kind == "normal" else None)


def moments_of(pieces: Pieces, degree: int, kind: str, tree: Octree, lists: Lists, table: Tables) -> NDArray[Any]:
    """(components, n r) moments of the n pieces; degree, kind: of `Sources`. Points are held for some leaves of each
    thread at a time."""
    real, rank, starts = table.numbers.dtype, table.rank, pieces.starts
    box = np.repeat(lists.leaves, np.diff(starts))
    out = aligned((KINDS[kind if kind == "curl" else "value"][1], len(box) * rank), real)
    fields = 3 if kind == "normal" else 1
    matrix = np.ascontiguousarray(table.expand[1:] if fields == 3 else table.expand[:1]).ravel()
    p, pitch, lanes_ = table.order.p, table.functions, width(real)
    run, inverse, size = moment_kernel(fields), inverse_products(p, real), fields * pitch
    centre, edge = tree.centre, tree.edge
    shares = pieces.runs(SHARE)

    def work(task: int) -> None:
        first, last, _ = shares[task]
        low, high = int(starts[first]), int(starts[last])
        # points of some leaves, in units of their boxes
        sources, numbers = Sources.of(pieces.alone(*shares[task]), degree, kind, tree), np.arange(high - low)
        for rows, into in zip(sources.parts, out, strict=True):
            around, begin = np.repeat(box[low:high], np.diff(rows.indptr)), rows.indptr.astype(np.int64)
            x, y, z = padded(((sources.places[rows.indices] - centre[around]) / edge[around, None]).T, real)
            weights = rows.data[None]
            if sources.normals is not None:
                weights = weights * sources.normals[rows.indices].T / edge[around]
            given, found = padded(weights, real), aligned((high - low) * size, real)
            # moments with all basis functions, then with the r columns of the table
            run(x, y, z, given.ravel(), given.shape[1], begin, p, inverse, pitch,
                aligned((4 * pitch + 4) * lanes_, real), found, 0, high - low)  # fmt: skip
            multiply(matrix, rank // lanes_, size, found, numbers, size, into[low * rank :], numbers, rank, 0,
                     high - low)  # fmt: skip

    run_tasks(work, len(shares))
    return out


@kernel
def from_functions(functions, starts, x, count, boxes, columns, column, rank, moments, low, high):  # type: ignore[no-untyped-def]
    """P2M: moments of the leaves low .. high from `count` vectors x of coefficients in the order of leaves, one after
    the other; those of each box are its `count` vectors from number `column` on, of `columns`.

    functions (n, rank): moments of each function; starts (leaves + 1,): where the functions of each leaf begin; boxes
    (leaves,): their boxes; moments (boxes, columns, rank), flat.
    """
    width, size = lanes(moments), starts[len(starts) - 1]
    for i in range(low, high):
        for j in range(starts[i], starts[i + 1]):
            for q in range(count):
                f, first = number(x, q * size + j), (boxes[i] * columns + column + q) * rank
                for k in range(0, rank, width):
                    store(moments, first + k, load(moments, first + k) + load_as(functions, j * rank + k, moments) * f)


@kernel
def to_functions(functions, starts, local, boxes, columns, column, rank, y, count, low, high):  # type: ignore[no-untyped-def]
    """L2P: add to `count` vectors y the local expansions tested with the functions of the leaves low .. high;
    functions, starts, boxes, columns, column and rank as in `from_functions`; local: like its moments."""
    width, size = lanes(local), starts[len(starts) - 1]
    for i in range(low, high):
        for j in range(starts[i], starts[i + 1]):
            for q in range(count):
                first, t = (boxes[i] * columns + column + q) * rank, zero(local)
                for k in range(0, rank, width):
                    t = t + load(local, first + k) * load_as(functions, j * rank + k, local)
                y[q * size + j] += total(t)


@dataclass(frozen=True, eq=False)
class FarProducts:
    """rows, columns (leaves + 1,): where the pieces of each leaf begin; tests, trials (components, n r): moments of the
    pieces of both sides; scale: a factor of all products."""

    tree: Octree
    lists: Lists
    table: Tables
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    tests: NDArray[Any]
    trials: NDArray[Any]
    scale: float

    @property
    def nbytes(self) -> int:
        """Bytes of moments, expansions, lists and tables."""
        moments = self.tests.nbytes + (0 if self.tests is self.trials else self.trials.nbytes)
        lists = sum(each.nbytes for each in [*self.lists.far, self.lists.near])
        return moments + lists + 2 * self.forward.size * self.table.numbers.itemsize + self.table.nbytes

    @cached_property
    def forward(self) -> Translations:
        """From trials to tests."""
        return Translations(self.tree, self.lists.far, self.table, len(self.tests))

    @cached_property
    def backward(self) -> Translations:
        """From tests to trials: the same pairs the other way."""
        if self.rows is self.columns:
            return self.forward
        far = self.lists.far
        matrix = np.repeat(far.runs[:, 0], far.runs[:, 2] - far.runs[:, 1])
        directions = len(self.table.starts)
        pairs = Runs.of(far.target, far.source, directions - 1 - matrix, far.source // BLOCK, directions)
        return Translations(self.tree, pairs, self.table, len(self.tests))

    def product(self, x: NDArray[Any], transposed: bool) -> NDArray[Any]:
        """(k, m) A x or A^T x for k vectors x (k, n) of coefficients of pieces."""
        given, wanted = (self.rows, self.columns) if transposed else (self.columns, self.rows)
        functions, tests = (self.tests, self.trials) if transposed else (self.trials, self.tests)
        result = np.zeros((len(x), wanted[-1]), self.table.numbers.dtype)
        if not len(self.lists.far.source):
            return result
        passes = self.backward if transposed else self.forward
        boxes, rank, count, parts = self.lists.leaves, self.table.rank, len(x), len(functions)
        moments, local = passes.empty(count), passes.empty(count)
        flat, out = np.ascontiguousarray(x, result.dtype).ravel(), result.ravel()

        # coefficients to moments, and local expansions to results, of component c
        def gather(c: int, low: int, high: int) -> None:
            places = boxes, parts * count, c * count, rank
            from_functions(functions[c], given, flat, count, *places, moments, low, high)

        def spread(c: int, low: int, high: int) -> None:
            places = boxes, parts * count, c * count, rank
            to_functions(tests[c], wanted, local, *places, out, count, low, high)

        for c in range(parts):
            in_parts(partial(gather, c), len(boxes))
        passes.upward(moments)
        passes.across(moments, local)
        passes.downward(local)
        for c in range(parts):
            in_parts(partial(spread, c), len(boxes))
        return result * self.scale
