"""Time stepping on a device: updates per second on large boxes, and the fraction of the floor of memory traffic.

One update is one field component at one node advanced by one full step. Every row is first held to the processor's
fields on a small box. Fields of the boxes are 90 MB in single precision, more than caches hold.
"""

import time
from argparse import Namespace
from collections.abc import Iterator
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np
from rich.console import Console

import calderon as cal
from benchmarks.common import results
from benchmarks.gpu.limits import Limits
from benchmarks.gpu.rows import Section
from calderon.backends import Device
from calderon.dg.operator.reference import reference_tetrahedron
from calderon.dg.stepping.system import Steps

CELLS = {1: 53, 2: 40, 3: 32, 4: 26}
"""Along each side of the box, by degree, on a graphics processor."""
LOADS = {1: 80, 2: 80, 3: 60, 4: 50}
"""Along each side of boxes of 3,072,000, 1,296,000 and 750,000 tetrahedra."""
FEW = 6
"""On others."""
WARM, STEPS = 5, 50
BOUNDS = {"double": 1e-11, "single": 1e-4}
"""Bounds of the largest difference from the processor's field, relative to its largest value."""


def boxes(
    screen: Console, device: Device, precisions: list[str], limits: Limits, options: Namespace
) -> Iterator[Section]:
    """Boxes of every flux, degree and precision."""
    for flux, order, precision in product(("centred", "upwind"), CELLS, precisions):
        row = partial(stepped, screen, device, limits, flux, order, precision, cells_of(CELLS[order], device, options))
        yield Section(f"time stepping {flux} P{order} {precision}", 6.0, row)


def loads(screen: Console, device: Device, limits: Limits, options: Namespace) -> Iterator[Section]:
    """The loads that were published for one card of several, in single precision."""
    for order, flux in product(LOADS, ("centred", "upwind")):
        row = partial(stepped, screen, device, limits, flux, order, "single", cells_of(LOADS[order], device, options))
        yield Section(f"weak {flux} P{order} single", 40.0, row)


def cells_of(cells: int, device: Device, options: Namespace) -> int:
    """Cells along each side of a box: those of a card, FEW on others, or those of about `--triangles` tetrahedra."""
    if options.triangles:
        return max(1, round((options.triangles / 6) ** (1 / 3)))
    return cells if device.is_gpu else FEW


def stepped(
    screen: Console, device: Device, limits: Limits, flux: str, order: int, precision: str, cells: int
) -> dict[str, Any]:
    """One row, held to the processor's field; fraction_of_bandwidth: of a copy on the device."""
    error = difference(flux, order, precision, device)
    one = {"error": error} | timed(flux, order, precision, cells, device)
    one["fraction_of_bandwidth"] = one["updates"] * one["bytes_per_update"] / limits.copy
    wrong = "" if error < BOUNDS[precision] else "[bold red]WRONG[/bold red], "
    screen.print(
        f"time stepping {flux} P{order} {precision}, {one['tetrahedra']:,} tetrahedra: {wrong}error {error:.0e}, "
        f"{one['updates'] / 1e6:.3g}e6 updates/s of {one['bytes_per_update']:.0f} bytes, "
        f"{one['updates'] * one['bytes_per_update'] / 1e9:.3g} GB/s, "
        f"{one['fraction_of_bandwidth']:.0%} of a copy, set-up {results.seconds(one['setup_seconds'])} s"
    )
    return one


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
    and the residual and writes both, but the first reads no residual and the last writes none. Metric, medium and
    codes, for the upwind flux the Riemann tables, too, come once for a field of 3 n numbers and half a step, or for 6 n
    and a stage."""
    real = 8 if precision == "double" else 4
    numbers = 3 * reference_tetrahedron(order).size
    if flux == "centred":
        return 3 * real + ((6 + 2) * real + 4 * 4) / numbers
    return 18 * real + 5 * ((6 + 2 + 20) * real + 4 * 4) / (2 * numbers)
