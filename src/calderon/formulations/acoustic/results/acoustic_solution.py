"""The sound of bodies that vibrate, or in a room: fields, levels, powers, impedances and directivities."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.data import LabelledArrays, Quantity
from calderon.data.far_fields import Directions, decibels
from calderon.data.samples import SampledField
from calderon.formulations.acoustic.fluid import Fluid
from calderon.formulations.acoustic.results.beamwidth import beamwidth
from calderon.formulations.checks import wave_attributes, wavenumber_and_frequency
from calderon.formulations.mirrors import HALF_SPACES, lies_in, within
from calderon.formulations.saving.solution_file import SavedSolution
from calderon.formulations.solution_info import SolutionInfo
from calderon.greens import Helmholtz
from calderon.mesh import TriangleMesh
from calderon.mesh.errors import warn_of_accuracy
from calderon.potentials import Potential
from calderon.quadrature.sphere import far_field_square
from calderon.spaces import Function
from calderon.spaces.space import Tags, supported_triangles
from calderon.validation import of_any_shape, one_of, one_or_more_points, positive_length, unit_vector
from calderon.view import Described, Scene, Viewable
from calderon.waves import Multipole, PlaneWave, PointSource, Superposition, Wave

REACTIVE = 1e-2
"""Real over imaginary part of the power at the surface below which far field and absorption give the power: errors of
the surface integral, which are some 1e-3 of its size, would be a tenth of it."""
CANCELS = 1e-2
"""Net flow through walls, over that in and out, below which it may be what facets leave over: with ten edges about a
body the angle between them is 0.6, and a facet's area less than that of the body by up to a hundredth."""


@dataclass(frozen=True, eq=False)
class AcousticSolution(SampledField, SavedSolution, Viewable, Described):
    """The sound pressure on one side of a surface; amplitudes are peak values, levels of root mean squares.

    fluid: rho and c. wavenumber: k in 1/m. side: "exterior" or "interior". info: the record of the solver. surface: the
    pressure in Pa on the surface. layers: potentials whose sum is the field without that of the sources. moving: dp/dnu
    in Pa/m by the velocity of walls, nu the normal into the fluid; yielding: by their impedance; released: where the
    pressure is given; None without such walls. sources: the waves of sources in the fluid, None without. frequency: in
    Hz. half_space: "+z" where the fluid ends at the plane z = 0 that reflects and lies above it, "-z" where it lies
    below, and so on; "" without a plane. surface and layers have the images of the body, sources their reflections, and
    powers are those on this side of the plane. is_baffle: whether the surface is a part of the plane.

    backend and precision of fields: where and how precisely potentials are computed, as for `Potential.evaluate`.
    """

    fluid: Fluid
    wavenumber: complex
    side: str
    info: SolutionInfo
    surface: Function
    layers: tuple[Potential, ...]
    moving: Function | None
    yielding: Function | None
    released: Function | None
    sources: Wave | None
    frequency: float
    half_space: str = ""
    is_baffle: bool = False

    saved_classes: ClassVar[Sequence[type]] = (
        PlaneWave, PointSource, Multipole, Superposition, Helmholtz, Potential, Fluid,
    )  # fmt: skip

    @property
    def mesh(self) -> TriangleMesh:
        """The surface."""
        return self.surface.space.mesh

    @of_any_shape
    def field(self, points: ArrayLike, backend: str = "numba", precision: str = "double") -> NDArray[np.complex128]:
        """The pressure (n,) in Pa at points (n, 3) in the fluid; 0 on the other side of the surface
        and beyond the plane of a half space."""
        x = one_or_more_points(points)
        found = np.sum([layer.evaluate(x, backend, precision) for layer in self.layers], axis=0)
        return within(self.half_space, x, np.asarray(found if self.sources is None else found + self.sources(x)))

    @of_any_shape
    def gradient(self, points: ArrayLike, backend: str = "numba", precision: str = "double") -> NDArray[np.complex128]:
        """The gradient of the pressure (n, 3) in Pa/m at points (n, 3) in the fluid."""
        x = one_or_more_points(points)
        found = np.sum([layer.gradient(x, backend, precision) for layer in self.layers], axis=0)
        found = np.asarray(found if self.sources is None else found + self.sources.gradient(x))
        return within(self.half_space, x, found)

    @of_any_shape
    def velocity(self, points: ArrayLike, backend: str = "numba", precision: str = "double") -> NDArray[np.complex128]:
        """The velocity of the fluid (n, 3) in m/s at points (n, 3), grad p / (i omega rho)."""
        return np.asarray(self.gradient(points, backend, precision) / self._inertia)

    @of_any_shape
    def intensity(self, points: ArrayLike, backend: str = "numba", precision: str = "double") -> NDArray[np.float64]:
        """The time-averaged flow of energy (n, 3) in W/m^2 at points (n, 3), Re(p conj(v)) / 2."""
        pressure = np.asarray(self.field(points, backend, precision))
        return np.asarray(np.real(pressure[:, None] * self.velocity(points, backend, precision).conj()) / 2)

    @of_any_shape
    def spl(self, points: ArrayLike, backend: str = "numba", precision: str = "double") -> NDArray[np.float64]:
        """The sound pressure level (n,) at points (n, 3): 20 log10 of |p| / sqrt(2) in dB re 20 uPa in gases, 1 uPa in
        liquids (`fluid.reference_pressure`)."""
        square = np.abs(self.field(points, backend, precision)) ** 2 / 2
        return decibels(square / self.fluid.reference_pressure**2)

    def transfer(self, tag: Any, points: ArrayLike) -> NDArray[np.complex128]:
        """The pressure (n,) in Pa s/m at points (n, 3) over the velocity of the walls with a tag (number or name), its
        mean along nu over their area. ValueError where other walls or sources sound, too, or that mean is 0: then
        `AcousticProblem.transfer_vectors` gives the parts of the pressure."""
        triangles = supported_triangles(self.mesh, tag)
        mean, square = self._mean_velocity(triangles), self._mean_square(triangles)
        others = self._mean_square(np.setdiff1d(np.arange(len(self.mesh.triangles)), triangles))
        if others > 0 or self.sources is not None or self.released is not None:
            raise ValueError(
                f"the walls with the tag {tag!r} do not sound alone: "
                f"problem.transfer_vectors(points).transfer({tag!r}) is the pressure that they alone cause"
            )
        area = self._share * self.mesh.areas[triangles].sum()
        if abs(mean) ** 2 * area < 1e-12 * square or not square > 0:
            raise ValueError(
                f"the walls with the tag {tag!r} have no mean velocity along their normals: a transfer is over that "
                "velocity; problem.transfer_vectors(points) takes any"
            )
        return np.asarray(self.field(points) / mean)

    def far_field(
        self, theta: ArrayLike, phi: ArrayLike | None = None, *, backend: str = "numba", precision: str = "double"
    ) -> NDArray[Any]:
        """F (...) in Pa m, without that of sources: p ~ F exp(ikr) / r about the origin of coordinates. Directions as
        for `exact.unit_directions`. ValueError inside of a surface."""
        self._require_outside("a far field")
        return np.sum(
            [layer.far_field(theta, phi, backend=backend, precision=precision) for layer in self.layers], axis=0
        )

    def directivity(self, theta: ArrayLike, phi: ArrayLike | None = None) -> NDArray[np.float64]:
        """Intensity far away over its mean in all directions (...), 4 pi |F|^2 / int |F|^2, without unit; directions as
        for `far_field`."""
        return np.asarray(4 * np.pi * np.abs(self.far_field(theta, phi)) ** 2 / self._far_square)

    def beamwidth(self, direction: ArrayLike, toward: ArrayLike, drop: float = 3.0) -> float:
        """The angle in rad about a direction (3,), in the plane of it and of `toward` (3,), up to the nearest
        directions on both sides whose level is `drop` dB lower. A side on which it does not fall as far counts pi, or
        up to the plane of a half space."""
        corners = self.mesh.vertices[self.mesh.used_vertices]
        size = abs(self.wavenumber) * float(np.ptp(corners, axis=0).max())
        return beamwidth(self.directivity, direction, toward, drop, size, self.half_space)

    def directivity_index(self, direction: ArrayLike) -> float:
        """10 log10 of the directivity in one direction (3,), in dB."""
        return float(decibels(self.directivity(unit_vector(direction)[None]))[0])

    def far_field_data(self, theta: ArrayLike, phi: ArrayLike | None = None) -> Any:
        """The far field as an `xarray.Dataset`; see `far_field_arrays`."""
        return self.far_field_arrays(theta, phi).to_xarray()

    def far_field_arrays(self, theta: ArrayLike, phi: ArrayLike | None = None) -> LabelledArrays:
        """The far field as `data.LabelledArrays`: `amplitude` in Pa m, `phase` in rad and `directivity` in dB, by theta
        and phi in radians (1-D arrays, all pairs), or by vectors (n, 3)."""
        toward = Directions.of(theta, phi)
        far = toward.evaluated(self.far_field)
        level = decibels(4 * np.pi * np.abs(far) ** 2 / self._far_square)
        found = [
            Quantity("amplitude", far, "Pa m", "far field"),
            Quantity("phase", np.angle(far), "rad", "phase of the far field"),
            Quantity("directivity", level, "dB", "directivity"),
        ]
        return toward.labelled(found, self._attributes)

    @cached_property
    def complex_power(self) -> complex:
        """1/2 int p conj(v) in W over moving walls, v their velocity along nu, and over those where the pressure is
        given, v that of the fluid. The real part is given to the fluid, the imaginary part goes back and forth."""
        return 0.5 * sum((self._work(each) for each in (self.moving, self.released) if each is not None), 0j)

    @cached_property
    def sound_power(self) -> float:
        """The time-averaged power in W that moving walls, and those where the pressure is given, give to the fluid: the
        real part of `complex_power`, an integral over these walls, in a room as outside.

        Where that is below a hundredth of the imaginary part, as for bodies much smaller than the wavelength, or has
        not the sign of what a room absorbs, where that is next to nothing, the power without other sources and loss is
        what is absorbed, outside with that of the far field. AccuracyWarning where that is of the little flow that
        velocities of both signs leave over. `power_error` compares the integral with what becomes of the power.
        """
        if not self._is_reactive:
            return self.complex_power.real
        away = self._radiated_alone if self.side == "exterior" else 0.0
        return self.absorbed_power() + away

    @property
    def _is_reactive(self) -> bool:
        """Whether the power at walls is too small a part of what goes back and forth, and where it goes tells it."""
        found = self.complex_power
        lost = self.side == "interior" and self._is_balanced and found.real * self.absorbed_power() <= 0
        return lost or (self._is_balanced and abs(found.real) < REACTIVE * abs(found.imag))

    @property
    def _radiated_alone(self) -> float:
        """The power of the far field in W, with a warning where it is of a flow that nearly cancels."""
        if self.moving is None or self.is_baffle:
            return self.radiated_power
        over: Any = self.moving.space
        flows = over.load_vector(1.0) * self.moving.coefficients / abs(self._inertia)
        net, total = abs(flows.sum()), float(np.abs(flows).sum())
        monopole = self._whole_share * self.fluid.impedance * abs(self.wavenumber) ** 2 * net**2 / (8 * np.pi)
        if monopole > 0.1 * self.radiated_power and net < CANCELS * total:
            warn_of_accuracy(
                f"the sound power is mostly that of a net flow of {net:.2g} m^3/s, and walls move {total:.2g} m^3/s in "
                "and out: triangles may leave such a difference over; refine the mesh, or take the mean off the "
                "velocity where nothing is pumped"
            )
        return self.radiated_power

    @property
    def sound_power_level(self) -> float:
        """10 log10 of the sound power in dB re 1 pW."""
        return float(decibels(np.array(max(self.sound_power, 0.0) / 1e-12)))

    @cached_property
    def radiated_power(self) -> float:
        """The time-averaged power in W that goes away, int |F|^2 / (2 rho c), without that of sources; ValueError
        inside, and for fluids with loss."""
        return self._far_square / (2 * self.fluid.impedance)

    @property
    def power_error(self) -> float:
        """The difference of the power by the surface, less what walls absorb, and that by the far field, over the
        latter; in a room that of the power that walls give and that they absorb, over the latter: an estimate of the
        error of both, without other sources and loss."""
        absorbed, given = self.absorbed_power(), self.complex_power.real
        given, taken = (given, absorbed) if self.side == "interior" else (given - absorbed, self.radiated_power)
        return abs(given - taken) / max(taken, np.finfo(float).tiny)

    def absorbed_power(self, tags: Tags = None) -> float:
        """The time-averaged power in W that walls with an impedance absorb, 1/2 int |p|^2 Re(1/Z), all or those with
        these tags (numbers or names)."""
        triangles = supported_triangles(self.mesh, tags)
        return 0.0 if self.yielding is None else -0.5 * self._work(self.yielding, triangles).real

    def radiation_impedance(self, tags: Tags = None) -> complex:
        """int p conj(v) / int |v|^2 in Pa s/m over the moving walls with these tags (numbers or names), all by default,
        v their velocity along nu; over rho c it has no unit. ValueError where they do not move."""
        triangles = supported_triangles(self.mesh, tags)
        square = self._mean_square(triangles)
        if not square > 0 or self.moving is None:
            raise ValueError(f"walls with the tags {tags!r} do not move: a radiation impedance needs a Velocity there")
        return self._work(self.moving, triangles) / square

    @property
    def radiation_efficiency(self) -> float:
        """The sound power over that of plane waves of the same velocities, 1/2 rho c int |v|^2."""
        square = self._mean_square(supported_triangles(self.mesh, None))
        if not square > 0:
            raise ValueError("a radiation efficiency needs walls with a Velocity that is not 0")
        return self.sound_power / (0.5 * self.fluid.impedance * square)

    @property
    def figures(self) -> tuple[Quantity, ...]:
        """Powers as numbers with units, which a sweep collects by frequency; with walls that do not give any, none."""
        if self.moving is None and self.released is None:
            return ()
        found = {
            "sound_power": (self.sound_power, "W"),
            "sound_power_level": (self.sound_power_level, "dB re 1 pW"),
            "absorbed_power": (self.absorbed_power(), "W"),
        }
        if self._radiates_alone:
            found |= {"radiated_power": (self.radiated_power, "W"), "power_error": (self.power_error, "1")}
        elif self._is_balanced and self.yielding is not None:
            found |= {"power_error": (self.power_error, "1")}
        return tuple(
            Quantity(name, np.asarray(value), unit, name.replace("_", " ")) for name, (value, unit) in found.items()
        )

    def arrays(self) -> LabelledArrays:
        """`figures` as `data.LabelledArrays`, which have to_xarray(), to_pandas() and write_csv(path)."""
        return LabelledArrays((), self.figures, attributes=self._attributes)

    def to_xarray(self) -> Any:
        """`arrays` as an `xarray.Dataset`."""
        return self.arrays().to_xarray()

    @property
    def _inertia(self) -> complex:
        """i omega rho."""
        return 1j * self.fluid.angular_frequency(self.wavenumber) * self.fluid.density

    @property
    def _is_balanced(self) -> bool:
        """Whether all power comes from walls, and goes away or into walls."""
        return self.sources is None and np.imag(self.wavenumber) == 0

    @property
    def _radiates_alone(self) -> bool:
        """Whether all power comes from walls, and goes away or into walls, outside."""
        return self.side == "exterior" and self._is_balanced

    @cached_property
    def _far_square(self) -> float:
        """int |F|^2 over all directions, with a plane those on this side of it."""
        self._require_outside("the power of a far field")
        if np.imag(self.wavenumber) != 0:
            raise ValueError("the power of a far field needs a fluid without loss (a real wavenumber)")
        corners = self.mesh.vertices[self.mesh.used_vertices]
        return self._whole_share * far_field_square(self.far_field, corners, self.wavenumber)

    @property
    def _whole_share(self) -> float:
        """The part of all directions that is no image in a plane that reflects."""
        return 0.5 if self.half_space else 1.0

    @property
    def _share(self) -> float:
        """The part of the surface that is no image in a plane that reflects."""
        return 0.5 if self.half_space and not self.is_baffle else 1.0

    def _work(self, slope: Function, triangles: NDArray[np.int64] | None = None) -> complex:
        """int p conj(v) in W, v = slope / (i omega rho), over all triangles or some."""
        over = slope if triangles is None else _restricted(slope, triangles)
        pressures: Any = self.surface.space
        mass = pressures.mass_matrix(over.space)
        product = over.coefficients.conj() @ (mass @ self.surface.coefficients)
        return complex(self._share * product / np.conj(self._inertia))

    def _mean_velocity(self, triangles: NDArray[np.int64]) -> complex:
        """The mean of v in m/s over triangles, 0 where they do not move."""
        if self.moving is None:
            return 0j
        if self._share < 1:  # images in a plane that gives way move against the part
            triangles = triangles[triangles < len(self.mesh.triangles) // 2]
        over = _restricted(self.moving, triangles)
        flow = over.space.load_vector(1.0) @ over.coefficients / self._inertia
        return complex(flow / self.mesh.areas[triangles].sum())

    def _mean_square(self, triangles: NDArray[np.int64]) -> float:
        """int |v|^2 in m^4/s^2 over moving walls among some triangles."""
        if self.moving is None:
            return 0.0
        over = _restricted(self.moving, triangles)
        square = over.coefficients.conj() @ (over.space.mass_matrix() @ over.coefficients)
        return float(self._share * square.real / abs(self._inertia) ** 2)

    def _require_outside(self, what: str) -> None:
        if self.side != "exterior":
            raise ValueError(f"{what} is one of problems with side='exterior': inside there is .field(points)")

    def _has_field(self, points: NDArray[np.float64]) -> NDArray[np.bool_]:
        found = self.is_baffle or self.mesh.contains(points) == (self.side == "interior")
        return np.asarray(found & lies_in(self.half_space, points))

    def _fields_at(self, points: NDArray[np.float64]) -> list[Quantity]:
        return [Quantity("pressure", self.field(points), "Pa", "pressure")]

    @property
    def _attributes(self) -> dict[str, Any]:
        return wave_attributes(self.wavenumber, self.frequency)

    def _require_consistent(self) -> None:
        one_of(self.side, ("exterior", "interior"), "side")
        one_of(self.half_space, HALF_SPACES, "half_space")
        positive_length(self.frequency, "frequency")
        wavenumber_and_frequency(self.wavenumber, None, None)

    def scene(self) -> Scene:
        """The pressure on the surface."""
        return replace(self.surface.scene(), subtitle=f"sound at {self.frequency:.4g} Hz")

    @property
    def brief(self) -> str:
        """The solution as a record: what was solved, and how well."""
        return f"sound at {self.frequency:.4g} Hz, {self.info.brief}"

    def __str__(self) -> str:
        lines = [f"{self.side} sound at {self.frequency:.6g} Hz", str(self.info)]
        if self.side == "interior" and self.info.condition is not None:
            lines.append(f"condition number of the equation {self.info.condition:.1e}, large near resonances")
        if self.moving is not None or self.released is not None:
            lines.append(f"sound power {self.sound_power:.4g} W, {self.sound_power_level:.1f} dB re 1 pW")
            if self._is_reactive and self.complex_power.imag:
                part = abs(self.complex_power.real / self.complex_power.imag)
                by = "far field and absorption" if self.side == "exterior" else "absorption"
                lines.append(f"by {by}: at the surface it is {part:.1e} of what goes back and forth")
            elif self._radiates_alone:
                lines.append(f"powers by surface and by far field differ by {self.power_error:.1e}")
            elif self._is_balanced:
                lines.append(f"powers that walls give and that they absorb differ by {self.power_error:.1e}")
        return "\n".join(lines)


def _restricted(function: Function, triangles: NDArray[np.int64]) -> Function:
    """The function on some triangles, 0 on others."""
    space: Any = function.space
    own = np.isin(space.triangles, triangles)
    return replace(function, space=replace(space, triangles=space.triangles[own], dofs=space.dofs[own]))
