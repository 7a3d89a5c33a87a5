"""Which regions and electrodes lie at the triangles of a mesh of surfaces that meet: the skeleton of a problem."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.statics.region import Region
from calderon.mesh import TriangleMesh
from calderon.mesh.checks.crossings import crossing_pairs
from calderon.mesh.coincident import compacted
from calderon.mesh.containment import winding_numbers
from calderon.mesh.errors import OrientationWarning
from calderon.mesh.topology import components_by_edges

OUTSIDE = "outside"
"""The name of the region outside of all others."""
WALLS, SHEETS = 0, 1
"""Tags of triangles of `RegionSurface.mesh`: those with the region on one side, and on both."""
Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]


class MetalBody(NamedTuple):
    """A closed part of the walls of a region that is one electrode. electrode: its number. own (m,): which triangles of
    the region. double (m,): the double layer K 1 of its constant potential at all of them: -1/2 at the part itself,
    and minus its winding number elsewhere."""

    electrode: int
    own: Mask
    double: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RegionSurface:
    """All triangles at a region. mesh: its walls, whose normals leave the region, and sheets of metal within it, by
    the tags WALLS and SHEETS. triangles (m,): their numbers in the skeleton."""

    region: Region
    mesh: TriangleMesh
    triangles: Numbers

    @property
    def is_wall(self) -> Mask:
        """(m,) which triangles are walls."""
        return np.asarray(self.mesh.tags == WALLS)

    def contains(self, points: NDArray[np.float64], outside: bool) -> Mask:
        """(n,) whether points (n, 3) lie in the region, which is what is outside of its walls if so."""
        turns = winding_numbers(self.mesh.vertices, self.mesh.triangles[self.is_wall], points)
        return np.asarray(turns == (0 if outside else 1))

    @cached_property
    def _parts(self) -> Numbers:
        """(m,) labels of connected parts, walls and sheets apart."""
        edges, is_wall, found = self.mesh.triangle_edges, self.is_wall, np.zeros(len(self.triangles), np.int64)
        for own in (is_wall, ~is_wall):
            found[own] = components_by_edges(edges[own], self.mesh.number_of_edges) + found.max(initial=-1) + 1
        return np.unique(found, return_inverse=True)[1]

    def metal_bodies(self, electrode_of: Numbers) -> list[MetalBody]:
        """The closed parts of walls that are one electrode and have no vertex in common with other walls.

        electrode_of (nt,): the electrode of each triangle of the skeleton, -1 for none.
        """
        mesh, electrode, parts = self.mesh, electrode_of[self.triangles], self._parts
        first = np.unique(parts, return_index=True)[1]
        found = []
        for number in parts[first[self.is_wall[first] & (electrode[first] >= 0)]].tolist():
            own = parts == number
            others = mesh.triangles[self.is_wall & ~own]
            touches = np.isin(mesh.triangles[own], others).any()
            if (electrode[own] != electrode[own][0]).any() or not _is_closed(mesh, own) or touches:
                continue
            x = mesh.centroids[own]
            outward = np.sign(np.einsum("n,ni,ni", mesh.areas[own], x - x.mean(axis=0), mesh.normals[own]))
            turns = winding_numbers(mesh.vertices, mesh.triangles[own], mesh.centroids[first])
            found.append(MetalBody(int(electrode[own][0]), own, np.where(own, -outward / 2, -turns[parts])))
        return found


@dataclass(frozen=True, eq=False)
class Skeleton:
    """A mesh of surfaces that meet, and the regions between them.

    regions: by name, the one outside last, if there is one. electrodes: tags of each. Regions are closed surfaces of
    triangles with certain tags; what is outside has, unless its tags are given, those that only one region has and
    that lie within no other. Triangles of electrodes that no region names are walls where they are closed (solid metal)
    and sheets where they are not, of the region in which they lie.
    Raises ValueError for regions that are not closed or overlap, tags that no region and no electrode has, electrodes
    that touch, and for hollows that belong to nothing.
    """

    mesh: TriangleMesh
    regions: Mapping[str, Region]
    electrodes: Mapping[str, tuple[int | str, ...]]

    @cached_property
    def surfaces(self) -> tuple[RegionSurface, ...]:
        """The surfaces of the regions, in their order."""
        mesh, listed = self.mesh, []
        walls = {name: self._tagged(each.bounds) for name, each in self.regions.items() if each.tags is not None}
        count = sum((own.astype(int) for own in walls.values()), np.zeros(mesh.number_of_triangles, int))
        if (count > 2).any():
            raise ValueError(
                f"triangle {np.argmax(count > 2)} with the tag {self._called(int(mesh.tags[np.argmax(count > 2)]))} "
                "bounds three regions: a wall has two sides"
            )
        for name, own in walls.items():
            require_closed(mesh, own, f"region {name!r}")
        self._require_uncrossed()
        sheets = {name: np.zeros(mesh.number_of_triangles, bool) for name in self.regions}
        bounded = {
            name: _surface(mesh, self.regions[name], own, sheets[name], name == OUTSIDE) for name, own in walls.items()
        }
        self._require_apart(list(bounded.values()))
        self._require_named(count == 1, walls, bounded)
        # electrodes that no region names lie in one; what is outside has all that is left
        alone = (count == 0) & (self.electrode_of >= 0)
        if (unused := (count == 0) & (self.electrode_of < 0)).any():
            tag = int(mesh.tags[np.argmax(unused)])
            raise ValueError(
                f"the tag {self._called(tag)} bounds no region and is no electrode: name it in the regions that it "
                "bounds, or leave it out with mesh.restricted(tags)"
            )
        left = OUTSIDE in self.regions and OUTSIDE not in walls
        if left:
            walls[OUTSIDE] = self._outer(count == 1)
        for part in self._parts(alone):
            name = self._region_at(mesh.centroids[part[0]], bounded, left)
            piece = np.isin(np.arange(mesh.number_of_triangles), part)
            if _is_closed(mesh, piece):
                walls[name] = walls[name] | piece
            elif name == OUTSIDE and left and (behind := self._behind(piece, walls[OUTSIDE])) is not None:
                walls[name] = (walls[name] | piece) & ~behind
            else:
                sheets[name] |= piece
        for name, region in self.regions.items():
            if name == OUTSIDE and left:
                require_closed(mesh, walls[name], "what is left on one side, the wall of outside,")
            listed.append(_surface(mesh, region, walls[name], sheets[name], name == OUTSIDE))
        return tuple(listed)

    @cached_property
    def electrode_of(self) -> Numbers:
        """(nt,) the number of the electrode of each triangle, -1 for none."""
        found = np.full(self.mesh.number_of_triangles, -1)
        for number, (name, tags) in enumerate(self.electrodes.items()):
            own = self._tagged(tags)
            if (found[own] >= 0).any():
                other = list(self.electrodes)[int(found[own].max())]
                raise ValueError(f"electrodes {other!r} and {name!r} have a tag in common: metal has one potential")
            found[own] = number
        return found

    def located(self, points: NDArray[np.float64]) -> Numbers:
        """(n,) the number of the region in which each point (n, 3) lies, -1 in metal and in hollows."""
        found = np.full(len(points), -1)
        for number, (name, surface) in enumerate(zip(self.regions, self.surfaces, strict=True)):
            if not surface.is_wall.any():  # all of space
                found[:] = number
                continue
            found[surface.contains(points, name == OUTSIDE)] = number
        return found

    @property
    def outside(self) -> int | None:
        """The number of the region outside of the others, None where nothing is there."""
        return len(self.regions) - 1 if OUTSIDE in self.regions else None

    @cached_property
    def sides(self) -> Numbers:
        """(nt, 2) numbers of the regions at the sides of each triangle, the lower one first, -1 for none; of a sheet
        twice the same."""
        found = np.full((self.mesh.number_of_triangles, 2), -1)
        for number, surface in enumerate(self.surfaces):
            for own, copies in ((surface.triangles[surface.is_wall], 1), (surface.triangles[~surface.is_wall], 2)):
                for _ in range(copies):
                    second = found[own, 0] >= 0
                    found[own[second], 1] = number
                    found[own[~second], 0] = number
        return found

    def _tagged(self, tags: tuple[int | str, ...] | None) -> Mask:
        """(nt,) which triangles have one of the tags, all for ("all",) unless that is a name."""
        if tags is None or (tuple(tags) == ("all",) and "all" not in self.mesh.names):
            return np.ones(self.mesh.number_of_triangles, bool)
        return np.isin(self.mesh.tags, self.mesh.tag_numbers(tags))

    def _called(self, tag: int) -> str:
        return next((repr(name) for name, number in self.mesh.names.items() if number == tag), str(tag))

    def _parts(self, chosen: Mask) -> list[Numbers]:
        """Triangles that edges connect, of those chosen (nt,)."""
        numbers = np.flatnonzero(chosen)
        if not len(numbers):
            return []
        labels = _plain(self.mesh, chosen).components
        return [numbers[labels == each] for each in range(int(labels.max()) + 1)]

    def _outer(self, single: Mask) -> Mask:
        """(nt,) which walls with one region lie within no others, so that the outside is beyond them. ValueError for
        others that are no electrodes, of materials that leave no place without field."""
        found = np.zeros(len(single), bool)
        parts = self._parts(single)
        for part in parts:
            others = [other for other in parts if other is not part]
            x = self.mesh.centroids[part[:1]]
            if not any(self._encloses(other, x) for other in others):
                found[part] = True
            elif (self.electrode_of[part] < 0).any() and self._kind != "conductivity":
                tag = int(self.mesh.tags[part[np.argmin(self.electrode_of[part])]])
                raise ValueError(
                    f"the hollow at the tag {self._called(tag)} belongs to no region: add one for it, such "
                    f"as Region({self._called(tag)}), or make the tag an electrode"
                )
        return found

    def _require_apart(self, bounded: list[RegionSurface]) -> None:
        """ValueError for two regions on one side of a triangle."""
        total = np.zeros((self.mesh.number_of_triangles, 3))
        for each in bounded:
            total[each.triangles] += each.mesh.normals
        twice = np.flatnonzero(np.linalg.norm(total, axis=1) > 1.5)
        if len(twice):
            tag = self._called(int(self.mesh.tags[twice[0]]))
            raise ValueError(
                f"two regions overlap: both lie on the same side of triangle {twice[0]} with the tag {tag}"
            )

    def _require_uncrossed(self) -> None:
        """ValueError for triangles that pass through others, or lie on others without the same vertices."""
        mesh = self.mesh
        pairs = crossing_pairs(mesh.vertices[mesh.triangles], mesh.triangles)
        if not len(pairs):
            return
        one, other = pairs[0].tolist()
        near = mesh.vertices[mesh.triangles[one]][:, None] - mesh.vertices[mesh.triangles[other]]
        away = np.linalg.norm(near, axis=2).min(axis=1).max()
        first, second = (f"{n} with the tag {self._called(int(mesh.tags[n]))}" for n in (one, other))
        raise ValueError(
            f"surfaces cross, or touch without common vertices, in {len(pairs)} pairs of triangles: the first are "
            f"{first} and {second} at {mesh.centroids[one].tolist()}, a vertex of one is {away:.3g} from those of the "
            "other; make bodies that touch as one mesh by cal.mesh.solids, or from meshes with equal "
            "triangles by cal.mesh.joined"
        )

    def _require_named(self, single: Mask, walls: Mapping[str, Mask], bounded: Mapping[str, RegionSurface]) -> None:
        """ValueError for walls (nt,) of one region that lie in another one, which does not name them."""
        parts = self._parts(single)
        first = np.array([part[0] for part in parts], int)
        for name, surface in bounded.items():
            others = first[~walls[name][first]]
            within = others[surface.contains(self.mesh.centroids[others], name == OUTSIDE)]
            if len(within):
                tag = self._called(int(self.mesh.tags[within[0]]))
                raise ValueError(
                    f"the tag {tag} lies in region {name!r}, which does not name it: add it to the tags of {name!r}, "
                    "whose wall it is, too"
                )

    @property
    def _kind(self) -> str:
        return next(iter(self.regions.values())).kind.name

    def _encloses(self, part: Numbers, x: NDArray[np.float64]) -> bool:
        mesh = _plain(self.mesh, np.isin(np.arange(self.mesh.number_of_triangles), part))
        return bool(winding_numbers(mesh.vertices, mesh.triangles, x)[0] != 0)

    def _region_at(self, x: NDArray[np.float64], bounded: Mapping[str, RegionSurface], left: bool) -> str:
        for name, surface in bounded.items():
            if surface.contains(x[None], name == OUTSIDE)[0]:
                return name
        if not left:
            raise ValueError(
                f"an electrode at {x.tolist()} lies in no region, and outside=None: name its tags in a region, or give "
                "outside=Region()"
            )
        return OUTSIDE

    def _behind(self, piece: Mask, walls: Mask) -> Mask | None:
        """Walls of the outside at which solid metal lies that the open piece of an electrode closes, None where it is a
        sheet."""
        electrode = self.electrode_of[np.argmax(piece)]
        candidates = walls & (self.electrode_of == electrode)
        for part in self._parts(candidates):
            found = np.isin(np.arange(len(piece)), part)
            if _is_closed(self.mesh, piece | found):
                return found
        return None


def require_closed(mesh: TriangleMesh, chosen: Mask, what: str) -> None:
    """ValueError, naming the first free edge, unless the chosen triangles (nt,) close; for vertices that are missing at
    a junction also with the distance to the next one."""
    edges = _free_edges(mesh, chosen)
    if not len(edges):
        return
    ends = mesh.vertices[mesh.edges[edges[0]]]
    corners = np.unique(mesh.edges[edges])
    others = np.setdiff1d(mesh.used_vertices, mesh.edges[edges[0]])
    next_to = np.linalg.norm(mesh.vertices[others] - ends.mean(axis=0), axis=1)
    raise ValueError(
        f"{what} is not closed: {len(edges)} edges with {len(corners)} vertices have a wall on one side only, the "
        f"first from {ends[0].tolist()} to {ends[1].tolist()} (the next other vertex is "
        f"{next_to.min(initial=np.inf):.3g} from its middle); name all tags that bound it, and join surfaces "
        "that touch with cal.mesh.joined or mesh.merged_vertices(tolerance): they need the same vertices where they "
        "meet"
    )


def _free_edges(mesh: TriangleMesh, chosen: Mask) -> Numbers:
    counts = np.bincount(mesh.triangle_edges[chosen].ravel(), minlength=mesh.number_of_edges)
    return np.flatnonzero(counts % 2)


def _is_closed(mesh: TriangleMesh, chosen: Mask) -> bool:
    return len(_free_edges(mesh, chosen)) == 0


def _plain(mesh: TriangleMesh, chosen: Mask, tags: NDArray[np.int64] | None = None) -> TriangleMesh:
    """The chosen triangles (nt,) as a mesh."""
    with warnings.catch_warnings():  # triangles are turned as each surface needs it
        warnings.simplefilter("ignore", OrientationWarning)
        return TriangleMesh(*compacted(mesh.vertices, mesh.triangles[chosen]), tags)


def _surface(mesh: TriangleMesh, region: Region, walls: Mask, sheets: Mask, outside: bool) -> RegionSurface:
    """The surface of a region with normals that leave it."""
    chosen = walls | sheets
    triangles = np.flatnonzero(chosen)
    whole = _plain(mesh, chosen, np.where(sheets[triangles], SHEETS, WALLS))
    if not walls.any():
        return RegionSurface(region, whole, triangles)
    alone = _plain(mesh, walls)
    if len(alone.unbalanced_edges):
        edge = alone.vertices[alone.edges[alone.unbalanced_edges[0]]]
        raise ValueError(f"the walls of a region cross or overlap at the edge {edge.tolist()}: they bound no volume")
    # normals of a component leave the region where it lies within an even number of others, or enter it, outside
    leave = np.empty(len(alone.triangles), bool)
    for each in range(alone.number_of_components):
        own = alone.components == each
        x, depth = alone.centroids[own][:1], 0
        for other in range(alone.number_of_components):
            if other != each:
                depth += int(winding_numbers(alone.vertices, alone.triangles[alone.components == other], x)[0] != 0)
        leave[own] = (depth % 2 == 0) != outside
    wanted = alone.normals * np.where(leave, 1.0, -1.0)[:, None]
    is_wall = whole.tags == WALLS
    turned = np.zeros(len(triangles), bool)
    turned[is_wall] = np.einsum("ni,ni->n", whole.normals[is_wall], wanted) < 0
    return RegionSurface(region, whole.turned(turned) if turned.any() else whole, triangles)
