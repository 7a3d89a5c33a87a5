"""Moments of pieces of functions with the combinations of harmonics, about the centres of their leaves (P2M, L2P), and
the far field of products between them.

Every product multiplies these numbers with coefficients; quadrature points are seen once, when they are computed.
"""

from dataclasses import dataclass, replace
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
from calderon.fmm.passes import Translations, multiply
from calderon.fmm.point_expansions import inverse_products, moment_kernel
from calderon.fmm.tables import Tables
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
def p2m(functions, starts, x, count, boxes, columns, column, rank, moments, low, high):
    """Add the moments of pieces times coefficients to those of the leaves low .. high.

    functions (n rank,): moments of the n pieces; starts (leaves + 1,): where the pieces of each leaf begin; x
    (count n,): coefficients of `count` vectors, one after the other; boxes (leaves,): the box of each. moments
    (boxes columns rank,): of all boxes, `columns` vectors of each, of which those from number `column` on belong to x.
    """
    width, size = lanes(moments), starts[len(starts) - 1]
    for i in range(low, high):
        for j in range(starts[i], starts[i + 1]):
            for q in range(count):
                f, first = number(x, q * size + j), (boxes[i] * columns + column + q) * rank
                for k in range(0, rank, width):
                    store(moments, first + k, load(moments, first + k) + load_as(functions, j * rank + k, moments) * f)


@kernel
def l2p(functions, starts, local, boxes, columns, column, rank, y, count, low, high):
    """Add local expansions of the leaves low .. high, tested with pieces, to `count` vectors y (count n,).

    local (boxes columns rank,): of all boxes; all others as in `p2m`.
    """
    width, size = lanes(local), starts[len(starts) - 1]
    for i in range(low, high):
        for j in range(starts[i], starts[i + 1]):
            for q in range(count):
                first, t = (boxes[i] * columns + column + q) * rank, zero(local)
                for k in range(0, rank, width):
                    t = t + load(local, first + k) * load_as(functions, j * rank + k, local)
                y[q * size + j] += total(t)


@dataclass(frozen=True, eq=False)
class FunctionFar:
    """The far field (`FarField`) of a product between functions of two sides.

    rows, columns: their pieces; tests, trials (components, n r): moments of these; passes: from columns to rows; scale:
    a factor of all fields. run: the leaves low .. high that have fields, None for all of them.
    """

    lists: Lists
    rows: Pieces
    columns: Pieces
    tests: NDArray[Any]
    trials: NDArray[Any]
    passes: Translations
    scale: float
    run: tuple[int, int] | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of moments, expansions, lists and tables."""
        moments = self.tests.nbytes + (0 if self.tests is self.trials else self.trials.nbytes)
        lists = sum(each.nbytes for each in [*self.lists.far, self.lists.near])
        expansions = 2 * self.passes.size * self.passes.real.itemsize
        return moments + lists + expansions + self.passes.tables.nbytes

    @property
    def cost(self) -> NDArray[np.float64]:
        """(leaves,) numbers of the moments of tests."""
        return np.diff(self.rows.starts) * float(len(self.tests) * self.passes.tables.rank)

    def part(self, low: int, high: int) -> "FunctionFar":
        """The far field in the leaves low .. high alone, of all charges."""
        return replace(self, passes=self.passes.part(self.lists, low, high), run=(low, high))

    @cached_property
    def transposed(self) -> "FunctionFar":
        """The far field of the transposed product: tests are trials, and pairs of boxes go the other way."""
        return FunctionFar(self.lists, self.columns, self.rows, self.trials, self.tests, self._back, self.scale)

    @property
    def _back(self) -> Translations:
        """The passes from rows to columns."""
        if self.rows is self.columns:
            return self.passes
        far, table = self.passes.far, self.passes.tables
        matrix = np.repeat(far.runs[:, 0], far.runs[:, 2] - far.runs[:, 1])
        directions = len(table.starts)
        pairs = Runs.of(far.target, far.source, directions - 1 - matrix, far.source // BLOCK, directions)
        return Translations(self.passes.tree, pairs, table, self.passes.columns)

    def send(self, x: NDArray[Any]) -> NDArray[Any]:
        """Moments (boxes, components, m, r), one after the other, from columns x (n, m) of coefficients."""
        count, rank, parts = x.shape[1], self.passes.tables.rank, len(self.trials)
        moments = self.passes.empty(count)
        given = np.ascontiguousarray(x.T[:, self.columns.whole], self.passes.real).ravel()

        # coefficients to moments, and local expansions to results, of component c
        def gather(c: int, low: int, high: int) -> None:
            places = self.lists.leaves, parts * count, c * count, rank
            p2m(self.trials[c], self.columns.starts, given, count, *places, moments, low, high)

        for c in range(parts):
            in_parts(partial(gather, c), len(self.lists.leaves))
        self.passes.m2m(moments)
        return moments

    def across(self, outgoing: NDArray[Any]) -> NDArray[Any]:
        """Local expansions of all boxes from moments."""
        local = self.passes.empty(len(outgoing) // self.passes.size)
        self.passes.m2l(outgoing, local)
        return local

    def receive(self, incoming: NDArray[Any]) -> NDArray[Any]:
        """Columns (n, m) of the product from local expansions, which are added to those of children."""
        count, rank, parts = len(incoming) // self.passes.size, self.passes.tables.rank, len(self.tests)
        self.passes.l2l(incoming)
        result = np.zeros((count, int(self.rows.starts[-1])), self.passes.real)
        first, last = self.run or (0, len(self.lists.leaves))

        def spread(c: int, low: int, high: int) -> None:
            places = self.lists.leaves, parts * count, c * count, rank
            l2p(self.tests[c], self.rows.starts, incoming, *places, result.ravel(), count, first + low, first + high)

        for c in range(parts):
            in_parts(partial(spread, c), last - first)
        return self.rows.sums(result * self.scale).T
