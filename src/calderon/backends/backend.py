"""Which backends exist and which are available on this machine."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from calderon.backends import numba as cpu
from calderon.backends.devices import cuda, opencl
from calderon.backends.devices.device import Device, Source

DEVICE_BACKENDS = (opencl.NAME, cuda.NAME)
KNOWN = (cpu.NAME, *DEVICE_BACKENDS)
_DRIVERS: dict[str, Callable[[], list[Any]]] = {opencl.NAME: opencl.devices, cuda.NAME: cuda.devices}
_ADVICE = {
    opencl.NAME: 'pip install "calderon[opencl]", and a driver: that of the graphics card, or PoCL for processors',
    cuda.NAME: 'pip install "calderon[cuda]" on a machine with an NVIDIA driver',
}


def available_backends() -> list[str]:
    """Names of the backends that run on this machine: "numba", and those with a device that builds a kernel, runs it
    and gives the right number."""
    return [cpu.NAME, *(name for name in DEVICE_BACKENDS if survey(name).devices)]


def get(name: str, turn: int = 0) -> Device | None:
    """The device of a backend, "cuda:1", or its first that works, "cuda"; None for "numba", the processor itself.

    "auto": the first NVIDIA device, else the first OpenCL graphics processor, else "numba". turn: the number of this
    process among several that run at the same time; where no device is named, each takes the next device in turn,
    cyclically. Raises ValueError for an unknown name, RuntimeError with the reason and what to do for a backend that is
    not available; a request is never quietly replaced.
    """
    # the first graphics processor, or none
    if isinstance(name, str) and name == "auto":
        for each in (cuda.NAME, opencl.NAME):
            graphics = [device for device in survey(each).devices if device.is_gpu]
            if graphics:
                return graphics[turn % len(graphics)]
        return None
    # a backend, or one device of it
    backend, colon, number = name.partition(":") if isinstance(name, str) else ("", "", "")
    if backend not in KNOWN or (colon and (backend == cpu.NAME or not number.isdecimal())):
        choices = " or ".join(repr(each) for each in available_backends())
        raise ValueError(f"unknown backend {name!r}: choose {choices} (or a device of one, such as 'cuda:1')")
    if backend == cpu.NAME:
        return None
    # the device of that number, or the next in turn
    found = survey(backend)
    wanted = f"{backend}:{int(number)}" if colon else ""
    fitting = [device for device in found.devices if device.name == wanted or not wanted]
    if fitting:
        return fitting[turn % len(fitting)]
    # none fits: say why
    choices = " or ".join(repr(each) for each in available_backends())
    if found.devices and wanted not in found.failures:
        count = len(found.devices) + len(found.failures)
        raise RuntimeError(f"there is no {name!r}: {backend!r} has {count} device(s), numbered from 0")
    reason = found.failures.get(wanted) or found.missing or "; ".join(found.failures.values())
    raise RuntimeError(f"backend {name!r} is not available: {reason}; {_ADVICE[backend]}. Or choose {choices}")


@dataclass(frozen=True)
class Survey:
    """Result of the search for a backend: the devices that passed their probe, the reason for each other one, by name,
    and the reason why there is no driver."""

    devices: tuple[Device, ...]
    failures: dict[str, str]
    missing: str = ""


@functools.lru_cache(maxsize=8)
def survey(backend: str) -> Survey:
    """The devices of "opencl" or "cuda", each of them probed, once in a process."""
    try:
        found = _DRIVERS[backend]()
    except ImportError as error:
        return Survey((), {}, f"its Python package is missing ({error})")
    except Exception as error:  # noqa: BLE001 - drivers raise any exception; the reason is passed on
        return Survey((), {}, str(error))
    reasons = {device.name: probe_failure(device) for device in found}
    failures = {each.name: f"{each.name} ({each.label}) {reasons[each.name]}" for each in found if reasons[each.name]}
    return Survey(tuple(each for each in found if not reasons[each.name]), failures)


def probe_failure(device: Device) -> str:
    """Why a device cannot be used, empty if it can: it runs a small kernel and its numbers are checked."""
    kinds: list[tuple[str, Any, float]] = [("float", np.float32, 1e-5), ("double", np.float64, 1e-13)]
    for real, kind, bound in kinds if device.has_double else kinds[:1]:
        x = np.linspace(0.5, 3.0, 100).astype(kind)
        try:
            program = device.build(Source("backends/devices/probe.c", real))
            y = device.empty(x.shape, kind)
            device.launch(program, "probe", x.shape, (32,), device.array(x), y, len(x))
            result = device.to_host(y)
        except Exception as error:  # noqa: BLE001 - drivers raise any exception; the reason is passed on
            return f"fails in a probe: {error}"
        exact = 1 / np.sqrt(x) + 2 * np.exp(-x)
        if not np.abs(result - exact).max() < bound:
            return f"gives wrong numbers in a probe ({real}, error {np.abs(result - exact).max():.1e})"
    return ""


def real_type(precision: str, mixed: bool = False) -> np.dtype[Any]:
    """The real NumPy type of "double" or "single", or of the entries of a matrix in "mixed" precision, which are held
    in double; ValueError for anything else."""
    known = isinstance(precision, str) and (precision in cpu.PRECISIONS or (mixed and precision == "mixed"))
    if not known:
        choices = "'double', 'single' or 'mixed'" if mixed else "'double' or 'single'"
        raise ValueError(f"unknown precision {precision!r}: choose {choices}")
    return np.dtype(cpu.PRECISIONS.get(precision, np.float64))
