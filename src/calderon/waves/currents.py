"""Driven currents as sources of transient fields, and the signals that drive them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calderon.validation import (
    complex_vector,
    finite_number,
    one_point,
    positive_length,
    real_number,
    text,
    unit_vector,
)
from calderon.waves.given import Given

Signal = Callable[[float], float]
"""A number for each time in s: `RampedSine`, `GaussianPulse` or any function."""
RAMP_PERIODS = 2.0
"""Periods over which a time-harmonic signal is switched on, so that it excites little else."""


@dataclass(frozen=True, eq=False)
class CurrentSource:
    """A feed: the current I(t) flows through a part of a mesh along one direction, spread evenly.

    The current density is J = I L / V d in a part of volume V whose extent along d is L, so that its integral is I L d;
    in a prism along d every cross-section carries I. The voltage at the feed is the mean of -E . d times L: positive
    where the feed drives the current, and current times voltage is the power that it gives.

    part: name of the part of the mesh. direction: d (3,), any length but zero; it is normalised. current: I(t) in A.
    name: of the feed in results, by default the part's.
    """

    part: str
    direction: Given
    current: Signal
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "direction", unit_vector(self.direction, "the direction of a current source"))
        text(self.part, "the part of a current source")
        object.__setattr__(self, "name", text(self.name, "the name of a current source") or self.part)
        _check_signal(self.current, "current")

    @property
    def signal(self) -> Signal:
        """I(t) in A."""
        return self.current


@dataclass(frozen=True, eq=False)
class CurrentDipole:
    """A Hertz dipole in time: the current density J = m s(t) delta(x - y). See `exact.hertz_dipole` for its field.

    On a mesh it becomes a smooth current over a ball of some radius, whose moments up to the second, or fourth from
    order 3 on, are those of the point: outside of the ball the field is the dipole's, to a power of radius over
    wavelength. A small ball makes a strong near field, which the mesh must carry: with flux="centred" its errors
    reach far.

    position: y (3,) in m. moment: m (3,), current times length in A m. signal: s(t), without unit. radius: in m, by
    default twice the mean edge of the element at y. name: of the source in results.
    """

    position: Given
    moment: Given
    signal: Signal
    radius: float | None = None
    name: str = "dipole"

    def __post_init__(self) -> None:
        object.__setattr__(self, "position", one_point(self.position, "the position of a dipole"))
        object.__setattr__(self, "moment", _real_vector(self.moment))
        _check_signal(self.signal, "signal")
        text(self.name, "the name of a dipole")
        if self.radius is not None:
            positive_length(self.radius, "the radius of a dipole")


def _check_signal(signal: Signal, name: str) -> None:
    if not callable(signal):
        raise ValueError(f"{name}={signal!r}: a function of time is needed, such as RampedSine(frequency)")


def _real_vector(moment: ArrayLike) -> np.ndarray:
    values = complex_vector(moment, "the moment of a dipole")
    if np.any(values.imag):
        raise ValueError(f"the moment of a dipole in time is {values}: real numbers are needed, the signal has phases")
    return np.asarray(values.real)


def smooth(x: float) -> float:
    """0 for x <= 0, 1 for x >= 1, with two continuous derivatives in between."""
    t = min(max(x, 0.0), 1.0)
    return t**3 * (10 - 15 * t + 6 * t**2)


@dataclass(frozen=True)
class RampedSine:
    """s(t) = r(t) Re amplitude exp(-i w t), w = 2 pi frequency: silent before t = 0, switched on by a smooth ramp r
    over so many periods, so that it excites little else than its frequency.

    frequency: in Hz. amplitude: peak value in the unit of what is driven (A for a current), complex for a phase: 1 is
    the cosine, 1j the sine. periods: of the ramp, positive.
    """

    frequency: float
    amplitude: complex = 1.0
    periods: float = RAMP_PERIODS

    def __post_init__(self) -> None:
        positive_length(self.frequency, "frequency")
        positive_length(self.periods, "periods")
        finite_number(self.amplitude, "the amplitude of a signal")

    def __call__(self, time: float) -> float:
        """The value at a time in s."""
        value = self.amplitude * np.exp(-2j * np.pi * self.frequency * time)
        return float(smooth(self.frequency * time / self.periods) * value.real)


@dataclass(frozen=True)
class GaussianPulse:
    """s(t) = amplitude exp(-((t - delay) / width)^2 / 2) cos(2 pi frequency (t - delay)).

    width: standard deviation in s; the spectrum falls to 1 % at 3.0 / (2 pi width) from the carrier. amplitude: peak
    value in the unit of what is driven. frequency: of the carrier in Hz, 0 for none. delay: of the peak in s, by
    default 6 widths, where the pulse begins at 2e-8 of its peak.
    """

    width: float
    amplitude: float = 1.0
    frequency: float = 0.0
    delay: float | None = None

    def __post_init__(self) -> None:
        positive_length(self.width, "width")
        finite_number(self.amplitude, "the amplitude of a signal")
        if real_number(self.frequency, "frequency") < 0:
            raise ValueError(f"frequency must not be negative, got {self.frequency!r}")
        delay = 6 * self.width if self.delay is None else real_number(self.delay, "the delay of a pulse")
        object.__setattr__(self, "delay", float(delay))

    def __call__(self, time: float) -> float:
        """The value at a time in s."""
        assert self.delay is not None
        late = time - self.delay
        envelope = self.amplitude * np.exp(-((late / self.width) ** 2) / 2)
        return float(envelope * np.cos(2 * np.pi * self.frequency * late))
