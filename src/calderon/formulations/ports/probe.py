"""Probes: thin vertical currents from the ground to a round contact in the metal."""

from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from calderon.layers import Layer, Sections, Stack
from calderon.layers.vertical import horizontal_field, require_ground, self_reaction
from calderon.mesh import TriangleMesh
from calderon.mesh.errors import warn_of_accuracy
from calderon.mesh.planar.contacts import SIDES, contact_in, with_contact
from calderon.quadrature import triangle_rule
from calderon.spaces import EdgeSpace
from calderon.validation import place_in_plane, positive_length, text


@dataclass(frozen=True, eq=False)
class ProbePort:
    """The inner conductor of a coaxial line, from the ground to the metal above it, with the port at the ground.

    place: (x, y) in m. radius: of the conductor in m. name: for reports.

    The current I is uniform along the probe, and flows into the metal across the edges of a hexagon of the same
    perimeter: one function, whose charge lies on the metal around the contact alone.
    """

    place: ArrayLike
    radius: float
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "place", place_in_plane(self.place, "the place of a probe in m"))
        positive_length(self.radius, "the radius of a probe in m")
        text(self.name, "the name of a probe")

    def inserted(self, mesh: TriangleMesh, z: float) -> TriangleMesh:
        """The mesh with the contact of the probe at height z."""
        return with_contact(mesh, self.place, self.radius, z)  # type: ignore[arg-type]

    def attached(self, space: EdgeSpace, z: float) -> EdgeSpace:
        """The space with one more function: the current 1 A that enters through the contact at height z."""
        triangles, opposite = contact_in(space.mesh, self.place, self.radius, z)  # type: ignore[arg-type]
        edges = space.mesh.triangle_edges[triangles, opposite]
        around = float(space.mesh.edge_lengths[edges].sum())
        dofs, signs = np.full((SIDES, 3), -1), np.zeros((SIDES, 3))
        dofs[np.arange(SIDES), opposite] = space.dimension
        signs[np.arange(SIDES), opposite] = -1 / around  # into the triangle
        return replace(
            space,
            triangles=np.concatenate([space.triangles, triangles]),
            dofs=np.concatenate([space.dofs, dofs]),
            signs=np.concatenate([space.signs, signs]),
            sides=np.concatenate([space.sides, [[3 * triangles[0] + opposite[0], -1]]]),
        )

    def reactions(self, sections: Sections, space: EdgeSpace, z: float) -> NDArray[np.complex128]:
        """i k0 int f_i . int G_xz dz' over the probe to height z (dimension,), as entries of the electric field with
        eta0 = 1."""
        rule = triangle_rule(6)
        corners = space.mesh.vertices[space.mesh.triangles[space.triangles]]
        offset = rule.barycentric @ corners[..., :2] - np.array(self.place)
        rho = np.linalg.norm(offset, axis=2)
        first = 0.2 * self.radius  # closer points have the field there
        grid = first + (1.001 * rho.max() - first) * np.linspace(0, 1, 50) ** 2
        faces = sections.high[:-1]
        levels = faces[np.abs(corners[:, :1, 2] - faces).argmin(axis=1)]  # (n,)
        field = np.empty(rho.shape, complex)
        for level in np.unique(levels):
            values = scipy.interpolate.CubicSpline(grid, horizontal_field(sections, level, grid, z))
            field[levels == level] = values(np.maximum(rho[levels == level], first))
        along = np.einsum("naqc,nqc->naq", space.values(rule.points)[..., :2], offset / rho[..., None])
        areas = space.mesh.areas[space.triangles]
        local = 1j * sections.k0 * np.einsum("naq,nq,q,n->na", along, field, 2 * rule.weights, areas)
        kept, out = space.dofs >= 0, np.zeros(space.dimension, complex)
        np.add.at(out, space.dofs[kept], local[kept])
        return out


def warn_of_planes(probes: list[ProbePort], mesh: TriangleMesh, stack: Stack, height: float) -> None:
    """AccuracyWarning for metal, or a wall, that is closer above the end of a probe at that height than its radius: the
    field of its current there is that of a line."""
    for probe in probes:
        offset = np.linalg.norm(mesh.centroids[:, :2] - np.array(probe.place), axis=1)
        reach = 2 * probe.radius + np.sqrt(mesh.areas)
        above = mesh.centroids[(offset < reach) & (mesh.centroids[:, 2] > height * (1 + 1e-6)), 2]
        above = above if isinstance(stack.above, Layer) else np.append(above, stack.top)
        gap = float(above.min(initial=np.inf)) - height
        if gap < probe.radius:
            x, y = np.ravel(probe.place)
            warn_of_accuracy(
                f"a conductor {1e3 * gap:.3g} mm above the end of the probe at ({1e3 * x:g}, {1e3 * y:g}) mm is closer "
                f"than its radius of {1e3 * probe.radius:g} mm, next to which the field of its current is that of a "
                "line: impedances may be some per cent off; use a smaller radius, or a planar.via with an "
                "EdgePort(around=(x, y, radius))"
            )


def probe_matrix(probes: list[ProbePort], sections: Sections, space: EdgeSpace, z: float) -> NDArray[np.complex128]:
    """Terms of the electric field of vertical currents of probes to the height z: rows (dimension, probes) of the last
    functions; the block of these among themselves has all of it."""
    require_ground(sections, z, "a probe")
    sections, factor = sections.hastened(space.mesh.diameter)
    columns = np.stack([probe.reactions(sections, space, z) for probe in probes], axis=1)
    own = slice(space.dimension - len(probes), None)
    places = np.array([probe.place for probe in probes])
    between = np.linalg.norm(places[:, None] - places, axis=2) + np.diag([probe.radius for probe in probes])
    both = {r: 1j * sections.k0 * self_reaction(sections, z, r) for r in np.unique(between)}
    columns[own] += columns[own].T + np.vectorize(both.get, otypes=[complex])(between)
    return columns / factor
