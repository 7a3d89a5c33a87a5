"""Blocks of a Galerkin matrix computed on a device.

For a tile of test triangles, one strip, the device computes the local matrices with all trial triangles (tile.c),
touching and near pairs among them, which are integrated once for all tiles (special_pairs.py), and gathers them into
rows, which the host adds to the matrix (local_matrices.py).
"""

import numpy as np

from calderon.galerkin.block import Block
from calderon.galerkin.device.local_matrices import SMALL_GROUP, LocalMatrices
from calderon.galerkin.device.nodes import Nodes
from calderon.galerkin.device.special_pairs import DeviceSpecialPairs
from calderon.galerkin.regular.distant import Zones


class DeviceBlock(LocalMatrices, DeviceSpecialPairs):
    """One call of add_block on a device."""

    def _prepare(self) -> None:
        """Send both sides, find and integrate touching and near pairs, and make room for the local matrices of a
        tile."""
        zones, count = Zones.common([self]), (len(self.test.triangles), len(self.trial.triangles))
        numbers = Nodes.of(self, zones).record.length + self.device_form.numbers
        data, what = sum(count) * numbers * self.real.itemsize, f"the data of {sum(count)} triangles"
        self._require_memory(data, what)
        self._require_memory(data + self.tile_bytes(), f"{what} with local matrices of a tile")
        super()._prepare()
        self.ready_for_regular(zones)
        del self.there, self.found  # lists that their local matrices do not need
        self.lists = [self.device.array(np.arange(each, dtype=np.int32)) for each in count]
        self._make_room()

    def _integrate(self, lo: int, hi: int) -> None:
        """Compute the local matrices of the test triangles lo up to, without, hi with all trial triangles."""
        width = len(self.trial.triangles)
        strip = self.device.array(np.array([lo, hi - lo, 0, width, 0, 0, 0, 0], np.int32))  # strips.h
        pairs = (hi - lo) * (width - self.half * 0.5 * (lo + hi))
        self.integrate_strips(
            (hi - lo) * -(-width // SMALL_GROUP), (strip, 1, *self.lists), self.local, self.local_i,
            lambda: pairs * self.nodes.evaluations(self.zones, self.test_surface, self.trial_surface), self.half,
        )  # fmt: skip


def device_class(kind: type[Block]) -> type[DeviceBlock]:
    """The class that computes on a device what blocks of that kind compute on the processor."""
    return DeviceBlock if kind is Block else type(f"Device{kind.__name__}", (DeviceBlock, kind), {})
