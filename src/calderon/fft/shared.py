"""Products by grids on several backends at once, which share the near entries."""

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends import Execution, at_the_same_time, balanced_share, runs_of_work
from calderon.fft.device import DeviceGrid
from calderon.fft.grid import Grid
from calderon.products.device.sums import DeviceSparse, DeviceSum

ENTRY = 20
"""Bytes of a near entry on a device."""
PASSES = 10
"""Times that a product reads or writes all waves: four transforms, the product with spectra, to and from nodes."""


class SharedGrid:
    """The products of a grid and of near entries by several backends.

    The first device has the grid and near entries, each further one near entries alone, and the processor, if it is one
    of the team, so many that it ends with the devices; it adds what all find.
    """

    def __init__(
        self, execution: Execution, grid: Grid, spectra: NDArray[Any], near: sp.csr_array, factors: NDArray[Any]
    ) -> None:
        """Share products among a team; further arguments: those of `DeviceGrid`."""
        self.grid, self.spectra, self.near, self.factors, self.shape = grid, spectra, near, factors, near.shape
        self._devices, self._uses_processor = execution.devices, execution.uses_processor
        x = np.ones(self.shape[1], complex)

        def products(share: float) -> list[Any]:
            return [partial(each.dot, x) for each in self._distributed(share)]

        share = balanced_share(products) if self._uses_processor else 0.0
        self.shares = self._distributed(share)
        execution.parts.append(self._work)

    def _distributed(self, share: float) -> list[Any]:
        """The matrices of the team, with this part of the near entries for the processor; all rows of each."""
        waves = 3 * len(self.spectra) * int(np.prod(self.spectra.shape[-2:])) * self.spectra.itemsize
        total, grid, count = float(self.near.nnz), PASSES * waves / ENTRY, len(self._devices)
        # devices have as many bytes to read each, as far as that is possible
        rest = (1 - share) * total
        first = max(0.0, (rest + grid) / count - grid) if count > 1 else rest
        others = [(rest - first) / max(1, count - 1)] * (count - 1)
        entries = np.array([*[share * total] * self._uses_processor, first, *others])
        runs = runs_of_work(np.diff(self.near.indptr).astype(float), list(entries / max(1.0, entries.sum())))
        near = [self._rows(*run) for run in runs]
        self._work = np.array([float(each.nnz) for each in near])
        self._work[int(self._uses_processor)] += grid
        own, given = near[: int(self._uses_processor)], near[int(self._uses_processor) :]
        there: list[Any] = [DeviceGrid(self._devices[0], self.grid, self.spectra, given[0], self.factors)]
        there += [DeviceSparse(*each) for each in zip(self._devices[1:], given[1:], strict=True)]
        return [*own, *(DeviceSum.alone(each, complex) for each in there)]

    def _rows(self, low: int, high: int) -> sp.csr_array:
        """The near entries of the rows low up to, without, high, in a matrix of all rows."""
        starts = np.clip(self.near.indptr, self.near.indptr[low], self.near.indptr[high]) - self.near.indptr[low]
        part = slice(self.near.indptr[low], self.near.indptr[high])
        return sp.csr_array((self.near.data[part], self.near.indices[part], starts), self.shape)

    def product(self, x: NDArray[Any]) -> NDArray[np.complex128]:
        """A x of one vector; A is symmetric."""
        vector = np.ascontiguousarray(x, complex).ravel()
        found, _ = at_the_same_time([partial(each.dot, vector) for each in self.shares])
        return np.asarray(sum(found[1:], found[0]), complex)
