"""Electric and magnetic dipoles as sources of incident fields."""

from dataclasses import dataclass, field

import numpy as np

from calderon.exact.hertz_dipole import HertzDipole
from calderon.waves.electromagnetic import ElectromagneticWave


class _Dipole(HertzDipole, ElectromagneticWave):
    def __str__(self) -> str:
        y = ", ".join(f"{coordinate:.4g}" for coordinate in self.position)
        m = ", ".join(f"{c:.4g}" if np.any(self.moment.imag) else f"{c.real:.4g}" for c in self.moment)
        return f"{self.kind} dipole at [{y}], moment [{m}], k = {self.wavenumber:.6g} 1/m"


@dataclass(frozen=True, eq=False)
class ElectricDipole(_Dipole):
    """A Hertz dipole: the electric current density m delta(x - y), with m = I l in A m, peak value.

    E = ik eta (m + grad grad . m / k^2) G,  H = grad G x m,  G = exp(ikR) / (4 pi R), R = |x - y|.
    position: y (3,). moment: m (3,), real or complex. wavenumber: k in 1/m, real or with positive imaginary part.
    impedance: eta of the medium; 376.73 ohm for vacuum in SI units.
    Fields by electric(points) in V/m and magnetic(points) in A/m, both (n, 3) as the points; far_field(directions) in
    V, and radiated_power() in W.
    """

    kind: str = field(default="electric", init=False)


@dataclass(frozen=True, eq=False)
class MagneticDipole(_Dipole):
    """A small current loop: the magnetic current density m delta(x - y), with m = U l in V m, peak value.

    E = -grad G x m,  H = (ik / eta) (m + grad grad . m / k^2) G. A loop of current I around the area A, normal n, has
    m = -i k eta I A n. Arguments as for `ElectricDipole`.
    """

    kind: str = field(default="magnetic", init=False)
