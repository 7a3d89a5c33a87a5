"""What the machine can do at most: multiply-adds from registers, copies through memory. Measured, not looked up."""

import os
import platform
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from calderon.backends import run_tasks, thread_count
from calderon.backends.numba import STAMP, kernel, wide_vectors

LANES = 128
PACKAGES = ("calderon", "numpy", "scipy", "numba", "llvmlite", "bempp-cl")


class Floor(NamedTuple):
    """Operations per second on all threads (a multiply-add is two); bytes per second of a copy, read plus write."""

    double: float
    single: float
    bandwidth: float


def measure_floor() -> Floor:
    """The three numbers; about a second on an idle machine."""
    return Floor(_operations(np.float64), _operations(np.float32), _bandwidth())


def _multiply_add() -> Any:
    stamp = STAMP

    @kernel
    def run(x, y, repeats):  # type: ignore[no-untyped-def]
        """Sixteen dependent multiply-adds on each of 128 lanes, again and again: all operands stay near the core."""
        wide_vectors()
        _ = stamp
        for _ in range(repeats):
            for j in range(128):
                a, b = x[j], y[j]
                a = a * b + b
                a = a * b + b
                a = a * b + b
                a = a * b + b
                a = a * b + b
                a = a * b + b
                a = a * b + b
                a = a * b + b
                a = a * b + b
                a = a * b + b
                a = a * b + b
                a = a * b + b
                a = a * b + b
                a = a * b + b
                a = a * b + b
                a = a * b + b
                x[j] = a

    return run


def _operations(real: type) -> float:
    run, count, repeats = _multiply_add(), thread_count(), 200_000
    lanes = [(np.full(LANES, 0.5, real), np.full(LANES, 0.25, real)) for _ in range(count)]
    run(*lanes[0], 10)
    best = best_of(3, lambda: run_tasks(lambda task: run(*lanes[task], repeats), count))
    return 32 * LANES * repeats * count / best


def _bandwidth(megabytes: int = 128) -> float:
    """Bytes read and written per second by threads that copy arrays far larger than the caches."""
    count = thread_count()
    source = [np.ones(megabytes * 125_000 // count) for _ in range(count)]
    target = [np.empty_like(each) for each in source]
    best = best_of(3, lambda: run_tasks(lambda task: np.copyto(target[task], source[task]), count))
    return 2 * sum(each.nbytes for each in source) / best


def best_of(repeat: int, run: Any) -> float:
    """The least wall-clock seconds of so many runs."""
    seconds = []
    for _ in range(max(1, repeat)):
        began = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def describe() -> dict[str, Any]:
    """Processor, threads, load before the start, versions."""
    return {
        "processor": _processor(),
        "threads": thread_count(),
        "load_average": os.getloadavg()[0],
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in PACKAGES},
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
