"""Fields that repeat with one frequency: complex amplitudes, absorbed power, specific absorption rate."""

from dataclasses import dataclass
from pathlib import Path

import meshio
import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.dg.domain import Domain
from calderon.dg.location import values_at
from calderon.dg.port import PortAmplitudes
from calderon.mesh import TetrahedralMesh
from calderon.mesh.whole_file import whole_file


@dataclass(frozen=True, eq=False)
class PeriodicFields:
    """E(t) = Re E exp(-i w t) and H alike, from the discrete Fourier transform of one period.

    change: relative change of the electric amplitude from the period before to the last one (root mean square), which
    says how periodic the fields are. ports {name: amplitudes}: current, voltage, impedance and power of the driven
    currents. densities {name: kg/m^3 or None}.
    """

    frequency: float
    change: float
    ports: dict[str, PortAmplitudes]
    densities: dict[str, float | None]
    _mesh: TetrahedralMesh
    _domain: Domain
    _electric: NDArray[np.complexfloating]
    _magnetic: NDArray[np.complexfloating]

    def electric(self, points: ArrayLike) -> NDArray[np.complex128]:
        """(n, 3) amplitudes of E in V/m at points (n, 3) of the mesh. ValueError for points outside."""
        return self._at(points, self._electric)

    def magnetic(self, points: ArrayLike) -> NDArray[np.complex128]:
        """(n, 3) amplitudes of H in A/m at points (n, 3) of the mesh. ValueError for points outside."""
        return self._at(points, self._magnetic) / self._domain.medium.impedance

    def absorbed_power(self) -> dict[str, float]:
        """W lost in each part of the mesh: integral of sigma |E|^2 / 2."""
        mesh = self._domain.part.mesh
        density = self._loss_density() * mesh.volumes
        own = np.array([density[mesh.tags == tag].sum() for tag in mesh.names.values()])
        return dict(zip(mesh.names, map(float, self._domain.communicator.total(own)), strict=True))

    def specific_absorption_rate(self) -> NDArray[np.float64]:
        """(tetrahedra,) mean of sigma |E|^2 / (2 density) over each element in W/kg; NaN where no density is known."""
        mesh = self._mesh
        rho = np.full(mesh.number_of_tetrahedra, np.nan)
        for name, tag in mesh.names.items():
            value = self.densities.get(name)
            if value is not None:
                rho[mesh.tags == tag] = value
        return self._everywhere(self._loss_density()) / rho

    def write(self, path: str | Path) -> None:
        """VTU file: |E| (root of the mean square over the element, peak value in time), SAR and material."""
        mesh = self._mesh
        data = {
            "|E| (V/m)": [np.sqrt(self._everywhere(self._mean_square()))],
            "SAR (W/kg)": [np.nan_to_num(self.specific_absorption_rate())],
            "material": [mesh.tags],
        }
        content = meshio.Mesh(mesh.vertices, [("tetra", mesh.tetrahedra)], cell_data=data)
        if self._domain.communicator.rank == 0:
            with whole_file(path) as partial:
                content.write(partial, file_format="vtu")

    def _mean_square(self) -> NDArray[np.float64]:
        """(tetrahedra,) mean of |E|^2 over each element in V^2/m^2."""
        mass = 6 * self._domain.arrangement.reference.mass
        field = self._vectors(self._electric)
        return np.real(np.einsum("nqi,qp,npi->n", field.conj(), mass, field, optimize=True))

    def _loss_density(self) -> NDArray[np.float64]:
        """(tetrahedra,) W/m^3."""
        return self._domain.medium.loss / self._domain.medium.impedance / 2 * self._mean_square()

    def _vectors(self, field: NDArray[np.complexfloating]) -> NDArray[np.complex128]:
        parts = (self._domain.arrangement.vectors(np.ascontiguousarray(part)) for part in (field.real, field.imag))
        return np.asarray(next(parts) + 1j * next(parts))

    def _everywhere(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """(tetrahedra,) of all ranks from (elements,) of this one."""
        result = np.empty(self._domain.whole)
        for elements, own in self._domain.communicator.gather((self._domain.part.elements, values)):
            result[elements] = own
        return result

    def _at(self, points: ArrayLike, field: NDArray[np.complexfloating]) -> NDArray[np.complex128]:
        x = np.atleast_2d(np.asarray(points, float))
        return np.asarray(values_at(self._domain, self._mesh, self._vectors(field), x))
