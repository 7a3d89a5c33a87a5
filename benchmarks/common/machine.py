"""Measured limits of the machine: multiply-adds from registers, copies through memory."""

import os
import platform
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import run_tasks, thread_count
from calderon.backends.numba import kernel
from calderon.backends.vectors import load, store, width

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

    @kernel
    def run(x, repeats):  # type: ignore[no-untyped-def]
        """Twelve independent chains of multiply-adds on vectors in registers, `repeats` times, of the first vector of
        x (n,), where their sum is stored."""
        a = load(x, 0)
        b, c = a * 0.5, a * 0.25
        s0, s1, s2, s3, s4, s5 = a, a * 2.0, a * 3.0, a * 4.0, a * 5.0, a * 6.0
        t0, t1, t2, t3, t4, t5 = a * 7.0, a * 8.0, a * 9.0, a * 10.0, a * 11.0, a * 12.0
        for _repeat in range(repeats):
            s0, s1, s2, s3 = s0 * b + c, s1 * b + c, s2 * b + c, s3 * b + c
            s4, s5, t0, t1 = s4 * b + c, s5 * b + c, t0 * b + c, t1 * b + c
            t2, t3, t4, t5 = t2 * b + c, t3 * b + c, t4 * b + c, t5 * b + c
        store(x, 0, s0 + s1 + s2 + s3 + s4 + s5 + t0 + t1 + t2 + t3 + t4 + t5)

    return run


def _operations(real: type) -> float:
    run, count, repeats = _multiply_add(), thread_count(), 20_000_000
    rows: list[NDArray[Any]] = [np.full(width(real), 0.5, real) for _ in range(count)]
    run(rows[0], 10)
    best = best_of(3, lambda: run_tasks(lambda task: run(rows[task], repeats), count))
    return 2 * 12 * width(real) * repeats * count / best


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
