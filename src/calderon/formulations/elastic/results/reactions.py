"""Reactions of supports that are in balance with the loads.

Tractions of held faces are singular at their edges, and integrals of the computed ones are wrong by some per cent. Work
tells what supports bear without them. Let one group of connected supports move as a rigid body by r, all others stay
and nothing else act: this influence field has displacements w and tractions T = T_0 + B s, the second of which are
those of the supports along their directions. With tractions p of loads, forces f of the volume, its particular solution
(u_p, t_p), and prescribed displacements g, the reactions of the group do the work

    R(r) = <B s, g> - <p, w> - int f w,    int f w = <T, u_p> - <t_p, w>,

by Betti's reciprocity (the principle of H. Mueller-Breslau, 1886). All groups together move by r without tractions, so
that the last one bears what the other ones leave of the loads: forces and moments are in balance on any mesh. Within a
group the patches bear in addition to the integrals of their tractions those of P (a + b x x), in proportion to their
mean traction, P onto the directions of the support, that give the group its resultant.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import orth
from scipy.sparse.csgraph import connected_components

from calderon.formulations.elastic.conditions import rigid_motions
from calderon.formulations.elastic.conditions.joined_bodies import JoinedBodies
from calderon.formulations.elastic.conditions.surface_conditions import faces_of
from calderon.formulations.elastic.system.body import Known
from calderon.quadrature import triangle_rule

Array = NDArray[np.float64]
Index = NDArray[np.int64]
IDLE = 1e-3
"""Least weight of a patch without tractions, of the largest of all."""
SINGULAR = 1e-10
"""Relative stiffness of patches against a rigid motion below which they bear nothing along it."""


def support_patches(solid: Any) -> list[tuple[Any, Any]]:
    """The tag and the face of the table of faces of each connected patch of a support, tag by tag."""
    mesh = solid.mesh
    tags = {tag: mesh.tag_numbers(tag) for tag in solid.supports or {}}
    return [(tag, face) for tag, numbers in tags.items() for face in mesh.faces() if face.tag in numbers]


class Patch(NamedTuple):
    """A connected patch of a support: number of its body, triangles (k,), and orthonormal directions (a, 3) along which
    it bears forces."""

    body: int
    triangles: Index
    axes: Array


class Influence(NamedTuple):
    """Six influence fields of a group on one body: displacements (3 n, 6), all tractions (3 m, 6), and the unknown ones
    of supports among them (3 m, 6)."""

    displacements: Array
    tractions: Array
    unknown: Array


@dataclass(frozen=True, eq=False)
class Supports:
    """The supports of bodies in groups that are connected.

    joined: the bodies. patches: of all bodies, one after the other. labels (patches,): the number of the group of each.
    fields: for each group but the last the influence of its six rigid motions on each body; empty before these are
    known, where all supports share what is left of the balance.
    """

    joined: JoinedBodies
    patches: Sequence[Patch]
    labels: Index
    fields: Sequence[Sequence[Influence]] = field(default=())

    @staticmethod
    def of(joined: JoinedBodies) -> "Supports":
        """The supports of bodies. Those of a solid without end bear no balance and are left out."""
        patches: list[Patch] = []
        for k, solid in enumerate(joined.solids):
            for tag, face in support_patches(solid):
                patches.append(Patch(k, np.asarray(face.triangles), _axes(solid, tag)))
        if any(solid.exterior for solid in joined.solids):
            patches = []
        if not patches:
            return Supports(joined, patches, np.zeros(0, np.int64))
        touched = Supports(joined, patches, np.zeros(len(patches), np.int64))._nodes
        labels = connected_components(touched @ touched.T, directed=False)[1]
        return Supports(joined, patches, np.asarray(labels, np.int64))

    @property
    def groups(self) -> int:
        """The number of groups."""
        return 1 + int(self.labels.max(initial=-1))

    def influences(self) -> list[list[Known]]:
        """Known values of each body in six influence fields of each group but the last."""
        found = []
        for moved, held in map(self._moved, range(self.groups - 1)):
            for k in range(6):
                known = []
                for solid, number in zip(self.joined.solids, self.joined.numbers, strict=True):
                    u, ground = (each[:, k].reshape(-1, 3)[number] for each in (held, moved))
                    known.append(Known(u, (solid.conditions.springs @ ground.ravel()).reshape(-1, 3), None))
                found.append(known)
        return found

    def with_fields(self, coefficients: Array) -> "Supports":
        """The supports with the influence fields of unknown displacements and tractions (unknowns, k)."""
        joined, fields = self.joined, []
        for group in range(self.groups - 1):
            moved, held = self._moved(group)
            q, s = np.split(coefficients[:, 6 * group : 6 * group + 6], [joined.free.shape[1]])
            whole, bodies = held + joined.free @ q, []
            for k, (solid, number) in enumerate(zip(joined.solids, joined.numbers, strict=True)):
                w, ground = (each.reshape(-1, 3, 6)[number].reshape(-1, 6) for each in (whole, moved))
                unknown = joined.tractions[k] @ s
                bodies.append(Influence(w, unknown + solid.conditions.springs @ (ground - w), unknown))
            fields.append(bodies)
        return replace(self, fields=fields)

    def balanced(self, joined: JoinedBodies, found: Mapping[Any, Any]) -> dict[Any, Any]:
        """The solutions by name of the body, with what tractions leave of the balance for each patch in their records.
        joined: the bodies with the loads of these solutions."""
        if not self.patches:
            return dict(found)
        solutions = [found[name] for name in joined.names]
        by_influence = bool(self.fields) and all(each.volume.moving_source is None for each in joined.solids)
        labels = self.labels if by_influence else np.zeros(len(self.patches), np.int64)
        borne = self._of_groups(joined) if by_influence else -_applied(joined)[None]
        own = np.array([self._integral(each, solutions[each.body]) for each in self.patches])
        stiffness = np.array([self._stiffness(each, solutions[each.body]) for each in self.patches])
        left = np.zeros((len(self.patches), 6))
        for group, wanted in enumerate(borne):
            mine = labels == group
            motion = np.linalg.pinv(stiffness[mine].sum(axis=0), rcond=SINGULAR, hermitian=True)
            left[mine] = stiffness[mine] @ (motion @ (wanted - own[mine].sum(axis=0)))
        left = self._about_origin(left)
        bodies = np.array([each.body for each in self.patches])
        return {
            name: replace(each, info=replace(each.info, corrections=left[bodies == k], by_influence=by_influence))
            for k, (name, each) in enumerate(zip(joined.names, solutions, strict=True))
        }

    @property
    def _nodes(self) -> sp.csr_array:
        """(patches, n) joined nodes of each patch, entries above zero."""
        rows, columns = [], []
        for number, each in enumerate(self.patches):
            scalar = self.joined.solids[each.body].spaces.displacements.scalar
            columns.append(self.joined.numbers[each.body][np.unique(scalar.dofs[each.triangles])])
            rows.append(np.full(len(columns[-1]), number))
        row, column = np.concatenate(rows), np.concatenate(columns)
        return sp.coo_array((np.ones(len(row)), (row, column)), (len(self.patches), len(self.joined.nodes))).tocsr()

    def _moved(self, group: int) -> tuple[Array, Array]:
        """Six rigid motions (3 n, 6) of the nodes of a group, zero elsewhere, and their parts along supports."""
        nodes = np.unique(self._nodes[self.labels == group].indices)
        chosen = np.zeros((len(self.joined.nodes), 3, 1))
        chosen[nodes] = 1.0
        moved = chosen.reshape(-1, 1) * self.joined.motions
        free = self.joined.free
        return moved, moved - free @ (free.T @ moved)

    def _of_groups(self, joined: JoinedBodies) -> Array:
        """(groups, 6) force, and moment about the centre over the size, that each group bears."""
        found = np.zeros((self.groups, 6))
        for k, (solid, number) in enumerate(zip(joined.solids, joined.numbers, strict=True)):
            space, volume = solid.spaces.displacements, solid.volume
            mass = space.mass_matrix(solid.spaces.tractions)
            pushed = mass.T @ solid.conditions.loads.ravel()
            if volume.loads:
                pushed = pushed - space.load_vector(lambda x, n, v=volume: np.einsum("nij,nj->ni", v.stress(x), n))
            particular = mass @ volume.displacement(space.scalar.nodes).ravel()
            given = mass @ joined.u0[number].ravel()
            for group, bodies in enumerate(self.fields):
                w, tractions, unknown = bodies[k]
                found[group] += unknown.T @ given - w.T @ pushed - tractions.T @ particular
        found[-1] = -_applied(joined) - found[:-1].sum(axis=0)
        return found

    def _integral(self, patch: Patch, solution: Any) -> Array:
        """(6,) the resultant of the tractions of a patch without its loads, as in `_of_groups`."""
        space, solid = solution.traction.space.scalar, solution.solid
        chosen = np.isin(np.arange(len(space.triangles)), patch.triangles)
        values = solution.traction.at_nodes - solid.conditions.loads
        return _about_centre(self.joined, *rigid_motions.resultant(space, values, chosen))

    def _stiffness(self, patch: Patch, solution: Any) -> Array:
        """(6, 6) the integral of r P r over a patch, of six rigid motions r as in `joined`, times its mean traction."""
        space, solid = solution.traction.space.scalar, solution.solid
        rule, geometry = triangle_rule(4), solid.mesh.geometry(patch.triangles)
        weights = geometry.weights(rule)
        values = solution.traction.at_nodes - solid.conditions.loads
        t = np.einsum("lq,nlc->nqc", space.element.values(rule.points), values[space.dofs[patch.triangles]])
        mean = float((np.linalg.norm(t, axis=2) * weights).sum() / weights.sum())
        least = IDLE * float(np.abs(solution.traction.at_nodes).max()) or 1.0
        points, centre = geometry.points(rule.points).reshape(-1, 3), self.joined.bounds.mean(axis=0)
        motions = rigid_motions.rigid_motions(points, centre) / np.array([1.0] * 3 + [self.joined.size] * 3)
        along = np.einsum("ai,nik->nak", patch.axes, motions)
        return np.asarray(max(mean, least) * np.einsum("n,naj,nak->jk", weights.ravel(), along, along))

    def _about_origin(self, resultants: Array) -> Array:
        """(k, 6) forces and moments about the origin of coordinates, of resultants as in `_of_groups`."""
        force, moment = resultants[:, :3], self.joined.size * resultants[:, 3:]
        return np.concatenate([force, moment + np.cross(self.joined.bounds.mean(axis=0), force)], axis=1)


def _axes(solid: Any, tag: Any) -> Array:
    """(a, 3) orthonormal directions along which the supports of a tag bear forces."""
    face = faces_of(solid.mesh, {tag: ()})[tag][1]
    supports = solid.supports[tag]
    springs = sum((each.stiffness for each in supports), np.zeros((3, 3)))
    springs = springs / max(float(np.abs(springs).max()), 1e-300)
    return np.asarray(orth(np.concatenate([springs, *(each.directions(face) for each in supports)]).T, rcond=1e-8).T)


def _about_centre(joined: JoinedBodies, force: Array, moment: Array) -> Array:
    """(6,) a force, and its moment about the centre over the size, of a moment about the origin."""
    return np.concatenate([force, (moment - np.cross(joined.bounds.mean(axis=0), force)) / joined.size])


def _applied(joined: JoinedBodies) -> Array:
    """(6,) the resultant of all loads, as in `_about_centre`."""
    totals = [solid.applied[0] for solid in joined.solids]
    return _about_centre(joined, *(np.sum([each[k] for each in totals], axis=0) for k in (0, 1)))
