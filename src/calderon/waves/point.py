"""Point sources."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calderon.exact.point_sources import PointSources
from calderon.validation import finite_number, nonnegative_wavenumber, one_point
from calderon.waves.wave import Wave


@dataclass(frozen=True, eq=False)
class PointSource(Wave):
    """u(x) = amplitude G(x, y),  G = exp(ik |x - y|) / (4 pi |x - y|), so that -Laplace u - k^2 u = amplitude delta_y.

    position: y (3,). wavenumber: real or complex with positive parts; 0 is a point charge of Laplace's equation, i w a
    source of the modified Helmholtz equation. The field is real where wavenumber and amplitude allow it. A point on the
    source is refused.
    """

    position: np.ndarray
    wavenumber: complex
    amplitude: complex = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "position", one_point(self.position, "the position of a point source"))
        wavenumber = nonnegative_wavenumber(self.wavenumber, "the wavenumber of a point source")
        object.__setattr__(self, "wavenumber", wavenumber)
        object.__setattr__(self, "amplitude", finite_number(self.amplitude, "the amplitude of a point source"))

    def __call__(self, x: ArrayLike, n: ArrayLike | None = None) -> np.ndarray:
        """The field (n,) at points (n, 3); normals are ignored."""
        return self._sources()(x)

    def gradient(self, x: ArrayLike) -> np.ndarray:
        """The gradient (n, 3)."""
        return self._sources().gradient(x)

    def far_field(self, theta: ArrayLike, phi: ArrayLike | None = None) -> np.ndarray:
        """F(d) = amplitude exp(-ik d . y) / (4 pi) (...) in directions d given by angles or vectors, see
        `exact.unit_directions`: u ~ F exp(ikr) / r."""
        return self._sources().far_field(theta, phi)

    def __str__(self) -> str:
        y = ", ".join(f"{coordinate:.4g}" for coordinate in self.position)
        return f"point source at [{y}], k = {self.wavenumber:.6g} 1/m, amplitude {self.amplitude:.4g}"

    def _sources(self) -> PointSources:
        return PointSources(self.position[None], np.array([self.amplitude]), self.wavenumber)
