"""Horizontal metal on the interfaces of a stack, and the tables of the Green's functions between them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from calderon.layers.limits.images import THIN, image_distance, static_images
from calderon.layers.parts import FLAT
from calderon.layers.sections import Sections
from calderon.layers.tables import Table, table_of
from calderon.mesh.errors import MeshError
from calderon.mesh.geometry import extents
from calderon.quadrature import TriangleRule
from calderon.spaces import EdgeSpace


class Flat(NamedTuple):
    """Triangles (n) of edge functions in the plane, all arrays flat: centroids (n, 2), vertices from there (n, 3, 2),
    factors (n, 3) of the local functions x - v, areas (n,), radii (n,) about centroids, numbers (n,) of heights."""

    centres: np.ndarray
    vertices: np.ndarray
    factors: np.ndarray
    areas: np.ndarray
    radii: np.ndarray
    heights: np.ndarray

    def taken(self, rows: np.ndarray) -> "Flat":
        """The triangles of these rows alone."""
        return Flat(*(each.reshape(len(self.areas), -1)[rows].ravel() for each in self))

    def points(self, rule: TriangleRule) -> np.ndarray:
        """Points of a rule from the centroids, flat (n, 2, Q)."""
        return np.einsum("qk,nkc->ncq", rule.barycentric, self.vertices.reshape(-1, 3, 2)).ravel()


class Tables(NamedTuple):
    """Tables one after the other, as loops read them: number (h, h) of that between two heights; parts (t,) for a unit
    of distance and starts (t + 1,) in `interval`; kinds (t,): OWN, AWAY or WHOLE of `tables`,
    by which values of pairs that are not near are read."""

    number: np.ndarray
    parts: np.ndarray
    starts: np.ndarray
    interval: np.ndarray
    ends: np.ndarray
    series: np.ndarray
    kinds: np.ndarray


class TakenImages(NamedTuple):
    """Static images of tables one after the other: number (h, h) of the table between two heights, starts (t + 1,) of
    its images, distances (m,) in m, and factors (m,) as `Images` has them."""

    number: np.ndarray
    starts: np.ndarray
    distances: np.ndarray
    xx: np.ndarray
    K: np.ndarray
    next_xx: np.ndarray
    next_K: np.ndarray


CLOSE = 0.5
"""Horizontal distance over size up to which pairs of triangles have static images integrated apart."""
DENSE = 4.0
"""Bound of |k| in a layer that conducts times the size of triangles on it, or its thickness if that is less: beyond
it rules do not resolve the wave along its face, and images miss G_xx next to the source, 0.05 % of it at 2 and 4 %
at 6."""
NEAR = 2.0 + CLOSE
"""Distance over size of points of such pairs."""


@dataclass(frozen=True, eq=False)
class LayeredMetal:
    """The triangles of a space of edge functions in a stack at one frequency."""

    sections: Sections
    space: EdgeSpace
    margin: float = 0.0
    """How far in m tables reach beyond the largest distance of two points."""
    charges: bool = True
    """Whether the field of charges is part of entries."""

    @property
    def charge(self) -> float:
        """Factor of K and half divergences: 4 / k0^2, or 0 without charges."""
        return 4 / self.sections.k0**2 if self.charges else 0.0

    @cached_property
    def heights(self) -> np.ndarray:
        """z in m of the interfaces with metal, from below."""
        return np.unique(self._faces[self._face_numbers])

    @cached_property
    def flat(self) -> Flat:
        """All triangles of the space, in the order of its table."""
        space = self.space
        corners = space.mesh.flat_triangles(space.triangles, "a layered medium").corners[:, :, :2]
        centres = corners.mean(axis=1)
        numbers = np.searchsorted(self.heights, self._faces[self._face_numbers])
        factors = np.where(space.dofs >= 0, space.scale, 0.0)
        corners = corners - centres[:, None]
        radii = np.linalg.norm(corners, axis=2).max(axis=1)
        parts = centres, corners, factors, space.mesh.areas[space.triangles], radii, numbers
        return Flat(*(np.ascontiguousarray(each).ravel() for each in parts))

    @cached_property
    def corners(self) -> np.ndarray:
        """(n, 3, 3) of all triangles in m."""
        mesh = self.space.mesh
        return np.asarray(mesh.vertices[mesh.triangles[self.space.triangles]])

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """Numbers of the heights of each table: those of the source are not above those of the observer."""
        return [(a, b) for a in range(len(self.heights)) for b in range(a + 1)]

    @cached_property
    def tables(self) -> list[Table]:
        """The tables of all pairs of heights; both orders have one."""
        self.refuse_conductors()
        reach, sizes, smallest = self.reach, self.sizes, self.smallest
        found = []
        for a, b in self.pairs:
            z, source_z = float(self.heights[a]), float(self.heights[b])
            close = (np.abs(self.heights - z) < THIN * np.maximum(sizes, sizes[a])).sum() > 1
            images = static_images(self.sections, z, source_z, max(sizes[a], sizes[b]), a == b and close)
            closest = 0.0 if abs(z - source_z) > smallest else CLOSE * smallest
            found.append(table_of(self.sections, z, source_z, reach, images, (closest, NEAR * max(sizes[a], sizes[b]))))
        return found

    @cached_property
    def reach(self) -> float:
        """Reach of tables, in m."""
        return 1.001 * float(np.hypot(*np.ptp(self.corners[..., :2].reshape(-1, 2), axis=0))) + self.margin

    @cached_property
    def smallest(self) -> float:
        """The least diameter in m of a triangle."""
        return float(extents(self.corners).size.min())

    @cached_property
    def sizes(self) -> list[float]:
        """The largest diameter in m of triangles at each height."""
        size = extents(self.corners).size
        return [float(size[self.flat.heights == n].max()) for n in range(len(self.heights))]

    def refuse_conductors(self) -> None:
        """Raise ValueError for metal on a layer whose skin depth is much less than its triangles."""
        sections = self.sections
        bottom, top = sections.spans
        for z, size in zip(self.heights.tolist(), self.sizes, strict=True):
            for n in {sections.layer_of(z, "below"), sections.layer_of(z)}:
                k = complex(sections.wavenumbers[n])
                if not sections.travels[n] and abs(k) * min(size, float(top[n] - bottom[n])) > DENSE:
                    raise ValueError(
                        f"metal at z = {1e3 * z:g} mm lies on a layer that conducts, with a skin depth of "
                        f"{1e3 / k.imag:.3g} mm, which short-circuits triangles of {1e3 * size:.3g} mm: use triangles "
                        f"of at most {1e3 * DENSE / abs(k):.2g} mm, leave this metal out, or let the conductor be a "
                        "wall, below=Conductor(sigma)"
                    )

    @cached_property
    def thin(self) -> np.ndarray:
        """(h, h) whether images between two heights are taken out of their table."""
        many = np.array([len(table.images.distances) for table in self.tables])
        return np.asarray(many[self.joined.number] > 0)

    @cached_property
    def images(self) -> TakenImages:
        """The static images of all tables."""
        images = [table.images for table in self.tables]
        starts = np.cumsum([0, *(len(each.distances) for each in images)])
        return TakenImages(self.joined.number, starts, *(np.concatenate(each) for each in zip(*images, strict=True)))

    @cached_property
    def joined(self) -> Tables:
        """All tables as one."""
        number = np.zeros((len(self.heights),) * 2, np.int64)
        for n, (a, b) in enumerate(self.pairs):
            number[a, b] = number[b, a] = n
        tables = self.tables
        offsets = np.cumsum([0, *(len(table.series) for table in tables)])
        return Tables(
            number,
            np.array([table.data[0] for table in tables]),
            np.cumsum([0, *(len(table.interval) for table in tables)]),
            np.concatenate([table.interval + offset for table, offset in zip(tables, offsets, strict=False)]),
            np.concatenate([table.ends.ravel() for table in tables]),
            np.concatenate([table.series.ravel() for table in tables]),
            np.array([table.kind for table in tables]),
        )

    @cached_property
    def image_distances(self) -> np.ndarray:
        """(h, h) image_distance of two heights."""
        z = self.heights
        return np.array([[image_distance(self.sections, a, b) for b in z] for a in z])

    @cached_property
    def _faces(self) -> np.ndarray:
        """Heights where two layers meet."""
        return np.unique(self.sections.high[:-1])

    @cached_property
    def _face_numbers(self) -> Any:
        """(n,) the interface of each triangle; MeshError for metal off all of them."""
        mesh, numbers = self.space.mesh, self.space.triangles
        z = mesh.vertices[mesh.triangles[numbers], 2]
        faces = self._faces
        if not len(faces):
            raise MeshError("the stack has no interface for metal: split its layer at the height of the metal")
        nearest = np.abs(z[:, :, None] - faces).argmin(axis=2)
        off = np.abs(z - faces[nearest]).max(axis=1)
        size = float(np.ptp(mesh.vertices, axis=0).max())
        bad = np.flatnonzero((off > FLAT * size) | (nearest != nearest[:, :1]).any(axis=1))
        if len(bad):
            heights = ", ".join(f"{1e3 * face:g}" for face in faces)
            raise MeshError(
                f"{len(bad)} triangles do not lie on an interface of the stack, the first is number {numbers[bad[0]]} "
                f"with z from {1e3 * z[bad[0]].min():g} to {1e3 * z[bad[0]].max():g} mm; interfaces are at {heights} "
                "mm: move the mesh, or split the layer at its height"
            )
        return nearest[:, 0]
