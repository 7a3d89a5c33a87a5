"""Signals: what a source does in time."""

from dataclasses import dataclass

import numpy as np

from calderon.validation import finite_number, positive_length

RAMP_PERIODS = 2.0
"""Periods over which a time-harmonic signal is switched on, so that it excites little else."""


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
        if self.frequency != 0:
            positive_length(self.frequency, "frequency")
        object.__setattr__(self, "delay", 6 * self.width if self.delay is None else float(self.delay))

    def __call__(self, time: float) -> float:
        """The value at a time in s."""
        assert self.delay is not None
        late = time - self.delay
        envelope = self.amplitude * np.exp(-((late / self.width) ** 2) / 2)
        return float(envelope * np.cos(2 * np.pi * self.frequency * late))
