"""The CPU backend: Numba kernels that release the interpreter lock, run by a pool of Python threads.

Kernels are serial functions over one tile of work; `threads.run_tasks` deals the tiles. A serial kernel compiles in
half the time of a `parallel=True` one, can be interrupted between tiles and needs no threading layer.
"""

import gc
import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import event
from numba.extending import register_jitable

NAME = "numba"
PRECISIONS = {"double": np.float64, "single": np.float32}


def _stamp() -> int:
    """Fingerprint of what kernels capture from other files: vectors, Green's functions, and all that is `jitable`.

    Numba renews a cached kernel when the file of the kernel changes, not when a captured function of another file does.
    """
    root = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for package in ("backends", "greens", "pairs", "galerkin", "potentials", "dense", "hmatrix", "dg"):
        for path in sorted((root / package).rglob("*.py")):
            text = path.read_bytes()
            if package == "greens" or b"jitable" in text:
                digest.update(text)
    return int(digest.hexdigest()[:15], 16)


STAMP = _stamp()
"""Captured by every kernel factory (`stamp = STAMP` inside): part of the key of Numba's cache on disk."""


ARITHMETIC = {"contract", "arcp", "afn", "nsz", "nnan", "ninf"}
"""What LLVM may do to floating-point arithmetic. Not "reassoc": it would fold the constants of an argument
reduction.
"""


class _Uninterrupted(event.Listener):  # type: ignore[misc]
    """Python's collector of garbage waits while a kernel of this package is compiled: it would walk through all that
    Numba knows again and again, a seventh of the time. Numba tells of kernels within its lock, inner ones too."""

    def __init__(self) -> None:
        self.depth, self.was_enabled = 0, False

    def on_start(self, event: event.Event) -> None:
        module = event.data["dispatcher"].py_func.__module__ or ""  # None where Numba writes the function: jitclass
        if self.depth or module.partition(".")[0] == __name__.partition(".")[0]:
            self.depth += 1
            if self.depth == 1:
                self.was_enabled = gc.isenabled()
                gc.disable()

    def on_end(self, event: event.Event) -> None:
        if self.depth:
            self.depth -= 1
            if self.depth == 0 and self.was_enabled:
                gc.enable()


event.register("numba:compile", _Uninterrupted())


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile `function` for the CPU: lock released, cached on disk, contracted arithmetic, no division checks.

    `function` may close over module-level functions marked `jitable_part` or `vectors.jitable` and over numbers,
    nothing else: only then does the cache survive into a new process.
    """
    return numba.njit(cache=True, nogil=True, fastmath=ARITHMETIC, error_model="numpy")(function)


def jitable_part(function: Callable[..., Any] | None = None, **options: Any) -> Callable[..., Any]:
    """Mark a function as part of kernels, with options of `numba.njit`; without an entry for callers in C, which Numba
    would optimise and compile as well."""
    mark = register_jitable(no_cfunc_wrapper=True, **options)
    return mark if function is None else mark(function)  # type: ignore[no-any-return]


def thread_count() -> int:
    """Threads that kernels use: NUMBA_NUM_THREADS if set, else the processors this process may run on."""
    if setting := os.environ.get("NUMBA_NUM_THREADS"):
        return max(1, int(setting))
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
