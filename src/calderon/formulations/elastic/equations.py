"""The equation of an elastic solid: (1/2 + K) u = V t, by Galerkin's method.

It is tested with the functions of displacements where these are unknown, and with those of tractions where these are.
In units of E for tractions and of the size of the body for displacements all unknowns are of the same order. What
(1/2 + K) makes of translations is subtracted from the blocks of the nodes; rotations then measure its error. A sum of
rows of each cavity is replaced by the balance of its volume (see `cavities`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.formulations.elastic.cavities import CavityForms, VolumeBalance
from calderon.formulations.elastic.surface_conditions import SurfaceConditions
from calderon.formulations.elastic.surface_stress import strain_matrix
from calderon.formulations.elastic.tested_rows import Layers, Spaces, TestedRows, single_layer_sizes

Array = NDArray[np.float64]
Case = tuple[SurfaceConditions, Callable[[Array], Array] | None]
"""Known displacements and tractions on the whole surface, and the displacement at points (n, 3) that loads of the
volume add to V t; None for zero."""
DEFECT = 0.05
"""Largest error of rotations: above, the mesh is no boundary of a body."""


@dataclass(frozen=True, eq=False)
class Equation:
    """A x = b for x = (q / L, s / E) with rows times `scale`.

    layers: K and V. parts: the rows tested with displacements and with tractions. free, bound: u = free q, t = bound s
    on triangles with tractions. springs: S of elastic supports there; rows: the numbers of their coefficients; lift:
    columns that lift free motions. points, axes (unknowns, 3): where each unknown is, and its direction. exterior: see
    TestedRows. balance: of the volumes of cavities.
    """

    layers: Layers
    parts: tuple[TestedRows, ...]
    free: sp.csr_array
    bound: sp.csr_array
    springs: sp.csr_array
    lift: Array
    rows: NDArray[np.int64]
    length: float
    modulus: float
    scale: Array
    points: Array
    axes: Array
    exterior: bool
    balance: VolumeBalance | None = None

    @property
    def displacements(self) -> int:
        """How many of the unknowns are displacements."""
        return int(self.free.shape[1])

    @property
    def unknowns(self) -> int:
        return len(self.points)

    def split(self, x: Array) -> tuple[Array, Array]:
        """q and s."""
        return x[: self.displacements] * self.length, x[self.displacements :] * self.modulus

    def rhs_of(self, cases: Sequence[Case]) -> Array:
        """(unknowns, k) right-hand sides of k cases."""
        u = np.stack([each.u0.ravel() for each, _ in cases], axis=1)
        t = np.stack([each.t0.ravel()[self.rows] for each, _ in cases], axis=1) / self.modulus
        found = [
            np.stack([part.tested(source) for _, source in cases], axis=1) - each
            for part, each in zip(self.parts, self._applied(u, t), strict=False)
        ]
        right = np.asarray(self.scale[:, None] * self._tested(found))
        return right if self.balance is None else self.balance.right(right, u, t)

    def _applied(self, u: Any, t: Any) -> list[Any]:
        """(1/2 + K) u - V (t - S u) of each part, columns; None for zero."""
        if u is not None and self.springs.nnz:
            t = -(self.springs @ u) if t is None else t - self.springs @ u
        found = self.layers.difference(u, t)
        return found if u is None else [part.local @ u + each for part, each in zip(self.parts, found, strict=False)]

    def _tested(self, values: list[Any]) -> Array:
        found = [part.tests.T @ each for part, each in zip(self.parts, values, strict=False)]
        width = values[0].shape[1]
        return np.concatenate(found + [np.zeros((part.tests.shape[1], width)) for part in self.parts[len(values) :]])

    @property
    def stored(self) -> Array:
        """A (unknowns, unknowns) of operators that are arrays."""
        left = self.length * self._tested(self._applied(self.free, None))
        matrix = np.hstack([left, self._tested(self._applied(None, self.bound))])
        matrix[: self.displacements, : self.displacements] += self.length * (self._lifted_rows @ self.lift.T)
        matrix *= self.scale[:, None]
        if self.balance is not None:
            self.balance.replace_rows(matrix)
        return matrix

    @property
    def operator(self) -> LinearOperator:
        """A as its products."""

        def product(x: Array) -> Array:
            columns = x.reshape(len(x), -1)
            q, s = columns[: self.displacements] * self.length, columns[self.displacements :]
            found = self._tested(self._applied(self.free @ q, self.bound @ s))
            found[: self.displacements] += self._lifted_rows @ (self.lift.T @ q)
            found = self.scale[:, None] * found
            return np.asarray(found if self.balance is None else self.balance.product(found, columns)).reshape(x.shape)

        return LinearOperator((self.unknowns,) * 2, matvec=product, matmat=product, dtype=np.float64)

    @property
    def _lifted_rows(self) -> Array:
        """The lift in the rows that are tested: all, but for one of several bonded solids."""
        return np.where((np.diff(self.parts[0].tests.tocsc().indptr) > 0)[:, None], self.lift, 0.0)

    def block(self, numbers: NDArray[np.int64]) -> Array:
        """The entries between some unknowns, increasing, without elastic supports and the lift."""
        count = self.displacements
        q, s = numbers[numbers < count], numbers[numbers >= count] - count
        columns = self.free.tocsc()[:, q], self.bound.tocsc()[:, s]
        rows = [part.block(own, *columns) for part, own in zip(self.parts, (q, s), strict=False)]
        matrix = np.vstack(rows)
        matrix[:, : len(q)] *= self.length
        matrix *= self.scale[numbers][:, None]
        return matrix if self.balance is None else matrix + self.balance.change_of(numbers)

    @property
    def defect(self) -> float:
        """What (1/2 + K) makes of rotations."""
        return self.parts[0].defect

    @property
    def rest(self) -> Array:
        """(unknowns, 3) the same of three rotations by 1, in the rows of A."""
        rest = np.concatenate([part.rest for part in self.parts]) * self.scale[:, None]
        return rest if self.balance is None else self.balance.product(rest, np.zeros_like(rest))

    @property
    def shortest(self) -> float:
        """The shortest edge over the size."""
        mesh = self.parts[0].lazy_double.trial.mesh
        return float(mesh.edge_lengths.min()) / self.length

    @property
    def strains(self) -> sp.csr_array:
        """(k, unknowns) strains and tractions, over E, of unknowns."""
        return strain_matrix(self.parts[0].lazy_double.trial, self.length * self.free, self.bound)


def equation_of(
    layers: Layers,
    parts: tuple[TestedRows, ...],
    spaces: Spaces,
    conditions: SurfaceConditions,
    motions: Array,
    modulus: float,
    exterior: bool,
    cavities: CavityForms | None,
) -> Equation:
    """The equation of assembled rows. motions: columns (3 n, f), orthonormal over the surface, of the free rigid
    motions; modulus: E."""
    rows = spaces.tractions.dofs[conditions.loaded].ravel()
    mass, length = spaces.displacements.mass_matrix(), spaces.displacements.mesh.diameter
    springs, lift = conditions.springs[rows] / modulus, conditions.free.T @ (mass @ motions)
    bound, scale = conditions.bound[rows], _scale(spaces, conditions, length, mass)
    found = [
        places(spaces.displacements.scalar.nodes, conditions.free),
        places(spaces.tractions.scalar.nodes, conditions.bound),
    ]
    points, axes = (np.concatenate([each[k] for each in found]) for k in (0, 1))
    return balanced(Equation(
        layers, parts, conditions.free, bound, springs, lift, rows, length, modulus, scale, points, axes, exterior
    ), cavities)  # fmt: skip


def balanced(equation: Equation, cavities: CavityForms | None) -> Equation:
    """The equation with the balances of the volumes of cavities."""
    return equation if cavities is None else replace(equation, balance=cavities.of_equation(equation))


def _scale(spaces: Spaces, conditions: SurfaceConditions, length: float, mass: sp.csr_array) -> Array:
    """About the inverse diagonal of the matrix: of half the mass, and of a single layer on one triangle."""
    free, bound = conditions.free, conditions.bound.tocsc()
    displacements = 0.5 * length * np.asarray((mass @ free).multiply(free).sum(axis=0)).ravel()
    triangle = np.repeat(np.arange(len(conditions.supported)), spaces.tractions.dofs.shape[1])
    areas = spaces.displacements.mesh.areas[triangle]
    tractions = single_layer_sizes(areas[bound.indices[bound.indptr[:-1]]]) if bound.shape[1] else np.zeros(0)
    return np.asarray(1 / np.concatenate([displacements, tractions]))


def places(nodes: Array, columns: sp.csr_array) -> tuple[Array, Array]:
    """The point and the direction (k, 3) of each unknown, columns (3 n, k) at nodes (n, 3)."""
    entries = columns.tocoo()
    directions, points = np.zeros((columns.shape[1], 3)), np.zeros((columns.shape[1], 3))
    row, column = entries.coords
    directions[column, row % 3] = entries.data
    points[column] = nodes[row // 3]
    return points, directions
