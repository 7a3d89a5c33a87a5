"""Scattering of electromagnetic waves by bodies whose permittivity and permeability vary from place to place."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.coupling.coefficients import Coefficient, at_points, require_loss, require_positive
from calderon.coupling.edge_elements import EdgeElements
from calderon.coupling.elimination import DualUnknowns, EliminatedSystem, Elimination
from calderon.formulations.checks import (
    charges_resolved,
    closed_surface,
    electromagnetic_wave,
    elements_per_wavelength,
    resolution,
    sources_on_side,
    warn_coarse,
)
from calderon.formulations.electromagnetic.inhomogeneous_solution import InhomogeneousDielectricSolution
from calderon.formulations.electromagnetic.radar import RadarProblem
from calderon.formulations.electromagnetic.radiating_currents import RadiatingCurrents, magnetic_unit
from calderon.formulations.mirrors import MirroredSurface, Mirrors
from calderon.formulations.options import SolveOptions
from calderon.formulations.solution_info import SolutionInfo
from calderon.greens import Helmholtz
from calderon.mesh import TriangleMesh
from calderon.operators import BoundaryOperator, blocks, electric_field, identity, magnetic_field
from calderon.operators.blocks import transformed
from calderon.spaces import EdgeSpace, Loads, VectorFunction
from calderon.spaces.mirror_images import MirroredFunctions
from calderon.validation import describe, one_of
from calderon.waves import ElectromagneticPlaneWave

FORMULATIONS = "symmetric", "johnson-nedelec"


@dataclass(frozen=True, eq=False)
class InhomogeneousDielectric(RadarProblem[InhomogeneousDielectricSolution]):
    """Scattering of electromagnetic waves, exp(-i omega t), by a body of varying permittivity and permeability: edge
    functions on tetrahedra inside, boundary elements outside.

    Inside, with constants relative to the surroundings, curl mu^-1 curl E - k^2 eps E = 0. With e the coefficients of
    E, A the matrix of the volume, T e those of M = E x n in RWG, J = n x H in units of E over eta, C = <n x f_i, f_j>,
    and the electric field operator T_k and the magnetic one K_s, tested with f, of `electric_field` and
    `magnetic_field`,

        A e + ik T' (T_k T e + (C/2 + K_s) J) = -ik T' <f, eta H_inc>,
        (C'/2 + K_s) T e - T_k J = <f, E_inc>.

    volume: a `TetrahedralMesh` in m, a `MeshTet` of scikit-fem, or (points, tetrahedra). wavenumber: k outside in
    1/m, or frequency= in Hz in vacuum. permittivity, permeability: a number, a table {tag or name of a material:
    number} or a function f(x) of points (n, 3) with values (n,); each may give symmetric tensors (n, 3, 3). Real
    parts are positive, loss has positive imaginary ones. density: in kg/m^3, given in the same ways, 0 of what is no
    tissue; rates of absorption need it. impedance: see `RadarProblem`.

    formulation: "symmetric", above: J alone is ambiguous at resonances of the inside of the surface as a cavity in the
    outer medium, E inside and far fields stay right; "johnson-nedelec", A e + ik T' C J = 0 as its first row, has half
    of the unknowns, and larger errors there.

    e is eliminated by sparse LU factors of A, so that the unknowns are those of the surface; at resonances of the body
    with a magnetic wall behind a surface that absorbs.

    mirrors: planes in which J is "odd", as at an electric wall, or "even", as at a magnetic one, {"z": "odd"}, or
    `HalfSpace("z")`, a ground of metal, as of `PECScattering`: the volume is the part on one side, whose faces in
    mirrors are no boundary. Waves are as even or odd, and solutions are those of the whole. Not for bodies with holes.

    Raises ValueError and TypeError for invalid arguments.

    J.-C. Nedelec, Numer. Math. 35 (1980) 315; R. Hiptmair, SIAM J. Numer. Anal. 41 (2003) 919.
    """

    volume: Any
    wavenumber: float = None  # type: ignore[assignment]
    permittivity: Coefficient = field(default=None, kw_only=True)  # type: ignore[assignment]
    permeability: Coefficient = field(default=1.0, kw_only=True)
    density: Coefficient | None = field(default=None, kw_only=True)
    formulation: Literal["symmetric", "johnson-nedelec"] = field(default="symmetric", kw_only=True)
    frequency: float | None = field(default=None, kw_only=True)
    impedance: float | None = field(default=None, kw_only=True)
    mirrors: Mirrors = field(default=None, kw_only=True)

    title: ClassVar[str] = "scattering by a body of varying permittivity"

    def __post_init__(self) -> None:
        one_of(self.formulation, FORMULATIONS, "formulation")
        if self.permittivity is None:
            raise TypeError("InhomogeneousDielectric needs permittivity=, relative to the surroundings")
        self.__dict__["elements"] = elements = EdgeElements.of(self.volume, self.mirrors)
        object.__setattr__(self, "volume", elements.volume)
        closed_surface(self.surface.whole, "InhomogeneousDielectric")
        self._settle_wavenumber()
        _ = self._densities
        warn_coarse(self.mesh, self._shortest)
        _ = self.system

    elements: ClassVar[EdgeElements]

    @property
    def mesh(self) -> TriangleMesh:
        """The boundary of the volume, without faces in mirrors."""
        return self.surface.part

    @property
    def surface(self) -> MirroredSurface:
        """The boundary, and the whole with its images in mirrors."""
        return self.elements.surface

    @property
    def function_space(self) -> EdgeSpace:
        """The Rao-Wilton-Glisson functions of J and of M, on the whole boundary."""
        return self.elements.space

    @cached_property
    def _material(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """eps and mu at the points of quadrature, (nt, q) or (nt, q, 3, 3)."""
        points, found = self.elements.points, []
        for name in ("permittivity", "permeability"):
            values = at_points(getattr(self, name), self.volume, points, name, tensors=True)
            require_positive(values, points, name)
            require_loss(values, points, name, 1.0)
            found.append(values)
        return found[0], found[1]

    @property
    def _shortest(self) -> float:
        """The largest wavenumber inside or outside."""
        largest = [np.abs(x if x.ndim == 2 else np.linalg.eigvals(x)).max() for x in self._material]
        return self.wavenumber * max(1.0, float(np.sqrt(largest[0] * largest[1])))

    @cached_property
    def elimination(self) -> Elimination:
        """The volume, whose factors are made when they are first needed. Absorbing is n x H = -E, tested."""
        elements, k, surface = self.elements, self.wavenumber, self.surface
        values, currents, mass = elements.values, elements.currents, self.function_space.mass_matrix()
        matrix = elements.matrix(k, *self._material)
        if self.formulation == "symmetric":
            copies = values.copies  # a function across mirrors has its tests on the part in all of these
            loads = sp.csr_array(sp.diags_array(1j * k / copies))  # of p = -<f, eta H>, of the order of E at any k
            tested = sp.csr_array(sp.diags_array(-copies) @ surface.on_part(values, values, mass))
            return Elimination(matrix, elements.trace, loads, lambda: tested, others=currents.dimension)
        pairing = surface.on_part(values, currents, self._rotation)
        sums = abs(surface.on_part(currents, currents, mass)).sum(axis=1)
        return Elimination(
            matrix, elements.trace, -1j * k * pairing, lambda: sp.csr_array(sp.diags_array(1 / sums) @ pairing.T)
        )

    @property
    def _rotation(self) -> sp.csr_array:
        """C (n, n), <n x f_i, f_j>."""
        return sp.csr_array(self.function_space.mass_matrix(self.function_space.perpendicular()))

    def _build_system(self) -> EliminatedSystem:
        space, k, values, currents = self.function_space, self.wavenumber, self.elements.values, self.elements.currents
        rotated = [space.perpendicular().of_functions(each.functions) for each in (values, currents)]

        def of_currents(tests: MirroredFunctions, images: MirroredFunctions) -> BoundaryOperator:
            return transformed(electric_field(k, space, tests.part), right=images.images)

        def magnetic(tests: EdgeSpace, images: MirroredFunctions, half: float) -> BoundaryOperator:
            both = magnetic_field(Helmholtz(k), space, tests) + half * identity(space, tests)
            return transformed(both, right=images.images)

        rows = [[magnetic(rotated[1], values, -0.5), -1 * of_currents(currents, currents)]]  # C' = -C
        text = "(C'/2 + K_s) T e - T_k J = <f, E_inc>"
        if self.formulation == "symmetric":
            first = [of_currents(values, values), magnetic(rotated[0], currents, 0.5)]
            rows = [first, *rows]
            spaces: Any = (DualUnknowns(values), currents)
            equation = "A e - ik T' p = 0, p + T_k T e + (C/2 + K_s) J = -<f, eta H_inc>"
        else:
            spaces, equation = (currents,), "A e + ik T' C J = 0"
        return EliminatedSystem(f"{equation}, {text}", blocks(rows), spaces, elimination=self.elimination)

    @property
    def usual_solver(self) -> str:  # type: ignore[override]
        """LU factors, as "auto" stores the entries of small problems alone."""
        return "lu"

    @cached_property
    def _loads(self) -> Loads:
        return self.function_space.loads()

    def _preconditioned(self, options: SolveOptions) -> SolveOptions:
        charges_resolved(self.mesh, self.wavenumber, options.precision, "the equation of the electric field", "")
        return super()._preconditioned(options)

    def _checked(self, data: Any) -> Any:
        wave = electromagnetic_wave(data, self.wavenumber, type(self).__name__, self.impedance)
        sources_on_side(wave, self.surface.whole)
        return self.surface.with_images(wave)

    def _sides(self, electric: NDArray[Any], magnetic: NDArray[Any]) -> NDArray[Any]:
        """Right-hand sides of <f, E_inc> and <f, eta H_inc> with all functions."""
        values, currents = (each.functions for each in (self.elements.values, self.elements.currents))
        if self.formulation == "symmetric":
            return np.concatenate([-magnetic[values], electric[currents]])
        return electric[currents]

    def _right_hand_side(self, data: Any) -> NDArray[Any]:
        loads, eta = self._loads, complex(data.impedance)
        electric, magnetic = loads @ data.electric(loads.points), loads @ (eta * data.magnetic(loads.points))
        for functions, tested in ((self.elements.currents, electric), (self.elements.values, magnetic)):
            self.surface.require_symmetry(functions, tested, self.mirrors)
        return self._sides(electric, magnetic)

    def _echoes(
        self, r: NDArray[np.float64], receive: NDArray[np.float64], transmit: NDArray[np.float64]
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        if self.mirrors and not self.surface.half_space:
            raise ValueError("a radar sends waves that are not even or odd in mirrors: solve for the whole")
        seen, sent = self._plane_waves(r, receive), self._plane_waves(r, transmit)
        if self.surface.half_space:
            for wave in zip(-r, transmit, strict=True):
                self.surface.with_images(ElectromagneticPlaneWave(*wave, self.wavenumber))  # refuses what does not come
            sign = np.where(np.arange(3) == "xyz".index(self.surface.half_space[1]), -1.0, 1.0)
            image = self._plane_waves(r * sign, self.surface.parities[1] * transmit * sign)
            sent = sent[0] + image[0], sent[1] + image[1]
        fields = self.elements.values.summed(-seen[1]), self.elements.currents.summed(seen[0])
        far = self.elimination.transposed(np.concatenate(fields))
        return self._sides(*sent), 1j * self.wavenumber / (4 * np.pi) * far

    def _plane_waves(
        self, r: NDArray[np.float64], polarizations: NDArray[np.float64]
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """<f, E> and <f, eta H> (dimension, m) of plane waves along -r (m, 3) with these polarizations (m, 3)."""
        phases = self._loads.phases(-self.wavenumber * r)
        electric = self._loads.plane_waves(phases, polarizations)
        return electric, self._loads.plane_waves(phases, np.cross(-r, polarizations))

    def _solution(self, data: Any, coefficients: NDArray[Any], info: SolutionInfo) -> InhomogeneousDielectricSolution:
        elements, elimination, space, eta = self.elements, self.elimination, self.function_space, data.impedance
        inside = elimination.volume(coefficients[:, None])
        fields = elimination.surface(coefficients[:, None])[0][:, 0]
        m, j = np.split(fields, [elements.values.dimension])
        m, j = elements.values.extended(m), elements.currents.extended(j)
        electric = VectorFunction(space, j / complex(eta), "electric surface current", magnetic_unit(eta))
        magnetic = VectorFunction(space, m, "magnetic surface current", "V/m")
        currents = RadiatingCurrents(self.wavenumber, eta, (electric,), (magnetic,), share=self.surface.share)
        interior = elements.function(inside[:, 0], "electric field", "V/m")
        permittivity, mu = self._material
        inverse = 1 / mu if mu.ndim == 2 else np.linalg.inv(mu)
        inverse, permittivity = (self._means(each).astype(np.complex128) for each in (inverse, permittivity))
        return InhomogeneousDielectricSolution(
            data, info, currents, interior, inverse, permittivity, density=self._densities
        )

    @cached_property
    def _densities(self) -> NDArray[np.float64] | None:
        """(nt,) densities in kg/m^3."""
        if self.density is None:
            return None
        points = self.elements.points
        values = at_points(self.density, self.volume, points, "density")
        if np.iscomplexobj(values) or (values < 0).any():
            raise ValueError(
                f"density={describe(self.density)} has negative or complex values: numbers in kg/m^3 are needed, 0 of "
                "what is no tissue"
            )
        return self._means(values)

    def _means(self, values: NDArray[Any]) -> NDArray[Any]:
        """Means of each tetrahedron and its images, (nt,) or (nt, 3, 3), of values at points of quadrature."""
        return self.elements.constants_of_images(values.mean(axis=1))

    @property
    def _details(self) -> tuple[str, ...]:
        line = resolution(self.mesh, self.wavenumber, elements_per_wavelength(self.mesh, self._shortest))
        return (self.elements.description, line)
