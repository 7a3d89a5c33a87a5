"""One body in the unknowns of all bodies of a problem: before its layers are assembled, and after.

Its displacement is u = A q and its traction t = B s, with the unknowns q, s of all bodies. It has rows of its own:
those whose test functions are its `conditions.free` and `conditions.bound`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends import Execution, return_memory
from calderon.formulations.elastic.conditions.rigid_motions import rigid_motions
from calderon.formulations.elastic.conditions.surface_conditions import SurfaceConditions, sparse
from calderon.formulations.elastic.system.cavities import CavityForms, cavity_forms
from calderon.formulations.elastic.system.columns import Columns, LazyColumns, Spaces, single_layer_sizes
from calderon.greens import Elastostatic
from calderon.operators.methods import method_named
from calderon.quadrature import Quadrature, triangle_rule
from calderon.spaces.space import Space

Array = NDArray[np.float64]
Index = NDArray[np.int64]


def source_degree(test: Space) -> int:
    """The degree of the rule by which a displacement without a closed form is tested."""
    return 2 + 2 * test.element.degree


class Known(NamedTuple):
    """The known values of one body in one load case.

    u (n, 3), t (m, 3): the known displacement at nodes and traction at nodes of tractions. source: the displacement at
    points (k, 3) that loads of the volume add to V t; None for zero.
    """

    u: Array
    t: Array
    source: Callable[[Array], Array] | None


def places(nodes: Array, columns: sp.csr_array) -> tuple[Array, Array]:
    """The point and the direction (k, 3) of each unknown, columns (3 n, k) at nodes (n, 3); zeros for empty columns."""
    entries = columns.tocoo()
    directions, points = np.zeros((columns.shape[1], 3)), np.zeros((columns.shape[1], 3))
    row, column = entries.coords
    directions[column, row % 3] = entries.data
    points[column] = nodes[row // 3]
    return points, directions


@dataclass(frozen=True, eq=False)
class Body:
    """One body of an equation that is not assembled.

    solid: the `ElasticSolid`. conditions: its conditions; free (3 n, q) and bound (3 m, s) are the test functions of
    its rows, in the unknowns of all bodies, `loaded` has the triangles with tractions in any load case. displacement
    (3 n, q), traction (3 m, s): A and B.
    """

    solid: Any
    conditions: SurfaceConditions
    displacement: sp.csr_array
    traction: sp.csr_array

    @cached_property
    def spaces(self) -> Spaces:
        """The spaces of its displacements and tractions."""
        spaces, conditions = self.solid.spaces, self.conditions
        return Spaces.of(spaces.displacements, spaces.tractions, conditions.loaded, conditions.supported)

    @property
    def modulus(self) -> float:
        """Young's modulus E."""
        return float(self.solid.material.youngs_modulus)

    @property
    def green(self) -> Elastostatic:
        """The function of Green for E = 1."""
        return Elastostatic(1.0, self.solid.material.poissons_ratio)

    @property
    def loaded(self) -> Index:
        """(l,) numbers of the coefficients of tractions that may differ from zero."""
        return np.asarray(self.spaces.tractions.dofs[self.conditions.loaded].ravel())

    @property
    def source_points(self) -> int:
        """The number of points at which sources of loads of the volume are computed."""
        tests = [each.scalar for each in self.spaces.tests]
        return sum(len(triangle_rule(source_degree(each)).weights) * len(each.triangles) for each in tests)

    @cached_property
    def _mass(self) -> sp.csr_array:
        """(3 n, 3 n) the mass matrix of displacements."""
        return self.spaces.displacements.mass_matrix()

    def columns(self, rules: Quadrature) -> LazyColumns:
        """The lazy layers by some rules."""
        return LazyColumns.of(self.green, rules, self.spaces)

    def split(self, columns: LazyColumns) -> LazyColumns:
        """Lazy layers with the columns of what is known apart."""
        moving, acting = (
            (np.diff(each.indptr) > 0).reshape(-1, 3).any(axis=1) for each in (self.displacement, self.traction)
        )
        acting |= (abs(self.conditions.springs).sum(axis=1) > 0).reshape(-1, 3).any(axis=1)
        return columns.split(moving, acting[self.spaces.tractions.scalar.dofs[self.conditions.loaded].ravel()])

    @property
    def tests(self) -> sp.csr_array:
        """(rows, unknowns) the test functions: of displacements, and below them of unknown tractions, if any."""
        given = self.conditions
        bound = given.bound[self.spaces.tractions.dofs[given.supported].ravel()]
        found = sp.block_diag([given.free, bound][: len(self.spaces.tests)], format="csr")
        found.resize((found.shape[0], given.free.shape[1] + given.bound.shape[1]))
        return sp.csr_array(found)

    def assembled(
        self, method: str, rtol: float | None, backend: str, rules: Quadrature, length: float, modulus: float
    ) -> "BodyRows":
        """The rows with assembled layers. method, rtol, backend: as in `assemble`. rules: of quadrature. length,
        modulus: L and E_0, the units of unknown displacements and tractions."""
        chosen = method_named(method)
        Execution.of(backend, "double")  # refuses several
        options = chosen.options(rtol=rtol if chosen.compresses else None)

        def assemble(operator: Any) -> Any:
            """The product of a lazy operator."""
            matrix = operator.assemble(method, backend=backend, **options)
            return matrix.to_array() if chosen.stores_entries else matrix

        lazy, numbers, tests = self.columns(rules), self.loaded, self.tests
        layers = Columns(self.split(lazy) if chosen.joins_blocks else lazy, assemble)
        local, rest, defect = self._local_terms(lazy, layers, tests)
        u, springs = length * self.displacement, self.conditions.springs[numbers] / self.modulus
        bound = self.traction[numbers] * (modulus / self.modulus)
        return BodyRows(
            layers=layers,
            tests=tests,
            fields=sp.block_array([[u, None], [-(springs @ u), bound]], format="csr"),
            local=local,
            rest=rest,
            defect=defect,
            springs=springs,
            loaded=numbers,
            modulus=self.modulus,
            cavities=cavity_forms(self.solid, self.spaces, method, rules),
        )

    def _local_terms(
        self, lazy: LazyColumns, layers: Columns, tests: sp.csr_array
    ) -> tuple[sp.csr_array, Array, float]:
        """The fields `local`, `rest` and `defect` of `BodyRows`. lazy: all columns of the layers. tests: as there.

        Around cavities in a solid without end (1/2 + K) e = e for rigid motions e, which do not vanish at infinity.
        """
        given, trial, sign = self.conditions, self.spaces.displacements, -0.5 if self.solid.exterior else 0.5
        motions = rigid_motions(trial.scalar.nodes, trial.mesh.bounds.mean(axis=0)).reshape(-1, 6)
        images = layers.product_of(np.concatenate([motions, np.zeros((lazy.shape[1] - len(motions), 6))]))
        return_memory()
        local, rest = [], []
        for row in lazy.rows:
            mass = self._mass if row.space is trial else trial.mass_matrix(row.space)
            if row.space is trial:
                spread = sp.eye_array(trial.scalar.dimension, format="csr")
            else:
                spread = given.projection[self.spaces.tractions.scalar.dofs[given.supported].ravel()]
            left = images[row.numbers] + sign * (mass @ motions)
            moved = _spread_blocks(spread, left[:, :3].reshape(-1, 3, 3))
            local.append(0.5 * mass - moved)
            rest.append(left - moved @ motions)
        own = np.diff(tests.indptr)[: len(rest[0])] > 0
        half = 0.5 * (self._mass @ motions)
        wrong, size = (np.abs(each[:, 3:]).max(axis=0, initial=0.0) for each in (rest[0][own], half))
        turned = tests.T @ np.concatenate(rest)[:, 3:]
        return sp.vstack(local, format="csr"), turned, float((wrong / np.maximum(size, 1e-300)).max())

    def diagonal(self, length: float, modulus: float) -> Array:
        """(unknowns,) about the diagonal of its rows: of half the mass, and of a single layer on one triangle. length,
        modulus: the units of unknown displacements and tractions."""
        spaces, free = self.spaces, self.conditions.free
        displacements = 0.5 * length * (free.T @ self._mass @ free).diagonal()
        size = spaces.tractions.dofs.shape[1]
        areas, tested = (np.repeat(each, size) for each in (spaces.displacements.mesh.areas, self.conditions.supported))
        weights = np.where(tested, single_layer_sizes(areas), 0.0) * modulus / self.modulus
        return np.concatenate([displacements, self.conditions.bound.power(2).T @ weights])


@dataclass(frozen=True, eq=False)
class BodyRows:
    """The rows of one body between the unknowns x of all bodies, T^T (D + C) R x, with the layers D (u, t) = K u - V t.

    layers: D. tests (rows, unknowns): T, the test functions of displacements and of unknown tractions. fields (columns,
    unknowns): R, displacements u and tractions t - S u over E, one below the other, of unknowns. local (rows, 3 n): C
    of u, 1/2 less what the discrete (1/2 + K) makes of translations, on the blocks of nodes. rest (unknowns, 3): what
    (1/2 + K) then makes of three rotations by 1, which have no traction. defect: the largest part of it, tested with
    displacements, over half of the rotations. springs (l, 3 n): S over E. loaded (l,): numbers of the coefficients of
    tractions that may differ from zero. modulus: E. cavities: the forms of volumes of cavities; None without any.
    """

    layers: Columns
    tests: sp.csr_array
    fields: sp.csr_array
    local: sp.csr_array
    rest: Array
    defect: float
    springs: sp.csr_array
    loaded: Index
    modulus: float
    cavities: CavityForms | None

    @property
    def space(self) -> Any:
        """The space of displacements."""
        return self.layers.lazy.spaces.displacements

    def known_of(self, cases: Sequence[Known]) -> Array:
        """(columns, k) u and t - S u over E that are known in k load cases."""
        u = np.stack([each.u.ravel() for each in cases], axis=1)
        t = np.stack([each.t.ravel()[self.loaded] for each in cases], axis=1) / self.modulus
        return np.concatenate([u, t - self.springs @ u])

    def product(self, fields: Any) -> Array:
        """(unknowns, k) T^T (D + C) of fields (columns, k), dense or sparse."""
        return np.asarray(self.tests.T @ self._applied(fields))

    def right_hand_sides(self, cases: Sequence[Known]) -> Array:
        """(unknowns, k) of what is known in k load cases."""
        return np.asarray(self.tests.T @ (self._sources(cases) - self._applied(self.known_of(cases))))

    def block(self, numbers: Index) -> Array:
        """The entries between some unknowns, of which only those of the layers are computed that are needed."""
        left, right = self.tests.tocsc()[:, numbers].tocsr(), self.fields.tocsc()[:, numbers].tocsr()
        found = (left.T @ self.local @ right[: self.local.shape[1]]).toarray()
        rows, columns = (np.flatnonzero(np.diff(each.indptr)) for each in (left, right))
        if len(rows) and len(columns):
            lazy = self.layers.lazy
            found += left[rows].T @ (lazy.operator(lazy.kept).entries(rows, columns) @ right[columns])
        return np.asarray(found)

    def _applied(self, fields: Any) -> Array:
        """(rows, k) (D + C) of fields (columns, k)."""
        return np.asarray(self.layers.product_of(fields) + self.local @ fields[: self.local.shape[1]])

    def _sources(self, known: Sequence[Known]) -> Array:
        """(rows, k) integrals of the sources of k load cases with the test functions of the spaces."""
        found = np.zeros((len(known), self.tests.shape[0]))
        for row, each in zip(found, known, strict=True):
            if each.source is not None:
                tests = self.layers.lazy.spaces.tests
                row[:] = np.concatenate([one.load_vector(each.source, source_degree(one.scalar)) for one in tests])
        return found.T


def _spread_blocks(spread: sp.csr_array, defects: Array) -> sp.csr_array:
    """The sparse matrix (3 a, 3 j) with the blocks spread_aj defects_a, of spread (a, j) and defects (a, 3, 3)."""
    entries = spread.tocoo()
    a, j = entries.coords
    values = entries.data[:, None, None] * defects[a]
    rows = np.broadcast_to(3 * a[:, None, None] + np.arange(3)[:, None], values.shape)
    columns = np.broadcast_to(3 * j[:, None, None] + np.arange(3), values.shape)
    return sparse(values.ravel(), rows.ravel(), columns.ravel(), (3 * spread.shape[0], 3 * spread.shape[1]))
