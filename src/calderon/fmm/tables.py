"""Compressed harmonics: the r combinations of solid harmonics that boxes see of each other, and their translations.

Solid harmonics up to degree p of sources in a box form a space of K = (p + 1)^2 dimensions, most of which no separated
box notices. One singular value decomposition, of the potentials of random sources in a box at random targets in all
316 boxes in which a box may be seen (3 boxes away at most, 2 at least), gives the r combinations that matter. Moments
m = C M and local expansions are then vectors of r numbers, and all translations full matrices (r, r), the same on all
levels up to a factor 1/h. Each of those from box to box is replaced by two factors of the rank at which its singular
values fall below one absolute bound: directions far away and oblique ones matter less.

Where neighbours are two boxes away at most, a box is seen in 1206 boxes, 3 to 5 boxes away, and a degree more divides
errors by 2.3 instead of 1.5.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import one_thread, run_tasks
from calderon.backends.memory import bounded_cache
from calderon.backends.vectors import aligned, width
from calderon.fmm.harmonics import Array, Basis, LocalExpansions, gradients, irregular
from calderon.fmm.point_expansions import regular
from calderon.products.lists import offsets
from calderon.quadrature.sphere import sphere_rule

SLACK = 1.3
"""The margin over how far sources lie outside: where they reach its end, products have three to eight times the
error."""


class Order(NamedTuple):
    """Degree p of the harmonics, number r of their combinations, bound below which singular values of matrices from box
    to box are cut, relative to the largest; how far sources may lie outside of their box, in edges; and how many edges
    neighbours may be apart (`offsets`)."""

    p: int
    r: int
    cut: float
    margin: float = 0.0
    apart: int = 1


class Part(NamedTuple):
    """A part of a run of moments. run: of the moments of a function; field: which of the sums of its charges with basis
    functions it takes; matrix: of `Tables.expand`; factor, power: the part is multiplied by the factor, and divided by
    that power of the edge of the leaf, in edges of the root."""

    run: int
    field: int
    matrix: int
    factor: float = 1.0
    power: int = 0


class Combined(NamedTuple):
    """How moments come from charges. kind: of charges, as `FIELDS` of device/moments.py names them; parts: of all runs,
    those of each run one after the other; factor: of all moments; real: the type of sums; stored: that of moments, but
    for those that the processor rounds to 16 bits."""

    kind: str
    parts: Sequence[Part]
    factor: float
    real: np.dtype[Any]
    stored: np.dtype[Any]

    @property
    def runs(self) -> int:
        """Runs of a piece."""
        return self.parts[-1].run + 1


class Tables(NamedTuple):
    """Matrices with the target index contiguous, as `register_tiles` reads them.

    expand (4, K', r): basis functions, and their derivatives by x, y and z, to combinations; K' is K up to whole
    vectors. up, down (8, r, r): moments of children to the parent, local expansions the other way. numbers: factors of
    the matrices of all offsets; starts (offsets,) where they begin; vectors (offsets,): of the rank, 0 for a matrix
    that is stored whole.
    """

    order: Order
    expand: NDArray[np.floating]
    up: NDArray[np.floating]
    down: NDArray[np.floating]
    numbers: NDArray[np.floating]
    starts: NDArray[np.int64]
    vectors: NDArray[np.int64]

    @property
    def rank(self) -> int:
        """The number of combinations r."""
        return int(self.up.shape[1])

    @property
    def functions(self) -> int:
        """The number K' of basis functions."""
        return int(self.expand.shape[1])

    @property
    def nbytes(self) -> int:
        """Bytes of all matrices."""
        return sum(each.nbytes for each in self[1:])

    @property
    def mean_rank(self) -> float:
        """The mean rank of the matrices from box to box."""
        whole = self.rank // width(self.numbers.dtype)
        return float(np.where(self.vectors == 0, whole, self.vectors).mean()) * width(self.numbers.dtype)


class Compression(NamedTuple):
    """C (r, K): from moments of the K harmonics to those of r combinations. D (K, r): back, by least squares."""

    C: Array
    D: Array

    @staticmethod
    def of(order: Order) -> "Compression":
        """The r combinations that targets in separated boxes see most of, by the singular values of random points."""
        p, r, _, margin, apart = order
        random, size = np.random.default_rng(0), (p + 1) ** 2

        # of random points in a box and its margin one in fifty is everywhere alike, as few others are in the corners;
        # not of the degree 26 and above: with them, (26, 320) misses 1e-6 (1.05e-6)
        def inside(count: int) -> Array:
            found = random.uniform(-0.5, 0.5, (count, 3)) + margin * random.uniform(-1, 1, (count, 3))
            if margin and p < 26:
                reach, chosen = 0.5 + margin / SLACK, random.uniform(size=count) < 0.02
                found[chosen] = random.uniform(-reach, reach, (int(chosen.sum()), 3))
            return found

        # eight sources for each harmonic, and twelve targets in each of the boxes
        triangle: Array = np.asarray(np.linalg.qr(regular(inside(8 * size), p), mode="r"))
        boxes = offsets(apart)
        targets = (inside(12 * len(boxes)).reshape(12, -1, 3) + boxes).reshape(-1, 3)
        seen = np.linalg.qr(irregular(targets, p), mode="r") @ triangle.T
        kept = np.linalg.svd(seen)[2][:r]
        return Compression(np.linalg.solve(triangle, kept.T).T, triangle.T @ kept.T)


@bounded_cache(1 << 29)
def tables(order: Order, single: bool) -> Tables:
    """The tables of an order, in single or double precision."""
    real = np.dtype(np.float32 if single else np.float64)
    lanes = width(real)
    order = order._replace(r=-(-order.r // lanes) * lanes)
    with one_thread:  # these matrices are small
        C, D = Compression.of(order)
        children = np.indices((2, 2, 2)).reshape(3, 8).T  # places in their parent, x first
        up = C @ shifts(order.p, (children - 0.5) / 2, 0.5) @ D
    numbers, starts, vectors = _between_boxes(order, D, lanes)
    return Tables(
        order, _stored(_expanding(order.p, C, lanes), real), _stored(up.transpose(0, 2, 1), real), _stored(up, real),
        _stored(numbers, real), starts, vectors,
    )  # fmt: skip


def shifts(p: int, centres: Array, scale: float) -> Array:
    """(n, K, K) matrices X with regular(c + scale u) = X regular(u) for each of the centres c (n, 3)."""
    points, weights = sphere_rule(2 * p + 2)
    own = regular(points, p)
    dual = own * weights[:, None] / (weights @ own**2)  # functions of all degrees are orthogonal on the sphere
    return np.stack([regular(c + scale * points, p).T @ dual for c in centres])


def _expanding(p: int, C: Array, lanes: int) -> Array:
    """(4, K', r) see `Tables`; the basis functions of point_expansions.py are without the factors f."""
    size = (p + 1) ** 2
    expand = np.zeros((4, -(-size // lanes) * lanes, len(C)))
    expand[0, :size] = C.T
    for axis, gradient in enumerate(gradients(p), start=1):
        expand[axis, :size] = gradient.T @ C.T
    expand[:, :size] *= Basis.of(p).factor[:, None]
    return expand


def _between_boxes(order: Order, D: Array, lanes: int) -> tuple[Array, NDArray[np.int64], NDArray[np.int64]]:
    """numbers, starts and vectors of `Tables`. The matrix of the opposite direction is the transpose."""
    # half of the offsets: the others follow by transposition
    boxes = offsets(order.apart)
    half = len(boxes) // 2
    make, rank = LocalExpansions(order.p), D.shape[1]
    parts = make.parts(boxes[:half].astype(float))
    nearest = int(np.flatnonzero((boxes == (-order.apart - 1, 0, 0)).all(axis=1))[0])  # has the largest matrix
    bound = order.cut * float(np.linalg.norm(D.T @ make.matrix(parts[nearest]) @ D, 2))
    factors: list[list[Array]] = [[]] * half

    def decompose(n: int) -> None:
        """The matrix of offset n, or two factors of it where these are smaller."""
        T = make.matrix(parts[n])
        u, values, v = leading_values(D, T, bound)
        kept = -(-max(1, int((values > bound).sum())) // lanes) * lanes
        if 2 * kept >= rank:
            factors[n] = [(D.T @ T @ D).T]
            return
        u, roots, v = u[:, :kept], np.sqrt(values[:kept]), v[:kept]
        factors[n] = [np.ascontiguousarray(v.T * roots), np.ascontiguousarray((u * roots).T)]

    run_tasks(decompose, half)
    mirrored = [[each.T for each in reversed(pair)] for pair in reversed(factors)]
    every = factors + mirrored
    # where the numbers of each begin, and its rank in vectors, 0 for whole matrices
    vectors = np.array([pair[0].shape[1] // lanes if len(pair) == 2 else 0 for pair in every])
    sizes = [sum(each.size for each in pair) for pair in every]
    starts = np.append(0, np.cumsum(sizes))[:-1]
    return np.concatenate([each.ravel() for pair in every for each in pair]), starts, vectors


def leading_values(D: Array, T: Array, bound: float) -> tuple[Array, Array, Array]:
    """U, s, V of D^T T D, at least for all singular values s above the bound, through random vectors (N. Halko, P. G.
    Martinsson, J. A. Tropp, SIAM Rev. 53 (2011) 217, algorithm 4.1)."""
    rank, random = D.shape[1], np.random.default_rng(0)
    extra = 16  # random vectors more than are expected to matter; up to 40 the whole matrix takes as long
    count = rank // 4 + extra
    while 40 < count < rank:
        seen = D.T @ (T @ (D @ random.standard_normal((rank, count))))
        basis = np.linalg.qr(seen)[0]
        u, values, v = np.linalg.svd((basis.T @ D.T) @ T @ D, full_matrices=False)
        if values[-extra // 2] < bound / 10:
            return basis @ u, values, v
        count *= 2
    u, values, v = np.linalg.svd(D.T @ T @ D)
    return u, values, v


def _stored(values: Array, real: np.dtype) -> NDArray[np.floating]:
    """An aligned copy."""
    out = aligned(values.shape, real)
    out[...] = values
    return out
