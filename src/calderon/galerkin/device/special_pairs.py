"""Touching and near pairs of triangles, integrated on a device, where their local matrices stay as a list."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Device, Execution, Source
from calderon.galerkin.bilinear_form import BilinearForm
from calderon.galerkin.device.block import DeviceBlock
from calderon.galerkin.device.local_matrices import SMALL_GROUP
from calderon.galerkin.limits import resolved_triangles
from calderon.galerkin.rows.pair_matrix import neighbours
from calderon.galerkin.rows.special_pairs import FoundPairs, SpecialPairs

TOGETHER = 1 << 18
"""Pairs whose moments are on the device at a time."""


class DeviceSpecialPairs(DeviceBlock, SpecialPairs):
    """The touching and near pairs of a form between all its functions, by half where it is symmetric, and all that the
    kernel of pairs_in_blocks.c needs of the form.

    skips, pair_numbers: the pairs by test triangle, as that kernel reads them; local, local_i: real and imaginary local
    matrices in layers (layers, size, trial triangles), of the first `specials` pairs. program: that kernel.
    """

    @staticmethod
    def on(
        device: Device, form: BilinearForm, execution: Execution, found: FoundPairs | None, factor: complex, dtype: Any
    ) -> "DeviceSpecialPairs":
        """The pairs of factor * form on a device, entries of which have this type; found: a search that is taken if it
        fits. NotImplementedError for a form that has no header for devices."""
        resolved_triangles(form.green, form.test, form.trial)
        block: Any = form.block
        kind = type(f"{block.__name__}OnDevice", (DeviceSpecialPairs, block), {"found": found})
        out = np.broadcast_to(np.zeros((), dtype), form.shape)
        given = form.green, form.integrand, form.test, form.trial, factor, None, None, form.quadrature
        made: DeviceSpecialPairs = kind(device, out, *given, execution.real, form.is_symmetric)
        return made

    def _sources(self, real: str, moment: str, stored: str) -> tuple[Source, Source, Source]:
        """The sources of all pairs of blocks, of the moments of touching and near pairs, and of the kernel that makes
        local matrices of these."""
        tile, moments, placing = super()._sources(real, moment, stored)
        listed = replace(placing, defines=(*placing.defines, ("LISTED", 1)))
        return replace(tile, path="galerkin/device/pairs_in_blocks.c"), moments, listed

    def _form_data(self) -> Any:
        """Nothing: local matrices are made on the device."""
        return ()

    @property
    def program(self) -> Any:
        """The kernel of pairs_in_blocks.c."""
        return self.regular

    def _prepare(self) -> None:
        """Send both sides, find the pairs, and integrate them there; those in parts are put together here, and close
        ones integrated."""
        self._sides()
        self._tables = []
        batches, _ = self._special_pairs()
        close = [batch for batch in batches if batch.close is not None]
        orders, pieces = self._with_close(self._united([each for each in batches if each.parts is not None]), close)
        whole = [batch for batch in batches if batch.parts is None and batch.close is None]
        triangles = np.concatenate([self.triangles(whole), orders[:, :2], self.idle])
        self.specials = len(triangles) - len(self.idle)
        self._make_list(triangles)
        # local matrices, some pairs at a time
        first = 0
        for batch in whole:
            for low in range(0, len(batch.rules), TOGETHER):
                part = batch.part(slice(low, low + TOGETHER))
                moments = self._device_moments(part, self.test_surface, self.trial_surface)
                self._place(self._orders(part.pairs), *moments, first)
                first += len(part.rules)
        if len(orders):
            self._place(orders, *(self.device.array(part) for part in pieces), first)
        self._tables.clear()

    def _make_list(self, triangles: NDArray[np.int32]) -> None:
        """List the pairs (n, 2) by test triangle, and make room for local matrices."""
        counts = len(self.test.triangles), len(self.trial.triangles)
        around = neighbours(triangles[:, 0], triangles[:, 1], counts, self.half)
        starts = around.starts + np.int32(len(around.starts))
        self.skips = self.device.array(np.concatenate([starts, around.triangles]))
        self.pair_numbers = self.device.array(around.pairs)
        layers = max(1, -(-self.specials // max(1, counts[1])))
        room = (layers, *self.local_shape, max(1, counts[1]))
        self._require_memory(
            int(np.prod(room)) * self.stored.itemsize * (1 + self.is_complex), "touching and near pairs of triangles"
        )
        self.local = self.device.empty(room, self.stored)
        self.local_i = self.device.empty(room if self.is_complex else (1,), self.stored)

    def _place(self, orders: NDArray[np.int32], moments: Any, moments_i: Any, lo: int) -> None:
        """Make local matrices of pairs with these orders (n, 2 + A + B) and moments, the first of which is number `lo`
        of all."""
        self.device.launch(
            self.placing, "place", (len(orders),), (SMALL_GROUP,), self.device.array(orders), moments, moments_i,
            *self.near_data, len(orders), lo, len(self.trial.triangles), self.local_shape[0], 0, self.local,
            self.local_i,
        )  # fmt: skip

    def integrate(self, groups: int, given: tuple[Any, ...], out: Any, out_i: Any) -> None:  # type: ignore[override]
        """Queue the local matrices of all pairs of strips, in so many groups of threads; given: the strips, how many,
        and triangles of rows and columns."""
        self.device.launch(
            self.program, "pairs_in_blocks", (groups * SMALL_GROUP,), (SMALL_GROUP,), self.test_points, self.tables[0],
            self.test_data, self.trial_points, self.tables[1], self.trial_data, self.scalars, self.device_coefficients,
            len(self.trial.triangles), self.local_shape[0], *given, self.skips, self.pair_numbers, self.local,
            self.local_i, self.specials, out, out_i,
        )  # fmt: skip
