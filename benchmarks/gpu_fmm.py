"""Fast multipole products on a device: Laplace in single precision, elastostatics, with vectors that stay there.

Set-up is the processor's and is timed with what is sent. A product reads all near blocks and moments of functions once:
the bytes of the operator over the time of a product, compared with the rate of a copy, say how far it is from that.
"""

import time
from argparse import Namespace
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console

import calderon as cal
from benchmarks.common import results
from benchmarks.common.machine import best_of
from benchmarks.common.spheres import octahedral_sphere
from calderon.backends import Device, format_bytes

TRIANGLES, FEW = (131_072, 524_288), (512,)
"""Triangles for Laplace's equation on a graphics processor and on others; elastic bodies have a quarter of them."""
RTOL = 1e-4


def laplace(triangles: int) -> Any:
    """The single layer on the octahedral sphere."""
    return cal.single_layer(cal.Laplace(), cal.P1(octahedral_sphere(triangles)))


def elastic(triangles: int) -> Any:
    """The double layer of displacements there."""
    space = cal.P1(octahedral_sphere(triangles // 4), components=3)
    return cal.double_layer(cal.Elastostatic(1.0, 0.3), space)


CASES: dict[str, tuple[Callable[[int], Any], float]] = {"laplace": (laplace, RTOL), "elastic": (elastic, 10 * RTOL)}
"""Operators and tolerances."""


def measure(screen: Console, device: Device, late: Callable[[str], bool], options: Namespace) -> list[dict[str, Any]]:
    """A row for each operator and size, compared with the processor's products."""
    sizes = [options.triangles] if options.triangles else TRIANGLES if device.is_gpu else FEW
    columns = [
        "",
        "unknowns",
        "set-up",
        "product",
        "GB/s",
        "processor",
        "speed-up",
        "memory",
        "order",
        "error",
        "change",
    ]
    table = results.table(f"fast multipole products on {device.name}; seconds", columns)
    found = []
    for name, (build, rtol) in CASES.items():
        for triangles in sizes:
            if late(f"fast multipole {name} of {triangles} triangles"):
                break
            one = timed(build(triangles), rtol, device, options.repeat) | {"operator": name}
            found.append(one)
            shown = (results.seconds(one[key]) for key in ("seconds", "product_seconds"))
            rate, ratio = one["bytes"] / one["product_seconds"] / 1e9, one["threads_seconds"] / one["product_seconds"]
            table.add_row(
                name, f"{one['unknowns']:,}", *shown, f"{rate:.3g}", results.seconds(one["threads_seconds"]),
                f"{ratio:.1f}", format_bytes(one["bytes"]), str(one["order"]), f"{one['error']:.0e}",
                f"{one['change']:.0e}",
            )  # fmt: skip
    screen.print(table)
    wrong = [one["operator"] for one in found if not one["change"] < 1e-5]
    screen.print(f"[bold red]WRONG: {', '.join(wrong)}" if wrong else "products agree with the processor's")
    return found


def timed(operator: Any, rtol: float, device: Device, repeat: int) -> dict[str, Any]:
    """One row. change: difference from a product by the processor's threads, relative."""
    began = time.perf_counter()
    matrix = operator.assemble("fmm", rtol=rtol, backend=device.name)
    seconds = time.perf_counter() - began
    x = np.random.default_rng(0).standard_normal(operator.shape[1])
    pairs = np.stack([x, np.zeros_like(x)], axis=1)
    given = device.array(pairs.astype(np.float64 if device.has_double else np.float32))

    def product() -> None:
        matrix.times(given, 0, is_complex=False)
        device.synchronize()

    product()
    product_seconds = best_of(repeat, product)
    host = operator.assemble("fmm", rtol=rtol)
    expected = host @ x
    return {
        "unknowns": operator.shape[0],
        "seconds": seconds,
        "product_seconds": product_seconds,
        "threads_seconds": best_of(repeat, lambda: host @ x),
        "bytes": matrix.nbytes,
        "order": matrix.info[0].order,
        "error": matrix.error,
        "change": float(np.linalg.norm(matrix @ x - expected) / np.linalg.norm(expected)),
    }
