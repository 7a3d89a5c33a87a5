"""The electric field equation of surfaces much smaller than the wavelength, with loops and charges apart.

T = ik (A - V / k^2): V of the charges, which currents without charges do not have, exceeds A by 1 / (k h)^2, h the
edges, so that rounding and iterations lose what flows in loops. With the projection Q onto currents that carry charges
(`spaces.loops`) and P = 1 - Q, V P = 0 and P^T V = 0 are taken out before they are computed, and with J = (P + b Q) x,
rows of the charges times a, a b = s^2 = (k h / 2)^2,

    [P^T A P, b P^T A Q; a Q^T A P, s^2 Q^T (A - V / k^2) Q]

has a condition that does not depend on k: A from integrals without charges, what charges see from T. a is the ratio of
the parts P^T g and Q^T g of the right-hand side g, from s^2 to 1, so that an iteration resolves both kinds of currents,
for voltages around loops (a = 1) as for plane waves (k h) and voltages between ends (s^2).

F. P. Andriulli, K. Cools, I. Bogaert, E. Michielssen, IEEE Trans. Antennas Propag. 61 (2013) 2077.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends import require_memory
from calderon.dense import DenseMatrix
from calderon.formulations.linear_system import LinearSystem, Scaling
from calderon.formulations.options import SolveOptions
from calderon.formulations.preconditioners import Preconditioner, entries_of, sharing
from calderon.formulations.solution_info import SolutionInfo
from calderon.mesh.locality import locality_order
from calderon.operators.methods import Plan
from calderon.solvers import sparse_inverse
from calderon.spaces import EdgeSpace
from calderon.spaces.edge.loops import FlowGraph

SPLIT_BELOW = 0.5
"""Wavenumber times diameter below which loops and charges are kept apart: there the iterations of the plain equation
begin to grow like 1 / (k h)^2."""
BOTH = "two matrices, of currents with and without charges"
Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class CurrentSplitting(Scaling):
    """Unknowns x of currents J = (P + b Q) x, and rows of charges times a, with a b = size^2."""

    graph: FlowGraph
    size: float
    rows: float

    @property
    def columns(self) -> float:
        """b."""
        return self.size**2 / self.rows

    def tested(self, rhs: Array) -> Array:
        """Right-hand sides (n, m) of the rows, from integrals against the functions."""
        loops, charged = _parts(rhs, self.graph.charging_transposed)
        return np.asarray(loops + self.rows * charged)

    def found(self, solution: Array) -> Array:
        """Coefficients (n, m) of currents."""
        loops, charged = _parts(solution, self.graph.charging)
        return np.asarray(loops + self.columns * charged)

    def for_sides(self, tested: Array) -> "CurrentSplitting":
        """The rows scaled for a right-hand side, to the next power of ten, so that few differ."""
        charged = self.graph.charging_transposed(tested)
        loops, charges = np.linalg.norm(tested - charged), np.linalg.norm(charged)
        ratio = float(loops / charges) if charges > loops else 1.0
        least = self.size**2
        return replace(self, rows=least if ratio <= least else min(1.0, 10.0 ** round(np.log10(ratio))))

    def array(self, currents: Array, whole: Array) -> Array:
        """The matrix (n, n) for a = b, from those of currents alone and of currents with charges, which are lost."""
        whole -= currents
        self._project(whole, lambda block, charged: charged)
        whole *= self.size**2
        self._project(currents, lambda block, charged: (block - charged) + self.size * charged)
        currents += whole
        return currents

    def _project(self, matrix: Array, combined: Any) -> None:
        for turned in (matrix, matrix.T):
            for low in range(0, len(matrix), 256):
                part = np.ascontiguousarray(turned[:, low : low + 256])
                turned[:, low : low + 256] = combined(part, self.graph.charging_transposed(part))


def _parts(values: Array, projected: Callable[[Array], Array]) -> tuple[Array, Array]:
    """P v and Q v; twice, so that P v has no more of charges than rounding leaves of a part of s^2."""
    charged = projected(values)
    loops = values - charged
    return loops - projected(loops), charged


def splitting_of(space: Any, wavenumber: float) -> CurrentSplitting:
    """The splitting of a space of edge functions with a = b = k h / 2, h the mean edge."""
    size = 0.5 * wavenumber * space.mesh.mean_edge_length
    return CurrentSplitting(FlowGraph.of(space), size, size)


class SplitMatrix(LinearOperator):
    """The matrix of rows and columns of loops and of charges, of two matrices that are stored in any way."""

    def __init__(self, currents: Any, whole: Any, splitting: CurrentSplitting) -> None:
        super().__init__(dtype=np.dtype(np.complex128), shape=whole.shape)
        self.currents, self.whole, self.splitting = currents, whole, splitting

    def _matmat(self, x: Array) -> Array:
        graph, b = self.splitting.graph, self.splitting.columns
        charged = graph.charging(x)
        both = self.currents @ np.concatenate([x - charged, charged], axis=1)
        of_loops, of_charges = np.split(np.asarray(both), 2, axis=1)
        seen_by_loops, seen_by_charges = of_loops + b * of_charges, of_loops + b * (self.whole @ charged)
        loops = _parts(seen_by_loops, graph.charging_transposed)[0]
        return np.asarray(loops + self.splitting.rows * graph.charging_transposed(seen_by_charges))

    def _matvec(self, x: Array) -> Array:
        return self._matmat(x.reshape(-1, 1)).ravel()

    def __str__(self) -> str:
        return f"{self.whole}, loops and charges apart"


def near_inverse(splitting: CurrentSplitting, currents: sp.csc_array, whole: sp.csc_array) -> LinearOperator:
    """P (near entries of currents alone)^-1 P^T + Q (near entries of currents with charges)^-1 Q^T / s^2."""
    loops, charges = sparse_inverse(currents), sparse_inverse(whole)
    graph, scale = splitting.graph, splitting.size**-2

    def product(x: Array) -> Array:
        columns = x.reshape(len(x), -1)
        charged = graph.charging_transposed(columns)
        of_loops, of_charges = np.asarray(loops @ (columns - charged)), np.asarray(charges @ charged)
        return np.asarray(of_loops - graph.charging(of_loops) + scale * graph.charging(of_charges)).reshape(x.shape)

    return LinearOperator(currents.shape, matvec=product, matmat=product, dtype=np.dtype(np.complex128))


@dataclass(eq=False)
class LowFrequencySystem(LinearSystem):
    """T J = g with loops and charges apart, where the options allow it; as it is elsewhere.

    currents: the operator ik A, as `operator`. wavenumber: k in 1/m, real. every_method: whether all methods multiply
    by both operators; otherwise those of entries do, in double precision, in the memory of the processor.
    """

    currents: Any = field(kw_only=True)
    wavenumber: float = field(kw_only=True)
    every_method: bool = field(default=False, kw_only=True)
    _chosen: CurrentSplitting | None = field(default=None, init=False)

    @cached_property
    def splitting(self) -> CurrentSplitting:
        """The splitting with a = b."""
        return splitting_of(self.spaces[0], self.wavenumber)

    @property
    def compared(self) -> Any:
        """None where only methods of entries multiply by both operators: "auto" takes the first of them."""
        return self.operator if self.every_method else None

    def splits(self, options: SolveOptions) -> bool:
        """Whether the options are of two matrices."""
        by_entries = options.chosen.by_entries and options.precision == "double" and not options.keep_on_device
        return self.every_method or by_entries

    def scales_for(self, options: SolveOptions) -> Scaling | None:
        return (self._chosen or self.splitting) if self.splits(options) else self.scales

    def solve(self, rhs: Array, options: SolveOptions) -> tuple[Array, list[SolutionInfo]]:
        """Solutions and records, as by `LinearSystem.solve`; right-hand sides of equal scales are iterated together."""
        if not self.splits(options) or options.solver == "lu":
            return super().solve(rhs, options)
        chosen = [self.splitting.for_sides(column) for column in rhs.T]
        solutions, records = np.zeros(rhs.shape, np.complex128), dict[int, SolutionInfo]()
        try:
            for scale in dict.fromkeys(each.rows for each in chosen):
                columns = [n for n, each in enumerate(chosen) if each.rows == scale]
                self._rescale(chosen[columns[0]])
                solutions[:, columns], infos = super().solve(rhs[:, columns], options)
                records.update(zip(columns, infos, strict=True))
        finally:
            self._rescale(self.splitting)
        return solutions, [records[column] for column in range(rhs.shape[1])]

    def _rescale(self, splitting: CurrentSplitting) -> None:
        """Give the matrix, if there is one already, other scales."""
        self._chosen = splitting
        if isinstance(self.matrix, SplitMatrix):
            self.matrix = SplitMatrix(self.matrix.currents, self.matrix.whole, splitting)

    def planned_matrix(self, options: SolveOptions) -> Plan:
        """The sum of the plans of both matrices."""
        if not self.splits(options):
            return super().planned_matrix(options)
        both = [each.plan(options.method, options.assembly_rtol, options.precision)
                for each in (self.operator, self.currents)]  # fmt: skip
        nbytes, seconds, product = (sum(each) for each in zip(*(plan[1:4] for plan in both), strict=True))
        details = ", ".join(filter(None, (both[0].details, BOTH)))
        return both[0]._replace(nbytes=int(nbytes), seconds=seconds, product_seconds=product, details=details)

    def key_of(self, options: SolveOptions) -> tuple[Any, ...]:
        return (*options.matrix_key, options.solver) if self.splits(options) else super().key_of(options)

    def _assembled(self, options: SolveOptions) -> Any:
        """Both matrices; for LU factors as one array."""
        if not self.splits(options):
            return super()._assembled(options)
        if options.chosen.stores_entries:
            require_memory(2 * 16 * self.unknowns**2, BOTH, "try method='hmatrix'")
        given = {**options.execution, "progress": options.progress}
        whole = self.operator.assemble(options.method, **given, matrix_file=options.matrix_file)
        currents = self.currents.assemble(options.method, **given)
        if options.solver == "lu":
            array = self.splitting.array(currents.to_array(), whole.to_array())
            return DenseMatrix(array, "loops and charges apart", whole.seconds, whole.backend)
        return SplitMatrix(currents, whole, self._chosen or self.splitting)

    def preconditioned(self, options: SolveOptions) -> SolveOptions:
        """The options with the factors of near entries instead of a name; ValueError for "hlu"."""
        if options.preconditioned_by("hlu"):
            raise ValueError(
                "preconditioner='hlu' factorises one matrix, and a surface this small for its wavelength has two, of "
                "currents with and without charges: take 'near' or 'mass'"
            )
        near = options.preconditioned_by("near") and options.solver != "lu"
        inverse = Preconditioner("near", self.unknowns, self._near_inverse)
        return replace(options, preconditioner=inverse) if near else options

    def _near_inverse(self) -> LinearOperator:
        """`near_inverse` of the entries of functions that share a triangle."""
        space: Any = self.spaces[0]
        pattern, matrix = sharing(space).tocoo(), self.matrix
        near = _near(matrix.currents, self.currents, pattern, space), _near(matrix.whole, self.operator, pattern, space)
        return near_inverse(self.splitting, *near)


def _near(matrix: Any, operator: Any, pattern: sp.coo_array, space: EdgeSpace) -> sp.csc_array:
    """The entries of a pattern: those that a matrix stores, or computed by blocks of neighbours."""
    if hasattr(matrix, "near_entries") or hasattr(matrix, "to_array"):
        return entries_of(matrix, pattern)
    table, found = pattern.tocsr(), sp.lil_array(pattern.shape, dtype=np.complex128)
    places = space.mesh.vertices[space.mesh.edges[space.edges]].mean(axis=1)
    for chunk in np.array_split(locality_order(places), -(-space.dimension // 64)):
        rows = np.sort(chunk)
        columns = np.unique(table[rows].indices)
        block = np.asarray(operator.entries(rows, columns))
        found[rows[:, None], columns] = block * (table[rows][:, columns].toarray() != 0)
    return sp.csc_array(found)
