"""Products of pieces of functions in separated leaves, through their moments and the passes between boxes."""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
