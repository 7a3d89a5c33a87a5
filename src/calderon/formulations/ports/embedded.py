"""Arrays by the patterns of their elements: beams, active reflection, correlation, reception, from one factorisation.

With a generator of the voltage E and the resistance R at each port of an antenna of admittances Y the voltages are
U = (1 + R Y)^-1 E, and all fields are the sums of those for 1 V at one port, the others short-circuited.

D. M. Pozar, IEEE Trans. AP-42 (1994), 1176 (the active element pattern); S. Blanch, J. Romeu, I. Corbella,
Electron. Lett. 39 (2003), 705 (correlation).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.exact.angular import line_of_sight
from calderon.formulations.ports.power_waves import Complex, scattering
from calderon.quadrature.sphere import far_field_products
from calderon.validation import finite_complex, one_of, several
from calderon.view import Described


@dataclass(frozen=True, eq=False)
class EmbeddedPatterns(Described):
    """The patterns of the elements of an array with p ports, each fed by a generator of `reference` ohm while those of
    the others are off, and what follows by superposition. Made by `embedded` of an antenna.

        array = antenna.embedded(50.0)
        beam = array.steered(np.pi / 3, 0.0)             # a solution, as antenna.solve gives it
        array.active_reflection(array.generators(np.pi / 3, 0.0))

    units: solutions for 1 V at one port and 0 V at the others. combined: the solution for voltages (p,) at the ports,
    from these. points: (n, 3) places that the antenna is between, in m. Generators are their voltages (p,) in V without
    load. Angles are in radians, broadcast; or, without phi, directions are vectors (n, 3).
    """

    units: tuple[Any, ...]
    reference: float
    combined: Callable[[Complex], Any]
    points: NDArray[np.float64]

    @cached_property
    def admittances(self) -> Complex:
        """Y (p, p) in S: I = Y U."""
        return np.stack([each.feed_currents for each in self.units], axis=1)

    @property
    def scattering_matrix(self) -> Complex:
        """S (p, p) for lines of the impedance `reference`, exp(-i omega t)."""
        return scattering(self.admittances, self.reference)

    @cached_property
    def _divided(self) -> Complex:
        """(p, p) the voltages at the ports for 1 V of one generator, in columns."""
        y = self.admittances
        return np.asarray(np.linalg.inv(np.eye(len(y)) + self.reference * y))

    def far_fields(self, theta: ArrayLike, phi: ArrayLike | None = None) -> Complex:
        """(p, ..., 3) in V, of 1 V of each generator, as `far_field` of a solution."""
        fields = np.stack([each.far_field(theta, phi) for each in self.units])
        return np.asarray(np.tensordot(self._divided.T, fields, axes=1))

    def generators(
        self,
        theta: float,
        phi: float,
        amplitudes: ArrayLike = 1.0,
        polarization: str | None = None,
    ) -> Complex:
        """(p,) voltages of generators in V whose fields arrive in phase toward one direction.

        amplitudes: of all generators, or (p,), such as of a taper. polarization: "V" or "H", along theta-hat or
        phi-hat; None: the one that is strongest there over all elements.
        """
        sizes = np.array(several(amplitudes, len(self.units), "amplitudes in V", finite_complex), np.complex128)
        fields = self.far_fields(theta, phi)
        if fields.shape != (len(self.units), 3):
            raise ValueError("a beam has one direction: give numbers theta and phi, in radians")
        along = self._polarization(fields, theta, phi, polarization)
        seen = fields @ along.conj()
        return np.asarray(sizes * np.exp(-1j * np.angle(seen)))

    def _polarization(self, fields: Complex, theta: float, phi: float, name: str | None) -> Complex:
        if name is not None:
            hats = line_of_sight(theta, phi)[1:]
            return np.asarray(hats["VH".index(one_of(name, ("V", "H"), "polarization"))], np.complex128)
        return np.asarray(np.linalg.svd(fields)[2][0].conj())

    def fed(self, generators: ArrayLike) -> Any:
        """The solution for voltages (p,) of the generators in V."""
        return self.combined(self._divided @ self._given(generators))

    def steered(
        self,
        theta: float,
        phi: float,
        amplitudes: ArrayLike = 1.0,
        polarization: str | None = None,
    ) -> Any:
        """The solution with the beam of `generators` toward a direction, in radians."""
        return self.fed(self.generators(theta, phi, amplitudes, polarization))

    def active_reflection(self, generators: ArrayLike) -> Complex:
        """(p,) b / a at each port while all generators are on, sum over m of S_nm a_m / a_n. ValueError for a generator
        of 0 V."""
        given = self._given(generators)
        if len(still := np.flatnonzero(given == 0)):
            raise ValueError(f"the generator at port {still[0] + 1} has 0 V: nothing goes in there to be reflected")
        return np.asarray(self.scattering_matrix @ given / given)

    def envelope_correlation(self) -> NDArray[np.float64]:
        """(p, p) |int F_m . conj(F_n)|^2 / (int |F_m|^2 int |F_n|^2) over all directions, of fading without a preferred
        direction or polarisation: 1 for equal patterns."""
        products = self._products
        powers = np.diagonal(products).real
        return np.asarray(np.abs(products) ** 2 / (powers[:, None] * powers))

    @cached_property
    def _products(self) -> Complex:
        """(p, p) int F_m . conj(F_n) of embedded patterns."""
        first, fields = self.units[0], [each._over_all for each in self.units]
        is_half = getattr(first, "earth", None) is not None  # below real earth there is no far field
        unit = far_field_products(fields, self.points, first.wavenumber, is_half)
        return np.asarray(self._divided.T @ unit @ self._divided.conj())

    def received(
        self, theta: ArrayLike, phi: ArrayLike | None = None, polarization: str = "V", amplitude: complex = 1.0
    ) -> Complex:
        """(p, ...) voltages in V at the ports, each with `reference` ohm, of plane waves from directions, by
        reciprocity.

        polarization: "V" or "H", E along theta-hat or phi-hat; amplitude: of E at the origin, in V/m. With F of 1 V of
        the generator at a port, the current through its resistor is 4 pi F . E / (i k eta), into the antenna.
        """
        hats = line_of_sight(theta, phi)[1:]
        along = hats["VH".index(one_of(polarization, ("V", "H"), "polarization"))]
        seen = np.einsum("p...i,...i->p...", self.far_fields(theta, phi), along)
        first = self.units[0]
        current = 4 * np.pi * seen / (1j * first.wavenumber * first._eta)
        return np.asarray(-self.reference * finite_complex(amplitude, "the amplitude in V/m") * current)

    def _given(self, generators: ArrayLike) -> Complex:
        return np.array(several(generators, len(self.units), "generators in V", finite_complex), np.complex128)

    @property
    def brief(self) -> str:
        """Ports and their reflection."""
        worst = float(np.abs(np.diagonal(self.scattering_matrix)).max())
        return f"{len(self.units)} embedded patterns, generators of {self.reference:g} ohm, |S_nn| up to {worst:.3g}"


def embedded_patterns(
    combined: Callable[[Complex], Sequence[Any]], ports: int, reference: float, points: NDArray[np.float64]
) -> EmbeddedPatterns:
    """The patterns of an antenna; combined: its solutions for voltages (p, m). ValueError without ports."""
    if not ports:
        raise ValueError("embedded patterns are those of ports, and this antenna has none: give ports=")
    units = tuple(combined(np.eye(ports, dtype=np.complex128)))
    return EmbeddedPatterns(units, reference, lambda given: combined(given[:, None])[0], points)
