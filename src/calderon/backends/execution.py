"""Where and how precisely something is computed."""

from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from calderon.backends import numba as cpu
from calderon.backends.backend import get, real_type
from calderon.backends.devices.device import Device

Implementation = TypeVar("Implementation")


@dataclass(frozen=True)
class Execution:
    """The real NumPy type of what is computed, and the device that does it, None for the processor.

    far: the type in which the regular part of a matrix is computed, `real` if None.
    team: several backends that share the work, all different; device is None then. parts: what each of them did, a
    record that is filled while computing.
    """

    real: np.dtype[Any]
    device: Device | None = None
    far: np.dtype[Any] | None = None
    team: tuple["Execution", ...] = ()
    parts: list[NDArray[np.float64]] = field(default_factory=list, compare=False)

    @classmethod
    def of(cls, backend: str, precision: str, several: bool = False, mixed: bool = False, turn: int = 0) -> "Execution":
        """A backend in a precision; errors and turn as for `get`, RuntimeError for a device without double precision.

        mixed: whether "mixed" precision may be requested; ValueError if not. several: whether "numba+cuda:0" may stand
        for several that share the work; ValueError if not, or if one is named twice.
        """
        if isinstance(precision, str) and precision == "mixed" and not mixed:
            raise ValueError(
                "precision='mixed' is for dense matrices and their entries only: choose 'double' or 'single'"
            )
        real = real_type(precision, mixed)
        far = np.dtype(np.float32) if precision == "mixed" else None
        # one backend, or several that share the work, the processor first
        names = backend.split("+") if isinstance(backend, str) else [backend]
        if len(names) > 1 and not several:
            raise ValueError(
                f"backend {backend!r}: only 'dense', 'fft', 'fmm', 'hmatrix' and 'mlfmm' accept several backends, and "
                f"not for solids: choose one of {', '.join(map(repr, names))}"
            )
        team = []
        for name in names:
            device = get(name, turn if len(names) == 1 else 0)
            if device is not None and real == np.float64 and not device.has_double:
                raise RuntimeError(
                    f"{device.name} ({device.label}) supports single precision only: "
                    "choose precision='single', or backend='numba'"
                )
            team.append(cls(real, device, far))
        if len(team) == 1:
            return team[0]
        team.sort(key=lambda each: each.device is not None)
        found = [each.name for each in team]
        if len(set(found)) < len(found):
            raise ValueError(f"backend {backend!r} names one of {', '.join(map(repr, found))} twice: name each once")
        return cls(real, None, far, tuple(team))

    @property
    def regular(self) -> np.dtype[Any]:
        """The real type of the regular part."""
        return self.real if self.far is None else self.far

    def dtype(self, is_complex: bool) -> np.dtype[Any]:
        """The type of real or complex numbers."""
        return np.result_type(self.real, np.complex64) if is_complex else self.real

    @property
    def devices(self) -> tuple[Device, ...]:
        """The devices that compute; none where the processor does all."""
        return tuple(each.device for each in self.team or (self,) if each.device is not None)

    @property
    def uses_processor(self) -> bool:
        """Whether the processor computes, alone or with devices."""
        return len(self.devices) < max(1, len(self.team))

    def required_device(self, message: str) -> Device:
        """The device; ValueError with that message where the processor computes."""
        if self.device is None:
            raise ValueError(message)
        return self.device

    def choose(self, processor: Implementation, device: Implementation) -> Implementation:
        """The implementation, of two with the same functions, that runs here."""
        return processor if self.device is None else device

    @property
    def name(self) -> str:
        """The backend by name; of several, with the part of the work that each of them did."""
        if not self.team:
            return cpu.NAME if self.device is None else self.device.name
        names = [each.name for each in self.team]
        if not self.parts:
            return "+".join(names)
        total = np.sum(self.parts, axis=0)
        return " + ".join(f"{name} ({part:.0%})" for name, part in zip(names, total / (total.sum() or 1), strict=True))


def computable(x: NDArray[Any]) -> NDArray[Any]:
    """Vectors (n, k) in a type that products are computed in: extended precision becomes double precision, the other
    types of numbers stay. TypeError for what is no array of numbers, such as Python objects."""
    if x.dtype.kind not in "biufc":
        raise TypeError(f"products are those of numbers, got vectors of dtype {x.dtype}: convert them, x.astype(float)")
    double = np.dtype(np.complex128 if x.dtype.kind == "c" else np.float64)
    return x.astype(double) if x.dtype.itemsize > double.itemsize else x
