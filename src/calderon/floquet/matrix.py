"""The matrix of the tangential electric field of a periodic sheet, as a sum over Floquet waves.

  Z_ij = -<f_i, E_j> = 1/A sum over K of F_i(K)^* [V^e u u + V^h v v] F_j(K),      K = k_t + m b,

with the area A of the cell, the transforms F of the functions, u along K and v across it. Between functions in one
plane the tail of V at large K, which `near` sums in space, is taken out, and waves beyond the length at which the rest
is small are left out. At k_t = 0 the wave -K adds the conjugate of what K adds, so half of the waves are enough.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calderon.floquet.functions import BlochFunctions
from calderon.floquet.near import NearPart, Tail, tails
from calderon.floquet.voltages import voltages
from calderon.layers import Sections

BLOCK = 512
FARTHEST, MOST = 400, 400_000
"""Orders along one period, and waves, up to which sums are made."""
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Plane:
    """Metal at one height. members (n,): its functions."""

    z: float
    near: NearPart
    members: NDArray[np.int64]


def directions(waves: Floats) -> Floats:
    """(n, 2) unit vectors along the waves K (n, 2), along x for K = 0."""
    length = np.linalg.norm(waves, axis=1, keepdims=True)
    return np.divide(waves, length, out=np.tile([1.0, 0.0], (len(waves), 1)), where=length > 0)


def cell_matrix(
    functions: BlochFunctions, planes: Sequence[Plane], sections: Sections, transverse: Floats, rtol: float
) -> NDArray[np.complex128]:
    """Z (n, n) in m^2 for the wave k_t = transverse (2,) in 1/m, with eta0 = 1; rtol: of spectra that are left out."""
    combination = functions.combination(transverse)
    total = np.zeros((functions.dimension, functions.dimension), dtype=complex)
    limit = _limit(functions, planes, sections, rtol)
    orders = functions.lattice.orders(transverse, limit)
    half = not np.any(transverse)
    if half:
        orders = orders[(orders[:, 0] > 0) | ((orders[:, 0] == 0) & (orders[:, 1] >= 0))]
    waves = transverse + orders @ functions.lattice.reciprocal
    share = np.where(half & orders.any(axis=1), 2.0, 1.0) / functions.lattice.area
    spectra = [[share * _spectrum(sections, a, b, np.linalg.norm(waves, axis=1)) for b in planes] for a in planes]
    along = directions(waves)
    for begin in range(0, len(waves), BLOCK):
        part = slice(begin, begin + BLOCK)
        for line, field in enumerate(functions.spectra(waves[part], along[part], transverse)):
            for i, a in enumerate(planes):
                for j, b in enumerate(planes):
                    values = spectra[i][j][line, part]
                    block = _half_sum if half else _sum
                    total[np.ix_(a.members, b.members)] += block(field[:, a.members], values, field[:, b.members])
    for plane in planes:
        own = combination[plane.near.own][:, plane.members]
        near = plane.near.matrix(sections.k0, tails(sections, plane.z), transverse)
        total[np.ix_(plane.members, plane.members)] += own.conj().T @ (near @ own)
    return total


def _sum(left: NDArray, values: NDArray, right: NDArray) -> NDArray:
    return np.asarray(left.conj().T @ (values[:, None] * right))


def _half_sum(left: NDArray, values: NDArray, right: NDArray) -> NDArray:
    """The same of both K and -K, half of it: products of real matrices, two only where waves are not evanescent."""
    first, second = (np.concatenate([each.real, each.imag]) for each in (left, right))
    weights = np.concatenate([values, values])[:, None]
    total = 1j * (first.T @ (weights.imag * second))
    some = np.abs(weights[:, 0].real) > 1e-15 * np.abs(weights[:, 0].imag)
    return np.asarray(total + first[some].T @ (weights[some].real * second[some]))


def _spectrum(sections: Sections, a: Plane, b: Plane, k: Floats) -> NDArray[np.complex128]:
    """(2, n) V^e and V^h between two planes, without its tail within one."""
    values = voltages(sections, k, a.z, b.z)
    return values - _tail(sections, a, k) if a is b else values


def _tail(sections: Sections, plane: Plane, k: Floats) -> NDArray[np.complex128]:
    """(2, n) of V^e and V^h = -i k0 G_xx, V^e = V^h + i k^2 K / k0."""
    each: tuple[Tail, Tail] = tails(sections, plane.z)
    vector, charge = (one.spectrum(plane.near.decays, k) for one in each)
    across = -1j * sections.k0 * vector
    return np.stack([across + 1j * k**2 * charge / sections.k0, across])


def _limit(functions: BlochFunctions, planes: Sequence[Plane], sections: Sections, rtol: float) -> float:
    """The wavenumber in 1/m beyond which what is summed is below rtol of the tail."""
    unit = 2 * np.pi / functions.lattice.spacing
    k = unit * np.geomspace(1.0, FARTHEST, 160)
    size = [np.abs(_tail(sections, plane, k)) for plane in planes]
    rest = [
        np.abs(_spectrum(sections, a, b, k)) / np.sqrt(size[i] * size[j])
        for i, a in enumerate(planes)
        for j, b in enumerate(planes)
    ]
    above = np.flatnonzero(np.max(rest, axis=(0, 1)) > rtol)
    last = above[-1] + 1 if len(above) else 0
    count = k[min(last, len(k) - 1)] ** 2 * functions.lattice.area / (4 * np.pi)
    if last == len(k) or count > MOST:
        raise ValueError(
            "interfaces or planes of metal are so close to the metal that more than "
            f"{MOST} Floquet waves count: use a larger rtol than {rtol:g}, or leave out layers thinner than "
            f"{functions.lattice.spacing / FARTHEST:.2g} m"
        )
    return float(k[last])
