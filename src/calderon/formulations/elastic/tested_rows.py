"""The rows of the equation of a solid that are tested with one space: (1/2 + K) u and V t."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.formulations.elastic.surface_conditions import SurfaceConditions
from calderon.greens import Elastostatic
from calderon.operators import double_layer, single_layer
from calderon.quadrature import Quadrature
from calderon.spaces import NodalVectorSpace
from calderon.spaces.space import Space

Array = NDArray[np.float64]


class Spaces(NamedTuple):
    """Of displacements and of tractions on the whole surface, tractions that may differ from zero, and those that are
    unknown."""

    displacements: NodalVectorSpace
    tractions: NodalVectorSpace
    loaded: NodalVectorSpace | None
    unknown: NodalVectorSpace | None


def restricted(space: NodalVectorSpace, triangles: NDArray[np.bool_]) -> NodalVectorSpace | None:
    """A space of functions that jump on some triangles, in the same order; None for no triangles."""
    chosen = np.flatnonzero(triangles)
    if not len(chosen):
        return None
    scalar = space.scalar
    dofs = np.arange(len(chosen) * scalar.element.size).reshape(len(chosen), -1)
    part = Space(scalar.name, scalar.mesh, scalar.element, chosen, dofs, dofs.size)
    return NodalVectorSpace(part, space.components)


@dataclass(frozen=True, eq=False)
class TestedRows:
    """double, single: assembled operators, of the forms `lazy_double`, `lazy_single`; half: 1/2; correction: what
    translations give, on the blocks of nodes; tests: columns of combined test functions."""

    __test__ = False  # no test of pytest

    double: Any
    single: Any
    lazy_double: Any
    lazy_single: Any
    half: sp.csr_array
    correction: sp.csr_array
    tests: sp.csr_array

    @classmethod
    def of(
        cls,
        green: Elastostatic,
        spaces: Spaces,
        test: NodalVectorSpace,
        conditions: SurfaceConditions,
        quadrature: Quadrature,
        exterior: bool,
        assemble: Callable[[Any], Any],
    ) -> "TestedRows":
        """Assembled, tested with the displacements or with the unknown tractions. exterior: of a solid around cavities,
        where (1/2 + K) e = e for rigid motions e, which do not vanish at infinity."""
        trial, loaded = spaces.displacements, spaces.loaded
        lazy = double_layer(green, trial, test, quadrature=quadrature)
        other = None if loaded is None else single_layer(green, loaded, test, quadrature=quadrature)
        double = assemble(lazy)
        half = (0.5 * trial.mass_matrix(test)).tocsr()
        if test is trial:
            spread, tests = sp.eye_array(trial.scalar.dimension, format="csr"), conditions.free
        else:
            spread = conditions.projection[spaces.tractions.scalar.dofs[conditions.supported].ravel()]
            tests = conditions.bound[spaces.tractions.dofs[conditions.supported].ravel()]
        moved = [np.tile(axis, trial.scalar.dimension) for axis in np.eye(3)]
        sign = -1.0 if exterior else 1.0
        defects = np.stack([double @ each + sign * (half @ each) for each in moved], axis=1).reshape(-1, 3, 3)
        single = None if other is None else assemble(other)
        return cls(double, single, lazy, other, half, _spread_blocks(spread, defects), tests)

    def motion(self, u: Any, springs: sp.csr_array) -> Any:
        """(1/2 + K) u, and V S u of elastic supports."""
        result = self.double @ u + (self.half - self.correction) @ u
        return result + self.forces(springs @ u) if springs.nnz else result

    def forces(self, t: Any) -> Any:
        """V t."""
        if self.single is None:
            return np.zeros((self.half.shape[0], *t.shape[1:]))
        return self.single @ t

    def tested(self, displacement: Callable[[Array], Array]) -> Array:
        """The integrals of a displacement at points (n, 3) with the test functions."""
        test = self.lazy_double.test
        return np.asarray(test.load_vector(displacement, 2 + 2 * test.element.degree))

    def block(self, tests: Any, u: sp.csc_array, t: sp.csc_array) -> Array:
        """The entries (1/2 + K) u and -V t between some columns of `tests` and columns u, t."""
        chosen = self.tests.tocsc()[:, tests]
        local = (chosen.T @ (self.half - self.correction) @ u).toarray()
        return np.hstack([_between(self.lazy_double, chosen, u) + local, -_between(self.lazy_single, chosen, t)])


def _between(operator: Any, left: sp.csc_array, right: sp.csc_array) -> Array:
    """left^T A right of an operator of which only those entries are computed."""
    if operator is None or 0 in (left.shape[1], right.shape[1]):
        return np.zeros((left.shape[1], right.shape[1]))
    rows, columns = np.unique(left.tocoo().coords[0]), np.unique(right.tocoo().coords[0])
    entries = operator.entries(rows, columns)
    return np.asarray(left.tocsr()[rows].T @ (entries @ right.tocsr()[columns]))


def _spread_blocks(spread: sp.csr_array, defects: Array) -> sp.csr_array:
    """The sparse matrix with the blocks spread_aj defects_a (a, 3, 3)."""
    entries = spread.tocoo()
    a, j = entries.coords
    blocks = entries.data[:, None, None] * defects[a]
    rows = np.broadcast_to(3 * a[:, None, None] + np.arange(3)[:, None], blocks.shape)
    columns = np.broadcast_to(3 * j[:, None, None] + np.arange(3), blocks.shape)
    shape = 3 * spread.shape[0], 3 * spread.shape[1]
    return sp.coo_array((blocks.ravel(), (rows.ravel(), columns.ravel())), shape).tocsr()
