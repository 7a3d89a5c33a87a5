"""Helmholtz: G = exp(i k r) / (4 pi r), outgoing under exp(-i omega t)."""

import cmath
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from numba.extending import register_jitable

from calderon.greens.elementary import decaying_exponential, inverse_square_root, sine_cosine


@register_jitable
def radial(r2, p0, p1):  # type: ignore[no-untyped-def]
    """4 pi G and 4 pi G'/r = (i k r - 1)/r^2 4 pi G for a real wavenumber p0."""
    w = inverse_square_root(r2)
    kr = p0 * (r2 * w)
    s, c = sine_cosine(kr)
    re = c * w
    im = s * w
    w2 = w * w
    return re, im, -(re + kr * im) * w2, (kr * re - im) * w2


@register_jitable
def radial_lossy(r2, p0, p1):  # type: ignore[no-untyped-def]
    """The same for a complex wavenumber p0 + i p1, p1 >= 0."""
    w = inverse_square_root(r2)
    r = r2 * w
    kr = p0 * r
    lr = p1 * r
    s, c = sine_cosine(kr)
    a = w * decaying_exponential(lr)
    re = c * a
    im = s * a
    w2 = w * w
    return re, im, -(re + lr * re + kr * im) * w2, (kr * re - im - lr * im) * w2


@dataclass(frozen=True)
class Helmholtz:
    """The outgoing fundamental solution of the Helmholtz equation, G(x, y) = exp(i k r) / (4 pi r), r = |x - y|.

    wavenumber: k in 1/m, real or complex with Im k >= 0 (loss, under the time factor exp(-i omega t)). Raises
    ValueError for a negative imaginary part (growth), NaN or infinity.
    """

    wavenumber: complex

    is_complex: ClassVar[bool] = True

    def __post_init__(self) -> None:
        k = complex(self.wavenumber)
        if not cmath.isfinite(k):
            raise ValueError(f"the wavenumber must be finite, got {self.wavenumber!r}")
        if k.imag < 0:
            raise ValueError(
                f"wavenumber {k} grows away from its source: with the time factor exp(-i omega t) loss is a positive "
                f"imaginary part; try {k.conjugate()}"
            )
        object.__setattr__(self, "wavenumber", k.real if k.imag == 0 else k)

    @property
    def radial(self) -> Callable[..., Any]:
        return radial if complex(self.wavenumber).imag == 0 else radial_lossy

    @property
    def parameters(self) -> tuple[float, float]:
        return complex(self.wavenumber).real, complex(self.wavenumber).imag
