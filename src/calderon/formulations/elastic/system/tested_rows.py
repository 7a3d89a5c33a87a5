"""The rows of the equation of one body that are tested with one space: (1/2 + K) u and V t."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends import return_memory
from calderon.formulations.elastic.conditions.rigid_motions import rigid_motions
from calderon.formulations.elastic.conditions.surface_conditions import SurfaceConditions, sparse
from calderon.formulations.elastic.system.columns import LazyColumns, Spaces
from calderon.quadrature import triangle_rule
from calderon.spaces.space import Space

Array = NDArray[np.float64]
Index = NDArray[np.int64]


def source_degree(test: Space) -> int:
    """The degree of the rule by which a displacement without a closed form is tested."""
    return 2 + 2 * test.element.degree


def source_points(test: Space) -> int:
    """The number of points of that rule on all triangles."""
    return len(triangle_rule(source_degree(test)).weights) * len(test.triangles)


class Known(NamedTuple):
    """The known values of one body in one load case.

    u (n, 3), t (m, 3): the known displacement at nodes and traction at nodes of tractions. source: the displacement at
    points (k, 3) that loads of the volume add to V t; None for zero.
    """

    u: Array
    t: Array
    source: Callable[[Array], Array] | None


@dataclass(frozen=True, eq=False)
class TestedRows:
    """Rows of (1/2 + K) u - V t that are tested with one space.

    layers: the lazy K and, with tractions, -V. local (rows, 3 n): 1/2, less what the discrete (1/2 + K) makes of
    translations, on the blocks of nodes. tests (rows, k): columns, the combined test functions. first: the number of
    the unknown that the first of them belongs to. defect: what (1/2 + K) then makes of three rotations, which have no
    traction, over half of them: the largest part. rest (k, 3): the same in the rows of the equation, not divided.
    """

    __test__ = False  # no test of pytest

    layers: Sequence[Any]
    local: sp.csr_array
    tests: sp.csr_array
    first: int
    defect: float
    rest: Array

    @property
    def numbers(self) -> slice:
        """The unknowns that the test functions belong to."""
        return slice(self.first, self.first + self.tests.shape[1])

    @staticmethod
    def of(
        lazy: LazyColumns,
        difference: Callable[[Any, Any], list[Array]],
        conditions: SurfaceConditions,
        exterior: bool,
    ) -> "tuple[TestedRows, ...]":
        """The rows of the displacements, and those of the unknown tractions. lazy: all columns of the layers.
        difference: K u - V t as in `Columns`. conditions: whose free and bound columns are the test functions.
        exterior: of a solid around cavities, where (1/2 + K) e = e for rigid motions e, which do not vanish at
        infinity."""
        spaces: Spaces = lazy.spaces
        trial, found, first = spaces.displacements, [], 0
        motions = rigid_motions(trial.scalar.nodes, trial.mesh.bounds.mean(axis=0)).reshape(-1, 6)
        images = difference(motions, None)
        return_memory()
        for row, image in zip(lazy.rows, images, strict=True):
            half = (0.5 * trial.mass_matrix(row.space)).tocsr()
            if row.space is trial:
                spread, tests = sp.eye_array(trial.scalar.dimension, format="csr"), conditions.free
            else:
                spread = conditions.projection[spaces.tractions.scalar.dofs[conditions.supported].ravel()]
                tests = conditions.bound[spaces.tractions.dofs[conditions.supported].ravel()]
            left = image + (-1.0 if exterior else 1.0) * (half @ motions)
            given = _spread_blocks(spread, left[:, :3].reshape(-1, 3, 3))
            rest, own = left - given @ motions, np.diff(tests.indptr) > 0
            wrong, size = (np.abs(each[:, 3:]).max(axis=0, initial=0.0) for each in (rest[own], half @ motions))
            defect = float((wrong / np.maximum(size, 1e-300)).max())
            layers = [lazy.layer(each, row) for each in lazy.kept]
            found.append(TestedRows(layers, half - given, tests, first, defect, tests.T @ rest[:, 3:]))
            first += tests.shape[1]
        return tuple(found)

    def sources(self, known: Sequence[Known]) -> Array:
        """(rows, k) integrals of the sources of k load cases with the test functions."""
        test = self.layers[0].test
        columns = [
            np.zeros(test.dimension) if each.source is None
            else np.asarray(test.load_vector(each.source, source_degree(test.scalar)))
            for each in known
        ]  # fmt: skip
        return np.stack(columns, axis=1)

    def block(self, tests: Index, u: sp.csc_array, t: sp.csc_array) -> Array:
        """(tests, q + s) the entries of some columns of `tests`, with displacements u (3 n, q) and tractions
        t (loaded, s)."""
        chosen = self.tests.tocsc()[:, tests]
        local = (chosen.T @ self.local @ u).toarray()
        found = [_between(layer, chosen, each) for layer, each in zip(self.layers, (u, t), strict=False)]
        if len(found) == 1:
            found.append(np.zeros((len(tests), t.shape[1])))
        return np.hstack([found[0] + local, found[1]])


def _between(operator: Any, left: sp.csc_array, right: sp.csc_array) -> Array:
    """left^T A right of an operator A, of which only those entries are computed that are needed."""
    if 0 in (left.shape[1], right.shape[1]):
        return np.zeros((left.shape[1], right.shape[1]))
    rows, columns = np.unique(left.tocoo().coords[0]), np.unique(right.tocoo().coords[0])
    entries = operator.entries(rows, columns)
    return np.asarray(left.tocsr()[rows].T @ (entries @ right.tocsr()[columns]))


def _spread_blocks(spread: sp.csr_array, defects: Array) -> sp.csr_array:
    """The sparse matrix (3 a, 3 j) with the blocks spread_aj defects_a, of spread (a, j) and defects (a, 3, 3)."""
    entries = spread.tocoo()
    a, j = entries.coords
    values = entries.data[:, None, None] * defects[a]
    rows = np.broadcast_to(3 * a[:, None, None] + np.arange(3)[:, None], values.shape)
    columns = np.broadcast_to(3 * j[:, None, None] + np.arange(3), values.shape)
    return sparse(values.ravel(), rows.ravel(), columns.ravel(), (3 * spread.shape[0], 3 * spread.shape[1]))
