"""One body in the unknowns of all bodies of a problem: before its layers are assembled, and after.

Its displacement is u = A q and its traction t = B s, with the unknowns q, s of all bodies. It has rows of its own:
those whose test functions are its `conditions.free` and `conditions.bound`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends import Execution
from calderon.formulations.elastic.conditions.surface_conditions import SurfaceConditions
from calderon.formulations.elastic.system.cavities import CavityForms, cavity_forms
from calderon.formulations.elastic.system.columns import Columns, LazyColumns, Spaces, single_layer_sizes
from calderon.formulations.elastic.system.tested_rows import Known, TestedRows, source_points
from calderon.greens import Elastostatic
from calderon.operators.methods import method_named
from calderon.quadrature import Quadrature

Array = NDArray[np.float64]
Index = NDArray[np.int64]


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
        return sum(source_points(each.scalar) for each in self.spaces.tests)

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

    def assembled(self, method: str, rtol: float | None, backend: str, rules: Quadrature, modulus: float) -> "BodyRows":
        """The rows with assembled layers. method, rtol, backend: as in `assemble`. rules: of quadrature. modulus: E of
        the unit of all unknown tractions."""
        chosen = method_named(method)
        devices = Execution.of(backend, "double").devices if chosen.joins_blocks else ()
        options = chosen.options(rtol=rtol if chosen.compresses else None)

        def assemble(operator: Any) -> Any:
            """The product of a lazy operator, which the processor makes before a device multiplies."""
            matrix = operator.assemble(method, backend="numba" if chosen.joins_blocks else backend, **options)
            return matrix.to_array() if chosen.stores_entries else matrix

        def send(found: Any, operator: Any) -> Any:
            """The product on the device."""
            return found.sent(devices[0]) or assemble(operator)

        lazy, numbers = self.columns(rules), self.loaded
        own = Columns(self.split(lazy) if chosen.joins_blocks else lazy, assemble, send if devices else None)
        return BodyRows(
            layers=own,
            rows=TestedRows.of(lazy, own.difference, self.conditions, self.solid.exterior),
            free=self.displacement,
            bound=self.traction[numbers] * (modulus / self.modulus),
            springs=self.conditions.springs[numbers] / self.modulus,
            loaded=numbers,
            modulus=self.modulus,
            cavities=cavity_forms(self.solid, self.spaces, method, rules),
        )

    def diagonal(self, length: float, modulus: float) -> Array:
        """(unknowns,) about the diagonal of its rows: of half the mass, and of a single layer on one triangle. length,
        modulus: the units of unknown displacements and tractions."""
        spaces, free = self.spaces, self.conditions.free
        displacements = 0.5 * length * (free.T @ spaces.displacements.mass_matrix() @ free).diagonal()
        size = spaces.tractions.dofs.shape[1]
        areas, tested = (np.repeat(each, size) for each in (spaces.displacements.mesh.areas, self.conditions.supported))
        weights = np.where(tested, single_layer_sizes(areas), 0.0) * modulus / self.modulus
        return np.concatenate([displacements, self.conditions.bound.power(2).T @ weights])


@dataclass(frozen=True, eq=False)
class BodyRows:
    """The rows of one body: (1/2 + K) u - V (t - S u), tested, for u = free q and t = bound s.

    layers: K u - V t. rows: those tested with displacements, and those tested with unknown tractions, if any. free
    (3 n, q); bound (l, s): of tractions that may differ from zero, over E. springs (l, 3 n): S over E. loaded (l,):
    numbers of their coefficients. modulus: E. cavities: the forms of volumes of cavities; None without any.
    """

    layers: Columns
    rows: tuple[TestedRows, ...]
    free: sp.csr_array
    bound: sp.csr_array
    springs: sp.csr_array
    loaded: Index
    modulus: float
    cavities: CavityForms | None

    @property
    def unknowns(self) -> int:
        """The number of unknowns of all bodies."""
        return int(self.free.shape[1] + self.bound.shape[1])

    @property
    def has_tractions(self) -> bool:
        """Whether any traction may differ from zero."""
        return self.layers.lazy.spaces.loaded is not None

    @property
    def defect(self) -> float:
        """The error of rotations in (1/2 + K), relative."""
        return self.rows[0].defect

    @property
    def rest(self) -> Array:
        """(unknowns, 3) what (1/2 + K) makes of three rotations by 1, in the rows of the equation."""
        return self._in_rows([each.rest for each in self.rows])

    @property
    def tests(self) -> sp.csr_array:
        """(rows, unknowns) the test functions of all rows."""
        found = sp.block_diag([each.tests for each in self.rows], format="csr")
        found.resize((found.shape[0], self.unknowns))
        return sp.csr_array(found)

    @property
    def space(self) -> Any:
        """The space of displacements."""
        return self.rows[0].layers[0].trial

    def known_of(self, cases: Sequence[Known]) -> tuple[Array, Array]:
        """u (3 n, k) and t (l, k), over E, that are known in k load cases."""
        u = np.stack([each.u.ravel() for each in cases], axis=1)
        t = np.stack([each.t.ravel()[self.loaded] for each in cases], axis=1) / self.modulus
        return u, t

    def product(self, u: Any, t: Any) -> Array:
        """(unknowns, k) of displacements u (3 n, k) and tractions t (l, k), over E: columns, or None for zero."""
        return self._tested(self._applied(u, t))

    def right_hand_sides(self, cases: Sequence[Known]) -> Array:
        """(unknowns, k) of what is known in k load cases."""
        applied = self._applied(*self.known_of(cases))
        return self._tested([row.sources(cases) - each for row, each in zip(self.rows, applied, strict=True)])

    def block(self, q: Index, s: Index) -> Array:
        """The entries between some displacements q and tractions s, increasing, without elastic supports."""
        columns = self.free.tocsc()[:, q], self.bound.tocsc()[:, s]
        found = [row.block(own, *columns) for row, own in zip(self.rows, (q, s), strict=False)]
        if len(found) == 1:
            found.append(np.zeros((len(s), len(q) + len(s))))
        return np.vstack(found)

    def _applied(self, u: Any, t: Any) -> list[Any]:
        """(1/2 + K) u - V (t - S u) for each test space, not tested; arguments as in `product`."""
        if u is not None and self.springs.nnz:
            t = -(self.springs @ u) if t is None else t - self.springs @ u
        found = self.layers.difference(u, t)
        return found if u is None else [row.local @ u + each for row, each in zip(self.rows, found, strict=True)]

    def _tested(self, values: list[Any]) -> Array:
        """(unknowns, k) of values (rows, k) of each test space."""
        return self._in_rows([row.tests.T @ each for row, each in zip(self.rows, values, strict=True)])

    def _in_rows(self, values: list[Array]) -> Array:
        """(unknowns, k) with the values (tests, k) of each test space in its rows, and zeros elsewhere."""
        if sum(len(each) for each in values) == self.unknowns:
            return np.concatenate(values)
        found = np.zeros((self.unknowns, values[0].shape[1]))
        for row, each in zip(self.rows, values, strict=True):
            found[row.numbers] = each
        return found
