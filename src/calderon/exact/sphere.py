"""Scattering of sound by a sphere: partial-wave series for soft, hard, impedance and fluid spheres.

The incident field about the centre is  u_i = sum_n g_n j_n(kr) P_n(cos g), g the angle from the axis:
  plane wave exp(ik d . x):     g_n = (2n+1) i^n,                     axis d;
  point source G(x, y), |y| > a:  g_n = (2n+1) ik h_n(k|y|) / (4 pi),  axis y.
The scattered field is  u_s = sum_n g_n c_n h_n(kr) / h_n(ka) P_n, with c_n from the condition at r = a:
  soft       u = 0
  hard       du/dr = 0
  impedance  du/dr + ik b u = 0, b = rho c / Z the admittance (u the pressure, Z = u / v_n with v_n into the body;
             Re b >= 0 absorbs)
  fluid      u and (1/rho) du/dr continuous.
Time factor exp(-i omega t), u_s ~ F exp(ikr) / r. P. M. Morse and K. U. Ingard, Theoretical Acoustics (1968), chapter
8; V. C. Anderson, J. Acoust. Soc. Am. 22 (1950) 426 for the fluid sphere. Everything is formed from functions scaled by
their growth (`calderon.exact.bessel`), so that no order overflows; the total field and its slope on the sphere come
from the Wronskian, without cancellation in the shadow.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from calderon.exact.angular import legendre_sum, unit_directions
from calderon.exact.bessel import ScaledFunctions, growth, spherical_hankel
from calderon.exact.layers import (
    Pair,
    Shell,
    Sound,
    functions_within,
    last_order,
    outgoing_from,
    portions,
    solve_layers,
)
from calderon.validation import (
    finite_number,
    nonzero_wavenumber,
    one_point,
    points_in_space,
    positive_length,
    unit_vector,
)


class OutgoingSeries:
    """u = sum_n b_n h_n(kr) / h_n(ka) P_n(cos g) outside a sphere about the origin.

    outgoing_terms (N + 1,): b_n, the partial waves of u at r = a.
    """

    wavenumber: complex
    radius: float
    axis: np.ndarray
    outgoing_terms: np.ndarray

    def far_field(self, theta: ArrayLike, phi: ArrayLike | None = None) -> np.ndarray:
        """F (...) in directions given by angles or vectors, see `unit_directions`:  u ~ F exp(ikr) / r."""
        toward = unit_directions(theta, phi)
        return legendre_sum(self._far_terms, self._polar(toward.reshape(-1, 3))[1]).reshape(toward.shape[:-1])

    @cached_property
    def _far_terms(self) -> np.ndarray:
        orders = np.arange(len(self.outgoing_terms))
        surface = spherical_hankel(orders[-1], self.wavenumber * self.radius)
        amplitudes = self.outgoing_terms / surface.values[:, 0] / surface.scale[:, 0]
        return amplitudes * _powers(-1j, orders + 1) / self.wavenumber

    def _polar(self, points: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        x = points_in_space(points)
        distance = np.linalg.norm(x, axis=1)
        cosine = np.clip(x @ self.axis / np.where(distance > 0, distance, 1.0), -1.0, 1.0)
        return distance, np.where(distance > 0, cosine, 1.0)

    def _outside(self, points: ArrayLike, slope: bool) -> np.ndarray:
        distance, cosine = self._polar(points)
        inside = np.count_nonzero(distance < self.radius * (1 - 1e-9))
        if inside:
            raise ValueError(
                f"{inside} of {len(distance)} points lie inside the sphere of radius {self.radius:g}, "
                "where this field is not defined"
            )
        last = len(self.outgoing_terms) - 1
        surface = spherical_hankel(last, self.wavenumber * self.radius).values

        def radial(r: np.ndarray) -> np.ndarray:
            values, slopes = outgoing_from(Sound, last, self.wavenumber, self.radius, r)
            return (slopes * self.wavenumber if slope else values) / surface

        return series(self.outgoing_terms, radial, np.maximum(distance, self.radius), cosine)


@dataclass(frozen=True, eq=False)
class SphereScattering(OutgoingSeries):
    """The exact field of a plane wave or point source on a sphere about the origin.

    kind: "soft", "hard", "impedance", "fluid", "layered" or "elastic". wavenumber, radius: k and a.
    axis: unit vector (3,): the direction of the plane wave, or toward the source. source: its position (3,), or None.
    outgoing_terms (N + 1,): g_n c_n, the partial waves of u_s at r = a. surface_terms, slope_terms: those of u and
        du/dr at r = a. layers: of fluid, from the inside out; a core that is no fluid has no field.
    """

    kind: str
    wavenumber: complex
    radius: float
    axis: np.ndarray
    source: np.ndarray | None
    outgoing_terms: np.ndarray
    surface_terms: np.ndarray
    slope_terms: np.ndarray
    layers: tuple["FluidLayer", ...] = ()

    def __repr__(self) -> str:
        degrees = len(self.outgoing_terms) - 1
        return (
            f"SphereScattering({self.kind!r}, k = {self.wavenumber:g}, radius {self.radius:g}, degrees up to {degrees})"
        )

    @property
    def number_of_terms(self) -> int:
        return len(self.outgoing_terms)

    def incident(self, points: ArrayLike) -> np.ndarray:
        """The incident field (n,) at points (n, 3)."""
        x = points_in_space(points)
        if self.source is None:
            return np.exp(1j * self.wavenumber * (x @ self.axis))
        distance = np.linalg.norm(x - self.source, axis=1)
        return np.exp(1j * self.wavenumber * distance) / (4 * np.pi * distance)

    def scattered(self, points: ArrayLike) -> np.ndarray:
        """u_s (n,) at points (n, 3) outside or on the sphere."""
        return self._outside(points, slope=False)

    def scattered_radial_derivative(self, points: ArrayLike) -> np.ndarray:
        """du_s/dr (n,) at points (n, 3) outside or on the sphere."""
        return self._outside(points, slope=True)

    def total(self, points: ArrayLike) -> np.ndarray:
        """u_i + u_s (n,) at points (n, 3) outside or on the sphere; inside a fluid sphere, the field there."""
        x = points_in_space(points)
        inside = np.linalg.norm(x, axis=1) < self.radius * (1 - 1e-9)
        if not self.layers or not inside.any():
            return self.incident(x) + self.scattered(x)
        values = np.empty(len(x), np.complex128)
        values[inside] = self.interior(x[inside])
        values[~inside] = self.incident(x[~inside]) + self.scattered(x[~inside])
        return values

    def interior(self, points: ArrayLike) -> np.ndarray:
        """The field (n,) inside a sphere of fluids at points (n, 3) with |x| <= a; 0 in a core that is no fluid."""
        if not self.layers and self.kind != "layered":
            raise ValueError(f"a {self.kind} sphere has no field inside; fluid_sphere has one")
        distance, cosine = self._polar(points)
        if np.any(distance > self.radius * (1 + 1e-9)):
            raise ValueError(f"{np.count_nonzero(distance > self.radius * (1 + 1e-9))} points lie outside the sphere")
        values = np.zeros(len(distance), np.complex128)
        for layer in self.layers:
            here = (distance >= layer.fluid.inner) & (distance <= layer.fluid.outer * (1 + 1e-9))
            if here.any():
                r = np.minimum(distance[here], layer.fluid.outer)
                values[here] = series(np.ones(self.number_of_terms), layer.radial, r, cosine[here])
        return values

    def surface_pressure(self, points: ArrayLike) -> np.ndarray:
        """Total u (n,) on the sphere in the directions of points (n, 3) (their distances do not count)."""
        return legendre_sum(self.surface_terms, self._polar(points)[1])

    def surface_normal_derivative(self, points: ArrayLike) -> np.ndarray:
        """Total du/dr (n,) on the outer side of the sphere in the directions of points (n, 3)."""
        return legendre_sum(self.slope_terms, self._polar(points)[1])

    def scattering_cross_section(self) -> float:
        """Power scattered over incident intensity, int |F|^2, in m^2; plane wave in a medium without loss only."""
        self._needs_plane_wave("a scattering cross section")
        orders = np.arange(self.number_of_terms)
        return float(4 * np.pi * np.sum(np.abs(self._far_terms) ** 2 / (2 * orders + 1)))

    def extinction_cross_section(self) -> float:
        """Power scattered and absorbed over incident intensity, in m^2, by the optical theorem 4 pi Im F(d) / k."""
        self._needs_plane_wave("an extinction cross section")
        return float(4 * np.pi * np.sum(self._far_terms).imag / self.wavenumber)

    def target_strength(self, theta: ArrayLike, phi: ArrayLike | None = None) -> np.ndarray:
        """20 log10 |F| in dB re 1 m (...) for a plane wave of unit amplitude; directions as for `far_field`."""
        self._needs_plane_wave("a target strength")
        with np.errstate(divide="ignore"):
            return 20 * np.log10(np.abs(self.far_field(theta, phi)))

    def _needs_plane_wave(self, what: str) -> None:
        if self.source is not None or np.imag(self.wavenumber) != 0:
            raise ValueError(f"{what} needs an incident plane wave and a real wavenumber")


def soft_sphere(
    k: complex, radius: float = 1.0, direction: ArrayLike | None = None, source: ArrayLike | None = None
) -> SphereScattering:
    """Sphere with u = 0 (pressure release), for the plane wave exp(ik d . x) along `direction` (default [0, 0, 1]) or
    for G(x, y) from a point source at `source`, outside the sphere."""
    return sphere_scattering("soft", k, radius, direction, source, (0, 1))


def rigid_sphere(
    k: complex, radius: float = 1.0, direction: ArrayLike | None = None, source: ArrayLike | None = None
) -> SphereScattering:
    """Sphere with du/dr = 0 (sound-hard); arguments as for `soft_sphere`."""
    return sphere_scattering("hard", k, radius, direction, source, (1, 0))


def impedance_sphere(
    k: complex,
    radius: float,
    admittance: complex,
    direction: ArrayLike | None = None,
    source: ArrayLike | None = None,
) -> SphereScattering:
    """Sphere with du/dr + ik b u = 0, b = `admittance` = rho c / Z without unit; 0 is hard, infinity would be soft.

    Re b >= 0 (a surface that absorbs or stores energy); other arguments as for `soft_sphere`.
    """
    b = finite_number(admittance, "admittance")
    if np.real(b) < 0:
        raise ValueError(f"the admittance {admittance!r} has a negative real part: the surface would create energy")
    return sphere_scattering("impedance", k, radius, direction, source, (1, -1j * b), admittance=b)


def fluid_sphere(
    k: complex,
    radius: float,
    interior_wavenumber: complex,
    density_ratio: float,
    direction: ArrayLike | None = None,
    source: ArrayLike | None = None,
) -> SphereScattering:
    """Sphere of another fluid: `interior_wavenumber` inside (positive imaginary part for loss), and `density_ratio` =
    density inside over density outside (complex for a lossy equivalent fluid); other arguments as for `soft_sphere`."""
    inside = nonzero_wavenumber(interior_wavenumber, "interior_wavenumber")
    ratio = finite_number(density_ratio, "density_ratio")
    if not np.real(ratio) > 0:
        raise ValueError(f"density_ratio must be positive, got {density_ratio!r}")
    fluid = FluidShell(0.0, positive_length(radius, "radius"), inside, ratio)
    return sphere_scattering("fluid", k, radius, direction, source, (0, 1), [fluid])


class FluidShell(NamedTuple):
    """A layer of fluid: radii of its faces in m (the inner one 0 for a ball), its wavenumber in 1/m, and its density
    over that of the surroundings."""

    inner: float
    outer: float
    wavenumber: complex
    density: complex


class FluidLayer(NamedTuple):
    """The field in a layer of fluid: alpha and beta (2, N + 1) as in `calderon.exact.layers`."""

    fluid: FluidShell
    pair: np.ndarray

    def radial(self, r: np.ndarray) -> np.ndarray:
        """(N + 1, p) the partial waves at r (p,) within the layer."""
        inner, outer, k, _ = self.fluid
        functions = functions_within(Sound, self.pair.shape[1] - 1, k, (inner, outer), r)
        return np.asarray(sum(factor[:, None] * each[0] for factor, each in zip(self.pair, functions, strict=False)))


def sphere_scattering(
    kind: str,
    k: complex,
    radius: float,
    direction: ArrayLike | None,
    source: ArrayLike | None,
    core: tuple[complex, complex] | Callable[[int], Pair],
    fluids: Sequence[FluidShell] = (),
    admittance: complex = 0.0,
) -> SphereScattering:
    """The field of a sphere with these layers from the inside out around a core; other arguments as for `soft_sphere`.

    core: u and (1/rho) du/dr / k on its face, up to a factor, for each order up to the last one where they depend on
    it; of no effect inside a ball of fluid. admittance: of the
    sphere, by which the number of terms is chosen.
    """
    radius = positive_length(radius, "radius")
    k = nonzero_wavenumber(k)
    if np.imag(k) * radius > 300:  # beyond this exp(Im k a) leaves the range of double precision in products
        raise ValueError(f"loss over the radius, Im(k) a = {np.imag(k) * radius:.3g}, exceeds 300: no digits remain")
    if direction is not None and source is not None:
        raise ValueError("give the direction of a plane wave or the position of a point source, not both")
    position = None if source is None else one_point(source, "source")
    if position is not None and np.linalg.norm(position) <= radius:
        raise ValueError(f"the source at {position.tolist()} is not outside the sphere of radius {radius:g}")
    axis = unit_vector([0, 0, 1] if direction is None else direction) if position is None else unit_vector(position)
    largest = max((abs(each.wavenumber) * each.outer for each in fluids), default=0.0)
    last = _last_order(abs(k) * radius, largest, admittance, position, k)
    forcing = _forcing(spherical_hankel(last, k * radius), last, k, position)
    # the layers, and outgoing waves from value and slope on the sphere
    shells = [Shell(q * inner, q * outer, q / (k * density)) for inner, outer, q, density in fluids]
    given = core(last) if callable(core) else (np.full(last + 1, core[0]), np.full(last + 1, core[1]))
    solved = solve_layers(Sound, last, shells, given, k * radius, forcing)
    return SphereScattering(
        kind=kind,
        wavenumber=k,
        radius=radius,
        axis=axis,
        source=position,
        outgoing_terms=-solved.outgoing * solved.scattered,
        surface_terms=solved.value,
        slope_terms=solved.slope * k,
        layers=tuple(map(FluidLayer, fluids, solved.pairs)),
    )


def _forcing(outgoing: ScaledFunctions, last: int, k: complex, position: np.ndarray | None) -> np.ndarray:
    """g_n / s_n(ka): the incident partial waves with the growth of h_n taken off."""
    orders = np.arange(last + 1)
    if position is None:
        return (2 * orders + 1) * _powers(1j, orders) / outgoing.scale[:, 0]
    there = spherical_hankel(last, k * float(np.linalg.norm(position)))
    return (2 * orders + 1) * 1j * k / (4 * np.pi) * (there.values * there.scale_over(outgoing))[:, 0]


def _last_order(outside: float, inside: float, admittance: complex, position: np.ndarray | None, k: complex) -> int:
    """The order after which the terms are negligible; resonances of the sphere lie below it. outside, inside: the
    largest |kr| of both sides."""
    size = max(outside, inside)
    if np.imag(admittance) < 0:  # a mass-like or spring-like surface guides waves slower than k by this factor
        size = outside * float(np.sqrt(1 + abs(admittance) ** 2))
    what = (
        f"partial waves are needed: the frequency (k a = {outside:.3g}) is too high, "
        "or the source too close to the sphere"
    )
    if position is None:
        return last_order(Sound, lambda orders: growth(orders, size), what)
    far = abs(k) * float(np.linalg.norm(position))
    return last_order(Sound, lambda n: np.where(n <= size, 1.0, growth(n, outside) / growth(n, far)), what)


def _powers(base: complex, orders: np.ndarray) -> np.ndarray:
    """i^n or (-i)^n exactly."""
    return np.array([base**0, base, base**2, base**3])[orders % 4].round()


def series(terms: np.ndarray, radial: Callable[..., Any], distance: np.ndarray, cosine: np.ndarray) -> np.ndarray:
    """sum_n terms_n R_n(r) P_n(cos g), in portions of points that fit in the cache."""
    values = np.empty(len(distance), np.complex128)
    for part in portions(len(distance), len(terms)):
        values[part] = legendre_sum(terms[:, None] * radial(distance[part]), cosine[part])
    return values
