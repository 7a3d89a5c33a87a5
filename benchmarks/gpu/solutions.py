"""Work that stays on a device: matrices there, GMRES and LU with them, and products without a matrix."""

import time
from argparse import Namespace
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from rich.console import Console

import calderon as cal
from benchmarks.common import results
from benchmarks.common.machine import best_of
from benchmarks.common.spheres import octahedral_sphere
from benchmarks.gpu.rows import Section
from calderon.backends import Device, LinearAlgebra, format_bytes
from calderon.quadrature import triangle_rule

UNKNOWNS, FEW = 32_768, 2048
"""Unknowns of the dense matrix and the products, on a graphics processor and on others."""
WAVENUMBER = 2.0


def rows(screen: Console, device: Device, precisions: list[str], options: Namespace) -> Iterator[Section]:
    """Assembly, GMRES, LU (CUDA) and a product without the matrix, all of one operator, for each precision."""

    def run(precision: str) -> dict[str, Any]:
        space = cal.P0(octahedral_sphere(options.triangles or (UNKNOWNS if device.is_gpu else FEW)))
        operator = 0.5 * cal.identity(space) - cal.double_layer(cal.Helmholtz(WAVENUMBER), space)
        needed = 2 * space.dimension**2 * operator.dtype(precision).itemsize
        if needed > device.memory():
            raise MemoryError(f"{format_bytes(needed)} do not fit on {device.name}")
        one = solve(operator, device, precision, options.repeat)
        said = {name: results.seconds(value) for name, value in one.items() if name.endswith("seconds")}
        screen.print(
            f"dense, {space.dimension:,} unknowns, {precision}: assembly {said['seconds']} s, product "
            f"{said['product_seconds']} s ({one['bytes_per_second'] / 1e9:.3g} GB/s), GMRES {said['gmres_seconds']} s "
            f"in {one['steps']} steps, LU {said['lu_seconds']} s, matrix-free {said['matrix_free_seconds']} s, error "
            f"{one['error']:.0e}"
        )
        return one

    for precision in precisions:
        yield Section(f"solutions dense {precision}", 10.0, partial(run, precision))


def solve(operator: Any, device: Device, precision: str, repeat: int) -> dict[str, Any]:
    """One row; `error`: the largest of those of the solutions and of the product without a matrix, relative."""
    size, rtol = operator.shape[0], 1e-8 if precision == "double" else 1e-5
    matrix = operator.assemble(backend=device.name, precision=precision, keep_on_device=True)
    solution = np.exp(1j * np.arange(size))
    b = matrix @ solution
    on_device = device.array(np.zeros((size, 2), np.float64 if device.has_double else np.float32))

    def product() -> None:
        matrix.times(on_device)
        device.synchronize()

    product_seconds = best_of(repeat, product)
    x, info = cal.gmres(matrix, b, rtol=rtol)
    free = operator.assemble("matrix-free", backend=device.name, precision=precision)
    errors = [np.linalg.norm(x - solution) / size**0.5, np.linalg.norm(free @ solution - b) / np.linalg.norm(b)]
    points = triangle_rule(cal.Quadrature().regular).number_of_points
    free_seconds = best_of(1, lambda: free @ solution)
    record = {
        "precision": precision,
        "unknowns": size,
        "seconds": matrix.seconds,
        "product_seconds": product_seconds,
        "bytes_per_second": matrix.nbytes / product_seconds,
        "gmres_seconds": info.seconds,
        "steps": info.iterations,
        "matrix_free_seconds": free_seconds,
        "matrix_free_evaluations_per_second": (size * points) ** 2 / free_seconds,
        "lu_seconds": None,
        "lu_flops": None,
        "lu_solve_seconds": None,
    }
    if isinstance(device, LinearAlgebra):
        factors = cal.lu(matrix, overwrite=True)
        began = time.perf_counter()
        errors.append(np.linalg.norm(factors.solve(b) - solution) / size**0.5)
        record |= {"lu_seconds": factors.seconds, "lu_flops": 8 / 3 * size**3 / factors.seconds}
        record["lu_solve_seconds"] = time.perf_counter() - began
    return record | {"error": float(max(errors))}
