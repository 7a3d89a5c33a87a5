"""Where and how precisely something is computed."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from calderon.backends import numba as cpu
from calderon.backends.backend import get, real_type
from calderon.backends.device import Device


@dataclass(frozen=True)
class Computing:
    """The real NumPy type of what is computed, and the device that does it, None for the processor."""

    real: np.dtype[Any]
    device: Device | None = None

    def dtype(self, is_complex: bool) -> np.dtype[Any]:
        """The type of real or complex numbers."""
        return np.result_type(self.real, np.complex64) if is_complex else self.real

    @property
    def name(self) -> str:
        """The backend by name."""
        return cpu.NAME if self.device is None else self.device.name


def computing(backend: str, precision: str) -> Computing:
    """A backend in a precision; errors as for `get`, RuntimeError for a device without double precision."""
    real, device = np.dtype(real_type(precision)), get(backend)
    if device is not None and real == np.float64 and not device.has_double:
        raise RuntimeError(
            f"{device.name} ({device.label}) computes in single precision alone: "
            "choose precision='single', or backend='numba'"
        )
    return Computing(real, device)
