"""Scattering of sound by an elastic sphere and by an elastic spherical shell in a fluid: partial waves.

Displacements of the order n are u = grad(phi P_n) + curl curl(x psi P_n), where phi is a sum of j_n and y_n of k_L r,
psi one of k_T r, omega = c_L k_L = c_T k_T. With m = n (n + 1),

    u_r = phi' + m psi / r,
    sigma_rr = -lambda k_L^2 phi + 2 mu (phi'' + m (psi' / r - psi / r^2)),
    sigma_rt = mu (2 (phi' / r - phi / r^2) + psi'' + (m - 2) psi / r^2),

times P_n and dP_n/dt. On a face next to a fluid sigma_rr = -p, dp/dr = rho omega^2 u_r, sigma_rt = 0; next to vacuum
sigma_rr = sigma_rt = 0. These are one equation less than there are functions, so that the ratio of p and dp/dr on the
outer face follows, and the sphere acts on the fluid around as a core with this ratio for each order. For n = 0 there
is no psi, and no sigma_rt. Functions are those of `calderon.exact.bessel`, scaled by their growth. Below k_T a = 0.01
phi and psi of one order resemble each other: the ratio then has an error of about 1e-16 / (k_T a)^2.
J. J. Faran, J. Acoust. Soc. Am. 23 (1951) 405; R. R. Goodman and R. Stern, J. Acoust. Soc. Am. 34 (1962) 338.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from calderon.exact.bessel import ScaledFunctions, spherical_bessel, spherical_hankel
from calderon.exact.layers import Pair
from calderon.exact.sphere import SphereScattering, sphere_scattering
from calderon.validation import nonzero_wavenumber, positive_length


class Solid(Protocol):
    """An elastic material: density in kg/m^3, and Lame's constants in Pa, with loss of Im < 0."""

    @property
    def density(self) -> float | None: ...
    @property
    def complex_lame(self) -> complex: ...
    @property
    def complex_shear_modulus(self) -> complex: ...


class Medium(Protocol):
    """A fluid: density in kg/m^3, speed of sound in m/s."""

    @property
    def density(self) -> float: ...
    @property
    def speed_of_sound(self) -> float: ...


def elastic_sphere(
    wavenumber: complex,
    radius: float,
    material: Solid,
    fluid: Medium,
    direction: ArrayLike | None = None,
    source: ArrayLike | None = None,
) -> SphereScattering:
    """Solid elastic sphere in a fluid.

    wavenumber: k of the fluid in 1/m, omega = c Re k. material: `ElasticMaterial` with a density. fluid: `Fluid`. Other
    arguments as for `soft_sphere`. TypeError for what is no material or fluid.

        exact.elastic_sphere(3.0, 1.0, cal.ElasticMaterial.from_wave_speeds(7700.0, 5950.0, 3240.0), cal.Fluid.water())
    """
    return _scattering(wavenumber, radius, 0.0, material, fluid, None, direction, source)


def elastic_shell(
    wavenumber: complex,
    radius: float,
    inner_radius: float,
    material: Solid,
    fluid: Medium,
    filling: Medium | None = None,
    direction: ArrayLike | None = None,
    source: ArrayLike | None = None,
) -> SphereScattering:
    """Elastic spherical shell between two radii in a fluid. filling: the fluid inside, None for vacuum; other arguments
    as for `elastic_sphere`."""
    inner = positive_length(inner_radius, "inner_radius")
    if not inner < positive_length(radius, "radius"):
        raise ValueError(f"inner_radius = {inner:g} of a shell is below its radius, {radius:g}")
    return _scattering(wavenumber, radius, inner, material, fluid, filling, direction, source)


def _scattering(
    wavenumber: complex,
    radius: float,
    inner: float,
    material: Solid,
    fluid: Medium,
    filling: Medium | None,
    direction: ArrayLike | None,
    source: ArrayLike | None,
) -> SphereScattering:
    k, a = nonzero_wavenumber(wavenumber), positive_length(radius, "radius")
    density, speed = _constants(fluid, "fluid", "Fluid(density, speed_of_sound)")
    inside = None if filling is None else _constants(filling, "filling", "Fluid(density, speed_of_sound)")
    omega = float(np.real(k)) * speed
    if not omega > 0:
        raise ValueError(f"the wavenumber {wavenumber!r} has no positive real part: solids need a frequency")
    body = _Body.of(material, omega)

    def core(last: int) -> Pair:
        """p and dp/dr / k on the sphere, up to a factor for each order."""
        stress, displacement = body.outer_face(last, a, inner, inside)
        return -stress, density * omega**2 * displacement / k

    return sphere_scattering("elastic", k, a, direction, source, core)


def _constants(given: Any, name: str, advice: str) -> tuple[float, float]:
    """Density and speed of sound of a fluid."""
    try:
        density, speed = given.density, given.speed_of_sound
    except AttributeError:
        raise TypeError(f"{name} must have a density and a speed_of_sound, as {advice}: got {given!r}") from None
    return positive_length(density, f"density of the {name}"), positive_length(speed, f"speed_of_sound of the {name}")


class _Face(NamedTuple):
    """u_r, sigma_rr, sigma_rt (functions, orders) of each radial function on a face; their units are those of the
    functions and of a stress over a length."""

    displacement: np.ndarray
    normal: np.ndarray
    shear: np.ndarray


class _Body(NamedTuple):
    """An elastic material at a frequency: omega in 1/s, Lame's constants in Pa, wavenumbers in 1/m."""

    omega: float
    lame: complex
    shear: complex
    longitudinal: complex
    transverse: complex

    @classmethod
    def of(cls, material: Solid, omega: float) -> "_Body":
        try:
            density, lame, shear = material.density, material.complex_lame, material.complex_shear_modulus
        except AttributeError:
            raise TypeError(
                f"material must be elastic, as ElasticMaterial.from_wave_speeds(7700, 5950, 3240): got {material!r}"
            ) from None
        if density is None:
            raise ValueError("vibrations need the density of the material: ElasticMaterial(..., density=...)")
        lame, shear = (each.real if np.imag(each) == 0 else each for each in (lame, shear))
        return cls(omega, lame, shear, *(omega * np.sqrt(density / each) for each in (lame + 2 * shear, shear)))

    def outer_face(
        self, last: int, outer: float, inner: float, inside: tuple[float, float] | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """sigma_rr and u_r (orders,) on the outer face, up to a common factor for each order. inside: density and speed
        of sound of the fluid within a shell."""
        radii = [outer] if inner == 0 else [outer, inner]
        waves = [_on_faces(last, k, radii) for k in (self.longitudinal, self.transverse)]
        faces = [self._face(last, r, *(kind[number] for kind in waves)) for number, r in enumerate(radii)]
        rows = [faces[0].shear]
        if inner > 0:
            rows += [self._closing(last, inner, faces[1], inside), faces[1].shear]
        system = np.stack(rows, axis=1).transpose(2, 1, 0)  # (orders, equations, functions)
        factors = _null_vectors(system)
        half = len(faces[0].normal) // 2
        if inner == 0:
            factors[0] = [1.0, 0.0]
        else:  # order 0: the functions phi and the first condition on the inner face
            factors[0] = 0.0
            factors[0, :half] = _null_vectors(system[:1, 1:2, :half])[0]
        stress, displacement = (
            np.einsum("nf,fn->n", factors, each) for each in (faces[0].normal, faces[0].displacement)
        )
        return stress, displacement

    def _closing(self, last: int, r: float, face: _Face, inside: tuple[float, float] | None) -> np.ndarray:
        """The condition on normal stress and displacement on an inner face (functions, orders), 0 of a field that meets
        it: sigma_rr = 0, or k j' sigma_rr + rho omega^2 j u_r = 0 of a fluid with the pressure j_n(kr)."""
        if inside is None:
            return face.normal
        density, speed = inside
        k = self.omega / speed
        filled = spherical_bessel(last, k * r)
        return k * filled.slopes[:, 0] * face.normal + density * self.omega**2 * filled.values[:, 0] * face.displacement

    def _face(self, last: int, r: float, longitudinal: np.ndarray, transverse: np.ndarray) -> _Face:
        """The values of phi and psi, in this order, from values and slopes (2, functions, orders) at r."""
        n = np.arange(last + 1)
        m = n * (n + 1)
        mu, (phi, phi1), (psi, psi1) = self.shear, longitudinal, transverse
        phi2 = -2 / r * phi1 - (self.longitudinal**2 - m / r**2) * phi
        psi2 = -2 / r * psi1 - (self.transverse**2 - m / r**2) * psi
        displacement = phi1, m * psi / r
        normal = -self.lame * self.longitudinal**2 * phi + 2 * mu * phi2, 2 * mu * m * (psi1 / r - psi / r**2)
        shear = 2 * mu * (phi1 / r - phi / r**2), mu * (psi2 + (m - 2) * psi / r**2)
        return _Face(*(np.concatenate(each) for each in (displacement, normal, shear)))


def _on_faces(last: int, k: complex, radii: list[float]) -> list[np.ndarray]:
    """Values and slopes by r (2, functions, orders) of the radial functions at each of the radii, the outer one first:
    j_n, scaled to be of the size of 1/z on the outer face, and in a shell y_n (h_n with loss), scaled on the inner."""
    regular = [spherical_bessel(last, k * r) for r in radii]
    if len(radii) == 1:
        return [np.stack([regular[0].values.T, k * regular[0].slopes.T])]
    outgoing = [_second(spherical_hankel(last, k * r), k) for r in radii]
    fall = regular[0].scale_over(regular[1])[:, 0]
    found = []
    for one, other, factors in zip(regular, outgoing, [(1.0, fall), (fall, 1.0)], strict=True):
        values = [each.values[:, 0] * factor for each, factor in zip((one, other), factors, strict=True)]
        slopes = [each.slopes[:, 0] * factor * k for each, factor in zip((one, other), factors, strict=True)]
        found.append(np.stack([values, slopes]))
    return found


def _second(outgoing: ScaledFunctions, k: complex) -> ScaledFunctions:
    """y_n instead of h_n where k is real, so that the ratio on the sphere is real: nothing is lost."""
    if np.iscomplexobj(k):
        return outgoing
    return ScaledFunctions(outgoing.values.imag, outgoing.slopes.imag, outgoing.steps, outgoing.loss)


def _null_vectors(system: np.ndarray) -> np.ndarray:
    """(orders, functions) vectors x with A x = 0 for each A (orders, functions - 1, functions); rows and columns are
    divided by their largest entries first."""
    tiny = np.finfo(float).tiny
    rows = np.maximum(np.abs(system).max(axis=2, keepdims=True), tiny)
    system = system / rows
    columns = np.maximum(np.abs(system).max(axis=1), tiny)
    return np.asarray(np.linalg.svd(system / columns[:, None, :])[2][:, -1].conj() / columns)
