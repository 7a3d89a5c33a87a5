"""Which backends there are and which are at hand."""

from typing import NoReturn

import numpy as np
from numpy.typing import DTypeLike

from calderon.backends import numba as cpu

KNOWN = ("numba", "opencl", "cuda")


def available() -> list[str]:
    """Names of the backends that run on this machine."""
    return [cpu.NAME]


def check_backend(name: str) -> str:
    """Return `name` if that backend is available.

    Raises ValueError for an unknown name, RuntimeError for a known one that is not available here; a request is never
    quietly replaced.
    """
    if name in available():
        return name
    _refuse_backend(name)


def _refuse_backend(name: str) -> NoReturn:
    choices = " or ".join(repr(each) for each in available())
    if name in KNOWN:
        raise RuntimeError(f"backend {name!r} is not available in this version of calderon: choose {choices}")
    raise ValueError(f"unknown backend {name!r}: choose {choices}")


def real_type(precision: str) -> DTypeLike:
    """The real NumPy type of "double" or "single"; ValueError for anything else."""
    if precision not in cpu.PRECISIONS:
        raise ValueError(f"unknown precision {precision!r}: choose 'double' or 'single'")
    return np.dtype(cpu.PRECISIONS[precision])
