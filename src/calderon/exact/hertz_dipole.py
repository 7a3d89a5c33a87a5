"""Fields of a Hertz dipole: an infinitely short element of electric or magnetic current.

With R = |x - y|, d = (x - y) / R, s = kR, G = exp(is) / (4 pi R) and the vector m (current times length),
  L m = (m + grad grad . m / k^2) G = G [ (1 + i/s - 1/s^2) m - (1 + 3i/s - 3/s^2) d (d . m) ],
  C m = curl(G m) = grad G x m = ik G (1 + i/s) d x m,
the electric dipole (current density m delta_y) has E = ik eta L m, H = C m; the magnetic one (magnetic current density
m delta_y) has E = -C m, H = (ik / eta) L m: the dual. It satisfies curl E = ik eta H - M, curl H = -(ik / eta) E + J.
Far away E ~ F exp(ikr) / r with
  F = (ik eta / 4 pi) exp(-ik d . y) (m - d (d . m)),   F = -(ik / 4 pi) exp(-ik d . y) d x m  (magnetic).
Time factor exp(-i omega t). C. A. Balanis, Antenna Theory, 4th ed. (2016), section 4.2 (with the other time factor).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calderon.exact.angular import unit_directions
from calderon.validation import complex_vector, nonzero_wavenumber, one_of, one_point, points_in_space, wave_impedance

KINDS = ("electric", "magnetic")


@dataclass(frozen=True, eq=False)
class HertzDipole:
    """An electric dipole of moment m = I l (A m) or a magnetic one of m = U l (V m), at y, in wavenumber k (1/m).

    position: y (3,). moment: m (3,), complex, peak value. impedance: eta of the medium. kind: "electric" or "magnetic".
    A small loop of current I around the area A has U l = -i k eta I A; the moment p of a charge distribution, in A s m,
    has I l = -i omega p.
    """

    position: np.ndarray
    moment: np.ndarray
    wavenumber: complex
    impedance: complex = 1.0
    kind: str = "electric"

    def __post_init__(self) -> None:
        one_of(self.kind, KINDS, "kind of dipole")
        object.__setattr__(self, "position", one_point(self.position, "the position of a dipole"))
        object.__setattr__(self, "moment", complex_vector(self.moment, "the moment of a dipole"))
        object.__setattr__(self, "wavenumber", nonzero_wavenumber(self.wavenumber, "the wavenumber of a dipole"))
        object.__setattr__(self, "impedance", wave_impedance(self.impedance))

    def electric(self, points: ArrayLike) -> np.ndarray:
        """E (n, 3) in V/m at points (n, 3); ValueError for a point on the dipole."""
        x = points_in_space(points)
        if self.kind == "electric":
            return 1j * self.wavenumber * self.impedance * self._longitudinal(x)
        return -self._curl(x)

    def magnetic(self, points: ArrayLike) -> np.ndarray:
        """H (n, 3) in A/m at points (n, 3); ValueError for a point on the dipole."""
        x = points_in_space(points)
        if self.kind == "electric":
            return self._curl(x)
        return 1j * self.wavenumber / self.impedance * self._longitudinal(x)

    def far_field(self, theta: ArrayLike, phi: ArrayLike | None = None) -> np.ndarray:
        """F (..., 3) in V in directions given by angles or vectors, see `unit_directions`:  E ~ F exp(ikr) / r about
        the origin of coordinates."""
        d = unit_directions(theta, phi)
        k = self.wavenumber
        phase = 1j * k / (4 * np.pi) * np.exp(-1j * k * (d @ self.position))[..., None]
        if self.kind == "magnetic":
            return -phase * np.cross(d, self.moment)
        return phase * self.impedance * (self.moment - d * (d @ self.moment)[..., None])

    def radiated_power(self) -> float:
        """Time-averaged power in W: eta k^2 |m|^2 / (12 pi), of a magnetic dipole k^2 |m|^2 / (12 pi eta).

        Real k and eta only.
        """
        if np.imag(self.wavenumber) != 0 or np.imag(self.impedance) != 0:
            raise ValueError("the radiated power needs a real wavenumber and impedance, a medium without loss")
        size = float(np.sum(np.abs(self.moment) ** 2)) * self.wavenumber**2 / (12 * np.pi)
        return float(np.real(size * self.impedance if self.kind == "electric" else size / self.impedance))

    def _separation(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """d (n, 3), s = kR (n, 1) and G (n, 1)."""
        separation = x - self.position
        distance = np.linalg.norm(separation, axis=1)[:, None]
        if np.any(distance == 0):
            raise ValueError("a point lies on the dipole, where the field is infinite")
        s = self.wavenumber * distance
        return separation / distance, s, np.exp(1j * s) / (4 * np.pi * distance)

    def _longitudinal(self, x: np.ndarray) -> np.ndarray:
        d, s, G = self._separation(x)
        along = d * (d @ self.moment)[..., None]
        return G * ((1 + 1j / s - 1 / s**2) * self.moment - (1 + 3j / s - 3 / s**2) * along)

    def _curl(self, x: np.ndarray) -> np.ndarray:
        d, s, G = self._separation(x)
        return 1j * self.wavenumber * G * (1 + 1j / s) * np.cross(d, self.moment)


def hertz_dipole(
    k: complex,
    moment: ArrayLike,
    position: ArrayLike = (0, 0, 0),
    kind: str = "electric",
    impedance: complex = 1.0,
) -> HertzDipole:
    """The dipole of moment (3,), real or complex, at `position` (3,); kind "electric" or "magnetic"."""
    return HertzDipole(position, moment, k, impedance, kind)  # type: ignore[arg-type]
