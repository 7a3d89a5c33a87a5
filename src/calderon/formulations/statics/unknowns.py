"""Unknowns on a skeleton, and how they give the traces of each region.

Unknown are one potential of each electrode, the potentials u at all other nodes, and fluxes q = a du/dn. n leaves the
region, so that at an interface q of the second region is -q of the first; metal between regions has a flux on either
side, a sheet within a region the sum of both sides, and a wall without electrode none.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.formulations.statics.region import Region
from calderon.formulations.statics.skeleton import WALLS, MetalBody, RegionSurface, Skeleton
from calderon.mesh.tolerances import TOLERANCES
from calderon.spaces import DP1, P0, P1, P2, Space
from calderon.spaces.pieces import Pieces

SPACES: dict[str, Any] = {"P1": (P1, P0), "P2": (P2, DP1)}
"""Spaces of potentials and of fluxes by the name of the first."""
Index = NDArray[np.int64]
SHARED = 2
"""Triangles of the skeleton times regions, over the triangles of all regions, up to which regions have operators in
common: those of the skeleton, which multiply the functions of each region in turn."""


@dataclass(frozen=True, eq=False)
class Traces:
    """The functions of one region and the unknowns in them.

    potentials, fluxes: the spaces, the first on walls alone, None where there are only sheets. nodes: the function of
    the potential on the skeleton that each of `potentials` is a part of. places: where the coefficients of `fluxes` lie
    in those of both sides of the skeleton, one after the other. from_unknowns: (potentials + fluxes, unknowns) the
    coefficients of unknowns.
    """

    surface: RegionSurface
    potentials: Space | None
    fluxes: Space
    nodes: Index
    places: Index
    from_unknowns: sp.csr_array


class Member(NamedTuple):
    """The number of a region between whose functions operators act, and the coefficients of its potentials, whose sign
    is that of its normals, and of its fluxes, of unknowns."""

    number: int
    potentials: sp.csr_array
    fluxes: sp.csr_array


class Layers(NamedTuple):
    """Functions between which one or several regions have single and double layers. potentials: None where there are
    none but of closed metal, whose layers are known."""

    potentials: Space | None
    fluxes: Space
    members: tuple[Member, ...]

    def region(self, unknowns: "Unknowns") -> Region:
        """The first region, which has the Green's function of all of them."""
        return unknowns.skeleton.surfaces[self.members[0].number].region


@dataclass(frozen=True, eq=False)
class Unknowns:
    """The unknowns in their order: electrodes, potentials at other nodes, fluxes.

    skeleton: the regions. space: "P1", with fluxes constant on triangles, or "P2", with linear ones.
    """

    skeleton: Skeleton
    space: str

    @cached_property
    def potentials(self) -> Space:
        """The space of the potential on the whole skeleton."""
        return SPACES[self.space][0](self.skeleton.mesh)

    @cached_property
    def node_electrodes(self) -> Index:
        """(nodes,) the electrode of each function of `potentials`, -1 for none; ValueError where two of them touch."""
        electrode_of, dofs = self.skeleton.electrode_of[self.potentials.triangles], self.potentials.dofs
        found = np.full(self.potentials.dimension, -1)
        for number in range(len(self.skeleton.electrodes)):
            own = np.unique(dofs[electrode_of == number])
            if (found[own] >= 0).any():
                names = list(self.skeleton.electrodes)
                place = self.potentials.nodes[own[found[own] >= 0][0]].tolist()
                raise ValueError(
                    f"electrodes {names[found[own].max()]!r} and {names[number]!r} touch at {place}: one point of "
                    "metal has one potential; leave a gap, or make them one electrode"
                )
            found[own] = number
        return found

    @cached_property
    def node_numbers(self) -> Index:
        """(nodes,) the unknown of each function of `potentials`: that of its electrode, or its own."""
        free = self.node_electrodes < 0
        own = len(self.skeleton.electrodes) + np.cumsum(free) - 1
        return np.where(free, own, self.node_electrodes)

    @property
    def number_of_potentials(self) -> int:
        """Electrodes and free nodes."""
        return int(np.count_nonzero(self.node_electrodes < 0)) + len(self.skeleton.electrodes)

    @cached_property
    def flux_numbers(self) -> tuple[Index, NDArray[np.float64], int]:
        """(nt, 2) at each triangle for each of `sides` the number of its (first) flux among all unknowns, -1 for none;
        (nt, 2) its sign; and the number of all unknowns."""
        skeleton, size = self.skeleton, 1 if self.space == "P1" else 3
        sides, metal = skeleton.sides, skeleton.electrode_of >= 0
        sheet = (sides[:, 0] == sides[:, 1]) & (sides[:, 0] >= 0)
        interface = (sides >= 0).all(axis=1) & ~metal
        own = np.stack([(metal & (sides[:, 0] >= 0)) | interface, metal & (sides[:, 1] >= 0) & ~sheet], axis=1)
        numbers = np.where(own, self.number_of_potentials + size * (np.cumsum(own.ravel()) - 1).reshape(-1, 2), -1)
        numbers[interface, 1] = numbers[interface, 0]
        signs = np.ones(own.shape)
        signs[interface, 1] = -1
        return numbers, signs, self.number_of_potentials + size * int(own.sum())

    @property
    def dimension(self) -> int:
        """The number of unknowns."""
        return self.flux_numbers[2]

    @cached_property
    def traces(self) -> tuple[Traces, ...]:
        """The traces of the regions, in their order."""
        return tuple(self._traces(number, surface) for number, surface in enumerate(self.skeleton.surfaces))

    def _traces(self, number: int, surface: RegionSurface) -> Traces:
        continuous, flat = SPACES[self.space]
        potentials = continuous(surface.mesh, WALLS) if surface.is_wall.any() else None
        nodes = np.zeros(0, np.int64)
        if potentials is not None:
            whole = surface.triangles[potentials.triangles]
            match = _same_nodes(potentials, self.potentials, whole)
            nodes = np.empty(potentials.dimension, np.int64)
            nodes[potentials.dofs] = np.take_along_axis(self.potentials.dofs[whole], match, axis=1)
        # fluxes of the side that the region has of each triangle
        fluxes, every, (numbers, signs, total) = flat(surface.mesh), self.fluxes, self.flux_numbers
        side = np.where(self.skeleton.sides[surface.triangles, 0] == number, 0, 1)
        match = _same_nodes(fluxes, every, surface.triangles)
        places = side[:, None] * every.dimension + surface.triangles[:, None] * every.element.size + match
        first, sign = (each[surface.triangles, side] for each in (numbers, signs))
        kept = first >= 0
        rows = np.concatenate([np.arange(len(nodes)), len(nodes) + fluxes.dofs[kept].ravel()])
        columns = np.concatenate([self.node_numbers[nodes], (first[:, None] + match)[kept].ravel()])
        values = np.concatenate([np.ones(len(nodes)), np.repeat(sign[kept], fluxes.element.size)])
        matrix = sp.coo_array((values, (rows, columns)), (len(nodes) + fluxes.dimension, total)).tocsr()
        return Traces(surface, potentials, fluxes, nodes, places.ravel(), matrix)

    @cached_property
    def metal_bodies(self) -> tuple[list[MetalBody], ...]:
        """Closed metal at each region, in their order; among ions a constant potential has no known layer."""
        surfaces, electrode_of = self.skeleton.surfaces, self.skeleton.electrode_of
        return tuple([] if each.region.decay else each.metal_bodies(electrode_of) for each in surfaces)

    @cached_property
    def layers(self) -> tuple[Layers, ...]:
        """The layers of all regions: of each its own, or those of the skeleton where few regions share all of it."""
        skeleton, count = self.skeleton, len(self.traces)
        total = sum(len(each.triangles) for each in skeleton.surfaces)
        ions = any(each.decay for each in skeleton.regions.values())
        if count == 1 or ions or count * len(skeleton.sides) > SHARED * total:
            return tuple(self._layers(number) for number in range(count))
        return (self._shared_layers(),)

    def _layers(self, number: int) -> Layers:
        """The layers of one region, without the nodes of closed metal."""
        traces, bodies = self.traces[number], self.metal_bodies[number]
        count, space = len(traces.nodes), traces.potentials
        fluxes = traces.from_unknowns[count:].tocsr()
        if space is None:
            return Layers(None, traces.fluxes, (Member(number, traces.from_unknowns[:0], fluxes),))
        free = np.ones(count, bool)
        for body in bodies:
            free[space.dofs[body.own[space.triangles]]] = False
        member = Member(number, traces.from_unknowns[:count][np.flatnonzero(free)].tocsr(), fluxes)
        return Layers(space.selected(free) if free.any() else None, traces.fluxes, (member,))

    def _shared_layers(self) -> Layers:
        """Layers of the skeleton: potentials are continuous within patches of triangles that lie between the same
        regions in the same way, so that each region takes them with one sign."""
        skeleton, space = self.skeleton, self.potentials
        turned = np.zeros((len(skeleton.sides), len(self.traces)), np.int8)
        for number, each in enumerate(skeleton.surfaces):
            along = np.einsum("ni,ni->n", each.mesh.normals, skeleton.mesh.normals[each.triangles])
            turned[each.triangles, number] = np.where(each.is_wall, np.sign(along), 0)
        walls = np.flatnonzero(turned.any(axis=1))
        patch = np.unique(turned[walls], axis=0, return_inverse=True)[1].ravel()
        pieces = Pieces.of(space.on(walls), patch, int(patch.max(initial=0)) + 1)
        dofs, maps = pieces.space.scalar.dofs, []
        for number, (each, bodies) in enumerate(zip(skeleton.surfaces, self.metal_bodies, strict=True)):
            signs = turned[walls, number].astype(float)
            for body in bodies:
                signs[np.isin(walls, each.triangles[body.own])] = 0
            own = np.flatnonzero(signs)
            rows, first = np.unique(dofs[own], return_index=True)
            columns = self.node_numbers[pieces.whole[rows]]
            values = np.repeat(signs[own], space.element.size)[first]
            maps.append(sp.coo_array((values, (rows, columns)), (len(pieces.whole), self.dimension)).tocsr())
        used = np.diff(sum(abs(each) for each in maps).indptr) > 0
        members = (
            Member(number, each[np.flatnonzero(used)].tocsr(), self._fluxes_of(number))
            for number, each in enumerate(maps)
        )
        return Layers(pieces.space.scalar.selected(used) if used.any() else None, self.fluxes, tuple(members))

    def _fluxes_of(self, number: int) -> sp.csr_array:
        """(coefficients, unknowns) the fluxes of a region on the whole skeleton."""
        triangles, size = self.skeleton.surfaces[number].triangles, self.fluxes.element.size
        side = np.where(self.skeleton.sides[triangles, 0] == number, 0, 1)
        numbers, signs = (each[triangles, side] for each in self.flux_numbers[:2])
        kept = numbers >= 0
        rows = (triangles[kept, None] * size + np.arange(size)).ravel()
        columns = (numbers[kept, None] + np.arange(size)).ravel()
        values = np.repeat(signs[kept], size)
        return sp.coo_array((values, (rows, columns)), (self.fluxes.dimension, self.dimension)).tocsr()

    @property
    def fluxes(self) -> Space:
        """The space of the fluxes of one side of the whole skeleton."""
        return SPACES[self.space][1](self.skeleton.mesh)

    def on_skeleton(self, x: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Coefficients of the potential, and (2, coefficients) of the fluxes of both sides, of unknowns (n,)."""
        numbers, signs, _ = self.flux_numbers
        local = numbers[:, :, None] + np.arange(self.fluxes.element.size)
        values = np.where(numbers[:, :, None] >= 0, signs[:, :, None] * x[local], 0.0)
        return x[self.node_numbers], np.ascontiguousarray(values.transpose(1, 0, 2)).reshape(2, -1)

    def given_fluxes(self, densities: NDArray[np.float64]) -> NDArray[np.float64]:
        """(2, coefficients) fluxes of both sides of the skeleton that are no unknowns, of densities (triangles,): those
        of walls of one region, and what those of the second region at an interface have more than -q of the first."""
        side = (self.skeleton.sides[:, 1] >= 0).astype(int)
        values = np.zeros((2, len(densities)))
        values[side, np.arange(len(densities))] = densities
        return np.repeat(values, self.fluxes.element.size, axis=1)


def _same_nodes(own: Space, whole: Space, triangles: Index) -> Index:
    """(m, size) for each local function of a space the local function of another one at the same place of the m
    triangles (numbers in the mesh of the other)."""
    nodes = own.element.nodes
    if len(nodes) == 1:
        return np.zeros((len(triangles), 1), np.int64)
    mine, others = own.geometry.points(nodes), whole.mesh.geometry(triangles).points(nodes)
    away = np.linalg.norm(mine[:, :, None] - others[:, None], axis=3)
    found = away.argmin(axis=2)
    assert away.min(axis=2).max() <= TOLERANCES.joined * own.mesh.diameter
    return np.asarray(found, np.int64)
