"""An approximate inverse for elastic bodies: blocks of neighbouring unknowns, and rigid motions of clusters of them.

With orthonormal columns Z, the rigid motions of clusters of unknowns, and the inverses S of diagonal blocks,

    M r = Z (Z^T A Z)^-1 Z^T r + S (r - Z Z^T r)

(M. Bebendorf 2008, section 3; two levels). M needs no product with A; Z^T A Z is made from the near blocks and moments
of fast products (`FastBody`), and by products with the columns of Z else.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends import return_memory, run_tasks
from calderon.backends.numba import kernel
from calderon.backends.threads import in_parts
from calderon.backends.vector_loads import load_as, total
from calderon.backends.vectors import aligned, lanes, load, zero
from calderon.formulations.elastic.coarse.columns import REAL, Index, groups_of_leaves
from calderon.formulations.elastic.coarse.fast_body import DiagonalBlocks, FastBody, share_bounds
from calderon.formulations.elastic.conditions.surface_conditions import sparse
from calderon.formulations.elastic.system.equation import Equation
from calderon.mesh.locality import block_order
from calderon.products.near_entries import BEYOND
from calderon.solvers import lu

Array = NDArray[np.float64]
Blocks = Callable[[int, int, NDArray[np.float32]], None]
"""Adds the entries (n, n) between the unknowns of each of the groups low .. high to zeros (m,), one after the other."""


class Sizes(NamedTuple):
    """Sizes of the preconditioner, in unknowns, and the condition of its blocks.

    leaf: of a block, whose inverse takes a few products. cluster: of one that moves as a rigid body. clusters: how many
    these are at most, a coarse problem of some 1,500 unknowns. fewest: of a kind, displacements or tractions, that a
    cluster has six rigid motions for. singular: the inverse condition below which a block is singular; blocks are in
    single precision.
    """

    leaf: int = 60
    cluster: int = 400
    clusters: int = 125
    fewest: int = 30
    singular: float = 1e-5


SIZES = Sizes()


class InverseBlocks(NamedTuple):
    """Many small square matrices in single precision, each between some unknowns.

    unknowns (m,): those of all matrices, one after the other; no two have one in common. starts (blocks + 1,): where
    the unknowns of each begin. places (blocks + 1,): where its entries begin. entries: of all, row after row.
    """

    unknowns: Index
    starts: Index
    places: Index
    entries: NDArray[np.float32]

    @staticmethod
    def empty(groups: Sequence[Index]) -> "InverseBlocks":
        """Matrices without entries yet, between the unknowns (n,) of each group."""
        sizes = np.array([len(each) for each in groups], np.int64)
        starts, places = np.append(0, np.cumsum(sizes)), np.append(0, np.cumsum(sizes**2))
        return InverseBlocks(np.concatenate(groups), starts, places, np.zeros(int(places[-1]) + BEYOND, REAL))

    def invert(self, low: int, high: int) -> None:
        """Replace the matrices low .. high by their inverses; of one that is all of a body without supports by the
        pseudo-inverse: Z has its rigid motions."""
        for n in invert_blocks(*self[1:], SIZES.singular, np.empty(high - low, np.int64), low, high).tolist():
            one, size = self.entries[self.places[n] : self.places[n + 1]], self.starts[n + 1] - self.starts[n]
            one[:] = np.linalg.pinv(one.reshape(size, size).astype(np.float64), rcond=SIZES.singular).ravel()

    def product(self, x: NDArray[Any]) -> NDArray[np.float64]:
        """(n,) the sum of all products with a vector x (n,). Sums in single precision would take as long, and be linear
        to 2e-7 only: GMRES needs more where the norm of an inverse is large."""
        y, widest = np.zeros(len(x)), int(np.diff(self.starts).max(initial=0)) + BEYOND

        def add(low: int, high: int) -> None:
            """Add the products of the matrices low .. high."""
            add_products(*self, x, y, aligned(widest, np.float64), low, high)

        in_parts(add, len(self.places) - 1)
        return y


@kernel
def invert_blocks(starts, places, entries, least, left, low, high):
    """Replace the matrices low .. high by their inverses, but singular ones, whose inverse condition is at most
    `least`; return their numbers. starts, places, entries: as in InverseBlocks. left (high - low,): space."""
    count = 0
    for n in range(low, high):
        size = starts[n + 1] - starts[n]
        block = entries[places[n] : places[n + 1]].astype(np.float64).reshape(size, size)
        inverse = np.linalg.inv(block)
        if np.linalg.norm(block) * np.linalg.norm(inverse) * least < 1:
            entries[places[n] : places[n + 1]] = inverse.ravel()
        else:
            left[count], count = n, count + 1
    return left[:count]


@kernel
def add_products(unknowns, starts, places, entries, x, y, room, low, high):
    """Add the products of the matrices low .. high with x (n,) to y (n,). unknowns, starts, places, entries: as in
    InverseBlocks. room: space for the numbers of the largest matrix and a vector of zeros."""
    size = lanes(room)
    for n in range(low, high):
        first, count = starts[n], starts[n + 1] - starts[n]
        # gather the unknowns of the matrix, and end with zeros, as vectors read beyond its rows
        for c in range(count):
            room[c] = x[unknowns[first + c]]
        room[count : count + size] = 0
        # one scalar product for each row
        for r in range(count):
            at, t = places[n] + r * count, zero(room)
            for c in range(0, count, size):
                t = t + load_as(entries, at + c, room) * load(room, c)
            y[unknowns[first + r]] += total(t)


def two_levels(equation: Equation) -> LinearOperator:
    """The preconditioner M of an assembled equation."""
    size, bodies = max(SIZES.cluster, -(-equation.unknowns // SIZES.clusters)), FastBody.all_of(equation)
    return_memory()
    coarse = rigid_columns(equation, clusters(equation, bodies, size))
    return_memory()
    matrix = coarse_matrix(equation, bodies, coarse)
    return_memory()
    factors = lu(matrix, overwrite=True) if len(matrix) else None
    del matrix
    return_memory()
    leaves = clusters(equation, bodies, SIZES.leaf)
    blocks: Blocks
    if len(leaves) == 1:  # singular without the lift, where nothing holds the body
        leaves = [np.arange(equation.unknowns)]
        blocks = stored_blocks([equation @ np.eye(equation.unknowns)])
    else:
        blocks = leaf_blocks(equation, bodies, leaves)
    inverses = _inverses(leaves, blocks)
    del blocks  # with what it was made from
    return_memory()

    def apply(residual: Array) -> Array:
        """M r of a residual (unknowns,)."""
        r = residual.ravel()
        shares = coarse.T @ r
        moved = inverses.product(r - coarse @ shares)
        if factors is not None:
            moved += coarse @ factors.solve(shares)
        return moved

    return LinearOperator((equation.unknowns,) * 2, matvec=apply, dtype=np.float64)


def clusters(equation: Equation, bodies: Sequence[FastBody], size: int) -> list[Index]:
    """The unknowns in groups of about `size` neighbours, increasing: in boxes of fast products, or by their points."""
    if not bodies:
        parts = np.split(block_order(equation.points, size), np.arange(size, equation.unknowns, size))
        return [np.sort(each) for each in parts]
    groups, first = np.zeros(equation.unknowns, np.int64), 0
    for body in bodies:
        owner = body.owners
        own = owner >= 0
        weights = np.bincount(owner[own], minlength=body.leaves)
        groups[own] = first + groups_of_leaves(body.product.far.layout, weights, size)[owner[own]]
        first = int(groups.max()) + 1
    order = np.argsort(groups, kind="stable")
    return [np.sort(each) for each in np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)]


def rigid_columns(equation: Equation, parts: Sequence[Index]) -> sp.csr_array:
    """Z (unknowns, k), orthonormal columns: rigid motions of the displacements and of the tractions of each cluster.
    parts: the unknowns (n,) of each."""
    kinds = [np.split(cluster, [np.searchsorted(cluster, equation.displacements)]) for cluster in parts]
    chosen = [part for pair in kinds for part in pair if len(part) >= SIZES.fewest]
    if not chosen:
        return sp.csr_array((equation.unknowns, 0))
    # arms about the centre of each, over the largest of them
    rows, sizes = np.concatenate(chosen), np.array([len(part) for part in chosen])
    starts, points = np.cumsum(sizes) - sizes, equation.points[rows]
    arms = points - np.repeat(np.add.reduceat(points, starts) / sizes[:, None], sizes, axis=0)
    longest = np.maximum(np.maximum.reduceat(np.abs(arms).max(axis=1), starts), 1e-300)
    # translations and rotations along the axes of unknowns: a . (e x r) = e . (r x a)
    axes = equation.axes[rows]
    motions = np.hstack([axes, np.cross(arms / np.repeat(longest, sizes)[:, None], axes)])
    found, columns, count = list[Array](), list[Index](), 0
    for part, motion in zip(chosen, np.split(motions, starts[1:]), strict=True):
        left, lengths, _ = np.linalg.svd(motion, full_matrices=False)
        left = left[:, lengths > 1e-8 * lengths[0]]
        found.append(left.ravel())
        columns.append(np.tile(count + np.arange(left.shape[1]), len(part)))
        count += left.shape[1]
    widths = [len(each) // size for each, size in zip(found, sizes, strict=True)]
    places = np.repeat(rows, np.repeat(widths, sizes))
    return sparse(np.concatenate(found), places, np.concatenate(columns), (equation.unknowns, count))


def coarse_matrix(equation: Equation, bodies: Sequence[FastBody], coarse: sp.csr_array) -> Array:
    """Z^T A Z (k, k) of columns Z (unknowns, k): sums in single precision where products are fast."""
    if not bodies:
        return np.asarray(coarse.T @ (equation @ coarse.toarray())) if coarse.shape[1] else np.zeros((0, 0))
    count, lift = equation.displacements, equation.lift
    found = np.zeros((coarse.shape[1],) * 2)
    if lift.shape[1]:
        scaled = equation.length * equation.scale[:count, None] * lift
        found[...] = (coarse[:count].T @ scaled) @ (coarse[:count].T @ lift).T
    for body in bodies:
        body.add_sums(coarse, found)
    for balance in equation.balances:
        if balance is not None:
            rows, columns = balance.change
            found += (coarse.T @ rows).toarray() @ (coarse.T @ columns).T
    return_memory()
    return found


def leaf_blocks(equation: Equation, bodies: Sequence[FastBody], leaves: Sequence[Index]) -> Blocks:
    """The entries of A, without the lift, between the unknowns (n,) of each leaf: from near blocks where products are
    fast."""
    if not bodies:
        return stored_blocks([equation.block(leaf) for leaf in leaves])
    sums = [DiagonalBlocks(body, leaves) for body in bodies]
    balances = [each for each in equation.balances if each is not None]

    def blocks(low: int, high: int, out: NDArray[np.float32]) -> None:
        """Add the entries of the leaves low .. high."""
        for each in sums:
            each.add(low, high, out)
        if balances:
            out += flat([np.sum([one.change_of(leaf) for one in balances], axis=0) for leaf in leaves[low:high]])

    return blocks


def stored_blocks(stored: Sequence[NDArray[Any]]) -> Blocks:
    """Blocks (n, n) that are there."""

    def blocks(low: int, high: int, out: NDArray[np.float32]) -> None:
        """Add the entries of the blocks low .. high."""
        out += flat(stored[low:high])

    return blocks


def flat(blocks: Sequence[NDArray[Any]]) -> NDArray[np.float32]:
    """The entries of blocks (n, n), one after the other."""
    return np.concatenate([np.zeros(0, REAL), *(each.ravel() for each in blocks)], dtype=REAL, casting="same_kind")


def _inverses(leaves: list[Index], blocks: Blocks) -> InverseBlocks:
    """The inverses of the blocks of all leaves, some at a time."""
    inverses = InverseBlocks.empty(leaves)
    bounds = share_bounds(len(leaves))

    def invert(part: int) -> None:
        """Enter the inverses of one part of the leaves."""
        low, high = bounds[part : part + 2]
        blocks(low, high, inverses.entries[inverses.places[low] : inverses.places[high]])
        inverses.invert(low, high)

    run_tasks(invert, len(bounds) - 1)
    return inverses
