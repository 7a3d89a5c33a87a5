"""Products by grids on a device, where weights, spectra, near entries and the vectors of `gmres` stay (device.c).

Weights and spectra are made by the processor and sent once; near entries may be made there (near.c).
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends import Device, Source, real_name, require_device_memory
from calderon.backends.devices.device_matrix import GROUP, pairs, vector_type
from calderon.backends.devices.fourier import DeviceFourier
from calderon.fft.device_near import LARGE, EntriesThere, bytes_of_entries
from calderon.fft.grid import Grid
from calderon.pairs.grouping import grouped
from calderon.products.device.sums import DeviceOperator
from calderon.products.device.tables import indices
from calderon.products.device.vectors import Vectors

WIDTH = 32
"""Threads that add what one function receives, from 48 values at nodes and some hundred near entries."""


class DeviceGrid(DeviceOperator):
    """The products of a grid and of near entries on a device.

    grid: nodes and weights of the functions; spectra (planes, planes, 2, Nx, Ny): transformed Green's functions; near:
    sparse symmetric entries less those of the grid, there or to be sent; factors (3,): of the components of the field.
    MemoryError before there is no room.
    """

    def __init__(
        self, device: Device, grid: Grid, spectra: NDArray[Any], near: sp.csr_array | EntriesThere,
        factors: NDArray[np.complex128],
    ) -> None:  # fmt: skip
        super().__init__(dtype=complex, shape=near.shape)
        self.device = device
        self.vector, self.real = vector_type(device), spectra.real.dtype
        self.nbytes = device_bytes(grid, spectra, near)
        held = near.nbytes if isinstance(near, EntriesThere) else 0
        require_device_memory(device, self.nbytes - held, *LARGE)
        # functions, their nodes and near entries
        self.planes, self.size, self.m = len(spectra), spectra.shape[-2:], grid.order + 1
        self.nx, self.ny = grid.shape
        self._waves = 3 * self.planes * self.size[0] * self.size[1]
        if self._waves > np.iinfo(np.int32).max:
            raise MemoryError(
                f"a pre-corrected FFT operator has {self._waves} numbers on its grids, kernels count to 2147483647: "
                "use a larger spacing, or backend='numba'"
            )
        self._weights = device.array(grid.weights.astype(self.vector))
        self._first, self._plane = indices(device, grid.first), indices(device, grid.plane)
        self._nodes = [indices(device, each) for each in functions_of_nodes(grid, self.planes)]
        self._factors = device.array(pairs(factors, self.vector))
        self._there = near if isinstance(near, EntriesThere) else EntriesThere.of(device, near)
        self._near = self._there.arrays
        # transforms, and spectra divided by the number of their nodes, which inverse transforms are to be
        scaled = spectra.ravel() / (self.size[0] * self.size[1])
        self._spectra = device.array(pairs(scaled, self.real))
        self._along = [DeviceFourier(device, self.real, length) for length in self.size]
        defines = (("VECTOR_REAL", real_name(self.vector)), ("GROUP_SIZE", WIDTH))
        self._program = device.build(Source("fft/device.c", real_name(self.real), defines))

    @property
    def near(self) -> sp.csr_array:
        """A copy of the near entries in the memory of the processor."""
        return self._there.to_host()

    def add(self, x: Vectors, y: Vectors, factor: complex, transposed: bool, conjugated: bool = False) -> None:
        """See `DeviceOperator`; A is symmetric, and vectors are complex always."""
        number, kind, sign = self.shape[0], self.vector.type, self.vector.type(-1.0 if conjugated else 1.0)
        fields = self._convolved(x.array, x.first, sign)
        scale = kind(np.real(factor)), kind(np.imag(factor))
        self.device.launch(
            self._program, "from_nodes", (number * WIDTH,), (WIDTH,), fields, self.nx, self.ny, self._first,
            self._plane, self._weights, self.m, self._factors, *self._near, x.array, x.first, sign, *scale,
            y.array, y.first,
        )  # fmt: skip

    def _convolved(self, x: Any, left: int, sign: np.floating) -> Any:
        """The fields (planes, 3, nx, ny) at the nodes: of currents by G_xx, of charges by K."""
        area, (rows, columns), components = self.nx * self.ny, self.size, 3 * self.planes
        work = self.device.empty((self._waves, 2), self.real), self.device.empty((self._waves, 2), self.real)
        nodes = self.planes * area
        given = *self._nodes, self._weights, self.m**2, x, left, sign, area, nodes, work[0]
        self.device.launch(self._program, "to_nodes", (nodes,), (GROUP,), *given)
        # rows of nodes, then columns; rows of zeros are not transformed
        waves = self._along[1].transform(work[0], work, components * self.nx, 1, self.ny, columns)
        waves = self._along[0].transform(waves, work, components, columns, self.nx, rows)
        other = work[1] if waves is work[0] else work[0]
        rest = self.planes, rows * columns, self._waves, other
        self.device.launch(self._program, "times_spectra", (self._waves,), (GROUP,), self._spectra, waves, *rest)
        waves = self._along[0].transform(other, work, components, columns, rows, self.nx, inverse=True)
        return self._along[1].transform(waves, work, components * self.nx, 1, columns, self.ny, inverse=True)


def functions_of_nodes(grid: Grid, planes: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """For each node (plane, i, j) of a grid the functions that have it: starts (nodes + 1,), and places n m^2 + m a + b
    of the functions n that have it as their node (a, b)."""
    m, (nx, ny) = grid.order + 1, grid.shape
    i = grid.first[:, 0, None] + np.repeat(np.arange(m), m)
    j = grid.first[:, 1, None] + np.tile(np.arange(m), m)
    node = ((grid.plane[:, None] * nx + i) * ny + j).ravel()
    return grouped(node, planes * nx * ny)


def device_bytes(grid: Grid, spectra: NDArray[Any], near: sp.csr_array | EntriesThere) -> int:
    """Bytes on a device of near entries, functions and spectra, and of the two arrays of waves of a product."""
    planes, functions, nodes = len(spectra), len(grid.plane), int(np.prod(grid.shape))
    sparse = bytes_of_entries(near.nnz, functions)
    places = 12 * functions + 4 * grid.weights.size // 3 + 4 * planes * nodes
    waves = 3 * planes * int(np.prod(spectra.shape[-2:])) * spectra.itemsize
    return int(sparse + grid.weights.nbytes + places + spectra.nbytes + 2 * waves)
