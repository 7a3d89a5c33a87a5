"""Totals of a row on a device: set-up by phases with its host seconds, product, error, memory."""

import time
from typing import Any

import numpy as np

from benchmarks.common.machine import best_of
from benchmarks.gpu.rows import Row
from benchmarks.gpu.sampler import Sampler, phases_of
from benchmarks.problems import solids
from calderon.backends import Device, OnDevice

CHECKED = 64
"""Rows in which the error of a matrix that does not know its own is measured."""
WARM = 2_000
"""Unknowns of a set-up before, which compiles."""


def total(row: Row, unknowns: int, device: Device, repeat: int) -> dict[str, Any]:
    """The record of one row.

    first_seconds: of a small set-up before, which compiles. seconds: wall-clock of the set-up, by phase in `phases`.
    host_seconds: processor time of Python's threads without transfers and waits, by phase in `host_phases`.
    """
    began = time.perf_counter()
    row.set_up(row.build(min(WARM, unknowns)), device.name)
    first, given = time.perf_counter() - began, row.build(unknowns)
    began = time.perf_counter()
    with Sampler() as sampler:
        made = row.set_up(given, device.name)
        device.synchronize()
    record = {
        "row": row.name,
        "seconds": time.perf_counter() - began,
        "first_seconds": first,
        "host_seconds": sampler.host,
        "shared_seconds": sampler.shared,
        "phases": phases_of(sampler.passed),
        "host_phases": phases_of(sampler.used),
        "single": row.single,
    }
    if hasattr(made, "potential"):
        return record | sums_of(row, given, made, device, repeat)
    return record | (solution_of(made) if hasattr(made, "displacement") else product_of(given, made, device, repeat))


def sums_of(row: Row, given: Any, made: Any, device: Device, repeat: int) -> dict[str, Any]:
    """Seconds of further sums over points, as after each step of points that move; error and memory."""
    seconds = best_of(repeat, lambda: row.set_up(given, device.name))
    return {"unknowns": given.unknowns, "product_seconds": seconds, "points_per_second": given.unknowns / seconds,
            "bytes": made.info.nbytes, "error": made.info.error}  # fmt: skip


def product_of(operator: Any, matrix: Any, device: Device, repeat: int) -> dict[str, Any]:
    """Product, error and memory of a matrix; vectors of products stay on the device where it takes them."""
    size, rng = operator.shape[1], np.random.default_rng(0)
    x = rng.standard_normal(size).astype(np.empty(0, matrix.dtype).real.dtype)
    if isinstance(matrix, OnDevice):
        pairs = np.stack([x, np.zeros_like(x)], axis=1)
        there = device.array(pairs.astype(np.float64 if device.has_double else np.float32))

        def product() -> None:
            matrix.times(there)
            device.synchronize()
    else:

        def product() -> None:
            matrix @ x

    product()
    found = {"unknowns": size, "product_seconds": best_of(repeat, product), "bytes": int(matrix.nbytes)}
    if hasattr(matrix, "error"):
        return found | {"error": matrix.error}
    rows = np.sort(rng.choice(size, min(CHECKED, size), replace=False))
    exact = operator.entries(rows, np.arange(size)) @ x
    return found | {"error": float(np.linalg.norm((matrix @ x)[rows] - exact) / np.linalg.norm(exact))}


def solution_of(solution: Any) -> dict[str, Any]:
    """Steps, memory and errors of the bracket's solution."""
    errors = solids.errors(solution)
    return {"unknowns": solution.displacement.at_nodes.size, "info": str(solution.info), "errors": errors,
            "error": abs(errors["u_z 4"])}  # fmt: skip
