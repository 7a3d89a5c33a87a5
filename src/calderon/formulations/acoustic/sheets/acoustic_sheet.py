"""Thin sheets in a fluid: screens, perforated and rigid plates."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.formulations.acoustic.fluid import Fluid, wave_constants
from calderon.formulations.acoustic.scattering import ROOT_ERROR, ScatteringProblem
from calderon.formulations.acoustic.sheets.sheet_mesh import require_sheet
from calderon.formulations.acoustic.sheets.sheet_solution import SheetSolution
from calderon.formulations.acoustic.sheets.transfer_impedance import SheetImpedance, admittances, checked_impedance
from calderon.formulations.checks import incident_wave, sources_on_side
from calderon.formulations.linear_system import LinearSystem
from calderon.formulations.solution_info import SolutionInfo
from calderon.onsurface import osrc_dtn
from calderon.operators import BoundaryOperator, hypersingular, transformed
from calderon.operators.algebra import SparseOperator
from calderon.operators.sparse_factors import SparseFactors
from calderon.potentials import Potential, double_layer_potential
from calderon.quadrature import triangle_rule
from calderon.spaces import P1, P2, Function, Space
from calderon.spaces.element import Element
from calderon.validation import instance, one_of


@dataclass(frozen=True, eq=False)
class AcousticSheet(ScatteringProblem):
    """The jump [p] = p_+ - p_- of the sound pressure across a thin sheet in a fluid, exp(-i omega t), p_+ on the side
    that the normals point to,

        (D - i omega rho / z) [p] = dp_inc/dn,      p = p_inc + (double-layer potential of [p]).

    D is the hypersingular operator. The velocity through the sheet, along its normals, is -[p] / z. The equation has
    one solution at every frequency. [p] is 0 at the edge, near which it grows as the root of the distance: take
    `mesh.refine_edges(0.1)`, without which fields of a disc of ten elements are wrong by 3 %.

    mesh: in metres, open, free of bodies and of other sheets. wavenumber: k in 1/m, or frequency= in Hz. fluid: as for
    `AcousticProblem`. impedance: the transfer impedance z in Pa s/m, p_- - p_+ over the velocity through the sheet,
    Re z >= 0: a number, one for each vertex or triangle, f(x) or f(x, n), an `Impedance`, such as
    `Impedance.perforated(hole, thickness, porosity, cavity=None)`, or {tag or its name: those}; infinite, the default,
    and tags that are left out, are rigid. space: of [p], "P1" or "P2". mirrors: as for `SoundHardScattering`. Data:
    waves, as of sources.

    P. J. T. Filippi, J. Sound Vib. 54 (1977) 473; S. N. Chandler-Wilde and D. P. Hewett, Integral Equ. Oper. Theory 82
    (2015) 423.
    """

    fluid: Fluid = field(default=None, kw_only=True)  # type: ignore[assignment]
    impedance: SheetImpedance = field(default=np.inf, kw_only=True)
    space: Literal["P1", "P2"] = field(default="P1", kw_only=True)

    title: ClassVar[str] = "sound at a thin sheet"
    unknown: ClassVar[str | None] = None

    def __post_init__(self) -> None:
        instance(self.fluid, Fluid, "a sheet needs fluid=, as Fluid.air() or Fluid(density, speed_of_sound)")
        if self.speed_of_sound is not None and self.speed_of_sound != self.fluid.speed_of_sound:
            raise ValueError(f"speed_of_sound={self.speed_of_sound!r} is not that of the {self.fluid}: leave it out")
        k, _ = wave_constants(self.wavenumber, self.frequency, self.fluid)
        constants = {"wavenumber": k, "frequency": None, "speed_of_sound": self.fluid.speed_of_sound}
        for name, value in {**constants, "impedance": checked_impedance(self.impedance)}.items():
            object.__setattr__(self, name, value)
        super().__post_init__()

    def _check_surface(self) -> None:
        one_of(self.space, self.spaces, "space")
        require_sheet(self.surface.whole)

    @cached_property
    def function_space(self) -> Space:
        """The space of the jump, which vanishes at the edge of the whole sheet."""
        make: Any = {"P1": P1, "P2": P2}[self.space]
        return make(self.surface.whole, boundary=False)

    @cached_property
    def admittances(self) -> NDArray[np.complex128]:
        """1 / z (triangles, 3) at the corners of triangles of the whole sheet, linear between them."""
        given = admittances(self.surface.part, self.impedance, self._omega, self.fluid)
        return self.surface.extended(given, Element(1), scalar=True)

    @property
    def _omega(self) -> float:
        return self.fluid.angular_frequency(self.wavenumber)

    @property
    def preconditioners(self) -> tuple[str, ...]:
        """ "osrc", "mass"."""
        return "osrc", "mass"

    def _weighted(self, weights: NDArray[Any]) -> sp.csr_array:
        """(dimension, dimension) int w phi_i phi_j, w (triangles, 3) linear on triangles of the whole sheet."""
        space = self.function_space
        rule = triangle_rule(2 * space.element.degree + 1)
        expansion = space.expansion(rule.points)
        areas = space.geometry.weights(rule) * (weights[space.triangles] @ Element(1).values(rule.points))
        return (expansion.T @ sp.diags_array(areas.ravel()) @ expansion).tocsr()

    def _build_system(self) -> LinearSystem:
        functions, space = self.functions, self.function_space
        rows: BoundaryOperator = hypersingular(self.green, space, functions.part)
        equation = "(D - i omega rho / z) [p] = dp_inc/dn"
        if self.admittances.any():
            matrix = -1j * self._omega * self.fluid.density * self._weighted(self.admittances)[functions.functions]
            digest = str(SparseFactors.of(matrix.tocsr()).key)
            rows = rows + SparseOperator("transfer admittance", matrix.tocsr(), space, functions.part, digest)
        else:
            equation = "D [p] = dp_inc/dn"
        return LinearSystem(equation, transformed(rows, right=functions.images), (functions,))

    def _osrc(self, precision: str) -> LinearOperator:
        dtn = osrc_dtn(self.function_space, self.wavenumber, error=ROOT_ERROR, precision=precision)
        mean = self.admittances.mean(axis=1) @ self.surface.whole.areas / self.surface.whole.area
        plane = dtn * -0.5 + -1j * self._omega * self.fluid.density * complex(mean)
        return self.functions.inverse(plane.inverse().tested)

    def _checked(self, data: Any) -> Any:
        wave = incident_wave(data, self.wavenumber, type(self).__name__)
        sources_on_side(wave, self.surface.whole, "both")
        return self.surface.with_images(wave)

    def _rhs(self, value: NDArray[Any], derivative: NDArray[Any]) -> NDArray[Any]:
        return derivative

    def _far_load(self, value: NDArray[Any], derivative: NDArray[Any]) -> NDArray[Any]:
        return derivative

    def _potentials(self, coefficients: NDArray[Any]) -> tuple[Any, tuple[Potential, ...]]:
        jump = Function(self.function_space, coefficients, "jump of the pressure", "Pa")
        return jump, (double_layer_potential(self.green, jump),)

    def _solution(self, data: Any, coefficients: NDArray[Any], info: SolutionInfo) -> SheetSolution:
        jump, layers = self._potentials(self.functions.extended(coefficients))
        taken = self._weighted(self.admittances.real * self.fluid.impedance)
        through = float((jump.coefficients.conj() @ (taken @ jump.coefficients)).real)
        return SheetSolution(
            data, self.wavenumber, info, jump, layers, frequency=self.frequency, half_space=self.surface.half_space,
            taken=through,
        )  # fmt: skip
