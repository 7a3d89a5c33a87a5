"""Modified Helmholtz: G = exp(-w r) / (4 pi r), Helmholtz at the wavenumber i w, in real arithmetic."""

from dataclasses import dataclass
from typing import ClassVar

from calderon.backends.vectors import jitable
from calderon.greens.elementary import SHORT, decaying_exponential, inverse_square_root, short_exponential
from calderon.greens.green import Radial, no_phase
from calderon.validation import finite_number


@jitable
def value(r2, parameters, reference):
    """4 pi G and 4 pi G'/r = -(w r + 1)/r^2 4 pi G for the decay w = parameters[0], at squared distances r2, without a
    reference."""
    i = inverse_square_root(r2)
    decay = parameters[0] * (r2 * i)
    g = i * decaying_exponential(decay)
    return g, g, -(g + decay * g) * (i * i), g


@jitable
def shifted_value(r2, parameters, reference):
    """The values of `value` times exp(w reference); arguments as there, r2 and parameters."""
    i = inverse_square_root(r2)
    r = r2 * i
    g = i * short_exponential(parameters[0] * (r - reference))
    return g, g, -(g + (parameters[0] * r) * g) * (i * i), g


@jitable
def phase(reference, parameters):
    """exp(-w reference), w = parameters[0]."""
    return decaying_exponential(parameters[0] * reference), reference * 0.0


RADIAL = Radial(value, no_phase, False, 1)
SHIFTED = Radial(shifted_value, phase, True, 1)


@dataclass(frozen=True)
class ModifiedHelmholtz:
    """The decaying solution of  Laplacian u - w^2 u = -delta:  G(x, y) = exp(-w r) / (4 pi r).

    decay: w in 1/m, real and not negative. Raises ValueError otherwise (a complex w is `Helmholtz(1j * w)`).
    """

    decay: float

    source: ClassVar[str] = "greens/modified_helmholtz.h"
    is_complex: ClassVar[bool] = False
    solves_helmholtz: ClassVar[bool] = True

    def __post_init__(self) -> None:
        w = finite_number(self.decay, "the decay of a modified Helmholtz equation")
        if isinstance(w, complex) or w < 0:
            raise ValueError(
                f"the decay of a modified Helmholtz equation is a real number >= 0, got {self.decay!r}; "
                "for a complex w use Helmholtz(1j * w)"
            )
        object.__setattr__(self, "decay", w)

    @property
    def wavenumber(self) -> complex:
        return 1j * self.decay

    @property
    def parameters(self) -> tuple[float, ...]:
        return (self.decay,)

    def radial(self, spread: float) -> Radial:
        return SHIFTED if spread <= SHORT else RADIAL
