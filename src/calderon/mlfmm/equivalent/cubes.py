"""Equivalent sources on cubes, where boxes are too small for plane waves.

The sources of a box are replaced by p points an edge on a cube around them, so that both have the same potential on a
second, larger cube, which no box that they act on overlaps; fields in a box come from sources on the larger cube with
the same potential on the smaller one (L. Ying, G. Biros, D. Zorin 2004). Both systems are solved by a truncated
singular value decomposition, whose two factors are applied one after the other: their product would lose three digits
in single precision. Potentials are exp(i k r) / r, or 4 pi G of any Green's function of the distance.

Sources on one cube are enough for solutions of the Helmholtz equation, whose fields outside of a cube are known from
their potentials on it. Other functions take two cubes, one of half the size inside of the smaller one and one of twice
the size around the larger one: a sum of five decays has an error of 2e-3 to 4e-1 with one, and of 6e-6 with two.

Currents are sums of scalars there. With G = exp(i k r) / (4 pi r), A(x) = sum_q G J_q and
phi = div A = -sum_q J_q.grad_y G,

    E = A + grad(phi) / k^2    (plane waves: (I - d d) J)        H = curl(A) / (i k)    (d x J),

so that the three components of A and phi are four sums of charges and dipoles, and fields are values and gradients.
Sources d x J, of transposed products, have A = (i / k) sum_q grad_y G x J_q, which has no divergence. Plane waves have
A alone, as its part along d has no field: where they pass to boxes with equivalent sources, phi is zero.
"""

import functools
import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from calderon.mlfmm.degrees import LIMITS, SampledLevel, Samples, Search, least, oscillation
from calderon.mlfmm.equivalent.cube_kernels import evaluated
from calderon.mlfmm.spectrum import Array


class EdgePoints(NamedTuple):
    """Points of an edge of a cube.

    least, most: that are tried. falls: factors by which errors become smaller with each point more, at least and at
    most. digits: that so many points hold, from `least` on, from which a search for them begins.
    """

    least: int = 3
    most: int = 12
    falls: tuple[float, float] = (4.0, 30.0)
    digits: tuple[float, ...] = (1.5, 3.3, 4.3, 5.2, 6.1, 6.8, 7.6)


EDGE = EdgePoints()
INNER = 0.525
"""Half of the edge of the smaller cube, in edges of the box; the larger one has 2 less it. Points that stick out of
their box by a quarter of its edge take one or two points of an edge more, with these cubes or wider ones."""
CUTOFF = 1e-13, 1e-6
"""Singular values that are left out, by the largest one: double and single precision."""
TURNS = np.array([
    np.diag(signs)[list(order)] for order in itertools.permutations(range(3))
    for signs in itertools.product((1, -1), repeat=3)
])  # fmt: skip
"""(48, 3, 3) matrices that map a cube onto itself."""
SUMS, WAVES = 4, 3
"""Scalar sums of a column, and those of them that plane waves have."""
PARTS = np.arange(4)
"""Parts of each sum: its value and three derivatives."""


class Factors(NamedTuple):
    """Two square matrices whose product, last @ first, takes potentials on one cube to sources on the other one."""

    first: NDArray[np.complex128]
    last: NDArray[np.complex128]


class Cubes(NamedTuple):
    """p points an edge; nested: how many cubes of each kind, each half as large as the last one, or twice."""

    p: int
    nested: int = 1

    @property
    def places(self) -> Array:
        """(size, 3) on a cube of half edge 1, and on those inside of it."""
        grid = np.arange(self.p) * 2 - (self.p - 1)  # exact, so that turned points are the same numbers
        points = np.array(list(itertools.product(grid, repeat=3)))
        outer = np.asarray(points[np.abs(points).max(axis=1) == self.p - 1] / (self.p - 1), np.float64)
        return np.concatenate([outer * 0.5**n for n in range(self.nested)])

    @property
    def size(self) -> int:
        """Points of all cubes of a kind."""
        return self.nested * (self.p**3 - max(0, self.p - 2) ** 3)

    def small(self, edge: float) -> Array:
        """(size, 3) points of the smaller cube, and of those inside of it, of a box."""
        return INNER * edge * self.places

    def large(self, edge: float) -> Array:
        """(size, 3) points of the larger cube, and of those around it, of a box."""
        growth = np.repeat(4.0 ** np.arange(self.nested), self.size // self.nested)
        return (2 - INNER) * edge * self.places * growth[:, None]

    @property
    def turned(self) -> NDArray[np.int64]:
        """(48, size): where each point comes after each of TURNS."""
        whole = (self.p - 1) * 2 ** (self.nested - 1)  # times this, places are whole numbers
        places, range_ = np.round(self.places * whole).astype(np.int64), 2 * whole + 2
        weights = np.array([1, range_, range_**2])
        order = np.argsort(places @ weights)
        return np.array([order[np.searchsorted(places[order] @ weights, places @ turn.T @ weights)] for turn in TURNS])

    @property
    def parities(self) -> list[Array]:
        """Orthonormal bases (size, n) of functions on a cube that are even or odd in x, in y and in z."""
        corner, images = np.flatnonzero((self.places >= 0).all(axis=1)), self.turned[:8]  # without exchanged axes
        signs, found = np.array([np.diag(turn) for turn in TURNS[:8]]), list[Array]()
        for odd in itertools.product((False, True), repeat=3):
            basis = np.zeros((self.size, len(corner)))
            for image, sign in zip(images[:, corner], signs, strict=True):
                basis[image, np.arange(len(corner))] += np.prod(sign[list(odd)])
            norms = np.linalg.norm(basis, axis=0)
            found.append(basis[:, norms > 0] / norms[norms > 0])
        return found

    def solving(self, k: complex, edge: float, real: Any, outward: bool, green: Any = None) -> Factors:
        """From potentials on the larger cube to sources on the smaller one; inwards the other way. green: of the
        potentials, None for waves, whose factors for a box of edge 1 serve all boxes."""
        side = 0 if outward else 1
        if green is not None:
            return factors_of_box(self, k, edge, real == np.float32, green)[side]
        first, last = factors_of_box(self, k * edge, 1.0, real == np.float32)[side]
        return Factors(first, last * edge)

    def error(self, search: Search, samples: Samples, edge: float) -> float:
        """Relative, in the root mean square over all pairs of points of some pairs of boxes, in the precision of the
        search."""
        k, kind = search.k, np.result_type(search.real, np.complex64)
        small, large = self.small(edge), self.large(edge)
        out, into = (
            [each.astype(kind) for each in self.solving(k, edge, search.real, outward, search.green)]
            for outward in (True, False)
        )
        exact, count = search.exact(samples), len(samples.offsets)
        green = search.green
        sent, received = (
            slope(points.reshape(-1, 3), vectors.reshape(-1, 3) if derivative else None, large, k, green).astype(kind)
            for points, vectors, derivative in ((samples.sources, samples.outward, search.outward),
                                                (samples.targets, samples.inward, search.inward))
        )  # fmt: skip
        x = (out[1] @ (out[0] @ sent.T)).reshape(self.size, count, -1)
        y = np.stack([potentials(small + offset, small, k, search.real, search.green) @ x[:, n]
                      for n, offset in enumerate(samples.offsets)], axis=1)  # fmt: skip
        y = (into[1] @ (into[0] @ y.reshape(self.size, -1))).reshape(y.shape)
        found = received.reshape(count, -1, self.size) @ y.transpose(1, 0, 2) / (4 * np.pi)
        change = float((np.abs(found - exact) ** 2).sum())
        total = float((np.abs(exact) ** 2).sum())
        return math.sqrt(change / total) if total > 0 and math.isfinite(change) else math.inf


@functools.lru_cache(maxsize=16)
def factors_of_box(cubes: Cubes, k: complex, edge: float, single: bool, green: Any = None) -> tuple[Factors, Factors]:
    """`Cubes.solving` for a box, out and in: matrices of both are the transposed of each other, and map
    functions of a parity to those of the same."""
    matrix, parities = potentials(cubes.large(edge), cubes.small(edge), k, green=green), cubes.parities
    parts = [np.linalg.svd(basis.T @ matrix @ basis) for basis in parities]
    u = np.concatenate([basis @ each.U for basis, each in zip(parities, parts, strict=True)], axis=1)
    v = np.concatenate([each.Vh @ basis.T for basis, each in zip(parities, parts, strict=True)])
    s = np.concatenate([each.S for each in parts])
    kept = s > CUTOFF[single] * s.max()
    inverse = np.where(kept, 1 / np.where(kept, s, 1), 0)
    return (Factors(u.conj().T * kept[:, None], v.conj().T * inverse),
            Factors(v.conj() * kept[:, None], u.conj() * inverse))  # fmt: skip


def potentials(x: Array, y: Array, k: complex, real: Any = np.float64, green: Any = None) -> NDArray[Any]:
    """(points x, points y) exp(i k r) / r in that precision, or 4 pi G of a Green's function."""
    r = scipy.spatial.distance.cdist(x, y)
    if green is not None:
        return evaluated(green, r)[0].astype(np.result_type(real, np.complex64))
    return np.asarray(oscillation(k, r, real) / r.astype(real))


def slope(x: Array, vectors: Array | None, y: Array, k: complex, green: Any = None) -> NDArray[np.complex128]:
    """(points x, points y) exp(i k r) / r, or 4 pi G of another function `green`, or, with vectors at the points x,
    its derivatives at x along these."""
    if green is not None and vectors is not None:
        slopes = evaluated(green, scipy.spatial.distance.cdist(x, y))[1]
        return np.asarray(slopes * np.einsum("pqc,pc->pq", x[:, None] - y, vectors))
    found = potentials(x, y, k, green=green)
    if vectors is not None:
        r = scipy.spatial.distance.cdist(x, y)
        found *= (1j * k - 1 / r) * np.einsum("pqc,pc->pq", x[:, None] - y, vectors) / r
    return found


def likely_points(rtol: float) -> int:
    """Points of an edge that are likely to hold a tolerance, where a search begins."""
    return next((p for p, digits in enumerate(EDGE.digits, EDGE.least) if digits >= -math.log10(rtol)), EDGE.most)


def nested_of(green: Any) -> int:
    """Cubes of each kind: one for waves, two for other functions."""
    return 1 if green is None else 2


def find_points(search: Search, level: SampledLevel, few: int, rtol: float) -> Cubes | None:
    """The least points of an edge, at least so few, that hold a tolerance; None where none do."""
    if level.samples is None:
        return Cubes(few, nested_of(search.green))
    step = level.samples.step(LIMITS.few)
    samples = level.samples.every(step)

    def error(p: int) -> float:
        cubes = Cubes(p, nested_of(search.green))
        return level.error((search, step, cubes), lambda: cubes.error(search, samples, level.edge))

    found = least(likely_points(rtol), (few, EDGE.most + 1), rtol, EDGE.falls, error)
    return None if found is None else Cubes(found, nested_of(search.green))


def standing(offsets: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Offsets (n, 3) as turned ones of few: these (m, 3), and which one and which turn of it each is."""
    few, which = np.unique(np.sort(np.abs(offsets), axis=1)[:, ::-1], axis=0, return_inverse=True)
    which = which.reshape(-1)
    images = np.einsum("tij,mj->tmi", TURNS, few)
    turn = (images[:, which] == offsets).all(axis=2).argmax(axis=0)
    return few, which.astype(np.int64), turn.astype(np.int64)


def to_sums(numbers: NDArray[Any], kinds: Sequence[str], k: complex) -> NDArray[Any]:
    """Charges and dipoles (points, columns, SUMS, PARTS) of currents (points, columns, components), complex ones in two
    parts, flat."""
    table = table_of(kinds, k, True)
    given = numbers.view(np.result_type(numbers, np.complex64)).reshape(-1, table.shape[1])
    return (given @ table.T.astype(given.dtype)).view(numbers.dtype).ravel()


def from_sums(numbers: NDArray[Any], kinds: Sequence[str], k: complex) -> NDArray[Any]:
    """Fields (points, columns, components) of currents from values and gradients of the scalar sums."""
    table = table_of(kinds, k, False)
    given = numbers.view(np.result_type(numbers, np.complex64)).reshape(-1, len(table))
    return (given @ table.astype(given.dtype)).view(numbers.dtype).ravel()


def table_of(kinds: Sequence[str], k: complex, outward: bool) -> NDArray[np.complex128]:
    """(SUMS * PARTS, components): what components send, or the transposed of what they receive."""
    parts = [(_sent if outward else _received)(kind, k) for kind in kinds]
    return np.concatenate(parts, axis=2).reshape(SUMS * len(PARTS), -1)


def _sent(kind: str, k: complex) -> NDArray[np.complex128]:
    """(SUMS, PARTS, 3): of the components of a current."""
    found = np.zeros((SUMS, len(PARTS), 3), complex)
    if kind == "electric":
        found[:3, 0], found[3, 1:] = np.eye(3), -np.eye(3)
    else:
        found[:3, 1:] = 1j / k * _CROSS
    return found


def _received(kind: str, k: complex) -> NDArray[np.complex128]:
    """(SUMS, PARTS, 3): for the components of a field."""
    found = np.zeros((SUMS, len(PARTS), 3), complex)
    if kind == "electric":
        found[:3, 0], found[3, 1:] = np.eye(3), np.eye(3) / k**2
    else:
        found[:3, 1:] = -1j / k * _CROSS.transpose(2, 1, 0)
    return found


_CROSS = np.array([[[(c - a) * (a - b) * (b - c) / 2 for b in range(3)] for a in range(3)] for c in range(3)])
"""(c, a, b): 1 and -1 for even and odd permutations."""
