"""Kernels of a device: assembly, row by row, and potentials.

Kernels are timed one by one: after each launch and each transfer the device is waited for. The whole of an assembly is
timed without that. Evaluations are those of the regular part, (pairs of triangles) times (points a triangle)^2,
symmetric operators by half. Every row is first compared with the processor in double precision on small meshes.
Of a matrix larger than STRIP as many rows as STRIP holds are computed.
"""

from argparse import Namespace
from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np
from rich.console import Console

import calderon as cal
from benchmarks import assembly
from benchmarks.common import results
from benchmarks.common.machine import best_of
from benchmarks.common.spheres import octahedral_sphere
from benchmarks.gpu.limits import Limits
from benchmarks.gpu.rows import Section
from calderon.backends import Counters, Device, Execution, format_bytes, free_memory, real_type
from calderon.operators.tree import ArrayPlace, fill
from calderon.quadrature import triangle_rule

ROWS = [
    assembly.Row(equation, layer, space, precision)
    for equation, layer, space in [
        ("laplace", "single_layer", "P0"),
        ("laplace", "single_layer", "P1"),
        ("laplace", "double_layer", "P1"),
        ("helmholtz", "single_layer", "P0"),
        ("helmholtz", "single_layer", "P1"),
        ("helmholtz", "double_layer", "P1"),
        ("helmholtz", "hypersingular", "P1"),
        ("helmholtz", "electric_field", "RWG"),
        ("helmholtz", "magnetic_field", "RWG"),
    ]
    for precision in ("double", "single")
]
CHECKED = (128, 512, 2048)
"""Triangles of the comparisons with the processor."""
BOUNDS = {"double": 1e-12, "single": 1e-5}
"""Bounds of the device's errors, relative to the largest entry."""
SIZES = (8192, 32_768, 131_072)
"""Triangles on a graphics processor."""
STRIP = 1 << 30
"""Bytes of the rows that are computed of a large matrix."""


def is_wrong(row: assembly.Row, error: float) -> bool:
    """Whether it is above the bound, and in single precision above twice the processor's own in that precision."""
    within = error < BOUNDS[row.precision] or row.precision == "single" and error < 2 * error_of(row, "numba")
    return not within


def error_of(row: assembly.Row, backend: str) -> float:
    """Largest difference from the processor's matrix in double precision, relative to its largest entry."""
    errors = []
    for triangles in CHECKED:
        operator = assembly.operator_of(row, octahedral_sphere(triangles))
        reference = operator.assemble().to_array()
        matrix = operator.assemble(backend=backend, precision=row.precision).to_array()
        errors.append(float(np.abs(matrix - reference).max() / np.abs(reference).max()))
    return max(errors)


def assemblies(
    screen: Console, device: Device, precisions: list[str], limits: Limits, options: Namespace
) -> Iterator[Section]:
    """Names of all operators and sizes, the seconds that they may take on a card, and what gives their figures."""
    sizes = [options.triangles] if options.triangles else SIZES if device.is_gpu else [2048]
    error = cache(lambda row: error_of(row, device.name))
    mesh_of = cache(octahedral_sphere)

    def run(row: assembly.Row, triangles: int) -> dict[str, Any]:
        if 2 * STRIP > free_memory():
            raise MemoryError(f"{format_bytes(2 * STRIP)} do not fit into the memory of the host")
        mesh = mesh_of(triangles)
        one = timed(row, assembly.operator_of(row, mesh), device, options.repeat)
        one |= {"triangles": mesh.number_of_triangles, "error": error(row)}
        one["fraction_of_flops"] = one["evaluations_per_second"] * operations(row) / limits.flops(row.precision)
        wrong = "[bold red]WRONG[/bold red], " if is_wrong(row, one["error"]) else ""
        screen.print(
            f"{row.name}, {mesh.number_of_triangles:,} triangles: {wrong}error {one['error']:.0e}, "
            f"{one['evaluations_per_second'] / 1e9:.3g}e9 evaluations/s, {one['fraction_of_flops']:.0%} of flops; "
            f"whole {results.seconds(one['seconds'])} s, first call {results.seconds(one['first_call_seconds'])} s"
        )
        return one

    for triangles in sizes:
        for row in ROWS:
            if row.precision in precisions:
                yield Section(f"kernels {row.name} {triangles}", 5.0, partial(run, row, triangles))


def operations(row: assembly.Row) -> float:
    """Operations of one evaluation with the sums over test points, counted as for the processor."""
    functions = {"P0": 1, "P1": 3, "RWG": 4 if row.layer == "magnetic_field" else 3}[row.space]
    return assembly.OPERATIONS[row.equation, row.precision] + 2 * functions * (2 if row.equation == "helmholtz" else 1)


def timed(row: assembly.Row, operator: Any, device: Device, repeat: int) -> dict[str, Any]:
    """Seconds of one row, its whole matrix or some rows of it, and kernel by kernel in a further run."""
    kind = operator.dtype(row.precision)
    height = min(operator.shape[0], STRIP // (operator.shape[1] * kind.itemsize))
    in_strips = height < operator.shape[0]
    out = np.zeros((height, operator.shape[1]), kind)

    def run() -> None:
        execution = Execution(np.dtype(real_type(row.precision)), device)
        if in_strips:
            operator.add_to(ArrayPlace(out, execution), 1.0, np.arange(height), None)
        else:
            out.fill(0)
            fill(ArrayPlace(out, execution), operator)

    first, whole = best_of(1, run), best_of(repeat, run)
    with Counters(device) as counters:
        run()
    parts = {name: work.seconds for name, work in counters.works.items()}
    evaluations = sum(work.evaluations for name, work in counters.works.items() if name.endswith("regular"))
    regular = sum(parts.pop(name) for name in list(parts) if name.endswith("regular"))
    return {
        **row._asdict(),
        "seconds": whole,
        "first_call_seconds": first,
        "regular_seconds": regular,
        "evaluations_per_second": evaluations / regular,
        "near_seconds": sum(value for name, value in parts.items() if name.endswith(("moments", "place"))),
        "gather_seconds": parts.get("gather", 0.0),
        "to_host_seconds": parts["to host"],
        "to_device_seconds": parts["to device"],
        "rows": height,
    }


def potentials(screen: Console, device: Device, precisions: list[str], options: Namespace) -> Iterator[Section]:
    """The electric field of an RWG current, k = 1, at points on the sphere of radius 2, for each precision."""

    def run(precision: str) -> dict[str, Any]:
        mesh = octahedral_sphere(options.triangles or (32_768 if device.is_gpu else 2048))
        current = cal.VectorFunction.interpolate(cal.RWG(mesh), lambda x, n: np.eye(3)[0] - n * n[:, :1])
        potential = cal.electric_field_potential(1.0, current)
        number = options.points if device.is_gpu or options.triangles else options.points // 10
        directions = np.random.default_rng(0).standard_normal((number, 3))
        points = 2 * directions / np.linalg.norm(directions, axis=1, keepdims=True)
        exact = potential.evaluate(points[:500])

        def evaluated() -> Any:
            return potential.evaluate(points, backend=device.name, precision=precision)

        first, seconds = best_of(1, evaluated), best_of(options.repeat, evaluated)
        error = float(np.abs(evaluated()[:500] - exact).max() / np.abs(exact).max())
        sources = mesh.number_of_triangles * triangle_rule(cal.Quadrature().regular).number_of_points
        rate = sources * number / seconds
        screen.print(
            f"electric potential of {mesh.number_of_triangles:,} triangles at {number:,} points, {precision}: "
            f"{results.seconds(seconds)} s, {rate / 1e9:.3g}e9 pairs/s, first call {results.seconds(first)} s, error "
            f"{error:.0e}"
        )
        return {
            "precision": precision,
            "triangles": mesh.number_of_triangles,
            "points": number,
            "seconds": seconds,
            "pairs_per_second": rate,
            "first_call_seconds": first,
            "error": error,
        }

    for precision in precisions:
        yield Section(f"potential electric {precision}", 5.0, partial(run, precision))
