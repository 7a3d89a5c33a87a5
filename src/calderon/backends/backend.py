"""Which backends there are and which are at hand."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from calderon.backends import cuda, opencl
from calderon.backends import numba as cpu
from calderon.backends.device import Device, Source

KNOWN = (cpu.NAME, opencl.NAME, cuda.NAME)
_DRIVERS: dict[str, Callable[[], list[Any]]] = {opencl.NAME: opencl.devices, cuda.NAME: cuda.devices}
_ADVICE = {
    opencl.NAME: 'pip install "calderon[opencl]", and a driver: that of the graphics card, or PoCL for processors',
    cuda.NAME: 'pip install "calderon[cuda]" on a machine with an NVIDIA driver',
}


def available() -> list[str]:
    """Names of the backends that run on this machine: "numba", and those with a device that builds a kernel, runs it
    and gives the right number."""
    return [cpu.NAME, *(name for name in KNOWN[1:] if isinstance(_devices(name), list))]


def get(name: str) -> Device | None:
    """The device of a backend, "cuda" or "cuda:1" (number 0 unless given); None for "numba", the processor itself.

    "auto": the first NVIDIA device, else the first OpenCL graphics processor, else "numba". Raises ValueError for an
    unknown name, RuntimeError with the reason and what to do for a backend that is not at hand; a request is never
    quietly replaced.
    """
    if name == "auto":
        for each in (cuda.NAME, opencl.NAME):
            found = _devices(each)
            if isinstance(found, list) and found[0].is_gpu:
                return found[0]
        return None
    backend, _, number = name.partition(":") if isinstance(name, str) else (name, "", "")
    if backend not in KNOWN or (number and (backend == cpu.NAME or not number.isdecimal())):
        choices = " or ".join(repr(each) for each in available())
        raise ValueError(f"unknown backend {name!r}: choose {choices} (or a device of one, such as 'cuda:1')")
    if backend == cpu.NAME:
        return None
    found = _devices(backend)
    if not isinstance(found, list):
        choices = " or ".join(repr(each) for each in available())
        raise RuntimeError(f"backend {name!r} is not available: {found}; {_ADVICE[backend]}. Or choose {choices}")
    index = int(number or 0)
    if index >= len(found):
        raise RuntimeError(f"there is no {name!r}: {backend!r} has {len(found)} device(s), numbered from 0")
    return found[index]


def check_backend(name: str) -> str:
    """Return `name` if that backend is at hand; errors as for `get`."""
    get(name)
    return name


@functools.lru_cache(maxsize=8)
def _devices(backend: str) -> list[Any] | str:
    """The working devices of a backend, or why there are none."""
    try:
        found = _DRIVERS[backend]()
    except ImportError as error:
        return f"its Python package is missing ({error})"
    except RuntimeError as error:
        return str(error)
    working, reasons = [], []
    for device in found:
        reason = probe_failure(device)
        if reason:
            reasons.append(f"{device.name} ({device.label}) {reason}")
        else:
            working.append(device)
    return working or "; ".join(reasons)


def probe_failure(device: Device) -> str:
    """Why a device cannot be used, empty if it can: it runs a small kernel and is held to the right numbers."""
    kinds = [("float", np.float32, 1e-5)] + ([("double", np.float64, 1e-13)] if device.has_double else [])
    for real, kind, bound in kinds:
        x = np.linspace(0.5, 3.0, 100).astype(kind)
        try:
            program = device.build(Source("backends/probe.c", real))
            y = device.empty(x.shape, kind)
            device.launch(program, "probe", x.shape, (32,), device.array(x), y, len(x))
            result = device.to_host(y)
        except Exception as error:  # noqa: BLE001 - drivers raise what they like; the reason is handed on
            return f"fails in a probe: {error}"
        exact = 1 / np.sqrt(x) + 2 * np.exp(-x)
        if not np.abs(result - exact).max() < bound:
            return f"gives wrong numbers in a probe ({real}, error {np.abs(result - exact).max():.1e})"
    return ""


def real_type(precision: str) -> DTypeLike:
    """The real NumPy type of "double" or "single"; ValueError for anything else."""
    if precision not in cpu.PRECISIONS:
        raise ValueError(f"unknown precision {precision!r}: choose 'double' or 'single'")
    return np.dtype(cpu.PRECISIONS[precision])
