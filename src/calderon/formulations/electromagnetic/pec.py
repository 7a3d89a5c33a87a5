"""Perfect conductors: n x E = 0 on the surface."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.formulations.checks import (
    charges_resolved,
    closed_surface,
    electromagnetic_wave,
    elements_per_wavelength,
    magnetic_equation,
    resolution,
    sources_on_side,
    surface_mesh,
    warn_coarse,
    warn_thin,
)
from calderon.formulations.electromagnetic.extinction import (
    ACCEPTED,
    CONDUCTOR_DEPTH,
    probe_points,
    warn_of_remainder,
    warn_unjudged,
)
from calderon.formulations.electromagnetic.handles import HANDLES_BELOW, Handles, loops_of_handles
from calderon.formulations.electromagnetic.radar import RadarProblem
from calderon.formulations.electromagnetic.radiating_currents import RadiatingCurrents, magnetic_unit
from calderon.formulations.electromagnetic.scattering_solution import ElectromagneticSolution
from calderon.formulations.linear_system import LinearSystem
from calderon.formulations.loops.scales import LoopScales, static_ratio
from calderon.formulations.loops.splitting import SPLIT_BELOW, LowFrequencySystem
from calderon.formulations.mirrors import MirroredSurface, Mirrors
from calderon.formulations.options import SolveOptions
from calderon.formulations.preconditioners import Preconditioner
from calderon.formulations.solution_info import SolutionInfo
from calderon.greens import Helmholtz
from calderon.mesh import TriangleMesh
from calderon.operators import BoundaryOperator, electric_field, identity, magnetic_field, transformed
from calderon.quadrature import Quadrature
from calderon.solvers import sparse_inverse
from calderon.spaces import BC, RBC, RWG, DualTests, EdgeSpace, Loads, VectorFunction, dual_tests
from calderon.spaces.mirror_images import MirroredFunctions
from calderon.validation import one_of
from calderon.waves import ElectromagneticPlaneWave

FORMULATIONS = ("cfie", "efie", "mfie", "calderon")
MAGNETIC = ("cfie", "mfie")  # those with the magnetic field equation
ELECTRIC = ("efie", "calderon")  # those without
TESTINGS = ("dual", "primal")


@dataclass(frozen=True, eq=False)
class PECSolution(ElectromagneticSolution):
    """The field of an incident wave and a perfectly conducting body; inside of a closed one it is zero, as far as the
    mesh resolves it.
    """

    is_lossless: ClassVar[bool] = True

    @property
    def surface(self) -> VectorFunction:
        """The surface current J = n x H in A/m, or "E0/eta"; of a thin sheet the sum of both faces."""
        return self.currents.electric_currents[0]

    def __str__(self) -> str:
        return f"field of {self.incident}: surface current [{self.surface.unit}] on the conductor\n{self.info}"


@dataclass(frozen=True, eq=False)
class PECScattering(RadarProblem[PECSolution]):
    """Surface current J = n x H on a perfect conductor in a homogeneous lossless medium, exp(-i omega t).

    mesh: in metres. wavenumber: k = 2 pi / wavelength in 1/m; or frequency= in Hz, in vacuum, with SI units. impedance:
    see `RadarProblem`. formulation, with T the electric and K the magnetic field operator, everything in units of the
    medium's impedance (eta J):

    "efie", T J = -<f, E_inc>: open surfaces too. Fails at the resonances of the inside, and its iterations grow as the
    mesh is refined. In single precision it is refused where rounding would lose 0.01 dB at low frequency. "mfie", (I/2
    - K) J = <f, n x H_inc>: closed surfaces. Fails at the same resonances, with an AccuracyWarning, and is refused
    below k times diameter = 0.05, and below 5 on bodies with handles. "cfie", the default, weight * (-T) + (1 - weight)
    (I/2 - K), both sides: closed surfaces, any frequency; below k times diameter = 5 with the electric equation of the
    net currents around handles. "calderon": the electric one with T on the dual (Buffa-Christiansen) functions as
    preconditioner ("dual"), so that iterations hardly grow as the mesh is refined; closed surfaces. It is a matrix on
    the mesh with six times the triangles: costly to compute.

    weight: of the electric equation in "cfie", between 0 and 1. testing: of the magnetic equation, "dual", the default,
    with `spaces.dual_tests` t instead of f, <t, (I/2 - K) J> = <t, n x H_inc>, or "primal", with the functions of
    the current. At ten elements per wavelength dual testing has a tenth of the error in a sphere's cross-section and a
    hundredth in its energy balance. It needs surfaces with two triangles at each edge. An AccuracyWarning says where
    the currents of "cfie" and "mfie" leave too much of the incident wave inside. Raises ValueError and TypeError for
    invalid arguments.

    mirrors: planes in which currents are "odd", the image of J being -R J as at an electric wall, or "even", R J as at
    a magnetic one, {"z": "odd"}; the mesh is then the part on one side of them, its boundary in them. Waves are as even
    or odd, solutions are those of the whole, `mesh.mirrored("z")`. Or `HalfSpace("z")`, a ground of metal that the body
    is above or stands on: waves have their reflections, cross-sections refer to the incident wave alone. Not for
    "calderon", bodies much smaller than the wavelength by "efie", or such with handles below k times diameter = 5.

    R. F. Harrington, Field Computation by Moment Methods; J. R. Mautz and R. F. Harrington, AEU 32 (1978) 157;
    F. P. Andriulli et al., IEEE Trans. Antennas Propag. 56 (2008) 2398; K. Cools, F. P. Andriulli, D. De Zutter,
    E. Michielssen, IEEE Antennas Wirel. Propag. Lett. 10 (2011) 528.
    """

    mesh: TriangleMesh
    wavenumber: float = None  # type: ignore[assignment]
    formulation: Literal["cfie", "efie", "mfie", "calderon"] = field(default="cfie", kw_only=True)
    weight: float = field(default=0.5, kw_only=True)
    testing: Literal["dual", "primal"] = field(default="dual", kw_only=True)
    frequency: float | None = field(default=None, kw_only=True)
    impedance: float | None = field(default=None, kw_only=True)
    mirrors: Mirrors = field(default=None, kw_only=True)

    title: ClassVar[str] = "scattering by a perfect conductor"

    def __post_init__(self) -> None:
        one_of(self.formulation, FORMULATIONS, "formulation")
        one_of(self.testing, TESTINGS, "testing")
        surface_mesh(self.mesh)
        if self.surface.is_baffle:
            raise ValueError("PECScattering has no Baffle: give the whole body, or one that stands on a HalfSpace")
        mesh = self.surface.whole
        if self.formulation == "calderon" and self.mirrors:
            raise ValueError("formulation='calderon' has no mirrors: take 'cfie', or 'efie', or solve on the whole")
        if self.formulation != "efie":
            closed_surface(mesh, f"PECScattering with formulation={self.formulation!r}")
        self._settle_wavenumber()
        if not (isinstance(self.weight, Real) and 0 < self.weight < 1):
            raise ValueError(f"weight must lie between 0 and 1 (0.5 is usual), got {self.weight!r}")
        object.__setattr__(self, "weight", float(self.weight))
        if self._is_dual and not mesh.is_manifold:
            raise ValueError(
                f"formulation={self.formulation!r} tests the magnetic field with dual functions, which are for two "
                "triangles at each edge, and this mesh has edges with more: take testing='primal' or formulation='efie'"
            )
        warn_coarse(mesh, self.wavenumber)
        warn_thin(mesh, "combined currents" if self.formulation in MAGNETIC else "currents")
        if self.formulation == "mfie":
            magnetic_equation(mesh, self.wavenumber)
            if loops := loops_of_handles(self.function_space, self.wavenumber).shape[1]:
                raise ValueError(
                    f"formulation='mfie' on a body with {loops // 2} handle(s) at k times diameter below "
                    f"{HANDLES_BELOW:g}: it does not determine the net currents around them; take formulation='cfie', "
                    "which does, at all frequencies"
                )
        _ = self.system  # an equation that cannot be built is refused here, not when it is solved

    @cached_property
    def surface(self) -> MirroredSurface:
        """The mesh, and the whole with its images in mirrors."""
        return MirroredSurface.of(self.mesh, self.mirrors, of_currents=True)

    @cached_property
    def function_space(self) -> EdgeSpace:
        """The Rao-Wilton-Glisson functions of the surface current on the whole."""
        return RWG(self.surface.whole)

    @cached_property
    def functions(self) -> MirroredFunctions:
        """The functions of the part, with their images."""
        return self.surface.functions(self.function_space)

    @property
    def _is_split(self) -> bool:
        """Whether the electric equation keeps loops and charges apart."""
        return self.formulation == "efie" and self.wavenumber * self.surface.whole.diameter < SPLIT_BELOW

    @property
    def _is_dual(self) -> bool:
        return self.formulation in MAGNETIC and self.testing == "dual"

    @cached_property
    def magnetic_tests(self) -> EdgeSpace | DualTests:
        """The functions that test the magnetic field."""
        return dual_tests(self.function_space) if self._is_dual else self.function_space

    @property
    def elements_per_wavelength(self) -> float:
        """The wavelength 2 pi / k over the mean edge length."""
        return elements_per_wavelength(self.mesh, self.wavenumber)

    @cached_property
    def _ratio(self) -> float:
        """Ratio of the wavenumber to that of the equation of "calderon", the static limit at low frequency."""
        return static_ratio(self.wavenumber, [self.function_space]) if self.formulation == "calderon" else 1.0

    @cached_property
    def _handles(self) -> Handles | None:
        """The equations of net currents around handles, of "cfie" on bodies that are not large."""
        space, k = self.function_space, self.wavenumber
        if self.formulation != "cfie" or (loops := loops_of_handles(space, k)).shape[1] == 0:
            return None
        if self.mirrors:
            raise ValueError(
                f"mirrors of a body with handles at k times diameter below {HANDLES_BELOW:g}: the net currents around "
                "them are equations of the whole; solve on mesh.mirrored(plane)"
            )
        pairing = space.mass_matrix() if self.testing == "primal" else self.magnetic_tests.pairing  # type: ignore[union-attr]
        return Handles(space, loops, pairing, 1 - self.weight, k)

    def _build_system(self) -> LinearSystem:
        space, k, functions = self.function_space, self.wavenumber / self._ratio, self.functions
        unknowns = (functions if self.mirrors else space,)
        electric: BoundaryOperator = electric_field(k, space, functions.part)
        if self.formulation in ELECTRIC:
            name, scales = "electric field T J = -<f, E_inc>", LoopScales.of((space,), k, self._ratio)
            if self.mirrors and scales is not None:
                raise ValueError(
                    "formulation='efie' with mirrors where parts have k times diameter below 1: loops and charges then "
                    "have scales of their own, on the whole; solve on mesh.mirrored(plane)"
                )
            if not self._is_split:
                return LinearSystem(name, transformed(electric, right=functions.images), unknowns, scales=scales)
            currents = electric_field(k, space, charges=False)
            return LowFrequencySystem(name, electric, (space,), scales=scales, currents=currents, wavenumber=k)
        green, tests = Helmholtz(k), self.magnetic_tests
        if self.mirrors and isinstance(tests, DualTests):
            tests = tests.of_functions(functions.functions, functions.part)
        elif self.mirrors:
            tests = functions.part
        magnetic = 0.5 * identity(space, tests) - magnetic_field(green, space, tests)
        name = "t" if self._is_dual else "f"
        if self.formulation == "mfie":
            equation = f"magnetic field <{name}, (I/2 - K) J> = <{name}, n x H_inc>"
            return LinearSystem(equation, transformed(magnetic, right=functions.images), unknowns)
        a = self.weight
        dual = ", tested with dual functions" if self._is_dual else ""
        equation = f"combined field {a:g} (-T) + {1 - a:g} (I/2 - K){dual}"
        handles = None if self._handles is None else self._handles.term
        combined = transformed(-a * electric + (1 - a) * magnetic, right=functions.images)
        return LinearSystem(equation, combined, unknowns, handles)

    @cached_property
    def _loads(self) -> Loads:
        return self.function_space.loads()

    @cached_property
    def _magnetic_loads(self) -> Loads:
        return self.magnetic_tests.loads() if self._is_dual else self._loads

    def _checked(self, data: Any) -> Any:
        wave = electromagnetic_wave(data, self.wavenumber, type(self).__name__, self.impedance)
        if self.formulation in MAGNETIC:  # J = n x H is that of the outside; the electric one suits cavities
            sources_on_side(wave, self.surface.whole)
        return self.surface.with_images(wave)

    def _right_hand_side(self, data: Any) -> NDArray[Any]:
        loads, eta = self._loads, complex(data.impedance)
        points, normals = loads.points, loads.normals
        electric = magnetic = np.zeros(self.function_space.dimension)
        if self.formulation != "mfie":
            electric = loads @ data.electric(points)
        if self.formulation in MAGNETIC:
            magnetic = self._magnetic_loads @ np.cross(normals, eta * data.magnetic(points))
        whole = self._combined(electric, magnetic) / eta
        self.surface.require_symmetry(self.functions, whole, self.mirrors)
        return whole[self.functions.functions]

    def _combined(self, electric: NDArray[Any], magnetic: NDArray[Any]) -> NDArray[Any]:
        """The right-hand side from <f, E_inc> and <f, n x eta H_inc>."""
        if self.formulation in ELECTRIC:
            return -electric
        if self.formulation == "mfie":
            return magnetic
        combined = self.weight * electric + (1 - self.weight) * magnetic
        return combined if self._handles is None else combined + self._handles.load(electric)

    @property
    def preconditioners(self) -> tuple[str, ...]:
        """ "dual" of formulation "calderon": the electric operator between dual functions. Of the others "near" (of
        "dense" and "mlfmm", and of "hmatrix" where it is requested): LU factors of the entries between functions that
        share a triangle, the usual ones of "cfie", and of "efie" on open surfaces, where they take half of the steps;
        "mass": the inverse of the identity tested as the equation is."""
        if self.formulation == "calderon":
            return ("dual",)
        halves = self.formulation == "cfie" or not self.surface.whole.is_closed or self._is_split
        return ("near", "mass") if halves else ("mass", "near")

    def _usual_preconditioner(self, options: SolveOptions) -> str:
        if not isinstance(self.system, LowFrequencySystem):
            return super()._usual_preconditioner(options)
        return "near" if self.system.splits(options) or options.chosen.stores_near else "mass"

    def _preconditioned(self, options: SolveOptions) -> SolveOptions:
        if self.formulation == "efie":
            charges_resolved(self.surface.whole, self.wavenumber, options.precision)
        if isinstance(self.system, LowFrequencySystem) and self.system.splits(options):
            return self.system.preconditioned(options)
        if self._is_dual and options.preconditioned_by("mass"):
            return replace(options, preconditioner=self._pairing)
        if not options.preconditioned_by("dual") or options.solver == "lu":
            return super()._preconditioned(options)
        if not options.chosen.stores_entries or (options.backend, options.precision) != ("numba", "double"):
            raise ValueError(
                "preconditioner 'dual' of formulation='calderon' is dense, in double precision, by backend 'numba'; "
                f"got method={options.method!r}, backend={options.backend!r}, precision={options.precision!r}: "
                "leave them out, or take formulation='efie' or 'cfie'"
            )
        return replace(options, preconditioner=self._dual_preconditioner)

    @cached_property
    def _pairing(self) -> Preconditioner:
        """The inverse of the identity, tested as the equation is."""
        pairing = self.magnetic_tests.pairing  # type: ignore[union-attr]
        if self.formulation == "cfie":
            pairing = self.weight * self.function_space.mass_matrix() + (1 - self.weight) * pairing
        return Preconditioner("mass", self.unknowns, lambda: self.functions.inverse(sparse_inverse(pairing)))

    @cached_property
    def _dual_preconditioner(self) -> Preconditioner:
        """D^-1 T_dual D^-T, D the pairing <n x g, f> of the dual functions g and the primal ones f (Andriulli 2008)."""

        def inverse() -> LinearOperator:
            rule = Quadrature(regular=2, singular=4)  # finer ones save no steps
            dual = electric_field(self.wavenumber / self._ratio, BC(self.mesh), quadrature=rule).assemble()
            pairing = sparse_inverse(self.function_space.mass_matrix(RBC(self.mesh)))
            return pairing @ dual @ pairing.T

        return Preconditioner("dual", self.unknowns, inverse)

    def _solution(self, data: Any, coefficients: NDArray[Any], info: SolutionInfo) -> PECSolution:
        unit = magnetic_unit(data.impedance)
        whole = self.functions.extended(coefficients)
        current = VectorFunction(self.function_space, whole, "surface current", unit)
        currents = RadiatingCurrents(self.wavenumber, data.impedance, (current,), share=self.surface.share)
        return PECSolution(data, info, currents)

    def _solve(self, data: list[Any], options: SolveOptions) -> list[PECSolution]:
        found = super()._solve(data, options)
        if self.formulation in MAGNETIC:
            self._judge(found[0])  # one stands for all: the error is that of the mesh
        return found

    def _judge(self, solution: PECSolution) -> None:
        """AccuracyWarning where the current leaves too much of the incident wave inside, or where nothing tells."""
        if len(self._probes) == 0 and not (self._is_dual and self._handles is None):
            warn_unjudged(self._advice)
        # of the size of the wavelength or less a finer mesh costs little: 0.05 dB; more at ten elements per wavelength
        small = self.wavenumber * self.surface.whole.diameter < HANDLES_BELOW
        accepted = 10 ** (0.05 / 20) - 1 if small else ACCEPTED
        warn_of_remainder(solution, self._probes, self._advice, accepted)

    def _verify(self, r: NDArray[np.float64], transmit: NDArray[np.float64], options: SolveOptions) -> None:
        if self.formulation in MAGNETIC and options.solver == "lu":
            self._solve([ElectromagneticPlaneWave(-r, transmit, self.wavenumber)], options)

    @cached_property
    def _probes(self) -> NDArray[np.float64]:
        """Points inside, where the current extinguishes the incident wave."""
        return probe_points(self.surface.whole, CONDUCTOR_DEPTH)

    @property
    def _advice(self) -> str:
        finer = "refine the mesh"
        if self.formulation == "mfie":
            return f"take formulation='cfie', which has no resonances, or {finer}"
        return finer if self._is_dual else f"take testing='dual', with a tenth of the errors, or {finer}"

    def _echoes(
        self, r: NDArray[np.float64], receive: NDArray[np.float64], transmit: NDArray[np.float64]
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        if self.mirrors and not self.surface.half_space:
            raise ValueError("a radar sends waves that are not even or odd in mirrors: solve on mesh.mirrored(plane)")
        functions, tested = self.functions, self._plane_waves(r, transmit)
        far = tested[0] if np.array_equal(receive, transmit) else self._plane_waves(r, receive)[0]
        if self.surface.half_space:
            for each in zip(-r, transmit, strict=True):
                self.surface.with_images(ElectromagneticPlaneWave(*each, self.wavenumber))  # refuses what does not come
            reflection = np.where(np.arange(3) == "xyz".index(self.surface.half_space[1]), -1.0, 1.0)
            reflected = self._plane_waves(r * reflection, self.surface.parities[1] * transmit * reflection)
            tested = tested[0] + reflected[0], tested[1] + reflected[1]
        factor = 1j * self.wavenumber / (4 * np.pi)
        return self._combined(*tested)[functions.functions], factor * functions.summed(far)

    def _plane_waves(
        self, r: NDArray[np.float64], polarizations: NDArray[np.float64]
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """<f, E> and <f, n x eta H> (dimension, m) of plane waves along -r (m, 3) with these polarizations (m, 3);
        without a magnetic equation <f, E> twice."""
        phases = self._loads.phases(-self.wavenumber * r)
        electric = self._loads.plane_waves(phases, polarizations)
        if self.formulation not in MAGNETIC:
            return electric, electric
        return electric, self._magnetic_loads.rotated.plane_waves(phases, np.cross(-r, polarizations))

    @property
    def _details(self) -> tuple[str, ...]:
        return (resolution(self.mesh, self.wavenumber, self.elements_per_wavelength),)
