"""The bodies of a problem in common unknowns: joined nodes with one displacement, unknown tractions, rigid motions.

The displacements of joined nodes are U = U_0 + N q, and u = U at the nodes of each body; tractions are those of its
conditions with the unknown parts B s. The unknowns q and s are those of all bodies.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.formulations.elastic.conditions import rigid_motions
from calderon.formulations.elastic.conditions.interfaces import selection

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class JoinedBodies:
    """Bodies in common unknowns.

    names, solids: of the bodies, an `ElasticSolid` each. numbers: by body, those of its nodes among the joined ones.
    nodes (n, 3): the joined nodes. u0 (n, 3), free (3 n, q): U_0 and N. tests: by body, N at those of its nodes whose
    equation it has. tractions: by body, B (3 m, s), test functions, too. tested, common: by body, masks of triangles on
    common faces, of those whose equation it has and of all.
    """

    names: Sequence[Any]
    solids: Sequence[Any]
    numbers: Sequence[Index]
    nodes: Array
    u0: Array
    free: sp.csr_array
    tests: Sequence[sp.csr_array]
    tractions: Sequence[sp.csr_array]
    tested: Sequence[Mask]
    common: Sequence[Mask]

    @staticmethod
    def of_one(solid: Any) -> "JoinedBodies":
        """One body, whose nodes are all."""
        conditions, nodes = solid.conditions, solid.spaces.displacements.scalar.nodes
        none, u0 = np.zeros(len(conditions.loaded), bool), conditions.u0 + solid.volume.displacement(nodes)
        return JoinedBodies(
            names=[""], solids=[solid], numbers=[np.arange(len(nodes))], nodes=nodes, u0=u0, free=conditions.free,
            tests=[conditions.free], tractions=[conditions.bound], tested=[none], common=[none],
        )  # fmt: skip

    def displacements(self, body: int) -> sp.csr_array:
        """N (3 n, q) at the nodes of one body."""
        if len(self.solids) == 1:
            return self.free
        return (selection(self.numbers[body], len(self.nodes)) @ self.free).tocsr()

    @cached_property
    def bounds(self) -> Array:
        """(2, 3) lowest and highest coordinates."""
        low, high = zip(*(solid.mesh.bounds for solid in self.solids), strict=True)
        return np.stack([np.min(low, axis=0), np.max(high, axis=0)])

    @property
    def size(self) -> float:
        """The diagonal of the bounding box."""
        return float(np.linalg.norm(self.bounds[1] - self.bounds[0]))

    @property
    def shortest(self) -> float:
        """The shortest edge over the size."""
        return float(min(each.mesh.edge_lengths.min() for each in self.solids)) / self.size

    @cached_property
    def mass(self) -> sp.csr_array:
        """(3 n, 3 n) the mass matrix of displacements on the surfaces of all bodies."""
        found = None
        for solid, number in zip(self.solids, self.numbers, strict=True):
            own = solid.spaces.displacements.mass_matrix()
            if len(self.solids) > 1:
                chosen = selection(number, len(self.nodes))
                own = chosen.T @ own @ chosen
            found = own if found is None else found + own
        return sp.csr_array(found)

    @property
    def motions(self) -> Array:
        """(3 n, 6) translations and rotations about the centre, in units of the size, at the joined nodes."""
        motions = rigid_motions.rigid_motions(self.nodes, self.bounds.mean(axis=0)).reshape(-1, 6)
        return np.asarray(motions / np.array([1.0] * 3 + [self.size] * 3))

    @cached_property
    def free_motions(self) -> Array:
        """(6, f) translations and rotations about the centre, in units of the size, that no support holds."""
        if any(solid.exterior for solid in self.solids):
            return np.zeros((6, 0))
        motions = self.motions
        held = [motions - self.free @ (self.free.T @ motions)]
        for solid, number in zip(self.solids, self.numbers, strict=True):
            springs = solid.conditions.springs
            if springs.nnz:
                own = motions.reshape(-1, 3, 6)[number].reshape(-1, 6)
                held.append(springs @ own / max(float(abs(springs).max()), 1e-300))
        return rigid_motions.null_motions(np.concatenate(held))

    @cached_property
    def orthonormal_motions(self) -> Array:
        """(3 n, f) the free motions at the joined nodes, orthonormal over the surfaces."""
        motions = self.motions @ self.free_motions
        return rigid_motions.orthonormal(motions, self.mass) if motions.shape[1] else motions

    def refuse_unbalanced(self) -> None:
        """ValueError for loads with a resultant along a motion that no support holds."""
        if self.free_motions.shape[1]:
            applied = [solid.applied for solid in self.solids]
            total = rigid_motions.Resultant(*(np.sum([each[0][k] for each in applied], axis=0) for k in (0, 1)))
            tags = [tag for s in self.solids for tag in s.mesh.names or np.unique(s.mesh.tags).tolist()]
            magnitude, centre = sum(each[1] for each in applied), self.bounds.mean(axis=0)
            rigid_motions.refuse_unbalanced(total, magnitude, self.size, self.free_motions, centre, tags)

    def free_tags(self, body: int) -> tuple[str, ...]:
        """The tags of a body without a condition, other than those of common faces, by name where they have one."""
        solid, common = self.solids[body], self.common[body]
        mesh, given = solid.mesh, [*(solid.supports or ()), *(solid.loads or ())]
        names = {number: name for name, number in mesh.names.items()}
        tags = np.setdiff1d(np.unique(mesh.tags), [number for tag in given for number in mesh.tag_numbers(tag)])
        faces = np.setdiff1d(mesh.tags[common], mesh.tags[~common])
        return tuple(str(names.get(tag, tag)) for tag in np.setdiff1d(tags, faces).tolist())
