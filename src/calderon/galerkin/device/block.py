"""Blocks of a Galerkin matrix computed on a device.

For a tile of test triangles the device computes the local matrices with all trial triangles (tile.c), replaces those of
touching and near pairs, which are integrated once for all tiles (special_pairs.py), and gathers them into rows, which
the host adds to the matrix (local_matrices.py).
"""

import math

import numpy as np
from numpy.typing import NDArray

from calderon.backends import count_work
from calderon.galerkin.block import Block
from calderon.galerkin.device.local_matrices import LocalMatrices
from calderon.galerkin.device.nodes import Nodes
from calderon.galerkin.device.special_pairs import DeviceSpecialPairs
from calderon.galerkin.regular.distant import Zones


class DeviceBlock(LocalMatrices, DeviceSpecialPairs):
    """One call of add_block on a device. starts (test triangles + 1,): how many touching and near pairs come before
    those of each test triangle."""

    regular_file = "galerkin/regular/tile.c"
    starts: NDArray[np.int64]

    def _prepare(self) -> None:
        """Send both sides, find and integrate touching and near pairs, and make room for the local matrices of a
        tile."""
        zones, triangles = Zones.common([self]), len(self.test.triangles) + len(self.trial.triangles)
        numbers = Nodes.of(self, zones).record.length + self.device_form.numbers
        self._require_memory(triangles * numbers * self.real.itemsize, f"the data of {triangles} triangles")
        super()._prepare()
        self.ready_for_regular(zones)
        self.starts = np.append(0, np.cumsum(self.there.kept, dtype=np.int64))
        del self.there, self.found  # lists that their local matrices do not need
        self._make_room()

    def _integrate(self, lo: int, hi: int) -> None:
        """Compute the local matrices of the test triangles lo up to, without, hi with all trial triangles: regular ones
        first, of which those of touching and near pairs are then replaced."""
        width = len(self.trial.triangles)
        self.regular_kernels.launch(
            "regular", (width, hi - lo), *self.sides, lo, width, self.local_shape[0], int(self.half), self.local,
            self.local_i,
        )  # fmt: skip
        pairs = (hi - lo) * (width - self.half * 0.5 * (lo + hi))
        surfaces = self.test_surface, self.trial_surface
        count_work(self.device, "regular", lambda: pairs * self.nodes.evaluations(self.zones, *surfaces))
        self.tile_kernels.launch(
            "replace", max(1, int(self.starts[hi] - self.starts[lo])), *self.pairs, *self.matrices, self.specials,
            math.prod(self.local_shape), int(self.half), lo, hi, width, self.local, self.local_i,
        )  # fmt: skip


def device_class(kind: type[Block]) -> type[DeviceBlock]:
    """The class that computes on a device what blocks of that kind compute on the processor."""
    return DeviceBlock if kind is Block else type(f"Device{kind.__name__}", (DeviceBlock, kind), {})
