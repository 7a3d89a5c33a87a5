"""Laplace: G = 1 / (4 pi r), the potential of a unit point charge; -div grad G = delta."""

from dataclasses import dataclass
from typing import ClassVar

from calderon.backends.vectors import jitable
from calderon.greens.elementary import (
    cube_factor,
    inverse_cube,
    inverse_cube_multiple,
    inverse_square_root,
    inverse_square_root_multiple,
    root_factor,
)
from calderon.greens.green import Radial, no_phase


@jitable
def value(r2, parameters, reference):
    """4 pi G and 4 pi G'/r at squared distances r2, without parameters or a reference; only functions that
    are read are computed."""
    g = inverse_square_root(r2)
    slope = inverse_cube(r2)
    return g, g, slope, slope


@jitable
def multiple(r2, parameters, reference):
    """4 pi G and 4 pi G'/r without the factors of root and cube; arguments as in `value`."""
    g = inverse_square_root_multiple(r2)
    slope = inverse_cube_multiple(r2)
    return g, g, slope, slope


def factors(bits: int) -> tuple[float, float]:
    """The factors of values and of slopes that `multiple` leaves out, for numbers of so many bits."""
    return root_factor(bits), cube_factor(bits)


RADIAL = Radial(value, no_phase, False, 0, multiple, factors)


@dataclass(frozen=True)
class Laplace:
    """The fundamental solution of the Laplace equation, G(x, y) = 1 / (4 pi |x - y|)."""

    source: ClassVar[str] = "greens/laplace.h"
    is_complex: ClassVar[bool] = False
    solves_helmholtz: ClassVar[bool] = True

    @property
    def wavenumber(self) -> complex:
        return 0.0

    @property
    def parameters(self) -> tuple[float, ...]:
        return ()

    def radial(self, spread: float) -> Radial:
        return RADIAL
