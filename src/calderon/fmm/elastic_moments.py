"""Moments of displacements, forces and dislocations: elastic sums are four harmonic ones.

With kappa = 8 pi (1 - nu) and d = x - y, Kelvin's displacement of a force t at y is (P. F. Papkovich; H. Neuber 1934)

    u_i = (phi_i + x_i chi) / (2 mu kappa),
    phi_i = (3 - 4 nu) t_i / r - y_i t.grad_y (1/r),    chi = t.grad_y (1/r),

and that of a dislocation b with the normal n the same without 2 mu, with S_jk = nu b.n delta_jk + (1/2 - nu) (b_j n_k +
n_j b_k) and

    phi_i = 2 S_ij d_j (1/r) - y_i chi,    chi = n_j b_k d_j d_k (1/r).

What is added to x and y at once cancels. Points are measured from the centre of the tree where boxes meet, and from
that of their leaf in moments, which need fewer digits then: `move_origin` adds what is between these centres.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends import run_tasks
from calderon.backends.numba import kernel
from calderon.backends.vector_loads import total
from calderon.backends.vectors import aligned, lanes, number, width, zero
from calderon.fmm.harmonics import Basis, gradients
from calderon.fmm.moment_store import Moments, add_run, with_run
from calderon.fmm.passes import multiply
from calderon.fmm.point_expansions import inverse_products, moment_kernel
from calderon.fmm.tables import Tables
from calderon.products.direct_sums import padded
from calderon.products.lists import Lists
from calderon.products.octree import Octree
from calderon.spaces.charges import charges

Array = NDArray[np.float64]
SHARE = 256
"""Functions of a task."""
SINGLE = 18
"""Highest degree of moments in single precision, unless they are stored in double: numbers of higher harmonics are too
small for it."""
SUMS = 4
"""Harmonic sums: phi_1, phi_2, phi_3 and chi."""


class Fields(NamedTuple):
    """kind: "value" of displacements that test, "force" or "dislocation" of fields on a scalar space; ratio: Poisson's;
    factor: of all moments; degree: of the quadrature."""

    space: Any
    kind: str
    ratio: float
    factor: float
    degree: int


def elastic_moments(
    fields: Fields, tree: Octree, lists: Lists, leaf_starts: NDArray[np.int64], table: Tables, real: Any
) -> Moments:
    """Runs (n 3 4) of r moments, of the four sums for three components of each of n pieces, those of each leaf from
    leaf_starts on; of values those of 1 and y, (n 4). real: the type of numbers, None for 16 bits."""
    found, p = charges(fields.space, fields.degree, "value"), table.order.p
    places, rows = tree.inside(found.points), sp.csr_array(found.gather("value")[0])
    starts, count = rows.indptr.astype(np.int64), int(leaf_starts[-1])
    each = (1 if fields.kind == "value" else 3) * SUMS
    out = Moments.empty(count * each, table.rank, real)
    box, single = np.repeat(lists.leaves, np.diff(leaf_starts)), p <= SINGLE and real != np.float64
    real, unit = np.dtype(np.float32 if single else np.float64), float(np.abs(rows.data).max(initial=1e-300))
    centre, edge, inverse = tree.centre, tree.edge, inverse_products(p, real)
    run, vector = moment_kernel(4), width(real)
    combine = _Combination.of(table, fields._replace(factor=unit * fields.factor), real)
    pitch = len(combine.values)

    def work(task: int) -> None:
        low, high = task * SHARE, min((task + 1) * SHARE, count)
        # points of some functions, in units of their boxes
        points, weights = rows.indices[starts[low] : starts[high]], rows.data[starts[low] : starts[high]] / unit
        around = np.repeat(box[low:high], np.diff(starts[low : high + 1]))
        y = places[points]
        x = padded(((y - centre[around]) / edge[around, None]).T, real)
        room = aligned((4 * pitch + 4) * vector, real)
        # moments of 1 and y, for dislocations times each component of the normal
        raw = []
        for n in found.normals[points].T if fields.kind == "dislocation" else [1.0]:
            given = padded(np.concatenate([[weights * n], weights * n * (y - centre[around]).T]), real)
            part = aligned((high - low) * 4 * pitch, real)
            run(*x, given.ravel(), given.shape[1], starts[low : high + 1] - starts[low], p, inverse, pitch, room, part,
                0, high - low)  # fmt: skip
            raw.append(part.reshape(high - low, 4, pitch))
        # combined to those of the components, and stored
        made = np.empty((high - low, each // SUMS, SUMS, combine.values.shape[1]), real)
        combine.enter(made, raw, edge[box[low:high], None].astype(real))
        out.enter(made[..., : table.rank].reshape(-1, table.rank), low * each)

    run_tasks(work, -(-count // SHARE))
    return out


class _Combination(NamedTuple):
    """values, derivatives: matrices from basis functions to combinations; moves: from basis functions to derivatives of
    them, in x, y and z."""

    fields: Fields
    values: NDArray[Any]
    derivatives: NDArray[Any]
    moves: list[sp.csr_array]

    @staticmethod
    def of(table: Tables, fields: Fields, real: Any) -> "_Combination":
        """In a precision, with rows and columns up to whole vectors."""
        lanes, (_, *sizes) = width(real), table.expand.shape
        size, rank = (-(-each // lanes) * lanes for each in sizes)
        expand = np.zeros((4, size, rank), real)
        expand[:, : sizes[0], : sizes[1]] = table.expand
        factor = Basis.of(table.order.p).factor
        spread = sp.eye_array(len(factor), size, format="csr")
        moves = [spread.T @ (sp.diags_array(factor) @ each.T @ sp.diags_array(1 / factor)) @ spread
                 for each in gradients(table.order.p)]  # fmt: skip
        derivatives = np.concatenate(list(expand[1:]), axis=1)
        return _Combination(fields, expand[0], derivatives, [each.astype(real) for each in moves])

    def enter(self, into: NDArray[Any], raw: list[Array], edge: Array) -> None:
        """into (n, 3, 4, r), of values (n, 1, 4, r), from the moments (n, 4, K') of 1 and y, times the components of
        the normal, and the edges (n, 1) of the boxes."""
        count, rank, (_, kind, ratio, factor, _) = len(into), into.shape[-1], self.fields
        if kind == "value":
            into[:, 0] = self._times(raw[0], self.values)
        elif kind == "force":
            along = self._times(raw[0], self.derivatives).reshape(count, 4, 3, rank) / edge[..., None, None]
            own = (3 - 4 * ratio) * self._times(raw[0][:, 0], self.values)
            into[:, :, :3] = -along[:, 1:].transpose(0, 2, 1, 3)
            into[:, :, 3] = along[:, 0]
            for i in range(3):
                into[:, i, i] += own
        else:
            # dislocations: first and second derivatives
            first = np.stack([self._times(each[:, 0], self.derivatives).reshape(count, 3, rank) for each in raw], 1)
            first /= edge[..., None, None]
            divergence = sum(
                each.reshape(-1, each.shape[-1]) @ move for each, move in zip(raw, self.moves, strict=True)
            )
            second = self._times(np.asarray(divergence).reshape(count, 4, -1), self.derivatives)
            second = second.reshape(count, 4, 3, rank) / edge[..., None, None] ** 2
            trace = (1 - 2 * ratio) * (first[:, 0, 0] + first[:, 1, 1] + first[:, 2, 2])
            into[:, :, :3] = 2 * ratio * first + (1 - 2 * ratio) * first.transpose(0, 2, 1, 3)
            into[:, :, :3] -= second[:, 1:].transpose(0, 2, 1, 3)
            into[:, :, 3] = second[:, 0]
            for i in range(3):
                into[:, i, i] += trace
        into *= factor

    def _times(self, raw: Array, matrix: NDArray[Any]) -> NDArray[Any]:
        """raw (..., K') times matrix (K', n), in this thread alone."""
        given, (size, width_) = np.ascontiguousarray(raw, matrix.dtype), matrix.shape
        count, out = given.size // size, aligned(given.size // size * width_, matrix.dtype)
        numbers, vectors = np.arange(count), width_ // width(matrix.dtype)
        multiply(matrix.ravel(), vectors, size, given.ravel(), numbers, size, out, numbers, width_, 0, count)
        return out.reshape(*raw.shape[:-1], width_)


@kernel
def move_origin(sums, boxes, arms, count, rank, last, low, high):
    """Move the origin from which points are measured, in sums (boxes count SUMS rank,) of boxes low .. high.

    Each box has `count` vectors of SUMS sums with `rank` numbers. The first three sums receive their arm times the last
    one, or, where `last` is True, the last one receives arms times the first three. boxes (n,): the box of each leaf;
    arms (n, 3): of these.
    """
    for i in range(low, high):
        for first in range(boxes[i] * count * 4 * rank, (boxes[i] + 1) * count * 4 * rank, 4 * rank):
            for c in range(3):
                arm, one, other = arms[i, c], first + c * rank, first + 3 * rank
                if last:
                    one, other = other, one
                for k in range(rank):
                    sums[one + k] += arm * sums[other + k]


class PieceKernels(NamedTuple):
    """Moments of leaves from `count` vectors of coefficients, one after the other, and sums of as many local expansions
    with pieces of functions: fields of three components, each with four sums, and values that test."""

    from_fields: Callable[..., None]
    to_fields: Callable[..., None]
    from_values: Callable[..., None]
    to_values: Callable[..., None]


@functools.cache
def piece_kernels(packed: bool) -> PieceKernels:
    """The kernels for moments in 16 bits (packed), or as floats."""
    return PieceKernels(*_field_kernels(packed), *_value_kernels(packed))


def _field_kernels(packed: bool) -> tuple[Any, Any]:
    """Moments of fields, and sums with them: each unknown has SUMS runs."""

    @kernel
    def from_fields(stored, rank, starts, x, count, boxes, moments, low, high):
        """Add coefficients times moments to those of the leaves low .. high.

        stored: the first five fields of `Moments`, of rank numbers; starts (leaves + 1,): where the unknowns of each
        leaf begin; x (count n,): coefficients of `count` vectors, one after the other; boxes (leaves,): the box of
        each; moments (boxes count SUMS rank,).
        """
        lanes(moments)
        length = starts[len(starts) - 1]
        for i in range(low, high):
            for j in range(starts[i], starts[i + 1]):
                for q in range(count):
                    f, first = number(x, q * length + j), (boxes[i] * count + q) * SUMS * rank
                    for c in range(SUMS):
                        add_run(stored, packed, rank, SUMS * j + c, f, moments, first + c * rank)

    @kernel
    def to_fields(stored, rank, starts, local, boxes, y, count, low, high):
        """Add local expansions (boxes count SUMS rank,) times moments to the vectors y (count n,), for the leaves
        low .. high; stored, rank, starts, boxes: as in `from_fields`."""
        length = starts[len(starts) - 1]
        for i in range(low, high):
            for j in range(starts[i], starts[i + 1]):
                for q in range(count):
                    first, t = (boxes[i] * count + q) * SUMS * rank, zero(local)
                    for c in range(SUMS):
                        t = with_run(stored, packed, rank, SUMS * j + c, t, local, first + c * rank)
                    y[q * length + j] += total(t)

    return from_fields, to_fields


def _value_kernels(packed: bool) -> tuple[Any, Any]:
    """Moments of values that test, and sums with them: three unknowns have the SUMS runs of 1, y_1, y_2 and y_3."""

    @kernel
    def from_values(stored, rank, starts, x, count, boxes, moments, low, high):
        """Add coefficients times moments to those of the leaves low .. high: those of 1 to the sum of the component, of
        y_c to the last sum. starts (leaves + 1,): where the functions of each leaf begin, with three unknowns each;
        stored, rank, x, count, boxes, moments: as in `from_fields`."""
        lanes(moments)
        length = 3 * starts[len(starts) - 1]
        for i in range(low, high):
            for j in range(starts[i], starts[i + 1]):
                for q in range(count):
                    first = (boxes[i] * count + q) * SUMS * rank
                    for c in range(3):
                        f = number(x, q * length + 3 * j + c)
                        add_run(stored, packed, rank, SUMS * j, f, moments, first + c * rank)
                        add_run(stored, packed, rank, SUMS * j + c + 1, f, moments, first + 3 * rank)

    @kernel
    def to_values(stored, rank, starts, local, boxes, y, count, low, high):
        """Add local expansions times moments to the vectors y (count n,), for the leaves low .. high; stored, rank,
        starts, local, boxes: as in `from_values` and `to_fields`."""
        length = 3 * starts[len(starts) - 1]
        for i in range(low, high):
            for j in range(starts[i], starts[i + 1]):
                for q in range(count):
                    first = (boxes[i] * count + q) * SUMS * rank
                    for c in range(3):
                        t = with_run(stored, packed, rank, SUMS * j, zero(local), local, first + c * rank)
                        t = with_run(stored, packed, rank, SUMS * j + c + 1, t, local, first + 3 * rank)
                        y[q * length + 3 * j + c] += total(t)

    return from_values, to_values
