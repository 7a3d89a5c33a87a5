"""Sums of powers in bands of a third of an octave, with the exact limits of base ten.

Band x has the centre f = 1000 * 10^(x/10) Hz and the limits f * 10^(-1/20) and f * 10^(1/20), at which the next ones
begin: ten bands are a decade. It is named by a rounded, nominal frequency. IEC 61260-1:2014, 5.2 to 5.6, annex E.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.data import Axis, LabelledArrays, Quantity
from calderon.data.far_fields import decibels
from calderon.data.labelled import Labelled
from calderon.formulations.acoustic.results.a_weighting import a_weighting
from calderon.mesh.errors import warn_of_accuracy
from calderon.validation import finite_numbers, one_of, positive_length, positive_numbers, text, unmasked

NOMINAL = (1.0, 1.25, 1.6, 2.0, 2.5, 3.15, 4.0, 5.0, 6.3, 8.0)
PICOWATT = 1e-12
COARSE = 1.0
"""Decibels by which a band may change where every second frequency is left out, before a warning: with all of them the
error is then a third of it or less."""


@dataclass(frozen=True, eq=False)
class ThirdOctaves(Labelled):
    """Powers in bands of a third of an octave.

    numbers (n,): x of the bands, ascending, 0 at 1 kHz. values (n, ...): the powers, in the unit. reference: of levels,
    in that unit, 1 pW by default.
    """

    numbers: NDArray[np.int64]
    values: NDArray[np.float64]
    unit: str = "W"
    reference: float = PICOWATT

    @property
    def centres(self) -> NDArray[np.float64]:
        """(n,) the exact centres in Hz."""
        return np.asarray(1000 * 10 ** (self.numbers / 10))

    @property
    def limits(self) -> NDArray[np.float64]:
        """(n, 2) the exact limits in Hz."""
        return limits_of(self.numbers)

    @property
    def nominal(self) -> NDArray[np.float64]:
        """(n,) the nominal frequencies in Hz by which bands are named: 31.5, 40, 50, 63, ..."""
        return np.array([nominal_frequency(each) for each in self.numbers])

    @property
    def levels(self) -> NDArray[np.float64]:
        """(n, ...) the levels in dB re `reference`."""
        return decibels(np.maximum(self.values, 0.0) / self.reference)

    @property
    def level_unit(self) -> str:
        """The unit of levels, "dB re 1 pW" or "dB re 20 µPa"."""
        named = {("W", 1e-12): "1 pW", ("Pa^2", 4e-10): "20 µPa", ("Pa^2", 1e-12): "1 µPa"}
        known = (
            name
            for (unit, size), name in named.items()
            if unit == self.unit and np.isclose(size, self.reference, atol=0)
        )
        return f"dB re {next(known, f'{self.reference:g} {self.unit}')}"

    @cached_property
    def a_weighting(self) -> NDArray[np.float64]:
        """(n,) the A-weighting at the centres in dB."""
        return a_weighting(self.centres)

    @property
    def a_weighted_levels(self) -> NDArray[np.float64]:
        """(n, ...) the levels in dB(A), weighted at the centres."""
        return np.asarray((self.levels.T + self.a_weighting).T)

    @property
    def total_level(self) -> Any:
        """The level of the sum of all bands in dB re `reference`."""
        return decibels(np.maximum(self.values, 0.0).sum(axis=0) / self.reference)

    @property
    def total_a_weighted_level(self) -> Any:
        """The level of the sum of all bands in dB(A), each weighted at its centre."""
        return decibels((10 ** (self.a_weighted_levels / 10)).sum(axis=0))

    def arrays(self) -> LabelledArrays:
        """Powers and levels by band, as `data.LabelledArrays`."""
        others = tuple(Axis(f"index_{n}", np.arange(size)) for n, size in enumerate(self.values.shape[1:]))
        axes = (Axis("band", self.nominal, "Hz", "third-octave band"), *others)
        sides = zip(("lower_limit", "upper_limit"), self.limits.T, strict=True)
        places = tuple(Quantity(name, each, "Hz", along=("band",)) for name, each in sides)
        levels = {"level": self.levels, "a_weighted_level": self.a_weighted_levels}
        found = [Quantity(name, each, self.level_unit, name.replace("_", " ")) for name, each in levels.items()]
        found = [Quantity("power", self.values, self.unit, "power"), *found]
        return LabelledArrays(axes, tuple(found), places)

    @property
    def brief(self) -> str:
        """The bands, and the level of their sum."""
        low, high = nominal_frequency(self.numbers[0]), nominal_frequency(self.numbers[-1])
        total = f", {self.total_level:.1f} dB in all" if self.values.ndim == 1 else ""
        return f"{len(self.numbers)} third octaves from {low:g} to {high:g} Hz{total}"


def third_octaves(
    frequencies: ArrayLike,
    powers: ArrayLike,
    kind: Literal["density", "mean", "tones"],
    *,
    bands: Sequence[float] | None = None,
    unit: str = "W",
    reference: float = PICOWATT,
    quantity: str = "",
) -> ThirdOctaves:
    """Powers, or squares of pressures, at frequencies in bands of a third of an octave.

    frequencies (n,): in Hz, distinct. powers (n, ...): real, at these frequencies. kind: which they are. "density": per
    Hz, of amplitudes per root of Hz, as of noise: a band has their integral, of the straight lines between them.
    "mean": of a tone of any frequency in the band, as of a velocity of 1 m/s: a band has their mean. "tones": those of
    all tones that sound together: a band has their sum. bands: nominal frequencies in Hz, [100, 125, 160]; by default
    all that lie between the frequencies, of tones those from the first to the last one. unit: of the powers in bands.
    reference: of levels, in it: 4e-10 Pa^2 for squares of pressures in air. quantity: what the powers are, with which
    warnings begin.

    ValueError for bands that reach beyond the frequencies, or in which none lies, and for names that no band has;
    AccuracyWarning where a band changes by more than 1 dB without every second frequency.

        bands = third_octaves(sweep.frequencies, [each.sound_power for each in sweep], kind="mean")
        bands.nominal, bands.levels, bands.total_a_weighted_level
    """
    one_of(kind, ("density", "mean", "tones"), "kind")
    text(unit, "unit")
    text(quantity, "quantity")
    f, values = _sorted(frequencies, powers)
    numbers = _bands(f, kind, bands)
    limits, reference = limits_of(numbers), positive_length(reference, "reference")
    places = np.searchsorted(f, limits.ravel() * (1 - 1e-12)).reshape(-1, 2)
    if kind == "tones":
        sums = np.concatenate([np.zeros((1, *values.shape[1:])), np.cumsum(values, axis=0)])
        return ThirdOctaves(numbers, np.diff(sums[places], axis=1)[:, 0], unit, reference)
    empty = places[:, 0] == places[:, 1]
    if empty.any():
        nominal = nominal_frequency(numbers[int(np.argmax(empty))])
        raise ValueError(
            f"no frequency lies in the third octave {nominal:g} Hz: sweep in smaller steps, several in a band"
        )
    found = _integrals(f, values, limits)
    _require_fine(f, values, limits, found, f"{quantity}: " if quantity else "")
    if kind == "mean":
        found = (found.T / np.ptp(limits, axis=1)).T
    return ThirdOctaves(numbers, found, unit, reference)


def _bands(f: NDArray[np.float64], kind: str, bands: Sequence[float] | None) -> NDArray[np.int64]:
    """(m,) x of the bands that are named, or lie between ascending frequencies (n,), or have tones; ValueError for
    those that reach beyond."""
    first, last = (10 * np.log10(each / 1000) for each in (f[0], f[-1]))
    if bands is not None:
        numbers = np.unique([_number_of(each) for each in unmasked(bands, "bands").ravel()])
    elif kind == "tones":
        numbers = np.arange(_holding(first), _holding(last) + 1)
    else:
        numbers = np.arange(int(np.ceil(first + 0.5 - 1e-9)), int(np.floor(last - 0.5 + 1e-9)) + 1)
    if not len(numbers):
        raise ValueError(
            f"no third octave lies between {f[0]:g} and {f[-1]:g} Hz: sweep the whole of one, such as "
            f"{limits_of(np.array([_holding(first)]))[0].round(2).tolist()} Hz"
        )
    limits = limits_of(numbers)
    outside = (limits[:, 0] < f[0] * (1 - 1e-9)) | (limits[:, 1] > f[-1] * (1 + 1e-9))
    if kind != "tones" and outside.any():
        wrong = int(np.argmax(outside))
        low, high = limits[wrong]
        raise ValueError(
            f"the third octave {nominal_frequency(numbers[wrong]):g} Hz reaches from {low:.2f} to {high:.2f} Hz, and "
            f"the frequencies from {f[0]:g} to {f[-1]:g} Hz: sweep the whole of it, or leave it out of bands="
        )
    return numbers


def limits_of(numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    """(n, 2) the exact limits in Hz of bands x (n,)."""
    return np.asarray(1000 * 10 ** ((numbers[:, None] + np.array([-0.5, 0.5])) / 10))


def nominal_frequency(number: int) -> float:
    """The nominal frequency in Hz of band x; IEC 61260-1:2014, annex E."""
    decade, step = divmod(int(number), len(NOMINAL))
    return float(f"{NOMINAL[step] * 10.0 ** (3 + decade):.3g}")


def _holding(position: float) -> int:
    """The number of the band that holds 10 log10(f / 1000)."""
    return int(np.floor(position + 0.5 + 1e-12))


def _number_of(nominal: float) -> int:
    """x of the band with a nominal frequency in Hz; ValueError where there is none."""
    number = _holding(10 * np.log10(positive_length(nominal, "a band") / 1000))
    if abs(nominal_frequency(number) / nominal - 1) > 1e-6:
        raise ValueError(
            f"no third octave is named {nominal:g} Hz: choose {', '.join(f'{each * 100:g}' for each in NOMINAL)}, or "
            "these times a power of ten"
        )
    return number


def _sorted(frequencies: ArrayLike, powers: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Ascending frequencies (n,) and their powers (n, ...); ValueError for equal ones and for complex powers."""
    f = positive_numbers(frequencies, "frequencies", "third octaves need positive frequencies in Hz")
    array = unmasked(powers, "powers")
    if array.ndim < 1 or len(array) != len(f):
        raise ValueError(f"powers of shape {array.shape} at {len(f)} frequencies: give one for each")
    flat = finite_numbers(array.ravel(), array.size, "powers", "one finite number for each frequency")
    if np.abs(flat.imag).max(initial=0.0) > 1e-6 * np.abs(flat).max(initial=0.0):
        raise ValueError("powers are real: of pressures take the squares of root mean squares, |p|^2 / 2")
    order = np.argsort(f, kind="stable")
    if (np.diff(f[order]) <= 0).any():
        raise ValueError("frequencies of third octaves are distinct: add powers of equal ones")
    return f[order], flat.real.reshape(array.shape)[order]


def _integrals(f: NDArray[np.float64], values: NDArray[np.float64], limits: NDArray[np.float64]) -> NDArray[np.float64]:
    """(m, ...) integrals between limits (m, 2) of the straight lines through values (n, ...) at f (n,)."""
    steps = np.diff(f)
    rows = values.reshape(len(f), -1)
    whole = np.concatenate([np.zeros((1, rows.shape[1])), np.cumsum(steps[:, None] * (rows[1:] + rows[:-1]) / 2, 0)])
    x = np.clip(limits.ravel(), f[0], f[-1])
    before = np.clip(np.searchsorted(f, x, side="right") - 1, 0, len(f) - 2)
    past = x - f[before]
    end = rows[before] + (past / steps[before])[:, None] * (rows[before + 1] - rows[before])
    until = whole[before] + past[:, None] * (rows[before] + end) / 2
    return np.asarray((until[1::2] - until[::2]).reshape(-1, *values.shape[1:]))


def _require_fine(
    f: NDArray[np.float64],
    values: NDArray[np.float64],
    limits: NDArray[np.float64],
    found: NDArray[np.float64],
    beginning: str,
) -> None:
    """AccuracyWarning, with this beginning, where bands change without every second frequency by more than COARSE."""
    kept = np.unique([*range(0, len(f), 2), len(f) - 1])
    other = _integrals(f[kept], values[kept], limits)
    with np.errstate(divide="ignore", invalid="ignore"):
        change = np.abs(10 * np.log10(np.abs(other / found))).reshape(len(limits), -1)
    worst = np.where(np.isnan(change), 0.0, change).max(axis=1)  # 0 / 0: silent in both
    if (coarse := np.flatnonzero(worst > COARSE)).size:
        warn_of_accuracy(
            f"{beginning}{coarse.size} of {len(limits)} third octaves change by up to {worst.max():.1f} dB where every "
            "second frequency is left out, the first from "
            f"{limits[coarse[0], 0]:.1f} to {limits[coarse[0], 1]:.1f} Hz: sweep in smaller steps; with interpolate= "
            "they cost no solutions"
        )
