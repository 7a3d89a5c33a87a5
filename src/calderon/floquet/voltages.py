"""Voltages of the transmission lines of TM and TE waves, which are the transverse fields of Floquet waves."""

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import kernel
from calderon.layers import Sections
from calderon.layers.lines import line_functions


@kernel
def _voltages(k, sections, z, layer, source_z, source_layer, out):
    """Fill out (2, n) with V_i of the TM and the TE line at the wavenumbers k (n,), at the height z in `layer`, for
    unit sources at source_z in source_layer; sections: `Sections.data`."""
    for i in range(len(k)):
        values = line_functions(k[i], sections, z, layer, source_z, source_layer)
        out[0, i], out[1, i] = values[0], values[4]


def voltages(sections: Sections, k: NDArray[np.float64], z: float, source_z: float) -> NDArray[np.complex128]:
    """(2, n) V_i of the TM and the TE line at the horizontal wavenumbers k (n,) in 1/m, for unit sources at source_z.

    A surface current of spectrum J makes the transverse field -V_i J, along K (TM) and across it (TE), with eta0 = 1.
    """
    out = np.empty((2, len(k)), dtype=complex)
    _voltages(k.astype(complex), sections.data, z, sections.layer_of(z), source_z, sections.layer_of(source_z), out)
    return out


def admittances(sections: Sections, k: NDArray[np.float64], layer: int) -> NDArray[np.complex128]:
    """(2, n) wave admittances of TM and TE waves in a layer, those of vacuum are 1 at k = 0."""
    kz = np.sqrt(sections.k0**2 * sections.eps[layer] * sections.mu[layer] - k.astype(complex) ** 2)
    kz = np.where(kz.imag < 0, -kz, kz)
    return np.stack([sections.k0 * sections.eps[layer] / kz, kz / (sections.k0 * sections.mu[layer])])
