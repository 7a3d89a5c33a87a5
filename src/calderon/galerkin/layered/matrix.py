"""Entries of the electric field of currents on horizontal metal in a stack of layers."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends import counted, run_tasks
from calderon.galerkin.layered.metal import LayeredMetal
from calderon.galerkin.layered.near_pairs import near_matrix
from calderon.galerkin.layered.pair_sums import add_distant
from calderon.galerkin.selection import Selection, select
from calderon.pairs.grouping import grouped
from calderon.quadrature import Quadrature, triangle_rule

Index = NDArray[np.int64]
TILE = 64
"""Test triangles of a task."""


@dataclass(frozen=True, eq=False)
class LayeredMatrix:
    """i k0 int int (G_xx f_i . f_j - K div f_i div f_j / k0^2) of edge functions on metal in a stack, in m^2."""

    metal: LayeredMetal
    quadrature: Quadrature = field(default_factory=Quadrature)
    vertical: sp.csr_array | None = None
    """What vertical metal adds; `metal` is the horizontal one alone."""

    @cached_property
    def near(self) -> tuple[sp.csr_array, NDArray[np.int32]]:
        """The matrix of touching and near pairs, and these pairs (n, 2) of rows i <= j of the table of functions."""
        return near_matrix(self.metal, self.quadrature)

    def add_to(
        self,
        out: NDArray[Any],
        factor: complex,
        rows: Index | None = None,
        columns: Index | None = None,
        half: bool = False,
        advance: Any = None,
    ) -> None:
        """out += factor * matrix[rows][:, columns]; half: S, where the whole matrix is S + S^T."""
        space: Any = self.metal.space
        flat = len(space.triangles) > 0
        for each in ([self.near[0]] if flat else []) + ([] if self.vertical is None else [self.vertical]):
            part = each if rows is None else each[rows]
            part = (part if columns is None else part[:, columns]).tocoo()
            out[part.coords] += (0.5 * factor if half else factor) * part.data
        if not flat:
            return
        tests = select(space, rows)
        trials = tests if rows is columns else select(space, columns)
        skips = self._skips(tests, trials)
        bounds = np.append(np.arange(0, len(tests.triangles), TILE), len(tests.triangles))
        step = counted(advance, len(bounds) - 1)

        def work(number: int) -> None:
            self._add(out, factor, tests, trials, skips, (bounds[number], bounds[number + 1]), half)

        run_tasks(work, len(bounds) - 1, _sharing(bounds, tests.places, len(out)), None, step)

    def distant_block(self, rows: Index, columns: Index, reach: float) -> NDArray[np.complex128]:
        """The entries in these rows and columns without those of special pairs, which are in `near`, of triangles whose
        centroids are up to `reach` apart; on the calling thread."""
        space: Any = self.metal.space
        tests, trials = select(space, rows), select(space, columns)
        out = np.zeros((len(rows), len(columns)), complex)
        self._add(out, 1.0, tests, trials, self._skips(tests, trials), (0, len(tests.triangles)), False, reach)
        return out

    def _add(
        self,
        out: NDArray[Any],
        factor: complex,
        tests: Selection,
        trials: Selection,
        skips: tuple[Index, Index],
        some: tuple[int, int],
        half: bool,
        reach: float = np.inf,
    ) -> None:
        """out += factor times the pairs of some tests with all trials."""
        (low, high), (starts, skipped), k0 = some, skips, self.metal.sections.k0
        add_distant(
            tests.triangles[low:high], trials.triangles, low, half, self.metal.flat, *self.rule, self.metal.joined,
            (starts[low : high + 1], skipped), factor * 1j * k0, 4 / k0**2,
            (tests.places[low:high], trials.places), out, reach,
        )  # fmt: skip

    @cached_property
    def rule(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Points and weights of distant pairs."""
        rule = triangle_rule(self.quadrature.regular)
        return self.metal.points(rule), 2 * rule.weights

    @cached_property
    def special(self) -> sp.csr_array:
        """Special pairs in both orders, by rows of the table of functions."""
        i, j = self.near[1].astype(np.int64).T
        number = len(self.metal.space.triangles)
        entries = np.ones(2 * len(i)), (np.concatenate([i, j]), np.concatenate([j, i]))
        return sp.coo_array(entries, (number, number)).tocsr()

    def _skips(self, tests: Selection, trials: Selection) -> tuple[Index, Index]:
        """For each test triangle where its special pairs start, and the places of their trials, increasing."""
        pairs = self.special[tests.triangles]
        place = np.full(pairs.shape[1], -1)
        place[trials.triangles] = np.arange(len(trials.triangles))
        i, j = np.repeat(np.arange(len(tests.triangles)), np.diff(pairs.indptr)), place[pairs.indices]
        i, j = i[j >= 0], j[j >= 0]
        order = np.lexsort([j, i])
        return grouped(i[order], len(tests.triangles))[0].astype(np.int64), j[order]


def _sharing(bounds: Index, places: Index, rows: int) -> list[Index]:
    """For each range of test triangles those that add to some row of it."""
    number = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    kept = places >= 0
    entries = (np.ones(int(kept.sum())), (np.repeat(number[:, None], places.shape[1], axis=1)[kept], places[kept]))
    table = sp.coo_array(entries, shape=(len(bounds) - 1, rows)).tocsr()
    both = (table @ table.T).tocsr()
    return [both.indices[both.indptr[t] : both.indptr[t + 1]] for t in range(len(bounds) - 1)]
