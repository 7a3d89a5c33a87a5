"""Products of pieces of functions in separated leaves, through their moments and the passes between boxes."""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends.vectors import aligned, width
from calderon.fmm.functions import from_functions, to_functions
from calderon.fmm.lists import BLOCK, Lists, Runs
from calderon.fmm.octree import Octree
from calderon.fmm.tables import OFFSETS, Tables
from calderon.fmm.translations import Translations, in_parts


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
        """From tests to trials: the same pairs the other way. OFFSETS[::-1] are the opposite ones."""
        if self.rows is self.columns:
            return self.forward
        far = self.lists.far
        matrix = np.repeat(far.runs[:, 0], far.runs[:, 2] - far.runs[:, 1])
        pairs = Runs.of(far.target, far.source, len(OFFSETS) - 1 - matrix, far.source // BLOCK, len(OFFSETS))
        return Translations(self.tree, pairs, self.table, len(self.tests))

    def product(self, x: NDArray[Any], transposed: bool) -> NDArray[Any]:
        """A x or A^T x for coefficients of pieces."""
        given, wanted = (self.rows, self.columns) if transposed else (self.columns, self.rows)
        functions, tests = (self.tests, self.trials) if transposed else (self.trials, self.tests)
        result = np.zeros(wanted[-1], self.table.numbers.dtype)
        if not len(self.lists.far.source):
            return result
        passes = self.backward if transposed else self.forward
        real, boxes, rank, parts = result.dtype, self.lists.leaves, self.table.rank, len(functions)
        moments, local = passes.empty(), passes.empty()
        x = np.ascontiguousarray(x, real)

        def gather(c: int, low: int, high: int) -> None:
            from_functions(functions[c], given, x, boxes, parts, c, rank, moments, low, high)

        def spread(c: int, low: int, high: int) -> None:
            line = aligned(width(real), real)
            to_functions(tests[c], wanted, local, boxes, parts, c, rank, line, result, low, high)

        for c in range(parts):
            in_parts(partial(gather, c), len(boxes))
        passes.upward(moments)
        passes.across(moments, local)
        passes.downward(local)
        for c in range(parts):
            in_parts(partial(spread, c), len(boxes))
        return result * self.scale
