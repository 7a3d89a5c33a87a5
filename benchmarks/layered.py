"""Metal between layers: dense matrices against those of free space on the same mesh, the sweep of a patch, and products
by pre-corrected FFT of arrays of equal crosses against dense ones."""

import time
import warnings
from argparse import Namespace
from typing import Any

import numpy as np
from rich.console import Console

import calderon as cal
from benchmarks.common import results
from benchmarks.common.machine import Floor, best_of
from benchmarks.problems.lens import PITCH, cross

BOARD = cal.Stack([cal.Layer(3.175e-3, eps_r=2.33)], below="pec")
BAND, POINTS = (1.9e9, 2.9e9), 101
COUNTS = 6, 16, 33
"""Crosses along each side of arrays."""
CHECKED = 8
"""Frequencies at which the interpolated S is compared with the solved one."""


def measure(screen: Console, floor: Floor, options: Namespace) -> dict[str, Any]:
    """Assembly of a patch in layers and in free space, tables, near pairs, a sweep; --triangles: of about so many."""
    count = options.triangles or 2000
    patch = cal.planar.patch(57e-3, 38e-3, h=(2 * 57e-3 * 38e-3 / count) ** 0.5, z=BOARD.top)
    space, sections = cal.RWG(patch), BOARD.at(2.36e9)
    record: dict[str, Any] = {"unknowns": space.dimension}

    def layered() -> Any:
        return cal.layered_electric_field(BOARD, 2.36e9, space).assemble()

    def free() -> Any:
        return cal.electric_field(sections.k0, space).assemble()

    layered(), free()
    record["layered_seconds"], record["free_seconds"] = (best_of(options.repeat, run) for run in (layered, free))
    record["ratio"] = record["layered_seconds"] / record["free_seconds"]
    operator = cal.layered_electric_field(BOARD, 2.36e9, space)
    for name, part in (("tables", lambda: operator.matrix.metal.joined), ("near_pairs", lambda: operator.matrix.near)):
        began = time.perf_counter()
        part()
        record[f"{name}_seconds"] = time.perf_counter() - began
    coarse = cal.planar.patch(57e-3, 38e-3, h=5e-3, z=BOARD.top)
    antenna = cal.PlanarProblem(BOARD, coarse, ports=[cal.ProbePort((-8e-3, 0.0), radius=0.5e-3)])
    antenna.matrix(2e9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cal.AccuracyWarning)
        began = time.perf_counter()
        sweep = antenna.sweep(*BAND, points=POINTS)
        record["sweep_seconds"], record["sweep_solves"] = time.perf_counter() - began, sweep.solves
        places = np.linspace(0, POINTS - 1, CHECKED + 2).astype(int)[1:-1]
        errors = [np.abs(antenna.scattering_matrix(sweep.frequencies[n]) - sweep.s[n]).max() for n in places]
    record["sweep_unknowns"], record["sweep_error"] = antenna.function_space.dimension, float(max(errors))
    if options.triangles is None:
        record |= fft_products(options.repeat)
    table = results.table("metal between layers", ["", ""])
    for name, value in record.items():
        table.add_row(name.replace("_", " "), f"{value:.4g}")
    screen.print(table)
    return record


def fft_products(repeat: int) -> dict[str, float]:
    """Seconds of products by FFT, for arrays of COUNTS crosses along x and y, and of the dense matrix of the first."""
    board, record = cal.Stack([cal.Layer(3.175e-3, eps_r=2.2)], below="pec"), dict[str, float]()
    for count in COUNTS:
        places = PITCH * (np.arange(count) - 0.5 * (count - 1))
        mesh = cal.mesh.merge([cross(8e-3).translated([x, y, 0.0]) for x in places for y in places])
        space = cal.RWG(mesh)
        operator, n = cal.layered_electric_field(board, 12e9, space), space.dimension
        began = time.process_time()
        matrix = operator.assemble("fft", spacing=PITCH / 12, near=PITCH / 2)
        record[f"fft_{n}_set_up_processor_seconds"] = time.process_time() - began
        x = np.random.default_rng(0).standard_normal(n) + 0j
        record[f"fft_{n}_product_seconds"] = best_of(repeat, lambda matrix=matrix, x=x: matrix @ x)  # type: ignore[misc]
        record[f"fft_{n}_product_nanoseconds_an_unknown"] = 1e9 * record[f"fft_{n}_product_seconds"] / n
        if count == COUNTS[0]:
            whole = operator.assemble()
            record[f"dense_{n}_product_seconds"] = best_of(repeat, lambda whole=whole, x=x: whole @ x)  # type: ignore[misc]
    return record
