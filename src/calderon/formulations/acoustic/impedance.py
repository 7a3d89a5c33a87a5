"""A body with a surface impedance: du/dn + ik b u = 0."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.formulations.acoustic.scattering import yielding_on_a_plane
from calderon.formulations.acoustic.scattering_solution import ScatteringSolution
from calderon.formulations.acoustic.sound_equation import of_slopes
from calderon.formulations.acoustic.sound_hard import SoundHardScattering
from calderon.formulations.acoustic.surface_values import SurfaceValues, values_at_nodes
from calderon.formulations.checks import space_named
from calderon.formulations.linear_system import LinearSystem
from calderon.formulations.solution_info import SolutionInfo
from calderon.onsurface import SurfaceOperator
from calderon.operators import (
    BoundaryOperator,
)
from calderon.operators.blocks import transformed
from calderon.potentials import Potential, single_layer_potential
from calderon.spaces import Function


@dataclass(frozen=True, eq=False)
class ImpedanceScattering(SoundHardScattering):
    """Total field phi on a locally reacting body, dphi/dn = -ik b phi, by the equation of Burton and Miller,

        (I/2 - K + eta D) phi - ik (V + eta (I/2 + K')) (b phi) = u_inc + eta du_inc/dn.

    admittance: b = rho c / Z without unit, Re b >= 0; or impedance: Z / (rho c) = 1/b. Exactly one of the two; b = 0 is
    sound-hard, and so is an infinite impedance. Either is a number for the whole surface, a table {tag or its name:
    number}, one value for each triangle, or a function f(x) or f(x, n) of points and normals (n, 3). A b that varies
    enters by its values at the nodes, as the interpolant of b phi, which costs no order; where it jumps, a node has the
    mean by area of its triangles. coupling: eta, default i/Re k. space: "P1" or "P2".

    The problem has one solution for Re b >= 0 at real k. D. Colton and R. Kress, Integral Equation Methods in
    Scattering Theory (1983), section 3.7.
    """

    admittance: SurfaceValues | None = None
    impedance: SurfaceValues | None = None

    title: ClassVar[str] = "scattering by a body with a surface impedance"

    def _check_fields(self) -> None:
        super()._check_fields()
        if (self.admittance is None) == (self.impedance is None):
            raise ValueError("give either admittance= (rho c / Z) or impedance= (Z / (rho c)), both without unit")
        b = np.asarray(self.b)
        lowest = b.flat[np.argmin(b.real)]
        if lowest.real < 0:
            raise ValueError(
                f"the admittance {lowest:.4g} has a negative real part: the surface would create energy; "
                "with the time factor exp(-i omega t) a passive surface has Re(rho c / Z) >= 0"
            )

    @cached_property
    def b(self) -> complex | NDArray[np.complex128]:
        """The admittance rho c / Z: one number, or its values (dimension,) at the nodes of the whole."""
        name, transform = ("admittance", _itself) if self.impedance is None else ("impedance", _reciprocal)
        given: Any = self.admittance if self.impedance is None else self.impedance
        infinite, whole = self.impedance is not None, self.function_space
        if callable(given):
            return values_at_nodes(self.surface.even(given), whole, name, transform, infinite)
        part = space_named(self.space, self.spaces, self.surface.part)
        values = values_at_nodes(given, part, name, transform, infinite)
        if isinstance(values, complex):
            return values
        found = np.empty(whole.dimension, complex)
        found[whole.dofs] = self.surface.extended(values[part.dofs], part.element, scalar=True)
        return found

    @property
    def _slope(self) -> complex | NDArray[np.complex128]:
        """du/dn over u on the surface, -ik b in 1/m, one number or at the nodes."""
        return -1j * self.wavenumber * self.b

    def _on_a_plane(self, dtn: SurfaceOperator) -> SurfaceOperator:
        return yielding_on_a_plane(dtn, self.eta, self.wavenumber, complex(np.mean(self.b)))

    def _build_system(self) -> LinearSystem:
        equation = (
            "Burton-Miller (I/2 - K + eta D) phi - ik (V + eta (I/2 + K')) (b phi) = u_inc + eta du_inc/dn, "
            f"b = {_in_words(self.b)}, eta = {self.eta:.4g} m"
        )
        return replace(super()._build_system(), equation=equation)

    def _rows(self) -> BoundaryOperator:
        slope, flux = self._slope, of_slopes(self.green, self.function_space, self.functions.part, self.eta)
        if isinstance(slope, np.ndarray):
            return transformed(flux, right=sp.diags_array(slope)) + super()._rows()  # scaled where it stands: first
        return super()._rows() + slope * flux if slope != 0 else super()._rows()

    def _far_load(self, value: NDArray[Any], derivative: NDArray[Any]) -> NDArray[Any]:
        return derivative - self._slope * value

    def _potentials(self, coefficients: NDArray[Any]) -> tuple[Any, tuple[Potential, ...]]:
        total, layers = super()._potentials(coefficients)
        if np.any(self._slope):
            layers += (single_layer_potential(self.green, -1 * self._derivative(coefficients)),)
        return total, layers

    def _derivative(self, coefficients: NDArray[Any]) -> Function:
        label = "normal derivative of the total pressure"
        return Function(self.function_space, self._slope * coefficients, label, "Pa/m")

    def _solution(self, data: Any, coefficients: NDArray[Any], info: SolutionInfo) -> ScatteringSolution:
        return replace(
            super()._solution(data, coefficients, info),
            derivative=self._derivative(self.functions.extended(coefficients)),
        )


def _itself(admittance: Any) -> Any:
    return admittance


def _reciprocal(impedance: NDArray[np.complex128]) -> NDArray[np.complex128]:
    rigid = np.isinf(impedance)
    if (np.abs(impedance) < 1 / np.finfo(float).max).any():
        raise ValueError("impedance 0 is a sound-soft surface: use SoundSoftScattering")
    return np.where(rigid, 0.0, 1 / np.where(rigid, 1.0, impedance))


def _in_words(b: complex | NDArray[np.complex128]) -> str:
    if not isinstance(b, np.ndarray):
        return f"{b:.4g}"
    parts = (f"{part.min():.4g} to {part.max():.4g}" for part in (b.real, b.imag))
    return " with imaginary part ".join(parts)
