"""Complex amplitudes of the last periods of a run, by a running discrete Fourier transform."""

import math

import numpy as np
from numpy.typing import NDArray

from calderon.backends import require_memory
from calderon.dg.domain import Domain
from calderon.dg.observer import State

PART = 1 << 16
"""Numbers at a time, which fit a cache."""


class LastPeriods:
    """Amplitudes u of fields Re u exp(-i w t), from `samples` values of each of the last two periods of a run.

    stride: steps between two values. total: steps of the run. turn: exp(i w s) where H is ahead by s. electric,
    magnetic: fields (blocks, 3, n, lanes) of the last period; before: the electric one of the period before it.
    """

    def __init__(self, domain: Domain, frequency: float, samples: int, stride: int, total: int, turn: complex) -> None:
        self._domain, self._frequency = domain, frequency
        self._samples, self._stride, self._total, self._turn = samples, stride, total, turn
        shape, real = domain.arrangement.shape, domain.arrangement.real
        require_memory(self.memory(domain), "the amplitudes of a field", "use more ranks or precision='single'")
        self._kind = np.result_type(real, np.complex64)
        self.before = np.zeros(shape, np.complex64)
        self.electric, self.magnetic = np.zeros(shape, self._kind), np.zeros(shape, self._kind)

    @staticmethod
    def memory(domain: Domain) -> int:
        """Bytes of the amplitudes on this rank."""
        arrangement = domain.arrangement
        return int(np.prod(arrangement.shape)) * (4 * arrangement.real.itemsize + np.dtype(np.complex64).itemsize)

    @property
    def label(self) -> str:
        return f"amplitudes at {self._frequency!r} Hz, {self._samples} samples"

    def wanted(self, step: int) -> bool:
        return step % self._stride == 0 and self._period(step) < 2

    def record(self, step: int, time: float, electric: NDArray, magnetic: NDArray, staggered: bool) -> None:  # type: ignore[type-arg]
        factor = self._kind.type(2 / self._samples * np.exp(2j * np.pi * self._frequency * time))
        if self._period(step):
            add_multiple(self.before, factor, electric)
            return
        add_multiple(self.electric, factor, electric)
        add_multiple(self.magnetic, self._kind.type(factor * self._turn) if staggered else factor, magnetic)

    def _period(self, step: int) -> int:
        """0 in the last period, 1 in the one before, and so on."""
        return (self._total - step) // (self._samples * self._stride)

    def change(self) -> float:
        """Relative change of the electric amplitude from the period before to the last one (root mean square)."""
        np.subtract(self.before, self.electric, out=self.before, casting="same_kind")
        squares = [np.vdot(each, each).real for each in (self.before, self.electric)]
        first, second = self._domain.communicator.total(np.array(squares))
        return math.sqrt(first / second) if second else 0.0

    def state(self) -> State:
        return {name: self._domain.collected(getattr(self, name)) for name in ("before", "electric", "magnetic")}

    def restore(self, state: State) -> None:
        for name, values in state.items():
            array = getattr(self, name)
            for part in ("real", "imag"):
                own = self._domain.restricted(getattr(values, part))
                getattr(array, part)[:] = own.reshape(array.shape)


def add_multiple(total: NDArray[np.complexfloating], factor: complex, field: NDArray[np.floating]) -> None:
    """total += factor field for a flat field, a part at a time, so that no other copy of it is made."""
    flat = total.ravel()
    for first in range(0, len(flat), PART):
        part = slice(first, first + PART)
        flat[part] += factor * field[part]
