"""The equation of a board at one frequency, its matrix, and how it is solved."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

from calderon.formulations.linear_system import LinearSystem
from calderon.formulations.loops.splitting import SPLIT_BELOW, LowFrequencySystem
from calderon.formulations.options import PAIR_BYTES, PlanChoices, SolveChoices, SolveOptions
from calderon.formulations.planar.board import Board
from calderon.formulations.planar.metal_operator import METHODS, MetalOperator
from calderon.formulations.preconditioners import Preconditioner
from calderon.formulations.problem import Equation
from calderon.mesh import TriangleMesh
from calderon.operators.methods import AUTO
from calderon.spaces import EdgeSpace
from calderon.validation import one_of

GRID = ("spacing", "order", "near")
RESIDUAL = 0.1
"""Residual of iterations over the tolerance of impedances: fields of charges are most of it, and currents less. A patch
of 6,306 unknowns differs from LU factors by 7e-3 at a residual of 1e-5, by 4e-4 at 1e-6."""


class PlanarPlanChoices(PlanChoices, total=False):
    """The options of `PlanarProblem.plan` by name."""

    grid: Mapping[str, Any] | None


class PlanarChoices(SolveChoices, total=False):
    """The options of `PlanarProblem.solve` by name: those of every problem, and spacing, order and near of a grid."""

    grid: Mapping[str, Any] | None


@dataclass(frozen=True, eq=False)
class BoardEquation(Equation):
    """<f, E> = Z_s <f, J> for all functions and currents of probes of a board, with eta0 = 1.

    board: the metal. frequency: in Hz. grid: options of method "fft". Data are right-hand sides (dimension,).
    """

    board: Board
    frequency: float
    grid: Mapping[str, Any] = field(default_factory=dict)

    title: ClassVar[str] = "currents on metal between layers"
    pair_bytes: ClassVar[int] = 2 * PAIR_BYTES
    usual_solver: ClassVar[str] = "lu"
    preconditioners: ClassVar[tuple[str, ...]] = ("near",)

    def __post_init__(self) -> None:
        if not isinstance(self.grid, Mapping) or set(self.grid) - set(GRID):
            raise TypeError(f"options of the grid are a mapping with the keys {', '.join(GRID)}, got {self.grid!r}")

    @property
    def mesh(self) -> TriangleMesh:
        """The metal with contacts of probes."""
        return self.board.metal.mesh

    @property
    def function_space(self) -> EdgeSpace:
        """RWG functions of the metal, and the currents of probes."""
        return self.board.function_space

    @cached_property
    def k0(self) -> float:
        """The wavenumber of vacuum in 1/m."""
        return self.board.stack.at(self.frequency).k0

    @property
    def keeps_loops_apart(self) -> bool:
        """Whether the metal is so small that loops and charges are unknowns of their own."""
        return self.k0 * self.board.mesh.diameter < SPLIT_BELOW

    def _build_system(self) -> LinearSystem:
        name, spaces = "electric field <f, E> = Z_s <f, J> in layers", (self.function_space,)
        whole = MetalOperator(self.board, self.frequency, grid=self.grid)
        if not self.keeps_loops_apart:
            return LinearSystem(name, whole, spaces, overwrites=True)
        given: Any = {"currents": replace(whole, charges=False), "wavenumber": self.k0, "every_method": True}
        return LowFrequencySystem(name, whole, spaces, overwrites=True, **given)

    def _options(self, choices: SolveChoices) -> SolveOptions:
        one_of(choices.get("method", AUTO), (AUTO, *METHODS), "method")
        for name in ("keep_on_device", "matrix_file"):
            if choices.get(name):
                raise ValueError(
                    f"{name}=: matrices of metal in layers have several parts, which are not kept: omit it"
                )
        options = super()._options(choices)
        method = options.chosen
        if options.precision != "double" and not (method.grids and options.precision == "mixed"):
            raise ValueError(
                f"precision={options.precision!r}: metal in layers is solved in precision='double', and by "
                "method='fft' in 'mixed', too"
            )
        if options.backend != "numba" and not method.stores_entries:
            raise ValueError(
                f"backend={options.backend!r}: method {method.name!r} of metal in layers computes on the processor"
            )
        return options if options.solver == "lu" else self._iterated(options)

    def _iterated(self, options: SolveOptions) -> SolveOptions:
        """The options with the residual for the requested tolerance, and H-matrices to that tolerance."""
        accuracy = options.compression_rtol
        if accuracy is None and options.chosen.compresses:
            accuracy = options.rtol
        return replace(options, rtol=RESIDUAL * options.rtol, compression_rtol=accuracy)

    def _usual_preconditioner(self, options: SolveOptions) -> str:
        return "near" if self.keeps_loops_apart or options.chosen.stores_near else "hlu"

    def _preconditioned(self, options: SolveOptions) -> SolveOptions:
        """The options with `Bordered.inverse` instead of a name, with near entries where loops are apart."""
        if isinstance(self.system, LowFrequencySystem):
            return self.system.preconditioned(options)
        if options.chosen.stores_entries or not isinstance(options.preconditioner, str):
            return super()._preconditioned(options)
        inverse = Preconditioner(options.preconditioner, self.unknowns, lambda: self.system.matrix.inverse())
        return replace(options, preconditioner=inverse)
