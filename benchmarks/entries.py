"""Entries for compressed methods: millions of matrix entries per CPU second on one thread, by blocks, rows and columns.

Blocks are those between each box of BLOCK unknowns and the NEIGHBOURS nearest to it, as in near fields; rows and
columns are RUN unknowns long, as in cross approximation. The best of several runs counts.
"""

import functools
import time
from argparse import Namespace
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from rich.console import Console
from scipy.spatial import KDTree

import calderon as cal
from benchmarks.common import results
from benchmarks.common.machine import Floor
from benchmarks.common.spheres import octahedral_sphere
from calderon.backends import Execution
from calderon.backends.numba import kernel
from calderon.backends.vectors import aligned
from calderon.galerkin.rows.entry_kernels import Clusters
from calderon.galerkin.rows.galerkin_entries import compiled_rows
from calderon.mesh.locality import locality_order
from calderon.products.near_entries import add_entries, empty_blocks, strips_of
from calderon.spaces import dual_tests
from calderon.spaces.supports import supports_of

BLOCK, NEIGHBOURS, RUN = 60, 9, 180
WAVENUMBER = 2.0
TRIANGLES = 3200
SECONDS = 0.05
"""CPU time of one run, about."""
OPERATORS: dict[str, Callable[[Any], Any]] = {
    "electric": lambda mesh: cal.electric_field(cal.Helmholtz(WAVENUMBER), cal.RWG(mesh)),
    "magnetic": lambda mesh: cal.magnetic_field(cal.Helmholtz(WAVENUMBER), cal.RWG(mesh)),
    "dual": lambda mesh: _dual_tested(cal.RWG(mesh)),
    "helmholtz P0": lambda mesh: cal.single_layer(cal.Helmholtz(WAVENUMBER), cal.P0(mesh)),
    "helmholtz P1": lambda mesh: cal.single_layer(cal.Helmholtz(WAVENUMBER), cal.P1(mesh)),
    "laplace P0": lambda mesh: cal.single_layer(cal.Laplace(), cal.P0(mesh)),
    "laplace P1": lambda mesh: cal.single_layer(cal.Laplace(), cal.P1(mesh)),
    "double P1": lambda mesh: cal.double_layer(cal.Laplace(), cal.P1(mesh)),
}
KINDS = "block", "row", "column"


def _dual_tested(space: Any) -> Any:
    return cal.magnetic_field(cal.Helmholtz(WAVENUMBER), space, dual_tests(space))


def measure(screen: Console, floor: Floor, options: Namespace) -> dict[str, Any]:
    """Time every operator whose name contains options.only; a first run, which may compile, is not counted."""
    mesh = octahedral_sphere(options.triangles or TRIANGLES)
    table = results.table("Millions of entries per CPU second", ["", *KINDS])
    rows = []
    for name in (each for each in OPERATORS if options.only in each):
        runs = {kind: timed(OPERATORS[name](mesh), kind) for kind in KINDS}
        rates = {kind: max(run() for _ in range(max(options.repeat, 6))) for kind, run in runs.items()}
        rows.append({"name": name, **rates})
        table.add_row(name, *(f"{rates[kind] / 1e6:.2f}" for kind in KINDS))
    screen.print(table)
    return {"block": BLOCK, "run": RUN, "rows": rows}


def timed(operator: Any, kind: str) -> Callable[[], float]:
    """A function that computes entries of an operator by blocks, rows or columns and returns how many a second."""
    if kind == "block":
        return _blocks(operator)
    sides = [_clusters(space, RUN) for space in (operator.test, operator.trial)]
    if operator.test is operator.trial:
        sides = sides[:1] * 2
    rows = compiled_rows(operator, *sides, Execution.of("numba", "double"))
    run, room = _loop(getattr(rows, kind), kind), (aligned(rows.scratch, rows.real), np.zeros(RUN, rows.dtype))
    number = min(len(each.start) for each in sides) - 1
    pairs = np.array([(i, (i + number // 2 + n) % number) for n in range(3) for i in range(number)])
    bounds = sides[0].start, sides[0].stop, sides[1].start, sides[1].stop
    return partial(_rate, lambda: run(rows.data, pairs, *bounds, *room))


def near_pairs(operator: Any) -> tuple[Clusters, Clusters, Any]:
    """Boxes of test and of trial functions, and the pairs of those that are near each other."""
    sides, centres = [], []
    for space in (operator.test, operator.trial):
        side, points = _clusters(space, BLOCK), supports_of(space).boxes.mean(axis=1)
        sides.append(side)
        centres.append(np.add.reduceat(points[side.order], side.start) / (side.stop - side.start)[:, None])
    rows, columns = centres
    nearest = KDTree(columns).query(rows, NEIGHBOURS)[1]
    return sides[0], sides[1], np.stack([np.repeat(np.arange(len(rows)), NEIGHBOURS), nearest.ravel()], axis=1)


def _blocks(operator: Any) -> Callable[[], float]:
    execution = Execution.of("numba", "double")
    blocks = empty_blocks([(1.0, operator)], *near_pairs(operator), execution)
    strips = strips_of(blocks, np.arange(len(blocks.pairs)), operator.trial.dofs.shape[1] > 1)
    entries = compiled_rows(operator, blocks.rows, strips.columns, execution)

    def fill() -> int:
        add_entries(blocks, strips, 1.0, entries)
        return len(blocks.numbers)

    return partial(_rate, fill)


def _rate(run: Callable[[], int]) -> float:
    """Entries per CPU second."""
    entries, began = 0, time.process_time()
    while time.process_time() - began < SECONDS:
        entries += run()
    return entries / (time.process_time() - began)


def _clusters(space: Any, size: int) -> Clusters:
    """Runs of neighbouring unknowns."""
    order = locality_order(supports_of(space).boxes.mean(axis=1))
    starts = np.arange(0, len(order), size)
    return Clusters(order, starts, np.append(starts[1:], len(order)))


@functools.lru_cache(maxsize=64)
def _loop(function: Callable[..., None], kind: str) -> Callable[..., int]:
    """The compiled loop over a tenth of the rows or columns of pairs of clusters."""

    of_rows = kind == "row"

    @kernel
    def lines(data, pairs, top, bottom, left, right, scratch, out):  # type: ignore[no-untyped-def]
        """Number of the entries of every tenth row or column of `pairs` (n, 2) of clusters, computed into out (m,).

        data: what the function reads; top, bottom (row clusters,): first row of each and its end; left, right (column
        clusters,): the same of columns; scratch: its working memory.
        """
        total = 0
        for i, j in pairs:
            first, last, length = left[j], right[j], bottom[i] - top[i]
            if of_rows:
                first, last, length = top[i], bottom[i], right[j] - left[j]
            for line in range(first, last, 10):
                function(data, line if of_rows else i, j if of_rows else line, scratch, out[:length])
                total += length
        return total

    return lines
