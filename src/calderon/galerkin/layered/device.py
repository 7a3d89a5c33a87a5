"""Pairs of triangles of horizontal metal between layers on a device (pairs.c)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Device, Kernels, require_device_memory
from calderon.backends.records import Record
from calderon.galerkin.device.local_matrices import SMALL_GROUP, LocalMatrices
from calderon.galerkin.layered.metal import LayeredMetal
from calderon.galerkin.selection import Selection
from calderon.layers.tables import DEGREE, OWN, WHOLE

PAIR = Record("PAIR", centre=2, vertices=6, factors=3, area=1, points=None)
"""The numbers of a triangle."""
Index = NDArray[np.int64]


class DevicePairs(LocalMatrices):
    """All pairs but special ones of some test and trial triangles, added to a matrix on a device or on the host.

    skips: starts and increasing trial places of the pairs to leave out of each test triangle. real: the type in which
    the device computes; `out` may have another.
    """

    local_shape = 3, 3

    def __init__(
        self, device: Device, out: Any, metal: LayeredMetal, rule: tuple[NDArray[Any], NDArray[Any]], factor: complex,
        sides: tuple[Selection, Selection], skips: tuple[Index, Index], half: bool, real: np.dtype[Any],
    ) -> None:  # fmt: skip
        self.device, self.out, self.half, self.real = device, out, half, real
        self.test, self.trial = sides
        self.is_complex, self.stored = True, np.empty(0, out.dtype).real.dtype
        points, weights = rule
        source = device, "galerkin/layered/pairs.c", real, SMALL_GROUP, PAIR.defines
        self._kernels = Kernels.of(*source, POINTS=len(weights), TERMS=DEGREE + 1, OUT_REAL=self.stored)
        records, k0 = records_of(metal, points), metal.sections.k0
        one, two = (records[each.triangles] for each in sides)
        integers, (parts, ends, series) = tables_of(metal)
        # records of triangles, tables, places and coefficients, as arguments of the kernel
        needed = (one.size + two.size + series.size) * real.itemsize
        require_device_memory(device, needed, "the data of triangles and tables", "try backend='numba'")
        given, (starts, places) = factor * 1j * k0, skips
        coefficients = np.array([given.real, given.imag, metal.charge])
        heights = (metal.flat.heights[each.triangles] for each in sides)
        self._arguments = (
            *self._reals(one, two.T), *self._integers(*heights, integers[0]), *self._reals(parts),
            *self._integers(*integers[1:]), *self._reals(ends, series, weights),
            *self._integers(np.concatenate([starts + len(starts), places])), *self._reals(coefficients),
            len(metal.heights),
        )  # fmt: skip
        self._make_room()

    def _reals(self, *arrays: NDArray[Any]) -> list[Any]:
        return [self.device.array(np.ascontiguousarray(each, self.real)) for each in arrays]

    def _integers(self, *arrays: NDArray[Any]) -> list[Any]:
        return [self.device.array(np.ascontiguousarray(each, np.int32)) for each in arrays]

    def _integrate(self, lo: int, hi: int) -> None:
        width = len(self.trial.triangles)
        given = *self._arguments, lo, width, int(self.half)
        self._kernels.launch("distant", (width, hi - lo), *given, self.local, self.local_i)


def records_of(metal: LayeredMetal, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, numbers) of all triangles, with centroids from their mean, which keeps digits in single precision."""
    flat = metal.flat
    centres, vertices, factors, areas, points = (each.reshape(len(flat.areas), -1) for each in (*flat[:4], points))
    centres = centres - centres.mean(axis=0)
    return PAIR.packed(centre=centres, vertices=vertices, factors=factors, area=areas, points=points)


def tables_of(metal: LayeredMetal) -> tuple[list[NDArray[Any]], list[NDArray[Any]]]:
    """Integers and numbers as pairs.c reads them; of two heights series of what is not divided by the distance."""
    joined = metal.joined
    apart = joined.kinds != OWN
    which = np.repeat(joined.kinds == WHOLE, [len(table.series) for table in metal.tables]).astype(np.int64)
    series = joined.series.reshape(len(which), 2, 4, DEGREE + 1)[np.arange(len(which)), which].swapaxes(1, 2)
    return [joined.number, joined.starts, apart, joined.interval], [joined.parts, joined.ends, series]
