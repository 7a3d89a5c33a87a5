"""Measurements in processes of their own, so that memory is that of one of them."""

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any


def peak_bytes() -> int:
    """The largest memory of this process: that of getrusage is no less than its parent's."""
    line = next(each for each in Path("/proc/self/status").read_text().splitlines() if each.startswith("VmHWM"))
    return 1024 * int(line.split()[1])


def apart(function: Callable[..., Any], *arguments: Any) -> Any:
    """Its result from a process of its own."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        return process.submit(function, *arguments).result()
