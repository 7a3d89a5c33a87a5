"""Steps that divide periods evenly."""

import math
from dataclasses import dataclass

SAMPLES = 24
"""Samples of a period that enter a discrete Fourier transform, at least."""


@dataclass(frozen=True)
class Sampling:
    """Of a period of a frequency in Hz: `samples` that enter the transform, `stride` steps from one to the next."""

    frequency: float
    samples: int
    stride: int

    @property
    def steps(self) -> int:
        """Of a period."""
        return self.samples * self.stride

    @property
    def step(self) -> float:
        """In s."""
        return 1 / (self.frequency * self.steps)


def sampling(frequency: float, longest: float) -> Sampling:
    """With steps as long as possible, at most `longest` s. ValueError for a frequency that is not positive."""
    if not (math.isfinite(frequency) and frequency > 0):
        raise ValueError(f"frequency={frequency!r}: a positive number is needed")
    stride = max(1, math.floor(1 / (frequency * longest * SAMPLES)))
    return Sampling(frequency, math.ceil(1 / (frequency * longest * stride)), stride)
