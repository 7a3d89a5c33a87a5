"""Entries of functions on planar metal that a device computes where products read them (near.c)."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends import Device, Kernels, count_work, require_device_memory
from calderon.backends.devices.device_matrix import pairs, vector_type
from calderon.fft.grid import Grid
from calderon.galerkin.layered.device import PAIR, records_of, tables_of
from calderon.galerkin.layered.matrix import LayeredMatrix
from calderon.layers.tables import DEGREE
from calderon.products.device.tables import indices

GROUP = 64
"""Threads of a group."""
ENTRY = 20
"""Bytes of a near entry on a device: its value in double precision and its column."""
LARGE = "a pre-corrected FFT operator", "use a larger spacing, a smaller near, or backend='numba'"
"""Words of refusals: an object that needs memory, and advice."""
Index = NDArray[np.int64]


class EntriesThere(NamedTuple):
    """A sparse matrix on a device: starts of rows and columns in 32 bits, values (nnz, 2), and its shape."""

    device: Device
    starts: Any
    columns: Any
    values: Any
    nnz: int
    shape: tuple[int, int]

    @staticmethod
    def of(device: Device, entries: sp.csr_array) -> "EntriesThere":
        """A matrix of the host, sent."""
        table = indices(device, entries.indptr), indices(device, entries.indices)
        return EntriesThere(device, *table, device.array(pairs(entries.data, vector_type(device))), entries.nnz,
                            entries.shape)  # fmt: skip

    @property
    def arrays(self) -> tuple[Any, Any, Any]:
        """Starts, columns and values, as kernels read them."""
        return self.starts, self.columns, self.values

    @property
    def nbytes(self) -> int:
        """Bytes on the device."""
        return bytes_of_entries(self.nnz, self.shape[0])

    def to_host(self) -> sp.csr_array:
        """A copy in the memory of the processor."""
        starts, columns, values = (self.device.to_host(each) for each in self.arrays)
        return sp.csr_array((values[:, 0] + 1j * values[:, 1], columns, starts), self.shape)


def bytes_of_entries(count: int, rows: int) -> int:
    """Bytes of a sparse matrix with so many entries and rows on a device."""
    return ENTRY * count + 4 * rows


class DeviceNear:
    """Entries of pairs of functions on a device: factor times distant pairs of triangles, and special entries.

    special: of touching and near pairs of triangles, and what is added to the matrix; symmetric. greens (planes,
    planes, 2, nx, ny): Green's functions between nodes of the grid; factors (2,): of currents and of charges there.
    """

    def __init__(
        self, device: Device, matrix: LayeredMatrix, factor: complex, special: sp.csr_array, grid: Grid,
        greens: NDArray[np.complex128], factors: NDArray[np.complex128],
    ) -> None:  # fmt: skip
        self.device, self.real, metal = device, vector_type(device), matrix.metal
        points, weights = matrix.rule
        given = device, "fft/near.c", self.real, GROUP, PAIR.defines
        self._kernels = Kernels.of(*given, POINTS=len(weights), TERMS=DEGREE + 1)
        # triangles, tables, and pairs of triangles that are in the special entries
        records = records_of(metal, points)
        integers, reals = tables_of(metal)
        carriers, coefficient = metal.space.carriers, factor * 1j * metal.sections.k0
        special.sort_indices()
        needed = records.size + reals[2].size + 2 * special.nnz + grid.weights.size + 2 * greens.size
        require_device_memory(device, needed * self.real.itemsize, *LARGE)
        self.size, self.points, self.order = metal.space.dimension, len(weights), grid.order + 1
        self._arguments = (
            self._sent(records), indices(device, metal.flat.heights), indices(device, integers[0]),
            self._sent(reals[0]), *(indices(device, each) for each in integers[1:]), self._sent(reals[1]),
            self._sent(reals[2]), self._sent(weights), self._listed(matrix.special),
            self._sent(np.array([coefficient.real, coefficient.imag, metal.charge])), len(metal.heights),
            indices(device, carriers.start), indices(device, 3 * carriers.rows + carriers.locals),
            self._listed(special), self._sent(special.data.view(float)), self.size,
            indices(device, np.column_stack([grid.first, grid.plane])), self._sent(grid.weights),
            self._sent(greens.view(float)), self._sent(factors.view(float)), len(greens), *grid.shape,
        )  # fmt: skip

    def _sent(self, numbers: NDArray[np.float64]) -> Any:
        return self.device.array(np.ascontiguousarray(numbers, self.real))

    def _listed(self, table: sp.csr_array) -> Any:
        """The columns of each row of a sparse matrix, as listed.h has them."""
        return indices(self.device, np.concatenate([table.indptr + len(table.indptr), table.indices]))

    def entries(self, pattern: sp.csr_array) -> EntriesThere:
        """The entries of a pattern of all functions, less what the grid gives of them."""
        starts, columns = indices(self.device, pattern.indptr), indices(self.device, pattern.indices)
        values = self._values(np.arange(self.size), starts, columns, pattern.nnz, self.order)
        return EntriesThere(self.device, starts, columns, values, pattern.nnz, pattern.shape)

    def rows(self, functions: Index) -> NDArray[np.complex128]:
        """(m, functions) rows of the matrix, on the host."""
        count = len(functions) * self.size
        starts = indices(self.device, self.size * np.arange(len(functions) + 1))
        columns = indices(self.device, np.tile(np.arange(self.size, dtype=np.int32), len(functions)))
        values = self.device.to_host(self._values(functions, starts, columns, count, 0))
        return np.asarray(values.astype(float).view(complex).reshape(len(functions), self.size))

    def _values(self, tests: Index, starts: Any, columns: Any, count: int, order: int) -> Any:
        require_device_memory(self.device, 2 * count * self.real.itemsize, *LARGE)
        out = self.device.empty((count, 2), self.real)
        count_work(self.device, "entries", lambda: 4 * count * self.points**2)
        given = indices(self.device, tests), starts, len(tests), columns, count, out
        self._kernels.launch("entries", count, *self._arguments, order, *given)
        return out
