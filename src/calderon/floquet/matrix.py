"""The matrix of the tangential electric field of a periodic sheet, as a sum over Floquet waves.

  Z_ij = -<f_i, E_j> = 1/A sum over K of F_i(K)^* [V^e u u + V^h v v] F_j(K),      K = k_t + m b,

with the area A of the cell, the transforms F of the functions, u along K and v across it. What V has at large K, which
`near` or `thin` sum in space, is taken out, and waves beyond the length at which the rest is small are left out. At
k_t = 0 the wave -K adds the conjugate of what K adds, so half of the waves are enough.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from calderon.floquet.functions import BlochFunctions
from calderon.floquet.voltages import voltages
from calderon.layers import Sections

THINNEST = 1e-7
"""Thinnest layer, as a fraction of the spacing of cells, whose images are accurate enough to cancel the source."""
Floats = NDArray[np.float64]


class Plane(NamedTuple):
    """Metal at one height. members (n,): its functions."""

    z: float
    members: NDArray[np.int64]


class SlowPart(Protocol):
    """The part that is summed in space: its spectra (n,) of G_xx and K in m between two planes, by their numbers,
    and its matrix -<f_i, E> of all whole and half functions, for eta0 = 1."""

    def spectrum(self, a: int, b: int, k: Floats) -> tuple[NDArray[Any], NDArray[Any]]: ...

    def matrix(self, transverse: Floats) -> NDArray[Any]: ...


def directions(waves: Floats) -> Floats:
    """(n, 2) unit vectors along the waves K (n, 2), along x for K = 0."""
    length = np.linalg.norm(waves, axis=1, keepdims=True)
    return np.divide(waves, length, out=np.tile([1.0, 0.0], (len(waves), 1)), where=length > 0)


def cell_matrix(
    functions: BlochFunctions,
    planes: Sequence[Plane],
    sections: Sections,
    slow: SlowPart,
    transverse: Floats,
    rtol: float,
) -> NDArray[np.complex128]:
    """Z (n, n) in m^2 for the wave k_t = transverse (2,) in 1/m, with eta0 = 1; rtol: of spectra that are left out."""
    # waves up to the order where spectra without the slow part are small; half of them where K and -K both occur
    combination = functions.combination(transverse)
    total = np.zeros((functions.dimension, functions.dimension), dtype=complex)
    rest = _Rest(planes, sections, slow)
    limit = _limit(functions, rest, rtol)
    orders = functions.lattice.orders(transverse, limit)
    half = not np.any(transverse)
    if half:
        orders = orders[(orders[:, 0] > 0) | ((orders[:, 0] == 0) & (orders[:, 1] >= 0))]
    waves = transverse + orders @ functions.lattice.reciprocal
    share = np.where(half & orders.any(axis=1), 2.0, 1.0) / functions.lattice.area
    # spectra between all planes, then sums over blocks of waves, TM and TE
    size, numbers = np.linalg.norm(waves, axis=1), range(len(planes))
    spectra = [[share * rest.spectrum(a, b, size)[1] for b in numbers] for a in numbers]
    along = directions(waves)
    for begin in range(0, len(waves), 512):  # some waves at a time
        part = slice(begin, begin + 512)
        for line, field in enumerate(functions.spectra(waves[part], along[part], transverse)):
            for i, a in enumerate(planes):
                for j, b in enumerate(planes):
                    values = spectra[i][j][line, part]
                    block = _half_sum if half else _sum
                    total[np.ix_(a.members, b.members)] += block(field[:, a.members], values, field[:, b.members])
    return total + combination.conj().T @ (slow.matrix(transverse) @ combination)


def _sum(left: NDArray, values: NDArray, right: NDArray) -> NDArray:
    return np.asarray(left.conj().T @ (values[:, None] * right))


def _half_sum(left: NDArray, values: NDArray, right: NDArray) -> NDArray:
    """Half of the sum over K and -K of left, values and right: products of real matrices, two only where waves are not
    evanescent."""
    first, second = (np.concatenate([each.real, each.imag]) for each in (left, right))
    weights = np.concatenate([values, values])[:, None]
    total = 1j * (first.T @ (weights.imag * second))
    some = np.abs(weights[:, 0].real) > 1e-15 * np.abs(weights[:, 0].imag)
    return np.asarray(total + first[some].T @ (weights[some].real * second[some]))


class _Rest(NamedTuple):
    """The rest of voltages without the slow part."""

    planes: Sequence[Plane]
    sections: Sections
    slow: SlowPart

    def spectrum(self, a: int, b: int, k: Floats) -> tuple[NDArray[Any], NDArray[Any]]:
        """(2, n) V^h = -i k0 G_xx and V^e = V^h + i k^2 K / k0, TM first, of all and of the rest."""
        whole, k0 = voltages(self.sections, k, self.planes[a].z, self.planes[b].z), self.sections.k0
        vector, charge = self.slow.spectrum(a, b, k)
        return whole, whole - np.stack([-1j * k0 * vector + 1j * k**2 * charge / k0, -1j * k0 * vector])


def _limit(functions: BlochFunctions, rest: _Rest, rtol: float) -> float:
    """The wavenumber in 1/m beyond which what is summed is below rtol of all."""
    unit, numbers = 2 * np.pi / functions.lattice.spacing, range(len(rest.planes))
    k = unit * np.geomspace(1.0, 400, 160)  # up to 400 orders along one period
    parts = [[rest.spectrum(a, b, k) for b in numbers] for a in numbers]
    size = [np.abs(parts[a][a][0]) for a in numbers]
    left = [np.abs(parts[a][b][1]) / np.sqrt(size[a] * size[b]) for a in numbers for b in numbers]
    above = np.flatnonzero(np.max(left, axis=(0, 1)) > rtol)
    last = above[-1] + 1 if len(above) else 0
    count = k[min(last, len(k) - 1)] ** 2 * functions.lattice.area / (4 * np.pi)
    if last == len(k) or count > 400_000:
        raise ValueError(
            f"more than 400000 Floquet waves count: use a larger rtol than {rtol:g}, periods that differ less, and "
            f"layers and gaps next to the metal thicker than {THINNEST * functions.lattice.spacing:.2g} m, which is "
            f"{THINNEST:g} of the spacing of cells"
        )
    return float(k[last])
