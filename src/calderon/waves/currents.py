"""Driven currents as sources of transient fields."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calderon.validation import complex_vector, one_point, positive_length, unit_vector

Signal = Callable[[float], float]
"""A number for each time in s: `RampedSine`, `GaussianPulse` or any function."""


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
    direction: np.ndarray
    current: Signal
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "direction", unit_vector(self.direction, "the direction of a current source"))
        object.__setattr__(self, "name", self.name or self.part)
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

    position: np.ndarray
    moment: np.ndarray
    signal: Signal
    radius: float | None = None
    name: str = "dipole"

    def __post_init__(self) -> None:
        object.__setattr__(self, "position", one_point(self.position, "the position of a dipole"))
        object.__setattr__(self, "moment", _real_vector(self.moment))
        _check_signal(self.signal, "signal")
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
