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
from calderon.formulations.options import SolveOptions
from calderon.formulations.solution_info import SolutionInfo
from calderon.greens import Helmholtz
from calderon.mesh import TriangleMesh
from calderon.operators import blocks, electric_field, identity, magnetic_field
from calderon.spaces import EdgeSpace, Loads, VectorFunction
from calderon.validation import one_of

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
    parts are positive, loss has positive imaginary ones. impedance: see `RadarProblem`.

    formulation: "symmetric", above: J alone is ambiguous at resonances of the inside of the surface as a cavity in the
    outer medium, E inside and far fields stay right; "johnson-nedelec", A e + ik T' C J = 0 as its first row, has half
    of the unknowns, and larger errors there.

    e is eliminated by sparse LU factors of A, so that the unknowns are those of the surface; at resonances of the body
    with a magnetic wall behind a surface that absorbs.

    Raises ValueError and TypeError for invalid arguments.

    J.-C. Nedelec, Numer. Math. 35 (1980) 315; R. Hiptmair, SIAM J. Numer. Anal. 41 (2003) 919.
    """

    volume: Any
    wavenumber: float = None  # type: ignore[assignment]
    permittivity: Coefficient = field(default=None, kw_only=True)  # type: ignore[assignment]
    permeability: Coefficient = field(default=1.0, kw_only=True)
    formulation: Literal["symmetric", "johnson-nedelec"] = field(default="symmetric", kw_only=True)
    frequency: float | None = field(default=None, kw_only=True)
    impedance: float | None = field(default=None, kw_only=True)

    title: ClassVar[str] = "scattering by a body of varying permittivity"

    def __post_init__(self) -> None:
        one_of(self.formulation, FORMULATIONS, "formulation")
        if self.permittivity is None:
            raise TypeError("InhomogeneousDielectric needs permittivity=, relative to the surroundings")
        self.__dict__["elements"] = elements = EdgeElements.of(self.volume)
        object.__setattr__(self, "volume", elements.volume)
        closed_surface(self.mesh, "InhomogeneousDielectric")
        self._settle_wavenumber()
        warn_coarse(self.mesh, self._shortest)
        _ = self.system

    elements: ClassVar[EdgeElements]

    @property
    def mesh(self) -> TriangleMesh:
        """The boundary of the volume."""
        return self.elements.volume.surface()

    @property
    def function_space(self) -> EdgeSpace:
        """The Rao-Wilton-Glisson functions of J and of M."""
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
        elements, k, space = self.elements, self.wavenumber, self.function_space
        matrix, mass = elements.matrix(k, *self._material), sp.csr_array(space.mass_matrix())
        if self.formulation == "symmetric":
            loads = sp.eye_array(space.dimension, format="csr")
            return Elimination(matrix, elements.trace, loads, lambda: -1j * k * mass, others=space.dimension)
        pairing = self._rotation
        sums = abs(mass).sum(axis=1)
        return Elimination(
            matrix, elements.trace, -1j * k * pairing, lambda: sp.csr_array(sp.diags_array(1 / sums) @ pairing.T)
        )

    @property
    def _rotation(self) -> sp.csr_array:
        """C (n, n), <n x f_i, f_j>."""
        return sp.csr_array(self.function_space.mass_matrix(self.function_space.perpendicular()))

    def _build_system(self) -> EliminatedSystem:
        space, k = self.function_space, self.wavenumber
        electric, rotated = electric_field(k, space), space.perpendicular()
        magnetic, half = magnetic_field(Helmholtz(k), space, rotated), 0.5 * identity(space, rotated)
        rows = [[magnetic - half, -1 * electric]]  # C' = -C
        text = "(C'/2 + K_s) T e - T_k J = <f, E_inc>"
        if self.formulation == "symmetric":
            rows = [[1j * k * electric, 1j * k * (half + magnetic)], *rows]
            spaces: Any = (DualUnknowns(space), space)  # type: ignore[arg-type]
            first = "A e + ik T' (T_k T e + (C/2 + K_s) J) = -ik T' <f, eta H_inc>"
        else:
            spaces, first = (space,), "A e + ik T' C J = 0"
        return EliminatedSystem(f"{first}, {text}", blocks(rows), spaces, elimination=self.elimination)

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
        sources_on_side(wave, self.mesh)
        return wave

    def _sides(self, electric: NDArray[Any], magnetic: NDArray[Any]) -> NDArray[Any]:
        """Right-hand sides of <f, E_inc> and <f, eta H_inc>."""
        if self.formulation == "symmetric":
            return np.concatenate([-1j * self.wavenumber * magnetic, electric])
        return electric

    def _right_hand_side(self, data: Any) -> NDArray[Any]:
        loads, eta = self._loads, complex(data.impedance)
        return self._sides(loads @ data.electric(loads.points), loads @ (eta * data.magnetic(loads.points)))

    def _echoes(
        self, r: NDArray[np.float64], receive: NDArray[np.float64], transmit: NDArray[np.float64]
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        loads = self._loads
        phases = loads.phases(-self.wavenumber * r)
        sent, seen = ([loads.plane_waves(phases, each) for each in (vector, np.cross(-r, vector))]
                      for vector in (transmit, receive))  # fmt: skip
        far = self.elimination.transposed(np.concatenate([-seen[1], seen[0]]))
        return self._sides(*sent), 1j * self.wavenumber / (4 * np.pi) * far

    def _solution(self, data: Any, coefficients: NDArray[Any], info: SolutionInfo) -> InhomogeneousDielectricSolution:
        elements, elimination, space, eta = self.elements, self.elimination, self.function_space, data.impedance
        inside = elimination.volume(coefficients[:, None])
        fields = elimination.surface(coefficients[:, None])[0][:, 0]
        m, j = np.split(fields, 2)
        electric = VectorFunction(space, j / complex(eta), "electric surface current", magnetic_unit(eta))
        magnetic = VectorFunction(space, m, "magnetic surface current", "V/m")
        currents = RadiatingCurrents(self.wavenumber, eta, (electric,), (magnetic,))
        interior = elements.function(inside[:, 0], "electric field", "V/m")
        return InhomogeneousDielectricSolution(data, info, currents, interior, self._inverse_permeability)

    @property
    def _inverse_permeability(self) -> NDArray[np.complex128]:
        """1 / mu, the mean of each tetrahedron, (nt,) or (nt, 3, 3)."""
        mu = self._material[1]
        inverse = 1 / mu if mu.ndim == 2 else np.linalg.inv(mu)
        return np.asarray(inverse.mean(axis=1), np.complex128)

    @property
    def _details(self) -> tuple[str, ...]:
        line = resolution(self.mesh, self.wavenumber, elements_per_wavelength(self.mesh, self._shortest))
        return (self.elements.description, line)
