"""Static fields of bodies whose permittivity or permeability varies from place to place."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from calderon.coupling.coefficients import Coefficient, at_points, require_positive
from calderon.coupling.elimination import EliminatedSystem, Elimination
from calderon.coupling.finite_elements import DEGREES, FiniteElements
from calderon.exact import VACUUM_PERMITTIVITY
from calderon.formulations.acoustic.sound_equation import of_slopes, of_values
from calderon.formulations.checks import closed_surface
from calderon.formulations.laplace.volume_potential import VolumePotentialSolution
from calderon.formulations.options import SolveOptions
from calderon.formulations.problem import Problem
from calderon.formulations.solution_info import SolutionInfo
from calderon.greens import Laplace
from calderon.mesh import TriangleMesh
from calderon.operators import blocks
from calderon.potentials import double_layer_potential, single_layer_potential
from calderon.spaces import Function, Space
from calderon.validation import one_of
from calderon.waves import CurrentPath, PointCharge, StaticDipole


@dataclass(frozen=True, eq=False, init=False)
class InhomogeneousPotential(Problem[VolumePotentialSolution]):
    """The static potential u of a body of varying permittivity, or permeability, in free space: finite elements inside,
    boundary elements outside,

        -div(eps grad u) = rho / eps0 inside,      u and eps du/dn continuous,      eps = 1 outside.

    With T the values on the boundary, A the matrix of the volume, M that of the pairing <v, lambda>, lambda = du/dn on
    the outside, n the normal out of the body and eta half the diameter,

        A u - T' M lambda = F,
        (I/2 - K + eta D) T u + (V + eta (I/2 + K')) lambda = u_0 + eta du_0/dn.

    volume: as for `coupling.boundary`. permittivity: relative, or permeability=, of linear materials: a number, a table
    {tag or name of a material: number}, or f(x) of points (n, 3) with values (n,) or tensors (n, 3, 3).
    charge_density: rho in C/m^3 inside, likewise. space: "P1" or "P2"; linear functions in magnetic shields need far
    finer meshes.

    Data: a `UniformField`, or another source outside with `potential(x)` and `gradient(x)`: u_0; of a permeability
    also a `CurrentPath` of field H_0 outside of the body, where u is the reduced potential, H = H_0 - grad u, with
    u_0 = 0 and F = int (mu - 1) H_0 . grad v; None for charges alone.
    """

    volume: Any = None
    permittivity: Any = None
    permeability: Any = None
    charge_density: Any = None
    space: Literal["P1", "P2"] = "P2"

    elements: ClassVar[FiniteElements]
    title: ClassVar[str] = "static potential of an inhomogeneous body"
    pair_bytes: ClassVar[int] = 16  # real entries and factors

    def __init__(
        self,
        volume: Any,
        permittivity: Coefficient | None = None,
        *,
        permeability: Coefficient | None = None,
        charge_density: Coefficient | None = None,
        space: Literal["P1", "P2"] = "P2",
    ) -> None:
        elements = FiniteElements.of(volume, DEGREES[one_of(space, tuple(DEGREES), "space")])
        if (permittivity is None) == (permeability is None):
            raise ValueError("give either permittivity= or permeability=, relative to those around")
        if permeability is not None and charge_density is not None:
            raise ValueError("charge_density= belongs to permittivity=: magnetic charges do not exist")
        given = {
            "volume": elements.volume, "permittivity": permittivity, "permeability": permeability,
            "charge_density": charge_density, "space": space, "elements": elements,
        }  # fmt: skip
        self.__dict__.update(given)
        closed_surface(self.mesh, "InhomogeneousPotential")
        _ = self._constant, self.system

    @property
    def mesh(self) -> TriangleMesh:
        """The boundary of the volume."""
        return self.elements.volume.surface()

    @property
    def function_space(self) -> Space:
        """The functions on the boundary."""
        return self.elements.space

    @property
    def kind(self) -> str:
        """ "electric" or "magnetic"."""
        return "electric" if self.permeability is None else "magnetic"

    @property
    def eta(self) -> float:
        """The coupling of both rows, half the diameter."""
        return self.mesh.diameter / 2

    @cached_property
    def _constant(self) -> NDArray[Any]:
        """The constant of the material at the points of quadrature, (nt, q) or (nt, q, 3, 3)."""
        name, points = ("permittivity", "permeability")[self.permittivity is None], self.elements.points
        found = at_points(getattr(self, name), self.volume, points, name, tensors=True)
        if np.iscomplexobj(found):
            raise ValueError(f"{name} of a static field is real")
        require_positive(found, points, name)
        return found

    @cached_property
    def elimination(self) -> Elimination:
        """The volume, whose factors are made when they are first needed."""
        elements, robin = self.elements, self.elements.robin(self.eta)
        matrix = elements.stiffness(self._constant)
        return Elimination(matrix, elements.trace, elements.pairing, lambda: robin, robin)

    def _build_system(self) -> EliminatedSystem:
        green, space, slopes, eta = Laplace(), self.function_space, self.elements.slopes, self.eta
        rows = blocks([[of_values(green, space, slopes, eta), of_slopes(green, slopes, slopes, eta)]])
        text = (
            "A u = T' M lambda, (I/2 - K + eta D) T u + (V + eta (I/2 + K')) lambda = u_0 + eta du_0/dn, "
            f"eta = {eta:.4g} m"
        )
        return EliminatedSystem(text, rows, (slopes,), elimination=self.elimination)

    def _checked(self, data: Any) -> Any:
        if data is None and self.charge_density is None:
            raise ValueError("nothing excites the field: give a UniformField, a CurrentPath or charge_density=")
        if isinstance(data, CurrentPath):
            if self.kind == "electric":
                raise ValueError("a CurrentPath makes a magnetic field: give permeability=")
        elif isinstance(data, PointCharge | StaticDipole):
            raise TypeError(
                f"a {type(data).__name__} next to a body of varying material is not provided: see StaticProblem"
            )
        elif data is not None and not (hasattr(data, "potential") and hasattr(data, "gradient")):
            raise TypeError(f"a static potential is excited by a UniformField or a CurrentPath, got {data!r}")
        return data

    def _load(self, data: Any) -> NDArray[np.float64]:
        """F (N,) in the volume."""
        elements, load = self.elements, np.zeros(self.elements.dimension)
        if isinstance(data, CurrentPath):
            points = elements.points
            own = data.magnetic_field(points.reshape(-1, 3)).reshape(points.shape)
            mu = self._constant
            extra = (mu - 1)[..., None] * own if mu.ndim == 2 else np.einsum("nqij,nqj->nqi", mu, own) - own
            load = load + elements.flux_load(extra)
        if self.charge_density is not None:
            density = at_points(self.charge_density, self.volume, elements.points, "charge_density")
            load = load + elements.load(np.real(density)) / VACUUM_PERMITTIVITY
        return load

    def _prepare(self, options: SolveOptions) -> float:
        return self.system.assemble(options)  # whose products right-hand sides of sources inside need

    def _right_hand_side(self, data: Any) -> NDArray[Any]:
        slopes = self.elements.slopes
        found = np.zeros(slopes.dimension)
        if data is not None and not isinstance(data, CurrentPath):
            loads = slopes.loads()
            derivative = np.einsum("ni,ni->n", data.gradient(loads.points), loads.normals)
            found = loads @ data.potential(loads.points) + self.eta * (loads @ derivative)
        load = self._load(data)
        if load.any():
            found = found - self.system.assembled @ self.elimination.of_load(load)
        return np.asarray(found)

    def _solution(self, data: Any, coefficients: NDArray[Any], info: SolutionInfo) -> VolumePotentialSolution:
        elimination, space, unit = self.elimination, self.function_space, {"electric": "V", "magnetic": "A"}[self.kind]
        inside = elimination.volume(coefficients[:, None], self._load(data)[:, None])[:, 0]
        value = elimination.trace @ inside
        slope = elimination.primary(coefficients, value)
        surface, slopes = Function(space, value, "potential", unit), self.elements.slopes
        derivative = Function(slopes, slope, "normal derivative of the potential", f"{unit}/m")
        negative = Function(slopes, -slope, derivative.label, derivative.unit)
        layers = double_layer_potential(Laplace(), surface), single_layer_potential(Laplace(), negative)
        interior = self.elements.function(inside, "potential", unit)
        return VolumePotentialSolution(data, self.kind, info, surface, derivative, layers, interior)

    @property
    def _details(self) -> tuple[str, ...]:
        return (self.elements.description,)
