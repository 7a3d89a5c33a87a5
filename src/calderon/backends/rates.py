"""Rates of this machine: operations and bytes per second of one thread, with which plans turn counts into seconds.

They are measured once, in less than a tenth of a second of processor time, and kept in a file next to the compiled
kernels. Where they cannot be measured, they are those of `TYPICAL`.
"""

import functools
import hashlib
import json
import os
import platform
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import llvmlite.binding as llvm
import numpy as np

from calderon.backends.kernel_cache import cache_of
from calderon.backends.threads import one_thread


class Rates(NamedTuple):
    """Rates of one thread. flops: operations per second of matrix products in double precision. nbytes: bytes per
    second that are read from memory. calls: operations of NumPy on small arrays per second, which stand for code that
    is not compiled."""

    flops: float
    nbytes: float
    calls: float


TYPICAL = Rates(flops=4e10, nbytes=1e10, calls=1e6)
"""A core of a server with AVX2, at 2.5 GHz with 16 operations a cycle."""


@functools.cache
def machine_rates() -> Rates:
    """The rates of this machine, from the file or measured."""
    file = _file()
    found = None if file is None else _read(file)
    if found is None:
        found = measured()
        if file is not None:
            _write(file, found)
    return found


def measured() -> Rates:
    """Rates measured now, in processor time of this thread, so that other processes matter little; TYPICAL where the
    clock gives none that are plausible."""
    # each takes a millisecond or more, long against the resolution of clocks; 48 MB are more than most caches hold
    side, calls = 384, 1000
    with one_thread:
        matrix, vector, few = np.full((side, side), 0.5), np.full(6_000_000, 0.5), np.zeros(8)
        seconds = (
            _shortest(lambda: np.matmul(matrix, matrix)),
            _shortest(lambda: vector.max()),
            _shortest(lambda: [np.add(few, few, out=few) for _ in range(calls)]),
        )
    if min(seconds) <= 0:
        return TYPICAL
    found = Rates(2.0 * side**3 / seconds[0], vector.nbytes / seconds[1], calls / seconds[2])
    return found if _are_plausible(found) else TYPICAL


def _are_plausible(rates: Rates) -> bool:
    """Whether all rates are numbers within a factor of 1000 of the typical ones: others are errors of the clock."""
    return all(1e-3 * usual < float(each) < 1e3 * usual for each, usual in zip(rates, TYPICAL, strict=True))


def _shortest(work: Callable[[], object]) -> float:
    """The shortest processor time in s of four repetitions, that which was least disturbed."""
    times = []
    for _ in range(4):
        began = time.thread_time()
        work()
        times.append(time.thread_time() - began)
    return min(times)


def _file() -> Path | None:
    """The file of the rates, with the processor in its name, since folders may be shared; None where there is no folder
    for compiled kernels."""
    folder = getattr(cache_of(_shortest), "cache_path", None)
    if not folder:
        return None
    machine = llvm.get_host_cpu_name(), platform.machine(), os.cpu_count(), np.__version__
    return Path(folder, f"rates-{hashlib.sha256(repr(machine).encode()).hexdigest()[:16]}.json")


def _read(file: Path) -> Rates | None:
    """The rates in a file; None where it is missing or damaged."""
    try:
        found = Rates(**json.loads(file.read_text(encoding="ascii")))
        return found if _are_plausible(found) else None
    except (OSError, TypeError, ValueError):
        return None


def _write(file: Path, rates: Rates) -> None:
    """Keep the rates; a folder that cannot be written is no reason to stop, and readers see whole files only."""
    part = file.with_suffix(f".{os.getpid()}")
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps(rates._asdict()), encoding="ascii")
        part.replace(file)
