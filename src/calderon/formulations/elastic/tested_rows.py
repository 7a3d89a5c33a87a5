"""The rows of the equation of a solid that are tested with one space: (1/2 + K) u and V t."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends import return_memory
from calderon.formulations.elastic.balance import rigid_motions
from calderon.formulations.elastic.surface_conditions import SurfaceConditions, sparse
from calderon.formulations.elastic.unknown_columns import Column, Functions, UnknownColumns, functions_of
from calderon.greens import Elastostatic
from calderon.operators import blocks, double_layer, single_layer
from calderon.quadrature import Quadrature, triangle_rule
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


def single_layer_sizes(areas: Array) -> Array:
    """About the diagonal of a single layer, of Laplace or of a solid with E = 1, between constants on triangles."""
    return areas**1.5 / 3


def restricted(space: NodalVectorSpace, triangles: NDArray[np.bool_]) -> NodalVectorSpace | None:
    """A space of functions that jump on some triangles, in the same order; None for no triangles."""
    chosen = np.flatnonzero(triangles)
    if not len(chosen):
        return None
    scalar = space.scalar
    dofs = np.arange(len(chosen) * scalar.element.size).reshape(len(chosen), -1)
    part = Space(scalar.name, scalar.mesh, scalar.element, chosen, dofs, dofs.size)
    return NodalVectorSpace(part, space.components)


def source_degree(test: Space) -> int:
    """The degree of the rule by which a displacement without a closed form is tested."""
    return 2 + 2 * test.element.degree


def source_points(test: Space) -> int:
    """How many points it has on all triangles."""
    return len(triangle_rule(source_degree(test)).weights) * len(test.triangles)


@dataclass(frozen=True, eq=False)
class Layers:
    """K and V tested with some spaces. double, single: lazy, of each space; V is None without tractions. matrices:
    assembled, K and V of each space, or joint: [[K, -V], ...] as one operator, with the rows and columns of unknowns
    apart."""

    double: tuple[Any, ...]
    single: tuple[Any, ...]
    matrices: tuple[tuple[Any, Any], ...]
    joint: UnknownColumns | None

    @classmethod
    def of(
        cls, green: Elastostatic, spaces: Spaces, quadrature: Quadrature, assemble: Callable[[Any], Any]
    ) -> "Layers":
        """Tested with the displacements, and with the unknown tractions if there are any."""
        double, single = cls.lazy(green, spaces, quadrature)
        made = tuple((assemble(K), None if V is None else assemble(V)) for K, V in zip(double, single, strict=True))
        return cls(double, single, made, None)

    @classmethod
    def together(
        cls,
        green: Elastostatic,
        spaces: Spaces,
        nodes: tuple[NDArray[np.bool_], NDArray[np.bool_]],
        quadrature: Quadrature,
        assemble: Callable[[Any], Any],
        send: Callable[[Any, Any], Any],
    ) -> "Layers":
        """The same as one operator. nodes: of displacements, and of tractions that may differ from zero, those whose
        displacement or traction is not known in all directions. send: see UnknownColumns."""
        u, loaded, unknown = spaces.displacements, spaces.loaded, spaces.unknown
        moving, acting = nodes

        def double(trial: NodalVectorSpace, test: NodalVectorSpace) -> Any:
            return double_layer(green, trial, test, quadrature=quadrature)

        def single(trial: NodalVectorSpace, test: NodalVectorSpace) -> Any:
            return -single_layer(green, trial, test, quadrature=quadrature)

        rows = functions_of(u, moving)
        kept, others = ([Column(double, each) for each in functions_of(u, nodes)] for nodes in (moving, ~moving))
        height = width = u.dimension
        if unknown is not None:
            rows.append(Functions(unknown, height + np.arange(unknown.dimension)))
            height += unknown.dimension
        if loaded is not None:
            for chosen, columns in ((acting, kept), (~acting, others)):
                for each in functions_of(loaded, chosen):
                    if unknown is not None and np.array_equal(each.space.triangles, unknown.triangles):
                        each = each._replace(space=unknown)
                    columns.append(Column(single, each.after(u.dimension)))
            width += loaded.dimension
        joint = UnknownColumns((height, width), rows, kept, others, assemble, send)
        return cls(*cls.lazy(green, spaces, quadrature), (), joint)

    @staticmethod
    def table(double: tuple[Any, ...], single: tuple[Any, ...]) -> Any:
        """[[K, -V], ...]."""
        return blocks([[K] if V is None else [K, -V] for K, V in zip(double, single, strict=True)])

    @staticmethod
    def lazy(green: Elastostatic, spaces: Spaces, quadrature: Quadrature) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """K and V of each space."""
        tests = [spaces.displacements] + ([] if spaces.unknown is None else [spaces.unknown])
        trial, loaded = spaces.displacements, spaces.loaded
        double = tuple(double_layer(green, trial, test, quadrature=quadrature) for test in tests)
        single = tuple(
            None if loaded is None else single_layer(green, loaded, test, quadrature=quadrature) for test in tests
        )
        return double, single

    @property
    def unknown(self) -> UnknownColumns:
        """The joint operator."""
        if self.joint is None:
            raise ValueError("these layers are operators apart")
        return self.joint

    def difference(self, u: Any, t: Any) -> list[Any]:
        """K u - V t of each space, columns; None for zero."""
        if self.joint is None:
            return [self._of_one(K, V, u, t) for K, V in self.matrices]
        width = (t if u is None else u).shape[1]
        sizes = self.double[0].shape[1], 0 if self.single[0] is None else self.single[0].shape[1]
        parts = [np.zeros((n, width)) if x is None else x for n, x in zip(sizes, (u, t), strict=True)]
        found = self.joint @ np.concatenate(parts)
        return np.split(found, np.cumsum([each.shape[0] for each in self.double])[:-1])

    def _of_one(self, double: Any, single: Any, u: Any, t: Any) -> Any:
        result = 0.0 if u is None else double @ u
        if t is not None and single is not None:
            result = result - single @ t
        return np.zeros((double.shape[0], t.shape[1])) if np.isscalar(result) else result


@dataclass(frozen=True, eq=False)
class TestedRows:
    """lazy_double, lazy_single: the operators; local: 1/2 less what translations give, on the blocks of
    nodes; tests: columns of combined test functions; defect: what (1/2 + K) then makes of three
    rotations, which have no traction, over half of them: the largest part; rest (rows, 3): the same, not divided."""

    __test__ = False  # no test of pytest

    lazy_double: Any
    lazy_single: Any
    local: sp.csr_array
    tests: sp.csr_array
    defect: float
    rest: Array

    @classmethod
    def of(cls, layers: Layers, spaces: Spaces, conditions: SurfaceConditions, exterior: bool) -> "list[TestedRows]":
        """Those of the displacements and of the unknown tractions. exterior: of a solid around cavities, where
        (1/2 + K) e = e for rigid motions e, which do not vanish at infinity."""
        trial, found = spaces.displacements, []
        motions = rigid_motions(trial.scalar.nodes, trial.mesh.bounds.mean(axis=0)).reshape(-1, 6)
        images = layers.difference(motions, None)
        return_memory()
        for double, single, image in zip(layers.double, layers.single, images, strict=True):
            half = (0.5 * trial.mass_matrix(double.test)).tocsr()
            if double.test is trial:
                spread, tests = sp.eye_array(trial.scalar.dimension, format="csr"), conditions.free
            else:
                spread = conditions.projection[spaces.tractions.scalar.dofs[conditions.supported].ravel()]
                tests = conditions.bound[spaces.tractions.dofs[conditions.supported].ravel()]
            left = image + (-1.0 if exterior else 1.0) * (half @ motions)
            given = _spread_blocks(spread, left[:, :3].reshape(-1, 3, 3))
            rest, own = left - given @ motions, np.diff(tests.indptr) > 0
            wrong, size = (np.abs(each[:, 3:]).max(axis=0, initial=0.0) for each in (rest[own], half @ motions))
            defect = float((wrong / np.maximum(size, 1e-300)).max())
            found.append(cls(double, single, half - given, tests, defect, tests.T @ rest[:, 3:]))
        return found

    def tested(self, displacement: Callable[[Array], Array] | None) -> Array:
        """The integrals of a displacement at points (n, 3), None for zero, with the test functions."""
        test = self.lazy_double.test
        if displacement is None:
            return np.zeros(test.dimension)
        return np.asarray(test.load_vector(displacement, source_degree(test.scalar)))

    def block(self, tests: Any, u: sp.csc_array, t: sp.csc_array) -> Array:
        """The entries (1/2 + K) u and -V t between some columns of `tests` and columns u, t."""
        chosen = self.tests.tocsc()[:, tests]
        local = (chosen.T @ self.local @ u).toarray()
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
    values = entries.data[:, None, None] * defects[a]
    rows = np.broadcast_to(3 * a[:, None, None] + np.arange(3)[:, None], values.shape)
    columns = np.broadcast_to(3 * j[:, None, None] + np.arange(3), values.shape)
    return sparse(values.ravel(), rows.ravel(), columns.ravel(), (3 * spread.shape[0], 3 * spread.shape[1]))
