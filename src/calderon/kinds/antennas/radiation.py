"""Radiation of an antenna over a band: its efficiency, its largest gain, and the part of it that is realised."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from calderon.report.formatting import decibels_of_power

Real = NDArray[np.float64]
LEAST = 1e-3
"""Part of the power at a port that all ports together accept, below which gains are those of rounding."""
STEP = 3
"""Degrees between directions in which the largest gain is looked for."""


@dataclass(frozen=True)
class Radiation:
    """At a frequency in Hz: radiated over accepted power, and the largest gain in dBi."""

    frequency: float
    efficiency: float
    gain: float

    @classmethod
    def of(cls, solution: Any) -> "Radiation | None":
        """The numbers of a solution; None where ports accept less than `LEAST` of the power at one of them."""
        if accepted_share(solution) < LEAST:
            return None
        share = float(solution.radiated_power()) / float(solution.input_power)
        return cls(float(solution.frequency), share, largest_gain(solution))


def accepted_share(solution: Any) -> float:
    """Power that all ports accept over the largest at one of them."""
    through = np.real(solution.voltages * np.conj(solution.feed_currents)) / 2
    return float(through.sum() / np.abs(through).max())


def largest_gain(solution: Any) -> float:
    """In dBi, of all directions by steps of `STEP` degrees."""
    angles = (np.radians(np.arange(0, end, STEP)) for end in (181, 360))
    theta, phi = np.meshgrid(*angles, indexing="ij")
    return float(decibels_of_power(solution.gain(theta, phi)).max())


def over_band(radiations: Sequence[Radiation], frequencies: Real) -> tuple[Real, Real]:
    """Efficiencies and largest gains in dBi at frequencies (n,), by cubic polynomials without overshoot between those
    that were solved."""
    found = sorted(radiations, key=lambda each: each.frequency)
    hertz = np.array([each.frequency for each in found])
    values = np.array([[each.efficiency, each.gain] for each in found])
    kept = np.clip(frequencies, hertz[0], hertz[-1])
    efficiency, gain = scipy.interpolate.PchipInterpolator(hertz, values)(kept).T
    return efficiency, gain


def accepted_part(s: NDArray[np.complex128], given: NDArray[np.complex128], r: float, modes: int) -> Real:
    """(n,) accepted over available power, by S (n, p, p) for lines of r ohm at ports after the modes of waveguides.

    given (p,): waves into modes, then voltages U of ports. The waves a into ports follow from U / r^(1/2) = a + S a;
    available is the power of all waves, and accepted what does not come back.
    """
    one, known = np.eye(s.shape[-1]), np.arange(s.shape[-1]) < modes
    system = np.where(known[:, None], one, one + s)
    sides = np.where(known, given, given / np.sqrt(r))
    into = np.linalg.solve(system, np.broadcast_to(sides, s.shape[:2])[..., None])[..., 0]
    back = (s @ into[..., None])[..., 0]
    return np.asarray(1 - (np.abs(back) ** 2).sum(axis=1) / (np.abs(into) ** 2).sum(axis=1))
