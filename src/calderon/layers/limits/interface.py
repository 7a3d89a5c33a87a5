"""Green's functions at an interface when observer and source are close to each other.

With S = 1/mu_1 + 1/mu_2, E = eps_1 + eps_2 of the media above and below, for large k_rho = kappa

  G_xx = (1 + k_xx^2 / (2 kappa^2)) / (S kappa),  k_xx^2 = (k_1^2/mu_1 + k_2^2/mu_2) / S,
  K = (1 + k_K^2 / (2 kappa^2)) / (E kappa),  k_K^2 = 2 k0^2 E / S - (eps_1 k_1^2 + eps_2 k_2^2) / E,

up to kappa^-5 and images: as the transforms of c exp(i k r) / (4 pi r) with c = 2/S and 2/E and these wavenumbers.
"""

import numpy as np

from calderon.layers.sections import Sections
from calderon.layers.sommerfeld import Direct


def direct_part(sections: Sections, z: float) -> Direct:
    """The singular part of G_xx and K at height z, with the term proportional to the distance."""
    one, two = sections.layer_of(z, "below"), sections.layer_of(z)
    eps, mu, k0 = sections.eps[[one, two]], sections.mu[[one, two]], sections.k0
    square = k0**2 * eps * mu
    S, E = (1 / mu).sum(), eps.sum()
    squares = (square / mu).sum() / S, 2 * k0**2 * E / S - (eps * square).sum() / E
    return Direct(complex(2 / S), complex(2 / E), *(wavenumber_of_square(each) for each in squares))


def wavenumber_of_square(square: complex) -> complex:
    """k of a direct part: not below the axis, where the path would meet its branch point, and real for small losses,
    as kernels of waves with real wavenumbers are compiled already."""
    loss = square.imag if square.imag > 0.02 * square.real else 0.0  # loss tangents up to 0.02 count as none
    return complex(np.sqrt(complex(square.real, loss)))
