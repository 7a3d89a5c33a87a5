"""Host seconds: what a device cannot shorten of a set-up, by phase, and how long it would take on a card by a model.

A set-up with backend="opencl" on PoCL runs in a process of its own, in which the package and linear algebra have one
thread each; all threads of the process that are not Python's are then the driver's, which compute kernels. Host seconds
are the processor time of Python's threads less that in transfers and waits: a processor shared by host and kernels, or
by other programs, does not change them. They are those of one thread; what `run_tasks` and `in_parts` distribute to
threads stands apart as shared. A sampler assigns them to phases, by the innermost file of the package that
a thread is in. A set-up before has compiled everything and counts what kernels evaluate and read.

"Expected on an H100" is a model and no measurement: host seconds, plus those that the counted work of each kernel takes
at rates measured there (`backends.devices.counters`), one after the other. Kernels whose evaluations are not counted
take the time of their bytes.
"""

import faulthandler
import multiprocessing
import os
from argparse import Namespace
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
from rich.console import Console
from scipy.optimize import nnls

import calderon as cal
from benchmarks.common import results
from benchmarks.common.machine import Floor
from benchmarks.gpu.rows import ROWS, Row, chosen
from benchmarks.gpu.sampler import TRANSFERS, Sampler, phases_of, shown
from calderon.backends.devices.counters import H100, Counters

ONE_THREAD = dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""The environment of a process whose host seconds are measured."""
HANGING = 3600.0
"""Seconds after which the process of one size is ended, which is an error: it shows where its threads were."""
SIZES = 3
"""Sizes of a law, each with half the unknowns of the next."""


def measured(name: str, unknowns: int, backend: str, repeat: int) -> dict[str, Any]:
    """Host seconds and counted work of one set-up, in this process, which has one thread for the package; host
    seconds are the least of `repeat` set-ups. The process is ended where it takes longer than HANGING."""
    faulthandler.dump_traceback_later(HANGING, exit=True)
    try:
        return _measured(name, unknowns, backend, repeat)
    finally:  # the process computes other sizes
        faulthandler.cancel_dump_traceback_later()


def _measured(name: str, unknowns: int, backend: str, repeat: int) -> dict[str, Any]:
    row = next(each for each in ROWS if each.name == name)
    device = cal.backends.get(backend)
    if device is None:
        raise ValueError(f"backend={backend!r} has no kernels to set apart: choose a device, such as 'opencl'")
    given = row.build(unknowns)
    with Counters(device) as counted:
        row.set_up(given, backend)
    works = counted.works.items()
    counters = {key: vars(work) | {"on_h100": work.on_card(key, H100, row.single)} for key, work in works}
    samplers = []
    for _ in range(max(1, repeat)):
        given = row.build(unknowns)  # nothing is kept from the set-up before
        with Sampler() as sampler:
            matrix = row.set_up(given, backend)
            device.synchronize()
        samplers.append(sampler)
    least = min(samplers, key=lambda each: each.host)
    phases = {name: value for name, value in phases_of(least.used).items() if name != TRANSFERS}
    places = {f"{place}{' (shared)' if shared else ''}": value for (place, shared), value in least.used.items()}
    size = given.unknowns if hasattr(given, "unknowns") else given.shape[0]
    return {
        "row": name, "unknowns": size, "backend": backend, "host_seconds": least.host, "shared_seconds": least.shared,
        "transfer_seconds": least.transfers, "wall_seconds": sum(least.passed.values()), "phases": phases,
        "places": places, "evaluations": counted.evaluations, "kernels_on_h100": counted.on_card(H100, row.single),
        "kernels": counters, "label": str(getattr(matrix, "info", matrix)),
    }  # fmt: skip


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Processes that are started inside have one thread for the package and one for linear algebra."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def apart(name: str, sizes: Sequence[int], backend: str, repeat: int) -> list[dict[str, Any]]:
    """The results of `measured` for these numbers of unknowns, from a process of their own."""
    with one_thread_each(), ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        return [process.submit(measured, name, unknowns, backend, repeat).result() for unknowns in sizes]


def law(sizes: Sequence[float], seconds: Sequence[float], power: int = 1) -> list[float]:
    """a_0, a_1, ... of seconds a_0 + a_1 n + ... + a_power n^power, all 0 or more, with the least relative errors."""
    n, t = np.asarray(sizes, float), np.maximum(seconds, 1e-9)
    factors, _ = nnls(np.stack([n**p / t for p in range(power + 1)], axis=1), np.ones(len(n)))
    return [float(each) for each in factors]


def at(factors: Sequence[float], size: float) -> float:
    """The seconds of a law for a size."""
    return sum(factor * size**power for power, factor in enumerate(factors))


def measure(screen: Console, floor: Floor, options: Namespace) -> dict[str, Any]:
    """Every row at three sizes, with the laws of host seconds and of kernels, and both at the size of the published
    table; the record is written after each row."""
    backend = options.backend or "opencl"
    options.record.write(backend=backend, rates=H100._asdict(), rows=[], laws=[])
    columns = ["", "unknowns", "host s", "shared", "transfers", "evaluations", "on H100", "phases of host seconds"]
    table = results.table(f"host seconds of set-up, backend={backend!r}, one thread", columns)
    title = "at the size of the table of the H100, by these laws: expectations are a model and no measurement"
    expected = results.table(
        title, ["", "unknowns", "host s", "law", "in proportion", "kernels s", "expected on an H100"]
    )
    for row in ROWS:
        if not chosen(row.name, options.only):
            continue
        largest = options.unknowns or row.few
        found = apart(row.name, [largest >> step for step in reversed(range(SIZES))], backend, options.repeat)
        for each in found:
            times = (results.seconds(each[key]) for key in ("host_seconds", "shared_seconds", "transfer_seconds"))
            kernels = f"{each['evaluations']:.3g}", results.seconds(each["kernels_on_h100"])
            table.add_row(row.name, f"{each['unknowns']:,}", *times, *kernels, shown(each["phases"]))
        laws = laws_of(row, found)
        first, slope = laws["host"]
        names = "host", "proportional", "kernel", "expected"
        host, *others = (f"{laws[f'{name}_seconds']:.2f}" for name in names)
        expected.add_row(row.name, f"{row.unknowns:,}", host, f"{first:.3f} + {1e6 * slope:.2f}e-6 n", *others)
        options.record.content["rows"] += found
        options.record.content["laws"].append(laws)
        options.record.write()
    screen.print(table)
    screen.print(expected)
    return {}


def laws_of(row: Row, found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Laws of the host seconds and of the kernels of a row, and both at its size in the published table.

    proportional_seconds: host seconds of the largest size times the ratio of sizes, more than a law with a constant.
    """
    sizes = [each["unknowns"] for each in found]
    host = law(sizes, [each["host_seconds"] for each in found])
    kernels = law(sizes, [each["kernels_on_h100"] for each in found], row.power)
    seconds = at(host, row.unknowns), at(kernels, row.unknowns)
    last = found[-1]["host_seconds"] * row.unknowns / sizes[-1]
    return {
        "row": row.name, "unknowns": row.unknowns, "host": host, "kernels": kernels, "host_seconds": seconds[0],
        "kernel_seconds": seconds[1], "expected_seconds": sum(seconds), "proportional_seconds": last,
    }  # fmt: skip
