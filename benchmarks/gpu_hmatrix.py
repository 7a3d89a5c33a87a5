"""H-matrices on a device, and for comparison by the processor's threads: Laplace, P1, single precision, rtol 1e-4.

Assembly is timed from the space to the matrix that stands on host and device: cluster tree, touching and near pairs on
the processor, all blocks on the device. A small matrix comes first, which compiles and is held to the dense one.
"""

import time
from argparse import Namespace
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console

import calderon as cal
from benchmarks.common import results
from benchmarks.common.spheres import octahedral_sphere
from calderon.backends import Device, format_bytes

TRIANGLES = (131_072, 524_288, 2_097_152)
"""On a graphics processor: 65,538, 262,146 and 1,048,578 unknowns."""
FEW = 2048
"""On others."""
CHECKED = 1152
RTOL = 1e-4
ROWS = 100
"""Rows in which the error is measured."""


def measure(screen: Console, device: Device, late: Callable[[str], bool], options: Namespace) -> list[dict[str, Any]]:
    """A row for each size; what does not fit is said to be."""
    sizes = [options.triangles] if options.triangles else TRIANGLES if device.is_gpu else [FEW]
    columns = ["", "assembly", "product", "memory", "KiB/unknown", "largest rank", "error", "threads", "speed-up"]
    title = f"Laplace single layer P1 by H-matrix on {device.name}, single precision, rtol {RTOL:g}; seconds"
    table = results.table(title, columns)
    found = []
    small = operator_of(CHECKED)
    both, exact = (on(device), {"precision": "single"}), small.assemble().to_array()
    matrices = [small.assemble("hmatrix", rtol=RTOL, **how) for how in both]
    wrong = [each.backend for each in matrices if not relative(each.to_array(), exact) < RTOL]
    screen.print(f"[bold red]WRONG: {', '.join(wrong)}" if wrong else "H-matrices agree with the dense matrix")
    for triangles in sizes:
        if late(f"H-matrix of {triangles} triangles"):
            break
        try:
            one = timed(triangles, device, late)
        except MemoryError as error:
            screen.print(f"[yellow]{triangles} triangles: {error}")
            break
        found.append(one)
        threads = one["threads_seconds"]
        table.add_row(
            f"{one['unknowns']:,}",
            results.seconds(one["assembly_seconds"]),
            results.seconds(one["product_seconds"]),
            format_bytes(one["bytes"]),
            f"{one['bytes'] / 1024 / one['unknowns']:.1f}",
            str(one["largest_rank"]),
            f"{one['error']:.0e}",
            results.seconds(threads),
            "-" if threads is None else f"{threads / one['assembly_seconds']:.1f}",
        )
    screen.print(table)
    return found


def operator_of(triangles: int) -> Any:
    """The single layer on the octahedral sphere."""
    return cal.single_layer(cal.Laplace(), cal.P1(octahedral_sphere(triangles)))


def on(device: Device) -> dict[str, str]:
    """The options of `assemble`."""
    return {"backend": device.name, "precision": "single"}


def relative(found: Any, exact: Any) -> float:
    """Error in the Frobenius norm or that of vectors."""
    return float(np.linalg.norm(found - exact) / np.linalg.norm(exact))


def timed(triangles: int, device: Device, late: Callable[[str], bool]) -> dict[str, Any]:
    """One assembly on the device and one by the threads of the processor, unless it is late."""
    operator = operator_of(triangles)
    unknowns = operator.shape[0]
    began = time.perf_counter()
    matrix = operator.assemble("hmatrix", rtol=RTOL, **on(device))
    seconds = time.perf_counter() - began
    rng = np.random.default_rng(0)
    x = rng.standard_normal(unknowns).astype(np.float32)
    y, products = matrix @ x, []
    for _ in range(5):
        began = time.perf_counter()
        matrix @ x
        products.append(time.perf_counter() - began)
    chosen = rng.choice(unknowns, min(ROWS, unknowns), replace=False)
    exact = operator.entries(chosen, np.arange(unknowns)) @ x
    record = {
        "triangles": triangles,
        "unknowns": unknowns,
        "assembly_seconds": seconds,
        "product_seconds": min(products),
        "bytes": matrix.nbytes,
        "largest_rank": matrix.statistics.total.largest_rank,
        "mean_rank": matrix.statistics.total.mean_rank,
        "full_blocks": matrix.full,
        "error": relative(y[chosen], exact),
        "threads_seconds": None,
        "threads_bytes": None,
    }
    del matrix
    if not late(f"{triangles} triangles by threads"):
        began = time.perf_counter()
        here = operator.assemble("hmatrix", rtol=RTOL, precision="single")
        record |= {"threads_seconds": time.perf_counter() - began, "threads_bytes": here.nbytes}
    return record
