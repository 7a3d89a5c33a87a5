"""Modified Helmholtz: G = exp(-w r) / (4 pi r), Helmholtz at the wavenumber i w, in real arithmetic."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from numba.extending import register_jitable

from calderon.greens.elementary import decaying_exponential, inverse_square_root


@register_jitable
def radial(r2, p0, p1):  # type: ignore[no-untyped-def]
    """4 pi G and 4 pi G'/r = -(w r + 1)/r^2 4 pi G for the decay p0 = w."""
    w = inverse_square_root(r2)
    decay = p0 * (r2 * w)
    g = w * decaying_exponential(decay)
    return g, g, -(g + decay * g) * (w * w), g


@dataclass(frozen=True)
class ModifiedHelmholtz:
    """The decaying solution of  Laplacian u - w^2 u = -delta:  G(x, y) = exp(-w r) / (4 pi r).

    decay: w in 1/m, real and not negative. Raises ValueError otherwise (a complex w is `Helmholtz(1j * w)`).
    """

    decay: float

    is_complex: ClassVar[bool] = False
    radial: ClassVar[Callable[..., Any]] = staticmethod(radial)

    def __post_init__(self) -> None:
        if isinstance(self.decay, complex) or not math.isfinite(self.decay) or self.decay < 0:
            raise ValueError(
                f"the decay of a modified Helmholtz equation is a real number >= 0, got {self.decay!r}; "
                "for a complex w use Helmholtz(1j * w)"
            )
        object.__setattr__(self, "decay", float(self.decay))

    @property
    def wavenumber(self) -> complex:
        return 1j * self.decay

    @property
    def parameters(self) -> tuple[float, float]:
        return self.decay, 0.0
