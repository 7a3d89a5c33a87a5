"""The sound of elastic structures in a fluid, that waves hit or forces drive, and how the structure moves."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.formulations.acoustic.fluid import Fluid
from calderon.formulations.acoustic.scattering_solution import ScatteringSolution
from calderon.formulations.elastic.material import largest_von_mises
from calderon.formulations.mirrors import lies_in, within
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
    of forces in W. input_mobility (m,): of each point force the velocity there, along it, over the force, in m/s/N,
    with all that acts; a fine mesh makes its imaginary part large. moduli (2, nt): Lame's lambda and mu in Pa of the
    tetrahedra of a body. lost_power: by the loss of the structure in W. inside: the fluid in holes, where
    interior_layers are potentials whose sum is the pressure; None where these are empty.
    """

    incident: Wave | None  # type: ignore[assignment]
    fluid: Fluid = None  # type: ignore[assignment]
    displacements: tuple[VolumeFunction, ...] = ()
    coefficients: NDArray[np.complex128] = field(default_factory=lambda: np.zeros(0, np.complex128))
    input_power: float = 0.0
    lost_power: float = 0.0
    inside: Fluid | None = None
    input_mobility: NDArray[np.complex128] = field(default_factory=lambda: np.zeros(0, np.complex128))
    moduli: NDArray[np.complex128] = field(default_factory=lambda: np.zeros((2, 0), np.complex128))

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
        """The pressure (n,) in Pa at points (n, 3) in the fluids, 0 in the structure and in empty holes."""
        x = one_or_more_points(points)
        outside, found = ~self.mesh.contains(x), np.zeros(len(x), np.complex128)
        if outside.any():
            found[outside] = self.scattered(x[outside], backend, precision)
            if self.incident is not None:
                found[outside] += self.incident(x[outside])
        if (filled := self._in_holes(x)).any():
            found[filled] = np.sum(
                [each.evaluate(x[filled], backend, precision) for each in self.interior_layers], axis=0
            )
        return within(self.half_space, x, found)

    def _in_holes(self, points: NDArray[np.float64]) -> NDArray[np.bool_]:
        """(n,) whether points (n, 3) lie in the fluid of holes."""
        if not self.interior_layers:
            return np.zeros(len(points), bool)
        walls: Any = self.interior_layers[0].density.space
        return np.asarray(walls.mesh.contains(points))

    def _has_field(self, points: NDArray[np.float64]) -> NDArray[np.bool_]:
        outside = ~self.mesh.contains(points) & lies_in(self.half_space, points)
        return np.asarray(outside | self._in_holes(points))

    @of_any_shape
    def gradient(self, points: ArrayLike, backend: str = "numba", precision: str = "double") -> NDArray[np.complex128]:
        """The gradient of the pressure (n, 3) in Pa/m at points in the fluids."""
        x = one_or_more_points(points)
        found = np.sum([layer.gradient(x, backend, precision) for layer in self.layers], axis=0)
        found = np.asarray(found if self.incident is None else found + self.incident.gradient(x))
        if (filled := self._in_holes(x)).any():
            found[filled] = np.sum(
                [each.gradient(x[filled], backend, precision) for each in self.interior_layers], axis=0
            )
        return within(self.half_space, x, found)

    @of_any_shape
    def displacement(self, points: ArrayLike) -> NDArray[np.complex128]:
        """The displacement (n, 3) in m at points (n, 3): in the body that of finite elements, in fluids
        grad p / (rho omega^2), NaN in empty holes. ValueError for a `Structure`, whose places are not known."""
        self._require_places()
        x, inertia = one_or_more_points(points), self.fluid.density * self.omega**2
        found, local = self.displacements[0].find(x)
        solid, outside = found >= 0, ~self.mesh.contains(x)
        result = np.full((len(x), 3), complex(np.nan, np.nan))
        for axis, each in enumerate(self.displacements):
            result[solid, axis] = each.values(found[solid], local[solid])
        fluid, filled = outside & ~solid, self._in_holes(x) & ~solid
        if fluid.any():
            result[fluid] = self.gradient(x[fluid]) / inertia
        if filled.any() and self.inside is not None:
            result[filled] = self.gradient(x[filled]) / (self.inside.density * self.omega**2)
        return result

    @of_any_shape
    def stress(self, points: ArrayLike) -> NDArray[np.complex128]:
        """The stress (n, 3, 3) in Pa at points (n, 3), lambda div u + 2 mu eps(u), tension positive; NaN outside of the
        body. It jumps between tetrahedra. ValueError for a `Structure`."""
        x = one_or_more_points(points)
        self._require_places()
        found, local = self.displacements[0].find(x)
        solid = found >= 0
        result = np.full((len(x), 3, 3), complex(np.nan, np.nan))
        result[solid] = self._stress_in(found[solid], local[solid])
        return result

    @of_any_shape
    def von_mises(self, points: ArrayLike) -> NDArray[np.float64]:
        """The largest von Mises stress (n,) in Pa during a period at points (n, 3); NaN outside of the body."""
        return largest_von_mises(self.stress(one_or_more_points(points)))

    @property
    def element_stress(self) -> NDArray[np.complex128]:
        """The stress (nt, 3, 3) in Pa at the centroids of the tetrahedra of `displacements`."""
        self._require_places()
        number = len(self.displacements[0].tetrahedra)
        return self._stress_in(np.arange(number), np.full((number, 3), 0.25))

    def _stress_in(self, found: NDArray[np.int64], local: NDArray[np.float64]) -> NDArray[np.complex128]:
        """Stresses (n, 3, 3) at reference coordinates (n, 3) of tetrahedra (n,)."""
        gradient = np.stack([each.gradients(found, local) for each in self.displacements], axis=1)
        lame, shear = self.moduli[:, found][:, :, None, None]
        strain = (gradient + np.swapaxes(gradient, 1, 2)) / 2
        return np.asarray(lame * np.trace(strain, axis1=1, axis2=2)[:, None, None] * np.eye(3) + 2 * shear * strain)

    def _require_places(self) -> None:
        if not self.displacements:
            raise ValueError("a Structure has no places: take solution.coefficients with its own shapes")

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the tetrahedra for ParaView (.vtu): displacement in m, vectors at the nodes, and of each tetrahedron
        the largest von Mises stress in Pa; `surface.write` writes the pressure on the wet surface. ValueError for a
        `Structure`."""
        self._require_places()
        stress = {"von Mises stress [Pa]": largest_von_mises(self.element_stress)}
        write_together(path, self.displacements, "displacement", stress)

    def _require_consistent(self) -> None:
        super()._require_consistent()
        if self.displacements and np.shape(self.moduli) != (2, len(self.displacements[0].tetrahedra)):
            raise ValueError(f"moduli of the shape {np.shape(self.moduli)} for another number of tetrahedra")

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
