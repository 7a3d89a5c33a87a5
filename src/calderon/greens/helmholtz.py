"""Helmholtz: G = exp(i k r) / (4 pi r), outgoing under exp(-i omega t)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calderon.backends.vectors import jitable
from calderon.greens.elementary import (
    SHORT,
    decaying_exponential,
    inverse_square_root,
    inverse_square_root_multiple,
    root_factor,
    root_scaled,
    short_exponential,
    short_sine_cosine,
    sine_cosine,
)
from calderon.greens.green import Radial, no_phase
from calderon.validation import finite_number


@jitable
def _wave(c, s, w, kr):
    """(c + i s) / r and its product with (i k r - 1) / r^2; w = 1/r, kr = k r."""
    w3 = w * w * w
    return c * w, s * w, -(c + kr * s) * w3, (kr * c - s) * w3


@jitable
def _lossy_wave(c, s, a, w, kr, lr):
    """(c + i s) a and its product with (i k r - l r - 1) / r^2, for a wavenumber k + i l; w = 1/r, kr = k r, lr = l
    r."""
    re = c * a
    im = s * a
    w2 = w * w
    return re, im, -(re + lr * re + kr * im) * w2, (kr * re - im - lr * im) * w2


@jitable
def value(r2, parameters, reference):
    """Real wavenumber k = parameters[0]: values at squared distances r2, without a reference."""
    w = inverse_square_root(r2)
    kr = parameters[0] * (r2 * w)
    s, c = sine_cosine(kr)
    return _wave(c, s, w, kr)


@jitable
def shifted_value(r2, parameters, reference):
    """Real wavenumber k = parameters[0]: values at squared distances r2 times exp(-i k reference)."""
    w = inverse_square_root(r2)
    kr = parameters[0] * (r2 * w)
    s, c = short_sine_cosine(kr - parameters[0] * reference)
    return _wave(c, s, w, kr)


@jitable
def shifted_multiple(r2, parameters, reference):
    """The values of `shifted_value` without the factors of the root: one in values, three in slopes; arguments as
    in `shifted_value`."""
    w = inverse_square_root_multiple(r2)
    kr = root_scaled(parameters[0], r2) * (r2 * w)
    s, c = short_sine_cosine(kr - parameters[0] * reference)
    return _wave(c, s, w, kr)


def factors(bits: int) -> tuple[float, float]:
    """The factors that values and slopes of `shifted_multiple` lack, for numbers of so many bits."""
    return root_factor(bits), root_factor(bits) ** 3


@jitable
def phase(reference, parameters):
    """exp(i k reference), k = parameters[0]."""
    s, c = sine_cosine(parameters[0] * reference)
    return c, s


@jitable
def lossy_value(r2, parameters, reference):
    """Complex wavenumber k + i l = parameters, l >= 0: values at squared distances r2, without a reference."""
    k, l = parameters
    w = inverse_square_root(r2)
    r = r2 * w
    kr, lr = k * r, l * r
    s, c = sine_cosine(kr)
    return _lossy_wave(c, s, w * decaying_exponential(lr), w, kr, lr)


@jitable
def shifted_lossy_value(r2, parameters, reference):
    """Complex wavenumber k + i l = parameters: values at squared distances r2 times exp(-(i k - l) reference)."""
    k, l = parameters
    w = inverse_square_root(r2)
    r = r2 * w
    d = r - reference
    s, c = short_sine_cosine(k * d)
    return _lossy_wave(c, s, w * short_exponential(l * d), w, k * r, l * r)


@jitable
def lossy_phase(reference, parameters):
    """exp((i k - l) reference), k + i l = parameters."""
    k, l = parameters
    s, c = sine_cosine(k * reference)
    a = decaying_exponential(l * reference)
    return a * c, a * s


RADIAL = Radial(value, no_phase, False, 2)
SHIFTED = Radial(shifted_value, phase, True, 2, shifted_multiple, factors)
LOSSY = Radial(lossy_value, no_phase, False, 2)
SHIFTED_LOSSY = Radial(shifted_lossy_value, lossy_phase, True, 2)


@dataclass(frozen=True)
class Helmholtz:
    """The outgoing fundamental solution of the Helmholtz equation, G(x, y) = exp(i k r) / (4 pi r), r = |x - y|.

    wavenumber: k in 1/m, real or complex with Im k >= 0 (loss, under the time factor exp(-i omega t)). Raises
    ValueError for a negative imaginary part (growth), NaN, infinity and what is no number.
    """

    wavenumber: complex

    source: ClassVar[str] = "greens/helmholtz.h"
    is_complex: ClassVar[bool] = True
    solves_helmholtz: ClassVar[bool] = True

    def __post_init__(self) -> None:
        k = finite_number(self.wavenumber, "the wavenumber")
        if complex(k).imag < 0:
            raise ValueError(
                f"wavenumber {k} grows away from its source: with the time factor exp(-i omega t) loss is a positive "
                f"imaginary part; try {k.conjugate()}"
            )
        object.__setattr__(self, "wavenumber", k)

    @classmethod
    def continued(cls, wavenumber: complex) -> "Helmholtz":
        """G continued to any complex k with Re k > 0, growing ones too: what contours around eigenvalues need. Kernels
        of the processor hold it where -Im k r is of the order of 1 to 10; expansions of fast methods are not meant
        for it."""
        found = object.__new__(cls)
        object.__setattr__(found, "wavenumber", complex(wavenumber))
        return found

    def radial(self, spread: float) -> Radial:
        lossy, short = complex(self.wavenumber).imag != 0, spread <= SHORT
        if lossy:
            return SHIFTED_LOSSY if short else LOSSY
        return SHIFTED if short else RADIAL

    @property
    def parameters(self) -> tuple[float, ...]:
        return complex(self.wavenumber).real, complex(self.wavenumber).imag


def helmholtz(green: Helmholtz | complex, what: str) -> Helmholtz:
    """The Green's function of a wavenumber, or itself; ValueError for k = 0, TypeError for another one."""
    if not isinstance(green, Helmholtz):
        if not np.isscalar(green):
            raise TypeError(f"the {what} needs Helmholtz(k) or a wavenumber k, got {green!r}")
        green = Helmholtz(green)  # type: ignore[arg-type]
    k = complex(green.wavenumber)
    if k == 0 or k.real < 0:
        raise ValueError(
            f"the {what} needs a wavenumber k > 0, or with positive imaginary part, got {green.wavenumber}: at k = 0 "
            "charges and currents are not coupled, use Laplace operators"
        )
    return green
