"""The antenna as a line of 50 ohm sees it: reflection, standing waves, and the power that it takes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.report.formatting import frequency_text
from calderon.report.sheet import Sheet

LINE = 50.0
"""The impedance of the line in ohm."""
MATCHED = -10.0
"""The level in dB of S11 below which an antenna counts as matched."""


def reflection(impedance: ArrayLike) -> NDArray[np.complex128]:
    """S11 = (Z - Z_0) / (Z + Z_0) of impedances in ohm, of the time factor exp(-i omega t) as these."""
    z = np.asarray(impedance, np.complex128)
    return np.asarray((z - LINE) / (z + LINE))


@dataclass(frozen=True)
class Bandwidth:
    """From low to high, in Hz, the reflection stays below a level; ends: whether these lie within what was computed."""

    low: float
    high: float
    ends: bool

    @property
    def text(self) -> str:
        """The band as text, "2.372 to 2.413 GHz"."""
        return f"{frequency_text(self.low, 4).split()[0]} to {frequency_text(self.high, 4)}"


def bandwidth(
    frequencies: NDArray[np.float64], levels: NDArray[np.float64], level: float = MATCHED
) -> Bandwidth | None:
    """The band around the least reflection in which levels in dB stay below `level`, its ends on straight lines between
    frequencies (n,) in rising order; None where none does."""
    best = int(np.argmin(levels))
    if len(levels) < 2 or levels[best] >= level:
        return None
    above = np.flatnonzero(levels >= level)
    before, after = above[above < best], above[above > best]

    def crossing(one: int, other: int) -> float:
        part = (level - levels[one]) / (levels[other] - levels[one])
        return float(frequencies[one] + part * (frequencies[other] - frequencies[one]))

    low = crossing(before[-1], before[-1] + 1) if len(before) else float(frequencies[0])
    high = crossing(after[0], after[0] - 1) if len(after) else float(frequencies[-1])
    return Bandwidth(low, high, bool(len(before) and len(after)))


def headline_bandwidth(sheet: Sheet, found: Bandwidth | None) -> None:
    """Add the band of a matched antenna to a report."""
    if found is None:
        return
    value, unit = frequency_text(found.high - found.low, 3).split()
    at_least = "" if found.ends else "at least, the sweep ends: "
    sheet.headline(f"−10 dB bandwidth, {at_least}{found.text}", value, unit)
    sheet.number("bandwidth_Hz", [found.low, found.high])


def standing_wave_ratio(s: ArrayLike) -> NDArray[np.float64]:
    """VSWR = (1 + |S11|) / (1 - |S11|), at most 1e6: infinity, where nothing is accepted, is not in JSON."""
    size = np.abs(s)
    return np.asarray(np.minimum((1 + size) / np.maximum(1 - size, 1e-6), 1e6))


def accepted(s: ArrayLike) -> NDArray[np.float64]:
    """1 - |S11|^2 of the power of the line: by this, the realised gain is less than the gain."""
    return np.asarray(1 - np.abs(s) ** 2)


def accepted_part(
    s: NDArray[np.complex128], given: NDArray[np.complex128], r: float, modes: int
) -> NDArray[np.float64]:
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
