"""Products by grids on several backends at once, which share the near entries."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends import Execution, runs_of_work
from calderon.backends.devices.sharing import Distribution
from calderon.fft.device import DeviceGrid
from calderon.fft.device_near import ENTRY
from calderon.fft.grid import Grid
from calderon.products.device.sums import DeviceSparse
from calderon.products.shared import Shares

PASSES = 10
"""Times that a product reads or writes all waves: four transforms, the product with spectra, to and from nodes."""


def distributed(
    execution: Execution, grid: Grid, spectra: NDArray[Any], near: sp.csr_array, factors: NDArray[Any], shares: Shares
) -> Distribution:
    """The matrices of a team, for `SharedProduct`; further arguments: those of `DeviceGrid`.

    The first device has the grid and near entries, the others near entries alone; all rows of each.
    """
    nbytes = 3 * len(spectra) * int(np.prod(spectra.shape[-2:])) * spectra.itemsize
    waves, devices, first = PASSES * nbytes / ENTRY, execution.devices, int(execution.uses_processor)
    # entries and waves by shares, as far as that is possible
    entries = shares * (near.nnz + waves)
    entries[first] = max(entries[first] - waves, 1e-9 * near.nnz)
    runs = runs_of_work(np.diff(near.indptr).astype(float), (entries / max(entries.sum(), 1e-300)).tolist())
    work = np.array([float(near.indptr[high] - near.indptr[low]) for low, high in runs])
    work[first] += waves

    def make() -> list[Any]:
        parts = [_rows(near, *run) for run in runs]
        there = DeviceGrid(devices[0], grid, spectra, parts[first], factors)
        return [*parts[:first], there, *map(DeviceSparse, devices[1:], parts[first + 1 :])]

    return work, make


def _rows(near: sp.csr_array, low: int, high: int) -> sp.csr_array:
    """The near entries of the rows low up to, without, high, in a matrix of all rows."""
    starts = np.clip(near.indptr, near.indptr[low], near.indptr[high]) - near.indptr[low]
    part = slice(near.indptr[low], near.indptr[high])
    return sp.csr_array((near.data[part], near.indices[part], starts), near.shape)
