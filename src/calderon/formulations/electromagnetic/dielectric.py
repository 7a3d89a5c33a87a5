"""Penetrable bodies: tangential E and H are continuous across their surfaces."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.checks import (
    charges_resolved,
    closed_surface,
    electromagnetic_wave,
    elements_per_wavelength,
    enclosing_surfaces,
    sources_on_side,
    warn_coarse,
)
from calderon.formulations.electromagnetic.dielectric_equations import (
    Rotation,
    TestedField,
    local_pmchwt,
    mueller,
    pmchwt,
    unknown_fields,
)
from calderon.formulations.electromagnetic.dielectric_regions import (
    Constant,
    Region,
    constants_at,
    material_constants,
    regions_between,
)
from calderon.formulations.electromagnetic.dielectric_solution import DielectricSolution
from calderon.formulations.electromagnetic.extinction import probe_points, warn_of_remainder
from calderon.formulations.electromagnetic.radar import RadarProblem
from calderon.formulations.electromagnetic.radiating_currents import RadiatingCurrents, magnetic_unit
from calderon.formulations.linear_system import LinearSystem
from calderon.formulations.loops.scales import LoopScales, static_ratio
from calderon.formulations.mirrors import Baffle, MirroredSurface, Mirrors
from calderon.formulations.options import SolveOptions
from calderon.formulations.preconditioners import Preconditioner, factors_of
from calderon.formulations.solution_info import SolutionInfo
from calderon.mesh import TriangleMesh
from calderon.operators import BlockOperator
from calderon.spaces import RWG, EdgeSpace, Loads, VectorFunction
from calderon.spaces.mirror_images import MirroredFunctions
from calderon.validation import one_of, unmasked
from calderon.waves import ElectromagneticPlaneWave

FORMULATIONS = ("pmchwt", "muller")


@dataclass(frozen=True, eq=False)
class DielectricScattering(RadarProblem[DielectricSolution]):
    """Surface currents J = n x H and M = -n x E on penetrable bodies in a lossless medium, exp(-i omega t).

    mesh: a closed surface in metres, or a list of them, one within another (coats, cavities) or side by side; they must
    not touch. wavenumber: k of the surroundings in 1/m; or frequency= in Hz, in vacuum, with SI units. impedance: of
    the surroundings, see `RadarProblem`. permittivity, permeability: relative to the surroundings, of the material
    directly inside of each surface: a number for one mesh, a list for a list. In vacuum they may depend on the
    frequency: functions of it in Hz, or as permittivity a `Material`, whose conductivity and permeability count. Loss
    is a positive imaginary part; gain=True admits negative ones. A permittivity np.inf is a perfect conductor, by
    "pmchwt" only, with the electric equation, which fails at the resonances of the conductor's inside. A mesh of
    several separate parts is filled with one material. formulation:

    "pmchwt", the default: the fields from both sides are equal, tested with RWG functions. Accurate at every contrast;
    a system of the first kind. preconditioner="near" (the default, of all methods) is the LU factors of the equation
    with the fields of charges and currents at their own triangles alone, a fifth of the iterations of "mass" or fewer.
    "muller": fields weighted by the constants of both sides, so that the hypersingular parts cancel: of the second
    kind, a quarter to a half of these iterations, and less accurate on the same mesh, the more so at high contrast. It
    is refused below k times diameter = 0.1; "pmchwt" holds at every frequency, below 1e-3 by its quasi-static limit.

    An AccuracyWarning says where the currents of a solution do not extinguish the incident wave inside of the bodies to
    1 %: near resonances, as of negative permittivities, on a coarse mesh.

    mirrors: planes in which J is "odd" and M "even", as at an electric wall, or J "even" and M "odd", as at a magnetic
    one, {"z": "odd"}, for "pmchwt"; a mesh is then the part on one side of them. Waves are as even or odd, solutions
    are those of the whole, `mesh.mirrored("z")`. Or `HalfSpace("z")`, a ground of metal, as of `PECScattering`. Not for
    bodies much smaller than the wavelength.

    Triangles inscribed in a curved body take from its volume, which shifts resonances of a body of high permittivity:
    scale a mesh from a file so that it keeps the volume, as round shapes do.

    Raises ValueError and TypeError for invalid arguments.

    J. R. Mautz and R. F. Harrington, AEU 33 (1979) 71; C. Mueller, Grundprobleme der mathematischen Theorie
    elektromagnetischer Schwingungen (1957); P. Yla-Oijala and M. Taskinen, IEEE Trans. Antennas Propag. 53 (2005) 3316.
    """

    mesh: TriangleMesh | Sequence[TriangleMesh]
    wavenumber: float = None  # type: ignore[assignment]
    permittivity: Constant | Sequence[Constant] = None  # type: ignore[assignment]
    permeability: Constant | Sequence[Constant] = 1.0
    formulation: Literal["pmchwt", "muller"] = field(default="pmchwt", kw_only=True)
    gain: bool = field(default=False, kw_only=True)
    frequency: float | None = field(default=None, kw_only=True)
    impedance: float | None = field(default=None, kw_only=True)
    mirrors: Mirrors = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        one_of(self.formulation, FORMULATIONS, "formulation")
        if not isinstance(self.mesh, TriangleMesh | list | tuple) or self.mesh in ([], ()):
            raise TypeError(f"DielectricScattering needs a TriangleMesh or a list of them, got {self.mesh!r}")
        if self.mirrors and (self.formulation == "muller" or isinstance(self.mirrors, Baffle)):
            raise ValueError("DielectricScattering has mirrors by 'pmchwt' alone, and no Baffle: solve on the whole")
        if self.permittivity is None:
            raise TypeError("DielectricScattering needs permittivity=, relative to the surroundings")
        for mesh in self.meshes:
            closed_surface(mesh, "DielectricScattering")
        self._settle_wavenumber()
        if self.formulation == "muller":
            self._check_mueller()
        constants = [(each.permittivity, each.permeability) for each in self.regions]
        if all(pair == constants[0] for pair in constants):
            raise ValueError("permittivity and permeability are 1 everywhere, as of the surroundings: nothing scatters")
        for number, mesh in enumerate(self.meshes):
            sides = self.regions[number + 1], self.regions[int(self.parents[number]) + 1]
            warn_coarse(mesh, max((side.wavenumber for side in sides), key=abs))
        _ = self.system  # an equation that cannot be built is refused here, not when it is solved

    def _check_mueller(self) -> None:
        """ValueError for what Mueller's equations do not support."""
        if any(each.is_conductor for each in self.regions):
            raise ValueError("Mueller's equations do not support perfect conductors: take formulation='pmchwt'")
        # fields of tori and coated spheres get 1e-3 worse there than at larger ones, 6e-3 and 2e-2 at 0.03, and more
        # than 8 % at 0.006
        size, least = self.wavenumber * max(mesh.diameter for mesh in self.meshes), 0.1
        if size < least:
            raise ValueError(
                f"Mueller's equations at k times diameter = {size:.2g}: below {least:g} charges lose more "
                "than 1e-3 to what currents without charges leave; take formulation='pmchwt', for every frequency"
            )

    @property
    def meshes(self) -> tuple[TriangleMesh, ...]:
        """The surfaces in the order given, whole."""
        return tuple(each.whole for each in self.surfaces)

    @cached_property
    def surfaces(self) -> tuple[MirroredSurface, ...]:
        """The surfaces with their images in mirrors, and the parities of J."""
        given = (self.mesh,) if isinstance(self.mesh, TriangleMesh) else self.mesh
        return tuple(MirroredSurface.of(mesh, self.mirrors, of_currents=True) for mesh in given)

    @cached_property
    def parents(self) -> NDArray[np.int64]:
        """For each surface the number of the one directly around it, -1 for none."""
        return enclosing_surfaces(self.meshes)

    @cached_property
    def regions(self) -> tuple[Region, ...]:
        """The surroundings, then what lies directly inside of each surface."""
        number = len(self.meshes)
        epsilon, mu = constants_at(self.frequency, self.permittivity, self.permeability)
        permittivity = material_constants(epsilon, number, "permittivity", self.gain)
        single = unmasked(mu, "permeability").ndim == 0 and mu == 1
        given = [1.0] * number if single else mu
        permeability = material_constants(given, number, "permeability", self.gain)
        found = regions_between(self.parents, self.wavenumber, permittivity, permeability)
        media = [self.permittivity] if isinstance(self.mesh, TriangleMesh) else self.permittivity
        densities = (None, *(getattr(each, "density", None) for each in media))  # type: ignore[union-attr]
        return tuple(replace(each, density=rho) for each, rho in zip(found, densities, strict=True))

    @cached_property
    def function_spaces(self) -> tuple[EdgeSpace, ...]:
        """The Rao-Wilton-Glisson functions of J, and of M, on each surface."""
        return tuple(RWG(mesh) for mesh in self.meshes)

    @cached_property
    def functions(self) -> tuple[MirroredFunctions, ...]:
        """The functions of J on each surface, then those of M, with their images: in a mirror M is even where J is
        odd."""
        pairs = list(zip(self.surfaces, self.function_spaces, strict=True))
        of_m = [MirroredFunctions.of(space, each.mirrored, each.opposite) for each, space in pairs]
        return (*(each.functions(space) for each, space in pairs), *of_m)

    @property
    def elements_per_wavelength(self) -> float:
        """The shortest wavelength on the sides of a surface over its mean edge length, the least of all surfaces."""
        return min(
            elements_per_wavelength(self.meshes[i], each.wavenumber) for each in self.regions for i, _ in each.surfaces
        )

    @cached_property
    def _ratio(self) -> float:
        """Ratio of the wavenumber to that of the equations, which are their quasi-static limit at low frequency."""
        inner = [each.wavenumber for each in self.regions[1:] if not each.is_conductor]
        return 1.0 if self.formulation == "muller" else static_ratio(self.wavenumber, self.function_spaces, inner)

    @cached_property
    def _solved_regions(self) -> tuple[Region, ...]:
        """Regions of the equations."""
        if self._ratio == 1:
            return self.regions
        constants = [(each.permittivity, each.permeability) for each in self.regions[1:]]
        return regions_between(self.parents, self.wavenumber / self._ratio, *zip(*constants, strict=True))

    def _build_system(self) -> LinearSystem:
        spaces = tuple(2 * self.function_spaces)
        k, regions = self.wavenumber / self._ratio, self._solved_regions
        if self.formulation == "muller":
            return LinearSystem("Mueller's equations for J, M", self._mueller[0], spaces)
        unknown = tuple(spaces[number] for number in unknown_fields(regions))
        scales = LoopScales.of(unknown, k, self._ratio)
        if self.mirrors and scales is not None:
            raise ValueError(
                "mirrors of bodies of which parts have k times diameter below 1: loops and charges then have scales of "
                "their own, on the whole; solve on mesh.mirrored(plane)"
            )
        text, equations = "PMCHWT equations for J, M", pmchwt(self.functions, regions)
        if self.mirrors:
            parts = tuple(self.functions[number] for number in unknown_fields(regions))
            return LinearSystem(text, equations, parts)
        return LinearSystem(text, equations, unknown, scales=scales)

    @cached_property
    def _mueller(self) -> tuple[BlockOperator, NDArray[np.complex128]]:
        return mueller(self.function_spaces, self._solved_regions, self._rotations)

    @cached_property
    def _rotations(self) -> tuple[Rotation, ...]:
        return tuple(Rotation(space) for space in self.function_spaces)

    @cached_property
    def _loads(self) -> tuple[Loads, ...]:
        return tuple(space.loads() for space in self.function_spaces)

    def _checked(self, data: Any) -> Any:
        wave = electromagnetic_wave(data, self.wavenumber, type(self).__name__, self.impedance)
        for mesh in self.meshes:
            sources_on_side(wave, mesh)
        return self.surfaces[0].with_images(wave)

    def _right_hand_side(self, data: Any) -> NDArray[Any]:
        eta = complex(data.impedance)
        parts = self._combined(
            lambda loads: (loads @ data.electric(loads.points))[:, None],
            lambda loads: (loads @ (eta * data.magnetic(loads.points)))[:, None],
        )
        for i, tested in parts.items():
            self.surfaces[i % len(self.meshes)].require_symmetry(self.functions[i], tested, self.mirrors)
        return self._stacked(self._rows(parts))[:, 0]

    def _rows(self, parts: dict[int, NDArray[Any]]) -> dict[int, NDArray[Any]]:
        """The rows with unknowns of integrals with all functions."""
        return {i: tested[self.functions[i].functions] for i, tested in parts.items()}

    def _combined(self, electric: TestedField, magnetic: TestedField) -> dict[int, NDArray[Any]]:
        """The integrals (dimension, m) of incident fields E, eta H with the functions of J (0 .. n - 1) and M (n .. 2 n
        - 1), which make the right-hand sides."""
        n, parts = len(self.meshes), {}
        for i, _ in self.regions[0].surfaces:
            if self.formulation == "muller":
                h, e = self._mueller[1][:, i]
                parts[i] = h * self._rotations[i].tested(magnetic)
                parts[n + i] = -e * self._rotations[i].tested(electric)
            else:
                parts[i] = -electric(self._loads[i])
                parts[n + i] = magnetic(self._loads[i])
        return parts

    def _stacked(self, parts: dict[int, NDArray[Any]]) -> NDArray[Any]:
        """Parts (dimension, m) for J (0 .. n - 1) and M (n .. 2 n - 1) as one vector of the unknowns, zeros between."""
        columns = next(iter(parts.values())).shape[1]
        zeros = {i: np.zeros((self.functions[i].dimension, columns)) for i in unknown_fields(self.regions)}
        return np.concatenate([parts.get(i, zero) for i, zero in zeros.items()])

    def _echoes(
        self, r: NDArray[np.float64], receive: NDArray[np.float64], transmit: NDArray[np.float64]
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        surface = self.surfaces[0]
        if self.mirrors and not surface.half_space:
            raise ValueError("a radar sends waves that are not even or odd in mirrors: solve on mesh.mirrored(plane)")

        def waves(vectors: NDArray[np.float64], r: NDArray[np.float64] = r) -> TestedField:
            return lambda loads: loads.plane_waves(loads.phases(-self.wavenumber * r), vectors)

        n, parts = len(self.meshes), {}
        for i, _ in self.regions[0].surfaces:
            parts[i] = waves(receive)(self._loads[i])
            parts[n + i] = -waves(np.cross(-r, receive))(self._loads[i])
        sent = self._rows(self._combined(waves(transmit), waves(np.cross(-r, transmit))))
        if surface.half_space:
            for wave in zip(-r, transmit, strict=True):
                surface.with_images(ElectromagneticPlaneWave(*wave, self.wavenumber))  # refuses what does not come
            sign = np.where(np.arange(3) == "xyz".index(surface.half_space[1]), -1.0, 1.0)
            image, reflected = r * sign, surface.parities[1] * transmit * sign
            echo = self._rows(self._combined(waves(reflected, image), waves(np.cross(-image, reflected), image)))
            sent = {i: each + echo[i] for i, each in sent.items()}
        far = {i: self.functions[i].summed(each) for i, each in parts.items()}
        return self._stacked(sent), 1j * self.wavenumber / (4 * np.pi) * self._stacked(far)

    @property
    def preconditioners(self) -> tuple[str, ...]:
        """ "near" (the usual one, of all methods) and "mass" of "pmchwt", "mass" of "muller"."""
        return ("near", "mass") if self.formulation == "pmchwt" else ("mass",)

    def _usual_preconditioner(self, options: SolveOptions) -> str:
        return self.preconditioners[0]

    def _solution(self, data: Any, coefficients: NDArray[Any], info: SolutionInfo) -> DielectricSolution:
        n, eta, unknown = len(self.meshes), complex(data.impedance), unknown_fields(self.regions)
        cuts = np.cumsum([self.functions[i].dimension for i in unknown])[:-1]
        parts = zip(unknown, np.split(coefficients, cuts), strict=True)
        pieces = {i: self.functions[i].extended(each) for i, each in parts}
        electric, magnetic = [], []
        for i, space in enumerate(self.function_spaces):
            m = pieces.get(n + i, np.zeros(space.dimension, coefficients.dtype))
            electric.append(VectorFunction(space, pieces[i] / eta, "electric surface current", magnetic_unit(eta)))
            magnetic.append(VectorFunction(space, m, "magnetic surface current", "V/m"))
        outer = [i for i, _ in self.regions[0].surfaces]
        radiating = RadiatingCurrents(
            self.wavenumber, data.impedance, tuple(electric[i] for i in outer), tuple(magnetic[i] for i in outer),
            share=self.surfaces[0].share,
        )  # fmt: skip
        currents = tuple(electric), tuple(magnetic)
        solution = DielectricSolution(data, info, radiating, *currents, self.regions, self.parents)
        warn_of_remainder(solution, self._probes, self._advice)
        return solution

    def _preconditioned(self, options: SolveOptions) -> SolveOptions:
        largest = max(self.meshes, key=lambda mesh: mesh.diameter)
        equation = "PMCHWT" if self.formulation == "pmchwt" else "Mueller's equations"
        charges_resolved(largest, self.wavenumber, options.precision, equation, "")
        if options.preconditioned_by("near") and options.solver != "lu":
            return replace(options, preconditioner=self._near_inverse)
        return super()._preconditioned(options)

    @cached_property
    def _near_inverse(self) -> Preconditioner:
        return factors_of("near", self.unknowns, lambda: local_pmchwt(self.functions, self._solved_regions))

    def _verify(self, r: NDArray[np.float64], transmit: NDArray[np.float64], options: SolveOptions) -> None:
        # negative permittivities, and those above 10, have resonances in small bodies
        resonant = any(np.real(each.permittivity) < 0 or abs(each.permittivity) > 10 for each in self.regions)
        if resonant or options.solver == "lu":
            self._solve([ElectromagneticPlaneWave(-r, transmit, self.wavenumber)], options)

    @cached_property
    def _probes(self) -> NDArray[np.float64]:
        """Points inside of the outer surfaces, in which their currents extinguish the incident wave."""
        return np.concatenate([probe_points(self.meshes[i]) for i, _ in self.regions[0].surfaces])

    @property
    def _advice(self) -> str:
        finer = "refine the mesh; near a resonance of the body errors are many times those of other frequencies"
        return f"take formulation='pmchwt', or {finer}" if self.formulation == "muller" else finer

    @property
    def title(self) -> str:  # type: ignore[override]
        inside = ", ".join(
            f"{each.permittivity:.4g}" + (f" (permeability {each.permeability:.4g})" if each.permeability != 1 else "")
            for each in self.regions[1:]
        )
        return f"scattering by penetrable bodies of relative permittivity {inside}"

    @property
    def _details(self) -> tuple[str, ...]:
        return (
            f"wavenumber {self.wavenumber:.6g} 1/m around",
            f"{self.elements_per_wavelength:.1f} elements per wavelength where it is shortest",
        )

    @property
    def _discretisation(self) -> str:
        triangles = sum(mesh.number_of_triangles for mesh in self.meshes)
        surfaces = f"{len(self.meshes)} surface{'s' if len(self.meshes) > 1 else ''}"
        return f"(RWG) on {triangles} triangles of {surfaces}"
