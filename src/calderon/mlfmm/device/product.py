"""Products with a medium on a device, where blocks, maps, tables of waves and lists stay.

Trees and tables are made by the processor, and sent before products are checked.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from calderon.backends import Device
from calderon.mlfmm.device.cubes import DeviceCubes, PointsOfCubes
from calderon.mlfmm.device.p2m_l2p import DevicePoints, DeviceWaves
from calderon.mlfmm.device.passes import DevicePasses, passing_bytes
from calderon.mlfmm.device.vectors import DeviceMaps, map_bytes
from calderon.mlfmm.equivalent.cubes import SUMS
from calderon.mlfmm.far import KINDS, Far
from calderon.mlfmm.medium import Medium
from calderon.products.device.near import DeviceRegion, require_room, sums_of
from calderon.products.device.sums import DeviceOperator
from calderon.products.device.vectors import Vectors, zeros
from calderon.products.near_filling import WAVES


class _Side:
    """One side of a far field on the device: its points, plane waves and cubes; components: numbers of a point."""

    def __init__(
        self, device: Device, far: Far, tests: bool, cubes: DeviceCubes | None, other: "_Side | None" = None
    ) -> None:
        """Send the side of charges or of tests. cubes: equivalent sources of the far field, None without them; other:
        the side of charges, with which that of tests shares what it can."""
        host, kinds = (far.targets, far.target_kinds) if tests else (far.sources, far.source_kinds)
        own, leaves = far.receiving, dict(enumerate(far.leaves))
        self.components = sum(KINDS[kind] for kind in kinds)
        points = DevicePoints(device, host, far.traversal.real, other.points if other else None)
        self.points: DevicePoints = points
        self.waves = DeviceWaves(device, points, kinds, complex(far.k), far.traversal, leaves, own)
        self.cubes: Any = None if cubes is None else PointsOfCubes(device, cubes, points, kinds, far.lists, own)


class DeviceFar:
    """A far field on a device: plane waves and, in smaller boxes, equivalent sources on cubes.

    sides: charges, then tests. below: plane waves at the points of the coarsest cubes, of all boxes, which send, and of
    those that have fields, last; empty unless there are levels of both.
    """

    def __init__(self, device: Device, far: Far, before: "DeviceFar | None" = None) -> None:
        """Send a far field, without points that `before`, another one, has on the device."""
        self.host = far
        self.passes = DevicePasses(device, far.traversal)
        self.cubes = None if far.low is None else DeviceCubes(device, far.low, far.sums)
        charges = _Side(device, far, False, self.cubes, before.sides[0] if before else None)
        self.sides: list[_Side] = [charges, _Side(device, far, True, self.cubes, charges)]
        self.below: list[DeviceWaves] = []
        if far.low is not None and far.traversal.levels:
            first = far.low.levels[0]
            for boxes in dict.fromkeys([(0, first.count), first.receiving]):  # of sources, and of those with fields
                points, parents = far.low.below(far.traversal.levels[-1], boxes)
                there = {len(far.traversal.levels) - 1: (parents, parents)}
                own, every = DevicePoints(device, points, far.traversal.real), (0, len(points.starts) - 1)
                self.below.append(DeviceWaves(device, own, far.below, complex(far.k), far.traversal, there, every))

    def store_fields(self, charges: Any, fields: Any, columns: int, transposed: bool = False) -> None:
        """Store the fields of all charges (points, columns, components) at the points that have some.

        columns: vectors times `rank`. Boxes of all levels with cubes have equivalent sources; plane waves of those of
        the coarsest of these levels are added to `outgoing`, and `incoming` ones to their potentials, times 4 pi, which
        the last step divides all fields by.
        """
        given, wanted = self.sides[::-1] if transposed else self.sides
        outgoing, incoming = self.passes.empty(columns, False), self.passes.empty(columns, True)
        sources, cubes = list[Any](), self.cubes
        # P2M and M2M, to the leaves with plane waves and on all levels with cubes
        given.waves.emit(charges, given.components, outgoing, columns)
        if cubes is not None:
            sources = cubes.outgoing(given.cubes, given.cubes.to_sums(charges, columns), columns * cubes.sums)
            if self.below:
                self.below[0].emit(sources[0], cubes.sums, outgoing, columns)
        # all passes between plane waves, L2P, and M2L, L2L and L2P of cubes
        self.passes.run(outgoing, incoming, columns)
        wanted.waves.receive(incoming, columns, fields, wanted.components)
        if cubes is not None:
            found = cubes.across(sources, columns * cubes.sums)
            if self.below:
                self.below[-1].receive(incoming, columns, found[0], cubes.sums, scale=4 * np.pi, adds=True)
            values = wanted.cubes.empty(columns) if cubes.sums > 1 else fields
            cubes.incoming(wanted.cubes, found, values, columns * cubes.sums)
            if cubes.sums > 1:
                wanted.cubes.from_sums(values, columns, fields)


class DeviceMedium(DeviceOperator):
    """All terms of a medium on a device: near, blocks of entries, and far, the field with maps of both sides between
    vectors and points, None without one."""

    def __init__(
        self, device: Device, medium: Medium, dtype: np.dtype[Any], before: "DeviceMedium | None" = None
    ) -> None:
        """Send what `before`, the medium on the device with fewer near entries or waves of lower degrees, has not."""
        super().__init__(dtype=dtype, shape=medium.shape)
        self.device, self.together, self.rank = device, medium.together, medium.rank
        self.far: DeviceFar | None = before.far if before else None
        self._maps: list[DeviceMaps] = before._maps if before else []
        self.near: list[DeviceRegion] = before.near if before else []
        if not self.near:
            given = ((each.regions, store, each.mirrored, store.work) for each, store in medium.near)
            self.near = [DeviceRegion(device, *each) for each in given]
        far, waves = medium.far, medium.waves
        if far is not None and waves is not None and not self.has(far):
            self.far, real, own = DeviceFar(device, far, self.far), far.traversal.real, far.receiving
            (listed, _, weights), (tested, _, others) = waves.charges, waves.tests
            charges = DeviceMaps(device, listed, weights, real, own, self._maps[0] if self._maps else None)
            self._maps = [charges, DeviceMaps(device, tested, others, real, own, charges)]

    def has(self, far: Far | None) -> bool:
        """Whether this far field is there."""
        return self.far is not None and self.far.host is far

    def add(self, x: Vectors, y: Vectors, factor: complex, transposed: bool, conjugated: bool = False) -> None:
        """See `DeviceOperator`; all vectors are complex."""
        for near in self.near:
            near.add(x._replace(is_real=False), y, factor, transposed, conjugated)
        if self.far is not None:
            (given, wanted), sign = self._maps[::-1] if transposed else self._maps, -1.0 if conjugated else 1.0
            charges, fields = given.spread(x, sign), zeros(self.device, wanted.shape(x.columns), wanted.real)
            self.far.store_fields(charges, fields, x.columns * self.rank, transposed)
            wanted.gather(fields, factor, y, sign)


def require_room_of(device: Device, media: Sequence[Medium], columns: int = 1) -> None:
    """Raise MemoryError where a device has no room for what it has not of the media yet and for products with so many
    columns, RuntimeError where it has no double precision and they need it."""
    without = [each for each in media if not (isinstance(each.there, DeviceMedium) and each.there.near)]
    changed = [each for each in media if not (isinstance(each.there, DeviceMedium) and each.there.has(each.far))]
    needed = sum([*map(_block_bytes, without), *map(_table_bytes, changed)])
    needed += columns * max(map(_product_bytes, media), default=0)
    real = np.result_type(np.float32, *(each.real for each in media))
    require_room(device, needed, [near.store for each in without for near in each.near], real, WAVES, "plane waves")


def device_bytes(medium: Medium) -> int:
    """Bytes of all tables of a medium, or of a part of one, and of the memory of a product with one column, at most."""
    return _block_bytes(medium) + _table_bytes(medium) + _product_bytes(medium)


def _block_bytes(medium: Medium) -> int:
    """Bytes of near blocks."""
    return sum(near.store.nbytes for near in medium.near)


def _table_bytes(medium: Medium) -> int:
    """Bytes of the far field, and of vectors of both sides, in the order of leaves, too."""
    if medium.far is None or medium.waves is None:
        return 0
    far, real = medium.far, medium.far.traversal.real
    sides = {id(each.listed): each.listed for each in (medium.waves.tests, medium.waves.charges)}
    maps = sum(map_bytes(side, far.receiving, real) for side in sides.values())
    return far_bytes(far, 0) + 10 * sum(medium.shape) * real.itemsize + maps


def _product_bytes(medium: Medium) -> int:
    """Bytes of sums of near blocks, and then of patterns, charges and fields, of a product with one column."""
    stores = [each.store for each in medium.near]
    near = max((2 * each.work.itemsize * sums_of(each) for each in stores), default=0)
    far = 0 if medium.far is None else far_bytes(medium.far, medium.rank) - far_bytes(medium.far, 0)
    return max(near, far)


def far_bytes(far: Far, columns: int) -> int:
    """Bytes of a far field on a device with the points of both sides, and of its products with so many columns: of
    patterns, of charges and fields, and of what is between two passes."""
    real, total = far.traversal.real, far.nbytes_of(columns, 4)
    total += passing_bytes(far.traversal, columns * far.traversal.spectra)
    for side, (points, kinds) in enumerate(((far.sources, far.source_kinds), (far.targets, far.target_kinds))):
        parts = SUMS * 4 if far.low and far.traversal.vector else sum(KINDS[kind] for kind in kinds)
        places = 0 if side and points.same_places(far.sources) else 7 if points.is_mixed else 3
        total += (2 * parts * columns + places) * int(points.starts[-1]) * real.itemsize
    return total
