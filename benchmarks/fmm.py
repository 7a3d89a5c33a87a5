"""Fast multipole sums and operators: seconds of set-up and of products, memory, measured error.

Sums are timed whole, with tree, lists and the check at 64 points, in seconds of processor time; their errors are those
at 100 other points. Operators are timed
from the space to the first product, which is checked in 64 rows.
"""

import itertools
import time
from argparse import Namespace
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

import calderon as cal
from benchmarks.common.machine import Floor

POINTS = 100_000, 1_000_000
TOLERANCES = 1e-4, 1e-6, 1e-9
EDGES = 0.0296, 0.0148, 0.0093
"""Mean edges of unit spheres."""
COLUMNS = 8


def points_of(kind: str, count: int) -> NDArray[np.float64]:
    """Random points on a sphere or in a cube."""
    random = np.random.default_rng(5)
    if kind == "cube":
        return random.uniform(size=(count, 3))
    x = random.standard_normal((count, 3))
    return x / np.linalg.norm(x, axis=1)[:, None]


def least(run: Callable[[], Any], repeat: int) -> tuple[float, float]:
    """Smallest processor time and wall-clock time."""
    found = []
    for _ in range(repeat):
        started = time.process_time(), time.perf_counter()
        run()
        found.append((time.process_time() - started[0], time.perf_counter() - started[1]))
    cpu, wall = zip(*found, strict=True)
    return min(cpu), min(wall)


def errors_of(found: Any, points: NDArray[np.float64], charges: NDArray[np.float64]) -> list[float]:
    """Relative errors of the potential, and of the gradient if there is one, at 100 points."""
    chosen, errors = np.random.default_rng(11).choice(len(points), 100, replace=False), np.zeros((2, 2))
    for i in chosen:
        d = points[i] - points
        r = np.linalg.norm(d, axis=1)
        u = np.divide(1.0, r, out=np.zeros_like(r), where=r > 0)
        pairs = [(found.potential[i], charges @ u / (4 * np.pi))]
        if found.gradient is not None:
            pairs.append((found.gradient[i], -(charges * u**3) @ d / (4 * np.pi)))
        for k, (value, exact) in enumerate(pairs):
            errors[k] += np.sum((value - exact) ** 2), np.sum(np.asarray(exact) ** 2)
    return [float(np.sqrt(a / b)) for a, b in errors[: len(pairs)]]


def measure(screen: Console, floor: Floor, options: Namespace) -> dict[str, Any]:
    """Sums over points, then single layers on spheres."""
    found: dict[str, Any] = {}
    repeat = options.repeat
    for count, kind, gradient, rtol in itertools.product(POINTS, ("sphere", "cube"), (False, True), TOLERANCES):
        name = f"sums {kind} {count} {'gradient ' if gradient else ''}{rtol:g}"
        if options.only and options.only not in name:
            continue
        points, charges = points_of(kind, count), np.random.default_rng(2).standard_normal(count)

        def sums(points: Any = points, charges: Any = charges, gradient: bool = gradient, rtol: float = rtol) -> Any:
            return cal.laplace_sums(points, charges, gradient=gradient, rtol=rtol)

        errors, info = errors_of(sums(), points, charges), sums().info
        cpu, wall = least(sums, repeat)
        found[name] = {"points": count, "cpu": cpu, "wall": wall, "errors": errors, "order": info.order}
        shown = ", ".join(f"{each:.1e}" for each in errors)
        screen.print(
            f"{name}: {count / cpu / 1e6:.2f} M points per CPU second, wall {wall:.3f} s, errors {shown}, {info}"
        )
    for edge in EDGES:
        name = f"single_layer P1 {edge:g}"
        if options.only and options.only not in name:
            continue
        space = cal.P1(cal.mesh.sphere(1.0, edge))
        matrix = cal.single_layer(cal.Laplace(), space).assemble("fmm", rtol=1e-4)
        x = np.random.default_rng(2).standard_normal(space.dimension)
        cpu, wall = least(lambda: matrix @ x, repeat)  # noqa: B023
        columns = np.random.default_rng(3).standard_normal((space.dimension, COLUMNS))
        several = least(lambda: matrix @ columns, repeat)[1]  # noqa: B023
        found[name] = {"unknowns": space.dimension, "assembly": matrix.seconds, "product": wall, "cpu": cpu,
                       "columns": several, "bytes": matrix.nbytes, "error": matrix.error}  # fmt: skip
        screen.print(
            f"{name}: {matrix}, product {wall * 1e3:.1f} ms, with {COLUMNS} columns {several / wall:.1f} times"
        )
    return found
