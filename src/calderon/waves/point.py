"""Point sources of sound, and electric and magnetic dipoles."""

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from calderon.exact.hertz_dipole import HertzDipole
from calderon.exact.point_sources import PointSources
from calderon.validation import finite_number, nonnegative_wavenumber, one_point
from calderon.waves.field import ElectromagneticWave, Wave, described_wavenumber, reflected
from calderon.waves.given import Given


@dataclass(frozen=True, eq=False)
class PointSource(Wave):
    """u(x) = amplitude G(x, y),  G = exp(ik |x - y|) / (4 pi |x - y|), so that -Laplace u - k^2 u = amplitude delta_y.

    position: y (3,). wavenumber: real or complex with positive parts; 0 is a point charge of Laplace's equation, i w a
    source of the modified Helmholtz equation; without it, that of the problem which is solved for the source. The field
    is real where wavenumber and amplitude allow it. A point on the source is refused.
    """

    position: Given
    wavenumber: complex = None  # type: ignore[assignment]
    amplitude: complex = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "position", one_point(self.position, "the position of a point source"))
        if self.wavenumber is not None:
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

    def mirrored(self, plane: str) -> Self:
        return replace(self, position=reflected(self.position, plane))

    def __str__(self) -> str:
        y = ", ".join(f"{coordinate:.4g}" for coordinate in self.position)
        return f"point source at [{y}], {described_wavenumber(self)}, amplitude {self.amplitude:.4g}"

    def _sources(self) -> PointSources:
        return PointSources(self.position[None], np.array([self.amplitude]), self._known_wavenumber)


@dataclass(frozen=True, eq=False)
class _Dipole(HertzDipole, ElectromagneticWave):
    wavenumber: complex = None  # type: ignore[assignment]
    impedance: complex = None  # type: ignore[assignment]
    takes_impedance: bool = field(default=True, init=False, repr=False)

    def __post_init__(self) -> None:
        wavenumber, impedance = self.wavenumber, self.impedance
        for name in ("wavenumber", "impedance"):
            if getattr(self, name) is None:
                object.__setattr__(self, name, 1.0)  # the other arguments are checked with any
        super().__post_init__()
        object.__setattr__(self, "wavenumber", None if wavenumber is None else self.wavenumber)
        object.__setattr__(self, "impedance", impedance)
        self._settle_impedance()

    def electric(self, points: ArrayLike) -> np.ndarray:
        _ = self._known_wavenumber
        return super().electric(points)

    def magnetic(self, points: ArrayLike) -> np.ndarray:
        _ = self._known_wavenumber
        return super().magnetic(points)

    def far_field(self, theta: ArrayLike, phi: ArrayLike | None = None) -> np.ndarray:
        _ = self._known_wavenumber
        return super().far_field(theta, phi)

    def mirrored(self, plane: str) -> Self:
        """The dipole at R y, with R m, or -R m for a magnetic one, whose current loop turns around."""
        sign = 1 if self.kind == "electric" else -1
        given: Any = None if self.takes_impedance else self.impedance
        place, moment = reflected(self.position, plane), sign * reflected(self.moment, plane)
        return replace(self, position=place, moment=moment, impedance=given)

    def __str__(self) -> str:
        y = ", ".join(f"{coordinate:.4g}" for coordinate in self.position)
        m = ", ".join(f"{c:.4g}" if np.any(self.moment.imag) else f"{c.real:.4g}" for c in self.moment)
        return f"{self.kind} dipole at [{y}], moment [{m}], {described_wavenumber(self)}"


@dataclass(frozen=True, eq=False)
class ElectricDipole(_Dipole):
    """A Hertz dipole: the electric current density m delta(x - y), with m = I l in A m, peak value.

    E = ik eta (m + grad grad . m / k^2) G,  H = grad G x m,  G = exp(ikR) / (4 pi R), R = |x - y|. position: y (3,).
    moment: m (3,), real or complex. wavenumber: k in 1/m, real or with positive imaginary part; without it, that of the
    problem which is solved for the dipole. impedance: eta of the medium in ohm, 376.73 for vacuum; without it, that of
    the problem, or 1, with which the moment is eta m in V m, H is in units of E over eta ("E0/eta") and powers are in
    units of E^2 m^2 over eta ("E0^2 m^2/eta"). Fields by electric(points) in V/m and magnetic(points) in A/m, both (n,
    3) as the points; far_field(directions) in V, and radiated_power() in W.
    """

    kind: str = field(default="electric", init=False)


@dataclass(frozen=True, eq=False)
class MagneticDipole(_Dipole):
    """A small current loop: the magnetic current density m delta(x - y), with m = U l in V m, peak value.

    E = -grad G x m,  H = (ik / eta) (m + grad grad . m / k^2) G. A loop of current I around the area A, normal n, has
    m = -i k eta I A n. Arguments as for `ElectricDipole`.
    """

    kind: str = field(default="magnetic", init=False)
