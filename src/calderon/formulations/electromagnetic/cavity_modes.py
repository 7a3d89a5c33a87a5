"""Modes of cavities in a perfect conductor: fields that stay without sources."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.exact import SPEED_OF_LIGHT, VACUUM_IMPEDANCE
from calderon.formulations.electromagnetic.pec import PECScattering
from calderon.formulations.electromagnetic.radiating_currents import RadiatingCurrents
from calderon.formulations.linear_system import LinearSystem
from calderon.formulations.source_free import Mode, SourceFree
from calderon.greens import Helmholtz
from calderon.operators import electric_field, transformed
from calderon.spaces import VectorFunction


@dataclass(frozen=True, eq=False)
class CavityMode(Mode):
    """A field that stays in a cavity without sources.

    wavenumber, frequency: as of `Mode`, in vacuum. surface: the current J = -n x H in A/m, its largest coefficient 1.
    currents: that current as a source of the field.
    """

    surface: VectorFunction
    currents: RadiatingCurrents

    def electric(self, points: ArrayLike) -> NDArray[Any]:
        """E (n, 3) in V/m at points (n, 3) in the cavity."""
        return self.currents.electric(points)

    def magnetic(self, points: ArrayLike) -> NDArray[Any]:
        """H (n, 3) in A/m at points (n, 3) in the cavity."""
        return self.currents.magnetic(points)


class EmptyCavity(SourceFree[CavityMode]):
    """The electric field equation T J = 0, whose null vectors are currents of the inside. problem: of the conductor, of
    any formulation; ValueError for an open surface."""

    def __init__(self, problem: PECScattering) -> None:
        self.mesh, self.images = problem.surface.whole, len(problem.surface.parities)
        if not self.mesh.is_closed:
            raise ValueError("resonances are those of cavities, and the surface is open: close it")
        self.speed, self._functions, self.unknowns = SPEED_OF_LIGHT, problem.functions, problem.functions.dimension

    def system(self, wavenumber: complex) -> LinearSystem:
        functions = self._functions
        rows = electric_field(Helmholtz.continued(wavenumber), functions.space, functions.part)
        return LinearSystem("electric field T J = 0", transformed(rows, right=functions.images), (functions,))

    def mode(self, wavenumber: complex, coefficients: NDArray[Any]) -> CavityMode:
        whole = self._functions.extended(coefficients / coefficients[np.abs(coefficients).argmax()])
        current = VectorFunction(self._functions.space, whole, "surface current", "A/m")
        fields = RadiatingCurrents(wavenumber.real, VACUUM_IMPEDANCE, (current,))  # nothing decays: Im k is an error
        return CavityMode(wavenumber, wavenumber * self.speed / (2 * np.pi), current, fields)

    def sizes(self, mode: CavityMode, points: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.linalg.norm(mode.electric(points), axis=1))

    def expected(self, wavenumber: float) -> float:
        """V k^3 / (3 pi^2)."""
        return float(abs(self.mesh.volume) * wavenumber**3 / (3 * np.pi**2))
