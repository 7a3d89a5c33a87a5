"""Running Fourier transforms: complex amplitudes of the last periods of a run, spectra of whole runs."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.backends import require_memory
from calderon.dg.domain import Domain
from calderon.dg.results.periodic import PeriodicFields
from calderon.dg.run.observer import Instant, Observer, Span, State
from calderon.validation import positive_length, positive_numbers, whole_number

NEEDED = "frequencies are one or several positive numbers in Hz"
Result = Callable[
    [float, NDArray[np.complexfloating], NDArray[np.complexfloating], complex | str | None], PeriodicFields
]
"""Makes the result from frequency, E, Z0 H and the divisor."""


class LastPeriods(Observer):
    """Amplitudes u of fields Re u exp(-i w t), from `samples` values of each of the last two periods of a run.

    stride: steps between two values. total: steps of the run. turn: exp(i w s) where H is ahead by s. electric,
    magnetic: fields (blocks, 3, n, lanes) of the last period; before: the electric one of the period before it.
    """

    def __init__(self, domain: Domain, frequency: float, samples: int, stride: int, total: int, turn: complex) -> None:
        self._domain, self._frequency = domain, frequency
        self._samples, self._stride, self._total, self._turn = samples, stride, total, turn
        shape, real = domain.element_blocks.shape, domain.element_blocks.real
        require_memory(self.memory(domain), "the amplitudes of a field", "use more ranks or precision='single'")
        self._kind = np.result_type(real, np.complex64)
        self.before = np.zeros(shape, np.complex64)
        self.electric, self.magnetic = np.zeros(shape, self._kind), np.zeros(shape, self._kind)

    @staticmethod
    def memory(domain: Domain) -> int:
        """Bytes of the amplitudes on this rank."""
        element_blocks = domain.element_blocks
        return int(np.prod(element_blocks.shape)) * (4 * element_blocks.real.itemsize + np.dtype(np.complex64).itemsize)

    @property
    def label(self) -> str:
        return f"amplitudes at {self._frequency!r} Hz, {self._samples} samples"

    def wanted(self, step: int) -> bool:
        return step % self._stride == 0 and self._period(step) < 2

    def record(self, now: Instant) -> None:
        """Add the sample to the sums of the last period, or of E in the one before it."""
        factor = self._kind.type(2 / self._samples * np.exp(2j * np.pi * self._frequency * now.time))
        if self._period(now.step):
            add_multiple(self.before, factor, now.electric)
            return
        add_multiple(self.electric, factor, now.electric)
        add_multiple(self.magnetic, self._kind.type(factor * self._turn) if now.staggered else factor, now.magnetic)

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
            getattr(self, name).ravel()[:] = self._domain.restricted(values)


class RunningTransform(Observer):
    """E^(w) = int E(t) exp(i w t) dt and H^ alike at several frequencies, by the trapezoidal rule over every
    `stride`-th step of the runs that follow, counted through all of them; made by `MaxwellDG.add_transform`.

    A sample has half the time from the one before it to the one after it as weight, for H by the times of H itself,
    which in leap-frog is half a step ahead except at the end of a run. Within a run of even steps that is the rectangle
    rule; where a run follows whose steps have another length, the sample after the last one comes at another time than
    was predicted, and the missing weight is given to the field with which the run begins.

    For pulses: with fields that begin and end at rest the rule's error falls faster than any power of the step, as long
    as the pulse holds no frequency above half the rate of samples. frequencies (f,) in Hz.
    """

    def __init__(self, domain: Domain, frequencies: ArrayLike, stride: int, h_offset: float, result: Result) -> None:
        self.frequencies = positive_numbers(frequencies, "frequencies", NEEDED)
        self._stride = whole_number(stride, "stride")
        self._domain, self._h_offset, self._result = domain, h_offset, result
        self._span: Span | None = None
        self._left = self._stride  # steps from the begin of the run to its first sample
        self._last, self._next = np.zeros(2), np.zeros(2)  # times of E and H in the last sample and the predicted one
        self._samples = 0
        real = domain.element_blocks.real
        kind, shape = np.result_type(real, np.complex64), (len(self.frequencies), *domain.element_blocks.shape)
        require_memory(2 * int(np.prod(shape)) * kind.itemsize, "a transform", "request fewer frequencies")
        self.electric, self.magnetic = np.zeros(shape, kind), np.zeros(shape, kind)

    def require_samples(self, longest: float) -> None:
        """Raise ValueError for less than two samples of a period, with steps of up to `longest` s."""
        highest = 1 / (2 * self._stride * longest)
        if self.frequencies.max() > highest:
            raise ValueError(
                f"frequencies up to {self.frequencies.max():.4g} Hz, stride={self._stride}: steps of {longest:.3g} s "
                f"resolve those below {highest:.4g} Hz only; use a smaller stride or a finer mesh"
            )

    @property
    def label(self) -> str:
        return f"transform at {', '.join(map(repr, self.frequencies.tolist()))} Hz, every {self._stride} steps"

    def begin(self, span: Span, now: Instant) -> None:
        """Begin a run or go on with it: samples keep their stride over several runs, and the last sample of the run
        before gets the weight that its real distance to the next one requires."""
        before, self._span = self._span, span
        if now.step:
            return
        if before is None:
            self._last = self._times(0)
        else:
            self._left = (self._left - before.count - 1) % self._stride + 1
        predicted, self._next = self._next, self._times(self._left)
        if self._samples:
            self._add(now, self._times(0), (self._next - predicted) / 2)

    def _times(self, step: int) -> NDArray[np.float64]:
        """(2,) of E and of H after that many steps of the run, or where it would be then if the run went on."""
        assert self._span is not None
        time = self._span.start + step * self._span.step
        return np.array([time, time if step == self._span.count else time + self._h_offset * self._span.step])

    def wanted(self, step: int) -> bool:
        return step >= self._left and (step - self._left) % self._stride == 0

    def record(self, now: Instant) -> None:
        """Add the sample with half of the time from the sample before it to the next one as its weight."""
        times, self._next = self._times(now.step), self._times(now.step + self._stride)
        self._add(now, times, (self._next - self._last) / 2)
        self._last = times
        self._samples += 1

    def _add(self, now: Instant, times: NDArray[np.float64], weights: NDArray[np.float64]) -> None:
        """E and Z0 H at their times (2,), with their weights (2,) in s."""
        sums, kind = (self.electric, self.magnetic), self.electric.dtype.type
        for total, field, time, weight in zip(sums, (now.electric, now.magnetic), times, weights, strict=True):
            for n, frequency in enumerate(self.frequencies):
                add_multiple(total[n], kind(weight * np.exp(2j * np.pi * frequency * time)), field)

    def fields(self, frequency: float, per: complex | str | None = None) -> PeriodicFields:
        """The amplitudes at one of the frequencies, with power, absorption and far field, divided by a spectrum `per`.

        per: a number; or the name of a port, by whose current's spectrum all is divided, so that amplitudes are those
        of 1 A; by default the only port, or 1 where there is none or several (then fields are in V s/m). ValueError for
        an unknown frequency or port. The result's `change` is NaN.
        """
        frequency = positive_length(frequency, "frequency")
        found = np.flatnonzero(np.isclose(self.frequencies, frequency, rtol=1e-9))
        if not len(found):
            raise ValueError(f"frequency={frequency!r}: choose one of {', '.join(f'{f:g}' for f in self.frequencies)}")
        if not self._samples:
            raise ValueError("the transform has recorded no steps yet: call run(until=...) first")
        number = int(found[0])
        return self._result(float(self.frequencies[number]), self.electric[number], self.magnetic[number], per)

    def state(self) -> State:
        """The sums of all ranks, and what the next sample needs; all ranks call it."""
        fields = {
            f"{name}_{n}": self._domain.collected(getattr(self, name)[n])
            for name in ("electric", "magnetic")
            for n in range(len(self.frequencies))
        }
        counts = np.array([self._left, self._samples])
        return fields | {"times": np.stack([self._last, self._next]), "counts": counts}

    def restore(self, state: State) -> None:
        for name in ("electric", "magnetic"):
            for n in range(len(self.frequencies)):
                getattr(self, name)[n].ravel()[:] = self._domain.restricted(state[f"{name}_{n}"])
        self._last, self._next = state["times"]
        self._left, self._samples = map(int, state["counts"])


def add_multiple(total: NDArray[np.complexfloating], factor: complex, field: NDArray[np.floating]) -> None:
    """total += factor field for a flat field, a part at a time that fits a cache, so that no other copy is made."""
    flat = total.ravel()
    for first in range(0, len(flat), 1 << 16):
        part = slice(first, first + (1 << 16))
        flat[part] += factor * field[part]
