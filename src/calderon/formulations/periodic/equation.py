"""The equation of a periodic cell for one wave, its matrix, and how it is solved."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from calderon.backends import require_memory
from calderon.dense import DenseMatrix
from calderon.exact.vacuum import VACUUM_IMPEDANCE
from calderon.floquet import BlochFunctions, ImageParts, Plane, PlaneParts, cell_matrix
from calderon.formulations.linear_system import LinearSystem
from calderon.formulations.options import DEFAULTS, SolveChoices, SolveOptions, require_supported
from calderon.formulations.problem import Equation
from calderon.layers import Sections
from calderon.mesh import TriangleMesh
from calderon.operators.methods import Plan
from calderon.products.cost import Cost

SUPPORTED = {"method": ("auto", "dense"), "solver": ("lu",), "rtol": ()}
WHY = "a periodic cell is solved by dense matrices and LU factors, in double precision on the processor"


@dataclass(frozen=True, eq=False)
class CellOperator:
    """Z: <f_i, E(f_j)> - Z_s <f_i, f_j> of functions with the phases of a wave, a sum over Floquet waves.

    functions: of the cell. planes: metal by height. sections: the layers at the frequency. slow: what is summed in
    space. transverse (2,): k_t of the wave in 1/m. sheet: Z_s in ohm. spectra: part of the spectra that is left out.
    """

    functions: BlochFunctions
    planes: tuple[Plane, ...]
    sections: Sections
    slow: ImageParts | PlaneParts
    transverse: NDArray[np.float64]
    sheet: complex
    spectra: float

    @property
    def shape(self) -> tuple[int, int]:
        """Unknowns, twice."""
        return (self.functions.dimension,) * 2

    def assemble(self, method: str, **_: Any) -> DenseMatrix:
        """The matrix, in m^2 for eta0 = 1."""
        require_memory(self.plan(method, None).nbytes, "a periodic cell", "use a coarser mesh")
        given = self.functions, self.planes, self.sections, self.slow, self.transverse
        matrix = cell_matrix(*given, self.spectra)
        if self.sheet:
            masses, whole = self.functions.halves.mass_matrix(), self.functions.combination(self.transverse)
            matrix += self.sheet / VACUUM_IMPEDANCE * (whole.conj().T @ (masses @ whole))
        return DenseMatrix(np.asarray(matrix), "sum over Floquet waves")

    def plan(self, method: str, rtol: float | None, precision: str = "double") -> Plan:
        """The plan of `assemble`."""
        # near parts of two decays in the cell and its copies, with vectors and charges, and three matrices; flops as
        # measured, as 568 functions with four copies take 0.33 s at 5e10 in a second
        cells = 1 + len(self.functions.copies)
        pairs, pair_bytes, pair_flops = self.functions.dimension**2, 8 * 4 * cells + 16 * 3, 1e4 * cells
        seconds, product = Cost(pair_flops * pairs).seconds, Cost(nbytes=16 * pairs).seconds
        return Plan(method, pair_bytes * pairs, seconds, product, "sum over Floquet waves")


@dataclass(frozen=True, eq=False)
class CellEquation(Equation):
    """<f, E> = Z_s <f, J> for the functions of a cell and one wave; solutions are amplitudes of functions times the
    impedance of vacuum."""

    operator: CellOperator
    mesh: TriangleMesh

    title: ClassVar[str] = "currents on periodic metal between layers"
    usual_solver: ClassVar[str] = "lu"

    @property
    def function_space(self) -> Any:
        """The functions of the cell."""
        return self.operator.functions

    def _build_system(self) -> LinearSystem:
        name = "electric field <f, E> = Z_s <f, J> of all cells"
        return LinearSystem(name, self.operator, (self.function_space,), overwrites=True)

    def _options(self, choices: SolveChoices) -> SolveOptions:
        require_supported(choices, SUPPORTED, WHY)
        return super()._options({**choices, "method": "dense"})


def spectra_of(options: Any) -> float:
    """The part of the spectra that is left out for these options: ten times the tolerance of reflections, which at 1e-4
    differ by 1e-7 to 2e-7 (a cross on a board, a patch in a slab)."""
    return 10 * float(options.get("rtol", DEFAULTS["rtol"]))
