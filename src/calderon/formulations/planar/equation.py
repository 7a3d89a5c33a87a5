"""The equation of a board at one frequency, its matrix, and how it is solved."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends import require_memory
from calderon.dense import DenseMatrix
from calderon.fft import DeviceGridOperator, GridOperator, cell_inverse, grid_operator, near_inverse, plan_fft
from calderon.formulations.linear_system import HLU_RTOL, LinearSystem
from calderon.formulations.loops.splitting import SPLIT_BELOW, LowFrequencySystem
from calderon.formulations.options import PAIR_BYTES, PlanChoices, SolveChoices, SolveOptions
from calderon.formulations.planar.board import Board
from calderon.formulations.ports.probe import probe_matrix
from calderon.formulations.preconditioners import Preconditioner
from calderon.formulations.problem import Equation
from calderon.hmatrix import ComposedOperator, hlu
from calderon.hmatrix.composed_operator import product_of
from calderon.hmatrix.off_diagonal import Term
from calderon.mesh import TriangleMesh
from calderon.mesh.topology import components_by_edges
from calderon.operators.layered import LayeredElectricField, layered_electric_field
from calderon.operators.methods import AUTO, Plan, method_named
from calderon.products.cost import Cost
from calderon.products.device.sums import DeviceOperator, OnOneDevice
from calderon.spaces import EdgeSpace
from calderon.validation import one_of

Complex = NDArray[np.complex128]
Numbers = NDArray[np.int64]
METHODS = ("dense", "hmatrix", "fft")


class Bordered(LinearOperator):
    """The symmetric matrix [A B; B^T D] with A on a grid or as an H-matrix, and dense B and D.

    operator: A (a, a). columns (n, m): of B over D, in all rows, which have the numbers of the unknowns. order (n,):
    the unknowns of A, then those of the columns. near: sparse (a, a), the entries of A of functions with common
    triangles at least.
    """

    def __init__(
        self, operator: GridOperator | ComposedOperator, columns: Complex, order: Numbers, near: sp.csr_array
    ) -> None:
        super().__init__(np.dtype(complex), (len(columns),) * 2)
        self.operator, self.columns, self.order, self.near = operator, columns, order, near

    @property
    def nbytes(self) -> int:
        """Memory of A and of the columns in bytes."""
        return self.operator.nbytes + self.columns.nbytes

    @property
    def parts(self) -> tuple[Numbers, Numbers]:
        """The numbers of the unknowns of A, and of those of the columns."""
        first = self.operator.shape[0]
        return self.order[:first], self.order[first:]

    def _matvec(self, x: NDArray[Any]) -> Complex:
        x, y = x.ravel(), np.empty(len(x), complex)
        flat, others = self.parts
        y[flat] = self.operator @ x[flat] + self.columns[flat] @ x[others]
        y[others] = self.columns[flat].T @ x[flat] + self.columns[others] @ x[others]
        return y

    def near_entries(self, rows: Numbers, columns: Numbers) -> Complex:
        """(k,) the entries in these rows and columns, of functions with common triangles."""
        first, place = self.operator.shape[0], np.argsort(self.order)
        i, j, found = place[rows], place[columns], np.empty(len(rows), complex)
        inside, right = (i < first) & (j < first), j >= first
        below = ~inside & ~right
        found[inside] = np.asarray(self.near[i[inside], j[inside]]).ravel()
        found[right] = self.columns[rows[right], j[right] - first]
        found[below] = self.columns[columns[below], i[below] - first]
        return found

    def inverse(self) -> LinearOperator:
        """An approximate inverse: of A by `inverse_of`, of the columns by the Schur complement D - B^T A^-1 B."""
        (flat, others), inverse = self.parts, inverse_of(self.operator)
        upper, corner = self.columns[flat], self.columns[others]
        through = inverse @ upper if upper.size else upper
        schur = np.linalg.inv(corner - upper.T @ through)

        def approximate(x: NDArray[Any]) -> Complex:
            x, y = x.ravel(), np.empty(len(x), complex)
            one = inverse @ x[flat]
            two = schur @ (x[others] - upper.T @ one)
            y[flat], y[others] = one - through @ two, two
            return y

        return LinearOperator(self.shape, matvec=approximate, dtype=np.dtype(complex))

    def __str__(self) -> str:
        number = self.columns.shape[1]
        return f"{self.operator}" + (f", and {number} dense columns" if number else "")


class DeviceBordered(OnOneDevice, Bordered):
    """A matrix without columns on a device, where vectors of `gmres` stay; see `OnDevice`."""

    operator: DeviceGridOperator

    @property
    def product(self) -> DeviceOperator:  # type: ignore[override]
        """The products on the device."""
        return self.operator.product

    @property
    def backend(self) -> str:
        """The name of the device."""
        return self.operator.backend


def inverse_of(operator: GridOperator | ComposedOperator) -> LinearOperator:
    """An approximate inverse: hierarchical factors of H-matrices; of grids `cell_inverse` of pieces of metal that are
    all small, or `near_inverse`."""
    if isinstance(operator, ComposedOperator):
        return hlu(operator, HLU_RTOL).as_preconditioner()
    space: Any = operator.matrix.metal.space
    mesh = space.mesh
    pieces = components_by_edges(mesh.triangle_edges, len(mesh.edges))[space.pairs[:, 0]]
    small = np.bincount(pieces).max() <= 400 and pieces.max() > 0
    return cell_inverse(operator, pieces) if small else near_inverse(operator)


@dataclass(frozen=True, eq=False)
class MetalOperator:
    """T: <f_i, E(f_j)> - Z_s <f_i, f_j> for eta0 = 1, of all functions and currents of probes; symmetric.

    board: the metal. frequency: in Hz. charges: whether with the field of charges. grid: options of "fft": spacing,
    order, near.
    """

    board: Board
    frequency: float
    charges: bool = True
    grid: Mapping[str, Any] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, int]:
        """Unknowns, twice."""
        return (self.board.function_space.dimension,) * 2

    def require_method(self, name: str, backend: str = "numba") -> None:
        """ValueError for a method that cannot assemble the field in layers of horizontal metal on a backend."""
        if len(self.board.horizontal):
            self._horizontal_field.require_method(name, backend)

    def assemble(
        self, method: str, *, backend: str = "numba", precision: str = "double", rtol: float | None = None,
        progress: bool | None = None, **_: Any,
    ) -> DenseMatrix | Bordered:  # fmt: skip
        """The matrix by "dense", or by "fft" or "hmatrix" of the functions of horizontal metal, with all others as
        dense columns; options as of `BoundaryOperator.assemble`."""
        if method_named(method).stores_entries:
            return self._dense(backend, progress)
        board, operator = self.board, self._horizontal_field
        space, flat, others = board.function_space, board.horizontal, board.others
        require_memory(32 * space.dimension * len(others), "columns of vertical metal", "use method='dense'")
        local = board.local_part(self.frequency)
        columns = np.zeros((space.dimension, len(others)), complex)
        if len(others):
            columns += local[:, others].toarray()
            columns += self._field(space).columns(others)
        if count := len(board.probes):
            columns[:, -count:] += self._of_probes
        own = sp.csr_array(local[flat][:, flat])
        order = np.concatenate([flat, others])
        if method_named(method).grids:
            found = grid_operator(operator, backend, precision, progress, local=own, **self.grid)
            whole = not len(others) and np.array_equal(flat, np.arange(space.dimension))
            stays = isinstance(found, DeviceGridOperator) and whole
            return (DeviceBordered if stays else Bordered)(found, columns, order, found.touching)
        part = operator.assemble(method, rtol=rtol, progress=progress)
        terms = [Term(1.0, part), Term(1.0, own)] if own.nnz else [Term(1.0, part)]
        composed = ComposedOperator(product_of(terms), [part], repr(operator), part.seconds, part.rtol, terms)
        return Bordered(composed, columns, order, sp.csr_array(operator.matrix.near[0] + own))

    def _dense(self, backend: str, progress: bool | None) -> DenseMatrix:
        matrix: DenseMatrix = self._field(self.board.function_space).assemble(backend=backend, progress=progress)
        out = matrix.to_array()
        if count := len(self.board.probes):
            columns = self._of_probes
            out[:, -count:] += columns
            out[-count:, :-count] += columns[:-count].T
        local = self.board.local_part(self.frequency).tocoo()
        out[local.coords] += local.data
        return matrix

    def plan(self, method: str, rtol: float | None, precision: str = "double") -> Plan:
        """The plan of `assemble`; ValueError for a method that does not support the metal."""
        board = self.board
        if method_named(method).stores_entries:
            return self._field(board.function_space).plan(method, rtol)
        total, number = self.shape[0], len(board.others)
        if number > 0.25 * total:  # columns cost as much as half of a dense matrix, which is symmetric
            raise ValueError(f"method {method!r} is for horizontal metal, and much is vertical: use method='dense'")
        flat = self._horizontal_field
        plan = plan_fft(flat, rtol, precision, **self.grid) if method_named(method).grids else flat.plan(method, rtol)
        seconds = plan.seconds + Cost(flat.upright_flops * total * number).seconds
        return plan._replace(nbytes=plan.nbytes + 32 * total * number, seconds=seconds)

    def _field(self, space: EdgeSpace) -> LayeredElectricField:
        given: Any = {"quadrature": self.board.quadrature, "charges": self.charges}
        return layered_electric_field(self.board.stack, self.frequency, space, **given)

    @property
    def _horizontal_field(self) -> LayeredElectricField:
        """The field of functions of horizontal metal alone; ValueError without any."""
        if not len(self.board.horizontal):
            raise ValueError("compressed methods are for horizontal metal, and all is vertical: use method='dense'")
        return self._field(self.board.metal.of_functions(self.board.horizontal))

    @property
    def _of_probes(self) -> Complex:
        """(n, probes) what vertical currents of probes add to the last columns."""
        board = self.board
        return probe_matrix(board.probes, board.stack.at(self.frequency), board.function_space, board.height)


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
        if options.backend != "numba" and not (method.stores_entries or method.grids):
            raise ValueError(
                f"backend={options.backend!r}: method {method.name!r} of metal in layers computes on the processor"
            )
        if options.solver == "lu":
            return options
        # the residual for the requested tolerance, and H-matrices to that tolerance
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
