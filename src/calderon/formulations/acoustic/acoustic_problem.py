"""Sound that bodies make, outside of them or in a room: walls that move, absorb, or have a given pressure."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Literal, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.formulations.acoustic.closed_rooms import (
    error_of_constants,
    warn_of_resonance,
    warn_of_small_room,
)
from calderon.formulations.acoustic.conditions.boundary_layers import require_thin_layers
from calderon.formulations.acoustic.conditions.walls import ConditionedWall, Conditions, walls_of
from calderon.formulations.acoustic.decomposed import parities_of, silent, solved_by_parity
from calderon.formulations.acoustic.ducts.four_pole import FourPole
from calderon.formulations.acoustic.ducts.ports import four_pole_of
from calderon.formulations.acoustic.fluid import Fluid, wave_constants
from calderon.formulations.acoustic.known_part import KnownPart
from calderon.formulations.acoustic.results.acoustic_solution import AcousticSolution
from calderon.formulations.acoustic.results.transfer_vectors import TransferVectors, transfer_vectors
from calderon.formulations.acoustic.scattering import ROOT_ERROR, usual_coupling, yielding_on_a_plane
from calderon.formulations.acoustic.sound_equation import SoundEquation
from calderon.formulations.checks import (
    closed_surface,
    elements_per_wavelength,
    incident_wave,
    resolution,
    sources_on_side,
    surface_mesh,
    warn_coarse,
    warn_thin,
)
from calderon.formulations.linear_system import LinearSystem, block_diagonal
from calderon.formulations.mirrors import Mirrored, Mirrors
from calderon.formulations.options import PlanChoices, SolveChoices, SolveOptions, checked_choices, named_options
from calderon.formulations.problem import Problem, require_several
from calderon.formulations.solution_info import SolutionInfo
from calderon.formulations.sweep import Sweep, sweep_of, values_of
from calderon.formulations.swept_values import Measured, SweptValues
from calderon.mesh import TriangleMesh
from calderon.onsurface import osrc_dtn
from calderon.operators.methods import Plan
from calderon.solvers import ConvergenceError, gmres
from calderon.spaces import Loads
from calderon.validation import instance, one_of, one_or_more_points, truth
from calderon.waves import Wave


@dataclass(frozen=True, eq=False)
class AcousticProblem(Mirrored, Problem[AcousticSolution]):
    """Time-harmonic sound, exp(-i omega t), on one side of a closed surface, by the direct equation of
    `sound_equation.py`.

    mesh: in metres. wavenumber: k = omega / c in 1/m, or frequency= in Hz. fluid: `Fluid(density, speed_of_sound,
    loss)`, `Fluid.air()`, `Fluid.water()`; its loss makes k = (omega / c) (1 + i loss). side: "exterior" (sound goes
    away to infinity) or "interior". conditions: `Velocity`, `Impedance`, both in a list, `SoundPressure` or `Rigid` for
    the whole surface, or {tag or its name: those}; what is left out is rigid; `ViscothermalWall` is rigid with boundary
    layers. Velocities and impedances count along nu,
    the normal into the fluid, on both sides:

        dp/dnu = i omega rho (v - p / Z).

    mirrors: planes of coordinates in which the sound is "even" (as at a rigid plane) or "odd" (as at one that gives
    way), {"z": "even", "x": "odd"}; the mesh is then the part on one side of them, its boundary in them, and solutions
    and their powers are those of the whole body, `mesh.mirrored("z")`; sources are as even or odd as the sound. Or
    `HalfSpace("z", rigid=True)`, a floor or the surface of the sea: sources have their reflections, and powers are
    those in the half space; or `Baffle()`, a rigid plane that the mesh lies in. Velocities, pressures and impedances
    are given on the part.
    space: of pressures, "P1" or "P2". Data: sources in the fluid, waves or a sum of them, or None.

    Outside the equation has one solution at every frequency. Inside there are none, or many, at resonances of a room
    without absorption: near them the sound is as large as the mesh is accurate. `solution.info.condition` tells how
    near, and an AccuracyWarning names the mode where it is above 1e8.

        walls = {"cone": cal.Velocity(1e-3), "lining": cal.Impedance.porous(1e4, 0.05)}
        solution = cal.AcousticProblem(mesh, frequency=500.0, fluid=cal.Fluid.air(), conditions=walls).solve()
        solution.sound_power, solution.spl(points), solution.directivity(theta, phi)
    """

    mesh: TriangleMesh
    wavenumber: complex = None  # type: ignore[assignment]
    fluid: Fluid = field(default=None, kw_only=True)  # type: ignore[assignment]
    side: Literal["exterior", "interior"] = field(default="exterior", kw_only=True)
    conditions: Conditions = field(default=None, kw_only=True)
    frequency: float = field(default=None, kw_only=True)  # type: ignore[assignment]
    mirrors: Mirrors = field(default=None, kw_only=True)
    space: Literal["P1", "P2"] = field(default="P1", kw_only=True)

    title: ClassVar[str] = "sound of walls that move or yield"

    def __post_init__(self) -> None:
        one_of(self.side, ("exterior", "interior"), "side")
        surface_mesh(self.mesh)
        if not self.surface.is_baffle:
            closed_surface(self.surface.whole, f"AcousticProblem(side={self.side!r})")
        elif self.side == "interior":
            raise ValueError("a Baffle has its fluid on the side of its normals: leave side='exterior'")
        instance(self.fluid, Fluid, "a problem of sound needs fluid=, as Fluid.air() or Fluid(density, speed_of_sound)")
        k, frequency = wave_constants(self.wavenumber, self.frequency, self.fluid)
        object.__setattr__(self, "wavenumber", k)
        object.__setattr__(self, "frequency", frequency)
        if self.side == "exterior":
            warn_thin(self.surface.whole, "jumps")
        warn_coarse(self.surface.whole, k)
        for wall in self.walls:
            if wall.layers is not None:
                omega = self.fluid.angular_frequency(k)
                require_thin_layers(self.surface.whole, wall, wall.layers.thickness(omega, self.fluid))
        _ = self.system

    @property
    def sign(self) -> float:
        """1 where the normal of the mesh leads into the fluid, -1 where it leads out of it."""
        return 1.0 if self.side == "exterior" else -1.0

    @property
    def eta(self) -> complex:
        """The coupling of the equation, i / Re k in m outside, 0 inside and in a baffle."""
        outside = self.side == "exterior" and not self.surface.is_baffle
        return usual_coupling(self.wavenumber) if outside else 0j

    @cached_property
    def walls(self) -> list[ConditionedWall]:
        """The parts of the surface that are not rigid."""
        return walls_of(self.surface.part, self.conditions, self.sign)

    @cached_property
    def equation(self) -> SoundEquation:
        """The equation of the conditions."""
        medium = self.wavenumber, self.fluid, self.sign, self.eta
        return SoundEquation(self.function_space, *medium, self.walls, self.surface)

    @property
    def elements_per_wavelength(self) -> float:
        """The wavelength 2 pi / |k| over the mean edge length."""
        return elements_per_wavelength(self.mesh, self.wavenumber)

    def at(self, wavenumber: complex) -> Self:
        """This problem at another wavenumber, with the same velocities; impedances follow their laws."""
        return replace(self, wavenumber=wavenumber, frequency=None)  # type: ignore[arg-type]

    @named_options
    def solve(
        self, sources: Wave | None = None, decompose: bool = False, **options: Unpack[SolveChoices]
    ) -> AcousticSolution:
        """Solve for the conditions of the walls and sources in the fluid, a wave or a sum of them, or None; options as
        in `Problem.solve`. ValueError where nothing sounds.

        decompose: whether to split sources that are neither even nor odd in the mirrors into parts that are, each of
        which has a matrix on the part of the surface; walls move as `mirrors` say.
        """
        return self.solve_all([sources], decompose, **options)[0]

    @named_options
    def solve_all(
        self, data: Sequence[Wave | None], decompose: bool = False, **options: Unpack[SolveChoices]
    ) -> list[AcousticSolution]:
        """Solve for several waves, or None, at once: one matrix, with `decompose` one for each choice of even and odd;
        arguments as in `solve`."""
        if not truth(decompose, "decompose"):
            return super().solve_all(data, **options)
        require_several(data)
        name = type(self).__name__
        waves = [None if each is None else incident_wave(each, self.wavenumber, name) for each in data]
        return solved_by_parity(self._decomposed, waves, self._loads.points, **options)

    @cached_property
    def _decomposed(self) -> list[Self]:
        """This problem, and silent ones for all other choices of even and odd."""
        _, *others = parities_of(self.mirrors)
        walls = silent(self.conditions)
        return [self, *(replace(self, mirrors=each, conditions=walls, frequency=None) for each in others)]  # type: ignore[arg-type]

    @named_options
    def sweep(
        self,
        frequencies: Iterable[float],
        sources: Wave | None = None,
        *,
        points: ArrayLike | None = None,
        quantities: Callable[[AcousticSolution], ArrayLike] | None = None,
        interpolate: float | None = None,
        sweep_file: str | os.PathLike[str] | None = None,
        decompose: bool = False,
        **options: Unpack[SolveChoices],
    ) -> Sweep | SweptValues:
        """The problem at frequencies in Hz: a sequence of solutions with data by frequency. sources: as in `solve`,
        they get the wavenumbers; decompose and options as there.

        points: (n, 3), or quantities: f(solution), an array of numbers. Then only the pressures there, or these
        numbers, are kept, as `SweptValues`. interpolate: with either, the accepted error, such as 1e-3, of rational
        functions between few solved frequencies, relative to the value or to 1 % of the median where that is more; by
        default these solutions are direct, or iterated to 1e-8. sweep_file: with either, an HDF5 file in which values
        are saved, and from which a sweep that ended early goes on; ValueError for one of another sweep.

            sweep = room.sweep(np.linspace(50, 500, 400), source, points=[[0.8, 0.2, 0.3]], interpolate=1e-3)
            sweep.values, sweep.solves
        """
        speed = self.fluid.speed_of_sound
        given: Any = {**options, "decompose": True} if truth(decompose, "decompose") else options
        if points is None and quantities is None and interpolate is None and sweep_file is None:
            return sweep_of(self, frequencies, sources, speed, **given)
        measured = Measured.of(points, quantities, "pressure", "Pa")
        return values_of(self, frequencies, sources, speed, measured, interpolate, sweep_file, **given)

    @named_options
    def transfer_vectors(self, points: ArrayLike, **options: Unpack[SolveChoices]) -> TransferVectors:
        """Pressures at points (n, 3) for any velocities of the walls, by reciprocity: one solution for each point.
        Options as in `solve`.

            vectors = problem.transfer_vectors(ears)
            vectors.transfer("cone"), vectors.contributions(), vectors.pressure({"cone": cal.Velocity(measured)})
        """
        places, thin = one_or_more_points(points), self.system.thin
        chosen = self._options(options)
        return transfer_vectors(self.equation, places, thin and thin(), self.frequency, chosen)

    @named_options
    def four_pole(self, inlet: Any, outlet: Any, **options: Unpack[SolveChoices]) -> FourPole:
        """The four-pole of a duct between the walls of two tags (numbers, names or several of them), its ports: mean
        pressures and volume velocities, into the duct at the inlet and out of it at the outlet; see `FourPole`.

        Conditions that are given for the ports do not count, and other walls keep theirs without velocities. Waves have
        to be plane at the ports, an AccuracyWarning says where they are not. Options as in `solve`; two solutions have
        one matrix. ValueError outside, and for tags that both ports have.

            silencer.four_pole("inlet", "outlet").transmission_loss
        """
        return four_pole_of(self, inlet, outlet, options)

    @named_options
    def plan(self, **options: Unpack[PlanChoices]) -> Plan:
        """The plan of `Problem.plan`, with the seconds of what the right-hand side needs, and its memory if that is
        more."""
        chosen: Any = checked_choices(options, PlanChoices)
        return self._known.added(super().plan(**options), self._options(chosen))

    def _build_system(self) -> LinearSystem:
        terms = "(I/2 - K + eta D) p + (V + eta (I/2 + K')) r = p_inc + eta dp_inc/dn"
        if self.surface.is_baffle:
            text = "I/2 p + V r = p_inc"
        elif self.side == "exterior":
            text = f"Burton-Miller {terms}, eta = {self.eta:.4g} m"
        else:
            text = "(I/2 + K) p + V r = p_inc"
        text, thin = f"{text}, r = dp/dnu = i omega rho (v - p / Z)", None
        if self._is_closed_room:
            thin = partial(error_of_constants, self.equation.functions)
        return LinearSystem(text, self.equation.operator(), self.equation.unknowns, thin)

    @property
    def _is_closed_room(self) -> bool:
        """Whether a nearly constant pressure is nearly a null vector at low frequencies."""
        return self.side == "interior" and self.equation.released is None and self.surface.is_even

    @property
    def preconditioners(self) -> tuple[str, ...]:
        """ "osrc" outside, and inside where a pressure is given; "mass"."""
        return ("mass",) if self._is_closed_room else ("osrc", "mass")

    def _osrc(self, precision: str) -> LinearOperator:
        """The inverses of the equation on a plane, where walls yield by their mean, for unknown p and for unknown r."""
        equation, found = self.equation, list[tuple[int, Any]]()
        for unknowns in equation.unknowns:
            space = unknowns.space
            if self.eta == 0 and space is not equation.released:
                found.append((unknowns.dimension, lambda x, unknowns=unknowns: 2 * unknowns.solve_mass(x)))
                continue
            dtn = osrc_dtn(space, self.wavenumber, error=ROOT_ERROR, precision=precision)
            if space is equation.released:
                plane = dtn.inverse() * -0.5
                plane = plane + 0.5 * self.eta if self.eta else plane
            else:
                mean = 0j if equation.reaction is None else equation.reaction.mean
                plane = yielding_on_a_plane(dtn, self.eta, self.wavenumber, 1j * mean / self.wavenumber)
            inverse = unknowns.inverse(plane.inverse().tested)
            found.append((unknowns.dimension, inverse.dot))
        return block_diagonal(found, np.dtype(np.complex128))

    def _checked(self, data: Any) -> Any:
        if data is None:
            if self.equation.known() is None:
                raise ValueError(
                    "nothing sounds: give conditions= with a Velocity or a SoundPressure that is not 0, or sources, "
                    "solve(PointSource(...))"
                )
            return None
        wave = incident_wave(data, self.wavenumber, type(self).__name__)
        if not self.surface.is_baffle:
            sources_on_side(wave, self.surface.whole, self.side)
        return self.surface.with_images(wave)

    @cached_property
    def _loads(self) -> Loads:
        return self.function_space.loads()

    @cached_property
    def _known(self) -> KnownPart:
        """Integrals of what is known on the walls."""
        return KnownPart(self.equation)

    def _prepare(self, options: SolveOptions) -> float:
        if self._is_closed_room and self.equation.reaction is None:
            rounding = float(np.finfo(np.float32).eps) if options.precision != "double" else 0.0
            warn_of_small_room(self.surface.whole, self.wavenumber, max(options.assembly_rtol or 0.0, rounding))
        return self._known.compute(options)

    def _right_hand_side(self, data: Any) -> NDArray[Any]:
        known = -self._known.load
        if data is None:
            return known
        loads = self._loads
        tested = loads @ data(loads.points)
        if self.surface.is_baffle:  # with its reflection the wave is twice the incident one there
            tested = tested / 2
        if self.eta != 0:
            tested = tested + self.eta * (loads @ data.normal_derivative(loads.points, loads.normals))
        functions = self.equation.functions
        self.surface.require_symmetry(functions, tested, self.mirrors)
        return np.asarray(known + tested[functions.functions][self.equation.order])

    def _solve(self, data: list[Any], options: SolveOptions) -> list[AcousticSolution]:
        solutions = super()._solve(data, options)
        if self.side == "exterior":
            return solutions
        if options.solver == "lu":  # factors on a device do not tell
            condition = getattr(self.system.factors, "condition", None)
            solutions = [replace(each, info=replace(each.info, condition=condition)) for each in solutions]
        held, preconditioned = bool(self.equation.held.all()), None
        if held and (options.solver == "lu" or options.preconditioner not in self._inverses.values()):
            preconditioned = self._condition_by_osrc(options)
        for each in solutions:
            warn_of_resonance(each, held, each.info.condition if held and preconditioned is None else preconditioned)
        return solutions

    def _condition_by_osrc(self, options: SolveOptions) -> float:
        """The condition number of the available matrix with the preconditioner "osrc", from below: by some steps for
        a right-hand side of random numbers, in which all modes are."""
        precision = "single" if options.precision == "single" else "double"
        rhs = np.random.default_rng(0).standard_normal(self.unknowns)
        try:
            _, info = gmres(self.system.matrix, rhs, rtol=1e-3, preconditioner=self._osrc(precision), progress=False)
        except ConvergenceError as error:
            info = error.info
        return float(info.conditions[0] or 0.0)

    def _solution(self, data: Any, coefficients: NDArray[Any], info: SolutionInfo) -> AcousticSolution:
        equation = self.equation
        pressure, yielding, released = equation.fields(coefficients)
        layers = equation.layers(pressure, equation.moving, yielding, released)
        return AcousticSolution(
            self.fluid, self.wavenumber, self.side, info, pressure, layers, equation.moving, yielding, released, data,
            self.frequency, self.surface.half_space, self.surface.is_baffle,
        )  # fmt: skip

    @property
    def _details(self) -> tuple[str, ...]:
        return (resolution(self.mesh, self.wavenumber, self.elements_per_wavelength),)
