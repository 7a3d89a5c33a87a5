"""Work that stays on a device: matrices there, GMRES and LU with them, and products without a matrix."""

import time
from argparse import Namespace
from typing import Any

import numpy as np
from rich.console import Console

import calderon as cal
from benchmarks.common import results
from benchmarks.common.machine import best_of
from benchmarks.common.spheres import octahedral_sphere
from calderon.backends import Device, LinearAlgebra, format_bytes
from calderon.quadrature import triangle_rule

UNKNOWNS, FEW = 32_768, 2048
"""Unknowns of the dense matrix and the products, on a graphics processor and on others."""
WAVENUMBER = 2.0


def measure(screen: Console, device: Device, precisions: list[str], options: Namespace) -> list[dict[str, Any]]:
    """A row for each precision: assembly, GMRES, LU (CUDA) and a product without the matrix, all of one operator."""
    mesh = octahedral_sphere(options.triangles or (UNKNOWNS if device.is_gpu else FEW))
    space = cal.P0(mesh)
    operator = 0.5 * cal.identity(space) - cal.double_layer(cal.Helmholtz(WAVENUMBER), space)
    columns = ["", "assembly s", "product s", "GB/s", "GMRES s", "steps", "LU s", "Tflop/s", "matrix-free s", "error"]
    table = results.table(f"P0 double layer on {device.name}, {space.dimension} unknowns, staying there", columns)
    found = []
    for precision in precisions:
        needed = 2 * space.dimension**2 * operator.dtype(precision).itemsize
        if needed > device.memory():
            table.add_row(f"{precision}: {format_bytes(needed)} do not fit")
            continue
        one = solve(operator, device, precision, options.repeat)
        found.append(one)
        shown = ("seconds", "product_seconds", "gmres_seconds", "lu_seconds", "matrix_free_seconds")
        assembly, product, gmres, lu, free = (results.seconds(one[name]) for name in shown)
        rate = "-" if one["lu_flops"] is None else f"{one['lu_flops'] / 1e12:.3g}"
        speed, steps, error = f"{one['bytes_per_second'] / 1e9:.3g}", str(one["steps"]), f"{one['error']:.0e}"
        table.add_row(precision, assembly, product, speed, gmres, steps, lu, rate, free, error)
    screen.print(table)
    return found


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
