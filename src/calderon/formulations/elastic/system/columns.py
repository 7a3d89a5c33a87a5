"""The layers K and V of one body as one operator [[K, -V], ...], whose columns of known values are released.

    D (u, t) = K u - V t

is all that the equation of a body takes from them. It multiplies unknowns in every step, and what is known once. By
methods that join the blocks of an operator, the rows and columns of unknowns are therefore one product, which stays.
Columns of what is known are assembled with it, as rows have common moments, and released as soon as the right-hand
sides are made.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import return_memory
from calderon.greens import Elastostatic
from calderon.operators import blocks, double_layer, single_layer
from calderon.quadrature import Quadrature
from calderon.spaces import NodalVectorSpace

Array = NDArray[np.float64]
Index = NDArray[np.int64]


class Spaces(NamedTuple):
    """The spaces of one body.

    displacements: on the whole surface. tractions: on the whole surface. loaded: tractions that may differ from zero;
    None without any. unknown: those that are unknown; None without any.
    """

    displacements: NodalVectorSpace
    tractions: NodalVectorSpace
    loaded: NodalVectorSpace | None
    unknown: NodalVectorSpace | None

    @staticmethod
    def of(
        displacements: NodalVectorSpace,
        tractions: NodalVectorSpace,
        loaded: NDArray[np.bool_],
        supported: NDArray[np.bool_],
    ) -> "Spaces":
        """The spaces for masks (triangles,) of those with tractions, and of those with unknown ones; one space where
        they are the same, so that V is known to be symmetric."""
        unknown = restricted(tractions, supported)
        same = np.array_equal(supported, loaded)
        return Spaces(displacements, tractions, unknown if same else restricted(tractions, loaded), unknown)

    @property
    def tests(self) -> list[NodalVectorSpace]:
        """The spaces that the equation is tested with."""
        return [self.displacements] + ([] if self.unknown is None else [self.unknown])

    @property
    def entries(self) -> int:
        """The number of entries of all layers."""
        loaded = 0 if self.loaded is None else self.loaded.dimension
        return sum(test.dimension for test in self.tests) * (self.displacements.dimension + loaded)


def single_layer_sizes(areas: NDArray[Any]) -> Array:
    """The size (m,) of the diagonal of a single layer, about, of Laplace or of a solid with E = 1, between constants on
    triangles with areas (m,)."""
    return areas**1.5 / 3


def restricted(space: NodalVectorSpace, triangles: NDArray[np.bool_]) -> NodalVectorSpace | None:
    """A space of functions that jump, on some triangles only and in the same order; None for no triangles."""
    functions = np.zeros(space.scalar.dimension, bool)
    functions[space.scalar.dofs[triangles]] = True
    return NodalVectorSpace(space.scalar.selected(functions), space.components) if functions.any() else None


class Functions(NamedTuple):
    """A space, and the numbers that its functions have among the rows or columns of an operator."""

    space: NodalVectorSpace
    numbers: Index


def functions_of(space: NodalVectorSpace, nodes: NDArray[np.bool_] | None, first: int = 0) -> list[Functions]:
    """The functions of some nodes (n,) of the scalar space, in the same order and numbered from `first` on: of all
    nodes, or None, the space itself, of none an empty list."""
    nodes = np.ones(space.scalar.dimension, bool) if nodes is None else nodes
    numbers = (space.components * np.flatnonzero(nodes)[:, None] + np.arange(space.components)).ravel()
    if not len(numbers):
        return []
    part = space if nodes.all() else NodalVectorSpace(space.scalar.selected(nodes), space.components)
    return [Functions(part, first + numbers)]


class LazyColumns(NamedTuple):
    """The lazy operator [[K, -V], ...] by rows and columns.

    green, quadrature: of the layers. spaces: of the body. rows: functions that are tested with; other rows are zero.
    kept: columns of unknowns. known: columns of what is known in all directions.
    """

    green: Elastostatic
    quadrature: Quadrature
    spaces: Spaces
    rows: list[Functions]
    kept: list[Functions]
    known: list[Functions]

    @staticmethod
    def of(green: Elastostatic, quadrature: Quadrature, spaces: Spaces) -> "LazyColumns":
        """All columns of the layers of a function of Green by rules of quadrature."""
        u, loaded, unknown = spaces.displacements, spaces.loaded, spaces.unknown
        rows, kept = functions_of(u, None), functions_of(u, None)
        if unknown is not None:
            rows += functions_of(unknown, None, first=u.dimension)
        if loaded is not None:
            kept += functions_of(loaded, None, first=u.dimension)
        return LazyColumns(green, quadrature, spaces, rows, kept, [])

    def split(self, moving: NDArray[np.bool_], acting: NDArray[np.bool_]) -> "LazyColumns":
        """All columns, those of what is known apart. moving (n,): nodes whose displacement is not known in all
        directions. acting (l,): nodes of tractions that may differ from zero, whose traction is not known in all
        directions, or follows from displacements."""
        u, loaded, unknown = self.spaces.displacements, self.spaces.loaded, self.spaces.unknown
        moving = moving if moving.any() else ~moving  # an operator has rows
        rows = functions_of(u, moving) + self.rows[1:]
        kept, known = (functions_of(u, nodes) for nodes in (moving, ~moving))
        if loaded is not None:
            for nodes, columns in ((acting, kept), (~acting, known)):
                for each in functions_of(loaded, nodes, first=u.dimension):
                    if unknown is not None and np.array_equal(each.space.triangles, unknown.triangles):
                        each = each._replace(space=unknown)  # V is then known to be symmetric
                    columns.append(each)
        return self._replace(rows=rows, kept=kept, known=known)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns, with those that are left out."""
        loaded = 0 if self.spaces.loaded is None else self.spaces.loaded.dimension
        return sum(test.dimension for test in self.spaces.tests), self.spaces.displacements.dimension + loaded

    def layer(self, trial: Functions, test: Functions) -> Any:
        """The lazy K or -V of some columns and rows."""
        of_displacements = trial.numbers[0] < self.spaces.displacements.dimension
        make = double_layer if of_displacements else single_layer
        found = make(self.green, trial.space, test.space, quadrature=self.quadrature)
        return found if of_displacements else -found

    def operator(self, columns: Sequence[Functions]) -> Any:
        """The lazy operator of some columns."""
        return blocks([[self.layer(each, row) for each in columns] for row in self.rows])


class Columns:
    """Assembled layers.

    lazy: the operator. product: what multiplies, all columns at first, and those of unknowns after `release_known`.
    tested: (rows,) numbers of its rows. kept: (k,) numbers of the columns of unknowns.
    """

    def __init__(self, lazy: LazyColumns, assemble: Callable[[Any], Any]) -> None:
        """assemble: gives the product of a lazy operator."""
        self.lazy = lazy
        self.product = assemble(lazy.operator([*lazy.kept, *lazy.known]))
        self.tested = np.concatenate([each.numbers for each in lazy.rows])
        self.kept = np.concatenate([each.numbers for each in lazy.kept])
        self._multiplied = np.concatenate([self.kept, *(each.numbers for each in lazy.known)])

    def release_known(self) -> None:
        """Leave the columns of unknowns alone: others are taken for zero after that."""
        if self.lazy.known:
            self.product, self._multiplied = self.product.first(len(self.kept)), self.kept
            return_memory()

    def product_of(self, fields: Any) -> Array:
        """K u - V t (rows, k) for all test spaces, of u and t one below the other, fields (columns, k), dense or
        sparse."""
        found = np.zeros((self.lazy.shape[0], fields.shape[1]))
        found[self.tested] = self.product @ fields[self._multiplied]
        return found
