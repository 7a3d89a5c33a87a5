"""Electric and magnetic dipoles as sources of incident fields."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from calderon.exact.hertz_dipole import HertzDipole, hertz_dipole
from calderon.validation import complex_vector, nonzero_wavenumber, one_point, wave_impedance
from calderon.waves.electromagnetic import ElectromagneticWave


@dataclass(frozen=True, eq=False)
class _Dipole(ElectromagneticWave):
    position: np.ndarray
    moment: np.ndarray
    wavenumber: complex
    impedance: complex = 1.0
    kind: ClassVar[str] = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "position", one_point(self.position, "the position of a dipole"))
        object.__setattr__(self, "moment", complex_vector(self.moment, "the moment of a dipole"))
        object.__setattr__(self, "wavenumber", nonzero_wavenumber(self.wavenumber, "the wavenumber of a dipole"))
        object.__setattr__(self, "impedance", wave_impedance(self.impedance))

    def electric(self, points: ArrayLike) -> np.ndarray:
        """E (n, 3) in V/m at points (n, 3); a point on the dipole is refused."""
        return self._field().electric(points)

    def magnetic(self, points: ArrayLike) -> np.ndarray:
        """H (n, 3) in A/m at points (n, 3); a point on the dipole is refused."""
        return self._field().magnetic(points)

    def far_field(self, theta: ArrayLike, phi: ArrayLike | None = None) -> np.ndarray:
        """F (..., 3) in V in directions given by angles or vectors, see `exact.unit_directions`:  E ~ F exp(ikr) / r
        about the origin of coordinates."""
        return self._field().far_field(theta, phi)

    def radiated_power(self) -> float:
        """Time-averaged power in W that the dipole radiates alone; real wavenumber and impedance only."""
        return self._field().radiated_power()

    def __str__(self) -> str:
        y = ", ".join(f"{coordinate:.4g}" for coordinate in self.position)
        m = ", ".join(f"{c:.4g}" if np.any(self.moment.imag) else f"{c.real:.4g}" for c in self.moment)
        return f"{self.kind} dipole at [{y}], moment [{m}], k = {self.wavenumber:.6g} 1/m"

    def _field(self) -> HertzDipole:
        return hertz_dipole(self.wavenumber, self.moment, self.position, self.kind, self.impedance)


@dataclass(frozen=True, eq=False)
class ElectricDipole(_Dipole):
    """A Hertz dipole: the electric current density m delta(x - y), with m = I l in A m, peak value.

    E = ik eta (m + grad grad . m / k^2) G,  H = grad G x m,  G = exp(ikR) / (4 pi R), R = |x - y|.
    position: y (3,). moment: m (3,), real or complex. wavenumber: k in 1/m, real or with positive imaginary part.
    impedance: eta of the medium; 376.73 ohm for vacuum in SI units.
    Fields by electric(points) in V/m and magnetic(points) in A/m, both (n, 3) as the points; far_field(directions) in
    V, and radiated_power() in W.
    """

    kind: ClassVar[str] = "electric"


@dataclass(frozen=True, eq=False)
class MagneticDipole(_Dipole):
    """A small current loop: the magnetic current density m delta(x - y), with m = U l in V m, peak value.

    E = -grad G x m,  H = (ik / eta) (m + grad grad . m / k^2) G. A loop of current I around the area A, normal n, has
    m = -i k eta I A n. Arguments as for `ElectricDipole`.
    """

    kind: ClassVar[str] = "magnetic"
