"""Speed of a device, the first of CUDA or else of OpenCL: assembly, potentials, transfers, solutions on the device,
H-matrices, fast multipole products, time stepping.

Kernels are timed one by one: after each launch and each transfer the device is waited for. The whole of an assembly is
timed without that. Evaluations are those of the regular part, (pairs of triangles) times (points a triangle)^2,
symmetric operators by half. Every row is first compared with the processor in double precision on small meshes.
Of a matrix larger than STRIP as many rows as STRIP holds are computed. What would begin after --seconds is left out,
and said to be.
"""

import time
from argparse import Namespace
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from rich.console import Console

import calderon as cal
from benchmarks import assembly, gpu_dg, gpu_fmm, gpu_hmatrix, gpu_mlfmm, gpu_solves
from benchmarks.common import results
from benchmarks.common.machine import Floor, best_of
from benchmarks.common.spheres import octahedral_sphere
from calderon.backends import Device, Execution, Source, format_bytes, free_memory, real_type
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


@dataclass
class Stopwatch:
    """A device whose every launch and transfer is waited for and timed: `seconds` by kernel, "to device", "to host"."""

    device: Device
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    pairs: int = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.device, name)

    def _timed(self, name: str, run: Callable[[], Any]) -> Any:
        self.device.synchronize()
        began = time.perf_counter()
        result = run()
        self.device.synchronize()
        self.seconds[name] += time.perf_counter() - began
        return result

    def launch(self, program: Any, kernel: str, *arguments: Any) -> None:
        if kernel.endswith("regular"):
            self.pairs += int(np.prod(arguments[0]))
        self._timed(kernel, lambda: self.device.launch(program, kernel, *arguments))

    def array(self, host: Any) -> Any:
        return self._timed("to device", lambda: self.device.array(host))

    def to_host(self, array: Any) -> Any:
        return self._timed("to host", lambda: self.device.to_host(array))

    def fetch(self, array: Any) -> Any:
        found = self._timed("to host", lambda: self.device.fetch(array)())
        return lambda: found


@dataclass(frozen=True)
class Text(Source):
    """A source that is not a file of the package: `path` names it, `code` follows the prelude."""

    code: str = ""

    @property
    def text(self) -> str:
        return Source("backends/prelude.h", self.real).text + self.code


PEAK = """
KERNEL multiply_add(GLOBAL real_type *x, int repeats)
{
    real_type a = x[THREAD(0)], b = a * R(0.5), c = a * R(0.25), s0 = a, s1 = a + b, s2 = a + c, s3 = b + c;
    real_type s4 = a - b, s5 = a - c, s6 = b - c, s7 = b + b;
    for (int n = 0; n < repeats; n++) {
        s0 = s0 * b + c, s1 = s1 * b + c, s2 = s2 * b + c, s3 = s3 * b + c;
        s4 = s4 * b + c, s5 = s5 * b + c, s6 = s6 * b + c, s7 = s7 * b + c;
    }
    x[THREAD(0)] = ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7));
}
"""
"""Eight independent chains of multiply-adds in registers."""


def measure(screen: Console, floor: Floor, options: Namespace) -> dict[str, Any]:
    """Everything on one device, as tables and as a record; ends at once where there is none."""
    began = time.perf_counter()

    def late(what: str) -> bool:
        if time.perf_counter() - began > options.seconds:
            screen.print(f"[yellow]left out after {options.seconds:.0f} s: {what}")
        return time.perf_counter() - began > options.seconds

    device = first_device()
    if device is None:
        found = {name: cal.backends.survey(name) for name in cal.backends.DEVICE_BACKENDS}
        reasons = {name: each.missing or each.failures for name, each in found.items()}
        screen.print("no device: " + "; ".join(f"{name}: {reason}" for name, reason in reasons.items()))
        return {"device": None, "reasons": reasons}
    precisions = ["double", "single"] if device.has_double else ["single"]
    peaks = {name: peak(device, name) if device.is_gpu else getattr(floor, name) for name in precisions}
    rates = transfers(device)
    shown = ", ".join(f"{value / 1e9:.3g} Gflop/s {precision}" for precision, value in peaks.items())
    speeds = ", ".join(f"{value / 1e9:.3g} GB/s {name}" for name, value in rates.items())
    screen.print(f"{device.name}: {device.label}, {format_bytes(device.memory())}\nmeasured: {shown}; {speeds}")
    sizes = [options.triangles] if options.triangles else SIZES if device.is_gpu else [2048]
    record: dict[str, Any] = {"device": device.name, "label": device.label, "flops": peaks, "bytes_per_second": rates}
    rows = [row for row in ROWS if options.only in row.name and row.precision in precisions]
    errors = record["errors"] = {row.name: error_of(row, device.name) for row in rows}
    wrong = [f"{row.name} {errors[row.name]:.1e}" for row in rows if is_wrong(row, errors[row.name])]
    if rows:
        screen.print(f"[bold red]WRONG: {', '.join(wrong)}" if wrong else "every matrix agrees with the processor's")
    sizes = sizes if rows else []
    if options.only in "electric potential":
        record["potentials"] = potentials(screen, device, precisions, options)
    if options.only in "solutions":
        record["solutions"] = gpu_solves.measure(screen, device, precisions, options)
    if options.only in "hmatrix":
        record["hmatrix"] = gpu_hmatrix.measure(screen, device, late, options)
    if options.only in "fast multipole":
        record["fmm"] = gpu_fmm.measure(screen, device, late, options)
    if options.only in "plane waves":
        record["mlfmm"] = gpu_mlfmm.measure(screen, device, late, options)
    copied = copy_rate(device)
    record["device_bytes_per_second"] = copied
    screen.print(f"copy on the device: {copied / 1e9:.3g} GB/s, read plus write")
    record["time stepping"] = gpu_dg.measure(screen, device, precisions, copied, late, options)
    record["assembly"] = []
    for size in sizes:
        if not late(f"assembly with {size} triangles"):
            record["assembly"] += assemblies(screen, device, peaks, rows, errors, size, late, options)
    record["seconds"] = time.perf_counter() - began
    screen.print(f"{record['seconds']:.0f} s in all")
    return record


def first_device() -> Device | None:
    """The first CUDA device, else the first OpenCL one, else None."""
    return next((each for name in ("cuda", "opencl") for each in cal.backends.survey(name).devices), None)


def peak(device: Device, precision: str) -> float:
    """Operations per second of multiply-adds from registers, a multiply-add as two."""
    kind = np.dtype(real_type(precision))
    program = device.build(Text("multiply_add", "double" if precision == "double" else "float", code=PEAK))
    threads, repeats = (1 << 20, 4096) if device.is_gpu else (1 << 12, 1 << 16)
    x = device.array(np.full(threads, 0.5, kind))

    def run() -> None:
        device.launch(program, "multiply_add", (threads,), (256,), x, repeats)
        device.synchronize()

    run()
    return 2 * 8 * threads * repeats / best_of(3, run)


def transfers(device: Device, megabytes: int = 256) -> dict[str, float]:
    """Bytes per second to the device and back, from and to ordinary memory; "fetched" as rows of matrices are."""
    host = np.ones(megabytes * 125_000)
    watch = Stopwatch(device)
    best: dict[str, float] = {}
    for _ in range(3):
        watch.seconds.clear()
        watch.to_host(watch.array(host))
        array = device.array(host)
        device.synchronize()
        began = time.perf_counter()
        device.fetch(array)()
        watch.seconds["fetched"] = time.perf_counter() - began
        best = {name: min(value, best.get(name, value)) for name, value in watch.seconds.items()}
    return {name: host.nbytes / value for name, value in best.items()}


COPY = """
KERNEL copied(GLOBAL const real_type *x, GLOBAL real_type *y, int n)
{
    int k = THREAD(0);
    if (k < n)
        y[k] = x[k];
}
"""


def copy_rate(device: Device, megabytes: int = 512) -> float:
    """Bytes read and written per second by a kernel that copies an array."""
    count = (megabytes if device.is_gpu else megabytes // 8) * 250_000
    program = device.build(Text("copied", "float", code=COPY))
    x, y = device.array(np.ones(count, np.float32)), device.empty((count,), np.float32)

    def run() -> None:
        device.launch(program, "copied", (count,), (256,), x, y, count)
        device.synchronize()

    run()
    return 8 * count / best_of(5, run)


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
    screen: Console,
    device: Device,
    peaks: dict[str, float],
    rows: list[assembly.Row],
    errors: dict[str, float],
    triangles: int,
    late: Callable[[str], bool],
    options: Namespace,
) -> list[dict[str, Any]]:
    """A table of all rows for one mesh; those whose matrix the host cannot hold are left out and said to be."""
    mesh = octahedral_sphere(triangles)
    columns = ["", "whole", "regular", "10^9 eval/s", "of flops", "near", "rows", "to host", "first call", "error"]
    table = results.table(f"assembly on {device.name}, {mesh.number_of_triangles} triangles; seconds", columns)
    found = []
    for row in rows:
        if late(f"{row.name}, {triangles} triangles"):
            continue
        operator = assembly.operator_of(row, mesh)
        if 2 * STRIP > free_memory():
            table.add_row(f"{row.name}: {format_bytes(2 * STRIP)} do not fit into the memory of the host")
            continue
        one = timed(row, operator, device, options.repeat)
        one |= {"triangles": mesh.number_of_triangles, "error": errors[row.name]}
        one["fraction_of_flops"] = one["evaluations_per_second"] * operations(row) / peaks[row.precision]
        found.append(one)
        parts = (
            "seconds",
            "regular_seconds",
            "near_seconds",
            "gather_seconds",
            "to_host_seconds",
            "first_call_seconds",
        )
        whole, regular, *others, first = (results.seconds(one[name]) for name in parts)
        rate, share = f"{one['evaluations_per_second'] / 1e9:.3g}", f"{one['fraction_of_flops']:.0%}"
        table.add_row(row.name, whole, regular, rate, share, *others, first, f"{one['error']:.0e}")
    screen.print(table)
    return found


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

    def run(where: Any = device) -> None:
        execution = Execution(np.dtype(real_type(row.precision)), where)
        if in_strips:
            operator.add_to(ArrayPlace(out, execution), 1.0, np.arange(height), None)
        else:
            out.fill(0)
            fill(ArrayPlace(out, execution), operator)

    first, whole = best_of(1, run), best_of(repeat, run)
    watch = Stopwatch(device)
    run(watch)
    parts = dict(watch.seconds)
    regular = sum(parts.pop(name) for name in list(parts) if name.endswith("regular"))
    points = triangle_rule(operator.quadrature.regular).number_of_points
    share = 0.5 if operator.is_symmetric and not in_strips else 1.0
    return {
        **row._asdict(),
        "seconds": whole,
        "first_call_seconds": first,
        "regular_seconds": regular,
        "evaluations_per_second": share * watch.pairs * points**2 / regular,
        "near_seconds": sum(value for name, value in parts.items() if name.endswith(("moments", "place"))),
        "gather_seconds": parts.get("gather", 0.0),
        "to_host_seconds": parts["to host"],
        "to_device_seconds": parts["to device"],
        "rows": height,
        "pairs_integrated": share,
    }


def potentials(screen: Console, device: Device, precisions: list[str], options: Namespace) -> list[dict[str, Any]]:
    """The electric field of an RWG current, k = 1, at points on the sphere of radius 2."""
    mesh = octahedral_sphere(options.triangles or (32_768 if device.is_gpu else 2048))
    edges = cal.RWG(mesh)
    current = cal.VectorFunction.interpolate(edges, lambda x, n: np.eye(3)[0] - n * n[:, :1])
    potential = cal.electric_field_potential(1.0, current)
    number = options.points if device.is_gpu or options.triangles else options.points // 10
    directions = np.random.default_rng(0).standard_normal((number, 3))
    points = 2 * directions / np.linalg.norm(directions, axis=1, keepdims=True)
    sources = mesh.number_of_triangles * triangle_rule(cal.Quadrature().regular).number_of_points
    screen.print(f"electric potential on {device.name}, {mesh.number_of_triangles} triangles at {number} points")
    table = results.table("", ["", "s", "10^9 pairs/s", "first call s", "error"])
    exact = potential.evaluate(points[:500])
    found = []
    for precision in precisions:

        def run(precision: str = precision) -> Any:
            return potential.evaluate(points, backend=device.name, precision=precision)

        first, seconds = best_of(1, run), best_of(options.repeat, run)
        error = float(np.abs(run()[:500] - exact).max() / np.abs(exact).max())
        rate = sources * number / seconds
        found.append(
            {
                "precision": precision,
                "triangles": mesh.number_of_triangles,
                "points": number,
                "seconds": seconds,
                "pairs_per_second": rate,
                "first_call_seconds": first,
                "error": error,
            }
        )
        cells = (results.seconds(seconds), f"{rate / 1e9:.3g}", results.seconds(first), f"{error:.0e}")
        table.add_row(precision, *cells)
    screen.print(table)
    return found
