"""Costs of static fields in several materials: a coated ball by fast multipole products and GMRES.

A ball of radius 1 in a coat of permittivity 4 up to 1.5, products and GMRES to 1e-5; the error is that of its
capacitance. Sizes are a tenth of --unknowns (default: 1 million) and itself, each in a process of its own, which has
solved a coarse problem before.
"""

import time
from argparse import Namespace
from typing import Any

import numpy as np
from rich.console import Console

import calderon as cal
from benchmarks.common.machine import Floor
from benchmarks.common.processes import apart, peak_bytes
from benchmarks.common.spheres import octahedral_sphere

UNKNOWNS, COARSE = 1_000_000, 2_000
OUTER, PERMITTIVITY, RTOL = 1.5, 4.0, 1e-5
PER_TRIANGLE = 2.5
"""Unknowns for each triangle of one of both spheres: two fluxes, and half a potential."""


def measure(screen: Console, floor: Floor, options: Namespace) -> dict[str, Any]:
    """Seconds, processor seconds, iterations, bytes and the error of the capacitance by size."""
    largest = options.unknowns or UNKNOWNS
    rows = []
    for unknowns in (largest // 10, largest):
        row = apart(coated, unknowns)
        rows.append(row)
        screen.print(
            f"coated ball: {row['unknowns']} unknowns, {row['seconds']:.1f} s, {row['cpu']:.1f} CPU s, assembly "
            f"{row['assembly']:.1f} s, {row['iterations']} iterations, capacitance {row['error']:.1e}, "
            f"{row['bytes'] / 1e9:.2f} GB ({row['bytes'] / row['unknowns'] / 1e3:.1f} KB an unknown)"
        )
        if len(rows) == 2:
            screen.print(f"{rows[1]['seconds'] / rows[0]['seconds']:.1f} times the time for 10 times the unknowns")
    return {"rows": rows}


def coated(unknowns: int) -> dict[str, Any]:
    """Figures of one solution."""
    _solved(COARSE)
    before, began, cpu = peak_bytes(), time.perf_counter(), time.process_time()
    problem, found = _solved(unknowns)
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    exact = 4 * np.pi * cal.exact.VACUUM_PERMITTIVITY / ((1 - 1 / OUTER) / PERMITTIVITY + 1 / OUTER)
    return {
        "unknowns": problem.unknowns, "seconds": seconds, "cpu": cpu, "assembly": found.info.assembly_seconds,
        "iterations": found.info.iterations, "bytes": peak_bytes() - before,
        "error": abs(found.totals["ball"] / exact - 1),
    }  # fmt: skip


def _solved(unknowns: int) -> tuple[Any, Any]:
    """The problem and its solution."""
    ball = octahedral_sphere(round(unknowns / PER_TRIANGLE))
    ball = ball.scaled((4 * np.pi / 3 / ball.volume) ** (1 / 3))
    mesh = cal.mesh.joined({"ball": ball, "coat": ball.scaled(OUTER)})
    regions = {"coat": cal.Region(["ball", "coat"], permittivity=PERMITTIVITY)}
    problem = cal.StaticProblem(mesh, regions, {"ball": "ball"})
    options: dict[str, Any] = {"method": "fmm", "solver": "gmres", "rtol": RTOL, "compression_rtol": RTOL}
    return problem, problem.solve({"ball": 1.0}, progress=False, **options)
