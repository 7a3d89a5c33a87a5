"""Vectors on a device, and the maps between them and charges at points (products/device/sums.c)."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Device
from calderon.mlfmm.channels import Listed, ListedMap
from calderon.pairs.grouping import grouped
from calderon.products.device.tables import indices, sent
from calderon.products.device.vectors import Vectors, add_sums, vector_kernels


class Map(NamedTuple):
    """A map on a device with its factors of all traversals; transposed: starts and entries of the map the other way."""

    listed: ListedMap
    transposed: tuple[Any, Any]
    weights: Any
    unknowns: int

    @property
    def width(self) -> int:
        """Components of a charge that the map has."""
        return int(self.listed.parts.shape[2])


def map_bytes(listed: Listed, receiving: tuple[int, int], real: np.dtype[Any]) -> int:
    """Bytes of the maps of one side on a device."""
    low, high = listed.starts[list(receiving)] // listed.points
    total = 0
    for each in listed.maps:
        total += 4 * (len(each.number) + len(each.first)) + each.parts.size * real.itemsize
        total += 8 * int(each.first[high] - each.first[low]) + 4 * (int(each.number.max(initial=0)) + 2)
    return total


class DeviceMaps:
    """The maps of one side of a medium on the device: from vectors to charges, from fields to vectors."""

    def __init__(
        self, device: Device, listed: Listed, weights: NDArray[np.complex128], real: np.dtype[Any],
        receiving: tuple[int, int], other: "DeviceMaps | None" = None,
    ) -> None:  # fmt: skip
        """receiving: the leaves low up to, without, high that have fields; other: whose tables are taken where the maps
        are the same."""
        self.device, self.real = device, real
        self.points, self.components, self.rank = int(listed.starts[-1]), listed.components, weights.shape[1]
        self._kernels = vector_kernels(device, real)
        self.listed, self._own = listed, (listed.starts[list(receiving)] // listed.points).tolist()
        self._maps: list[Map]
        if other is not None and other.listed is listed:
            self._maps = [
                each._replace(weights=self._numbers(row)) for each, row in zip(other._maps, weights, strict=True)
            ]
        else:
            self._maps = [self._sent(each, self._numbers(row)) for each, row in zip(listed.maps, weights, strict=True)]

    def _numbers(self, weights: NDArray[np.complex128]) -> Any:
        return self.device.array(np.ascontiguousarray(weights).view(float).astype(self.real))

    def _sent(self, each: ListedMap, weights: Any) -> Map:
        """The tables of a map on the device: its entries by triangles, to spread, and by unknowns, to gather."""
        triangle = np.repeat(np.arange(len(each.first) - 1, dtype=np.int32), np.diff(each.first))
        low, high = each.first[self._own]  # entries of triangles with fields
        unknowns = int(each.number.max(initial=-1)) + 1
        starts, order = grouped(each.number[low:high], unknowns)
        entries = np.stack([triangle[low + order], low + order], axis=1)
        there = sent(self.device, each._replace(parts=each.parts.astype(self.real, copy=False)))
        return Map(there, (indices(self.device, starts), indices(self.device, entries)), weights, unknowns)

    def shape(self, columns: int) -> tuple[int, int]:
        """Dimensions of charges or fields, (point, column * rank * component * part)."""
        return self.points, 2 * columns * self.rank * self.components

    def spread(self, x: Vectors, sign: float) -> Any:
        """Charges of vectors; sign: -1 for those of their conjugates, else 1."""
        out, kind = self.device.empty(self.shape(x.columns), self.real), self.real.type
        for number, each in enumerate(self._maps):
            begin, component, *tables = each.listed
            given = *tables, self.listed.points, each.width, component, each.weights, self.rank, self.components
            rest = x.array, x.first + begin, x.pitch, kind(sign), self.points, x.columns, int(number > 0), out
            self._kernels.launch("spread", (self.points, x.columns), *given, *rest)
        return out

    def gather(self, fields: Any, factor: complex, y: Vectors, sign: float) -> None:
        """y += factor times the transposed of `spread` of fields, or its conjugate if the sign is -1."""
        apart = 2 * self.rank * self.components
        for each in self._maps:
            begin, component, _, _, parts = each.listed
            numbers = fields, 2 * component, y.columns * apart, apart, 1
            given = (*each.transposed, 2, self.listed.points), each.unknowns, numbers, factor, y.after(begin), sign
            add_sums(self._kernels, *given, (parts, each.width), (each.weights, self.rank, self.components))
