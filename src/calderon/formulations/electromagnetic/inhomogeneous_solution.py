"""The solution of scattering by a body whose electric field is known in tetrahedra."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.formulations.electromagnetic.dielectric_solution import inward_power
from calderon.formulations.electromagnetic.scattering_solution import ElectromagneticSolution
from calderon.spaces import VectorFunction
from calderon.spaces.edge.volume_edge_function import VolumeEdgeFunction
from calderon.validation import one_or_more_points


@dataclass(frozen=True, eq=False)
class InhomogeneousDielectricSolution(ElectromagneticSolution):
    """The field of an incident wave and a body of varying constants: the currents J = n x H and M = -n x E of the
    boundary radiate the scattered field, `interior` is E in its tetrahedra, where H = mu^-1 curl E / (i k eta).

    inverse_permeability: 1 / mu at the centroids of the tetrahedra, (nt,) or tensors (nt, 3, 3).
    """

    interior: VolumeEdgeFunction
    inverse_permeability: NDArray[np.complex128]

    saved_classes: ClassVar[Sequence[type]] = (*ElectromagneticSolution.saved_classes, VolumeEdgeFunction)

    @property
    def surface(self) -> VectorFunction:
        """The electric current J = n x H on the boundary in A/m, or "E0/eta"."""
        return self.currents.electric_currents[0]

    def _total(self, name: str, points: ArrayLike, backend: str, precision: str) -> NDArray[np.complex128]:
        outside = super()._total

        def magnetic(found: NDArray[np.int64], local: NDArray[np.float64]) -> NDArray[np.complex128]:
            curls, inverse = self.interior.curls(found, local), self.inverse_permeability[found]
            flux = inverse[:, None] * curls if inverse.ndim == 1 else np.einsum("nij,nj->ni", inverse, curls)
            return np.asarray(flux / (1j * self.wavenumber * complex(self.incident.impedance)))

        return self.interior.or_else(
            one_or_more_points(points),
            (3,),
            self.interior.values if name == "electric" else magnetic,
            lambda x: outside(name, x, backend, precision),
        )

    def _has_field(self, points: NDArray[np.float64]) -> NDArray[np.bool_]:
        return np.ones(len(points), dtype=bool)

    def absorbed_power(self) -> float:
        """Time-averaged power that flows into the body through its boundary, in `power_unit`."""
        return self.currents.share * inward_power(
            self.currents.electric_currents[0], self.currents.magnetic_currents[0]
        )

    def absorption_cross_section(self) -> float:
        """Absorbed power over incident intensity |E_inc|^2 / (2 eta), in m^2."""
        return self.absorbed_power() * 2 * complex(self.incident.impedance).real / self.incident_amplitude**2

    def _require_consistent(self) -> None:
        super()._require_consistent()
        count = self.interior.mesh.number_of_tetrahedra
        if self.inverse_permeability.shape not in ((count,), (count, 3, 3)):
            raise ValueError(f"permeabilities of shape {self.inverse_permeability.shape} for {count} tetrahedra")
        if len(self.currents.electric_currents) != 1 or len(self.currents.magnetic_currents) != 1:
            raise ValueError("no currents J and M on one boundary")

    def __str__(self) -> str:
        return f"field of {self.incident} in a body and around it\n{self.info}"
