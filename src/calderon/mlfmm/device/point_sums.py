"""Sums over oscillating points on a device, in an octree of the processor (pair.h, product.py)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Device, require_device_memory
from calderon.mlfmm.device.product import DeviceFar, far_bytes
from calderon.mlfmm.far import Far
from calderon.products.device.near_points import NearPoints
from calderon.products.device.tables import indices
from calderon.products.device.vectors import zeros
from calderon.products.direct_sums import Kinds
from calderon.products.lists import Lists

Array = NDArray[np.float64]
OPERATIONS = 60
"""Operations of a pair of points, with charges or dipoles; both, and gradients, take about as many again each."""
ADVICE = "split the targets into parts, increase rtol, or choose backend='numba'"


class DeviceSums:
    """Direct sums and fields of waves at points on a device; places (n, 3) and (m, 3) in m, in the order of a tree."""

    def __init__(self, device: Device, sources: Array, targets: Array | None, k: complex, kinds: Kinds) -> None:
        """k: wavenumber; targets: None for the sources."""
        self.device, self.k, self.kinds = device, k, kinds
        both = [sources] if targets is None else [sources, targets]
        require_device_memory(device, sum(each.nbytes for each in both), "a sum over points", ADVICE)
        self.sources = device.array(sources)
        self.targets = self.sources if targets is None else device.array(targets)

    def _near(self, real: Any, tiny: float) -> NearPoints:
        """The direct sums, where points closer than the root of `tiny`, in m, are one."""
        scalars = self.k.real, self.k.imag / self.k.real, tiny
        flops = OPERATIONS * (self.kinds.charges + self.kinds.dipoles) * (1 + self.kinds.gradient)
        lossy = (("LOSSY", int(self.k.imag > 0)),)
        return NearPoints(self.device, "mlfmm/device/pair.h", real, self.kinds, scalars, flops, 2, lossy)

    def _sent(self, near: NearPoints, numbers: NDArray[Any]) -> Any:
        """Complex numbers (n, kinds) as rows on the device."""
        return self.device.array(np.ascontiguousarray(np.ascontiguousarray(numbers, complex).view(float).T, near.real))

    def direct(self, targets: Array, numbers: NDArray[Any], real: Any, tiny: float) -> NDArray[np.complex128]:
        """(m, columns, 1 or 4) fields at targets (m, 3), times 4 pi, of numbers (n, columns, kinds), by all pairs of
        points."""
        near = self._near(real, tiny)
        found = [
            near.all_pairs(self.sources, self._sent(near, numbers[:, n]), targets) for n in range(numbers.shape[1])
        ]
        return np.ascontiguousarray(np.stack(found, axis=1)).view(complex)

    def near(self, lists: Lists, starts: tuple[Any, Any], numbers: NDArray[Any], real: Any, tiny: float) -> Any:
        """(m, columns, 1 or 4) fields of neighbouring leaves, times 4 pi; starts (leaves + 1,): of sources, of
        targets."""
        near, (first, ends) = self._near(real, tiny), starts
        runs = np.stack([first[lists.near], first[lists.near + 1]], axis=1)
        tasks = np.stack([ends[:-1], ends[1:], lists.near_start[:-1], lists.near_start[1:]], axis=1)
        given = indices(self.device, runs), indices(self.device, tasks)
        found = []
        for n in range(numbers.shape[1]):
            fields = near.sums(self.sources, self._sent(near, numbers[:, n]), self.targets, *given)
            found.append(np.ascontiguousarray(self.device.to_host(fields).T, float).view(complex))
        return np.stack(found, axis=1)


class DevicePointFar:
    """A far field between points on a device."""

    def __init__(self, device: Device, far: Far, together: int) -> None:
        """together: columns at most that pass the tree at once."""
        require_device_memory(device, far_bytes(far, together), "a sum by plane waves", ADVICE)
        self.device, self.far = device, DeviceFar(device, far)
        self.real, self.points = far.traversal.real, int(far.targets.starts[-1])

    def product(self, x: NDArray[Any]) -> NDArray[Any]:
        """Fields (targets, columns, components) of charges (sources, columns, components)."""
        kind = np.result_type(self.real, np.complex64)
        shape = self.points, x.shape[1], self.far.sides[1].components
        fields = zeros(self.device, (*shape, 2), self.real)
        charges = self.device.array(np.ascontiguousarray(x, kind).view(self.real))
        self.far.store_fields(charges, fields, x.shape[1])
        return self.device.to_host(fields).reshape(*shape[:2], -1).view(kind)
