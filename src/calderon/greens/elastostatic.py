"""Elastostatics: the displacement U(x, y) f at x of a force f at y in an isotropic solid without boundary (Kelvin).

    U_ij = ((3 - 4 nu) delta_ij + d_i d_j / r^2) / (16 pi mu (1 - nu) r),   d = x - y,   mu = E / (2 (1 + nu)),

and T_ij, the displacement i of a unit dislocation j on a surface with normal n_y: the traction of U on it, transposed,

    T_ij = (d.n ((1 - 2 nu) delta_ij + 3 d_i d_j / r^2) - (1 - 2 nu) (d_i n_j - d_j n_i)) / (8 pi (1 - nu) r^3).

Forms make both from 1/r and its derivatives, the radial functions f_0 = 1/r, f_1 = f_0'/r and f_2 = f_1'/r
(galerkin/forms/elastic.py).
"""

from dataclasses import dataclass
from typing import ClassVar

from calderon.backends.vectors import jitable
from calderon.greens.elementary import inverse_cube, inverse_square_root
from calderon.greens.green import Radial, no_phase
from calderon.validation import real_number


@jitable
def value(r2, parameters, reference):
    """1/r, -1/r^3 and 3/r^5 at squared distances r2, without parameters or a reference; only functions that
    are read are computed."""
    g = inverse_square_root(r2)
    slope = inverse_cube(r2)
    curvature = -3.0 * slope * g * g
    return g, g, slope, slope, curvature, curvature


KELVIN = Radial(value, no_phase, False, 0, orders=(1, 3, 5))


@dataclass(frozen=True)
class Elastostatic:
    """The fundamental solution of elastostatics (Lord Kelvin) for spaces of three components.

    youngs_modulus: E in Pa, positive. poissons_ratio: above -1 and below 0.5. Its single layer has tractions as
    density, its double layer displacements. ValueError for other constants.
    """

    youngs_modulus: float
    poissons_ratio: float

    source: ClassVar[str] = "greens/elastostatic.h"
    is_complex: ClassVar[bool] = False
    solves_helmholtz: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Check both constants."""
        modulus, ratio = (real_number(getattr(self, name), name) for name in ("youngs_modulus", "poissons_ratio"))
        if modulus <= 0:
            raise ValueError(f"youngs_modulus must be a positive number (steel: 210e9 Pa), got {modulus!r}")
        if not -1 < ratio < 0.5:
            raise ValueError(
                f"poissons_ratio must be above -1 and below 0.5, got {ratio!r}: metals have about 0.3; rubber, which "
                "hardly changes its volume, 0.49"
            )
        object.__setattr__(self, "youngs_modulus", modulus)
        object.__setattr__(self, "poissons_ratio", ratio)

    @property
    def shear_modulus(self) -> float:
        """mu = E / (2 (1 + nu)) in Pa."""
        return self.youngs_modulus / (2 * (1 + self.poissons_ratio))

    @property
    def lame(self) -> float:
        """lambda = 2 mu nu / (1 - 2 nu) in Pa."""
        return 2 * self.shear_modulus * self.poissons_ratio / (1 - 2 * self.poissons_ratio)

    @property
    def wavenumber(self) -> complex:
        """Zero: nothing travels."""
        return 0.0

    @property
    def parameters(self) -> tuple[float, ...]:
        """None: constants enter afterwards, as coefficients."""
        return ()

    def radial(self, spread: float) -> Radial:
        """The compiled radial functions."""
        return KELVIN
