"""Memory: what is free, what is refused, and caches bounded by bytes."""

import ctypes
import functools
import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np

from calderon.backends.process_limits import left_by_limits, resident_bytes

LIBRARIES = 480_000_000
"""Bytes of the interpreter, libraries and compiled kernels of a process that has solved a problem, measured."""

P = ParamSpec("P")
T = TypeVar("T")


def free_memory() -> int:
    """Bytes that a new allocation may take without swapping: what the machine, the control groups and the limits of
    this process leave, less what its interpreter, libraries and kernels have yet to take."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        fields = {line.split(":")[0]: line.split()[1] for line in lines}
        free = int(fields["MemAvailable"]) * 1024
    except (OSError, KeyError):
        free = _free_elsewhere()
    left, resident = left_by_limits(), resident_bytes()
    if left is not None:
        free = min(free, left)
    return max(free - max(LIBRARIES - (LIBRARIES if resident is None else resident), 0), 0)


def _free_elsewhere() -> int:
    """Available bytes without Linux's tables, as Windows states them; on macOS, which does not, all physical memory."""
    if sys.platform == "win32":
        status = (ctypes.c_ulonglong * 8)(64)  # MEMORYSTATUSEX: length and load, then total and available memory, ...
        ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status))
        return int(status[2])
    pages = "SC_AVPHYS_PAGES" if "SC_AVPHYS_PAGES" in os.sysconf_names else "SC_PHYS_PAGES"
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf(pages)


def return_memory() -> None:
    """Give freed memory back to the system where its allocator can: glibc keeps freed arrays."""
    trim = _of_allocator("malloc_trim")
    if trim is not None:
        trim(0)


@functools.cache
def share_memory() -> None:
    """Let new threads of this process use what others freed, where the allocator can: by default glibc gives each of
    them an arena of its own. Threads of Python allocate arrays one at a time anyway. MALLOC_ARENA_MAX goes first."""
    option = _of_allocator("mallopt")
    if option is not None and "MALLOC_ARENA_MAX" not in os.environ:
        option(-8, 1)  # M_ARENA_MAX of malloc.h


def _of_allocator(name: str) -> Any:
    """A function of glibc, None with other allocators."""
    return getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None


def format_bytes(number: float) -> str:
    """Bytes as readable text: 8.6 GB, 12.3 MB (powers of 1000)."""
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= size:
            return f"{number / size:.1f} {unit}"
    return f"{number:.0f} B"


def require_memory(needed: int, what: str, advice: str) -> None:
    """Raise MemoryError before the machine swaps: says what needs how much, how much is free, and advice."""
    free = free_memory()
    if needed > free:
        raise MemoryError(f"{what} needs {format_bytes(needed)} and {format_bytes(free)} are free: {advice}")


def bounded_cache(limit: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorator: keep the results of a function, arrays or tuples of arrays, as long as they have at most `limit` bytes
    in all.

    The results that were not used for the longest time are dropped first; one larger than the limit is not kept.
    clear() of the decorated function drops all.
    Arguments must be hashable. For results of unequal size, where `lru_cache` would bound the number only.
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        # results with their bytes, those used last at the end
        kept: OrderedDict[Any, tuple[T, int]] = OrderedDict()
        lock = threading.Lock()
        total = 0

        @functools.wraps(function)
        def cached(*args: P.args, **options: P.kwargs) -> T:
            nonlocal total
            key = (args, tuple(sorted(options.items())))
            with lock:
                if key in kept:
                    kept.move_to_end(key)
                    return kept[key][0]
            # not under the lock: other results may be taken meanwhile
            result = function(*args, **options)
            size = array_bytes(result)
            with lock:
                if key not in kept and size <= limit:
                    kept[key] = result, size
                    total += size
                    while total > limit:
                        total -= kept.popitem(last=False)[1][1]
            return result

        def clear() -> None:
            nonlocal total
            with lock:
                kept.clear()
                total = 0

        cached.clear = clear  # type: ignore[attr-defined]
        return cached

    return decorate


def array_bytes(value: Any) -> int:
    """Bytes of an array, or of the arrays in a tuple."""
    if isinstance(value, tuple):
        return sum(map(array_bytes, value))
    return value.nbytes if isinstance(value, np.ndarray) else 0
