"""Sums over points on a device (point_sums.c), in an octree that is made there: for points that move."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Device, Kernels, count_work, require_device_memory
from calderon.fmm.device.passes import DevicePasses
from calderon.fmm.orders import Promise
from calderon.fmm.tables import tables
from calderon.products.device.near_points import GROUP, NearPoints
from calderon.products.device.octree import DeviceOctree
from calderon.products.direct_sums import TINY, Kinds
from calderon.products.octree import Cube

Array = NDArray[np.float64]
TOGETHER = 4
"""Leaves whose vectors meet each number of a matrix."""
OPERATIONS = {Kinds(True, False, False): 14, Kinds(False, True, False): 22, Kinds(True, True, False): 25}
"""Operations of a pair of points; gradients take about as many again."""


class DeviceSums:
    """Sources, targets and numbers of a sum on a device, and its sums there.

    device: where. kinds: of numbers and fields. levels, nbytes: of the last tree, and its bytes with all else there.
    """

    def __init__(self, device: Device, sources: Array, targets: Array | None, numbers: Array, kinds: Kinds,
                 advice: str) -> None:  # fmt: skip
        """sources (n, 3), targets (m, 3) or None for the sources, numbers (n, kinds.numbers); advice: where memory is
        short."""
        self.device, self.kinds, self.advice, self.levels, self.nbytes = device, kinds, advice, 0, 0
        self._places, self._given = [sources] if targets is None else [sources, targets], numbers
        self._shape, points = (len(sources), len(self._places[-1])), sum(map(len, self._places))
        # of a point: place and key, its place in the order of the tree, keys that are sorted; numbers and fields twice
        self._own = points * 72 + 16 * (len(sources) * kinds.numbers + self._shape[1] * kinds.fields)
        require_device_memory(device, self._own, f"the sum over {points} points", advice)
        self._sources, self._numbers = device.array(sources), device.array(numbers)
        self._targets = self._sources if targets is None else device.array(targets)

    def _kernels(self, real: Any, degree: int) -> Kernels:
        return Kernels.of(
            self.device, "fmm/device/point_sums.c", real, GROUP, TOGETHER=TOGETHER, DEGREE=degree,
            CHARGES=self.kinds.charges, DIPOLES=self.kinds.dipoles, FIELDS=self.kinds.fields,
        )  # fmt: skip

    def sums(self, promise: Promise, single: bool) -> Array:
        """(m, 1 or 4) fields by an order of the harmonics, of potentials and gradients."""
        device, kinds, real = self.device, self.kinds, np.dtype(np.float32 if single else np.float64)
        sides = [self._sources, self._targets][: len(self._places)]
        tree = DeviceOctree(device, Cube.around(*self._places), sides, promise.leaf, self.advice)
        table, kernels = tables(promise.order, single), self._kernels(real, promise.order.p)
        self.levels, edge, (n, m) = len(tree.levels) - 2, np.float64(tree.cube.edge), self._shape
        # numbers in the order of the tree, derivatives by places in edges of the root
        numbers, order, plain = device.empty((kinds.numbers, n), real), tree.sources.order, int(kinds.charges)
        given = order, n, kinds.numbers, plain, np.float64(1), 1 / edge, 1
        kernels.launch("reorder", n, self._numbers, numbers, *given)
        fields = self._near(real).sums(tree.sources.places, numbers, tree.targets.places, *tree.near())
        self.nbytes = self._own
        if self.levels > 1:
            self._far(kernels, tree, table, numbers, fields, real)
        self.nbytes += tree.nbytes
        out, scales = device.empty((m, kinds.fields), np.float64), (1 / (4 * np.pi * edge), 1 / edge)
        kernels.launch("reorder", m, out, fields, tree.targets.order, m, kinds.fields, 1, *scales, 0)
        return np.asarray(device.to_host(out))

    def direct(self, targets: Array) -> Array:
        """(m, 1 or 4) fields at targets (m, 3), in double precision, by all pairs of points."""
        numbers = self.device.array(np.ascontiguousarray(self._given.T))
        return self._near(np.float64).all_pairs(self._sources, numbers, targets) / (4 * np.pi)

    def _near(self, real: Any) -> NearPoints:
        """Direct sums; points closer than TINY are one."""
        plain = self.kinds._replace(gradient=False)
        flops = OPERATIONS[plain] * (1 + self.kinds.gradient)
        return NearPoints(self.device, "fmm/device/pair.h", real, self.kinds, [TINY], flops)

    def _far(self, kernels: Kernels, tree: DeviceOctree, table: Any, numbers: Any, fields: Any, real: Any) -> None:
        """Add the fields of separated boxes, by all five passes."""
        device, kinds, leaves, size = self.device, self.kinds, tree.leaves.shape[0], (table.order.p + 1) ** 2
        require_device_memory(device, table.nbytes, "tables of translations", self.advice)
        passes = DevicePasses.on(tree, table)
        widest = max(kinds.numbers, kinds.fields) * size
        needed = real.itemsize * (2 * passes.boxes * table.rank + leaves * widest)
        require_device_memory(device, needed, "expansions of boxes", self.advice)
        self.nbytes += needed + table.nbytes
        # P2M: by the basis functions, then the combinations
        basis, groups = device.empty((leaves, widest), real), -(-leaves // TOGETHER)
        here = tree.boxes, tree.leaves, tree.sources.places, numbers, numbers.shape[1], basis
        kernels.launch("basis_moments", leaves * GROUP, *here)
        count_work(device, "basis_moments", float, lambda: float(size * self._shape[0] * (6 + 2 * kinds.numbers)))
        matrix = device.array(table.expand[kinds.rows, :size].reshape(-1, table.rank))
        moments, shape = passes.empty(1), (table.rank, kinds.numbers * size)
        given = matrix, *shape, tree.leaves, leaves, 1, basis, moments
        kernels.launch("multiply_leaves", groups * table.rank, *given)
        expansions = passes.run(moments, 1, False)
        # L2P
        matrix = device.array(table.expand[: kinds.fields, :size].transpose(2, 0, 1).reshape(table.rank, -1))
        shape = kinds.fields * size, table.rank
        given = matrix, *shape, tree.leaves, leaves, 0, expansions, basis
        kernels.launch("multiply_leaves", groups * shape[0], *given)
        there = tree.boxes, tree.leaves, tree.targets.places, fields.shape[1], basis, fields
        kernels.launch("add_expansions", leaves * GROUP, *there)
        count_work(device, "add_expansions", float, lambda: float(size * self._shape[1] * (6 + 2 * kinds.fields)))
        products = 2.0 * leaves * table.rank * size * (kinds.numbers + kinds.fields)
        count_work(device, "multiply_leaves", float, lambda: products)
