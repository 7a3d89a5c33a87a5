"""Fields that repeat with one frequency: complex amplitudes, absorbed power, specific absorption rate."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.data.sar import AveragedSAR, averaged_sar, voxel_midpoints
from calderon.dg.domain import Domain
from calderon.dg.results.far_field import EquivalentCurrents, enclosed, equivalent_currents
from calderon.dg.results.tissue import tissue_corners
from calderon.dg.sources.port import PortAmplitudes
from calderon.exact.angular import radar_cross_section, unit_directions
from calderon.files import file_path, whole_file
from calderon.files.vtu import write_grid
from calderon.mesh import TetrahedralMesh
from calderon.mesh.tetrahedral.location import Search, locate
from calderon.validation import finite_number, one_or_more_points, positive_length
from calderon.view import Described


@dataclass(frozen=True, eq=False)
class PeriodicFields(Described):
    """E(t) = Re E exp(-i w t) and H alike, from the discrete Fourier transform of one period.

    change: relative change of the electric amplitude from the period before to the last one (root mean square), which
    measures how periodic the fields are. ports {name: amplitudes}: current, voltage, impedance and power of the driven
    currents. incident_amplitude: in V/m of a single plane wave, None with other sources. densities {name: kg/m^3 or
    None}.
    """

    frequency: float
    change: float
    ports: dict[str, PortAmplitudes]
    incident_amplitude: complex | None
    densities: dict[str, float | None]
    _mesh: TetrahedralMesh
    _domain: Domain
    _electric: NDArray[np.complexfloating]
    _magnetic: NDArray[np.complexfloating]

    @property
    def brief(self) -> str:
        """Frequency, mesh, ports, and how periodic the fields are."""
        fed = f", ports {', '.join(self.ports)}" if self.ports else ""
        return (
            f"{self.frequency:g} Hz on {self._mesh.number_of_tetrahedra} tetrahedra{fed}, "
            f"change by {self.change:.1e} from period to period"
        )

    def electric(self, points: ArrayLike) -> NDArray[np.complex128]:
        """(n, 3) amplitudes of E in V/m at points (n, 3) of the mesh. ValueError for points outside."""
        return self._at(points, self._electric)

    def field(self, points: ArrayLike) -> NDArray[np.complex128]:
        """The electric field E (n, 3) in V/m at points (n, 3) of the mesh: `electric`."""
        return self.electric(points)

    def magnetic(self, points: ArrayLike) -> NDArray[np.complex128]:
        """(n, 3) amplitudes of H in A/m, without materials in E0/eta, at points (n, 3) of the mesh. ValueError for
        points outside."""
        return self._at(points, self._magnetic) / self._domain.medium.impedance

    def far_field(
        self,
        theta: ArrayLike,
        phi: ArrayLike | None = None,
        *,
        radius: float | None = None,
        center: ArrayLike | None = None,
    ) -> NDArray[np.complex128]:
        """F (..., 3) in V in directions given by angles or vectors, see `exact.unit_directions`: E ~ F exp(ikr) / r
        about the origin of coordinates, of the field that is scattered or radiated.

        It comes from a closed surface of element faces in free space: near a sphere of that radius in m around a center
        (3,), by default one tetrahedron away from all that scatters. Errors as for `enclosed`.
        """
        toward = unit_directions(theta, phi)
        return self._outgoing(radius, center).far_field(toward.reshape(-1, 3)).reshape(toward.shape)

    def rcs(
        self,
        theta: ArrayLike,
        phi: ArrayLike | None = None,
        polarization: str | None = None,
        *,
        radius: float | None = None,
        center: ArrayLike | None = None,
    ) -> NDArray[np.float64]:
        """Bistatic radar cross-section 4 pi |F|^2 / |E_inc|^2 in m^2; directions as for `far_field`.

        polarization: "V" or "H" selects the component along theta-hat or phi-hat; None sums both. Surface as
        for `far_field`. ValueError unless a single plane wave is the source.
        """
        if self.incident_amplitude is None:
            raise ValueError("a cross-section needs one plane wave as the only source, or use far_field")
        far_field = self._outgoing(radius, center).far_field
        return radar_cross_section(far_field, self.incident_amplitude, theta, phi, polarization)

    def radiated_power(self, radius: float | None = None, center: ArrayLike | None = None) -> float:
        """Power in W scattered from waves or radiated by currents: |F|^2 / (2 Z0) over all directions, Z0 = 1 without
        materials. Surface as for `far_field`."""
        return self._outgoing(radius, center).radiated_power()

    def _outgoing(self, radius: float | None, center: ArrayLike | None) -> EquivalentCurrents:
        inside = enclosed(self._domain, self._mesh, radius, center)
        vectors, medium = self._domain.element_blocks.vectors, self._domain.medium
        electric, magnetic = vectors(self._electric), np.divide(vectors(self._magnetic), medium.impedance)
        wavenumber = 2 * np.pi * self.frequency / medium.speed
        return equivalent_currents(self._domain, wavenumber, inside, electric, magnetic)

    def absorbed_power(self) -> dict[str, float]:
        """Power in W lost in each part of the mesh: integral of sigma |E|^2 / 2."""
        mesh = self._domain.part.mesh
        density = self._loss_density() * mesh.volumes
        own = np.array([density[mesh.tags == tag].sum() for tag in mesh.names.values()])
        return dict(zip(mesh.names, map(float, self._domain.communicator.total(own)), strict=True))

    def specific_absorption_rate(self) -> NDArray[np.float64]:
        """(tetrahedra,) mean of sigma |E|^2 / (2 density) over each element in W/kg; NaN where no density is given."""
        return self._domain.everywhere(self._loss_density()) / self._density()

    def mean_electric(self) -> NDArray[np.float64]:
        """(tetrahedra,) root of the mean of |E|^2 over each element, peak value in time, in V/m."""
        return np.sqrt(self._domain.everywhere(self._mean_square()))

    def local_sar(self, points: ArrayLike) -> NDArray[np.float64]:
        """(n,) sigma |E|^2 / (2 density) in W/kg at points (n, 3) of the mesh; NaN where no density is given. On an
        interface the tetrahedron that is found first is used. ValueError for points outside."""
        x = one_or_more_points(points)
        elements, _ = locate(self._mesh, x)
        own, here = self._domain.own_elements(elements)
        medium = self._domain.medium
        loss = self._domain.communicator.total(medium.loss[own] * here)
        squares = (np.abs(self.electric(x)) ** 2).sum(axis=1)
        return np.asarray(loss / medium.impedance / 2 * squares / self._density()[elements])

    def averaged_sar(self, mass: float = 0.010, voxel: float = 0.002) -> AveragedSAR:
        """Rates averaged over cubes that hold `mass` (in kg) of tissue, on voxels with the side `voxel` (in m).

        The field is evaluated at the midpoints of the voxels, at eight points where tissues meet; tissue is what has a
        density. See `calderon.data.sar` for the rules of IEC/IEEE 62704-1 and what differs. Errors: ValueError
        where there is too little tissue, MemoryError.
        """
        mesh, medium = self._mesh, self._domain.medium
        mass, voxel = positive_length(mass, "mass"), positive_length(voxel, "voxel")
        # the grid, densities, and the field by element
        corner, shape = voxel_midpoints(tissue_corners(mesh, self.densities), voxel)
        rho = np.nan_to_num(self._density())
        field, search = self._domain.element_blocks.vectors(self._electric), Search(mesh)
        interpolation = self._domain.element_blocks.reference.interpolation

        def sample(points: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            """Density and power density at points, zero where there is no tissue; all ranks call it together."""
            density, power = np.zeros(len(points)), np.zeros(len(points))
            elements, local = search.find(points)
            number = np.flatnonzero((elements >= 0) & (rho[elements] > 0))
            own, here = self._domain.own_elements(elements[number])
            values = np.einsum("qn,qni->qi", interpolation(local[number]), field[own])
            density[number] = rho[elements[number]]
            power[number] = medium.loss[own] / medium.impedance / 2 * (np.abs(values) ** 2).sum(axis=1) * here
            return density, np.asarray(self._domain.communicator.total(power))

        return averaged_sar(sample, corner, shape, voxel, mass)

    def outward_power(self) -> float:
        """Power in W that leaves through the absorbing boundary: integral of Re(E x conj(H)) . n / 2.

        Together with the absorbed power it is the power fed; of a plane wave that enters through the boundary, it is
        minus the power absorbed. An independent check: neither the losses in the equations nor the feed are used.
        """
        faces, reference = self._domain.open, self._domain.element_blocks.reference
        if not faces.number:
            return float(self._domain.communicator.total(np.float64(0.0)))
        nodes = reference.face_nodes[faces.sides]
        electric, magnetic = (
            self._domain.element_blocks.vectors(field)[faces.elements[:, None], nodes]
            for field in (self._electric, self._magnetic)
        )
        # E x conj(H) . n at pairs of nodes, against the integrals of their products over the unit triangle
        crossed = np.cross(electric[:, :, None], magnetic.conj()[:, None])
        own = np.einsum("fpqi,pq,fi->", crossed, reference.face_mass, faces.double_areas, optimize=True)
        return float(self._domain.communicator.total(np.real(own)) / self._domain.medium.impedance / 2)

    def scaled(self, factor: complex) -> "PeriodicFields":
        """These fields multiplied by a factor, such as sqrt(0.25 / power fed) for a quarter of a watt."""
        factor = finite_number(factor, "the factor of fields")
        ports = {name: each.scaled(factor) for name, each in self.ports.items()}
        incident = None if self.incident_amplitude is None else factor * self.incident_amplitude
        fields = self._electric * factor, self._magnetic * factor
        return replace(self, ports=ports, incident_amplitude=incident, _electric=fields[0], _magnetic=fields[1])

    def write(self, path: str | Path) -> None:
        """VTU file: |E| (root of the mean square over the element, peak value in time), SAR and material. ValueError
        for another ending."""
        if file_path(path, "a field", "fields.vtu").suffix.lower() != ".vtu":
            raise ValueError(f"fields in tetrahedra are written to .vtu files, got {str(path)!r}")
        mesh = self._mesh
        data = {
            "|E| (V/m)": self.mean_electric(),
            "SAR (W/kg)": np.nan_to_num(self.specific_absorption_rate()),
            "material": mesh.tags,
        }
        if self._domain.communicator.rank == 0:
            with whole_file(path) as partial:
                write_grid(partial, mesh.vertices, [("tetra", mesh.tetrahedra)], {}, data)

    def _density(self) -> NDArray[np.float64]:
        """(tetrahedra,) kg/m^3, NaN where none is given."""
        rho = np.full(self._mesh.number_of_tetrahedra, np.nan)
        for name, tag in self._mesh.names.items():
            value = self.densities.get(name)
            if value is not None:
                rho[self._mesh.tags == tag] = value
        return rho

    def _mean_square(self) -> NDArray[np.float64]:
        """(tetrahedra,) mean of |E|^2 over each element in V^2/m^2."""
        mass = 6 * self._domain.element_blocks.reference.mass
        field = self._domain.element_blocks.vectors(self._electric)
        return np.real(np.einsum("nqi,qp,npi->n", field.conj(), mass, field, optimize=True))

    def _loss_density(self) -> NDArray[np.float64]:
        """(tetrahedra,) W/m^3."""
        return self._domain.medium.loss / self._domain.medium.impedance / 2 * self._mean_square()

    def _at(self, points: ArrayLike, field: NDArray[np.complexfloating]) -> NDArray[np.complex128]:
        x = one_or_more_points(points)
        return np.asarray(self._domain.values_at(self._mesh, self._domain.element_blocks.vectors(field), x))
