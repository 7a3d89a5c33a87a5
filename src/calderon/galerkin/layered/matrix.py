"""Entries of the electric field of currents on horizontal metal in a stack of layers."""

from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends import Deliver, Execution, counted, run_tasks, share_tasks
from calderon.galerkin.layered.device import DevicePairs
from calderon.galerkin.layered.metal import LayeredMetal
from calderon.galerkin.layered.near_pairs import near_matrix
from calderon.galerkin.layered.pair_sums import add_distant
from calderon.galerkin.selection import Selection, carried, select, sharing
from calderon.pairs.grouping import grouped
from calderon.quadrature import Quadrature, triangle_rule

Index = NDArray[np.int64]
PROCESSOR = Execution(np.dtype(np.float64))


@dataclass(frozen=True, eq=False)
class LayeredMatrix:
    """i k0 int int (G_xx f_i . f_j - K div f_i div f_j / k0^2) of edge functions on metal in a stack, in m^2."""

    metal: LayeredMetal
    quadrature: Quadrature = field(default_factory=Quadrature)
    vertical: sp.csr_array | None = None
    """The part of vertical metal; `metal` is the horizontal one alone."""
    functions: Index | None = None
    """Columns that are needed (None: all); special pairs of other columns are skipped."""

    @cached_property
    def near(self) -> tuple[sp.csr_array, NDArray[np.int32]]:
        """The matrix of touching and near pairs, and these pairs (n, 2) of rows i <= j of the table of functions."""
        return near_matrix(self.metal, self.quadrature, self.functions)

    def add_to(
        self, out: NDArray[Any], factor: complex, rows: Index | None = None, columns: Index | None = None
    ) -> None:
        """out += factor * matrix[rows][:, columns]."""
        for part in self.special_parts(rows, columns):
            out[part.coords] += factor * part.data
        self.add_distant(out, factor, rows, columns)

    def special_parts(self, rows: Index | None = None, columns: Index | None = None) -> list[sp.coo_array]:
        """The parts of touching and near pairs and of vertical metal in these rows and columns."""
        parts = [self.near[0]] if self._has_flat else []
        parts += [] if self.vertical is None else [self.vertical]
        chosen = (each if rows is None else each[rows] for each in parts)
        return [(each if columns is None else each[:, columns]).tocoo() for each in chosen]

    @property
    def _has_flat(self) -> bool:
        return len(self.metal.space.triangles) > 0

    def add_distant(
        self, out: Any, factor: complex, rows: Index | None = None, columns: Index | None = None, half: bool = False,
        execution: Execution = PROCESSOR, advance: Any = None,
    ) -> None:  # fmt: skip
        """out += factor * all others of matrix[rows][:, columns], on the processor, on devices or on both; half: S,
        where the whole matrix is S + S^T. out: an array, or a part of a matrix on the device."""
        if not self._has_flat:
            return
        space: Any = self.metal.space
        tests = select(space, rows)
        trials = tests if rows is columns else select(space, columns)
        skips = self._skips(tests, trials)
        # tasks of 64 test triangles, by their work
        bounds = np.append(np.arange(0, len(tests.triangles), 64), len(tests.triangles))
        step = counted(advance, len(bounds) - 1)
        weights = np.diff(bounds) * (bounds[-1] - 0.5 * (bounds[1:] + bounds[:-1]) if half else 1.0)

        def work(number: int) -> None:
            self._add(out, factor, tests, trials, skips, (bounds[number], bounds[number + 1]), half)

        def on_device(pairs: DevicePairs, tasks: range, deliver: Deliver = nullcontext) -> None:
            for _ in pairs.add_between(int(bounds[tasks[0]]), int(bounds[tasks[-1] + 1]), deliver):
                pass

        given = self.metal, self.rule, factor, (tests, trials), skips, half, execution.regular
        devices = [partial(on_device, DevicePairs(each, out, *given)) for each in execution.devices]
        # on threads, on both, or on one device
        if not devices:
            run_tasks(work, len(bounds) - 1, sharing(carried(bounds, tests.places, len(out))), weights.tolist(), step)
        elif execution.team:
            processor = work if execution.uses_processor else None
            neighbours = sharing(carried(bounds, tests.places, len(out)))
            execution.parts.append(share_tasks(processor, devices, weights, neighbours, step))
        else:
            devices[0](range(len(bounds) - 1))

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
            (starts[low : high + 1], skipped), factor * 1j * k0, self.metal.charge,
            (tests.places[low:high], trials.places), out, reach,
        )  # fmt: skip

    @cached_property
    def rule(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Points and weights of distant pairs."""
        rule = triangle_rule(self.quadrature.regular)
        return self.metal.flat.points(rule), 2 * rule.weights

    @cached_property
    def special(self) -> sp.csr_array:
        """Special pairs in both orders, by rows of the table of functions."""
        (i, j), number = self.near[1].T, len(self.metal.space.triangles)
        apart = i != j
        rows, columns = np.concatenate([i, j[apart]]), np.concatenate([j, i[apart]])
        # by columns, then by rows
        order = grouped(columns, number)[1]
        starts, place = grouped(rows[order], number)
        return sp.csr_array((np.ones(len(rows), np.bool_), columns[order][place], starts), (number, number))

    def _skips(self, tests: Selection, trials: Selection) -> tuple[Index, Index]:
        """For each test triangle where its special pairs start, and the places of their trials, increasing."""
        pairs = self.special[tests.triangles]
        place = np.full(pairs.shape[1], -1)
        place[trials.triangles] = np.arange(len(trials.triangles))
        i, j = np.repeat(np.arange(len(tests.triangles)), np.diff(pairs.indptr)), place[pairs.indices]
        i, j = i[j >= 0], j[j >= 0]
        order = np.lexsort([j, i])
        return grouped(i[order], len(tests.triangles))[0].astype(np.int64), j[order]
