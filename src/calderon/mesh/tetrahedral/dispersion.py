"""Permittivities that depend on the frequency, relative to vacuum, for exp(-i omega t): loss is a positive imaginary
part.

J. D. Jackson, Classical Electrodynamics, section 7.5; K. S. Cole and R. H. Cole, J. Chem. Phys. 9 (1941) 341.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calderon.validation import broadcast, positive_length, real_array, real_number, unmasked


@dataclass(frozen=True)
class Debye:
    """eps = infinite + sum strength / (1 - i omega time): polar liquids, tissue.

    infinite: far above all relaxations. strengths: one number or several. times: as many, in s. Raises ValueError for
    numbers that are not positive.
    """

    infinite: float
    strengths: float | Sequence[float]
    times: float | Sequence[float]

    def __post_init__(self) -> None:
        _positive_terms(self.infinite, strengths=self.strengths, times=self.times)

    def __call__(self, frequency: float) -> complex:
        """eps at a frequency in Hz."""
        strength, time = _terms(strengths=self.strengths, times=self.times)
        return complex(self.infinite + np.sum(strength / (1 - 2j * np.pi * _hertz(frequency) * time)))


@dataclass(frozen=True)
class ColeCole:
    """eps = infinite + sum strength / (1 + (-i omega time)^(1 - exponent)): relaxations that are spread, of tissue.

    As `Debye`, which has the exponent 0; exponents from 0 to below 1, one or as many as strengths.
    """

    infinite: float
    strengths: float | Sequence[float]
    times: float | Sequence[float]
    exponents: float | Sequence[float] = 0.0

    def __post_init__(self) -> None:
        _positive_terms(self.infinite, strengths=self.strengths, times=self.times)
        a = _terms(strengths=self.strengths, exponents=self.exponents)[1]
        if not ((a >= 0) & (a < 1)).all():
            raise ValueError(f"exponents of a Cole-Cole medium lie from 0 to below 1, got {self.exponents!r}")

    def __call__(self, frequency: float) -> complex:
        """eps at a frequency in Hz."""
        strength, time, a = _terms(strengths=self.strengths, times=self.times, exponents=self.exponents)
        return complex(self.infinite + np.sum(strength / (1 + (-2j * np.pi * _hertz(frequency) * time) ** (1 - a))))


@dataclass(frozen=True)
class Lorentz:
    """eps = infinite + sum strength f0^2 / (f0^2 - f^2 - i f width): resonances of bound charges.

    strengths, resonances f0 and widths, both in Hz: one number or several. Raises ValueError for numbers that are not
    positive.
    """

    infinite: float
    strengths: float | Sequence[float]
    resonances: float | Sequence[float]
    widths: float | Sequence[float]

    def __post_init__(self) -> None:
        _positive_terms(self.infinite, strengths=self.strengths, resonances=self.resonances, widths=self.widths)

    def __call__(self, frequency: float) -> complex:
        """eps at a frequency in Hz."""
        f = _hertz(frequency)
        strength, f0, width = _terms(strengths=self.strengths, resonances=self.resonances, widths=self.widths)
        return complex(self.infinite + np.sum(strength * f0**2 / (f0**2 - f**2 - 1j * f * width)))


@dataclass(frozen=True)
class Drude:
    """eps = infinite - fp^2 / (f^2 + i f collisions): free charges, of metals in light and of plasma.

    plasma: fp in Hz. collisions: their rate over 2 pi, in Hz. Raises ValueError for numbers that are not positive.
    """

    infinite: float
    plasma: float
    collisions: float

    def __post_init__(self) -> None:
        _positive_terms(self.infinite, plasma=self.plasma, collisions=self.collisions)

    def __call__(self, frequency: float) -> complex:
        """eps at a frequency in Hz."""
        f = _hertz(frequency)
        return complex(self.infinite - self.plasma**2 / (f**2 + 1j * f * self.collisions))


@dataclass(frozen=True, eq=False)
class PermittivityTable:
    """A measured permittivity: values (n,), complex, at increasing frequencies (n,) in Hz, linear over the logarithm of
    the frequency between them.

    Raises ValueError for other lengths, gain, and, when called, for frequencies outside of the table.
    """

    frequencies: ArrayLike
    values: ArrayLike

    def __post_init__(self) -> None:
        f = real_array(self.frequencies, "frequencies", "increasing positive frequencies in Hz")
        values = unmasked(self.values, "values")
        if values.dtype.kind not in "fiuc" or f.ndim != 1 or len(f) < 2 or values.shape != f.shape:
            raise ValueError(f"a table has two values or more, one for each frequency, got {values!r} for {f!r}")
        if not (f[0] > 0 and (np.diff(f) > 0).all() and np.isfinite(values).all() and (values.imag >= 0).all()):
            raise ValueError("a table has increasing positive frequencies and finite values without gain, with an "
                             "imaginary part that is not negative for exp(-i omega t)")  # fmt: skip

    def __call__(self, frequency: float) -> complex:
        """eps at a frequency in Hz."""
        f, known = _hertz(frequency), np.asarray(self.frequencies, float)
        if not known[0] <= f <= known[-1]:
            raise ValueError(f"{f:g} Hz lies outside of the table of a permittivity, {known[0]:g} to {known[-1]:g} Hz: "
                             "extend it, or take a model such as Debye")  # fmt: skip
        values = np.asarray(self.values, complex)
        parts = [np.interp(np.log(f), np.log(known), part) for part in (values.real, values.imag)]
        return complex(parts[0], parts[1])


def _hertz(frequency: float) -> float:
    return positive_length(frequency, "frequency")


def _terms(**given: float | Sequence[float]) -> tuple[np.ndarray, ...]:
    """The numbers of all terms, as arrays of one length."""
    named = {name: np.atleast_1d(real_array(each, name, "a number or a list of them")) for name, each in given.items()}
    return broadcast(named, "as many numbers for each term")


def _positive_terms(infinite: float, **given: float | Sequence[float]) -> None:
    real_number(infinite, "infinite")
    for name, each in zip(given, _terms(**given), strict=True):
        if not (each > 0).all() or infinite <= 0:
            raise ValueError(f"{name}={given[name]!r}, infinite={infinite!r}: positive numbers are needed")
