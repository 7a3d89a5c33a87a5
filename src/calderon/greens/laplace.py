"""Laplace: G = 1 / (4 pi r), the potential of a unit point charge; -div grad G = delta."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from numba.extending import register_jitable

from calderon.greens.elementary import inverse_square_root


@register_jitable
def radial(r2, p0, p1):  # type: ignore[no-untyped-def]
    """4 pi G and 4 pi G'/r as real and imaginary parts, at squared distance r2."""
    g = inverse_square_root(r2)
    return g, g, -g * g * g, g


@dataclass(frozen=True)
class Laplace:
    """The fundamental solution of the Laplace equation, G(x, y) = 1 / (4 pi |x - y|)."""

    is_complex: ClassVar[bool] = False
    radial: ClassVar[Callable[..., Any]] = staticmethod(radial)

    @property
    def wavenumber(self) -> complex:
        return 0.0

    @property
    def parameters(self) -> tuple[float, float]:
        return 0.0, 0.0
