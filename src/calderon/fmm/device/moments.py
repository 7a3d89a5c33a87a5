"""Moments of functions that a device computes where they stay (moments.c)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Device, Kernels, require_device_memory
from calderon.backends.devices.device_matrix import GROUP, vector_type
from calderon.fmm.layout import Layout
from calderon.fmm.moment_store import Moments
from calderon.fmm.tables import Combined, Tables
from calderon.pairs.grouping import arranged
from calderon.products.device.tables import indices
from calderon.quadrature import triangle_rule
from calderon.spaces.space import Space

FIELDS = {"value": 1, "normal": 3, "curl": 3, "arms": 4, "normal arms": 7}
"""Charges of a point, by their kind, in the order of KIND in moments.c: values; values times normals; surface curls;
values times 1 and y; those with normals, then values times 1 and y for derivatives of functions along normals."""
SUMS_BYTES = 1 << 28
"""Bytes of sums with basis functions that are there at a time: those of a million pieces of a low degree."""
TOGETHER = 8
"""Pieces that meet a number of a matrix at a time: it comes from the second-level cache, sums from registers."""


class DeviceMoments:
    """Runs of `rank` moments on a device, in the order of `Moments`; there: the numbers, their `dtype` the real type.
    The processor gets a copy where it reads them."""

    is_packed = False

    def __init__(
        self, device: Device, space: Space, starts: NDArray[np.int64], degree: int, combined: Combined, layout: Layout,
        table: Tables,
    ) -> None:  # fmt: skip
        """Moments of pieces, the functions of a space, about the centres of their leaves, those of each leaf from
        starts (leaves + 1,) on; degree: of the quadrature rule; table: of the basis and its combinations. MemoryError
        where there is no room."""
        kind, parts, factor, real, stored = combined
        wide, rule, tree = vector_type(device), triangle_rule(degree), layout.tree
        count, fields, functions = int(starts[-1]), FIELDS[kind], (table.order.p + 1) ** 2
        self.device, self.rank, self.count = device, table.rank, combined.runs * count
        self._here: Moments | None = None
        self._work = table.numbers.dtype
        together = min(count, SUMS_BYTES // (fields * functions * real.itemsize))
        together = TOGETHER * max(1, -(-together // TOGETHER))
        self.nbytes = self.count * self.rank * stored.itemsize
        room = fields * functions * together * real.itemsize
        advice = 'increase rtol, try a coarser mesh, or backend="numba"'
        require_device_memory(device, self.nbytes + room, "moments of functions", advice)
        self.there, sums = device.empty((self.count * self.rank,), stored), device.empty((room // real.itemsize,), real)
        # triangles, pieces, leaves, and the tables of all triangles
        places, corners = tree.inside(space.mesh.vertices), arranged(space.mesh.triangles, space.triangles)
        boxes = np.column_stack([tree.centre, tree.edge])[layout.lists.leaves]
        leaves = indices(device, np.repeat(np.arange(len(boxes)), np.diff(starts)))
        values = space.element.gradients(rule.points) * rule.weights[:, None] if kind == "curl" else (
            space.element.values(rule.points) * rule.weights)  # fmt: skip
        # values have areas, lengths of curls a length: over that of the largest triangle, for single precision
        power = 1 if kind == "curl" else 2
        unit = float(space.mesh.areas[space.triangles].max(initial=1e-300)) ** (power / 2)
        values = values * (tree.cube.edge**power / unit)

        def sent(numbers: Any) -> Any:
            return device.array(np.ascontiguousarray(numbers, wide))

        boxes, lists = sent(boxes), [indices(device, each) for each in (corners, *space.carriers)]
        given = sent(places), *lists, leaves, boxes, sent(rule.points), sent(values)
        ends = np.searchsorted([each.run for each in parts], np.arange(combined.runs + 1))
        chosen = np.array([(each.field, each.matrix, each.power) for each in parts])
        factors = sent([unit * factor * each.factor for each in parts])
        terms = device.array(np.ascontiguousarray(table.expand, real)), table.functions, indices(device, ends), indices(
            device, chosen), factors, leaves, boxes  # fmt: skip
        kernels = Kernels.of(
            device, "fmm/device/moments.c", real, GROUP, STORED_REAL=stored, WIDE_REAL=wide, FIELDS=fields,
            KIND=list(FIELDS).index(kind), DEGREE=table.order.p, POINTS=rule.number_of_points, RANK=self.rank,
            RUNS=combined.runs, TOGETHER=TOGETHER,
        )  # fmt: skip
        for first in range(0, count, together):
            some = min(together, count - first)
            kernels.launch("basis_moments", some, *given, first, some, together, sums)
            threads = -(-some // TOGETHER) * combined.runs * self.rank
            kernels.launch("combine", threads, sums, *terms, first, some, together, self.there)

    @property
    def here(self) -> Moments:
        """A copy in the memory of the processor."""
        if self._here is None:
            empty = Moments.empty(0, self.rank, self.there.dtype, self._work)
            self._here = empty._replace(numbers=self.device.to_host(self.there))
        return self._here

    @property
    def stored(self) -> tuple[NDArray[Any], ...]:
        """Numbers and tables, as compiled loops of the processor read them."""
        return self.here.stored

    def runs(self, low: int, high: int) -> NDArray[Any]:
        """(high - low, rank) runs."""
        return self.here.runs(low, high)
