"""The system of an electric field equation that keeps loops and charges apart; see `splitting`."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends import require_memory
from calderon.formulations.linear_system import LinearSystem
from calderon.formulations.loops.splitting import CurrentSplitting, SplitArray, SplitMatrix, near_inverse, splitting_of
from calderon.formulations.options import SolveOptions
from calderon.formulations.preconditioners import Preconditioner, sharing
from calderon.formulations.scaling import Scaling
from calderon.formulations.solution_info import SolutionInfo
from calderon.mesh.locality import locality_order
from calderon.operators.methods import Plan
from calderon.spaces import EdgeSpace

TOGETHER = 64
"""Neighbouring functions whose near entries are computed together."""
BOTH = "two matrices, of currents with and without charges"
Array = NDArray[Any]


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

    def scales_for(self, options: SolveOptions) -> Scaling:
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
            return SplitArray(self.splitting.array(currents.to_array(), whole.to_array()), str(whole))
        return SplitMatrix(currents, whole, self._chosen or self.splitting)

    def preconditioned(self, options: SolveOptions) -> SolveOptions:
        """The options with the factors of near entries instead of a name; ValueError for "hlu"."""
        if options.preconditioned_by("hlu"):
            raise ValueError(
                "preconditioner='hlu' factorises one matrix, and a surface this small for its wavelength has two, of "
                "currents with and without charges: take 'near' or 'mass'"
            )
        near = options.preconditioned_by("near") and options.solver != "lu"
        return replace(options, preconditioner=self._near_preconditioner) if near else options

    @property
    def _near_preconditioner(self) -> Preconditioner:
        """`near_inverse` of the entries of functions that share a triangle."""
        return Preconditioner("near", self.unknowns, self._near_inverse)

    def _near_inverse(self) -> LinearOperator:
        space: Any = self.spaces[0]
        pattern, matrix = sharing(space).tocoo(), self.matrix
        near = _near(matrix.currents, self.currents, pattern, space), _near(matrix.whole, self.operator, pattern, space)
        return near_inverse(self.splitting, *near)


def _near(matrix: Any, operator: Any, pattern: sp.coo_array, space: EdgeSpace) -> sp.csc_array:
    """The entries of a pattern: those that a matrix stores, or computed by blocks of neighbours."""
    if hasattr(matrix, "near_entries"):
        return sp.coo_array((matrix.near_entries(*pattern.coords), pattern.coords), pattern.shape).tocsc()
    if hasattr(matrix, "to_array"):
        values = np.asarray(matrix.to_array()[pattern.coords], np.complex128)
        return sp.coo_array((values, pattern.coords), pattern.shape).tocsc()
    table, found = pattern.tocsr(), sp.lil_array(pattern.shape, dtype=np.complex128)
    places = space.mesh.vertices[space.mesh.edges[space.edges]].mean(axis=1)
    for chunk in np.array_split(locality_order(places), -(-space.dimension // TOGETHER)):
        rows = np.sort(chunk)
        columns = np.unique(table[rows].indices)
        block = np.asarray(operator.entries(rows, columns))
        found[rows[:, None], columns] = block * (table[rows][:, columns].toarray() != 0)
    return sp.csc_array(found)
