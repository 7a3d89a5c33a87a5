"""The sound of elastic structures in a fluid, that waves hit or forces drive, and how the structure moves."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.formulations.acoustic.fluid import Fluid
from calderon.formulations.acoustic.scattering_solution import ScatteringSolution
from calderon.spaces import Function
from calderon.spaces.volume_function import VolumeFunction, write_together
from calderon.validation import of_any_shape, one_or_more_points
from calderon.waves import Wave


@dataclass(frozen=True, eq=False)
class ElasticScatteringSolution(ScatteringSolution):
    """The pressure p_inc + p_s around an elastic structure, and its displacements.

    As `ScatteringSolution`, without incident wave where forces alone act: incident is None. surface: the pressure in Pa
    on the wet surface; derivative: dp/dn = rho omega^2 n . u there in Pa/m. fluid: around the structure. displacements:
    of a body, along x, y and z in m; coefficients: of a `Structure`, the amplitudes (n,) of its unknowns. input_power:
    of forces in W. lost_power: by the loss of the structure in W.
    """

    incident: Wave | None  # type: ignore[assignment]
    fluid: Fluid = None  # type: ignore[assignment]
    displacements: tuple[VolumeFunction, ...] = ()
    coefficients: NDArray[np.complex128] = field(default_factory=lambda: np.zeros(0, np.complex128))
    input_power: float = 0.0
    lost_power: float = 0.0

    saved_classes: ClassVar[Sequence[type]] = (*ScatteringSolution.saved_classes, Fluid, VolumeFunction)

    @property
    def omega(self) -> float:
        """The angular frequency in 1/s."""
        return self.fluid.angular_frequency(self.wavenumber)

    @property
    def normal_displacement(self) -> Function:
        """n . u in m on the wet surface."""
        assert self.derivative is not None
        inertia = self.fluid.density * self.omega**2
        return Function(self.derivative.space, self.derivative.coefficients / inertia, "normal displacement", "m")

    @of_any_shape
    def field(self, points: ArrayLike, backend: str = "numba", precision: str = "double") -> NDArray[np.complex128]:
        """The pressure (n,) in Pa at points (n, 3) in the fluid, 0 in the structure and within it."""
        x = one_or_more_points(points)
        outside, found = ~self.mesh.contains(x), np.zeros(len(x), np.complex128)
        if outside.any():
            found[outside] = self.scattered(x[outside], backend, precision)
            if self.incident is not None:
                found[outside] += self.incident(x[outside])
        return found

    @of_any_shape
    def gradient(self, points: ArrayLike, backend: str = "numba", precision: str = "double") -> NDArray[np.complex128]:
        """The gradient of the pressure (n, 3) in Pa/m at points in the fluid."""
        x = one_or_more_points(points)
        found = np.sum([layer.gradient(x, backend, precision) for layer in self.layers], axis=0)
        return np.asarray(found if self.incident is None else found + self.incident.gradient(x))

    @of_any_shape
    def displacement(self, points: ArrayLike) -> NDArray[np.complex128]:
        """The displacement (n, 3) in m at points (n, 3): in the body that of finite elements, in the fluid
        grad p / (rho omega^2), NaN in empty holes. ValueError for a `Structure`, whose places are not known."""
        if not self.displacements:
            raise ValueError("a Structure has no places: take solution.coefficients with its own shapes")
        x, inertia = one_or_more_points(points), self.fluid.density * self.omega**2
        found, local = self.displacements[0].find(x)
        solid, outside = found >= 0, ~self.mesh.contains(x)
        result = np.full((len(x), 3), complex(np.nan, np.nan))
        for axis, each in enumerate(self.displacements):
            result[solid, axis] = each.values(found[solid], local[solid])
        fluid = outside & ~solid
        if fluid.any():
            result[fluid] = self.gradient(x[fluid]) / inertia
        return result

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the tetrahedra and their displacement in m for ParaView (.vtu), vectors at the nodes; `surface.write`
        writes the pressure on the wet surface. ValueError for a `Structure`."""
        if not self.displacements:
            raise ValueError("a Structure has no places: write solution.coefficients with its own shapes")
        write_together(path, self.displacements, "displacement")

    @property
    def incident_amplitude(self) -> float:
        """|p_inc| at the origin of coordinates, in Pa; ValueError where forces alone act."""
        if self.incident is None:
            raise ValueError("forces drive this structure, and no wave comes in: see far_field and radiated_power")
        return super().incident_amplitude

    def radiated_power(self, density: float | None = None, speed_of_sound: float | None = None) -> float:
        """Time-averaged power int |F|^2 / (2 rho c) in W that goes away, without that of the wave; by default in the
        fluid of the problem."""
        rho, c = self.fluid.density, self.fluid.speed_of_sound
        return super().radiated_power(density or rho, speed_of_sound or c)

    @property
    def brief(self) -> str:
        """The solution as a record: what was solved, and how well."""
        return f"{self.incident or 'forces'}; {self.info.brief}"

    def __str__(self) -> str:
        cause = "forces on it" if self.incident is None else str(self.incident)
        return (
            f"sound of a structure by {cause}: {self.surface.label} [{self.surface.unit}] on the surface\n{self.info}"
        )
