"""Products by plane waves on a device: sound (Burton and Miller) and currents (combined field); vectors stay there.

Set-up is the processor's and is timed with what is sent. Near blocks are read once a product; patterns, tables and sums
over separated boxes take the rest.
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
from calderon.operators.tree import local_matrix

TRIANGLES, FEW = (131_072, 524_288), (2048,)
"""Triangles of the body for sound on a graphics processor and on others; conductors have a quarter of them."""
RTOL, ELEMENTS = 1e-3, 10
"""Tolerance of products, and triangle edges of a wavelength."""


def sound(triangles: int) -> Any:
    """Burton and Miller's operator on the octahedral sphere."""
    mesh = octahedral_sphere(triangles)
    green, space = cal.Helmholtz(wavenumber(triangles)), cal.P1(mesh)
    layers = cal.double_layer(green, space), cal.hypersingular(green, space)
    return 0.5 * cal.identity(space) - layers[0] + (1j / green.wavenumber) * layers[1]


def conductor(triangles: int) -> Any:
    """A combined field."""
    mesh = octahedral_sphere(triangles // 4)
    green, space = cal.Helmholtz(wavenumber(triangles // 4)), cal.RWG(mesh)
    return cal.electric_field(green, space) - cal.magnetic_field(green, space)


def wavenumber(triangles: int) -> float:
    """Wavenumber of waves that are ELEMENTS edges of such a sphere long."""
    edge = float(np.sqrt(4 * np.pi / triangles * 4 / np.sqrt(3)))
    return 2 * np.pi / (ELEMENTS * edge)


CASES: dict[str, Callable[[int], Any]] = {"sound": sound, "conductor": conductor}


def measure(screen: Console, device: Device, late: Callable[[str], bool], options: Namespace) -> list[dict[str, Any]]:
    """A row for each operator and size, compared with the processor's products."""
    sizes = [options.triangles] if options.triangles else TRIANGLES if device.is_gpu else FEW
    columns = ["", "unknowns", "levels", "set-up", "product", "processor", "speed-up", "memory", "error", "change"]
    table = results.table(f"products by plane waves on {device.name}; seconds", columns)
    found = []
    for name, build in CASES.items():
        for triangles in sizes:
            if late(f"plane waves of {name}, {triangles} triangles"):
                break
            one = timed(build(triangles), device, options.repeat) | {"operator": name}
            found.append(one)
            shown = (results.seconds(one[key]) for key in ("seconds", "product_seconds", "threads_seconds"))
            table.add_row(
                name, f"{one['unknowns']:,}", str(one["levels"]), *shown,
                f"{one['threads_seconds'] / one['product_seconds']:.1f}", format_bytes(one["bytes"]),
                f"{one['error']:.0e}", f"{one['change']:.0e}",
            )  # fmt: skip
    screen.print(table)
    wrong = [one["operator"] for one in found if not one["change"] < RTOL]
    screen.print(f"[bold red]WRONG: {', '.join(wrong)}" if wrong else "products agree with the processor's")
    return found


def timed(operator: Any, device: Device, repeat: int) -> dict[str, Any]:
    """One row. change: difference from a product by the processor's threads, relative; plane waves of boxes of a third
    of a wavelength cancel in single precision, so that it may be a tenth of the tolerance."""
    began = time.perf_counter()
    matrix = operator.assemble("mlfmm", rtol=RTOL, backend=device.name)
    seconds = time.perf_counter() - began
    (medium,) = matrix.media
    random = np.random.default_rng(0)
    x = random.standard_normal(operator.shape[1]) + 1j * random.standard_normal(operator.shape[1])
    kind = np.float64 if device.has_double else np.float32
    given = device.array(np.stack([x.real, x.imag], axis=1).astype(kind))

    def product() -> None:
        matrix.times(given)
        device.synchronize()

    def on_processor() -> Any:
        return medium.product(x[:, None])[:, 0] + local_matrix(operator) @ x

    product()
    expected = on_processor()
    return {
        "unknowns": operator.shape[0],
        "levels": len(matrix.levels[0]),
        "seconds": seconds,
        "product_seconds": best_of(repeat, product),
        "threads_seconds": best_of(repeat, on_processor),
        "bytes": matrix.nbytes,
        "error": matrix.error,
        "change": float(np.linalg.norm(matrix @ x - expected) / np.linalg.norm(expected)),
    }
