"""The solution of scattering by a body whose electric field is known in tetrahedra."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.data.absorption_rates import AbsorptionRates
from calderon.formulations.electromagnetic.dielectric_solution import inward_power
from calderon.formulations.electromagnetic.scattering_solution import ElectromagneticSolution
from calderon.spaces import VectorFunction
from calderon.spaces.edge.volume_edge_function import VolumeEdgeFunction
from calderon.validation import one_or_more_points


@dataclass(frozen=True, eq=False)
class InhomogeneousDielectricSolution(ElectromagneticSolution, AbsorptionRates):
    """The field of an incident wave and a body of varying constants: the currents J = n x H and M = -n x E of the
    boundary radiate the scattered field, `interior` is E in its tetrahedra, where H = mu^-1 curl E / (i k eta).

    inverse_permeability, permittivity: 1 / mu and eps, means of the tetrahedra, (nt,) or tensors (nt, 3, 3). density:
    (nt,) in kg/m^3, 0 of what is no tissue; None where none is given.
    """

    interior: VolumeEdgeFunction
    inverse_permeability: NDArray[np.complex128]
    permittivity: NDArray[np.complex128]
    density: NDArray[np.float64] | None = None

    saved_classes: ClassVar[Sequence[type]] = (*ElectromagneticSolution.saved_classes, VolumeEdgeFunction)

    @property
    def surface(self) -> VectorFunction:
        """The electric current J = n x H on the boundary in A/m, or "E0/eta"."""
        return self.currents.electric_currents[0]

    def _total(self, name: str, points: ArrayLike, backend: str, precision: str) -> NDArray[np.complex128]:
        outside = super()._total

        return self.interior.or_else(
            one_or_more_points(points),
            (3,),
            self.interior.values if name == "electric" else self._magnetic_within,
            lambda x: outside(name, x, backend, precision),
        )

    def _magnetic_within(self, found: NDArray[np.int64], local: NDArray[np.float64]) -> NDArray[np.complex128]:
        flux = _applied(self.inverse_permeability[found], self.interior.curls(found, local))
        return np.asarray(flux / (1j * self.wavenumber * complex(self.incident.impedance)))

    def _tissue_vertices(self) -> NDArray[np.float64]:
        if self.density is None or not self.density.any():
            raise ValueError("absorption rates need InhomogeneousDielectric(..., density=), in kg/m^3")
        mesh = self.interior.mesh
        return np.asarray(mesh.vertices[np.unique(mesh.tetrahedra[self.density > 0])])

    def _absorbed(self, x: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        assert self.density is not None
        found, local = self.interior.find(x)
        density = np.where(found >= 0, self.density[found], 0.0)
        within, power = np.flatnonzero(density > 0), np.zeros(len(x))
        found, local = found[within], local[within]
        k, eta = float(np.real(self.wavenumber)), float(np.real(self.incident.impedance))
        electric, magnetic = self.interior.values(found, local), self._magnetic_within(found, local)
        mu = np.linalg.inv(_tensors(self.inverse_permeability[found]))
        # omega eps_0 = k / eta and omega mu_0 = k eta, of the surroundings
        for field, constants, unit in ((electric, self.permittivity[found], 1 / eta), (magnetic, mu, eta)):
            power[within] += k * unit / 2 * np.sum(field.conj() * _applied(np.imag(constants), field), axis=1).real
        return density, power

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
        for name in ("inverse_permeability", "permittivity"):
            if (shape := getattr(self, name).shape) not in ((count,), (count, 3, 3)):
                raise ValueError(f"{name} of shape {shape} for {count} tetrahedra")
        if self.density is not None and (self.density.shape != (count,) or not (self.density >= 0).all()):
            raise ValueError(f"densities of shape {self.density.shape}, or negative ones, for {count} tetrahedra")
        if len(self.currents.electric_currents) != 1 or len(self.currents.magnetic_currents) != 1:
            raise ValueError("no currents J and M on one boundary")

    def __str__(self) -> str:
        return f"field of {self.incident} in a body and around it\n{self.info}"


def _tensors(constants: NDArray[Any]) -> NDArray[Any]:
    """Tensors (n, 3, 3) of numbers (n,); tensors as they are."""
    return constants[:, None, None] * np.eye(3) if constants.ndim == 1 else constants


def _applied(constants: NDArray[Any], vectors: NDArray[Any]) -> NDArray[Any]:
    """Numbers (n,) or tensors (n, 3, 3) times vectors (n, 3)."""
    if constants.ndim == 1:
        return np.asarray(constants[:, None] * vectors)
    return np.einsum("nij,nj->ni", constants, vectors)
