"""One equation for several bonded solids: the sum of the equations of the parts in common unknowns.

Every row comes from one part: (1/2 + K) u - V t of it, tested with displacements at those nodes whose stiffest part it
is, and with tractions on its supports and on those common faces whose softer part it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.formulations.elastic.cavities import CavityForms, cavity_forms
from calderon.formulations.elastic.equations import Case, Equation, balanced, places
from calderon.formulations.elastic.solid import ElasticSolid
from calderon.formulations.elastic.surface_conditions import SurfaceConditions
from calderon.formulations.elastic.tested_rows import restricted, single_layer_sizes

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Part:
    """A solid; its conditions in common unknowns, where free and bound are the test functions it is responsible for;
    displacement (3 n, q), traction (3 m, s): its own from all unknowns."""

    solid: ElasticSolid
    conditions: SurfaceConditions
    displacement: sp.csr_array
    traction: sp.csr_array


@dataclass(frozen=True, eq=False)
class NoRows:
    """Rows of a part that is tested with no traction; tests (0, s)."""

    tests: sp.csr_array

    @property
    def rest(self) -> Array:
        return np.zeros((self.tests.shape[1], 3))

    def block(self, tests: Any, u: sp.csc_array, t: sp.csc_array) -> Array:
        return np.zeros((len(tests), u.shape[1] + t.shape[1]))


@dataclass(frozen=True, eq=False)
class JointEquation:
    """A x = b for x = (q / L, s / E_0). equations: of the parts, in all unknowns; modulus: E_0."""

    parts: list[Part]
    equations: list[Equation]
    modulus: float

    @property
    def displacements(self) -> int:
        return self.equations[0].displacements

    @property
    def unknowns(self) -> int:
        return self.equations[0].unknowns

    @property
    def points(self) -> Array:
        return self.equations[0].points

    @property
    def axes(self) -> Array:
        return self.equations[0].axes

    @property
    def defects(self) -> list[float]:
        """Of each part, what its equation makes of rotations."""
        return [each.defect for each in self.equations]

    @property
    def defect(self) -> float:
        """The largest one."""
        return max(self.defects)

    @property
    def rest(self) -> Array:
        """(unknowns, 3) the same of three rotations by 1, in the rows of A."""
        return np.asarray(sum(each.rest for each in self.equations))

    @property
    def shortest(self) -> float:
        """The shortest edge over the size."""
        return min(each.shortest for each in self.equations)

    @property
    def strains(self) -> sp.csr_array:
        """(k, unknowns) stresses of strains and tractions, over E_0, of unknowns."""
        return sp.vstack([each.strains * (each.modulus / self.modulus) for each in self.equations], format="csr")

    def split(self, x: Array) -> tuple[Array, Array]:
        """q and s."""
        return x[: self.displacements] * self.equations[0].length, x[self.displacements :] * self.modulus

    def rhs_of(self, cases: Sequence[Sequence[Case]]) -> Array:
        """(unknowns, k) right-hand sides of k cases, of each the `Case` of each part."""
        parts = zip(self.equations, zip(*cases, strict=True), strict=True)
        return np.asarray(sum(each.rhs_of(own) for each, own in parts))

    @property
    def stored(self) -> Array:
        """A (unknowns, unknowns) of operators that are arrays."""
        matrix = self.equations[0].stored
        for each in self.equations[1:]:
            matrix += each.stored
        return matrix

    @cached_property
    def operator(self) -> LinearOperator:
        """A as its products."""
        operators = [each.operator for each in self.equations]

        def product(x: Array) -> Array:
            return np.asarray(sum(each @ x for each in operators))

        return LinearOperator((self.unknowns,) * 2, matvec=product, matmat=product, dtype=np.float64)

    def block(self, numbers: NDArray[np.int64]) -> Array:
        """The entries between some unknowns, increasing, without elastic supports and the lift."""
        return np.asarray(sum(each.block(numbers) for each in self.equations))


def joint_equation(
    parts: list[Part],
    nodes: tuple[Array, sp.csr_array],
    lift: Array,
    size: float,
    options: tuple[str, float, str],
) -> JointEquation:
    """Assemble the equations of all parts. nodes: joined nodes (n, 3) and N (3 n, q); lift: columns (q, f) that lift
    free motions; size: L; options: method, rtol, backend."""
    modulus = max(part.solid.material.youngs_modulus for part in parts)
    points, axes = _places(parts, nodes)
    equations, forms = zip(*(_of_part(part, modulus, size, points, axes, options) for part in parts), strict=True)
    scale = 1 / np.sum([_diagonal(part, size, modulus) for part in parts], axis=0)
    scaled = [
        balanced(replace(each, scale=scale, lift=lift), cavities)
        for each, cavities in zip(equations, forms, strict=True)
    ]
    return JointEquation(parts, scaled, modulus)


def _of_part(
    part: Part, modulus: float, size: float, points: Array, axes: Array, options: tuple[str, float, str]
) -> tuple[Equation, CavityForms | None]:
    solid, conditions = part.solid, part.conditions
    own, traction = solid.material.youngs_modulus, solid.spaces.tractions
    spaces = solid.spaces._replace(
        loaded=restricted(traction, conditions.loaded), unknown=restricted(traction, conditions.supported)
    )
    layers, tested = solid.tested_rows(spaces, conditions, (part.displacement, part.traction), *options)
    rows: list[Any] = [*tested]
    if len(rows) == 1:
        rows.append(NoRows(sp.csr_array((0, part.traction.shape[1]))))
    numbers = traction.dofs[conditions.loaded].ravel()
    bound, springs = part.traction[numbers] * (modulus / own), conditions.springs[numbers] / own
    equation = Equation(
        layers, tuple(rows), part.displacement, bound, springs, np.zeros((0, 0)), numbers, size, own, np.ones(1),
        points, axes, solid.exterior,
    )  # fmt: skip
    return equation, cavity_forms(solid, spaces, options[0])


def _diagonal(part: Part, size: float, modulus: float) -> Array:
    """About the diagonal of the rows that a part is responsible for, as in `equations`."""
    spaces, conditions = part.solid.spaces, part.conditions
    mass = spaces.displacements.mass_matrix()
    displacements = 0.5 * size * (conditions.free.T @ mass @ conditions.free).diagonal()
    areas = np.repeat(spaces.displacements.mesh.areas, spaces.tractions.dofs.shape[1])
    tested = np.repeat(conditions.supported, spaces.tractions.dofs.shape[1])
    weights = np.where(tested, single_layer_sizes(areas), 0.0) * modulus / part.solid.material.youngs_modulus
    return np.concatenate([displacements, (conditions.bound.power(2)).T @ weights])


def _places(parts: list[Part], nodes: tuple[Array, sp.csr_array]) -> tuple[Array, Array]:
    """The point and the direction (unknowns, 3) of each unknown."""
    points, axes = places(*nodes)
    below, directions = np.zeros((parts[0].traction.shape[1], 3)), np.zeros((parts[0].traction.shape[1], 3))
    for part in parts:
        where, along = places(part.solid.spaces.tractions.scalar.nodes, part.traction)
        mine = (along != 0).any(axis=1)
        below[mine], directions[mine] = where[mine], along[mine]
    return np.concatenate([points, below]), np.concatenate([axes, directions])
