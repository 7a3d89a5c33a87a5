"""Products by grids on several backends at once, which share the near entries."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends import Execution, runs_of_work
from calderon.fft.device import DeviceGrid
from calderon.fft.grid import Grid
from calderon.products.device.sums import DeviceSparse
from calderon.products.shared import Distributed

ENTRY = 20
"""Bytes of a near entry on a device."""
PASSES = 10
"""Times that a product reads or writes all waves: four transforms, the product with spectra, to and from nodes."""


def distributed(
    execution: Execution, grid: Grid, spectra: NDArray[Any], near: sp.csr_array, factors: NDArray[Any],
    share: float | None,
) -> Distributed:  # fmt: skip
    """The matrices of a team, for `SharedProduct`; further arguments: those of `DeviceGrid`.

    The first device has the grid and near entries, each further one near entries alone, and the processor, if it is one
    of the team, this share of them; all rows of each.
    """
    nbytes = 3 * len(spectra) * int(np.prod(spectra.shape[-2:])) * spectra.itemsize
    total, waves, devices = float(near.nnz), PASSES * nbytes / ENTRY, execution.devices
    own, count = [] if share is None else [share * total], len(devices)
    # devices have as many bytes to read each, as far as that is possible
    rest = total - sum(own)
    first = max(0.0, (rest + waves) / count - waves) if count > 1 else rest
    others = [(rest - first) / max(1, count - 1)] * (count - 1)
    entries = np.array([*own, first, *others])
    runs = runs_of_work(np.diff(near.indptr).astype(float), list(entries / max(1.0, entries.sum())))
    parts = [_rows(near, *run) for run in runs]
    work = np.array([float(each.nnz) for each in parts])
    work[len(own)] += waves
    here, (one, *more) = parts[: len(own)], parts[len(own) :]
    there = DeviceGrid(devices[0], grid, spectra, one, factors)
    return [*here, there, *map(DeviceSparse, devices[1:], more)], work


def _rows(near: sp.csr_array, low: int, high: int) -> sp.csr_array:
    """The near entries of the rows low up to, without, high, in a matrix of all rows."""
    starts = np.clip(near.indptr, near.indptr[low], near.indptr[high]) - near.indptr[low]
    part = slice(near.indptr[low], near.indptr[high])
    return sp.csr_array((near.data[part], near.indices[part], starts), near.shape)
