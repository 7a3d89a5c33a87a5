"""The part of the interaction that decays slowly with the wavenumber, summed in space instead.

At large k the spectra of G_xx and K of metal between two media are c / (2 k) (1 + q^2 / (2 k^2)) up to k^-5, with

  G_xx: c = 2 / s,            q^2 = k0^2 (eps_1 + eps_2) / s,                                s = 1 / mu_1 + 1 / mu_2,
  K:    c = 2 / e,            q^2 = 2 k0^2 (e / s - (eps_1^2 mu_1 + eps_2^2 mu_2) / (2 e)),     e = eps_1 + eps_2.

Two functions exp(-w r) / (4 pi r), whose spectra are 1 / (2 sqrt(k^2 + w^2)), have the same two terms with the weights
a_1 + a_2 = 1, a_1 w_1^2 + a_2 w_2^2 = -q^2. They vanish two cells away, and touching pairs are integrated exactly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import require_memory
from calderon.floquet.functions import BlochFunctions
from calderon.floquet.lattice import Lattice
from calderon.greens import ModifiedHelmholtz
from calderon.layers import Sections
from calderon.mesh import TriangleMesh
from calderon.operators import single_layer
from calderon.spaces import DP1

Floats = NDArray[np.float64]


class Tail(NamedTuple):
    """The asymptotic form of G_xx or K at large k: c / (2 k), and q^2 in 1/m^2."""

    factor: complex
    square: complex

    def weights(self, decays: Floats) -> NDArray[np.complex128]:
        """(2,) of exp(-w r) / (4 pi r), the factor c included."""
        second = -(self.square + decays[0] ** 2) / (decays[1] ** 2 - decays[0] ** 2)
        return self.factor * np.array([1 - second, second])

    def spectrum(self, decays: Floats, k: Floats) -> NDArray[np.complex128]:
        """Spectrum of the weighted sum, in m, at k (n,)."""
        return self.weights(decays) @ (0.5 / np.sqrt(k**2 + decays[:, None] ** 2))


def tails(sections: Sections, z: float) -> tuple[Tail, Tail]:
    """The tails of G_xx and of K for sources and observers at the height z."""
    media = sections.layer_of(z, "below"), sections.layer_of(z)
    eps, mu = sections.eps[list(media)], sections.mu[list(media)]
    s, e, square = np.sum(1 / mu), np.sum(eps), sections.k0**2
    return (
        Tail(2 / s, square * e / s),
        Tail(2 / e, 2 * square * (e / s - np.sum(eps**2 * mu) / (2 * e))),
    )


@dataclass(frozen=True, eq=False)
class NearPart:
    """int int f_i . f_j exp(-w r) / (4 pi r) and the same of divergences, of the cell and its `copies`.

    own (n,): the whole and half functions of the mesh in one plane. vectors (m^3), charges (m): (decays, shifts, n, n).
    """

    shifts: Floats
    own: NDArray[np.int64]
    decays: Floats
    vectors: Floats
    charges: Floats

    @staticmethod
    def of(functions: BlochFunctions, level: NDArray[np.bool_]) -> "NearPart":
        """The near part of the metal on the triangles (nt,) of one plane."""
        halves, steps = functions.halves, np.array([(0, 0), *functions.copies])
        own = np.flatnonzero(level[halves.pairs[:, 0]])
        require_memory(64 * len(steps) * len(own) ** 2, f"near parts of {len(own)} functions", "use a coarser mesh")
        decays, copies = decays_of(functions.lattice), repeated(functions, level)
        corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
        rows = np.repeat(level[halves.support], 3)
        fields = [each[rows][:, own] for each in halves.expansion(corners)[:2]]
        charge = halves.divergence_matrix()[np.repeat(np.flatnonzero(level[halves.support]), 3)][:, own]
        home, vectors, charges = DP1(copies, tags=0), [], []
        for decay in decays:
            for number in range(len(steps)):
                layer = single_layer(ModifiedHelmholtz(float(decay)), DP1(copies, tags=number), home)
                matrix = layer.entries(slice(None), slice(None))
                vectors.append(sum(each.T @ (matrix @ each) for each in fields))
                charges.append(charge.T @ (matrix @ charge))
        shape = len(decays), len(steps), len(own), len(own)
        parts = [np.reshape(each, shape) for each in (vectors, charges)]
        for part in parts:  # rules of near pairs are not those of the pair in the other order: to no loss of energy
            part[:, 0] = 0.5 * (part[:, 0] + part[:, 0].swapaxes(1, 2))
        return NearPart(steps[1:] @ functions.lattice.periods, own, decays, *parts)

    def matrix(self, k0: float, tail: tuple[Tail, Tail], transverse: Floats) -> NDArray[np.complex128]:
        """(n, n) -<f_i, E> of the currents f_j with the phase k_t, for tails of G_xx and K; eta0 = 1."""
        phase, odd = self.shifts @ transverse, bool(np.any(transverse))
        total = np.zeros((len(self.own), len(self.own)), dtype=complex)
        for each, factor, parts in zip(tail, (-1j * k0, 1j / k0), (self.vectors, self.charges), strict=True):
            for weight, part in zip(factor * each.weights(self.decays), parts, strict=True):
                total += weight * phased(part, phase, odd)
        return total


@dataclass(frozen=True, eq=False)
class PlaneParts:
    """The tails of all planes of metal at one frequency: there are none between two of them."""

    near: Sequence[NearPart]
    heights: Sequence[float]
    sections: Sections

    def spectrum(self, a: int, b: int, k: Floats) -> tuple[NDArray[Any], NDArray[Any]]:
        """(n,) of G_xx and K in m between the planes a and b, at wavenumbers k (n,)."""
        if a != b:
            return np.zeros(len(k)), np.zeros(len(k))
        vector, charge = (each.spectrum(self.near[a].decays, k) for each in tails(self.sections, self.heights[a]))
        return vector, charge

    def matrix(self, transverse: Floats) -> NDArray[np.complex128]:
        """(n, n) -<f_i, E> of the currents f_j with the phase k_t, of all whole and half functions; eta0 = 1."""
        count = sum(len(each.own) for each in self.near)
        total = np.zeros((count, count), complex)
        for each, z in zip(self.near, self.heights, strict=True):
            total[np.ix_(each.own, each.own)] = each.matrix(self.sections.k0, tails(self.sections, z), transverse)
        return total


def decays_of(lattice: Lattice) -> Floats:
    """w_1 and w_2 in 1/m."""
    # what is left out beyond the next cells is below exp(-12)
    return np.array([1.0, 2.0]) * 12.0 / lattice.spacing


def phased(parts: NDArray[Any], phase: Floats, odd: bool) -> NDArray[Any]:
    """(n, n) sum of parts (1 + m, n, n): of a cell, and between it and copies with phases (m,), which stand for the
    opposite ones, too; odd: whether some phase is not zero."""
    even = np.tensordot(np.cos(phase), parts[1:], 1)
    total = parts[0] + even + even.T
    if odd:
        sines = np.tensordot(np.sin(phase), parts[1:], 1)
        total = total + 1j * (sines - sines.T)
    return np.asarray(total)


def repeated(functions: BlochFunctions, level: NDArray[np.bool_]) -> TriangleMesh:
    """The triangles of a level (tag 0), and those of each copy (tags 1, 2, ...), with common vertices."""
    mesh = functions.halves.mesh
    shifts = np.array([(0, 0), *functions.copies]) @ functions.lattice.periods
    vertices = np.concatenate([mesh.vertices + np.append(shift, 0.0) for shift in shifts])
    triangles = [mesh.triangles[level] + number * mesh.number_of_vertices for number in range(len(shifts))]
    tags = np.repeat(np.arange(len(shifts)), np.count_nonzero(level))
    return TriangleMesh(vertices, np.concatenate(triangles), tags).merged_vertices(1e-6 * functions.lattice.spacing)
