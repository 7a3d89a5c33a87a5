"""Which region lies on which side of the triangles of a mesh whose surfaces meet, and where points lie."""

import difflib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.composite.sectors import Sectors, refuse
from calderon.formulations.composite.surfaces import Interface, SurfaceKind, WaveguidePort
from calderon.mesh import TriangleMesh
from calderon.mesh.coincident import compacted
from calderon.mesh.containment import winding_numbers
from calderon.mesh.errors import OrientationWarning
from calderon.validation import describe

NONE = -1
"""The number of the inside of solid metal."""
Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RegionWalls:
    """All triangles at a region.

    mesh: they alone, in the order of the whole mesh. leaving (n,): 1 where the normal of `mesh` leaves the region, -1
    where it points into it, 0 on sheets within it. is_unbounded: whether the region is what is around all others.
    """

    mesh: TriangleMesh
    leaving: Numbers
    is_unbounded: bool

    def contains(self, points: NDArray[np.float64]) -> NDArray[np.bool_]:
        """(n,) whether points (n, 3) lie in the region."""
        return np.asarray(self._turns(points) == (0 if self.is_unbounded else 1))

    def _turns(self, points: NDArray[np.float64]) -> Numbers:
        if self.closed is None:
            return np.zeros(len(points), np.int64)
        return winding_numbers(self.closed.vertices, self.closed.triangles, points)

    @cached_property
    def closed(self) -> TriangleMesh | None:
        """The walls without sheets, whose normals leave the region; None without any."""
        walls = self.leaving != 0
        if not walls.any():
            return None
        mesh = part_of(self.mesh, walls)
        return mesh.turned(np.einsum("ni,ni->n", mesh.normals, self.outward[walls]) < 0)

    @property
    def outward(self) -> NDArray[np.float64]:
        """(n, 3) unit normals that leave the region, zero on sheets."""
        return self.mesh.normals * self.leaving[:, None]


@dataclass(frozen=True, eq=False)
class Skeleton:
    """A mesh of surfaces that meet, and what lies at its sides.

    names: of the regions. surfaces: what the triangles of each tag are. Raises ValueError for regions that no surface
    has or that are not known, for tags without surface, and unless exactly one region is unbounded; TypeError for
    anything but surfaces.
    """

    mesh: TriangleMesh
    names: tuple[str, ...]
    surfaces: Mapping[Any, SurfaceKind]

    def __post_init__(self) -> None:
        for tag, each in self.surfaces.items():
            if not isinstance(each, SurfaceKind):
                allowed = "an Interface, Metal, Sheet or WaveguidePort"
                raise TypeError(f"surfaces[{tag!r}] is {allowed}, got {describe(each)}")
            for name in each.sides:
                if name is not None and name not in self.names:
                    near = difflib.get_close_matches(name, self.names, n=1)
                    hint = f"; did you mean {near[0]!r}?" if near else ""
                    raise ValueError(f"surfaces[{tag!r}] has the unknown region {name!r}: known are {self.names}{hint}")
        _ = self.kinds
        unused = [name for number, name in enumerate(self.names) if not (self.sides == number).any()]
        if unused:
            raise ValueError(f"no surface bounds the region {unused[0]!r}: leave it out of regions=")

    @cached_property
    def kinds(self) -> NDArray[np.int64]:
        """(nt,) the number of the surface of each triangle."""
        found = np.full(self.mesh.number_of_triangles, NONE)
        for number, tag in enumerate(self.surfaces):
            own = np.isin(self.mesh.tags, self.mesh.tag_numbers(tag))
            if (found[own] != NONE).any():
                raise ValueError(f"surfaces names the tag {tag!r} twice, by its name and by its number: keep one")
            found[own] = number
        if (found == NONE).any():
            number = int(self.mesh.tags[found == NONE][0])
            called = next((name for name, tag in self.mesh.names.items() if tag == number), number)
            raise ValueError(
                f"surfaces says nothing of the tag {called!r}: name it as Interface, Metal or Sheet, or leave it out "
                "with mesh.restricted(tags)"
            )
        return found

    @cached_property
    def sectors(self) -> Sectors:
        """The sectors between the faces at each edge."""
        return Sectors(self.mesh)

    @cached_property
    def named(self) -> Numbers:
        """(nt, 2) numbers of the regions that surfaces name, -1 in metal."""
        numbers = {name: number for number, name in enumerate(self.names)} | {None: NONE}
        table = np.array([[numbers[name] for name in each.sides] for each in self.surfaces.values()])
        return table[self.kinds]

    @cached_property
    def sides(self) -> Numbers:
        """(nt, 2) numbers of the regions on the side of the normal of each triangle and on the other one, -1 in metal.

        All faces around a cell have its region. Where that leaves both sides of a surface possible, as of a single
        closed one, the region that is named first is on the side of the normals. ValueError, with edges, where nothing
        fits."""
        mesh, sectors, named = self.mesh, self.sectors, self.named
        apart = named[:, 0] != named[:, 1]
        single = sectors.following == np.arange(len(sectors.following))
        alone = single & apart[sectors.places // 3]
        refuse(mesh, sectors.edges[alone], "has an interface, or metal between two regions, that ends: a region there "
               "is not closed")  # fmt: skip
        shells = sectors.shells.reshape(-1, 2)
        # which numbers, plus one, each shell may have
        count = int(shells.max()) + 1
        choices = np.ones((count, len(self.names) + 1), bool)
        for column in (0, 1):
            np.logical_and.at(choices, shells[:, column], self._one_of(named, choices.shape[1]))
        while True:
            self._exclude(choices, shells, named)
            self._refuse_contradictions(choices, shells)
            open_faces = np.flatnonzero(choices[shells[:, 0]].sum(axis=1) > 1)
            if not len(open_faces):
                break
            first = open_faces[0]
            choices[shells[first, 0]] = np.arange(choices.shape[1]) == named[first, 0] + 1
        return np.asarray(choices.argmax(axis=1)[shells] - 1)

    @staticmethod
    def _one_of(named: Numbers, size: int) -> NDArray[np.bool_]:
        """(nt, size) the numbers, plus one, that surfaces name."""
        found = np.zeros((len(named), size), bool)
        for column in (0, 1):
            found[np.arange(len(named)), named[:, column] + 1] = True
        return found

    @staticmethod
    def _exclude(choices: NDArray[np.bool_], shells: Numbers, named: Numbers) -> None:
        """Where one side of a face has one of the two regions, the other side has the other one."""
        before = -1
        while (left := int(choices.sum())) != before:
            before = left
            for column in (0, 1):
                for one in (0, 1):
                    is_other = ~choices[shells[:, column], named[:, one] + 1]
                    face = np.flatnonzero(is_other & (named[:, 0] != named[:, 1]))
                    allowed = np.zeros((len(face), choices.shape[1]), bool)
                    allowed[np.arange(len(face)), named[face, one] + 1] = True
                    np.logical_and.at(choices, shells[face, 1 - column], allowed)

    def _refuse_contradictions(self, choices: NDArray[np.bool_], shells: Numbers) -> None:
        wrong: NDArray[np.bool_] = np.asarray(~choices.any(axis=1))
        if not wrong.any():
            return
        sectors = self.sectors
        kinds = self.kinds[sectors.places // 3]
        within = wrong[shells.ravel()[sectors.sides[0]]]
        mixed = within & (kinds != kinds[sectors.following])
        refuse(
            self.mesh, sectors.edges[mixed if mixed.any() else within],
            "has surfaces that contradict each other: no region is named by all that bound a cell",
        )  # fmt: skip

    @cached_property
    def is_metal(self) -> NDArray[np.bool_]:
        """(nt,) which triangles are metal or sheets."""
        return np.array([not isinstance(each, Interface) for each in self.surfaces.values()])[self.kinds]

    @cached_property
    def is_guide(self) -> NDArray[np.bool_]:
        """(nt,) which triangles are planes of waveguide ports."""
        return np.array([isinstance(each, WaveguidePort) for each in self.surfaces.values()])[self.kinds]

    def called(self, region: int) -> str:
        """The name of a region in messages."""
        return "the inside of metal" if region == NONE else repr(self.names[region])

    @cached_property
    def unbounded(self) -> int:
        """The number of the region around all others: the one whose walls enclose a negative volume, or that has sheets
        alone."""
        mesh = self.mesh
        flux = np.einsum("ni,ni->n", mesh.centroids - mesh.vertices.mean(axis=0), mesh.area_vectors) / 3
        found = []
        for number in range(len(self.names)):
            signs = (self.sides[:, 1] == number) * 1.0 - (self.sides[:, 0] == number)
            if not signs.any() or flux @ signs < 0:
                found.append(number)
        if len(found) != 1:
            listed = ", ".join(self.called(each) for each in found) or "none"
            raise ValueError(
                f"one region is unbounded, around all others, and here it is {listed}: the region that a surface names "
                "first lies on the side of the normals of the mesh; exchange the two of a closed surface that has them "
                "the other way. A closed device with ports is in a region around it, too, without loss: "
                "Metal('around', 'guide'), WaveguidePort('guide', behind='around')"
            )
        return found[0]

    @cached_property
    def walls(self) -> tuple[RegionWalls, ...]:
        """The triangles of each region."""
        return tuple(self._walls(number) for number in range(len(self.names)))

    def triangles_of(self, region: int) -> Numbers:
        """Numbers of the triangles at a region."""
        return np.flatnonzero((self.sides == region).any(axis=1))

    def _walls(self, number: int) -> RegionWalls:
        chosen = (self.sides == number).any(axis=1)
        mesh = part_of(self.mesh, chosen)
        leaving = (self.sides[chosen, 1] == number) * 1 - (self.sides[chosen, 0] == number)
        same = np.einsum("ni,ni->n", mesh.normals, self.mesh.normals[chosen]) > 0
        return RegionWalls(mesh, np.where(same, leaving, -leaving).astype(np.int64), number == self.unbounded)

    def require_nesting(self) -> None:
        """ValueError where a part of the mesh lies in another region than its surface says."""
        mesh = self.mesh
        order = np.argsort(-mesh.areas, kind="stable")
        _, first = np.unique(mesh.components[order], return_index=True)
        chosen = order[first]
        step = 1e-4 * np.sqrt(mesh.areas[chosen])[:, None] * mesh.normals[chosen]
        for side, sign in ((0, 1), (1, -1)):
            lies = located(self.walls, mesh.centroids[chosen] + sign * step)
            wrong = np.flatnonzero(lies != self.sides[chosen, side])
            if len(wrong):
                triangle = int(chosen[wrong[0]])
                names = self.called(int(lies[wrong[0]])), self.called(int(self.sides[triangle, side]))
                raise ValueError(
                    f"the part of the mesh at {mesh.centroids[triangle].round(6).tolist()} lies in {names[0]}, and its "
                    f"surface has {names[1]} {('outside', 'inside')[side]}: name the region in which it lies"
                )


def located(walls: Sequence[RegionWalls], points: NDArray[np.float64]) -> Numbers:
    """(n,) the number of the region of each point (n, 3), -1 in metal."""
    found = np.full(len(points), NONE)
    for number, each in enumerate(walls):
        found[each.contains(points)] = number
    return found


def part_of(mesh: TriangleMesh, chosen: NDArray[np.bool_]) -> TriangleMesh:
    """The chosen triangles (nt,) as a mesh, in the same order, with their tags."""
    with warnings.catch_warnings():  # triangles are turned as each part needs it
        warnings.simplefilter("ignore", OrientationWarning)
        return TriangleMesh(*compacted(mesh.vertices, mesh.triangles[chosen]), mesh.tags[chosen], mesh.names)
