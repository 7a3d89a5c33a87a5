"""The solution of a scattering problem: fields anywhere, far fields, target strength, power."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.data import LabelledArrays, Quantity
from calderon.data.far_fields import Directions
from calderon.data.samples import SampledField
from calderon.formulations.checks import reference_amplitude, wave_attributes, wavenumber_and_frequency
from calderon.formulations.mirrors import HALF_SPACES, lies_in, within
from calderon.formulations.saving.solution_file import SavedSolution
from calderon.formulations.solution_info import SolutionInfo
from calderon.greens import Helmholtz
from calderon.mesh import TriangleMesh
from calderon.mesh.errors import warn_of_accuracy
from calderon.potentials import Potential
from calderon.quadrature.sphere import far_field_square
from calderon.spaces import Function
from calderon.validation import of_any_shape, one_of, one_or_more_points, positive_length
from calderon.view import Described, Scene, Viewable
from calderon.waves import Multipole, PlaneWave, PointSource, Superposition, Wave


@dataclass(frozen=True, eq=False)
class ScatteringSolution(SampledField, SavedSolution, Viewable, Described):
    """The field u_inc + u_s of an incident wave and a body.

    incident: the wave. wavenumber: of the problem. info: the record of the solver.
    surface: what was solved for, a Function with label and unit: the total pressure in Pa (for a sound-soft body its
    normal derivative in Pa/m).
    layers: potentials whose sum is the scattered field outside. interior_layers: those of the field inside a penetrable
    body, () otherwise.
    derivative: du/dn on the outside of a penetrable or impedance surface, else None. frequency: in Hz, None where the
    problem has a wavenumber alone. rigid: tags of the rigid bodies next to penetrable ones. half_space: "+z" where the
    fluid ends at the plane z = 0 that reflects and lies above it, "-z" where it lies below, and so on; "" without a
    plane. Then surface and layers have the image of the body, the incident wave its reflection, and powers are those on
    this side of the plane.

    backend and precision of fields: where and how precisely potentials are computed, as for `Potential.evaluate`.
    """

    incident: Wave
    wavenumber: complex
    info: SolutionInfo
    surface: Function
    layers: tuple[Potential, ...]
    interior_layers: tuple[Potential, ...] = ()
    derivative: Function | None = None
    frequency: float | None = None
    rigid: tuple[int, ...] = ()
    half_space: str = ""

    saved_classes: ClassVar[Sequence[type]] = (PlaneWave, PointSource, Multipole, Superposition, Helmholtz, Potential)

    @property
    def mesh(self) -> TriangleMesh:
        """The surface of the body."""
        return self.surface.space.mesh

    @of_any_shape
    def scattered(self, points: ArrayLike, backend: str = "numba", precision: str = "double") -> NDArray[Any]:
        """u_s (n,) in Pa at points (n, 3) outside. Inside an impenetrable body it is -u_inc, beyond the plane of a half
        space 0."""
        x = one_or_more_points(points)
        found = np.sum([layer.evaluate(x, backend, precision) for layer in self.layers], axis=0)
        return within(self.half_space, x, found)

    @of_any_shape
    def field(self, points: ArrayLike, backend: str = "numba", precision: str = "double") -> NDArray[np.complex128]:
        """The total pressure (n,) in Pa at points (n, 3): inside a penetrable body the field there, in others 0, and
        beyond the plane of a half space 0."""
        x = one_or_more_points(points)
        if not self.interior_layers:
            return within(self.half_space, x, self.incident(x) + self.scattered(x, backend, precision))
        inside = self.mesh.contains(x)
        values = np.empty(len(x), np.complex128)
        if inside.any():
            values[inside] = np.sum([u.evaluate(x[inside], backend, precision) for u in self.interior_layers], axis=0)
        if not inside.all():
            values[~inside] = self.incident(x[~inside]) + self.scattered(x[~inside], backend, precision)
        return within(self.half_space, x, values)

    @of_any_shape
    def gradient(self, points: ArrayLike, backend: str = "numba", precision: str = "double") -> NDArray[np.complex128]:
        """The gradient of the total pressure (n, 3) in Pa/m at points outside; velocity = gradient / (i omega rho)."""
        x = one_or_more_points(points)
        scattered = np.sum([layer.gradient(x, backend, precision) for layer in self.layers], axis=0)
        return within(self.half_space, x, self.incident.gradient(x) + scattered)

    def far_field(
        self, theta: ArrayLike, phi: ArrayLike | None = None, *, backend: str = "numba", precision: str = "double"
    ) -> NDArray[Any]:
        """F (...) in Pa m: u_s ~ F exp(ikr) / r about the origin of coordinates.

        theta, phi: angles in radians, broadcast; or, without phi, vectors (n, 3). See `exact.unit_directions`.
        """
        return np.sum(
            [layer.far_field(theta, phi, backend=backend, precision=precision) for layer in self.layers], axis=0
        )

    def target_strength(self, theta: ArrayLike, phi: ArrayLike | None = None) -> NDArray[np.float64]:
        """20 log10 (|F| / |p_i|) in dB re 1 m (...), p_i the incident pressure at the origin of coordinates; directions
        as for `far_field`."""
        with np.errstate(divide="ignore"):
            return 20 * np.log10(np.abs(self.far_field(theta, phi)) / self.incident_amplitude)

    def far_field_data(self, theta: ArrayLike, phi: ArrayLike | None = None) -> Any:
        """The far field as an `xarray.Dataset` (see `far_field_arrays`): `amplitude` in Pa m, `phase` in rad and
        `target_strength` in dB re 1 m, by theta and phi in radians (1-D arrays, all pairs), or by vectors (n, 3)."""
        return self.far_field_arrays(theta, phi).to_xarray()

    def far_field_arrays(self, theta: ArrayLike, phi: ArrayLike | None = None) -> LabelledArrays:
        """The far field as `data.LabelledArrays`, which have to_xarray(), to_pandas() and write_csv(path)."""
        toward = Directions.of(theta, phi)
        far = toward.evaluated(self.far_field)
        with np.errstate(divide="ignore"):
            strength = 20 * np.log10(np.abs(far) / self.incident_amplitude)
        found = [
            Quantity("amplitude", far, "Pa m", "far field"),
            Quantity("phase", np.angle(far), "rad", "phase of the far field"),
            Quantity("target_strength", strength, "dB re 1 m", "target strength"),
        ]
        return toward.labelled(found, self._attributes)

    def _has_field(self, points: NDArray[np.float64]) -> NDArray[np.bool_]:
        if not self.interior_layers:
            return np.asarray(~self.mesh.contains(points) & lies_in(self.half_space, points))
        if not self.rigid:
            return lies_in(self.half_space, points)
        return np.asarray(~self.mesh.restricted(self.rigid).contains(points) & lies_in(self.half_space, points))

    def _fields_at(self, points: NDArray[np.float64]) -> list[Quantity]:
        return [Quantity("pressure", self.field(points), "Pa", "pressure")]

    @property
    def _attributes(self) -> dict[str, Any]:
        return wave_attributes(self.wavenumber, self.frequency)

    def _require_consistent(self) -> None:
        wavenumber_and_frequency(self.wavenumber, None, None)
        if self.frequency is not None:
            positive_length(self.frequency, "frequency")
        one_of(self.half_space, HALF_SPACES, "half_space")
        if self.rigid:
            self.mesh.tag_numbers(self.rigid)

    @property
    def incident_amplitude(self) -> float:
        """|u_inc| at the origin of coordinates, in Pa: the amplitude of a plane wave, in a half space without its
        reflection."""
        wave = self.incident
        if self.half_space and isinstance(wave, Superposition):
            wave = Superposition(wave.terms[: len(wave.terms) // 2])  # the others are reflections
        return reference_amplitude(wave(np.zeros((1, 3))), "pressure", "target strength or cross-section")

    def scattering_cross_section(self) -> float:
        """Scattered power over incident intensity, int |F|^2 / |p_i|^2, in m^2."""
        return self._far_field_square() / self.incident_amplitude**2

    def radiated_power(self, density: float, speed_of_sound: float) -> float:
        """Time-averaged scattered power int |F|^2 / (2 rho c) in W, for amplitudes in Pa (peak values), rho in kg/m^3
        and c in m/s of the fluid around.
        """
        return self._far_field_square() / _twice_impedance(density, speed_of_sound)

    def absorption_cross_section(self) -> float:
        """Absorbed power over incident intensity, in m^2, from the flux int Im(u* du/dn) / k through the surface; 0 for
        sound-hard and sound-soft bodies.
        """
        return self._absorption() / self.incident_amplitude**2

    def absorbed_power(self, density: float, speed_of_sound: float) -> float:
        """Time-averaged power into the body in W; arguments as for `radiated_power`."""
        return self._absorption() / _twice_impedance(density, speed_of_sound)

    def _far_field_square(self) -> float:
        """int |F|^2 over all directions, those on this side of a plane."""
        corners = self.mesh.vertices[self.mesh.used_vertices]
        return self._share * far_field_square(self.far_field, corners, self.wavenumber)

    @property
    def _share(self) -> float:
        """The part of surface and directions that is no image in a plane that reflects."""
        return 0.5 if self.half_space else 1.0

    def _absorption(self) -> float:
        """- int Im(u* du/dn) / k over the surface."""
        if np.imag(self.wavenumber) != 0:
            raise ValueError("absorbed power is defined here for a surrounding fluid without loss (a real wavenumber)")
        if self.derivative is None:
            return 0.0
        over: Any = self.derivative.space  # that of pressure, or one whose functions jump at the edge of rigid parts
        pressures = self.surface.space
        if over.element.degree == pressures.element.degree and over.dimension != pressures.dimension:
            warn_of_accuracy(
                "the power through walls of which a part is rigid has an error of some percent of the scattered power, "
                "since derivatives are infinite at the edge of that part: far fields tell it more exactly, by the "
                "optical theorem"
            )
        pressure = self.layers[0].density  # that of the double layer: 0 on surfaces within others
        mass = over.mass_matrix(pressure.space)
        flux = pressure.coefficients.conj() @ (mass @ self.derivative.coefficients)
        return float(-self._share * flux.imag / np.real(self.wavenumber))

    def scene(self) -> Scene:
        """The unknown of the equation, on the surface."""
        return replace(self.surface.scene(), subtitle=f"field of {self.incident}")

    @property
    def brief(self) -> str:
        """The solution as a record: what was solved, and how well."""
        return f"{self.incident}; {self.info.brief}"

    def __str__(self) -> str:
        return f"field of {self.incident}: {self.surface.label} [{self.surface.unit}] on the surface\n{self.info}"


def _twice_impedance(density: float, speed_of_sound: float) -> float:
    return 2 * positive_length(density, "density") * positive_length(speed_of_sound, "speed_of_sound")
