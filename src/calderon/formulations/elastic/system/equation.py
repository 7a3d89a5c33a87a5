"""The equation of elastic bodies, (1/2 + K) u = V t by Galerkin's method: one body, or several that are bonded.

It is tested with the functions of displacements where these are unknown, and with those of tractions where these are;
of several bodies the one with the stiffest material has the rows of a joined node, the other one those of a common
face. In units of E for tractions and of the size of the body for displacements all unknowns are of the same order. What
(1/2 + K) makes of translations is subtracted from the blocks of the nodes; rotations then measure its error. A sum of
rows of each cavity is replaced by the balance of its volume (see `cavities`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends import require_memory, return_memory
from calderon.formulations.elastic.conditions.joined_bodies import JoinedBodies
from calderon.formulations.elastic.plan import COUNTS, plan_solution
from calderon.formulations.elastic.results.surface_stress import strain_matrix
from calderon.formulations.elastic.system.body import Body, BodyRows, Known, places
from calderon.formulations.elastic.system.cavities import VolumeBalance
from calderon.formulations.elastic.tolerances import TOLERANCES
from calderon.operators.methods import Plan, method_named
from calderon.quadrature import Quadrature

Array = NDArray[np.float64]
Index = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Equation:
    """A x = b for x = (q / L, s / E_0), assembled: rows times `scale`.

    bodies: the rows of each. right (unknowns, k): b of k load cases. length: L. modulus: E_0. scale (unknowns,): about
    the inverse of the diagonal. lift (q, f): columns that lift free motions. shortest: the shortest edge over L.
    points, axes (unknowns, 3): where each unknown is, and its direction. balances: of the volumes of cavities, for each
    body, or None. text: what it is.
    """

    bodies: Sequence[BodyRows]
    right: Array
    length: float
    modulus: float
    scale: Array
    lift: Array
    shortest: float
    points: Array
    axes: Array
    balances: Sequence[VolumeBalance | None]
    text: str

    dtype = np.dtype(np.float64)

    @property
    def unknowns(self) -> int:
        """The number of unknowns."""
        return len(self.points)

    @property
    def shape(self) -> tuple[int, int]:
        """The shape (unknowns, unknowns) of A."""
        return self.unknowns, self.unknowns

    @property
    def displacements(self) -> int:
        """The number of unknown displacements."""
        return len(self.lift)

    def __str__(self) -> str:
        return self.text

    def unscaled(self, x: Array) -> Array:
        """(unknowns,) q and s of a solution x (unknowns,)."""
        return np.concatenate([x[: self.displacements] * self.length, x[self.displacements :] * self.modulus])

    def __matmul__(self, x: Array) -> Array:
        """A x of vectors (unknowns,) or (unknowns, k)."""
        columns = x.reshape(len(x), -1)
        found: Any = sum(body.product(body.fields @ columns) for body in self.bodies)
        found[: self.displacements] += self.length * (self.lift @ (self.lift.T @ columns[: self.displacements]))
        found = self.scale[:, None] * found
        for balance in self.balances:
            found = found if balance is None else balance.product(found, columns)
        return np.asarray(found).reshape(x.shape)

    def to_array(self) -> Array:
        """A (unknowns, unknowns) of layers that are arrays."""
        count, found = self.displacements, np.zeros(0)
        for body in self.bodies:
            own = np.hstack([body.product(each) for each in (body.fields[:, :count], body.fields[:, count:])])
            found = own if body is self.bodies[0] else found + own
        found[:count, :count] += self.length * (self.lift @ self.lift.T)
        found *= self.scale[:, None]
        for balance in self.balances:
            if balance is not None:
                balance.replace_rows(found)
        return found

    def block(self, numbers: Index) -> Array:
        """The entries between some unknowns, without the lift."""
        found: Any = self.scale[numbers][:, None] * sum(body.block(numbers) for body in self.bodies)
        for balance in self.balances:
            found = found if balance is None else found + balance.change_of(numbers)
        return np.asarray(found)

    @property
    def defects(self) -> list[float]:
        """The error of rotations in the equation of each body, relative."""
        return [each.defect for each in self.bodies]

    @property
    def defect(self) -> float:
        """The largest of the defects."""
        return max(self.defects)

    @property
    def rest(self) -> Array:
        """(unknowns, 3) what A makes of three rotations by 1, in its rows."""
        found = np.asarray(self.scale[:, None] * sum(body.rest for body in self.bodies))
        for balance in self.balances:
            found = found if balance is None else balance.product(found, np.zeros_like(found))
        return found

    @cached_property
    def strains(self) -> sp.csr_array:
        """(k, unknowns) strains and tractions times E / E_0, of unknowns."""
        parts = [
            strain_matrix(each.space, each.fields, self.displacements) * (each.modulus / self.modulus)
            for each in self.bodies
        ]
        return parts[0] if len(parts) == 1 else sp.vstack(parts, format="csr")


@dataclass(frozen=True, eq=False)
class LazyEquation:
    """The equation of bodies before it is assembled, with the words of a lazy operator.

    joined: the bodies in common unknowns. bodies: test functions and columns of each. cases: what is known of each
    body, for each load case and then each influence field. sources: seconds and bytes of loads of the volume, before it
    is assembled. rules: finer rules of quadrature, or None for those of each solid.
    """

    joined: JoinedBodies
    bodies: Sequence[Body]
    cases: Sequence[Sequence[Known]]
    sources: Sequence[tuple[float, int]]
    rules: Quadrature | None = None

    @staticmethod
    def of(posed: Sequence[JoinedBodies], influences: Sequence[Sequence[Known]] = ()) -> "LazyEquation":
        """The equation of bodies in load cases, which have the same supports, and of influence fields."""
        joined, bodies, sources = posed[0], [], []
        for k, solid in enumerate(joined.solids):
            every, given = [each.solids[k] for each in posed], solid.conditions
            conditions = replace(
                given,
                free=joined.tests[k],
                bound=joined.tractions[k],
                supported=given.supported | joined.tested[k],
                loaded=np.any([each.conditions.loaded for each in every], axis=0) | joined.common[k],
            )
            bodies.append(Body(solid, conditions, joined.displacements(k), joined.tractions[k]))
            points = bodies[-1].source_points
            sources += [planned for each in every for planned in each.volume.planned(points)]
        return LazyEquation(joined, bodies, [*(known_of(each) for each in posed), *influences], sources)

    @property
    def length(self) -> float:
        """L, the size of all bodies."""
        return self.joined.size

    @property
    def modulus(self) -> float:
        """E_0, the largest of Young's moduli."""
        return max(body.modulus for body in self.bodies)

    @property
    def unknowns(self) -> tuple[int, int]:
        """The numbers of unknown displacements and tractions."""
        return int(self.joined.free.shape[1]), int(self.joined.tractions[0].shape[1])

    @property
    def dimension(self) -> int:
        """The number of all unknowns."""
        return sum(self.unknowns)

    def with_rules(self, rules: Quadrature) -> "LazyEquation":
        """The equation by other rules of quadrature."""
        return replace(self, rules=rules)

    def plan(self, method: str, rtol: float | None = None, precision: str = "double") -> Plan:
        """The bytes and seconds of the equation and its factors or preconditioner; arguments as in `assemble`.
        ValueError for a method without estimates."""
        return plan_solution(self, method, rtol)

    def assemble(self, method: str, backend: str = "numba", rtol: float | None = None, **others: Any) -> Equation:
        """The assembled equation with the right-hand sides of all cases. method: of products. rtol: of those that are
        compressed. others: further options of an operator, of which only the defaults get here. ValueError where the
        mesh bounds no body, MemoryError before anything is computed."""
        count = self.dimension
        needed = self.plan(method, rtol).nbytes + COUNTS.near_bytes * count * method_named(method).joins_blocks
        require_memory(needed, f"a solution of {count} unknowns ({method})", "try method='fmm' or a coarser mesh")
        return_memory()
        modulus = self.modulus
        bodies = [
            body.assembled(method, rtol, backend, self.rules or body.solid.quadrature, self.length, modulus)
            for body in self.bodies
        ]
        self._refuse_defects(bodies)
        points, axes = self._places()
        scale = 1 / np.sum([body.diagonal(self.length, modulus) for body in self.bodies], axis=0)
        balances = [None if each.cavities is None else each.cavities.in_unknowns(each, scale) for each in bodies]
        return_memory()
        right = self._right_hand_sides(bodies, scale, balances)
        lift = self.joined.free.T @ (self.joined.mass @ self.joined.orthonormal_motions)
        for each in bodies:
            each.layers.release_known()
        q, s = self.unknowns
        text = f"{method}: {q + s} unknowns ({q} of displacement, {s} of traction)"
        return Equation(
            bodies=bodies, right=right, length=self.length, modulus=modulus, scale=scale, lift=lift,
            shortest=self.joined.shortest, points=points, axes=axes, balances=balances, text=text,
        )  # fmt: skip

    def _right_hand_sides(
        self, bodies: Sequence[BodyRows], scale: Array, balances: Sequence[VolumeBalance | None]
    ) -> Array:
        """b (unknowns, k) of all load cases; arguments as the fields of `Equation`."""
        found = np.zeros((sum(self.unknowns), len(self.cases)))
        if self.cases:
            known = list(zip(*self.cases, strict=True))
            for body, own in zip(bodies, known, strict=True):
                found += scale[:, None] * body.right_hand_sides(own)
            for body, own, balance in zip(bodies, known, balances, strict=True):
                found = found if balance is None else balance.right(found, body.known_of(own))
        return found

    def _refuse_defects(self, bodies: Sequence[BodyRows]) -> None:
        """ValueError where rotations have a large error in the rows of a body."""
        for name, body in zip(self.joined.names, bodies, strict=True):
            if not body.defect <= TOLERANCES.defect:
                which = f"the surface of {name!r}" if len(bodies) > 1 else "the surface"
                raise ValueError(
                    f"{which} does not bound a body properly: rotations, which need no traction, have an error of "
                    f"{body.defect:.2g}; mesh.check() finds triangles that repeat, cross or lie on each other"
                )

    def _places(self) -> tuple[Array, Array]:
        """The point and the direction (unknowns, 3) of each unknown."""
        points, axes = places(self.joined.nodes, self.joined.free)
        count = self.unknowns[1]
        below, directions = np.zeros((count, 3)), np.zeros((count, 3))
        for body in self.bodies:
            where, along = places(body.spaces.tractions.scalar.nodes, body.traction)
            mine = (along != 0).any(axis=1)
            below[mine], directions[mine] = where[mine], along[mine]
        return np.concatenate([points, below]), np.concatenate([axes, directions])


def known_of(joined: JoinedBodies) -> list[Known]:
    """The known values of each body of `joined`, in the unknowns of all."""
    found = []
    for solid, number in zip(joined.solids, joined.numbers, strict=True):
        particular = solid.volume.displacement(solid.spaces.displacements.scalar.nodes)
        found.append(Known(joined.u0[number] - particular, solid.conditions.t0, solid.volume.moving_source))
    return found
