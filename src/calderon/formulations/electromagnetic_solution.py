"""The solution of an electromagnetic scattering problem: currents, far fields, radar cross-sections."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.exact.angular import line_of_sight
from calderon.formulations.checks import one_of, unit_directions
from calderon.formulations.info import SolutionInfo
from calderon.formulations.sphere_rule import power_degree, sphere_rule
from calderon.formulations.vector_loads import VectorLoads
from calderon.spaces import VectorFunction
from calderon.waves import ElectromagneticWave

DIRECTIONS_AT_ONCE = 64
RECEIVERS = {"V": 1, "H": 2}


@dataclass(frozen=True, eq=False)
class ElectromagneticSolution:
    """The field E_inc + E_s of an incident wave and a perfectly conducting body.

    incident: the wave. wavenumber: k in 1/m. info: the record of the solver. surface: the surface current J = n x H in
    A/m. loads: the tabulated functions of its space.
    """

    incident: ElectromagneticWave
    wavenumber: float
    info: SolutionInfo
    surface: VectorFunction
    loads: VectorLoads

    def far_field(self, directions: ArrayLike) -> NDArray[np.complex128]:
        """F (n, 3) in V in directions (n, 3) of any length: E_s ~ F exp(ikr) / r about the origin of coordinates.

        F(d) = i k eta / (4 pi) (1 - d d^T) int J(y) exp(-i k d.y) dS(y).
        """
        d = unit_directions(directions)
        k, total = self.wavenumber, np.empty((len(d), 3), np.complex128)
        for n in range(0, len(d), DIRECTIONS_AT_ONCE):
            part = slice(n, n + DIRECTIONS_AT_ONCE)
            total[part] = self.loads.radiated(np.exp(-1j * k * (self.loads.points @ d[part].T)), self._coefficients)
        total -= d * np.sum(d * total, axis=1, keepdims=True)
        return 1j * k * complex(self.incident.impedance) / (4 * np.pi) * total

    @property
    def _coefficients(self) -> NDArray[np.complex128]:
        return np.asarray(self.surface.coefficients)

    def rcs(self, theta: ArrayLike, phi: ArrayLike, polarization: str | None = None) -> NDArray[np.float64]:
        """Bistatic radar cross-section 4 pi |F|^2 / |E_inc|^2 in m^2 toward theta, phi in radians (broadcast).

        polarization: "V" or "H" counts what a receiver along theta-hat or phi-hat sees; None counts both.
        """
        frame = line_of_sight(theta, phi)
        far = self.far_field(frame[0].reshape(-1, 3)).reshape(frame[0].shape) / self.incident_amplitude
        if polarization is None:
            return 4 * np.pi * np.sum(np.abs(far) ** 2, axis=-1)
        receiver = frame[RECEIVERS[one_of(polarization, RECEIVERS, "polarization")]]
        return 4 * np.pi * np.abs(np.sum(far * receiver, axis=-1)) ** 2

    @property
    def incident_amplitude(self) -> float:
        """|E_inc| at the origin of coordinates, in V/m: the amplitude of a plane wave."""
        amplitude = float(np.linalg.norm(self.incident.electric(np.zeros((1, 3)))))
        if not 0 < amplitude < np.inf:
            raise ValueError(
                f"the incident field at the origin of coordinates is {amplitude:g}: there is nothing to refer a "
                "cross-section to; move the mesh so that the origin lies in the body, or use far_field"
            )
        return amplitude

    def scattering_cross_section(self) -> float:
        """Scattered power over incident intensity, int |F|^2 / |E_inc|^2 over all directions, in m^2."""
        directions, weights = sphere_rule(power_degree(self.surface.space.mesh, self.wavenumber))
        return float(weights @ np.sum(np.abs(self.far_field(directions)) ** 2, axis=1)) / self.incident_amplitude**2

    def __str__(self) -> str:
        return f"field of {self.incident}: surface current [A/m] on the conductor\n{self.info}"
