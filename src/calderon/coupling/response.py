"""The response of a structure to pressures at one frequency, with its displacements eliminated."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from calderon.coupling.elimination import VolumeFactors
from calderon.coupling.structures import Structure
from calderon.mesh.errors import warn_of_accuracy
from calderon.solvers.sparse_lu import SparseLU

RELEASE = 1e-8
"""The loss that is added to the inertia at a resonance in vacuo: factors keep half of their digits."""


@dataclass(frozen=True, eq=False)
class Response:
    """n . u of a structure at an angular frequency omega in 1/s. inertia: rho omega^2 of the fluid, the slope dp/dn
    over n . u."""

    structure: Structure
    omega: float
    inertia: float

    symmetric: ClassVar[bool] = False

    @cached_property
    def factors(self) -> VolumeFactors:
        """S - omega^2 M, of which the memory of factors is known before they are made."""
        return VolumeFactors(self.structure.dynamic(self.omega**2))

    @cached_property
    def _inverse(self) -> SparseLU:
        """The factors of that matrix, or with an AccuracyWarning of one nearby where the structure is resonant in
        vacuo."""
        try:
            found = SparseLU(self.factors.matrix)
            if not found.is_singular:
                return found
        except np.linalg.LinAlgError:  # a pivot is zero
            pass
        warn_of_accuracy(
            f"at {self.omega / (2 * np.pi):.6g} Hz the structure is resonant in vacuo, where displacements cannot be "
            f"eliminated: its inertia has a loss of {RELEASE:g} more, which leaves 6 digits of the far field"
        )
        return SparseLU(self.structure.dynamic(self.omega**2 * (1 + 1j * RELEASE)))

    @property
    def size(self) -> int:
        """Number of unknown pressures."""
        return self.structure.pressures.dimension

    def surface(self, pressures: NDArray[Any]) -> NDArray[Any]:
        """p and dp/dn of n . u (functions, m) that pressures (n, m) cause."""
        return np.concatenate([pressures, self.slopes(pressures)])

    def slopes(self, pressures: NDArray[Any]) -> NDArray[Any]:
        """dp/dn (functions, m) of n . u that pressures (n, m) cause."""
        structure = self.structure
        loads = structure.loads(pressures)
        found = structure.normal @ self._inverse.solve(loads)
        if structure.rest is not None:
            found = found + structure.rest.response @ pressures - structure.normal @ self._static.solve(loads)
        return -self.inertia * found

    def transposed(self, slopes: NDArray[Any]) -> NDArray[Any]:
        """The transpose of `slopes`, (n, m) of (functions, m)."""
        structure = self.structure
        back = structure.normal.T @ slopes
        found = self._inverse.solve(back)
        if structure.rest is not None:
            found = found - self._static.solve(back)
        values = structure.pairing @ (structure.normal @ found)
        if structure.rest is not None:
            values = values + structure.rest.response.T @ slopes
        return -self.inertia * values

    @property
    def _static(self) -> Any:
        """Factors of the modes at the shift of the rest."""
        return self.structure.static_factors

    def displacements(self, pressures: NDArray[Any], forces: NDArray[Any] | None) -> NDArray[Any]:
        """u (n,) of pressures (n,) and forces."""
        loads = -self.structure.loads(pressures)
        return np.asarray(self._inverse.solve((loads if forces is None else loads + forces)[:, None])[:, 0])

    def of_forces(self, forces: NDArray[Any]) -> NDArray[Any]:
        """dp/dn (functions,) of forces (n,) in vacuo."""
        return np.asarray(self.inertia * (self.structure.normal @ self._inverse.solve(forces[:, None])[:, 0]))
