"""Green's functions between nodes of grids, and their Fourier transforms."""

from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from calderon.fft.grid import Grid
from calderon.galerkin.layered.metal import LayeredMetal


def node_greens(metal: LayeredMetal, grid: Grid) -> NDArray[np.complex128]:
    """(planes, planes, 2, nx, ny) G_xx and K in 1/m at the offsets (i, j) of nodes; at offset 0 those of half a
    spacing: pairs that have them are near ones, whose grid part is subtracted again."""
    nx, ny = grid.shape
    squares = np.arange(nx)[:, None] ** 2 + np.arange(ny)[None] ** 2
    unique, place = np.unique(squares, return_inverse=True)
    distance = np.sqrt(np.maximum(unique, 0.25)) * grid.spacing
    planes = len(metal.heights)
    out = np.empty((planes, planes, 2, nx, ny), dtype=complex)
    for (a, b), table in zip(metal.pairs, metal.tables, strict=True):
        values = np.stack(table(distance))[:, place.reshape(nx, ny)]
        out[a, b] = out[b, a] = values
    return out


def transformed(greens: NDArray[np.complex128], dtype: Any, workers: int) -> NDArray[Any]:
    """Spectra (planes, planes, 2, Nx, Ny) of the even continuation to periodic grids, so large that nothing wraps."""
    nx, ny = greens.shape[-2:]
    size = [scipy.fft.next_fast_len(2 * n - 1, real=True) for n in (nx, ny)]  # 2^a 3^b 5^c, as devices transform
    out = np.empty((*greens.shape[:3], *size), dtype=dtype)
    periodic = np.zeros(size, dtype=complex)
    for index in np.ndindex(*greens.shape[:3]):
        part = greens[index]
        periodic[:] = 0
        periodic[:nx, :ny] = part
        periodic[size[0] - nx + 1 :, :ny] = part[:0:-1]
        periodic[:, size[1] - ny + 1 :] = periodic[:, ny - 1 : 0 : -1]
        out[index] = scipy.fft.fft2(periodic, workers=workers)
    return out
