"""Entries for compressed methods: millions of matrix entries per CPU second on one thread, by blocks, rows and columns.

Blocks have about BLOCK x BLOCK unknowns, as near fields have; rows and columns are RUN unknowns long, as in cross
approximation. The least of several runs in turn counts.
"""

import functools
import time
from argparse import Namespace
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console

import calderon as cal
from benchmarks import results
from benchmarks.machine import Floor
from benchmarks.spheres import octahedral_sphere
from calderon.backends import computing
from calderon.backends.numba import kernel
from calderon.backends.vectors import aligned
from calderon.galerkin.rows.entry_kernels import Clusters, CompiledRows
from calderon.galerkin.rows.galerkin_entries import compiled_rows
from calderon.mesh.locality import locality_order
from calderon.spaces import dual_tests
from calderon.spaces.supports import support_boxes

BLOCK, RUN = 60, 180
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
    """What computes the entries of an operator by blocks, rows or columns and returns how many a second."""
    size = BLOCK if kind == "block" else RUN
    sides = [_clusters(space, size) for space in (operator.test, operator.trial)]
    if operator.test is operator.trial:
        sides = sides[:1] * 2
    rows = compiled_rows(operator, *sides, computing("numba", "double"))
    run, room = _loop(rows, kind), (aligned(rows.scratch, rows.real), np.zeros((size, size), rows.dtype))
    pairs = np.array([(i, (i + len(sides[1].start) // 2 + n) % len(sides[1].start))
                      for n in range(3) for i in range(min(len(each.start) for each in sides) - 1)])  # fmt: skip
    counts = sides[0].start, sides[0].stop, sides[1].start, sides[1].stop
    run(rows.data, pairs[:1], *counts, 1, *room)

    def rate() -> float:
        entries, began = 0, time.process_time()
        while time.process_time() - began < SECONDS:
            entries += run(rows.data, pairs, *counts, 1 if kind == "block" else 8, *room)
        return entries / (time.process_time() - began)

    return rate


def _clusters(space: Any, size: int) -> Clusters:
    """Runs of neighbouring unknowns."""
    order = locality_order(support_boxes(space).mean(axis=1), size).astype(np.int64)
    starts = np.arange(0, len(order), size)
    return Clusters(order, starts, np.append(starts[1:], len(order)))


@functools.lru_cache(maxsize=64)
def _kernel(function: Callable[..., None], kind: str) -> Callable[..., int]:
    @kernel
    def blocks(data, pairs, top, bottom, left, right, many, scratch, out):  # type: ignore[no-untyped-def]
        total = 0
        for k in range(len(pairs)):
            i, j = pairs[k, 0], pairs[k, 1]
            function(data, i, j, scratch, out)
            total += (bottom[i] - top[i]) * (right[j] - left[j])
        return total

    @kernel
    def rows(data, pairs, top, bottom, left, right, many, scratch, out):  # type: ignore[no-untyped-def]
        total = 0
        for k in range(len(pairs)):
            i, j = pairs[k, 0], pairs[k, 1]
            for r in range(many):
                function(data, top[i] + r, j, scratch, out[0, : right[j] - left[j]])
            total += many * (right[j] - left[j])
        return total

    @kernel
    def columns(data, pairs, top, bottom, left, right, many, scratch, out):  # type: ignore[no-untyped-def]
        total = 0
        for k in range(len(pairs)):
            i, j = pairs[k, 0], pairs[k, 1]
            for c in range(many):
                function(data, i, left[j] + c, scratch, out[0, : bottom[i] - top[i]])
            total += many * (bottom[i] - top[i])
        return total

    return {"block": blocks, "row": rows, "column": columns}[kind]


def _loop(rows: CompiledRows, kind: str) -> Callable[..., int]:
    return _kernel(getattr(rows, kind), kind)
