"""Scattering of sound by bodies whose density and speed of sound vary from place to place."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.coupling.coefficients import Coefficient, at_points, require_loss, require_positive
from calderon.coupling.elimination import DualUnknowns, EliminatedSystem, Elimination
from calderon.coupling.finite_elements import DEGREES, FiniteElements
from calderon.formulations.acoustic.results.volume_solution import VolumeScatteringSolution
from calderon.formulations.acoustic.scattering import ScatteringProblem, usual_coupling
from calderon.formulations.acoustic.sound_equation import of_slopes, of_values
from calderon.formulations.mirrors import Mirrors
from calderon.formulations.options import SolveChoices, SolveOptions
from calderon.formulations.solution_info import SolutionInfo
from calderon.mesh import TriangleMesh
from calderon.operators import adjoint_double_layer, blocks, hypersingular, identity
from calderon.operators.blocks import transformed
from calderon.potentials import Potential, double_layer_potential, single_layer_potential
from calderon.spaces import Function
from calderon.spaces.mirror_images import MirroredFunctions, stacked
from calderon.validation import one_of, wavenumber_of_a_wave

FORMULATIONS = "burton-miller", "johnson-nedelec", "symmetric"


@dataclass(frozen=True, eq=False, init=False)
class InhomogeneousScattering(ScatteringProblem):
    """Scattering of time-harmonic sound, exp(-i omega t), by a body of varying density and speed of sound: finite
    elements inside, boundary elements outside.

    Inside, with a = rho0 / rho and n = (c0 / c)^2 rho0 / rho of the density rho and the speed c there over those
    outside,

        -div(a grad u) - k^2 n u = 0,      u and a du/dn continuous.

    With T the values on the boundary, A the matrix of the volume, M that of the pairing <v, lambda>, lambda = du/dn on
    the outside and n the normal out of the body,

        A u - T' M lambda = 0,
        (I/2 - K + eta D) T u + (V + eta (I/2 + K')) lambda = u_inc + eta du_inc/dn,     eta = i / Re k.

    volume: a `TetrahedralMesh` in m, a `MeshTet` of scikit-fem, or (points, tetrahedra). wavenumber: k outside in
    1/m, or frequency= in Hz with speed_of_sound=. density_ratio: rho / rho0, and interior_wavenumber: omega / c in
    1/m; or a= and n= themselves. Each is a number, a table {tag or name of a material: number} or a function f(x)
    of points (n, 3) with values (n,); a may give tensors (n, 3, 3). Loss has Im interior_wavenumber > 0, Im n >= 0,
    Im a <= 0. space: "P1" or "P2", of u, inside and on the surface; lambda is linear. mirrors: as of
    `ScatteringProblem`; the volume is then the part on one side, whose faces in mirrors are no boundary.

    formulation: "burton-miller", above, one solution at each real k; "johnson-nedelec", eta = 0, fails at resonances of
    the inside of the surface with the outer medium, where u is wrong; "symmetric",

        (A + T' D T) u - T' (M/2 - K') lambda = T' du_inc/dn,

    with the row above, eta = 0, whose lambda alone is ambiguous there: u and far fields stay right.

    u in the volume is eliminated by sparse LU factors of A, so that iterations know the surface only. Where A is
    singular, at resonances of the body with a rigid surface, lambda - i k u is unknown instead of lambda.

    C. Johnson and J.-C. Nedelec, Math. Comp. 35 (1980) 1063; M. Costabel, Boundary Elements IX (1987) 411.
    """

    volume: Any = None
    density_ratio: Any = None
    interior_wavenumber: Any = None
    a: Any = None
    n: Any = None
    formulation: Literal["burton-miller", "johnson-nedelec", "symmetric"] = "burton-miller"

    title: ClassVar[str] = "scattering by an inhomogeneous body"
    unknown: ClassVar[str | None] = None

    def __init__(
        self,
        volume: Any,
        wavenumber: complex | None = None,
        *,
        density_ratio: Coefficient | None = None,
        interior_wavenumber: Coefficient | None = None,
        a: Coefficient | None = None,
        n: Coefficient | None = None,
        formulation: Literal["burton-miller", "johnson-nedelec", "symmetric"] = "burton-miller",
        space: Literal["P1", "P2"] = "P2",
        frequency: float | None = None,
        speed_of_sound: float | None = None,
        mirrors: Mirrors = None,
    ) -> None:
        one_of(formulation, FORMULATIONS, "formulation")
        elements = FiniteElements.of(volume, DEGREES[one_of(space, ("P1", "P2"), "space")], mirrors)
        if (a is not None or n is not None) and (density_ratio is not None or interior_wavenumber is not None):
            raise ValueError("give density_ratio= and interior_wavenumber=, or a= and n=, not both")
        given = dict(
            mesh=elements.surface.part, wavenumber=wavenumber, space=space, frequency=frequency,
            speed_of_sound=speed_of_sound, mirrors=mirrors, volume=elements.volume, density_ratio=density_ratio,
            interior_wavenumber=interior_wavenumber, a=a, n=n, formulation=formulation,
        )  # fmt: skip
        for name, value in given.items():
            object.__setattr__(self, name, value)
        self.__dict__.update(elements=elements, surface=elements.surface)
        self.__post_init__()

    elements: ClassVar[FiniteElements]

    def _check_fields(self) -> None:
        _ = self._material

    @cached_property
    def _material(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """a and n at the points of quadrature, (nt, q), the first also (nt, q, 3, 3)."""
        points, volume = self.elements.points, self.volume

        def values(given: Any, name: str, tensors: bool = False) -> NDArray[Any]:
            found = at_points(1.0 if given is None else given, volume, points, name, tensors)
            require_positive(found, points, name)
            return found

        if self.density_ratio is None and self.interior_wavenumber is None:
            a, n = values(self.a, "a", tensors=True), values(self.n, "n")
            require_loss(a, points, "a", -1.0)
        else:
            a = 1 / values(self.density_ratio, "density_ratio")
            inside = self.wavenumber if self.interior_wavenumber is None else self.interior_wavenumber
            k = values(inside, "interior_wavenumber")
            require_loss(k, points, "interior_wavenumber", 1.0)
            n = a * (k / self.wavenumber) ** 2
        require_loss(n * self.wavenumber**2, points, "n", 1.0)
        return a, n

    @property
    def _resolved(self) -> list[tuple[TriangleMesh, complex]]:
        a, n = self._material
        slowest = a if a.ndim == 2 else np.linalg.eigvalsh(np.real(a))[..., 0]
        inside = abs(self.wavenumber) * float(np.sqrt(np.max(np.abs(n / slowest))))
        return [(self.mesh, max(abs(self.wavenumber), inside) / DEGREES[self.space])]

    @property
    def eta(self) -> complex:
        """The coupling of the equation of Burton and Miller, i / Re k in m, 0 for the other formulations."""
        return usual_coupling(self.wavenumber) if self.formulation == "burton-miller" else 0j

    def at(self, wavenumber: complex) -> Self:
        """This problem at another wavenumber, all in the same ratio (media without dispersion)."""
        k, factor = self.interior_wavenumber, wavenumber_of_a_wave(wavenumber) / self.wavenumber
        if callable(k):
            inside: Any = lambda x: factor * np.asarray(k(x))  # noqa: E731
        elif hasattr(k, "items"):
            inside = {tag: factor * value for tag, value in k.items()}
        else:
            inside = k if k is None else factor * k
        return type(self)(
            self.volume, wavenumber, density_ratio=self.density_ratio, interior_wavenumber=inside, a=self.a, n=self.n,
            formulation=self.formulation, space=self.space, speed_of_sound=self.speed_of_sound,  # type: ignore[arg-type]
            mirrors=self.mirrors,
        )  # fmt: skip

    @property
    def _weight(self) -> float:
        """|k| in 1/m, by which rows of pressures count in residuals as those of their derivatives do."""
        return float(abs(self.wavenumber))

    @cached_property
    def elimination(self) -> Elimination:
        """The volume, whose factors are made when they are first needed."""
        (a, n), elements = self._material, self.elements
        matrix = elements.reduced(sp.csr_array(elements.stiffness(a) - self.wavenumber**2 * elements.mass(n)))
        trace = elements.trace[:, np.flatnonzero(elements.free())]
        eta, pairing = usual_coupling(self.wavenumber), elements.pairing
        if self.formulation == "symmetric":
            copies = elements.values.copies  # a function across mirrors has its tests on the part in all of these
            loads, whole = sp.csr_array(sp.diags_array(1 / copies)), sp.csr_array(sp.diags_array(copies) @ pairing)
            return Elimination(matrix, trace, loads, lambda: whole @ elements.robin(eta), others=pairing.shape[1])
        return Elimination(matrix, trace, pairing, lambda: elements.robin(eta))

    @cached_property
    def functions(self) -> MirroredFunctions:
        """The functions that the rows are tested with, and their images."""
        elements = self.elements
        return stacked([*([elements.values] if self.formulation == "symmetric" else []), elements.derivatives])

    def _build_system(self) -> EliminatedSystem:
        green, eta, values, derivatives = self.green, self.eta, self.elements.values, self.elements.derivatives
        space, slopes, tests = self.function_space, derivatives.space, derivatives.part
        value = transformed(of_values(green, space, tests, eta), right=values.images)
        slope = transformed(of_slopes(green, slopes, tests, eta), right=derivatives.images)
        if self.formulation == "symmetric":
            text = (
                "symmetric coupling (A + T' D T) u - T' (M/2 - K') lambda = T' du_inc/dn, "
                "-|k| ((I/2 - K) T u + V lambda) = -|k| u_inc"
            )
            own = values.part
            of_slope = adjoint_double_layer(green, slopes, own) - 0.5 * identity(slopes, own)
            first = [
                transformed(hypersingular(green, space, own), right=values.images),
                transformed(of_slope, right=derivatives.images),
            ]
            rows = blocks([first, [-self._weight * value, -self._weight * slope]])
            spaces: Any = (DualUnknowns(values), derivatives)
            return EliminatedSystem(text, rows, spaces, elimination=self.elimination)
        text = "A u = T' M lambda, (I/2 - K) T u + V lambda = u_inc (Johnson-Nedelec)"
        if eta != 0:
            text = (
                "A u = T' M lambda, Burton-Miller (I/2 - K + eta D) T u + (V + eta (I/2 + K')) lambda = u_inc + eta "
                f"du_inc/dn, eta = {eta:.4g} m"
            )
        return EliminatedSystem(text, blocks([[value, slope]]), (derivatives,), elimination=self.elimination)

    def _sweep_options(self, choices: SolveChoices) -> SolveOptions:
        return super()._sweep_options({"preconditioner": "mass", **choices})

    def _rhs(self, value: NDArray[Any], derivative: NDArray[Any]) -> NDArray[Any]:
        if self.formulation == "symmetric":
            return np.concatenate([derivative, -self._weight * (self.elements.inclusion.T @ value)])
        return np.asarray(self.elements.inclusion.T @ (value + self.eta * derivative))

    def _received(self, loads: list[tuple[NDArray[Any], NDArray[Any]]]) -> NDArray[Any]:
        elements = self.elements
        values = elements.values.summed(np.stack([derivative for _, derivative in loads], axis=1))
        slopes = elements.derivatives.summed(np.stack([-elements.inclusion.T @ value for value, _ in loads], axis=1))
        return self.elimination.transposed(np.concatenate([values, slopes]))

    def _far_load(self, value: NDArray[Any], derivative: NDArray[Any]) -> NDArray[Any]:
        return self._received([(value, derivative)])[:, 0]

    def _potentials(self, coefficients: NDArray[Any]) -> tuple[Any, tuple[Potential, ...]]:
        return self._outside(self.elimination.trace @ self._inside(coefficients), coefficients)[::2]

    def _inside(self, coefficients: NDArray[Any]) -> NDArray[Any]:
        """u in the volume."""
        return self.elimination.volume(coefficients[:, None])[:, 0]

    def _outside(self, value: NDArray[Any], coefficients: NDArray[Any]) -> tuple[Function, Function, Any]:
        """The total field on the surface, its normal derivative, and the layers of the scattered field."""
        elimination, values, derivatives = self.elimination, self.elements.values, self.elements.derivatives
        slope = coefficients[-elimination.others :] if elimination.others else elimination.primary(coefficients, value)
        total = Function(values.space, values.extended(value), "total pressure", "Pa")
        slope, slopes = derivatives.extended(slope), derivatives.space
        derivative = Function(slopes, slope, "normal derivative of the total pressure", "Pa/m")
        negative = Function(slopes, -slope, derivative.label, derivative.unit)
        layers = double_layer_potential(self.green, total), single_layer_potential(self.green, negative)
        return total, derivative, layers

    def _solution(self, data: Any, coefficients: NDArray[Any], info: SolutionInfo) -> VolumeScatteringSolution:
        inside = self._inside(coefficients)
        surface, derivative, layers = self._outside(self.elimination.trace @ inside, coefficients)
        return VolumeScatteringSolution(
            data, self.wavenumber, info, surface, layers, (), derivative, self.frequency,
            half_space=self.surface.half_space,
            interior=self.elements.function(self.elements.restored(inside.astype(complex)), "total pressure", "Pa"),
        )  # fmt: skip

    @property
    def _details(self) -> tuple[str, ...]:
        return (self.elements.description, *super()._details)
