"""The CPU backend: Numba kernels that release the interpreter lock, run by a pool of Python threads.

Kernels are serial functions over one tile of work; `threads.run_tasks` deals the tiles. A serial kernel compiles in
half the time of a `parallel=True` one, can be interrupted between tiles and needs no threading layer.
"""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np

NAME = "numba"
PRECISIONS = {"double": np.float64, "single": np.float32}


def _stamp() -> int:
    """Fingerprint of what kernels capture from other files: vectors, Green's functions, and all that is `jitable`.

    Numba renews a cached kernel when the file of the kernel changes, not when a captured function of another file does.
    """
    root = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for package in ("backends", "greens", "operators", "hmatrix", "dg"):
        for path in sorted((root / package).glob("*.py")):
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


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile `function` for the CPU: lock released, cached on disk, contracted arithmetic, no division checks.

    `function` may close over module-level functions marked `register_jitable` and over numbers, nothing else: only then
    does the cache survive into a new process.
    """
    return numba.njit(cache=True, nogil=True, fastmath=ARITHMETIC, error_model="numpy")(function)


def thread_count() -> int:
    """Threads that kernels use: NUMBA_NUM_THREADS if set, else the processors this process may run on."""
    if setting := os.environ.get("NUMBA_NUM_THREADS"):
        return max(1, int(setting))
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
