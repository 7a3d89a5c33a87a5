"""Fast multipole sums and operators: seconds of set-up and of products, memory, measured error.

Sums are timed whole, with tree, lists and the check at 64 points, in seconds of processor time. Operators are timed
from the space to the first product, which is checked in 64 rows.
"""

import time
from argparse import Namespace
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

import calderon as cal
from benchmarks.machine import Floor

POINTS = 100_000
EDGES = 0.0296, 0.0148, 0.0093
"""Mean edges of unit spheres."""


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


def measure(screen: Console, floor: Floor, options: Namespace) -> dict[str, Any]:
    """Sums over points, then single layers on spheres."""
    found: dict[str, Any] = {}
    count, repeat = POINTS, options.repeat
    charges = np.random.default_rng(2).standard_normal(count)
    for kind in ("sphere", "cube"):
        points = points_of(kind, count)
        for rtol in (1e-4, 1e-6):
            name = f"sums {kind} {rtol:g}"
            if options.only and options.only not in name:
                continue
            info = cal.laplace_sums(points, charges, rtol=rtol).info
            cpu, wall = least(lambda: cal.laplace_sums(points, charges, rtol=rtol), repeat)  # noqa: B023
            found[name] = {"points": count, "cpu": cpu, "wall": wall, "error": info.error, "method": info.method}
            screen.print(f"{name}: {count / cpu / 1e6:.2f} M points per CPU second, wall {wall:.3f} s, {info}")
    for edge in EDGES:
        name = f"single_layer P1 {edge:g}"
        if options.only and options.only not in name:
            continue
        space = cal.P1(cal.mesh.sphere(1.0, edge))
        matrix = cal.single_layer(cal.Laplace(), space).assemble("fmm", rtol=1e-4)
        x = np.random.default_rng(2).standard_normal(space.dimension)
        cpu, wall = least(lambda: matrix @ x, repeat)  # noqa: B023
        found[name] = {"unknowns": space.dimension, "assembly": matrix.seconds, "product": wall, "cpu": cpu,
                       "bytes": matrix.nbytes, "error": matrix.error}  # fmt: skip
        screen.print(f"{name}: {matrix}, product {wall * 1e3:.1f} ms")
    return found
