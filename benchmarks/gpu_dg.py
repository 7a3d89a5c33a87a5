"""Time stepping on a device: updates per second on large boxes, and the fraction of the floor of memory traffic.

One update is one field component at one node advanced by one full step. Every row is first held to the processor's
fields on a small box. Fields of the boxes are 90 MB in single precision, more than caches hold.
"""

import time
from argparse import Namespace
from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from rich.console import Console

import calderon as cal
from benchmarks.common import results
from calderon.backends import Device
from calderon.dg.operator.reference import reference_tetrahedron
from calderon.dg.stepping.system import Steps

CELLS = {1: 53, 2: 40, 3: 32, 4: 26}
"""Along each side of the box, by degree, on a graphics processor."""
FEW = 6
"""On others."""
WARM, STEPS = 5, 50
BOUNDS = {"double": 1e-11, "single": 1e-4}
"""Bounds of the largest difference from the processor's field, relative to its largest value."""


def measure(
    screen: Console,
    device: Device,
    precisions: list[str],
    bandwidth: float,
    late: Callable[[str], bool],
    options: Namespace,
) -> list[dict[str, Any]]:
    """A row for each flux, degree and precision; bandwidth: bytes per second of a copy on the device, read plus
    write."""
    columns = ["", "tetrahedra", "10^6 updates/s", "bytes/update", "of bandwidth", "set-up s", "error"]
    table = results.table(f"time stepping on {device.name}", columns)
    found = []
    for flux, order, precision in product(("centred", "upwind"), CELLS, precisions):
        name = f"time stepping {flux} P{order} {precision}"
        if options.only not in name or late(name):
            continue
        error = difference(flux, order, precision, device)
        cells = CELLS[order] if device.is_gpu and not options.triangles else FEW
        one = {"error": error} | timed(flux, order, precision, cells, device)
        one["fraction_of_bandwidth"] = one["updates"] * one["bytes_per_update"] / bandwidth
        found.append(one)
        table.add_row(
            f"{flux} P{order} {precision}",
            f"{one['tetrahedra']:,}",
            f"{one['updates'] / 1e6:.3g}",
            f"{one['bytes_per_update']:.0f}",
            f"{one['fraction_of_bandwidth']:.0%}",
            results.seconds(one["setup_seconds"]),
            f"[bold red]WRONG {error:.0e}" if not error < BOUNDS[precision] else f"{error:.0e}",
        )
    if found:
        screen.print(table)
    return found


def difference(flux: str, order: int, precision: str, device: Device) -> float:
    """From the processor's field in the same precision, on a box of 162 tetrahedra."""
    mesh, mode = cal.mesh.box([0, 0, 0], [1, 1, 1], cells=3), cal.exact.cubic_cavity((1, 1, 1))
    points = np.random.default_rng(0).random((50, 3))
    fields = []
    for backend in ("numba", device.name):
        simulation = cal.MaxwellDG(mesh, order, flux, precision=precision, backend=backend)
        simulation.set_fields(mode.electric, mode.magnetic)
        simulation.run(10 * simulation.time_step)
        fields.append(simulation.electric(points))
    return float(np.abs(fields[1] - fields[0]).max() / np.abs(fields[0]).max())


@cache
def box(cells: int) -> cal.TetrahedralMesh:
    """A unit cube of 6 cells^3 tetrahedra."""
    return cal.mesh.box([0, 0, 0], [1, 1, 1], cells=cells)


def timed(flux: str, order: int, precision: str, cells: int, device: Device) -> dict[str, Any]:
    """Seconds of steps, from the end of the first WARM of them to the last."""
    mesh = box(cells)
    began = time.perf_counter()
    simulation = cal.MaxwellDG(mesh, order, flux, precision=precision, backend=device.name)
    ready = time.perf_counter() - began
    random = np.random.default_rng(0)
    for field in (simulation._system.electric, simulation._system.magnetic):
        field[:] = random.random(len(field), np.float32)
    marks: list[float] = []

    def after(done: int) -> None:
        if done in (WARM, WARM + STEPS):
            device.synchronize()
            marks.append(time.perf_counter())

    simulation._system.advance(Steps(0.0, simulation.time_step, WARM + STEPS, after))
    seconds = (marks[1] - marks[0]) / STEPS
    return {
        "flux": flux,
        "order": order,
        "precision": precision,
        "tetrahedra": mesh.number_of_tetrahedra,
        "updates": simulation.number_of_unknowns / seconds,
        "seconds_per_step": seconds,
        "bytes_per_update": traffic(flux, order, precision),
        "setup_seconds": ready,
    }


def traffic(flux: str, order: int, precision: str) -> float:
    """Bytes of an update at least. Leap-frog reads two numbers and writes one for each; a stage of five reads the field
    and the residual and writes both. Metric, medium and codes, for the upwind flux the Riemann tables, too, come once
    for a field of 3 n numbers and half a step, or for 6 n and a stage."""
    real = 8 if precision == "double" else 4
    numbers = 3 * reference_tetrahedron(order).size
    if flux == "centred":
        return 3 * real + ((6 + 2) * real + 4 * 4) / numbers
    return 5 * (4 * real + ((6 + 2 + 20) * real + 4 * 4) / (2 * numbers))
