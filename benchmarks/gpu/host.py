"""Host seconds: what a device cannot shorten of a set-up, by phase, and how long it would take on a card by a model.

A set-up with backend="opencl" on PoCL runs in a process of its own, in which the package and linear algebra have one
thread each; all threads of the process that are not Python's are then the driver's, which compute kernels. Host seconds
are the processor time of Python's threads less that in transfers and waits: a processor shared by host and kernels, or
by other programs, does not change them. They are those of one thread; what `run_tasks` and `in_parts` distribute to
threads stands apart as shared. A sampler assigns them to phases, by the innermost file of the package that
a thread is in. A set-up before has compiled everything and counts what kernels evaluate and read.

Laws from small sizes are off by up to four: `--full` measures one set-up of each row at the size of the table, which
takes minutes and gigabytes. Kernels of rows that would not end there are cut short (shortened.py): what the host does
is entire, results are wrong.

"Expected on an H100" is a model and no measurement: host seconds, plus those that the counted work of each kernel takes
at rates measured there (`backends.devices.counters`), one after the other. Kernels whose evaluations are not counted
take the time of their bytes.
"""

import faulthandler
import multiprocessing
import os
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
from rich.console import Console
from scipy.optimize import nnls

import calderon as cal
from benchmarks.common import results
from benchmarks.common.machine import Floor
from benchmarks.gpu.rows import ROWS, Row, chosen
from benchmarks.gpu.sampler import TRANSFERS, Sampler, phases_of, shown
from benchmarks.gpu.shortened import shortened
from calderon.backends.devices.counters import H100, Counters
from calderon.backends.devices.device import Device

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
    given = row.build(unknowns)
    with Counters(device_of(backend)) as counted:
        row.set_up(given, backend)
    works = counted.works.items()
    counters = {key: vars(work) | {"on_h100": work.on_card(key, H100, row.single)} for key, work in works}
    least = min((sampled(row, unknowns, backend) for _ in range(max(1, repeat))), key=lambda each: each["host_seconds"])
    return least | {
        "evaluations": counted.evaluations, "kernels_on_h100": counted.on_card(H100, row.single), "kernels": counters,
    }  # fmt: skip


def device_of(backend: str) -> Device:
    """The device of that name, whose kernels are set apart."""
    device = cal.backends.get(backend)
    if device is None:
        raise ValueError(f"backend={backend!r} has no kernels to set apart: choose a device, such as 'opencl'")
    return device


def sampled(row: Row, unknowns: int, backend: str) -> dict[str, Any]:
    """Host seconds of one set-up by phase and file, in this process."""
    device, given = device_of(backend), row.build(unknowns)  # nothing is kept from the set-up before
    with Sampler() as sampler:
        matrix = row.set_up(given, backend)
        device.synchronize()
    phases = {name: value for name, value in phases_of(sampler.used).items() if name != TRANSFERS}
    places = {f"{place}{' (shared)' if shared else ''}": value for (place, shared), value in sampler.used.items()}
    size = given.unknowns if hasattr(given, "unknowns") else given.shape[0]
    return {
        "row": row.name, "unknowns": size, "backend": backend, "host_seconds": sampler.host,
        "shared_seconds": sampler.shared, "transfer_seconds": sampler.transfers,
        "wall_seconds": sum(sampler.passed.values()), "phases": phases, "places": places,
        "label": str(getattr(matrix, "info", matrix)),
    }  # fmt: skip


def at_full_size(name: str, unknowns: int, backend: str) -> dict[str, Any]:
    """Host seconds of one set-up with so many unknowns, in this process: a small set-up before has compiled most."""
    row = next(each for each in ROWS if each.name == name)
    with shortened(device_of(backend)) if row.cut else nullcontext():
        row.set_up(row.build(min(row.few, unknowns)), backend)
        return sampled(row, unknowns, backend) | {"cut": row.cut}


def at_largest_size(name: str, unknowns: int, backend: str) -> dict[str, Any]:
    """`at_full_size`, with half of the unknowns as often as the memory of the device requires it."""
    try:
        return at_full_size(name, unknowns, backend)
    except MemoryError:
        return at_largest_size(name, unknowns // 2, backend)


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


def apart(run: Callable[..., dict[str, Any]], arguments: Sequence[tuple[Any, ...]]) -> list[dict[str, Any]]:
    """The results of a function for each of these arguments, from a process of their own."""
    with one_thread_each(), ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        return [process.submit(run, *each).result() for each in arguments]


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
    table; with options.full, one set-up of each row at that size, or the largest one that fits, instead. The record is
    written after each row."""
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
        if options.full:
            each = apart(at_largest_size, [(row.name, options.unknowns or row.unknowns, backend)])[0]
            table.add_row(*described(each))
            options.record.content["rows"].append(each)
            options.record.write()
            continue
        largest = options.unknowns or row.few
        sizes = [largest >> step for step in reversed(range(SIZES))]
        found = apart(measured, [(row.name, unknowns, backend, options.repeat) for unknowns in sizes])
        for each in found:
            table.add_row(*described(each))
        laws = laws_of(row, found)
        first, slope = laws["host"]
        names = "host", "proportional", "kernel", "expected"
        host, *others = (f"{laws[f'{name}_seconds']:.2f}" for name in names)
        expected.add_row(row.name, f"{row.unknowns:,}", host, f"{first:.3f} + {1e6 * slope:.2f}e-6 n", *others)
        options.record.content["rows"] += found
        options.record.content["laws"].append(laws)
        options.record.write()
    screen.print(table)
    if any(each.get("cut") for each in options.record.content["rows"]):
        screen.print("(cut): kernels were cut short; results are wrong, what the host did is entire")
    if not options.full:
        screen.print(expected)
    return {}


def described(found: dict[str, Any]) -> list[str]:
    """Cells of one set-up: its work is empty where nothing was counted."""
    times = (results.seconds(found[key]) for key in ("host_seconds", "shared_seconds", "transfer_seconds"))
    kernels = (
        (f"{found['evaluations']:.3g}", results.seconds(found["kernels_on_h100"])) if "kernels" in found else ("", "")
    )
    name = found["row"] + " (cut)" * found.get("cut", False)
    return [name, f"{found['unknowns']:,}", *times, *kernels, shown(found["phases"])]


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
