"""Products with the equation of a solid whose columns of known displacements and tractions are not kept.

[K, -V] multiplies unknowns in every step, and what is known once or twice. By fast products the rows and columns of
unknowns are therefore one operator, which stays. Columns of what is known are assembled with it, as rows have common
moments, and released when the columns of unknowns are wanted alone, on a device or not; after that they are assembled
when they are needed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import return_memory
from calderon.operators import blocks
from calderon.spaces import NodalVectorSpace

Index = NDArray[np.int64]


class Functions(NamedTuple):
    """A space, and the numbers that its functions have in a larger one."""

    space: NodalVectorSpace
    numbers: Index

    def after(self, first: int) -> "Functions":
        """The same in a space that stands behind so many other functions."""
        return Functions(self.space, first + self.numbers)


def functions_of(space: NodalVectorSpace, nodes: NDArray[np.bool_]) -> list[Functions]:
    """The functions of some nodes (n,) of the scalar space, in the same order: of all nodes the space itself, of none
    an empty list."""
    scalar, count = space.scalar, space.components
    numbers = (count * np.flatnonzero(nodes)[:, None] + np.arange(count)).ravel()
    if nodes.all() or not len(numbers):
        return [Functions(space, numbers)] if len(numbers) else []
    dofs = np.where(scalar.dofs < 0, -1, np.where(nodes, np.cumsum(nodes) - 1, -1)[scalar.dofs])
    kept = (dofs >= 0).any(axis=1)
    part = replace(scalar, triangles=scalar.triangles[kept], dofs=dofs[kept], dimension=len(numbers) // count)
    return [Functions(NodalVectorSpace(part, count), numbers)]


class Column(NamedTuple):
    """Some columns of the equation: layer(trial, test) gives the operator for each test space."""

    layer: Callable[[NodalVectorSpace, NodalVectorSpace], Any]
    trial: Functions


@dataclass(frozen=True, eq=False)
class UnknownColumns:
    """Products of a table of operators: `rows` of it, all others being zero, `kept` columns, whose operator stays, and
    `others`. All columns are one operator at first, until `product` is wanted; later operators of the others are
    assembled anew in each product with numbers that are not zero. assemble: on the processor; send: from the kept
    columns, and their operators, to what multiplies."""

    shape: tuple[int, int]
    rows: Sequence[Functions]
    kept: Sequence[Column]
    others: Sequence[Column]
    assemble: Callable[[Any], Any]
    send: Callable[[Any, Any], Any]

    def table(self, columns: Sequence[Column]) -> Any:
        """Their operators, lazy."""
        return blocks([[each.layer(each.trial.space, row.space) for each in columns] for row in self.rows])

    @cached_property
    def product(self) -> Any:
        """Of the kept columns; the others are released."""
        table = self.table(self.kept)
        if (whole := self.__dict__.pop("_whole", None)) is None:
            return self.send(self.assemble(table), table)
        found = whole.first(len(self.columns)) if self.others else whole
        del whole
        return_memory()
        return self.send(found, table)

    @cached_property
    def _whole(self) -> Any:
        """Of all columns."""
        return self.assemble(self.table([*self.kept, *self.others]))

    @cached_property
    def tested(self) -> Index:
        """Numbers of the rows."""
        return np.concatenate([each.numbers for each in self.rows])

    @cached_property
    def columns(self) -> Index:
        """Numbers of the kept columns."""
        return np.concatenate([each.trial.numbers for each in self.kept])

    def __matmul__(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Columns (n, k); where the others are operators of their own, they come first, so that both are never held
        together."""
        found = np.zeros((self.shape[0], x.shape[1]))
        if "product" not in self.__dict__:
            numbers = [self.columns, *(each.trial.numbers for each in self.others)]
            found[self.tested] = self._whole @ x[np.concatenate(numbers)]
            return found
        for each in self.others:
            if (part := x[each.trial.numbers]).any():
                found[self.tested] += self.assemble(self.table([each])) @ part
        found[self.tested] += self.product @ x[self.columns]
        return found
