"""Leap-frog on a regular box of tetrahedra, and on the phantom: updates per second, and the fraction of what the
machine can do.

One update is one field component at one node advanced by one full step. The floor of a step is the larger of its
multiply-adds at the machine's rate and its memory traffic at the machine's bandwidth.
"""

import time
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import calderon as cal
from benchmarks.common.machine import Floor, best_of
from calderon.dg.operator.reference import reference_tetrahedron
from calderon.dg.stepping.system import Steps

CELLS = {1: 20, 2: 20, 3: 16, 4: 16}
"""Along each side of the box, by order: 48,000 and 24,576 tetrahedra."""
STEPS = 20


def measure(screen: Console, floor: Floor, options: Any) -> dict[str, Any]:
    """Every order and precision; prints a table and returns its rows."""
    table = Table(title="leap-frog, centred flux, all threads")
    rates = ("million updates/s", "floor", "fraction", "bytes/update", "flops/update")
    for column in ("mesh", "order", "precision", "tetrahedra", *rates):
        table.add_column(column, justify="right")
    rows = []
    kinds = product(("box", "phantom"), CELLS, ("double", "single"))
    for kind, order, precision in kinds:
        if options.only not in f"{kind} P{order} {precision}":
            continue
        mesh = plain_phantom() if kind == "phantom" else cal.mesh.box([0, 0, 0], [1, 1, 1], cells=CELLS[order])
        row = {"mesh": kind} | _measure(mesh, order, precision, floor, options.repeat)
        rows.append(row)
        speed = (f"{row['updates'] / 1e6:.0f}", f"{row['bound'] / 1e6:.0f}", f"{row['updates'] / row['bound']:.0%}")
        costs = (f"{row['bytes']:.1f}", f"{row['flops']:.0f}")
        table.add_row(kind, f"P{order}", precision, f"{row['tetrahedra']:,}", *speed, *costs)
    screen.print(table)
    return {"rows": rows}


@cache
def plain_phantom() -> cal.TetrahedralMesh:
    """The head next to a phone, its parts and faces all alike."""
    mesh = cal.mesh.phantom()
    return cal.TetrahedralMesh(mesh.vertices, mesh.tetrahedra, names={"vacuum": 0})


def _measure(mesh: cal.TetrahedralMesh, order: int, precision: str, floor: Floor, repeat: int) -> dict[str, Any]:
    mode = cal.exact.cubic_cavity((1, 1, 1))
    begun = time.perf_counter()
    simulation = cal.MaxwellDG(mesh, order, precision=precision)
    ready = time.perf_counter() - begun
    simulation.set_fields(mode.electric, mode.magnetic)
    system, step = simulation._system, simulation.time_step
    system.advance(Steps(0.0, step, 2))
    seconds = best_of(repeat, lambda: system.advance(Steps(0.0, step, STEPS))) / (STEPS + 0.5)
    reference, real = reference_tetrahedron(order), np.dtype(np.float64 if precision == "double" else np.float32)
    size, face = reference.size, reference.face_size
    flops = (12 * size**2 + 18 * size * face + 24 * size) / (3 * size)
    traffic = (3 + (8 / 3) / size) * real.itemsize + (16 / 3) / size  # read two, write one; metric, medium and codes
    rate = floor.double if precision == "double" else floor.single
    bound = 1 / max(flops / rate, traffic / floor.bandwidth)
    updates = simulation.number_of_unknowns / seconds
    return {
        "order": order, "precision": precision, "tetrahedra": mesh.number_of_tetrahedra, "updates": updates,
        "bound": bound, "bytes": traffic, "flops": flops, "setup_seconds": ready,
    }  # fmt: skip
