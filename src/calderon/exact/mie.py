"""Scattering of an electromagnetic plane wave by a sphere: Mie series for conducting, dielectric and layered spheres.

About the centre the incident wave E = E0 e exp(ik d . x) with unit e orthogonal to d is the sum of multipoles of
E_n = i^n (2n+1) / (n(n+1)). With t the angle from d, f the azimuth from e, p = kr and the radial functions u, w of
`calderon.exact.sphere_layers` (incident: u = w = psi_n(p) = p j_n(p)), the fields in a medium of relative permittivity
and permeability eps, mu are E0 sum_n E_n times
  E_t = cos f (u pi_n - i w'/eps tau_n) / p        eta H_t = sin f (w pi_n - i u'/mu tau_n) / p
  E_f = -sin f (u tau_n - i w'/eps pi_n) / p       eta H_f = cos f (w tau_n - i u'/mu pi_n) / p
  E_r = -i cos f sin t n(n+1) pi_n w / (eps p^2)   eta H_r = -i sin f sin t n(n+1) pi_n u / (mu p^2)
and the scattered far field, E_s ~ F exp(ikr) / r, is
  F = (i E0 / k) sum_n (2n+1)/(n(n+1)) [cos f (a_n tau_n + b_n pi_n) t-hat - sin f (a_n pi_n + b_n tau_n) f-hat].
Time factor exp(-i omega t): loss is a positive imaginary permittivity. Amplitudes are peak values.
C. F. Bohren and D. R. Huffman, Absorption and Scattering of Light by Small Particles (1983), chapters 4 and 8.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from calderon.exact.angular import PolarFrame, multipole_angles, radar_cross_section, unit_directions
from calderon.exact.layers import portions
from calderon.exact.sphere_layers import Layer, Outside, Radial, refractive_index, solve
from calderon.exact.vacuum import SPEED_OF_LIGHT, VACUUM_IMPEDANCE, permittivity_of
from calderon.validation import (
    describe,
    finite_number,
    instance,
    points_in_space,
    positive_length,
    relative_constant,
    transverse_polarization,
    unit_vector,
    unmasked,
)


class Medium(Protocol):
    """Relative permittivity and permeability, conductivity in S/m."""

    permittivity: float
    permeability: float
    conductivity: float


@dataclass(frozen=True, eq=False)
class MieScattering:
    """The exact field of a plane wave on a sphere about the origin.

    wavenumber k (1/m) and impedance eta: of the medium around. radii (L,): those of all interfaces in m, increasing; a
    conducting core has the first. permittivity, permeability: relative, one for each layer from the inside out.
    direction d, polarization e (unit, orthogonal, e complex) and amplitude E0 (V/m): of the incident wave.
    outside, layers: the multipole coefficients. A point on an interface belongs to the medium outside of it; within a
    conductor the fields are zero.
    """

    wavenumber: float
    radii: np.ndarray
    permittivity: np.ndarray
    permeability: np.ndarray
    conducting_core: bool
    direction: np.ndarray
    polarization: np.ndarray
    amplitude: complex
    impedance: float
    outside: Outside
    layers: tuple[Layer, ...]

    @property
    def radius(self) -> float:
        """The outer radius a in m."""
        return float(self.radii[-1])

    @property
    def number_of_terms(self) -> int:
        return len(self.outside.te)

    @property
    def coefficients(self) -> tuple[np.ndarray, np.ndarray]:
        """a_n (electric multipoles) and b_n (magnetic ones), n = 1 .. N, each (N,), as in Bohren and Huffman."""
        return self.outside.coefficients()

    def incident_electric(self, points: ArrayLike) -> np.ndarray:
        """The incident E (n, 3) in V/m at points (n, 3)."""
        return self._plane(points_in_space(points))[:, None] * self.polarization

    def incident_magnetic(self, points: ArrayLike) -> np.ndarray:
        """The incident H = d x E / eta (n, 3) in A/m at points (n, 3)."""
        return (
            self._plane(points_in_space(points))[:, None] * np.cross(self.direction, self.polarization) / self.impedance
        )

    def electric(self, points: ArrayLike) -> np.ndarray:
        """The total E (n, 3) in V/m at points (n, 3) anywhere."""
        return self._total(points)[0]

    def magnetic(self, points: ArrayLike) -> np.ndarray:
        """The total H (n, 3) in A/m at points (n, 3) anywhere."""
        return self._total(points)[1]

    def scattered_electric(self, points: ArrayLike) -> np.ndarray:
        """The scattered E (n, 3) in V/m at points (n, 3) outside or on the sphere."""
        return self._scattered(self._points_outside(points))[0]

    def scattered_magnetic(self, points: ArrayLike) -> np.ndarray:
        """The scattered H (n, 3) in A/m at points (n, 3) outside or on the sphere."""
        return self._scattered(self._points_outside(points))[1]

    def far_field(self, theta: ArrayLike, phi: ArrayLike | None = None) -> np.ndarray:
        """F (..., 3) in V in directions given by angles or vectors, see `unit_directions`:  E_s ~ F exp(ikr) / r."""
        toward = unit_directions(theta, phi)
        x = toward.reshape(-1, 3)
        frame = PolarFrame.of(x, self.direction, self.polarization)
        polar, azimuthal = np.zeros((2, len(x)), np.complex128)
        a, b = self.coefficients
        for n, pi, tau in multipole_angles(self.number_of_terms, frame.cosine):
            weight = (2 * n + 1) / (n * (n + 1))
            polar += weight * (a[n - 1] * tau + b[n - 1] * pi)
            azimuthal -= weight * (a[n - 1] * pi + b[n - 1] * tau)
        vectors = frame.vectors(np.zeros(len(x)), frame.even * polar, frame.odd * azimuthal)
        return (1j * self.amplitude / self.wavenumber * vectors).reshape(toward.shape)

    def rcs(self, theta: ArrayLike, phi: ArrayLike | None = None, polarization: str | None = None) -> np.ndarray:
        """Bistatic radar cross-section 4 pi |F|^2 / |E0|^2 in m^2; directions as for `far_field`.

        polarization: "V" or "H" counts what a receiver along theta-hat or phi-hat sees; None counts both.
        """
        return radar_cross_section(self.far_field, self.amplitude, theta, phi, polarization)

    def scattering_cross_section(self) -> float:
        """Power scattered over incident intensity, 2 pi / k^2 sum (2n+1) (|a_n|^2 + |b_n|^2), in m^2."""
        a, b = self.coefficients
        return float(self._per_order() @ (np.abs(a) ** 2 + np.abs(b) ** 2))

    def extinction_cross_section(self) -> float:
        """Power scattered and absorbed over incident intensity, 2 pi / k^2 sum (2n+1) Re(a_n + b_n), in m^2.

        The optical theorem, 4 pi / k Im(conj(e) . F(d)) / E0. Below ka = 1e-3 rounding leaves about 1e-16 / (ka)^3 of
        it; there take the sum of the scattering and absorption cross-sections.
        """
        a, b = self.coefficients
        return float(self._per_order() @ np.real(a + b))

    def absorption_cross_section(self) -> float:
        """Power absorbed over incident intensity in m^2, from the flux through the surface; exactly 0 without loss."""
        return float(2 * np.pi / self.wavenumber**2 * self._inward_powers()[-1])

    def absorbed_power(self) -> float:
        """Time-averaged power absorbed by the sphere in W:  |E0|^2 / (2 eta) times the absorption cross-section."""
        return self._intensity() * self.absorption_cross_section()

    def absorbed_power_by_layer(self) -> np.ndarray:
        """Time-averaged power in W absorbed in each layer from the inside out, without a conducting core."""
        powers = self._inward_powers()
        return self._intensity() * 2 * np.pi / self.wavenumber**2 * np.diff(powers)

    def __str__(self) -> str:
        radii = ", ".join(f"{radius:.4g}" for radius in self.radii)
        core = "conducting core, " if self.conducting_core else ""
        constants = ", ".join(f"{e:.4g}" for e in self.permittivity)
        layers = f"relative permittivities {constants}, " if len(self.permittivity) else ""
        return (
            f"Mie series of a sphere of radii {radii} m, {core}{layers}k = {self.wavenumber:.6g} 1/m, "
            f"{self.number_of_terms} orders"
        )

    __repr__ = __str__

    def _intensity(self) -> float:
        return abs(self.amplitude) ** 2 / (2 * self.impedance)

    def _per_order(self) -> np.ndarray:
        return 2 * np.pi / self.wavenumber**2 * (2 * np.arange(1, self.number_of_terms + 1) + 1)

    def _inward_powers(self) -> np.ndarray:
        """sum_n (2n+1) times the inward flux through the inner face of the first layer and the outer face of each."""
        powers = [0.0]
        for layer in self.layers:
            flux = 0.0 if layer.lossless else float(layer.radial(np.array([layer.outer])).inward_power()[0])
            powers.append(powers[-1] if layer.lossless else flux)
        return np.array(powers)

    def _plane(self, x: np.ndarray) -> np.ndarray:
        return self.amplitude * np.exp(1j * self.wavenumber * (x @ self.direction))

    def _points_outside(self, points: ArrayLike) -> np.ndarray:
        x = points_in_space(points)
        inside = np.count_nonzero(np.linalg.norm(x, axis=1) < self.radius * (1 - 1e-9))
        if inside:
            raise ValueError(
                f"{inside} of {len(x)} points lie inside the sphere of radius {self.radius:g}, where there is no "
                "scattered field; electric and magnetic give the total field there"
            )
        return x

    def _scattered(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._summed(x, self.outside.scattered, 1.0, 1.0, (self.outside.size, np.inf))

    def _total(self, points: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        x = points_in_space(points)
        E, H = np.zeros((2, len(x), 3), np.complex128)
        medium = np.searchsorted(self.radii * (1 - 1e-9), np.linalg.norm(x, axis=1), side="right")
        # 0 is the innermost medium: a conducting core, whose fields stay zero, or the first layer
        for i, layer in enumerate(self.layers, start=int(self.conducting_core)):
            here = medium == i
            if here.any():
                faces = (layer.inner, layer.outer)
                E[here], H[here] = self._summed(x[here], layer.radial, layer.permittivity, layer.permeability, faces)
        here = medium == len(self.radii)
        E[here], H[here] = self._scattered(x[here])
        E[here] += self.incident_electric(x[here])
        H[here] += self.incident_magnetic(x[here])
        return E, H

    def _summed(
        self, x: np.ndarray, radial: Any, permittivity: complex, permeability: complex, faces: tuple[float, float]
    ) -> tuple[np.ndarray, np.ndarray]:
        """E and H (p, 3) of the radial functions at points (p, 3), in portions that fit in the cache."""
        E, H = np.zeros((2, len(x), 3), np.complex128)
        for part in portions(len(x), 2 * self.number_of_terms):
            frame = PolarFrame.of(x[part], self.direction, self.polarization)
            # points within rounding of a face are moved onto it; the origin is approached to where p^2 is a number
            p = np.clip(self.wavenumber * frame.distance, max(faces[0], 1e-30), faces[1])
            E[part], H[part] = _multipole_sum(radial(p), frame, p, permittivity, permeability)
        return self.amplitude * E, self.amplitude / self.impedance * H


def _multipole_sum(
    radial: Radial, frame: PolarFrame, p: np.ndarray, permittivity: complex, permeability: complex
) -> tuple[np.ndarray, np.ndarray]:
    """E / E0 and eta H / E0 (points, 3) of the radial functions (N, points), as in the head of this file."""
    sums = np.zeros((6, len(p)), np.complex128)
    for n, pi, tau in multipole_angles(len(radial.u), frame.cosine):
        weight = 1j ** (n % 4) * (2 * n + 1) / (n * (n + 1))
        u, w = weight * radial.u[n - 1], weight * radial.w[n - 1]
        v, q = -1j * weight * radial.v[n - 1], -1j * weight * radial.q[n - 1]
        sums[0] += n * (n + 1) * pi * w
        sums[1] += u * pi + q * tau
        sums[2] += u * tau + q * pi
        sums[3] += n * (n + 1) * pi * u
        sums[4] += w * pi + v * tau
        sums[5] += w * tau + v * pi
    along = -1j * frame.sine / p**2
    E = frame.vectors(frame.even * along / permittivity * sums[0], frame.even * sums[1] / p, -frame.odd * sums[2] / p)
    H = frame.vectors(frame.odd * along / permeability * sums[3], frame.odd * sums[4] / p, frame.even * sums[5] / p)
    return E, H


def mie_pec_sphere(
    k: float,
    radius: float = 1.0,
    direction: ArrayLike = (0, 0, 1),
    polarization: ArrayLike | None = None,
    amplitude: complex = 1.0,
    impedance: float = 1.0,
) -> MieScattering:
    """Perfectly conducting sphere, n x E = 0, in the plane wave E0 e exp(ik d . x).

    k: real wavenumber of the medium around, in 1/m. radius: in m. direction: d (3,), normalised. polarization: e (3,),
    complex for elliptic waves, orthogonal to d, normalised; by default x, or where d is along x, y, made orthogonal to
    d. amplitude: E0, peak value in V/m. impedance: eta of the medium around (1 makes H of the size of E; 376.73 ohm for
    vacuum in SI units).
    """
    return _scattering(k, [radius], [], [], True, direction, polarization, amplitude, impedance)


def mie_dielectric_sphere(
    k: float,
    radius: float,
    permittivity: complex,
    permeability: complex = 1.0,
    direction: ArrayLike = (0, 0, 1),
    polarization: ArrayLike | None = None,
    amplitude: complex = 1.0,
    impedance: float = 1.0,
) -> MieScattering:
    """Homogeneous sphere of relative `permittivity` and `permeability` (to the medium around; positive imaginary parts
    for loss; a negative real permittivity is a plasma); other arguments as for `mie_pec_sphere`."""
    return _scattering(
        k, [radius], [permittivity], [permeability], False, direction, polarization, amplitude, impedance
    )


def mie_layered_sphere(
    k: float,
    radii: ArrayLike,
    permittivities: ArrayLike,
    permeabilities: ArrayLike | None = None,
    conducting_core: bool = False,
    direction: ArrayLike = (0, 0, 1),
    polarization: ArrayLike | None = None,
    amplitude: complex = 1.0,
    impedance: float = 1.0,
) -> MieScattering:
    """Sphere of concentric layers, listed from the inside out.

    radii (L,): of the interfaces in m, increasing, the last one of the whole sphere. permittivities, permeabilities
    (L,): relative, between each interface and the one before it; permeabilities are 1 by default. conducting_core: the
    first radius is that of a perfect conductor, which has no constants, so that these are (L - 1,). Other arguments as
    for `mie_pec_sphere`.
    """
    constants = np.atleast_1d(unmasked(permittivities, "permittivities"))
    others = np.ones(len(constants)) if permeabilities is None else np.atleast_1d(np.asarray(permeabilities))
    layers = np.atleast_1d(unmasked(radii, "radii")).tolist(), constants.tolist(), others.tolist()
    return _scattering(k, *layers, bool(conducting_core), direction, polarization, amplitude, impedance)


def layered_sphere(
    radii: ArrayLike,
    materials: Mapping[str, Medium],
    frequency: float,
    direction: ArrayLike = (0, 0, 1),
    polarization: ArrayLike = (1, 0, 0),
    amplitude: complex = 1.0,
) -> MieScattering:
    """Sphere of named materials in vacuum, in SI units, in a plane wave.

    radii in m and materials from the inside out, frequency in Hz, amplitude in V/m; direction and polarization as for
    `mie_layered_sphere`.
    """
    omega = 2 * np.pi * positive_length(frequency, "frequency")
    instance(materials, Mapping, "materials are {name: Material}, from the inside out")
    for name, each in materials.items():
        if not all(hasattr(each, one) for one in ("permittivity", "permeability", "conductivity")):
            raise TypeError(f"materials are {{name: Material}}, and {name!r} is {describe(each)}")
    layers = list(materials.values())
    e = np.array([permittivity_of(each, frequency) for each in layers])
    m = np.array([each.permeability for each in layers])
    k = omega / SPEED_OF_LIGHT
    return mie_layered_sphere(k, radii, e, m, False, direction, polarization, amplitude, VACUUM_IMPEDANCE)


def _scattering(
    k: float,
    radii: list,
    permittivity: list,
    permeability: list,
    conducting_core: bool,
    direction: ArrayLike,
    polarization: ArrayLike | None,
    amplitude: complex,
    impedance: float,
) -> MieScattering:
    k = positive_length(k, "the wavenumber k outside a sphere (losses there are not computed)")
    a = np.array([positive_length(radius, "radius") for radius in radii])
    if len(a) == 0 or np.any(np.diff(a) <= 0):
        raise ValueError(f"radii must increase from the inside out, got {a.tolist()}")
    # layers: one for each radius, without the core where that conducts
    number = len(a) - conducting_core
    if len(permittivity) != number or len(permeability) != number:
        core = " around a conducting core" if conducting_core else ""
        raise ValueError(
            f"{len(a)} radii{core} bound {number} layers, got {len(permittivity)} permittivities and "
            f"{len(permeability)} permeabilities"
        )
    e = np.array([relative_constant(value, "permittivity") for value in permittivity], np.complex128)
    m = np.array([relative_constant(value, "permeability") for value in permeability], np.complex128)
    for index in (refractive_index(*pair) for pair in zip(e, m, strict=True)):
        if np.real(index) < 0:
            raise ValueError(f"a negative refractive index ({index:.4g}) is not computed")
    # the incident wave
    d = unit_vector(direction)
    vector = transverse_polarization(polarization, d)
    size = finite_number(amplitude, "amplitude")
    if size == 0:
        raise ValueError("the amplitude must not be zero")
    eta = positive_length(impedance, "impedance")
    # coefficients outside, and in each layer
    outside, layers = solve(k * a, e, m, conducting_core)
    return MieScattering(k, a, e, m, conducting_core, d, vector, size, eta, outside, layers)
