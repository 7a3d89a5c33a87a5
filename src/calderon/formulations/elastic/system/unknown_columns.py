"""K and V of one body as one fast product, whose columns of known displacements and tractions are released.

[K, -V] multiplies unknowns in every step, and what is known once or twice. By fast products the rows and columns of
unknowns are therefore one operator, which stays. Columns of what is known are assembled with it, as rows have common
moments, and released as soon as the right-hand sides are made.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import return_memory
from calderon.formulations.elastic.system.layers import Spaces
from calderon.greens import Elastostatic
from calderon.operators import blocks, double_layer, single_layer
from calderon.quadrature import Quadrature
from calderon.spaces import NodalVectorSpace

Array = NDArray[np.float64]
Index = NDArray[np.int64]


class Functions(NamedTuple):
    """A space, and the numbers that its functions have among the rows or columns of an operator."""

    space: NodalVectorSpace
    numbers: Index


def functions_of(space: NodalVectorSpace, nodes: NDArray[np.bool_], first: int = 0) -> list[Functions]:
    """The functions of some nodes (n,) of the scalar space, in the same order and numbered from `first` on: of all
    nodes the space itself, of none an empty list."""
    scalar, count = space.scalar, space.components
    numbers = (count * np.flatnonzero(nodes)[:, None] + np.arange(count)).ravel()
    if nodes.all() or not len(numbers):
        return [Functions(space, first + numbers)] if len(numbers) else []
    dofs = np.where(scalar.dofs < 0, -1, np.where(nodes, np.cumsum(nodes) - 1, -1)[scalar.dofs])
    kept = (dofs >= 0).any(axis=1)
    part = replace(scalar, triangles=scalar.triangles[kept], dofs=dofs[kept], dimension=len(numbers) // count)
    return [Functions(NodalVectorSpace(part, count), first + numbers)]


class Column(NamedTuple):
    """Some columns of the equation. layer: gives the operator of a trial and a test space. trial: its functions."""

    layer: Callable[[NodalVectorSpace, NodalVectorSpace], Any]
    trial: Functions


class ColumnTable(NamedTuple):
    """The lazy operator [[K, -V], ...] by rows and columns.

    shape: with all functions of displacements and tractions. heights: rows of each test space. rows: functions that are
    tested with; other rows are zero. kept: columns of unknowns. known: columns of what is known in all directions.
    """

    shape: tuple[int, int]
    heights: list[int]
    rows: list[Functions]
    kept: list[Column]
    known: list[Column]

    @staticmethod
    def of(
        green: Elastostatic,
        spaces: Spaces,
        moving: NDArray[np.bool_],
        acting: NDArray[np.bool_],
        quadrature: Quadrature,
    ) -> "ColumnTable":
        """The table of the layers of a function of Green by rules of quadrature. moving (n,): nodes whose displacement
        is not known in all directions. acting (l,): nodes of tractions that may differ from zero, whose traction is not
        known in all directions, or follows from displacements."""
        u, loaded, unknown = spaces.displacements, spaces.loaded, spaces.unknown

        def double(trial: NodalVectorSpace, test: NodalVectorSpace) -> Any:
            return double_layer(green, trial, test, quadrature=quadrature)

        def single(trial: NodalVectorSpace, test: NodalVectorSpace) -> Any:
            return -single_layer(green, trial, test, quadrature=quadrature)

        if not moving.any():
            moving = ~moving  # an operator has rows
        rows, heights, width = functions_of(u, moving), [test.dimension for test in spaces.tests], u.dimension
        if unknown is not None:
            rows.append(Functions(unknown, u.dimension + np.arange(unknown.dimension)))
        kept, known = ([Column(double, each) for each in functions_of(u, nodes)] for nodes in (moving, ~moving))
        if loaded is not None:
            for nodes, columns in ((acting, kept), (~acting, known)):
                for each in functions_of(loaded, nodes, first=u.dimension):
                    if unknown is not None and np.array_equal(each.space.triangles, unknown.triangles):
                        each = each._replace(space=unknown)  # V is then known to be symmetric
                    columns.append(Column(single, each))
            width += loaded.dimension
        return ColumnTable((sum(heights), width), heights, rows, kept, known)

    def operator(self, columns: Sequence[Column]) -> Any:
        """The lazy operator of some columns."""
        return blocks([[each.layer(each.trial.space, row.space) for each in columns] for row in self.rows])


class UnknownColumns:
    """An assembled `ColumnTable`.

    table: of which. product: what multiplies, all columns at first, and those of unknowns after `release_known`.
    tested: (rows,) numbers of its rows. columns: (kept,) numbers of the columns of unknowns.
    """

    def __init__(
        self, table: ColumnTable, assemble: Callable[[Any], Any], send: Callable[[Any, Any], Any] | None
    ) -> None:
        """assemble: gives the product of a lazy operator on the processor. send: gives, from the product of unknowns
        and its lazy operator, the one on a device; None without devices."""
        self.table, self._send = table, send
        self.product = assemble(table.operator([*table.kept, *table.known]))
        self.tested = np.concatenate([each.numbers for each in table.rows])
        self.columns = np.concatenate([each.trial.numbers for each in table.kept])
        self._multiplied = np.concatenate([self.columns, *(each.trial.numbers for each in table.known)])

    def release_known(self) -> None:
        """Leave the columns of unknowns alone, on the device if there is one: others are taken for zero after that."""
        if self.table.known:
            self.product, self._multiplied = self.product.first(len(self.columns)), self.columns
            return_memory()
        if self._send is not None:
            self.product = self._send(self.product, self.table.operator(self.table.kept))

    def difference(self, u: Any, t: Any) -> list[Array]:
        """K u - V t (rows, k) for each test space. u (3 n, k), t (loaded, k): columns, or None for zero."""
        given = t if u is None else u
        x = np.zeros((self.table.shape[1], given.shape[1]))
        displacements = self.table.heights[0]
        if u is not None:
            x[:displacements] = u
        if t is not None:
            x[displacements:] = t
        found = np.zeros((self.table.shape[0], x.shape[1]))
        found[self.tested] = self.product @ x[self._multiplied]
        return np.split(found, np.cumsum(self.table.heights)[:-1])
