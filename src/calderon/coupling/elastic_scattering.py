"""Elastic bodies and structures in a fluid, by finite elements inside and boundary elements outside."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.coupling.elastic.elastic_volumes import ElasticVolume
from calderon.coupling.elastic.filled_holes import FilledHoles
from calderon.coupling.elastic.modal_preconditioner import modal_preconditioner
from calderon.coupling.elastic.response import Response
from calderon.coupling.elastic.structure_modes import StructureMode, WetStructure, shape
from calderon.coupling.elastic.structures import Structure
from calderon.coupling.elastic.thin_walls import check_walls
from calderon.coupling.elimination import EliminatedSystem
from calderon.exact.angular import unit_directions
from calderon.formulations.acoustic.fluid import Fluid, wave_constants
from calderon.formulations.acoustic.results.elastic_scattering_solution import ElasticScatteringSolution
from calderon.formulations.acoustic.scattering import ROOT_ERROR, hard_on_a_plane, usual_coupling
from calderon.formulations.acoustic.sound_equation import of_slopes, of_values
from calderon.formulations.checks import (
    closed_surface,
    elements_per_wavelength,
    incident_wave,
    resolution,
    sources_on_side,
    warn_coarse,
)
from calderon.formulations.elastic.material import ElasticMaterial
from calderon.formulations.linear_system import block_diagonal
from calderon.formulations.mirrors import MirroredSurface, Mirrors
from calderon.formulations.monostatic import monostatic_sweep
from calderon.formulations.options import SolveChoices, SolveOptions, named_options
from calderon.formulations.problem import Problem
from calderon.formulations.solution_info import SolutionInfo
from calderon.formulations.sweep import Sweep, sweep_of
from calderon.greens import Helmholtz
from calderon.mesh import TriangleMesh
from calderon.mesh.errors import warn_of_accuracy
from calderon.onsurface import osrc_dtn
from calderon.operators import BoundaryOperator, blocks
from calderon.operators.blocks import transformed
from calderon.potentials import double_layer_potential, single_layer_potential
from calderon.spaces import DP2, P2, Function, Loads, Space
from calderon.spaces.mirror_images import MirroredFunctions
from calderon.validation import finite_number, instance, unmasked
from calderon.waves import PlaneWave, Wave


@dataclass(frozen=True, eq=False)
class ElasticScattering(Problem[ElasticScatteringSolution]):
    """Time-harmonic sound, exp(-i omega t), around an elastic body that waves hit or forces drive.

    With displacements u, A = S - omega^2 M by quadratic tetrahedra, and N = <q, n . u> on the wet surface,

        A u + N' p = F,
        (I/2 - K + eta D) p + rho omega^2 (V + eta (I/2 + K')) n . u = p_inc + eta dp_inc/dn,    eta = i / Re k,

    p in P2, n . u in DP2, tested with P2: the equation of Burton and Miller, which has one solution at each frequency.
    u is eliminated by sparse factors of A; at a resonance of the body in vacuo, where A has none, p + i omega rho c n .
    u is unknown instead of p.

    volume: a `TetrahedralMesh` in m, a `MeshTet` of scikit-fem, (points, tetrahedra), or a `Structure`, which has
    matrices of its own. wavenumber: k of the fluid in 1/m, omega = c Re k; or frequency= in Hz. material:
    `ElasticMaterial` with a density, or {tag or its name: material}; None for a `Structure`. fluid: around the body.
    inside: the fluid in its holes, None where these are empty; without mirrors. loads: {tag: cal.elastic.Force(...)} of
    the boundary, or an array (n,) of forces on the unknowns of a `Structure`. point_forces: [(point (3,), force (3,) in
    N), ...] inside or on the body, complex for a phase. mirrors: planes of coordinates in which the sound is "even" or
    "odd", {"z": "even"}, or `HalfSpace("z")`: the volume is the part on one side, whose faces in mirrors are no
    boundary and move along even and across odd ones; forces have their images, and solutions are those of the whole.
    Data: an incident wave, or None, then the forces act alone.

    P. M. Morse and K. U. Ingard, Theoretical Acoustics (1968), chapter 10; A. J. Burton and
    G. F. Miller, Proc. R. Soc. Lond. A 323 (1971) 201.

        ball = cal.ElasticScattering(volume, 3.0, material=steel, fluid=water).solve(wave)
        ball.target_strength(theta, 0.0), ball.normal_displacement
    """

    volume: Any
    wavenumber: complex = None  # type: ignore[assignment]
    material: ElasticMaterial | Mapping[Any, ElasticMaterial] | None = field(default=None, kw_only=True)
    fluid: Fluid = field(default=None, kw_only=True)  # type: ignore[assignment]
    frequency: float = field(default=None, kw_only=True)  # type: ignore[assignment]
    loads: Any = field(default=None, kw_only=True)
    point_forces: Sequence[Any] = field(default=(), kw_only=True)
    mirrors: Mirrors = field(default=None, kw_only=True)
    inside: Fluid | None = field(default=None, kw_only=True)

    title: ClassVar[str] = "sound around an elastic structure"
    pair_bytes: ClassVar[int] = 6 * 16  # entries for p and for n . u, which has three times as many functions; factors

    def __post_init__(self) -> None:
        instance(self.fluid, Fluid, "a structure needs the fluid around it, fluid=cal.Fluid.water()")
        k, frequency = wave_constants(self.wavenumber, self.frequency, self.fluid)
        object.__setattr__(self, "wavenumber", k)
        object.__setattr__(self, "frequency", frequency)
        if isinstance(self.volume, Structure):
            if self.mirrors:
                raise ValueError("a Structure has no mirrors here: give the matrices of the whole")
            if self.material is not None or self.point_forces not in ((), []):
                raise ValueError(
                    "a Structure has matrices of its own: leave material= and point_forces= out, and give loads= as an "
                    "array of the forces on its unknowns"
                )
        else:
            self.__dict__["body"] = body = ElasticVolume.of(self.volume, self.material, self.mirrors)
            object.__setattr__(self, "volume", body.volume)
            check_walls(body, self.omega)
        if self.inside is not None:
            instance(self.inside, Fluid, "holes are filled by a fluid, inside=cal.Fluid.air()")
            if self.mirrors or self.holes is None:
                raise ValueError(
                    "inside= fills the holes of a body of tetrahedra without mirrors, and this one has none: leave it "
                    "out, or give the whole of a hollow body"
                )
            warn_coarse(self.holes.mesh, self.holes.wavenumber(self.omega) / 2)
        closed_surface(self.surface.whole, "ElasticScattering")
        warn_coarse(self.mesh, k / (2 if self.body is not None else self.function_space.element.degree))
        _ = self.forces

    @cached_property
    def body(self) -> ElasticVolume | None:
        """The body of tetrahedra; None for a `Structure`."""
        return (
            None if isinstance(self.volume, Structure) else ElasticVolume.of(self.volume, self.material, self.mirrors)
        )

    @cached_property
    def structure(self) -> Structure:
        """The matrices of the structure."""
        return self.volume if self.body is None else self.body.structure

    @cached_property
    def holes(self) -> FilledHoles | None:
        """The fluid in the holes of the body; None where there is none."""
        walls = None if self.inside is None or self.body is None else self.body.holes
        return None if walls is None else FilledHoles(self.body, self.inside, walls)  # type: ignore[arg-type]

    @property
    def mesh(self) -> TriangleMesh:
        """The wet surface, with mirrors the part that is given."""
        return self.surface.part

    @cached_property
    def surface(self) -> MirroredSurface:
        """The wet surface, and the whole with its images in mirrors."""
        return MirroredSurface.of(self.structure.surface, None) if self.body is None else self.body.elements.surface

    @cached_property
    def function_space(self) -> Space:
        """The space of pressures on the whole surface."""
        return self.structure.pressures if self.surface.mirrored is None else P2(self.surface.whole)

    @cached_property
    def functions(self) -> MirroredFunctions:
        """The pressures that have unknowns."""
        return self.surface.functions(self.function_space)

    @cached_property
    def _slopes(self) -> MirroredFunctions:
        """The functions of n . u, with their images."""
        space = self.structure.space if self.surface.mirrored is None else DP2(self.surface.whole)
        return self.surface.functions(space)

    @cached_property
    def forces(self) -> NDArray[Any] | None:
        """The forces (n,) on the unknowns of the structure; None without any."""
        if self.body is not None:
            return self.body.forces(self.loads, self.point_forces)
        if self.loads is None:
            return None
        given = unmasked(self.loads, "loads")
        if given.shape != (self.structure.unknowns,) or given.dtype.kind not in "fiuc" or not np.isfinite(given).all():
            raise ValueError(
                f"loads of a Structure are {self.structure.unknowns} finite numbers, the forces on its unknowns, got "
                f"{given.dtype} of the shape {given.shape}"
            )
        return given

    @property
    def eta(self) -> complex:
        """The coupling of the equation, i / Re k in m."""
        return usual_coupling(self.wavenumber)

    @property
    def omega(self) -> float:
        """The angular frequency in 1/s."""
        return self.fluid.angular_frequency(self.wavenumber)

    @property
    def green(self) -> Helmholtz:
        """The Green's function of the fluid."""
        return Helmholtz(self.wavenumber)

    def at(self, wavenumber: complex) -> Self:
        """This problem at another wavenumber, with the same matrices of the structure."""
        found = replace(self, wavenumber=wavenumber, frequency=None)  # type: ignore[arg-type]
        for name in ("body", "structure", "forces", "surface", "holes"):
            found.__dict__[name] = getattr(self, name)
        return found

    @named_options
    def sweep(self, frequencies: Iterable[float], wave: Wave | None = None, **options: Unpack[SolveChoices]) -> Sweep:
        """The problem at frequencies in Hz: a sequence of solutions with data by frequency. wave: it gets the
        wavenumbers; None for forces alone. Options as in `solve`."""
        return sweep_of(self, frequencies, wave, self.fluid.speed_of_sound, **options)

    @named_options
    def monostatic_target_strength(
        self, theta: ArrayLike, phi: ArrayLike | None = None, **options: Unpack[SolveChoices]
    ) -> NDArray[np.float64]:
        """Target strength (...) in dB re 1 m, seen by a sonar in the given directions from the body, angles or vectors
        as for `exact.unit_directions`, without the forces. Options as in `solve`."""
        toward = unit_directions(theta, phi)
        d = toward.reshape(-1, 3)
        if self.mirrors and not self.surface.half_space:
            raise ValueError("a sonar sends waves that are not even or odd in mirrors: solve for the whole")
        if np.imag(self.wavenumber) != 0:
            raise ValueError("a target strength needs a fluid without loss (a real wavenumber)")
        chosen = self._sweep_options(options)
        amplitudes, _ = monostatic_sweep(self.system, len(d), lambda part: self._echoes(d[part]), chosen, (d,), None)
        with np.errstate(divide="ignore"):
            return 20 * np.log10(np.abs(amplitudes)).reshape(toward.shape[:-1])

    def _echoes(self, directions: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Right-hand sides b and receivers l (n, m), F = l . x backward: the densities are tested with the plane wave
        from the observer, which is the incident wave."""
        waves = [PlaneWave(-d, self.wavenumber) for d in directions]
        sides = np.stack([self._tested(self.surface.with_images(wave)) for wave in waves], axis=1)
        loads, slopes = self._loads, self._slopes.space.loads()
        pressures = [loads @ wave.normal_derivative(loads.points, loads.normals) for wave in waves]
        passed = np.stack([slopes @ wave(slopes.points) for wave in waves], axis=1)
        received = [self.functions.summed(np.stack(pressures, axis=1)), self._slopes.summed(-passed)]
        if self.holes is not None:  # which no wave comes from
            received = [self._filled(each, size) for each, size in zip(received, self._in_holes, strict=True)]
        far = self.response.transposed(np.concatenate(received)) / (4 * np.pi)
        return self._filled(sides[self.functions.functions], self._in_holes[0]), far

    @property
    def _in_holes(self) -> tuple[int, int]:
        """Numbers of pressures and of n . u in holes."""
        return (0, 0) if self.holes is None else (self.holes.space.dimension, self.holes.slopes.dimension)

    @staticmethod
    def _filled(outside: NDArray[Any], size: int) -> NDArray[Any]:
        """Rows of the wet surface (n, m), and as many zeros as there are in holes."""
        return np.concatenate([outside, np.zeros((size, *outside.shape[1:]), outside.dtype)])

    @cached_property
    def system(self) -> EliminatedSystem:
        """The discrete equation, with the available matrix and factors."""
        return self._build_system()

    def _build_system(self) -> EliminatedSystem:
        text = (
            f"Burton-Miller (I/2 - K + eta D) p + rho omega^2 (V + eta (I/2 + K')) n.u = p_inc + eta dp_inc/dn, "
            f"eta = {self.eta:.4g} m, u = (S - omega^2 M)^-1 (F - N' p)"
        )
        self._warn_of_modes()
        operator = self.operator(self.green, self.omega)
        return EliminatedSystem(text, operator, self.unknown_functions, elimination=self.response)

    @property
    def unknown_functions(self) -> tuple[Any, ...]:
        """The functions of pressures on the wet surface, and in holes."""
        return (self.functions,) if self.holes is None else (self.functions, self.holes.space)

    @cached_property
    def response(self) -> Response:
        """Pressures and their slopes at this frequency."""
        return self.response_at(self.omega)

    def response_at(self, omega: complex) -> Response:
        """Pressures and their slopes at an angular frequency, also a complex one."""
        return Response.of(self.structure, finite_number(omega, "omega"), self.fluid, self._pressures, self.holes)

    @property
    def _pressures(self) -> NDArray[np.int64] | None:
        """The pressures of the part that have unknowns, in the order of the unknowns; None without mirrors."""
        if self.surface.mirrored is None:
            return None
        whole, part = self.function_space, self.structure.pressures
        number = np.empty(whole.dimension, np.int64)
        number[whole.dofs[: len(part.dofs)]] = part.dofs
        return np.asarray(number[self.functions.functions])

    def _warn_of_modes(self) -> None:
        if self.structure.is_modal and self.structure.rest is None and self.fluid.is_liquid:
            warn_of_accuracy(
                "a liquid moves a structure also in the modes that are left out, by which far fields of steel in water "
                "are wrong by several percent: give from_modes(..., rest=) the static rest (residual vectors), "
                "whole.static_rest(shift)"
            )

    def operator(self, green: Helmholtz, omega: complex) -> BoundaryOperator:
        """[A, B] of p and of dp/dn, with rows and columns of holes."""
        functions, slopes, eta = self.functions, self._slopes, self.eta
        pressure = of_values(green, functions.space, functions.part, eta)
        slope = of_slopes(green, slopes.space, functions.part, eta)
        first = [transformed(pressure, right=functions.images), transformed(slope, right=slopes.images)]
        if self.holes is None:
            return blocks([first])
        own = self.holes.operators(omega)
        return blocks([[first[0], None, first[1], None], [None, own[0], None, own[1]]])

    @property
    def preconditioners(self) -> tuple[str, ...]:
        """ "osrc", that of a rigid body, "modes", which corrects it by modes of the structure around the frequency, as
        thin shells have many, or "mass"."""
        return ("osrc", "modes", "mass")

    def _preconditioned(self, options: SolveOptions) -> SolveOptions:
        if not options.preconditioned_by("modes"):
            return super()._preconditioned(options)
        rigid = super()._preconditioned(replace(options, preconditioner="osrc")).preconditioner
        return replace(options, preconditioner=modal_preconditioner(rigid, self.system))

    @property
    def usual_solver(self) -> str:  # type: ignore[override]
        """LU factors, as "auto" stores the entries of small problems alone."""
        return "lu"

    def _osrc(self, precision: str) -> LinearOperator:
        dtn = osrc_dtn(self.function_space, self.wavenumber, error=ROOT_ERROR, precision=precision)
        outside = self.functions.inverse(hard_on_a_plane(dtn, self.eta).inverse().tested)
        if self.holes is None:
            return outside
        parts = [(self.functions.dimension, outside.matmat), (self._in_holes[0], self.holes.solve_half)]
        return block_diagonal(parts, np.dtype(np.complex128))

    def _checked(self, data: Any) -> Any:
        if data is None:
            if self.forces is None:
                raise ValueError("nothing sounds: give solve(wave), or loads= or point_forces= of the problem")
            return None
        wave = incident_wave(data, self.wavenumber, type(self).__name__)
        sources_on_side(wave, self.surface.whole)
        return self.surface.with_images(wave)

    @cached_property
    def _loads(self) -> Loads:
        return self.function_space.loads()

    def _tested(self, wave: Wave) -> NDArray[Any]:
        """Integrals of p_inc + eta dp_inc/dn."""
        loads = self._loads
        slopes = wave.normal_derivative(loads.points, loads.normals)
        return np.asarray(loads @ wave(loads.points) + self.eta * (loads @ slopes))

    def _prepare(self, options: SolveOptions) -> float:
        return 0.0 if self.forces is None else self.system.assemble(options)

    def _right_hand_side(self, data: Any) -> NDArray[Any]:
        functions, found = self.functions, np.zeros(self.unknowns, np.complex128)
        if data is not None:
            tested = self._tested(data)
            if self.mirrors:
                self.surface.require_symmetry(functions, tested, self.mirrors)
            found = self._filled(tested[functions.functions], self._in_holes[0])
        if self.forces is not None:
            found = found - self.system.assembled @ self.response.of_load(self.forces)
        return found

    def _solution(self, data: Any, coefficients: NDArray[Any], info: SolutionInfo) -> ElasticScatteringSolution:
        structure, response, forces = self.structure, self.response, self.forces
        moved, pressures, slopes = response.state(coefficients, forces)
        surface = self.surface
        pressure, slope, inner = self.surface_fields(pressures, slopes)
        layers = double_layer_potential(self.green, pressure), single_layer_potential(self.green, -1 * slope)
        interior = () if self.holes is None else self.holes.layers(self.omega, *inner)
        images = 1 if surface.half_space else len(surface.parities)
        given = 0.0 if forces is None else 0.5 * images * self.omega * float(np.vdot(forces, moved).imag)
        lost = 0.0
        if np.iscomplexobj(structure.stiffness):
            lost = -0.5 * images * self.omega * float(np.vdot(moved, structure.stiffness @ moved).imag)
        return ElasticScatteringSolution(
            data, self.wavenumber, info, pressure, layers, derivative=slope, frequency=self.frequency,
            interior_layers=interior, inside=self.inside, half_space=surface.half_space, fluid=self.fluid,
            input_power=given, lost_power=lost, **self._moved(moved.astype(np.complex128)),
        )  # fmt: skip

    def surface_fields(
        self, pressures: NDArray[Any], slopes: NDArray[Any]
    ) -> tuple[Function, Function, tuple[NDArray[Any], NDArray[Any]]]:
        """p in Pa and dp/dn in Pa/m on the whole wet surface, and coefficients of both in holes."""
        functions, derivatives = self.functions, self._slopes
        cut, jump = functions.dimension, derivatives.dimension
        pressure = Function(functions.space, functions.extended(pressures[:cut]), "pressure", "Pa")
        slope = Function(derivatives.space, derivatives.extended(slopes[:jump]), "slope of the pressure", "Pa/m")
        return pressure, slope, (pressures[cut:], slopes[jump:])

    def modes(self, number: int) -> list[StructureMode]:
        """The lowest modes of the structure in vacuo, without loss, by frequency: six rigid ones of a body that no
        mirror holds are the first. Their frequencies are `mode.frequency.real` in Hz; `mode.write` gives a file for
        ParaView. Modes in the fluid are those of `resonances(problem, low, high)`."""
        frequencies, shapes = self.structure.modes(number, float(np.real(self.omega)) ** 2)
        found = []
        for frequency, moved in zip(frequencies.tolist(), (shapes / np.abs(shapes).max(axis=0)).T, strict=True):
            normal = self._slopes.extended(self.structure.normal @ moved)
            omega = 2 * np.pi * frequency
            surface = Function(self._slopes.space, normal, "normal displacement", "m")
            found.append(shape(self, omega / self.fluid.speed_of_sound, omega, moved, surface))
        return found

    def source_free(self) -> WetStructure:
        """The equation without sources at complex wavenumbers, for `resonances`."""
        return WetStructure(self)

    def _moved(self, coefficients: NDArray[np.complex128]) -> dict[str, Any]:
        """Displacements as fields of the solution."""
        body = self.body
        if body is None:
            return {"coefficients": coefficients}
        velocities = [-1j * self.omega * np.vdot(each, coefficients) for each, _ in body.each_force(self.point_forces)]
        squares = [float(np.vdot(force, force).real) for _, force in self.point_forces]
        found, (lame, shear, _) = body.functions(coefficients), body.constants
        images = len(found[0].tetrahedra) // len(lame)
        return {
            "displacements": found,
            "input_mobility": np.array(velocities, np.complex128) / np.array(squares),
            "moduli": np.tile(np.stack([lame, shear]), images).astype(np.complex128),
        }

    @property
    def _details(self) -> tuple[str, ...]:
        text = f"{self.structure.unknowns} displacements"
        return (text, resolution(self.mesh, self.wavenumber, elements_per_wavelength(self.mesh, self.wavenumber)))
